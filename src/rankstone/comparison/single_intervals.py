"""Confidence intervals of single means, over queries of the same kind."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.comparison.compare_systems import cluster_of
from rankstone.comparison.score_matrix import Matrix
from rankstone.comparison.score_sources import MEANS, Source
from rankstone.comparison.settings import ComparisonSettings
from rankstone.errors import one_of
from rankstone.io.attributes import read_attributes
from rankstone.measures.core.aggregation import percentile
from rankstone.stats.automatic_intervals import mean_estimates
from rankstone.stats.mean_intervals import METHODS, estimates
from rankstone.stats.proportions import quantile_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankstone._basics import Columns, Progress
    from rankstone.evaluation.scores import Scores


#: approximate number of values that are resampled together
_CELLS: Final = 1 << 22

_SCHEMA: Final[dict[str, Any]] = {
    "run": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "error": pl.Float64,
    "n": pl.Int64,
    "units": pl.Int64,
}


def intervals(
    scores: Scores,
    *,
    interval: str = "auto",
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    cluster: str | None = None,
    queries: object = None,
    columns: Columns | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Return a confidence interval for the mean of each run and measure, over queries.

    Many scores are 0 or 1, and equal scores still leave uncertainty; so the default uses the range of the
    measure (docs/compare.md has the evidence).  Ends of other methods are clipped to the range.

    Parameters
    ----------
    scores
        What :func:`rankstone.evaluate` returned.
    interval
        ``auto`` (:class:`rankstone.stats.BoundedMean`), ``worst_case``, ``t``, ``bca``, ``percentile``,
        ``studentised`` or ``poisson``.
    confidence
        Confidence of each interval.
    resamples, seed
        Settings of the bootstrap, as for :func:`rankstone.compare`.
    cluster
        A column of ``queries``, such as users or sessions: the independent units.
    queries, columns
        The table of queries, as for :func:`rankstone.evaluate`.
    progress
        Called while resamples are drawn.

    Returns
    -------
    polars.DataFrame
        ``run``, ``measure``, ``value``, ``low``, ``high``, ``error`` (standard), ``n`` queries, ``units``
        of them independent.  Null ends for measures that are not averaged; those of percentiles such as
        agg=p95 are values, and null where there are too few.

    Examples
    --------
    >>> import rankstone
    >>> run = {f"q{at}": ["a", "b", "c"][at % 3 :] + ["d"] for at in range(30)}
    >>> scores = rankstone.evaluate({f"q{at}": {"c": 1} for at in range(30)}, run, "RR")
    >>> intervals(scores, interval="t").select(pl.col("low", "high").round(4)).row(0)
    (0.5035, 0.7187)
    """
    one_of("interval", interval, tuple(METHODS))
    settings = ComparisonSettings(
        interval=interval, confidence=confidence, resamples=resamples, seed=seed
    )
    clusters = None
    cluster = cluster or cluster_of(queries, columns, scores.measures)
    if cluster is not None:
        table_of_queries = read_attributes(queries, "query_id", columns).collect(
            cluster
        )
        clusters = table_of_queries.select("query_id", cluster=cluster)
    rows: list[dict[str, Any]] = []
    for together in _drawn_together(_matrices(scores, clusters), interval):
        rows += _rows_of_means(together, settings, progress)
    if clusters is None:
        rows += _percentiles(scores, confidence)
    ends = pl.col("low", "high", "error")
    frame = pl.DataFrame(rows, _SCHEMA).with_columns(
        pl.when(ends.is_finite()).then(ends)
    )
    keys = ["run", "measure"]
    return (
        scores.mean()
        .select(keys)
        .join(frame, on=keys, how="left", maintain_order="left")
    )


def _matrices(
    scores: Scores, clusters: pl.DataFrame | None
) -> Iterator[tuple[str, Matrix]]:
    """Yield each run with its scores under each measure that is averaged; not those without a value."""
    means = [measure for measure in scores.measures if measure.agg in MEANS]
    source = Source.of(scores, means)
    for run in source.runs:
        for measure in source.measures:
            table = source.tables.get((run, measure))
            if table is not None and not table["value"].drop_nulls().is_empty():
                matrix = Matrix.of(
                    {(run, measure): table},
                    measure,
                    "higher",
                    {run: [run]},
                    clusters,
                    source.spans[measure],
                )
                yield run, matrix


def _drawn_together(
    matrices: Iterable[tuple[str, Matrix]], interval: str
) -> Iterable[list[tuple[str, Matrix]]]:
    """Return matrices in groups whose units are drawn once, with the bits of separate draws."""
    groups: dict[bytes, list[list[tuple[str, Matrix]]]] = {}
    for run, matrix in matrices:
        parts = groups.setdefault(_resampling_key(matrix, interval), [[]])
        if len(parts[-1]) * len(matrix) >= _CELLS:
            parts.append([])
        parts[-1].append((run, matrix))
    return chain.from_iterable(groups.values())


def _rows_of_means(
    together: list[tuple[str, Matrix]],
    settings: ComparisonSettings,
    progress: Progress | None,
) -> Iterator[dict[str, Any]]:
    """Yield a row of each matrix, all of the same units."""
    first = together[0][1]
    totals = np.concatenate([matrix.units.total for _, matrix in together], axis=1)
    units = replace(first.units, total=totals)
    if settings.interval in ("auto", "worst_case"):
        spans = [matrix.span for _, matrix in together]
        means = mean_estimates(units, spans, settings.interval)
    else:
        means = estimates(
            units,
            settings.interval,
            resamples=settings.draws(len(units)),
            seed=settings.seed,
            keys=first.keys if settings.interval == "poisson" else None,
            progress=progress,
        )
    for (run, matrix), mean in zip(together, means, strict=True):
        ends = replace(mean, span=matrix.span).interval(settings.confidence)
        low, high = np.clip(ends, *matrix.span).tolist()
        yield {
            "run": run,
            "measure": matrix.measure,
            "value": mean.value,
            "low": low,
            "high": high,
            "error": mean.error,
            "n": len(matrix),
            "units": len(units),
        }


def _percentiles(scores: Scores, confidence: float) -> Iterator[dict[str, Any]]:
    """Yield rows of percentiles, whose intervals need no distribution; null ends where n is too small."""
    for measure in scores.measures:
        share = percentile(measure.agg)
        if share is None:
            continue
        for run in scores.runs:
            rows = scores.per_query.filter(run=run, measure=str(measure))
            values = rows["value"].drop_nulls().to_numpy()
            low, high = quantile_interval(values, share, confidence)
            yield {
                "run": run,
                "measure": str(measure),
                "value": measure.aggregate(values, values, values, values),
                "low": low,
                "high": high,
                "n": len(values),
                "units": len(values),
            }


def _resampling_key(matrix: Matrix, interval: str) -> bytes:
    """Return a key that is equal for matrices whose units can be drawn together."""
    return matrix.units.size.tobytes() + (
        matrix.keys.tobytes() if interval == "poisson" else b""
    )
