"""Bounds of the difference of two runs, in which a shared document has one grade."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.diagnostics.bound_questions import (
    Question,
    all_grades_matter,
    numbered,
    rule_of,
)
from rankstone.diagnostics.bound_rules import (
    BINARY,
    EXCHANGE,
    additive,
    extremes,
    two_kinds,
)
from rankstone.diagnostics.bound_search import Search, stepped
from rankstone.diagnostics.filled_lists import scored, value_with_holes_graded
from rankstone.hits.list_arrays import list_numbers, ragged_range

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.diagnostics.lists_with_holes import ListsWithHoles
    from rankstone.measures.core.measure import Measure


def together(
    lists: tuple[ListsWithHoles, ListsWithHoles], docs: tuple[pl.Series, pl.Series]
) -> Question:
    """Return the problem of the difference of two runs.

    Parameters
    ----------
    lists
        The lists of the same queries in each run.
    docs
        The ids of each side's holes, query by query in rank order.

    Returns
    -------
    Question
        The problem; its holes are the unjudged documents of either list.
    """
    first, second = map(_holes, lists, docs)
    holes = first.join(
        second, on=["query", "doc"], how="full", coalesce=True, suffix="_there"
    ).sort("query", "place", "place_there", nulls_last=True)
    query = holes["query"].to_numpy().astype(np.int64)
    counts = np.bincount(query, minlength=lists[0].queries)
    sides = []
    places = []
    for side, name in zip(lists, ("place", "place_there"), strict=True):
        sides.append(replace(side, holes=counts))
        places.append(_places(holes[name], query, side.listed))
    return Question(tuple(sides), tuple(places))


def _holes(lists: ListsWithHoles, docs: pl.Series) -> pl.DataFrame:
    """Return a row for each hole: number of the query, id, and place among the holes of its list."""
    listed = lists.listed
    places = ragged_range(np.zeros_like(listed), listed)
    columns = {"query": list_numbers(listed), "doc": docs, "place": places}
    return pl.DataFrame(columns)


def _places(place: pl.Series, query: Ints, listed: Ints) -> Ints:
    """Return where each hole of both runs is among those of one run; those that it lacks follow."""
    places = place.fill_null(0).to_numpy().astype(np.int64)
    is_absent = place.is_null().to_numpy()
    return numbered(places, is_absent, query, listed)


def difference(
    question: Question, measure: Measure, scale: Floats, most: int
) -> Search:
    """Return the lowest and highest difference of two runs over the grades of the holes.

    Parameters are those of :func:`~rankstone.diagnostics.bound_rules.extremes`.
    """
    if not all_grades_matter(measure):
        question = question.cut_for_measure(measure)
    search = Search(question, measure, scale, most)
    rule = rule_of(measure)
    left = np.flatnonzero(~question.has_equal_sides(measure))
    if rule == "additive":
        left = np.intersect1d(left, additive(search))
    elif rule == "first":
        left = np.intersect1d(left, _first(search))
    kinds = scale
    if rule in BINARY:
        kinds = two_kinds(measure, scale)
    left = search.enumerate(left, kinds)
    if rule in EXCHANGE and all_grades_matter(measure):
        few = 4 * (question.holes[left] + 1) <= most
        ends = float(kinds[0]), float(kinds[-1])
        _settle_by_count(search, left[few], ends)
        left = left[~few]
    if len(left):
        sides = [side.take(left) for side in question.sides]
        first, second = (extremes(side, measure, scale, most) for side in sides)
        low = first.low - second.high
        high = first.high - second.low
        search.settle(left, low, high)
    return search


def _settle_by_count(search: Search, query: Ints, ends: tuple[float, float]) -> None:
    """Take the widest difference over all numbers of relevant holes, the same number in both runs."""
    sides = search.question.sides
    measure = search.measure
    low = np.full(len(search.every), np.inf)
    high = np.full(len(search.every), -np.inf)
    for copy, top, bottom in stepped(search.question.holes, query, ends):
        best = [scored(side, measure, copy, top).value for side in sides]
        worst = [scored(side, measure, copy, bottom).value for side in sides]
        lowest = worst[0] - best[1]
        highest = best[0] - worst[1]
        np.minimum.at(low, copy, lowest)
        np.maximum.at(high, copy, highest)
    search.settle(query, low[query], high[query])


def _first(search: Search) -> Ints:
    """Make one hole relevant, or none; return the queries with tied ranks.

    One relevant document raises a run most; any other can only help the other run.
    """
    question = search.question
    kinds = two_kinds(search.measure, search.scale)
    if len(kinds) == 1:
        return np.empty(0, np.int64)
    relevant = float(kinds[1])
    values = [_alone(side, search.measure, relevant) for side in question.sides]
    change = question.by_hole(values)
    for signed in (change, -change):
        best = _best(signed, question)
        grade = np.full(len(change), kinds[0])
        grade[best] = kinds[1]
        search.consider(search.every, grade)
    first, second = question.sides
    return np.flatnonzero(first.tied | second.tied)


def _alone(side: ListsWithHoles, measure: Measure, grade: float) -> Floats:
    """Return the value with only this hole relevant, float64 ``[holes]``."""
    used = side.for_measure(measure)
    every = np.arange(used.queries)
    none = np.zeros(used.queries, np.int64)
    without = value_with_holes_graded(side, measure, every, none, none, grade)
    values = np.repeat(without, side.holes)

    entries = np.flatnonzero(used.hole >= 0)
    query = used.query[entries]
    hole = used.hole[entries]
    single = np.ones_like(hole)
    alone = value_with_holes_graded(side, measure, query, hole, single, grade)
    values[side.starts[query] + hole] = alone
    return values


def _best(value: Floats, question: Question) -> Ints:
    """Return the first hole of each query at which a value is highest."""
    most = np.full(len(question.holes), -np.inf)
    # NaN: no value when this hole alone is relevant
    np.fmax.at(most, question.query, value)
    reached = np.flatnonzero(value == most[question.query])
    _, first = np.unique(question.query[reached], return_index=True)
    return reached[first]
