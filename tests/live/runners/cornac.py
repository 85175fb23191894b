"""Cornac's own numbers: its metric classes, averaged over users as its ranking_eval does."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "cornac-3.0"
REQUIRES = ["cornac==3.0.1"]
TRAITS = {"grades": [0, 0.5, 1, 2, 3], "duplicates": True, "missing": True, "extra": True}
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
    for user, listed in case["run"].items():
        # as ranking_eval reads ratings: relevant from its rating_threshold, 1.0, up
        liked = [int(d[1:]) for d, grade in case["qrels"].get(user, {}).items() if grade >= 1.0]
        shown, scores = (np.array(column) for column in zip(*listed, strict=True))
        items = np.array([int(doc[1:]) for doc in shown])
        given = {"gt_pos": np.array(liked), "pd_rank": items, "item_indices": items, "pd_scores": scores}
        lists.append(given)
        users += [given] if liked else []
    found: dict[str, Any] = {}
    for measure in measures:
        name, k = re.fullmatch(r"(\w+)(?:@(-?\d+))?(?:\[\w+\])?", measure).groups()  # type: ignore[union-attr]
        met = lists if measure.endswith("[compute]") else users
        kind = getattr(ranking, {"F1": "FMeasure"}.get(name, name))
        metric = kind(k=int(k)) if k else kind()
        try:
            found[measure] = float(sum(metric.compute(**user) for user in met) / len(met))
        except (ValueError, ZeroDivisionError) as error:
            found[measure] = {"error": repr(error)}
    return found
