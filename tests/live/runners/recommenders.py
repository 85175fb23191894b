"""Recommenders' own numbers: python_evaluation over a table of true ratings and one of predictions."""

from __future__ import annotations

import re
import warnings
from typing import Any

LIBRARY = "recommenders-1.2"
#: what else it asks for plays no part in these measures
REQUIRES = [
    "--no-deps",
    "recommenders==1.2.1",
    "pandas==2.*",
    "numpy==2.*",
    "scikit-learn==1.*",
    "scipy",
    "joblib",
    "cloudpickle",
    "narwhals",
    "threadpoolctl",
    "python-dateutil",
    "pytz",
    "tzdata",
    "six",
]
TRAITS = {
    "grades": [0, 0.5, 1, 2, 3],
    "duplicates": True,
    "missing": True,
    "extra": True,
}
MEASURES = [
    "precision_at_k(k=<k>)",
    "recall_at_k(k=<k>)",
    "r_precision_at_k(k=<k>)",
    "map(k=<k>)",
    "map_at_k(k=<k>)",
    "ndcg_at_k(k=<k>)",
    "ndcg_at_k(k=<k>, discfun_type='log2')",
    "ndcg_at_k(k=<k>, score_type='raw')",
    "ndcg_at_k(k=<k>, score_type='exp')",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation as theirs

    warnings.simplefilter("ignore")
    rows = [
        (q, d, g)
        for q, judged in case["qrels"].items()
        for d, g in judged.items()
        if g > 0
    ]
    true = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])
    shown = [(q, d, s) for q, listed in case["run"].items() for d, s in listed]
    pred = pd.DataFrame(shown, columns=["userID", "itemID", "prediction"])
    values: dict[str, Any] = {}
    for measure in measures:
        name, settings = re.fullmatch(r"(\w+)\((.*)\)", measure).groups()  # type: ignore[union-attr]
        texts = {
            key: _value(word) for key, word in re.findall(r"(\w+)='?(\w+)'?", settings)
        }
        try:
            values[measure] = float(getattr(theirs, name)(true, pred, **texts))
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            values[measure] = {"error": f"{type(error).__name__}: {error}"}
    return values


def _value(word: str) -> Any:
    return int(word) if word.isdigit() else word


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell where no list has a hit, which is 0 to one measure before it averages."""
    true = {
        q: {d for d, grade in docs.items() if grade > 0}
        for q, docs in case["qrels"].items()
    }
    tops = [
        true.get(q, set()) & {d for d, _ in listed[: case["k"]]}
        for q, listed in case["run"].items()
    ]
    return (
        None
        if any(tops) or not measure.startswith("r_precision")
        else "no hit at all is 0"
    )
