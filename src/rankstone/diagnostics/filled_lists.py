"""Scores of lists whose unjudged documents have been given grades."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.diagnostics.lists_with_holes import chosen
from rankstone.hits.list_arrays import (
    Ideal,
    descending_within,
    list_numbers,
    offsets_of,
    ragged_range,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.lists_with_holes import ListsWithHoles
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.measure import Measure, Scored


#: entries of filled lists per batch
_SLICE = 1 << 20


def filled(
    lists: ListsWithHoles, query: Ints, grade: Floats, *, ideal: bool = True
) -> Hits:
    """Return the hits of copies of queries in which every hole has a grade.

    Parameters
    ----------
    lists
        The lists.
    query
        int64 ``[copies]``: the query of each copy; a query may have many copies.
    grade
        float64: grades of the holes of each copy, one copy after another.
    ideal
        Whether the grades enter the ideal lists, too.
    """
    lengths = np.diff(lists.offsets)[query]
    holes = lists.holes[query]
    entries = ragged_range(lists.offsets[query], lengths)
    hole = lists.hole[entries]
    grades = lists.grade[entries]
    unjudged = np.flatnonzero(hole >= 0)
    begin = np.repeat(np.cumsum(holes) - holes, lengths)
    grades[unjudged] = grade[begin[unjudged] + hole[unjudged]]

    ideal_lists = lists.hits.ideal.take(query)
    if ideal:
        ideal_lists = _with(ideal_lists, list_numbers(holes), grade)
    return _shown(lists, query, entries, lengths, grades, ideal_lists)


def scored(
    lists: ListsWithHoles, measure: Measure, query: Ints, grade: Floats
) -> Scored:
    """Score copies of queries in which every hole has a grade."""
    used = lists.for_measure(measure)
    listed = np.diff(used.offsets)
    ideal = np.diff(used.hits.ideal.offsets)
    sizes = listed + ideal + used.holes
    ends = offsets_of(used.holes[query])
    parts = []
    for begin, end in slices(sizes[query]):
        grades = grade[ends[begin] : ends[end]]
        hits = filled(used, query[begin:end], grades)
        parts.append(measure.score(hits, used.empty))
    if len(parts) == 1:
        return parts[0]
    return parts[0].joined(parts, np.arange(len(query)))


def value_with_holes_graded(
    lists: ListsWithHoles,
    measure: Measure,
    query: Ints,
    first: Ints,
    count: Ints,
    grade: float,
) -> Floats:
    """Return values if some neighbouring holes (unjudged documents) had one grade, and the others none.

    Parameters
    ----------
    lists
        The lists.
    measure
        A measure that treats unjudged documents like those judged not relevant.
    query, first, count
        int64 ``[copies]``: the query of each copy, and which of its holes are given the grade.
    grade
        The grade.

    Returns
    -------
    numpy.ndarray
        float64 ``[copies]``.
    """
    used = lists.for_measure(measure)
    judged = np.diff(used.hits.offsets)[query]
    values = []
    for begin, end in slices(judged + count):
        copies = slice(begin, end)
        hits = _some_filled(used, query[copies], first[copies], count[copies], grade)
        values.append(measure.score(hits, used.empty).value)
    return np.concatenate(values)


def slices(sizes: Ints, most: int = _SLICE) -> Iterator[tuple[int, int]]:
    """Cut copies into slices of bounded size, of one copy at least; always one slice."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes) or begin == 0:
        before = int(ends[begin - 1]) if begin else 0
        fitting = int(np.searchsorted(ends, before + most, side="right"))
        end = max(fitting, begin + 1)
        yield begin, min(end, len(sizes))
        begin = end


def _some_filled(
    lists: ListsWithHoles, query: Ints, first: Ints, count: Ints, grade: float
) -> Hits:
    """Return the hits of copies of queries: their judged documents, and holes ``first`` to ``first + count``.

    The ideal list has ``count`` further documents of the grade, also where the list has fewer holes.
    """
    judged_entries = np.flatnonzero(lists.hole < 0)
    holes = np.flatnonzero(lists.hole >= 0)
    copies = np.arange(len(query))
    judged = np.diff(lists.hits.offsets)[query]
    begin = np.searchsorted(holes, lists.offsets)
    left = np.diff(begin)[query] - first
    graded = np.clip(left, 0, count)

    of_judged = judged_entries[ragged_range(lists.hits.offsets[query], judged)]
    of_holes = holes[ragged_range(begin[query] + first, graded)]
    entries = np.concatenate((of_judged, of_holes))
    copy_of_judged = np.repeat(copies, judged)
    copy_of_holes = np.repeat(copies, graded)
    copy = np.concatenate((copy_of_judged, copy_of_holes))
    # two sorted runs a copy: a merge
    place = copy * len(lists.rank) + entries
    entries = entries[np.argsort(place, kind="stable")]

    is_judged = lists.hole[entries] < 0
    value = np.where(is_judged, lists.grade[entries], grade)
    added = np.repeat(copies, count)
    further = np.full(len(added), grade)
    ideal = _with(lists.hits.ideal.take(query), added, further)
    return _shown(lists, query, entries, judged + graded, value, ideal)


def _shown(
    lists: ListsWithHoles,
    query: Ints,
    entries: Ints,
    lengths: Ints,
    grade: Floats,
    ideal: Ideal,
) -> Hits:
    """Return the hits of copies of queries with some of their entries, ``lengths`` of each copy."""
    return replace(
        chosen(lists.hits, query, ideal=ideal),
        offsets=offsets_of(lengths),
        rank=lists.rank[entries],
        grade=grade,
        first=lists.first[entries],
        last=lists.last[entries],
        judged=np.ones(len(entries), bool),
    )


def _with(ideal: Ideal, query: Ints, grade: Floats) -> Ideal:
    """Return ideal lists with further grades sorted in; ``query`` ascends."""
    judged = np.diff(ideal.offsets)
    added = np.bincount(query, minlength=len(judged))
    offsets = offsets_of(judged + added)
    starts = offsets[:-1]
    together = np.empty(int(offsets[-1]))
    together[ragged_range(starts, judged)] = ideal.grade
    together[ragged_range(starts + judged, added)] = grade

    # grades may rise from one list to the next
    rises = together[1:] > together[:-1]
    inner = starts[(starts > 0) & (starts < len(together))]
    rises[inner - 1] = False
    if not rises.any():
        return Ideal(offsets, together)
    group = list_numbers(judged + added)
    return Ideal(offsets, descending_within(group, together))
