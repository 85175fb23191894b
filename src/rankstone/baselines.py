"""What chance reaches, to read a score against: random order, an answer somewhere in the first k, skill.

A random order of n documents is a list in which all of them tie, so every measure with a closed form for
ties has one for chance; nothing is derived twice.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadParameter, BadValue
from rankstone.hits.ideal import Ideal
from rankstone.hits.options import Alignment
from rankstone.hits.ragged import Hits
from rankstone.measures import Measure, Status, parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "at_random",
    "harmonic",
    "mrr_depth",
    "skill",
    "uniform_depth",
    "uniform_rr",
    "uniform_rr_variance",
]

#: longer harmonic sums come from their expansion, whose error is then far below rounding
_SUMMED: Final = 1000
_EULER: Final = 0.577215664901532860606512090082402431
_DEEPEST: Final = 10**15


def at_random(
    measure: str | Measure,
    n: int,
    relevant: int | None = None,
    *,
    grades: Sequence[float] | None = None,
    candidates: int | None = None,
) -> float | None:
    """Return what a measure is on average over all orders of a list, each as likely as any other.

    Parameters
    ----------
    measure
        The measure or its text; it must have a closed form for ``ties="expected"``.
    n
        How many documents the list holds, all of them judged.
    relevant
        How many of them are relevant (grade 1); or
    grades
        their grades, those of the rest being 0.
    candidates
        How many documents there are beside the list's; ``n`` unless more.

    Returns
    -------
    float or None
        The expectation; ``None`` where the measure has no value.

    Raises
    ------
    BadParameter, BadOption
        When the counts do not fit together, or the measure has no closed form.

    Examples
    --------
    Five relevant documents among a thousand:

    >>> f"{at_random('P@10', 1000, 5):.4f} {at_random('RR', 1000, 5):.4f}"
    '0.0050 0.0271'
    >>> at_random("AUC(negatives=judged)", 1000, 5)
    0.5
    """
    kind = parse_measure(measure)
    if not isinstance(kind, Measure):
        raise BadParameter(f"{kind} is not a measure of a ranking against judgments")
    if (relevant is None) == (grades is None):
        raise BadParameter("at_random needs the number of relevant documents or the grades, one of the two")
    given = [1.0] * (relevant or 0) if grades is None else [float(grade) for grade in grades]
    if n < 1 or len(given) > n or (relevant or 0) < 0:
        raise BadParameter(f"{len(given)} documents with a grade do not fit a list of {n}")
    options = Alignment(ties="expected", candidates=max(n, candidates or n))
    kind.check(options.ties)
    if not kind.means_over_orders:
        raise BadParameter(f"{kind} sees tied documents all at once, and is no mean over their orders")
    kind.check_needs(options)
    scored = kind.score(_tied(n, given, options.candidates or n))
    return None if scored.status[0] == Status.undefined else float(scored.value[0])


def _tied(n: int, given: list[float], candidates: int) -> Hits:
    """Return one list in which n judged documents tie."""
    ends, rank = np.array([0, n]), np.arange(1, n + 1)
    grade = np.zeros(n)
    grade[: len(given)] = given
    return Hits(
        offsets=ends,
        rank=rank,
        grade=grade,
        first=np.ones(n, np.int64),
        last=np.full(n, n),
        judged=np.ones(n, bool),
        n=np.array([n]),
        length=np.array([n]),
        ideal=Ideal(ends, np.sort(grade)[::-1]),
        found=np.ones(1, bool),
        expected=True,
        lowest_grade=float(grade.min()),
        candidates=np.array([candidates]),
    )


def harmonic(k: int) -> float:
    """Return H_k = 1 + 1/2 + … + 1/k.

    >>> harmonic(2)
    1.5
    """
    if k <= _SUMMED:
        return math.fsum(1 / i for i in range(1, k + 1))
    return math.log(k) + _EULER + 1 / (2 * k) - 1 / (12 * k**2) + 1 / (120 * k**4)


def uniform_rr(k: int, n: int | None = None) -> float:
    """Return E[RR@k] of a single answer that is equally likely at each of ranks 1 … n: H_k / n.

    Parameters
    ----------
    k
        The cutoff.
    n
        Where the answer may stand, ``k`` or more; ``k`` unless given.

    >>> f"{uniform_rr(3):.4f} {uniform_rr(5):.4f} {uniform_rr(10):.4f}"
    '0.6111 0.4567 0.2929'
    """
    n = k if n is None else n
    if not 1 <= k <= n:
        raise BadParameter(f"a cutoff of {k} does not fit {n} ranks", expected="1 ≤ k ≤ n")
    return harmonic(k) / n


def uniform_rr_variance(k: int) -> float:
    """Return Var[RR] of a single answer that is equally likely at each of ranks 1 … k.

    >>> uniform_rr_variance(2) == (1 + 1/4) / 2 - (3/4)**2
    True
    """
    return math.fsum(1 / i**2 for i in range(1, k + 1)) / k - uniform_rr(k) ** 2


def uniform_depth(level: float) -> int:
    """Return the largest k at which an answer anywhere in the first k still has E[RR] ≥ level.

    H_k / k falls in k, so the last k that reaches the level is found by halving; about
    −W₋₁(−level · e^−γ) / level, with Lambert's W.  Asked for an observed MRR, it is the depth of a system
    that puts its single answer anywhere in that many ranks.

    >>> [uniform_depth(level) for level in (0.75, 0.5, 0.3, 0.1, 0.01)]
    [2, 4, 9, 43, 715]
    """
    _check_level(level)
    low, high = 1, 2
    while uniform_rr(high) >= level:
        low, high = high, 2 * high
        if high > _DEEPEST:
            raise BadValue(f"level={level:g} is reached at any depth that matters", expected="1e-12 or more")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if uniform_rr(middle) >= level else (low, middle)
    return low


def mrr_depth(reciprocal_ranks: Iterable[float], level: float) -> int | None:
    """Return the smallest k at which a run has MRR@k ≥ level; ``None`` where it never has.

    MRR@k does not fall in k, so systems can be compared by the depth they need.

    Parameters
    ----------
    reciprocal_ranks
        RR of every query without a cutoff, 0 where nothing relevant was found: the values of
        ``scores.per_query``.
    level
        The MRR to reach.

    Raises
    ------
    BadValue
        When a value is no reciprocal rank.

    Examples
    --------
    >>> found = [1/3, 1/2, 1/1]
    >>> mrr_depth(found, 0.5), mrr_depth(found, 0.6), mrr_depth(found, 0.7)
    (2, 3, None)
    """
    _check_level(level)
    counts = Counter(float(value) for value in reciprocal_ranks)
    queries, reached = sum(counts.values()), Fraction(0)
    for value in sorted(counts, reverse=True):
        if not 0 <= value <= 1 or (value and 1 / round(1 / value) != value):
            raise BadValue(f"{value!r} is no reciprocal rank", expected="0, or 1 / a whole number")
        reached += Fraction(value) * counts[value]  # exact: the same bits as the mean of RR@k
        if value and float(reached) / queries >= level:
            return round(1 / value)
    return None


def skill(value: float, chance: float, best: float = 1.0) -> float:
    """Return how much of the way from chance to the best value was made.

    0 is what chance reaches, 1 the best; below 0 is worse than chance.

    >>> skill(0.75, chance=0.5)
    0.5
    """
    if best == chance:
        raise BadValue(f"chance and the best value are both {best:g}: there is no way between them")
    return (value - chance) / (best - chance)


def _check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise BadValue(f"level={level!r} is no level of MRR", expected="above 0, up to 1")
