"""The position-based model: who looks at a position, and clicks what is attractive, clicks.

P(click) = examination of the position · relevance of the document to the query (Richardson, Dominowska and
Ragno, WWW 2007; Craswell et al., WSDM 2008), fitted by expectation and maximisation as Wang et al. (WSDM
2018) do, in steps as long as SQUAREM (Varadhan and Roland, Scandinavian Journal of Statistics 35, 2008)
makes them.

Pairs that were seen at one position only, or never clicked, fit any examination: positions are told apart by
the others alone, and given these, every pair's relevance is the root of its own likelihood equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

__all__ = ["Fit", "Shown", "examinations", "information", "log_likelihood", "relevances"]

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
        """Return a number for each position, the same for those that informative pairs link."""
        group = np.arange(self.places)
        kept = self.only(self.informative)
        neighbours = kept.pair[1:] == kept.pair[:-1]
        links = np.unique(np.stack([kept.place[:-1], kept.place[1:]], axis=1)[neighbours], axis=0)
        for one, other in links:
            group[group == group[other]] = group[one]
        return group


@dataclass(frozen=True)
class Fit:
    """How the examination of positions was found.

    Attributes
    ----------
    pairs, impressions
        Pairs that told positions apart, and their impressions.
    iterations
        Rounds of EM.
    converged
        Whether it stopped because nothing moved.
    change
        How far the examination of a position moved in the last round, at most, as a share of it.
    log_likelihood
        Of all clicks, in the end.
    """

    pairs: int
    impressions: int
    iterations: int
    converged: bool
    change: float
    log_likelihood: float


def examinations(shown: Shown, tolerance: float, most: int) -> tuple[Floats, int, float]:
    """Return the examination of each position, relative to the first, the rounds made, the last change.

    Parameters
    ----------
    shown
        Informative cells.
    tolerance, most
        When to stop: no examination moves by more than this share, or after so many rounds.
    """
    per_place, per_pair = shown.by_place(shown.count), shown.by_pair(shown.count)

    def step(theta: Floats, gamma: Floats) -> tuple[Floats, Floats]:
        looked, liked = theta[shown.place], gamma[shown.pair]
        neither = (shown.count - shown.clicked) / np.maximum(1 - looked * liked, _LEAST)
        seen = shown.by_place(shown.clicked + neither * looked * (1 - liked))
        wanted = shown.by_pair(shown.clicked + neither * liked * (1 - looked))
        return seen / np.maximum(per_place, 1), wanted / per_pair

    def fits(theta: Floats, gamma: Floats) -> float:
        return log_likelihood(shown, theta, gamma)

    rate = shown.by_place(shown.clicked) / np.maximum(per_place, 1)
    now = rate / (rate.max() * 1.1), np.clip(shown.by_pair(shown.clicked) / per_pair, _LEAST, 0.99)
    rounds, change = 0, np.inf
    while rounds < most and change > tolerance:
        first = step(*now)
        second = step(*first)
        longer = step(*_leap(now, first, second))
        best = longer if fits(*longer) >= fits(*second) else second
        change = _moved(now[0], best[0])
        now, rounds = best, rounds + 3
    return now[0] / now[0][0], rounds, change


def _leap(
    now: tuple[Floats, Floats], first: tuple[Floats, Floats], second: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return where steps that shrink like these two would end (SQUAREM's third scheme)."""
    begin, one, two = (np.concatenate(at) for at in (now, first, second))
    step = one - begin
    bend = two - one - step
    size = float(np.linalg.norm(bend))
    if size == 0:
        return second
    length = min(-float(np.linalg.norm(step)) / size, -1.0)
    there = np.clip(begin - 2 * length * step + length**2 * bend, 0, 1)
    # what is 0 stays 0 for ever, so nothing that was not may become it
    there = np.where((there == 0) & (two > 0), two, there)
    return there[: len(now[0])], there[len(now[0]) :]


def _moved(before: Floats, after: Floats) -> float:
    """Return how far the examination relative to the first position moved, as a share of it."""
    was, now = before / before[0], after / after[0]
    return float(np.max(np.abs(now - was) / np.maximum(now, _LEAST)))


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


def log_likelihood(shown: Shown, theta: Floats, gamma: Floats) -> float:
    """Return the logarithm of the chance of these clicks."""
    chance = theta[shown.place] * gamma[shown.pair]
    missed = shown.count - shown.clicked
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(shown.clicked > 0, shown.clicked * np.log(chance), 0.0)
        misses = np.where(missed > 0, missed * np.log1p(-chance), 0.0)
    return float(hits.sum() + misses.sum())
