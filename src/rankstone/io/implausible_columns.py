"""Judgments whose numbers are no grades, or that have none; distances that are named scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import counted
from rankstone.errors import BadValue, printable
from rankstone.io.column_suggestions import is_distance

if TYPE_CHECKING:
    from rankstone._basics import Columns
    from rankstone.io.input_table import Table

#: seconds since 1970 in the spring of 1973; larger numbers are no grades
_TIMES: Final = 1e8


def rated(table: Table) -> Table:
    """Return the ratings of Quepid without rows that are not rated yet, or have no document."""
    left_out = 0

    def kept(piece: pl.DataFrame) -> pl.DataFrame:
        nonlocal left_out
        is_rated = pl.col("relevance").fill_nan(None).is_not_null()
        ratings = piece.filter(is_rated & pl.col("doc_id").is_not_null())
        left_out += piece.height - ratings.height
        return ratings

    def read_as() -> tuple[str, ...]:
        notes = table.read_as()
        if left_out:
            return (*notes, f"{counted(left_out, 'unrated row')} skipped")
        return notes

    return table.mapped(kept, read_as=read_as)


def refuse_implausible(table: Table, columns: Columns, ours: str) -> None:
    """Refuse times that were named relevance, and distances that were named score.

    Parameters
    ----------
    table
        The judgments or the run.
    columns
        {their name: our name}.
    ours
        ``relevance`` or ``score``.

    Raises
    ------
    BadValue
        With their name, and what they are.
    """
    theirs = next((name for name, known in columns.items() if known == ours), None)
    if theirs is None or ours not in table.schema:
        return
    head = next(table.tables([pl.col(ours)]), pl.DataFrame({ours: []}))
    numbers = head[ours].drop_nulls().drop_nans()
    if numbers.is_empty():
        return
    name = printable(theirs, 40)
    if ours == "relevance" and (numbers >= _TIMES).all() and numbers.is_unique().all():
        raise BadValue(
            f"{name} holds times, which are no grades",
            where=table.source,
            expected="grades; where all rows are relevant documents, a column with 1 in every row",
        )
    if ours == "score" and (numbers >= 0).all() and is_distance(theirs):
        raise BadValue(
            f"{name} is smallest for the best documents, so it is no score",
            where=table.source,
            expected=f"a score that is larger for better documents, or {name}=rank",
        )
