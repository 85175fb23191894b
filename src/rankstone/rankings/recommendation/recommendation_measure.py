"""Base classes of measures of whole lists, which read lists and tables of items, users and interactions.

:class:`PerListMeasure` has a value for each list, the sum of the contributions of its items over a norm.
:class:`WholeRunMeasure` has a value for the run; most are sums over the items of the catalogue, and others (a
ratio of two groups, a spread) define their own ``ratio``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from rankstone._basics import Record
from rankstone.hits.list_arrays import divided
from rankstone.measures.core.definition import (
    ANY_GAIN,
    Named,
    PerQuery,
    Threshold,
    parameter,
)
from rankstone.measures.core.gains_and_discounts import check_persistence, divisors
from rankstone.measures.core.measure import Contributions, Scored, Status

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.rankings.recommendation.items import Sets
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables

#: how attention may fall with the rank
DISCOUNTS = ("log2", "reciprocal", "geometric", "none")
#: the default threshold: relevant means a grade above zero
ANY: Threshold = ANY_GAIN


def falling(default: str) -> Any:  # noqa: ANN401 - a parameter
    """Declare ``discount``: how attention falls with the rank."""
    return parameter(default, "how attention falls with the rank", *DISCOUNTS)


#: the parameter ``p`` of discount=geometric
PERSISTENCE: Any = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)
#: the parameter ``rel``
RELEVANT_FROM: Any = parameter(
    ANY, 'relevant means grade ≥ rel; ">2" for strictly greater'
)


class Needs:
    """The tables that a measure needs in addition to the run; checked before any work."""

    #: tables that it needs: ``items``, ``history``, ``qrels``, ``catalogue``, ``popularity``
    needs: ClassVar[tuple[str, ...]] = ()
    #: the parameter that names a column of the table of items, and its default
    item_column: ClassVar[str | None] = None

    def needed(self) -> tuple[str, ...]:
        """Return the tables needed under these parameters."""
        return self.needs

    def history_columns(self) -> tuple[str, ...]:
        """Return the number columns of the history that it reads."""
        return ()

    def check(self, tables: Tables) -> None:
        """Refuse to be computed without a table or column; the message names the option for it."""
        for table in self.needed():
            tables.require(table, self)
        if self.item_column is not None and "items" in self.needed():
            self.columns(tables)

    def columns(self, tables: Tables) -> tuple[str, ...]:
        """Return the columns of the table of items that the parameter names."""
        name = str(self.item_column)
        return tables.item_table.chosen(getattr(self, name), name, str(self))

    def sets(self, tables: Tables) -> Sets:
        """Return the categories or groups of each item; an item of several counts for each in equal parts."""
        return tables.item_table.sets(self.columns(tables)[0])

    def group_sums(self, tables: Tables, values: Floats) -> Floats:
        """Sum the values of items by category or group, float64 ``[known]`` → ``[groups]``."""
        return self.sets(tables).split_sum(values[tables.item_table.code])


class Attention:
    """How much attention a rank receives; a mixin for measures with ``discount`` and ``p``."""

    discount: str
    p: float | None

    def __post_init__(self) -> None:
        """Refuse discount=geometric without its p, and p without it."""
        super().__post_init__()  # type: ignore[misc]  # the measure after it in the list of bases
        check_persistence(cast("Named", self), "discount", self.p)

    def attention(self, rank: Ints) -> Floats:
        """Return 1 over the discount of each rank."""
        return 1.0 / divisors(self.discount, rank, p=self.p)


class PerListMeasure(Needs, PerQuery):
    """A measure with a value for each list.

    Parameters
    ----------
    k
        Lists are cut to their first ``k`` items; ``None`` for whole lists.
    agg
        How lists become one number.
    """

    computed_by = "rankstone beyond RUN"
    #: True if items of the list are summed; other measures record their tables themselves
    of_items: ClassVar[bool] = True
    #: the status of a norm of zero
    zero_norm: ClassVar[Status] = Status.undefined

    def relevance(self) -> Threshold | None:
        """Return when a judged item counts as relevant, ``None`` without judgments."""
        return None

    def contributions(self, lists: ListFrame, tables: Tables) -> Contributions:
        """Return the contribution of each row, float64 ``[rows]``, and the norm, float64 ``[lists]``."""
        raise NotImplementedError

    def link(self, ratio: Floats) -> Floats:
        """Return the values for ratios of sums; for nearly all measures the ratio itself."""
        return ratio

    def score(self, lists: ListFrame, tables: Tables) -> Scored:
        """Sum the contributions of each list and divide by its norm."""
        shown = lists.down_to(self.k)
        parts = self.contributions(shown, tables)
        numerator = shown.total(parts.hits)
        if self.of_items:
            recorded: dict[str, Any] = (
                {} if shown.trace is None else shown.trace.columns
            )
            columns = {
                "rank": lambda: shown.rank,
                **recorded,
                "contribution": parts.hits,
            }
            shown.record("item", shown.item, total=numerator, **columns)
        for added in (parts.missed, parts.unjudged):
            if added is not None:
                numerator = numerator + added
                if self.of_items:
                    shown.record_steps(added=added)
        norm = parts.norm
        shown.record_result(numerator, norm)
        ratio = divided(numerator, norm, np.nan)
        status = np.where(norm > 0, Status.ok, self.zero_norm).astype(np.int8)
        rel = self.relevance()
        if rel is not None:
            none = tables.relevant_count(shown, rel) == 0
            status[none & (status == Status.ok)] = Status.no_relevant
        value = np.where(status == Status.undefined, np.nan, self.link(ratio))
        return Scored(numerator, norm, value, status)


class Parts(Record):
    """The contributions of items (or pairs) to the value of a run, and the norm."""

    values: Floats
    norm: float


def summed(values: Floats) -> float:
    """Return the exact sum, which does not depend on the order of items."""
    return math.fsum(values.tolist())


class WholeRunMeasure(Needs, Named):
    """A measure with one value for the run.

    Parameters
    ----------
    k
        Lists are cut to their first ``k`` items; ``None`` for whole lists.
    """

    computed_by = "rankstone beyond RUN"

    def parts(self, lists: ListFrame, tables: Tables) -> Parts:
        """Return the contributions and their norm."""
        raise NotImplementedError

    def link(self, ratio: float) -> float:
        """Return the value for a ratio of sums; for nearly all measures the ratio itself."""
        return ratio

    def ratio(self, lists: ListFrame, tables: Tables) -> tuple[float, float]:
        """Return numerator and norm; there is no value where the norm is 0."""
        parts = self.parts(lists, tables)
        total = summed(parts.values)
        if lists.trace_is_empty:
            lists.record(
                "part", np.arange(1, len(parts.values) + 1), contribution=parts.values
            )
        lists.record_total(total)
        return total, parts.norm

    def value(self, lists: ListFrame, tables: Tables) -> float:
        """Sum the contributions and divide by the norm; NaN where the norm is zero."""
        shown = lists.down_to(self.k)
        numerator, norm = self.ratio(shown, tables)
        shown.record_result(numerator, norm)
        if norm > 0:
            return self.link(numerator / norm)
        return math.nan
