"""What a measure promises about its values, as one value; laws, bounds and alignment rely on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["BEST", "BEST_AND_WORST", "Claims"]

BEST: Final = frozenset({"best"})
BEST_AND_WORST: Final = frozenset({"best", "worst"})


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What holds for a measure, whatever the data.

    The laws of :mod:`rankstone.testing` try every promise on random worlds, and a promise that a measure of
    ours does not make has a counterexample.  ``bounds_by`` and ``deeper_grades_matter`` are promises about
    :meth:`~rankstone.Measure.contributions`: a class that overrides those has to promise anew.

    Attributes
    ----------
    closed_under_ties
        True if the value has a closed form for tied documents, ``ties="expected"``.
    ties_at_once
        True if tied documents are looked at together, so that the value is not the mean over their orders.
    extremal_under_ties
        True if best-first and worst-first orders of tied documents give the extremes.
    proven_extremes
        Which extremes over all orders without ties the grades give: ``best`` first, ``worst`` first.
        ``None`` for both where ``extremal_under_ties`` is true, and neither where it is not.
    promotion_helps
        True if moving a better document up never makes the value worse.
    grows_with_k
        True if a deeper cutoff never lowers the value.
    looks_deeper
        True if hits below the cutoff matter, in the norm for example.
    negative_is_least
        True if a grade below zero never counts more than an unjudged document.
    reads_nonrelevant
        True if documents that were judged not relevant are counted, and not only relevant ones.
    reads_lowest_grade
        True if the bottom of the grade scale, which is all queries' together, decides the value.
    bounds_by
        How the extremes over the grades of unjudged documents are found; ``docs/bounds.md`` has the rules.
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
        """Which extremes over all orders without ties the grades give."""
        if self.proven_extremes is not None:
            return self.proven_extremes
        return BEST_AND_WORST if self.extremal_under_ties else frozenset()
