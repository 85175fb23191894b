"""Families of comparisons: their size, correction and level."""

from __future__ import annotations

from typing import Final

from rankstone._basics import Record
from rankstone.stats.multiple_testing import SIMULTANEOUS

#: the largest t by sign flips, of the pairs that are compared: with one pair, its own test
FLIPPED: Final = "flipped_max_t"


#: procedures with intervals of their own; what each assumes is a phrase of the locales
PROCEDURES: Final = (FLIPPED, "robust_tukey", "tukey", "max_t", "hsd", "nemenyi")


#: those that compare every pair
ALL_PAIRS: Final = PROCEDURES[1:]


#: those that draw at random, for all primary measures together
DRAWN: Final = PROCEDURES[:4]


class Family(Record):
    """A family of comparisons: its size, correction and level.

    Attributes
    ----------
    name
        ``primary``, the exploratory measure, or ``segments``.
    size
        How many comparisons.
    correction
        The correction for several comparisons.
    test
        The test of one pair.
    alpha
        The error rate of the family as a whole.
    level
        ``1 - level`` is the confidence of each interval; NaN for procedures for all pairs.
    permutations
        How many were drawn; 0 for exact tests.
    """

    name: str
    size: int
    correction: str
    test: str
    alpha: float
    level: float
    permutations: int

    @property
    def interval_kind(self) -> str:
        """``simultaneous`` if all intervals hold together with their confidence, otherwise ``pointwise``."""
        together = self.correction in (*SIMULTANEOUS, *PROCEDURES)
        return "simultaneous" if together and self.size > 1 else "pointwise"
