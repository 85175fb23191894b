"""Lists cut by budgets: for each budget the hits within it, and the best list within it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.budgets import Budget
from rankstone.hits.extras.extra_values import Arrays
from rankstone.hits.extras.row_costs import (
    FinalRows,
    ReadsCosts,
    exact_sums,
    final_rows,
    sums_down,
)
from rankstone.hits.hits import Hits
from rankstone.hits.judged_pool import MAKING
from rankstone.hits.judgments import Judgments
from rankstone.hits.list_arrays import Ideal, counts_within, list_numbers, offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Bools, Floats, Ints, NamedValues
    from rankstone.hits.extras.extra import Request
    from rankstone.hits.matched_batch import MatchedBatch
    from rankstone.hits.pair_index import PairIndex

#: sums of costs that exceed a budget by less than this share still fit: ten times 0.1 fits into 1
_ROUNDING: Final = 1e-12


class Kept(Arrays):
    """The hits within a budget.

    Attributes
    ----------
    rank
        int64 ``[hits]``: the rank of each hit among the documents that are kept, 0 for hits that are not.
    share
        float64 ``[hits]``: by which share a hit counts.
    n, codes
        int64 ``[queries]``: documents kept; the index of each query among the judged ones.
    best
        The grades of the best lists within the budget of all judged queries; ``None`` where these are not made,
        or the costs of documents are not known.
    """

    rank: Ints
    share: Floats
    n: Ints
    codes: Ints
    best: Ideal | None

    def per_query(self, column: str) -> bool:
        """Return True for documents kept and indexes of queries."""
        return column in ("n", "codes")


class BudgetCut(ReadsCosts[Kept]):
    """Finds where a budget ends the lists.

    Parameters
    ----------
    budget
        The budget, which is the key of what it adds.
    has_best
        True if the best possible lists within it are made.
    """

    orders_all_rows = True

    def __init__(self, budget: Budget, *, has_best: bool) -> None:
        self._budget = budget
        self.names = (budget.column,)
        self._has_best = has_best

    @classmethod
    def of(cls, request: Request) -> Iterator[Self]:
        """Yield the budgets of measures."""
        best = dict[Budget, bool]()
        for measure in request.measures:
            for budget in measure.budgets:
                best[budget] = best.get(budget, False) or measure.ideal_has_costs
        for budget, has_best in best.items():
            yield cls(budget, has_best=has_best)

    @property
    def key(self) -> Budget:
        """The budget."""
        return self._budget

    def attach(self, work: MatchedBatch) -> Kept:
        """Find the hits within the budget."""
        best = None
        if self._has_best and isinstance(work.judgments, Judgments):
            best = best_lists(work.judgments, self.key)
        rank, n, share = _within(work, self.key)
        return Kept(rank=rank, share=share, n=n, codes=work.batch.codes, best=best)


@dataclass(frozen=True, eq=False)
class HitsWithin(Hits):
    """Hits within a budget, whose best possible list may not hold all judged documents.

    Attributes
    ----------
    best
        The grades of the best list within the budget, ``None`` where costs are not known.
    """

    best: Ideal | None = None

    @property
    def best_list(self) -> Ideal:
        """The grades of the best possible list."""
        return self.ideal if self.best is None else self.best


def within(hits: Hits, budget: Budget) -> tuple[Hits, Floats]:
    """Return the hits within a budget, whose lists end there, and by which share each counts."""
    if budget not in hits.extras:
        raise BadParameter(
            f"a budget of {budget} needs the costs of documents; these lists have none"
        )
    return hits.remember(budget, lambda: _cut(hits, hits.extras[budget]))


def _cut(hits: Hits, kept: Kept) -> tuple[Hits, Floats]:
    inside = np.flatnonzero(kept.rank)
    rank = kept.rank[inside]
    hits_inside = hits.chosen(inside)
    ranks: NamedValues = {"rank": rank, "first": rank, "last": rank}
    hits_inside = replace(hits_inside, **ranks, n=kept.n, length=kept.n)
    best = None if kept.best is None else kept.best.take(kept.codes)
    return HitsWithin(**vars(hits_inside), best=best), kept.share[inside]


def best_lists(judgments: Judgments, budget: Budget) -> Ideal | None:
    """Return the grades of the best lists within a budget, ``None`` if a cost is not known."""
    costs = judgments.columns.get(budget.column)
    if costs is None:
        return None
    ideal = judgments.ideal
    with MAKING:  # other batches wait for it
        if ideal.remember(budget.column, lambda: bool(np.isnan(costs).any())):
            return None
        return ideal.remember(
            budget, lambda: attainable(judgments.pairs, judgments.grade, costs, budget)
        )


def _within(work: MatchedBatch, budget: Budget) -> tuple[Ints, Ints, Floats]:
    """Return the ranks of hits within a budget, documents kept, and the shares of hits."""
    batch = work.batch
    rows = work.remember(FinalRows, lambda: final_rows(batch, work.ranks))
    column = batch.costs[budget.column]
    if budget.adds and budget.crossing == "drop" and rows.counted.all():
        whole = work.remember(
            ("exact", budget.column), lambda: exact_sums(column[rows.order])
        )
        if whole is not None:
            n = _first_that_fit(whole, batch.starts, batch.lengths, budget.limit)
            return _down_to(work, n)
    if budget.cost == "score":
        # a list ends at the first document that is not above the threshold
        below = rows.spent((column <= budget.limit).astype(np.float64))
        return _kept(work, Budget("documents", 0.5), rows, below)
    if budget.counts_steps:
        return _kept(work, budget, rows, column[rows.order])
    spent = work.remember(("spent", budget.column), lambda: rows.spent(column))
    return _kept(work, budget, rows, spent)


def _down_to(work: MatchedBatch, n: Ints) -> tuple[Ints, Ints, Floats]:
    """Return the first documents of each list, which count whole."""
    rank = work.ranks.rank
    rank = np.where(rank <= n[work.hit_lists], rank, 0)
    return rank, n, np.ones(len(rank))


def _first_that_fit(whole: Floats, starts: Ints, lengths: Ints, limit: float) -> Ints:
    """Return how many documents of each list fit, which is looked up where sums over all lists are exact."""
    before = np.concatenate(([0.0], whole))[starts]
    most = before + math.floor(limit * (1 + _ROUNDING))
    end = np.searchsorted(whole, most, side="right")
    fitting: Ints = np.minimum(end - starts, lengths)
    return fitting


def _kept(
    work: MatchedBatch, budget: Budget, rows: FinalRows, spent: Floats
) -> tuple[Ints, Ints, Floats]:
    fits = spent <= budget.limit * (1 + _ROUNDING)
    offsets = offsets_of(rows.lengths)
    starts = work.batch.starts
    place = work.hit_rows
    if work.ranks.place is not None:
        place = work.ranks.place[place]
    lists = work.hit_lists
    if budget.crossing == "skip":
        taken = _fitting(spent, rows.lengths, budget.limit) & rows.counted
        number = np.cumsum(taken)
        before = np.concatenate(([0], number))[starts]
        rank = np.where(taken[place], number[place] - before[lists], 0)
        return rank, counts_within(taken, offsets), np.ones(len(rank))
    if budget.crossing == "include":
        fits |= _before(spent, starts, rows.lengths) < budget.limit * (1 - _ROUNDING)
    n = counts_within(fits & rows.counted, offsets)
    kept, n, share = _down_to(work, n)
    if budget.crossing != "fraction":
        return kept, n, share
    rank = work.ranks.rank
    crossing = rank == n[lists] + 1
    before = _before(spent, starts, rows.lengths)[place]
    cost = np.where(crossing, spent[place] - before, 1.0)
    share = np.where(crossing, (budget.limit - before) / cost, 1.0)
    return np.where(crossing & (share > 0), rank, kept), n, share


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
