"""RePlay's own numbers of whole lists: its metrics over dictionaries, or over data frames."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "replay-0.22"
PACKAGE = "replay-rec"
#: those of the runner of the same name
REQUIRES: list[str] = []
TRAITS: dict[str, Any] = {"outside": False}
_NAMES = ("Coverage", "Novelty", "Surprisal", "Unexpectedness")
MEASURES = [
    *(f"{name}@<k>{how}" for name in _NAMES for how in ("", "[pandas]")),
    "CategoricalDiversity@<k>",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    from replay import metrics as theirs

    warnings.simplefilter("ignore")
    recs = {
        user: [(item, value) for item, value in listed]
        for user, listed in case["run"].items()
    }
    past: dict[str, list[str]] = {}
    for user, item in case["history"]:
        past.setdefault(user, []).append(item)
    base = {
        u: [(i, float(-index)) for index, i in enumerate(items)]
        for u, items in case["baseline"].items()
    }
    kinds = {
        u: [(case["items"][i]["category"], v) for i, v in listed]
        for u, listed in recs.items()
    }
    values: dict[str, Any] = {}
    for measure in measures:
        name, k, frame = re.fullmatch(r"(\w+)@(\d+)(.*)", measure).groups()  # type: ignore[union-attr]
        beside = (
            base
            if name == "Unexpectedness"
            else {u: [(i, 1.0) for i in items] for u, items in past.items()}
        )
        tables: tuple[Any, ...] = (_frame(recs), _frame(beside))
        if not frame:
            tables = (recs, base if name == "Unexpectedness" else past)
        if name == "CategoricalDiversity":
            tables = (kinds,)
        try:
            values[measure] = float(
                getattr(theirs, name)(int(k))(*tables)[f"{name}@{k}"]
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": f"{type(error).__name__}: {error}"}
    return values


def _frame(lists: dict[str, list[tuple[str, float]]]) -> Any:
    import pandas as pd

    rows = [
        (user, item, value) for user, listed in lists.items() for item, value in listed
    ]
    return pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])
