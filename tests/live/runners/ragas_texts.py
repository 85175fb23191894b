"""Ragas' own numbers without ids and without a model: contexts that resemble the reference contexts."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

LIBRARY = "ragas-0.4"
REQUIRES = ["ragas==0.4.3", "langchain-community<0.4", "rapidfuzz"]
WITHIN = 1e-9
TRAITS = {"grades": [0, 1]}
MEASURES = ["non_llm_context_precision_with_reference", "non_llm_context_recall"]


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:  # noqa: ARG001 - nothing of it is left
    """Draw short texts of few letters, so that many are similar and some similarities are exactly ½."""
    import numpy as np

    from rankstone.answers import judge_by_similarity

    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        texts: dict[str, tuple[list[str], list[str]]] = {}
        for query in range(1, int(rng.integers(2, 6))):
            words = [
                "".join(rng.choice(list("abé ."), int(rng.integers(1, 9))))
                for _ in range(8)
            ]
            sizes = rng.integers(0 if rng.random() < 0.1 else 1, 8, 2).tolist()
            texts[f"q{query}"] = tuple(
                rng.choice(words, size).tolist() for size in sizes
            )  # type: ignore[assignment]
        records = [
            {"query_id": q, "reference_contexts": a, "retrieved_contexts": b}
            for q, (a, b) in texts.items()
        ]
        qrels: dict[str, Any] = {query: {} for query in texts}
        for query, subtopic, text, grade in judge_by_similarity(records)[0].iter_rows():
            qrels[query].setdefault(text, {})[subtopic] = grade
        run = {
            query: [[text, -index] for index, text in enumerate(value)]
            for query, (_, value) in texts.items()
        }
        drawn.append({"qrels": qrels, "run": run, "texts": texts, "k": 10})
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the mean of the library's numbers}."""
    from ragas.dataset_schema import SingleTurnSample

    metrics = {
        MEASURES[0]: import_module(
            "ragas.metrics._context_precision"
        ).NonLLMContextPrecisionWithReference(),
        MEASURES[1]: import_module(
            "ragas.metrics._context_recall"
        ).NonLLMContextRecall(),
    }
    numbers = {}
    for measure in measures:
        values = [
            asyncio.run(
                metrics[measure]._single_turn_ascore(  # noqa: SLF001
                    SingleTurnSample(
                        reference_contexts=expected, retrieved_contexts=retrieved
                    ),
                    None,
                )
            )
            for expected, retrieved in case["texts"].values()
        ]
        known = [float(value) for value in values if value == value]  # noqa: PLR0124 - NaN
        numbers[measure] = sum(known) / len(known) if known else None
    return numbers


def differs(case: dict[str, Any], measure: str) -> str | None:
    """Return why a number is another here."""
    if any(
        not expected and not retrieved for expected, retrieved in case["texts"].values()
    ):
        alone = {MEASURES[0]: "reference", MEASURES[1]: "retrieved"}[measure]
        return f"a question without both contexts is no error there, though one without {alone} ones is"
    return None
