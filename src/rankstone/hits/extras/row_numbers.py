"""Row numbers of hits: where each is in the run, and where in the judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import Arrays

if TYPE_CHECKING:
    from rankstone._basics import Ints
    from rankstone.hits.matched_batch import MatchedBatch


class RowsOfHits(Arrays):
    """The rows behind each hit.

    Attributes
    ----------
    run, judgment
        int64 ``[hits]``: the row of the run, and that of the judgments, -1 where the grade was imputed.
    """

    run: Ints
    judgment: Ints


class RowNumbers(Extra[RowsOfHits]):
    """Adds the rows behind hits."""

    def attach(self, work: MatchedBatch) -> RowsOfHits:
        """Return the rows of the run and of the judgments."""
        return RowsOfHits(
            run=work.batch.table_rows(work.hit_rows),
            judgment=work.judgments.rows_of(work.batch, work.hit_pairs),
        )
