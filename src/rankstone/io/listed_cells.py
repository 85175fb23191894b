"""Lists in the cells of a text table: ``a|b``, ``a b``, ``["a", "b"]``, ``['a', 'b']``.

A row is a list where its query has no other row, and where every cell is in brackets, or bars or semicolons
stand between ids, or each piece between commas or blanks has a digit, as ids have and words have not.  Where
every cell has two parts these may be of one id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

#: an item of a list in brackets: in quotes, or without blanks
_ITEM: Final = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,\[\]\s]+"""
_TEXTS: Final = pl.List(pl.String())
#: a list as NumPy shows it
_ARRAY: Final = r"(?s)^array\((\[.*\]).*\)$"
#: parts that every cell has where ids are made of two
_PAIR: Final = 2
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
        lists: list[pl.Expr] = []
        for name, mark in self.marks.items():
            cells = _stripped(pl.col(name))
            items = _in_brackets(cells) if mark == "[" else _between(cells, mark)
            lists.append(items.cast(schema[name]))
        return lists


def listed_cells(head: pl.DataFrame) -> ListedCells:
    """Return which columns of a table of texts have lists in their cells.

    A row with one score, grade or rank is one document, whatever its id looks like.

    Parameters
    ----------
    head
        The first rows, by our names.
    """
    none = ListedCells({})
    if not {"query_id", "doc_id"} <= {*head.columns} or not head.height:
        return none
    if not head["query_id"].is_unique().all():
        return none
    numbers = {
        name: _mark_of_numbers(head[name])
        for name in ("score", "relevance", "rank")
        if name in head
    }
    if not all(numbers.values()):
        return none
    mark = _mark(head["doc_id"], pairs=bool(numbers))
    return ListedCells({"doc_id": mark, **numbers}) if mark else none


def further_lists(head: pl.DataFrame, listed: ListedCells) -> pl.DataFrame:
    """Return the other columns of a table that have lists in their cells, as lists of texts.

    Parameters
    ----------
    head
        The first rows, by our names.
    listed
        What is known of columns with names of ours.
    """
    marks = {
        name: _mark_of_numbers(head[name]) or _mark(head[name])
        for name in head.columns
        if name != "query_id"
    }
    marks = {name: mark for name, mark in marks.items() if mark} | {**listed.marks}
    texts = dict.fromkeys(marks, _TEXTS)
    return head.select(ListedCells(marks).expressions(texts))


def _mark(column: pl.Series, *, pairs: bool = False) -> str:
    """Return what stands between the items in the cells of a column; empty where they are no lists.

    ``pairs``: whether lists may have two items each, as ids have which are made of two parts.
    """
    cells = _stripped(column.drop_nulls())
    if cells.is_empty():
        return ""
    in_brackets = cells.str.contains(r"(?s)^\[.*\]$")
    if in_brackets.all():
        return "["
    for mark in "|;, ":
        items = cells.str.split(mark)
        lengths = items.list.len()
        if (lengths == 1).all() or ((lengths == _PAIR).all() and not pairs):
            continue
        has_digit = items.explode().str.contains(r"\d")
        if mark in "|;" or has_digit.all():
            return mark
    return ""


def _mark_of_numbers(column: pl.Series) -> str:
    """Return what stands between the numbers in the cells of a column; empty for one number in each."""
    mark = _mark(column, pairs=True)
    if not mark:
        return ""
    lists = ListedCells({column.name: mark}).expressions({column.name: _TEXTS})
    items = column.to_frame().select(lists).to_series().explode().drop_nulls()
    are_numbers = items.cast(pl.Float64, strict=False).is_not_null().all()
    return mark if are_numbers else ""


def _stripped(cells: pl.Expr | pl.Series) -> Any:  # noqa: ANN401 - as it was given
    """Return cells without blanks around them, and without NumPy's ``array(…)`` around brackets."""
    return cells.str.strip_chars().str.replace(_ARRAY, "$1")


def _between(cells: pl.Expr, mark: str) -> pl.Expr:
    single_blanks = cells.str.replace_all(r" +", " ")
    items = single_blanks.str.split(mark)
    return items.list.eval(pl.element().str.strip_chars())


def _in_brackets(cells: pl.Expr) -> pl.Expr:
    item = pl.element()
    is_quoted = item.str.contains(r"""^['"]""")
    inside = item.str.slice(1, item.str.len_chars() - 2)
    unescaped = inside.str.replace_all(r"""\\(['"\\])""", "$1")
    bare = pl.when(is_quoted).then(unescaped).otherwise(item)
    items = cells.str.extract_all(_ITEM)
    return items.list.eval(bare)
