"""How reliable the order of systems on a board is, from the variance components of its scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import Record
from rankstone.stats.variance_components import VarianceSource, variance_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats

    #: the axes of the factors that interact
    Effect = tuple[int, ...]


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
    def from_means(cls, means: Floats, queries: Sequence[Floats] = ()) -> Reliability:
        """Estimate the components of a board.

        Parameters
        ----------
        means
            float64 ``[datasets, systems]``, without NaN, at least two of each.
        queries
            Scores per query of each data set, float64 ``[queries, systems]``, where they are known.  Data
            sets count the same, whatever their numbers of queries (the analysis of unweighted means).
        """
        datasets, systems = means.shape
        system, dataset, rest = variance_components(means.T, ["system", "dataset"])
        analyses = [
            variance_components(scores.T, ["system", "query"])
            for scores in queries
            if len(scores) > 1
        ]
        query_square = _pooled_mean_square([lines[1] for lines in analyses])
        noise = _pooled_mean_square([lines[2] for lines in analyses])
        between_queries = max(query_square - noise, 0.0) / systems
        each = 0.0
        if queries:
            each = float(np.mean([1 / len(scores) for scores in queries]))
        return cls(
            systems,
            datasets,
            between=max(system.variance, 0.0),
            interaction=max(rest.mean_square - noise * each, 0.0),
            level=max(dataset.variance - between_queries * each, 0.0),
            queries=between_queries,
            noise=noise,
            each=each,
            ratio=system.f,
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
        each = self.each
        if queries is not None:
            each = 1 / queries
        if datasets is None:
            datasets = self.datasets

        error = self.interaction + self.noise * each
        if absolute:
            error += self.level + self.queries * each
        whole = self.between + error / datasets
        if not whole > 0:
            return 0.0
        return self.between / whole

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of Eρ², exact for normal scores (Feldt, Psychometrika 30, 1965)."""
        from scipy import special

        if not self.ratio > 0:
            return 0.0, 1.0

        df = self.systems - 1
        rest = df * (self.datasets - 1)
        above = float(special.fdtri(df, rest, (1 + confidence) / 2))
        below = float(special.fdtri(df, rest, (1 - confidence) / 2))
        return max(1 - above / self.ratio, 0.0), max(1 - below / self.ratio, 0.0)

    def datasets_needed(self, target: float, *, absolute: bool = False) -> int | None:
        """Return how many data sets like these make the coefficient reach a target; ``None`` without any."""
        if not self.between > 0:
            return None
        now = self.coefficient(absolute=absolute, datasets=1)
        datasets = target / (1 - target) * (1 - now) / now
        return max(2, math.ceil(datasets - 1e-9))

    def queries_needed(self, target: float, *, absolute: bool = False) -> int | None:
        """Return how many queries in each of these data sets do; ``None`` where no number is enough."""
        most = self.datasets * self.between * (1 - target) / target - self.interaction
        noise = self.noise
        if absolute:
            most -= self.level
            noise += self.queries
        if not (most > 0 and noise > 0):
            return None
        return max(1, math.ceil(noise / most - 1e-9))


def _pooled_mean_square(sources: Sequence[VarianceSource]) -> float:
    """Return the mean square of the lines of several analyses; 0 without any."""
    if not sources:
        return 0.0
    squares = sum(source.squares for source in sources)
    return squares / sum(source.df for source in sources)
