"""Explanation: the table that a number is the sum of.

An explanation lists every contribution to the score of one query with a running total that ends in the score.
Nothing is computed twice: a measure records its terms while it scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.explanation.explain_scores import QUERY, Explainer, explain, explain_queries, typed_in
    from rankstone.explanation.explanation_result import Explanation, Row
    from rankstone.explanation.score_difference import ExplainedDifference
__all__ = [
    "QUERY",
    "ExplainedDifference",
    "Explainer",
    "Explanation",
    "Row",
    "explain",
    "explain_queries",
    "typed_in",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "explain_scores": ("Explainer", "QUERY", "explain", "explain_queries", "typed_in"),
            "explanation_result": ("Explanation", "Row"),
            "score_difference": ("ExplainedDifference",),
        },
    )
