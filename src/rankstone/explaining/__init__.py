"""Every number unfolded: the table whose sum a score is."""

from rankstone.explaining.conduct import Explainer, explain
from rankstone.explaining.derivation import Explanation, Row
from rankstone.explaining.versus import Comparison

__all__ = ["Comparison", "Explainer", "Explanation", "Row", "explain"]
