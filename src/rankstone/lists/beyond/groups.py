"""Groups of items, and what each group receives: shared ground of the fairness measures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone.errors import BadParameter, NotComparable, nearest, printable
from rankstone.lists.beyond.codes import sums_by_item
from rankstone.lists.beyond.measure import ANY, DISCOUNTS, Attention, OfRun
from rankstone.measures.named import parameter

if TYPE_CHECKING:
    from rankstone.hits.arrays import Floats
    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.items import Sets
    from rankstone.lists.beyond.tables import Tables
    from rankstone.measures.base import Threshold

__all__ = ["GROUP", "GroupMeasure", "TwoGroups"]

GROUP = "column of --items; default: `group`, or the only one"


class Groups:
    """A mixin for measures with a parameter ``group``: the column of --items that tells groups."""

    group: str | None

    def sets(self, tables: Tables) -> Sets:
        """Return the groups; an item of several belongs to each in equal parts."""
        return tables.item_table.sets(self.column(tables))

    def column(self, tables: Tables) -> str:
        """Return the column that tells groups."""
        return tables.item_table.chosen(self.group, "group", str(self))[0]


@dataclass(frozen=True, kw_only=True)
class GroupMeasure(Groups, OfRun):
    """A measure of what groups of items receive over all lists of a run."""

    family: ClassVar[str] = "exposure fairness"
    needs: ClassVar[tuple[str, ...]] = ("items",)

    group: str | None = parameter(None, GROUP, word=True)

    def check(self, tables: Tables) -> None:
        """Refuse a column that is not there."""
        super().check(tables)
        self.column(tables)

    def size(self, tables: Tables) -> Floats:
        """Return how many items each group has, float64 ``[groups]``."""
        sets = self.sets(tables)
        return sets.shared_out(np.ones(len(sets.size)))


@dataclass(frozen=True, kw_only=True)
class TwoGroups(Attention, GroupMeasure):
    """A measure that sets one group of items against all others."""

    protected: str | None = parameter(
        None, "the group in the numerator; default: of two groups the smaller", word=True
    )
    scale: str = parameter("ratio", "the ratio, or its natural logarithm", "ratio", "log")
    discount: str = parameter("log2", "how attention falls with the rank", *DISCOUNTS)
    p: float | None = parameter(None, "discount=geometric: p^(i−1)", above=0.0, below=1.0)

    @property
    def span(self) -> tuple[float | None, float | None]:
        """At least 0 as a ratio; the logarithm has no bounds."""
        return (0.0 if self.scale == "ratio" else None, None)

    def check(self, tables: Tables) -> None:
        """Refuse groups that are not there."""
        super().check(tables)
        self.side(tables)

    def received(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the attention each item of the table receives in all lists, float64 ``[table rows]``."""
        key = ("attention", self.discount, self.p, tables.known)
        found = lists.remember(key, lambda: lists.exposure(tables.known, self.attention))
        return found[tables.item_table.code]

    def side(self, tables: Tables) -> int:
        """Return the number of the group in the numerator."""
        sets = self.sets(tables)
        if self.protected is None:
            if len(sets.names) != 2:  # noqa: PLR2004 - one and the other
                raise BadParameter(
                    f"{self} does not say which group it is about",
                    given=f"{len(sets.names)} groups: {', '.join(map(printable, sets.names[:5]))}",
                    fix=f"{self.name}(protected=<group>)",
                )
            return int(np.argmin(self.size(tables)))
        if self.protected not in sets.names:
            close = nearest(self.protected, sets.names, n=1)
            raise NotComparable(
                f"{self}: no item is in group {printable(self.protected)}",
                given=f"groups {', '.join(map(printable, sets.names[:10]))}",
                fix=f"did you mean {printable(close[0])}?" if close else None,
            )
        return sets.names.index(self.protected)

    def compared(
        self, lists: ListFrame, tables: Tables, by_group: Floats, size: Floats | None
    ) -> tuple[float, float]:
        """Return a group's amount a unit of size, and that of all others; 0 where nothing can be said."""
        at = self.side(tables)
        mine, others = by_group[at], np.delete(by_group, at).sum()
        my_size, other_size = (1.0, 1.0) if size is None else (size[at], np.delete(size, at).sum())
        beside: dict[str, Any] = {} if size is None else {"members": size}
        mark = np.arange(len(by_group)) == at
        lists.tell("group", self.sets(tables).names, received=by_group, **beside, protected=mark)
        if not (my_size > 0 and other_size > 0 and others > 0):
            return 0.0, 0.0
        return float(mine / my_size), float(others / other_size)

    def link(self, ratio: float) -> float:
        """Take the logarithm, where that is asked for; there is none of 0."""
        if self.scale == "ratio":
            return ratio
        return math.log(ratio) if ratio > 0 else math.nan


@dataclass(frozen=True, kw_only=True)
class RelevantGroups(TwoGroups):
    """A measure of two groups that knows what users found relevant."""

    needs: ClassVar[tuple[str, ...]] = ("items", "qrels")

    rel: Threshold = parameter(ANY, 'relevant means grade ≥ rel; ">2" for strictly greater')

    def utility(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return how often items of each group were found relevant by the users of the lists."""
        by_item = tables.of_their_users(lists, tables.relevant(self.rel))
        return self.sets(tables).shared_out(by_item[tables.item_table.code])

    def clicks(self, lists: ListFrame, tables: Tables) -> Floats:
        """Return the attention that relevant items of each group receive."""
        found = np.zeros(tables.known)
        for part in lists.chunks():
            values = self.attention(part.rank) * tables.is_relevant(part, self.rel)
            found += sums_by_item(part.item, values, tables.known)
        return self.sets(tables).shared_out(found[tables.item_table.code])
