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

    #: the axes of the factors that interact
    Effect = tuple[int, ...]


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
        if not self.df:
            return math.nan
        return self.squares / self.df


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
    >>> sources = variance_components(np.array([[0.1, 0.4, 0.5], [0.2, 0.6, 0.7]]), ["system", "topic"])
    >>> [(source.name, source.df, round(source.squares, 4)) for source in sources]
    [('system', 1, 0.0417), ('topic', 2, 0.2233), ('residual', 2, 0.0033)]
    """
    cells = scores
    within = 1
    error = 0.0
    if replicated:
        cells = scores.mean(axis=-1)
        within = scores.shape[-1]
        error = float(((scores - cells[..., None]) ** 2).sum())
    error_df = cells.size * (within - 1)
    rest = 0.0
    if error_df:
        rest = error / error_df

    lines = _sums_of_squares(cells, within)
    variance: dict[Effect, float] = {}
    sources = []
    for effect in reversed(lines):
        line = lines[effect]
        higher = [axes for axes in lines if set(effect) < set(axes)]
        # a mean square expects each component that contains its factors, as often as a mean is of such cells
        expected = rest + sum(
            lines[axes].times * variance[axes] for axes in reversed(higher)
        )
        variance[effect] = (line.squares / line.df - expected) / line.times

        # with one interaction above, or none and replicates, its mean square is the denominator
        f = p = math.nan
        if len(higher) == 1:
            below = lines[higher[0]]
            f, p = _f_test(line, below.squares, below.df)
        elif replicated and not higher:
            f, p = _f_test(line, error, error_df)

        name = " × ".join(factors[axis] for axis in effect)
        if not higher and not replicated:
            name = "residual"
        sources.append(
            VarianceSource(name, line.df, line.squares, variance[effect], f, p)
        )

    sources.reverse()
    if replicated:
        sources.append(
            VarianceSource("residual", error_df, error, rest, math.nan, math.nan)
        )
    return sources


class _Line(Record):
    """What the axes of an effect explain, and of how many scores each of its means is."""

    df: int
    squares: float
    times: int


def _sums_of_squares(cells: Floats, within: int) -> dict[Effect, _Line]:
    """Return the lines of all effects, from single factors up to all of them together."""
    axes = range(cells.ndim)
    effects = [effect for size in axes for effect in combinations(axes, size + 1)]
    parts: dict[Effect, Floats] = {(): np.asarray(cells.mean(keepdims=True))}
    lines = {}
    for effect in effects:
        others = tuple(axis for axis in axes if axis not in effect)
        lower = [part for axes, part in parts.items() if set(axes) < set(effect)]
        part = cells.mean(axis=others, keepdims=True) - sum(lower)
        parts[effect] = part

        times = within * math.prod(cells.shape[axis] for axis in others)
        df = math.prod(cells.shape[axis] - 1 for axis in effect)
        lines[effect] = _Line(df, float(times * (part**2).sum()), times)
    return lines


def _f_test(line: _Line, squares: float, df: int) -> tuple[float, float]:
    """Return F of a line over the mean square below it, and its p; NaN where that is 0."""
    from scipy import special

    if not squares > 0:
        return math.nan, math.nan
    f = line.squares / line.df / (squares / df)
    return f, float(special.fdtrc(line.df, df, f))


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
    levels = dict(zip(factors, scores.shape, strict=True))
    components = []
    for source in variance_components(scores, factors):
        names = source.name.split(" × ")
        if source.name == "residual":
            names = list(factors)
        ordered, *others = names
        variance = max(source.variance, 0.0)
        part = None
        if ordered == factors[0] and others:
            part = variance / math.prod(levels[factor] for factor in others)
        components.append((source.name, variance, part))
    return components
