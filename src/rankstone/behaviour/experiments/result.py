"""What an A/B test found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.behaviour.results import Found

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Experiment"]


class Experiment(Found):
    """Differences, rates by variant, and how units were dealt out."""

    @property
    def differences(self) -> pl.DataFrame:
        """A row a measure and variant: ``difference``, ``low``, ``high``, ``p``, ``p_adjusted``, ``verdict``.

        Intervals are at the family's level, from which the verdict follows; all of them hold at one look, or
        with ``sequential`` at every look.
        """
        return self.tables["differences"]

    @property
    def variants(self) -> pl.DataFrame:
        """``measure``, ``variant``, ``value``, ``error``, ``low``, ``high``, ``over`` (the denominator)."""
        return self.tables["variants"]

    @property
    def sample_ratio(self) -> pl.DataFrame:
        """``variant``, ``units``, ``expected``; one p of all, in ``p``."""
        return self.tables["sample_ratio"]
