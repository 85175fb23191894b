"""Queries that judgments or the query table declare to have no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadValue, printable
from rankstone.evaluation.side_inputs.side_input import SideInput
from rankstone.hits.extras.unanswerable_queries import UnanswerableQueries
from rankstone.measures.core.definition import ANY_GAIN

if TYPE_CHECKING:
    from rankstone.evaluation.judged_rows import JudgedRows
    from rankstone.evaluation.side_inputs.side_input import Preparation
    from rankstone.hits.judgments import Judgments


class UnanswerableIds(SideInput):
    """Adds to judgments which queries are unanswerable."""

    def prepare(self, rows: JudgedRows, rest: Preparation) -> Judgments:
        """Refuse unanswerable queries with a relevant document; ids that are not judged are ignored."""
        judgments = rest(rows)
        names = judgments.queries.names
        ids = pl.Series(rows.unanswerable)
        codes = judgments.queries.codes(ids.cast(names.dtype, strict=False))
        codes = codes[codes >= 0]
        declared = np.zeros(len(names), bool)
        declared[codes] = True

        wrong = declared & (judgments.ideal.relevant_count(ANY_GAIN) > 0)
        if wrong.any():
            query = printable(names[int(wrong.argmax())])
            raise BadValue(
                f"query {query} is declared unanswerable, but has a relevant document",
                where=rows.locate(-1),
                expected="answerable = false only for queries without a relevant document",
            )
        return judgments.with_extras(UnanswerableQueries(declared))
