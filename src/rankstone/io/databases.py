"""Tables of databases, read-only and in batches: DuckDB and SQLite files, PostgreSQL servers.

Every read has its own connection.  A table's name is looked up in the catalogue and quoted, so it cannot be
SQL. A query runs as it is, after the database's own parser has confirmed that it is a single SELECT: anything
that writes files, ends a transaction or attaches other databases is refused before it runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from typing import Any, Final

from rankstone._basics import Record
from rankstone.errors import InputError, did_you_mean, printable
from rankstone.io.arrow_batches import (
    Batches,
    arrow_reader,
    drained,
    identifier,
    missing_driver,
    translated_errors,
)
from rankstone.io.file_parts import parts_of
from rankstone.io.sources import Address, parse_address

#: seconds that a server has to answer, unless the address or PGCONNECT_TIMEOUT sets a timeout
_TIMEOUT: Final = 15
#: how many tables a message names
_NAMED: Final = 8

_DUCKDB_TABLES: Final = """
    SELECT table_schema, table_name, table_schema = current_schema() FROM information_schema.tables
    WHERE table_catalog = current_database()
"""
_SQLITE_TABLES: Final = """
    SELECT 'main', name, 1 FROM sqlite_master
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
"""
_POSTGRES_TABLES: Final = """
    SELECT n.nspname::text, c.relname::text, pg_table_is_visible(c.oid) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND n.nspname NOT LIKE 'pg~_toast%' ESCAPE '~'
"""
_NO_SELECT: Final = "the query is not a single SELECT that the database can run"
#: a query or a view cannot read, write or load anything outside the file
_DUCKDB_SETTINGS: Final = {
    "enable_external_access": "false",
    "lock_configuration": "true",
}
#: a consistent snapshot, with rows in the same order at every read
_POSTGRES_SETTINGS: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)

#: runs a query and yields a PyArrow reader of its rows
Run = Callable[[str], AbstractContextManager[Any]]


class _Engine(Record):
    """How to query a kind of database.

    Attributes
    ----------
    run
        Runs a query in its own connection.
    schema
        Returns the columns of a query.
    tables
        A query for all tables: schema, name, and whether the schema can be omitted.
    errors
        The driver's errors.
    """

    run: Run
    schema: Callable[[str], Any]
    tables: str
    errors: tuple[type[Exception], ...]


def open_database(text: str) -> Batches:
    """Open a table of a database, or the result of a query.

    Parameters
    ----------
    text
        ``duckdb:FILE#TABLE``, ``sqlite:FILE#TABLE``, ``postgresql://…#TABLE``, or one of these with
        ``?query=SELECT …`` instead of a table.

    Raises
    ------
    MissingExtra
        When the database's driver is not installed.
    InputError
        When there is no such file, server or table, or the database refuses the query.
    """
    address = parse_address(text)
    engine = {"duckdb": _duckdb, "sqlite": _sqlite, "postgresql": _postgresql}[
        address.kind
    ](address)

    def translated(
        what: str = "the database cannot be read",
    ) -> AbstractContextManager[None]:
        return translated_errors(
            address.title, *engine.errors, secrets=address.secrets, what=what
        )

    with translated():
        table = (
            None
            if address.table is None
            else _quoted_table(address, address.table, engine)
        )
    every = address.query or _select("*", table)
    with translated(
        "the database cannot answer the query"
        if table is None
        else "the table cannot be read"
    ):
        schema = engine.schema(every)

    def start(columns: Sequence[str]) -> Iterator[Any]:
        query = _select(", ".join(map(identifier, columns)), table) if table else every
        with translated(), engine.run(query) as reader:
            yield from drained(reader)

    return Batches(address.title, schema, start)


def _select(columns: str, table: str | None) -> str:
    return f"SELECT {columns} FROM {table}"  # noqa: S608 - names are quoted, and the table is in the catalogue


def _quoted_table(address: Address, name: str, engine: _Engine) -> str:
    """Look a table's name up in the catalogue and return it quoted."""
    with engine.run(engine.tables) as reader:
        rows = [
            tuple(row.values())
            for batch in drained(reader)
            for row in batch.to_pylist()
        ]
    known = {f"{schema}.{table}": (schema, table) for schema, table, _ in rows}
    known |= {table: (schema, table) for schema, table, short in rows if short}
    if name not in known:
        names = [
            table if short else f"{schema}.{table}" for schema, table, short in rows
        ]
        raise _no_table(
            name,
            names,
            did_you_mean(name, known, partial(printable, longest=60), n=3),
            address.title,
        )
    return ".".join(map(identifier, known[name]))


def _no_table(
    name: str, names: Sequence[str], fix: str | None, where: str
) -> InputError:
    shown = [printable(one, 40) for one in names[:_NAMED]]
    return InputError(
        f"there is no table {printable(name, 60)}",
        where=where,
        given=f"tables {', '.join([*shown, *'…' * (len(names) > _NAMED)])}"
        if names
        else "no tables",
        fix=fix,
    )


def _bracketed(query: str) -> str:
    """Return a query in brackets, where only a single SELECT is valid."""
    one = query.rstrip("; \t\n")
    return f"SELECT * FROM (\n{one}\n)"  # noqa: S608 - parsed, never run


def _no_select(address: Address, message: str | None = None) -> InputError:
    return InputError(
        _NO_SELECT, where=address.title, given=message, expected="SELECT … FROM …"
    )


def _driver(package: str, extra: str) -> Any:  # noqa: ANN401 - a module
    try:
        import_module("pyarrow")
        return import_module(package)
    except ImportError as error:
        raise missing_driver(
            extra, package if error.name != "pyarrow" else "pyarrow"
        ) from error


def _file(address: Address) -> str:
    """Return the path of an existing database file; a driver would create a new one."""
    parts = parts_of(address.place)
    if len(parts) > 1 or os.path.isdir(address.place):  # noqa: PTH112 - a name
        raise InputError(
            "a database is one file",
            where=address.title,
            given=printable(address.place),
        )
    return os.fspath(parts[0])


def _duckdb(address: Address) -> _Engine:
    duckdb = _driver("duckdb", "duckdb")
    file = _file(address)
    with translated_errors(address.title), open(file, "rb") as opened:  # noqa: PTH123 - a name
        is_duckdb = opened.read(12)[8:] == b"DUCK"
    if not is_duckdb:  # DuckDB would also open files of other formats
        raise InputError(
            "the file is not a DuckDB database",
            where=address.title,
            given=printable(file),
        )

    @contextmanager
    def relation(query: str) -> Iterator[Any]:
        with duckdb.connect(
            file, read_only=True, config=_DUCKDB_SETTINGS
        ) as connection:
            kinds = [
                statement.type for statement in connection.extract_statements(query)
            ]
            if kinds != [duckdb.StatementType.SELECT]:
                raise _no_select(address)
            yield connection.sql(query)

    @contextmanager
    def run(query: str) -> Iterator[Any]:
        with relation(query) as result:
            yield arrow_reader(result)

    def schema(query: str) -> Any:  # noqa: ANN401 - PyArrow's
        with relation(query) as result:
            return arrow_reader(result.limit(0)).schema

    return _Engine(run, schema, _DUCKDB_TABLES, (duckdb.Error,))


def _sqlite(address: Address) -> _Engine:
    from urllib.parse import quote

    driver = _driver("adbc_driver_sqlite.dbapi", "sqlite")
    url = f"file:{quote(_file(address))}?mode=ro"

    @contextmanager
    def run(query: str) -> Iterator[Any]:
        _require_sqlite_select(url, query, address)
        with driver.connect(url) as connection, connection.cursor() as cursor:
            # types are those of the first batch
            cursor.adbc_statement.set_options(
                **{"adbc.sqlite.query.batch_rows": str(1 << 16)}
            )
            cursor.execute(query)
            yield cursor.fetch_record_batch()

    def schema(query: str) -> Any:  # noqa: ANN401 - PyArrow's
        with run(query) as reader:
            return reader.schema

    return _Engine(run, schema, _SQLITE_TABLES, (driver.Error,))


def _require_sqlite_select(url: str, query: str, address: Address) -> None:
    """Refuse anything but a single SELECT: VACUUM INTO writes a file even in a read-only database."""
    import sqlite3

    allowed = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
    connection = sqlite3.connect(url, uri=True)
    try:
        connection.set_authorizer(
            lambda action, *_: (
                sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY
            )
        )
        connection.execute(f"EXPLAIN {_bracketed(query)}")
    except (sqlite3.Warning, sqlite3.Error) as error:
        raise _no_select(address, str(error)) from error
    finally:
        connection.close()


def _postgresql(address: Address) -> _Engine:
    driver = _driver("adbc_driver_postgresql.dbapi", "postgresql")

    @contextmanager
    def cursor() -> Iterator[Any]:
        with (
            driver.connect(_with_timeout(address.place)) as connection,
            connection.cursor() as opened,
        ):
            for setting in _POSTGRES_SETTINGS:
                opened.execute(setting)
            yield opened

    def require_select(opened: Any, query: str) -> None:  # noqa: ANN401 - ADBC's
        """Refuse anything but a single SELECT: COPY writes files, COMMIT ends the read-only transaction."""
        with translated_errors(
            address.title, driver.Error, secrets=address.secrets, what=_NO_SELECT
        ):
            opened.adbc_execute_schema(_bracketed(query) + " AS rows")

    @contextmanager
    def run(query: str) -> Iterator[Any]:
        with cursor() as opened:
            require_select(opened, query)
            opened.execute(query)
            yield opened.fetch_record_batch()

    def schema(query: str) -> Any:  # noqa: ANN401 - PyArrow's
        with cursor() as opened:
            require_select(opened, query)
            return opened.adbc_execute_schema(query)

    return _Engine(run, schema, _POSTGRES_TABLES, (driver.Error,))


def _with_timeout(url: str) -> str:
    """Return a server's URL with a timeout."""
    if "connect_timeout=" in url or "PGCONNECT_TIMEOUT" in os.environ:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={_TIMEOUT}"
