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
    one, other = (
        pl.DataFrame(
            {
                "query": list_numbers(side.listed),
                "doc": ids,
                "place": ragged_range(np.zeros_like(side.listed), side.listed),
            }
        )
        for side, ids in zip(lists, docs, strict=True)
    )
    holes = one.join(
        other, on=["query", "doc"], how="full", coalesce=True, suffix="_there"
    ).sort("query", "place", "place_there", nulls_last=True)
    query = holes["query"].to_numpy().astype(np.int64)
    counts = np.bincount(query, minlength=lists[0].queries)
    return Question(
        sides=(replace(lists[0], holes=counts), replace(lists[1], holes=counts)),
        places=(
            _places(holes["place"], query, lists[0].listed),
            _places(holes["place_there"], query, lists[1].listed),
        ),
    )


def _places(place: pl.Series, query: Ints, listed: Ints) -> Ints:
    known = place.fill_null(0).to_numpy().astype(np.int64)
    return numbered(known, place.is_null().to_numpy(), query, listed)


def difference(
    question: Question, measure: Measure, scale: Floats, most: int
) -> Search:
    """Return the lowest and highest difference of two runs over the grades of the holes.

    Parameters are those of :func:`~rankstone.diagnostics.bound_rules.extremes`.
    """
    question = (
        question if all_grades_matter(measure) else question.cut_for_measure(measure)
    )
    search = Search(question, measure, scale, most)
    rule = rule_of(measure)
    left = np.flatnonzero(~question.has_equal_sides(measure))
    if rule == "additive":
        left = np.intersect1d(left, additive(search))
    elif rule == "first":
        left = np.intersect1d(left, _first(search))
    kinds = two_kinds(measure, scale) if rule in BINARY else scale
    left = search.enumerate(left, kinds)
    if rule in EXCHANGE and all_grades_matter(measure):
        few = 4 * (question.holes[left] + 1) <= most
        _settle_by_count(search, left[few], (float(kinds[0]), float(kinds[-1])))
        left = left[~few]
    if len(left):
        one, other = (
            extremes(side.take(left), measure, scale, most) for side in question.sides
        )
        search.settle(left, one.low - other.high, one.high - other.low)
    return search


def _settle_by_count(search: Search, query: Ints, ends: tuple[float, float]) -> None:
    """Take the widest difference over all numbers of relevant holes, the same number in both runs."""
    sides = search.question.sides
    measure = search.measure
    low = np.full(len(search.every), np.inf)
    high = np.full(len(search.every), -np.inf)
    for copy, top, bottom in stepped(search.question.holes, query, ends):
        (best, worst), (best_other, worst_other) = (
            (
                scored(side, measure, copy, top).value,
                scored(side, measure, copy, bottom).value,
            )
            for side in sides
        )
        np.minimum.at(low, copy, worst - best_other)
        np.maximum.at(high, copy, best - worst_other)
    search.settle(query, low[query], high[query])


def _first(search: Search) -> Ints:
    """Make one hole relevant, or none; return the queries with tied ranks.

    One relevant document raises a run most; any other can only help the other run.
    """
    question = search.question
    kinds = two_kinds(search.measure, search.scale)
    if len(kinds) == 1:
        return np.empty(0, np.int64)
    change = question.by_hole(
        [_alone(side, search.measure, float(kinds[1])) for side in question.sides]
    )
    for sign in (1.0, -1.0):
        best = _best(sign * change, question)
        grade = np.full(len(change), kinds[0])
        grade[best] = kinds[1]
        search.consider(search.every, grade)
    return np.flatnonzero(question.sides[0].tied | question.sides[1].tied)


def _alone(side: ListsWithHoles, measure: Measure, grade: float) -> Floats:
    """Return the value with only this hole relevant, float64 ``[holes]``."""
    used = side.for_measure(measure)
    every = np.arange(used.queries)
    nothing = np.zeros(used.queries, np.int64)
    values = np.repeat(
        value_with_holes_graded(side, measure, every, nothing, nothing, grade),
        side.holes,
    )
    at = np.flatnonzero(used.hole >= 0)
    query = used.query[at]
    hole = used.hole[at]
    found = value_with_holes_graded(
        side, measure, query, hole, np.ones_like(hole), grade
    )
    values[side.starts[query] + hole] = found
    return values


def _best(value: Floats, question: Question) -> Ints:
    """Return the first hole of each query at which a value is highest."""
    most = np.full(len(question.holes), -np.inf)
    np.fmax.at(
        most, question.query, value
    )  # NaN: no value when this hole alone is relevant
    reached = np.flatnonzero(value == most[question.query])
    _, first = np.unique(question.query[reached], return_index=True)
    return reached[first]
