"""One measure's scores side by side: a row for each query that every system has a value for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import NotComparable, printable
from rankstone.stats import Blocked, Units, two_way
from rankstone.words import queries as counted_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Matrix", "systems_of"]


@dataclass(frozen=True, eq=False)
class Matrix:
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
    left_out
        Queries that some system has no value for.
    replicates
        System → the means of its runs over these queries; only systems with several runs.
    """

    measure: str
    direction: str
    systems: tuple[str, ...]
    queries: pl.Series
    values: Floats
    weight: Floats
    cluster: Ints | None = None
    left_out: int = 0
    replicates: Mapping[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        scores: Mapping[tuple[str, str], pl.DataFrame],
        measure: str,
        direction: str,
        systems: Mapping[str, Sequence[str]],
        cluster: pl.DataFrame | None = None,
    ) -> Matrix:
        """Bring the systems' scores together, by query id.

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
        """
        tables = {run: scores[run, measure] for runs in systems.values() for run in runs}
        every = pl.concat(table.select("query_id") for table in tables.values()).unique(maintain_order=True)
        found = {run: _placed(table, every) for run, table in tables.items()}
        columns = [np.stack([found[run][0] for run in runs], axis=1) for runs in systems.values()]
        has = np.logical_and.reduce([~np.isnan(table).all(axis=1) for table in columns])
        if not has.any():
            raise NotComparable(
                f"no query has a value of {measure} for every system",
                given=", ".join(map(printable, systems)),
                fix="do the query ids match?",
            )
        rows = np.flatnonzero(has)
        ids = every["query_id"].gather(rows)
        parts = [table[rows] for table in columns]
        matrix = cls(
            measure,
            direction,
            tuple(systems),
            ids,
            np.stack([_over_runs(part) for part in parts], axis=1),
            np.nanmax(np.stack([weight for _, weight in found.values()], axis=1)[rows], axis=1),
            None if cluster is None else _clusters(ids, cluster),
            len(has) - len(rows),
            {
                system: part.mean(axis=0)
                for system, part in zip(systems, parts, strict=True)
                if part.shape[1] > 1 and not np.isnan(part).any()
            },
        )
        if not matrix.weight.sum() > 0:
            raise NotComparable(f"the queries of {measure} weigh nothing together")
        return matrix

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def units(self) -> Units:
        """What is independent: queries, or clusters of them; a column for each system."""
        return Units.of(self.values, weight=self.weight, cluster=self.cluster)

    @cached_property
    def anova(self) -> Blocked | None:
        """Systems and queries as causes of scores (two-way); ``None`` for a single query."""
        return two_way(self.values) if len(self) > 1 and len(self.systems) > 1 else None

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """What tells units apart wherever they are met: a hash of the query's id, uint64."""
        names = self.queries if self.cluster is None else pl.Series(range(int(self.cluster.max()) + 1))
        hashes = [blake2b(str(name).encode(), digest_size=8).digest() for name in names]
        return np.frombuffer(b"".join(hashes), "<u8").astype(np.uint64)

    @property
    def sign(self) -> int:
        """What a difference is multiplied by so that above 0 is better."""
        return -1 if self.direction == "lower" else 1

    def some(self, rows: Ints) -> Matrix:
        """Return the matrix of some of the queries, in the order given."""
        cluster = None
        if self.cluster is not None:
            cluster = np.unique(self.cluster[rows], return_inverse=True)[1].astype(np.int64)
        return replace(
            self,
            queries=self.queries.gather(rows),
            values=self.values[rows],
            weight=self.weight[rows],
            cluster=cluster,
            replicates={},
        )

    def differences(self, one: int, other: int) -> Floats:
        """Return ``one - other`` of every query; what is only rounding is 0."""
        found: Floats = self.values[:, one] - self.values[:, other]
        found[np.abs(found) <= _ROUNDING * np.abs(self.values).max(initial=0.0)] = 0.0
        return found


#: a difference below this share of the largest score is rounding
_ROUNDING = 1e-12


def _placed(table: pl.DataFrame, every: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return values and weights for every query, NaN where there is none."""
    joined = every.join(table, on="query_id", how="left", maintain_order="left")
    value, weight = (
        joined[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in ("value", "weight")
    )
    return value, weight


def _over_runs(values: Floats) -> Floats:
    """Return the mean over the runs that answer each query."""
    return values[:, 0] if values.shape[1] == 1 else np.asarray(np.nanmean(values, axis=1), np.float64)


def _clusters(ids: pl.Series, cluster: pl.DataFrame) -> Ints:
    """Return the cluster of each query, numbered; queries nobody places stand for themselves."""
    placed = ids.to_frame("query_id").join(cluster, on="query_id", how="left", maintain_order="left")
    known = placed["cluster"].cast(pl.String)
    alone = pl.Series([f"\0{at}" for at in range(len(ids))])
    names = pl.DataFrame({"name": known, "alone": alone}).select(pl.coalesce("name", "alone"))["name"]
    numbered = names.unique(maintain_order=True).to_frame().with_row_index("number")
    found = names.to_frame().join(numbered, on="name", how="left", maintain_order="left")
    return found["number"].to_numpy().astype(np.int64)


def systems_of(runs: Sequence[str]) -> dict[str, list[str]]:
    """Return the runs of each system: ``system/replicate`` names the runs of one system.

    >>> systems_of(["bm25", "dense/seed1", "dense/seed2"])
    {'bm25': ['bm25'], 'dense': ['dense/seed1', 'dense/seed2']}
    """
    parts = {run: run.split("/") for run in runs}
    shared: dict[str, list[str]] = {}
    for run, names in parts.items():
        if len(names) == 2 and all(names):  # noqa: PLR2004 - a system and a replicate
            shared.setdefault(names[0], []).append(run)
    systems: dict[str, list[str]] = {}
    for run, names in parts.items():
        together = len(shared.get(names[0], ())) > 1 and run in shared[names[0]]
        systems.setdefault(names[0] if together else run, []).append(run)
    if len(systems) == 1 and len(runs) > 1:
        return {run: [run] for run in runs}  # all of one system: then they are what is compared
    return systems


def not_complete(matrix: Matrix) -> str | None:
    """Say how many queries were left out, ``None`` where none was."""
    if not matrix.left_out:
        return None
    return f"{matrix.measure}: {counted_queries(matrix.left_out)} without a value for every system left out"
