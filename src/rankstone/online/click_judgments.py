"""Relevance judgments from a log of clicks."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import is_path, some
from rankstone.errors import (
    BadOption,
    BadValue,
    EmptyInput,
    UsageError,
    one_of,
    printable,
)
from rankstone.io.columns import with_csv
from rankstone.io.events import read_events
from rankstone.online.click_cells import (
    Cells,
    Sessions,
    count_by_position,
    count_cells,
    usable_rows,
)
from rankstone.online.click_log import open_log, survey_log
from rankstone.online.click_options import POLICIES, ClickOptions
from rankstone.online.click_results import Clicks, make_audit
from rankstone.online.event_survey import Span, as_day
from rankstone.online.examination import (
    Estimates,
    Weighing,
    ever_clicked,
    inverse_propensity,
    mean_values,
)
from rankstone.online.judged_pairs import JudgedPairs
from rankstone.online.local_times import Clock
from rankstone.online.position_based_model import fit_position_model
from rankstone.online.shown_lists import survey_lists

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from rankstone._basics import Columns, Progress
    from rankstone.online.click_log import ClickLog


def parse_numbers(
    option: str, value: object, count: int | None = None
) -> tuple[float, ...]:
    """Return numbers given as ``"0.02,0.1"`` or as a sequence.

    >>> parse_numbers("smoothing", "1,9", 2)
    (1.0, 9.0)
    """
    parts = value.split(",") if isinstance(value, str) else value
    try:
        numbers = (
            tuple(float(part) for part in parts) if isinstance(parts, Iterable) else ()
        )
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or (count is not None and len(numbers) != count):
        raise BadOption(
            f"{option}={printable(value)} cannot be read",
            expected=f"{'numbers' if count is None else f'{count} numbers'}, separated by commas",
        )
    return numbers


def read_propensities(source: object) -> tuple[dict[int, float], str]:
    """Return {position: propensity}, and the source.

    Parameters
    ----------
    source
        Numbers for positions 1, 2, … (``"1,0.6,0.4"`` or a sequence), ``{position: propensity}``, or a table
        with these columns: a path, an address of a database, a frame.
    """
    if isinstance(source, Mapping) and not {"position", "propensity"} <= {
        str(name) for name in source
    }:
        return _checked_propensities(dict(source), "propensities"), "propensities"
    if isinstance(source, (list, tuple)) or (
        isinstance(source, str) and _looks_like_numbers(source)
    ):
        return _checked_propensities(
            dict(enumerate(parse_numbers("propensities", source), 1)), "propensities"
        ), "propensities"
    name = os.fspath(source) if is_path(source) else "propensities"
    table = read_events(
        source, name="propensities", needed=("position", "propensity"), ids=()
    )
    cast = [
        pl.col(column).cast(pl.Float64, strict=False)
        for column in ("position", "propensity")
    ]
    rows = table.collect(table.frame.select(cast))
    known: dict[object, float] = {}
    for position, propensity in rows.filter(
        pl.col("propensity").is_not_null()
    ).iter_rows():
        if position in known:
            raise BadValue(f"position {position:g} has two propensities", where=name)
        known[position] = propensity
    return _checked_propensities(known, name), name


def _looks_like_numbers(text: str) -> bool:
    return all(
        part.strip().replace(".", "", 1).replace("e-", "", 1).isdigit()
        for part in text.split(",")
    )


def _checked_propensities(
    known: Mapping[object, object], source: str
) -> dict[int, float]:
    checked: dict[int, float] = {}
    for position, propensity in known.items():
        place = _finite_number(position)
        value = _finite_number(propensity)
        if not (place >= 1 and place == int(place)):
            raise BadValue(
                f"{printable(position)} is not a position",
                where=source,
                expected="whole numbers from 1",
            )
        if not 0 < value <= 1:
            raise BadValue(
                f"the propensity of position {place:g} is out of range",
                where=source,
                given=printable(propensity),
                expected="0 < propensity <= 1",
                fix="divide all propensities by the largest" if value > 1 else None,
            )
        checked[int(place)] = value
    if not checked:
        raise BadOption(
            "there are no propensities",
            where=source,
            expected="a propensity for each position",
        )
    return checked


def _finite_number(value: object) -> float:
    """Return the value as a number, 0 if it is not a finite number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def clicks(
    log: object,
    method: str = "ctr",
    *,
    propensities: object = None,
    clip: float | None = None,
    smoothing: str | Iterable[float] = (0, 0),
    min_impressions: int = 1,
    grades: str | Iterable[float] | None = None,
    confidence: float = 0.95,
    tolerance: float = 1e-7,
    max_iterations: int = 100,
    invalid: str = "error",
    lists: str = "error",
    unlinked: str = "error",
    start: date | str | None = None,
    end: date | str | None = None,
    tz: str | None = None,
    times_in: str | None = None,
    time_unit: str | None = None,
    time_format: str | None = None,
    positions_from: int = 1,
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Clicks:
    """Estimate relevance judgments from a log of clicks.

    Parameters
    ----------
    log
        A table of impressions: ``query_id``, ``doc_id``, ``clicked`` (0 or 1, or a fraction for partial
        satisfaction); optionally ``position`` (from 1), ``session`` (rows of one session and query are a
        list), ``propensity``, ``time``.  A path, a database address, a frame of any library, or a dict of
        columns; it can be larger than memory.
    method
        ``ctr``: clicks over impressions.  ``click``: 1 if ever clicked.  ``satisfaction``: the mean of the
        fractions.  ``ips``: the mean of clicks weighted by inverse propensity.  ``pbm``: the position-based
        model, fitted to documents that were shown at several positions.
    propensities
        For ``ips``, the probability that a position is examined: ``"1,0.6,0.4"``, a sequence,
        ``{position: propensity}`` or a table of both; by default the log's column ``propensity``.
    clip
        For ``ips``: smaller propensities are replaced by this value.
    smoothing
        Clicks, and impressions without a click, added to every pair (a Beta prior): ``"1,9"``.
    min_impressions
        Pairs with fewer impressions get no grade.
    grades
        Thresholds of grades 1, 2, …: ``"0.02,0.1,0.3"``; by default the estimate is the grade.
    confidence
        The confidence level of intervals.
    tolerance, max_iterations
        Stop the fit of ``pbm`` when no propensity changes by more than this share, or after so many
        iterations.
    invalid
        Rows with missing or invalid values: ``error``, or ``drop``.
    lists
        Lists (rows of one session and query) that skip or repeat positions: ``error``, ``keep`` or ``drop``.
    unlinked
        For ``pbm``, positions that no document links with the first: ``error``, or ``drop``.
    start, end
        The first and last day to include, by the column ``time``.
    tz, times_in, time_unit, time_format
        How times are read, as for :func:`rankstone.online.cohort_retention.retention`.
    positions_from
        The first position, 1 or 0; results count from 1.
    columns
        {name in the table: our name}: ``{"item_id": "doc_id", "tapped": "clicked"}``.
    csv_separator, decimal
        The CSV format, as for :func:`rankstone.evaluate`.
    format_in
        The file format; ``None`` to go by the suffix.
    progress
        Called with numbers of rows as they are read.

    Returns
    -------
    Clicks
        Judgments that :func:`rankstone.evaluate` accepts, propensities by position, and an audit of the log.

    Raises
    ------
    InputError
        When rows are invalid, or position bias cannot be separated from relevance.
    UsageError
        When an option is invalid, or does not apply to the method.

    Examples
    --------
    >>> log = {
    ...     "query_id": ["q"] * 4,
    ...     "doc_id": ["a", "b", "b", "a"],
    ...     "position": [1, 2, 1, 2],
    ...     "clicked": [1, 0, 1, 1],
    ... }
    >>> clicks(log, "ips", propensities="1,0.5").judgments["relevance"].to_list()
    [1.5, 0.5]
    """
    columns = with_csv(columns, csv_separator, decimal)
    prior = parse_numbers("smoothing", smoothing, 2)
    options = ClickOptions(
        method=method,
        smoothing=(prior[0], prior[1]),
        min_impressions=min_impressions,
        clip=clip,
        grades=None if grades is None else parse_numbers("grades", grades),
        confidence=confidence,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    policies = {"invalid": invalid, "lists": lists, "unlinked": unlinked}
    for option, value in policies.items():
        one_of(option, value, POLICIES[option])
    if propensities is not None and method != "ips":
        raise UsageError(
            f"propensities: method={method} does not use them",
            fix="leave out propensities, or use method=ips",
        )

    propensity_of = source = None
    if propensities is not None:
        propensity_of, source = read_propensities(propensities)
    further = _further_columns(method, has_propensities=propensity_of is not None)
    table = open_log(
        log,
        further,
        clock=Clock(tz, times_in, time_unit, time_format),
        span=Span(as_day("start", start), as_day("end", end)),
        positions_from=positions_from,
        columns=columns,
        format_in=format_in,
        progress=progress,
    )
    survey = survey_log(table, invalid, ["query_id", "doc_id", "clicked", *further])
    checked = survey_lists(table, survey, lists)
    rows = usable_rows(table, checked, fractional=options.fractional)
    by_position = count_by_position(table, rows)
    if propensity_of is not None:
        _check_coverage(propensity_of, by_position, table, source)

    sessions = Sessions(table, rows, survey) if "session" in table.has else None
    batches = count_cells(table, rows, survey, further)
    judged = _estimate_pairs(
        batches, options, propensity_of, unlinked, table.events.source, sessions
    )
    times = {"tz": tz, "times_in": times_in, "start": start, "end": end}
    inputs = {"log": table.events.source}
    if source is not None:
        inputs["propensities"] = source
    return Clicks(
        judgments=judged.kept(options),
        positions=judged.positions(by_position),
        audit=make_audit(table, survey, checked, options, judged, by_position),
        conventions=_conventions(options, policies, times),
        inputs=inputs,
    )


def _further_columns(method: str, *, has_propensities: bool) -> list[str]:
    """Return the columns that a method reads, beyond those of every log."""
    if method == "ips" and not has_propensities:
        return ["propensity"]
    if method in ("ips", "pbm"):
        return ["position"]
    return []


def _check_coverage(
    known: Mapping[int, float],
    by_position: pl.DataFrame,
    log: ClickLog,
    source: str | None,
) -> None:
    """Refuse logs with positions that have no propensity."""
    lacking = [
        position for position in by_position["position"] if position not in known
    ]
    if lacking:
        uncovered = pl.col("position").cast(pl.Float64, strict=False) == lacking[0]
        place, _ = log.events.first((log.reason == 0) & log.in_period & uncovered)
        raise BadValue(
            f"there is no propensity for position {some(lacking, 8)}",
            where=place,
            given=f"{source} has positions {some(sorted(known), 8)}",
            expected="a propensity for every position of the log",
        )


def _estimate_pairs(
    batches: Iterator[Cells],
    options: ClickOptions,
    known: Mapping[int, float] | None,
    unlinked: str,
    source: str,
    sessions: Sessions | None,
) -> JudgedPairs:
    """Estimate grades, in batches of queries if the method allows it."""
    if options.method == "pbm":
        all_batches = list(batches)
        if not all_batches:
            raise _empty_log_error(source)
        return fit_position_model(all_batches, options, unlinked, source, sessions)
    weighing = Weighing() if options.method == "ips" else None
    made = [
        (batch.pairs, _estimate_cells(batch, options, known, weighing))
        for batch in batches
    ]
    if not made:
        raise _empty_log_error(source)
    pairs = pl.concat([pairs for pairs, _ in made])
    return JudgedPairs(
        pairs,
        Estimates.joined([each for _, each in made]),
        known or {},
        weighing=weighing,
    )


def _estimate_cells(
    batch: Cells,
    options: ClickOptions,
    known: Mapping[int, float] | None,
    weighing: Weighing | None,
) -> Estimates:
    if weighing is not None:
        chances = batch.propensity
        if chances is None:
            assert known is not None  # noqa: S101 - a table, where there is no column
            assert batch.position is not None  # noqa: S101 - which was requested
            places, index = np.unique(batch.position, return_inverse=True)
            chances = np.array([known[int(place)] for place in places])[index]
        return inverse_propensity(batch, chances, options, weighing)
    if options.method == "click":
        return ever_clicked(batch)
    return mean_values(batch, options)


def _empty_log_error(source: str) -> EmptyInput:
    return EmptyInput(
        "no impression is left",
        where=source,
        fix="lists=keep keeps lists that skip or repeat positions",
    )


def _conventions(
    options: ClickOptions, policies: Mapping[str, str], times: Mapping[str, Any]
) -> dict[str, Any]:
    conventions: dict[str, Any] = {
        "method": options.method,
        "smoothing": list(options.smoothing),
        "min_impressions": options.min_impressions,
        "grades": None if options.grades is None else list(options.grades),
        "confidence": options.confidence,
        "invalid": policies["invalid"],
        "lists": policies["lists"],
    }
    if options.method == "ips":
        conventions["clip"] = options.clip
    if options.method == "pbm":
        conventions |= {
            "unlinked": policies["unlinked"],
            "tolerance": options.tolerance,
            "max_iterations": options.max_iterations,
        }
    days = {
        name: value if value is None else str(value) for name, value in times.items()
    }
    return {**conventions, **days}
