"""The contents of a report: its tables, the files of numbers, pictures in a page."""

import csv
import io
import re

import numpy as np
import pytest
import result_examples
from result_examples import row_of, tables_of

from cschoice.evaluation.metrics import METRICS, Metric
from cschoice.report.compute import paper
from cschoice.report.compute.summary import summarize
from cschoice.report.contents.outline import outline
from cschoice.report.contents.table import Gap
from cschoice.report.formats.html import html
from cschoice.report.formats.html.graphics import inline
from cschoice.report.formats.latex import latex
from cschoice.report.formats.text import csv_files, markdown
from cschoice.tasks import Kind


def test_the_papers_tables_have_its_layout(tmp_path):
    tables = tables_of(summarize(result_examples.complete(tmp_path, n_trials=2), "laptop"))
    for name, datasets in paper.TABLES.items():
        labels = [group.label for group in tables[name].groups]
        assert len(labels) == len(datasets)
    columns = [
        "Dataset", "Choice model", "F₁-measure", "Subset 0/1 accuracy", "Informedness", "AUC-ROC",
        "Log-loss ↓",
    ]  # fmt: skip
    shown = [column.label for column in tables["subset"].columns]
    assert [label for label in shown if label in columns] == columns  # among later metrics
    learners = [row.cells[0] for row in tables["subset"].groups[0].rows]
    printed = [
        "FETA-Net", "FATE-Net", "FETA-Linear", "SDA", "RankNet", "PairwiseSVM", "GenLinearModel",
        "AllPositive",
    ]  # fmt: skip
    assert [learner for learner in learners if learner in printed] == printed
    assert "FATE-Linear †" in learners  # ours only
    assert any(note.startswith("†") for note in tables["subset"].notes)


@pytest.fixture
def new_metric(monkeypatch):
    """A metric nobody has heard of, in the registry and in no other place."""
    metric = Metric(
        "surprise", "Surprise", frozenset(Kind), "utilities", np.ptp, "a test of reports",
        higher_is_better=False, shown=True,
    )  # fmt: skip
    monkeypatch.setitem(METRICS.written, "surprise", metric)


@pytest.mark.usefixtures("new_metric")
def test_a_new_metric_reaches_every_format(tmp_path):
    summary = summarize(result_examples.small(tmp_path), "laptop")
    means = {
        one.learner: one.comparisons["surprise"]
        for one in summary.results
        if one.dataset == "medoid"
    }
    (winner,) = (one for one in means.values() if one.best)
    assert winner.ours.mean == min(one.ours.mean for one in means.values())
    outline.cache_clear()
    assert "Surprise ↓" in html(summary)["report.html"].decode()
    assert "| Surprise ↓ |" in markdown(summary)["report.md"].decode()
    assert r"{Surprise $\downarrow$}" in latex(summary)["table-singleton-1.tex"].decode()
    assert ",surprise," in csv_files(summary)["results.csv"].decode()


def test_log_loss_is_missing_where_utilities_are_no_probabilities(tmp_path):
    tables = tables_of(summarize(result_examples.complete(tmp_path, n_trials=1), "laptop"))
    table = tables["singleton-1"]
    assert table.gaps == ["its utilities are no probabilities"]
    medoid = {row.cells[0]: row.cells[-1] for row in table.groups[0].rows}
    assert isinstance(medoid["PairwiseSVM"], Gap)
    assert medoid["MNL"].score.n_folds == 5


def test_every_row_has_an_entry_for_every_column(small, mixed):
    for summary in (small, mixed):
        for table in tables_of(summary).values():
            assert all(len(row) == len(table.columns) for row in table.rows()), table.name


def test_without_the_paper_there_is_nothing_of_it(tmp_path):
    summary = summarize(result_examples.small(tmp_path), "laptop", against_paper=False)
    assert all(
        one.paper is None for result in summary.results for one in result.comparisons.values()
    )
    tables = tables_of(summary)
    assert "comparison-top-3" not in tables
    assert "Paper" not in [column.label for column in tables["comparison-accuracy"].columns]


def test_the_sizes_of_folds_come_from_the_tables_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    damaged = tmp_path / "data" / "trips" / "cschoice.json"  # imported here, and broken since
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{")
    made = result_examples.Made()
    for fold, n_test in enumerate((105, 112, 122)):
        made.job("letor-mq2008", "feta", fold)
        made.rows["folds"][-1] |= {"n_train": 4_000 + fold, "n_test": n_test}
    made.job("trips", "feta", 0, kind="singleton")
    made.rows["folds"][-1] |= {"n_train": 80, "n_test": 20, "n_features": 7, "smallest": 2,
                               "largest": 9}  # fmt: skip
    tables = tables_of(summarize(made.write(tmp_path), "laptop"))
    (group,) = tables["letor"].groups
    assert group.label == "LETOR-MQ2008"
    printed = [(row.cells[3].value, row.cells[4].value) for row in group.rows]
    assert printed == [(105, 105), (112, 112), (122, 122)]  # ours, the paper's
    rows = {row.cells[0]: row.cells for group in tables["datasets"].groups for row in group.rows}
    assert [cell and cell.text for cell in rows["trips"][1:7]] == [
        "",
        "",
        "7",
        "[2, 9]",
        "80",
        "20",
    ]
    assert rows["LETOR-MQ2008"][5].text == "[4,000, 4,002]"
    assert rows["Medoid"][5] == ""


def test_csv_has_every_number(small):
    files = {name: csv_rows(content) for name, content in csv_files(small).items()}
    tables = {f"table-{name}.csv" for name in tables_of(small)}
    assert set(files) == {"results.csv", "pairs.csv", "ranks.csv", "tables.csv"} | tables
    assert {row["file"] for row in files["tables.csv"]} == tables
    (score,) = (
        row for row in files["table-singleton-1.csv"]
        if (row["Dataset"], row["Choice model"]) == ("Medoid", "FETA-Net")
    )  # fmt: skip
    ours = row_of(small, "medoid", "feta").comparisons["accuracy"].ours
    assert (float(score["Accuracy"]), float(score["Accuracy std"])) == (ours.mean, ours.std)
    (row,) = (
        row for row in files["results.csv"]
        if (row["dataset"], row["learner"], row["metric"]) == ("medoid", "feta", "accuracy")
    )  # fmt: skip
    assert float(row["mean"]) == row_of(small, "medoid", "feta").comparisons["accuracy"].ours.mean
    assert (row["paper_mean"], row["paper_std"]) == ("0.846", "0.01")
    pairs = files["pairs.csv"]
    assert [row["metric"] for row in pairs].count("log-loss") == len(pairs) / 2
    for contest in small.contests:  # the same verdicts as the report's
        measure = contest.dataset, contest.metric, contest.winner
        own = [row for row in pairs if (row["dataset"], row["metric"], row["better"]) == measure]
        against = {row["other"]: row for row in own}
        differs = {name: float(row["p_adjusted"]) < 0.05 for name, row in against.items()}
        assert differs == {pair.other: pair.differs for pair in contest.pairs}


def csv_rows(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_pictures_in_one_page_do_not_share_names():
    svg = (
        '<?xml?><svg width="9pt" viewBox="0 0 9 9"><path id="a" d="M 1.23456 2"/>'
        '<use xlink:href="#a" clip-path="url(#b)" style="fill: #111213"/></svg>'
    )
    found = inline(svg, "bars", 'a "picture" of <things>')
    assert found == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="a &quot;picture&quot; of &lt;things&gt;">'
        '<path id="bars-a" d="M 1.23 2"/>'
        '<use href="#bars-a" clip-path="url(#bars-b)" style="fill: currentColor"/></svg>'
    )


def test_odd_names_are_drawn_and_written_without_a_warning(tmp_path):
    made = result_examples.Made()
    learners = ("feta", "feta-" + "with-a-name-nobody-wants-to-read-" * 3, "学習", "mnl.v2")
    for dataset in ("ünï.code-日本", "long" * 20, "x", "medoid"):
        for learner in learners:
            made.job(dataset, learner, 0, kind="singleton")
            made.job(dataset, learner, 1, kind="singleton")
    for metric in ("accuracy", "f1"):
        made.curve(
            "medoid", learners[1], "exp.1_é", "cpu-seconds", metric, range(1, 9), lambda x: x / 9
        )
    summary = summarize(made.write(tmp_path), "laptop")
    names = [picture.file for section in outline(summary) for picture in section.pictures]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    for render in (latex, markdown, html):
        assert all(render(summary).values())
