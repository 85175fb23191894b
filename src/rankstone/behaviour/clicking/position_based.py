"""The position-based model: who looks at a position, and clicks what is attractive, clicks.

P(click) = examination of the position · relevance of the document to the query (Richardson, Dominowska and
Ragno, WWW 2007; Craswell et al., WSDM 2008).  Pairs that were seen at one position only, or never clicked,
fit any examination: positions are told apart by the others alone (``examination.py``), and given these, every
pair's relevance is the root of its own likelihood equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

__all__ = ["Fit", "Shown", "doubt", "information", "log_likelihood", "relevances"]

#: halvings of an interval until it is as narrow as numbers are
_HALVINGS: Final = 60
_LEAST: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Shown:
    """How often pairs were shown at positions, and clicked there: a cell for each of both.

    Attributes
    ----------
    pair, place
        Places of its pair and its position.
    count, clicked
        Impressions, and the sum of their clicks.
    pairs, places
        How many pairs and positions there are.
    """

    pair: Whole
    place: Whole
    count: Floats
    clicked: Floats
    pairs: int
    places: int

    def by_pair(self, of_cells: Floats) -> Floats:
        """Add up over the cells of each pair."""
        return np.bincount(self.pair, of_cells, minlength=self.pairs).astype(np.float64, copy=False)

    def by_place(self, of_cells: Floats) -> Floats:
        """Add up over the cells of each position."""
        return np.bincount(self.place, of_cells, minlength=self.places).astype(np.float64, copy=False)

    def only(self, kept: NDArray[np.bool_]) -> Shown:
        """Return some of the cells; pairs are numbered anew."""
        pairs, pair = np.unique(self.pair[kept], return_inverse=True)
        return Shown(
            pair, self.place[kept], self.count[kept], self.clicked[kept], max(len(pairs), 1), self.places
        )

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Cells of pairs that were clicked, and seen at several positions."""
        several = np.bincount(self.pair, minlength=self.pairs) > 1
        return (several & (self.by_pair(self.clicked) > 0))[self.pair]

    def linked(self) -> Whole:
        """Return a number for each position, the same for those that informative pairs link; 0 for the first.

        A position at which none of them was clicked links no others, but hangs on those its pairs also have.
        """
        from scipy import sparse

        kept = self.only(self.informative)
        clicked = (kept.by_place(kept.clicked) > 0)[kept.place]
        links = kept.only(clicked)
        same = links.pair[1:] == links.pair[:-1]
        ends = links.place[:-1][same], links.place[1:][same]
        graph = sparse.coo_array((np.ones(same.sum()), ends), (self.places, self.places))
        group: Whole = sparse.csgraph.connected_components(graph, directed=False)[1].astype(np.int64)
        of_pair = np.full(kept.pairs, self.places)
        of_pair[kept.pair[clicked]] = group[kept.place[clicked]]
        group[kept.place[~clicked]] = self.places
        np.minimum.at(group, kept.place[~clicked], of_pair[kept.pair[~clicked]])
        return group


@dataclass(frozen=True)
class Fit:
    """How the examination of positions was found.

    Attributes
    ----------
    pairs, impressions
        Pairs that told positions apart, and their impressions.
    iterations
        Rounds of Newton's method.
    converged
        Whether it stopped because nothing moved.
    change
        How far the examination of a position moved in the last round, at most, as a share of it.
    log_likelihood
        Of all clicks, in the end.
    clustered
        Whether intervals take sessions for independent; else rows.
    """

    pairs: int
    impressions: int
    iterations: int
    converged: bool
    change: float
    log_likelihood: float
    clustered: bool


def relevances(shown: Shown, theta: Floats) -> Floats:
    """Return the likeliest relevance of each pair, given examinations; NaN where nobody ever looked.

    The derivative of a pair's likelihood falls as its relevance grows, so halving finds where it is 0.
    """
    looked = theta[shown.place]
    clicked = shown.by_pair(shown.clicked)
    highest = np.zeros(shown.pairs)
    np.maximum.at(highest, shown.pair, looked)
    with np.errstate(divide="ignore"):
        high = np.minimum(1.0, 1 / highest)  # no click is more than certain
    low, missed = np.zeros(shown.pairs), shown.count - shown.clicked
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        chance = looked * middle[shown.pair]
        rising = clicked > shown.by_pair(missed * chance / np.maximum(1 - chance, _LEAST))
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    found = np.where(clicked > 0, high, 0.0)
    return np.where(highest > 0, found, np.nan)


def information(shown: Shown, theta: Floats, gamma: Floats) -> Floats:
    """Return how many impressions that were looked at each relevance is worth.

    γ(1 - γ) times Fisher's information, given examinations: all impressions where everybody looks.
    """
    looked, liked = theta[shown.place], gamma[shown.pair]
    chance = np.minimum(looked * liked, 1 - _LEAST)
    return shown.by_pair(shown.count * looked * np.maximum(1 - liked, _LEAST) / (1 - chance))


def doubt(shown: Shown, theta: Floats, gamma: Floats, covariance: Floats) -> Floats:
    """Return the relative variance that each relevance has from that of examinations, float64 ``[pairs]``.

    A relevance falls as the examinations rise that its information comes from: by the delta method.
    """
    chance = np.minimum(theta[shown.place] * gamma[shown.pair], 1 - _LEAST)
    weight = shown.count * theta[shown.place] / (1 - chance)
    weight /= np.maximum(shown.by_pair(weight)[shown.pair], _LEAST)
    together = np.zeros(len(weight))
    for place in np.flatnonzero(np.diag(covariance) > 0):
        here = shown.place == place
        every = shown.by_pair(weight * covariance[place, shown.place])
        together[here] = weight[here] * every[shown.pair[here]]
    return np.maximum(shown.by_pair(together), 0.0)


def log_likelihood(shown: Shown, theta: Floats, gamma: Floats) -> float:
    """Return the logarithm of the chance of these clicks."""
    chance = theta[shown.place] * gamma[shown.pair]
    missed = shown.count - shown.clicked
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(shown.clicked > 0, shown.clicked * np.log(chance), 0.0)
        misses = np.where(missed > 0, missed * np.log1p(-chance), 0.0)
    return float(hits.sum() + misses.sum())
