"""Where a file is broken: looked for, line by line, once its reader has given up."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import BadLine, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["broken_object", "broken_row"]


def broken_row(source: Path | bytes, title: str, separator: str, header: Sequence[str]) -> BadLine | None:
    """Return the error for the first row of CSV or TSV that does not go with its header."""
    rows = csv.reader(_lines(source), delimiter=separator, strict=True)
    try:
        for row in rows:
            if len(row) > len(header):
                return BadLine(
                    f"the row has {len(row)} columns, and the header {len(header)}",
                    where=f"{title}:{rows.line_num}",
                    given=printable(separator.join(row)),
                    expected=printable(separator.join(header)),
                    fix='texts that hold the divider stand in quotes: "a, b"',
                )
    except csv.Error as error:
        return BadLine(
            "a quoted text does not end as it should",
            where=f"{title}:{rows.line_num}",
            given=printable(error),
            expected='"text", with "" for a quote inside',
        )
    return None


def broken_object(source: Path | bytes, title: str) -> BadLine | None:
    """Return the error for the first line of JSON lines that is no object."""
    for number, line in enumerate(_lines(source), start=1):
        try:
            found = json.loads(line) if line.strip() else {}
        except ValueError as error:
            return _no_object(title, number, line, str(error).partition(":")[0])
        if not isinstance(found, dict):
            return _no_object(title, number, line, f"a {type(found).__name__} is no object")
    return None


def _no_object(title: str, number: int, line: str, why: str) -> BadLine:
    return BadLine(
        f"the line is no JSON object: {printable(why)}",
        where=f"{title}:{number}",
        given=printable(line),
        expected='one object a line: {"query_id": …, "doc_id": …, …}',
    )


def _lines(source: Path | bytes) -> Iterator[str]:
    """Yield the lines of a file, unpacked where need be."""
    for piece in pl.scan_lines(source, name="text", glob=False).collect_batches():
        yield from piece["text"]
