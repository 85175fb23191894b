"""Estimates of what another ranking would have earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.behaviour.results import Found

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Counterfactual"]


class Counterfactual(Found):
    """Estimates with their uncertainty, and the weights they rest on."""

    @property
    def estimates(self) -> pl.DataFrame:
        """``estimator``, ``value`` (the mean of an impression), ``error``, ``low``, ``high``, ``bias``.

        A row each.  ``bias`` says what an estimator misses on average, which no interval holds.  No number
        stands where there is none: a single unit has no error, nor have units that all agree, and weights
        that sum to 0 normalise nothing.
        """
        return self.tables["estimates"]

    @property
    def weights(self) -> pl.DataFrame:
        """One row: ``n``, ``mean``, ``largest``, ``largest_share``, ``effective``, ``clip``, ``clipped``."""
        return self.tables["weights"]
