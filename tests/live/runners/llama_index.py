"""LlamaIndex's own numbers: the metrics of its retriever evaluator, averaged over queries."""

from __future__ import annotations

import re
from typing import Any

LIBRARY = "llama_index-0.14"
PACKAGE = "llama-index-core"
REQUIRES = ["llama-index-core==0.14.*"]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"grades": [0, 1], "duplicates": True}
MEASURES = [
    "hit_rate",
    "hit_rate(use_granular_hit_rate=True)",
    "mrr",
    "mrr(use_granular_mrr=True)",
    "precision",
    "recall",
    "ap",
    "ndcg",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the mean of the library's numbers}, over queries with judgments and a list."""
    from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

    numbers = {}
    for measure in measures:
        name, option = re.fullmatch(r"(\w+)(?:\((\w+)=True\))?", measure).groups()  # type: ignore[union-attr]
        metric = METRIC_REGISTRY[name](**({option: True} if option else {}))
        values = [
            metric.compute(
                expected_ids=[doc for doc, grade in its.items() if grade > 0],
                retrieved_ids=[doc for doc, _ in case["run"][query]],
            ).score
            for query, its in case["qrels"].items()
            if query in case["run"]
        ]
        numbers[measure] = sum(values) / len(values)
    return numbers
