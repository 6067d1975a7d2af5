"""The paper's best score on each dataset beside the best here."""

from __future__ import annotations

from collections.abc import Sequence

from cschoice.report.compute import paper
from cschoice.report.compute.labels import is_the_papers, learner_label
from cschoice.report.compute.paper import Score
from cschoice.report.compute.scores import Comparison, Result
from cschoice.report.compute.winners import Contest
from cschoice.report.contents.score_tables import AGREEMENT_NOTE
from cschoice.report.contents.table import Cell, Column, Row, RowGroup, ScoreCell, Table, number
from cschoice.report.contents.winner_tables import SCOPES

_HEADS = ("Paper's best", "Best here of the paper's learners", "Best here of others")


def best_table(contests: Sequence[Contest], results: Sequence[Result]) -> Table | None:
    """Return the table of the best scores under the target measure; None without the paper's.

    The best of the learners that the paper has stands beside the paper's best, and that of other
    learners apart.
    """
    groups = []
    for kind in dict.fromkeys(contest.kind for contest in contests):
        of_kind = [contest for contest in contests if contest.kind is kind]
        rows = [row for contest in of_kind if (row := _row(contest, results))]
        if rows:
            groups.append(RowGroup(SCOPES[str(kind)], tuple(rows)))
    if not groups:
        return None
    theirs, ours, others = _HEADS
    return Table(
        "best",
        "The best target measure on each dataset: the paper's, and here that of the paper's "
        "learners and of others.",
        (
            Column("Problem"),
            Column("Dataset"),
            *(Column(theirs), Column("Paper", scores=True)),
            *(Column(ours), Column("Ours", scores=True)),
            *(Column("Difference", numeric=True), Column("")),
            *(Column(others), Column("Score", scores=True)),
        ),
        tuple(groups),
        notes=(AGREEMENT_NOTE,),
    )


def _row(contest: Contest, results: Sequence[Result]) -> Row | None:
    own = [result for result in results if result.dataset == contest.dataset]
    if not any(one.on_target.paper for one in own):
        return None
    printed = {
        learner: score
        for (dataset, learner, metric), score in paper.results().items()
        if (dataset, metric) == (contest.dataset, contest.metric)
    }
    measured = {one.learner: one.on_target.ours for one in own if one.on_target.ours}
    kind = contest.kind
    ours = {name: one for name, one in measured.items() if is_the_papers(name)}
    others = {name: one for name, one in measured.items() if name not in ours}

    def best(scores: dict[str, Score]) -> tuple[list[Cell], Score | None]:
        if not scores:
            return ["", ""], None
        name = max(scores, key=lambda one: scores[one].mean)
        return [learner_label(name, kind), ScoreCell(scores[name])], scores[name]

    (their_cells, theirs), (our_cells, mine), (other_cells, _) = map(best, (printed, ours, others))
    beside = Comparison(mine, theirs)
    cells = (*their_cells, *our_cells, number(beside.difference, "+.3f"), beside.verdict)
    return Row((own[0].dataset_label, *cells, *other_cells), stale=contest.stale)
