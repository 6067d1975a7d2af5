"""The paper's result tables in LaTeX: booktabs, siunitx, the best entry in bold."""

from __future__ import annotations

from collections.abc import Sequence

from cschoice.datasets import DATASETS
from cschoice.report.views import COLUMNS, Row, Value, learner_label, of_kind
from cschoice.tasks import Kind

_LABELS = {
    "f1": "$F_1$-measure",
    "subset-accuracy": "Subset $0/1$ accuracy",
    "informedness": "Informedness",
    "auc-roc": "AUC-ROC",
    "accuracy": "Accuracy",
    "top-3": "Top-3",
    "top-5": "Top-5",
}


def latex(rows: Sequence[Row]) -> str:
    """Return one table per kind of choice, to be read with booktabs and siunitx."""
    return "\n\n".join(_table(found, kind) for kind in Kind if (found := of_kind(rows, kind)))


def _table(rows: Sequence[Row], kind: Kind) -> str:
    columns = COLUMNS[kind]
    head = " & ".join(["Dataset", "Learner", *(f"{{{_LABELS[name]}}}" for name in columns)])
    lines, before = [], rows[0].dataset
    for row in rows:
        if row.dataset != before:
            lines.append(r"\midrule")
            before = row.dataset
        lines.append(_line(row, columns))
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{Results of {kind} choice: mean and standard deviation over folds.}}",
            rf"  \label{{tab:{kind}}}",
            rf"  \begin{{tabular}}{{ll{'r' * len(columns)}}}",
            r"    \toprule",
            rf"    {head} \\",
            r"    \midrule",
            *(f"    {line}" for line in lines),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
    )


def _line(row: Row, columns: Sequence[str]) -> str:
    cells = []
    for name in columns:
        cell = row.cells[name]
        shown = "--" if cell.ours is None else f"\\num{{{uncertain(cell.ours)}}}"
        cells.append(rf"\textbf{{{shown}}}" if cell.best else shown)
    labels = [_escaped(DATASETS[row.dataset].label), _escaped(learner_label(row.learner))]
    return " & ".join([*labels, *cells]) + r" \\"


def uncertain(value: Value) -> str:
    """Write a mean with its deviation in units of the last digit.

    >>> uncertain(Value(0.9421, 0.0081, 5))
    '0.942(8)'
    """
    if value.n_folds < 2:
        return f"{value.mean:.3f}"
    return f"{value.mean:.3f}({round(value.std * 1000)})"


def _escaped(text: str) -> str:
    for character in "&%$#_{}":
        text = text.replace(character, rf"\{character}")
    return text
