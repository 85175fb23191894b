"""Evidently's own numbers of whole lists: the metrics that its reports compute."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "evidently-0.7.23"
PACKAGE = "evidently"
#: those of the runner of the same name
REQUIRES: list[str] = []
TRAITS: dict[str, Any] = {
    "ties": False,
    "outside": False,
    "blank": False,
    "repeated": False,
}
MEASURES = [
    "Novelty(k=<k>)",
    "Diversity(k=<k>)",
    "Serendipity(k=<k>)",
    "Personalization(k=<k>)",
    "PopularityBiasMetric(k=<k>)",
    "PopularityBiasMetric(k=<k>, normalize_arp=True)",
    "PopularityBiasMetric(k=<k>, metric='coverage')",
    "PopularityBiasMetric(k=<k>, metric='gini')",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    warnings.simplefilter("ignore")
    import pandas as pd
    from evidently.legacy import metrics as theirs
    from evidently.legacy.pipeline.column_mapping import ColumnMapping, RecomType
    from evidently.legacy.report import Report

    features = {item: about["features"] for item, about in case["items"].items()}
    shown = [
        (user, item, value, case["qrels"].get(user, {}).get(item, 0.0), *features[item])
        for user, listed in case["run"].items()
        for item, value in listed
    ]
    table = pd.DataFrame(shown, columns=["user", "item", "score", "label", "x", "y"])
    met = [(user, item, *features[item]) for user, item in case["history"]]
    train = pd.DataFrame(met, columns=["user", "item", "x", "y"])
    columns = ColumnMapping(
        recommendations_type=RecomType.SCORE,
        target="label",
        prediction="score",
        user_id="user",
        item_id="item",
    )
    options = {measure: _metric(theirs, measure) for measure in measures}
    report = Report(metrics=list(options.values()))
    report.run(
        current_data=table,
        reference_data=None,
        column_mapping=columns,
        additional_data={"current_train_data": train},
    )
    return {measure: _value(measure, metric) for measure, metric in options.items()}


def _metric(theirs: Any, measure: str) -> Any:
    name, k, rest = re.fullmatch(r"(\w+)\(k=(\d+)(.*)\)", measure).groups()  # type: ignore[union-attr]
    if name.startswith("PopularityBias"):
        return theirs.PopularityBias(k=int(k), normalize_arp="normalize_arp" in rest)
    if name in ("Diversity", "Serendipity"):
        return getattr(theirs, f"{name}Metric")(k=int(k), item_features=["x", "y"])
    return getattr(theirs, f"{name}Metric")(k=int(k))


def _value(measure: str, metric: Any) -> Any:
    kinds = {"'coverage'": "current_coverage", "'gini'": "current_gini"}
    field = "current_apr" if measure.startswith("PopularityBias") else "current_value"
    for word, other in kinds.items():
        field = other if word in measure else field
    try:
        return float(getattr(metric.get_result(), field))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {"error": f"{type(error).__name__}: {error}"}


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell where a single list decides, and where a histogram of nothing cannot be drawn."""
    if measure.startswith("Personalization") and len(case["run"]) == 1:
        return "one list: infinite where it is shorter than k"
    return None
