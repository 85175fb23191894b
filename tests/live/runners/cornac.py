"""Cornac's own numbers: its metric classes, averaged over users as its ranking_eval does."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "cornac-3.0"
REQUIRES = ["cornac==3.0.1"]
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": True,
    "missing": True,
    "extra": True,
}
_NAMES = ("NDCG", "NCRR", "Precision", "Recall", "F1", "HitRatio")
MEASURES = [
    *(name + cutoff for name in _NAMES for cutoff in ("@<k>", "@-1")),
    "MRR",
    "MRR[compute]",
    "AUC",
    "MAP",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np
    from cornac.metrics import ranking

    warnings.simplefilter("ignore")
    users, lists = [], []
    number = _numbered(case)
    for user, listed in case["run"].items():
        # as ranking_eval reads ratings: relevant from its rating_threshold, 1.0, up
        liked = [
            number[d]
            for d, grade in case["qrels"].get(user, {}).items()
            if grade >= 1.0
        ]
        items = np.array([number[doc] for doc, _ in listed], dtype=int)
        scores = np.array([score for _, score in listed])
        options = {
            "gt_pos": np.array(liked),
            "pd_rank": items,
            "item_indices": items,
            "pd_scores": scores,
        }
        lists.append(options)
        users += [options] if liked else []
    values: dict[str, Any] = {}
    for measure in measures:
        name, k = re.fullmatch(r"(\w+)(?:@(-?\d+))?(?:\[\w+\])?", measure).groups()  # type: ignore[union-attr]
        met = lists if measure.endswith("[compute]") else users
        kind = getattr(ranking, {"F1": "FMeasure"}.get(name, name))
        metric = kind(k=int(k)) if k else kind()
        try:
            values[measure] = float(
                sum(metric.compute(**user) for user in met) / len(met)
            )
        except (ValueError, ZeroDivisionError) as error:
            values[measure] = {"error": repr(error)}
    return values


def _numbered(case: dict[str, Any]) -> dict[str, int]:
    """Return a number for every item."""
    judged, listed = case["qrels"].values(), case["run"].values()
    items = [
        *(doc for docs in judged for doc in docs),
        *(doc for docs in listed for doc, _ in docs),
    ]
    return {doc: index for index, doc in enumerate(dict.fromkeys(items))}
