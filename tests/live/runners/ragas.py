"""Ragas' own numbers: metrics of context ids, and what it computes from verdicts on contexts."""

from __future__ import annotations

import asyncio
import math
from importlib import import_module
from typing import Any

LIBRARY = "ragas-0.4"
REQUIRES = ["ragas==0.4.3", "langchain-community<0.4", "rapidfuzz"]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"grades": [0, 1], "duplicates": True}
MEASURES = [
    "id_based_context_precision",
    "id_based_context_recall",
    "context_precision",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the mean of the library's numbers}, over queries with judgments and a list."""
    return {
        measure: _mean([_one(measure, *question) for question in _questions(case)])
        for measure in measures
    }


def _questions(case: dict[str, Any]) -> list[tuple[list[str], list[str]]]:
    """Return what was retrieved and what is relevant, for each question."""
    return [
        (
            [doc for doc, _ in case["run"][query]],
            [doc for doc, grade in its.items() if grade > 0],
        )
        for query, its in case["qrels"].items()
        if query in case["run"]
    ]


def _one(measure: str, retrieved: list[str], relevant: list[str]) -> float:
    from ragas.dataset_schema import SingleTurnSample

    # instances of the same names hide these modules
    precision = import_module("ragas.metrics._context_precision")
    recall = import_module("ragas.metrics._context_recall")
    if measure == "context_precision":
        verdicts = [
            precision.Verification(reason="", verdict=int(doc in relevant))
            for doc in retrieved
        ]
        return float(
            precision.ContextPrecision()._calculate_average_precision(verdicts)  # noqa: SLF001
        )
    id_based = precision.IDBasedContextPrecision, recall.IDBasedContextRecall
    metric = id_based[measure.endswith("recall")]()
    sample = SingleTurnSample(
        retrieved_context_ids=retrieved, reference_context_ids=relevant
    )
    return float(asyncio.run(metric._single_turn_ascore(sample, None)))  # noqa: SLF001


def _mean(values: list[float]) -> float | None:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else None
