import copy
from pathlib import Path

import pytest
import yaml

from cschoice.datasets import DATASETS
from cschoice.errors import ConfigError, FileNotUsable, UnknownName
from cschoice.learners import LEARNERS
from cschoice.report.compute.paper import DATASETS_IN_ORDER
from cschoice.runs.protocols.fitting import search_space
from cschoice.runs.store import ResultStore
from cschoice.space import Real
from cschoice.study.config import check, load, with_options
from cschoice.study.plan import Selection, plan
from cschoice.study.settings import FrugalSettings

ROOT = Path(__file__).parents[3]
NOTHING = ResultStore(Path("no such folder"))  # no results to build on
CONTENT = yaml.safe_load((ROOT / "experiments.yaml").read_text())


def test_the_built_in_study_is_the_one_in_the_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load().model_dump() == load(ROOT / "experiments.yaml").model_dump()


def test_a_file_in_the_folder_is_taken_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiments.yaml").write_text(
        "experiments: {mine: {protocol: nested, datasets: [medoid], learners: [mnl]}}\n"
        "profiles: {laptop: {}}\n"
    )
    assert list(load().experiments) == ["mine"]


def test_a_file_needs_only_what_is_different(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "experiments.yaml"
    path.write_text("learners: {feta-wide: {learner: feta, parameters: {n_units: 256}}}\n")
    study, built_in = load(), load(ROOT / "experiments.yaml")
    assert study.profiles == built_in.profiles
    assert study.experiments == built_in.experiments
    assert set(study.learners) == {*built_in.learners, "feta-wide"}
    (job,) = plan(study, Selection("study", "smoke", ["feta-wide"], ["medoid"], 1), NOTHING)
    assert job.learner_parameters["n_units"] == 256
    path.write_text("experiments: {mine: {protocol: nested, datasets: [medoid], learners: [mnl]}}")
    assert list(load().experiments) == ["mine"]
    assert load().learners == {}
    assert load().profiles == built_in.profiles
    path.write_text("profiles: {laptop: {trials: 3}}")
    assert load().profile("laptop").trials == 3
    assert list(load().profiles) == ["laptop"]
    path.write_text("learnrs: {}")
    with pytest.raises(ConfigError, match="learnrs: unknown key; did you mean 'learners'"):
        load()


def test_the_study_is_the_papers():
    study = load(ROOT / "experiments.yaml")
    experiment = study.experiment("study")
    assert len(experiment.datasets) == 17
    assert {name for name, info in LEARNERS.items() if info.in_paper} <= set(experiment.learners)
    assert {"feta-one-unit", "deep-sets", "pointwise-net"} <= set(experiment.learners)
    assert set(experiment.datasets) == set(DATASETS_IN_ORDER) <= set(DATASETS.written)
    paper = study.profile("paper")
    assert (paper.folds, paper.inner_splits, paper.trials, paper.frugal) == (5, 3, 100, None)
    assert paper.learners == {"recipe": "paper", "epochs": 1000}
    jobs = plan(study, Selection("study", "paper"), NOTHING)
    (feta,) = [job for job in jobs if job.label == "pareto2d/feta/fold-0"]
    assert feta.dataset_parameters == {"n_train": 10_000, "n_test": 100_000}
    assert feta.learner_parameters == {"recipe": "paper", "epochs": 1000}
    assert feta.space == {}


def test_the_results_were_made_with_these_numbers():
    profile = load(ROOT / "experiments.yaml").profile("laptop")
    assert profile.frugal.model_dump() == {
        "task_share": 0.2, "epoch_share": 0.25, "hopeless": 0.01, "clear_gain": 0.01,
        "few_tasks": 1_450, "ensemble": {"n_members": 20, "held_out": 0.25},
        "whole": ["ranknet", "pointwise-net"],
    }  # fmt: skip
    assert (profile.spread, profile.inner_splits, profile.held_out) == (10, 3, 0.1)
    assert not profile.threshold_refit


def test_what_a_profile_does_not_say_of_screens_is_as_in_the_study():
    assert FrugalSettings().model_dump() == {
        "task_share": 1, "epoch_share": 1, "hopeless": 1, "clear_gain": 0.01, "few_tasks": 1_450,
        "ensemble": {"n_members": 20, "held_out": 0.25}, "whole": [],
    }  # fmt: skip


def test_trials_of_cheap_networks_are_whole_fits_over_the_papers_rates():
    jobs = plan(load(ROOT / "experiments.yaml"), Selection("study", "laptop"), NOTHING)
    found = {job.learner: job for job in jobs if job.label.startswith("hypervolume")}
    for name in ("ranknet", "pointwise-net"):
        frugal = found[name].budget.frugal
        assert (frugal.task_share, frugal.epoch_share) == (1, 1)
        assert search_space(found[name])["learning_rate"] == Real(1e-5, 1e-2)
    assert found["feta"].budget.frugal.task_share == 0.2
    assert search_space(found["feta"])["learning_rate"] == Real(1e-3, 1e-2)


def test_learners_have_jobs_where_they_apply():
    jobs = plan(load(ROOT / "experiments.yaml"), Selection("study", "laptop"), NOTHING)
    cells = {(job.dataset, job.learner) for job in jobs}
    assert ("medoid", "nl") in cells
    assert ("pareto2d", "nl") not in cells
    assert ("medoid", "all-positive") not in cells
    assert len(jobs) == 5 * len(cells)


def test_globs_and_overrides_select():
    study = load(ROOT / "experiments.yaml")
    selection = Selection("study", "laptop", ["feta*"], ["pareto?d", "medoid"], 2, 7)
    jobs = plan(study, selection, NOTHING)
    assert {job.learner for job in jobs} == {"feta", "feta3", "feta-linear", "feta-one-unit"}
    assert {job.dataset for job in jobs} == {"pareto2d", "pareto5d", "medoid"}
    assert {job.fold for job in jobs} == {0, 1}
    assert {job.budget.n_trials for job in jobs} == {7}
    extra = plan(study, Selection("study", "laptop", ["feta"], ["unique-onehot"]), NOTHING)
    assert {job.dataset for job in extra} == {"unique-onehot"}
    with pytest.raises(UnknownName, match="did you mean 'feta'"):
        plan(study, Selection("study", "laptop", ["fetaa"]), NOTHING)
    with pytest.raises(UnknownName, match="did you mean 'laptop'"):
        plan(study, Selection("study", "labtop"), NOTHING)
    with pytest.raises(UnknownName, match="unknown experiment"):
        plan(study, Selection("nothing", "laptop"), NOTHING)


def test_every_problem_is_listed_with_its_place():
    content = yaml.safe_load((ROOT / "experiments.yaml").read_text())
    content["profilse"] = {}
    content["profiles"]["smoke"]["trails"] = 3
    content["profiles"]["laptop"]["folds"] = 0
    content["profiles"]["laptop"]["frugal"]["task_shar"] = 1
    content["experiments"]["study"]["protocol"] = "nest"
    with pytest.raises(ConfigError) as caught:
        check(content, Path("my.yaml"))
    problems = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 5
    assert "my.yaml: profilse: unknown key; did you mean 'profiles'?" in problems
    assert "profiles.smoke.trails: unknown key; did you mean 'trials'?" in problems
    assert "profiles.laptop.folds: " in problems
    assert "got 0" in problems
    assert "frugal.task_shar: unknown key; did you mean 'task_share'?" in problems
    assert "experiments.study.protocol: " in problems


def test_names_are_checked_against_the_registries():
    content = yaml.safe_load((ROOT / "experiments.yaml").read_text())
    content["experiments"]["study"]["datasets"][0] = "mediod"
    content["experiments"]["study"]["learners"][0] = "fetta"
    content["learners"] = {"fat": {"parameters": {"epochs": 1}}}
    content["profiles"]["smoke"]["space"]["n_units"] = [9, 3]
    content["profiles"]["smoke"]["space"]["l2"] = ["1e-3", "1e-1"]
    content["datasets"] = {"medoid": {"n_trian": 5}}
    with pytest.raises(ConfigError) as caught:
        check(content, Path("my.yaml"))
    problems = "\n".join(caught.value.problems)
    assert "experiments.study.datasets: unknown dataset 'mediod': did you mean 'medoid'" in problems
    assert "experiments.study.learners: unknown learner 'fetta': did you mean 'feta'" in problems
    assert "learners: unknown learner 'fat': did you mean 'fate'" in problems
    assert "profiles.smoke.space.n_units: limits are [low, high]" in problems
    assert "profiles.smoke.space.l2: limits are [low, high]" in problems
    assert "datasets.medoid: unknown parameter of medoid 'n_trian': did you mean" in problems


@pytest.mark.parametrize("text", ["a: [", "- just\n- a list", "", "experiments: 3"])
def test_what_is_no_study_says_so(text, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        load(path)
    with pytest.raises(FileNotUsable, match="cannot read"):
        load(tmp_path / "nothing.yaml")


def problems_of(content):
    with pytest.raises(ConfigError) as caught:
        check(content, Path("my.yaml"))
    return [problem.removeprefix("my.yaml: ") for problem in caught.value.problems]


def test_settings_of_protocols_are_checked_all_at_once():
    content = copy.deepcopy(CONTENT)
    content["experiments"]["study"]["settings"] = {"sizes": [3, 30]}
    content["experiments"]["generalization"]["settings"] = {"size": [3, 30], "n_test": 0}
    content["experiments"]["unique-stream"]["settings"] = {"n_batches": "many"}
    content["profiles"]["smoke"]["settings"] = {"epoch_shar": 0.5, "sizes": [30, 3]}
    content["profiles"]["demo"]["settings"] = {"n_test": 0}  # two protocols have it: said once
    said = problems_of(content)
    assert len(said) == 7
    expected = [
        "experiments.study.settings: unknown setting of nested 'sizes': Known: ",
        "experiments.generalization.settings: unknown setting of generalization 'size': "
        "did you mean 'sizes'? Known: sizes, n_test, tuned_in",
        "experiments.generalization.settings.n_test: Input should be greater than or equal to 1",
        "experiments.unique-stream.settings.n_batches: ",
        "profiles.smoke.settings: unknown setting 'epoch_shar': did you mean 'epoch_share'?",
        "profiles.smoke.settings.sizes: sizes are [smallest, largest], got [30, 3]",
        "profiles.demo.settings.n_test: Input should be greater than or equal to 1, got 0",
    ]
    for problem, start in zip(said, expected, strict=True):
        assert problem.startswith(start)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("stduy", "unknown experiment 'stduy': did you mean 'study'?"),
        ("generalization", "experiment 'generalization' tunes no parameters"),
        ("unique-stream", "experiment 'unique-stream' tunes no parameters"),
    ],
)
@pytest.mark.parametrize("section", ["experiments", "profiles"])
def test_an_experiment_builds_on_one_that_tunes(section, other, says):
    content = copy.deepcopy(CONTENT)
    del content["experiments"]["generalization"]["settings"]["tuned_in"]
    name = {"experiments": "generalization", "profiles": "laptop"}[section]
    content[section][name]["settings"]["tuned_in"] = other
    (said,) = problems_of(content)
    assert said.startswith(f"experiments.generalization.settings: {says}")


def test_the_experiments_settings_are_above_the_profiles():
    content = copy.deepcopy(CONTENT)
    content["experiments"]["unique-stream"]["settings"] = {"n_batches": 7}
    content["profiles"]["laptop"]["settings"] = {"n_batches": 2, "n_test": 11, "sizes": [4, 5]}
    study = check(content, Path("my.yaml"))
    stream = study.protocol("unique-stream", "laptop")
    assert (stream.n_batches, stream.n_test, stream.epoch_share) == (7, 11, 1.0)
    assert study.protocol("generalization", "laptop").sizes == (3, 30)


def test_variants_are_checked():
    content = copy.deepcopy(CONTENT)
    content["learners"] = {
        "feta": {"learner": "fate"},
        "wide": {"parameters": {"n_units": 512}},
        "narrow": {"learner": "fatte", "parameters": {"n_units": 4}},
        "fine": {"learner": "sda", "space": {"n_weight_layers": [3, 1]}},
    }
    content["experiments"]["study"]["learners"] = ["feta", "fine", "fien", "wide"]
    for name in ("unique-stream", "unique-stream-paper", "recipes"):
        del content["experiments"][name]
    said = problems_of(content)
    assert [problem.split(": Known")[0].split("? Known")[0] for problem in said] == [
        "learners.feta.learner: 'feta' is a learner itself: choose another name",
        "learners: unknown learner 'wide'",
        "learners.narrow.learner: unknown learner 'fatte': did you mean 'fate'",
        "experiments.study.learners: unknown learner 'fien': did you mean 'fine'",
        "experiments.study.learners: unknown learner 'wide'",
        "learners.fine.space.n_weight_layers: limits are [low, high], got [3, 1] "
        "(YAML reads 1e-3 as text: write 1.0e-3)",
    ]
    assert said[1].endswith("a name of your own says which of them it is: 'learner: …'")
    content["learners"] = {"../up": {"learner": "fate"}}
    assert problems_of(content)[0].startswith("learners.../up")  # it would become a folder


def test_profiles_speak_of_parameters_that_some_learner_has():
    content = yaml.safe_load((ROOT / "experiments.yaml").read_text())
    content["profiles"]["laptop"]["learners"] = {"epoch": 3, "sda": {"n_score": 3}}
    content["profiles"]["laptop"]["space"] = {"n_layer": [1, 2], "n_units": [4, 8]}
    study = check(content, Path("experiments.yaml"))
    with pytest.raises(ConfigError) as caught:
        plan(study, Selection("study", "laptop", ["mnl"], ["medoid"]), NOTHING)
    assert [
        problem.partition("? ")[0].removeprefix("experiments.yaml: profiles.laptop.")
        for problem in caught.value.problems
    ] == [
        "learners: unknown parameter 'epoch': did you mean 'epochs'",
        "learners.sda: unknown parameter 'n_score': did you mean 'n_scores'",
        "space: unknown parameter 'n_layer': did you mean 'n_layers'",
    ]


WRONG_VALUES = """
experiments:
  study: {protocol: nested, datasets: [medoid, pareto2d], learners: [feta, wide],
          parameters: {batch_size: 0}}
datasets: {pareto2d: {centre: mine}}
learners:
  feta: {parameters: {n_layers: 0}}
  wide: {learner: fate, parameters: {epochs: three}}
profiles:
  laptop: {datasets: {n_train: "100", max_test: 0}, learners: {epochs: -3, sda: {n_scores: 0.5}}}
"""


def test_every_value_out_of_its_limits_is_a_line_of_one_error():
    study = check(yaml.safe_load(WRONG_VALUES), Path("mine.yaml"))
    with pytest.raises(ConfigError) as caught:
        plan(study, Selection("study", "laptop"), NOTHING)
    whole = "must be a whole number"
    assert set(caught.value.problems) == {
        f"mine.yaml: experiments.study.parameters.batch_size {whole} of at least 1, got 0",
        f"mine.yaml: learners.feta.parameters.n_layers {whole} from 1 to 50, got 0",
        f"mine.yaml: learners.wide.parameters.epochs {whole} of at least 1, got 'three'",
        f"mine.yaml: profiles.laptop.learners.epochs {whole} of at least 1, got -3",
        f"mine.yaml: profiles.laptop.learners.sda.n_scores {whole} from 1 to 4,096, got 0.5",
        "mine.yaml: datasets.pareto2d.centre must be one of shared, per-object, got 'mine'",
        f"mine.yaml: profiles.laptop.datasets.n_train {whole} of at least 1, got '100'",
        f"mine.yaml: profiles.laptop.datasets.max_test {whole} of at least 1, or None, got 0",
    }


def test_values_that_do_not_go_together_are_found_before_anything_runs():
    content = copy.deepcopy(CONTENT)
    content["datasets"] = {"medoid": {"n_objects": 2}}
    study = check(content, Path("mine.yaml"))
    with pytest.raises(ConfigError, match=r"mine.yaml: datasets.medoid: the medoid must be unique"):
        plan(study, Selection("study", "laptop", ["mnl"], ["medoid"]), NOTHING)
    assert plan(study, Selection("study", "laptop", ["mnl"], ["hypervolume"]), NOTHING)


def test_a_profile_may_say_something_else_to_one_learner():
    content = yaml.safe_load((ROOT / "experiments.yaml").read_text())
    content["learners"]["own"] = {"learner": "sda"}
    content["profiles"]["laptop"]["learners"] = {"epochs": 20, "sda": {"epochs": 40}}
    content["profiles"]["laptop"]["space"] = {"l2": [0.1, 1.0], "sda": {"l2": [0.2, 0.3]}}
    study = check(content, Path("experiments.yaml"))
    jobs = plan(study, Selection("study", "laptop", ["fate", "sda", "own"], ["medoid"], 1), NOTHING)
    epochs = {job.learner: job.learner_parameters["epochs"] for job in jobs}
    assert epochs == {"fate": 20, "sda": 40, "own": 40}
    spaces = {job.learner: job.space["l2"] for job in jobs}
    assert spaces == {"fate": [0.1, 1.0], "sda": [0.2, 0.3], "own": [0.2, 0.3]}


@pytest.mark.parametrize(("table", "value"), [("learners", 40), ("space", [1, 2])])
def test_what_a_profile_says_to_one_learner_is_parameters(table, value):
    content = yaml.safe_load((ROOT / "experiments.yaml").read_text())
    content["profiles"]["laptop"][table] = {"sda": value}
    expected = rf"profiles\.laptop\.{table}\.sda: expected parameters"
    with pytest.raises(ConfigError, match=expected):
        check(content, Path("experiments.yaml"))


def test_limits_for_one_learner_are_checked_too():
    content = yaml.safe_load((ROOT / "experiments.yaml").read_text())
    content["profiles"]["laptop"]["space"] = {
        "sda": {"l2": [3, 1]}, "l2": 3, "fatee": {"l2": [1, 3]}
    }  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        check(content, Path("experiments.yaml"))
    start = "experiments.yaml: profiles.laptop.space"
    first, second, third = caught.value.problems
    assert first.startswith(f"{start}.sda.l2: limits are [low, high], got [3, 1]")
    assert second.startswith(f"{start}.l2: limits are [low, high], got 3")
    assert third.startswith(f"{start}: unknown learner 'fatee': did you mean 'fate'")


@pytest.mark.parametrize(
    ("executor", "says"),
    [
        ({"partiton": "gpu"}, "executor.partiton: unknown key; did you mean 'partition'?"),
        (
            {"time": 43_200},
            "executor.time: a time limit is '[days-]hours:minutes:seconds' in quotes",
        ),
        ({"time": "1:2:3:4"}, "executor.time: a time limit is"),
        ({"time": "00:00:00"}, "executor.time: a time limit is"),
        ({"mem": "8 gigabytes"}, "executor.mem: memory is a whole number with K, M, G or T"),
        ({"max_jobs": 0}, "executor.max_jobs: "),
        ({"sbatch": {"job_name": "x", "--array": "1"}}, "'array, job-name' cannot be set here"),
        ({"sbatch": {"WRAP": "x"}}, "'WRAP' cannot be set here"),
        ({"sbatch": {"o": "x", "J": "x"}}, "'J, o' cannot be set here"),
        ({"sbatch": {"qos\n#SBATCH --wrap": "x"}}, "cannot be set here"),
        ({"sbatch": {"comment": "a\ntouch /tmp/x"}}, "comment must be one word"),
        ({"sbatch": {"comment": "a --wrap=x"}}, "comment must be one word"),
        ({"partition": "gpu\nrm -rf x"}, "this must be one word"),
        ({"account": "lab #"}, "this must be one word"),
        ({"name": "dask"}, "executor.name: "),
    ],
)
def test_what_is_asked_of_a_cluster_is_checked(executor, says):
    with pytest.raises(ConfigError) as caught:
        check(CONTENT | {"executor": executor}, Path("study.yaml"))
    (problem,) = caught.value.problems
    assert says in problem


def test_the_command_line_stands_above_the_study():
    study = check(CONTENT | {"executor": {"gpus": 2, "mem": "8G"}}, Path("study.yaml"))
    resources = with_options(study.executor, name="slurm", gpus=0, mem=None)
    assert (resources.name, resources.gpus, resources.mem) == ("slurm", 0, "8G")
    with pytest.raises(ConfigError, match="^--time: a time limit is"):
        with_options(study.executor, time="soon")
