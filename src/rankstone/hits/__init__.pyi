# Written by `make pages`: where each public name is defined.

from rankstone.hits.alignment_options import Described as Described
from rankstone.hits.alignment_options import IMPUTATIONS as IMPUTATIONS
from rankstone.hits.alignment_options import OrderingKeywords as OrderingKeywords
from rankstone.hits.alignment_options import described as described
from rankstone.hits.budgets import Budget as Budget

__all__ = [
    "Budget",
    "Described",
    "IMPUTATIONS",
    "OrderingKeywords",
    "described",
]
