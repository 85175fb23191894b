"""RecTools' own numbers of whole lists: its metrics over tables of recommendations and of the past."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "rectools-0.19"
PACKAGE = "rectools"
#: those of the runner of the same name
REQUIRES: list[str] = []
TRAITS: dict[str, Any] = {}
MEASURES = [
    "CatalogCoverage@<k>",
    "CatalogCoverage@<k>[normalize=True]",
    "MeanInvUserFreq@<k>",
    "AvgRecPopularity@<k>",
    "AvgRecPopularity@<k>[normalize=True]",
    "IntraListDiversity@<k>",
    "Serendipity@<k>",
    "Intersection@<k>",
    "Intersection@<k>[ref_k=3]",
    "CoveredUsers@<k>",
    "SufficientReco@<k>",
    "SufficientReco@<k>[deep=True]",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import pandas as pd
    from rectools.metrics import calc_metrics

    warnings.simplefilter("ignore")
    pairs = ["user_id", "item_id"]
    liked = [
        (u, i)
        for u, judged in case["qrels"].items()
        for i, grade in judged.items()
        if grade > 0
    ]
    tables = {
        "reco": _ranked(
            {user: [item for item, _ in listed] for user, listed in case["run"].items()}
        ),
        "ref_reco": {
            "other": _ranked(case["baseline"])
        },  # a table alone it cannot take
        "interactions": pd.DataFrame(liked, columns=pairs),
        "prev_interactions": pd.DataFrame(case["history"], columns=pairs),
        "catalog": list(case["items"]),
    }
    values: dict[str, Any] = {}
    for measure in measures:
        try:
            (values[measure],) = map(
                float, calc_metrics({"it": _metric(measure, case)}, **tables).values()
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": f"{type(error).__name__}: {error}"}
    return values


def _ranked(lists: dict[str, list[str]]) -> Any:
    import pandas as pd

    rows = [
        (user, item, rank)
        for user, items in lists.items()
        for rank, item in enumerate(items, 1)
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])


def _metric(measure: str, case: dict[str, Any]) -> Any:
    import pandas as pd
    from rectools import metrics as theirs
    from rectools.metrics.distances import PairwiseHammingDistanceCalculator

    name, k, rest = re.fullmatch(r"(\w+)@(\d+)(.*)", measure).groups()  # type: ignore[union-attr]
    settings = {
        key: word == "True" or int(word) for key, word in _SETTING.findall(rest)
    }
    if name == "IntraListDiversity":
        known = {
            item: about["features"]
            for item, about in case["items"].items()
            if about["features"]
        }
        features = pd.DataFrame.from_dict(
            known, orient="index", columns=["x", "y"], dtype=float
        )
        settings["distance_calculator"] = PairwiseHammingDistanceCalculator(features)
    return getattr(theirs, name)(int(k), **settings)


_SETTING = re.compile(r"(\w+)=(\w+)")


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell where all users have nothing to be averaged over."""
    liked = any(
        grade > 0 for judged in case["qrels"].values() for grade in judged.values()
    )
    if measure.startswith("CoveredUsers") and not liked:
        return "nobody has a test interaction"
    return None
