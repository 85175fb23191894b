"""Documents that must not be shown: whether, or how many of them, are retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.hits.extras.forbidden_documents import ForbiddenDocuments
from rankstone.hits.extras.pool_members import PoolMembers
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Measure, Status

if TYPE_CHECKING:
    from rankstone._basics import Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.definition import Span


@dataclass(frozen=True, kw_only=True)
class Forbidden(Measure, family="forbidden"):
    """Forbidden documents: whether one of them is among the first k, or how many are.

    >>> print(Forbidden(k=5), Forbidden(what="number") @ "tokens(2000)")
    Forbidden@5 Forbidden(what=number)@tokens(2000)
    """

    requires = frozenset({ForbiddenDocuments, PoolMembers})
    judgment_columns = ("forbidden",)
    needs_relevant = False
    zero_norm = Status.dropped
    examples = ("Forbidden@10", "Forbidden(what=number)@10")
    claims = Claims(
        extremal_under_ties=False,
        promotion_helps=False,
        grows_with_k=True,
        bounds_by="nothing",
        deeper_grades_matter=False,
    )
    card = Card(
        sentence="Is something retrieved that must not be shown?",
        formula="Forbidden@k = 1 if f_k ≥ 1, else 0; with what=number: f_k",
        symbols="f_k: forbidden documents at ranks 1 … k",
        example="forbidden documents at ranks 2 and 5: Forbidden@1 = 0, Forbidden@5 = 1, "
        "Forbidden(what=number)@5 = 2",
        needs="judgments with a column forbidden, true for documents that must not be shown for a query; their "
        "grade is 0, or empty",
        span=(0.0, None),
        direction="lower",
        undefined="nothing is forbidden for the query: not counted",
        sensitive="ties at the cutoff; what is not marked is not counted, so 0 proves nothing about other documents",
        use="documents of another tenant, retracted or outdated ones, spoilers; in a gate with ceiling = 0.0",
        scale="yes or no; with what=number a step is a document",
        citation="Ribeiro et al., Beyond accuracy: behavioral testing with CheckList, ACL 2020, for tests that "
        "must never fail",
    )

    what: str = parameter(
        "any", "whether there is any, or how many there are", "any", "number"
    )

    @property
    def span(self) -> Span:
        """Lowest and highest value: 1 at most, unless documents are counted."""
        return (0.0, 1.0) if self.what == "any" else (0.0, None)

    def relevant_count(self, _hits: Hits) -> Ints | None:
        """Return ``None``: relevance plays no part."""
        return None

    def contributions(self, hits: Hits) -> Contributions:
        """Give forbidden hits, or the first of them, 1; the norm is 0 where nothing is forbidden."""
        members = hits.added(PoolMembers)
        forbidden = members.column("forbidden", imputed=0.0) > 0
        shown = np.where(forbidden, hits.above_cutoff(self.k), 0.0)
        if self.what == "any":
            shown = hits.first_of(forbidden, lambda rank: np.ones(len(rank)), self.k)
        pool = members.pool
        marked = pool.query[pool.columns["forbidden"] > 0]
        several = np.bincount(marked, minlength=hits.queries)
        return Contributions(shown, np.minimum(several, 1.0))
