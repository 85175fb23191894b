"""LensKit's own numbers of whole lists: what RunAnalysis sums up, and its functions of categories."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from pathlib import Path
from typing import Any

LIBRARY = "lenskit-2025.8"
PACKAGE = "lenskit"
#: those of the runner of the same name
REQUIRES: list[str] = []
TRAITS: dict[str, Any] = {"outside": True}
MEASURES = [
    "ListGini@<k>",
    "ListGini",
    "ExposureGini@<k>",
    "ExposureGini",
    "MeanPopRank@<k>",
    "MeanPopRank",
    "MeanPopRank(n=<k>, count='interactions')",
    "entropy(n=<k>)",
    "entropy",
    "rank_biased_entropy(n=<k>)",
    "rank_biased_entropy",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    sys.modules.setdefault("torch", _beside().Torch("torch"))
    from lenskit.data import ItemList, ItemListCollection

    warnings.simplefilter("ignore")
    outputs, test = ItemListCollection(["user_id"]), ItemListCollection(["user_id"])
    for user, listed in case["run"].items():
        items, scores = zip(*listed, strict=True)
        outputs.add(
            ItemList(item_ids=list(items), scores=list(scores), ordered=True),
            user_id=user,
        )
        test.add(ItemList(item_ids=list(items)), user_id=user)
    values: dict[str, Any] = {}
    for measure in measures:
        try:
            values[measure] = _score(measure, case, outputs, test)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": f"{type(error).__name__}: {error}"}
    return values


def _score(measure: str, case: dict[str, Any], outputs: Any, test: Any) -> float:
    from lenskit.metrics import RunAnalysis, ranking

    name, cut = re.fullmatch(r"(\w+)(?:[@(].*?(\d+).*)?", measure).groups()  # type: ignore[union-attr]
    n = int(cut) if cut else None
    if "entropy" in name:
        return _entropy(getattr(ranking, name), case, outputs, n)
    analysis = RunAnalysis()
    if name == "MeanPopRank":
        count: Any = "interactions" if "interactions" in measure else "users"
        analysis.add_metric(
            ranking.MeanPopRank(_dataset(case), n=n, count=count), label="it"
        )
        return float(analysis.measure(outputs, test).list_summary().loc["it", "mean"])
    analysis.add_metric(
        getattr(ranking, name)(n=n, items=len(case["items"])), label="it"
    )
    return float(analysis.measure(outputs, test).global_metrics()["it"])


def _dataset(case: dict[str, Any]) -> Any:
    import pandas as pd
    from lenskit.data import DatasetBuilder

    builder = DatasetBuilder()
    frame = pd.DataFrame(case["history"], columns=["user_id", "item_id"])
    builder.add_interactions(
        "view", frame, entities=["user", "item"], missing="insert", allow_repeats=True
    )
    return builder.build()


def _entropy(function: Any, case: dict[str, Any], outputs: Any, n: int | None) -> float:
    """Average a function of one list and the categories of its items."""
    import numpy as np

    kinds = sorted({about["category"] for about in case["items"].values()})
    values = []
    for _, items in outputs:
        matrix = np.zeros((len(items), len(kinds)))
        for index, item in enumerate(items.ids()):
            if item in case["items"]:
                matrix[index, kinds.index(case["items"][item]["category"])] = 1.0
        values.append(function(items, matrix, n=n))
    return float(np.mean(values))


def _beside() -> Any:
    """Return the runner of the same name."""
    path = Path(__file__).resolve().parents[1] / "lenskit.py"
    spec = importlib.util.spec_from_file_location("lenskit_runner", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
