"""Where a file is broken: looked for, line by line, once its reader has given up."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import BadLine, printable
from rankstone.io.table import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["PACKED", "broken_object", "broken_row", "no_utf8", "refuse_repeated_keys"]

#: what packed files begin with
PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, Zstandard


def broken_row(
    source: Path | bytes, title: str, separator: str, header: Sequence[str], above: int = 0
) -> BadLine | None:
    """Return the error for the first row of CSV or TSV that does not go with its header, ``above`` aside."""
    for number, line in enumerate(_raw_lines(source), 1):
        if number > above + 1:  # names of columns that nobody reads may be anything
            try:
                line.decode()
            except UnicodeDecodeError:
                return no_utf8(line, f"{title}:{number}")
    rows = csv.reader(islice(_lines(source, title), above, None), delimiter=separator, strict=True)
    try:
        for row in rows:
            if len(row) > len(header):
                return BadLine(
                    f"the row has {len(row)} columns, and the header {len(header)}",
                    where=f"{title}:{above + rows.line_num}",
                    given=printable(separator.join(row)),
                    expected=printable(separator.join(header)),
                    fix='texts that hold the divider stand in quotes: "a, b"',
                )
    except csv.Error as error:
        return BadLine(
            "a quoted text does not end as it should",
            where=f"{title}:{above + rows.line_num}",
            given=printable(error),
            expected='"text", with "" for a quote inside',
        )
    return None


def no_utf8(line: bytes, where: str) -> BadLine:
    """Return the error for a line that is not UTF-8: plain CSV of a spreadsheet, mostly."""
    given = line.rstrip(b"\r\n").decode("cp1252", "replace")
    return BadLine(
        "the text is not UTF-8",
        where=where,
        given=f"{printable(given)} (if it is Windows-1252)",
        expected="UTF-8: ids that are read in a wrong encoding match nothing",
        fix="save it as UTF-8: in Excel, an editor, or by iconv -f windows-1252 -t utf-8 FILE > NEW",
    )


def _raw_lines(source: Path | bytes) -> Iterator[bytes]:
    """Yield the lines of what is not packed."""
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        if not file.read(4).startswith(PACKED):
            file.seek(0)
            yield from file


def broken_object(source: Path | bytes, title: str) -> BadLine | None:
    """Return the error for the first line of JSON lines that is no object."""
    for number, line in enumerate(_lines(source, title), start=1):
        try:
            found = json.loads(line) if line.strip() else {}
        except ValueError as error:
            return _no_object(title, number, line, str(error).partition(":")[0])
        except RecursionError:
            return _no_object(title, number, line, "lists within lists without end")
        if not isinstance(found, dict):
            return _no_object(title, number, line, f"a {type(found).__name__} is no object")
    return None


def refuse_repeated_keys(source: Path | bytes, title: str, keys: Sequence[str]) -> None:
    """Refuse JSON lines in which an object says one of the keys twice: readers keep one of them, unasked.

    Raises
    ------
    BadLine
        With the line and the key.
    """
    if not keys:
        return
    twice = pl.any_horizontal(pl.col("text").str.count_matches(f'"{key}"', literal=True) > 1 for key in keys)
    lines = pl.scan_lines(source, name="text", row_index_name="line", glob=False).filter(twice)
    repeated: list[str] = []

    def notice(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        repeated.extend(key for key in keys if names.count(key) > 1)

    with reading(title):
        for line, text in (row for piece in lines.collect_batches() for row in piece.iter_rows()):
            with suppress(ValueError, RecursionError):  # whoever reads it says what is wrong
                json.loads(text, object_pairs_hook=notice)
            if repeated:
                raise BadLine(
                    f"{printable(repeated[0])} is there twice in one object",
                    where=f"{title}:{line + 1}",
                    given=printable(text),
                    expected="each key once",
                )


def _no_object(title: str, number: int, line: str, why: str) -> BadLine:
    return BadLine(
        f"the line is no JSON object: {printable(why)}",
        where=f"{title}:{number}",
        given=printable(line),
        expected='one object a line: {"query_id": …, "doc_id": …, …}',
    )


def _lines(source: Path | bytes, title: str) -> Iterator[str]:
    """Yield the lines of a file, unpacked where need be."""
    with reading(title):
        for piece in pl.scan_lines(source, name="text", glob=False).collect_batches():
            yield from piece["text"]
