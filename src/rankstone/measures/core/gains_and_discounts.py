"""Gains and discounts: what a grade is worth, and how little it is worth further down."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._text import exact
from rankstone.errors import BadParameter, BadValue, printable
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.measures.core.definition import ANY_GAIN, Threshold

if TYPE_CHECKING:
    from rankstone.hits.list_arrays import Bools, Floats, Ints


__all__ = [
    "DISCOUNTS",
    "GAINS",
    "GainTable",
    "Vocabulary",
    "divisors",
    "gains",
    "never_falls",
    "register_discount",
    "register_gain",
]

#: gains and discounts that users have registered, by the word that names them
OWN_GAINS: Final[dict[str, Callable[[Floats], Floats]]] = {}
OWN_DISCOUNTS: Final[dict[str, Callable[[Floats], Floats]]] = {}


class Vocabulary(Sequence[str]):
    """The words a parameter takes: ours, and those registered since."""

    def __init__(self, words: tuple[str, ...], own: dict[str, Any]) -> None:
        self.words = words
        self._own = own

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - a word, or a slice of them
        return (*self.words, *self._own)[at]

    def __len__(self) -> int:
        return len(self.words) + len(self._own)

    def add(self, word: str, meaning: object, what: str) -> None:
        """Register a word: letters, digits and underscores, and not in use; it must mean a function."""
        if not callable(meaning):
            raise BadParameter(
                f"{what}={printable(word)} has no function",
                given=printable(repr(meaning)),
                expected="a function",
            )
        if not word.isidentifier() or word in self:
            raise BadParameter(
                f"{what}={printable(word)} cannot be registered",
                expected="letters, digits and underscores, and no word in use",
                given=f"in use: {', '.join(self)}",
            )
        self._own[word] = meaning


#: names of gains: ours, and those that were registered
GAINS: Final = Vocabulary(("linear", "exp2", "binary", "exp2_offset", "pow2_shift"), OWN_GAINS)
#: names of discounts: ours, and those that were registered
DISCOUNTS: Final = Vocabulary(("log2", "jk", "reciprocal", "none", "geometric"), OWN_DISCOUNTS)


def register_gain(word: str, gain: Callable[[Floats], Floats]) -> None:
    """Give a gain function of your own a word: ``nDCG(gain=word)@10``.

    Parameters
    ----------
    word
        Letters, digits and underscores; not in use yet.
    gain
        Takes grades, float64 ``[n]``, and returns finite gains of the same shape.  Unjudged documents
        gain 0 whatever it says.

    Examples
    --------
    >>> register_gain("root", np.sqrt)
    >>> gains("root", None, np.array([0.0, 1.0, 4.0])).tolist()
    [0.0, 1.0, 2.0]
    >>> del OWN_GAINS["root"]
    """
    GAINS.add(word, gain, "gain")


def register_discount(word: str, divisor: Callable[[Floats], Floats]) -> None:
    """Give a discount of your own a word: ``nDCG(discount=word)@10``.

    Parameters
    ----------
    word
        Letters, digits and underscores; not in use yet.
    divisor
        Takes ranks from 1, float64 ``[n]``, and returns what a gain at each rank is divided by: positive,
        finite, and not falling.

    Examples
    --------
    >>> register_discount("root", np.sqrt)
    >>> divisors("root", np.array([1, 4])).tolist()
    [1.0, 2.0]
    >>> del OWN_DISCOUNTS["root"]
    """
    DISCOUNTS.add(word, divisor, "discount")


def _own(function: Callable[[Floats], Floats], asked: Floats, what: str, least: float) -> Floats:
    """Call a registered function and make sure that it answered with numbers."""
    found = np.asarray(function(asked.copy()), np.float64)  # which it may overwrite
    if found.shape != asked.shape or not np.isfinite(found).all() or not (found > least).all():
        raise BadValue(
            f"{what} returned {'something else than' if found.shape != asked.shape else 'unusable'} numbers",
            given=f"for {asked[:3].tolist()}: {found.ravel()[:3].tolist()}",
            expected="one finite number for each" + (" and all of them positive" if least == 0 else ""),
        )
    return found


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
            if not (math.isfinite(grade) and 0 <= gain <= LARGEST_GRADE):
                raise BadParameter(f"gain table: {grade:g} → {gain:g}", expected="gains from 0 to 9e15")

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
        return "{" + ", ".join(f"{exact(grade)}: {exact(gain)}" for grade, gain in self.gains) + "}"


def gains(gain: str | GainTable, rel: Threshold | None, grade: Floats) -> Floats:
    """Return the gain of each grade; below the threshold it is 0.

    ``linear`` g · ``exp2`` 2^g − 1 · ``binary`` 1 if relevant · ``exp2_offset`` 2^(g − rel + 1) − 1
    for relevant grades · ``pow2_shift`` 2^(g − 1) · or a registered word.
    """
    if gain == "binary":
        return _relevant(rel, grade).astype(np.float64)
    if isinstance(gain, GainTable):
        worth = gain(grade)
    elif gain in OWN_GAINS:
        worth = _own(OWN_GAINS[gain], grade, f"gain={gain}", least=-math.inf)
    elif gain == "linear":
        worth = grade
    else:
        worth = _exponential(gain, rel, grade)
    return worth if rel is None else np.where(_relevant(rel, grade), worth, 0.0)


def never_falls(gain: str | GainTable) -> bool:
    """Say whether a better grade is sure to gain no less."""
    return isinstance(gain, str) and gain not in OWN_GAINS


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
    1 / p^(i − 1) · or a registered word.
    """
    if discount in OWN_DISCOUNTS:
        return _own(OWN_DISCOUNTS[discount], rank.astype(np.float64), f"discount={discount}", least=0.0)
    if discount == "log2":
        return np.asarray(_log2_table(int(rank.max(initial=1))), like=rank)[rank - 1]
    if discount == "jk":
        logs = np.concatenate(([0.0], np.asarray(_log2_table(int(rank.max(initial=1))), like=rank)))
        divided: Floats = np.maximum(1.0, logs[rank - 1] / math.log2(base))
        return divided
    if discount == "reciprocal":
        return rank.astype(np.float64)
    if discount == "none":
        return np.ones_like(rank, np.float64)
    assert p is not None  # noqa: S101 - the measure has checked it
    with np.errstate(over="ignore"):  # a thousand ranks down nothing is left of a gain
        grown: Floats = np.power(1.0 / p, rank - 1.0)
    return grown
