"""What to know when reading an A/B test: when its numbers are valid, metrics that mislead, and warnings."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rankstone._basics import counted
from rankstone.errors import BadOption, InputError, MissingColumn, printable
from rankstone.online.event_survey import as_date, as_day
from rankstone.online.local_times import DAY, Clock, read_times
from rankstone.stats.sequential import TUNED_TO

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from rankstone._basics import Ints
    from rankstone.online.ab_metrics import Arm
    from rankstone.online.log_tables import Log

_PEEKING: Final = "with ten looks, about 19 % of experiments without a difference show a significant one, not 5 %"


def make_remarks(
    repeats: Mapping[str, str], *, ranked: bool, sequential: bool
) -> dict[str, str]:
    """Return {subject: what to know when reading it}: validity of p-values, and metrics that can mislead."""
    if sequential:
        looks = (
            "intervals, p-values and verdicts are valid at every look (for large samples; narrowest at "
            f"{TUNED_TO:,} units)"
        )
    else:
        looks = (
            "intervals, p-values and verdicts are valid for one look, at an end fixed in advance; "
            f"{_PEEKING}: "
            "to look while the experiment is running, use sequential=True (--sequential)"
        )

    remarks = {"looks": looks}
    for measure, other in repeats.items():
        remarks[measure] = (
            f"equals {other} (or 1 minus it) in this log, so both count as one comparison"
        )
    if ranked:
        remarks["mean_click_rank"] = (
            "counts clicked impressions only: a variant that loses its low clicks improves; "
            "read it together with abandonment"
        )
    return remarks


def _running_warnings(log: Log, units: int, planned: int | str | date) -> Iterator[str]:
    """Yield a warning if an experiment has not reached its planned units or last day."""
    if isinstance(planned, int):
        reached = units >= planned
        state = f"{units:,} of {counted(planned, 'unit')}"
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


def _fresh_warnings(log: Log, now: float) -> Iterator[str]:
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


def warnings_of_end(
    log: Log, unit: Ints, planned: int | str | date | None, *, sequential: bool
) -> Iterator[str]:
    """Return warnings about a look at an experiment that has not ended."""
    if sequential:
        return iter(())
    if planned is None:
        return _fresh_warnings(log, time.time())
    return _running_warnings(log, int(unit.max()) + 1, planned)
