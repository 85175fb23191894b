"""One run's way along the road: from a table to scores and an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.errors import EmptyInput, NotComparable, OutOfRange, printable
from rankstone.hits.align import Aligner, Chunk, no_overlap
from rankstone.hits.audit import RunAudit
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.measures.base import Scored
from rankstone.scores import RunScores
from rankstone.words import queries

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.audit import Tally
    from rankstone.hits.batches import Lists
    from rankstone.hits.options import Alignment
    from rankstone.hits.pairs import PairIndex
    from rankstone.hits.ragged import Ints
    from rankstone.io import Table
    from rankstone.measures import Measure

__all__ = ["Road"]


@dataclass(frozen=True, eq=False)
class Road:
    """What a run needs to become scores.

    Parameters
    ----------
    truth
        The judgments, or the labels the run carries itself.
    options
        The alignment options.
    measures
        What to compute.
    exclude, collapse
        As for :class:`~rankstone.hits.align.Aligner`.
    """

    truth: Judgments | SelfLabelled
    options: Alignment
    measures: tuple[Measure, ...]
    exclude: PairIndex | None = None
    collapse: Callable[[pl.Expr], pl.Expr] | None = None

    def run(self, table: Table) -> tuple[RunScores, RunAudit]:
        """Align the run, measure every chunk of hits, put the scores together."""
        brings = frozenset[str]().union(*(measure.brings for measure in self.measures))
        aligner = Aligner(self.truth, self.options, self.exclude, self.collapse, self._cutoffs(), brings)
        parts, lists = aligner.run(table, self._measure)
        self._check_met(parts, lists, table)
        parts = self._wanted(parts)
        audit = self._audit(parts, lists, table)
        return self._assemble(parts), audit

    def _measure(self, chunk: Chunk) -> Part:
        try:
            scored = [measure.score(chunk.hits, self.options.empty) for measure in self.measures]
        except OutOfRange as error:
            error.where = f"query {printable(chunk.names[error.query])}"
            raise
        return Part(chunk.names, chunk.codes, chunk.first_rows, scored, chunk.tally)

    def _cutoffs(self) -> tuple[int, ...]:
        cutoffs = sorted({m.k for m in self.measures if m.k is not None})
        return tuple(cutoffs) or (10,)

    def _check_met(self, parts: list[Part], lists: Lists, table: Table) -> None:
        if not any(part.tally is not None for part in parts) and not len(lists.unjudged()):
            raise EmptyInput("the run is empty", where=table.source)
        if not isinstance(self.truth, Judgments):
            return
        if not lists.seen.any():
            raise no_overlap(self.truth, lists, table.source)
        missing, extra = int((~lists.seen).sum()), lists.unjudged()
        if self.options.missing == "error" and missing:
            absent = self.truth.queries.names.filter(pl.Series(~lists.seen))
            raise _absent(f"{queries(missing)} missing from the run", absent, table, "missing=zero or drop")
        if self.options.extra == "error" and len(extra):
            raise _absent(
                f"{queries(len(extra))} of the run nobody judged", extra, table, "extra=drop or keep"
            )

    def _wanted(self, parts: list[Part]) -> list[Part]:
        """Leave missing queries out when the option says so."""
        drop = self.options.missing == "drop"
        return [part for part in parts if part.tally is not None or not drop]

    def _audit(self, parts: list[Part], lists: Lists, table: Table) -> RunAudit:
        cutoffs = self._cutoffs()
        deepest = max((m.k for m in self.measures if m.k is not None), default=None)
        return RunAudit.of(
            table.source,
            [part.tally for part in parts if part.tally is not None],
            missing=int((~lists.seen).sum()),
            extra=len(lists.unjudged()) if isinstance(self.truth, Judgments) else 0,
            comments=table.comments(),
            cutoffs=cutoffs,
            deepest=deepest,
        )

    def _assemble(self, parts: list[Part]) -> RunScores:
        """Put the parts' queries in the order of the judgments (of the table, when labelled)."""
        names = pl.concat([part.names for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        rows = np.concatenate([part.first_rows for part in parts])
        order = np.lexsort((rows, np.where(codes < 0, len(codes), codes)))
        by_measure = {
            measure: _joined([part.scored[i] for part in parts], order)
            for i, measure in enumerate(self.measures)
        }
        return RunScores(names.gather(order), by_measure)


@dataclass(frozen=True, eq=False)
class Part:
    """The scores of one chunk of hits."""

    names: pl.Series
    codes: Ints
    first_rows: Ints
    scored: list[Scored]
    tally: Tally | None


def _joined(parts: list[Scored], order: Ints) -> Scored:
    def column(name: str) -> Any:  # noqa: ANN401 - an array
        return np.concatenate([getattr(part, name) for part in parts])[order]

    weight = None if parts[0].weight is None else column("weight")
    return Scored(column("numerator"), column("denominator"), column("value"), column("status"), weight)


def _absent(what: str, names: pl.Series, table: Table, fix: str) -> NotComparable:
    shown = ", ".join(printable(name) for name in names[:5])
    return NotComparable(what, where=table.source, given=f"{shown}{' …' if len(names) > 5 else ''}", fix=fix)  # noqa: PLR2004
