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
    def of(cls, found: Comparison, measure: str) -> Leaderboard:
        """Return the order by a measure of a comparison."""
        matrix = found.matrices[measure]
        mean = matrix.units.mean
        order = np.argsort(-matrix.sign * mean, kind="stable")
        names = tuple(matrix.systems[at] for at in order)
        place = pl.col("system", "versus").replace_strict(
            {name: at for at, name in enumerate(names)}, return_dtype=pl.Int64
        )
        pairs = found.table.filter(measure=measure).select(place, "verdict")
        one, other, verdict = (column.to_numpy() for column in pairs)
        beats = np.zeros((len(names), len(names)), bool)
        beats[one, other] = verdict == "better"
        beats[other, one] |= verdict == "worse"
        letter = found.letters(measure)
        letters = tuple(letter.get(name, "") for name in names)
        return cls(names, mean[order].tolist(), beats, letters)

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
        return few + (
            len({f"{mean:.{few}f}" for mean in self.means}) < len({*self.means})
        )
