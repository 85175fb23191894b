"""Whether a relevant document was shown, beside whether the answer that was made of the list is right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import quoted, some
from rankstone.diagnostics.document_fates import SHOWN
from rankstone.errors import BadParameter, MissingColumn, NotComparable, printable
from rankstone.io import read_attributes
from rankstone.io.advice import escaped
from rankstone.io.exact_numbers import numbers_in
from rankstone.stats.proportions import wilson

if TYPE_CHECKING:
    from rankstone._basics import Columns
    from rankstone.io.attributes import Attributes

#: what names of columns of grades hold
_GRADES: Final = re.compile("grade|score|rating|label|correct|right|verdict")


def evidence_table(
    documents: pl.DataFrame,
    answers: object,
    columns: Columns | None,
    right_from: float | None,
    confidence: float,
) -> pl.DataFrame:
    """Return the 2×2 of evidence and answers: a row a cell, with shares of the queries that have both.

    Parameters
    ----------
    documents
        Relevant documents with their fates.
    answers, columns
        A table with ``query_id`` and ``correct``, as :func:`~rankstone.io.read_attributes` takes it.
    right_from
        The lowest grade of a right answer; ``None`` where grades are true or false, 1 or 0.
    confidence
        Of Wilson's intervals.

    Returns
    -------
    polars.DataFrame
        ``cell`` (``shown_right``: a relevant document is shown and the answer is right; ``absent_wrong`` …),
        ``queries``, ``share``, ``low``, ``high``.
    """
    table = read_attributes(answers, "query_id", columns)
    if "correct" not in table.columns:
        raise _without_grades(table)
    frame = table.collect("correct")
    texts = frame["correct"].cast(pl.String).str.to_lowercase()
    grades = numbers_in(texts.replace({"true": "1", "false": "0"}), table.locate)
    if right_from is None and not grades.drop_nulls().is_in([0.0, 1.0]).all():
        highest = grades.cast(pl.Float64).to_numpy().max()
        raise BadParameter(
            "answers have other grades than 1 and 0: from which on is one right?",
            where=table.source,
            given=f"grades up to {highest:g}",
            fix=f"such as --right-from {highest:g} (in Python right_from={highest:g})",
        )
    lowest = 1.0
    if right_from is not None:
        lowest = right_from
    right = (grades >= lowest).alias("right")
    graded = frame.with_columns(right).drop_nulls("right")

    is_shown = pl.col("fate").is_in(SHOWN).any()
    by_query = documents.group_by("query_id").agg(shown=is_shown)
    both = by_query.join(graded, on="query_id")
    if not both.height:
        raise NotComparable(
            "no query with a relevant document has a graded answer",
            where=table.source,
            given=f"query {printable(frame['query_id'][0], 40)}",
            expected=f"ids such as {printable(documents['query_id'][0], 40)}",
        )
    names = ["shown_right", "shown_wrong", "absent_right", "absent_wrong"]
    is_absent = ~both["shown"].to_numpy()
    is_wrong = ~both["right"].to_numpy()
    counts = np.bincount(2 * is_absent + is_wrong, minlength=len(names))
    low, high = wilson(counts, both.height, confidence)
    return pl.DataFrame(
        {
            "cell": names,
            "queries": counts,
            "share": counts / both.height,
            "low": low,
            "high": high,
        }
    )


def _without_grades(table: Attributes) -> MissingColumn:
    """Return the error for answers without a column of grades, with the only column that may hold them."""
    likely = [name for name in table.columns if _GRADES.search(name.lower())]
    theirs = likely[0] if len(likely) == 1 else "THEIRS"
    names = quoted(f"{escaped(theirs)}=correct")
    return MissingColumn(
        "there is no column correct",
        where=table.source,
        given=f"columns {some(table.columns, 12)}",
        expected="correct: true or false, 1 or 0, or a grade of the answer",
        fix=f"name the column of the grades: --columns {names} "
        f"(in Python columns={{{theirs!r}: 'correct'}})",
    )
