"""Which groups users are told apart by, and what they are called.

Segments held against one another: shares of their users, whoever stands in both being one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, UsageError, nearest, printable
from rankstone.online.cohort_counts import pooled
from rankstone.stats.multiple_testing import adjusted, family_level
from rankstone.stats.proportions import Shared, proportion_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone.online.cohort_counts import Counts, Range
    from rankstone.online.periods import Window

#: pairs that are compared unless one segment is named
MOST_PAIRS: Final = 500


@dataclass(frozen=True)
class Segments:
    """The values of a column, and which of them anybody belongs to.

    Attributes
    ----------
    by
        The column; ``None`` where everybody is in one group.
    values
        In their order; the place after the last one is that of who has none.
    present
        Places that somebody belongs to.
    """

    by: str | None
    values: tuple[str, ...]
    present: tuple[int, ...]

    @classmethod
    def of(cls, by: tuple[str, list[str]] | None, counts: Counts) -> Segments:
        """Say which segments there are."""
        if by is None:
            return cls(None, (), (0,))
        there = counts.size.sum(axis=1) + counts.login.sum(axis=1) > 0
        return cls(by[0], tuple(by[1]), tuple(np.flatnonzero(there).tolist()))

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Columns that a frame begins with."""
        return {} if self.by is None else {self.by: pl.String()}

    def name(self, at: int) -> str | None:
        """Return the name of a segment; ``None`` is that of who has none."""
        return self.values[at] if at < len(self.values) else None

    def begin(self, at: int) -> tuple[str | None, ...]:
        """Return what a segment's row begins with."""
        return () if self.by is None else (self.name(at),)

    def cells(self, at: int, rows: int) -> dict[str, pl.Series]:
        """Return the column that so many rows of a segment begin with, if any."""
        return (
            {} if self.by is None else {self.by: pl.repeat(self.name(at), rows, dtype=pl.String, eager=True)}
        )

    def place(self, value: str) -> int:
        """Return the place of a segment, by its name."""
        known = {self.values[at]: at for at in self.present if at < len(self.values)}
        if value not in known:
            close = nearest(value, known, n=1)
            raise BadOption(
                f"there is no segment {printable(value)}",
                expected=", ".join(printable(one, 40) for one in list(known)[:12]),
                fix=f"did you mean {printable(close[0])}?" if close else None,
            )
        return known[value]

    def comparable(self, versus: str | None, most: int = MOST_PAIRS) -> bool:
        """Say whether the segments are few enough to be compared, and more than one."""
        count = len(self.present)
        return count > 1 and (versus is not None or count * (count - 1) // 2 <= most)

    def pairs(self, versus: str | None, most: int = MOST_PAIRS) -> Iterable[tuple[int, int]]:
        """Return which segments are compared: each with one, or every two.

        Parameters
        ----------
        versus
            The one; ``None`` for every two.
        most
            So many pairs are compared at most.
        """
        if versus is not None:
            other = self.place(versus)
            return [(at, other) for at in self.present if at != other]
        pairs = [(at, other) for place, other in enumerate(self.present) for at in self.present[place + 1 :]]
        if len(pairs) > most:
            raise UsageError(
                f"{len(self.present):,} segments make {len(pairs):,} pairs",
                expected=f"at most {most:,}",
                fix="versus=SEGMENT compares the others with that one",
            )
        return pairs


_NUMBERS: Final = ("rate", "rate_versus", "difference", "low", "high", "p", "p_adjusted")


def differences(
    counts: Counts,
    segments: Segments,
    windows: Sequence[Window],
    places: Sequence[int],
    within: Range,
    *,
    versus: str | None,
    correction: str,
    confidence: float,
) -> pl.DataFrame:
    """Return a row a window and pair of segments.

    Parameters
    ----------
    counts, segments, within
        What was counted.
    windows, places
        The windows asked about, and their places among those counted.
    versus
        The segment that the others are held against; every two unless given.
    correction, confidence
        Of the family of all rows; every interval has the level at which the correction stops.
    """
    schema = {
        "segment": pl.String(), "versus": pl.String(), "at": pl.String(), "age": pl.Int64(),
        "users": pl.Int64(), "users_versus": pl.Int64(), **dict.fromkeys(_NUMBERS, pl.Float64()),
    }  # fmt: skip
    asked = [
        (
            one,
            other,
            at,
            pooled(counts, one, places[at], window, within),
            pooled(counts, other, places[at], window, within),
        )
        for one, other in segments.pairs(versus)
        for at, window in enumerate(windows)
    ]

    def compared(level: float) -> list[tuple[float, float, float, float]]:
        found = []
        for one, other, at, mine, theirs in asked:
            n, came, both = counts.shared[at, :, one, other]
            shared = Shared(int(n), int(came), int(counts.shared[at, 1, other, one]), int(both))
            d = proportion_difference(mine, theirs, shared, level)
            found.append((d.value, d.low, d.high, d.p))
        return found

    p = np.array([row[-1] for row in compared(confidence)])
    decided = ~np.isnan(p)
    corrected = np.full(len(p), np.nan)
    corrected[decided] = adjusted(p[decided], correction)
    level = 1 - family_level(p[decided], correction, 1 - confidence)
    rows = [
        (
            segments.name(one), segments.name(other), windows[at].at, windows[at].first, mine[1], theirs[1],
            _share(mine), _share(theirs), *numbers, float(least),
        )
        for (one, other, at, mine, theirs), numbers, least in zip(
            asked, compared(level), corrected, strict=True
        )
    ]  # fmt: skip
    return pl.DataFrame(rows, schema, orient="row").with_columns(pl.col(_NUMBERS).fill_nan(None))


def _share(counted: tuple[int, int]) -> float:
    return counted[0] / counted[1] if counted[1] else np.nan
