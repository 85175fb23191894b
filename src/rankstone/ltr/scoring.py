"""From scores, labels and queries to values per query: lists become hits, and measures do the rest.

Tied documents stand in any order with equal chance (``ties="expected"``): no order of rows can be exploited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadParameter
from rankstone.hits.arrays import descending_within, offsets_of
from rankstone.hits.ideal import Ideal
from rankstone.hits.ragged import Hits
from rankstone.measures import Measure, parse_measure

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.ltr.inputs import Queries

__all__ = ["Lists", "checked_measure", "mean_of", "order_within", "values_of"]


@dataclass(frozen=True, eq=False)
class Lists:
    """Labels of some lists laid end to end, and their ideal orders, made once for any number of scores.

    Attributes
    ----------
    labels
        float64 ``[documents]``; below 0: not judged, at a rank and worth nothing.
    offsets
        int64 ``[lists + 1]``.
    ideal
        The judged grades of each list, best first.
    lowest
        The bottom of the scale.
    """

    labels: Floats
    offsets: Ints
    ideal: Ideal
    lowest: float

    @classmethod
    def of(cls, labels: Floats, offsets: Ints) -> Lists:
        """Prepare labels."""
        lengths = np.diff(offsets)
        query = np.repeat(np.arange(len(lengths)), lengths)
        judged = labels >= 0
        counts = np.bincount(query[judged], minlength=len(lengths))
        ideal = Ideal(offsets_of(counts), descending_within(query[judged], labels[judged]))
        lowest = float(labels[judged].min()) if judged.any() else 0.0
        return cls(labels, offsets, ideal, lowest)

    def take(self, lists: Ints) -> Lists:
        """Return some of the lists, in the order given and as often."""
        lengths = np.diff(self.offsets)[lists]
        rows = np.arange(int(lengths.sum())) + np.repeat(
            self.offsets[lists] - (np.cumsum(lengths) - lengths), lengths
        )
        return Lists(self.labels[rows], offsets_of(lengths), self.ideal.take(lists), self.lowest)

    def hits(self, scores: Floats) -> Hits:
        """Return the hits of lists ordered by scores, float64 ``[documents]``."""
        lengths = np.diff(self.offsets)
        order = order_within(-scores, self.offsets)
        start = np.repeat(self.offsets[:-1], lengths)
        rank = np.arange(len(scores)) - start + 1
        first, last = _blocks(scores[order], start, rank)
        grade = self.labels[order]
        judged = grade >= 0
        offsets = self.offsets
        if not judged.all():
            offsets = np.concatenate(([0], np.cumsum(judged)))[self.offsets]
            rank, first, last, grade = rank[judged], first[judged], last[judged], grade[judged]
        return Hits(
            offsets=offsets,
            rank=rank,
            grade=grade,
            first=first,
            last=last,
            judged=np.ones(len(rank), bool),
            n=lengths,
            length=lengths,
            ideal=self.ideal,
            found=np.ones(len(lengths), bool),
            expected=True,
            lowest_grade=self.lowest,
        )

    def values(self, scores: Floats, measure: Measure) -> Floats:
        """Return a measure's value of each list, float64 ``[lists]``; NaN where it has none."""
        return measure.score(self.hits(scores)).value


def order_within(values: Floats, offsets: Ints) -> Ints:
    """Return row numbers that order values ascending within each list, int64.

    Lists of about the same length are rows of one table, which is several times quicker than one long sort.

    >>> order_within(np.array([3.0, 1.0, 2.0, 0.0]), np.array([0, 2, 4])).tolist()
    [1, 0, 3, 2]
    """
    lengths = np.diff(offsets)
    result = np.empty(len(values), np.int64)
    size = np.frexp(lengths.astype(np.float64))[1]
    for bucket in np.unique(size[lengths > 0]):
        chosen = np.flatnonzero(size == bucket)
        places = np.arange(int(lengths[chosen].max()))
        inside = places < lengths[chosen][:, None]
        at = offsets[:-1][chosen][:, None] + places
        table = np.where(inside, values[np.where(inside, at, 0)], np.inf)
        order = table.argsort(axis=1, kind="stable") + offsets[:-1][chosen][:, None]
        result[at[inside]] = order[inside]
    return result


def _blocks(ordered: Floats, start: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last rank of each document's tie block, in an ordered list."""
    if not len(ordered):
        return rank, rank
    fresh = np.ones(len(ordered), bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]) | (start[1:] != start[:-1])
    if fresh.all():
        return rank, rank
    heads = np.flatnonzero(fresh)
    sizes = np.diff(np.append(heads, len(ordered)))
    first = np.repeat(rank[heads], sizes)
    return first, first + np.repeat(sizes, sizes) - 1


def checked_measure(measure: str | Measure, *, climbed: bool = False) -> Measure:
    """Return a measure that scores and labels suffice for.

    Parameters
    ----------
    measure
        A measure or its text.
    climbed
        Whether it must be a mean over queries of which more, or less, is better.
    """
    found = parse_measure(measure)
    if not isinstance(found, Measure) or found.judgment_columns or found.query_columns or found.brings:
        raise BadParameter(f"{found} needs more than scores and labels", expected="a measure such as nDCG@10")
    found.check("expected")
    if climbed and (found.agg != "mean" or found.card.direction not in ("higher", "lower")):
        raise BadParameter(f"{found} has no mean over queries to be made better")
    return found


def values_of(scores: Floats, labels: Floats, queries: Queries, measure: Measure) -> Floats:
    """Return a measure's value of each query, float64 ``[queries]``."""
    lists = Lists.of(queries.arranged(labels), queries.offsets)
    return lists.values(queries.arranged(scores), measure)


def mean_of(scores: Floats, labels: Floats, queries: Queries, measure: str | Measure) -> float:
    """Return a measure's mean over the queries that have a value."""
    values = values_of(scores, labels, queries, checked_measure(measure))
    known: Bools = ~np.isnan(values)
    return float(values[known].mean()) if known.any() else float("nan")
