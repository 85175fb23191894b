"""How many documents each query could have retrieved (``candidates=…``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankstone._basics import counted
from rankstone.errors import BadOption, printable
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import QueryArrays

if TYPE_CHECKING:
    from rankstone._basics import Ints
    from rankstone.hits.matched_batch import MatchedBatch


class NumbersOfCandidates(QueryArrays):
    """The number of documents that each query could have retrieved, int64 ``[queries]``."""

    count: Ints


class CandidateCounts(Extra[NumbersOfCandidates]):
    """Adds the number of candidates, and refuses lists that are longer."""

    def attach(self, work: MatchedBatch) -> NumbersOfCandidates:
        """Return the number for each list."""
        n = work.ranks.n
        count = work.options.candidates
        longest = int(n.max(initial=0))
        if count is not None and longest > count:
            query = printable(work.batch.names[int(n.argmax())])
            raise BadOption(
                f"candidates={count}, but query {query} retrieves {counted(longest, 'document')}",
                expected="the number of documents a query could have retrieved",
            )
        return NumbersOfCandidates(count=np.full(len(n), count))
