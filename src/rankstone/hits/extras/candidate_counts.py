"""How many documents each query could have retrieved (``candidates=…``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from rankstone._basics import counted
from rankstone.errors import BadOption, printable
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import PerQuery

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Ints
    from rankstone.hits.extras.extra import Request
    from rankstone.hits.matched_batch import MatchedBatch


class Candidates(PerQuery):
    """The number of documents that each query could have retrieved, int64 ``[queries]``."""

    count: Ints


class CandidateCounts(Extra[Candidates]):
    """Adds the number of candidates, and refuses lists that are longer.

    Parameters
    ----------
    count
        How many documents any query could have retrieved.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    @classmethod
    def of(cls, request: Request) -> Iterable[Self]:
        """Return it where the number is known."""
        count = request.options.candidates
        return () if count is None else (cls(count),)

    def attach(self, work: MatchedBatch) -> Candidates:
        """Return the number for each list."""
        n = work.ranks.n
        if len(n) and int(n.max()) > self._count:
            query = printable(work.batch.names[int(n.argmax())])
            documents = counted(int(n.max()), "document")
            raise BadOption(
                f"candidates={self._count}, but query {query} retrieves {documents}",
                expected="the number of documents a query could have retrieved",
            )
        return Candidates(count=np.full(len(n), self._count))
