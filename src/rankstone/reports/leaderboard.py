"""The order of systems: ranks, the ranks that each could hold, letters, and who clearly beats whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.reports.page_words import decimals

if TYPE_CHECKING:
    from rankstone._basics import Bools
    from rankstone.comparison.comparison_result import Comparison


class Leaderboard(Record):
    """Systems by their means of one measure, the best first.

    Attributes
    ----------
    names
        The systems in order.
    means
        Their means.
    beats
        bool ``[systems, systems]``: True where the row is clearly better than the column.
    letters
        Systems share one if and only if they do not differ clearly; empty texts against a baseline.
    """

    names: tuple[str, ...]
    means: list[float]
    beats: Bools
    letters: tuple[str, ...] = ()

    @classmethod
    def from_comparison(cls, comparison: Comparison, measure: str) -> Leaderboard:
        """Return the order by a measure of a comparison."""
        matrix = comparison.matrices[measure]
        means = matrix.units.mean
        order = np.argsort(-matrix.sign * means, kind="stable")
        names = tuple(matrix.systems[system] for system in order)

        place = {name: place for place, name in enumerate(names)}
        places = pl.col("system", "versus")
        places = places.replace_strict(place, return_dtype=pl.Int64)
        pairs = comparison.table.filter(measure=measure)
        pairs = pairs.select(places, "verdict")
        system, versus, verdict = (column.to_numpy() for column in pairs)

        beats = np.zeros((len(names), len(names)), bool)
        beats[system, versus] = verdict == "better"
        beats[versus, system] |= verdict == "worse"

        letter = comparison.letters(measure)
        letters = tuple(letter.get(name, "") for name in names)
        return cls(names, means[order].tolist(), beats, letters)

    @property
    def ranks(self) -> list[int]:
        """The rank of each system; equal means share one."""
        return [1 + self.means.index(mean) for mean in self.means]

    @property
    def possible_ranks(self) -> list[tuple[int, int]]:
        """The best and the worst rank that the clear differences leave to each system."""
        best = 1 + self.beats.sum(axis=0)
        worst = len(self.names) - self.beats.sum(axis=1)
        return list(zip(best.tolist(), worst.tolist(), strict=True))

    @property
    def digits(self) -> int:
        """The decimals of means: one more where different ones would look equal."""
        few = decimals(self.means)
        shown = {f"{mean:.{few}f}" for mean in self.means}
        return few + 1 if len(shown) < len({*self.means}) else few
