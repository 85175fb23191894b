"""Rows in Arrow batches, from databases and DuckDB relations: tables that are never held whole.

Drivers return batches of PyArrow, which is imported when the first of them is read.  A relation of DuckDB is
a query that runs again for every read.  A connection reads one relation at a time: when another read starts,
the remaining rows of the first are held in memory, and only then.
"""

from __future__ import annotations

import gc
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet

import polars as pl

from rankstone._basics import Record
from rankstone.errors import InputError, MissingExtra, masked, printable
from rankstone.io.input_table import ROWS
from rankstone.io.list_columns import LISTS
from rankstone.io.typed_tables import of_batches

if TYPE_CHECKING:
    from rankstone._basics import Columns
    from rankstone.io.input_table import Table


#: restarts the rows with some of the columns
Reader = Callable[[Sequence[str]], Iterator[Any]]

#: metadata keys in which PostgreSQL's driver names the type of a column
_TYPE: Final = (b"ADBC:postgresql:typname", b"POSTGRESQL:type")
#: the preamble of a driver's message
_PREAMBLE: Final = re.compile(
    r"^(?:.*(?:Failed to connect:|ERROR:|FATAL:)|[A-Z_]+: (?:\[\w+\] )?)\s*"
)
#: DuckDB's message for a connection whose rows are still being read
BUSY: Final = "connection has an open result"
#: DuckDB's first version that raises an error instead of silently ending rows that are being read
_SAFE: Final = 2
#: the relations being read, and a lock: a connection takes one call at a time
_flows: WeakSet[_Flow] = WeakSet()
_one_call: Final = RLock()
Begun = TypeVar("Begun")


class Batches(Record):
    """A table of a database, or the result of a query.

    Attributes
    ----------
    source
        Its name in messages.
    schema
        PyArrow's schema of all columns.
    start
        Restarts the rows with the requested columns, and perhaps others.
    """

    source: str
    schema: Any
    start: Reader

    def table(self, columns: Columns, further: Sequence[str] = ()) -> Table:
        """Return the rows as a table with canonical column names."""
        return of_batches(
            self._dtypes(), self._frames, self.source, columns, further=further
        )

    def lazy(self) -> pl.LazyFrame:
        """Return the readable columns as a lazy frame, which reads the rows when it is collected."""
        from polars.io.plugins import register_io_source

        readable = {
            name: dtype for name, dtype in self._dtypes().items() if dtype != pl.Unknown
        }

        def rows(
            columns: list[str] | None,
            condition: pl.Expr | None,
            most: int | None,
            _size: int | None,
        ) -> Iterator[pl.DataFrame]:
            left = most
            for piece in self._frames(columns or list(readable)):
                kept = piece if condition is None else piece.filter(condition)
                if left is not None:
                    kept, left = kept.head(left), left - min(left, kept.height)
                yield kept
                if left == 0:
                    return

        return register_io_source(rows, schema=readable)

    def frame(self, ids: Sequence[str] = ()) -> pl.DataFrame:
        """Read all rows of the readable columns; decimals are numbers, or text in ``ids``."""
        readable = {
            name: dtype for name, dtype in self._dtypes().items() if dtype != pl.Unknown
        }
        digits = {field.name for field in self.schema if _type_name(field) == "numeric"}
        readable |= {
            name: pl.String() if name in ids else pl.Float64() for name in digits
        }
        schema = pl.Schema(readable)
        pieces = [piece.cast(schema) for piece in self._frames(list(schema))]
        if pieces:
            return pl.concat(pieces)
        return pl.DataFrame(schema=schema)

    def _frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        fields = [self.schema.field(name) for name in columns]
        for batch in self.start(columns):
            yield pl.DataFrame(
                [_series(field, batch.column(field.name)) for field in fields]
            )

    def _dtypes(self) -> dict[str, pl.DataType]:
        names = self.schema.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"two columns are called {printable(twice)}",
                where=self.source,
                fix=f"name them apart: SELECT a.{printable(twice)} AS …",
            )
        return {field.name: _dtype(field) for field in self.schema}


def _dtype(field: Any) -> pl.DataType:  # noqa: ANN401 - PyArrow's
    """Return the type a column is read as; ``Unknown`` for types that Polars does not have."""
    import pyarrow as pa

    if _type_name(field) == "numeric":  # decimal digits, any number of them
        return pl.Decimal(38, 0)
    with suppress(pl.exceptions.PolarsError, pa.ArrowException):
        return _series(field, pa.nulls(0, field.type)).dtype
    return pl.Unknown()


def _series(field: Any, array: Any) -> pl.Series:  # noqa: ANN401 - PyArrow's
    """Return a column; extension types are read as their storage type."""
    kind = getattr(array.type, "extension_name", "")
    if kind:
        array = array.storage
    column = pl.Series(field.name, pl.from_arrow(array))
    if kind == "arrow.uuid":
        digits = column.bin.encode("hex").str
        parts = [
            digits.slice(begin, length)
            for begin, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
        ]
        return pl.select(
            pl.concat_str(parts, separator="-").alias(field.name)
        ).to_series()
    if (
        _type_name(field) == "bpchar"
    ):  # char(n): blanks at the end do not belong to the text
        return column.str.strip_chars_end(" ")
    return column


def _type_name(field: Any) -> str:  # noqa: ANN401 - PyArrow's
    metadata = field.metadata or {}
    return next((metadata[key].decode() for key in _TYPE if key in metadata), "")


def drained(reader: Any) -> Iterator[Any]:  # noqa: ANN401 - PyArrow's
    """Yield a reader's batches and close it, also if the rest is not read."""
    try:
        yield from reader
    finally:
        reader.close()


def identifier(name: str) -> str:
    """Quote a name for SQL.

    >>> identifier('x"; DROP TABLE run; --')
    '"x""; DROP TABLE run; --"'
    """
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def translated_errors(
    source: str,
    *errors: type[Exception],
    secrets: Sequence[str] = (),
    what: str = "the database cannot be read",
) -> Iterator[None]:
    """Turn errors of a driver into an :class:`InputError`: the first line, without passwords.

    Parameters
    ----------
    source
        The database's name.
    errors
        The driver's errors.
    secrets
        Texts that the message must not contain.
    what
        What went wrong.
    """
    import pyarrow as pa

    try:
        yield
    except (*errors, pa.ArrowException, OSError) as error:
        raise InputError(
            what, where=source, given=_message(error, secrets), fix=_fix(str(error))
        ) from None


def _message(error: Exception, secrets: Sequence[str]) -> str:
    """Return the first line of a driver's message without its preamble."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    message = _PREAMBLE.sub("", lines[0])
    for secret in sorted(secrets, key=len, reverse=True):
        message = message.replace(secret, "***")
    return printable(masked(message))


def _fix(message: str) -> str | None:
    if BUSY in message:
        return "a connection reads one relation at a time: con.cursor().sql(…) gives each its own"
    if "different configuration" in message:
        return 'this program has the file open: pass con.sql("FROM …") of that connection instead'
    if "Conflicting lock" in message or "Could not set lock" in message:
        return "another program is writing the file: close it there, or copy the file"
    return None


def missing_driver(extra: str, package: str) -> MissingExtra:
    """Return the error for a driver that is not installed."""
    return MissingExtra(
        f"{package} is not installed", fix=f'pip install "rankstone[{extra}]"'
    )


def is_relation(value: object) -> bool:
    """Return True for a relation of DuckDB that can be read in batches.

    Before DuckDB 2.0, rows that are being read end silently when their connection runs another query, so
    relations of older versions are not read in batches.
    """
    from importlib.util import find_spec

    kind = type(value)
    if (
        kind.__module__.lstrip("_").partition(".")[0] != "duckdb"
        or kind.__name__ != "DuckDBPyRelation"
    ):
        return False
    import duckdb

    return (
        int(duckdb.__version__.partition(".")[0]) >= _SAFE
        and find_spec("pyarrow") is not None
    )


def batches_of_relation(relation: Any, source: str) -> Batches:  # noqa: ANN401 - a DuckDB relation
    """Return the rows of a relation."""
    import duckdb

    def part(columns: Sequence[str]) -> Any:  # noqa: ANN401 - a DuckDB relation
        # ordered rows are read whole: SQL does not keep their order inside another query
        ordered = "order by" in " ".join(relation.sql_query().lower().split())
        if ordered:
            return relation
        return relation.project(", ".join(map(identifier, columns)))

    def start(columns: Sequence[str]) -> Iterator[Any]:
        with translated_errors(source, duckdb.Error):
            flow = _started(lambda: _Flow(arrow_reader(part(columns))))
            try:
                yield from flow
            finally:
                flow.close()

    with translated_errors(source, duckdb.Error):
        schema = _started(lambda: arrow_reader(relation.limit(0)).schema)
    return Batches(source, schema, start)


def arrow_reader(relation: Any) -> Any:  # noqa: ANN401 - of DuckDB, of PyArrow
    """Run a relation of DuckDB, with smaller batches if there are columns of lists."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(
        LISTS if any(kind.id in ("list", "array") for kind in relation.types) else ROWS
    )


class _Flow:
    """Batches of a relation, which can be held in memory to free its connection."""

    def __init__(self, reader: Any) -> None:  # noqa: ANN401 - PyArrow's
        self._reader = reader
        self._held: deque[Any] = deque()
        _flows.add(self)

    def __iter__(self) -> Iterator[Any]:
        while (batch := self._next()) is not None:
            yield batch

    def _next(self) -> Any:  # noqa: ANN401 - PyArrow's
        with _one_call:
            if self._held:
                return self._held.popleft()
            if self._reader is None:
                return None
            return next(self._reader, None)

    def hold(self) -> None:
        """Read the remaining rows to free the connection."""
        with _one_call:
            if self._reader is not None:
                self._held.extend(self._reader)
                self.close()

    def close(self) -> None:
        """Stop reading from the connection."""
        with _one_call:
            reader, self._reader = self._reader, None
            _flows.discard(self)
            if reader is not None:
                reader.close()


def _started(begin: Callable[[], Begun]) -> Begun:
    """Start reading rows; free the connection from other reads if necessary."""
    import duckdb

    with _one_call:
        # reads that were abandoned are collected first
        remedies: list[Callable[[], object]] = [
            gc.collect,
            *(flow.hold for flow in list(_flows)),
        ]
        for free in remedies:
            try:
                return begin()
            except duckdb.OperationalError as error:
                if BUSY not in str(error):
                    raise
            free()
        return begin()
