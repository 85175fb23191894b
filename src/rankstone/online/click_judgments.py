"""From a log of clicks to judgments.

What is asked of a log of clicks: the method, and what it needs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import some
from rankstone.errors import BadOption, BadValue, EmptyInput, UsageError, between_0_and_1, one_of, printable
from rankstone.io.columns import with_csv
from rankstone.io.events import read_events
from rankstone.online.click_log import opened, survey
from rankstone.online.click_results import Clicks, Judged, audited
from rankstone.online.examination import Estimates, Weighing, ever_clicked, mean, weighted
from rankstone.online.local_times import Clock
from rankstone.online.position_based_model import fitted
from rankstone.online.retention_audit import Span, as_day
from rankstone.online.shown_lists import Cells, Sessions, cells, counted_rows, looked_at, positions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from rankstone.io.input_table import Progress
    from rankstone.online.click_log import Log

#: method → what a grade is
METHODS: Final = ("ctr", "click", "satisfaction", "ips", "pbm")
POLICIES: Final = {
    "invalid": ("error", "drop"),
    "lists": ("error", "keep", "drop"),
    "unlinked": ("error", "drop"),
}


@dataclass(frozen=True)
class Asked:
    """How clicks become grades.

    Attributes
    ----------
    method
        One of :data:`METHODS`.
    smoothing
        Clicks and impressions without one that are added to every pair: the two numbers of a Beta prior.
    min_impressions
        Pairs that were shown less often get no grade.
    clip
        Propensities below are taken as this.
    grades
        Where grades 1, 2, … begin; ``None`` for the estimate itself.
    confidence
        Of intervals.
    tolerance, max_iterations
        When the fit stops: no propensity moves by more than this share in a round, or after so many rounds.
    """

    method: str = "ctr"
    smoothing: tuple[float, float] = (0.0, 0.0)
    min_impressions: int = 1
    clip: float | None = None
    grades: tuple[float, ...] | None = None
    confidence: float = 0.95
    tolerance: float = 1e-7
    max_iterations: int = 100

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        one_of("method", self.method, METHODS)
        if not all(math.isfinite(count) and count >= 0 for count in self.smoothing):
            raise BadOption(
                f"smoothing={_listed(self.smoothing)} cannot be added",
                expected="two numbers from 0 up: clicks, and impressions without one",
            )
        if self.method == "click" and any(self.smoothing):
            raise UsageError("method=click has nothing to smooth", fix="leave smoothing out, or method=ctr")
        if isinstance(self.min_impressions, bool) or self.min_impressions < 1:
            raise BadOption(f"min_impressions={self.min_impressions!r} is no count", expected="1 or more")
        if self.clip is not None and self.method != "ips":
            raise UsageError(f"clip={self.clip}: only method=ips has weights", fix="method=ips")
        if self.clip is not None and not 0 < self.clip <= 1:
            raise BadOption(f"clip={self.clip!r} is out of range", expected="0 < clip <= 1")
        if self.grades is not None and not _rising(self.grades):
            raise BadOption(
                f"grades={_listed(self.grades)} do not rise",
                expected="where grades 1, 2, … begin: 0.02,0.1,0.3",
            )
        between_0_and_1("confidence", self.confidence)
        if not 0 < self.tolerance < 1:
            raise BadOption(f"tolerance={self.tolerance!r} is out of range", expected="0 < tolerance < 1")
        if isinstance(self.max_iterations, bool) or self.max_iterations < 1:
            raise BadOption(f"max_iterations={self.max_iterations!r} is no count", expected="1 or more")

    @property
    def fractional(self) -> bool:
        """Whether a fraction counts as that much; else whatever is more than 0 is one click."""
        return self.method in ("satisfaction", "ips", "pbm")


def _rising(grades: tuple[float, ...]) -> bool:
    finite = bool(grades) and all(math.isfinite(grade) for grade in grades)
    return finite and all(low < high for low, high in pairwise(grades))


def _listed(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


def numbers(option: str, given: object, count: int | None = None) -> tuple[float, ...]:
    """Return numbers that were given as ``"0.02,0.1"`` or as a sequence of them.

    >>> numbers("smoothing", "1,9", 2)
    (1.0, 9.0)
    """
    parts = given.split(",") if isinstance(given, str) else given
    try:
        found = tuple(float(part) for part in parts) if isinstance(parts, Iterable) else ()
    except (TypeError, ValueError):
        found = ()
    if not found or (count is not None and len(found) != count):
        raise BadOption(
            f"{option}={printable(given)} cannot be read",
            expected=f"{'numbers' if count is None else f'{count} numbers'}, divided by commas",
        )
    return found


def propensities_of(given: object) -> tuple[dict[int, float], str]:
    """Return position → propensity, and where that came from.

    Parameters
    ----------
    given
        Numbers for positions 1, 2, … (``"1,0.6,0.4"`` or a sequence), ``{position: propensity}``, or a table
        with these columns: a path, an address of a database, a frame.
    """
    if isinstance(given, Mapping) and not {"position", "propensity"} <= {str(name) for name in given}:
        return _checked(dict(given), "propensities"), "propensities"
    if isinstance(given, (list, tuple)) or (isinstance(given, str) and _looks_like_numbers(given)):
        return _checked(dict(enumerate(numbers("propensities", given), 1)), "propensities"), "propensities"
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else "propensities"
    table = read_events(given, name="propensities", needed=("position", "propensity"), ids=())
    cast = [pl.col(column).cast(pl.Float64, strict=False) for column in ("position", "propensity")]
    found = table.collect(table.frame.select(cast))
    known: dict[object, float] = {}
    for position, propensity in found.filter(pl.col("propensity").is_not_null()).iter_rows():
        if position in known:
            raise BadValue(f"position {position:g} has two propensities", where=name)
        known[position] = propensity
    return _checked(known, name), name


def _looks_like_numbers(text: str) -> bool:
    return all(part.strip().replace(".", "", 1).replace("e-", "", 1).isdigit() for part in text.split(","))


def _checked(known: Mapping[object, object], source: str) -> dict[int, float]:
    found: dict[int, float] = {}
    for position, propensity in known.items():
        place, value = _number(position), _number(propensity)
        if not (place >= 1 and place == int(place)):
            raise BadValue(
                f"{printable(position)} is no position", where=source, expected="whole numbers from 1 up"
            )
        if not 0 < value <= 1:
            raise BadValue(
                f"the propensity of position {place:g} is out of range",
                where=source,
                given=printable(propensity),
                expected="0 < propensity <= 1",
                fix="divide all of them by the largest" if value > 1 else None,
            )
        found[int(place)] = value
    if not found:
        raise BadOption("there are no propensities", where=source, expected="a propensity for each position")
    return found


def _number(value: object) -> float:
    """Return a number, 0 where it is none or not finite."""
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
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Clicks:
    """Make judgments of a log of clicks.

    Parameters
    ----------
    log
        A table of impressions: ``query_id``, ``doc_id``, ``clicked`` (0 or 1, or a fraction for partial
        satisfaction), perhaps ``position`` (from 1), ``session`` (which rows were shown together),
        ``propensity``, ``time``.  A path, an address of a database, a frame of any library, a dict of
        columns; it may be larger than memory.
    method
        ``ctr``: clicks over impressions.  ``click``: 1 where ever clicked.  ``satisfaction``: the mean of
        the fractions.  ``ips``: the mean of clicks over the propensity of their position.  ``pbm``: the
        position-based model, whose positions are told by documents that stood at several of them.
    propensities
        The chance that a position is looked at, of ``ips``: ``"1,0.6,0.4"``, a sequence,
        ``{position: propensity}``, a table of both; unless given, the log's column ``propensity``.
    clip
        Propensities below are taken as this.
    smoothing
        Clicks and impressions without one that are added to every pair, a Beta prior: ``"1,9"``.
    min_impressions
        Pairs that were shown less often get no grade.
    grades
        Where grades 1, 2, … begin: ``"0.02,0.1,0.3"``; the estimate is the grade unless given.
    confidence
        Of intervals.
    tolerance, max_iterations
        When the fit of ``pbm`` stops: no position moves by more than this share, or after so many rounds.
    invalid
        Rows that say nothing, or what cannot be: ``error``, or ``drop``.
    lists
        Lists (rows of one session and query) whose positions skip or repeat: ``error``, ``keep`` or ``drop``.
    unlinked
        Positions that no document links with the first, of ``pbm``: ``error``, or ``drop``.
    start, end
        The first and the last day that count, by the column ``time``.
    tz, times_in, time_unit
        How times are read, as for :func:`rankstone.online.cohort_retention.retention`.
    columns
        {their name: our name}: ``{"item_id": "doc_id", "tapped": "clicked"}``.
    csv_separator, decimal
        How CSV files are written, as for :func:`rankstone.evaluate`.
    format_in
        Format of the files; ``None`` goes by the suffix.
    progress
        Called with numbers of rows while they are read.

    Returns
    -------
    Clicks
        Judgments that :func:`rankstone.evaluate` takes, positions, what was found in the log.

    Raises
    ------
    InputError
        When rows cannot be read or say what cannot be, or positions cannot be told from relevance.
    UsageError
        When an option is not known, or says nothing of this method.

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
    prior = numbers("smoothing", smoothing, 2)
    asked = Asked(
        method=method,
        smoothing=(prior[0], prior[1]),
        min_impressions=min_impressions,
        clip=clip,
        grades=None if grades is None else numbers("grades", grades),
        confidence=confidence,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    given = {"invalid": invalid, "lists": lists, "unlinked": unlinked}
    for option, value in given.items():
        one_of(option, value, POLICIES[option])
    if propensities is not None and method != "ips":
        raise UsageError(f"propensities: method={method} does not weigh by them", fix="method=ips")
    known, known_from = (None, None) if propensities is None else propensities_of(propensities)
    by_column = method == "ips" and known is None
    further = ["propensity"] if by_column else ["position"] if method in ("ips", "pbm") else []
    table = opened(
        log,
        further,
        clock=Clock(tz, times_in, time_unit),
        span=Span(as_day("start", start), as_day("end", end)),
        columns=columns,
        format_in=format_in,
        progress=progress,
    )
    found = survey(table, invalid, ["query_id", "doc_id", "clicked", *further])
    seen = looked_at(table, found, lists)
    rows = counted_rows(table, seen, lists, fractional=asked.fractional)
    by_position = positions(table, rows)
    if known is not None:
        _covered(known, by_position, table, known_from)
    sessions = Sessions(table, rows, found) if "session" in table.has else None
    parts = cells(table, rows, found, further)
    judged = _judged(parts, asked, known, unlinked, table.events.source, sessions)
    return Clicks(
        judgments=judged.kept(asked),
        positions=judged.positions(by_position),
        audit=audited(table, found, seen, lists, asked, judged, by_position),
        conventions=_conventions(asked, given, {"tz": tz, "times_in": times_in, "start": start, "end": end}),
        inputs={"log": table.events.source, **({} if known_from is None else {"propensities": known_from})},
    )


def _covered(known: Mapping[int, float], by_position: pl.DataFrame, log: Log, source: str | None) -> None:
    """Refuse positions without a propensity."""
    lacking = [position for position in by_position["position"] if position not in known]
    if lacking:
        at = pl.col("position").cast(pl.Float64, strict=False) == lacking[0]
        place, _ = log.events.first((log.reason == 0) & log.within & at)
        raise BadValue(
            f"there is no propensity for position {some(lacking, 8)}",
            where=place,
            given=f"{source} has positions {some(sorted(known), 8)}",
            expected="a propensity for every position of the log",
        )


def _judged(
    parts: Iterator[Cells],
    asked: Asked,
    known: Mapping[int, float] | None,
    unlinked: str,
    source: str,
    sessions: Sessions | None,
) -> Judged:
    """Estimate, some queries at a time where they do not depend on one another."""
    if asked.method == "pbm":
        every = list(parts)
        if not every:
            raise _nothing_left(source)
        model = fitted(every, asked, unlinked, source, sessions)
        return Judged(
            model.pairs,
            model.estimates,
            model.propensities,
            model.known,
            fit=model.fit,
            unlinked=model.unlinked,
        )
    weighing = Weighing() if asked.method == "ips" else None
    made = [(part.pairs, _estimated(part, asked, known, weighing)) for part in parts]
    if not made:
        raise _nothing_left(source)
    pairs = pl.concat([pairs for pairs, _ in made])
    return Judged(pairs, Estimates.joined([each for _, each in made]), known or {}, weighing=weighing)


def _estimated(
    part: Cells, asked: Asked, known: Mapping[int, float] | None, weighing: Weighing | None
) -> Estimates:
    if weighing is not None:
        chances = part.propensity
        if chances is None:
            assert known is not None  # noqa: S101 - a table, where there is no column
            assert part.position is not None  # noqa: S101 - which was asked for
            places, at = np.unique(part.position, return_inverse=True)
            chances = np.array([known[int(place)] for place in places])[at]
        return weighted(part, chances, asked, weighing)
    return ever_clicked(part) if asked.method == "click" else mean(part, asked)


def _nothing_left(source: str) -> EmptyInput:
    return EmptyInput("there is no impression left", where=source, fix="lists=keep keeps odd lists")


def _conventions(asked: Asked, policies: Mapping[str, str], times: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "method": asked.method,
        "smoothing": list(asked.smoothing),
        "min_impressions": asked.min_impressions,
        "grades": None if asked.grades is None else list(asked.grades),
        "confidence": asked.confidence,
        "invalid": policies["invalid"],
        "lists": policies["lists"],
    }
    if asked.method == "ips":
        told["clip"] = asked.clip
    if asked.method == "pbm":
        told |= {
            "unlinked": policies["unlinked"],
            "tolerance": asked.tolerance,
            "max_iterations": asked.max_iterations,
        }
    days = {name: value if value is None else str(value) for name, value in times.items()}
    return {**told, **days}
