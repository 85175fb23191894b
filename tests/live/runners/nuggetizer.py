"""AutoNuggetizer's scores of answers, from the package as it was released."""

from __future__ import annotations

from typing import Any

LIBRARY = "nuggetizer-0.0"
PACKAGE = "nuggetizer"
#: its scores need none of the clients of language models that it depends on
REQUIRES = ["--no-deps", "nuggetizer==0.0.5"]
TRAITS = {"grades": [0, 1, 2]}
MEASURES = ["strict_vital_score", "strict_all_score", "vital_score", "all_score"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}: nuggets are what has a grade, supported by the run's scores."""
    from nuggetizer.core.metrics import calculate_global_metrics

    records = []
    for query, its in case["qrels"].items():
        values = dict(case["run"].get(query, ()))
        nuggets = [
            {
                "importance": "vital" if grade >= 2 else "okay",
                "assignment": _assignment(values.get(doc, 0.0)),
            }
            for doc, grade in its.items()
            if grade > 0
        ]
        records.append({"qid": query, "nuggets": nuggets})
    result = calculate_global_metrics(records)
    return {measure: float(result[measure]) for measure in measures}


def _assignment(score: float) -> str:
    return (
        "support" if score >= 1 else "partial_support" if score > 0 else "not_support"
    )
