"""What is wrong with a file that cannot be read, in words."""

from __future__ import annotations

import errno
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import polars as pl

from rankstone.errors import (
    BadLine,
    InputError,
    NotEnoughMemory,
    RankstoneError,
    UnknownFormat,
    memory_limit,
    printable,
)

#: error of the system → what is wrong with a file, and what was expected
_UNREADABLE: Final[dict[int, tuple[str, str]]] = {
    errno.ENOENT: ("there is no such file", "a file"),
    errno.EISDIR: ("this is a folder", "a file"),
    errno.ELOOP: ("the link leads back to itself", "a link to a file"),
    errno.EACCES: ("the file may not be read", "a file that you may read"),
}


#: what Polars says where no thread can be started or nothing be allocated
_MEMORY: Final = re.compile(
    r"ThreadPoolBuildError|failed to spawn thread|memory allocation|os error 1[12]\b"
)
#: what Polars and the system say of a damaged file → the same in our words
_DAMAGED: Final = {
    r"PAR1|[Ff]ooter|InvalidFlatbuffer|[Ee]nd of file|EOF": "its end is missing",
    r"zstd|snappy|[Cc]orrupt|checksum|[Dd]ecompress|deflate": "what it holds is damaged",
    r"^parquet|out.of.spec|thrift|padding|ErrorLocation": "what it holds is damaged",
}
#: what Polars says of values that do not go together
_MIXED: Final = re.compile("supertype|SchemaMismatch")
#: the characters shown of anything else
_SHOWN: Final = 80
#: how what Python's reader of JSON says begins → the same in our words
_NOT_JSON: Final = {
    "Unterminated string": "it ends within a text in quotes that begins",
    "Expecting value": "a value is missing",
    "Expecting property name": "a name in double quotes is missing",
    "Expecting ':'": "a colon is missing",
    "Expecting ','": "a comma is missing",
    "Invalid control": "a text holds a line break or another control character",
    "Invalid \\": "a backslash in a text is not written \\\\",
    "Illegal trailing": "a comma stands before the end",
}
#: formats that are read
#: bytes outside ASCII, and those of common characters and signs in GB2312
_HIGH: Final = re.compile(rb"[\x80-\xff]+")
_COMMON_CHINESE: Final = re.compile(rb"(?:[\xa1-\xa3\xb0-\xd7][\xa1-\xfe])+")
_READABLE: Final = "text in UTF-8, Parquet, Arrow or .xlsx"
#: what helps where a file is cut or damaged
WHOLE: Final = "copy or write it again"
#: characters that no text has
_CONTROL: Final = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
#: signatures of files that another program unpacks, and that program
_UNPACKED_BY: Final = {b"\x04\x22\x4d\x18": "lz4", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


#: what is not read → how it begins, comments before it left out
_UNREAD: Final = {
    "YAML": rb"""(?x)(?:---\s*\n)?(?:
        -\ +(?:&\w+\ +)?(?:\{|[\w"']+\ *:\s)                   # a list of objects
        |[A-Za-z_"'][\w"'\ .-]*:[ \t]*\r?\n(?:[ \t]+[\w"'-]|-\ )  # an object in an object
        |(?:[A-Za-z_][\w.-]*:\ [^\n]*\n)+[A-Za-z_][\w.-]*:\s*-\ # keys, and a list
    )""",
    "TOML": rb"""\[\[?[\w."-]+\]\]?[ \t]*\r?\n\s*[\w."-]+ *=""",
    "a table as psql prints it": rb"[^\n]*\|[^\n]*\n-[+-]*\r?\n",
    "a table as mysql prints it": rb"\+-[+-]*\r?\n\|",
    "a Markdown table": rb"[^\n]*\|[^\n]*\n[ \t|:+-]*-[ \t|:+-]*\r?\n",
    "XML or HTML": rb"<(?:\?xml|!|\w+[ >])",
    "a zip archive": rb"PK\x03\x04",
}
#: what is not read → how the program that wrote it writes what is
_INSTEAD: Final = {
    "a table as psql prints it": "let psql write CSV: \\pset format csv",
    "a table as mysql prints it": "let mysql write a header and tabs, into a .tsv file: mysql -B",
}


class UnreadYaml(UnknownFormat):
    """A file of YAML, where no table of rows is YAML."""


def number_of(error: BaseException) -> int:
    """Return the number of an error of the system, which in one of Polars only its message has."""
    number = getattr(error, "errno", None)
    if number:
        return int(number)
    code = re.search(r"\(os error (\d+)\)", str(error))
    if code:
        return int(code[1])
    return 0


def unreadable(error: OSError, source: str, expected: str | None = None) -> InputError:
    """Return the error for a file that the system does not let us read."""
    number = number_of(error)
    said = error.strerror or printable(error)
    what, usual = _UNREADABLE.get(number, (said, "a whole file"))
    fix = "let its owner allow you to read it" if number == errno.EACCES else None
    return InputError(what, where=source, expected=expected or usual, fix=fix)


def damaged(
    how: str, source: str | None = None, kind: type[InputError] = InputError
) -> InputError:
    """Return the error for a damaged file; where memory is limited, that may be the reason instead."""
    fix = WHOLE
    if (limit := memory_limit()) is not None:
        fix += f", or allow more memory than {limit >> 20:,} MiB (ulimit -v)"
    return kind(f"the file is damaged: {how}", where=source, fix=fix)


def _is_short_of_memory(error: BaseException) -> bool:
    if isinstance(error, (pl.exceptions.PolarsError, pl.exceptions.PanicException)):
        return _MEMORY.search(str(error)) is not None
    no_memory = isinstance(error, OSError) and number_of(error) == errno.ENOMEM
    return no_memory or isinstance(error, MemoryError)


class reading:  # noqa: N801 - reads as a word: with reading(path)
    """Turn errors of Polars and of the system while reading into an :class:`InputError`."""

    def __init__(self, source: str, expected: str | None = None) -> None:
        self._source = source
        self._expected = expected

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(
        self, kind: object, error: BaseException | None, trace: object
    ) -> None:
        """Translate the error; our own errors pass."""
        if error is None or isinstance(error, RankstoneError):
            return
        if _is_short_of_memory(error):
            raise NotEnoughMemory(where=self._source) from error
        if isinstance(error, UnicodeDecodeError):
            raise _no_utf8_in(error, self._source) from error
        message = printable(str(error).strip().partition("\n")[0])
        if isinstance(error, (OSError, pl.exceptions.PolarsError)):
            _refuse_damaged(error, message, self._source)
        if isinstance(error, OSError):
            raise unreadable(error, self._source, self._expected) from error
        if isinstance(error, pl.exceptions.PanicException):
            # a message about Polars' code
            raise damaged("it cannot be read", self._source) from error
        if isinstance(error, pl.exceptions.PolarsError):
            given = printable(message, _SHOWN)
            if _MIXED.search(message):
                given = "a field holds values of different kinds"
            raise InputError(
                "the file cannot be read",
                where=self._source,
                given=given,
                expected=_READABLE,
                fix=f"is it complete? {WHOLE}",
            ) from error


def _refuse_damaged(error: BaseException, message: str, source: str) -> None:
    """Refuse a file of which Polars or the system says that it is damaged, or no UTF-8."""
    if number_of(error):
        return
    for said, words in _DAMAGED.items():
        if re.search(said, message):
            raise damaged(words, source) from error
    if re.search("utf-?8", message, re.IGNORECASE):
        block = _head(source)
        refuse_binary(block, source)
        raise InputError(
            "the text is not UTF-8",
            where=source,
            expected=_READABLE,
            fix=as_utf8(block),
        ) from error


def _no_utf8_in(error: UnicodeDecodeError, source: str) -> BadLine:
    """Return the error for a whole text that is not UTF-8, with the line that is not."""
    above = error.object.count(b"\n", 0, error.start)
    line = error.object.split(b"\n")[above]
    return no_utf8(line, f"{source}:{above + 1}")


def no_utf8(line: bytes, where: str) -> BadLine:
    """Return the error for a line that is not UTF-8, mostly from a spreadsheet."""
    refuse_binary(line, where)
    encoding = _encoding_of(line)
    text = line.rstrip(b"\r\n").decode(encoding, "replace")
    name = {"gb18030": "GB18030"}.get(encoding, "Windows-1252")
    return BadLine(
        "the text is not UTF-8",
        where=where,
        given=f"{printable(text)} (if it is {name})",
        expected="UTF-8: ids in a wrong encoding would match nothing",
        fix=as_utf8(line),
    )


def wrong_json(error: ValueError | RecursionError) -> str:
    """Return what is wrong with a text of JSON, in words.

    Parameters
    ----------
    error
        What Python's reader of JSON raised.

    Examples
    --------
    >>> def why(text):
    ...     try:
    ...         json.loads(text)
    ...     except ValueError as error:
    ...         return wrong_json(error)
    >>> why('{"q1": ["d1", ')
    'it ends too early'
    >>> why('{"q1": {"d1" 1}}')
    'a colon is missing at character 14'
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits" if "digits" in str(error) else str(error)
    if not error.doc[error.pos :].strip():
        return "it ends too early"
    words = next(
        (words for said, words in _NOT_JSON.items() if error.msg.startswith(said)),
        printable(error.msg),
    )
    return f"{words} at character {error.colno}"


def _head(name: str) -> bytes:
    """Return the first bytes of a file; none of a stream."""
    with suppress(OSError), Path(name).open("rb") as file:
        return file.read(1 << 12)
    return b""


def refuse_unread(block: bytes, where: str) -> None:
    """Refuse what is known and not read, by its first bytes."""
    content = re.sub(rb"\A(?:\s|#.*\n)+", b"", block)
    for name, beginning in _UNREAD.items():
        if re.match(beginning, content):
            kind = UnreadYaml if name == "YAML" else UnknownFormat
            raise kind(
                f"this is {name}, which is not read",
                where=where,
                expected="TREC text, CSV, JSON, JSON lines, Parquet, Arrow or .xlsx",
                fix=_INSTEAD.get(name, "write what it holds as one of these"),
            )


def _encoding_of(block: bytes) -> str:
    """Return the encoding that text is probably in: ``gb18030`` of Chinese, or ``cp1252`` of Windows.

    Words of common Chinese characters are pairs of high bytes; letters with accents seldom stand in fours.
    """
    high = _HIGH.findall(block)
    two_characters = 4
    if not any(len(word) >= two_characters for word in high):
        return "cp1252"
    is_chinese = all(map(_COMMON_CHINESE.fullmatch, high))
    return "gb18030" if is_chinese else "cp1252"


def as_utf8(block: bytes) -> str:
    """Return how text in another encoding, perhaps that of Windows, is read."""
    encoding = _encoding_of(block)
    try:
        block.decode(encoding)
    except UnicodeDecodeError:
        return "save it as UTF-8 in an editor"
    name = {"cp1252": "windows-1252"}.get(encoding, encoding)
    return f"save it as UTF-8: in Excel, an editor, or with iconv -f {name} -t utf-8 FILE > NEW"


def refuse_binary(block: bytes, where: str) -> None:
    """Refuse bytes that are no text in another encoding, but a binary format."""
    for signature, program in _UNPACKED_BY.items():
        if block.startswith(signature):
            raise UnknownFormat(
                f"the file is packed with {program}",
                where=where,
                expected=f"{_READABLE}; text may be packed with gzip or zstd",
                fix=f"unpack it first: {program} -d FILE",
            )
    if _CONTROL.search(block):
        raise UnknownFormat(
            "the file is binary, in a format that is not read",
            where=where,
            expected=_READABLE,
            fix="write its records as Parquet or as JSON lines",
        )
