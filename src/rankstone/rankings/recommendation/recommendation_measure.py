"""What a measure of whole lists is: a frozen value over lists and the tables beside them.

The one rule holds here too.  :class:`OfLists` has a value a list, the sum of what each item in it
contributes over a norm.  :class:`OfRun` has a value a run; most are sums over the items of the
catalogue, and what honestly is none (a ratio of two groups, a spread) says so by its own ``value``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone.errors import BadParameter
from rankstone.measures.core.definition import ANY_GAIN, Named, PerQuery, Threshold
from rankstone.measures.core.gains_and_discounts import divisors
from rankstone.measures.core.measure import Contributions, Scored, Status

if TYPE_CHECKING:
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables


__all__ = ["DISCOUNTS", "Attention", "Contributions", "Needs", "OfLists", "OfRun", "Parts", "summed"]

#: how attention may fall with the rank
DISCOUNTS = ("log2", "reciprocal", "geometric", "none")


class Needs:
    """What a measure needs beside the run; asked before any work is done."""

    #: tables it cannot do without: ``items``, ``history``, ``qrels``, ``catalogue``, ``popularity``
    needs: ClassVar[tuple[str, ...]] = ()

    def needed(self) -> tuple[str, ...]:
        """Return the tables needed under these parameters."""
        return self.needs

    def history_columns(self) -> tuple[str, ...]:
        """Return the number columns of the past that it reads."""
        return ()

    def check(self, tables: Tables) -> None:
        """Refuse to be computed without a table or column, naming the option that brings it."""
        for table in self.needed():
            tables.require(table, self)


class Attention:
    """How much attention a rank receives; a mixin for measures with ``discount`` and ``p``."""

    discount: str
    p: float | None

    def __post_init__(self) -> None:
        """Refuse discount=geometric without its p, and a p that nothing reads."""
        super().__post_init__()  # type: ignore[misc]  # the measure beside it in the list of bases
        if (self.discount == "geometric") != (self.p is not None):
            raise BadParameter(
                f"{type(self).__name__}: discount={self.discount} with{'out' if self.p is None else ''} p",
                expected="discount=geometric, p=0.85 or another discount without p",
            )

    def attention(self, rank: Ints) -> Floats:
        """Return 1 over the discount of each rank."""
        return 1.0 / divisors(self.discount, rank, p=self.p)


@dataclass(frozen=True, kw_only=True)
class OfLists(Needs, PerQuery):
    """A measure with a value a list.

    Parameters
    ----------
    k
        Lists are cut to their first ``k`` items; ``None`` for whole lists.
    agg
        How lists become one number.
    """

    computed_by: ClassVar[str] = "rankstone beyond RUN"
    #: whether items of the list are what is added up; a measure of something else records what it is
    of_items: ClassVar[bool] = True
    #: what a norm of zero means
    zero_norm: ClassVar[Status] = Status.undefined

    def relevance(self) -> Threshold | None:
        """Return when a judged item counts as relevant, ``None`` where judgments play no part."""
        return None

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Return what each row contributes, float64 ``[rows]``, and the norm, float64 ``[lists]``."""
        raise NotImplementedError

    def link(self, ratio: Floats) -> Floats:
        """Return the values whose ratio of sums is given; nearly always that ratio itself."""
        return ratio

    def score(self, lists: ListFrame, tables: Tables) -> Scored:
        """Sum the contributions of each list and divide by its norm."""
        shown = lists.down_to(self.k)
        parts = self.contributions(shown, tables)
        numerator = shown.total(parts.hits)
        if self.of_items:
            beside: dict[str, Any] = {} if shown.trace is None else shown.trace.columns
            columns = {"rank": lambda: shown.rank, **beside, "contribution": parts.hits}
            shown.record("item", shown.item, total=numerator, **columns)
        for pseudo_row in (parts.missed, parts.unjudged):
            if pseudo_row is not None:
                numerator = numerator + pseudo_row
                if self.of_items:
                    shown.record_steps(added=pseudo_row)
        norm = parts.norm
        shown.record_result(numerator, norm)
        ratio = np.divide(numerator, norm, out=np.full(len(shown), np.nan), where=norm > 0)
        status = np.where(norm > 0, Status.ok, self.zero_norm).astype(np.int8)
        rel = self.relevance()
        if rel is not None:
            none = tables.relevant_count(shown, rel) == 0
            status[none & (status == Status.ok)] = Status.no_relevant
        value = np.where(status == Status.undefined, np.nan, self.link(ratio))
        return Scored(numerator, norm, value, status)


@dataclass(frozen=True, eq=False)
class Parts:
    """The table that a run's value is the sum of: one contribution an item (or pair), and the norm."""

    values: Floats
    norm: float


def summed(values: Floats) -> float:
    """Sum exactly, so that neither the order of items nor their numbering plays a part."""
    return math.fsum(values.tolist())


@dataclass(frozen=True, kw_only=True)
class OfRun(Needs, Named):
    """A measure with a value a run.

    Parameters
    ----------
    k
        Lists are cut to their first ``k`` items; ``None`` for whole lists.
    """

    computed_by: ClassVar[str] = "rankstone beyond RUN"

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Return the contributions and their norm."""
        raise NotImplementedError

    def link(self, ratio: float) -> float:
        """Return the value whose ratio of sums is given; nearly always that ratio itself."""
        return ratio

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Return what is divided and by what; a norm of 0 means no value."""
        parts = self.parts(lists, tables)
        total = summed(parts.values)
        if lists.trace_is_empty:
            lists.record("part", np.arange(1, len(parts.values) + 1), contribution=parts.values)
        lists.record_total(total)
        return total, parts.norm

    def value(self, lists: ListFrame, tables: Tables) -> float:
        """Sum the contributions and divide by the norm; NaN where the norm is zero."""
        shown = lists.down_to(self.k)
        numerator, norm = self.ratio(shown, tables)
        shown.record_result(numerator, norm)
        return self.link(numerator / norm) if norm > 0 else math.nan


#: relevant means a grade above zero, unless said otherwise
ANY: Threshold = ANY_GAIN
