"""Budgets: cutoffs by cost instead of rank, such as 2,000 tokens, 0.01 dollars or three calls.

The cost of a document is a column of the run.  Costs are added down the list; what fits into the budget is
all that a measure sees.  A threshold of scores is such a cutoff, too: the list ends at the first score that
is not above it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Self, get_args

import numpy as np
import polars as pl

from rankstone._basics import Record, exact
from rankstone.errors import BadParameter, BadValue, one_of, printable
from rankstone.hits.list_arrays import (
    Ideal,
    counts_within,
    list_numbers,
    offsets_of,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints, Locate
    from rankstone.hits.batches import Batch
    from rankstone.hits.pair_index import PairIndex
    from rankstone.hits.ranks_and_ties import Ranks


Crossing = Literal["drop", "include", "skip", "fraction"]

#: columns of agents' runs, whose values are steps one after another; their budgets are counts
STEPS: Final = ("turn", "call")
#: before the name of a column whose values are repeated in the rows of a call or query, and never added
REPEATED: Final = "="
#: columns of any run
_NO_COSTS: Final = ("query_id", "doc_id", "relevance", "rank")
#: sums of costs that exceed a budget by less than this share still fit: ten times 0.1 fits into 1
_ROUNDING: Final = 1e-12
#: the largest cost, and the largest number
_LARGEST: Final = 1e100
_FINITE: Final = float(np.finfo(np.float64).max)
#: whole numbers up to here are added without rounding
_EXACT: Final = 2.0**53
#: values that are compared at a time, in the processor's cache
_SLICE: Final = 1 << 16
_TEXT: Final = r"(?P<cost>[^\W\d]\w*)\(\s*(?P<limit>[^\s,()]+)\s*(?:,\s*crossing\s*=\s*(?P<crossing>\w+)\s*)?\)"


@dataclass(frozen=True)
class Budget:
    """A cutoff by cost: a list ends where the costs of its documents exceed a limit.

    Parameters
    ----------
    cost
        The column of the run to add up: ``tokens``, ``characters``, ``cost`` in dollars, ``ms``, …; or
        ``calls`` and ``turns``, the steps of an agent, by the columns ``call`` and ``turn``; or ``score``.
    limit
        The largest sum, above 0, in the unit of the column; for steps their number; for scores the threshold,
        which they have to exceed.
    crossing
        What happens to the document that crosses the limit: the list ends before it (``drop``) or behind it
        (``include``), it is left out and the list goes on (``skip``), or it counts by the ``fraction`` of its
        cost that fits.

    Examples
    --------
    >>> from rankstone import R
    >>> print(R @ Budget("tokens", 2000), R @ "cost(0.01, crossing=include)")
    R@tokens(2000) R@cost(0.01, crossing=include)
    """

    cost: str
    limit: float
    crossing: Crossing = "drop"

    def __post_init__(self) -> None:
        """Refuse a limit that is not a positive number, and an unknown rule."""
        one_of("crossing", self.crossing, get_args(Crossing))
        if self.cost in _NO_COSTS:
            raise BadParameter(
                f"{self.cost} is no cost",
                expected="a column such as tokens, cost or ms",
            )
        limit = self.limit
        lowest = -math.inf if self.cost == "score" else 0
        if (
            isinstance(limit, bool)
            or not isinstance(limit, (int, float))
            or not lowest < limit < math.inf
        ):
            raise BadParameter(
                f"a budget of {printable(repr(limit), 40)} {printable(self.cost)}",
                expected="a number above 0",
                fix="write nDCG@tokens(2000)",
            )
        object.__setattr__(self, "limit", float(limit))
        if self.cost == "score" and self.crossing != "drop":
            raise BadParameter(
                f"{self}: scores are not added, so none crosses",
                fix=f"write score({limit:g})",
            )
        if self.counts_steps and (limit % 1 or self.crossing != "drop"):
            raise BadParameter(
                f"{self} is not a number of {self.cost}",
                fix=f"write {self.cost}({max(1, int(limit))})",
            )

    @classmethod
    def of(cls, cutoff: Self | str) -> Self:
        """Return a budget, or the one that a text means."""
        budget = cls.parse(cutoff) if isinstance(cutoff, str) else cutoff
        if budget is None:
            raise BadParameter(
                f"{printable(repr(cutoff), 60)} is no budget",
                expected='a text such as "tokens(2000)"',
            )
        return budget

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the budget that a text means, ``None`` if it is none.

        >>> Budget.parse("tokens(2000, crossing=skip)")
        Budget(cost='tokens', limit=2000.0, crossing='skip')
        """
        shape = re.fullmatch(_TEXT, text.strip()) if "(" in text else None
        if shape is None:
            return None
        try:
            limit = float(shape["limit"])
        except ValueError:
            raise BadParameter(
                f"the budget {printable(text)} is not a number",
                expected="tokens(2000), cost(0.01), calls(3)",
            ) from None
        return cls(shape["cost"], limit, shape["crossing"] or "drop")  # type: ignore[arg-type] # checked

    def __str__(self) -> str:
        crossing = "" if self.crossing == "drop" else f", crossing={self.crossing}"
        return f"{self.cost}({exact(self.limit)}{crossing})"

    @property
    def counts_steps(self) -> bool:
        """True if steps of an agent are counted, instead of costs added."""
        return self.cost in ("calls", "turns")

    @property
    def adds(self) -> bool:
        """True if costs are added, instead of steps counted or scores compared."""
        return not self.counts_steps and self.cost != "score"

    @property
    def column(self) -> str:
        """The column of the run that it reads."""
        return self.cost[:-1] if self.counts_steps else self.cost


class Kept(Record):
    """The hits within a budget.

    Attributes
    ----------
    rank
        int64 ``[hits]``: the rank of each hit among the documents that are kept, 0 for hits that are not.
    n
        int64 ``[queries]``: documents kept.
    share
        float64 ``[hits]``: by which share a hit counts, or ``None`` where all count whole.
    """

    rank: Ints
    n: Ints
    share: Floats | None = None

    @classmethod
    def none(cls, queries: int) -> Kept:
        """Return the hits of empty lists."""
        return cls(np.empty(0, np.int64), np.zeros(queries, np.int64))

    def of(self, hits: Ints, queries: Ints | slice) -> Kept:
        """Return the same for some hits, of some queries."""
        share = None if self.share is None else self.share[hits]
        return Kept(self.rank[hits], self.n[queries], share)

    @classmethod
    def joined(cls, parts: Sequence[Kept]) -> Kept:
        """Join those of several parts."""
        share = [
            np.ones(len(part.rank)) if part.share is None else part.share
            for part in parts
        ]
        rank, n = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("rank", "n")
        )
        return cls(
            rank,
            n,
            None
            if all(part.share is None for part in parts)
            else np.concatenate(share),
        )


class _Rows(Record):
    """The rows of a batch in their final order.

    ``counted`` tells which are left in the lists; others cost nothing.
    """

    order: Ints | slice
    counted: Bools
    lengths: Ints

    def spent(self, values: Floats) -> Floats:
        """Add costs from the top of each list down to each row."""
        values = values[self.order]
        return sums_down(
            values if self.counted.all() else np.where(self.counted, values, 0.0),
            self.lengths,
        )


class Paid(Record):
    """What documents cost, in the order of their lists, also of those that are not judged.

    Attributes
    ----------
    offsets
        int64 ``[queries + 1]``.
    values
        Column → float64 ``[documents]``: costs, and the steps of agents.
    """

    offsets: Ints
    values: Mapping[str, Floats]

    @classmethod
    def nothing(cls, queries: int, columns: Sequence[str]) -> Paid:
        """Return what queries without a list pay."""
        return cls(
            np.zeros(queries + 1, np.int64),
            dict.fromkeys((*columns, *STEPS), np.empty(0)),
        )

    @classmethod
    def of(cls, batch: Batch, ranks: Ranks, columns: Sequence[str]) -> Paid:
        """Return what the documents of a batch cost."""
        rows = _final_rows(batch, ranks)
        values = {name: batch.costs[name][rows.order][rows.counted] for name in columns}
        counts = counts_within(rows.counted, offsets_of(rows.lengths))
        return cls(offsets_of(counts), values)


def _final_rows(batch: Batch, ranks: Ranks) -> _Rows:
    order: Ints | slice = slice(None)
    if ranks.place is not None:
        order = np.empty(batch.height, np.int64)
        order[ranks.place] = np.arange(batch.height)
    counted = np.ones(batch.height, bool) if ranks.left is None else ranks.left[order]
    return _Rows(order, counted, batch.lengths)


def sums_down(values: Floats, lengths: Ints) -> Floats:
    """Add values from the first of each list down to each one, strictly in order unless sums are exact."""
    whole = _exact_sums(values)
    if len(values) and whole is not None:
        before = np.concatenate(([0.0], whole))[np.cumsum(lengths) - lengths]
        whole -= np.repeat(before, lengths)
        return whole
    return running(np.add, values, lengths)


def by_steps(batch: Batch) -> Batch:
    """Return the batch with the steps of each list one after another, and documents ordered within each."""
    steps = [batch.costs[name] for name in STEPS if name in batch.costs]
    if not steps:
        return batch
    # without scores the order of the input counts, and nothing ties
    key = -np.arange(batch.height, dtype=np.float64) if batch.key is None else batch.key
    rank = np.lexsort((-key, *reversed(steps), batch.list_of_row))
    apart = np.zeros(len(rank), bool)
    for values in (*steps, key):
        apart[1:] |= np.diff(values[rank]) != 0
    # equal keys of one step remain equal: ties are resolved within steps
    place = np.empty(len(rank))
    place[rank] = -np.cumsum(apart)
    numbers = {
        name: _numbered(batch.costs[name], rank, batch)
        for name in STEPS
        if name in batch.costs
    }
    return replace(batch, key=place, other=None, costs={**batch.costs, **numbers})


def _numbered(step: Floats, rank: Ints, batch: Batch) -> Floats:
    """Return the number of each row's step among those of its list, from 1, float64 ``[rows]``."""
    ordered = step[rank]
    fresh = np.ones(len(ordered), bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    fresh[batch.heads] = True
    number = np.empty(len(ordered))
    number[rank] = sums_down(fresh.astype(np.float64), batch.lengths)
    return number


def repeats_in_step(batch: Batch, copies: Ints) -> bool:
    """Return True if a step returns a document twice, or if there are no steps.

    What a later step returns again is no mistake: it keeps its rank and earns nothing.
    """
    steps = {name: batch.costs[name][copies] for name in STEPS if name in batch.costs}
    rows = pl.DataFrame(
        {"list": batch.list_of_row[copies], "doc": batch.own_ids(copies), **steps}
    )
    return not steps or bool(rows.is_duplicated().any())


def kept_within(
    batch: Batch, ranks: Ranks, hits: Ints, lists: Ints, budgets: Sequence[Budget]
) -> dict[Budget, Kept]:
    """Return the hits within each budget.

    Parameters
    ----------
    batch
        The batch, with the columns of the costs.
    ranks
        Its ranks.
    hits, lists
        int64 ``[hits]``: the row and the list of each hit.
    budgets
        The budgets.
    """
    place = np.arange(batch.height) if ranks.place is None else ranks.place
    rows = _final_rows(batch, ranks)
    order = rows.order
    found = {}
    sums = {}
    exact_sums = {}
    for budget in budgets:
        column = batch.costs[budget.column]
        if budget.adds and budget.crossing == "drop" and rows.counted.all():
            if budget.column not in exact_sums:
                exact_sums[budget.column] = _exact_sums(column[order])
            if (whole := exact_sums[budget.column]) is not None:
                n = _first_that_fit(whole, batch.starts, batch.lengths, budget.limit)
                found[budget] = Kept(np.where(ranks.rank <= n[lists], ranks.rank, 0), n)
                continue
        if (
            budget.cost == "score"
        ):  # a list ends at the first document that is not above the threshold
            below = rows.spent((column <= budget.limit).astype(np.float64))
            none = Budget("documents", 0.5)
            found[budget] = _kept(
                none, rows, below, batch.starts, place[hits], lists, ranks.rank
            )
            continue
        if budget.column not in sums:
            sums[budget.column] = (
                column[order] if budget.counts_steps else rows.spent(column)
            )
        spent = sums[budget.column]
        found[budget] = _kept(
            budget, rows, spent, batch.starts, place[hits], lists, ranks.rank
        )
    return found


def _exact_sums(values: Floats) -> Floats | None:
    """Return sums over all lists; ``None`` unless whole numbers make them exact."""
    whole = np.cumsum(values)
    parts = (values[begin : begin + _SLICE] for begin in range(0, len(values), _SLICE))
    exact = not len(values) or (
        whole[-1] <= _EXACT and all((part == np.floor(part)).all() for part in parts)
    )
    return whole if exact else None


def _first_that_fit(whole: Floats, starts: Ints, lengths: Ints, limit: float) -> Ints:
    """Return how many documents of each list fit, which is looked up where sums over all lists are exact."""
    before = (
        np.where(starts > 0, whole[starts - 1], 0.0)
        if len(whole)
        else np.zeros(len(starts))
    )
    end = np.searchsorted(
        whole, before + math.floor(limit * (1 + _ROUNDING)), side="right"
    )
    fitting: Ints = np.minimum(end - starts, lengths)
    return fitting


def _kept(
    budget: Budget,
    rows: _Rows,
    spent: Floats,
    starts: Ints,
    place: Ints,
    lists: Ints,
    rank: Ints,
) -> Kept:
    fits = spent <= budget.limit * (1 + _ROUNDING)
    offsets = offsets_of(rows.lengths)
    if budget.crossing == "skip":
        taken = _fitting(spent, rows.lengths, budget.limit) & rows.counted
        number = np.cumsum(taken)
        before = np.concatenate(([0], number))[starts]
        return Kept(
            np.where(taken[place], number[place] - before[lists], 0),
            counts_within(taken, offsets),
        )
    if budget.crossing == "include":
        fits |= _before(spent, starts, rows.lengths) < budget.limit * (1 - _ROUNDING)
    n = counts_within(fits & rows.counted, offsets)
    kept = np.where(rank <= n[lists], rank, 0)
    if budget.crossing != "fraction":
        return Kept(kept, n)
    crossing = rank == n[lists] + 1
    before = _before(spent, starts, rows.lengths)[place]
    cost = np.where(crossing, spent[place] - before, 1.0)
    share = np.where(crossing, (budget.limit - before) / cost, 1.0)
    return Kept(np.where(crossing & (share > 0), rank, kept), n, share)


def _before(spent: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Return what was spent above each row."""
    before = np.concatenate(([0.0], spent[:-1])) if len(spent) else spent.copy()
    before[starts[lengths > 0]] = 0.0
    return before


def _fitting(spent: Floats, lengths: Ints, limit: float) -> Bools:
    """Return the rows that are taken if every row that does not fit is passed over."""
    lists = list_numbers(lengths)
    cost = spent - _before(spent, np.cumsum(lengths) - lengths, lengths)
    taken = np.zeros(len(spent), bool)
    left = np.full(len(lengths), limit * (1 + _ROUNDING))
    rows = np.arange(len(spent))
    while len(rows):
        rows = rows[cost[rows] <= left[lists[rows]]]  # what does not fit now never will
        size = np.bincount(lists[rows], minlength=len(lengths))
        together = sums_down(cost[rows], size)
        fits = together <= left[lists[rows]]
        taken[rows[fits]] = True
        left -= np.bincount(lists[rows[fits]], cost[rows[fits]], len(lengths))
        rows = rows[~fits]
    return taken


def attainable(pairs: PairIndex, grade: Floats, costs: Floats, budget: Budget) -> Ideal:
    """Return the grades of the best list within a budget: judged documents by grade, then by cost.

    Documents that do not fit are passed over, unless the rule includes the one that crosses.
    """
    order = np.lexsort((costs, -grade, pairs.query))
    lengths = np.diff(pairs.offsets)
    spent = sums_down(costs[order], lengths)
    if budget.crossing == "include":
        starts = pairs.offsets[:-1]
        taken = spent <= budget.limit * (1 + _ROUNDING)
        taken |= _before(spent, starts, lengths) < budget.limit * (1 - _ROUNDING)
    else:
        taken = _fitting(spent, lengths, budget.limit)
    return Ideal(offsets_of(counts_within(taken, pairs.offsets)), grade[order][taken])


def check_costs(costs: Mapping[str, Floats], where: Locate) -> None:
    """Refuse a missing cost, and one that is negative or so large that sums might be infinite."""
    for name, values in costs.items():
        signed = name in (*STEPS, "score")
        low, high = (-_FINITE, _FINITE) if signed else (0.0, _LARGEST)
        if values.min(initial=0.0) >= low and values.max(initial=0.0) <= high:
            continue
        at = int((~((values >= low) & (values <= high))).argmax())
        raise BadValue(
            f"the column {name} is {'missing' if np.isnan(values[at]) else f'{values[at]:g}'}",
            where=where(at),
            expected=f"a number from {low:g} to {high:g} in every row",
            fix="write one there or in the table of documents, or leave the row out",
        )
