"""How many sources a list draws on, and how much of it one source takes: crowding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstone.errors import BadOption, BadParameter
from rankstone.hits.extras.list_sources import NUMBER, ListSources
from rankstone.hits.list_arrays import ragged_range
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, parameter
from rankstone.measures.core.measure import Contributions, Measure, Status

if TYPE_CHECKING:
    from rankstone._basics import Ints
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits

_CLAIMS = Claims(
    closed_under_ties=False,
    extremal_under_ties=False,
    promotion_helps=False,
    bounds_by="nothing",
    deeper_grades_matter=False,
)
_NEEDS = (
    "a table of documents (documents=…, --documents FILE) with a column of sources, for "
    "each retrieved document"
)
_USE = "shops, news and answers from several documents; beside a measure of relevance, which it does not replace"


@dataclass(frozen=True, kw_only=True)
class CrowdingMeasure(Measure, family="crowding"):
    """A measure of the sources of the first k documents, judged or not."""

    requires = frozenset({ListSources})
    needs_relevant = False
    claims = _CLAIMS

    column: str = parameter(
        "source", "the column of the documents: source, site, author, brand", word=True
    )

    def __post_init__(self) -> None:
        """Refuse a budget that passes over documents: what crowds is the beginning of a list."""
        super().__post_init__()
        if self.budget is not None and self.budget.crossing == "skip":
            raise BadParameter(
                f"{self}: sources are those of the first documents",
                expected="crossing=drop, include",
            )

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse to leave out unjudged documents: they are shown, too."""
        super().check_needs(options)
        if str(options.unjudged).startswith("condensed"):
            raise BadOption(
                f"unjudged={options.unjudged} leaves out documents, but {self} counts all that are shown",
                fix="use unjudged=nonrelevant, and condensed lists for other measures",
            )

    def relevant_count(self, _hits: Hits) -> Ints | None:
        """Return ``None``: relevance plays no part."""
        return None

    def _sizes(self, hits: Hits) -> tuple[Ints, Ints, Ints]:
        """Return how many documents each list shows, and the query and size of each of its sources."""
        listed = hits.added(ListSources)
        shown = np.minimum(np.diff(listed.offsets), hits.n)
        if self.k is not None:
            shown = np.minimum(shown, self.k)

        rows = ragged_range(listed.offsets[:-1], shown)
        source = listed.values[NUMBER.format(self.column)][rows]
        query = np.repeat(np.arange(hits.queries), shown)
        order = np.lexsort((source, query))
        source = source[order]
        query = query[order]

        is_first = np.ones(len(rows), bool)
        is_first[1:] = (source[1:] != source[:-1]) | (query[1:] != query[:-1])
        firsts = np.flatnonzero(is_first)
        sizes = np.diff(firsts, append=len(rows))
        return shown, query[firsts], sizes


@dataclass(frozen=True, kw_only=True)
class Sources(CrowdingMeasure, family="crowding"):
    """How many sources are among the first k documents.

    >>> print(Sources(k=10), Sources(column="brand", k=5))
    Sources@10 Sources(column=brand)@5
    """

    examples = ("Sources@10", "Sources(column=source)@3")
    card = Card(
        sentence="How many different sources are among the first k documents?",
        formula="Sources@k = |{s_r : r ≤ k}|",
        symbols="s_r: source of the document at rank r, from the table of documents",
        example="documents of the sites a, a, b, a: Sources@2 = 1, Sources@4 = 2",
        needs=_NEEDS,
        span=(0.0, None),
        direction="higher",
        undefined="never: a query that the run does not answer has 0",
        sensitive="documents that are not relevant count as well; short lists have few sources",
        use=_USE,
        scale="a step is a source",
        citation="Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008, for "
        "why the same again is worth less",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Count the sources of all documents shown, which may be unjudged."""
        _, query, _ = self._sizes(hits)
        sources = np.bincount(query, minlength=hits.queries).astype(np.float64)
        nothing = np.zeros(len(hits.rank))
        return Contributions(nothing, np.ones(hits.queries), unjudged=sources)


@dataclass(frozen=True, kw_only=True)
class SourceShare(CrowdingMeasure, family="crowding"):
    """The share of the first k documents that the largest source has.

    >>> print(SourceShare(k=10), SourceShare(column="brand", k=5))
    SourceShare@10 SourceShare(column=brand)@5
    """

    zero_norm = Status.undefined
    examples = ("SourceShare@10", "SourceShare(column=source)@3")
    card = Card(
        sentence="How much of the first k documents does one source take?",
        formula="SourceShare@k = max_s |{r ≤ k : s_r = s}| / min(k, n)",
        symbols="s_r: source of the document at rank r, from the table of documents; n: documents in the list",
        example="documents of the sites a, a, b, a: SourceShare@2 = 1, SourceShare@4 = 3/4",
        needs=_NEEDS,
        span=(0.0, 1.0),
        direction="lower",
        undefined="nothing is shown: no value",
        sensitive="short lists: a list of one document is of one source",
        use=_USE,
        scale="a share of the documents shown",
        citation="Berger and Parker, Diversity of planktonic foraminifera in deep-sea sediments, Science 168, "
        "1970, of species; a source takes their place here",
    )

    def contributions(self, hits: Hits) -> Contributions:
        """Divide the size of the largest source by the documents shown, which may be unjudged."""
        shown, query, sizes = self._sizes(hits)
        largest = np.zeros(hits.queries)
        np.maximum.at(largest, query, sizes.astype(np.float64))
        nothing = np.zeros(len(hits.rank))
        return Contributions(nothing, shown.astype(np.float64), unjudged=largest)
