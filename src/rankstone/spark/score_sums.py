"""Sufficient statistics of a comparison on a cluster, which can be added up in any order.

Tasks get all rows of a query (or cluster of queries) and return exact sums, counts, and Poisson resamples
drawn by the name of each unit, so that no digit depends on partitions.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.comparison.score_matrix import ROUNDING, keys_of
from rankstone.measures.core.aggregation import ExactSum
from rankstone.measures.core.measure import Status
from rankstone.spark.executor_task import Shipped
from rankstone.stats.exact_sums import tolerance
from rankstone.stats.poisson_bootstrap import PoissonBootstrap
from rankstone.stats.sampling_units import Units, df_of_sums, remainder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankstone._basics import Floats, Ints, NamedValues

    Columns = tuple[int, int]

#: the schema of a task's result: sums as JSON
SUMS_SCHEMA: Final = "sums string"


class _Scores(Record):
    """One measure's scores of the queries for which all runs have a value, one column per run."""

    values: Floats
    units: Units
    names: pl.Series
    left_out: int

    def differences(self, pair: Columns) -> Units:
        return self.units.difference(*pair)


@dataclass(frozen=True, eq=False)
class _Task(Shipped):
    """Turns rows of scores into sums.

    Attributes
    ----------
    runs
        The number of runs.
    weighted
        Whether each measure weights its queries.
    pairs
        Columns of the runs to compare, ``one - other``.
    """

    runs: int
    weighted: tuple[bool, ...]
    pairs: tuple[Columns, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of scores into one row of sums."""
        import pyarrow as pa

        batches_here = list(batches)
        if not batches_here:
            return
        rows: Any = pl.from_arrow(pa.Table.from_batches(batches_here))
        sums = [
            self.summed(measure, scores).to_dict()
            for measure, scores in enumerate(self._scores(rows))
        ]
        text = json.dumps(sums)
        yield pa.RecordBatch.from_pydict({"sums": [text]})

    def summed(self, _at: int, _scores: _Scores) -> Any:  # noqa: ANN401 - the sums of one measure
        raise NotImplementedError

    def _scores(self, rows: pl.DataFrame) -> Iterator[_Scores]:
        queries = rows.select("query_id", "unit").unique(
            subset="query_id", maintain_order=True
        )
        places = queries.select("query_id").with_row_index("place")
        placed = rows.join(places, on="query_id", how="left", maintain_order="left")
        query = placed["place"].to_numpy()
        run = rows["run"].to_numpy()
        measures = len(self.weighted)
        shape = (queries.height, self.runs, measures)
        table: dict[str, Floats] = {}
        for name in ("value", "weight", "status"):
            cells = rows[name].explode().cast(pl.Float64)
            table[name] = np.full(shape, np.nan)
            table[name][query, run] = cells.to_numpy().reshape(-1, measures)
        dropped = table["status"] == Status.dropped
        table["value"][dropped] = np.nan
        table["status"][dropped] = np.nan
        for measure, weighted in enumerate(self.weighted):
            value = table["value"][:, :, measure]
            has_all = ~np.isnan(value).any(axis=1)
            complete = int(has_all.sum())
            weight = np.ones(complete)
            if weighted:
                weight = table["weight"][has_all, :, measure].max(axis=1)
            status = table["status"][:, :, measure]
            has_any = (~np.isnan(status)).any(axis=1)
            left_out = int(has_any.sum()) - complete
            unit_ids = queries["unit"].to_numpy()[has_all]
            names, cluster = np.unique(unit_ids, return_inverse=True)
            values = value[has_all]
            units = Units.from_scores(
                values, weight=weight, cluster=cluster.astype(np.int64)
            )
            yield _Scores(values, units, pl.Series(names, dtype=pl.String), left_out)


@dataclass(frozen=True, eq=False)
class CountingTask(_Task):
    """Computes sums of scores and of differences."""

    def summed(self, _at: int, scores: _Scores) -> MeasureSums:
        """Return the sums of one measure's scores."""
        total = scores.units.total
        size = scores.units.size
        between = [scores.differences(pair).total[:, 0] for pair in self.pairs]
        absolute = map(np.abs, between)
        columns = [size, *total.T, *between, *absolute]
        magnitudes = np.abs(scores.values)
        return MeasureSums(
            sums=[_exact(column) for column in columns],
            n=len(scores.values),
            units=len(size),
            left_out=scores.left_out,
            largest=float(magnitudes.max(initial=0.0)),
            least=float(size.min(initial=np.inf)),
            most=float(size.max(initial=0.0)),
        )


@dataclass(frozen=True, eq=False)
class DrawingTask(_Task):
    """Computes the sums that need the means: squared deviations, wins and losses, and resamples.

    Attributes
    ----------
    means
        The mean difference of every pair, by measure.
    largest
        The largest score of each measure; differences that are tiny compared with it are rounding.
    resamples
        The number of resamples of each measure; 0 for none.
    seed
        The random seed.
    sizes
        The total weight of queries, by measure.
    """

    means: tuple[tuple[float, ...], ...]
    largest: tuple[float, ...]
    resamples: tuple[int, ...]
    seed: int
    sizes: tuple[float, ...]

    def summed(self, measure: int, scores: _Scores) -> MeasureSpread:
        """Return the spread of one measure's differences around their means."""
        size = scores.units.size
        squares = []
        counts = []
        share = size / self.sizes[measure]
        rest = remainder(share)
        between = np.concatenate(
            [scores.differences(pair).total for pair in self.pairs], axis=1
        )
        for column, mean in zip(between.T, self.means[measure], strict=True):
            scatter = column - size * mean
            squares.append(_exact(scatter * scatter))
            squares.append(_exact(scatter**2 / rest))
        leverage = share**2 / rest
        shares = [_exact(share**2), _exact(leverage), _exact(leverage**2)]
        tiny = ROUNDING * self.largest[measure]
        for system, other in self.pairs:
            differences = scores.values[:, system] - scores.values[:, other]
            differences[np.abs(differences) <= tiny] = 0.0
            signs = np.sign(differences)
            counts.append([int((signs == sign).sum()) for sign in (1, 0, -1)])
        stream = None
        if self.resamples[measure]:
            stream = PoissonBootstrap(
                len(self.pairs), resamples=self.resamples[measure], seed=self.seed
            )
            stream.add(between, size, keys_of(scores.names), threads=1)
        return MeasureSpread(squares, shares, np.array(counts), stream)


@dataclass(eq=False)
class MeasureSums:
    """The sums of one measure's scores.

    Attributes
    ----------
    sums
        Sums of the units' sizes, of each run's totals, of each pair's differences, and of their absolute
        values.
    n, units, left_out
        Queries, independent units, and queries for which a run has no value.
    largest
        The largest score.
    least, most
        The smallest and the largest size of a unit.
    """

    sums: list[ExactSum]
    n: int
    units: int
    left_out: int
    largest: float
    least: float
    most: float

    def merge(self, other: Self) -> None:
        """Add the sums of other queries."""
        _merge(self.sums, other.sums)
        self.n += other.n
        self.units += other.units
        self.left_out += other.left_out
        self.largest = max(self.largest, other.largest)
        self.least = min(self.least, other.least)
        self.most = max(self.most, other.most)

    def to_dict(self) -> NamedValues:
        """Return the sums as JSON data."""
        return {**vars(self), "sums": [total.to_dict() for total in self.sums]}

    @classmethod
    def from_dict(cls, data: NamedValues) -> Self:
        """Return the object from its JSON data."""
        sums = [ExactSum.from_dict(state) for state in data["sums"]]
        return cls(**{**data, "sums": sums})

    @property
    def size(self) -> float:
        """The total weight of all queries."""
        return self.sums[0].value()

    def means(self, runs: int) -> tuple[list[float], list[float], list[float]]:
        """Return the mean of each run, and of each pair the mean and the absolute sum of differences."""
        values = [total.value() for total in self.sums[1:]]
        pairs = (len(values) - runs) // 2
        means = [value / self.size for value in values[: runs + pairs]]
        return means[:runs], means[runs:], values[runs + pairs :]


@dataclass(eq=False)
class MeasureSpread:
    """The spread of one measure's differences around their means.

    Attributes
    ----------
    squares
        For each pair, the sum of squared deviations, and that of squares over 1 minus the unit's share.
    shares
        Sums of squared shares of units, of their leverages and of squared leverages, for degrees of freedom.
    counts
        int64 ``[pairs, 3]``: wins, ties, losses.
    stream
        Resamples; ``None`` if there are none.
    """

    squares: list[ExactSum]
    shares: list[ExactSum]
    counts: Ints
    stream: PoissonBootstrap | None

    def merge(self, other: Self) -> None:
        """Add the sums of other queries."""
        _merge(self.squares, other.squares)
        _merge(self.shares, other.shares)
        self.counts = self.counts + other.counts
        if self.stream is not None and other.stream is not None:
            self.stream.merge(other.stream)

    def to_dict(self) -> NamedValues:
        """Return the spread as JSON data."""
        stream = None if self.stream is None else self.stream.to_dict()
        sums = {
            name: [total.to_dict() for total in getattr(self, name)]
            for name in ("squares", "shares")
        }
        return {**sums, "counts": self.counts.tolist(), "stream": stream}

    @classmethod
    def from_dict(cls, data: NamedValues) -> Self:
        """Return the object from its JSON data."""
        squares, shares = (
            [ExactSum.from_dict(stored) for stored in data[name]]
            for name in ("squares", "shares")
        )
        counts = np.array(data["counts"])
        stream = data["stream"]
        if stream is not None:
            stream = PoissonBootstrap.from_dict(stream, len(counts))
        return cls(squares, shares, counts, stream)

    def robust(self, pair: int) -> tuple[float, float]:
        """Return a pair's sum of squares for CR2, and the degrees of freedom of Bell and McCaffrey."""
        own, leverage, squares = (total.value() for total in self.shares)
        return self.squares[2 * pair + 1].value(), df_of_sums(own, leverage, squares)


@dataclass(frozen=True)
class MergingTask(Shipped):
    """Merges several rows of sums into one.

    Attributes
    ----------
    kind
        The class of the sums.
    """

    kind: type[MeasureSums | MeasureSpread]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Turn Arrow batches of sums into one row of sums."""
        import pyarrow as pa

        texts = [text for batch in batches for text in batch.column(0).to_pylist()]
        if texts:
            merged = [sums.to_dict() for sums in self.merged(texts)]
            yield pa.RecordBatch.from_pydict({"sums": [json.dumps(merged)]})

    def merged(self, texts: Iterable[str]) -> list[Any]:
        """Return the merged sums of several rows, by measure."""
        whole: list[Any] = []
        for text in texts:
            parts = [self.kind.from_dict(sums) for sums in json.loads(text)]
            for sums, others in zip(whole, parts, strict=bool(whole)):
                sums.merge(others)
            whole = whole or parts
        return whole


class DifferenceSums(Record):
    """The input of t-tests, from sums; see :class:`rankstone.stats.paired_tests.Differences`.

    Attributes
    ----------
    value
        The mean difference.
    squares
        The sum of squares around it.
    absolute
        The sum of absolute differences.
    units
        The number of independent units.
    size
        Their total weight.
    robust
        For clusters of unequal size, the sum of squares for CR2 and the degrees of freedom.
    """

    value: float
    squares: float
    absolute: float
    units: int
    size: float
    robust: tuple[float, float] | None = None

    def __len__(self) -> int:
        return self.units

    @property
    def mean(self) -> Floats:
        """The mean, float64 ``[1]``."""
        return np.array([self.value])

    @property
    def rounding(self) -> float:
        """The largest difference of two sums that is due to rounding."""
        return tolerance(np.array([self.absolute]))

    def robust_error(self) -> tuple[Floats, float]:
        """Return the standard error of the mean, float64 ``[1]``, and its degrees of freedom."""
        n = self.units
        if n < 2:  # noqa: PLR2004 - one has no spread
            return np.array([math.nan]), 0
        if self.robust is None:
            return np.array(
                [math.sqrt(self.squares * (n / (n - 1))) / self.size]
            ), n - 1
        squares, df = self.robust
        return np.array([math.sqrt(squares) / self.size]), df


def _exact(values: Floats) -> ExactSum:
    total = ExactSum()
    total.add(values)
    return total


def _merge(sums: Sequence[ExactSum], others: Sequence[ExactSum]) -> None:
    for total, addend in zip(sums, others, strict=True):
        total.merge(addend)
