"""Texts that spreadsheets take for formulas, in CSV that somebody opens with one.

An id or a name such as ``=HYPERLINK(…)`` is data here and is computed there.  Nobody else minds it, so texts
are written as they are unless somebody says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMULAS", "escaped", "without_formulas"]

#: what becomes of such texts: written as they are, or with an apostrophe before them
FORMULAS: Final = ("keep", "escape")
_BEGINNING: Final = r"^[=+\-@\t\r]"


def escaped(cell: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Return a cell; before a text that a spreadsheet would compute stands an apostrophe.

    >>> escaped("=1+1"), escaped("bm25"), escaped(-0.5)
    ("'=1+1", 'bm25', -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and re.match(_BEGINNING, cell) else cell


def without_formulas(rows: pl.LazyFrame, formulas: str) -> pl.LazyFrame:
    """Return rows as ``formulas`` says: ``keep`` as they are, ``escape`` with texts escaped, headers too.

    >>> rows = pl.LazyFrame({"run": ["@sum", "bm25"], "value": [-1.0, 1.0]})
    >>> without_formulas(rows, "escape").collect().rows()
    [("'@sum", -1.0), ('bm25', 1.0)]
    """
    one_of("formulas", formulas, FORMULAS)
    if formulas == "keep":
        return rows
    schema: Mapping[str, pl.DataType] = rows.collect_schema()
    texts = {name: pl.col(name).cast(pl.String) for name, kind in schema.items() if _is_text(kind)}
    apostrophe = pl.lit("'")
    told = {
        name: pl.when(text.str.contains(_BEGINNING)).then(apostrophe + text).otherwise(text)
        for name, text in texts.items()
    }
    return rows.with_columns(**told).rename(escaped)


def _is_text(kind: pl.DataType) -> bool:
    return isinstance(kind, (pl.String, pl.Categorical, pl.Enum))
