"""The ROC curve: the true positive rate over the false positive rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.measures.auc import AUC
from rankstone.measures.core.curve import MOST_LEVELS, BinaryCurve, Points
from rankstone.measures.core.definition import Card, parameter

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.hits import Hits


_REQUIRED: Final = (
    "choose one: ROC(negatives=judged), negatives=candidates or negatives=catalogue"
)


@dataclass(frozen=True, kw_only=True)
class ROC(BinaryCurve, family="curves"):
    """True positive rate over false positive rate.

    >>> print(ROC(negatives="candidates"))
    ROC(negatives=candidates)
    """

    takes_cutoff = False
    examples = ("ROC(negatives=judged)", "ROC(negatives=candidates)")
    axes = ("false positive rate", "true positive rate")
    card = Card(
        sentence="Going down the list, what share of the relevant documents for what share of the negatives?",
        formula="x = FP_i / N, y = TP_i / R for every rank i; a tie block is one straight piece",
        symbols="TP_i, FP_i: relevant documents and negatives among the first i; R, N: all of them",
        example="relevant, not, relevant, not: (0, 0) (0, ½) (½, ½) (½, 1) (1, 1); area 3/4",
        needs="judgments; negatives=catalogue: how many documents there are (candidates)",
        undefined="no relevant document, or no negative: no curve; such queries are left out and counted",
        peers={
            "scikit-learn roc_curve": "the same line for one labelled list; for all users' rows at once: "
            "one_group=True",
            "mean over queries": "vertical: of y at each x, its upper end where the curve rises (Fawcett)",
            "trapezoid area": "AUC with the same parameters, exactly",
        },
        sensitive="which documents are negatives (choose one); relevant documents that were not returned",
        use="whole rankings; in search, where negatives abound, PR shows more",
        citation="Fawcett, Pattern Recognition Letters 2006",
    )

    levels: int | tuple[float, ...] = parameter(
        101, "number of levels, or {x, x, …}", low=0, high=MOST_LEVELS
    )
    negatives: str = parameter(
        None,
        "what counts as a negative, as for AUC: judged and not relevant; in the list and not relevant "
        "(candidates); or that and everything else there is",
        *("judged", "candidates", "catalogue"),
        needed=_REQUIRED,
    )
    unreturned: str = parameter(
        "bottom_tied",
        "as for AUC: documents not returned are tied below the list; negatives come first there; or left out",
        *("bottom_tied", "bottom", "exclude"),
    )
    tied: str = parameter(
        "half",
        "as for AUC: a tie block is one straight piece, or steps as its order says",
        "half",
        "order",
    )

    def summary(self) -> AUC:
        """Return AUC: the area under the curve."""
        return AUC(
            rel=self.rel,
            negatives=self.negatives,
            unreturned=self.unreturned,
            tied=self.tied,
        )

    def defined(self, hits: Hits) -> Bools:
        """Return which queries have documents of both classes, as AUC counts them."""
        area = self.summary()
        return np.asarray(area.norm(hits, *area.compared(hits)) > 0, np.bool_)

    def _classes(self, hits: Hits) -> tuple[Ints, Ints]:
        """Count relevant documents and negatives; without a list there is one of each, in the worst order."""
        positives, negatives = self.summary().compared(hits)
        return np.where(hits.found, positives, 1), np.where(hits.found, negatives, 1)

    def heights(self, hits: Hits) -> Floats:
        """Return the true positive rate at each false positive rate, its upper end where it rises."""
        query, negative, relevant = self._corners(hits)
        positives, negatives = self._classes(hits)
        table = np.zeros((hits.queries, len(self.grid())))
        queries = np.flatnonzero(self.defined(hits))
        count = negatives[queries]
        # every count of every query in a row
        begin = np.cumsum(negatives + 1) - (negatives + 1)
        key = begin[query] + negative
        for column, level in enumerate(self.grid().tolist()):
            share = level * count
            whole = np.floor(share).astype(np.int64)
            whole += (whole + 1) / count <= level
            share = np.where(whole / count == level, whole, share)

            last = np.searchsorted(key, begin[queries] + whole, side="right") - 1
            onward = np.minimum(last + 1, len(key) - 1)
            onward = np.where(query[onward] == queries, onward, last)

            run = negative[onward] - negative[last]
            rise = relevant[onward] - relevant[last]
            part_of_run = (share - negative[last]) * rise / np.maximum(run, 1)
            climbed = np.where(run > 0, part_of_run, 0.0)
            table[queries, column] = (relevant[last] + climbed) / positives[queries]
        return table

    def points(self, hits: Hits) -> Points:
        """Return the corners of each query's curve."""
        query, negative, relevant = self._corners(hits)
        positives, negatives = self._classes(hits)
        return Points.of(
            query,
            negative / negatives[query],
            relevant / positives[query],
            hits.queries,
        )

    def _corners(self, hits: Hits) -> tuple[Ints, Ints, Ints]:
        """Return query, negatives and relevant documents at every corner, of queries that have a curve."""
        area = self.summary()
        positives, negatives = self._classes(hits)
        hits = area.with_half_ties(hits)
        relevant = hits.relevant(self.rel)
        above, tied = area.negatives_above(hits)
        before = hits.earlier(relevant)
        inside = hits.inside(relevant)
        step = np.flatnonzero(inside)
        each = np.arange(hits.queries)
        of_step = hits.query[hits.blocks.head[step]]
        retrieved = hits.count(relevant)
        shown = area.retrieved_negatives(hits)
        bottom = (
            ~hits.found if self.unreturned != "bottom" else np.ones(hits.queries, bool)
        )
        last = np.where(bottom, negatives, shown)
        # from the origin; both ends of every block with relevant documents; the end of the list;
        # what was not returned, negatives first where they come first
        corners = (
            (each, np.zeros_like(retrieved), np.zeros_like(retrieved)),
            (of_step, above[step], before[step]),
            (of_step, (above + tied)[step], (before + inside)[step]),
            (each, shown, retrieved),
            (each, last, retrieved),
            (each, negatives, positives),
        )
        query, x, y = (np.concatenate(parts) for parts in zip(*corners, strict=True))
        order = np.lexsort((y, x, query))
        query = query[order]
        x = x[order]
        y = y[order]
        fresh = np.zeros(len(query), bool)
        fresh[:1] = True
        for column in (query, x, y):
            fresh[1:] |= column[1:] != column[:-1]
        kept = fresh & self.defined(hits)[query]
        return query[kept], x[kept], y[kept]
