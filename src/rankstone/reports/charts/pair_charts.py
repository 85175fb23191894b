"""Charts of one system against another.

Which queries are shown where there are too many to show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.reports.chart_style import COLOURS, VERDICTS, drawn, label, needed, records

if TYPE_CHECKING:
    from rankstone.comparison.score_matrix import Matrix

_WIDTH: Final = 640
_HEIGHT: Final = 280
_SQUARE: Final = 380
#: letters of a name in a question
_NAME: Final = 24
_SIGNS: Final = ("+", "0", "−")
_SIGN_COLOURS: Final = (COLOURS[0], "#999999", COLOURS[1])


def question_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row per comparison: its name, difference, ends of the interval, verdict."""
    by = table.columns[: table.columns.index("measure")]
    names = [
        " · ".join(
            [
                *(printable(row[name], _NAME) for name in by),
                f"{printable(row['system'], _NAME)} − {printable(row['versus'], _NAME)}",
            ]
        )
        for row in table.iter_rows(named=True)
    ]
    rows = table.select("measure", "difference", "low", "high", "interval_kind", "verdict", "n")
    return rows.with_columns(question=pl.Series(names, dtype=pl.String))


def forest(rows: pl.DataFrame, title: str, lang: str) -> Any:  # noqa: ANN401 - Altair's chart
    """Return differences as points on their intervals."""
    alt = needed("altair")
    place = alt.Y("question:N", title=None).sort(None).axis(labelLimit=320)
    known = [verdict for verdict in VERDICTS if verdict in set(rows["verdict"])]
    colour = alt.Color("verdict:N", title=label("verdict", lang), legend=alt.Legend(orient="bottom"))
    shape = alt.Shape("verdict:N", title=label("verdict", lang), legend=alt.Legend(orient="bottom"))
    colour = colour.scale(domain=known, range=[VERDICTS[name][0] for name in known])
    shape = shape.scale(domain=known, range=[VERDICTS[name][1] for name in known])
    tooltips = [alt.Tooltip("question:N"), alt.Tooltip("verdict:N")]
    tooltips += [alt.Tooltip(f"{name}:Q", format="+.4f") for name in ("difference", "low", "high")]
    axis, kinds = label("difference", lang), set(rows["interval_kind"])
    if rows.height > 1 and len(kinds) == 1:
        axis = label(kinds.pop(), lang, axis=axis)
    base = alt.Chart(alt.NamedData("questions")).encode(place)
    bars = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title=axis), alt.X2("high:Q"), colour, tooltip=tooltips
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        alt.X("difference:Q"), colour, shape, tooltip=tooltips
    )
    zero = alt.Chart(alt.NamedData("questions")).mark_rule(strokeDash=[4, 3], opacity=0.6)
    zero = zero.encode(x=alt.datum(0))
    chart = alt.layer(zero, bars, points).properties(width=_WIDTH, height=alt.Step(26))
    return drawn(chart, "questions", records(rows), title)


def query_rows(matrix: Matrix, one: int, other: int) -> pl.DataFrame:
    """Return a row a query in the order of differences: scores of both, difference, its sign."""
    frame = pl.DataFrame(
        {
            "query_id": matrix.queries.cast(pl.String),
            "value": matrix.values[:, one],
            "value_versus": matrix.values[:, other],
            "difference": matrix.differences(one, other),
        }
    ).sort("difference", maintain_order=True)
    good = pl.col("difference") * matrix.sign
    sign = pl.when(good > 0).then(pl.lit("+")).when(good < 0).then(pl.lit("−")).otherwise(pl.lit("0"))
    return frame.with_columns(sign=sign, place=pl.int_range(1, frame.height + 1))


def _signed() -> tuple[Any, Any]:
    alt = needed("altair")
    scale = {"domain": list(_SIGNS), "range": list(_SIGN_COLOURS)}
    shapes = {"domain": list(_SIGNS), "range": ["triangle-up", "circle", "triangle-down"]}
    legend = alt.Legend(orient="bottom", title=None)
    return (
        alt.Color("sign:N", legend=legend).scale(**scale),
        alt.Shape("sign:N", legend=legend).scale(**shapes),
    )


def _tooltips() -> list[Any]:
    alt = needed("altair")
    numbers = [
        alt.Tooltip(f"{name}:Q", format=form)
        for name, form in (("value", ".4f"), ("value_versus", ".4f"), ("difference", "+.4f"))
    ]
    return [alt.Tooltip("query_id:N"), *numbers]


def differences(rows: pl.DataFrame, title: str, lang: str) -> Any:  # noqa: ANN401 - Altair's chart
    """Return differences as bars in their order."""
    alt = needed("altair")
    chart = alt.Chart(alt.NamedData("queries")).mark_bar(binSpacing=0, cursor="pointer")
    place = alt.X("place:O", title=label("order", lang)).axis(labels=False, ticks=False, grid=False)
    chart = chart.encode(
        place, alt.Y("difference:Q", title=label("difference", lang)), _signed()[0], tooltip=_tooltips()
    )
    return drawn(chart.properties(width=_WIDTH, height=_HEIGHT), "queries", records(rows), title)


def histogram(rows: pl.DataFrame, title: str, lang: str) -> Any:  # noqa: ANN401 - Altair's chart
    """Return how many queries have which difference."""
    alt = needed("altair")
    bins = alt.X("difference:Q", title=label("difference", lang)).bin(maxbins=40)
    count = alt.Y("count():Q", title=label("queries", lang))
    chart = alt.Chart(alt.NamedData("queries")).mark_bar(color=COLOURS[0]).encode(bins, count)
    return drawn(chart.properties(width=_WIDTH, height=_HEIGHT), "queries", records(rows), title)


def scatter(rows: pl.DataFrame, title: str, names: tuple[str, str], lang: str) -> Any:  # noqa: ANN401
    """Return one system's scores over the other's, and the line where both are equal."""
    del lang
    alt = needed("altair")
    colour, shape = _signed()
    marks = alt.Chart(alt.NamedData("queries")).mark_point(size=60, opacity=0.8, cursor="pointer")
    points = marks.encode(
        alt.X("value_versus:Q", title=names[1]), alt.Y("value:Q", title=names[0]), colour, shape,
        tooltip=_tooltips(),
    )  # fmt: skip
    ends = alt.Chart(alt.NamedData("queries")).transform_aggregate(
        least="min(value)",
        least_versus="min(value_versus)",
        most="max(value)",
        most_versus="max(value_versus)",
    )
    ends = ends.transform_calculate(
        low="min(datum.least, datum.least_versus)", high="max(datum.most, datum.most_versus)"
    )
    line = ends.mark_rule(strokeDash=[4, 3], opacity=0.6).encode(
        x="low:Q", y="low:Q", x2="high:Q", y2="high:Q"
    )
    chart = alt.layer(line, points).properties(width=_SQUARE, height=_SQUARE)
    return drawn(chart, "queries", records(rows), title)


#: queries that are all shown
MOST: Final = 10_000
_ENDS: Final = 500
_EVENLY: Final = 1_000


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
    ends, evenly = min(_ENDS, most // 4), min(_EVENLY, most // 2)
    middle = np.linspace(ends, rows.height - ends - 1, evenly).round()
    places = np.concatenate([np.arange(ends), middle, np.arange(rows.height - ends, rows.height)])
    return rows[np.unique(places.astype(np.int64))]
