"""Clicks by pair and position, of which the position-based model is made, and how its fit went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints


class PositionCounts(Record):
    """Impressions and clicks by pair and position, one cell for each combination.

    Attributes
    ----------
    pair, place
        Index of each cell's pair and position.
    count, clicked
        Impressions, and the sum of their clicks.
    pairs, places
        Number of pairs and of positions.
    """

    pair: Ints
    place: Ints
    count: Floats
    clicked: Floats
    pairs: int
    places: int

    def by_pair(self, values: Floats) -> Floats:
        """Return sums over the cells of each pair."""
        return np.bincount(self.pair, values, minlength=self.pairs).astype(
            np.float64, copy=False
        )

    def by_place(self, values: Floats) -> Floats:
        """Return sums over the cells of each position."""
        return np.bincount(self.place, values, minlength=self.places).astype(
            np.float64, copy=False
        )

    def only(self, kept: Bools) -> PositionCounts:
        """Return the selected cells, with pairs renumbered."""
        pairs, pair = np.unique(self.pair[kept], return_inverse=True)
        return PositionCounts(
            pair,
            self.place[kept],
            self.count[kept],
            self.clicked[kept],
            max(len(pairs), 1),
            self.places,
        )

    @property
    def informative(self) -> Bools:
        """True for cells of pairs that were clicked and shown at several positions."""
        several = np.bincount(self.pair, minlength=self.pairs) > 1
        return (several & (self.by_pair(self.clicked) > 0))[self.pair]

    def link_groups(self) -> Ints:
        """Return a group number for each position: informative pairs link the positions of a group.

        A position without clicks on informative pairs links no others, but joins the group of its pairs.
        """
        from scipy import sparse

        kept = self.only(self.informative)
        clicked = (kept.by_place(kept.clicked) > 0)[kept.place]
        links = kept.only(clicked)
        same = links.pair[1:] == links.pair[:-1]
        ends = links.place[:-1][same], links.place[1:][same]
        graph = sparse.coo_array(
            (np.ones(same.sum()), ends), (self.places, self.places)
        )
        group: Ints = sparse.csgraph.connected_components(graph, directed=False)[
            1
        ].astype(np.int64)
        of_pair = np.full(kept.pairs, self.places)
        of_pair[kept.pair[clicked]] = group[kept.place[clicked]]
        group[kept.place[~clicked]] = self.places
        np.minimum.at(group, kept.place[~clicked], of_pair[kept.pair[~clicked]])
        return group


@dataclass(frozen=True)
class Fit:
    """How the fit of examination probabilities went.

    Attributes
    ----------
    pairs, impressions
        Informative pairs, and their impressions.
    iterations
        Iterations of Newton's method.
    converged
        Whether the tolerance was reached.
    change
        The largest relative change of an examination probability in the last iteration.
    log_likelihood
        The log-likelihood of all clicks after the fit.
    clustered
        Whether sessions are the independent units of intervals; otherwise rows are.
    """

    pairs: int
    impressions: int
    iterations: int
    converged: bool
    change: float
    log_likelihood: float
    clustered: bool
