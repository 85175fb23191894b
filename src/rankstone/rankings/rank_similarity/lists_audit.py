"""The audit of two runs whose lists are compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from rankstone._basics import (
    InLines,
    counted,
    line,
    noted,
    queries,
    read_as,
    sentences,
    some,
    spread,
)
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Ints


@dataclass(frozen=True)
class RankingAudit:
    """The audit of one run.

    Attributes
    ----------
    source
        Its source.
    rows, queries, documents
        Rows read; lists; documents in them without duplicates and below the depth.
    tied, tied_queries
        Rows in tie blocks, and queries that have any.
    duplicates
        Rows with a duplicate document.
    comments
        Comment lines skipped.
    read_as
        What was guessed about the format of a file.
    shortest, median_length, longest
        Lengths of lists.
    """

    source: str
    rows: int
    queries: int
    documents: int
    tied: int = field(metadata={"says": "{tied:tied row} in {tied_queries:query}"})
    tied_queries: int
    duplicates: int = field(metadata={"says": "{duplicates:duplicate row}"})
    comments: int = field(metadata={"says": "{comments:comment line}"})
    shortest: int
    median_length: float
    longest: int
    read_as: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source: str,
        n: Ints,
        tally: Counter[str],
        comments: int,
        read_as: tuple[str, ...] = (),
    ) -> Self:
        """Return the audit from the lengths of lists and counts."""
        return cls(
            source=source,
            queries=len(n),
            documents=int(n.sum()),
            comments=comments,
            shortest=int(n.min()),
            median_length=float(np.median(n)),
            longest=int(n.max()),
            read_as=read_as,
            **tally,
        )

    def line(self) -> str:
        """Return the audit as one sentence."""
        lengths = spread(self.shortest, self.longest, "document", self.median_length)
        return line(
            f"{queries(self.queries)} × {lengths}",
            sentences(self),
            read_as(self.read_as),
        )


@dataclass(frozen=True, repr=False)
class ListsAudit(InLines):
    """The audit of both runs.

    Attributes
    ----------
    names
        The names of the runs.
    a, b
        The audits of either run.
    common_queries
        The number of common queries.
    only_a, only_b
        Queries of one run only.
    common_documents, documents_a, documents_b
        Documents in both lists, and in either, over the common queries.
    """

    names: tuple[str, str]
    a: RankingAudit
    b: RankingAudit
    common_queries: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    common_documents: int
    documents_a: int
    documents_b: int

    def lines(self) -> list[str]:
        """Return a line for each run and one for both."""
        names = [printable(name) for name in self.names]
        width = max(len(name) for name in (*names, "both"))
        alone = zip(names, (self.only_a, self.only_b), strict=True)
        shares = [
            f"{self.common_documents / whole:.1%} of {name}'s"
            for name, whole in zip(
                names, (self.documents_a, self.documents_b), strict=True
            )
        ]
        both = line(
            f"{queries(self.common_queries)} in common",
            (
                noted(
                    len(only),
                    "query",
                    f"only in {name} ({some(only)}), without a value",
                )
                for name, only in alone
            ),
            f"{counted(self.common_documents, 'document')} in common ({', '.join(shares)})",
        )
        return [
            f"{names[0]:<{width}}  {self.a.line()}",
            f"{names[1]:<{width}}  {self.b.line()}",
            f"{'both':<{width}}  {both}",
        ]


def total(parts: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sums of what is counted in parts."""
    counts = Counter[str]()
    for part in parts:
        counts.update(part)
    return counts
