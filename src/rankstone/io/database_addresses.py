"""Texts that name a table of a database: ``duckdb:file.db#run``, ``postgresql://host/db?query=SELECT …``.

Nothing is opened here.  A password in an address reaches the driver and nobody else: what is shown of an
address has none.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from rankstone.errors import UsageError, masked, printable

_FILES: Final = ("duckdb", "sqlite")
_SERVERS: Final = ("postgresql://", "postgres://")
_BEGINNINGS: Final = (*(f"{kind}:" for kind in _FILES), *_SERVERS)
_OURS: Final = re.compile(r"[?&]query=")

#: an address of PostgreSQL: user, password, hosts with ports, database, the driver's own parameters
_URL: Final = re.compile(
    r"(?P<scheme>postgres(?:ql)?://)"
    r"(?:(?P<user>[^:@/?#\s]*)(?::(?P<password>[^:@/?#\s]*))?@)?"
    r"(?P<rest>(?:(?:\[[^]@\s]*\]|[^][:@/?#,\s]*)(?::\d*)?,?)*(?:/[^@?#/\s]*)?)"
    r"(?:\?(?P<parameters>(?:\w+=[^&#\s]*)(?:&\w+=[^&#\s]*)*)?)?"
)
_SECRET: Final = re.compile(r"password|secret|passphrase", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """Where rows of a database are.

    Attributes
    ----------
    kind
        ``duckdb``, ``sqlite`` or ``postgresql``.
    place
        The file, or the server's URL as its driver reads it, password included: never to be shown.
    table, query
        A table's name, perhaps ``schema.table``, or else SQL to be run as it is.
    shown
        The address without a password.
    secrets
        What no message may hold.
    """

    kind: str
    place: str
    table: str | None
    query: str | None
    shown: str
    secrets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What to call a run that is there: its table's name."""
        return self.table or "query"


def is_database(source: object) -> bool:
    """Say whether a source is a text that names a table of a database.

    >>> is_database("duckdb:runs.db#bm25"), is_database("runs/bm25.run")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(_BEGINNINGS)


def shown(path: str | os.PathLike[str]) -> str:
    """Return what to call a path in print: a file's path, a database's address without its password.

    >>> shown("postgresql://ann:secret@host/db#run")
    'postgresql://ann:***@host/db#run'
    """
    name = os.fspath(path)
    return parse_address(name).shown if is_database(name) else name


def parse_address(text: str) -> Address:
    """Read an address; what cannot be read is not repeated, for a password may stand anywhere in it.

    >>> address = parse_address("duckdb:runs/all.db?query=SELECT * FROM run WHERE fold = 1")
    >>> address.place, address.query
    ('runs/all.db', 'SELECT * FROM run WHERE fold = 1')
    """
    ours = _OURS.search(text)
    if ours is not None:
        place, table, query = text[: ours.start()], None, text[ours.end() :]
        end = f"{ours.group()}{masked(' '.join(query.split()))}"
    else:
        place, _, name = text.partition("#")
        table, query, end = name, None, f"#{name}"
    if text.startswith(_SERVERS):
        return _on_a_server(place, table, query, end)
    kind, _, file = place.partition(":")
    form = f"{kind}:FILE#TABLE, or {kind}:FILE?query=SELECT …"
    if not file:
        raise UsageError("no file is named", given=printable(masked(text)), expected=form)
    _require_rows(table, query, f"{kind}:{file}", form)
    return Address(kind, file, table, query, f"{kind}:{file}{end}")


def _on_a_server(place: str, table: str | None, query: str | None, end: str) -> Address:
    form = "postgresql://user@host:port/db#TABLE, or postgresql://…?query=SELECT …"
    found = _URL.fullmatch(place)
    if found is None or "@" in (table or ""):
        raise UsageError(
            "the address of the database cannot be read",
            expected=form,
            fix="in a password @ : / ? # % are written %40 %3A %2F %3F %23 %25; better leave it out: "
            "PGPASSWORD or a file ~/.pgpass holds it",
        )
    password, parameters = found["password"], found["parameters"] or ""
    pairs = [pair.partition("=")[::2] for pair in parameters.split("&") if pair]
    secrets = [password or "", *(value for name, value in pairs if _SECRET.search(name))]
    told = "&".join(f"{name}={'***' if _SECRET.search(name) else value}" for name, value in pairs)
    user = "" if found["user"] is None else f"{found['user']}{'' if password is None else ':***'}@"
    title = f"{found['scheme']}{user}{found['rest']}{f'?{told}' if told else ''}"
    _require_rows(table, query, title, form)
    known = tuple(s for secret in secrets for s in {secret, unquote(secret)} if s)
    return Address("postgresql", place, table, query, title + end, known)


def _require_rows(table: str | None, query: str | None, title: str, form: str) -> None:
    """Refuse an address of a database that says nothing of which rows."""
    if not (table or (query or "").strip()):
        raise UsageError("which table of the database?", given=printable(title), expected=form)
