"""The position-based model: who looks at a position, and clicks what is attractive, clicks.

P(click) = examination of the position · relevance of the document to the query (Richardson, Dominowska and
Ragno, WWW 2007; Craswell et al., WSDM 2008).  Pairs that were seen at one position only, or never clicked,
fit any examination: positions are told apart by the others alone (``examination.py``), and given these, every
pair's relevance is the root of its own likelihood equation.

The position-based model, from cells to grades: what it can tell, what it told.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._text import counted, some
from rankstone.errors import BadValue
from rankstone.online.examination import (
    Clicked,
    Estimates,
    Examinations,
    covariance,
    examinations,
    moved,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankstone.online.click_judgments import Asked
    from rankstone.online.shown_lists import Cells, Sessions

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

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


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the model says.

    Attributes
    ----------
    pairs, estimates
        Pairs, and what is known of them.
    fit
        How examinations were found.
    propensities
        Position → examination, relative to the first position.
    known
        Name → position → how well that is known: ``low``, ``high``, ``moved``.
    unlinked
        Positions that were left out, with their impressions.
    """

    pairs: pl.DataFrame
    estimates: Estimates
    fit: Fit
    propensities: dict[int, float]
    known: dict[str, dict[int, float]]
    unlinked: dict[int, int]


def fitted(
    parts: Sequence[Cells], asked: Asked, policy: str, source: str, sessions: Sessions | None
) -> Fitted:
    """Fit the model.

    Parameters
    ----------
    parts
        Cells with positions; pairs of one query are in one part.
    asked
        When the fit stops, the prior, the confidence.
    policy
        Whether positions that nothing links with the first are an ``error``, or ``drop`` leaves them out.
    source
        What to call the log in messages.
    sessions
        Clicks by session; ``None`` where rows are independent.
    """
    pairs, clicks, shown, labels = _shown(parts)
    groups = shown.linked()
    inside = groups == groups[0]
    impressions = shown.by_place(shown.count)
    unlinked = {int(labels[at]): int(impressions[at]) for at in np.flatnonzero(~inside)}
    tells = shown.informative & inside[shown.place]
    informative = shown.only(tells)
    _check(shown, informative, labels, inside, policy, source)
    found = examinations(informative, asked.tolerance, asked.max_iterations)
    telling = pairs[np.unique(shown.pair[tells])]
    clicked = _by_row(informative) if sessions is None else sessions.clicks(telling, labels)
    spread = covariance(informative, found, clicked)
    names = np.unique(shown.pair[inside[shown.place]])
    theta = np.where(inside, found.theta, 0.0)
    estimates, told = _estimates(shown.only(inside[shown.place]), theta, clicks[names], spread, asked)
    fit = Fit(
        pairs=telling.height,
        impressions=int(informative.count.sum()),
        iterations=found.rounds,
        converged=found.change <= asked.tolerance,
        change=found.change,
        log_likelihood=told,
        clustered=sessions is not None,
    )
    propensities, *known = (
        {int(labels[at]): float(values[at]) for at in np.flatnonzero(inside)}
        for values in (theta, *_ends(found, spread, asked.confidence), moved(informative))
    )
    certain = dict(zip(("low", "high", "moved"), known, strict=True))
    return Fitted(pairs[names], estimates, fit, propensities, certain, unlinked)


def _check(
    shown: Shown,
    informative: Shown,
    labels: NDArray[np.int64],
    inside: NDArray[np.bool_],
    policy: str,
    source: str,
) -> None:
    """Refuse positions that nothing tells apart."""
    some_tell = len(informative.pair) > 0
    if len(labels) > 1 and not some_tell:
        raise _nothing(source)
    if not inside.all() and policy == "error":
        raise _apart(source, labels, inside)
    telling = informative if some_tell else shown
    if not telling.by_place(telling.clicked)[0]:
        raise BadValue(
            f"nobody clicked at position {labels[0]}, so nothing can be told relative to it",
            where=source,
            fix="method=ips with propensities that are known",
        )


def _by_row(shown: Shown) -> list[Clicked]:
    """Return clicks that are all independent: those of a cell are squared one by one."""
    return [Clicked(shown.pair, shown.place, np.sqrt(shown.clicked), np.arange(len(shown.pair)))]


def _ends(found: Examinations, spread: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return intervals of examinations; none of the first, nor where nobody clicked."""
    variance = np.diag(spread)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(np.where(variance > 0, variance, np.nan))
    with np.errstate(over="ignore"):
        return found.theta * np.exp(-reach), found.theta * np.exp(reach)


def _shown(parts: Sequence[Cells]) -> tuple[pl.DataFrame, Floats, Shown, NDArray[np.int64]]:
    """Return pairs, their clicks, what was shown where, and the positions there are."""
    pair, position, sums = [], [], []
    before = 0
    for cells in parts:
        assert cells.position is not None  # noqa: S101 - which was asked for
        begins = np.ones(len(cells.pair), np.bool_)  # values of one pair and position stand together
        begins[1:] = (np.diff(cells.pair) != 0) | (np.diff(cells.position) != 0)
        at = np.cumsum(begins) - 1
        each = (cells.count, cells.count * cells.value, cells.count * (cells.value > 0))
        sums.append([np.bincount(at, weights) for weights in each])
        pair.append(cells.pair[begins] + before)
        position.append(cells.position[begins])
        before += cells.pairs.height
    count, clicked, clicks = (np.concatenate(each) for each in zip(*sums, strict=True))
    labels, place = np.unique(np.concatenate(position), return_inverse=True)
    shown = Shown(np.concatenate(pair), place, count, clicked, before, len(labels))
    return pl.concat([cells.pairs for cells in parts]), shown.by_pair(clicks), shown, labels


def _estimates(
    shown: Shown, theta: Floats, clicks: Floats, spread: Floats, asked: Asked
) -> tuple[Estimates, float]:
    gamma = relevances(shown, theta)
    seen = ~np.isnan(gamma)
    told = log_likelihood(shown.only(seen[shown.pair]), theta, gamma[seen])
    effective = information(shown, theta, gamma)
    odds = gamma / np.maximum(1 - gamma, 1e-12)
    effective /= 1 + effective * odds * doubt(shown, theta, gamma, spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(gamma * (1 - gamma) / effective)
    return share(shown.by_pair(shown.count), clicks, gamma, effective, error, asked), told


def _nothing(source: str) -> BadValue:
    return BadValue(
        "no document that was clicked was seen at several positions: nothing tells these from relevance",
        where=source,
        expected="a query's documents at several positions, as when results are shuffled",
        fix="method=ips with propensities that are known, or method=ctr",
    )


def _apart(source: str, labels: NDArray[np.int64], inside: NDArray[np.bool_]) -> BadValue:
    apart = labels[~inside]
    return BadValue(
        f"nothing links {counted(len(apart), 'position')} ({some(apart.tolist(), 8)}) "
        f"with position {labels[0]}",
        where=source,
        expected="documents of one query that were clicked, and seen at positions of both kinds",
        fix="unlinked=drop leaves impressions there out; method=ips takes propensities that are known",
    )
