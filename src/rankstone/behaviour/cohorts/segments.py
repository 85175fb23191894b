"""Which groups users are told apart by, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, UsageError, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone.behaviour.cohorts.counting import Counts

__all__ = ["MOST_PAIRS", "Segments"]

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
