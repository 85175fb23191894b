"""Comparisons of two items each, and what they say without a model: circular triads, Elo ratings."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats, Ints


#: outcomes by number
LEFT: Final = 0
RIGHT: Final = 1
TIE: Final = 2


class Battles(Record):
    """Comparisons of two items each.

    Attributes
    ----------
    left, right
        int64 ``[battles]``: numbers of the items, from 0; never the same.
    outcome
        int64 ``[battles]``: 0 if the left item won, 1 if the right one did, 2 for a tie.
    items
        How many items there are.
    weight
        float64 ``[battles]``.
    covariates
        float64 ``[battles, covariates]``: what speaks for the left item, such as its length less the other's;
        a constant is the advantage of being on the left.
    """

    left: Ints
    right: Ints
    outcome: Ints
    items: int
    weight: Floats
    covariates: Floats

    @classmethod
    def from_columns(
        cls,
        left: Ints,
        right: Ints,
        outcome: Ints,
        weight: Floats | None = None,
        covariates: Floats | None = None,
    ) -> Battles:
        """Make battles of columns; weights are 1 and there are no covariates unless given."""
        n = len(left)
        items = 1 + int(max(left.max(initial=-1), right.max(initial=-1)))
        if weight is None:
            weight = np.ones(n)
        if covariates is None:
            covariates = np.empty((n, 0))
        return cls(left, right, outcome, items, weight, covariates)

    @cached_property
    def wins(self) -> Floats:
        """How often the row beat the column, a tie being half a win, float64 ``[items, items]``."""
        rows, counts = self.collected
        half_ties = counts[:, TIE] / 2
        wins = np.zeros((self.items, self.items))
        np.add.at(wins, (rows.left, rows.right), counts[:, LEFT] + half_ties)
        np.add.at(wins, (rows.right, rows.left), counts[:, RIGHT] + half_ties)
        return wins

    @cached_property
    def collected(self) -> tuple[Battles, Floats]:
        """Distinct pairs and the weight of each outcome, float64 ``[pairs, 3]``; battles if covariates."""
        if self.covariates.shape[1]:
            counts = np.zeros((len(self.left), 3))
            counts[np.arange(len(counts)), self.outcome] = self.weight
            return self, counts

        items = self.items
        pair = self.left * items + self.right
        key = pair * 3 + self.outcome
        sums = np.bincount(key, self.weight, 3 * items * items)
        weights = np.asarray(sums, np.float64).reshape(-1, 3)
        pairs = np.flatnonzero(weights.any(axis=1))
        left, right = np.divmod(pairs, items)
        ones = np.ones(len(pairs))
        empty = np.empty((len(pairs), 0))
        rows = Battles(left, right, np.zeros_like(left), items, ones, empty)
        return rows, weights[pairs]

    def parts(self) -> list[list[int]]:
        """Return groups of items that have all won against each other, directly or over others.

        Only within one group do strengths have a maximum of the likelihood (Ford, Am. Math. Monthly 64,
        1957).  The group of those that are never beaten comes first.
        """
        from scipy.sparse import csgraph

        wins = self.wins > 0
        count, part_of = csgraph.connected_components(wins, connection="strong")
        parts = [np.flatnonzero(part_of == part).tolist() for part in range(count)]
        lead = []
        for part in parts:
            beaten = int(wins[part].any(axis=0).sum())
            beaten_by = int(wins[:, part].any(axis=1).sum())
            lead.append(beaten - beaten_by)
        order = np.argsort(-np.array(lead), kind="stable")
        return [parts[place] for place in order]


def circular_triads(wins: Floats) -> tuple[int, int]:
    """Return how many triads of items are circular (a beats b beats c beats a), and how many are decided.

    Parameters
    ----------
    wins
        float64 ``[items, items]``: how often the row beat the column; the majority decides a pair.

    Examples
    --------
    >>> circular_triads(np.array([[0, 2, 0], [1, 0, 3], [2, 1, 0]]))
    (1, 1)
    """
    beats = (wins > wins.T).astype(np.float64)
    decided = beats + beats.T
    # each circle is met from its three items, each decided triad from three and in two directions
    circles = float(np.trace(beats @ beats @ beats)) / 3
    triads = float(np.trace(decided @ decided @ decided)) / 6
    return round(circles), round(triads)


def elo(
    left: Sequence[int] | Ints,
    right: Sequence[int] | Ints,
    outcome: Sequence[int] | Ints,
    items: int,
    *,
    initial: float = 1000.0,
    base: float = 10.0,
    scale: float = 400.0,
    k: float = 4.0,
) -> Floats:
    """Return ratings updated battle by battle (Elo 1978), as evalica computes them; their order matters.

    >>> elo([0, 0], [1, 1], [0, 2], 2).round(4).tolist()
    [1001.977, 998.023]
    """
    ratings = [initial] * items
    scores = {LEFT: 1.0, RIGHT: 0.0, TIE: 0.5}
    for first, second, result in zip(left, right, outcome, strict=True):
        gap = (ratings[second] - ratings[first]) / scale
        expected = 1 / (1 + math.pow(base, gap))
        gain = k * (scores[result] - expected)
        ratings[first] += gain
        ratings[second] -= gain
    return np.array(ratings)
