"""Charts of a comparison: intervals, queries, one system against another.

Wherever a ``measure`` can be named, the first primary one is taken unless it is; wherever two systems can be
named, the first question of the comparison.  Above 10,000 queries charts show an even sample and the largest
differences, and their titles say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, did_you_mean, printable
from rankstone.reports.chart_style import (
    COLOURS,
    VERDICTS,
    drawn,
    label,
    legible,
    needed,
    tooltips,
)
from rankstone.reports.charts.curve_charts import cloud_chart, curve_chart, traced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.diagnostics.curve_result import Curves

_HEIGHT: Final = 280
_SQUARE: Final = 380
#: letters of a name in a question, and of one in a title or at an axis
_NAME: Final = 24
_MAX_SYSTEM: Final = 30
#: queries that are all shown; of more, so many at each end of the differences, and so many between
MOST: Final = 10_000
_ENDS: Final = 500
_EVENLY: Final = 1_000
_SIGNS: Final = ("+", "0", "−")
_SIGN_COLOURS: Final = (COLOURS[0], "#999999", COLOURS[1])
_SIGN_SHAPES: Final = ("triangle-up", "circle", "triangle-down")


def forest(comparison: Comparison, measure: str | None = None) -> Any:  # noqa: ANN401 - Altair's chart
    """Return every question's difference with its interval at the family's level."""
    wanted = _measure(comparison, measure)
    rows = _question_rows(comparison.table.filter(measure=wanted))
    title = label("forest", comparison.lang, measure=wanted)
    return _forest(rows, title, comparison.lang)


def segments(comparison: Comparison, measure: str | None = None) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the same for each segment of queries."""
    if comparison.segments is None:
        raise BadOption(
            "this comparison has no segments", fix="compare(…, queries=…, by='column')"
        )
    wanted = _measure(comparison, measure)
    title = label("segments", comparison.lang, measure=wanted)
    return _forest(
        _question_rows(comparison.segments.filter(measure=wanted)),
        title,
        comparison.lang,
    )


def differences(
    comparison: Comparison,
    measure: str | None = None,
    system: str | None = None,
    versus: str | None = None,
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the queries' differences in order, a bar a query."""
    rows, title = _query_rows_and_title(
        comparison, "differences", measure, system, versus
    )
    alt = needed("altair")
    chart = alt.Chart(alt.NamedData("queries")).mark_bar(binSpacing=0, cursor="pointer")
    place = alt.X("place:O", title=label("order", comparison.lang)).axis(
        labels=False, ticks=False, grid=False
    )
    chart = chart.encode(
        place,
        alt.Y("difference:Q", title=label("difference", comparison.lang)),
        _sign_colour_and_shape()[0],
        tooltip=_query_tooltips(),
    )
    return drawn(chart, "queries", rows, title, _HEIGHT)


def histogram(
    comparison: Comparison,
    measure: str | None = None,
    system: str | None = None,
    versus: str | None = None,
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return how many queries have which difference."""
    rows, title = _query_rows_and_title(
        comparison, "histogram", measure, system, versus
    )
    alt = needed("altair")
    bins = alt.X("difference:Q", title=label("difference", comparison.lang)).bin(
        maxbins=40
    )
    count = alt.Y("count():Q", title=label("queries", comparison.lang))
    chart = (
        alt.Chart(alt.NamedData("queries"))
        .mark_bar(color=COLOURS[0])
        .encode(bins, count)
    )
    return drawn(chart, "queries", rows, title, _HEIGHT)


def scatter(
    comparison: Comparison,
    measure: str | None = None,
    system: str | None = None,
    versus: str | None = None,
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return one system's scores over the other's, a point a query."""
    rows, title = _query_rows_and_title(comparison, "scatter", measure, system, versus)
    first, second = _pair(comparison, system, versus)
    alt = needed("altair")
    colour, shape = _sign_colour_and_shape()
    marks = alt.Chart(alt.NamedData("queries")).mark_point(
        size=60, opacity=0.8, cursor="pointer"
    )
    x = alt.X("value_versus:Q", title=legible(second, _MAX_SYSTEM))
    y = alt.Y("value:Q", title=legible(first, _MAX_SYSTEM))
    points = marks.encode(x, y, colour, shape, tooltip=_query_tooltips())
    ends = alt.Chart(alt.NamedData("queries")).transform_aggregate(
        least="min(value)",
        least_versus="min(value_versus)",
        most="max(value)",
        most_versus="max(value_versus)",
    )
    ends = ends.transform_calculate(
        low="min(datum.least, datum.least_versus)",
        high="max(datum.most, datum.most_versus)",
    )
    line = ends.mark_rule(strokeDash=[4, 3], opacity=0.6).encode(
        x="low:Q", y="low:Q", x2="high:Q", y2="high:Q"
    )
    return drawn(alt.layer(line, points), "queries", rows, title, _SQUARE, _SQUARE)


def pr_curve(
    comparison: Comparison, curves: Curves | None = None, system: str | None = None
) -> Any:  # noqa: ANN401
    """Return precision over recall, interpolated, the mean of each system, with its interval up to four.

    Parameters
    ----------
    curves
        What :func:`rankstone.curve` traced; unless given, judgments and runs are read again for it,
        which saved scores do not have.
    system
        One system (run) alone, over its queries' own curves and the band that most of them are in.
    """
    shown = traced(comparison, "PR") if curves is None else curves
    lang = comparison.lang
    if system is None:
        return curve_chart(shown, label("pr", lang), lang)
    if system not in shown.runs:
        raise _no_system(system, tuple(shown.runs))
    return cloud_chart(
        shown, system, label("cloud", lang, system=printable(system, 30)), lang
    )


def at_k(
    comparison: Comparison,
    measure: str = "nDCG",
    k: str = "1..20",
    curves: Curves | None = None,
) -> Any:  # noqa: ANN401
    """Return a measure over its cutoff, the mean of each system, with its interval up to four.

    Parameters
    ----------
    measure, k
        Which measure, at which cutoffs.
    curves
        As for :func:`pr_curve`.
    """
    shown = traced(comparison, f"{measure}@{k}") if curves is None else curves
    title = label("at_k", comparison.lang, measure=str(shown.curves[0]))
    return curve_chart(shown, title, comparison.lang)


def _measure(comparison: Comparison, measure: str | None) -> str:
    names = comparison.measures
    if measure is None:
        return comparison.primary[0]
    if measure not in names:
        raise BadOption(
            f"{printable(measure)} was not compared",
            expected=", ".join(names),
            fix=did_you_mean(measure, names),
        )
    return measure


def _pair(
    comparison: Comparison, system: str | None, versus: str | None
) -> tuple[str, str]:
    pairs = (
        comparison.table.select("system", "versus").unique(maintain_order=True).rows()
    )
    if system is None and versus is None:
        first, second = pairs[0]
        return str(first), str(second)
    for name in (system, versus):
        if name not in comparison.systems:
            raise _no_system(name, comparison.systems, "name both: system=…, versus=…")
    return str(system), str(versus)


def _query_rows_and_title(
    comparison: Comparison,
    title_key: str,
    measure: str | None,
    system: str | None,
    versus: str | None,
) -> tuple[pl.DataFrame, str]:
    """Return the rows of two systems' queries, thinned if they are many, and the title of their chart.

    ``title_key`` names its phrase; the title also says how many queries are shown of too many.
    """
    measure = _measure(comparison, measure)
    matrix = comparison.matrices[measure]
    first, second = _pair(comparison, system, versus)
    rows = query_rows(matrix, matrix.systems.index(first), matrix.systems.index(second))
    shown = thinned(rows)

    title = label(
        title_key,
        comparison.lang,
        measure=measure,
        system=printable(first, _MAX_SYSTEM),
        versus=printable(second, _MAX_SYSTEM),
    )
    if shown.height < rows.height:
        title += label(
            "some", comparison.lang, shown=f"{shown.height:,}", n=f"{rows.height:,}"
        )
    return shown, title


def _no_system(
    name: str | None, known: Sequence[str], fix: str | None = None
) -> BadOption:
    return BadOption(
        f"{printable(name)} is no system that was compared",
        expected=", ".join(map(printable, known)),
        fix=fix,
    )


def _question_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row per comparison: its name, difference, ends of the interval, verdict."""
    by = table.columns[: table.columns.index("measure")]
    names = []
    for row in table.iter_rows(named=True):
        parts = [printable(row[name], _NAME) for name in by]
        system = printable(row["system"], _NAME)
        versus = printable(row["versus"], _NAME)
        parts.append(f"{system} − {versus}")
        names.append(" · ".join(parts))
    rows = table.select(
        "measure", "difference", "low", "high", "interval_kind", "verdict", "n"
    )
    return rows.with_columns(question=pl.Series(names, dtype=pl.String))


def _forest(rows: pl.DataFrame, title: str, lang: str) -> Any:  # noqa: ANN401 - Altair's chart
    """Return differences as points on their intervals."""
    alt = needed("altair")
    place = alt.Y("question:N", title=None).sort(None).axis(labelLimit=320)
    known = [verdict for verdict in VERDICTS if verdict in set(rows["verdict"])]
    colours, shapes = zip(*(VERDICTS[verdict] for verdict in known), strict=True)
    look = {"title": label("verdict", lang), "legend": alt.Legend(orient="bottom")}
    colour = alt.Color("verdict:N", **look).scale(domain=known, range=colours)
    shape = alt.Shape("verdict:N", **look).scale(domain=known, range=shapes)
    shown = [
        alt.Tooltip("question:N"),
        alt.Tooltip("verdict:N"),
        *tooltips(["difference", "low", "high"], "+.4f"),
    ]
    axis = label("difference", lang)
    kinds = set(rows["interval_kind"])
    if rows.height > 1 and len(kinds) == 1:
        axis = label(kinds.pop(), lang, axis=axis)
    base = alt.Chart(alt.NamedData("questions")).encode(place)
    bars = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title=axis), alt.X2("high:Q"), colour, tooltip=shown
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        alt.X("difference:Q"), colour, shape, tooltip=shown
    )
    zero = alt.Chart(alt.NamedData("questions")).mark_rule(
        strokeDash=[4, 3], opacity=0.6
    )
    zero = zero.encode(x=alt.datum(0))
    return drawn(alt.layer(zero, bars, points), "questions", rows, title, alt.Step(26))


def query_rows(matrix: Matrix, first: int, second: int) -> pl.DataFrame:
    """Return a row a query in the order of differences: scores of both, difference, its sign."""
    frame = pl.DataFrame(
        {
            "query_id": matrix.queries.cast(pl.String),
            "value": matrix.values[:, first],
            "value_versus": matrix.values[:, second],
            "difference": matrix.differences(first, second),
        }
    ).sort("difference", maintain_order=True)
    gain = pl.col("difference") * matrix.sign
    sign = (
        pl.when(gain > 0)
        .then(pl.lit("+"))
        .when(gain < 0)
        .then(pl.lit("−"))
        .otherwise(pl.lit("0"))
    )
    return frame.with_columns(sign=sign, place=pl.int_range(1, frame.height + 1))


def _sign_colour_and_shape() -> tuple[Any, Any]:
    alt = needed("altair")
    legend = alt.Legend(orient="bottom", title=None)
    colour = alt.Color("sign:N", legend=legend)
    shape = alt.Shape("sign:N", legend=legend)
    return (
        colour.scale(domain=_SIGNS, range=_SIGN_COLOURS),
        shape.scale(domain=_SIGNS, range=_SIGN_SHAPES),
    )


def _query_tooltips() -> list[Any]:
    alt = needed("altair")
    return [
        alt.Tooltip("query_id:N"),
        *tooltips(["value", "value_versus"], ".4f"),
        *tooltips(["difference"], "+.4f"),
    ]


def thinned(rows: pl.DataFrame, most: int = MOST) -> pl.DataFrame:
    """Return all rows where there are few; else the ends, and rows at even steps between them.

    Parameters
    ----------
    rows
        A row a query, in the order of their ``difference``.
    most
        So many are all shown.

    >>> import polars as pl
    >>> len(thinned(pl.DataFrame({"difference": np.arange(20_000.0)})))
    2000
    """
    if rows.height <= most:
        return rows
    ends = min(_ENDS, most // 4)
    evenly = min(_EVENLY, most // 2)
    middle = np.linspace(ends, rows.height - ends - 1, evenly).round()
    places = np.concatenate(
        [np.arange(ends), middle, np.arange(rows.height - ends, rows.height)]
    )
    return rows[np.unique(places.astype(np.int64))]
