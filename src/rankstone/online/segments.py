"""Segments of users, and differences of their retention; a user in two segments is one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, UsageError, did_you_mean, printable
from rankstone.online.cohort_counts import pooled
from rankstone.stats.multiple_testing import adjusted, family_level
from rankstone.stats.proportions import Shared, proportion_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.online.cohort_counts import CohortCounts, ObservedPeriods
    from rankstone.online.periods import Window

#: the most pairs compared without versus
MOST_PAIRS: Final = 500
_NUMBERS: Final = (
    "rate",
    "rate_versus",
    "difference",
    "low",
    "high",
    "p",
    "p_adjusted",
)


@dataclass(frozen=True)
class Segments:
    """The values of a grouping column, and those that have users.

    Attributes
    ----------
    by
        The column; ``None`` if all users are in one group.
    values
        The sorted values; the index after the last one is that of users without a value.
    present
        Indices of values with users.
    """

    by: str | None
    values: tuple[str, ...]
    present: tuple[int, ...]

    @classmethod
    def of(cls, by: tuple[str, list[str]] | None, counts: CohortCounts) -> Segments:
        """Return the segments that occur in counts."""
        if by is None:
            return cls(None, (), (0,))
        there = counts.size.sum(axis=1) + counts.login.sum(axis=1) > 0
        return cls(by[0], tuple(by[1]), tuple(np.flatnonzero(there).tolist()))

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The leading columns of a frame."""
        if self.by is None:
            return {}
        return {self.by: pl.String()}

    def name(self, index: int) -> str | None:
        """Return the name of a segment; ``None`` for users without a value."""
        if index < len(self.values):
            return self.values[index]
        return None

    def row_prefix(self, index: int) -> tuple[str | None, ...]:
        """Return the leading cells of a segment's row."""
        if self.by is None:
            return ()
        return (self.name(index),)

    def cells(self, index: int, rows: int) -> dict[str, pl.Series]:
        """Return the leading column for so many rows of a segment, if there are segments."""
        if self.by is None:
            return {}
        return {self.by: pl.repeat(self.name(index), rows, dtype=pl.String, eager=True)}

    def place(self, value: str) -> int:
        """Return the index of a segment by its name."""
        known = {
            self.values[index]: index
            for index in self.present
            if index < len(self.values)
        }
        if value not in known:
            raise BadOption(
                f"there is no segment {printable(value)}",
                expected=", ".join(printable(name, 40) for name in list(known)[:12]),
                fix=did_you_mean(value, known),
            )
        return known[value]

    def comparable(self, versus: str | None) -> bool:
        """Return True if there is more than one segment and few enough to compare."""
        count = len(self.present)
        return count > 1 and (versus is not None or comb(count, 2) <= MOST_PAIRS)

    def pairs(self, versus: str | None) -> list[tuple[int, int]]:
        """Return the pairs of segments to compare: each with ``versus``, or all pairs."""
        if versus is not None:
            other = self.place(versus)
            return [(place, other) for place in self.present if place != other]
        pairs = [(later, first) for first, later in combinations(self.present, 2)]
        if len(pairs) > MOST_PAIRS:
            raise UsageError(
                f"{len(self.present):,} segments make {len(pairs):,} pairs",
                expected=f"at most {MOST_PAIRS:,}",
                fix="versus=SEGMENT compares the others with that one",
            )
        return pairs


def differences(
    counts: CohortCounts,
    segments: Segments,
    windows: Sequence[Window],
    places: Sequence[int],
    observed: ObservedPeriods,
    *,
    versus: str | None,
    correction: str,
    confidence: float,
) -> pl.DataFrame:
    """Return differences of retention by pair of segments and window.

    Parameters
    ----------
    counts, segments, observed
        The counts.
    windows, places
        The requested windows, and their indices among those counted.
    versus
        The segment that the others are compared with; ``None`` for all pairs.
    correction, confidence
        Of the family of all rows; intervals are at the level at which the correction stops.
    """
    schema = {
        "segment": pl.String(),
        "versus": pl.String(),
        "at": pl.String(),
        "age": pl.Int64(),
        "users": pl.Int64(),
        "users_versus": pl.Int64(),
        **dict.fromkeys(_NUMBERS, pl.Float64()),
    }
    comparisons = [
        (
            segment,
            other,
            index,
            pooled(counts, segment, places[index], window, observed),
            pooled(counts, other, places[index], window, observed),
        )
        for segment, other in segments.pairs(versus)
        for index, window in enumerate(windows)
    ]

    def intervals_at(level: float) -> list[tuple[float, float, float, float]]:
        intervals = []
        for segment, other, index, first, second in comparisons:
            n, came, both = counts.shared[index, :, segment, other].tolist()
            came_other = int(counts.shared[index, 1, other, segment])
            shared = Shared(n, came, came_other, both)
            d = proportion_difference(first, second, shared, level)
            intervals.append((d.value, d.low, d.high, d.p))
        return intervals

    p = np.array([row[-1] for row in intervals_at(confidence)])
    defined = ~np.isnan(p)
    corrected = np.full(len(p), np.nan)
    corrected[defined] = adjusted(p[defined], correction)
    level = 1 - family_level(p[defined], correction, 1 - confidence)
    rows = [
        (
            segments.name(segment),
            segments.name(other),
            windows[index].at,
            windows[index].first,
            first[1],
            second[1],
            _share(first),
            _share(second),
            *numbers,
            float(least),
        )
        for (segment, other, index, first, second), numbers, least in zip(
            comparisons, intervals_at(level), corrected, strict=True
        )
    ]
    return pl.DataFrame(rows, schema, orient="row").with_columns(
        pl.col(_NUMBERS).fill_nan(None)
    )


def _share(counted: tuple[int, int]) -> float:
    if counted[1]:
        return counted[0] / counted[1]
    return np.nan
