"""The conditions of the results are read from the study, not written down."""

from pathlib import Path
from typing import get_args

import pytest
import result_examples
import yaml

from cschoice.nets.training import Recipe
from cschoice.report.compute.conditions import RECIPES
from cschoice.report.compute.summary import summarize
from cschoice.study.config import check

FILE = Path(__file__).parents[3] / "experiments.yaml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = result_examples.Made()
    for learner in ("feta", "feta3", "sda", "ranknet", "nl"):
        made.job("medoid", learner, 0)
    for learner in ("feta", "mnl"):
        made.job("letor-mq2008", learner, 0, commit="0123456789abcdef")
        made.job("medoid", learner, 0, profile="paper")
    return made.write(tmp_path_factory.mktemp("conditions"))


def told(folder, profile="laptop", **changes):
    """Return the conditions by name, with some entries of the profile changed."""
    content = yaml.safe_load(FILE.read_text())
    content["profiles"][profile] |= changes
    summary = summarize(folder, profile, study=check(content, FILE))
    return {one.name: (one.here, one.paper) for one in summary.conditions}


def test_conditions_follow_the_profile(folder):
    found = told(
        folder,
        trials=9,
        learners={"epochs": 7, "sda": {"epochs": 11, "recipe": "paper"}},
        space={"learning_rate": [1e-3, 1e-2], "n_layers": [2, 2]},
        datasets={"n_test": 123, "max_test": 50},
        threshold_refit=True,
        frugal={"few_tasks": 2_000, "ensemble": {"n_members": 3, "held_out": 0.5}},
    )
    assert found["Trials of tuning"][0] == "9 on 3 inner splits"
    assert "Each trial" not in found  # of all tasks for all epochs, as in the paper
    assert found["Trials of tuning"][1] == "100 on 3"
    assert found["Epochs of networks"] == ("7, but 11 (SDA)", "up to 1,000")
    assert found["Training of networks"][0] == f"{RECIPES['modern']}, but {RECIPES['paper']} (SDA)"
    here, there = found["Loss of networks, singleton choice"]
    assert here == "cross-entropy, but hinge (SDA); pairwise-logistic (RankNet)"
    assert there == "hinge, but pairwise-logistic (RankNet)"
    assert found["Range of learning rate"] == (
        "[0.001, 0.01]", "[1e-05, 0.01], but [1e-05, 0.1] (SDA)"
    )  # fmt: skip
    assert found["Range of joint layers"] == ("2", "[1, 20]")  # SDA's layers have other names
    assert "Range of batch size" not in found  # not narrowed
    assert found["Test tasks"] == (
        "123, but 105 to 122 (LETOR-MQ2008, subset)",
        "100,000, but 105 to 122 (LETOR-MQ2008, subset)",
    )
    assert found["Models per learner"][0].startswith(
        "LETOR-MQ2008: under each learner's name the mean of 3 models, each without 50 %"
    )
    assert "Model for subsets" not in found


def test_conditions_tell_whose_trials_are_cheap(folder):
    frugal = {"task_share": 0.2, "epoch_share": 0.25, "few_tasks": 99, "whole": ["ranknet"]}
    cheap = "20 % of the tasks, 25 % of epochs (all, up to 99 tasks)"
    found = told(folder, frugal=frugal)["Each trial"]
    assert found == (f"{cheap}, but all tasks, all epochs (RankNet)", "all tasks, all epochs")


def test_conditions_name_what_only_one_side_has(folder):
    found = told(folder)
    assert found["Datasets"][0].startswith("2; left out: hypervolume")
    assert found["Datasets"][1] == "17"
    assert found["Learners that the paper has not"] == ("FETA-Net (3rd order)", "")
    assert found["Estimation of logits"][0] == "penalized maximum likelihood (NL)"
    assert found["Computing time of all experiments"][1].startswith("roughly 11,400 GPU hours")
    assert found["Commit"][0] == "0123456789ab (2 jobs), unknown (5 jobs)"


def test_the_papers_profile_has_its_protocol(folder):
    found = told(folder, "paper")
    assert found["Trials of tuning"] == ("100 on 3 inner splits", "100 on 3")
    assert found["Training of networks"] == (RECIPES["paper"], RECIPES["paper"])
    assert found["Epochs of networks"] == ("1,000", "up to 1,000")
    assert found["Test tasks"] == ("100,000", "100,000")
    assert not any(name.startswith("Range") for name in found)


def test_without_the_paper_there_are_none(folder):
    assert summarize(folder, "laptop", against_paper=False).conditions == ()


def test_every_recipe_is_described():
    assert set(RECIPES) == set(get_args(Recipe))
