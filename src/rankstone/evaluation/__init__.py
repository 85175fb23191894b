"""Evaluation: read, prepare, align, measure; scores of queries first, means computed from them.

Judgments, runs, measures and alignment options become :class:`~rankstone.Scores`.  Data larger than memory
are scored range by range; other engines run shares on other machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.evaluation.exact_run import head_of_run, qrels_from_run
    from rankstone.evaluation.out_of_core import evaluate_out_of_core, parse_size
    from rankstone.evaluation.prepared import Prepared
    from rankstone.evaluation.request import EvaluationKeywords, MeasuresLike, QrelsLike, RunLike
    from rankstone.evaluation.scores import Scores
    from rankstone.evaluation.stored_scores import StoredScores
__all__ = [
    "EvaluationKeywords",
    "MeasuresLike",
    "Prepared",
    "QrelsLike",
    "RunLike",
    "Scores",
    "StoredScores",
    "evaluate_out_of_core",
    "head_of_run",
    "parse_size",
    "qrels_from_run",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "exact_run": ("head_of_run", "qrels_from_run"),
            "out_of_core": ("evaluate_out_of_core", "parse_size"),
            "prepared": ("Prepared",),
            "request": ("EvaluationKeywords", "MeasuresLike", "QrelsLike", "RunLike"),
            "scores": ("Scores",),
            "stored_scores": ("StoredScores",),
        },
    )
