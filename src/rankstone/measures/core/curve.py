"""What a curve is: honestly no sum over a norm, and its type says so.

A curve turns the same hits that measures see into heights over a grid: recall levels, false positive
rates, cutoffs.  Means, bands and comparisons over queries are made of these elsewhere.

Precision at levels of recall: when a level is reached, and by whose precision it is held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from rankstone._text import queries
from rankstone.errors import BadOption, BadParameter
from rankstone.hits.list_arrays import ragged_range, running
from rankstone.measures.core.aggregation import aggregated
from rankstone.measures.core.definition import ANY_GAIN, Named, parameter
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Bools, Codes, Floats, Ints
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.measures.core.measure import Measure


__all__ = [
    "INTERPOLATIONS",
    "MOST_LEVELS",
    "READINGS",
    "BinaryCurve",
    "Curve",
    "Micro",
    "Points",
    "Reached",
    "Traced",
    "interpolated",
    "levels_of",
    "wanted",
]

#: levels of recall that a curve or a mean over them has at most
MOST_LEVELS: Final = 10_001
INTERPOLATIONS: Final = ("exact", "trec9", "trec10", "none")
READINGS: Final = "when a level counts as reached (trec9, trec10 round r·R); none: no later precision counts"


def levels_of(points: int | tuple[float, ...], who: str) -> tuple[float, ...]:
    """Return shares from 0 to 1: as given, or that many of them, evenly spaced.

    Raises
    ------
    BadParameter
        Naming ``who`` asked (a measure and its parameter), when these are no distinct levels.

    >>> levels_of(5, "PR: levels")
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    if isinstance(points, tuple):
        levels = points
    else:
        last = int(points) - 1
        levels = tuple(at / last for at in range(last + 1)) if last > 0 and points == last + 1 else ()
    if not levels or len(set(levels)) < len(levels) or not all(0 <= level <= 1 for level in levels):
        raise BadParameter(
            f"{who}={points!r} are no levels",
            expected="a number of levels from 2 up (11, 101), or levels in 0 … 1: {0.25, 0.5, 0.75}",
        )
    return levels


def wanted(level: float, relevant: Ints, interp: str) -> Ints:
    """Return how many relevant documents make up a level of recall, int64 ``[queries]``.

    ``exact`` and ``none`` the fewest whose share is the level or more; ``trec9`` r·R + 0.9, cut off;
    ``trec10`` r·R, halves rounded up.

    >>> [int(wanted(0.7, np.array([3]), interp)[0]) for interp in ("exact", "trec9", "trec10")]
    [3, 2, 2]
    """
    share = level * relevant
    count = np.floor(share + 0.9 if interp == "trec9" else share)
    if interp == "trec10":
        count += share - count >= 0.5  # noqa: PLR2004 - halves are rounded up
    elif interp != "trec9":
        # a quotient of whole numbers is the nearest float, so decimal levels compare without slips
        count += count / np.maximum(relevant, 1) < level
    needed: Ints = count.astype(np.int64)
    return needed


@dataclass(frozen=True, eq=False)
class Reached:
    """The relevant hits of every query, and whose precision each of them may claim.

    Attributes
    ----------
    hit
        int64 ``[found]``: the relevant hits.
    precision
        float64 ``[found]``: relevant documents down to it, over its rank.
    holder
        int64 ``[found]``: the next relevant hit (or itself) whose precision no later one beats;
        always itself without interpolation.
    starts, lengths
        int64 ``[queries]``: where a query's relevant hits begin, and how many there are.
    rank
        int64 ``[found]``.
    interp
        One of :data:`INTERPOLATIONS`.
    """

    hit: Ints
    precision: Floats
    holder: Ints
    starts: Ints
    lengths: Ints
    rank: Ints
    interp: str

    @classmethod
    def of(cls, hits: Hits, relevant: Bools, interp: str) -> Self:
        """Look at the hits marked as relevant; their ranks must be settled."""
        hit = np.flatnonzero(relevant)
        lengths = np.bincount(hits.query[hit], minlength=hits.queries)
        starts = np.cumsum(lengths) - lengths
        rank = hits.rank[hit]
        precision = (np.arange(len(hit)) - starts[hits.query[hit]] + 1) / rank
        holder = np.arange(len(hit))
        if interp != "none":
            best = running(np.maximum, precision[::-1], lengths[::-1])[::-1]
            unbeaten = np.where(precision < best, len(hit), holder)
            holder = np.minimum.accumulate(unbeaten[::-1])[::-1]
        return cls(hit, precision, holder, starts, lengths, rank, interp)

    def at(self, level: float, relevant: Ints) -> tuple[Ints, Ints]:
        """Return the queries that reach a level of recall, and whose precision each has there.

        The latter are places in :attr:`hit`.  Recall 0 is reached at rank 1, whatever stands there.
        """
        count = wanted(level, relevant, self.interp)
        query = np.flatnonzero(np.maximum(count, 1) <= self.lengths)
        place = self.starts[query] + np.maximum(count[query], 1) - 1
        if self.interp == "none":
            there = (count[query] > 0) | (self.rank[place] == 1)
            query, place = query[there], place[there]
        return query, self.holder[place]


def interpolated(hits: Hits, relevant: Bools, R: Ints, levels: Sequence[float], interp: str) -> Floats:  # noqa: N803 - the field's letter
    """Return precision at levels of recall, float64 ``[queries, levels]``, 0 where one is not reached.

    Parameters
    ----------
    hits
        With settled ranks.
    relevant
        bool ``[hits]``.
    R
        int64 ``[queries]``: relevant documents judged, found or not.
    levels
        Shares of ``R``.
    interp
        One of :data:`INTERPOLATIONS`.
    """
    reached = Reached.of(hits, relevant, interp)
    table = np.zeros((hits.queries, len(levels)))
    for column, level in enumerate(levels):
        query, place = reached.at(level, R)
        table[query, column] = reached.precision[place]
    return table


@dataclass(frozen=True, eq=False)
class Points:
    """Points of many queries' curves, laid end to end.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``: points of query ``q`` are ``offsets[q]:offsets[q + 1]``.
    x, y
        float64 ``[points]``.
    """

    offsets: Ints
    x: Floats
    y: Floats

    @classmethod
    def of(cls, query: Ints, x: Floats, y: Floats, count: int) -> Self:
        """Build from the query of each point; queries ascend."""
        return cls(np.concatenate(([0], np.cumsum(np.bincount(query, minlength=count)))), x, y)

    @classmethod
    def joined(cls, parts: Sequence[Points], order: Ints) -> Self:
        """Put parts one behind the other, then their queries in the order given."""
        x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        starts = np.cumsum(lengths) - lengths
        at = ragged_range(starts[order], lengths[order])
        return cls(np.concatenate(([0], np.cumsum(lengths[order]))), x[at], y[at])


@dataclass(frozen=True, eq=False)
class Micro:
    """Relevant documents of all queries thrown together, for the micro curve.

    Attributes
    ----------
    found
        int64 ``[ranks]``: how many queries have a relevant document at rank 1, 2, ….
    relevant, queries
        Σ R, and how many queries have a curve.
    """

    found: Ints
    relevant: int
    queries: int

    @classmethod
    def joined(cls, parts: Sequence[Micro]) -> Self:
        """Add counts up; they are whole numbers, so the order plays no part."""
        found = np.zeros(max(len(part.found) for part in parts), np.int64)
        for part in parts:
            found[: len(part.found)] += part.found
        return cls(found, sum(part.relevant for part in parts), sum(part.queries for part in parts))

    def curve(self) -> tuple[Ints, Floats, Floats]:
        """Return k, Σ h_k / Σ R and Σ h_k / (k · queries)."""
        found, k = np.cumsum(self.found), np.arange(1, len(self.found) + 1)
        return k, found / max(self.relevant, 1), found / (k * max(self.queries, 1))


@dataclass(frozen=True, eq=False)
class Traced:
    """One curve of some queries.

    Attributes
    ----------
    value
        float64 ``[queries, grid]``: heights; NaN where a query has no value.
    status
        int64 ``[queries]``, as :class:`~rankstone.measures.Status`.
    points
        A query's own points, where these are more than its heights over the grid.
    micro
        For the micro curve, where there is one.
    numerator, denominator
        float64 ``[queries, grid]``, where the mean over queries is a ratio of sums.
    """

    value: Floats
    status: Codes
    points: Points | None = None
    micro: Micro | None = None
    numerator: Floats | None = None
    denominator: Floats | None = None

    @cached_property
    def has_value(self) -> Bools:
        """Which queries have a value anywhere, bool ``[queries]``."""
        return np.asarray(~np.isnan(self.value).all(axis=1), np.bool_)

    def as_ratio(self, numerator: Floats, denominator: Floats) -> Traced:
        """Return the same, its mean over queries a ratio of sums; who has no value adds nothing."""
        counts = ~np.isnan(self.value)
        parts = np.where(counts, numerator, 0.0), np.where(counts, denominator, 0.0)
        return replace(self, numerator=parts[0], denominator=parts[1])

    def weighed(self, weight: Floats) -> Traced:
        """Return the same with queries weighed, float64 ``[queries, grid]`` or ``[queries, 1]``."""
        return self.as_ratio(self.value * weight, np.broadcast_to(weight, self.value.shape))

    @classmethod
    def joined(cls, parts: Sequence[Traced], order: Ints) -> Self:
        """Put parts one behind the other, then their queries in the order given."""
        points = [part.points for part in parts if part.points is not None]
        micros = [part.micro for part in parts if part.micro is not None]
        numerators = [part.numerator for part in parts if part.numerator is not None]
        denominators = [part.denominator for part in parts if part.denominator is not None]
        return cls(
            np.concatenate([part.value for part in parts])[order],
            np.concatenate([part.status for part in parts])[order],
            Points.joined(points, order) if points else None,
            Micro.joined(micros) if micros else None,
            np.concatenate(numerators)[order] if numerators else None,
            np.concatenate(denominators)[order] if denominators else None,
        )


@dataclass(frozen=True, kw_only=True)
class Curve(Named):
    """A curve of a ranking against judgments."""

    computed_by: ClassVar[str] = "rankstone curve QRELS RUN"
    #: what stands on the axes, x first
    axes: ClassVar[tuple[str, str]]

    @property
    def brings(self) -> frozenset[str]:
        """What alignment must bring beside the hits."""
        return frozenset()

    @property
    def judgment_columns(self) -> tuple[str, ...]:
        """Columns of the judgments it reads beside the grade."""
        return ()

    def grid(self) -> Floats:
        """Return the places on the x axis at which queries are averaged, ascending."""
        raise NotImplementedError

    def summary(self) -> Measure:
        """Return the one number a query's curve is summed up by."""
        raise NotImplementedError

    def score(self, hits: Hits, empty: str = "zero") -> Traced:
        """Trace the curve of every query; ``empty`` as in the alignment options."""
        raise NotImplementedError

    def check(self, ties: str, depth: int | None = None, negative: str = "unjudged") -> None:
        """Refuse options of alignment under which this curve is not known."""
        raise NotImplementedError

    @property
    def averages(self) -> bool:
        """True if one height is made of the heights of queries by averaging."""
        return True

    def mean(self, value: Floats) -> float:
        """Make one height of the heights of queries; NaN where there is none."""
        return aggregated("mean", value) if len(value) else float("nan")


@dataclass(frozen=True, kw_only=True)
class BinaryCurve(Curve):
    """A curve that asks whether a document is relevant; without a relevant one there is none."""

    rel: RelevantFrom = parameter(ANY_GAIN, 'relevant means grade ≥ rel; ">2" for strictly greater')
    levels: int | tuple[float, ...] = parameter(
        11, "how many evenly spaced x, or {x, x, …}", low=0, high=MOST_LEVELS
    )

    def defined(self, hits: Hits) -> Bools:
        """Return which queries have a curve, as far as it is not for want of a relevant document."""
        return np.ones(hits.queries, bool)

    def heights(self, hits: Hits) -> Floats:
        """Return the heights over the grid, float64 ``[queries, grid]``."""
        raise NotImplementedError

    def points(self, hits: Hits) -> Points | None:
        """Return the queries' own points, where these are more than the heights."""
        raise NotImplementedError

    def micro(self, hits: Hits, traced: Bools) -> Micro | None:
        """Return what the micro curve over the traced queries is made of."""
        raise NotImplementedError

    def score(self, hits: Hits, empty: str = "zero") -> Traced:
        """Trace the curve of every query that has a relevant document."""
        none = hits.relevant_count(self.rel) == 0
        if empty == "error" and none.any():
            raise BadOption(
                f"{queries(int(none.sum()))} without a relevant document for {self}",
                fix="choose empty=zero (they have no curve, and are counted) or drop (not counted)",
            )
        if self.k is not None:
            hits = hits.down_to(self.k)
        status = np.where(hits.found, Status.ok, Status.missing).astype(np.int8)
        status[~self.defined(hits)] = Status.undefined
        status[none] = Status.dropped if empty == "drop" else Status.no_relevant
        traced = (status == Status.ok) | (status == Status.missing)
        value = self.heights(hits)
        value[~traced] = np.nan
        return Traced(value, status, self.points(hits), self.micro(hits, traced))
