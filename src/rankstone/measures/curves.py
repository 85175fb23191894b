"""What a curve is: honestly no sum over a norm, and its type says so.

A curve turns the same hits that measures see into heights over a grid: recall levels, false positive
rates, cutoffs.  Means, bands and comparisons over queries are made of these elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankstone.errors import BadOption
from rankstone.hits.pairs import ragged_range
from rankstone.measures.aggregation import aggregated
from rankstone.measures.base import ANY_GAIN, Status, Threshold
from rankstone.measures.interpolation import MOST_LEVELS
from rankstone.measures.named import Named, parameter
from rankstone.words import queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.arrays import Bools, Codes, Floats, Ints
    from rankstone.hits.ragged import Hits
    from rankstone.measures.base import Measure

__all__ = ["BinaryCurve", "Curve", "Micro", "Points", "Traced"]


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
        """Whether one height is made of the heights of queries by averaging."""
        return True

    @property
    def grows_with_k(self) -> bool:
        """Whether x is a cutoff and the heights of a query never fall."""
        return False

    def mean(self, value: Floats) -> float:
        """Make one height of the heights of queries; NaN where there is none."""
        return aggregated("mean", value) if len(value) else float("nan")


@dataclass(frozen=True, kw_only=True)
class BinaryCurve(Curve):
    """A curve that asks whether a document is relevant; without a relevant one there is none."""

    rel: Threshold = parameter(ANY_GAIN, 'relevant means grade ≥ rel; ">2" for strictly greater')
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
