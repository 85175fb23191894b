"""What documents cost, for measures of costs: also of documents that are not judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rankstone._basics import Record
from rankstone.hits.budgets import STEPS
from rankstone.hits.extras.extra_values import HitValue
from rankstone.hits.extras.row_costs import ReadsCosts, final_rows
from rankstone.hits.list_arrays import counts_within, offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.hits.extras.extra import Request
    from rankstone.hits.matched_batch import MatchedBatch


class Paid(Record, HitValue):
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


class ListCosts(ReadsCosts[Paid]):
    """Reads what the documents of lists cost.

    Parameters
    ----------
    names
        The columns that measures add up.
    """

    counts_unanswerable = True
    reads_run_columns = True
    grades_decide = False
    orders_all_rows = True

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    @classmethod
    def of(cls, request: Request) -> Iterable[Self]:
        """Return the costs that measures add up."""
        names = (name for measure in request.measures for name in measure.costs)
        return (cls(tuple(dict.fromkeys(names))),)

    def attach(self, work: MatchedBatch) -> Paid:
        """Return what is paid for, and the steps of agents."""
        costs = work.batch.costs
        steps = [name for name in STEPS if name in costs]
        rows = final_rows(work.batch, work.ranks)
        values = {
            name: costs[name][rows.order][rows.counted]
            for name in (*self.names, *steps)
        }
        counts = counts_within(rows.counted, offsets_of(rows.lengths))
        return Paid(offsets_of(counts), values)
