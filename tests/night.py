"""Sweeps of which `make test` tries a part, in turn, and `make night` every row."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NIGHT", "part", "turn_of"]

#: every row of every sweep
NIGHT: Final = bool(os.environ.get("RANKSTONE_NIGHT"))
Row = TypeVar("Row")


def part(rows: Iterable[Row], of: int, turn: int = 0) -> list[Row]:
    """Return one row in so many, and all at night.

    For two factors of which each value has been tried alone: hand the number of the outer one over as ``turn``,
    so that neighbours try different rows and no row is left out by all.

    Parameters
    ----------
    rows
        The rows of a sweep.
    of
        How many rows stand for one that is tried.
    turn
        Which of them is tried.  There is always one.
    """
    every = list(rows)
    if NIGHT or not every:
        return every
    return every[turn % min(of, len(every)) :: of]


def turn_of(name: object) -> int:
    """Return a number for a name, the same in every process."""
    return crc32(str(name).encode())
