"""trec_eval compatibility: everything trec_eval prints, and pytrec_eval's interface.

Judgments, a run and trec_eval's options become its lines to the last digit, or pytrec_eval's dict of dicts.
No score is computed here: options become measures and alignment options for :class:`rankstone.Prepared`.

>>> from rankstone.conventions.trec_eval import RelevanceEvaluator
>>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "ndcg"})
>>> evaluator.evaluate({"q1": {"d2": 2.0, "d1": 1.0}})
{'q1': {'map': 0.5, 'ndcg': 0.6309297535714575}}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankstone.conventions.trec_eval.relevance_evaluator import (
        RelevanceEvaluator,
        compute_aggregated_measure,
        parse_qrel,
        parse_run,
        supported_measures,
        supported_nicknames,
    )


__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]


def __getattr__(name: str) -> object:
    """Import a public name at first use, so that ``rankstone trec-eval --help`` costs nothing."""
    if name not in __all__:
        msg = f"module 'rankstone.conventions.trec_eval' has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module("rankstone.conventions.trec_eval.relevance_evaluator"), name)
    globals()[name] = value
    return value
