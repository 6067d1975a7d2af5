"""Reports of complete, partial and mixed results; the formats are tested elsewhere."""

from pathlib import Path

import pandas as pd
import pytest
import result_examples
from result_examples import row_of, tables_of

from cschoice.errors import DataUnavailable, InvalidFile, UnknownName
from cschoice.evaluation.metrics import METRICS
from cschoice.learners import LEARNERS
from cschoice.report.compute import paper
from cschoice.report.compute.curves import best_so_far
from cschoice.report.compute.labels import datasets_in_order, learners_in_order
from cschoice.report.compute.summary import summarize
from cschoice.report.compute.winners import MORE_THAN_NOISE, NO_DIFFERENCE, contests
from cschoice.report.contents.headlines import headlines
from cschoice.report.contents.outline import outline
from cschoice.report.contents.table import Gap, ScoreCell
from cschoice.runs.store import ResultStore
from cschoice.study.config import load as load_study
from cschoice.study.plan import Selection, plan

# --- the paper's numbers ----------------------------------------------------------------------


def test_the_papers_tables_are_complete():
    values = paper.results()
    assert len(values) == 7 * 8 * 4 + 10 * 10 * 3
    assert str(values["pareto2d", "feta", "f1"]) == "0.942 ± 0.008"
    assert {dataset for dataset, _, _ in values} == set(paper.DATASETS_IN_ORDER)


@pytest.mark.parametrize("row", paper.ranges(), ids=lambda row: f"{row.learner}-{row.parameter}")
def test_learners_seek_where_the_paper_did(row):
    dimension = LEARNERS[row.learner].learner.search_space[row.parameter]
    assert (dimension.low, dimension.high) == (row.low, row.high)


def test_known_names_come_first_and_in_the_papers_order():
    assert datasets_in_order(["zebra", "sushi", "unique-onehot", "medoid", "ant"]) == [
        "medoid", "sushi", "unique-onehot", "ant", "zebra",
    ]  # fmt: skip
    assert learners_in_order(["mnl-2", "mnl", "feta"]) == ["feta", "mnl", "mnl-2"]


# --- numbers ----------------------------------------------------------------------------------


def test_means_and_deviations_are_those_of_the_table(small):
    metrics = small.inputs.metrics
    cell = metrics[(metrics["dataset"] == "medoid") & (metrics["learner"] == "feta")]
    values = cell.loc[cell["metric"] == "accuracy", "value"]
    ours = row_of(small, "medoid", "feta").comparisons["accuracy"].ours
    assert ours.mean == pytest.approx(values.mean())
    assert ours.std == pytest.approx(values.std(ddof=1))  # over folds, as of a sample
    assert ours.n_folds == 5


def test_the_best_of_each_dataset_and_measure_is_marked(small):
    for dataset in {row.dataset for row in small.results}:
        own = [row for row in small.results if row.dataset == dataset]
        for name in own[0].comparisons:
            means = {row.learner: round(row.comparisons[name].ours.mean, 3) for row in own}
            best = (max if METRICS[name].higher_is_better else min)(means.values())
            marked = {row.learner for row in own if row.comparisons[name].best}
            assert marked == {learner for learner, mean in means.items() if mean == best}


def test_a_winner_by_far_is_more_than_noise_and_a_tie_is_not(small):
    by_dataset = {contest.dataset: contest for contest in small.contests}
    assert by_dataset["medoid"].winner == "fate"
    near = {pair.other: pair for pair in by_dataset["medoid"].pairs}
    assert near["mnl"].differs
    assert near["mnl"].difference.mean > 0.8
    unclear = [contest for contest in small.contests if contest.equals]
    assert unclear
    assert all(NO_DIFFERENCE in one.verdict or "a tie with" in one.verdict for one in unclear)


def test_the_winner_is_compared_as_all_pairs_are(small):
    assert all(contest.n_comparisons == 4 * 3 // 2 for contest in small.contests)
    for contest in small.contests:
        assert {pair.other for pair in contest.pairs} | {contest.winner} == {
            name for pair in contest.every_pair for name in (pair.better, pair.other)
        }
        for pair in contest.every_pair:
            assert pair.difference.mean >= 0
            assert pair.difference.adjusted == pytest.approx(min(1, 6 * pair.difference.p))
            assert pair.differs == (pair.difference.low > 0)
        clear = all(pair.differs for pair in contest.pairs)
        assert (contest.verdict == MORE_THAN_NOISE) == clear


def scored(tmp_path, dataset, values, metric="accuracy"):
    """Return the summary of learners with these scores on each fold."""
    made = result_examples.Made()
    for learner, of_folds in values.items():
        for fold, value in enumerate(of_folds):
            names = made.job(dataset, learner, fold, metrics=False)
            made.rows["metrics"].append(names | {"metric": metric, "value": value})
    return summarize(made.write(tmp_path), "laptop")


def test_the_best_of_the_papers_learners_stands_beside_others(tmp_path):
    values = {"feta3": [0.9, 0.91], "feta": [0.8, 0.81], "mnl": [0.1, 0.1]}
    summary = scored(tmp_path, "medoid", values)
    (contest,) = summary.contests
    assert (contest.winner, contest.papers_best) == ("feta3", "feta")
    ((cells,),) = (list(table.rows()) for table in [tables_of(summary)["best"]])
    assert cells[2] == "FATE-Net"  # of the paper's numbers
    assert [cells[4], cells[8]] == ["FETA-Net", "FETA-Net (3rd order) †"]
    assert any(note.startswith("†") for note in tables_of(summary)["best"].notes)


def test_log_loss_is_judged_where_learners_have_one(tmp_path):
    values = {"feta": [0.3, 0.31, 0.3], "mnl": [0.9, 0.91, 0.93], "fate": [0.32, 0.31, 0.29]}
    summary = scored(tmp_path, "medoid", values, metric="log-loss")
    assert summary.contests == ()  # nobody has the target measure
    (contest,) = summary.on_likelihood
    assert contest.winner == "feta"
    assert contest.pairs[0].other == "fate"
    assert contest.pairs[1].difference.mean > 0.5  # less is better
    assert "log-loss" in tables_of(summary)["winners-log-loss"].caption


def test_cells_that_only_repeat_all_positive_are_counted_apart(tmp_path):
    values = {"all-positive": [0.561, 0.562], "mnl": [0.5612, 0.5618], "feta": [0.97, 0.971]}
    summary = scored(tmp_path, "mnist-unique-subset", values, metric="f1")
    verdicts = {one.learner: one.on_target.verdict for one in summary.results}
    assert verdicts["mnl"] == verdicts["all-positive"] == "repeats AllPositive"
    assert verdicts["feta"] not in ("", "repeats AllPositive")
    (line,) = (line for line in headlines(summary) if "cells with" in line)
    assert line.startswith("Of 1 cells")
    assert "2 more repeat AllPositive, here as in the paper." in line


def test_a_sample_of_a_dataset_is_not_set_beside_the_paper(tmp_path):
    made = result_examples.Made()
    for fold in range(2):
        made.job("expedia-subset", "feta", fold, sample="1,409 of 399,344 tasks")
        made.job("pareto2d", "feta", fold)
    summary = summarize(made.write(tmp_path), "laptop")
    one = row_of(summary, "expedia-subset", "feta")
    assert all(comparison.paper is None for comparison in one.comparisons.values())
    labels = [group.label for group in tables_of(summary)["subset"].groups]
    assert labels == ["Pareto-front-2D", "Expedia (a sample: 1,409 of 399,344 tasks)"]


def test_results_of_another_configuration_are_marked_as_stale(tmp_path):
    study = load_study(Path(__file__).parents[3] / "experiments.yaml")
    learners, folder = ["mnl", "random"], ResultStore(tmp_path)
    jobs = plan(study, Selection("study", "laptop", learners, ["medoid"], 2), folder)
    few_trials = plan(study, Selection("study", "laptop", ["feta"], ["medoid"], 2, 3), folder)
    made = result_examples.Made()
    for job in (*jobs, *few_trials):
        key = "of before" if (job.learner, job.fold) == ("mnl", 1) else job.key
        made.job(job.dataset, job.learner, job.fold, key=key, n_trials=job.budget.n_trials)
    summary = summarize(made.write(tmp_path), "laptop", study=study)
    stale = {one.learner: one.n_stale for one in summary.results if one.folds}
    assert stale == {"feta": 0, "mnl": 1, "random": 0}  # a number of trials may be chosen
    assert row_of(summary, "medoid", "mnl").state == "2 folds, 1 stale"
    shown = {row[1] for row in tables_of(summary)["comparison-accuracy"].rows()}
    assert {"MNL ‡", "FETA-Net", "Random"} <= shown
    assert any("1 of 6 jobs" in line and "stale" in line for line in headlines(summary))


def test_curves_of_another_configuration_are_marked_as_stale(tmp_path):
    study = load_study(Path(__file__).parents[3] / "experiments.yaml")
    selection = Selection("generalization", "laptop", ["mnl", "random"], ["medoid"], 2)
    made = result_examples.Made()
    for job in plan(study, selection, ResultStore(tmp_path)):
        key = "of before" if (job.learner, job.fold) == ("mnl", 1) else job.key
        names = made.job(
            job.dataset, job.learner, job.fold, experiment=job.experiment, key=key, metrics=False
        )
        points = names | {"axis": "n_objects", "metric": "normalized-accuracy", "value": 0.5}
        made.rows["curves"] += [points | {"x": float(x)} for x in (3, 30)]
    tables = tables_of(summarize(made.write(tmp_path), "laptop", study=study))
    (table,) = (one for name, one in tables.items() if name.startswith("curve-"))
    assert {row[1] for row in table.rows()} == {"MNL ‡", "Random"}


def test_the_committed_tables_are_told_by_these_rules():
    root = Path(__file__).parents[3]
    study = load_study(root / "experiments.yaml")
    summary = summarize(root / "results", "laptop", study=study)
    told = list(headlines(summary))
    (cells,) = (line for line in told if "the paper's target measure" in line)
    assert "it cannot be told" in cells
    assert "repeat AllPositive" in cells
    assert sum("adjusted for all pairs" in line for line in told) == 2  # target and log-loss
    stale = [one for one in summary.results if one.n_stale]
    assert any("stale" in line for line in told) == bool(stale)
    marked = [row[1] for row in tables_of(summary)["comparison-accuracy"].rows()]
    assert sum("‡" in text for text in marked) == sum(
        one.target == "accuracy" and one.n_stale > 0 for one in summary.results
    )
    assert {one.name for one in summary.conditions} >= {"Test tasks", "Each trial", "Commit"}


def test_contests_need_results():
    assert contests([]) == []


def test_learners_are_ranked_on_datasets_that_all_of_them_have(small):
    names = {ranking.name: ranking for ranking in small.rankings}
    assert set(names) == {"singleton", "subset", "all"}
    ranking = names["all"]
    assert len(ranking.datasets) == 6
    assert list(ranking.test.ranks) == sorted(ranking.test.ranks)
    assert "MNL/GenLinearModel" in ranking.labels


def test_a_gap_costs_a_learner_or_a_dataset_but_not_the_ranking(tmp_path):
    made = result_examples.Made()
    for dataset in ("medoid", "hypervolume", "sushi", "tag-genome-similar"):
        for learner in ("feta", "fate", "mnl", "sda"):
            if (dataset, learner) != ("sushi", "sda"):
                made.job(dataset, learner, 0)
    (ranking,) = summarize(made.write(tmp_path), "laptop").rankings
    assert (len(ranking.datasets), len(ranking.learners)) in {(4, 3), (3, 4)}


# --- gaps -------------------------------------------------------------------------------------


def test_every_gap_says_why(mixed):
    reasons = {(row.dataset, row.learner): row.reason for row in mixed.results if not row.folds}
    assert reasons["sushi", "feta"] == f"skipped: {result_examples.NASTY}"
    assert reasons["pareto2d", "sda"] == "failed"
    assert reasons["medoid", "sda"] == "not run"  # the paper has the cell, and sda ran elsewhere
    assert ("medoid", "gnl") not in reasons  # nobody ran it anywhere
    table = tables_of(mixed)["singleton-1"]
    entries = [entry for row in table.rows() for entry in row]
    assert Gap("not run") in entries
    assert any("Fewer than 5 folds: FETA-Net on Hypervolume (3)" in note for note in table.notes)


def test_what_is_missing_or_mixed_is_told(mixed):
    told = "\n".join(mixed.missing)
    for words in (
        "No curves of experiment 'generalization'",
        "13 of the paper's 17 datasets were not run: mnist-unique-singleton",
        "Failed: RuntimeError: out of memory: FETA-Net on Hypervolume.",
        "Failed: SDA on Pareto-front-2D.",
        "different numbers of trials: 3 (MNL); 12 (FETA-Net",
        "different seeds: 0, 7",
    ):
        assert words in told


def test_profiles_are_never_mixed(mixed_folder, mixed):
    assert set(mixed.inputs.every_fold["profile"]) == {"laptop"}
    smoke = summarize(mixed_folder, "smoke")
    assert [(row.dataset, row.learner) for row in smoke.results] == [("medoid", "feta")]
    with pytest.raises(DataUnavailable, match="no results with profile 'paper'.*laptop, smoke"):
        summarize(mixed_folder, "paper")
    with pytest.raises(UnknownName, match="did you mean 'study'"):
        summarize(mixed_folder, "laptop", "stduy")


def test_own_datasets_and_variants_come_last_under_their_own_names(mixed):
    assert tables_of(mixed)["singleton-other"].groups[0].label == "trips_to & fro"
    medoid = [row.learner for row in mixed.results if row.dataset == "medoid"]
    assert medoid == ["feta", "fate", "sda", "ranknet", "mnl", "random", "feta-wide"]


def test_own_data_alone_are_not_compared_with_the_paper(tmp_path):
    made = result_examples.Made()
    for fold in range(3):
        made.job("trips", "mnl", fold, kind="singleton")
    summary = summarize(made.write(tmp_path), "laptop")
    assert not summary.against_paper
    assert summary.missing == ()
    columns = [column.label for column in tables_of(summary)["comparison-accuracy"].columns]
    assert columns == ["Dataset", "Choice model", "Ours", "CPU time", "Folds"]


def test_one_fold_has_no_verdict(mixed):
    cell = row_of(mixed, "pareto2d", "feta").comparisons["f1"]
    assert (cell.ours.n_folds, cell.verdict) == (1, "one fold")
    (contest,) = (one for one in mixed.contests if one.dataset == "pareto2d")
    assert contest.verdict == "too few folds to tell a difference from noise"


def test_curves_alone_are_a_report_too(tmp_path):
    made = result_examples.Made()
    result_examples.add_curves(made)
    summary = summarize(made.write(tmp_path), "laptop")
    assert "No results of experiment 'study'" in summary.missing[0]
    names = [section.name for section in outline(summary)]
    assert "curves" in names
    assert "singleton" not in names


def test_an_experiment_of_curves_has_tables_of_them(tmp_path):
    folder = result_examples.small(tmp_path)
    summary = summarize(folder, "laptop", "unique-stream")
    assert summary.results == ()
    (graph,) = summary.curves
    (section,) = (one for one in outline(summary) if one.name == "curves")
    (table,) = section.behind_pictures
    ends = {row.cells[0]: row.cells[-1] for group in table.groups for row in group.rows}
    assert table.columns[-1].label == "400"
    assert ends["FETA-Net"] == ""  # it ended at epoch 100
    assert ends["fate-large"].score.mean == pytest.approx(graph.panels[1].curves[0].mean[-1])


def test_nothing_done_is_a_report_too(tmp_path):
    made = result_examples.Made()
    made.job("medoid", "feta", 0, state="failed", reason="diverged")
    summary = summarize(made.write(tmp_path), "laptop")
    assert summary.contests == ()
    assert tables_of(summary)["singleton-1"].gaps == ["failed: diverged"]


def test_a_table_without_its_columns_is_refused(tmp_path):
    folder = result_examples.small(tmp_path)
    path = folder / "tables" / "metrics.parquet"
    metadata = pd.read_parquet(path).drop(columns="metric")
    write_like(path, metadata)
    with pytest.raises(InvalidFile, match="has no column metric: run 'cschoice collect'"):
        summarize(folder, "laptop")


def write_like(path, frame):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    version = pq.read_schema(path).metadata[b"cschoice"]
    pq.write_table(table.replace_schema_metadata({"cschoice": version}), path)


# --- curves -----------------------------------------------------------------------------------


def test_learners_that_ran_equally_long_share_a_panel(small):
    (graph,) = (one for one in small.curves if one.experiment == "unique-stream")
    learners = [[curve.learner for curve in panel.curves] for panel in graph.panels]
    assert learners == [["feta", "fate", "sda"], ["fate-large"]]


def test_folds_are_averaged_where_all_have_begun_and_keep_their_last_value(small):
    (graph,) = (one for one in small.curves if one.axis == "cpu-seconds")
    line = graph.panels[0].curves[0]
    assert line.n_folds == 3
    assert line.x[0] == pytest.approx(12.0)  # the slowest fold begins here
    assert line.x[-1] == pytest.approx(588.0)  # the slowest ends here, others are over
    folds = small.inputs.curves.query("experiment == 'recipes' and learner == @line.learner")
    last = folds.sort_values("x").groupby("fold")["value"].last()
    assert line.mean[-1] == pytest.approx(last.mean())
    assert len(line.x) <= 200


def test_a_fast_recipe_has_values_beside_slow_ones(tmp_path):
    made = result_examples.Made()
    for learner, end in (("feta-modern", 10), ("feta-paper", 500)):
        made.curve("medoid", learner, "recipes", "cpu-seconds", "accuracy",
                   range(1, end + 1), lambda s: s / (s + 5))  # fmt: skip
    table = tables_of(summarize(made.write(tmp_path), "laptop"))["curve-recipes-accuracy"]
    fast, slow = (row.cells[1:] for row in table.groups[0].rows)
    assert all(isinstance(cell, ScoreCell) for cell in (*fast, *slow))
    assert fast[-1].score.mean == pytest.approx(10 / 15, abs=0.01)
    assert slow[-1].score.mean > 0.9


def test_screened_and_full_losses_are_not_compared():
    rungs = ["screen", "screen", "screen", "full"]
    x, best = best_so_far(rungs, ["complete"] * 4, [0.5, 0.3, 0.4, 0.1])
    assert (x.tolist(), best.tolist()) == ([1, 2, 3], [0.5, 0.3, 0.3])
    assert best_so_far(["full"], ["failed"], [None])[0].tolist() == []
