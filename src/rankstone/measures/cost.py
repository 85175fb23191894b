"""What a list costs: tokens, money, time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.budgets import REPEATED, STEPS
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.list_arrays import ragged_range, sums
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import ANY_GAIN, Card, parameter
from rankstone.measures.core.measure import Contributions, Measure, Status

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.extras.list_costs import Paid
    from rankstone.hits.hits import Hits


_FIX: Final = "say what it belongs to: Cost(column=tokens), Cost(column=ms, per=call), Cost(column=ms, per=query)"


@dataclass(frozen=True, kw_only=True)
class Cost(Measure, family="cost"):
    """What the first k documents of a list cost, by a column of the run.

    >>> print(Cost(column="tokens", k=5), Cost(column="ms", per="query", agg="p95"))
    Cost(column=tokens)@5 Cost(agg=p95, column=ms, per=query)
    """

    requires = frozenset({ListCosts})
    needs_relevant = False
    zero_norm = Status.undefined
    examples = ("Cost(column=tokens)", "Cost(column=tokens)@3")
    claims = Claims(
        closed_under_ties=False,
        extremal_under_ties=False,
        promotion_helps=False,
        bounds_by="nothing",
        deeper_grades_matter=False,
    )
    card = Card(
        sentence="What does a list cost: tokens, money, milliseconds?",
        formula="Cost@k = Σ_{r ≤ k} c_r, or the cost of the calls, or of the query",
        symbols="c_r: cost of the document at rank r, a column of the run or of the table of documents",
        example="documents of 60, 40 and 90 tokens: Cost(column=tokens)@2 = 100",
        needs="a column of numbers in the run, or in a table of documents (documents=…, --documents FILE)",
        span=(0.0, None),
        direction="lower",
        undefined="the run does not answer the query, or until is not reached: no value, so read it with R",
        sensitive="what the column belongs to: a query's time is repeated in all of its rows (per=query)",
        use="together with measures of quality; agg=p50 and p95 for latencies, which a mean describes badly",
        citation="Jansson et al., Efficiency-effectiveness trade-offs, ACM TOIS, 2013",
    )

    column: str | None = parameter(
        None,
        "the column: tokens, cost, ms, …; call and turn are counted",
        word=True,
        needed=_FIX,
    )
    per: str = parameter(
        "document", "what a value of the column belongs to", "document", "call", "query"
    )
    until: str = parameter(
        "end",
        "where it ends: with the list, the first relevant document, or the last of all of them",
        "end",
        "first",
        "all",
    )

    def __post_init__(self) -> None:
        """Refuse a budget that passes over documents: what is paid for is the beginning of a list."""
        super().__post_init__()
        if self.budget is not None and self.budget.crossing == "skip":
            raise BadParameter(
                f"{self}: costs are those of the first documents",
                expected="crossing=drop, include",
            )

    @property
    def costs(self) -> tuple[str, ...]:
        """The column that it reads, marked where its values are repeated in the rows of a call or query."""
        return (f"{'' if self.per == 'document' else REPEATED}{self.column}",)

    def relevant_count(self, _hits: Hits) -> Ints | None:
        """Return ``None``: relevance plays no part."""
        return None

    def contributions(self, hits: Hits) -> Contributions:
        """Add up what is paid, which belongs to documents that may be unjudged."""
        paid: Paid | None = hits.extras.get(ListCosts)
        if paid is None:  # of arrays; alignment of tables adds them
            raise BadParameter(
                f"{self} needs the costs of documents; these lists have none"
            )
        length = np.diff(paid.offsets)
        depth = np.minimum(length, hits.n)  # which a budget cuts
        depth = depth if self.k is None else np.minimum(depth, self.k)
        known = hits.found
        if self.until != "end":
            needed = self._needed(hits)
            known = known & (needed > 0) & (needed <= depth)
            depth = np.where(known, needed, 0)
        rows = ragged_range(paid.offsets[:-1], depth)
        owner = np.repeat(np.arange(hits.queries), depth)
        value = paid.values[self.costs[0]][rows]
        # numbers of steps, of which the largest is how many there were
        if self.column in STEPS:
            last = np.zeros(hits.queries)
            np.maximum.at(last, owner, value)
            return Contributions(
                np.zeros(len(hits.rank)), known.astype(np.float64), unjudged=last
            )
        if self.per != "document":
            first = self._first_rows(paid, rows, owner, value)
            rows = rows[first]
            owner = owner[first]
            value = value[first]
            known = known & (length > 0)
        spent = sums(owner, value, hits.queries)
        return Contributions(
            np.zeros(len(hits.rank)), known.astype(np.float64), unjudged=spent
        )

    def _needed(self, hits: Hits) -> Ints:
        """Return the rank of the first relevant document, or of the last if all are found; otherwise 0."""
        relevant = hits.relevant(ANY_GAIN)
        rank = np.where(
            relevant,
            hits.rank,
            0 if self.until == "all" else len(hits.rank) + hits.deepest + 1,
        )
        reached = np.full(
            hits.queries, 0 if self.until == "all" else rank.max(initial=1)
        )
        (np.maximum if self.until == "all" else np.minimum).at(
            reached, hits.query, rank
        )
        enough = (
            hits.relevant_count(ANY_GAIN)
            if self.until == "all"
            else np.ones(hits.queries, np.int64)
        )
        return np.where((hits.count(relevant) >= enough) & (enough > 0), reached, 0)

    def _first_rows(self, paid: Paid, rows: Ints, owner: Ints, value: Floats) -> Ints:
        """Return the first row of each call, or of each query; all rows of one must have the same value."""
        part = [owner]
        if self.per == "call":
            steps = [paid.values[name][rows] for name in STEPS if name in paid.values]
            if not steps and len(owner):
                raise BadParameter(f"{self} needs a column call or turn", fix=_FIX)
            part += steps  # type: ignore[arg-type] # numbers of steps
        fresh = np.zeros(len(owner), bool)
        fresh[:1] = True
        for column in part:
            fresh[1:] |= column[1:] != column[:-1]
        same = (value[1:] == value[:-1]) | fresh[1:]
        if not same.all():
            raise BadParameter(
                f"{self}: {self.column} differs within a {self.per}", fix=_FIX
            )
        return np.flatnonzero(fresh)
