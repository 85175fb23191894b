"""Measures of abstention: whether nothing is retrieved for queries without an answer, and only for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone.errors import BadOption
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.unanswerable_queries import Unanswerable, UnanswerableQueries
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import ANY_GAIN, Card
from rankstone.measures.core.measure import Contributions, Measure, Scored, Status

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits


_NEEDS: Final = (
    "queries declared unanswerable: answerable = false in the judgments or the query table, or "
    "empty=unanswerable"
)
_SENSITIVE: Final = (
    "the threshold: a system that always returns k documents abstains only below score_above or @score(…); "
    "a failed retrieval is no abstention"
)
_SYMBOLS: Final = "abstained: nothing is retrieved, or nothing above the threshold"


@dataclass(frozen=True, kw_only=True)
class AbstentionMeasure(Measure, family="abstention"):
    """A measure of queries that have no answer, or of lists that have no document."""

    requires = frozenset({AbstainedLists})
    needs_relevant = False
    zero_norm = Status.dropped
    claims = Claims(
        extremal_under_ties=False,
        promotion_helps=False,
        bounds_by="nothing",
        deeper_grades_matter=False,
    )

    def relevant_count(self, _hits: Hits) -> Ints | None:
        """Return ``None``: relevance plays no part."""
        return None

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse to leave out queries without a list: these are what is counted."""
        super().check_needs(options)
        if options.missing == "drop":
            raise BadOption(
                f"missing=drop leaves out the queries without a list, but {self} counts them",
                fix="use missing=zero, and missing=drop for other measures",
            )

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Score queries, of which those without a relevant document may be declared unanswerable."""
        if empty == "unanswerable":
            none = hits.relevant_count(ANY_GAIN) == 0
            known = hits.extras.get(UnanswerableQueries)
            if known is not None:
                none |= known.declared
            known = Unanswerable(declared=none)
            extras = {**hits.extras, UnanswerableQueries: known}
            hits = replace(hits, extras=extras, _memo={})
        if UnanswerableQueries not in hits.extras:
            raise BadOption(
                f"{self}: no query is declared unanswerable", expected=_NEEDS
            )
        # a query without a list is answered: by nothing
        return super().score(
            replace(hits, found=np.ones(hits.queries, bool), _memo={}), empty
        )

    def contributions(self, hits: Hits) -> Contributions:
        """Count one for a query, which has no document to attribute it to."""
        abstained = hits.added(AbstainedLists).among(hits.n)
        unanswerable = hits.added(UnanswerableQueries).declared
        counted, among = self.counted(abstained, unanswerable)
        return Contributions(
            np.zeros(len(hits.rank)),
            _numbers(among),
            unjudged=_numbers(counted & among),
        )

    def counted(self, abstained: Bools, unanswerable: Bools) -> tuple[Bools, Bools]:
        """Return which queries count one, and among which, bool ``[queries]`` each."""
        raise NotImplementedError


def _numbers(mask: Bools) -> Floats:
    return mask.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class FalseRetrieval(AbstentionMeasure):
    """False-retrieval rate: the share of unanswerable queries for which something is retrieved.

    >>> print(FalseRetrieval(), FalseRetrieval @ "score(0.5)")
    FalseRetrieval FalseRetrieval@score(0.5)
    """

    card = Card(
        sentence="For how many of the queries without an answer is something retrieved all the same?",
        formula="FalseRetrieval = unanswerable queries not abstained / unanswerable queries",
        symbols=_SYMBOLS,
        example="5 unanswerable queries, lists for 2 of them: 2/5",
        needs=_NEEDS,
        direction="lower",
        undefined="an answerable query: not counted",
        sensitive=_SENSITIVE,
        use="retrieval for answers: what is retrieved here can only mislead",
        citation="Rajpurkar, Jia and Liang, ACL 2018 (SQuAD 2.0), for unanswerable questions",
    )

    def counted(self, abstained: Bools, unanswerable: Bools) -> tuple[Bools, Bools]:
        """Return lists of unanswerable queries that have a document."""
        return ~abstained, unanswerable


@dataclass(frozen=True, kw_only=True)
class AbstentionR(AbstentionMeasure):
    """Recall of abstention: the share of unanswerable queries for which nothing is retrieved.

    >>> print(AbstentionR())
    AbstentionR
    """

    aliases = ("AbstentionRecall",)
    card = Card(
        sentence="For how many of the queries without an answer is nothing retrieved?",
        formula="AbstentionR = unanswerable queries abstained / unanswerable queries",
        symbols=_SYMBOLS,
        example="5 unanswerable queries, no list for 3 of them: 3/5",
        needs=_NEEDS,
        undefined="an answerable query: not counted",
        sensitive=_SENSITIVE,
        use="read it with AbstentionP: a system that never retrieves anything reaches 1",
        citation="Rajpurkar, Jia and Liang, ACL 2018 (SQuAD 2.0), for unanswerable questions",
    )

    def counted(self, abstained: Bools, unanswerable: Bools) -> tuple[Bools, Bools]:
        """Return empty lists of unanswerable queries."""
        return abstained, unanswerable


@dataclass(frozen=True, kw_only=True)
class AbstentionP(AbstentionMeasure):
    """Precision of abstention: the share of queries without a retrieved document that have no answer.

    >>> print(AbstentionP())
    AbstentionP
    """

    aliases = ("AbstentionPrecision",)
    card = Card(
        sentence="Of the queries for which nothing is retrieved, how many have no answer?",
        formula="AbstentionP = unanswerable queries abstained / queries abstained",
        symbols=_SYMBOLS,
        example="no list for 4 queries, 3 of them unanswerable: 3/4",
        needs=_NEEDS,
        undefined="a query with a retrieved document: not counted",
        sensitive=_SENSITIVE,
        use="read it with AbstentionR; what is lacking are questions that could have been answered",
        citation="Rajpurkar, Jia and Liang, ACL 2018 (SQuAD 2.0), for unanswerable questions",
    )

    def counted(self, abstained: Bools, unanswerable: Bools) -> tuple[Bools, Bools]:
        """Return unanswerable queries among those with an empty list."""
        return unanswerable, abstained
