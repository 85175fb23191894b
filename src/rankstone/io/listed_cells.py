"""Lists in the cells of a text table: ``a|b``, ``a b``, ``["a", "b"]``, ``['a', 'b']``.

A row is a list where its query has no other row, and where every cell is in brackets, or bars or semicolons
stand between ids, or each piece between commas or blanks has a digit, as ids have and words have not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

#: an item of a list in brackets: in quotes, or without blanks
_ITEM: Final = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,\[\]\s]+"""
_NAMES: Final = {" ": "blanks", "|": "|", ";": ";", ",": "commas"}


class ListedCells(Record):
    """What stands between the items of each column of lists: ``[`` for lists in brackets.

    Attributes
    ----------
    marks
        {column: mark}; empty where no cell is a list.
    """

    marks: Mapping[str, str]

    @property
    def note(self) -> str:
        """What was recognised, for the audit."""
        mark = self.marks["doc_id"]
        form = "in brackets" if mark == "[" else f"between {_NAMES[mark]}"
        return f"lists in the cells of {' and '.join(self.marks)}, {form}"

    def expressions(self, schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
        """Return the lists of cells of text, of ids or of numbers."""
        return [
            _items(name, mark).cast(schema[name]) for name, mark in self.marks.items()
        ]


def listed_cells(head: pl.DataFrame) -> ListedCells:
    """Return which columns of a table of texts have lists in their cells.

    Parameters
    ----------
    head
        The first rows, by our names.
    """
    if not {"query_id", "doc_id"} <= {*head.columns} or not head.height:
        return ListedCells({})
    if not head["query_id"].is_unique().all():
        return ListedCells({})
    columns = ("doc_id", "score", "relevance", "rank")
    marks = {name: _mark(head[name]) for name in columns if name in head.columns}
    if not marks["doc_id"]:
        return ListedCells({})
    return ListedCells({name: mark for name, mark in marks.items() if mark})


def _mark(column: pl.Series) -> str:
    """Return what stands between the items in the cells of a column; empty where they are no lists."""
    cells = column.drop_nulls().str.strip_chars()
    if not len(cells):
        return ""
    in_brackets = cells.str.starts_with("[") & cells.str.ends_with("]")
    if in_brackets.all():
        return "["
    for mark in "|;":
        if cells.str.contains(mark, literal=True).any():
            return mark
    for mark in ", ":
        pieces = cells.str.split(mark).explode().str.strip_chars()
        if len(pieces) > len(cells) and pieces.str.contains(r"\d").all():
            return mark
    return ""


def _items(name: str, mark: str) -> pl.Expr:
    cells = pl.col(name).str.strip_chars()
    if mark != "[":
        items = cells.str.replace_all(r" +", " ").str.split(mark)
        return items.list.eval(pl.element().str.strip_chars())
    item = pl.element()
    is_quoted = item.str.contains(r"""^['"]""")
    bare = item.str.slice(1, item.str.len_chars() - 2)
    bare = bare.str.replace_all(r"""\\(['"\\])""", "$1")
    quoted = pl.when(is_quoted).then(bare).otherwise(item)
    return cells.str.extract_all(_ITEM).list.eval(quoted)
