"""The bottom of the grade scale, where it has to be known before or beside the judgments themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["lowest_of", "lowest_settled"]


def lowest_of(pieces: Iterable[pl.DataFrame], negative: str) -> float:
    """Return the bottom of the scale of grades that come in pieces.

    Parameters
    ----------
    pieces
        Tables with the column ``relevance``; null and NaN are grades of nobody.
    negative
        What grades below zero mean, as the option of this name.
    """
    grade = pl.col("relevance").cast(pl.Float64).fill_nan(None)
    every, from_zero = grade.min().alias("every"), grade.filter(grade >= 0).min().alias("from zero")
    found = [piece.select(every, from_zero).row(0) for piece in pieces]
    known = [[one for one in column if one is not None] for column in zip(*found, strict=True)] or [[], []]
    return lowest_settled(min(known[0], default=None), min(known[1], default=None), negative)


def lowest_settled(lowest: float | None, lowest_from_zero: float | None, negative: str) -> float:
    """Return the bottom of the grade scale as the option ``negative`` leaves it.

    Parameters
    ----------
    lowest, lowest_from_zero
        The lowest grade of all, and of those that are not below zero; ``None`` where there is none.
    negative
        The option.

    >>> lowest_settled(-2.0, 1.0, "unjudged"), lowest_settled(-2.0, 1.0, "zero")
    (1.0, 0.0)
    """
    found = {"unjudged": lowest_from_zero, "zero": None if lowest is None else max(lowest, 0.0)}
    settled = found.get(negative, lowest)
    return 0.0 if settled is None else float(settled)
