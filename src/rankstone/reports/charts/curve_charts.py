"""Charts of curves: means over queries with their intervals, a line a system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, UsageError, did_you_mean, printable
from rankstone.measures.at_cutoffs import AtK
from rankstone.reports.chart_style import (
    COLOURS,
    by_system,
    drawn,
    label,
    needed,
    records,
    tooltips,
)

if TYPE_CHECKING:
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.diagnostics.curve_result import Curves

_HEIGHT: Final = 340
#: systems whose bands are distinguishable
_BANDS: Final = 4
#: drawn for bands, which a picture shows to a hundredth
_RESAMPLES: Final = 300
#: queries' own curves that are drawn of a run, and of all runs together
_CLOUD: Final = 200
_CLOUDS: Final = 1_000
#: queries above which means are as good as normal, and nothing is drawn
_MANY: Final = 2_000
_NORMAL: Final = 1.959964
_MEAN: Final = ("mean", "ci_low", "ci_high")
_BAND: Final = ("band_low", "band_high")
#: letters of a run's name in a title
_NAME: Final = 30


def means(curves: Curves, curve: str | None = None, *, lang: str = "en") -> Any:  # noqa: ANN401 - Altair's chart
    """Return the mean of each run, with its interval up to four."""
    name = _curve(curves, curve)
    return curve_chart(curves, _title(curves, name, lang), lang, name)


def cloud(
    curves: Curves,
    run: str | None = None,
    curve: str | None = None,
    *,
    lang: str = "en",
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return one run's mean (the first's) over the curves of its queries, with the band of most."""
    name = _curve(curves, curve)
    runs = list(curves.runs)
    run = runs[0] if run is None else run
    if run not in runs:
        raise _unknown("run", run, runs)
    title = f"{printable(run, _NAME)}: {_title(curves, name, lang)}"
    return cloud_chart(curves, run, title, lang, name)


def _curve(curves: Curves, curve: str | None) -> str:
    names = [str(traced_curve) for traced_curve in curves.curves]
    if curve is None:
        return names[0]
    if curve not in names:
        raise _unknown("curve", curve, names)
    return curve


def _title(curves: Curves, name: str, lang: str) -> str:
    curve = next(curve for curve in curves.curves if str(curve) == name)
    if isinstance(curve, AtK):
        return label("at_k", lang, measure=name)
    return label("pr", lang) if name == "PR" else name


def _unknown(what: str, name: str, known: list[str]) -> BadOption:
    return BadOption(
        f"there is no {what} {printable(name)!r}",
        expected=", ".join(map(printable, known)),
        fix=did_you_mean(name, known, repr),
    )


def traced(comparison: Comparison, curves: str) -> Curves:
    """Trace curves of the runs that a comparison was made of."""
    if comparison.sources is None:
        raise UsageError(
            "scores per query have no lists to trace curves of",
            fix="rankstone.compare(qrels, runs, …), or hand in curves=rankstone.curve(…)",
        )
    from rankstone.diagnostics.curve_evaluation import curve

    many = max(map(len, comparison.matrices.values())) > _MANY
    plain = many or len(comparison.sources.runs) > _BANDS
    options = {
        "resamples": 1 if plain else _RESAMPLES,
        "seed": comparison.settings.seed,
        **comparison.sources.given,
    }
    return curve(comparison.sources.qrels, comparison.sources.runs, curves, **options)


def curve_chart(curves: Curves, title: str, lang: str, curve: str | None = None) -> Any:  # noqa: ANN401
    """Return the mean curves of all runs: lines with points, a band for the interval of the mean."""
    alt = needed("altair")
    drawn_curve = next(c for c in curves.curves if curve is None or str(c) == curve)
    rows = _means(curves, str(drawn_curve))
    across = _across(drawn_curve, lang)
    x = alt.X("x:Q", title=across)
    base = alt.Chart(alt.NamedData("curve"))
    look = by_system(list(curves.runs), label("system", lang))
    shown = [
        alt.Tooltip("run:N"),
        alt.Tooltip("x:Q", title=across),
        *tooltips(_MEAN, ".4f"),
    ]
    opacity = 0.0
    if len(curves.runs) <= _BANDS:
        opacity = 0.12
    band = base.mark_area(opacity=opacity).encode(
        x, alt.Y("ci_low:Q"), alt.Y2("ci_high:Q"), look["color"]
    )
    y = alt.Y("mean:Q", title=label("mean", lang))
    line = base.mark_line().encode(x, y, look["color"])
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x, y, look["color"], look["shape"], tooltip=shown
    )
    named = rows.with_columns(pl.col("run").map_elements(printable, pl.String))
    return drawn(alt.layer(band, line, points), "curve", named, title, _HEIGHT)


def cloud_chart(
    curves: Curves, run: str, title: str, lang: str, curve: str | None = None
) -> Any:  # noqa: ANN401
    """Return one run's mean curve over the curves of its queries, with the band that most of these are in."""
    alt = needed("altair")
    drawn_curve = next(c for c in curves.curves if curve is None or str(c) == curve)
    across = _across(drawn_curve, lang)
    x = alt.X("x:Q", title=across)
    base = alt.Chart(alt.NamedData("cloud"))
    means = base.transform_filter("!isValid(datum.query_id)")
    queries = base.transform_filter("isValid(datum.query_id)")
    colour = alt.value(COLOURS[0])
    shown = [alt.Tooltip("x:Q", title=across), *tooltips((*_MEAN, *_BAND), ".4f")]
    y = alt.Y("mean:Q", title=label("mean", lang))
    lines = queries.mark_line(strokeWidth=1, opacity=0.2, interpolate="linear")
    chart = alt.layer(
        lines.encode(
            x,
            alt.Y("y:Q"),
            alt.Detail("query_id:N"),
            color=colour,
            tooltip=["query_id:N"],
        ),
        means.mark_area(opacity=0.12).encode(
            x, alt.Y("band_low:Q"), alt.Y2("band_high:Q"), color=colour
        ),
        means.mark_line(strokeWidth=3).encode(x, y, color=colour),
        means.mark_point(filled=True, size=45, opacity=1).encode(
            x, y, color=colour, tooltip=shown
        ),
    )
    rows = cloud_rows(curves, run, str(drawn_curve))
    return drawn(chart, "cloud", rows, title, _HEIGHT)


def cloud_rows(curves: Curves, run: str, curve: str) -> list[dict[str, Any]]:
    """Return the rows of a run's cloud: its means, and curves of queries at even steps of their height."""
    means = curves.mean().filter(curve=curve, run=run).select("x", *_MEAN, *_BAND)
    own = curves.per_query.filter(curve=curve, run=run).select("query_id", "x", "y")
    heights = own.group_by("query_id").agg(pl.col("y").mean()).sort("y", "query_id")
    most = min(_CLOUD, max(1, _CLOUDS // len(curves.runs)))
    places = np.unique(
        np.linspace(0, max(heights.height - 1, 0), most).round().astype(np.int64)
    )
    kept = own.filter(
        pl.col("query_id").is_in(
            heights["query_id"].gather(places[: heights.height]).implode()
        )
    )
    return [
        *records(means),
        *records(kept.with_columns(pl.col("query_id").cast(pl.String))),
    ]


def _means(curves: Curves, curve: str) -> pl.DataFrame:
    """Return the means with the ends of their intervals: drawn, or normal; none where no band is drawn."""
    rows = curves.mean().filter(curve=curve)
    if curves.resampling.resamples == 1:
        reach = (
            _NORMAL * pl.col("se")
            if len(curves.runs) <= _BANDS
            else pl.lit(None, pl.Float64)
        )
        rows = rows.with_columns(
            ci_low=pl.col("mean") - reach, ci_high=pl.col("mean") + reach
        )
    return rows.select("run", "x", "mean", "ci_low", "ci_high")


def _across(curve: object, lang: str) -> str:
    if isinstance(curve, AtK):
        return label("cutoff", lang) if curve.budget is None else curve.budget.cost
    return label("fpr" if str(curve).startswith("ROC") else "recall", lang)
