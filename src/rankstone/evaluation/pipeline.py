"""The pipeline from one run to its scores and audit: align, measure, assemble."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import polars as pl

from rankstone._basics import Record, queries
from rankstone.errors import EmptyInput, NotComparable, OutOfRange, printable
from rankstone.evaluation.outside_means import outside_means
from rankstone.evaluation.request import check_queries
from rankstone.evaluation.scores import RunScores
from rankstone.hits.alignment import Aligner, joined, no_overlap, taken
from rankstone.hits.alignment_audit import Audit, RunAudit
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.hits.requested_extras import requested_extras
from rankstone.hits.similar_ids import spelling_warning
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints, NamedValues
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.extra import Extra
    from rankstone.hits.hits import Hits
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.hits.matching import Chunk
    from rankstone.hits.query_lists import Lists
    from rankstone.hits.tallies import Tally
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Measures, Scored


Piece = TypeVar("Piece", bound="ScoredPart")
Result = TypeVar("Result")
#: missing queries that an audit names
_NAMED: Final = 3


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
    about
        Attributes of the judged queries, with their texts in ``query``; ``None`` where they are not known.
    """

    judgments: Judgments | SelfLabelled
    options: AlignmentOptions
    measures: tuple[Measure, ...]
    queries: QueryTable | None = None
    regroups: bool = True
    audited: bool = True
    about: pl.DataFrame | None = None

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

        counts = {
            measure: np.bincount(scored.status, minlength=len(Status)).tolist()
            for measure, scored in scores.by_measure.items()
        }
        groups = self.judgments.groups
        warnings = score_warnings(counts, None if groups is None else groups.several())
        outside = outside_means(scores.by_measure, self.options.as_dict())
        warnings = [*audit.warnings, *warnings]
        return scores, replace(audit, warnings=tuple(warnings), **outside)

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
            names = pl.concat([chunk.names for chunk, _ in chunks])
            is_wanted = names.cast(pl.String).eq(str(query))
            order = is_wanted.arg_true().to_numpy()
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
            scored = [values.without_value() for values in scored]
        return ScoredPart(
            chunk.names, chunk.codes, chunk.first_rows, scored, chunk.tally
        )

    def _are_judged(self, empty: pl.Series | None) -> bool:
        """Return whether any of the queries with an empty list is judged."""
        queries = self.judgments.queries
        if empty is None or queries is None:
            return False
        judged = queries.names.cast(pl.String).implode()
        return empty.cast(pl.String).is_in(judged).any()

    def _check_answered(
        self, parts: Sequence[ScoredPart], lists: Lists, table: Table
    ) -> None:
        # a run of empty lists retrieved nothing, which is an answer
        are_judged = self._are_judged(table.unanswered)
        has_rows = any(part.tally is not None for part in parts)
        if not has_rows and not are_judged and not len(lists.unjudged()):
            raise EmptyInput("the run is empty", where=table.source)
        if not isinstance(self.judgments, Judgments):
            return
        if not lists.answered.any() and not are_judged:
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
        extra = missing = pl.Series(dtype=pl.String)
        if isinstance(self.judgments, Judgments):
            extra = lists.unjudged()
            needs_list = ~excused(self.judgments, self.options.empty)
            is_missing = ~lists.answered & needs_list
            names = self.judgments.queries.names
            missing = names.filter(pl.Series(is_missing))
        first_ids = missing[: _NAMED + 1]
        with_texts = self._with_texts(missing)
        return RunAudit.of(
            table.source,
            tallies,
            missing=len(missing),
            extra=len(extra),
            comments=table.comments(),
            cutoffs=cutoffs_of(self.measures),
            deepest=deepest_of(self.measures),
            order=self.options.order,
            **audited(self.judgments, tallies),
            read_as=table.read_as(),
            failed=Counter(table.failed.values()),
            missing_ids=tuple(map(str, first_ids)),
            respelled=spelling_warning(extra, with_texts),
        )

    def _with_texts(self, ids: pl.Series) -> pl.Series:
        """Return ids of judged queries, and the texts of those that have one."""
        about = self.about
        if about is None or "query" not in about.columns or ids.dtype != pl.String:
            return ids
        is_asked = pl.col("query_id").is_in(ids.implode())
        texts = about.filter(is_asked)["query"]
        known = texts.cast(pl.String).drop_nulls()
        return pl.concat([ids, known]).unique()

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
        names = pl.concat([part.names for part in parts])
        names = names.gather(order)
        by_measure: dict[Measure, Scored] = {}
        for place, measure in enumerate(self.measures):
            if last:
                pieces = [part.scored.pop(0) for part in parts]
            else:
                pieces = [part.scored[place] for part in parts]
            by_measure[measure] = pieces[0].joined(pieces, order)
        if self.queries is None:
            return RunScores(names, by_measure)

        # these include unjudged queries that are kept
        check_queries(self.queries, self.measures, names)
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
    conventions: NamedValues
    inputs: NamedValues


def cutoffs_of(measures: Measures) -> tuple[int, ...]:
    """Return the ranks at which the audit counts unjudged documents: the cutoffs of the measures."""
    cutoffs = {m.deepest for m in measures if m.deepest is not None}
    if not cutoffs:
        return (10,)
    return tuple(sorted(cutoffs))


def deepest_of(measures: Measures) -> int | None:
    """Return the deepest cutoff of the measures; ``None`` if none has one."""
    if all(measure.deepest is None for measure in measures):
        return None
    return max(cutoffs_of(measures))


def query_order(parts: Sequence[ScoredPart] | Sequence[Chunk]) -> Ints:
    """Return the order of the parts' queries: first that of the judgments, then that of the table."""
    codes = np.concatenate([part.codes for part in parts])
    rows = np.concatenate([part.first_rows for part in parts])
    last = len(codes)
    codes = np.where(codes < 0, last, codes)
    return np.lexsort((rows, codes))


def _with_weights(scored: Scored, weight: Floats) -> Scored:
    """Return the scores with the given weights, unless the measure has its own."""
    # curves have no such field
    if getattr(scored, "weight", weight) is not None:
        return scored
    return replace(scored, weight=weight)


def score_warnings(
    counts: Mapping[Measure, Sequence[int]], several: int | None
) -> list[str]:
    """Return warnings about scores.

    Parameters
    ----------
    counts
        Measure → the number of queries of each status.
    several
        How many queries have more than one subtopic; ``None`` where judgments are not by subtopic.
    """
    sentences = []
    if several == 0 and any(measure.family == "diversity" for measure in counts):
        sentences.append(
            "no query has more than one subtopic: are these judgments by subtopic?"
        )
    for measure, count in counts.items():
        bounded = count[Status.lower_bound]
        if bounded:
            sentences.append(
                f"{measure}: the true maximum may be higher for {queries(bounded)} "
                "(status lower_bound)"
            )
        beyond = count[Status.out_of_reach]
        if beyond:
            known = sum(count) - count[Status.undefined] - count[Status.dropped]
            reach = (known - beyond) / known
            sentences.append(
                f"{beyond:,} of {queries(known)} {'needs' if beyond == 1 else 'need'} more documents than "
                f"{measure} looks at: it can reach {reach:.1%} at most"
            )
    return sentences


def audited(
    judgments: Judgments | SelfLabelled, tallies: Sequence[Tally]
) -> NamedValues:
    """Return what extras that come with judgments add to the audit of a run."""
    figures: NamedValues = {}
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


def excused(judgments: Judgments, empty: str) -> Bools:
    """Return which queries need no list, bool ``[queries]``; ``empty`` is the option of that name."""
    if empty == "unanswerable":
        return ~_has_relevant(judgments)
    need_none = np.zeros(len(judgments.queries), bool)
    for extra in judgments.extras:
        of_extra = extra.need_no_list()
        if of_extra is not None:
            need_none |= of_extra
    return need_none


def _has_relevant(judgments: Judgments) -> Bools:
    return judgments.ideal.relevant_count(ANY_GAIN) > 0


def judgment_counts(judgments: Judgments, empty: str) -> dict[str, int]:
    """Return the counts of the judgments' audit, by name; ``empty`` is the option of that name."""
    none = ~_has_relevant(judgments)
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
