"""Haystack's own numbers: its evaluators of retrieved documents."""

from __future__ import annotations

import re
from typing import Any

LIBRARY = "haystack-3.4"
PACKAGE = "haystack-ai"
REQUIRES = ["haystack-ai==3.4.*"]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"duplicates": True}
MEASURES = [
    "DocumentMRREvaluator",
    "DocumentMAPEvaluator",
    "DocumentRecallEvaluator",
    "DocumentRecallEvaluator(mode=multi_hit)",
    "DocumentNDCGEvaluator",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}; every judged query is a row, with what was retrieved for it."""
    from haystack import Document
    from haystack.components import evaluators

    relevant = [
        [Document(content=doc, score=grade) for doc, grade in its.items() if grade > 0]
        for its in case["qrels"].values()
    ]
    retrieved = [
        [Document(content=doc) for doc, _ in case["run"].get(query, ())]
        for query in case["qrels"]
    ]
    values = {}
    for measure in measures:
        name, mode = re.fullmatch(r"(\w+)(?:\(mode=(\w+)\))?", measure).groups()  # type: ignore[union-attr]
        evaluator = getattr(evaluators, name)(**({"mode": mode} if mode else {}))
        values[measure] = float(evaluator.run(relevant, retrieved)["score"])
    return values
