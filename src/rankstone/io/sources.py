"""What a path names: a file, a stream that can be read only once, or a table of a database.

Streams are standard input (``-``), pipes such as ``<(zcat run.txt.gz)`` and devices.  Databases are named by
addresses: ``duckdb:file.db#run``, ``postgresql://host/db?query=SELECT …``.  Nothing is opened here for an
address; its password reaches the driver and nothing else, and no title shows it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeGuard
from urllib.parse import unquote

from rankstone._basics import is_path
from rankstone.errors import (
    EmptyInput,
    InputError,
    UnknownFormat,
    UsageError,
    masked,
    printable,
)
from rankstone.io.damaged_files import LONGEST, PACKED, drained
from rankstone.io.file_roles import note_input
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import StrPath


#: byte order marks of UTF-16
UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
#: stream name → its content, inside :func:`keeping_streams`
_kept: dict[str, bytes] | None = None
#: seconds that a pipe which nobody has opened is waited for
_PATIENCE: Final = 10.0
#: bytes of each of three samples: at the beginning of a file, in its middle and before its end
_SAMPLE: Final = 1 << 16
_FILES: Final = ("duckdb", "sqlite")
_SERVERS: Final = ("postgresql://", "postgres://")
_BEGINNINGS: Final = (*(f"{kind}:" for kind in _FILES), *_SERVERS)
_QUERY: Final = re.compile(r"[?&]query=")
#: an address of PostgreSQL: user, password, hosts with ports, database, the driver's own parameters
_URL: Final = re.compile(
    r"(?P<scheme>postgres(?:ql)?://)"
    r"(?:(?P<user>[^:@/?#\s]*)(?::(?P<password>[^:@/?#\s]*))?@)?"
    r"(?P<rest>(?:(?:\[[^]@\s]*\]|[^][:@/?#,\s]*)(?::\d*)?,?)*(?:/[^@?#/\s]*)?)"
    r"(?:\?(?P<parameters>(?:\w+=[^&#\s]*)(?:&\w+=[^&#\s]*)*)?)?"
)
_SECRET: Final = re.compile(r"password|secret|passphrase", re.IGNORECASE)


def is_stream(source: object) -> TypeGuard[StrPath]:
    """Return True for standard input (``-``), a pipe or a device.

    >>> is_stream("-"), is_stream("/dev/null"), is_stream("run.txt")
    (True, True, False)
    """
    if not is_path(source):
        return False
    name = os.fspath(source)
    if name == "-":
        return True
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def can_be_read_again(source: object) -> bool:
    """Return True if a source can be read once more: a stream only inside :func:`keeping_streams`."""
    return _kept is not None or not is_stream(source)


def stream_title(name: str) -> str:
    """Return the name of a stream for messages."""
    return "standard input" if name == "-" else name


def read_stream(name: str, longest: int | None = LONGEST) -> bytes:
    """Read a stream to its end and return its content.

    Parameters
    ----------
    name
        ``-`` for standard input, or a path.
    longest
        The longest line allowed, in bytes; ``None`` for content that is not read by lines.
    """
    if _kept is not None and name in _kept:
        return _kept[name]
    title = stream_title(name)
    with reading(title):
        if name == "-":
            with suppress(OSError):  # a stream without a file, as in tests
                note_input(sys.stdin.fileno())
            content = drained(sys.stdin.buffer, title, longest)
        else:
            with _opened(name) as file:
                content = drained(file, title, longest)
            if not content and _is_pipe(name):
                raise EmptyInput(
                    "nothing was written into the pipe",
                    where=name,
                    expected="a program that writes into it",
                    fix=f"start it no more than {_PATIENCE:g} s later, or write a file",
                )
    if _kept is not None:
        _kept[name] = content
    return content


def _opened(name: str) -> IO[bytes]:
    """Open a pipe or a device; a pipe that nobody opens for :data:`_PATIENCE` seconds has no content.

    Opening a pipe waits for somebody who writes into it, perhaps for ever.  So it is opened without waiting;
    afterwards a read waits only while somebody has it open.
    """
    if not _is_pipe(name):
        return Path(name).open("rb")
    from select import POLLIN, poll

    handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    event = poll()
    event.register(handle, POLLIN)
    event.poll(1000 * _PATIENCE)
    os.set_blocking(handle, True)
    return os.fdopen(handle, "rb")


def _is_pipe(name: str) -> bool:
    return stat.S_ISFIFO(Path(name).stat().st_mode)


def read_whole(path: StrPath, expected: str | None = None) -> bytes:
    """Read a file or a stream that is no table, such as a configuration, as it is.

    Parameters
    ----------
    path
        A file, a pipe, or ``-`` for standard input.
    expected
        What it should hold, for messages.
    """
    name = os.fspath(path)
    if is_stream(name):
        return read_stream(name, longest=None)
    note_input(name)
    with reading(name, expected):
        return Path(name).read_bytes()


def read_toml(path: StrPath, expected: str) -> dict[str, Any]:
    """Read a file of TOML; ``expected`` is what it should hold, for messages."""
    return toml_of(read_whole(path, expected), os.fspath(path), expected)


def toml_of(content: bytes, where: str, expected: str) -> dict[str, Any]:
    """Return the document in the content of a file of TOML, called ``where`` in messages."""
    import tomllib

    with reading(where):
        text = content.decode()
    try:
        return tomllib.loads(text)
    except RecursionError:
        problem = "lists are nested too deeply"
    except tomllib.TOMLDecodeError as error:
        problem = printable(error)
    raise InputError("this is not TOML", where=where, given=problem, expected=expected)


@contextmanager
def keeping_streams() -> Iterator[None]:
    """Keep the content of streams, so that a command can read its inputs more than once."""
    global _kept  # noqa: PLW0603 - one process, one command
    before = _kept
    _kept = {} if before is None else before
    try:
        yield
    finally:
        _kept = before


def estimated_rows(sources: Sequence[Path | bytes]) -> int | None:
    """Estimate the lines of uncompressed text from file sizes; ``None`` for compressed files.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    """
    counts = [_estimated_lines(source) for source in sources]
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        return round(sum(known))
    return None


def _estimated_lines(source: Path | bytes) -> float | None:
    if isinstance(source, bytes):
        return source.count(b"\n")
    try:
        size = source.stat().st_size
        with source.open("rb") as file:
            sample = file.read(_SAMPLE)
            for place in (size // 2, size - _SAMPLE) if size > _SAMPLE else ():
                file.seek(place)
                sample += file.read(_SAMPLE)
    except OSError:
        return None
    if sample.startswith(PACKED):
        return None
    if sample:
        return size / len(sample) * sample.count(b"\n")
    return 0.0


@dataclass(frozen=True)
class Address:
    """The address of a table of a database, or of a query.

    Attributes
    ----------
    kind
        ``duckdb``, ``sqlite`` or ``postgresql``.
    place
        The file, or the server's URL as its driver reads it, password included: never shown.
    table, query
        A table's name, perhaps ``schema.table``, or SQL that is run as it is.
    title
        The address without its password.
    secrets
        Texts that no message may contain.
    """

    kind: str
    place: str
    table: str | None
    query: str | None
    title: str
    secrets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of a run that is read from here: its table's name."""
        return self.table or "query"


def is_database(source: object) -> TypeGuard[str]:
    """Return True for the address of a table of a database.

    >>> is_database("duckdb:runs.db#bm25"), is_database("runs/bm25.run")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(_BEGINNINGS)


def sha256_of(source: object) -> str | None:
    """Return the SHA-256 of a file; ``None`` for what is no file."""
    if not isinstance(source, str) or is_database(source) or not Path(source).is_file():
        return None
    return sha256(Path(source).read_bytes()).hexdigest()


def display_name(path: StrPath) -> str:
    """Return a path for messages: a file's path, a database's address without its password.

    >>> display_name("postgresql://ann:secret@host/db#run")
    'postgresql://ann:***@host/db#run'
    """
    name = os.fspath(path)
    if is_database(name):
        return parse_address(name).title
    return name


def parse_address(text: str) -> Address:
    """Parse an address; errors do not repeat it, because it may contain a password.

    >>> address = parse_address("duckdb:runs/all.db?query=SELECT * FROM run WHERE fold = 1")
    >>> address.place, address.query
    ('runs/all.db', 'SELECT * FROM run WHERE fold = 1')
    """
    parameter = _QUERY.search(text)
    if parameter is not None:
        place = text[: parameter.start()]
        table = None
        query = text[parameter.end() :]
        end = f"{parameter.group()}{masked(' '.join(query.split()))}"
    else:
        place, _, name = text.partition("#")
        table, query, end = name, None, f"#{name}"
    if text.startswith(_SERVERS):
        return _server_address(place, table, query, end)
    kind, _, file = place.partition(":")
    form = f"{kind}:FILE#TABLE, or {kind}:FILE?query=SELECT …"
    if not file:
        raise UsageError(
            "the address names no file", given=printable(masked(text)), expected=form
        )
    _require_rows(table, query, f"{kind}:{file}", form)
    return Address(kind, file, table, query, f"{kind}:{file}{end}")


def _server_address(
    place: str, table: str | None, query: str | None, end: str
) -> Address:
    form = "postgresql://user@host:port/db#TABLE, or postgresql://…?query=SELECT …"
    parts = _URL.fullmatch(place)
    if parts is None or "@" in (table or ""):
        raise UsageError(
            "the address of the database cannot be read",
            expected=form,
            fix="in a password write @ : / ? # % as %40 %3A %2F %3F %23 %25; better, leave it out and put it "
            "into PGPASSWORD or ~/.pgpass",
        )
    password = parts["password"]
    parameters = parts["parameters"] or ""
    pairs = [pair.partition("=")[::2] for pair in parameters.split("&") if pair]
    secrets = [
        password or "",
        *(value for name, value in pairs if _SECRET.search(name)),
    ]
    shown = "&".join(
        f"{name}={'***' if _SECRET.search(name) else value}" for name, value in pairs
    )
    user = (
        ""
        if parts["user"] is None
        else f"{parts['user']}{'' if password is None else ':***'}@"
    )
    title = f"{parts['scheme']}{user}{parts['rest']}{f'?{shown}' if shown else ''}"
    _require_rows(table, query, title, form)
    hidden = tuple(s for secret in secrets for s in {secret, unquote(secret)} if s)
    return Address("postgresql", place, table, query, title + end, hidden)


def _require_rows(table: str | None, query: str | None, title: str, form: str) -> None:
    """Refuse an address without a table or query."""
    if not (table or (query or "").strip()):
        raise UsageError(
            "the address names no table of the database",
            given=printable(title),
            expected=form,
        )


def as_utf8(source: Path | bytes, title: str) -> tuple[Path | bytes, str]:
    """Return the source, or its content as UTF-8 where it is UTF-16, with a note on the encoding."""
    if isinstance(source, bytes):
        mark = source[:2]
        content = source
    else:
        with source.open("rb") as file:
            mark = file.read(2)
            content = b""
    if mark not in UTF16:
        return source, ""
    content = content or source.read_bytes()  # type: ignore[union-attr] # bytes are never empty here
    try:
        return content.decode("utf-16").encode(), "UTF-16"
    except UnicodeError as error:
        raise UnknownFormat(
            "the text begins as UTF-16, but it is not valid UTF-16",
            where=title,
            given=printable(error),
        ) from error
