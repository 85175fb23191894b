"""What a measure claims about its values; laws, bounds and alignment rely on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BEST: Final = frozenset({"best"})
BEST_AND_WORST: Final = frozenset({"best", "worst"})


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Properties of a measure that hold for all data.

    The laws of :mod:`rankstone.testing` check every claim on random judgments and runs, and for each claim
    that a measure of this package does not make the tests have a counterexample.  ``bounds_by`` and
    ``deeper_grades_matter`` are about :meth:`~rankstone.Measure.contributions`: a class that overrides that
    method has to state them again.

    Attributes
    ----------
    closed_under_ties
        True if the value has a closed form for tied documents, ``ties="expected"``.
    ties_at_once
        True if tied documents are examined together, so that the value is not the mean over their orders.
    extremal_under_ties
        True if best-first and worst-first orders of tied documents give the best and the worst value; without
        a direction, more is better.
    proven_extremes
        For which of ``best`` and ``worst`` the order by grade is the extreme of all orders without ties;
        ``None`` means both where ``extremal_under_ties`` is true, and otherwise neither.
    promotion_helps
        True if moving a better document up never makes the value worse.
    grows_with_k
        True if a deeper cutoff never lowers the value of a query, and a query has a value at every cutoff or
        at none.
    looks_deeper
        True if hits below the cutoff matter, in the norm for example.
    negative_is_least
        True if a grade below zero never counts more than an unjudged document.
    reads_nonrelevant
        True if documents that were judged not relevant are counted, and not only relevant ones.
    reads_lowest_grade
        True if the value depends on the lowest grade of the scale, which all queries share.
    bounds_by
        The rule that finds the extremes over the grades of unjudged documents; ``docs/bounds.md`` has the
        rules.
    deeper_grades_matter
        True if the grade of a document below the cutoff matters: in R, for example, or in the ideal list.
    """

    closed_under_ties: bool = True
    ties_at_once: bool = False
    extremal_under_ties: bool = True
    proven_extremes: frozenset[str] | None = None
    promotion_helps: bool = True
    grows_with_k: bool = False
    looks_deeper: bool = False
    negative_is_least: bool = True
    reads_nonrelevant: bool = False
    reads_lowest_grade: bool = False
    bounds_by: str = "enumeration"
    deeper_grades_matter: bool = True

    @property
    def means_over_orders(self) -> bool:
        """True if the value of tied documents is the mean over the orders they could have."""
        return self.closed_under_ties and not self.ties_at_once

    @property
    def proven_orders(self) -> frozenset[str]:
        """For which of ``best`` and ``worst`` the order by grade is extreme."""
        if self.proven_extremes is not None:
            return self.proven_extremes
        return BEST_AND_WORST if self.extremal_under_ties else frozenset()
