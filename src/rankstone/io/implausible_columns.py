"""Columns that cannot be what they are named: times named as grades, distances named as scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.errors import BadValue, printable
from rankstone.io.column_suggestions import is_distance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.io.input_table import Table

#: seconds since 1970 in the spring of 1973; larger numbers are no grades
_TIMES: Final = 1e8


def refuse_implausible(table: Table, columns: Mapping[str, str], ours: str) -> None:
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
