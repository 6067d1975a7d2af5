# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(wildcard cschoice/nets/kernels/*.[ch])
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test faults check lint type layers bench study readme wheel fmt setup clean

demo: .venv/installed
	$(BIN)/cschoice run --profile demo --results results/demo \
	    --dataset medoid --dataset pareto2d --learner feta --learner fate --learner mnl
	$(BIN)/cschoice report --profile demo --results results/demo
	$(BIN)/cschoice estimate mnl mixed-logit --dataset journeys --random time=normal --draws 200 \
	    --utility "constants, cost, time, income:constants" --se clustered --wtp cost

test: lint type layers
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not long"

faults: setup
	$(BIN)/python -m pytest -m long tests/faults tests/cluster
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults

check: test

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: setup
	$(BIN)/mypy cschoice cli

layers: setup
	$(BIN)/lint-imports

fmt: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/datasets.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/metrics.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/report.py

# The whole study on every dataset whose data are there, and the README's excerpt of its report.
study: .venv/installed
	$(BIN)/cschoice run
	$(BIN)/cschoice run --experiment generalization
	$(BIN)/cschoice run --experiment unique-stream
	$(BIN)/cschoice run --experiment unique-stream-paper
	$(BIN)/cschoice run --experiment recipes

readme: .venv/installed
	$(BIN)/cschoice report --format all
	$(BIN)/python tools/readme.py

# A wheel for any Linux of this processor, installed and tried out in a clean environment.
wheel: setup
	$(BIN)/python tools/wheel.py

setup: .venv/installed-dev

.venv/installed: pyproject.toml constraints.txt $(KERNELS)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

.venv/installed-dev: pyproject.toml constraints.txt $(KERNELS)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e '.[dev]'
	touch $@ .venv/installed

clean:
	rm -rf .venv build dist *.egg-info
