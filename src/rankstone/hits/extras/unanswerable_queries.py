"""Queries that are declared to have no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone._basics import Record
from rankstone.hits.extras.abstained_lists import abstained
from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import QueryArrays

if TYPE_CHECKING:
    from rankstone._basics import Bools, Ints, NamedValues
    from rankstone.hits.extras.extra_values import Key
    from rankstone.hits.hits import Hits
    from rankstone.hits.matched_batch import MatchedBatch


class Unanswerable(QueryArrays):
    """True for queries declared to have no answer, bool ``[queries]``."""

    declared: Bools

    def not_counted(self, kinds: frozenset[type[Key[Any]]]) -> Bools | None:
        """Return these queries, unless a measure is about them."""
        about_them = any(kind.counts_unanswerable for kind in kinds)
        return None if about_them else self.declared


class UnanswerableQueries(Record, Extra[Unanswerable]):
    """Leaves queries without an answer to measures of abstention, and counts lists for them.

    Attributes
    ----------
    declared
        bool ``[judged queries]``: the queries declared to have no answer; ``None`` where only the option
        ``empty`` says which these are.
    """

    declared: Bools | None = None

    turn = 8

    def judgment_counts(self) -> dict[str, int]:
        """Return how many queries are declared to have no answer."""
        return {
            "unanswerable": 0 if self.declared is None else int(self.declared.sum())
        }

    def need_no_list(self) -> Bools | None:
        """Return the queries that are declared to have no answer."""
        return self.declared

    def attach(self, work: MatchedBatch) -> Unanswerable | None:
        """Return which lists are for queries without an answer; those without judgments are not."""
        return self._among(work.batch.codes)

    def _among(self, codes: Ints) -> Unanswerable | None:
        if self.declared is None:
            return None
        return Unanswerable(declared=(codes >= 0) & self.declared[codes])

    def count(self, work: MatchedBatch, hits: Hits) -> NamedValues:
        """Return the counts of lists for queries that have no answer, and of those with a document."""
        codes = work.batch.codes
        among = self._among(codes)
        if work.options.empty == "unanswerable":
            among = Unanswerable(
                declared=(hits.ideal.count(hits.ideal.grade > 0) == 0) & (codes >= 0)
            )
        if among is None:
            return {}
        false = among.declared & ~abstained(work)
        return {
            "unanswerable": int(among.declared.sum()),
            "false_retrievals": int(false.sum()),
        }
