"""Variance components of scores, and how reliable an order of systems is.

Generalisability theory (Brennan 2001; in retrieval Bodoff and Li, SIGIR 2007; Urbano, Marrero and Martín,
SIGIR 2013): how much of the variance of observed means is between systems, and how many data sets, queries or
seeds make that enough.  The components are those of the analysis of variance with random factors.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats


class VarianceSource(Record):
    """A line of an analysis of variance.

    Attributes
    ----------
    name
        The factors, joined by ``×``; the highest interaction, or what is within cells, is ``residual``.
    df, squares
        Degrees of freedom and sum of squares.
    variance
        Its variance component: below 0 where chance made a sum of squares smaller than its error.
    f, p
        The ratio of its mean square to one whose expectation lacks only this component, and its p; NaN where
        there is no such mean square.
    """

    name: str
    df: int
    squares: float
    variance: float
    f: float
    p: float

    @property
    def mean_square(self) -> float:
        """The sum of squares over its degrees of freedom."""
        return self.squares / self.df if self.df else math.nan


def variance_components(
    scores: Floats, factors: Sequence[str], *, replicated: bool = False
) -> list[VarianceSource]:
    """Analyse scores of crossed random factors, balanced, by their expected mean squares.

    Parameters
    ----------
    scores
        float64, an axis for each factor, without NaN, at least two levels of each.
    factors
        Their names: ``["system", "topic"]``, ``["system", "topic", "shard"]``.
    replicated
        True if there is a last axis without a name: replicates within cells, such as seeds.

    Examples
    --------
    >>> found = variance_components(np.array([[0.1, 0.4, 0.5], [0.2, 0.6, 0.7]]), ["system", "topic"])
    >>> [(one.name, one.df, round(one.squares, 4)) for one in found]
    [('system', 1, 0.0417), ('topic', 2, 0.2233), ('residual', 2, 0.0033)]
    """
    from scipy import special

    cells = scores.mean(axis=-1) if replicated else scores
    levels = scores.shape[: len(factors)]
    within = scores.shape[-1] if replicated else 1
    effects = [
        one
        for size in range(1, len(levels) + 1)
        for one in combinations(range(len(levels)), size)
    ]
    found: dict[tuple[int, ...], tuple[int, float]] = {}
    parts: dict[tuple[int, ...], Floats] = {(): np.asarray(cells.mean(keepdims=True))}
    for effect in effects:
        others = tuple(axis for axis in range(len(levels)) if axis not in effect)
        part = cells.mean(axis=others, keepdims=True) if others else cells
        lower = [one for one in parts if set(one) < set(effect)]
        parts[effect] = part - sum(parts[one] for one in lower)
        weight = within * math.prod(levels[axis] for axis in others)
        df = math.prod(levels[axis] - 1 for axis in effect)
        found[effect] = df, float(weight * (parts[effect] ** 2).sum())
    error = float(((scores - cells[..., None]) ** 2).sum()) if replicated else math.nan
    df_error = math.prod(levels) * (within - 1)
    rest = error / df_error if df_error else 0.0
    variance: dict[tuple[int, ...], float] = {}
    sources = []
    for effect in reversed(effects):
        # a mean square expects each component that contains its factors, as often as a mean is of such cells
        expected = rest + sum(
            within
            * math.prod(levels[axis] for axis in range(len(levels)) if axis not in one)
            * variance[one]
            for one in variance
            if set(effect) < set(one)
        )
        df, squares = found[effect]
        times = within * math.prod(
            levels[axis] for axis in range(len(levels)) if axis not in effect
        )
        variance[effect] = (squares / df - expected) / times
        above = [one for one in effects if set(effect) < set(one)]
        # with one interaction above, or none and replicates, its mean square is the denominator
        error_line = (df_error, error) if replicated and not above else None
        below = found[above[0]] if len(above) == 1 else error_line
        f = p = math.nan
        if below is not None and below[1] > 0:
            f = squares / df / (below[1] / below[0])
            p = float(special.fdtrc(df, below[0], f))
        whole = len(effect) == len(levels) and not replicated
        name = "residual" if whole else " × ".join(factors[axis] for axis in effect)
        sources.append(VarianceSource(name, df, squares, variance[effect], f, p))
    sources.reverse()
    if replicated:
        sources.append(
            VarianceSource("residual", df_error, error, rest, math.nan, math.nan)
        )
    return sources


def order_components(
    scores: Floats, factors: Sequence[str]
) -> list[tuple[str, float, float | None]]:
    """Return the components of crossed factors, and what each adds to the squared error of an order.

    Parameters
    ----------
    scores, factors
        As for :func:`variance_components`; the first factor is what is ordered by its means over the others.

    Returns
    -------
    list
        ``(name, variance, part)``: the variance, 0 or more; its part of the error, which is ``None`` for what
        moves all that is ordered alike, and for what is ordered.

    Examples
    --------
    >>> scores = np.array([[[0.1, 0.4], [0.5, 0.3]], [[0.2, 0.6], [0.7, 0.9]]])
    >>> [(name, part is None) for name, _, part in order_components(scores, ["system", "shard", "topic"])][:4]
    [('system', True), ('shard', True), ('topic', True), ('system × shard', False)]
    """
    sizes = dict(zip(factors, scores.shape, strict=True))
    found = []
    for one in variance_components(scores, factors):
        own, *others = factors if one.name == "residual" else one.name.split(" × ")
        variance = max(one.variance, 0.0)
        times = math.prod(sizes[other] for other in others)
        found.append(
            (
                one.name,
                variance,
                variance / times if own == factors[0] and others else None,
            )
        )
    return found


class Reliability(Record):
    """How well means over data sets tell systems apart.

    Attributes
    ----------
    systems, datasets
        How many there are.
    between
        The variance between systems.
    interaction
        The variance of a system on a data set beyond both, without the noise of queries where that is known.
    level
        The variance between data sets.
    queries, noise
        The variances between queries and of a system on a query, for a data set of one query; 0 if unknown.
    each
        What a data set's means have of these: the mean of 1/queries.
    ratio
        The mean square of systems over that of the interaction, of data sets' means.
    """

    systems: int
    datasets: int
    between: float
    interaction: float
    level: float
    queries: float
    noise: float
    each: float
    ratio: float

    @classmethod
    def of(cls, means: Floats, queries: Sequence[Floats] = ()) -> Reliability:
        """Estimate the components of a board.

        Parameters
        ----------
        means
            float64 ``[datasets, systems]``, without NaN, at least two of each.
        queries
            Scores per query of each data set, float64 ``[queries, systems]``, where they are known.  Data
            sets count the same, whatever their numbers of queries (the analysis of unweighted means).
        """
        n, items = means.shape
        system, dataset, rest = variance_components(means.T, ["system", "dataset"])
        inner = [
            variance_components(one.T, ["system", "query"])
            for one in queries
            if len(one) > 1
        ]
        df = [sum(one[at].df for one in inner) for at in (1, 2)]
        squares = [
            sum(one[at].squares for one in inner) / df[at - 1] if inner else 0.0
            for at in (1, 2)
        ]
        noise = squares[1]
        of_queries = max(squares[0] - squares[1], 0.0) / items
        each = float(np.mean([1 / len(one) for one in queries])) if queries else 0.0
        return cls(
            items,
            n,
            max(system.variance, 0.0),
            max(rest.mean_square - noise * each, 0.0),
            max(dataset.variance - of_queries * each, 0.0),
            of_queries,
            noise,
            each,
            system.f,
        )

    def coefficient(
        self,
        *,
        absolute: bool = False,
        datasets: float | None = None,
        queries: float | None = None,
    ) -> float:
        """Return the share of the variance of means that is between systems.

        Parameters
        ----------
        absolute
            Φ, which counts how hard data sets are as error: for scores with a meaning of their own.
            Otherwise Eρ², for orders.
        datasets, queries
            For so many data sets, and queries in each; by default as they are.
        """
        each = self.each if queries is None else 1 / queries
        error = (
            self.interaction
            + self.noise * each
            + (self.level + self.queries * each) * absolute
        )
        whole = self.between + error / (self.datasets if datasets is None else datasets)
        return self.between / whole if whole > 0 else 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of Eρ², exact for normal scores (Feldt, Psychometrika 30, 1965)."""
        from scipy import special

        df = self.systems - 1
        rest = (self.systems - 1) * (self.datasets - 1)
        if not self.ratio > 0:
            return 0.0, 1.0
        shares = (1 + confidence) / 2, (1 - confidence) / 2
        low, high = (
            max(1 - float(special.fdtri(df, rest, one)) / self.ratio, 0.0)
            for one in shares
        )
        return low, high

    def datasets_needed(self, target: float, *, absolute: bool = False) -> int | None:
        """Return how many data sets like these make the coefficient reach a target; ``None`` without any."""
        if not self.between > 0:
            return None
        now = self.coefficient(absolute=absolute, datasets=1)
        return max(2, math.ceil(target / (1 - target) * (1 - now) / now - 1e-9))

    def queries_needed(self, target: float, *, absolute: bool = False) -> int | None:
        """Return how many queries in each of these data sets do; ``None`` where no number is enough."""
        most = (
            self.datasets * self.between * (1 - target) / target
            - self.interaction
            - self.level * absolute
        )
        noise = self.noise + self.queries * absolute
        return (
            max(1, math.ceil(noise / most - 1e-9)) if most > 0 and noise > 0 else None
        )
