"""Explanation: the table that a number is the sum of.

An explanation lists every contribution to the score of one query with a running total that ends in the score.
Nothing is computed twice: a measure records its terms while it scores.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "explain_scores": ("Explainer", "QUERY", "explain", "explain_queries", "typed_in"),
    "explanation_result": ("Explanation",),
    "explanation_rows": ("Row",),
    "score_difference": ("ExplainedDifference",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
