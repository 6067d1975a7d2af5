# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(wildcard cschoice/nets/kernels/*.[ch])
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lowest faults check lint type layers bench speed peers study readme wheel fmt setup clean

demo: .venv/installed
	$(BIN)/cschoice run --profile demo --results results/demo \
	    --dataset medoid --dataset pareto2d --learner feta --learner fate --learner mnl
	$(BIN)/cschoice report --profile demo --results results/demo
	$(BIN)/cschoice estimate mnl mixed-logit --dataset journeys --random time=normal --draws 200 \
	    --utility "constants, cost, time, income:constants" --se clustered --wtp cost

test: lint type layers
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not long"

# Unit tests and the command line with the lowest versions that pyproject.toml allows, in an
# environment of its own; torch excepted, see tools/lowest.py. Real data are left to 'make test'.
lowest: .venv-lowest/installed
	env -u CSCHOICE_DATA OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -n 2 tests/unit tests/cli/test_cli.py

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

# The logit family against other packages, in an environment of its own: biogeme wants an older pandas.
peers: .venv-peers/installed
	cd benchmarks && OMP_NUM_THREADS=1 ../.venv-peers/bin/python logit.py
	cd benchmarks && OMP_NUM_THREADS=1 ../.venv-peers/bin/python logit_growth.py

# docs/SPEED.md, printed again: minutes on a machine that does nothing else. CSRANK=FOLDER names
# the source of cs-ranking, see benchmarks/peers_networks.py.
speed: setup
	OMP_NUM_THREADS=1 $(BIN)/python tools/speed.py

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

.venv-lowest/installed: pyproject.toml constraints.txt tools/lowest.py $(KERNELS)
	test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	$(PYTHON) tools/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check \
	    -c .venv-lowest/constraints.txt -e '.[hypervolume,slurm,trees]' duckdb hypothesis \
	    pytest pytest-xdist selenium
	touch $@

.venv-peers/installed: pyproject.toml constraints.txt
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	grep -v '^pandas' constraints.txt > .venv-peers/constraints.txt
	.venv-peers/bin/pip install --quiet --disable-pip-version-check \
	    -c .venv-peers/constraints.txt -e '.[bench]'
	touch $@

clean:
	rm -rf .venv .venv-lowest .venv-peers build dist *.egg-info
