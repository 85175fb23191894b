"""The pipeline that makes scores and an audit of one run: align, measure, put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from rankstone._text import queries
from rankstone.errors import EmptyInput, NotComparable, OutOfRange, printable
from rankstone.evaluation.request import check_queries
from rankstone.evaluation.scores import RunScores
from rankstone.hits.alignment import Aligner, joined, no_overlap, taken
from rankstone.hits.alignment_audit import Audit, RunAudit
from rankstone.hits.exclusion import LeftOut
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone.hits.alignment_audit import Tally
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.batches import Lists
    from rankstone.hits.exclusion import Exclusion
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Scored


Piece = TypeVar("Piece", bound="Part")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Pipeline:
    """What a run needs to become scores.

    Parameters
    ----------
    judgments
        The judgments, or the labels the run carries itself.
    options
        The alignment options.
    measures
        What to compute.
    exclude, collapse
        As for :class:`~rankstone.hits.alignment.Aligner`.
    queries
        What is known of queries beside their lists.
    regroups
        As for :class:`~rankstone.hits.alignment.Aligner`.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    measures: tuple[Measure, ...]
    exclude: Exclusion | None = None
    collapse: Callable[[pl.Expr], pl.Expr] | None = None
    queries: QueryTable | None = None
    regroups: bool = True

    @property
    def judged(self) -> Judgments:
        """The judgments, where the run does not carry its own labels."""
        assert isinstance(self.judgments, Judgments)  # noqa: S101 - an internal promise, not user input
        return self.judgments

    def run(
        self, table: Table, each: Callable[[Chunk, Hits], Part] | None = None
    ) -> tuple[RunScores, RunAudit]:
        """Align the run, measure every chunk of hits (by ``each``, if given), put scores together."""
        parts, audit = self.walk(table, each or self.measure)
        scores = self.assemble(parts, last=True)
        groups = self.judgments.groups if isinstance(self.judgments, Judgments) else None
        bounded = {m: int((s.status == Status.lower_bound).sum()) for m, s in scores.by_measure.items()}
        told = what_to_wonder_about(bounded, None if groups is None else groups.several())
        return scores, replace(audit, warnings=(*audit.warnings, *told))

    def walk(
        self, table: Table, each: Callable[[Chunk, Hits], Piece], brings: frozenset[str] = frozenset()
    ) -> tuple[list[Piece], RunAudit]:
        """Align the run and call ``each`` for every chunk of hits.

        Parameters
        ----------
        table
            The run.
        each
            Makes a part of a chunk; parts come back in the stream's order.
        brings
            What alignment brings along beside what the measures ask for.
        """
        parts, lists = self.aligned(table, each, brings)
        self._check_met(parts, lists, table)
        return parts, self._audit(parts, lists, table)

    def aligned(
        self, table: Table, each: Callable[[Chunk, Hits], Result], brings: frozenset[str] = frozenset()
    ) -> tuple[list[Result], Lists]:
        """Do what :meth:`walk` does for a run that need not answer anything, and without an audit."""
        brings = brings.union(*(measure.brings for measure in self.measures))
        cutoffs = cutoffs_of(self.measures)
        aligner = Aligner(
            self.judgments, self.options, self.exclude, self.collapse, cutoffs, brings, self.regroups
        )
        return aligner.run(table, lambda chunk: each(chunk, self._with_columns(chunk)))

    def hits(self, table: Table, query: object = None) -> Hits:
        """Return the hits of one query, or of all in the order of the judgments."""
        chunks, _ = self.aligned(table, lambda chunk, hits: (chunk, hits))
        together, order = joined([hits for _, hits in chunks]), in_order([chunk for chunk, _ in chunks])
        if query is not None:
            names = pl.concat([chunk.names for chunk, _ in chunks]).cast(pl.String)
            order = names.eq(str(query)).arg_true().to_numpy()
        if not len(order):
            raise NotComparable(f"query {printable(query)} is not judged", where=table.source)
        return taken(together, order)

    def measure(self, chunk: Chunk, hits: Hits) -> Part:
        """Score a chunk of hits."""
        try:
            scored = [measure.score(hits, self.options.empty) for measure in self.measures]
        except OutOfRange as error:
            error.where = f"query {printable(chunk.names[error.query])}"
            raise
        if chunk.undefined:
            scored = [one.without_value() for one in scored]
        return Part(chunk.names, chunk.codes, chunk.first_rows, scored, chunk.tally)

    def _with_columns(self, chunk: Chunk) -> Hits:
        """Return the hits, with the columns of the query table that measures read."""
        wanted = {name for measure in self.measures for name in getattr(measure, "query_columns", ())}
        if self.queries is None or not wanted:
            return chunk.hits
        about = {name: self.queries.values(name, chunk.names) for name in wanted}
        return replace(chunk.hits, about=about, _memo={})  # hits it remembers know nothing of this

    def _check_met(self, parts: Sequence[Part], lists: Lists, table: Table) -> None:
        if not any(part.tally is not None for part in parts) and not len(lists.unjudged()):
            raise EmptyInput("the run is empty", where=table.source)
        if not isinstance(self.judgments, Judgments):
            return
        if not lists.seen.any():
            raise no_overlap(self.judgments, lists, table.source)
        missing, extra = int((~lists.seen).sum()), lists.unjudged()
        if self.options.missing == "error" and missing:
            absent = self.judgments.queries.names.filter(pl.Series(~lists.seen))
            raise _absent(f"{queries(missing)} missing from the run", absent, table, "missing=zero or drop")
        if self.options.extra == "error" and len(extra):
            raise _absent(
                f"{queries(len(extra))} of the run nobody judged", extra, table, "extra=drop or keep"
            )

    def _audit(self, parts: Sequence[Part], lists: Lists, table: Table) -> RunAudit:
        tallies = [part.tally for part in parts if part.tally is not None]
        return RunAudit.of(
            table.source,
            tallies,
            missing=int((~lists.seen).sum()),
            extra=len(lists.unjudged()) if isinstance(self.judgments, Judgments) else 0,
            comments=table.comments(),
            cutoffs=cutoffs_of(self.measures),
            deepest=max((m.deepest for m in self.measures if m.deepest is not None), default=None),
            order=self.options.order,
            left_out=None if self.exclude is None else LeftOut.of(self.exclude, tallies),
            read_as=table.read_as(),
        )

    def assemble(self, parts: Sequence[Part], *, last: bool = False) -> RunScores:
        """Put the parts' queries in the order of the judgments (of the table, when labelled).

        Parameters
        ----------
        parts
            What chunks came to.
        last
            Whether nobody looks at the parts' scores again: of many millions of queries these are let go,
            measure by measure, while the whole is made.
        """
        order = in_order(parts)
        by_measure: dict[Measure, Scored] = {}
        for at, measure in enumerate(self.measures):
            these = [part.scored.pop(0) if last else part.scored[at] for part in parts]
            by_measure[measure] = these[0].joined(these, order)
        names = pl.concat([part.names for part in parts]).gather(order)
        if self.queries is None:
            return RunScores(names, by_measure)
        check_queries(self.queries, self.measures, names)  # unjudged queries that are kept, too
        about = self.queries.take(names)
        if "weight" in about.columns and not about["weight"].null_count():
            weight = self.queries.values("weight", names)
            by_measure = {measure: _weighed(scored, weight) for measure, scored in by_measure.items()}
        return RunScores(names, by_measure, about)


@dataclass(frozen=True, eq=False)
class Part:
    """The scores of one chunk of hits."""

    names: pl.Series
    codes: Ints
    first_rows: Ints
    scored: list[Scored]
    tally: Tally | None


class Walked(NamedTuple):
    """What the road made of some runs."""

    runs: dict[str, RunScores]
    measures: tuple[Measure, ...]
    audit: Audit
    conventions: dict[str, Any]
    inputs: dict[str, Any]


def cutoffs_of(measures: Sequence[Measure]) -> tuple[int, ...]:
    """Return the ranks at which the audit counts unjudged documents: those that measures look down to."""
    return tuple(sorted({m.deepest for m in measures if m.deepest is not None})) or (10,)


def in_order(parts: Sequence[Part] | Sequence[Chunk]) -> Ints:
    """Return the order of the parts' queries: that of the judgments, then that of the table."""
    codes = np.concatenate([part.codes for part in parts])
    rows = np.concatenate([part.first_rows for part in parts])
    return np.lexsort((rows, np.where(codes < 0, len(codes), codes)))


def _weighed(scored: Scored, weight: Floats) -> Scored:
    """Return the scores under the weights given, unless the measure has weights of its own."""
    own = getattr(scored, "weight", weight) is not None  # curves have none at all
    return scored if own else replace(scored, weight=weight)


def what_to_wonder_about(bounded: Mapping[Measure, int], several: int | None) -> list[str]:
    """Return sentences about scores that a reader should not miss.

    Parameters
    ----------
    bounded
        Measure → queries whose true value may be higher.
    several
        Queries with more than one subtopic; ``None`` where judgments are not by subtopic.
    """
    sentences = []
    if several == 0 and any(measure.family == "diversity" for measure in bounded):
        sentences.append("no query has more than one subtopic: are these judgments by subtopic?")
    sentences += [
        f"{measure}: the true maximum may be higher for {queries(count)} (status lower_bound)"
        for measure, count in bounded.items()
        if count
    ]
    return sentences


def _absent(what: str, names: pl.Series, table: Table, fix: str) -> NotComparable:
    shown = ", ".join(printable(name) for name in names[:5])
    return NotComparable(what, where=table.source, given=f"{shown}{' …' if len(names) > 5 else ''}", fix=fix)  # noqa: PLR2004
