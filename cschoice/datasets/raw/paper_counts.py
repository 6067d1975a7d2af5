"""The counts of the paper's tables, to compare raw data and datasets with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Count = int | tuple[int, ...]  # a number, one per fold, or the smallest and the largest


@dataclass(frozen=True)
class PaperCounts:
    """The paper's counts of a dataset, and reasons why the same files may give others."""

    counts: Mapping[str, Count]
    notes: Mapping[str, str] = field(default_factory=dict)


def _letor(
    tasks: int, sizes: Count, test: Count, sampled: Count, **more: Count
) -> dict[str, Count]:
    return {
        "tasks": tasks,
        "objects per task": sizes,
        "features": 46,
        "test tasks": test,
        "training samples": sampled,
        **more,
    }


def _expedia(tasks: int, train: int, test: int, sampled: int) -> dict[str, Count]:
    return {
        "tasks": tasks,
        "objects per task": (5, 38),
        "features": 17,
        "training tasks": train,
        "test tasks": test,
        "training samples": sampled,
    }


_LISTWISE = {"training samples": "how often the paper samples from a query is not stated"}
_EXPEDIA = {
    "features": "the paper's 17th is the position on the page: position=true",
    "training samples": "how often the paper samples from a search was inferred",
}
_SINGLE_CLICKS = "the paper also has searches with one click and no booking: single_clicks=true"
_SUSHI_SPLIT = "80 % / 20 % as in the text; train_share=0.7 for the table's"

PAPER_COUNTS: Mapping[str, PaperCounts] = {
    "letor-mq2007": PaperCounts(
        _letor(
            1_455,
            (6, 147),
            (283, 295, 292, 295, 290),
            (7_111, 7_012, 7_069, 7_047, 7_077),
            objects=59_570,
        )
    ),
    "letor-mq2008": PaperCounts(
        _letor(
            564,
            (5, 121),
            (105, 112, 122, 120, 105),
            (1_187, 1_083, 1_122, 1_203, 1_201),
            objects=12_102,
        )
    ),
    "letor-mq2007-list": PaperCounts(
        _letor(
            1_692,
            (257, 1_346),
            (339, 339, 339, 339, 336),
            (97_557, 98_055, 97_580, 98_000, 98_304),
        ),
        _LISTWISE,
    ),
    "letor-mq2008-list": PaperCounts(
        _letor(
            784,
            (204, 1_831),
            (157, 157, 157, 157, 156),
            (71_600, 71_908, 72_233, 71_868, 71_847),
        ),
        _LISTWISE,
    ),
    "expedia-subset": PaperCounts(_expedia(399_344, 79_855, 319_489, 238_744), _EXPEDIA),
    "expedia-singleton": PaperCounts(
        _expedia(390_270, 78_041, 312_229, 166_940),
        {
            **_EXPEDIA,
            "tasks": _SINGLE_CLICKS,
            "training tasks": _SINGLE_CLICKS,
            "test tasks": _SINGLE_CLICKS,
            "training samples": _SINGLE_CLICKS,
        },
    ),
    "sushi": PaperCounts(
        {
            "tasks": 10_000,
            "objects per task": 10,
            "features": 7,
            "training tasks": 7_000,
            "test tasks": 3_000,
        },
        {"training tasks": _SUSHI_SPLIT, "test tasks": _SUSHI_SPLIT},
    ),
    "tag-genome": PaperCounts(
        {"features": 1_128, "movies": 10_993},
        {"movies": "the releases differ in their movies; the paper's of August 2017 is gone"},
    ),
    "mnist": PaperCounts({"features": 128, "images": 60_000}),
}
