"""The column of judgments that marks forbidden documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import first_true
from rankstone.errors import BadValue, printable
from rankstone.evaluation.side_inputs.side_input import SideInput

if TYPE_CHECKING:
    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.evaluation.side_inputs.side_input import Preparation, SideRequest
    from rankstone.hits.judgments import Judgments

#: what a mark may be, as text
_MARKS: Final = {
    "true": 1.0,
    "1": 1.0,
    "1.0": 1.0,
    "false": 0.0,
    "0": 0.0,
    "0.0": 0.0,
    "": 0.0,
}
_PAIR: Final = ("query_id", "doc_id")


class ForbiddenMarks(SideInput):
    """Turns marks into numbers, and empty grades of forbidden documents into 0."""

    @classmethod
    def of(cls, request: SideRequest) -> ForbiddenMarks:  # noqa: ARG003 - the interface
        """Return it."""
        return cls()

    def prepare(self, rows: JudgedRows, rest: Preparation) -> Judgments:
        """Refuse what is no mark, and forbidden documents with a grade other than 0."""
        frame = rows.frame
        texts = frame["forbidden"].cast(pl.String).fill_null("").str.to_lowercase()
        marks = texts.replace_strict(_MARKS, default=None, return_dtype=pl.Float64)
        if marks.null_count():
            row = first_true(marks.is_null())
            raise BadValue(
                f"forbidden is {printable(texts[row])}",
                where=rows.locate(row),
                expected="true for a document that must not be shown, false or nothing for others",
            )

        # one row may mark a document, and another one grade it
        marked = frame.with_columns(forbidden=marks).with_columns(
            pl.col("forbidden").max().over(_PAIR)
        )
        is_forbidden = marked["forbidden"] > 0
        grade = frame["relevance"].fill_nan(None)
        bad = is_forbidden & (grade.fill_null(0.0) != 0)
        if bad.any():
            row = first_true(bad)
            query, document = frame.select(_PAIR).row(row)
            raise BadValue(
                f"document {printable(document)} is forbidden for query {printable(query)} and has grade "
                f"{grade[row]:g}",
                where=rows.locate(row),
                expected="grade 0, or none, for what must not be shown",
                fix="take the mark away, or write grade 0",
            )
        graded = (
            pl.when(is_forbidden)
            .then(grade.fill_null(0.0))
            .otherwise(frame["relevance"])
        )
        return rest(replace(rows, frame=marked.with_columns(relevance=graded)))
