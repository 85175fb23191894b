"""Ids of two tables, brought to one kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import MixedIds

if TYPE_CHECKING:
    from rankstone.io.table import Table

__all__ = ["ids_of_two_kinds"]


def ids_of_two_kinds(first: Table, second: Table, expected: str) -> tuple[str, ...]:
    """Return the id columns to be written as texts, so that two tables speak of the same things.

    Numbers written in a text file are texts; against whole numbers they are compared as decimal text.
    Anything else of two kinds is an error.

    Parameters
    ----------
    first, second
        The tables.
    expected
        What was expected instead, for the message.

    Raises
    ------
    MixedIds
        When one table has texts for ids and the other whole numbers.
    """
    differ = tuple(c for c in ("query_id", "doc_id") if first.schema[c] != second.schema[c])
    if differ and not (first.untyped or second.untyped):
        raise MixedIds(
            f"{differ[0]} is of two kinds",
            given=f"{_shown(first, differ[0])}; {_shown(second, differ[0])}",
            expected=expected,
            fix="convert one of them: cast to str, or to int",
        )
    return differ


def _shown(table: Table, column: str) -> str:
    """Return the kind of a table's ids, with an example."""
    piece = next(iter(table.tables([pl.col(column)])), None)
    example = "" if piece is None or piece.is_empty() else f", such as {piece.item(0, 0)!r}"
    return f"{table.source}: {table.schema[column]}{example}"
