"""Rows that arrive in Arrow batches and may be asked for again: a table that is never held whole.

Drivers of databases hand out batches of PyArrow, which is imported when the first of them is read.

Relations of DuckDB: queries that run anew whenever their rows are started, in batches.

A connection reads the rows of one relation at a time.  Where another one is started meanwhile, the rest of
the rows being read is held in memory; else nothing is.
"""

from __future__ import annotations

import gc
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakSet

import polars as pl

from rankstone.errors import InputError, MissingExtra, masked, printable
from rankstone.io.input_table import ROWS
from rankstone.io.list_columns import LISTS
from rankstone.io.typed_tables import of_batches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.io.input_table import Table


#: starts the rows anew with some of the columns
Reader = Callable[[Sequence[str]], Iterator[Any]]

#: what PostgreSQL's driver says a column was
_TYPE: Final = (b"ADBC:postgresql:typname", b"POSTGRESQL:type")
#: what stands before a driver's own words
_PREAMBLE: Final = re.compile(r"^(?:.*(?:Failed to connect:|ERROR:|FATAL:)|[A-Z_]+: (?:\[\w+\] )?)\s*")
#: what DuckDB says of a connection whose rows somebody is still reading
BUSY: Final = "connection has an open result"


@dataclass(frozen=True, eq=False)
class Batches:
    """A table of a database, or what a query answers.

    Attributes
    ----------
    source
        What to call it in messages.
    schema
        PyArrow's schema of all columns.
    start
        Starts the rows anew with the columns asked for, perhaps with others beside them.
    """

    source: str
    schema: Any
    start: Reader

    def table(self, columns: Mapping[str, str], further: Sequence[str] = ()) -> Table:
        """Return the rows as a table with our column names."""
        return of_batches(self._dtypes(), self._frames, self.source, columns, further=further)

    def lazy(self) -> pl.LazyFrame:
        """Return the columns that can be read as a frame that asks for its rows when it is collected."""
        from polars.io.plugins import register_io_source

        readable = {name: dtype for name, dtype in self._dtypes().items() if dtype != pl.Unknown}

        def rows(
            columns: list[str] | None, condition: pl.Expr | None, most: int | None, _size: int | None
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
        """Read all rows, with the columns that can be read at all; decimal digits are numbers, or ``ids``."""
        readable = {name: dtype for name, dtype in self._dtypes().items() if dtype != pl.Unknown}
        digits = {field.name for field in self.schema if _type_name(field) == "numeric"}
        readable |= {name: pl.String() if name in ids else pl.Float64() for name in digits}
        schema = pl.Schema(readable)
        pieces = [piece.cast(schema) for piece in self._frames(list(schema))]
        return pl.concat(pieces) if pieces else pl.DataFrame(schema=schema)

    def _frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        fields = [self.schema.field(name) for name in columns]
        for batch in self.start(columns):
            yield pl.DataFrame([_series(field, batch.column(field.name)) for field in fields])

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
    """Return the type a column is read as; what Polars does not know is ``Unknown``."""
    import pyarrow as pa

    if _type_name(field) == "numeric":  # written in decimal digits, as many as there are
        return pl.Decimal(38, 0)
    with suppress(pl.exceptions.PolarsError, pa.ArrowException):
        return _series(field, pa.nulls(0, field.type)).dtype
    return pl.Unknown()


def _series(field: Any, array: Any) -> pl.Series:  # noqa: ANN401 - PyArrow's
    """Return a column; types that are another type with a name are read as that other type."""
    kind = getattr(array.type, "extension_name", "")
    if kind:
        array = array.storage
    column = pl.Series(field.name, pl.from_arrow(array))
    if kind == "arrow.uuid":
        digits = column.bin.encode("hex").str
        parts = [
            digits.slice(begin, length) for begin, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
        ]
        return pl.select(pl.concat_str(parts, separator="-").alias(field.name)).to_series()
    if _type_name(field) == "bpchar":  # char(n): blanks at the end are no part of the text
        return column.str.strip_chars_end(" ")
    return column


def _type_name(field: Any) -> str:  # noqa: ANN401 - PyArrow's
    told = field.metadata or {}
    return next((told[key].decode() for key in _TYPE if key in told), "")


def drained(reader: Any) -> Iterator[Any]:  # noqa: ANN401 - PyArrow's
    """Yield a reader's batches and close it, also where nobody wants the rest."""
    try:
        yield from reader
    finally:
        reader.close()


def identifier(name: str) -> str:
    """Quote a name, which SQL then takes for nothing else.

    >>> identifier('x"; DROP TABLE run; --')
    '"x""; DROP TABLE run; --"'
    """
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def telling(
    source: str,
    *errors: type[Exception],
    secrets: Sequence[str] = (),
    what: str = "the database cannot be read",
) -> Iterator[None]:
    """Turn what a driver says into an :class:`InputError`: its first line, and no password.

    Parameters
    ----------
    source
        What to call the database.
    errors
        The driver's errors.
    secrets
        Texts that the message must not hold.
    what
        What went wrong.
    """
    import pyarrow as pa

    try:
        yield
    except (*errors, pa.ArrowException, OSError) as error:
        raise InputError(what, where=source, given=_said(error, secrets), fix=_remedy(str(error))) from None


def _said(error: Exception, secrets: Sequence[str]) -> str:
    """Return the first line of a driver's message without its preamble."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    said = _PREAMBLE.sub("", lines[0])
    for secret in sorted(secrets, key=len, reverse=True):
        said = said.replace(secret, "***")
    return printable(masked(said))


def _remedy(said: str) -> str | None:
    if BUSY in said:
        return "a connection reads one relation at a time: con.cursor().sql(…) gives each its own"
    if "different configuration" in said:
        return 'this program has the file open: hand over con.sql("FROM …") of that connection instead'
    if "Conflicting lock" in said or "Could not set lock" in said:
        return "another program is writing the file: close it there, or copy the file"
    return None


def missing_driver(extra: str, package: str) -> MissingExtra:
    """Return the error for a driver that is not installed."""
    return MissingExtra(f"{package} is not installed", fix=f'pip install "rankstone[{extra}]"')


#: DuckDB's first version that refuses to give up rows that are being read
_FAITHFUL: Final = 2


def is_relation(value: object) -> bool:
    """Say whether an object is a relation of DuckDB, and can be read in batches.

    Before DuckDB 2.0, rows that are being read end without a word when their connection is asked something
    else, so an older one's relations are not read in batches.
    """
    from importlib.util import find_spec

    kind = type(value)
    if kind.__module__.lstrip("_").partition(".")[0] != "duckdb" or kind.__name__ != "DuckDBPyRelation":
        return False
    import duckdb

    return int(duckdb.__version__.partition(".")[0]) >= _FAITHFUL and find_spec("pyarrow") is not None


def batches_of_relation(relation: Any, source: str) -> Batches:  # noqa: ANN401 - a DuckDB relation
    """Return the rows of a relation."""
    import duckdb

    def part(columns: Sequence[str]) -> Any:  # noqa: ANN401 - a DuckDB relation
        # ordered rows are taken whole: SQL owes no order to a query around them
        ordered = "order by" in " ".join(relation.sql_query().lower().split())
        return relation if ordered else relation.project(", ".join(map(identifier, columns)))

    def start(columns: Sequence[str]) -> Iterator[Any]:
        with telling(source, duckdb.Error):
            flow = _started(lambda: _Flow(arrow_reader(part(columns))))
            try:
                yield from flow
            finally:
                flow.close()

    with telling(source, duckdb.Error):
        schema = _started(lambda: arrow_reader(relation.limit(0)).schema)
    return Batches(source, schema, start)


def arrow_reader(relation: Any) -> Any:  # noqa: ANN401 - of DuckDB, of PyArrow
    """Run a relation of DuckDB, with fewer rows a batch where they hold lists."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(LISTS if any(kind.id in ("list", "array") for kind in relation.types) else ROWS)


class _Flow:
    """Batches on their way from a relation, which may be held to make room on its connection."""

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
            return None if self._reader is None else next(self._reader, None)

    def hold(self) -> None:
        """Read what is left, so that the connection is free."""
        with _one_call:
            if self._reader is not None:
                self._held.extend(self._reader)
                self.close()

    def close(self) -> None:
        """Read no more from the connection."""
        with _one_call:
            reader, self._reader = self._reader, None
            _flows.discard(self)
            if reader is not None:
                reader.close()


#: rows that are being read, and the lock of whoever asks for some: a connection takes one call at a time
_flows: WeakSet[_Flow] = WeakSet()
_one_call: Final = RLock()


Begun = TypeVar("Begun")


def _started(begin: Callable[[], Begun]) -> Begun:
    """Start rows, on a connection that may have to be freed of others first."""
    import duckdb

    with _one_call:
        # rows that nobody reads any more are let go first
        ways: list[Callable[[], object]] = [gc.collect, *(flow.hold for flow in list(_flows))]
        for free in ways:
            try:
                return begin()
            except duckdb.OperationalError as error:
                if BUSY not in str(error):
                    raise
            free()
        return begin()
