"""Read files of a shape as tables: lines of text by a template, JSON by a pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import counted, first_true
from rankstone.errors import BadLine, EmptyInput, printable
from rankstone.io.columns import is_text
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.exact_numbers import refuse_inexact
from rankstone.io.input_table import Table
from rankstone.io.python_rows import ids_of, numbers_of
from rankstone.io.shapes.json_pattern import NUMBERS, JsonPattern, Misfit, refused
from rankstone.io.shapes.recognition import refuse_positions, refuse_unread
from rankstone.io.sources import as_utf8
from rankstone.io.trec_text import numbered_lines, title_of
from rankstone.io.typed_tables import of_frame
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rankstone._basics import Columns
    from rankstone.io.shapes.line_template import LineTemplate
    from rankstone.io.shapes.recognition import Candidates
    from rankstone.io.shapes.shape import Shape

#: columns that are recognised and not read
UNREAD: Final = ("run", "…")
#: the keys of a record of a query and its response
_PAIR: Final = 2
#: entries of a list or an object whose keys are looked at
_FIRST: Final = 20


def read_lines(
    sources: Sequence[Path | bytes], name: str, shape: Shape, template: LineTemplate
) -> Table:
    """Read text of a shape.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    name
        Their name in messages.
    shape, template
        What they are, and how each line is written.

    Raises
    ------
    BadLine
        While reading, at the first line that is not of the template.
    """
    files = [_TextFile(source, title_of(source, name), template) for source in sources]
    names = [name for name in template.names if name not in UNREAD]
    schema = {n: pl.String() if is_text(n) else pl.Float64() for n in names}

    def start(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        for file in files:
            for piece in file.pieces():
                yield piece.select(columns)

    def where(row: int) -> str:
        for file in files:
            for piece in file.pieces():
                if row < piece.height:
                    return f"{file.title}:{piece['line'][row]}"
                row -= piece.height
        return name

    return Table(
        name,
        schema,
        start,
        where,
        untyped=True,
        listed=not {*names} & {*NUMBERS},
        present=tuple(template.names),
        form=f"text of lines {template.shown}: {shape.note}",
        comments=lambda: sum(file.comments for file in files),
        read_as=lambda: (f"{shape.title}: {template.shown}",),
    )


@dataclass
class _TextFile:
    """One file of text, and the comments of the last read."""

    source: Path | bytes
    title: str
    template: LineTemplate
    comments: int = 0

    def __post_init__(self) -> None:
        self.source, _ = as_utf8(self.source, self.title)

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the rows with typed columns and the number of their line."""
        self.comments = 0
        with reading(self.title):
            refuse_endless(self.source, self.title)
            for lines in numbered_lines(self.source):
                text = lines["text"]
                is_comment = text.str.starts_with("#")
                self.comments += int(is_comment.sum())
                content = lines.filter(~is_comment & (text != ""))
                if content.height:
                    yield self._typed(content)

    def _typed(self, content: pl.DataFrame) -> pl.DataFrame:
        cells = self.template.read(content["text"])
        misfits = cells["query_id"].is_null()

        def place(row: int) -> str:
            return f"{self.title}:{content['line'][row]}"

        if misfits.any():
            row = first_true(misfits)
            raise BadLine(
                "the line is not as those above it",
                where=place(row),
                given=printable(content["text"][row], 60),
                expected=self.template.shown,
            )
        for name in NUMBERS:
            if name in cells:
                numbers = cells[name]
                refuse_inexact(numbers, name, place)
                cells = cells.with_columns(numbers.cast(pl.Float64))
        rows = cells.with_columns(content["line"])
        if self.template.lists:
            return rows.explode("doc_id")
        return rows


def shaped_document(
    value: object, source: str, columns: Columns, shapes: Candidates | None
) -> Table | None:
    """Open a document of JSON that has a shape; ``None`` where it has none or its columns are named.

    Parameters
    ----------
    value
        The document: dicts and lists.
    source
        Its name in messages.
    columns
        {their name: our name}.
    shapes
        The shapes that it may have.
    """
    if shapes is None or not isinstance(value, (dict, list)):
        return None
    if columns.keys() and not columns.keys().isdisjoint(_keys_in(value)):
        return None
    if isinstance(value, dict):
        refuse_unread(value, source)
    value = _by_query(value)
    shape = shapes.of_json(value, source)
    if shape is None:
        refuse_positions(value, source)
        shapes.refuse_unnamed(value, source)
        return None
    return read_document(value, source, shape)


def _by_query(value: dict[Any, Any] | list[Any]) -> dict[Any, Any] | list[Any]:
    """Return the responses in records of a query_id and a response by query; any other document as it is.

    >>> _by_query([{"query_id": "q1", "response": {"matches": []}}])
    {'q1': {'matches': []}}
    """
    pairs = {}
    for record in value if isinstance(value, list) else []:
        if not isinstance(record, dict) or len(record) != _PAIR:
            return value
        query = record.get("query_id")
        [response, *_] = [part for key, part in record.items() if key != "query_id"]
        if not isinstance(query, (str, int)) or not isinstance(response, dict):
            return value
        pairs[str(query)] = response
    return pairs or value


def _keys_in(value: object) -> Iterator[str]:
    """Yield the keys of objects in the first entries of a document, at any depth."""
    parts: Iterable[object] = ()
    if isinstance(value, dict):
        yield from value
        parts = value.values()
    elif isinstance(value, list):
        parts = value
    for part in islice(parts, _FIRST):
        yield from _keys_in(part)


def read_document(value: object, source: str, shape: Shape) -> Table:
    """Read a document of JSON, or Python's lists and dicts, of a shape.

    Parameters
    ----------
    value
        The document.
    source
        Its name in messages.
    shape
        What it is.

    Raises
    ------
    InputError
        With the path to an entry that is not of the shape.
    EmptyInput
        Where no document is in it, or none is rated.
    """
    try:
        rows = list(JsonPattern(shape.json).rows(value))
        names = _texts_of_queries(shape, value)
    except Misfit as misfit:
        raise refused(misfit, f"these are {shape.title}, but", source) from None
    rows = [row for row in rows if row.get("query_id") is not None]
    full = [row for row in rows if row.get("doc_id") is not None]
    are_judgments = shape.role == "judgments"
    # hits that are sorted by a field have no score
    numbers = [
        name
        for name in NUMBERS
        if any(
            row.get(name) is not None or (are_judgments and name in row) for row in full
        )
    ]
    rated = [row for row in full if all(row.get(n) is not None for n in numbers)]
    must_be_rated = full or are_judgments
    if not rows or (must_be_rated and not rated):
        what = "no document is rated" if are_judgments else "no document"
        raise EmptyInput(f"{what} in it yet", where=source, expected=shape.title)

    queries = [names.get(str(row["query_id"]), row["query_id"]) for row in rated]
    docs = [row["doc_id"] for row in rated]
    data = {
        "query_id": ids_of(queries, "query_id", source),
        "doc_id": ids_of(docs, "doc_id", source),
    }
    for name in numbers:
        cells = [row[name] for row in rated]
        data[name] = numbers_of(cells, name, source)
    frame = pl.DataFrame(data)
    notes = [shape.title]
    if len(full) > len(rated):
        notes.append(f"{counted(len(full) - len(rated), 'unrated row')} skipped")
    table = of_frame(frame.lazy(), source, {})
    unanswered = _without_documents(rows, names, source)
    return replace(
        table,
        listed=not numbers,
        form=f"JSON: {shape.note}",
        empty=lambda: unanswered,
        read_as=lambda: tuple(notes),
    )


def _texts_of_queries(shape: Shape, value: object) -> dict[str, Any]:
    """Return {id: text} of the queries, where a shape has both."""
    if shape.names is None:
        return {}
    rows = JsonPattern(shape.names).rows(value)
    return {str(row["query_id"]): row["text"] for row in rows if "text" in row}


def _without_documents(
    rows: Sequence[dict[str, Any]], names: dict[str, Any], source: str
) -> pl.Series | None:
    """Return the queries with an empty list; ``None`` where there are none."""
    empty = dict.fromkeys(row["query_id"] for row in rows if "doc_id" not in row)
    if not empty:
        return None
    ids = [names.get(str(query), query) for query in empty]
    return ids_of(ids, "query_id", source)
