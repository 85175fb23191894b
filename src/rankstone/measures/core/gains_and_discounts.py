"""Gains of grades, and the discounts that divide them by rank; those that users register, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import exact
from rankstone.errors import BadParameter, BadValue, printable
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.measures.core.definition import ANY_GAIN, Threshold

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.measures.core.definition import Named

#: gains and discounts that users have registered, by name
CUSTOM_GAINS: Final[dict[str, Callable[[Floats], Floats]]] = {}
CUSTOM_DISCOUNTS: Final[dict[str, Callable[[Floats], Floats]]] = {}
#: 2**50 is still exact, and larger grades are scores in the wrong column
_LARGEST_EXPONENT: Final = 50
_LOG2 = np.array([math.log2(2)])


class Vocabulary(Sequence[str]):
    """The words that a parameter may have: those of the package, and those that users register."""

    def __init__(self, words: tuple[str, ...], custom: dict[str, Any]) -> None:
        self.words = words
        self._custom = custom

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - a word, or a slice of them
        return (*self.words, *self._custom)[index]

    def __len__(self) -> int:
        return len(self.words) + len(self._custom)

    def add(self, word: str, meaning: object, what: str) -> None:
        """Register a function under a word of letters, digits and underscores that is not in use."""
        if not callable(meaning):
            raise BadParameter(
                f"{what}={printable(word)} needs a function",
                given=printable(repr(meaning)),
                expected="a function",
            )
        if not word.isidentifier() or word in self:
            raise BadParameter(
                f"{what}={printable(word)} cannot be registered",
                expected="a word of letters, digits and underscores that is not in use",
                given=f"in use: {', '.join(self)}",
            )
        self._custom[word] = meaning


#: names of gains: those of the package, and registered ones
GAINS: Final = Vocabulary(
    ("linear", "exp2", "binary", "exp2_offset", "pow2_shift"), CUSTOM_GAINS
)
#: names of discounts: those of the package, and registered ones
DISCOUNTS: Final = Vocabulary(
    ("log2", "jk", "reciprocal", "none", "geometric"), CUSTOM_DISCOUNTS
)


def register_gain(word: str, gain: Callable[[Floats], Floats]) -> None:
    """Register a gain function under a name: ``nDCG(gain=word)@10``.

    Parameters
    ----------
    word
        Letters, digits and underscores; not in use yet.
    gain
        Takes grades, float64 ``[n]``, and returns finite gains of the same shape.  Unjudged documents
        always gain 0.

    Examples
    --------
    >>> register_gain("root", np.sqrt)
    >>> gains("root", None, np.array([0.0, 1.0, 4.0])).tolist()
    [0.0, 1.0, 2.0]
    >>> del CUSTOM_GAINS["root"]
    """
    GAINS.add(word, gain, "gain")


def register_discount(word: str, divisor: Callable[[Floats], Floats]) -> None:
    """Register a discount under a name: ``nDCG(discount=word)@10``.

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
    >>> del CUSTOM_DISCOUNTS["root"]
    """
    DISCOUNTS.add(word, divisor, "discount")


def _registered(
    function: Callable[[Floats], Floats], values: Floats, what: str, least: float
) -> Floats:
    """Call a registered function, and check that it returned numbers."""
    # the function may overwrite its argument
    returned = np.asarray(function(values.copy()), np.float64)
    if (
        returned.shape != values.shape
        or not np.isfinite(returned).all()
        or not (returned > least).all()
    ):
        problem = (
            "a wrong number of values"
            if returned.shape != values.shape
            else "unusable numbers"
        )
        raise BadValue(
            f"{what} returned {problem}",
            given=f"for {values[:3].tolist()}: {returned.ravel()[:3].tolist()}",
            expected="one finite number for each"
            + (" and all of them positive" if least == 0 else ""),
        )
    return returned


@dataclass(frozen=True, slots=True)
class GainTable:
    """A gain for each grade, ``{0: 0, 1: 1, 2: 5}``; a grade that is not in the table is an error.

    Grade 0 gains 0 unless the table has another gain for it; unjudged documents always gain 0.
    """

    gains: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        """Refuse gains that are negative or not finite."""
        for grade, gain in self.gains:
            if not (math.isfinite(grade) and 0 <= gain <= LARGEST_GRADE):
                raise BadParameter(
                    f"gain table: {grade:g} → {gain:g}", expected="gains from 0 to 9e15"
                )

    def __call__(self, grade: Floats) -> Floats:
        """Look the grades up."""
        table = {0.0: 0.0} | dict(self.gains)
        known = np.array(sorted(table))
        entry = np.minimum(np.searchsorted(known, grade), len(known) - 1)
        unknown = known[entry] != grade
        if unknown.any():
            raise BadValue(
                f"the gain table has no gain for grade {grade[unknown][0]:g}",
                expected=f"grades {', '.join(f'{g:g}' for g in known)}",
                fix=f"add {grade[unknown][0]:g}: <gain> to the table",
            )
        return np.array([table[g] for g in known])[entry]

    def __str__(self) -> str:
        return (
            "{"
            + ", ".join(f"{exact(grade)}: {exact(gain)}" for grade, gain in self.gains)
            + "}"
        )


def gains(gain: str | GainTable, rel: Threshold | None, grade: Floats) -> Floats:
    """Return the gain of each grade; below the threshold it is 0.

    ``linear`` g · ``exp2`` 2^g − 1 · ``binary`` 1 if relevant · ``exp2_offset`` 2^(g − rel + 1) − 1
    for relevant grades · ``pow2_shift`` 2^(g − 1) · or a registered word.
    """
    if gain == "binary":
        return _relevant(rel, grade).astype(np.float64)
    if isinstance(gain, GainTable):
        worth = gain(grade)
    elif gain in CUSTOM_GAINS:
        worth = _registered(CUSTOM_GAINS[gain], grade, f"gain={gain}", least=-math.inf)
    elif gain == "linear":
        worth = grade
    else:
        worth = _exponential(gain, rel, grade)
    return worth if rel is None else np.where(_relevant(rel, grade), worth, 0.0)


def never_falls(gain: str | GainTable) -> bool:
    """Return True if a better grade never gains less."""
    return isinstance(gain, str) and gain not in CUSTOM_GAINS


def check_persistence(measure: Named, name: str, p: float | None) -> None:
    """Refuse a geometric weight or discount without its persistence ``p``, and ``p`` without it."""
    if (getattr(measure, name) == "geometric") != (p is not None):
        changes: dict[str, Any] = {name: "geometric", "p": p or 0.8}
        raise BadParameter(
            f"{measure.name}: {name}=geometric and p go together",
            fix=f"write {replace(measure, **changes)}",
        )


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


def _log2_table(depth: int) -> Floats:
    """Return log2(rank + 1) for ranks 1 … depth, all by the same function, so that bits do not vary."""
    global _LOG2  # noqa: PLW0603 - one growing table, replaced whole, safe to race for
    table = _LOG2
    if len(table) < depth:
        size = max(1024, 1 << (depth - 1).bit_length())
        more = [math.log2(rank + 1) for rank in range(len(table) + 1, size + 1)]
        _LOG2 = table = np.concatenate((table, more))
    return table


def divisors(
    discount: str, rank: Ints, *, base: float = 2.0, p: float | None = None
) -> Floats:
    """Return what a gain at each rank is divided by.

    ``log2`` log2(i + 1) · ``jk`` max(1, log_base i) · ``reciprocal`` i · ``none`` 1 · ``geometric``
    1 / p^(i − 1) · or a registered word.
    """
    if discount in CUSTOM_DISCOUNTS:
        return _registered(
            CUSTOM_DISCOUNTS[discount],
            rank.astype(np.float64),
            f"discount={discount}",
            least=0.0,
        )
    if discount == "log2":
        return np.asarray(_log2_table(int(rank.max(initial=1))), like=rank)[rank - 1]
    if discount == "jk":
        logs = np.concatenate(
            ([0.0], np.asarray(_log2_table(int(rank.max(initial=1))), like=rank))
        )
        return np.maximum(1.0, logs[rank - 1] / math.log2(base))
    if discount == "reciprocal":
        return rank.astype(np.float64)
    if discount == "none":
        return np.ones_like(rank, np.float64)
    assert p is not None  # noqa: S101 - the measure has checked it
    with np.errstate(over="ignore"):  # a thousand ranks down a gain vanishes
        grown: Floats = np.power(1.0 / p, rank - 1.0)
    return grown
