"""DeepEval's own numbers: what it computes from verdicts on contexts, averaged over test cases."""

from __future__ import annotations

import os
from typing import Any

LIBRARY = "deepeval-4.3"
REQUIRES = ["deepeval==4.3.*"]
#: the libraries compute in float64, like rankstone
WITHIN = 1e-9
TRAITS = {"grades": [0, 1], "duplicates": True}
MEASURES = ["contextual_precision"]


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the mean of the library's numbers}, over queries with judgments and a list."""
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    values = [
        _contextual_precision(
            [case["qrels"][query].get(doc, 0) > 0 for doc, _ in listed]
        )
        for query, listed in case["run"].items()
        if case["qrels"].get(query)
    ]
    return dict.fromkeys(measures, sum(values) / len(values) if values else None)


def _contextual_precision(verdicts: list[bool]) -> float:
    from deepeval.metrics.contextual_precision import contextual_precision as theirs

    metric: Any = object.__new__(
        theirs.ContextualPrecisionMetric
    )  # its constructor wants a language model
    metric.strict_mode, metric.threshold = False, 0.5
    lines = theirs.Verdict.YES, theirs.Verdict.NO
    metric.verdicts = [_Verdict(lines[0] if good else lines[1]) for good in verdicts]
    return float(metric._calculate_score())  # noqa: SLF001


class _Verdict:
    """What is read of a verdict of the language model."""

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
