"""Models of paired comparisons: strengths of items from who beat whom, with ties, covariates and clusters.

A model gives the chances of the three outcomes from ``δ``, the strength of the left item less that of the
right one plus the effects of covariates, and from a parameter ``η`` of ties:

- ``bradley_terry`` (Zermelo 1929; Bradley and Terry 1952): ``P(left) = 1 / (1 + exp(-δ))``; a tie is half a
  win for each.
- ``davidson`` (JASA 65, 1970): ``exp(δ/2) : exp(-δ/2) : exp(η)`` for left, right and tie.
- ``rao_kupper`` (JASA 62, 1967): ``P(left) = 1 / (1 + exp(η - δ))``, ``P(right) = 1 / (1 + exp(η + δ))``.

The likelihood of each is concave, so one Newton iteration fits all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import Record
from rankstone.errors import NotComparable, one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone._basics import Floats, Ints


#: outcomes by number
LEFT, RIGHT, TIE = 0, 1, 2
#: strengths differ by less than this where a maximum exists; iterations of Newton's method
_FAR, _MOST = 60.0, 200
#: what a battle has
_COLUMNS: Final = ("left", "right", "outcome", "weight", "covariates")
#: clusters, the largest first, that are left out one at a time; smaller ones hardly move a strength
_LEFT_OUT: Final = 1000
#: what stays of a cluster that is left out, so that a system which it alone has seen keeps an inverse
_STAYS: Final = 1e-6
#: variances below this share of those of independent battles are none; the least degrees of freedom
_NONE, _LEAST = 1e-9, 0.5


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
    def of(
        cls,
        left: Ints,
        right: Ints,
        outcome: Ints,
        weight: Floats | None = None,
        covariates: Floats | None = None,
    ) -> Battles:
        """Make battles of columns; weights are 1 and there are no covariates unless given."""
        n = len(left)
        items = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
        weights: Floats = np.ones(n) if weight is None else weight
        return cls(
            left,
            right,
            outcome,
            items,
            weights,
            np.empty((n, 0)) if covariates is None else covariates,
        )

    @cached_property
    def wins(self) -> Floats:
        """How often the row beat the column, a tie being half a win, float64 ``[items, items]``."""
        rows, counts = self.collected
        found = np.zeros((self.items, self.items))
        np.add.at(found, (rows.left, rows.right), counts[:, LEFT] + counts[:, TIE] / 2)
        np.add.at(found, (rows.right, rows.left), counts[:, RIGHT] + counts[:, TIE] / 2)
        return found

    @cached_property
    def collected(self) -> tuple[Battles, Floats]:
        """Distinct pairs and the weight of each outcome, float64 ``[pairs, 3]``; battles if covariates."""
        size = self.items
        if self.covariates.shape[1]:
            counts = np.zeros((len(self.left), 3))
            counts[np.arange(len(counts)), self.outcome] = self.weight
            return self, counts
        key = (self.left * size + self.right) * 3 + self.outcome
        every = np.bincount(key, self.weight, 3 * size * size).reshape(-1, 3)
        left, right = np.divmod(np.flatnonzero(every.any(axis=1)), size)
        empty = np.empty((len(left), 0))
        rows = Battles(
            left, right, np.zeros_like(left), size, np.ones(len(left)), empty
        )
        return rows, every[left * size + right]

    def parts(self) -> list[list[int]]:
        """Return groups of items that have all won against each other, directly or over others.

        Only within one group do strengths have a maximum of the likelihood (Ford, Am. Math. Monthly 64,
        1957).  The group of those that are never beaten comes first.
        """
        from scipy.sparse import csgraph

        wins = self.wins > 0
        count, group = csgraph.connected_components(wins, connection="strong")
        found = [np.flatnonzero(group == one).tolist() for one in range(count)]
        beats = [
            int(wins[part].any(axis=0).sum()) - int(wins[:, part].any(axis=1).sum())
            for part in found
        ]
        return [found[at] for at in np.argsort([-one for one in beats], kind="stable")]


#: derivatives of an outcome's log-likelihood: itself, by δ, by η, by δδ, δη and ηη
Slopes = tuple["Floats", "Floats", "Floats", "Floats", "Floats", "Floats"]


def _sigmoid(values: Floats) -> Floats:
    from scipy import special

    found: Floats = special.expit(values)
    return found


def _bradley_terry(delta: Floats, _eta: float) -> list[Slopes]:
    p = _sigmoid(delta)
    none = np.zeros(len(delta))
    left = -np.logaddexp(0, -delta), 1 - p, none, -p * (1 - p), none, none
    right = -np.logaddexp(0, delta), -p, none, -p * (1 - p), none, none
    tie = (left[0] + right[0]) / 2, 0.5 - p, none, -p * (1 - p), none, none
    return [left, right, tie]


def _davidson(delta: Floats, eta: float) -> list[Slopes]:
    logs = np.stack([delta / 2, -delta / 2, np.full(len(delta), eta)])
    whole = np.logaddexp.reduce(logs, axis=0)
    p_left, p_right, p_tie = np.exp(logs - whole)
    mean = (p_left - p_right) / 2
    second = -((p_left + p_right) / 4 - mean**2), mean * p_tie, -p_tie * (1 - p_tie)
    return [
        (logs[one] - whole, away - mean, tied - p_tie, *second)
        for one, away, tied in ((LEFT, 0.5, 0.0), (RIGHT, -0.5, 0.0), (TIE, 0.0, 1.0))
    ]


def _rao_kupper(delta: Floats, eta: float) -> list[Slopes]:
    above = _sigmoid(delta + eta)
    below = _sigmoid(delta - eta)
    other = _sigmoid(-delta - eta)
    f = above * (1 - above)
    g = below * (1 - below)
    h = other * (1 - other)
    tie = np.maximum(above - below, 1e-300)
    f_slope = f * (1 - 2 * above)
    g_slope = g * (1 - 2 * below)
    by_delta = (f - g) / tie
    by_eta = (f + g) / tie
    return [
        (-np.logaddexp(0, eta - delta), 1 - below, below - 1, -g, g, -g),
        (-np.logaddexp(0, eta + delta), other - 1, other - 1, -h, -h, -h),
        (
            np.log(tie),
            by_delta,
            by_eta,
            (f_slope - g_slope) / tie - by_delta**2,
            (f_slope + g_slope) / tie - by_delta * by_eta,
            (f_slope - g_slope) / tie - by_eta**2,
        ),
    ]


_MODELS: Final[dict[str, Callable[[Floats, float], list[Slopes]]]] = {
    "bradley_terry": _bradley_terry,
    "davidson": _davidson,
    "rao_kupper": _rao_kupper,
}


@dataclass(frozen=True, eq=False)
class StrengthFit:
    """A fitted model.

    Attributes
    ----------
    battles
        What it was fitted to.
    model
        Its name.
    strengths
        float64 ``[items]``, with a mean of 0: natural logarithms of odds.
    effects
        float64 ``[covariates]``.
    tie
        The parameter ``η`` of ties; 0 for ``bradley_terry``.
    information
        float64 ``[parameters, parameters]``: the negative second derivatives, items first.
    """

    battles: Battles
    model: str
    strengths: Floats
    effects: Floats
    tie: float
    information: Floats

    @cached_property
    def inverse(self) -> Floats:
        """The covariance of all parameters if battles were independent and the model right."""
        return _inverse(self.information, self.battles.items)

    @cached_property
    def parameters(self) -> Floats:
        """Strengths, effects and the parameter of ties, if the model has one."""
        every = np.concatenate([self.strengths, self.effects, [self.tie]])
        return every[: len(self.information)]

    def covariance(self, *clusters: Ints) -> Floats:
        """Return the covariance of all parameters, as :meth:`errors_by` does."""
        return self.errors_by(*clusters)[0]

    def errors_by(self, *clusters: Ints) -> tuple[Floats, Floats]:
        """Return the covariance of all parameters that allows for dependent battles, items first.

        Without clusters it is the sandwich with the factor ``n / (n - 1)``.  With clusters each is left out
        in turn: the jackknife, or CR3, in one step of Newton's method (MacKinnon, Nielsen and Webb, J. Appl.
        Econometrics 38, 2023), for which few clusters of unequal size are not too small.

        Parameters
        ----------
        *clusters
            int64 ``[battles]`` each, from 0: the judge, the prompt.  None: every battle is a cluster.  Of
            two, what both share is subtracted (Cameron, Gelbach and Miller, J. Bus. Econ. Stat. 29, 2011).

        Returns
        -------
        tuple
            float64 ``[parameters, parameters]``, and degrees of freedom, float64 ``[parameters]``: how many
            clusters of equal size would share the information about a parameter as unequally, less one;
            infinite without clusters.

        Notes
        -----
        Battles that all tie, or clusters that are all of one mind, do not show how others would differ.  Then
        each counts as a single battle, whose variance is that of the model.
        """
        if not clusters:
            battles = np.arange(len(self.battles.left))
            n = len(battles)
            square = self._by_scores(battles, battles) * (n / max(n - 1, 1))
            return self._with_spread(square, n), np.full(len(square), np.inf)
        parts = [self._by_leaving_out(cluster) for cluster in clusters]
        covariance = sum(square for square, _ in parts)
        df = np.min([freedom for _, freedom in parts], axis=0)
        if len(clusters) > 1:
            one, other = clusters
            _, both = np.unique(one * (other.max() + 1) + other, return_inverse=True)
            covariance = covariance - self._by_leaving_out(both)[0]
        values, vectors = np.linalg.eigh(covariance)
        positive: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return positive, df

    def alike(self, cluster: Ints) -> bool:
        """Return True for clusters of one mind: none would move a strength if it were left out."""
        return self._no_spread(self._by_scores(cluster, np.unique(cluster)))

    def _by_leaving_out(self, cluster: Ints) -> tuple[Floats, Floats]:
        """Return the covariance and degrees of freedom from strengths without each cluster."""
        battles = self.battles
        items = self.battles.items
        order = np.argsort(cluster, kind="stable")
        sizes = np.bincount(cluster)
        ends = np.cumsum(sizes)
        by_size = np.argsort(-sizes, kind="stable")
        moves = []
        shares = []
        for group in by_size[:_LEFT_OUT]:
            end = ends[group]
            rows = order[end - sizes[group] : end]
            columns = {name: getattr(battles, name)[rows] for name in _COLUMNS}
            part = replace(battles, **columns)
            _, gradient, own = _derivatives(
                *part.collected, self.model, self.parameters
            )
            others = _inverse(self.information - (1 - _STAYS) * own, items)
            moves.append(others @ gradient)
            shares.append((self.inverse @ own * self.inverse).sum(axis=1))
        groups = len(sizes)
        square = np.transpose(moves) @ moves
        square += self._by_scores(cluster, by_size[_LEFT_OUT:])
        square = self._with_spread(square * (groups - 1) / groups, groups)
        squares = np.square(shares).sum(axis=0) / np.diag(self.inverse) ** 2
        return square, np.maximum(1 / squares - 1, _LEAST)

    def _no_spread(self, covariance: Floats) -> bool:
        return bool(np.trace(covariance @ self.information) <= _NONE)

    def _with_spread(self, covariance: Floats, groups: int) -> Floats:
        """Return the covariance, or that of as many battles as there are groups if these do not differ."""
        if self._no_spread(covariance):
            return self.inverse * (len(self.battles.left) / groups)
        return covariance

    def _by_scores(self, cluster: Ints, groups: Ints) -> Floats:
        """Return the sandwich of some clusters: what each adds to the slope, with all others held fixed."""
        from scipy import sparse

        battles = self.battles
        size = int(cluster.max(initial=0)) + 1
        delta = _delta(battles, self.strengths, self.effects)
        slopes = _MODELS[self.model](delta, self.tie)
        by_delta, by_eta = (
            battles.weight * np.choose(battles.outcome, [one[at] for one in slopes])
            for at in (1, 2)
        )
        rows = np.tile(cluster, 2)
        columns = np.concatenate([battles.left, battles.right])
        of_items = sparse.csr_array(
            (np.concatenate([by_delta, -by_delta]), (rows, columns)),
            shape=(size, battles.items),
        )
        others = [by_delta * one for one in battles.covariates.T] + [by_eta] * (
            self.model != "bradley_terry"
        )
        rest = [
            sparse.csr_array(np.bincount(cluster, one, size)[:, None]) for one in others
        ]
        scores = sparse.csr_array(sparse.hstack([of_items, *rest]))[groups]
        found: Floats = self.inverse @ (scores.T @ scores).toarray() @ self.inverse
        return found


def fit_strengths(battles: Battles, model: str = "bradley_terry") -> StrengthFit:
    """Fit the strengths of items by maximum likelihood.

    Parameters
    ----------
    battles
        The comparisons.
    model
        ``bradley_terry``, ``davidson`` or ``rao_kupper``.

    Raises
    ------
    NotComparable
        Where the likelihood has no maximum: items fall into parts of which one never lost to the other, or a
        covariate, or the lack of ties, decides every battle.

    Examples
    --------
    Two wins to one: odds of two.

    >>> battles = Battles.of(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([0, 0, 0]))
    >>> fit = fit_strengths(battles)
    >>> round(float(np.exp(fit.strengths[0] - fit.strengths[1])), 6)
    2.0
    """
    one_of("model", model, _MODELS)
    if len(battles.parts()) > 1:
        raise NotComparable(
            "the strengths have no maximum of the likelihood: items fall into parts"
        )
    rows, counts = battles.collected
    tied = model != "bradley_terry"
    if tied and not counts[:, TIE].any():
        raise NotComparable(
            f"the model {model} needs ties", fix="model='bradley_terry'"
        )
    if tied and not counts[:, :TIE].any():
        raise NotComparable(
            f"every battle is a tie: the model {model} has nothing to rank by",
            expected="battles that one of the two has won",
        )
    size = battles.items + rows.covariates.shape[1] + tied
    at = np.zeros(size)
    at[-1] += tied
    value, gradient, information = _derivatives(rows, counts, model, at)
    for _ in range(_MOST):
        with np.errstate(invalid="ignore"):  # an infinite inverse is refused below
            step = _inverse(information, battles.items) @ gradient
        if not np.abs(at + step).max() < _FAR:
            raise NotComparable(
                "the likelihood has no maximum: a covariate, or strengths with ties, decide every battle",
                fix="model='bradley_terry'" if tied else "leave covariates out",
            )
        new = _derivatives(rows, counts, model, at + step)
        while not new[0] >= value - 1e-9 * abs(
            value
        ):  # halve the step until the likelihood grows
            step = step / 2
            new = _derivatives(rows, counts, model, at + step)
        at, (value, gradient, information) = at + step, new
        if np.abs(step).max() < 1e-11:  # noqa: PLR2004 - as exact as the sums are
            break
    strengths = at[: battles.items] - at[: battles.items].mean()
    effects = at[battles.items : size - tied]
    return StrengthFit(
        battles, model, strengths, effects, float(at[-1]) if tied else 0.0, information
    )


def _delta(battles: Battles, strengths: Floats, effects: Floats) -> Floats:
    found: Floats = (
        strengths[battles.left]
        - strengths[battles.right]
        + battles.covariates @ effects
    )
    return found


def _derivatives(
    rows: Battles, counts: Floats, model: str, at: Floats
) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood, its gradient and the negative second derivatives."""
    items = rows.items
    tied = model != "bradley_terry"
    if model == "rao_kupper" and at[-1] <= 0:  # a threshold below 0 is impossible
        return -math.inf, at, np.eye(len(at))
    several = rows.covariates.shape[1]
    delta = _delta(rows, at[:items], at[items : items + several])
    slopes = _MODELS[model](delta, float(at[-1]))
    value, by_delta, by_eta, dd, de, ee = (
        np.sum(
            [counts[:, outcome] * slopes[outcome][of] for outcome in range(3)], axis=0
        )
        for of in range(6)
    )

    def over_items(values: Floats) -> Floats:
        return np.asarray(
            np.bincount(rows.left, values, items)
            - np.bincount(rows.right, values, items),
            np.float64,
        )

    others = [*rows.covariates.T, *([None] if tied else [])]
    weights = [de if one is None else dd * one for one in others]
    gradient = np.concatenate(
        [
            over_items(by_delta),
            [
                float((by_eta if one is None else by_delta * one).sum())
                for one in others
            ],
        ]
    )
    information = np.zeros((len(at), len(at)))
    between = np.bincount(rows.left * items + rows.right, -dd, items * items).reshape(
        items, items
    )
    between = between + between.T
    information[:items, :items] = np.diag(between.sum(axis=1)) - between
    for place, weight in enumerate(weights):
        information[:items, items + place] = information[
            items + place, :items
        ] = -over_items(weight)
        for other, one in enumerate(others[: place + 1]):
            second = (
                ee
                if others[place] is None and one is None
                else weight
                if one is None
                else weight * one
            )
            cell = items + place, items + other
            information[cell] = information[cell[::-1]] = -float(np.sum(second))
    return float(np.sum(value)), gradient, information


def _inverse(information: Floats, items: int) -> Floats:
    """Return the inverse in which strengths sum to 0."""
    fixed = information.copy()
    scale = max(float(np.trace(information)) / len(information), 1e-300)
    fixed[:items, :items] += scale / items
    try:
        found = np.asarray(np.linalg.inv(fixed), np.float64)
    except np.linalg.LinAlgError:
        return np.full(fixed.shape, np.inf)
    found[:items, :items] -= 1 / (scale * items)
    return found


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
    return round(float(np.trace(beats @ beats @ beats)) / 3), round(
        float(np.trace(decided @ decided @ decided)) / 6
    )


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
    for one, other, result in zip(left, right, outcome, strict=True):
        expected = 1 / (1 + math.pow(base, (ratings[other] - ratings[one]) / scale))
        gain = k * ((1.0, 0.0, 0.5)[result] - expected)
        ratings[one] += gain
        ratings[other] -= gain
    return np.array(ratings)
