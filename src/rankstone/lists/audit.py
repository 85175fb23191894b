"""What comparing two runs came upon, in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankstone.errors import printable
from rankstone.words import InLines, counted, queries, read_as, spread, where_read_as

if TYPE_CHECKING:
    from rankstone.hits.arrays import Ints
    from rankstone.lists.pairing import Tally

__all__ = ["ListsAudit", "RankingAudit"]

#: ids shown in a line
_SHOWN = 3


@dataclass(frozen=True)
class RankingAudit:
    """What was found in one run.

    Attributes
    ----------
    source
        Where it came from.
    rows, queries, documents
        Rows read; lists; documents in them once duplicates are out and depth is cut.
    tied, tied_queries
        Rows in tie blocks, and queries that have any.
    duplicates
        Rows whose document stands in its list more than once.
    comments
        Comment lines passed over.
    read_as
        What was guessed of how a file is written.
    shortest, median_length, longest
        Spread of the list lengths.
    """

    source: str
    rows: int
    queries: int
    documents: int
    tied: int
    tied_queries: int
    duplicates: int
    comments: int
    shortest: int
    median_length: float
    longest: int
    read_as: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, n: Ints, tally: Tally, comments: int, read_as: tuple[str, ...] = ()) -> Self:
        """Make it of list lengths and counts."""
        return cls(
            source=source,
            rows=tally.rows,
            queries=len(n),
            documents=int(n.sum()),
            tied=tally.tied,
            tied_queries=tally.tied_queries,
            duplicates=tally.duplicates,
            comments=comments,
            shortest=int(n.min()),
            median_length=float(np.median(n)),
            longest=int(n.max()),
            read_as=read_as,
        )

    def line(self) -> str:
        """Return it as one sentence."""
        lengths = spread(self.shortest, self.longest, "document", self.median_length)
        parts = [f"{queries(self.queries)} × {lengths}"]
        if self.tied:
            parts.append(f"{counted(self.tied, 'tied row')} in {queries(self.tied_queries)}")
        if self.duplicates:
            parts.append(counted(self.duplicates, "duplicate row"))
        if self.comments:
            parts.append(counted(self.comments, "comment line"))
        parts += read_as(self.read_as)
        return " · ".join(parts)


@dataclass(frozen=True, repr=False)
class ListsAudit(InLines):
    """What was found in both runs.

    Attributes
    ----------
    names
        What the runs are called.
    a, b
        What was found in either.
    common_queries
        Queries that both answer.
    only_a, only_b
        Queries that only one of them answers.
    common_documents, documents_a, documents_b
        Documents in both lists, and in either, over the queries both answer.
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        plain = {**asdict(self), **{key: list(getattr(self, key)) for key in ("names", "only_a", "only_b")}}
        return plain | {side: where_read_as(plain[side]) for side in ("a", "b")}

    def lines(self) -> list[str]:
        """Return it as a sentence for each run and one for both."""
        names = [printable(name) for name in self.names]
        width = max(len(name) for name in (*names, "both"))
        both = [f"{queries(self.common_queries)} in common"]
        for name, only in zip(names, (self.only_a, self.only_b), strict=True):
            if only:
                shown = ", ".join(printable(query, 40) for query in only[:_SHOWN])
                more = " …" if len(only) > _SHOWN else ""
                both.append(f"{queries(len(only))} only in {name} ({shown}{more}), without a value")
        shares = [
            f"{self.common_documents / whole:.1%} of {name}'s"
            for name, whole in zip(names, (self.documents_a, self.documents_b), strict=True)
        ]
        both.append(f"{counted(self.common_documents, 'document')} in common ({', '.join(shares)})")
        return [
            f"{names[0]:<{width}}  {self.a.line()}",
            f"{names[1]:<{width}}  {self.b.line()}",
            f"{'both':<{width}}  {' · '.join(both)}",
        ]
