"""RePlay's own numbers: its metrics over dictionaries, or over data frames."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "replay-0.22"
REQUIRES = ["replay-rec==0.22.*"]
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": True,
    "missing": True,
    "extra": True,
}
_NAMES = ("NDCG", "MAP", "MRR", "Precision", "Recall", "HitRate", "RocAuc")
MEASURES = [f"{name}@<k>{how}" for name in _NAMES for how in ("", "[pandas]")]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    from replay import metrics as theirs

    warnings.simplefilter("ignore")
    relevant = {
        q: [d for d, grade in docs.items() if grade > 0]
        for q, docs in case["qrels"].items()
    }
    truth = {q: docs for q, docs in relevant.items() if docs}
    lists = {q: [(d, s) for d, s in listed] for q, listed in case["run"].items()}
    frames = (
        _frame(lists, "rating"),
        _frame({q: [(d, 1.0) for d in ds] for q, ds in truth.items()}, "one"),
    )
    values: dict[str, Any] = {}
    for measure in measures:
        name, k, frame = re.fullmatch(r"(\w+)@(\d+)(.*)", measure).groups()  # type: ignore[union-attr]
        try:
            values[measure] = getattr(theirs, name)(int(k))(
                *(frames if frame else (lists, truth))
            )[f"{name}@{k}"]
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": f"{type(error).__name__}: {error}"}
    return values


def _frame(lists: dict[str, list[tuple[str, float]]], third: str) -> Any:
    import pandas as pd

    rows = [(q, d, value) for q, listed in lists.items() for d, value in listed]
    return pd.DataFrame(rows, columns=["query_id", "item_id", third])
