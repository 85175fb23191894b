"""Charts of a comparison: intervals, queries, one system against another.

Wherever a ``measure`` can be named, the first primary one is taken unless it is; wherever two systems can be
named, the first question of the comparison.  Above 10,000 queries charts show an even sample and the largest
differences, and their titles say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.errors import BadOption, nearest, printable
from rankstone.reports.chart_style import label, legible
from rankstone.reports.charts import pair_charts as pairs
from rankstone.reports.charts.curve_charts import cloud_chart, curve_chart, traced
from rankstone.reports.charts.pair_charts import thinned

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.diagnostics.curve_result import Curves


def forest(found: Comparison, measure: str | None = None) -> Any:  # noqa: ANN401 - Altair's chart
    """Return every question's difference with its interval at the family's level."""
    chosen = _measure(found, measure)
    rows = pairs.question_rows(found.table.filter(measure=chosen))
    title = label("forest", found.lang, measure=chosen)
    return pairs.forest(rows, title, found.lang)


def segments(found: Comparison, measure: str | None = None) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the same for each segment of queries."""
    if found.segments is None:
        raise BadOption("this comparison has no segments", fix="compare(…, queries=…, by='column')")
    chosen = _measure(found, measure)
    title = label("segments", found.lang, measure=chosen)
    return pairs.forest(pairs.question_rows(found.segments.filter(measure=chosen)), title, found.lang)


def differences(
    found: Comparison, measure: str | None = None, system: str | None = None, versus: str | None = None
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the queries' differences in order, a bar a query."""
    rows, title = _queries(found, "differences", measure, system, versus)
    return pairs.differences(rows, title, found.lang)


def histogram(
    found: Comparison, measure: str | None = None, system: str | None = None, versus: str | None = None
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return how many queries have which difference."""
    rows, title = _queries(found, "histogram", measure, system, versus)
    return pairs.histogram(rows, title, found.lang)


def scatter(
    found: Comparison, measure: str | None = None, system: str | None = None, versus: str | None = None
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return one system's scores over the other's, a point a query."""
    rows, title = _queries(found, "scatter", measure, system, versus)
    one, other = _pair(found, system, versus)
    return pairs.scatter(rows, title, (legible(one, 30), legible(other, 30)), found.lang)


def pr_curve(found: Comparison, curves: Curves | None = None, system: str | None = None) -> Any:  # noqa: ANN401
    """Return precision over recall, interpolated, the mean of each system, with its interval up to four.

    Parameters
    ----------
    curves
        What :func:`rankstone.curve` traced; unless given, judgments and runs are read again for it,
        which saved scores do not have.
    system
        One system (run) alone, over its queries' own curves and the band that most of them are in.
    """
    shown = traced(found, "PR") if curves is None else curves
    lang = found.lang
    if system is None:
        return curve_chart(shown, label("pr", lang), lang)
    if system not in shown.runs:
        raise _no_system(system, tuple(shown.runs))
    return cloud_chart(shown, system, label("cloud", lang, system=printable(system, 30)), lang)


def at_k(found: Comparison, measure: str = "nDCG", k: str = "1..20", curves: Curves | None = None) -> Any:  # noqa: ANN401
    """Return a measure over its cutoff, the mean of each system, with its interval up to four.

    Parameters
    ----------
    measure, k
        Which measure, at which cutoffs.
    curves
        As for :func:`pr_curve`.
    """
    shown = traced(found, f"{measure}@{k}") if curves is None else curves
    title = label("at_k", found.lang, measure=str(shown.curves[0]))
    return curve_chart(shown, title, found.lang)


def _measure(found: Comparison, measure: str | None) -> str:
    names = found.measures
    if measure is None:
        return found.primary[0]
    if measure not in names:
        close = nearest(measure, names, n=1)
        raise BadOption(
            f"{printable(measure)} was not compared",
            expected=", ".join(names),
            fix=f"did you mean {close[0]}?" if close else None,
        )
    return measure


def _pair(found: Comparison, system: str | None, versus: str | None) -> tuple[str, str]:
    pairs = found.table.select("system", "versus").unique(maintain_order=True).rows()
    if system is None and versus is None:
        one, other = pairs[0]
        return str(one), str(other)
    for name in (system, versus):
        if name not in found.systems:
            raise _no_system(name, found.systems, "name both: system=…, versus=…")
    return str(system), str(versus)


def _queries(
    found: Comparison, what: str, measure: str | None, system: str | None, versus: str | None
) -> tuple[pl.DataFrame, str]:
    chosen, (one, other) = _measure(found, measure), _pair(found, system, versus)
    matrix = found.matrices[chosen]
    rows = pairs.query_rows(matrix, matrix.systems.index(one), matrix.systems.index(other))
    shown = thinned(rows)
    title = label(
        what,
        found.lang,
        measure=chosen,
        system=printable(one, 30),
        versus=printable(other, 30),
    )
    if shown.height < rows.height:
        title += label("some", found.lang, shown=f"{shown.height:,}", n=f"{rows.height:,}")
    return shown, title


def _no_system(name: str | None, known: Sequence[str], fix: str | None = None) -> BadOption:
    return BadOption(
        f"{printable(name)} is not a compared system",
        expected=", ".join(map(printable, known)),
        fix=fix,
    )
