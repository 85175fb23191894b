"""Gains and discounts: what a grade is worth, and how little it is worth further down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadParameter, BadValue
from rankstone.measures.base import ANY_GAIN, Threshold

if TYPE_CHECKING:
    from rankstone.hits.ragged import Bools, Floats, Ints

__all__ = ["DISCOUNTS", "GAINS", "GainTable", "divisors", "gains"]

GAINS: Final = ("linear", "exp2", "binary", "exp2_offset", "pow2_shift")
DISCOUNTS: Final = ("log2", "jk", "reciprocal", "none", "geometric")

#: 2**50 is still exact and no grade scale goes there: a larger grade is a score in the wrong column
_LARGEST_EXPONENT: Final = 50


@dataclass(frozen=True, slots=True)
class GainTable:
    """An explicit gain for each grade, ``{0: 0, 1: 1, 2: 5}``; a grade it lacks is an error.

    Grade 0 is worth 0 unless the table says otherwise; unjudged documents are always worth 0.
    """

    gains: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        """Refuse what is no table of finite, non-negative gains."""
        for grade, gain in self.gains:
            if not (math.isfinite(grade) and math.isfinite(gain)) or gain < 0:
                raise BadParameter(f"gain table: {grade:g} → {gain:g}", expected="gains of 0 or more")

    def __call__(self, grade: Floats) -> Floats:
        """Look the grades up."""
        table = {0.0: 0.0} | dict(self.gains)
        known = np.array(sorted(table))
        at = np.minimum(np.searchsorted(known, grade), len(known) - 1)
        foreign = known[at] != grade
        if foreign.any():
            raise BadValue(
                f"the gain table has no gain for grade {grade[foreign][0]:g}",
                expected=f"grades {', '.join(f'{g:g}' for g in known)}",
                fix=f"add {grade[foreign][0]:g}: <gain> to the table",
            )
        return np.array([table[g] for g in known])[at]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{grade:g}: {gain:g}" for grade, gain in self.gains) + "}"


def gains(gain: str | GainTable, rel: Threshold | None, grade: Floats) -> Floats:
    """Return the gain of each grade; below the threshold it is 0.

    ``linear`` g · ``exp2`` 2^g − 1 · ``binary`` 1 if relevant · ``exp2_offset`` 2^(g − rel + 1) − 1
    for relevant grades · ``pow2_shift`` 2^(g − 1).
    """
    if isinstance(gain, GainTable):
        worth = gain(grade)
    elif gain == "linear":
        worth = grade
    elif gain == "binary":
        return _relevant(rel, grade).astype(np.float64)
    else:
        worth = _exponential(gain, rel, grade)
    return worth if rel is None else np.where(_relevant(rel, grade), worth, 0.0)


def _relevant(rel: Threshold | None, grade: Floats) -> Bools:
    return (rel or ANY_GAIN)(grade)


def _exponential(gain: str, rel: Threshold | None, grade: Floats) -> Floats:
    if len(grade) and grade.max() > _LARGEST_EXPONENT:
        raise BadValue(
            f"gain={gain} of grade {grade.max():g} is astronomically large",
            expected=f"grades up to {_LARGEST_EXPONENT}",
            fix="are these scores instead of grades? use gain=linear or a gain table",
        )
    if gain == "exp2":
        return np.exp2(grade) - 1.0
    if gain == "pow2_shift":
        return np.exp2(grade - 1.0)
    level = 1.0 if rel is None else rel.level
    return np.where(_relevant(rel, grade), np.exp2(grade - level + 1.0) - 1.0, 0.0)


_LOG2 = np.array([math.log2(2)])


def _log2_table(depth: int) -> Floats:
    """Return log2(rank + 1) for ranks 1 … depth, every entry made by the same function."""
    global _LOG2  # noqa: PLW0603 - one growing table, replaced whole, safe to race for
    table = _LOG2
    if len(table) < depth:
        size = max(1024, 1 << (depth - 1).bit_length())
        more = [math.log2(rank + 1) for rank in range(len(table) + 1, size + 1)]
        _LOG2 = table = np.concatenate((table, more))
    return table


def divisors(discount: str, rank: Ints, *, base: float = 2.0, p: float | None = None) -> Floats:
    """Return what a gain at each rank is divided by.

    ``log2`` log2(i + 1) · ``jk`` max(1, log_base i) · ``reciprocal`` i · ``none`` 1 · ``geometric``
    1 / p^(i − 1).
    """
    if discount == "log2":
        return _log2_table(int(rank.max()) if len(rank) else 1)[rank - 1]
    if discount == "jk":
        logs = np.concatenate(([0.0], _log2_table(int(rank.max()) if len(rank) else 1)))
        divided: Floats = np.maximum(1.0, logs[rank - 1] / math.log2(base))
        return divided
    if discount == "reciprocal":
        return rank.astype(np.float64)
    if discount == "none":
        return np.ones(len(rank))
    assert p is not None  # noqa: S101 - the measure has checked it
    grown: Floats = np.power(1.0 / p, rank - 1.0)
    return grown
