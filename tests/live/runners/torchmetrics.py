"""TorchMetrics' own numbers: its retrieval metrics over rows of scores, labels and query numbers."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from dataclasses import replace
from typing import Any

LIBRARY = "torchmetrics-1.9"
REQUIRES = ["torchmetrics==1.9.*", "torch==2.13.0+cpu", "numpy"]
TRAITS = {"grades": [0, 0.5, 1, 2, 3]}
_ACTIONS = (
    "",
    "empty_target_action='pos'",
    "empty_target_action='skip'",
    "empty_target_action='error'",
)


def _spelled(name: str, *more: str) -> list[str]:
    texts = [", ".join(word for word in (*more, action) if word) for action in _ACTIONS]
    texts = (
        [settings.replace("'pos'", "'neg'") for settings in texts]
        if name == "RetrievalFallOut"
        else texts
    )
    return [f"{name}({settings})" if settings else name for settings in texts]


_CUT = (
    *(
        "RetrievalMAP",
        "RetrievalMRR",
        "RetrievalPrecision",
        "RetrievalRecall",
        "RetrievalHitRate",
    ),
    *("RetrievalAUROC", "RetrievalFallOut"),
)
MEASURES = _spelled("RetrievalNormalizedDCG") + _spelled(
    "RetrievalNormalizedDCG", "top_k=<k>"
)
BINARY = [
    *(
        text
        for name in _CUT
        for text in (*_spelled(name), *_spelled(name, "top_k=<k>"))
    ),
    *_spelled("RetrievalRPrecision"),
    *_spelled("RetrievalPrecision", "top_k=<k>", "adaptive_k=True"),
]


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw half of the cases without ties, and grades below zero in some."""
    from tests.live.worlds import cases as drawn

    below = (
        traits
        if traits.grades == (0, 1)
        else replace(traits, grades=(-1, *traits.grades))
    )
    half = count // 2
    return [
        *drawn(seed, count - half, traits),
        *drawn(seed + 7, half, replace(below, ties=False)),
    ]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it raises."""
    import torch
    from torchmetrics import retrieval as theirs

    warnings.simplefilter("ignore")
    rows = [
        (index, s, case["qrels"].get(q, {}).get(d, 0.0))
        for index, (q, listed) in enumerate(case["run"].items())
        for d, s in listed
    ]
    whole = all(grade == int(grade) for _, _, grade in rows)
    indexes, scores, labels = (
        torch.tensor(column) for column in zip(*rows, strict=True)
    )
    labels = labels.long() if whole else labels
    values: dict[str, Any] = {}
    for measure in measures:
        name, settings = re.fullmatch(r"(\w+)(?:\((.*)\))?", measure).groups()  # type: ignore[union-attr]
        texts = {
            key: _value(word)
            for key, word in re.findall(r"(\w+)='?(\w+)", settings or "")
        }
        try:
            values[measure] = float(
                getattr(theirs, name)(**texts)(scores, labels, indexes)
            )
        except ValueError as error:
            values[measure] = {"error": str(error)}
    return values


def _value(word: str) -> Any:
    return int(word) if word.isdigit() else word == "True" or word


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Tell of ties, for which only nDCG has a rule, and of scores that its logistic function makes equal."""
    from numpy import float32

    lists = [
        [(case["qrels"].get(q, {}).get(d, 0), float(float32(s))) for d, s in listed]
        for q, listed in case["run"].items()
    ]
    if measure.startswith("RetrievalNormalizedDCG"):
        return None
    by_topk = measure.startswith(
        ("RetrievalMAP", "RetrievalMRR", "RetrievalPrecision", "RetrievalAUROC")
    )
    if any(map(_mixed, lists)) and (by_topk or sum(map(len, lists)) > 16):
        return "tied documents of different labels stand in no order of their own"
    if measure.startswith("RetrievalAUROC") and any(map(_blurred, lists)):
        return "the logistic function in single precision makes scores equal"
    return None


def _mixed(listed: list[tuple[float, float]]) -> bool:
    """Tell whether documents of different labels are tied in single precision."""
    labels = defaultdict(set)
    for grade, s in listed:
        labels[s].add(grade)
    return any(len(value) > 1 for value in labels.values())


def _blurred(listed: list[tuple[float, float]]) -> bool:
    """Tell whether the logistic function makes different scores of different labels equal, or neighbours."""
    import numpy as np

    if all(0 <= s <= 1 for _, s in listed):
        return False
    labels, scores = (
        np.array(column)
        for column in zip(*sorted(listed, key=lambda row: row[1]), strict=True)
    )
    with np.errstate(over="ignore"):
        shares = 1 / (1 + np.exp(-scores.astype(np.float32)))
    near = np.diff(shares) <= np.spacing(shares[1:])
    blocks = np.concatenate(([0], np.cumsum(~near)))
    return any(
        len(set(labels[blocks == block])) > 1 and len(set(scores[blocks == block])) > 1
        for block in range(blocks[-1] + 1)
    )
