"""The pipeline from one run to its scores and audit: align, measure, assemble."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record, queries
from rankstone.errors import BadValue, EmptyInput, NotComparable, OutOfRange, printable
from rankstone.evaluation.outside_means import outside_means
from rankstone.evaluation.request import check_queries
from rankstone.evaluation.scores import RunScores
from rankstone.hits.alignment import Aligner, joined, no_overlap, taken
from rankstone.hits.alignment_audit import Audit, RunAudit
from rankstone.hits.grouped_judgments import grouped_judgments
from rankstone.hits.judgments import Judgments, SelfLabelled, judged_queries
from rankstone.hits.requested_extras import requested_extras
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Floats, Ints, Locate
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.budgets import Budget
    from rankstone.hits.extras.extra import Extra
    from rankstone.hits.grouped_judgments import Intents
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.matching import Chunk
    from rankstone.hits.query_lists import Lists
    from rankstone.hits.tallies import Tally
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Scored


Piece = TypeVar("Piece", bound="ScoredPart")
Result = TypeVar("Result")


class Pipeline(Record):
    """Everything needed to score a run.

    Parameters
    ----------
    judgments
        The judgments, or the labels in the run itself.
    options
        The alignment options.
    measures
        The measures to compute.
    queries
        The query table.
    regroups
        As for :class:`~rankstone.hits.alignment.Aligner`.
    audited
        False where no audit follows, so that its counts are not made.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    measures: tuple[Measure, ...]
    queries: QueryTable | None = None
    regroups: bool = True
    audited: bool = True

    @property
    def judged(self) -> Judgments:
        """The judgments; only for a run without labels."""
        assert isinstance(self.judgments, Judgments)  # noqa: S101 - an internal promise, not user input
        return self.judgments

    def run(
        self, table: Table, each: Callable[[Chunk, Hits], ScoredPart] | None = None
    ) -> tuple[RunScores, RunAudit]:
        """Align the run, measure every chunk of hits (with ``each``, if given), and assemble the scores."""
        parts, audit = self.map_chunks(table, each or self.measure)
        scores = self.assemble(parts, last=True)
        groups = (
            self.judgments.groups if isinstance(self.judgments, Judgments) else None
        )
        bounded = {
            m: int((s.status == Status.lower_bound).sum())
            for m, s in scores.by_measure.items()
        }
        warnings = score_warnings(bounded, None if groups is None else groups.several())
        audit = replace(audit, warnings=(*audit.warnings, *warnings))
        outside = outside_means(scores.by_measure, self.options.as_dict())
        return scores, replace(audit, **outside)

    def map_chunks(
        self,
        table: Table,
        each: Callable[[Chunk, Hits], Piece],
        further: frozenset[type[Extra[Any]]] = frozenset(),
    ) -> tuple[list[Piece], RunAudit]:
        """Align the run, call ``each`` for every chunk of hits, and audit the run.

        Parameters
        ----------
        table
            The run.
        each
            Called with each chunk and its hits; results are in the order of the stream.
        further
            Extras that are wanted besides those of the measures.
        """
        parts, lists = self.align(table, each, further)
        self._check_answered(parts, lists, table)
        return parts, self._audit(parts, lists, table)

    def align(
        self,
        table: Table,
        each: Callable[[Chunk, Hits], Result],
        further: frozenset[type[Extra[Any]]] = frozenset(),
    ) -> tuple[list[Result], Lists]:
        """Do the same for a run that may answer no query, without an audit."""
        extras = requested_extras(
            self.judgments,
            self.options,
            self.measures,
            table.columns,
            self.queries,
            further,
        )
        cutoffs = cutoffs_of(self.measures) if self.audited else None
        aligner = Aligner(self.judgments, self.options, extras, cutoffs, self.regroups)
        return aligner.run(table, lambda chunk: each(chunk, chunk.hits))

    def hits(self, table: Table, query: object = None) -> Hits:
        """Return the hits of one query, or of all in the order of the judgments."""
        chunks, _ = self.align(table, lambda chunk, hits: (chunk, hits))
        together = joined([hits for _, hits in chunks])
        order = query_order([chunk for chunk, _ in chunks])
        if query is not None:
            names = pl.concat([chunk.names for chunk, _ in chunks]).cast(pl.String)
            order = names.eq(str(query)).arg_true().to_numpy()
        if not len(order):
            raise NotComparable(
                f"query {printable(query)} is not judged", where=table.source
            )
        return taken(together, order)

    def measure(self, chunk: Chunk, hits: Hits) -> ScoredPart:
        """Score a chunk of hits."""
        try:
            scored = [
                measure.score(hits, self.options.empty) for measure in self.measures
            ]
        except OutOfRange as error:
            error.where = f"query {printable(chunk.names[error.query])}"
            error.fix = error.fix or self.options.fix_of_range
            raise
        if chunk.undefined:
            scored = [one.without_value() for one in scored]
        return ScoredPart(
            chunk.names, chunk.codes, chunk.first_rows, scored, chunk.tally
        )

    def _are_judged(self, empty: pl.Series | None) -> bool:
        """Return whether any of the queries with an empty list is judged."""
        if empty is None or not isinstance(self.judgments, Judgments):
            return False
        names = self.judgments.queries.names
        judged = names.cast(pl.String).implode()
        are_judged = empty.cast(pl.String).is_in(judged)
        return bool(are_judged.any())

    def _check_answered(
        self, parts: Sequence[ScoredPart], lists: Lists, table: Table
    ) -> None:
        has_rows = any(part.tally is not None for part in parts)
        is_answer = has_rows or self._are_judged(table.unanswered)
        if not is_answer and not len(lists.unjudged()):
            raise EmptyInput("the run is empty", where=table.source)
        if not isinstance(self.judgments, Judgments):
            return
        # a run of empty lists retrieved nothing, which is an answer
        if not lists.answered.any() and not self._are_judged(table.unanswered):
            raise no_overlap(self.judgments, lists, table.source)
        missing = int((~lists.answered).sum())
        extra = lists.unjudged().sort()
        if self.options.missing == "error" and missing:
            names = self.judgments.queries.names.filter(pl.Series(~lists.answered))
            raise _query_mismatch(
                f"{queries(missing)} missing from the run",
                names,
                table,
                "missing=zero or drop",
            )
        if self.options.extra == "error" and len(extra):
            raise _query_mismatch(
                f"{queries(len(extra))} of the run without judgments",
                extra,
                table,
                "extra=drop or keep",
            )

    def _audit(
        self, parts: Sequence[ScoredPart], lists: Lists, table: Table
    ) -> RunAudit:
        tallies = [part.tally for part in parts if part.tally is not None]
        return RunAudit.of(
            table.source,
            tallies,
            missing=int((~lists.answered).sum()),
            extra=len(lists.unjudged()) if isinstance(self.judgments, Judgments) else 0,
            comments=table.comments(),
            cutoffs=cutoffs_of(self.measures),
            deepest=deepest_of(self.measures),
            order=self.options.order,
            **audited(self.judgments, tallies),
            read_as=table.read_as(),
            failed=Counter(table.failed.values()),
            unanswerable=self._unanswerable,
        )

    @property
    def _unanswerable(self) -> int:
        if not isinstance(self.judgments, Judgments):
            return 0
        return judgment_counts(self.judgments, self.options.empty)["unanswerable"]

    def assemble(self, parts: Sequence[ScoredPart], *, last: bool = False) -> RunScores:
        """Assemble scores in the order of the judgments (of the table, when labelled).

        Parameters
        ----------
        parts
            The scores of all chunks.
        last
            True if the parts are not needed again: their scores are then freed measure by measure, which
            matters for many millions of queries.
        """
        order = query_order(parts)
        by_measure: dict[Measure, Scored] = {}
        for at, measure in enumerate(self.measures):
            pieces = [part.scored.pop(0) if last else part.scored[at] for part in parts]
            by_measure[measure] = pieces[0].joined(pieces, order)
        names = pl.concat([part.names for part in parts]).gather(order)
        if self.queries is None:
            return RunScores(names, by_measure)
        check_queries(
            self.queries, self.measures, names
        )  # includes unjudged queries that are kept
        about = self.queries.take(names)
        if "weight" in about.columns and not about["weight"].null_count():
            weight = self.queries.values("weight", names)
            by_measure = {
                measure: _with_weights(scored, weight)
                for measure, scored in by_measure.items()
            }
        return RunScores(names, by_measure, about)


class ScoredPart(Record):
    """The scores of one chunk of hits."""

    names: pl.Series
    codes: Ints
    first_rows: Ints
    scored: list[Scored]
    tally: Tally | None


class ScoredRuns(NamedTuple):
    """The scores of some runs, with everything that a result records."""

    runs: dict[str, RunScores]
    measures: tuple[Measure, ...]
    audit: Audit
    conventions: dict[str, Any]
    inputs: dict[str, Any]


def cutoffs_of(measures: Sequence[Measure]) -> tuple[int, ...]:
    """Return the ranks at which the audit counts unjudged documents: the cutoffs of the measures."""
    return tuple(sorted({m.deepest for m in measures if m.deepest is not None})) or (
        10,
    )


def deepest_of(measures: Sequence[Measure]) -> int | None:
    """Return the deepest cutoff of the measures; ``None`` if none has one."""
    return max((m.deepest for m in measures if m.deepest is not None), default=None)


def budgets_of(measures: Sequence[Measure]) -> tuple[Budget, ...]:
    """Return the budgets that measures are cut by, each once."""
    return tuple(
        dict.fromkeys(budget for measure in measures for budget in measure.budgets)
    )


def costs_of(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the columns that measures add up, each once."""
    return tuple(dict.fromkeys(name for measure in measures for name in measure.costs))


def query_order(parts: Sequence[ScoredPart] | Sequence[Chunk]) -> Ints:
    """Return the order of the parts' queries: first that of the judgments, then that of the table."""
    codes = np.concatenate([part.codes for part in parts])
    rows = np.concatenate([part.first_rows for part in parts])
    return np.lexsort((rows, np.where(codes < 0, len(codes), codes)))


def _with_weights(scored: Scored, weight: Floats) -> Scored:
    """Return the scores with the given weights, unless the measure has its own."""
    has_weights = (
        getattr(scored, "weight", weight) is not None
    )  # curves have no such field
    return scored if has_weights else replace(scored, weight=weight)


def score_warnings(bounded: Mapping[Measure, int], several: int | None) -> list[str]:
    """Return warnings about scores.

    Parameters
    ----------
    bounded
        Measure → queries whose true value may be higher.
    several
        How many queries have more than one subtopic; ``None`` where judgments are not by subtopic.
    """
    sentences = []
    if several == 0 and any(measure.family == "diversity" for measure in bounded):
        sentences.append(
            "no query has more than one subtopic: are these judgments by subtopic?"
        )
    sentences += [
        f"{measure}: the true maximum may be higher for {queries(count)} (status lower_bound)"
        for measure, count in bounded.items()
        if count
    ]
    return sentences


def audited(
    judgments: Judgments | SelfLabelled, tallies: Sequence[Tally]
) -> dict[str, Any]:
    """Return what extras that come with judgments add to the audit of a run."""
    figures: dict[str, Any] = {}
    for extra in judgments.extras:
        figures |= extra.audit(tallies)
    return figures


def _query_mismatch(
    what: str, names: pl.Series, table: Table, fix: str
) -> NotComparable:
    shown = ", ".join(printable(name) for name in names[:5])
    return NotComparable(
        what,
        where=table.source,
        given=f"{shown}{' …' if len(names) > 5 else ''}",  # noqa: PLR2004
        fix=fix,
    )


def with_unanswerable(
    judgments: Judgments, declared: pl.Series | None, source: str
) -> Judgments:
    """Return judgments that know which queries are unanswerable; refuse those with a relevant document."""
    if declared is None:
        return judgments
    codes = judgments.queries.codes(
        declared.cast(judgments.queries.names.dtype, strict=False)
    )
    known = np.zeros(len(judgments.queries), bool)
    known[codes[codes >= 0]] = True
    wrong = known & (judgments.ideal.relevant_count(ANY_GAIN) > 0)
    if wrong.any():
        query = printable(judgments.queries.names[int(wrong.argmax())])
        raise BadValue(
            f"query {query} is declared unanswerable, but has a relevant document",
            where=source,
            expected="answerable = false only for queries without a relevant document",
        )
    from rankstone.hits.extras.unanswerable_queries import UnanswerableQueries

    return judgments.with_extras(UnanswerableQueries(known))


def judgment_counts(judgments: Judgments, empty: str) -> dict[str, int]:
    """Return the counts of the judgments' audit, by name; ``empty`` is the option of that name."""
    none = judgments.ideal.relevant_count(ANY_GAIN) == 0
    counts = {
        "queries": len(judgments.queries),
        "judgments": len(judgments.grade),
        "relevant": int((judgments.grade > 0).sum()),
        "negative": judgments.negative,
        "duplicates": judgments.duplicates,
        "empty": int(none.sum()),
        "unanswerable": 0,
        "declared": judgments.declared,
        "excluded": judgments.excluded,
        "excluded_relevant": judgments.excluded_relevant,
    }
    for extra in judgments.extras:
        counts |= extra.judgment_counts()
    if empty == "unanswerable":
        counts["unanswerable"] = counts["empty"]
    return counts


def prepare_judgments(
    table: pl.DataFrame,
    options: AlignmentOptions,
    locate: Locate,
    intents: Intents | None = None,
    declared: pl.Series | None = None,
    excluded: pl.DataFrame | None = None,
) -> Judgments:
    """Prepare a table of judgments, in groups where it has a column ``subtopic``.

    Parameters
    ----------
    table, options, locate
        As for :meth:`~rankstone.hits.judgments.Judgments.of`.
    intents
        The weights of subtopics.
    declared
        Ids of further judged queries, which have no relevant document.
    excluded
        Pairs to exclude, depending on ``exclude_from``; their queries stay judged.
    """
    queries = judged_queries(table, declared)

    def of(rows: pl.DataFrame, place: Locate) -> Judgments:
        if "subtopic" in rows.columns:
            return grouped_judgments(rows, options, place, intents, queries)
        return Judgments.of(rows, options, place, queries)

    if excluded is None or options.exclude_from == "lists":
        return of(table, locate)
    from rankstone.hits.extras.exclusion import rows_in

    out = rows_in(table, excluded)
    rest = np.flatnonzero(~out)
    judgments = of(table[rest], lambda row: locate(int(rest[row])))
    return replace(
        judgments,
        row=rest[judgments.row],
        rows=table.height,
        declared=len(queries) - table["query_id"].n_unique(),
        excluded=int(out.sum()),
        excluded_relevant=int((out & (table["relevance"] > 0).to_numpy()).sum()),
    )
