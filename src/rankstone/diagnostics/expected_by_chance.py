"""Expected scores of random orders, and the size of a gain from one mean to another.

A random order of n documents is a list in which all of them tie, so every measure with a closed form for ties
has one for chance.

Is 0.2 → 0.4 the same gain as 0.7 → 0.9?  Means have no unit, so a gain is given on several scales: as a
difference, as a reduction of the error (the distance to the best value), and as ranks.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.errors import BadParameter, BadValue
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.hits.extras.candidate_counts import CandidateCounts, NumbersOfCandidates
from rankstone.hits.hits import Hits
from rankstone.hits.list_arrays import Ideal
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.core.measure import Measure, Status
from rankstone.measures.core.syntax import parse_measure
from rankstone.tables.results import Result, given
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


#: longer harmonic sums come from their expansion, whose error is then much smaller than rounding
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
    """Return the expected value of a measure over all orders of a list, all equally likely.

    Parameters
    ----------
    measure
        The measure or its text; it must have a closed form for ``ties="expected"``.
    n
        The number of documents in the list, all of them judged.
    relevant
        How many of them are relevant (grade 1); or
    grades
        their grades, those of the rest being 0.
    candidates
        How many documents there are in all; ``n`` by default.

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
        raise BadParameter(
            "at_random needs the number of relevant documents or the grades, one of the two"
        )

    judged_grades = [1.0] * (relevant or 0)
    if grades is not None:
        judged_grades = [float(grade) for grade in grades]

    if n < 1 or len(judged_grades) > n or (relevant or 0) < 0:
        with_grade = "document with a grade does", "documents with a grade do"
        fitting = counted(len(judged_grades), *with_grade)
        raise BadParameter(f"{fitting} not fit a list of {n}")
    options = AlignmentOptions(ties="expected", candidates=max(n, candidates or n))
    kind.check(options.ties)
    if not kind.claims.means_over_orders:
        raise BadParameter(
            f"{kind} scores tied documents together, and is not a mean over their orders"
        )
    kind.check_needs(options)
    scored = kind.score(_tied(n, judged_grades, options.candidates or n))
    if scored.status[0] == Status.undefined:
        return None
    return float(scored.value[0])


def _tied(n: int, judged_grades: list[float], candidates: int) -> Hits:
    """Return one list in which n judged documents tie."""
    ends = np.array([0, n])
    rank = np.arange(1, n + 1)
    grade = np.zeros(n)
    grade[: len(judged_grades)] = judged_grades
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
        extras={CandidateCounts: NumbersOfCandidates(count=np.array([candidates]))},
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
        The number of possible ranks, ``k`` or more; ``k`` by default.

    >>> f"{uniform_rr(3):.4f} {uniform_rr(5):.4f} {uniform_rr(10):.4f}"
    '0.6111 0.4567 0.2929'
    """
    n = k if n is None else n
    if not 1 <= k <= n:
        raise BadParameter(
            f"a cutoff of {k} does not fit {counted(n, 'rank')}", expected="1 ≤ k ≤ n"
        )
    return harmonic(k) / n


def uniform_rr_variance(k: int) -> float:
    """Return Var[RR] of a single answer that is equally likely at each of ranks 1 … k.

    >>> uniform_rr_variance(2) == (1 + 1/4) / 2 - (3/4)**2
    True
    """
    of_squares = math.fsum(1 / i**2 for i in range(1, k + 1)) / k
    return of_squares - uniform_rr(k) ** 2


def uniform_depth(level: float) -> int:
    """Return the largest k at which an answer anywhere in the first k still has E[RR] ≥ level.

    H_k / k falls in k, so the last k that reaches the level is found by halving; about
    −W₋₁(−level · e^−γ) / level, with Lambert's W.  For an observed MRR it is the depth of a system that
    puts its single answer at random among so many ranks.

    >>> [uniform_depth(level) for level in (0.75, 0.5, 0.3, 0.1, 0.01)]
    [2, 4, 9, 43, 715]
    """
    _check_level(level)
    low = 1
    high = 2
    while uniform_rr(high) >= level:
        low = high
        high = 2 * high
        if high > _DEEPEST:
            raise BadValue(
                f"level={level:g} is too small: it is reached at any depth",
                expected="1e-12 or more",
            )
    while high - low > 1:
        middle = (low + high) // 2
        if uniform_rr(middle) >= level:
            low = middle
        else:
            high = middle
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
        When a value is not a reciprocal rank.

    Examples
    --------
    >>> reciprocal_ranks = [1/3, 1/2, 1/1]
    >>> [mrr_depth(reciprocal_ranks, level) for level in (0.5, 0.6, 0.7)]
    [2, 3, None]
    """
    _check_level(level)
    counts = Counter(float(value) for value in reciprocal_ranks)
    queries = sum(counts.values())
    reached = Fraction(0)
    for value in sorted(counts, reverse=True):
        if not 0 <= value <= 1 or (value and 1 / round(1 / value) != value):
            raise BadValue(
                f"{value!r} is not a reciprocal rank",
                expected="0, or 1 / a whole number",
            )
        # exact: the same bits as the mean of RR@k
        reached += Fraction(value) * counts[value]
        if value and float(reached) / queries >= level:
            return round(1 / value)
    return None


def skill(value: float, chance: float, best: float = 1.0) -> float:
    """Return (value − chance) / (best − chance), the share of the possible gain over chance.

    0 is what chance reaches, 1 the best; below 0 is worse than chance.

    >>> skill(0.75, chance=0.5)
    0.5
    """
    if best == chance:
        raise BadValue(
            f"chance and the best value are both {best:g}, so skill is not defined"
        )
    return (value - chance) / (best - chance)


def _check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise BadValue(f"level={level!r} is not an MRR", expected="above 0, up to 1")


#: below this, the depth of a uniform answer says nothing
_LEAST_LEVEL: Final = 1e-9
#: means carry rounding errors
_ROUNDING: Final = 1e-9


def equivalent(measure: Measure, value: float) -> float | None:
    """Return a mean as a number of ranks; ``None`` for measures without such a reading.

    AP: the distance between evenly spaced relevant documents that have this AP, 1 / AP.  RR: the depth k of a
    single relevant document that is equally likely at each of the first k ranks, H_k / k ≥ RR.

    >>> equivalent(parse_measure("AP"), 0.4), equivalent(parse_measure("RR"), 0.5)
    (2.5, 4.0)
    """
    if (
        measure.agg != "mean"
        or getattr(measure, "rel", ANY_GAIN) != ANY_GAIN
        or not 0 < value <= 1
    ):
        return None
    if measure.name == "AP":
        return 1 / value
    return (
        float(uniform_depth(value))
        if measure.name == "RR" and value >= _LEAST_LEVEL
        else None
    )


@dataclass(frozen=True, slots=True)
class Gain:
    """A gain from one mean to another, on several scales.

    Attributes
    ----------
    measure
        The measure's text.
    before, after
        The means.
    difference
        ``after − before``.
    relative
        The difference over ``before``; ``None`` from 0.
    error_reduction
        (after − before) / (highest − before), the share of the possible gain; where lower is better, of the
        possible reduction.  ``None`` where the scale has no such end, or ``before`` is at this end.
    ranks_before, ranks_after
        :func:`equivalent` of both.
    scale
        Notes on the measure's scale.
    """

    measure: str
    before: float
    after: float
    difference: float
    relative: float | None
    error_reduction: float | None
    ranks_before: float | None
    ranks_after: float | None
    scale: str

    def words(self) -> str:
        """Return all readings in a line.

        >>> print(gain("AP", 0.2, 0.4).words())
        AP 0.2 → 0.4: +0.2, ×2; relevant documents 5 → 2.5 ranks apart; 25.0% of the possible gain
        """
        parts = [f"{self.difference:+.4g}"]
        if self.relative is not None:
            parts[0] += f", ×{1 + self.relative:.3g}"
        if self.ranks_before is not None and self.ranks_after is not None:
            ranks = f"{self.ranks_before:.3g} → {self.ranks_after:.3g} ranks"
            spaced = self.measure.startswith("AP")
            parts.append(
                f"relevant documents {ranks} apart"
                if spaced
                else f"one relevant document in the first {ranks}"
            )
        if self.error_reduction is not None:
            share = f"{abs(self.error_reduction):.1%}"
            gained = self.error_reduction >= 0
            parts.append(
                f"{share} of the possible gain"
                if gained
                else f"distance to the best value up {share}"
            )
        return (
            f"{self.measure} {self.before:.4g} → {self.after:.4g}: {'; '.join(parts)}"
        )


def gain(measure: str | Measure, before: float, after: float) -> Gain:
    """Return the gain from one mean to another on several scales.

    Parameters
    ----------
    measure
        The measure or its text.
    before, after
        The two means.

    Raises
    ------
    BadParameter
        When it is not a measure of a ranking against judgments, or a mean is outside its range.

    Examples
    --------
    From 0.2 to 0.4 is a quarter of the possible gain, from 0.7 to 0.9 two thirds:

    >>> [round(gain("AP", *step).error_reduction, 4) for step in ((0.2, 0.4), (0.7, 0.9))]
    [0.25, 0.6667]
    """
    kind = parse_measure(measure)
    if not isinstance(kind, Measure):
        raise BadParameter(f"{kind} is not a measure of a ranking against judgments")
    low, high = (None, None) if kind.agg == "sum" else kind.span
    for value in (before, after):
        inside = (low is None or low - _ROUNDING <= value) and (
            high is None or value <= high + _ROUNDING
        )
        if not (inside and math.isfinite(value)):
            raise BadParameter(
                f"{value!r} is not a value of {kind}", expected=_between(low, high)
            )
    best = {"higher": high, "lower": low}.get(kind.card.direction)
    left = (
        None if best is None or best == before else (after - before) / (best - before)
    )
    return Gain(
        measure=str(kind),
        before=before,
        after=after,
        difference=after - before,
        relative=None if before == 0 else (after - before) / before,
        error_reduction=left,
        ranks_before=equivalent(kind, before),
        ranks_after=equivalent(kind, after),
        scale=kind.card.scale,
    )


def _between(low: float | None, high: float | None) -> str:
    ends = [
        f"{word} {end:g}"
        for word, end in (("from", low), ("up to", high))
        if end is not None
    ]
    return " ".join(ends) or "a number"


class Gains(Result, Record):
    """Gains from one mean to another.

    Attributes
    ----------
    steps
        The gains, in the order given.
    """

    steps: tuple[Gain, ...]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each gain, with the fields of :class:`Gain`."""
        return pl.DataFrame([asdict(step) for step in self.steps])

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return given(gains=self.to_frame())

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the gains as a table, and a sentence for each."""
        words = tuple(step.words() for step in self.steps)
        notes = dict.fromkeys(
            f"{step.measure}, scale: {step.scale}" for step in self.steps
        )
        shown = self.to_frame().drop("scale")
        numbers = Table.of(shown, digits=digits)
        return Sheet("", parts=(numbers, ("", words)), notes=tuple(notes))
