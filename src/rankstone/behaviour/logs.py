"""Logs of rankings that were shown: columns read as ids or numbers, and every row one can use, or refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadValue, EmptyInput, one_of, printable
from rankstone.io import Events, read_events
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.io import Progress

__all__ = ["Log", "numbered", "read_log"]

#: columns that hold numbers; every other one holds names
_NUMBERS: Final = (
    "position", "reward", "propensity", "target_propensity", "target_position", "prediction",
    "target_prediction", "examination", "clicked", "draw", "credit", "rank_a", "rank_b",
)  # fmt: skip
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
        """Say how many rows were left out, where any were."""
        rows = counted(self.dropped, "row")
        return [f"{rows} with a missing or unreadable value left out"] if self.dropped else []

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
                f"{counted(count, 'row')} {what}", where=place, given=_told(row), expected=expected, fix=fix
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
        [pl.lit(value=False)]
        + [_unusable(column, dtype, column in blank) for column, dtype in events.schema.items()]
    )
    numbers = [_number(column, dtype).alias(column) for column, dtype in events.schema.items()]

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
            given=_told(row),
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


def _number(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as numbers where it holds numbers; a text that is none becomes null."""
    if column not in _NUMBERS:
        return pl.col(column)
    if dtype == pl.String:
        text = pl.col(column).str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
        return text.cast(pl.Float64, strict=False)
    return pl.col(column).cast(pl.Float64, strict=False)


def _unusable(column: str, dtype: pl.DataType, may_be_blank: bool) -> pl.Expr:  # noqa: FBT001 - of a table
    value = _number(column, dtype)
    wrong = value.is_null() if column not in _NUMBERS else ~value.is_finite().fill_null(value=False)
    if not may_be_blank:
        return wrong
    given = pl.col(column).is_not_null()
    return wrong & (given & (pl.col(column).str.strip_chars() != "") if dtype == pl.String else given)


def _first(events: Events, wrong: pl.Expr, shown: Sequence[str]) -> tuple[str, dict[str, object]]:
    """Return where the first such row stands; the condition is over columns as they were read."""
    return events.first(wrong, *(pl.col(column).cast(pl.String, strict=False) for column in shown))


def _told(row: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name} {'–' if value is None else printable(value, 40)}" for name, value in row.items()
    )
