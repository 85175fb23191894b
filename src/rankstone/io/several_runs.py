"""Several runs where one is expected: files of a folder that are not its parts, and long tables of runs."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import first_true, quoted, some
from rankstone.errors import BadValue, EmptyInput, InputError, printable
from rankstone.io.columns import RUN_NAMES
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.file_formats import format_of
from rankstone.io.typed_tables import of_frame
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rankstone._basics import StrPath
    from rankstone.io.input_table import Table


#: how many rows and how many files are checked for common queries
_ROWS: Final = 10_000
_FILES: Final = 16
#: lines that are searched for the first row, below comments
_LINES: Final = 100
#: the column of a TREC line that names the run
_TAG: Final = 5


def refuse_several(
    path: StrPath,
    parts: Sequence[Path],
    format_in: str | None,
    open_part: Callable[[Path], Table],
) -> None:
    """Refuse a folder or a glob that holds several runs instead of the parts of one.

    Files with different tags in column 6 of TREC text are several runs; so are files whose names differ in
    more than digits and that answer the same queries.

    Parameters
    ----------
    path
        The folder or glob that is read as one run.
    parts
        Its files.
    format_in
        The format of its files; ``None`` decides by content and suffix.
    open_part
        Opens one of the files.
    """
    name = os.fspath(path)
    tags = {
        part: _tag(part) for part in parts if (format_in or format_of(part)) == "trec"
    }
    different = list(dict.fromkeys(filter(None, tags.values())))
    if len(different) > 1:
        firsts = [
            next(part for part, tag in tags.items() if tag == one) for one in different
        ]
        shown = [
            f"{part.name} ({printable(tag, 40)})"
            for part, tag in zip(firsts, different, strict=True)
        ]
        raise _several(name, parts, f"tags in column 6: {some(shown)}")
    same = _with_the_same_queries(name, parts, open_part)
    if same:
        raise _several(
            name, parts, f"the same queries in {some(part.name for part in same)}"
        )


def _several(name: str, parts: Sequence[Path], given: str) -> InputError:
    return InputError(
        f"these {len(parts)} files look like several runs, not like parts of one",
        where=printable(name),
        given=given,
        expected="parts of one run: one tag, and each query in one part only",
        fix=f"to read each file as a run give their paths: {_shell_pattern(name)} "
        f"(in PowerShell (Get-ChildItem {quoted(name)}).FullName); "
        "if they are one run, put them into one file",
    )


def _shell_pattern(name: str) -> str:
    """Return the pattern that a shell expands to the files of a folder or of a quoted glob."""
    folder, pattern = (
        os.path.split(name.rstrip("/"))
        if glob.has_magic(name)
        else (name.rstrip("/"), "*")
    )
    if glob.has_magic(folder):
        return name
    if folder:
        return f"{quoted(folder)}/{pattern}"
    return pattern


def _tag(part: Path) -> str:
    """Return the run tag in the first line of TREC text; empty without one."""
    with reading(str(part)):
        refuse_endless(part, str(part))
        lines = pl.scan_lines(part, name="text", n_rows=_LINES, glob=False).collect()[
            "text"
        ]
    for line in lines:
        words: list[str] = line.split()
        if words and not line.lstrip("\ufeff \t").startswith("#"):
            if len(words) > _TAG:
                return words[_TAG]
            return ""
    return ""


def _with_the_same_queries(
    name: str, parts: Sequence[Path], open_part: Callable[[Path], Table]
) -> list[Path]:
    """Return two files with different names, digits aside, that mostly answer the same queries, if any."""
    by_letters: dict[str, Path] = {}
    for part in parts:
        by_letters.setdefault(
            re.sub(r"[\W_\d]+", "", os.path.relpath(part, name)), part
        )
    earlier: list[tuple[Path, pl.Series]] = []
    for part in list(by_letters.values())[:_FILES] if len(by_letters) > 1 else ():
        queries = _first_queries(open_part(part))
        for other, known in earlier:
            shared = (
                queries.is_in(known.implode()).sum()
                if queries.dtype == known.dtype
                else 0
            )
            if 2 * shared > min(len(queries), len(known)) > 0:
                return [other, part]
        earlier.append((part, queries))
    return []


def _first_queries(table: Table) -> pl.Series:
    """Return the queries at the head of a file."""
    for piece in table.tables([pl.col("query_id")]):
        return piece["query_id"].head(_ROWS).unique()
    return pl.Series([], dtype=pl.String)


def refuse_second(table: Table) -> None:
    """Refuse a table of one run whose rows name a second one."""
    for column in RUN_NAMES:
        if table.schema.get(column, pl.List).is_nested():
            continue
        first = ""
        row = 0
        for piece in table.tables([pl.col(column).cast(pl.String)]):
            names = piece[column]
            first = first or next(iter(names.drop_nulls()), "")
            other = names.ne(first)
            if other.any():
                raise InputError(
                    f"a second {column}: the table holds several runs",
                    where=table.locate(row + first_true(other)),
                    given=f"{printable(names.filter(other)[0], 40)} after {printable(first, 40)}",
                    expected=f"one run, with one {column} in all rows; or {column} renamed to unused",
                    fix=f"eval, compare and report read each as a run with run_column={column}",
                )
            row += len(names)


def split(table: Table, theirs: str) -> dict[str, Table]:
    """Return the runs of a long table, held in memory, by the names in its column ``run``.

    Parameters
    ----------
    table
        Rows with ``run``.
    theirs
        The source's own name of this column.
    """
    frame = table.collect().with_row_index("row")
    unnamed = frame["run"].is_null()
    if unnamed.any():
        raise BadValue(
            f"a row without {printable(theirs)}",
            where=table.locate(first_true(unnamed)),
        )
    if not frame.height:
        raise EmptyInput("there are no rows", where=table.source)
    runs = frame.partition_by(
        "run", maintain_order=True, include_key=False, as_dict=True
    )
    return {
        str(name): _one_run(table, rows, str(name)) for (name,), rows in runs.items()
    }


def _one_run(table: Table, rows: pl.DataFrame, name: str) -> Table:
    """Return the rows of one run, with their places in the long table."""
    at = rows["row"]
    one = of_frame(
        rows.drop("row").lazy(),
        f"{table.source}, {printable(name)}",
        {},
        untyped=table.untyped,
    )
    return replace(one, where=lambda row: table.locate(at[row]), listed=table.listed)
