"""scikit-learn's own numbers: its ranking metrics, called once for each list and averaged."""

from __future__ import annotations

import os
import re
import sys
import warnings
from dataclasses import replace
from typing import Any

LIBRARY = "scikit-learn-1.9"
REQUIRES = ["scikit-learn==1.9.*"]
TRAITS = {"grades": [0, 0.5, 1, 2, 3]}
_CUT = ("ndcg_score", "dcg_score")
#: it sees the labels of rows, and no other judgments
ROWS = True
MEASURES = [
    f"{name}({text})" for name in _CUT for text in ("k=<k>", "k=<k>, ignore_ties=True")
]
MEASURES += [
    "ndcg_score",
    "dcg_score",
    "ndcg_score(ignore_ties=True)",
    "dcg_score(ignore_ties=True)",
]
BINARY = [
    "average_precision_score",
    "average_precision_score[pooled]",
    "roc_auc_score",
    "roc_auc_score[pooled]",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "coverage_error",
]

# NumPy's sort of doubles leaves ties of up to 16 rows in their order on processors without these, and on others
# of up to 3; where NumPy is there already, the library is not queried, and children would inherit this
if "numpy" not in sys.modules:
    os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 X86_V3")


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw grades below zero, too, in every fourth case."""
    from tests.live.worlds import cases as drawn

    below = (
        traits
        if traits.grades == (0, 1)
        else replace(traits, grades=(-1, *traits.grades))
    )
    return [
        *drawn(seed, count - count // 4, traits),
        *drawn(seed + 7, count // 4, below),
    ]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    warnings.simplefilter("ignore")
    rows = [
        (
            [case["qrels"].get(q, {}).get(d, 0.0) for d, _ in listed],
            [s for _, s in listed],
        )
        for q, listed in case["run"].items()
    ]
    return {measure: _mean(measure, rows) for measure in measures}


def _mean(measure: str, rows: list[tuple[list[float], list[float]]]) -> Any:
    import numpy as np
    from sklearn import metrics as theirs

    if measure.endswith("[pooled]"):
        rows = [
            (
                [v for labels, _ in rows for v in labels],
                [v for _, scores in rows for v in scores],
            )
        ]
        measure = measure.removesuffix("[pooled]")
    name, settings = re.fullmatch(r"(\w+)(?:\((.*)\))?", measure).groups()  # type: ignore[union-attr]
    texts = {
        key: word == "True" or int(word)
        for key, word in re.findall(r"(\w+)=(\w+)", settings or "")
    }
    flat = name in ("average_precision_score", "roc_auc_score")
    call = getattr(theirs, name)
    try:
        each = [
            call(*(rows if flat else ([rows[0]], [rows[1]])), **texts) for rows in rows
        ]
    except ValueError as error:
        return {"error": str(error)}
    return float((np.nanmean if name == "roc_auc_score" else np.mean)(each))


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of grades below zero that are in no list."""
    shown = [
        case["qrels"].get(q, {}).get(d, 0)
        for q, listed in case["run"].items()
        for d, _ in listed
    ]
    anywhere = [grade for judged in case["qrels"].values() for grade in judged.values()]
    if measure.startswith("ndcg") and min(anywhere) < 0 <= min(shown):
        return "it does not see the grade that is refused here"
    if "ignore_ties=True" in measure and any(map(_long_and_tied, case["run"].values())):
        return "NumPy's sort brings ties of more than 16 rows into an order that is the processor's"
    return None


def _long_and_tied(listed: list[list[Any]]) -> bool:
    return len(listed) > 16 and len({score for _, score in listed}) < len(listed)
