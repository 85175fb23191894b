"""Evidently's own numbers: the ranking metrics that its reports compute."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

LIBRARY = "evidently-0.7.23"
REQUIRES = ["evidently==0.7.23", "pandas<3"]
TRAITS = {"grades": [0, 0.5, 1, 2, 3]}
_NAMES = {
    "NDCG": "NDCGKMetric",
    "MRR": "MRRKMetric",
    "HitRate": "HitRateKMetric",
    "PrecisionTopK": "PrecisionTopKMetric",
    "RecallTopK": "RecallTopKMetric",
    "FBetaTopK": "FBetaTopKMetric",
    "MAP": "MAPKMetric",
    "MARKMetric": "MARKMetric",
}
#: it sees the labels of rows, and no other judgments
ROWS = True
MEASURES = [
    f"{name}(k=<k>{more})"
    for name in _NAMES
    for more in ("", ", no_feedback_users=True")
]


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw grades below zero, too, in every fourth case."""
    from tests.live.worlds import cases as drawn

    below = replace(traits, grades=(-1, *traits.grades))
    return [
        *drawn(seed, count - count // 4, traits),
        *drawn(seed + 7, count // 4, below),
    ]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    warnings.simplefilter("ignore")
    import pandas as pd
    from evidently.legacy import metrics as theirs
    from evidently.legacy.pipeline.column_mapping import ColumnMapping, RecomType
    from evidently.legacy.report import Report

    rows = [
        (q, d, s, case["qrels"].get(q, {}).get(d, 0.0))
        for q, listed in case["run"].items()
        for d, s in listed
    ]
    table = pd.DataFrame(rows, columns=["user", "item", "score", "label"])
    columns = ColumnMapping(
        recommendations_type=RecomType.SCORE,
        target="label",
        prediction="score",
        user_id="user",
        item_id="item",
    )
    options = {measure: _metric(theirs, measure) for measure in measures}
    report = Report(metrics=list(options.values()))
    report.run(current_data=table, reference_data=None, column_mapping=columns)
    return {measure: _value(metric, case["k"]) for measure, metric in options.items()}


def _metric(theirs: Any, measure: str) -> Any:
    name, k, more = re.fullmatch(r"(\w+)\(k=(\d+)(.*)\)", measure).groups()  # type: ignore[union-attr]
    return getattr(theirs, _NAMES[name])(k=int(k), no_feedback_users=bool(more))


def _value(metric: Any, k: int) -> Any:
    """Return the value at rank k; some metrics count ranks from 1, others from 0."""
    try:
        values = metric.get_result().current
        return float(values[k if min(values.index) == 1 else k - 1])
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {"error": f"{type(error).__name__}: {error}"}


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell where k is deeper than anything stands, and of ideal lists below 0."""
    lists = [
        [(case["qrels"].get(q, {}).get(d, 0), s) for d, s in listed]
        for q, listed in case["run"].items()
    ]
    counted = [
        listed
        for listed in lists
        if "True" in measure or any(grade > 0 for grade, _ in listed)
    ]
    by_place = measure.startswith(("NDCG", "MRR", "HitRate"))
    deepest = (
        max(map(_lowest, counted), default=0) if by_place else max(map(len, lists))
    )
    if case["k"] > deepest:
        return "k is beyond the lowest place"
    if measure.startswith("NDCG") and any(
        _odd([grade for grade, _ in listed], case["k"]) for listed in counted
    ):
        return "grades below 0 leave no ideal gain above 0"
    return None


def _odd(grades: list[float], k: int) -> bool:
    from math import log2

    best = sorted(grades, reverse=True)[:k]
    return (
        min(grades) < 0
        and sum(grade / log2(rank + 1) for rank, grade in enumerate(best, 1)) <= 0
    )


def _lowest(listed: list[tuple[float, float]]) -> int:
    """Return the place of the last item: the middle of its tie block, rounded down."""
    tied = sum(s == listed[-1][1] for _, s in listed)
    return (2 * len(listed) - tied + 1) // 2
