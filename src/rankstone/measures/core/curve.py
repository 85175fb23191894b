"""Base classes of curves, which turn hits into heights over a grid: recall levels, cutoffs.

A curve is not a sum over a norm, so it is not a :class:`~rankstone.Measure`.  Means, bands and comparisons
over queries are made elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from rankstone._basics import Record, queries
from rankstone.errors import BadOption, BadParameter
from rankstone.hits.list_arrays import offsets_of, ragged_range, running
from rankstone.measures.core.aggregation import aggregated
from rankstone.measures.core.definition import ANY_GAIN, Named, parameter
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.budgets import Budget
    from rankstone.hits.extras.extra_values import Key
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Codes
    from rankstone.measures.core.definition import RelevantFrom
    from rankstone.measures.core.measure import Measure

#: the largest number of recall levels
MOST_LEVELS: Final = 10_001
INTERPOLATIONS: Final = ("exact", "trec9", "trec10", "none")
INTERPOLATION: Final = "when a level counts as reached (trec9, trec10 round r·R); none: no later precision counts"


def recall_levels(
    points: int | tuple[float, ...], parameter_name: str
) -> tuple[float, ...]:
    """Return levels from 0 to 1: as given, or so many of them, evenly spaced.

    Raises
    ------
    BadParameter
        When these are not distinct levels; the message names the parameter.

    >>> recall_levels(5, "PR: levels")
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    if isinstance(points, tuple):
        levels = points
    else:
        last = int(points) - 1
        levels = (
            tuple(step / last for step in range(last + 1))
            if last > 0 and points == last + 1
            else ()
        )
    if (
        not levels
        or len(set(levels)) < len(levels)
        or not all(0 <= level <= 1 for level in levels)
    ):
        raise BadParameter(
            f"{parameter_name}={points!r} are not recall levels",
            expected="a number of levels from 2 up (11, 101), or levels in 0 … 1: {0.25, 0.5, 0.75}",
        )
    return levels


def relevant_needed(level: float, relevant: Ints, interp: str) -> Ints:
    """Return how many relevant documents reach a level of recall, int64 ``[queries]``.

    ``exact`` and ``none``: the fewest whose share is the level or more; ``trec9``: r·R + 0.9, rounded down;
    ``trec10``: r·R, halves rounded up.

    >>> [int(relevant_needed(0.7, np.array([3]), interp)[0]) for interp in ("exact", "trec9", "trec10")]
    [3, 2, 2]
    """
    share = level * relevant
    count = np.floor(share + 0.9 if interp == "trec9" else share)
    if interp == "trec10":
        count += share - count >= 0.5  # noqa: PLR2004 - halves are rounded up
    elif interp != "trec9":
        # a quotient of whole numbers is the nearest float, so decimal levels compare exactly
        count += count / np.maximum(relevant, 1) < level
    needed: Ints = count.astype(np.int64)
    return needed


class RecallSteps(Record):
    """The relevant hits of every query, and the interpolated precision at each of them.

    Attributes
    ----------
    hit
        int64 ``[found]``: the relevant hits.
    precision
        float64 ``[found]``: relevant documents down to it, over its rank.
    best
        int64 ``[found]``: from here on down the relevant hit of the highest precision; the hit itself without
        interpolation.
    starts, lengths
        int64 ``[queries]``: where a query's relevant hits begin, and how many there are.
    rank
        int64 ``[found]``.
    interp
        One of :data:`INTERPOLATIONS`.
    """

    hit: Ints
    precision: Floats
    best: Ints
    starts: Ints
    lengths: Ints
    rank: Ints
    interp: str

    @classmethod
    def of(cls, hits: Hits, relevant: Bools, interp: str) -> Self:
        """Return the steps of the relevant hits; their ranks must not be tied."""
        hit = np.flatnonzero(relevant)
        lengths = np.bincount(hits.query[hit], minlength=hits.queries)
        starts = np.cumsum(lengths) - lengths
        rank = hits.rank[hit]
        precision = (np.arange(len(hit)) - starts[hits.query[hit]] + 1) / rank
        best = np.arange(len(hit))
        if interp != "none":
            highest = running(np.maximum, precision[::-1], lengths[::-1])[::-1]
            unbeaten = np.where(precision < highest, len(hit), best)
            best = np.minimum.accumulate(unbeaten[::-1])[::-1]
        return cls(hit, precision, best, starts, lengths, rank, interp)

    def at(self, level: float, relevant: Ints) -> tuple[Ints, Ints]:
        """Return the queries that reach a level of recall, and for each the hit that has the precision there.

        Hits are places in :attr:`hit`.  Recall 0 is reached at rank 1, relevant or not.
        """
        count = relevant_needed(level, relevant, self.interp)
        query = np.flatnonzero(np.maximum(count, 1) <= self.lengths)
        place = self.starts[query] + np.maximum(count[query], 1) - 1
        if self.interp == "none":
            there = (count[query] > 0) | (self.rank[place] == 1)
            query = query[there]
            place = place[there]
        return query, self.best[place]


def interpolated(
    hits: Hits,
    relevant: Bools,
    R: Ints,  # noqa: N803 - the symbol of the field
    levels: Sequence[float],
    interp: str,
) -> Floats:
    """Return precision at levels of recall, float64 ``[queries, levels]``, 0 where one is not reached.

    Parameters
    ----------
    hits
        Without tied ranks.
    relevant
        bool ``[hits]``.
    R
        int64 ``[queries]``: relevant documents, retrieved or not.
    levels
        Shares of ``R``.
    interp
        One of :data:`INTERPOLATIONS`.
    """
    steps = RecallSteps.of(hits, relevant, interp)
    table = np.zeros((hits.queries, len(levels)))
    for column, level in enumerate(levels):
        query, place = steps.at(level, R)
        table[query, column] = steps.precision[place]
    return table


class Points(Record):
    """Points of the curves of many queries, one query after another.

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
        return cls(offsets_of(np.bincount(query, minlength=count)), x, y)

    @classmethod
    def joined(cls, parts: Sequence[Points], order: Ints) -> Self:
        """Concatenate parts, and put their queries in the order given."""
        x = np.concatenate([part.x for part in parts])
        y = np.concatenate([part.y for part in parts])
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        starts = np.cumsum(lengths) - lengths
        point = ragged_range(starts[order], lengths[order])
        return cls(offsets_of(lengths[order]), x[point], y[point])


class Micro(Record):
    """Counts of relevant documents over all queries, for the micro curve.

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
        """Add counts; they are whole numbers, so the order does not matter."""
        hits_at_rank = np.zeros(max(len(part.found) for part in parts), np.int64)
        for part in parts:
            hits_at_rank[: len(part.found)] += part.found
        return cls(
            hits_at_rank,
            sum(part.relevant for part in parts),
            sum(part.queries for part in parts),
        )

    def curve(self) -> tuple[Ints, Floats, Floats]:
        """Return k, Σ h_k / Σ R and Σ h_k / (k · queries)."""
        hits_to_rank = np.cumsum(self.found)
        k = np.arange(1, len(self.found) + 1)
        recall = hits_to_rank / max(self.relevant, 1)
        precision = hits_to_rank / (k * max(self.queries, 1))
        return k, recall, precision


class CurveValues(Record):
    """One curve of some queries.

    Attributes
    ----------
    value
        float64 ``[queries, grid]``: heights; NaN where a query has no value.
    status
        int64 ``[queries]``, as :class:`~rankstone.measures.Status`.
    points
        The points of each query, where these are more than its heights over the grid.
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

    def as_ratio(self, numerator: Floats, denominator: Floats) -> CurveValues:
        """Return the same with a mean that is a ratio of sums over the queries with a value."""
        counts = ~np.isnan(self.value)
        parts = np.where(counts, numerator, 0.0), np.where(counts, denominator, 0.0)
        return replace(self, numerator=parts[0], denominator=parts[1])

    def weighted(self, weight: Floats) -> CurveValues:
        """Return the same with weights of queries, float64 ``[queries, grid]`` or ``[queries, 1]``."""
        return self.as_ratio(
            self.value * weight, np.broadcast_to(weight, self.value.shape)
        )

    @classmethod
    def joined(cls, parts: Sequence[CurveValues], order: Ints) -> Self:
        """Concatenate parts, and put their queries in the order given."""

        def column(name: str) -> Any:  # noqa: ANN401 - an array, or None where no part has one
            arrays = [
                getattr(part, name) for part in parts if getattr(part, name) is not None
            ]
            return np.concatenate(arrays)[order] if arrays else None

        points = [part.points for part in parts if part.points is not None]
        micros = [part.micro for part in parts if part.micro is not None]
        return cls(
            column("value"),
            column("status"),
            Points.joined(points, order) if points else None,
            Micro.joined(micros) if micros else None,
            column("numerator"),
            column("denominator"),
        )


class Curve(Named):
    """A curve of a ranking against judgments."""

    computed_by = "rankstone curve QRELS RUN"
    #: the labels of the axes, x first
    axes: ClassVar[tuple[str, str]]
    #: the budgets that lists are cut by
    budgets: ClassVar[tuple[Budget, ...]] = ()
    costs: ClassVar[tuple[str, ...]] = ()
    ideal_has_costs: ClassVar[bool] = False

    @property
    def requires(self) -> frozenset[type[Key[Any]]]:
        """The extras that alignment must add to the hits."""
        return self.summary().requires

    @property
    def judgment_columns(self) -> tuple[str, ...]:
        """Columns of the judgments that it reads in addition to the grade."""
        return self.summary().judgment_columns

    @property
    def deepest(self) -> int | None:
        """The deepest rank that it examines."""
        return self.summary().deepest

    def check(
        self, ties: str, depth: int | None = None, negative: str = "unjudged"
    ) -> None:
        """Refuse options of alignment under which the summary has no known value."""
        self.summary().check(ties, depth, negative)

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse options that lack what the summary needs."""
        self.summary().check_needs(options)

    def grid(self) -> Floats:
        """Return the x values at which queries are averaged, ascending."""
        raise NotImplementedError

    def summary(self) -> Measure:
        """Return the measure that summarises the curve of a query."""
        raise NotImplementedError

    def score(self, hits: Hits, empty: str = "zero") -> CurveValues:
        """Return the curve of every query; ``empty`` as in the alignment options."""
        raise NotImplementedError

    @property
    def averages(self) -> bool:
        """True if heights are aggregated over queries by averaging."""
        return True

    def mean(self, value: Floats) -> float:
        """Return the aggregate of the heights of queries; NaN without queries."""
        return aggregated("mean", value) if len(value) else float("nan")


@dataclass(frozen=True, kw_only=True)
class BinaryCurve(Curve):
    """A curve of binary relevance; a query without a relevant document has none."""

    rel: RelevantFrom = parameter(
        ANY_GAIN, 'relevant means grade ≥ rel; ">2" for strictly greater'
    )
    levels: int | tuple[float, ...] = parameter(
        11, "number of levels, or {x, x, …}", low=0, high=MOST_LEVELS
    )

    def __post_init__(self) -> None:
        """Refuse levels that are not distinct and from 0 to 1."""
        super().__post_init__()
        self.grid()

    def grid(self) -> Floats:
        """Return the levels, ascending."""
        return np.array(sorted(recall_levels(self.levels, f"{self.name}: levels")))

    def defined(self, hits: Hits) -> Bools:
        """Return which queries have a curve if they have a relevant document."""
        return np.ones(hits.queries, bool)

    def heights(self, hits: Hits) -> Floats:
        """Return the heights over the grid, float64 ``[queries, grid]``."""
        raise NotImplementedError

    def points(self, hits: Hits) -> Points | None:
        """Return the points of each query, where these are more than the heights."""
        raise NotImplementedError

    def micro(self, hits: Hits, with_curve: Bools) -> Micro | None:
        """Return the counts of the micro curve over the queries with a curve; ``None`` without one."""

    def score(self, hits: Hits, empty: str = "zero") -> CurveValues:
        """Return the curve of every query that has a relevant document."""
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
        status[none] = (
            Status.dropped if empty in ("drop", "unanswerable") else Status.no_relevant
        )
        for added in hits.extras.values():
            others = added.not_counted(frozenset())
            if others is not None:
                status[others] = Status.dropped
        with_curve = (status == Status.ok) | (status == Status.missing)
        value = self.heights(hits)
        value[~with_curve] = np.nan
        return CurveValues(
            value, status, self.points(hits), self.micro(hits, with_curve)
        )
