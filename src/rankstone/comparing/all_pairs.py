"""All pairs of systems at once: p-values and intervals that hold for every pair together.

Every procedure says what it assumes; docs/compare.md has how often each was wrong on scores of real systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption
from rankstone.stats import (
    MaxT,
    flipped_max_t,
    hsd_reach,
    nemenyi,
    nemenyi_reach,
    randomised_tukeys,
    resampled_max_t,
    tukey_hsd,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankstone.comparing.answer import Question
    from rankstone.comparing.how import How
    from rankstone.comparing.matrix import Matrix
    from rankstone.stats import RandomisedTukey

    Floats = NDArray[np.float64]
    Progress = Callable[[int], None]

__all__ = ["ALL_PAIRS", "DRAWN", "AllPairs", "all_pairs"]

#: procedure → who; what each assumes is said in ``words``
ALL_PAIRS: Final = {
    "robust_tukey": "randomised Tukey HSD (Carterette 2012) and max-|t| by sign flips (Westfall and Young "
    "1993), where both claim",
    "tukey": "randomised Tukey HSD (Carterette 2012)",
    "max_t": "max-|t| by the bootstrap (Romano and Wolf 2005)",
    "hsd": "Tukey's HSD blocked on queries",
    "nemenyi": "Nemenyi's test of mean ranks (1963)",
}
#: those that draw, and so look at all primary measures together
DRAWN: Final = ("robust_tukey", "tukey", "max_t")


@dataclass(frozen=True, eq=False)
class AllPairs:
    """What looking at all pairs at once says of a family.

    Attributes
    ----------
    p
        float64 ``[questions]``, corrected.
    ends
        Of simultaneous intervals, a question each: 0 is outside exactly where p is at most alpha.
    draws
        How many shuffles, flips or resamples were drawn.
    """

    p: Floats
    ends: list[tuple[float, float]]
    draws: int = 0


def all_pairs(
    families: Sequence[Sequence[Question]], how: How, correction: str, progress: Progress | None
) -> list[AllPairs]:
    """Look at all pairs of each family."""
    matrices = [list({id(q.matrix): q.matrix for q in questions}.values()) for questions in families]
    if correction not in DRAWN:
        return [_alone(*one, how, correction) for one in zip(families, matrices, strict=True)]
    tables = [_stacked(some) for some in matrices]
    if correction == "max_t":
        found = [_resampled(table, how, progress) for table in tables]
    else:
        found = _shuffled(tables, how, progress)
    if correction == "robust_tukey":
        found = [_both(one, _flipped(table, how, progress)) for one, table in zip(found, tables, strict=True)]
    return [_of_questions(*one) for one in zip(families, matrices, found, strict=True)]


@dataclass(frozen=True, eq=False)
class _Cube:
    """What a procedure found, ``[systems, systems, measures]``: p, and the ends of intervals."""

    p: Floats
    low: Floats
    high: Floats
    draws: int


def _both(one: _Cube, other: _Cube) -> _Cube:
    """Return what both procedures claim: the larger p, and intervals that hold both."""
    p, low = np.maximum(one.p, other.p), np.minimum(one.low, other.low)
    return _Cube(p, low, np.maximum(one.high, other.high), max(one.draws, other.draws))


def _of_questions(questions: Sequence[Question], matrices: Sequence[Matrix], found: _Cube) -> AllPairs:
    column = {id(matrix): number for number, matrix in enumerate(matrices)}
    places = [(q.one, q.other, column[id(q.matrix)]) for q in questions]
    ends = [(float(found.low[place]), float(found.high[place])) for place in places]
    return AllPairs(np.array([found.p[place] for place in places]), ends, found.draws)


def _stacked(matrices: Sequence[Matrix]) -> tuple[Floats, Floats]:
    units = [matrix.units for matrix in matrices]
    return np.stack([one.total for one in units], axis=2), np.stack([one.size for one in units], axis=1)


def _shuffled(tables: Sequence[tuple[Floats, Floats]], how: How, progress: Progress | None) -> list[_Cube]:
    """Shuffle systems within units; families of as many units share their shuffles."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    for at, (totals, _) in enumerate(tables):
        shapes.setdefault(totals.shape[:2], []).append(at)
    found: dict[int, _Cube] = {}
    for (units, systems), places in shapes.items():
        some, count = [tables[at] for at in places], how.shuffles(units * systems)
        shuffled = randomised_tukeys(some, shuffles=count, seed=how.seed, progress=progress)
        found |= {at: _of_tukey(one, how.alpha, count) for at, one in zip(places, shuffled, strict=True)}
    return [found[at] for at in range(len(tables))]


def _of_tukey(found: RandomisedTukey, alpha: float, shuffles: int) -> _Cube:
    reach = found.critical(alpha)
    return _Cube(found.p, found.gap - reach, found.gap + reach, shuffles)


def _of_max_t(found: MaxT) -> _Cube:
    return _Cube(found.p, found.low, found.high, len(found.largest))


def _flipped(table: tuple[Floats, Floats], how: How, progress: Progress | None) -> _Cube:
    flips = how.shuffles(table[0].shape[0] * table[0].shape[1])
    return _of_max_t(flipped_max_t(*table, alpha=how.alpha, flips=flips, seed=how.seed, progress=progress))


def _resampled(table: tuple[Floats, Floats], how: How, progress: Progress | None) -> _Cube:
    draws = how.draws(len(table[0]))
    found = resampled_max_t(*table, alpha=how.alpha, resamples=draws, seed=how.seed, progress=progress)
    return _of_max_t(found)


def _alone(questions: Sequence[Question], matrices: Sequence[Matrix], how: How, correction: str) -> AllPairs:
    """Look at the pairs of one measure by a procedure that draws nothing."""
    [matrix, *others] = matrices
    if others or matrix.cluster is not None or np.ptp(matrix.weight) > 0:
        raise BadOption(
            f"correction={correction!r} is for one primary measure of queries that stand alone and weigh the "
            "same",
            fix="correction='robust_tukey' takes several measures, clusters and weights",
        )
    if len(matrix) < 2:  # noqa: PLR2004 - one query
        raise BadOption("one query leaves no error to compare with", fix="compare over more queries")
    if correction == "nemenyi" and how.margin is not None:
        raise BadOption(
            "a margin is a difference of scores, and correction='nemenyi' compares mean ranks",
            fix="leave margin out, or use correction='robust_tukey'",
        )
    tested, reached = (tukey_hsd, hsd_reach) if correction == "hsd" else (nemenyi, nemenyi_reach)
    p, reach = tested(matrix.values), reached(matrix.values, how.alpha)
    mean = matrix.units.mean
    gaps = [float(mean[q.one] - mean[q.other]) for q in questions]
    return AllPairs(np.array([p[q.one, q.other] for q in questions]), [(g - reach, g + reach) for g in gaps])
