"""RecTools' own numbers: its metrics over a table of recommendations and one of test interactions."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "rectools-0.19"
REQUIRES = ["rectools==0.19.*", "pyarrow<21"]
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": True,
    "missing": True,
    "extra": True,
}
MEASURES = [
    "Precision@<k>",
    "Precision@<k>[r_precision=True]",
    "Recall@<k>",
    "F1Beta@<k>",
    "F1Beta@<k>[beta=2]",
    "HitRate@<k>",
    "MAP@<k>",
    "MAP@<k>[divide_by_k=True]",
    "NDCG@<k>",
    "NDCG@<k>[divide_by_achievable=True]",
    "NDCG(k=<k>, log_base=3)",
    "MRR@<k>",
    "PartialAUC@<k>",
    "PAP@<k>",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import pandas as pd
    from rectools import metrics as theirs
    from rectools.metrics import calc_metrics

    warnings.simplefilter("ignore")
    pairs = [
        (q, d)
        for q, judged in case["qrels"].items()
        for d, grade in judged.items()
        if grade > 0
    ]
    test = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    shown = [
        (q, d, rank)
        for q, listed in case["run"].items()
        for rank, (d, _) in enumerate(listed, 1)
    ]
    reco = pd.DataFrame(shown, columns=["user_id", "item_id", "rank"])
    made = {measure: _metric(theirs, measure) for measure in measures}
    try:
        return dict(calc_metrics(made, reco=reco, interactions=test))
    except Exception:  # noqa: BLE001 - computed together, one spoils the others
        return {
            measure: _alone(calc_metrics, metric, reco, test)
            for measure, metric in made.items()
        }


def _alone(calc_metrics: Any, metric: Any, reco: Any, test: Any) -> Any:
    try:
        return calc_metrics({"it": metric}, reco=reco, interactions=test)["it"]
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {"error": f"{type(error).__name__}: {error}"}


def _metric(theirs: Any, measure: str) -> Any:
    name, k, rest = re.fullmatch(r"(\w+)(?:@|\(k=)(\d+)(.*)", measure).groups()  # type: ignore[union-attr]
    settings = {key: _value(word) for key, word in re.findall(r"(\w+)=(\w+)", rest)}
    return getattr(theirs, name)(int(k), **settings)


def _value(word: str) -> Any:
    return word == "True" if word in ("True", "False") else int(word)
