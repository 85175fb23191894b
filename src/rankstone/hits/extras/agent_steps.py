"""Steps of agents: lists are made of turns or calls, one after another, which columns of the run number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.hits.budgets import STEPS
from rankstone.hits.extras.row_costs import ReadsCosts, sums_down

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.batches import Batch
    from rankstone.hits.matched_batch import MatchedBatch


class AgentSteps(ReadsCosts[None]):
    """Orders lists by the steps in which their documents were retrieved."""

    turn = 3

    names = STEPS

    def before_sort(self, work: MatchedBatch) -> None:
        """Order each list by its steps."""
        work.batch = by_steps(work.batch)

    def forgives_copies(self, work: MatchedBatch) -> bool:
        """Return True unless a step returns a document twice: a later step may return it again."""
        return not repeats_in_step(work.batch, work.copies)


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
