"""The one check of a run's rows, where they enter alignment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadValue, printable
from rankstone.hits.options import LARGEST_GRADE

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankstone.hits.cutting import Piece
    from rankstone.hits.options import Alignment

__all__ = ["RowCheck", "bad_grade"]


def bad_grade(what: str, grade: float, where: str, given: str) -> BadValue:
    """Build the error for a grade that is no number, or far beyond all scales."""
    if np.isfinite(grade):
        return BadValue(
            f"{what} is {grade:g}, beyond {LARGEST_GRADE:,.0f}",
            where=where,
            given=given,
            expected="a grade: larger whole numbers are not told from one another",
            fix="are these ids, or scores, in the wrong column?",
        )
    return BadValue(
        f"{what} is {grade}, not a number",
        where=where,
        given=given,
        expected="a finite number",
        fix="repair or remove the row; an unjudged document simply has no row",
    )


@dataclass(frozen=True, eq=False)
class RowCheck:
    """Refuses rows without an id, or whose score, rank or label is missing or not a number.

    Parameters
    ----------
    options
        ``order`` names the number in messages; ``negative`` is applied to labels.
    locate
        Says where a row of the stream stands.
    """

    options: Alignment
    locate: Callable[[int], str]

    def __call__(self, piece: Piece) -> Piece:
        """Return the piece, checked; NaN marks labels that count as unjudged."""
        table = piece.table
        for column in ("query_id", "doc_id"):
            if column in table.columns and table[column].null_count():
                at = table[column].is_null().arg_max() or 0
                raise BadValue(
                    f"a row without {column}",
                    where=self.locate(piece.row(at)),
                    expected="an id",
                    fix="repair or remove the row",
                )
        for column, name in (("key", self.options.order), ("label", "relevance")):
            if column in table.columns:
                bad = np.isnan(table[column].to_numpy())
                if bad.any():
                    raise self._no_number(piece, column, name, int(bad.argmax()))
        if "label" in table.columns:
            self._check_labels(piece)
            return self._settled(piece)
        return piece

    def _check_labels(self, piece: Piece) -> None:
        label = piece.table["label"].to_numpy()
        large = np.abs(label) > LARGEST_GRADE
        if large.any():
            at = int(large.argmax())
            raise bad_grade("a label", label[at], self.locate(piece.row(at)), _row(piece.table, at))

    def _no_number(self, piece: Piece, column: str, name: str, at: int) -> BadValue:
        table: pl.DataFrame = piece.table
        return BadValue(
            f"the {name} is {'missing' if table[column][at] is None else 'NaN'}",
            where=self.locate(piece.row(at)),
            given=_row(table, at),
            expected="a number",
            fix="repair the row or leave it out",
        )

    def _settled(self, piece: Piece) -> Piece:
        """Apply ``negative`` to the labels."""
        label = piece.table["label"].to_numpy()
        below = label < 0
        if not below.any() or self.options.negative == "keep":
            return piece
        if self.options.negative == "error":
            raise BadValue(
                "a label below zero",
                where=self.locate(piece.row(int(below.argmax()))),
                fix="choose a meaning: negative=unjudged, zero or keep",
            )
        meant = 0.0 if self.options.negative == "zero" else float("nan")
        return replace(piece, table=piece.table.with_columns(label=np.where(below, meant, label)))


def _row(table: pl.DataFrame, at: int) -> str:
    doc = f", document {printable(table['doc_id'][at])}" if "doc_id" in table.columns else ""
    return f"query {printable(table['query_id'][at])}{doc}"
