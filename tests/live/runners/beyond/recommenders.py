"""Recommenders' own numbers of whole lists: python_evaluation over tables of the past and of predictions."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "recommenders-1.2"
PACKAGE = "recommenders"
#: those of the runner of the same name
REQUIRES: list[str] = []
TRAITS: dict[str, Any] = {"repeated": False}
_FEATURES = "item_sim_measure='item_feature_vector'"
MEASURES = [
    "catalog_coverage",
    "distributional_coverage",
    "novelty",
    "diversity",
    f"diversity({_FEATURES})",
    "serendipity",
    "serendipity(col_relevance='relevance')",
    f"serendipity({_FEATURES})",
    f"serendipity({_FEATURES}, col_relevance='relevance')",
]


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw lists of what users have not met, and features that have a direction; in one of five neither."""
    from dataclasses import replace

    from tests.live.beyond_worlds import cases as drawn

    usual = drawn(seed, count - count // 5, replace(traits, seen=False))
    for case in usual:
        for about in case["items"].values():
            about["features"] = (
                [0.5, 1.0] if about["features"] == [0.0, 0.0] else about["features"]
            )
    return [*usual, *drawn(seed + 7, count // 5, traits)]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import numpy as np
    import pandas as pd
    from recommenders.evaluation import python_evaluation as theirs

    warnings.simplefilter("ignore")
    past = [(int(u[1:]), int(i[1:])) for u, i in case["history"]]
    shown = [
        (int(u[1:]), int(i[1:]), float(case["qrels"].get(u, {}).get(i, 0) > 0))
        for u, listed in case["run"].items()
        for i, _ in listed
    ]
    train = pd.DataFrame(past, columns=["userID", "itemID"])
    reco = pd.DataFrame(shown, columns=["userID", "itemID", "relevance"])
    known = {
        int(i[1:]): about["features"]
        for i, about in case["items"].items()
        if about["features"]
    }
    features = pd.DataFrame(
        {"itemID": list(known), "features": [np.array(v) for v in known.values()]}
    )
    values: dict[str, Any] = {}
    for measure in measures:
        name, settings = re.fullmatch(r"(\w+)(?:\((.*)\))?", measure).groups()  # type: ignore[union-attr]
        numbers: dict[str, Any] = dict(re.findall(r"(\w+)='(\w+)'", settings or ""))
        if "item_sim_measure" in numbers:
            numbers["item_feature_df"] = features.copy()
        try:
            values[measure] = float(
                getattr(theirs, name)(train.copy(), reco.copy(), **numbers)
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": f"{type(error).__name__}: {error}"}
    return values
