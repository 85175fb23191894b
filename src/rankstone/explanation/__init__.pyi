# Written by `make pages`: where each public name is defined.

from rankstone.explanation.explain_scores import Explainer as Explainer
from rankstone.explanation.explain_scores import QUERY as QUERY
from rankstone.explanation.explain_scores import explain as explain
from rankstone.explanation.explain_scores import explain_queries as explain_queries
from rankstone.explanation.explain_scores import typed_in as typed_in
from rankstone.explanation.explanation_result import Explanation as Explanation
from rankstone.explanation.explanation_rows import Row as Row
from rankstone.explanation.score_difference import ExplainedDifference as ExplainedDifference

__all__ = [
    "ExplainedDifference",
    "Explainer",
    "Explanation",
    "QUERY",
    "Row",
    "explain",
    "explain_queries",
    "typed_in",
]
