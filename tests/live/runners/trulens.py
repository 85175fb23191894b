"""TruLens' own numbers: its metrics of retrieved chunks, averaged over queries that have a value."""

from __future__ import annotations

import math
import re
from typing import Any

LIBRARY = "trulens-2.16"
PACKAGE = "trulens-feedback"
REQUIRES = ["trulens-feedback==2.16.*"]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"duplicates": True}
MEASURES = [
    "ndcg_at_k(<k>)",
    "precision_at_k(<k>)",
    "recall_at_k(<k>)",
    "mrr",
    "ir_hit_rate(<k>)",
]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the mean of the library's numbers}, over queries with judgments and a list."""
    from trulens.feedback.groundtruth import GroundTruthAgreement

    numbers: dict[str, Any] = {}
    for measure in measures:
        name, k = re.fullmatch(r"(\w+)(?:\((\d+)\))?", measure).groups()  # type: ignore[union-attr]
        values = []
        for query, its in case["qrels"].items():
            if query in case["run"]:
                expected = _Expected(
                    [(doc, grade) for doc, grade in its.items() if grade > 0]
                )
                chunks = [doc for doc, _ in case["run"][query]]
                options = {"k": int(k)} if k else {}
                values.append(
                    float(
                        getattr(GroundTruthAgreement, name)(
                            expected, query, chunks, **options
                        )
                    )
                )
        known = [value for value in values if not math.isnan(value)]
        numbers[measure] = sum(known) / len(known) if known else None
    return numbers


class _Expected:
    """What its methods read of the object, whose constructor wants a language model."""

    def __init__(self, chunks: list[tuple[str, float]]) -> None:
        self.chunks = chunks

    def _find_golden_context_chunks_and_scores(
        self, _query: str
    ) -> list[tuple[str, float]] | None:
        return self.chunks or None
