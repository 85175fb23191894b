"""Text without a header: TREC's where its lines fit that, else of a shape, else what its first row looks like."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final

from rankstone.errors import BadLine, printable
from rankstone.io.advice import Advice
from rankstone.io.column_suggestions import is_common_name
from rankstone.io.columns import CANONICAL, CsvOptions, Renames, is_known
from rankstone.io.csv_dialect import SEPARATORS
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.exact_numbers import is_number
from rankstone.io.foreign_text import foreign
from rankstone.io.shapes.line_template import are_grades
from rankstone.io.shapes.reading import read_lines
from rankstone.io.shapes.recognition import is_row
from rankstone.io.trec_text import first_lines, title_of, trec, words_of
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankstone._basics import Columns
    from rankstone.io.input_table import Table
    from rankstone.io.shapes.recognition import Candidates
    from rankstone.io.trec_text import Layout, Ranks

_CELLS: Final = ",;\t|"
#: the names of TREC text, which has them without a header
_TAGS: Final = {("tag", "run")}
#: the positions of an unnamed pair
_PAIR: Final = {1: "query_id", 2: "doc_id"}


def shaped_text(
    sources: Sequence[Path | bytes],
    name: str,
    kind: str,
    layout: Layout,
    ranks: Ranks,
    columns: Columns,
    shapes: Candidates,
) -> Table | None:
    """Open text that has a shape; ``None`` for TREC's and for tables with a header.

    Parameters
    ----------
    sources
        Paths, or the content itself; the first one shows what they are.
    name
        Their name in messages.
    kind
        ``trec``, ``csv`` or ``tsv``, as its name says.
    layout, ranks
        The columns of TREC text.
    columns
        {their name: our name}.
    shapes
        The shapes that it may have.

    Raises
    ------
    BadLine
        Where a table has no header and its columns are not known.
    """
    title = title_of(sources[0], name)
    with reading(title):
        refuse_endless(sources[0], title)
        lines = first_lines(sources[0], title)
    texts = list(lines.values())
    is_table = kind in SEPARATORS
    if not texts or (is_table and not _is_headerless(texts, columns)):
        return None
    if is_table and isinstance(columns, Renames):
        columns.csv_files.append(title)  # its settings were used
    if not shapes.named and is_trec(words_of(texts), layout):
        if is_table:
            return trec(sources, name, layout, ranks)
        return None
    where = f"{title}:{next(iter(lines))}"
    known = shapes.of_lines(texts, where)
    if known is not None:
        return read_lines(sources, name, *known)
    if is_table:
        raise _without_header(texts, where, layout.number)
    return None


def is_trec(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    """Return whether the words of the first lines are TREC's: enough of them, with a number in its place."""
    number = layout.fields.index(layout.number)
    whole = all(row[number:] and is_number(row[number]) for row in rows)
    return whole and foreign(rows, layout.number) is None


def _is_headerless(lines: Sequence[str], columns: Columns) -> bool:
    """Return whether the first row of a table is data, and no option names its columns."""
    named = columns.items() - _TAGS
    if named or CsvOptions.of(columns).header is False:
        return False
    if "\r" in lines[0]:
        return False
    cells = _cells(lines[:1], CsvOptions.of(columns).separator)[0]
    words = lines[0].split()
    return is_row(cells if len(cells) > 1 else words, _is_name)


def _is_name(cell: str) -> bool:
    return is_known(cell) or is_common_name(cell, CANONICAL)


def _cells(lines: Sequence[str], separator: str | None = None) -> list[list[str]]:
    """Return the cells of lines, between the separator that occurs most in the first."""
    separator = separator or max(_CELLS, key=lines[0].count)
    return list(csv.reader(lines, delimiter=separator))


def _without_header(lines: Sequence[str], where: str, number: str) -> BadLine:
    """Return the error for a table without a header, with the positions of its columns where they are clear."""
    rows = _cells(lines)
    numbers = [
        at
        for at, column in enumerate(zip(*rows, strict=False), 1)
        if at not in _PAIR and _may_be(number, column)
    ]
    positions = _PAIR | dict.fromkeys(numbers[:1], number)
    is_clear = len(rows[0]) == len(_PAIR) or numbers
    names = {str(at): ours for at, ours in positions.items()}
    advice = Advice(names, {"header": False}) if is_clear else None
    error = BadLine(
        "the first row is data, and no header",
        where=where,
        given=printable(lines[0], 60),
        expected="names of columns in the first row, or their positions",
        fix="write the names of the columns above it",
    )
    return error.proposing(advice)


def _may_be(number: str, column: Sequence[str]) -> bool:
    """Return whether a column may hold the grades or the scores."""
    if not all(map(is_number, column)):
        return False
    return number != "relevance" or are_grades([{number: cell} for cell in column])
