"""Logs of events: users, times and further columns.

They may be larger than memory: a log is opened lazily, and read when a query over it is collected.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, is_path
from rankstone.errors import BadOption, InputError, printable
from rankstone.io.arrow_batches import batches_of_relation, is_relation
from rankstone.io.columns import columns_in_source, hidden, renames, require
from rankstone.io.databases import open_database
from rankstone.io.file_formats import Scanned, scan_parts
from rankstone.io.json_objects import holds_json, read_json
from rankstone.io.list_columns import field_of, leaves
from rankstone.io.objects import not_a_table
from rankstone.io.python_rows import frame_of_library
from rankstone.io.sources import display_name, is_database, keeping_streams
from rankstone.io.spellings import by_alias
from rankstone.io.tried_advice import advised
from rankstone.io.typed_tables import id_type
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankstone._basics import Columns, Locate, Progress, StrPath


_NEEDED: Final = ("user_id", "time")
#: a query of a session: session, time, Q, query, region, documents; and how much of a line shows that
_SESSION: Final = re.compile(rb"\d+\t\d+\tQ\t\d+\t")
_LINE: Final = 200
#: whose events they are → {their name: our name}
_TOOLS: Final = {
    "events of Mixpanel": {
        "properties.distinct_id": "user_id",
        "properties.time": "time",
    },
    "events of Google Analytics": {
        "user_pseudo_id": "user_id",
        "event_timestamp": "time",
    },
}
#: columns of ids: texts, or whole numbers
_IDS: Final = ("user_id", "query_id", "doc_id", "impression_id")
_ROW: Final = "the row"  # no column of ours is called so


class Events(Record):
    """The rows of a log, ``user_id`` and ``time`` for instance, read whenever a query over them is collected.

    Attributes
    ----------
    source
        The log's name in messages.
    frame
        The rows, lazily; ids are ``String`` or ``Int64``, times have their original type.
    schema
        Columns and their types.
    untyped
        True if ids are bare text, so that ``7`` may be a number elsewhere.
    parts
        The files, each with its rows by our names; none for an object or a database.
    present
        All columns of the source, by our names.
    watch
        Reports every piece that is read.
    read_as
        Notes on what was detected about its files.
    positions_from
        The first position, 1 or 0.
    renamed
        {their name: our name} of the columns that were renamed.
    """

    source: str
    frame: pl.LazyFrame
    schema: Mapping[str, pl.DataType]
    untyped: bool
    parts: tuple[tuple[Scanned, pl.LazyFrame], ...] = ()
    present: tuple[str, ...] = ()
    watch: _Watch | None = None
    read_as: tuple[str, ...] = ()
    positions_from: int = 1
    renamed: Columns | None = None

    def __post_init__(self) -> None:
        """Refuse positions that begin elsewhere."""
        if self.positions_from not in (0, 1):
            raise BadOption(
                f"positions_from={self.positions_from!r} is not known",
                expected="0 or 1",
            )

    def given(self) -> str:
        """Return the columns of the source for a message, by the names they have there."""
        return columns_in_source(self.present or self.schema, self.renamed)

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query over the rows in pieces; reading errors are :class:`InputError`."""
        with (
            reading(self.source),
            nullcontext() if self.watch is None else self.watch.stream(),
        ):
            try:
                return query.collect(engine="streaming")
            except pl.exceptions.PolarsError as error:
                raise (_broken(part for part, _ in self.parts) or error) from error

    def first(
        self, condition: pl.Expr, *columns: pl.Expr
    ) -> tuple[str, dict[str, Any]]:
        """Return the place of the first row that fulfils a condition, and some of its columns."""

        def anywhere(row: int) -> str:
            return f"{self.source}, row {row + 1}"

        places: list[tuple[Locate, pl.LazyFrame]] = [
            (part.place, frame) for part, frame in self.parts
        ]
        for place, frame in places or [(anywhere, self.frame)]:
            query = (
                frame.with_row_index(_ROW)
                .filter(condition)
                .select(_ROW, *columns)
                .head(1)
            )
            if (found := self.collect(query)).height:
                row = found.row(0, named=True)
                return place(row.pop(_ROW)), row
        return self.source, {}

    def watched(self, progress: Progress | None) -> Events:
        """Return the log, which calls ``progress`` with the rows of every piece that is read."""
        if progress is None:
            return self

        watch = _Watch(progress, cache(self._estimated_rows))
        frame = self.frame.map_batches(
            watch.counted, streamable=True, schema=dict(self.schema)
        )
        return replace(self, frame=frame, watch=watch)

    def _estimated_rows(self) -> int | None:
        """Return an estimate of the number of rows, where one is known."""
        counts = [part.estimated_rows() for part, _ in self.parts]
        known = [count for count in counts if count is not None]
        if counts and len(known) == len(counts):
            return sum(known)
        return None

    def with_text_ids(self) -> Events:
        """Return the log with user ids as decimal text."""

        def as_text(frame: pl.LazyFrame) -> pl.LazyFrame:
            return frame.with_columns(pl.col("user_id").cast(pl.String))

        parts = tuple((part, as_text(frame)) for part, frame in self.parts)
        schema = {**self.schema, "user_id": pl.String()}
        return replace(self, frame=as_text(self.frame), schema=schema, parts=parts)


class _Watch:
    """Reports the pieces that are read to a progress, and every start to its method ``stream``.

    Parameters
    ----------
    progress
        Called with the number of rows of each piece.
    extent
        Returns an estimate of the number of rows.
    """

    def __init__(self, progress: Progress, extent: Callable[[], int | None]) -> None:
        self._advance = progress
        self._extent = extent
        self._stream = getattr(
            progress, "stream", lambda _extent: nullcontext(progress)
        )

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Report the pieces that are read inside as one stream."""
        with self._stream(self._extent) as self._advance:
            yield

    def counted(self, piece: pl.DataFrame) -> pl.DataFrame:
        """Return a piece after reporting it."""
        self._advance(piece.height)
        return piece


@advised
def read_events(
    source: object,
    columns: Columns | None = None,
    format_in: str | None = None,
    *,
    name: str = "events",
    needed: Sequence[str] = _NEEDED,
    further: Sequence[str] | None = (),
    ids: Sequence[str] = _IDS,
) -> Events:
    """Open a log with ``user_id`` and ``time``, or with the columns ``needed``.

    Parameters
    ----------
    source
        A path (CSV, TSV, JSON lines, Parquet, Arrow; a folder or a glob of parts; ``-``), an address of a
        database, a frame of any library, or a dict of columns.
    columns
        {their name: our name}.
    format_in
        Format of a file; ``None`` decides by content and suffix.
    name
        The name of an object in messages.
    needed
        Columns that the log must have.
    further
        Columns to read besides these, where the log has them; ``None`` for all.
    ids
        The columns of ids.
    """
    name, parts, frames = _opened(source, name, format_in, columns)
    schema = _schema_of(frames[0], name, parts)
    nested = {
        ".".join((column, *path)): field_of(pl.col(column), path)
        for column, dtype in schema.items()
        for path, _ in leaves(dtype)
    }
    schema = frames[0].with_columns(**nested).collect_schema()

    chosen = renames(schema.names(), columns or {}, name)
    tools = _tools_of(schema, chosen)
    for tool in tools:
        chosen |= _TOOLS[tool]
    if further is None:
        further = (*chosen.values(), *schema.names(), "clicked")
    chosen |= by_alias(schema.names(), chosen, (*needed, *further))
    replaced = hidden(schema.names(), chosen)
    ours = {
        theirs: chosen.get(theirs, theirs)
        for theirs in schema.names()
        if theirs not in replaced
    }
    require(ours.values(), needed, name, schema.names(), given=columns)

    wanted = {*needed, *further}
    theirs = {column: own for own, column in ours.items() if column in wanted}
    types = {column: schema[own] for column, own in theirs.items()}
    untyped = any(part.kind in ("csv", "tsv") for part in parts)
    for column in ids:
        if column in types:
            stored = types[column]
            types[column] = id_type(column, stored, name)
            # wide numbers are text
            untyped |= stored.is_numeric() and types[column] == pl.String
    if len(types) < len(schema) and parts:
        frames = [part.whole() for part in parts]
    cells = [
        pl.col(theirs[column]).alias(column).cast(dtype)
        for column, dtype in types.items()
    ]
    named = [frame.with_columns(**nested).select(cells) for frame in frames]

    notes = [note for part in parts for note in part.read_as]
    return Events(
        name,
        named[0] if len(named) == 1 else pl.concat(named),
        types,
        untyped,
        tuple(zip(parts, named, strict=False)),
        tuple(ours.values()),
        read_as=tuple(dict.fromkeys([*notes, *tools])),
        renamed=chosen,
    )


@keeping_streams()
def _opened(
    source: object, name: str, format_in: str | None, columns: Columns | None
) -> tuple[str, list[Scanned], list[pl.LazyFrame]]:
    """Return the name of a log for messages, its files if it has any, and their rows."""
    if isinstance(source, str) and is_database(source):
        return display_name(source), [], [open_database(source).lazy()]
    if not is_path(source):
        return name, [], [_frame_of(source, name)]
    _refuse_sessions(source)
    # TREC text has no column names
    kind = None if format_in == "trec" else format_in
    if holds_json(source, kind):
        name = display_name(source)
        return name, [], [_frame_of(read_json(source), name)]
    parts = scan_parts(source, kind, columns)
    return os.fspath(source), parts, [part.frame for part in parts]


def _schema_of(
    frame: pl.LazyFrame, name: str, parts: Iterable[Scanned]
) -> Mapping[str, pl.DataType]:
    """Return the columns of the first file; a broken line is named by the file that has it."""
    with reading(name):
        try:
            return frame.collect_schema()
        except pl.exceptions.PolarsError as error:
            raise (_broken(parts) or error) from error


def _tools_of(columns: Iterable[str], chosen: Columns) -> list[str]:
    """Return the programs whose columns a log has, unless something else says who did something when."""
    names = {*columns}
    if chosen or "time" in names:
        return []
    return [tool for tool in _TOOLS if {*_TOOLS[tool]} <= names]


def _refuse_sessions(source: StrPath) -> None:
    """Refuse logs of Yandex: rows of a query with its documents, and rows of a click."""
    path = Path(source)
    if not path.is_file():
        return
    with reading(str(path)), path.open("rb") as lines:
        first = lines.readline(_LINE)
    if _SESSION.match(first):
        raise InputError(
            "rows of queries (Q) and rows of clicks (C) are not read",
            where=str(path),
            given=printable(first.decode(errors="replace").strip(), 40),
            expected="a row for each document shown: "
            "session, query_id, doc_id, position, clicked",
        )


def _broken(parts: Iterable[Scanned]) -> InputError | None:
    """Return the error for the first line of the files that is not valid in its format."""
    return next(filter(None, (part.broken() for part in parts)), None)


def _frame_of(source: object, name: str) -> pl.LazyFrame:
    if isinstance(source, pl.LazyFrame):
        return source
    with reading(name):
        if is_relation(source):
            return batches_of_relation(source, name).lazy()
        if isinstance(source, Mapping):
            return pl.DataFrame(
                {column: _cells(source[column], column, name) for column in source}
            ).lazy()
    frame = frame_of_library(source, name)
    if frame is not None:
        return frame.lazy()
    expected = "a path, a frame (Polars, pandas, PyArrow, DuckDB), or a dict of columns"
    raise not_a_table(source, name, expected)


def _cells(values: Any, column: str, name: str) -> Any:  # noqa: ANN401 - whatever a frame takes
    """Return the cells of a column; whole numbers mixed with fractions become fractions."""
    if not isinstance(values, (list, tuple)):
        return values
    try:
        return pl.Series(column, values)
    except TypeError as error:
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {bool, int, float}:
            return pl.Series(column, values, dtype=pl.Float64, strict=False)
        raise InputError(
            f"the column {printable(column)} has values of different types",
            where=name,
            given=", ".join(sorted(kind.__name__ for kind in kinds)),
            expected="one type in a column",
        ) from error
