"""Footnotes of an explanation: the rules that decided something in one list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import exact
from rankstone.errors import printable
from rankstone.measures.core.measure import Status
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.explanation.traced_list import TracedList
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.budgets import Budget

#: the most tie blocks that are listed
_BLOCKS: Final = 3


@dataclass(frozen=True)
class Footnote:
    """A rule that decided something, and its numbers."""

    code: str
    about: Mapping[str, Any] = field(default_factory=dict)

    def text(self, lang: str = "en") -> str:
        """Return it as a sentence."""
        return phrase("footnotes", self.code, lang, **self.about)


def footnotes(
    listed: TracedList,
    options: AlignmentOptions,
    *,
    k: int | None,
    budget: Budget | None,
    absent: str,
    empty: str,
    failed: str | None,
    pooled: bool,
) -> Iterator[Footnote]:
    """Yield the rules that decided something.

    Parameters
    ----------
    listed
        The list as the measure scored it.
    options
        The options of alignment.
    k, budget
        The cutoff.
    absent
        The rule for a query without a list, as ``option=word``; empty where there is a list.
    empty
        The rule for a query without a relevant document: a library's own, where its measure has one.
    failed
        Why retrieval failed, where it did.
    pooled
        True if the mean is a ratio of sums over queries.
    """
    settings = options.recorded()
    scored = listed.scored
    tally = listed.scored.chunk.tally
    if absent:
        yield from _of_no_list(absent, failed)
    elif k is not None and listed.retrieved < k:
        yield Footnote("short", {"n": listed.retrieved, "k": k})
    if budget is not None and not absent:
        k = int(listed.whole.extras[budget].n[scored.place])
        yield Footnote(
            "budget", {"kept": k, "n": listed.retrieved, "budget": str(budget)}
        )
    if scored.status not in (Status.ok, Status.missing):
        yield Footnote(scored.status.name, {**settings, "empty": empty})
    shown = [row for row in listed.rows if k is None or row.first <= k]
    blocks = list(
        dict.fromkeys((row.first, row.last) for row in shown if row.last > row.first)
    )
    where = ", ".join(f"{first}–{last}" for first, last in blocks[:_BLOCKS])
    counts = {
        "ties": sum(row.last > row.first for row in shown),
        "unjudged": sum(not row.judged and row.relevance is None for row in shown),
        "imputed": sum(not row.judged and row.relevance is not None for row in shown),
        "negative": listed.negative,
        "duplicates": 0 if tally is None else tally.duplicates,
    }
    copies = listed.copies()
    counts["duplicates"] = 0 if copies else counts["duplicates"]
    yield from _of_copies(copies)
    about = {
        **settings,
        "shown": len(shown),
        "where": where + (" …" if len(blocks) > _BLOCKS else ""),
    }
    for code, count in counts.items():
        if count:
            yield Footnote(code, {**about, "count": count})
    if pooled:
        sums = {
            "numerator": exact(scored.numerator),
            "denominator": exact(scored.denominator),
        }
        yield Footnote("pooled", sums)
    if options.pool == "list":
        yield Footnote("pool")
    if (
        scored.status in (Status.ok, Status.lower_bound)
        and scored.value != scored.ratio
    ):
        yield Footnote("link")


def _of_no_list(absent: str, failed: str | None) -> Iterator[Footnote]:
    """Yield why there is no list, and what follows."""
    if failed is not None:
        yield Footnote("failed", {"error": printable(failed, 200)})
    yield Footnote("missing", {"missing": absent})


def _of_copies(copies: Sequence[tuple[str, int, bool]]) -> Iterator[Footnote]:
    """Yield which rows count as a document above."""
    for copy, rank, again in copies[:_BLOCKS]:
        yield Footnote(
            "again" if again else "copy", {"copy": printable(copy, 40), "rank": rank}
        )
    if len(copies) > _BLOCKS:
        yield Footnote("copies", {"count": len(copies) - _BLOCKS})
