"""What a mean is made of, in parts that can be added up anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.measures import Measure, Status
from rankstone.measures.exact_sum import ExactSum
from rankstone.scores import uncounted, weights

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankstone.hits.arrays import Bools
    from rankstone.measures.base import Scored

__all__ = ["SUMMED", "Sums"]

#: ways to make one number of many that need no more than sums
SUMMED: Final = ("mean", "sum", "weighted", "pooled")


@dataclass(eq=False)
class _Sum:
    """Exact sums over some queries, and how many these are."""

    above: ExactSum = field(default_factory=ExactSum)
    below: ExactSum = field(default_factory=ExactSum)
    n: int = 0

    def merge(self, other: _Sum) -> None:
        self.above.merge(other.above)
        self.below.merge(other.below)
        self.n += other.n


@dataclass(eq=False)
class Sums:
    """Sums over the queries of each status, so that a mean may leave some of them out.

    Attributes
    ----------
    by_status
        Status → sums; only those that some query has.
    """

    by_status: dict[Status, _Sum] = field(default_factory=dict)

    @classmethod
    def of(cls, measure: Measure, scored: Scored) -> Sums:
        """Sum up one measure's scores."""
        counts = np.bincount(scored.status, minlength=len(Status))
        return cls({s: _summed(measure, scored, scored.status == s) for s in Status if counts[s]})

    def count(self, status: Status) -> int:
        """Return how many queries have a status."""
        return self.by_status[status].n if status in self.by_status else 0

    def merge(self, other: Sums) -> None:
        """Take in the sums of other queries."""
        for status, one in other.by_status.items():
            self.by_status.setdefault(status, _Sum()).merge(one)

    def mean(self, measure: Measure, without: Collection[Status] = ()) -> tuple[float | None, int]:
        """Return the mean over queries of other statuses, ``None`` where there is none, and their number."""
        out = {*uncounted(spoils=measure.spoils), *without}
        whole = _Sum()
        for status, one in self.by_status.items():
            if status not in out:
                whole.merge(one)
        spoilt = Status.undefined not in out and self.count(Status.undefined) > 0
        return (None if spoilt or not whole.n else _ratio(measure, whole)), whole.n

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {s.name: [one.above.told(), one.below.told(), one.n] for s, one in self.by_status.items()}

    @classmethod
    def read(cls, told: dict[str, Any]) -> Sums:
        """Return what :meth:`told` told."""
        return cls(
            {
                Status[name]: _Sum(ExactSum.read(above), ExactSum.read(below), n)
                for name, (above, below, n) in told.items()
            }
        )


def _summed(measure: Measure, scored: Scored, some: Bools) -> _Sum:
    found, value = _Sum(n=int(some.sum())), scored.value[some]
    if np.isnan(value).any():  # these have no value: counted, never summed
        return found
    if measure.agg in ("mean", "sum"):
        found.above.add(value)
    elif measure.agg == "pooled":
        found.above.add(scored.numerator[some])
        found.below.add(scored.denominator[some])
    elif measure.agg == "weighted":
        weight = weights(scored)[some]
        found.above.add(value * weight)
        found.below.add(weight)
    return found


def _ratio(measure: Measure, whole: _Sum) -> float | None:
    above = whole.above.value()
    if measure.agg == "mean":
        return above / whole.n
    if measure.agg == "sum":
        return above
    below = whole.below.value()
    return above / below if below else None
