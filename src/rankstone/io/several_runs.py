"""Several runs where one is meant: files of a folder that are no parts, and tables that hold many."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._text import quoted, some
from rankstone.errors import BadValue, EmptyInput, InputError, printable
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.database_addresses import is_database
from rankstone.io.file_formats import format_of, parts_of
from rankstone.io.input_table import reading
from rankstone.io.streams import is_stream
from rankstone.io.typed_tables import of_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rankstone.io.input_table import Table


#: rows at the head of a file whose queries are looked at, and files of different names that are
_ROWS: Final = 10_000
_FILES: Final = 16
#: lines among which the first run's line is looked for, below comments
_LINES: Final = 100
#: the column of a TREC line that names the run
_TAG: Final = 5


def refuse_several(
    path: str | os.PathLike[str], format_in: str | None, opened: Callable[[Path], Table]
) -> None:
    """Refuse a folder or a glob that holds several runs and not the parts of one.

    Files with different tags in column 6 of TREC text are several runs; so are files that are called
    differently, numbers aside, and answer the same queries.

    Parameters
    ----------
    path
        What is to be read as one run.
    format_in
        The format of its files; ``None`` goes by the suffix.
    opened
        Opens one of the files.
    """
    name = os.fspath(path)
    if is_database(name) or is_stream(name):
        return
    parts = parts_of(name)
    if len(parts) < 2:  # noqa: PLR2004 - one file is one run
        return
    tags = {part: _tag(part) for part in parts if (format_in or format_of(part)) == "trec"}
    different = list(dict.fromkeys(filter(None, tags.values())))
    if len(different) > 1:
        firsts = [next(part for part, tag in tags.items() if tag == one) for one in different]
        told = [f"{part.name} ({printable(tag, 40)})" for part, tag in zip(firsts, different, strict=True)]
        raise _several(name, parts, f"tags in column 6: {some(told)}")
    alike = _answering_the_same(name, parts, opened)
    if alike:
        raise _several(name, parts, f"the same queries in {some(part.name for part in alike)}")


def _several(name: str, parts: Sequence[Path], given: str) -> InputError:
    return InputError(
        f"these {len(parts)} files look like several runs, not like parts of one",
        where=printable(name),
        given=given,
        expected="parts of one run: one tag, and queries that no other part answers",
        fix=f"for a run of each file: {_for_a_shell(name)} (in PowerShell (Get-ChildItem "
        f"{quoted(name)}).FullName, in Python a list of paths); "
        "for one run all the same, put them into one file",
    )


def _for_a_shell(name: str) -> str:
    """Return what a shell turns into the files of a folder, or of a glob that came in quotes."""
    folder, pattern = os.path.split(name.rstrip("/")) if glob.has_magic(name) else (name.rstrip("/"), "*")
    if glob.has_magic(folder):
        return name
    return f"{quoted(folder)}/{pattern}" if folder else pattern


def _tag(part: Path) -> str:
    """Return what the first line of a run in TREC text calls it; nothing where it does not say."""
    with reading(str(part)):
        refuse_endless(part, str(part))
        lines = pl.scan_lines(part, name="text", n_rows=_LINES, glob=False).collect()["text"]
    for line in lines:
        words = line.split()
        if words and not line.lstrip("\ufeff \t").startswith("#"):
            return words[_TAG] if len(words) > _TAG else ""
    return ""


def _answering_the_same(name: str, parts: Sequence[Path], opened: Callable[[Path], Table]) -> list[Path]:
    """Return two files that are called differently and mostly answer the same queries, if there are any."""
    called: dict[str, Path] = {}
    for part in parts:
        called.setdefault(re.sub(r"[\W_\d]+", "", os.path.relpath(part, name)), part)
    seen: list[tuple[Path, pl.Series]] = []
    for part in list(called.values())[:_FILES] if len(called) > 1 else ():
        queries = _first_queries(opened(part))
        for other, known in seen:
            shared = queries.is_in(known.implode()).sum() if queries.dtype == known.dtype else 0
            if 2 * shared > min(len(queries), len(known)) > 0:
                return [other, part]
        seen.append((part, queries))
    return []


def _first_queries(table: Table) -> pl.Series:
    """Return the queries at the head of a file."""
    for piece in table.tables([pl.col("query_id")]):
        return piece["query_id"].head(_ROWS).unique()
    return pl.Series([], dtype=pl.String)


def split(table: Table, theirs: str) -> dict[str, Table]:
    """Return the runs of a long table, which stay in memory, by the names in its column ``run``.

    Parameters
    ----------
    table
        Rows with ``run``.
    theirs
        What the table calls this column.
    """
    frame = table.collect().with_row_index("row")
    unnamed = frame["run"].is_null()
    if unnamed.any():
        raise BadValue(f"a row without {printable(theirs)}", where=table.locate(unnamed.arg_max() or 0))
    if not frame.height:
        raise EmptyInput("there are no rows", where=table.source)
    runs = frame.partition_by("run", maintain_order=True, include_key=False, as_dict=True)
    return {str(name): _one_of(table, rows, str(name)) for (name,), rows in runs.items()}


def _one_of(table: Table, rows: pl.DataFrame, name: str) -> Table:
    """Return the rows of one run, which know where they stood."""
    at = rows["row"]
    one = of_frame(rows.drop("row").lazy(), f"{table.source}, {printable(name)}", {}, untyped=table.untyped)
    return replace(one, where=lambda row: table.locate(at[row]), listed=table.listed)
