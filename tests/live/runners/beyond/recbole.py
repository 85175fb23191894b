"""RecBole's own numbers of whole lists: its metric classes, over the matrices its collector makes."""

from __future__ import annotations

import importlib.util
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

LIBRARY = "recbole-1.2"
PACKAGE = "recbole"
#: those of the runner of the same name
REQUIRES: list[str] = []
#: our numbers are rounded to four decimals; its own are requested unrounded, lest rounding noise differ
WITHIN = 0.5001e-4
TRAITS: dict[str, Any] = {"full": True, "outside": False}
_CLASSES = {
    "itemcoverage": "ItemCoverage",
    "averagepopularity": "AveragePopularity",
    "shannonentropy": "ShannonEntropy",
    "giniindex": "GiniIndex",
    "tailpercentage": "TailPercentage",
}
MEASURES = [f"{name}@<k>" for name in _CLASSES]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np

    beside = _beside()
    theirs = beside._theirs()  # noqa: SLF001 - the runner of the same name knows how it is imported
    warnings.simplefilter("ignore")
    config = {"topk": [case["k"]], "metric_decimal_place": 15, "tail_ratio": None}
    # its own numbers of items, from 1; 0 is the padding
    number = {item: position for position, item in enumerate(sorted(case["items"]), 1)}
    top = [
        [number[item] for item, _ in listed[: case["k"]]]
        for listed in case["run"].values()
    ]
    data = {
        "rec.items": beside.Kept(np.array(top)),
        "data.num_items": len(number) + 1,
        "data.count_items": Counter(number[item] for _, item in case["history"]),
    }
    values: dict[str, Any] = {}
    for measure in measures:
        metric = getattr(theirs, _CLASSES[measure.partition("@")[0]])(config)
        values[measure] = float(metric.calculate_metric(data)[measure])
    return values


def _beside() -> Any:
    """Return the runner of the same name."""
    path = Path(__file__).resolve().parents[1] / "recbole.py"
    spec = importlib.util.spec_from_file_location("recbole_runner", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
