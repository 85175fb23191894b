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

from rankstone.errors import NotComparable, one_of
from rankstone.stats.battles import LEFT, RIGHT, TIE, Battles

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats, Ints


#: strengths differ by less than this where a maximum exists
_FAR: Final = 60.0
#: iterations of Newton's method
_MOST: Final = 200
#: what a battle has
_COLUMNS: Final = ("left", "right", "outcome", "weight", "covariates")
#: clusters, the largest first, that are left out one at a time; smaller ones hardly move a strength
_LEFT_OUT: Final = 1000
#: what stays of a cluster that is left out, so that a system which it alone has seen keeps an inverse
_STAYS: Final = 1e-6
#: variances below this share of those of independent battles are none
_NONE: Final = 1e-9
#: the least degrees of freedom
_LEAST: Final = 0.5


def _sigmoid(values: Floats) -> Floats:
    from scipy import special

    chance: Floats = special.expit(values)
    return chance


def _bradley_terry(delta: Floats, _eta: float) -> Floats:
    p = _sigmoid(delta)
    none = np.zeros(len(delta))
    second = -p * (1 - p), none, none
    log_left = -np.logaddexp(0, -delta)
    log_right = -np.logaddexp(0, delta)
    left = log_left, 1 - p, none, *second
    right = log_right, -p, none, *second
    tie = (log_left + log_right) / 2, 0.5 - p, none, *second
    return np.array([left, right, tie])


def _davidson(delta: Floats, eta: float) -> Floats:
    logs = np.stack([delta / 2, -delta / 2, np.full(len(delta), eta)])
    log_p = logs - np.logaddexp.reduce(logs, axis=0)
    p_left, p_right, p_tie = np.exp(log_p)
    mean = (p_left - p_right) / 2
    by_delta_twice = -((p_left + p_right) / 4 - mean**2)
    second = by_delta_twice, mean * p_tie, -p_tie * (1 - p_tie)
    left = log_p[LEFT], 0.5 - mean, 0.0 - p_tie, *second
    right = log_p[RIGHT], -0.5 - mean, 0.0 - p_tie, *second
    tie = log_p[TIE], 0.0 - mean, 1.0 - p_tie, *second
    return np.array([left, right, tie])


def _rao_kupper(delta: Floats, eta: float) -> Floats:
    above = _sigmoid(delta + eta)
    below = _sigmoid(delta - eta)
    p_right = _sigmoid(-delta - eta)
    f = above * (1 - above)
    g = below * (1 - below)
    h = p_right * (1 - p_right)
    left = -np.logaddexp(0, eta - delta), 1 - below, below - 1, -g, g, -g
    right = -np.logaddexp(0, eta + delta), p_right - 1, p_right - 1, -h, -h, -h

    p_tie = np.maximum(above - below, 1e-300)
    f_slope = f * (1 - 2 * above)
    g_slope = g * (1 - 2 * below)
    by_delta = (f - g) / p_tie
    by_eta = (f + g) / p_tie
    difference = (f_slope - g_slope) / p_tie
    mixed = (f_slope + g_slope) / p_tie - by_delta * by_eta
    tie = (
        np.log(p_tie),
        by_delta,
        by_eta,
        difference - by_delta**2,
        mixed,
        difference - by_eta**2,
    )
    return np.array([left, right, tie])


#: the derivatives of each outcome's log-likelihood, float64 ``[outcomes, 6, battles]``: itself, by δ, by η, by
#: δδ, δη and ηη
_MODELS: Final[dict[str, Callable[[Floats, float], Floats]]] = {
    "bradley_terry": _bradley_terry,
    "davidson": _davidson,
    "rao_kupper": _rao_kupper,
}


def _has_ties(model: str) -> bool:
    """Return True for a model with a parameter of ties."""
    return model != "bradley_terry"


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
        parameters = np.concatenate([self.strengths, self.effects, [self.tie]])
        return parameters[: len(self.information)]

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

        jackknives = [self._by_leaving_out(cluster) for cluster in clusters]
        squares, freedoms = zip(*jackknives, strict=True)
        covariance = sum(squares)
        if len(clusters) > 1:
            first, second = clusters
            both = first * (second.max() + 1) + second
            _, shared = np.unique(both, return_inverse=True)
            covariance = covariance - self._by_leaving_out(shared)[0]

        values, vectors = np.linalg.eigh(covariance)
        positive: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return positive, np.min(freedoms, axis=0)

    def alike(self, cluster: Ints) -> bool:
        """Return True for clusters of one mind: none would move a strength if it were left out."""
        return self._no_spread(self._by_scores(cluster, np.unique(cluster)))

    def _by_leaving_out(self, cluster: Ints) -> tuple[Floats, Floats]:
        """Return the covariance and degrees of freedom from strengths without each cluster."""
        battles = self.battles
        sizes = np.bincount(cluster)
        order = np.argsort(cluster, kind="stable")
        rows_of_clusters = np.split(order, np.cumsum(sizes)[:-1])
        by_size = np.argsort(-sizes, kind="stable")

        moves = []
        shares = []
        for group in by_size[:_LEFT_OUT]:
            rows = rows_of_clusters[group]
            columns = {name: getattr(battles, name)[rows] for name in _COLUMNS}
            pairs = replace(battles, **columns).collected
            _, gradient, information = _derivatives(*pairs, self.model, self.parameters)
            rest = self.information - (1 - _STAYS) * information
            moves.append(_inverse(rest, battles.items) @ gradient)
            shares.append((self.inverse @ information * self.inverse).sum(axis=1))

        groups = len(sizes)
        square = np.transpose(moves) @ moves
        square += self._by_scores(cluster, by_size[_LEFT_OUT:])
        square = self._with_spread(square * (groups - 1) / groups, groups)
        squared_shares = np.square(shares).sum(axis=0) / np.diag(self.inverse) ** 2
        return square, np.maximum(1 / squared_shares - 1, _LEAST)

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
        count = int(cluster.max(initial=0)) + 1
        delta = _delta(battles, self.strengths, self.effects)
        slopes = _MODELS[self.model](delta, self.tie)
        outcome_slopes = slopes[battles.outcome, :, np.arange(len(delta))]
        by_delta = battles.weight * outcome_slopes[:, 1]
        by_eta = battles.weight * outcome_slopes[:, 2]

        rows = np.tile(cluster, 2)
        items = np.concatenate([battles.left, battles.right])
        by_item = np.concatenate([by_delta, -by_delta])
        of_items = sparse.csr_array(
            (by_item, (rows, items)), shape=(count, battles.items)
        )
        others = _other_slopes(battles, self.model, by_delta, by_eta)
        of_others = [
            sparse.csr_array(np.bincount(cluster, slope, count)[:, None])
            for slope in others
        ]
        scores = sparse.csr_array(sparse.hstack([of_items, *of_others]))[groups]
        square = (scores.T @ scores).toarray()
        sandwich: Floats = self.inverse @ square @ self.inverse
        return sandwich


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

    >>> battles = Battles.from_columns(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([0, 0, 0]))
    >>> fit = fit_strengths(battles)
    >>> round(float(np.exp(fit.strengths[0] - fit.strengths[1])), 6)
    2.0
    """
    one_of("model", model, _MODELS)
    _check_maximum(battles, model)
    rows, counts = battles.collected
    items = battles.items
    tied = _has_ties(model)
    parameters = np.zeros(items + rows.covariates.shape[1] + tied)
    parameters[-1] += tied
    parameters, information = _maximum(rows, counts, model, parameters)

    strengths, effects = np.split(parameters[: len(parameters) - tied], [items])
    tie = 0.0
    if tied:
        tie = float(parameters[-1])
    centred = strengths - strengths.mean()
    return StrengthFit(battles, model, centred, effects, tie, information)


def _check_maximum(battles: Battles, model: str) -> None:
    """Refuse battles for which the likelihood of a model has no maximum, or nothing to rank by."""
    if len(battles.parts()) > 1:
        raise NotComparable(
            "the strengths have no maximum of the likelihood: items fall into parts"
        )
    _, counts = battles.collected
    if not _has_ties(model):
        return
    if not counts[:, TIE].any():
        raise NotComparable(
            f"the model {model} needs ties", fix="model='bradley_terry'"
        )
    if not counts[:, :TIE].any():
        raise NotComparable(
            f"every battle is a tie: the model {model} has nothing to rank by",
            expected="battles that one of the two has won",
        )


def _maximum(
    rows: Battles, counts: Floats, model: str, parameters: Floats
) -> tuple[Floats, Floats]:
    """Return the parameters of the greatest likelihood, and the information there, by Newton's method."""
    derivatives = _derivatives(rows, counts, model, parameters)
    for _ in range(_MOST):
        value, gradient, information = derivatives
        with np.errstate(invalid="ignore"):  # an infinite inverse is refused below
            step = _inverse(information, rows.items) @ gradient
        if not np.abs(parameters + step).max() < _FAR:
            raise NotComparable(
                "the likelihood has no maximum: a covariate, or strengths with ties, decide every battle",
                fix="model='bradley_terry'"
                if _has_ties(model)
                else "leave covariates out",
            )

        # halve the step until the likelihood grows, but for rounding
        least = value - 1e-9 * abs(value)
        derivatives = _derivatives(rows, counts, model, parameters + step)
        while not derivatives[0] >= least:
            step = step / 2
            derivatives = _derivatives(rows, counts, model, parameters + step)
        parameters = parameters + step
        if np.abs(step).max() < 1e-11:  # noqa: PLR2004 - as exact as the sums are
            break
    return parameters, derivatives[2]


def _delta(battles: Battles, strengths: Floats, effects: Floats) -> Floats:
    between = strengths[battles.left] - strengths[battles.right]
    return between + battles.covariates @ effects


def _other_slopes(
    battles: Battles, model: str, by_delta: Floats, by_eta: Floats
) -> list[Floats]:
    """Return the slopes by each covariate's effect, and by η if the model has ties."""
    slopes = [by_delta * covariate for covariate in battles.covariates.T]
    if _has_ties(model):
        slopes.append(by_eta)
    return slopes


def _derivatives(
    rows: Battles, counts: Floats, model: str, parameters: Floats
) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood, its gradient and the negative second derivatives."""
    items = rows.items
    size = len(parameters)
    eta = float(parameters[-1])
    if model == "rao_kupper" and eta <= 0:  # a threshold below 0 is impossible
        return -math.inf, parameters, np.eye(size)

    covariates = rows.covariates.T
    effects = parameters[items : items + len(covariates)]
    delta = _delta(rows, parameters[:items], effects)
    slopes = counts.T[:, None] * _MODELS[model](delta, eta)
    value, by_delta, by_eta, dd, de, ee = slopes.sum(axis=0)

    def over_items(values: Floats) -> Floats:
        of_left = np.bincount(rows.left, values, items)
        of_right = np.bincount(rows.right, values, items)
        return np.asarray(of_left - of_right, np.float64)

    others = _other_slopes(rows, model, by_delta, by_eta)
    of_others = [float(slope.sum()) for slope in others]
    gradient = np.concatenate([over_items(by_delta), of_others])

    pairs = np.bincount(rows.left * items + rows.right, -dd, items * items)
    between = pairs.reshape(items, items)
    between = between + between.T
    information = np.zeros((size, size))
    information[:items, :items] = np.diag(between.sum(axis=1)) - between
    second = _other_slopes(rows, model, dd, de)
    for number, curvature in enumerate(second):
        place = items + number
        border = -over_items(curvature)
        information[:items, place] = border
        information[place, :items] = border
        for other, covariate in enumerate(covariates[: number + 1], start=items):
            corner = -float(np.sum(curvature * covariate))
            information[place, other] = corner
            information[other, place] = corner
    if _has_ties(model):
        information[-1, -1] = -float(np.sum(ee))
    return float(np.sum(value)), gradient, information


def _inverse(information: Floats, items: int) -> Floats:
    """Return the inverse in which strengths sum to 0."""
    fixed = information.copy()
    scale = max(float(np.trace(information)) / len(information), 1e-300)
    fixed[:items, :items] += scale / items
    try:
        inverse = np.asarray(np.linalg.inv(fixed), np.float64)
    except np.linalg.LinAlgError:
        return np.full(fixed.shape, np.inf)
    inverse[:items, :items] -= 1 / (scale * items)
    return inverse
