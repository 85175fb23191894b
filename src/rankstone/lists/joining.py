"""From chunks of couples to values of all queries, in the order of the runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.lists.audit import ListsAudit, RankingAudit
from rankstone.lists.base import Agreement, ListMeasure, Outcome
from rankstone.lists.pairing import Tally

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Ints
    from rankstone.io import Table
    from rankstone.lists.pairing import Chunk, Held

__all__ = ["Joined", "Part", "measured"]

#: rows measured together: they fit a processor's cache
_ROWS: Final = 1 << 15


@dataclass(frozen=True, eq=False)
class Part:
    """What was found in a chunk, whose lists are let go.

    Attributes
    ----------
    codes, others, others_heads, others_n, n, tally
        As in :class:`~rankstone.lists.pairing.Chunk`.
    found
        Values, one entry a measure.
    documents
        Documents in the lists of queries that both runs answer: of either run, and in both.
    """

    codes: Ints
    others: pl.Series
    others_heads: Ints
    others_n: Ints
    n: Ints
    tally: Tally
    found: list[Agreement]
    documents: tuple[int, int, int]


def measured(chunk: Chunk, measures: tuple[ListMeasure, ...]) -> Part:
    """Measure the couples of a chunk."""
    couple = chunk.couple
    pieces = [[measure.compare(piece) for measure in measures] for piece in couple.parts(_ROWS)]
    return Part(
        codes=chunk.codes,
        others=chunk.others,
        others_heads=chunk.others_heads,
        others_n=chunk.others_n,
        n=chunk.n,
        tally=chunk.tally,
        found=[Agreement.joined(of_measure) for of_measure in zip(*pieces, strict=True)],
        documents=(len(couple.a.first), len(couple.b.first), int(couple.n_common.sum())),
    )


class Joined:
    """All parts: queries in the order of the first run, then those that only the second answers.

    Parameters
    ----------
    held
        The first run.
    parts
        What was found in the second.
    only_a
        bool ``[queries of the first run]``: those that the second does not answer.
    """

    def __init__(self, held: Held, parts: list[Part], only_a: Bools) -> None:
        self._held, self._parts = held, parts
        self._codes = np.concatenate([part.codes for part in parts])
        self._only_a = np.flatnonzero(only_a)
        self._others = pl.concat([part.others for part in parts])
        self._others_n = np.concatenate([part.others_n for part in parts])
        heads = np.concatenate([part.others_heads for part in parts])
        self._order = np.concatenate((np.argsort(held.heads), len(held.names) + np.argsort(heads)))

    @property
    def queries(self) -> pl.Series:
        """All query ids."""
        return pl.concat([self._held.names, self._others]).gather(self._order)

    def agreement(self, at: int, measure: ListMeasure) -> Agreement:
        """Return the values of one measure for all queries."""
        count = len(self._held.names)
        deepest = np.iinfo(np.int64).max if measure.k is None else measure.k

        def column(name: str, only_a: Any, only_b: Any) -> Any:  # noqa: ANN401 - arrays or numbers
            found = np.concatenate([getattr(part.found[at], name) for part in self._parts])
            whole = np.empty(len(self._order), found.dtype)
            whole[self._codes] = found
            whole[self._only_a] = only_a
            whole[count:] = only_b
            return whole[self._order]

        return Agreement(
            value=column("value", np.nan, np.nan),
            status=column("status", Outcome.only_a, Outcome.only_b),
            n_a=column("n_a", np.minimum(self._held.ranked.n[self._only_a], deepest), 0),
            n_b=column("n_b", 0, np.minimum(self._others_n, deepest)),
            n_common=column("n_common", 0, 0),
        )

    def audit(self, names: tuple[str, str], a: Table, b: Table) -> ListsAudit:
        """Return what was found in both runs."""
        parts, held, queries = self._parts, self._held, self.queries.cast(pl.String)
        status = np.zeros(len(self._order), np.int64)
        status[self._only_a] = Outcome.only_a
        status[len(held.names) :] = Outcome.only_b
        status = status[self._order]
        of_a, of_b, common = (sum(part.documents[i] for part in parts) for i in range(3))
        n_b = np.concatenate([part.n for part in parts])
        tally_b = sum((part.tally for part in parts), Tally())
        return ListsAudit(
            names=names,
            a=RankingAudit.of(a.source, held.ranked.n, held.tally, a.comments(), a.read_as()),
            b=RankingAudit.of(b.source, n_b, tally_b, b.comments(), b.read_as()),
            common_queries=len(self._codes),
            only_a=tuple(queries.filter(pl.Series(status == Outcome.only_a))),
            only_b=tuple(queries.filter(pl.Series(status == Outcome.only_b))),
            common_documents=common,
            documents_a=of_a,
            documents_b=of_b,
        )
