"""What pilots say about the queries that a comparison needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.stats.sample_size import (
    MOST,
    all_detectable,
    all_needed,
    attained,
    least_signs,
    smallest_n,
)

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints


class Pilots(Record):
    """What pilots say about differences of queries to come, of several pairs.

    Where only some queries differ, a test by sign flips looks at these alone: its power is nearly that of t
    on them (Student's statistic orders the flips), at the level that so few signs attain.

    Attributes
    ----------
    share
        float64 ``[pairs]``: the share of units that differ, in (0, 1].
    deviation
        float64 ``[pairs]``: the standard deviation of the differences of these, above 0.
    flips
        Whether the test is by signs or ranks, so that zeros say nothing and few signs reach no level.
    """

    share: Floats
    deviation: Floats
    flips: bool

    @classmethod
    def from_differences(
        cls, mean: Floats, deviation: Floats, units: Ints, share: Floats, *, flips: bool
    ) -> Pilots:
        """Make pilots of the means and deviations of all differences; NaN where too few differ."""
        if not flips:
            return cls(np.ones(len(mean)), deviation, flips)

        moved = share * units
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = (deviation**2 * (units - 1) + units * mean**2) / moved
            variance = (squares - (mean / share) ** 2) * moved / (moved - 1)
        return cls(share, np.sqrt(np.maximum(variance, 0.0)), flips)

    def of_pairs(self, places: Ints | Bools) -> Pilots:
        """Return those of some pairs."""
        return Pilots(self.share[places], self.deviation[places], self.flips)

    def detectable(self, units: Ints, alpha: Floats, power: float) -> Floats:
        """Return the smallest mean difference that so many units show; infinite where none is."""
        from scipy import special

        moved = self.share * units
        level = alpha
        possible = level > 0
        if self.flips:
            level = attained(moved, alpha)
            # so few queries may differ that no difference is found
            enough = special.bdtrc(least_signs(alpha) - 1, units, self.share)
            possible = (level > 0) & (enough >= power)

        aim = self._aim(moved, alpha, power)
        effect = np.full(len(moved), np.inf)
        effect[possible] = all_detectable(
            moved[possible], level[possible], aim[possible]
        )
        return effect * self.deviation * self.share

    def needed(
        self, difference: Floats, alpha: Floats, power: float, widen: Floats | float = 1
    ) -> list[int | None]:
        """Return how many units show a mean difference; deviations are multiplied by ``widen``."""
        effect = np.abs(difference) / (self.share * self.deviation * widen)
        aim = np.full(len(effect), power)
        if self.flips and (self.share < 1).any():
            first = all_needed(effect, alpha, power, flips=self.flips)
            counts = np.array([count or MOST for count in first], np.float64)
            aim = self._aim(counts, alpha, power)

        moved = all_needed(effect, alpha, aim, flips=self.flips)
        pairs = zip(moved, self.share, alpha, strict=True)
        return [
            self._units(count, share, level, power) for count, share, level in pairs
        ]

    def _aim(self, moved: Floats, alpha: Floats, power: float) -> Floats:
        """Return the power to aim at, so that its mean over how many units may differ is as requested.

        The number that differs varies in the pilot and again in the plan, each by a squared coefficient of
        variation of (1 - share) / moved.  The statistic is proportional to its root, so it varies by half of
        that coefficient; its mean is the noncentrality z(power) - z(alpha / 2).
        """
        from scipy import special

        z = float(special.ndtri(power))
        noncentrality = z - special.ndtri(alpha / 2)
        reach = noncentrality / 2
        # of the pilot and of the plan
        variance = 2 * reach**2 * (1 - self.share) / np.maximum(moved, 1)
        aim: Floats = special.ndtr(z * np.sqrt(1 + variance))
        return aim

    def _units(
        self, moved: int | None, share: float, alpha: float, power: float
    ) -> int | None:
        """Return among how many units so many differ, and rarely fewer than reach the level."""
        from scipy import special

        if moved is None:
            return None
        units = math.ceil(moved / share)
        if share == 1:
            return units

        fewer = int(least_signs(alpha)) - 1
        enough = smallest_n(lambda n: special.bdtrc(fewer, n, share) >= power)
        return max(units, enough or MOST)
