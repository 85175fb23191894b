"""Charts of retention: the triangle as a heatmap, the curve over ages, who came when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import BadOption, UsageError, did_you_mean, printable
from rankstone.reports.chart_style import (
    COLOURS,
    by_system,
    drawn,
    label,
    legible,
    needed,
    tooltips,
)

if TYPE_CHECKING:
    from rankstone.online.retention_result import Retention

_HEIGHT: Final = 320
#: cohorts and ages that a heatmap shows, at most: the last ones, the first ones
_COHORTS, _AGES = 60, 60
#: lines whose bands are distinguishable
_BANDS: Final = 4
#: lines that a chart shows, at most: those of the most users
_LINES: Final = 8
#: the share of a line's users that has reached an age which is drawn
_REACHED: Final = 0.1
#: periods that bars are drawn of, at most: the last ones
_PERIODS: Final = 400
#: cells that have room for a number
_TOLD: Final = 14
#: the share of cells with distinguishable colours
_TOP: Final = 0.98
_NAME: Final = 40
_NONE: Final = "–"


def retention_heatmap(
    retention: Retention, segment: str | None = None, *, lang: str = "en"
) -> Any:  # noqa: ANN401 - Altair's chart
    """Return the triangle: a row a cohort, a column an age; what is not known stays empty.

    Parameters
    ----------
    segment
        The segment, if there are several; by default the largest.
    """
    alt = needed("altair")
    rows, _ = heatmap_rows(retention, segment)
    ages = rows["at"].n_unique()
    dates = rows["cohort"].n_unique()
    known = retention.cohorts.filter(pl.col("age") > 0)["rate"]
    top = (
        known.quantile(_TOP) or 1.0
    )  # a cohort of one comes back as a whole or not at all
    shown = [
        alt.Tooltip("cohort:N", title=label("cohort", lang)),
        alt.Tooltip("at:N", title=label(retention.calendar.unit, lang)),
        *tooltips(["size", "retained"], ",d", lang),
        *tooltips(_RATES, ".2%", lang),
    ]
    base = alt.Chart(alt.NamedData("heatmap"))
    by_age = alt.EncodingSortField("age", op="min")
    across = alt.X("at:O", title=label(retention.calendar.unit, lang)).sort(by_age)
    across = across.axis(labelAngle=0, labelOverlap=True, orient="top", grid=False)
    down = alt.Y("cohort:O", title=label("cohort", lang)).axis(
        grid=False, labelOverlap=True
    )
    colour = alt.Color("rate:Q", title=label("rate", lang))
    colour = colour.scale(scheme="blues", domain=[0, top], clamp=True).legend(
        format="%", orient="right"
    )
    cells = base.mark_rect(stroke="rgba(128,138,148,0.35)", strokeWidth=0.5).encode(
        across, down, colour, tooltip=shown
    )
    chart = cells
    if ages <= _TOLD:
        dark = f"datum.rate > {0.55 * top}"
        number = base.mark_text(fontSize=11).encode(
            across,
            down,
            alt.Text("rate:Q", format=".0%"),
            color=alt.condition(dark, alt.value("white"), alt.value("#1b1f24")),
            tooltip=shown,
        )
        chart = alt.layer(cells, number)
    height = max(60, min(24, 1_000 // max(dates, 1)) * dates)
    title = heatmap_title(retention, segment, lang=lang)
    return drawn(chart, "heatmap", rows, title, height)


def retention_curve(retention: Retention, *, lang: str = "en") -> Any:  # noqa: ANN401 - Altair's chart
    """Return retention over age, a line a segment, with Wilson's interval as a band up to four lines."""
    alt = needed("altair")
    rows, lines = curve_rows(retention)
    look = by_system(lines, retention.by or label("rate", lang))
    if retention.by is None:
        look = {name: channel.legend(None) for name, channel in look.items()}
    unit = label(retention.calendar.unit, lang)
    across = label("reached", lang, unit=unit)
    if retention.windows.kind == "bracket":
        x = alt.X("at:O", title=across).sort(None).axis(labelAngle=0)
    else:
        x = alt.X("day:Q", title=across).axis(tickMinStep=1, format="d")
    shown = [
        alt.Tooltip("at:N", title=unit),
        *tooltips((*_RATES, "mean"), ".2%", lang),
        *tooltips(["users", "cohorts"], ",d", lang),
    ]
    if retention.by:
        shown.insert(0, alt.Tooltip("run:N", title=legible(retention.by)))
    base = alt.Chart(alt.NamedData("retention"))
    y = alt.Y("rate:Q", title=label("rate", lang)).axis(format="%").scale(domainMin=0)
    opacity = 0.0
    if len(lines) <= _BANDS:
        opacity = 0.15
    ends = base.mark_area(opacity=opacity)
    band = ends.encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), look["color"])
    line = base.mark_line().encode(x, y, look["color"])
    size = 12
    if rows.height <= _AGES * len(lines):
        size = 36
    points = base.mark_point(filled=True, size=size, opacity=1)
    points = points.encode(x, y, look["color"], look["shape"], tooltip=shown)
    chart = alt.layer(band, line, points)
    return drawn(chart, "retention", rows, _title(retention, "curve", lang), _HEIGHT)


def retention_periods(retention: Retention, *, lang: str = "en") -> Any:  # noqa: ANN401 - Altair's chart
    """Return who came when: new and returning users of every period, one above the other."""
    alt = needed("altair")
    kinds = [label(name, lang) for name in ("new", "returning")]
    rows = period_rows(retention).with_columns(
        kind=pl.col("kind").replace_strict(
            ["new", "returning"], kinds, return_dtype=pl.String
        )
    )
    colour = alt.Color("kind:N", title=None, legend=alt.Legend(orient="bottom"))
    colour = colour.scale(domain=kinds, range=[COLOURS[1], COLOURS[0]])
    when = alt.X("period:T", title=label("period", lang))
    unit = {"day": "yearmonthdate", "week": "yearmonthdate", "month": "yearmonth"}[
        retention.calendar.unit
    ]
    shown = [
        alt.Tooltip("period:T", title=label("period", lang), format="%Y-%m-%d"),
        alt.Tooltip("kind:N", title=None),
        *tooltips(["users"], ",d", lang),
    ]
    bars = alt.Chart(alt.NamedData("periods")).mark_bar()
    chart = bars.encode(
        when.timeUnit(f"utc{unit}"),
        alt.Y("users:Q", title=label("users", lang)).stack("zero"),
        colour,
        alt.Order("kind:N", sort="descending"),
        tooltip=shown,
    )
    return drawn(chart, "periods", rows, _title(retention, "periods", lang), _HEIGHT)


def heatmap_title(
    retention: Retention, segment: str | None = None, *, lang: str = "en"
) -> str:
    """Return what the heatmap of a segment is called, and how much of the triangle it shows."""
    title = _title(retention, "heatmap", lang)
    by = retention.by
    if by is not None:
        title += f", {printable(by, _NAME)} {printable(_segment(retention, segment) or _NONE, _NAME)}"
    _, cut = heatmap_rows(retention, segment)
    return title + (label("cut", lang, **cut) if cut else "")


def _title(retention: Retention, what: str, lang: str) -> str:
    unit = label(retention.calendar.unit, lang)
    return label(what, lang, unit=unit, kind=label(retention.windows.kind, lang))


_RATES: Final = ("rate", "low", "high")


def heatmap_rows(
    retention: Retention, segment: str | None = None
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the cells of a heatmap, and of how many cohorts and ages they are where it does not show all.

    Cohorts without users, and cohorts and ages that nothing is known of, have no cells.
    """
    rows = retention.cohorts.filter(pl.col("rate").is_not_null())
    if retention.by is not None:
        rows = rows.filter(
            pl.col(retention.by).eq_missing(pl.lit(_segment(retention, segment)))
        ).drop(retention.by)
    cohorts = rows["cohort"].unique().sort()
    ages = rows.select("at", "age").unique().sort("age", "at")["at"]
    last = cohorts.tail(_COHORTS)
    first = ages.head(_AGES)
    kept = rows.filter(
        pl.col("cohort").is_in(last.implode()), pl.col("at").is_in(first.implode())
    )
    cut = len(cohorts) > len(last) or len(ages) > len(first)
    counts = {
        "cohorts": len(last),
        "of_cohorts": len(cohorts),
        "ages": len(first),
        "of_ages": len(ages),
    }
    return kept.with_columns(pl.col("cohort").cast(pl.String)).drop(
        "censored"
    ), counts if cut else {}


def _segment(retention: Retention, segment: str | None) -> str | None:
    """Return the name of a segment, the largest unless one is named."""
    assert retention.by is not None  # noqa: S101 - the caller checked
    sizes = (
        retention.periods.group_by(retention.by)
        .agg(pl.col("new").sum())
        .sort("new", retention.by, descending=[True, False])
    )
    names = sizes[retention.by].to_list()
    if segment is None:
        return str(names[0]) if names[0] is not None else None
    if segment not in names:
        known = [name for name in names if name is not None]
        raise BadOption(
            f"there is no segment {printable(segment)}",
            expected=", ".join(printable(name, _NAME) for name in known[:12]),
            fix=did_you_mean(segment, known),
        )
    return segment


def curve_rows(retention: Retention) -> tuple[pl.DataFrame, list[str]]:
    """Return the points of the curve, and the names of its lines, those of the most users first.

    Age 0, at which all users of a cohort are active, has no point; nor have ages that only few users have
    reached.
    """
    name = (
        pl.lit("all") if retention.by is None else pl.col(retention.by).fill_null(_NONE)
    )
    rows = retention.curve.filter(pl.col("rate").is_not_null())
    rows = rows.with_columns(
        run=name.cast(pl.String), day=pl.col("age") + retention.windows.origin
    )
    if retention.audit.registrations is None and retention.windows.kind != "bracket":
        rows = rows.filter(pl.col("age") > 0)
    users = pl.col("users")
    rows = rows.filter(users >= _REACHED * users.max().over("run"))
    if not rows.height:
        raise UsageError("no cohort was watched for so long: there is nothing to draw")
    order = (
        rows.group_by("run")
        .agg(pl.col("users").max())
        .sort("users", "run", descending=[True, False])
    )
    lines = order["run"].head(_LINES).to_list()
    kept = rows.filter(pl.col("run").is_in(lines))
    return kept.select(
        "run", "at", "day", *_RATES, "mean", "users", "retained", "cohorts"
    ), lines


def period_rows(retention: Retention) -> pl.DataFrame:
    """Return a row a period and kind of user, new or returning, of the last periods."""
    rows = retention.periods.group_by("period", maintain_order=True).agg(
        pl.col("new", "returning").sum()
    )
    long = rows.tail(_PERIODS).unpivot(
        ["new", "returning"], index="period", variable_name="kind", value_name="users"
    )
    return long.with_columns(pl.col("period").cast(pl.String))
