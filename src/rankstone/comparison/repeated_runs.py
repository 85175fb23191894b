"""Repeated runs of a system, such as seeds: what they add to the error, and whether more of them pay."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.sampling_units import Units
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.score_matrix import Matrix

_SCHEMA: Final[dict[str, Any]] = {
    "measure": pl.String,
    "system": pl.String,
    "versus": pl.String,
    "runs": pl.Int64,
    "runs_versus": pl.Int64,
    "error_queries": pl.Float64,
    "error_runs": pl.Float64,
    "share": pl.Float64,
    "better": pl.Int64,
    "inconclusive": pl.Int64,
    "worse": pl.Int64,
    "enough": pl.Int64,
}
#: runs are enough where they account for this share of the squared error
_SMALL: Final = 0.1
#: characters of a name in a sentence
_NAME: Final = 30


def repeated_runs(comparison: Comparison) -> pl.DataFrame:
    """Return what repeated runs say about each pair of systems of which one has several.

    Parameters
    ----------
    comparison
        The comparison; verdicts are at its confidence.

    Returns
    -------
    polars.DataFrame
        ``measure``, ``system``, ``versus``; ``runs`` and ``runs_versus``, how many each has;
        ``error_queries`` and ``error_runs``, the two parts of the standard error of the difference, and
        ``share``, that of runs in its square; ``better``, ``inconclusive`` and ``worse``, what single runs
        would have said: the verdicts of the t-test for each run of the one with each run of the other;
        ``enough``, with how many runs of each they would account for a tenth of the squared error, null
        without any variation.  Without repeated runs the frame is empty.
    """
    rows = [
        _row(comparison.matrices[measure], system, versus, comparison.settings.alpha)
        for measure, system, versus in comparison.table.select(
            "measure", "system", "versus"
        ).iter_rows()
        if {system, versus} & comparison.matrices[measure].runs.keys()
    ]
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def _row(matrix: Matrix, system: str, versus: str, alpha: float) -> tuple[Any, ...]:
    """Return the numbers of a pair."""
    at = matrix.systems.index(system)
    other = matrix.systems.index(versus)
    each = [
        matrix.runs.get(name, matrix.values[:, [of]])
        for name, of in ((system, at), (versus, other))
    ]
    counts = [part.shape[1] for part in each]
    every = Units.of(
        np.concatenate(each, axis=1), weight=matrix.weight, cluster=matrix.cluster
    )
    one, two = np.divmod(np.arange(counts[0] * counts[1]), counts[1])
    single = [
        found.interval(1 - alpha)
        for found in estimates(every.difference(one, counts[0] + two))
    ]
    ends = np.sort(matrix.sign * np.array(single), axis=1)
    better = int((ends[:, 0] > 0).sum())
    worse = int((ends[:, 1] < 0).sum())
    of_queries = float(matrix.units.difference(at, other).robust_error()[0][0])
    means = np.split(every.mean, [counts[0]])
    spread = sum(float(part.var(ddof=1)) for part in means if len(part) > 1)
    squared = sum(
        float(part.var(ddof=1)) / len(part) for part in means if len(part) > 1
    )
    total = of_queries**2 + squared
    enough = (
        math.ceil(spread * (1 / _SMALL - 1) / of_queries**2)
        if of_queries > 0 and spread > 0
        else None
    )
    verdicts = better, len(ends) - better - worse, worse
    share = squared / total if total > 0 else 0.0
    return (
        matrix.measure,
        system,
        versus,
        *counts,
        of_queries,
        math.sqrt(squared),
        share,
        *verdicts,
        enough,
    )


def repeated_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield what repeated runs say about each pair by the primary measures."""
    say = partial(phrase, "comparison", lang=comparison.lang)
    for row in comparison.repeated_runs().iter_rows(named=True):
        if row["measure"] not in comparison.primary:
            continue
        names = {
            name: printable(row[name], _NAME)
            for name in ("measure", "system", "versus")
        }
        text = say("repeated_share", share=f"{100 * row['share']:.2g} %", **names)
        text += say("repeated_verdicts", pairs=row["runs"] * row["runs_versus"], **row)
        if row["enough"] and row["enough"] > max(row["runs"], row["runs_versus"]):
            text += say("repeated_more", enough=row["enough"])
        single = sum(row[name] > 0 for name in ("better", "inconclusive", "worse"))
        yield text + (say("repeated_flips") if single > 1 else "")
