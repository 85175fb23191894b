"""Repeated runs of a system, such as seeds: what they add to the error, and whether more of them pay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import percentage
from rankstone.errors import printable
from rankstone.stats.mean_intervals import estimates
from rankstone.stats.sampling_units import Units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparison.compared_systems import ComparedRuns
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


def repeated_runs(comparison: ComparedRuns) -> pl.DataFrame:
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
    columns = [matrix.systems.index(name) for name in (system, versus)]
    runs = [
        matrix.runs.get(name, matrix.values[:, [column]])
        for name, column in zip((system, versus), columns, strict=True)
    ]
    of_first, of_second = (scores.shape[1] for scores in runs)
    every = Units.from_scores(
        np.concatenate(runs, axis=1), weight=matrix.weight, cluster=matrix.cluster
    )

    # every run of the one with every run of the other
    first, second = np.divmod(np.arange(of_first * of_second), of_second)
    differences = every.difference(first, of_first + second)
    intervals = [single.interval(1 - alpha) for single in estimates(differences)]
    ends = np.sort(matrix.sign * np.array(intervals), axis=1)
    better = int((ends[:, 0] > 0).sum())
    worse = int((ends[:, 1] < 0).sum())

    # the error of the difference: that of queries, and that of runs
    error_queries = float(matrix.units.difference(*columns).robust_error()[0][0])
    spread = 0.0
    squared = 0.0
    for means in np.split(every.mean, [of_first]):
        if len(means) > 1:
            variance = float(means.var(ddof=1))
            spread += variance
            squared += variance / len(means)
    total = error_queries**2 + squared
    enough = None
    if error_queries > 0 and spread > 0:
        enough = math.ceil(spread * (1 / _SMALL - 1) / error_queries**2)

    return (
        matrix.measure,
        system,
        versus,
        of_first,
        of_second,
        error_queries,
        math.sqrt(squared),
        squared / total if total > 0 else 0.0,
        better,
        len(ends) - better - worse,
        worse,
        enough,
    )


def repeated_sentences(comparison: ComparedRuns) -> Iterator[str]:
    """Yield what repeated runs say about each pair by the primary measures."""
    say = comparison.say
    for row in repeated_runs(comparison).iter_rows(named=True):
        if row["measure"] not in comparison.primary:
            continue
        names = {
            name: printable(row[name], _NAME)
            for name in ("measure", "system", "versus")
        }
        text = say("repeated_share", share=percentage(row["share"]), **names)
        text += say("repeated_verdicts", pairs=row["runs"] * row["runs_versus"], **row)
        enough = row["enough"]
        if enough and enough > max(row["runs"], row["runs_versus"]):
            text += say("repeated_more", enough=enough)
        single = sum(row[name] > 0 for name in ("better", "inconclusive", "worse"))
        if single > 1:
            text += say("repeated_flips")
        yield text
