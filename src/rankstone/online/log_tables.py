"""Logs of rankings that were shown: columns read as ids or numbers, and every row one can use, or refused.

What results of logs have in common: tables by name, an audit, conventions, inputs.

Runs as plain rankings: a row for each document, with its rank.

Impressions: which depend on one another (those of a user, a session), and which are shown in part.

Units that all have the same value: no spread is seen, which does not mean that there is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import InLines, counted, left_out, line, read_as
from rankstone.errors import BadValue, EmptyInput, InputError, NotComparable, one_of, printable
from rankstone.io import read_run
from rankstone.io.events import Events, read_events
from rankstone.rankings.rank_similarity.list_pairs import load_run
from rankstone.rankings.rank_similarity.run_similarity import options_for, ordering_options
from rankstone.tables.results import Result, given
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone.io.input_table import Progress
    from rankstone.stats.mean_intervals import Estimate

    Ints = NDArray[np.int64]

__all__ = [
    "Found",
    "Log",
    "Notes",
    "Rankings",
    "alike",
    "cluster_of_impressions",
    "floats",
    "number",
    "numbered",
    "rankings",
    "read_log",
    "skipping",
    "spread_between",
    "told_row",
]

#: columns that hold numbers; every other one holds names
_NUMBERS: Final = (
    "position", "reward", "propensity", "target_propensity", "target_position", "prediction",
    "target_prediction", "examination", "clicked", "draw", "credit", "rank_a", "rank_b",
)  # fmt: skip
#: of these, those in which true and false are 1 and 0
_YES_OR_NO: Final = ("clicked", "reward")
_BAD: Final = "cannot be used"  # no column of ours is called so


@dataclass(frozen=True, eq=False)
class Log:
    """A log in memory: the columns that were asked for, no more.

    Attributes
    ----------
    events
        Where it came from, rows that cannot be used among the others.
    frame
        Ids as they are, numbers as ``Float64``; nothing is missing but what may be.
    rows, dropped
        Rows read, and rows left out of these.
    """

    events: Events
    frame: pl.DataFrame
    rows: int
    dropped: int

    @property
    def source(self) -> str:
        """What to call the log in messages."""
        return self.events.source

    def left_out(self) -> list[str]:
        """Say how many rows were left out, where any were, and what was guessed of how they are written."""
        return [
            *left_out({"with a missing or unreadable value": self.dropped}),
            *read_as(self.events.read_as),
        ]

    def has(self, *columns: str) -> bool:
        """Say whether the log has all of some columns."""
        return set(columns) <= set(self.frame.columns)

    def require(self, wrong: pl.Expr, what: str, expected: str, *shown: str, fix: str | None = None) -> None:
        """Refuse the log where a condition over its columns holds, naming the first such row.

        Parameters
        ----------
        wrong
            The condition.
        what, expected, fix
            As in :class:`~rankstone.errors.RankstoneError`; ``what`` follows the number of rows.
        *shown
            Columns whose values are told.
        """
        count = int(self.frame.select(wrong.fill_null(value=False).sum()).item())
        if count:
            place, row = _first(self.events, wrong & ~pl.col(_BAD), shown)
            raise BadValue(
                f"{counted(count, 'row')} {what}",
                where=place,
                given=told_row(row),
                expected=expected,
                fix=fix,
            )


def read_log(
    source: object,
    needed: Sequence[str],
    further: Sequence[str] = (),
    *,
    blank: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    invalid: str = "error",
    progress: Progress | None = None,
    name: str = "log",
) -> Log:
    """Read the columns of a log that are needed, and further ones where it has them.

    Parameters
    ----------
    source, columns, format_in, name
        As for :func:`rankstone.io.read_events`.
    needed, further
        Our names of columns.
    blank
        Those in which a value may be missing; what stands there must be readable all the same.
    invalid
        Whether rows in which something is missing or no number are an ``error``, or ``drop`` leaves them
        out and counts them.
    """
    one_of("invalid", invalid, ("error", "drop"))
    events = read_events(source, columns, format_in, name=name, needed=needed, further=further)
    events = events.watched(progress)
    bad = pl.any_horizontal(
        [pl.lit(value=False)] + [_unusable(events, column, column in blank) for column in events.schema]
    )
    numbers = [number(events, column) if column in _NUMBERS else pl.col(column) for column in events.schema]

    def as_read(part: pl.LazyFrame) -> pl.LazyFrame:
        return part.select(*numbers, bad.alias(_BAD))

    parts = tuple((part, as_read(frame)) for part, frame in events.parts)
    usable = replace(events, frame=as_read(events.frame), parts=parts)
    frame = usable.collect(usable.frame)
    if frame.is_empty():
        raise EmptyInput("the log has no rows", where=events.source)
    wrong = int(frame[_BAD].sum())
    if wrong and invalid == "error":
        place, row = _first(events, bad, list(events.schema))
        raise BadValue(
            f"{counted(wrong, 'row')} with a value that is missing or cannot be read",
            where=place,
            given=told_row(row),
            expected=", ".join(column for column in events.schema if column not in blank) + " in every row",
            fix="invalid=drop leaves such rows out and counts them",
        )
    kept = frame.filter(~pl.col(_BAD)).drop(_BAD)
    if kept.is_empty():
        raise EmptyInput("no row of the log can be used", where=events.source)
    return Log(usable, kept, frame.height, wrong)


def numbered(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Return a number from 0 for each row: the same for rows whose columns agree, in the order of values."""
    key = pl.col(columns[0]) if len(columns) == 1 else pl.struct(columns)
    return frame.select((key.rank("dense") - 1).cast(pl.Int64)).to_series()


def number(events: Events, column: str) -> pl.Expr:
    """Return a column as numbers, null where it holds none; clicks and rewards may be true or false."""
    dtype, taken = events.schema[column], pl.col(column)
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        text = taken.cast(pl.String).str.strip_chars()
        if column in _YES_OR_NO:
            text = text.str.to_lowercase().replace({"true": "1", "false": "0"})
        return text.cast(pl.Float64, strict=False).alias(column)
    if dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.Null)):
        return taken.cast(pl.Float64)
    raise InputError(f"{column} holds {dtype}", where=events.source, expected="numbers")


def told_row(row: Mapping[str, object]) -> str:
    """Return a row as text: names and values, – for none."""
    return ", ".join(
        f"{name} {'–' if value is None else printable(value, 40)}" for name, value in row.items()
    )


def _unusable(events: Events, column: str, may_be_blank: bool) -> pl.Expr:  # noqa: FBT001 - of a table
    if column not in _NUMBERS:
        wrong = pl.col(column).is_null()
    else:
        wrong = ~number(events, column).is_finite().fill_null(value=False)
    if not may_be_blank:
        return wrong
    given = pl.col(column).is_not_null()
    text = events.schema[column] == pl.String
    return wrong & (given & (pl.col(column).str.strip_chars() != "") if text else given)


def _first(events: Events, wrong: pl.Expr, shown: Sequence[str]) -> tuple[str, dict[str, object]]:
    """Return where the first such row stands; the condition is over columns as they were read."""
    return events.first(wrong, *(pl.col(column).cast(pl.String, strict=False) for column in shown))


@dataclass(frozen=True, repr=False)
class Notes(InLines):
    """What was found in the log, counted.

    Attributes
    ----------
    source
        Where it came from.
    counts
        What was counted, by name.
    phrases
        The same in words, a part of a sentence each; empty ones are left out.
    warnings
        What deserves a second look.
    remarks
        What numbers mean, by what they are called.
    """

    source: str
    counts: Mapping[str, int | None]
    phrases: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return it as sentences."""
        remarks = [f"{name}  {sentence}" for name, sentence in self.remarks.items()]
        warnings = [f"warning  {sentence}" for sentence in self.warnings]
        return [f"log  {line(self.phrases)}", *remarks, *warnings]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        remarks = {"remarks": dict(self.remarks)} if self.remarks else {}
        return {"source": self.source, **self.counts, **remarks, "warnings": list(self.warnings)}


@dataclass(frozen=True, eq=False, repr=False)
class Found(Result):
    """What was found in a log.

    Attributes
    ----------
    tables
        Tables by name, the one that answers the question first.
    audit
        What was found in the log.
    conventions
        What the numbers depend on.
    inputs
        Where everything came from.
    """

    tables: Mapping[str, pl.DataFrame]
    audit: Notes
    conventions: Mapping[str, Any]
    inputs: Mapping[str, str]

    def table(self) -> pl.DataFrame:
        """Return the table that answers the question."""
        return next(iter(self.tables.values()))

    def to_frame(self) -> pl.DataFrame:
        """Return that table: what is written to files."""
        return self.table()

    def sheet(self, digits: int = 4) -> Sheet:
        """Return all tables as a sheet."""
        tables = tuple(Table.of(table, digits=digits) for table in self.tables.values())
        return Sheet("", parts=tables, notes=tuple(self._notes()))

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, ready for JSON: null where there is no value."""
        told = {"audit": self.audit, "conventions": self.conventions, "inputs": self.inputs}
        return given(**self.tables, **told)


def floats(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows as a frame in which what is no number is null."""
    frame = pl.DataFrame(list(rows), schema=dict(schema))
    return frame.with_columns(pl.selectors.float().fill_nan(None))


@dataclass(frozen=True, eq=False)
class Rankings:
    """The lists of a run.

    Attributes
    ----------
    source
        Where they came from.
    frame
        ``query_id``, ``doc_id`` and ``rank`` from 1, list after list, best first.
    tied
        Documents whose score another one of the list has, too.
    """

    source: str
    frame: pl.DataFrame
    tied: int


def rankings(
    run: object,
    name: str,
    *,
    order: str = "score",
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    progress: Progress | None = None,
) -> Rankings:
    """Read a run and order it, as every other command does; ``order`` is ``score``, ``rank`` or ``input``."""
    options = ordering_options({"order": order})
    table = read_run(run, columns, format_in, order=order, name=name)
    held = load_run(table.watched(progress), options_for(table, options))
    frame = pl.DataFrame(
        {"query_id": held.names.gather(held.ranked.query), "doc_id": held.docs, "rank": held.ranked.rank}
    )
    return Rankings(table.source, frame, held.tally.tied)


def cluster_of_impressions(log: Log, column: str, impression: Ints) -> Ints:
    """Return the cluster of each impression, int64 ``[impressions]``, from 0.

    Raises
    ------
    NotComparable
        When an impression has rows of two clusters.
    """
    cluster = numbered(log.frame, column).to_numpy()
    found = np.empty(int(impression.max()) + 1, np.int64)
    found[impression] = cluster
    other = np.flatnonzero(found[impression] != cluster)
    if len(other):
        row = log.frame.row(int(other[0]), named=True)
        raise NotComparable(
            f"an impression belongs to two values of {printable(column, 40)}",
            where=log.source,
            given=f"impression_id {printable(row['impression_id'], 40)}",
            expected=f"one {printable(column, 40)} an impression",
        )
    return found


def skipping(log: Log, impression: Ints) -> int:
    """Count impressions that skip a position: the last one is further down than rows of theirs reach."""
    places = log.frame.select("position", impression=impression).group_by("impression")
    lists = places.agg(last=pl.col("position").max(), held=pl.col("position").n_unique())
    return lists.filter(pl.col("last") > pl.col("held")).height


#: the chance left above the bound of Clopper and Pearson
_TAIL: Final = 0.025
#: degrees of freedom with which Student's distribution is the normal one
_NORMAL: Final = 1e9
#: errors below this share of a value are rounding
_ROUNDING: Final = 1e-12


def alike(found: Estimate) -> bool:
    """Say whether several units show no spread at all."""
    return found.error <= _ROUNDING * max(1.0, abs(found.value))


def spread_between(found: Estimate, low: float, high: float) -> Estimate:
    """Return an estimate whose interval is never a point.

    Where all units are alike its 95 % interval ends where that of Clopper and Pearson (1934) does for n units
    of n, stretched to the values there can be: about 3.7 / n of their range, a rule of three with both ends.

    Parameters
    ----------
    found
        An estimate with Student's interval.
    low, high
        The values that a unit can have; where these are one value, or have no end, there is no error.

    Examples
    --------
    >>> from rankstone.stats import Estimate
    >>> low, high = spread_between(Estimate(1.0, 0.0, 100, df=99.0), 0, 1).interval()
    >>> round(low, 4), round(0.025 ** (1 / 100), 4)
    (0.9638, 0.9638)
    """
    if math.isnan(found.error) or not alike(found):
        return found
    reach = max(found.value - low, high - found.value) * (1 - _TAIL ** (1 / found.units))
    known = 0 < reach < math.inf
    return replace(found, error=reach / -NormalDist().inv_cdf(_TAIL) if known else math.nan, df=_NORMAL)
