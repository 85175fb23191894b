"""Which of two interleaved rankings users prefer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.behaviour.results import Found

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Preference"]


class Preference(Found):
    """Wins, ties and losses of the first ranking, and how sure they are."""

    @property
    def preference(self) -> pl.DataFrame:
        """One row.

        ``wins``, ``ties``, ``losses`` of a over ``impressions``; ``win_rate`` of those that are decided, with
        ``win_low`` and ``win_high``; ``preference``, ``(wins + ties / 2) / impressions - 1/2``, with ``low``
        and ``high``; ``credit``, the mean difference of credits; ``p_sign`` and ``p_randomisation``; and the
        ``verdict`` on a that the interval of the preference gives.
        """
        return self.tables["preference"]
