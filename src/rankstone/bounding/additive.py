"""Sums over documents, divided by a fixed norm or by a sum over the ideal list: P, R, F, DCG, nDCG.

With a fixed norm every hole takes the grade that helps most.  With an ideal list in the norm a grade
costs as well as it gains, and :mod:`rankstone.bounding.steps` weighs one against the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone.bounding.filling import filled, scored
from rankstone.bounding.steps import Steps, gained

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.bounding.search import Search
    from rankstone.hits.arrays import Bools, Ints
    from rankstone.measures.ideal_norm import IdealNorm

__all__ = ["additive"]


def additive(search: Search) -> Ints:
    """Propose the extremes of an additive measure; return the queries for which they are not certain."""
    question, measure = search.question, search.measure
    norms = [norm for side in question.sides if (norm := measure.ideal_norm(side.hits)) is not None]
    if not norms:
        _propose_fixed(search)
        return np.flatnonzero(_forfeits(search))
    worth = norms[0].gain(search.scale)
    order = np.unique(worth, return_index=True)[1]
    steps = Steps(question, measure, norms[0], search.scale[order], worth[order])
    if worth.min() < 0 or not steps.falling:
        return search.every
    search.constant(search.every, float(steps.scale[0]))
    if len(order) > 1:
        for sign in (1.0, -1.0):
            search.consider(search.every, steps.highest(sign))
    return np.flatnonzero(_divided(norms, len(search.every)) | _forfeits(search))


def _propose_fixed(search: Search) -> None:
    """Give every hole the grade that adds most, and the one that adds least."""
    question, measure, every = search.question, search.measure, search.every
    lowest = np.full(len(question.query), search.scale[0])
    norms = [scored(side, measure, every, lowest).denominator for side in question.sides]
    chosen = np.array([lowest, lowest])
    most = np.full(chosen.shape, -np.inf)
    for grade in search.scale.tolist():
        shares = question.by_hole(
            [
                gained(side, measure, grade) / np.where(norm > 0, norm, 1.0)[question.query]
                for side, norm in zip(question.sides, norms, strict=True)
            ]
        )
        for row, sign in enumerate((1.0, -1.0)):
            better = sign * shares > most[row]
            most[row, better], chosen[row, better] = sign * shares[better], grade
    for row in chosen:
        search.consider(every, row)


def _divided(norms: Sequence[IdealNorm], queries: int) -> Bools:
    """Return the queries in which two runs are not divided by the same norm, bool ``[queries]``."""
    one, other = norms[0], norms[-1]
    differs = np.zeros(queries, bool)
    if len(norms) > 1:
        differs |= one.made_of != "judged"
        differs |= np.not_equal(one.rest, other.rest)
        if one.depth is not None and other.depth is not None:
            differs |= np.not_equal(one.depth, other.depth)
    return differs


def _forfeits(search: Search) -> Bools:
    """Return the queries in which documents may gain something while none is relevant.

    The option ``empty`` then says what the query is worth, and not the gains.
    """
    measure, sides = search.measure, search.question.sides
    count = measure.relevant_count(sides[0].hits)
    found = np.zeros(len(search.every), bool)
    if count is None or not measure.needs_relevant:
        return found
    query = np.flatnonzero((count == 0) & (sides[0].holes > 0))
    for grade in search.scale.tolist():
        grades = np.full(int(sides[0].holes[query].sum()), grade)
        none = np.asarray(measure.relevant_count(filled(sides[0], query, grades))) == 0
        for side in sides:
            found[query] |= none & (scored(side, measure, query, grades).numerator != 0)
    return found
