"""A/B tests of rankings: online metrics by variant, their differences, and the sample ratio check."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from polars import selectors

from rankstone._basics import counted, noted, some
from rankstone.errors import (
    BadOption,
    InputError,
    MissingColumn,
    UsageError,
    above_0,
    between_0_and_1,
    printable,
)
from rankstone.io.column_suggestions import is_common_name, is_id
from rankstone.io.columns import with_csv
from rankstone.io.events import Events, read_events
from rankstone.io.number_columns import truths
from rankstone.online.ab_metrics import (
    Arm,
    ClaimSettings,
    differences,
    make_arms,
    metric_directions,
    metric_ratios,
    repeated_metrics,
)
from rankstone.online.event_survey import as_date, as_day
from rankstone.online.local_times import DAY, Clock, read_times
from rankstone.online.log_tables import (
    Log,
    LogAudit,
    OnlineResult,
    check_clicks,
    check_positions,
    cluster_of_impressions,
    count_skipping,
    dense_numbers,
    read_log,
    refuse_duplicates,
    rows_to_frame,
)
from rankstone.stats.sample_ratio_test import sample_ratio
from rankstone.stats.sequential import TUNED_TO, always_valid_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Columns, Floats, Ints, Progress


_PEEKING = "with ten looks, about 19 % of experiments without a difference show a significant one, not 5 %"
#: p-value below which a sample ratio mismatch is reported (Fabijan et al., KDD 2019, use 0.0005 to 0.01)
_ALARM: Final = 0.001
#: what every log of shown documents has
_OF_DOCUMENTS: Final = ("impression_id", "position")
#: rows that show whether a column is one of numbers
_HEAD: Final = 1000
#: more values than this look like ids, not variants
_MOST: Final = 100
_ENDS: Final = dict.fromkeys(("error", "low", "high"), pl.Float64)
_TEXTS: Final = {"measure": pl.String, "variant": pl.String}
_VARIANTS: Final = (
    _TEXTS | {"value": pl.Float64} | _ENDS | {"over": pl.Int64, "units": pl.Int64}
)
_DIFFERENCES: Final = (
    _TEXTS
    | {"versus": pl.String, "difference": pl.Float64}
    | _ENDS
    | {"p": pl.Float64, "p_adjusted": pl.Float64, "verdict": pl.String}
)


def make_remarks(repeats: Mapping[str, str], *, sequential: bool) -> dict[str, str]:
    """Return {subject: what to know when reading it}: validity of p-values, and metrics that can mislead."""
    looks = (
        "intervals, p-values and verdicts are valid at every look (for large samples; narrowest at "
        f"{TUNED_TO:,} units)"
        if sequential
        else f"intervals, p-values and verdicts are valid for one look, at an end fixed in advance; "
        f"{_PEEKING}: "
        "to look while the experiment is running, use sequential=True (--sequential)"
    )
    remarks = {"looks": looks}
    for measure, other in repeats.items():
        remarks[measure] = (
            f"equals {other} (or 1 minus it) in this log, so both count as one comparison"
        )
    remarks["mean_click_rank"] = (
        "counts clicked impressions only: a variant that loses its low clicks improves; "
        "read it together with abandonment"
    )
    return remarks


def running_warnings(log: Log, units: int, planned: int | str | date) -> Iterator[str]:
    """Yield a warning if an experiment has not reached its planned units or last day."""
    if isinstance(planned, int):
        reached, state = units >= planned, f"{units:,} of {counted(planned, 'unit')}"
    else:
        try:
            due = as_day("planned", planned)
        except BadOption as error:
            raise BadOption(
                error.what, expected="a number of units, or a day such as 2024-01-31"
            ) from None
        ends = _last(log)
        if ends is None:
            raise MissingColumn(
                "planned is a day, and no column says when rows were written",
                where=log.source,
                given=log.events.given(),
                expected="time",
                fix="if a column holds times, rename it to time with columns, or plan a number of units",
            )
        reached = due is None or ends[0] >= due
        state = f"rows up to {as_date(ends[0])} of those up to {planned}"
    if not reached:
        yield (
            f"the experiment is still running, with {state}: {_PEEKING}; "
            "use sequential=True (--sequential), or wait until it ends"
        )


def fresh_warnings(log: Log, now: float) -> Iterator[str]:
    """Yield a warning if rows are less than a day old ``now``, in seconds since 1970: it may be running."""
    try:
        ends = _last(log)
    except InputError:  # nothing else needs the times of rows
        return
    if ends is not None and abs(now * 1e6 - ends[1]) < DAY:
        yield (
            f"the last row is less than a day old ({as_date(ends[0])}); if the experiment is still running, "
            f"this is not its only look ({_PEEKING}): use sequential=True (--sequential), or name the "
            "number of units or the last day that is planned (planned=, --planned)"
        )


def _last(log: Log) -> tuple[int, int] | None:
    """Return the last day, in days since 1970, and instant, in microseconds; ``None`` without times."""
    if not log.has("time"):
        return None
    events = replace(log.events, frame=log.frame.lazy(), parts=())
    reading = read_times(events, Clock())
    day, instant = events.collect(
        events.frame.select(reading.day.max(), reading.instant.max().alias("instant"))
    ).row(0)
    return None if day is None else (day, instant)


def no_spread_warnings(
    arms: Mapping[str, Sequence[Arm]], labels: Sequence[str]
) -> Iterator[str]:
    """Yield a warning for each metric that has the same value for all units of a variant."""
    for measure, of in arms.items():
        for label, arm in zip(labels, of, strict=True):
            if arm.has_no_spread and arm.estimate is not None:
                known = "its error is an upper bound (Clopper and Pearson's), not an estimate"
                yield (
                    f"{measure} is {arm.estimate.value:g} for all {counted(arm.estimate.units, 'unit')} of "
                    f"{printable(label, 40)}, which shows no variation: "
                    f"{'it has no interval' if math.isnan(arm.estimate.error) else known}"
                )


def sample_ratio_check(
    labels: Sequence[str],
    arms: Sequence[Arm],
    shares: Mapping[str, float] | None,
    *,
    sequential: bool,
) -> tuple[pl.DataFrame, list[str]]:
    """Return units and expected units by variant, and a warning on a sample ratio mismatch."""
    due = dict.fromkeys(labels, 1 / len(labels)) if shares is None else dict(shares)
    if set(due) != set(labels) or any(not share > 0 for share in due.values()):
        raise BadOption(
            f"shares={due!r} do not match the variants",
            expected=f"a share above 0 for each of {some(labels)}",
        )
    every = math.fsum(due.values())
    parts = [due[label] / every for label in labels]
    units = [int(arm.present.sum()) for arm in arms]
    ratio_test = sample_ratio(units, parts)
    p = always_valid_ratio(units, parts) if sequential else ratio_test.p
    table = pl.DataFrame(
        {
            "variant": list(labels),
            "units": units,
            "expected": [part * sum(units) for part in parts],
            "chi_square": ratio_test.chi_square,
            "p": p,
        }
    )
    if p >= _ALARM:
        return table, []
    mismatch = (
        f"sample ratio mismatch (p = {p:.2g}): units were not assigned in the expected shares; "
        "do not trust any difference before the cause is known"
    )
    return table, [mismatch]


class Experiment(OnlineResult):
    """Result of an A/B test: differences, metrics by variant, and the sample ratio check."""

    @property
    def differences(self) -> pl.DataFrame:
        """Rows by metric and variant: ``difference``, ``low``, ``high``, ``p``, ``p_adjusted``, ``verdict``.

        Intervals are adjusted for the size of the family, and the verdict follows from them; all are valid at
        one look, or with ``sequential`` at every look.
        """
        return self.tables["differences"]

    @property
    def variants(self) -> pl.DataFrame:
        """``measure``, ``variant``, ``value``, ``error``, ``low``, ``high``, ``over`` (the denominator)."""
        return self.tables["variants"]

    @property
    def sample_ratio(self) -> pl.DataFrame:
        """``variant``, ``units``, ``expected``, ``chi_square``, and one ``p`` for all."""
        return self.tables["sample_ratio"]


def ab(
    log: object,
    by: str = "variant",
    *,
    value: str | None = None,
    versus: str | None = None,
    k: int = 10,
    cluster: str | None = "user_id",
    shares: Mapping[str, float] | None = None,
    margin: float | None = None,
    correction: str = "holm",
    confidence: float = 0.95,
    sequential: bool = False,
    planned: int | str | date | None = None,
    invalid: str = "error",
    positions_from: int = 1,
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Experiment:
    """Compare what users did with the rankings of an A/B test.

    Parameters
    ----------
    log
        A table with a row for every document shown: ``impression_id``, ``position`` (from 1), ``clicked`` (0
        or 1), the variant and the user.  Or a table with a row for every user: the variant, the user, and
        ``clicked`` or another column of numbers, whose means are compared.
    by
        The column of variants.
    value
        The column of numbers of a table without documents, more being better; by default ``clicked``, or the
        only one.
    versus
        The variant the others are compared with; by default the first in sorted order.
    k
        The cutoff of ``CTR@k``, clicks over documents shown in the top k, and of ``clicked@k``, the share of
        impressions with a click in the top k.
    cluster
        The column of the units that were randomised and are independent: users.  ``None``: impressions.
    shares
        {variant: expected share of units}; equal by default.
    margin
        Differences up to this size do not matter; with it a verdict can be ``equivalent``.
    correction
        The correction of the p-values of all metrics and variants together, as for :func:`rankstone.compare`.
    confidence
        The confidence level: of each variant's interval separately, of the intervals of differences for the
        family.  Alpha is 1 minus it.  Verdicts, ``equivalent`` included, follow from the intervals.
    sequential
        Whether intervals, p-values and verdicts are valid at every look at a running experiment (the mixture
        of :mod:`rankstone.stats.sequential`), at the price of wider intervals.  Otherwise they are valid for
        one look, at an end fixed in advance.
    planned
        The number of units at which the experiment ends, or its last day, for which the log needs a column
        ``time``; before that there is a warning unless ``sequential``.  Without it there is one where the
        last ``time`` is less than a day old.
    invalid
        Whether rows with a missing or unreadable value are an ``error``, or left out and counted (``drop``).
    positions_from
        The first position, 1 or 0.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Experiment
        ``differences``, ``variants``, ``sample_ratio``, audit.

    Raises
    ------
    InputError
        When an impression belongs to two variants or has a position twice, or the log cannot be read.
    UsageError
        When there are fewer than two variants, or an option has an invalid value.

    Examples
    --------
    >>> log = {"user_id": [1, 2, 3, 4], "impression_id": [1, 2, 3, 4], "position": [1, 1, 1, 1]}
    >>> experiment = ab(log | {"variant": ["a", "a", "b", "b"], "clicked": [1, 0, 1, 1]}, k=1)
    >>> experiment.differences.select("measure", "difference").row(0)
    ('CTR@1', 0.5)
    """
    columns = with_csv(columns, csv_separator, decimal)
    _check_count("k", k, "cutoff")
    end = _planned_end(planned)
    between_0_and_1("confidence", confidence)
    above_0("margin", margin)
    settings = ClaimSettings(margin, correction, confidence, sequential)

    column = value
    if value is None:
        events = read_events(log, columns, format_in, needed=(), further=None)
        column = _value_of_users(events, by, cluster)
    read = _read(
        log,
        column,
        [by] if cluster is None else [by, cluster],
        columns=columns,
        format_in=format_in,
        invalid=invalid,
        positions_from=positions_from,
        progress=progress,
    )

    impression = _impressions(read, column)
    labels, baseline = _variants(read, by, versus)
    variant = cluster_of_impressions(read, by, impression)
    unit = np.arange(len(variant))
    if cluster is not None:
        unit = cluster_of_impressions(read, cluster, impression)
    if value is None and column is not None:
        _refuse_several_rows(read, column, cluster, unit)

    ratios, limits = _ratios(read, column, impression, k)
    arms = make_arms(ratios, unit, variant, limits)
    repeats = repeated_metrics(ratios)
    remarks = make_remarks(repeats, sequential=sequential)
    if column is not None:
        del remarks["mean_click_rank"]

    split, split_notes = sample_ratio_check(
        labels, next(iter(arms.values())), shares, sequential=sequential
    )
    directions = {str(column): "higher", **metric_directions(k)}
    rows = differences(arms, repeats, labels, baseline, directions, settings)
    warnings = [*split_notes]
    if not sequential:
        warnings += _warnings_of_end(read, unit, end)
    distinct = {name: arms[name] for name in arms if name not in repeats}
    warnings += no_spread_warnings(distinct, labels)

    measured = {"k": k} if column is None else {"value": column}
    return Experiment(
        tables={
            "differences": rows_to_frame(rows, _DIFFERENCES),
            "variants": _variants_table(arms, labels, settings),
            "sample_ratio": split,
        },
        audit=_make_audit(
            read, impression, variant, unit, cluster, arms, warnings, remarks
        ),
        conventions={
            "by": by,
            "versus": labels[baseline],
            **measured,
            "cluster": cluster,
            "margin": margin,
            "correction": correction,
            "confidence": confidence,
            "sequential": sequential,
            "planned": str(end) if isinstance(end, str | date) else end,
            "invalid": invalid,
        },
        inputs={"log": read.source},
    )


def _planned_end(planned: int | str | date | None) -> int | str | date | None:
    """Return the planned number of units or day; from a command line numbers come as text."""
    if isinstance(planned, str) and planned.lstrip("-").isdigit():
        planned = int(planned)
    if not isinstance(planned, str | date):
        _check_count("planned", planned, "number of units or a day")
    return planned


def _read(log: object, value: str | None, assigned: list[str], **reading: Any) -> Log:  # noqa: ANN401 - options
    """Read what was done, and the columns of variants and units."""
    numbers = [*_OF_DOCUMENTS, "clicked"] if value is None else [value]
    return read_log(
        log,
        [*numbers, *assigned],
        ("time",),
        blank=("time",),
        numbers=numbers[-1:],
        **reading,
    )


def _impressions(log: Log, value: str | None) -> Ints:
    """Return the number of each row's impression; without documents every row is one."""
    if value is not None:
        return np.arange(log.frame.height)
    check_clicks(log)
    check_positions(log, "position")
    refuse_duplicates(log, "position")
    return dense_numbers(log.frame, "impression_id").to_numpy()


def _refuse_several_rows(log: Log, value: str, cluster: str | None, unit: Ints) -> None:
    """Refuse a table with several rows of a unit, whose column of numbers nobody has named."""
    if unit.max() + 1 < len(unit):
        raise UsageError(
            f"a {printable(cluster, 40)} has several rows",
            where=log.source,
            expected="a row for each; "
            "or one for each document, with impression_id and position",
            fix=f"value={value!r} compares means over rows",
        )


def _warnings_of_end(
    log: Log, unit: Ints, planned: int | str | date | None
) -> Iterator[str]:
    """Return warnings about a look at an experiment that has not ended."""
    if planned is None:
        return fresh_warnings(log, time.time())
    return running_warnings(log, int(unit.max()) + 1, planned)


def _ratios(
    log: Log, value: str | None, impression: Ints, k: int
) -> tuple[dict[str, tuple[Floats, Floats]], dict[str, tuple[float, float]]]:
    """Return numerators and denominators of metrics, and the ends of those that are not from 0 to 1."""
    values = log.frame[value or "clicked"].to_numpy()
    if value is None:
        position = log.frame["position"].to_numpy()
        ratios = metric_ratios(values, position, impression, k)
        return ratios, {"mean_click_rank": (1.0, float(position.max()))}
    ends = {}
    if values.min() < 0 or values.max() > 1:
        ends[value] = (-math.inf, math.inf)
    return {value: (values, np.ones(len(values)))}, ends


def _value_of_users(events: Events, by: str, cluster: str | None) -> str | None:
    """Return the column of numbers of a table with a row for each user; ``None`` for shown documents."""
    if any(is_common_name(name, _OF_DOCUMENTS) for name in events.schema):
        return None
    arms = [name for name in events.schema if is_common_name(name, [by])]
    if by in events.schema:
        arms = [by]
    others = [name for name in events.schema if name not in (*arms, cluster, "time")]
    if "clicked" in others:
        return "clicked"
    first = events.collect(events.frame.head(_HEAD))
    cells = truths(~selectors.nested()).cast(pl.Float64, strict=False)
    head = first.select(others).select(cells)
    values = [
        column.name for column in head if column.count() and not is_id(column.name)
    ]
    columns = events.given()
    if arms and first[arms[0]].is_unique().all():
        raise InputError(
            f"these are totals, a row for each {printable(arms[0], 40)}",
            where=events.source,
            given=columns,
            expected="a row for each user: totals do not say how much users differ",
        )
    if len(values) == 1:
        return values[0]
    fix = None
    if values:
        fix = f"value={values[0]!r} names one"
    raise UsageError(
        f"{counted(len(values), 'column')} could be compared: "
        f"{some(values, 12) or 'none'}",
        where=events.source,
        given=columns,
        expected="impression_id, position and clicked; "
        "or a row for each user, with one column of numbers",
        fix=fix,
    )


def _check_count(option: str, count: int | None, what: str) -> None:
    if count is not None and (
        isinstance(count, bool) or not isinstance(count, int) or count < 1
    ):
        raise BadOption(
            f"{option}={count!r} is not a {what}", expected="a whole number from 1"
        )


def _variants(log: Log, by: str, versus: str | None) -> tuple[list[str], int]:
    """Return the sorted variants, and the index of the one that the others are compared with."""
    labels = log.frame[by].unique().sort().cast(pl.String).to_list()
    if not 2 <= len(labels) <= _MOST:  # noqa: PLR2004 - two to compare
        raise UsageError(
            f"{printable(by, 40)} has {counted(len(labels), 'value')}",
            where=log.source,
            given=some(labels),
            expected=f"2 to {_MOST} variants",
        )
    if versus is not None and versus not in labels:
        raise UsageError(
            f"there is no variant {printable(versus, 40)}",
            where=log.source,
            expected=some(labels, _MOST),
        )
    return labels, 0 if versus is None else labels.index(versus)


def _variants_table(
    arms: Mapping[str, list[Arm]], labels: list[str], settings: ClaimSettings
) -> pl.DataFrame:
    """Return :attr:`Experiment.variants`."""
    rows = [
        {
            "measure": measure,
            "variant": label,
            "value": None if arm.estimate is None else arm.estimate.value,
            "over": int(arm.size.sum()),
            "units": int(arm.present.sum()),
            **settings.interval_columns(arm.estimate, 1 - settings.confidence),
        }
        for measure, variants in arms.items()
        for label, arm in zip(labels, variants, strict=True)
    ]
    return rows_to_frame(rows, _VARIANTS)


def _make_audit(
    log: Log,
    impression: Ints,
    variant: Ints,
    unit: Ints,
    cluster: str | None,
    arms: Mapping[str, list[Arm]],
    warnings: list[str],
    remarks: Mapping[str, str],
) -> LogAudit:
    clicks = None
    skips = 0
    what = [f"means of {next(iter(arms))} over rows"]
    if log.has("position"):
        clicks = int(log.frame["clicked"].sum())
        skips = count_skipping(log, impression)
        what = [counted(len(variant), "impression"), counted(clicks, "click")]
    variants = np.sum([arm.present for arm in next(iter(arms.values()))], axis=0)
    several = int((variants > 1).sum())
    units = int(unit.max()) + 1
    counts = {
        "rows": log.rows,
        "dropped": log.dropped,
        "impressions": len(variant),
        "units": units,
        "clicks": clicks,
        "several": several,
        "skipping": skips,
    }
    notes = [*warnings]
    if several:
        notes.append(
            f"{counted(several, 'unit')} saw several variants: was {cluster} the unit of randomisation?"
        )
    if skips:
        lost = "CTR@k counts documents without a row as not shown"
        place = counted(skips, "impression")
        notes.append(f"positions are skipped in {place}: {lost}")
    parts = (
        counted(log.rows, "row"),
        *what,
        ""
        if cluster is None
        else f"{counted(units, 'value')} of {printable(cluster, 40)}",
        f"{several:,} of them in several variants" if several else "",
        noted(skips, "impression", "with positions left out"),
        *log.left_out(),
    )
    return LogAudit(log.source, counts, parts, tuple(notes), remarks)
