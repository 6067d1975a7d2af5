"""Nested cross-validation of one learner on one outer fold.

As in the paper's section on additional experimental details: tune on inner splits, tune the
threshold, refit, test. Frugal budgets and few tasks depart from it, see below, and so does
``decision: expected-f1``, which chooses subsets by the expected F1-measure of each task.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets import DATASETS, make_dataset
from cschoice.errors import CschoiceError, FileNotUsable, InvalidParameter, MissingDependency
from cschoice.evaluation.decisions import Decision, Rule, choose, tune_rule
from cschoice.evaluation.metrics import TARGETS, metric
from cschoice.evaluation.scores import evaluate
from cschoice.learners.preparation import Preparation
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.fitting import (
    Params,
    check_utilities,
    fit,
    fold_of,
    new_learner,
    search_space,
    seed_of,
)
from cschoice.runs.protocols.protocol import Earlier, Protocol
from cschoice.runs.records import Ensemble, Frugal, Job, Record, Rung, Trial, TrialState
from cschoice.runs.tuning import best_trial, chosen_trial, next_trial
from cschoice.space import Dimension
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.splits import stratified_shuffle_splits

if TYPE_CHECKING:  # it loads scikit-learn
    from cschoice.learners.learner import Learner

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


class NestedCrossValidation(Protocol):
    """Tuning on inner splits and a test on the outer fold, within the job's budget."""

    tunes: ClassVar[bool] = True

    decision: Decision = "threshold"

    def plan(self, job: Job, earlier: Earlier) -> Job:  # noqa: ARG002
        """Return the job; without a decision where there is none to take, or the paper's is."""
        subset = DATASETS[job.dataset].kind is Kind.SUBSET
        return replace(job, settings=self.model_dump(exclude_defaults=True) if subset else {})

    def work(self, job: Job, learner: Learner, n_train: int) -> float:
        """Count the fits of a job, each as a share of a full one.

        Fits that confirm a screen are not counted: most jobs have none.
        """
        budget, frugal = job.budget, job.budget.frugal
        n_trials = budget.n_trials if search_space(job) else 0
        n_full: float = n_trials
        if frugal is not None:
            n_full *= 1 if _few(job, n_train) else frugal.task_share * frugal.epoch_share
        learned = 1 - budget.held_out
        final: float = 1
        if DATASETS[job.dataset].kind is Kind.SUBSET:
            final = learned + job.threshold_refit
            if ensemble := _ensemble(job, n_train):
                final = ensemble.n_members * (1 - ensemble.held_out)
        epochs: int = getattr(learner, "epochs", 1)
        return (budget.n_splits * n_full * learned + final) * n_train * epochs

    def run(self, context: Context) -> Record:
        """Do the job; earlier trials in the journal are taken as they are."""
        job = context.job
        source = make_dataset(job.dataset, **job.dataset_parameters)
        context.tell({"event": "data"})
        train, test, scaling = fold_of(job, source)
        learned = learn(context, train, self.decision)
        final = learned.final
        utilities = final.learner.utilities(test)
        check_utilities(job, test, utilities)
        context.tell({"event": "test"})
        context.save(final.learner, Preparation.with_rule(final.rule, scaling, train.encoding))
        if context.keep_predictions:
            context.save_predictions(test, utilities)
        return context.done(
            train,
            len(test),
            params=learned.params,
            threshold=final.threshold,
            metrics=evaluate(test, utilities, final.rule, final.learner.probabilistic),
            n_trials=len(learned.trials),
            seconds=learned.seconds(),
        )


def learn(context: Context, train: ChoiceTasks, decision: Decision = "threshold") -> Learned:
    """Tune on inner splits of these tasks and fit the best on all of them."""
    fits = _Fits(context, train, decision)
    trials = _tune(context, fits)
    started = time.process_time()
    chosen = chosen_trial(trials, context.job.budget)
    if trials and chosen is None:
        reasons = {trial.error for trial in trials if trial.error}
        raise CschoiceError(f"all {len(trials)} trials failed: {'; '.join(sorted(reasons))}")
    params = dict(chosen.params) if chosen else {}
    return Learned(fits.final(params), params, trials, started)


def _tune(context: Context, fits: _Fits) -> list[Trial]:
    """Try hyperparameters until the budget is spent; return all trials."""
    job = context.job
    trials = context.trials()
    learner, space = new_learner(job), search_space(job)
    seed = seed_of(job, "tuning", learner=learner.name)
    defaults = learner.get_params(deep=False)
    while proposal := next_trial(
        space,
        _inside(defaults, space),
        trials,
        job.budget,
        seed=seed,
        costly=learner.costly,
        confirm=not fits.screens_are_full(learner),
    ):
        params, rung = proposal
        context.tell({"event": "trial", "number": len(trials), "rung": str(rung)})
        trial = fits.trial(len(trials), params, rung, best_trial(trials))
        context.append(trial)
        trials.append(trial)
        best = best_trial(trials)
        context.tell({"event": "tried", "best": best.loss if best else None})
    return trials


def _inside(params: Params, space: Mapping[str, Dimension]) -> dict[str, Any]:
    """Move defaults that lie outside a narrowed space to the nearest value inside."""
    return {name: dimension.nearest(params[name]) for name, dimension in space.items()}


@dataclass(frozen=True)
class _Final:
    learner: Learner
    rule: Rule | None

    @property
    def threshold(self) -> float | None:
        """Return the threshold for the record; None where choices need none."""
        return self.rule if isinstance(self.rule, float) else None


@dataclass(frozen=True)
class Learned:
    """The final model of a job, its parameters, and the trials that they come from."""

    final: _Final
    params: Params
    trials: Sequence[Trial]
    started: float  # when tuning was over, in CPU time

    def seconds(self) -> float:
        """Return the CPU time of all trials and of everything since."""
        return sum(trial.seconds for trial in self.trials) + time.process_time() - self.started


class _Fits:
    """The fits of a job, with their seeds and splits.

    Splits leave the learner's name out of their seeds: all learners see the same ones.
    """

    def __init__(self, context: Context, train: ChoiceTasks, decision: Decision) -> None:
        self.context, self.job, self.train = context, context.job, train
        self.decision: Decision = decision
        budget = self.job.budget
        self.few = _few(self.job, len(train))
        self.splits: Sequence[Split] = stratified_shuffle_splits(
            train, budget.n_splits, budget.held_out, seed_of(self.job, "inner")
        )

    def screens_are_full(self, learner: Learner) -> bool:
        """Return whether a screen is a full fit, so that there is nothing to confirm."""
        frugal = self.job.budget.frugal
        if frugal is None or self.few:
            return True
        saves_epochs = frugal.epoch_share < 1 and hasattr(learner, "epochs")
        return frugal.task_share == 1 and not saves_epochs

    def trial(self, number: int, params: Params, rung: Rung, best: Trial | None) -> Trial:
        """Evaluate hyperparameters on the inner splits; a failure is a result too."""
        started = time.process_time()
        losses: list[float] = []
        state, reason = TrialState.COMPLETE, None
        frugal = self.job.budget.frugal
        confirms = rung is Rung.FULL and frugal is not None
        try:
            for index, (inner, held_out) in enumerate(self.splits[: 1 if confirms else None]):
                learner = new_learner(self.job, params)
                if rung is Rung.SCREEN and frugal is not None:
                    inner = self._screened(learner, inner, frugal)
                self._fit(learner, inner, f"trial-{number}-{index}", split=index)
                losses.append(self._loss(learner, inner, held_out))
                if rung is Rung.SCREEN and index == 0 and _hopeless(losses[0], best, frugal):
                    state = TrialState.HOPELESS
                    break
        except (InvalidParameter, FileNotUsable, MissingDependency):
            raise  # wrong for every trial: not a result
        except (CschoiceError, MemoryError, RuntimeError) as error:  # torch's are RuntimeErrors
            losses, state, reason = [], TrialState.FAILED, f"{type(error).__name__}: {error}"
        seconds = time.process_time() - started
        return Trial(number, rung, dict(params), losses, state, seconds, reason)

    def final(self, params: Params) -> _Final:
        """Fit the final model and, for subset choice, tune its rule on held-out tasks.

        The final model is the one that the rule was tuned for or, with ``threshold_refit``,
        one of all tasks. With few tasks it is the mean of an ensemble, whatever the flag: each
        member overfits, but not in the same way.
        """
        everything = np.arange(len(self.train))
        if self.train.kind is Kind.SINGLETON:
            return _Final(self._fit(new_learner(self.job, params), everything, "final"), None)
        ensemble = _ensemble(self.job, len(self.train))
        members = ensemble or Ensemble(1, self.job.budget.held_out)
        splits = stratified_shuffle_splits(
            self.train, members.n_members, members.held_out, seed_of(self.job, "threshold")
        )
        learners = [
            self._fit(new_learner(self.job, params), inner, f"threshold-{index}")
            for index, (inner, _) in enumerate(splits)
        ]
        rule = tune_rule(self.decision, *self._of_unseen(learners, splits))
        if ensemble:
            from cschoice.learners.ensemble import MeanEnsemble

            return _Final(MeanEnsemble.of(learners), rule)
        if self.job.threshold_refit:
            learners = [self._fit(new_learner(self.job, params), everything, "final")]
        return _Final(learners[0], rule)

    def _of_unseen(
        self, learners: Sequence[Learner], splits: Sequence[Split]
    ) -> tuple[ChoiceTasks, NDArray[np.float64]]:
        """Return held-out tasks with their mean utilities, by learners that have not seen them."""
        total, n_learners = np.zeros((2, self.train.n_entries))
        for learner, (_, held_out) in zip(learners, splits, strict=True):
            entries = self.train.entries(held_out)
            total[entries] += learner.utilities(self.train[held_out])
            n_learners[entries] += 1
        numbers = np.flatnonzero(n_learners[self.train.offsets[:-1]])
        entries = self.train.entries(numbers)
        return self.train[numbers], total[entries] / n_learners[entries]

    def _fit(
        self, learner: Learner, numbers: NDArray[np.int64], purpose: str, split: int | None = None
    ) -> Learner:
        return fit(self.context, learner, self.train[numbers], purpose, split)

    def _screened(
        self, learner: Learner, numbers: NDArray[np.int64], frugal: Frugal
    ) -> NDArray[np.int64]:
        """Take a share of the tasks, and of the epochs where the learner has them."""
        if self.few:
            return numbers
        if hasattr(learner, "epochs"):
            learner.set_params(epochs=max(1, round(frugal.epoch_share * learner.epochs)))
        order = np.random.default_rng(seed_of(self.job, "screen")).permutation(numbers)
        return np.sort(order[: max(2, round(frugal.task_share * len(numbers)))])

    def _loss(
        self, learner: Learner, inner: NDArray[np.int64], held_out: NDArray[np.int64]
    ) -> float:
        """Return 1 − accuracy, or 1 − F1 with the rule tuned on the inner training tasks."""
        tasks = self.train[held_out]
        utilities = learner.utilities(tasks)
        target = metric(TARGETS[tasks.kind])
        if tasks.kind is Kind.SINGLETON:
            return 1 - target(tasks, utilities)
        known = self.train[inner]
        rule = tune_rule(self.decision, known, learner.utilities(known))
        return 1 - target(tasks, choose(tasks, utilities, rule))


def _few(job: Job, n_train: int) -> bool:
    """Return whether screens are full fits: a share of few tasks would tell little."""
    frugal = job.budget.frugal
    return frugal is not None and n_train <= frugal.few_tasks


def _ensemble(job: Job, n_train: int) -> Ensemble | None:
    """Return the ensemble that predicts where training tasks are few, else None."""
    return job.budget.frugal.ensemble if job.budget.frugal and _few(job, n_train) else None


def _hopeless(loss: float, best: Trial | None, frugal: Frugal | None) -> bool:
    """Compare with the best trial on the same split: splits differ by more than trials do."""
    return frugal is not None and best is not None and loss > best.losses[0] + frugal.hopeless
