"""Jobs, trials and records that are valid, with the changes that a test makes to them."""

from cschoice.runs.records import Budget, Frugal, Job, Record, Rung, State, Trial, TrialState


def make_job(**changes):
    valid = {
        "profile": "smoke",
        "experiment": "study",
        "protocol": "nested",
        "dataset": "medoid",
        "learner": "mnl",
        "fold": 0,
        "seed": 0,
        "budget": Budget(3, frugal=Frugal(0.2, 0.5, 0.1)),
        "learner_parameters": {"l2": 0.1},
    }
    return Job(**{**valid, **changes})


def make_trial(number, **changes):
    return Trial(
        **{
            "number": number,
            "rung": Rung.SCREEN,
            "params": {"l2": 0.5, "act": "relu"},
            "losses": [0.25, 0.5],
            "state": TrialState.COMPLETE,
            "seconds": 1.5,
            **changes,
        }
    )


def make_record(job, **changes):
    return Record(**{"key": job.key, "state": State.DONE, "metrics": {"accuracy": 0.5}, **changes})
