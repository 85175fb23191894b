"""Logs in memory: validated columns, impressions and clusters, and the base class of results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import InLines, Record, counted, left_out, line, read_as
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    InputError,
    NotComparable,
    one_of,
    printable,
)
from rankstone.io import read_run
from rankstone.io.column_suggestions import words_of_type
from rankstone.io.events import Events, read_events
from rankstone.io.number_columns import truths
from rankstone.online.local_times import DROP
from rankstone.rankings.rank_similarity.list_ordering import (
    options_for,
    ordering_options,
)
from rankstone.rankings.rank_similarity.ranked_lists import load_run
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Columns, Ints, Progress
    from rankstone.stats.mean_intervals import Estimate


#: columns of numbers; all others have ids
_NUMBERS: Final = (
    "position",
    "reward",
    "propensity",
    "target_propensity",
    "target_position",
    "prediction",
    "target_prediction",
    "examination",
    "clicked",
    "draw",
    "credit",
    "rank_a",
    "rank_b",
)
#: of these, columns in which true and false are read as 1 and 0
_BOOLEAN: Final = ("clicked", "reward")
#: what to do about positions from 0
FROM_0: Final = "positions_from=0 if positions count from 0"
_UNUSABLE: Final = "cannot be used"  # no column of ours has this name
#: the probability above the upper bound of Clopper and Pearson
_TAIL: Final = 0.025
#: degrees of freedom for which Student's distribution equals the normal one
_NORMAL: Final = 1e9
#: errors below this share of a value are rounding
_ROUNDING: Final = 1e-12


class Log(Record):
    """A log in memory, with the requested columns only.

    Attributes
    ----------
    events
        The table it was read from, unusable rows included.
    frame
        Ids as given, numbers as ``Float64``; no value is missing except in optional cells.
    rows, dropped
        Rows read, and how many of them were left out.
    """

    events: Events
    frame: pl.DataFrame
    rows: int
    dropped: int

    @property
    def source(self) -> str:
        """The name of the log in messages."""
        return self.events.source

    def left_out(self) -> list[str]:
        """Return phrases on rows left out and on the file format that was detected; empty if neither."""
        return [
            *left_out({"with a missing or unreadable value": self.dropped}),
            *read_as(self.events.read_as),
        ]

    def has(self, *columns: str) -> bool:
        """Return True if the log has all of these columns."""
        return set(columns) <= set(self.frame.columns)

    def require(
        self,
        wrong: pl.Expr,
        what: str,
        expected: str,
        *shown: str,
        fix: str | None = None,
    ) -> None:
        """Refuse the log if any row meets a condition, naming the first such row.

        Parameters
        ----------
        wrong
            The condition.
        what, expected, fix
            As in :class:`~rankstone.errors.RankstoneError`; ``what`` follows the number of rows.
        *shown
            Columns whose values the message shows.
        """
        count = int(self.frame.select(wrong.fill_null(value=False).sum()).item())
        if count:
            place, row = _first_row(self.events, wrong & ~pl.col(_UNUSABLE), shown)
            raise BadValue(
                f"{counted(count, 'row')} {what}",
                where=place,
                given=row_text(row),
                expected=expected,
                fix=fix,
            )


def check_clicks(log: Log) -> None:
    """Refuse clicks other than 0 and 1."""
    wrong = ~pl.col("clicked").is_in([0.0, 1.0])
    log.require(wrong, "where clicked is neither 0 nor 1", "0 or 1", "clicked")


def check_positions(log: Log, column: str) -> None:
    """Refuse positions that are not whole numbers from 1."""
    wrong = (pl.col(column) < 1) | (pl.col(column) != pl.col(column).round())
    is_from_0 = log.events.positions_from and log.frame[column].min() == 0
    fix = FROM_0 if is_from_0 else None
    log.require(
        wrong, f"with an invalid {column}", "whole numbers from 1", column, fix=fix
    )


def refuse_duplicates(log: Log, column: str) -> None:
    """Refuse impressions in which a value of a column occurs twice."""
    duplicates = log.frame.filter(pl.struct("impression_id", column).is_duplicated())
    if duplicates.height:
        first = {
            name: duplicates[name].cast(pl.String)[0]
            for name in ("impression_id", column)
        }
        raise DuplicateRows(
            f"{duplicates.height:,} rows share an impression and a {column} with another",
            where=log.source,
            given=row_text(first),
            expected=f"each {column} at most once per impression",
        )


def read_log(
    source: object,
    needed: Sequence[str],
    further: Sequence[str] = (),
    *,
    blank: Sequence[str] = (),
    columns: Columns | None = None,
    format_in: str | None = None,
    invalid: str = "error",
    numbers: Sequence[str] = (),
    positions_from: int = 1,
    progress: Progress | None = None,
    name: str = "log",
) -> Log:
    """Read the required columns of a log, and optional ones if present.

    Parameters
    ----------
    source, columns, format_in, name
        As for :func:`rankstone.io.read_events`.
    needed, further
        Required and optional columns, by our names.
    blank
        Columns in which a cell may be empty; other values must still be readable.
    invalid
        Whether rows with a missing or unreadable value are an ``error``, or left out and counted (``drop``).
    numbers
        Columns of numbers besides those that always are.
    positions_from
        The first position, 1 or 0.
    """
    one_of("invalid", invalid, ("error", "drop"))
    events = read_events(
        source, columns, format_in, name=name, needed=needed, further=further
    )
    events = replace(events.watched(progress), positions_from=positions_from)
    bad = pl.any_horizontal(
        [pl.lit(value=False)]
        + [
            _unusable(
                events,
                column,
                may_be_blank=column in blank,
                is_number=column in (*_NUMBERS, *numbers),
            )
            for column in events.schema
        ]
    )
    cells = [
        number(events, column) if column in (*_NUMBERS, *numbers) else pl.col(column)
        for column in events.schema
    ]

    def as_read(part: pl.LazyFrame) -> pl.LazyFrame:
        return part.select(*cells, bad.alias(_UNUSABLE))

    parts = tuple((part, as_read(frame)) for part, frame in events.parts)
    usable = replace(events, frame=as_read(events.frame), parts=parts)
    frame = usable.collect(usable.frame)
    if frame.is_empty():
        raise EmptyInput("the log has no rows", where=events.source)
    wrong = int(frame[_UNUSABLE].sum())
    if wrong and invalid == "error":
        place, row = _first_row(events, bad, list(events.schema))
        raise BadValue(
            f"{counted(wrong, 'row')} with a value that is missing or cannot be read",
            where=place,
            given=row_text(row),
            expected=", ".join(
                column for column in events.schema if column not in blank
            )
            + " in every row",
            # of interleaved lists no row can be left out
            fix=DROP if wrong < len(frame) and name != "lists" else None,
        )
    kept = frame.filter(~pl.col(_UNUSABLE)).drop(_UNUSABLE)
    if kept.is_empty():
        raise EmptyInput("no row of the log can be used", where=events.source)
    return Log(usable, kept, frame.height, wrong)


def dense_numbers(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Return the dense rank of each row by its columns, counted from 0; equal rows have equal numbers."""
    key = pl.col(columns[0]) if len(columns) == 1 else pl.struct(columns)
    return frame.select((key.rank("dense") - 1).cast(pl.Int64)).to_series()


def number(events: Events, column: str) -> pl.Expr:
    """Return a column as numbers, null if unreadable; clicks and rewards may be true or false."""
    dtype = events.schema[column]
    values = pl.col(column)
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        text = values.cast(pl.String).str.strip_chars()
        if column in _BOOLEAN or column not in _NUMBERS:
            text = truths(text)
        values = text.cast(pl.Float64, strict=False).alias(column)
    elif dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.Null)):
        values = values.cast(pl.Float64)
    else:
        what = f"{column} holds {words_of_type(dtype)}"
        raise InputError(what, where=events.source, expected="numbers")
    if column in ("position", "target_position"):
        values += 1 - events.positions_from
    return values


def row_text(row: Mapping[str, object]) -> str:
    """Return a row as text: names and values, – for missing ones."""
    return ", ".join(
        f"{name} {'–' if value is None else printable(value, 40)}"
        for name, value in row.items()
    )


def _unusable(
    events: Events, column: str, *, may_be_blank: bool, is_number: bool
) -> pl.Expr:
    wrong = pl.col(column).is_null()
    if is_number:
        wrong = ~number(events, column).is_finite().fill_null(value=False)
    if not may_be_blank:
        return wrong

    filled = pl.col(column).is_not_null()
    if events.schema[column] == pl.String:
        filled &= pl.col(column).str.strip_chars() != ""
    return wrong & filled


def _first_row(
    events: Events, wrong: pl.Expr, shown: Sequence[str]
) -> tuple[str, dict[str, object]]:
    """Return the place and the values of the first row that meets a condition on parsed columns."""
    return events.first(
        wrong, *(pl.col(column).cast(pl.String, strict=False) for column in shown)
    )


@dataclass(frozen=True, repr=False)
class LogAudit(InLines):
    """Audit of a log: counts, warnings and remarks.

    Attributes
    ----------
    source
        The name of the log.
    counts
        Counts by name.
    phrases
        The same counts in words; empty phrases are left out.
    warnings
        Possible problems.
    remarks
        Notes on reading the numbers, by the name of the number.
    """

    source: str
    counts: Mapping[str, int | None]
    phrases: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the audit as lines of text."""
        remarks = [f"{name}  {sentence}" for name, sentence in self.remarks.items()]
        warnings = [f"warning  {sentence}" for sentence in self.warnings]
        return [f"log  {line(self.phrases)}", *remarks, *warnings]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        remarks = {"remarks": dict(self.remarks)} if self.remarks else {}
        return {
            "source": self.source,
            **self.counts,
            **remarks,
            "warnings": list(self.warnings),
        }


class OnlineResult(Result, Record):
    """Base of the results that are computed from a log.

    Attributes
    ----------
    tables
        Tables by name, the main one first.
    audit
        Counts of the log, and warnings.
    conventions
        All options the numbers depend on.
    inputs
        The sources of the tables.
    """

    tables: Mapping[str, pl.DataFrame]
    audit: LogAudit
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]

    def table(self) -> pl.DataFrame:
        """Return the main table."""
        return next(iter(self.tables.values()))

    def to_frame(self) -> pl.DataFrame:
        """Return the main table, which is also what is written to files."""
        return self.table()

    def sheet(self, digits: int = 4) -> Sheet:
        """Return all tables as one sheet."""
        tables = tuple(Table.of(table, digits=digits) for table in self.tables.values())
        return Sheet("", parts=tables, notes=(self._notes(),))

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, ready for JSON: null where there is no value."""
        return self._reported(**self.tables)


def rows_to_frame(
    rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]
) -> pl.DataFrame:
    """Return rows as a frame, NaN as null."""
    frame = pl.DataFrame(list(rows), schema=dict(schema))
    return frame.with_columns(pl.selectors.float().fill_nan(None))


class Rankings(Record):
    """A run as ranked lists.

    Attributes
    ----------
    source
        The name of the run.
    frame
        ``query_id``, ``doc_id`` and ``rank`` from 1, list after list, best first.
    tied
        Documents that share their score with another document of the list.
    """

    source: str
    frame: pl.DataFrame
    tied: int


def read_rankings(
    run: object,
    name: str,
    *,
    order: str = "score",
    columns: Columns | None = None,
    format_in: str | None = None,
    progress: Progress | None = None,
) -> Rankings:
    """Read a run as ranked lists, ordered by ``order``: ``score``, ``rank`` or ``input``."""
    options = ordering_options({"order": order})
    table = read_run(run, columns, format_in, order=order, name=name)
    listed = load_run(table.watched(progress), options_for(table, options))
    return Rankings(table.source, listed.to_frame(), listed.tally["tied"])


def cluster_of_impressions(log: Log, column: str, impression: Ints) -> Ints:
    """Return the cluster of each impression, int64 ``[impressions]``, from 0.

    Raises
    ------
    NotComparable
        When an impression belongs to two clusters.
    """
    cluster = dense_numbers(log.frame, column).to_numpy()
    clusters = np.empty(int(impression.max()) + 1, np.int64)
    clusters[impression] = cluster
    other = np.flatnonzero(clusters[impression] != cluster)
    if len(other):
        row = log.frame.row(int(other[0]), named=True)
        raise NotComparable(
            f"an impression belongs to two values of {printable(column, 40)}",
            where=log.source,
            given=f"impression_id {printable(row['impression_id'], 40)}",
            expected=f"one {printable(column, 40)} per impression",
        )
    return clusters


def count_skipping(log: Log, impression: Ints) -> int:
    """Count impressions that skip a position: the lowest position exceeds the number of positions."""
    places = log.frame.select("position", impression=impression).group_by("impression")
    lists = places.agg(
        last=pl.col("position").max(), places=pl.col("position").n_unique()
    )
    return lists.filter(pl.col("last") > pl.col("places")).height


def has_no_spread(estimate: Estimate) -> bool:
    """Return True if all units have the same value, up to rounding."""
    return estimate.error <= _ROUNDING * max(1.0, abs(estimate.value))


def with_error_bound(estimate: Estimate, low: float, high: float) -> Estimate:
    """Return the estimate, with an upper bound as its standard error if all units have the same value.

    The 95 % interval then ends where that of Clopper and Pearson (1934) does for n successes in n trials,
    scaled to the range of values: about 3.7 / n of that range, a two-sided rule of three.

    Parameters
    ----------
    estimate
        The estimate.
    low, high
        The smallest and largest value of a unit; if they are equal or infinite the error is NaN.

    Examples
    --------
    >>> from rankstone.stats import Estimate
    >>> low, high = with_error_bound(Estimate(1.0, 0.0, 100, df=99.0), 0, 1).interval()
    >>> round(low, 4), round(0.025 ** (1 / 100), 4)
    (0.9638, 0.9638)
    """
    if math.isnan(estimate.error) or not has_no_spread(estimate):
        return estimate
    reach = max(estimate.value - low, high - estimate.value) * (
        1 - _TAIL ** (1 / estimate.units)
    )
    known = 0 < reach < math.inf
    return replace(
        estimate,
        error=reach / -NormalDist().inv_cdf(_TAIL) if known else math.nan,
        df=_NORMAL,
    )
