"""Logs of rankings that were shown: columns read as ids or numbers, and every row one can use, or refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadValue, EmptyInput, InputError, one_of, printable
from rankstone.io import Events, read_events
from rankstone.words import counted, left_out, read_as

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.io import Progress

__all__ = ["Log", "number", "numbered", "read_log", "told_row"]

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
