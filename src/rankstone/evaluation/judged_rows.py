"""Rows of judgments on their way to prepared judgments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankstone._basics import Ints, Locate
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.pair_index import QueryIndex


class JudgedRows(Record):
    """Rows of judgments, with what is to be known to prepare them.

    Attributes
    ----------
    frame
        ``query_id``, ``doc_id``, ``relevance``, and the further columns that measures read.
    queries
        The judged queries: those of the rows, and those declared without one.
    options
        The alignment options.
    locate
        Returns the place of a row for messages; -1 is the table as a whole.
    unanswerable
        Ids of queries that are declared unanswerable; ``None`` where there are none.
    share
        Which rows of side tables belong to these queries; ``None`` for all.
    one_group
        True if all lists are one, in which a document of two queries is two.
    """

    frame: pl.DataFrame
    queries: QueryIndex
    options: AlignmentOptions
    locate: Locate
    unanswerable: pl.Series | None = None
    share: pl.Expr | None = None
    one_group: bool = False

    def prepared_as(
        self,
        frame: pl.DataFrame,
        sources: Ints,
        prepare: Callable[[JudgedRows], Judgments],
    ) -> Judgments:
        """Prepare another frame, made of some of the rows, whose numbers the judgments keep.

        Parameters
        ----------
        frame
            The rows to prepare.
        sources
            int64 ``[frame]``: the row that each comes from.
        prepare
            Prepares them.
        """
        rows = replace(
            self, frame=frame, locate=lambda row: self.locate(int(sources[row]))
        )
        judgments = prepare(rows)
        return replace(judgments, row=sources[judgments.row], rows=self.frame.height)
