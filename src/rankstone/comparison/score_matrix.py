"""The scores of systems by one measure: a row for each query in which every system has a value."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.errors import NotComparable, printable
from rankstone.stats.automatic_intervals import mean_estimates
from rankstone.stats.friedman_and_nemenyi import ranks
from rankstone.stats.sampling_units import Units
from rankstone.stats.two_way_anova import Blocked, two_way

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints


class Matrix(Record):
    """Scores of systems for the same queries, under one measure.

    Attributes
    ----------
    measure
        Its canonical text.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    systems
        Names, a column each.
    queries
        Ids, a row each: queries, or sessions for measures of sessions.
    values
        float64 ``[queries, systems]``; the mean over replicates where a system has several runs.
    weight
        float64 ``[queries]``.
    cluster
        int64 ``[queries]`` from 0, or ``None``: the user, the session a query belongs to.
    clusters
        Their names, by number.
    left_out
        Queries that some system has no value for.
    replicates
        System → the means of its runs over these queries; only systems with several runs.
    declared
        The lowest and highest value of the measure, ``None`` where there is no bound.
    runs
        System → the scores of its runs, float64 ``[queries, runs]``; only systems with several.
    """

    measure: str
    direction: str
    systems: tuple[str, ...]
    queries: pl.Series
    values: Floats
    weight: Floats
    cluster: Ints | None = None
    clusters: pl.Series | None = None
    left_out: int = 0
    replicates: Mapping[str, Floats] = field(default_factory=dict)
    declared: tuple[float | None, float | None] = (None, None)
    runs: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        scores: Mapping[tuple[str, str], pl.DataFrame],
        measure: str,
        direction: str,
        systems: Mapping[str, Sequence[str]],
        cluster: pl.DataFrame | None = None,
        declared: tuple[float | None, float | None] = (None, None),
    ) -> Matrix:
        """Join the systems' scores by query id.

        Parameters
        ----------
        scores
            Run and measure → ``query_id``, ``value`` and ``weight``.
        measure, direction
            Which measure.
        systems
            System → its runs.
        cluster
            ``query_id`` and ``cluster``; a query without a row is a cluster of its own.
        declared
            The lowest and highest value of the measure, ``None`` where there is no bound.
        """
        tables = {
            run: scores[run, measure] for runs in systems.values() for run in runs
        }
        ids = pl.concat(table.select("query_id") for table in tables.values())
        every = ids.unique(maintain_order=True)
        placed = {run: _placed(table, every) for run, table in tables.items()}
        columns = []
        has = np.ones(every.height, np.bool_)
        for runs in systems.values():
            values = np.stack([placed[run][0] for run in runs], axis=1)
            columns.append(values)
            has &= ~np.isnan(values).all(axis=1)
        if not has.any():
            raise NotComparable(
                f"no query has a value of {measure} for every system",
                given=", ".join(map(printable, systems)),
                fix="do the query ids match?",
            )

        rows = np.flatnonzero(has)
        queries = every["query_id"].gather(rows)
        parts = [values[rows] for values in columns]

        number = None
        names = None
        if cluster is not None:
            number, names = _clusters(queries, cluster)
        repeated = {
            system: part
            for system, part in zip(systems, parts, strict=True)
            if part.shape[1] > 1 and not np.isnan(part).any()
        }
        weights = np.stack([weight for _, weight in placed.values()], axis=1)
        matrix = cls(
            measure,
            direction,
            tuple(systems),
            queries,
            np.stack([_over_runs(part) for part in parts], axis=1),
            np.nanmax(weights[rows], axis=1),
            number,
            names,
            len(has) - len(rows),
            {system: part.mean(axis=0) for system, part in repeated.items()},
            declared,
            repeated,
        )
        if not matrix.weight.sum() > 0:
            raise NotComparable(f"all queries have weight 0, so {measure} has no mean")
        return matrix

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def units(self) -> Units:
        """The independent units, queries or clusters of them; a column for each system."""
        return Units.from_scores(self.values, weight=self.weight, cluster=self.cluster)

    @cached_property
    def span(self) -> tuple[float, float]:
        """The lowest and highest score a query can have; the observed extremes where there is no bound."""
        low, high = self.declared
        least = float(self.values.min())
        most = float(self.values.max())
        if low is None and high is None and least >= 0 and most <= 1:
            return 0.0, 1.0
        if high is not None:
            most = max(most, high)
        return min(least, low or 0.0), most

    def mean_intervals(
        self, confidence: float, method: str = "auto"
    ) -> list[tuple[float, float]]:
        """Return the interval of each system's mean by itself."""
        spans = [self.span] * len(self.systems)
        estimates = mean_estimates(self.units, spans, method)
        return [estimate.interval(confidence) for estimate in estimates]

    @cached_property
    def anova(self) -> Blocked | None:
        """Systems and queries as causes of scores (two-way); ``None`` for a single query."""
        if len(self) > 1 and len(self.systems) > 1:
            return two_way(self.values)
        return None

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A key for each unit: a hash of the query's or cluster's name, uint64."""
        return keys_of(self.queries if self.clusters is None else self.clusters)

    @property
    def sign(self) -> int:
        """The factor that makes a positive difference an improvement."""
        return -1 if self.direction == "lower" else 1

    def some(self, rows: Ints) -> Matrix:
        """Return the matrix of some of the queries, in the order given."""
        cluster = clusters = None
        if self.cluster is not None and self.clusters is not None:
            met, cluster = np.unique(self.cluster[rows], return_inverse=True)
            clusters = self.clusters.gather(met)
        return replace(
            self,
            queries=self.queries.gather(rows),
            values=self.values[rows],
            weight=self.weight[rows],
            cluster=cluster,
            clusters=clusters,
            replicates={},
            runs={},
        )

    def ranked(self) -> Matrix:
        """Return the matrix of ranks within queries: 1 for the lowest score, the mean rank for equal ones."""
        declared = 1.0, float(len(self.systems))
        values = ranks(self.values, rounding=ROUNDING)
        return replace(self, values=values, declared=declared)

    def differences(self, system: int | Ints, versus: int | Ints) -> Floats:
        """Return columns ``system - versus`` of every query; what is only rounding is 0."""
        differences: Floats = self.values[:, system] - self.values[:, versus]
        rounding = ROUNDING * np.abs(self.values).max(initial=0.0)
        differences[np.abs(differences) <= rounding] = 0.0
        return differences


#: a difference below this share of the largest score is rounding
ROUNDING: Final = 1e-12
#: first character of the name of a query without a cluster
NO_CLUSTER: Final = "\0"


def _placed(table: pl.DataFrame, every: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return values and weights for every query, NaN where there is none."""
    joined = every.join(table, on="query_id", how="left", maintain_order="left")
    numbers = joined.select(
        pl.col("value", "weight").cast(pl.Float64).fill_null(float("nan"))
    )
    return numbers["value"].to_numpy(), numbers["weight"].to_numpy()


def _over_runs(values: Floats) -> Floats:
    """Return the mean over the runs that answer each query."""
    if values.shape[1] == 1:
        return values[:, 0]
    return np.asarray(np.nanmean(values, axis=1), np.float64)


def _clusters(ids: pl.Series, cluster: pl.DataFrame) -> tuple[Ints, pl.Series]:
    """Return the number of each query's cluster, and names; a query without a cluster is its own cluster."""
    queries = ids.to_frame("query_id")
    placed = queries.join(cluster, on="query_id", how="left", maintain_order="left")

    own = pl.col("cluster").cast(pl.String)
    alone = pl.lit(NO_CLUSTER) + pl.col("query_id").cast(pl.String)
    names = placed.select(name=pl.coalesce(own, alone))

    numbered = names.unique(maintain_order=True).with_row_index("number")
    joined = names.join(numbered, on="name", how="left", maintain_order="left")
    numbers = joined["number"].to_numpy()
    return numbers.astype(np.int64), numbered["name"]


def keys_of(names: pl.Series) -> NDArray[np.uint64]:
    """Return a hash of each name, uint64, the same in every process and version."""
    hashes = bytearray()
    for name in names:
        hashes += blake2b(str(name).encode(), digest_size=8).digest()
    return np.frombuffer(hashes, "<u8").astype(np.uint64)


def systems_of(runs: Sequence[str]) -> dict[str, list[str]]:
    """Return the runs of each system: ``system/replicate`` names the runs of one system.

    >>> systems_of(["bm25", "dense/seed1", "dense/seed2"])
    {'bm25': ['bm25'], 'dense': ['dense/seed1', 'dense/seed2']}
    """
    shared: dict[str, list[str]] = {}
    for run in runs:
        system, _, replicate = run.partition("/")
        if system and replicate and "/" not in replicate:
            shared.setdefault(system, []).append(run)

    systems: dict[str, list[str]] = {}
    for run in runs:
        system = run.partition("/")[0]
        replicates = shared.get(system, ())
        together = len(replicates) > 1 and run in replicates
        systems.setdefault(system if together else run, []).append(run)

    # runs of a single system are compared with each other
    if len(systems) == 1 and len(runs) > 1:
        return {run: [run] for run in runs}
    return systems
