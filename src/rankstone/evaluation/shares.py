"""Shares of the work: lists of some queries, scored, with counts and sums to add in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rankstone import errors
from rankstone.errors import BadOption, RankstoneError, printable
from rankstone.evaluation.pipeline import audited, excused, judgment_counts, query_order
from rankstone.evaluation.request import check_queries
from rankstone.evaluation.scores import uncounted, weights
from rankstone.hits.alignment_options import IMPUTATIONS
from rankstone.hits.excluded_rows import SHOWN, LeftOut
from rankstone.hits.tallies import Tally
from rankstone.measures.core.aggregation import ExactSum
from rankstone.measures.core.measure import Measure, Status

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankstone._basics import Bools, NamedValues
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measures, Scored


def refuse_what_looks_at_others(options: AlignmentOptions, measures: Measures) -> None:
    """Refuse options under which a query's score depends on judgments of other queries."""
    if options.unjudged in IMPUTATIONS:
        raise BadOption(
            f"unjudged={options.unjudged} depends on judgments of other queries, which are in other shares",
            fix="compute the grade and set it: unjudged=…",
        )
    if options.duplicate_judgments != "error" and pads(measures):
        raise BadOption(
            f"pad=min_grade with duplicate_judgments={options.duplicate_judgments} cannot be split",
            fix="merge the judgments beforehand",
        )


def pads(measures: Measures) -> bool:
    """Return True if a measure reads the lowest grade of all queries."""
    return any(measure.claims.reads_lowest_grade for measure in measures)


#: aggregations that can be computed from sums
SUMMED: Final = ("mean", "sum", "weighted", "pooled")


@dataclass(eq=False)
class _Sum:
    """Exact sums over some queries, and their number."""

    above: ExactSum = field(default_factory=ExactSum)
    below: ExactSum = field(default_factory=ExactSum)
    n: int = 0

    def merge(self, other: _Sum) -> None:
        self.above.merge(other.above)
        self.below.merge(other.below)
        self.n += other.n


@dataclass(eq=False)
class Sums:
    """Sums over the queries of each status, so that means can leave some statuses out.

    Attributes
    ----------
    by_status
        Status → sums; only those that some query has.
    """

    by_status: dict[Status, _Sum] = field(default_factory=dict)

    @classmethod
    def of(cls, measure: Measure, scored: Scored) -> Sums:
        """Sum the scores of one measure."""
        sums = cls()
        for status in Status:
            queries = scored.status == status
            if queries.any():
                sums.by_status[status] = _summed(measure, scored.of(queries))
        return sums

    def count(self, status: Status) -> int:
        """Return how many queries have a status."""
        if status not in self.by_status:
            return 0
        return self.by_status[status].n

    def merge(self, other: Sums) -> None:
        """Add the sums of other queries."""
        for status, more in other.by_status.items():
            whole = self.by_status.setdefault(status, _Sum())
            whole.merge(more)

    def mean(
        self, measure: Measure, without: Collection[Status] = ()
    ) -> tuple[float | None, int]:
        """Return the mean over queries of other statuses, ``None`` where there is none, and their number."""
        outside = uncounted(undefined_propagates=measure.undefined_propagates)
        whole = _Sum()
        is_undefined = False
        for status, sums in self.by_status.items():
            if status in outside or status in without:
                continue
            whole.merge(sums)
            is_undefined |= status == Status.undefined

        mean = None
        if whole.n and not is_undefined:
            mean = _ratio(measure, whole)
        return mean, whole.n

    def to_json(self) -> NamedValues:
        """Return the data as values that JSON can store."""
        data = {}
        for status, sums in self.by_status.items():
            parts = [sums.above.to_dict(), sums.below.to_dict(), sums.n]
            data[status.name] = parts
        return data

    @classmethod
    def from_json(cls, data: NamedValues) -> Sums:
        """Rebuild it from :meth:`to_json`."""
        sums = cls()
        for name, (above, below, n) in data.items():
            sums.by_status[Status[name]] = _Sum(
                above=ExactSum.from_dict(above), below=ExactSum.from_dict(below), n=n
            )
        return sums


def _summed(measure: Measure, scored: Scored) -> _Sum:
    """Sum the scores of queries of one status; what is undefined is only counted."""
    sums = _Sum(n=len(scored.value))
    if np.isnan(scored.value).any():
        return sums
    if measure.agg in ("mean", "sum"):
        sums.above.add(scored.value)
    elif measure.agg == "pooled":
        sums.above.add(scored.numerator)
        sums.below.add(scored.denominator)
    elif measure.agg == "weighted":
        weight = weights(scored)
        sums.above.add(scored.value * weight)
        sums.below.add(weight)
    return sums


def _ratio(measure: Measure, whole: _Sum) -> float | None:
    above = whole.above.value()
    if measure.agg == "mean":
        return above / whole.n
    if measure.agg == "sum":
        return above
    below = whole.below.value()
    return above / below if below else None


#: counters that are added by name
_ADDED: Final = ("counts", "unjudged", "judgments", "grades", "query_table", "left_out")
_LEFT_OUT: Final = ("rows", "relevant", "pairs_relevant", "unmatched")
#: how many names a message shows
_SHOWN: Final = 5


@dataclass(eq=False)
class Trailer:
    """The counts and sums of a share's queries, which are merged over all shares.

    Attributes
    ----------
    sums
        For each measure.
    counts, lengths, judged, unjudged
        For the audit of a run: rows and ties, list length → number of lists, judged documents, unjudged
        documents at each cutoff.
    missing, extra, extra_names
        Judged queries without a list; queries without judgments, and the names of some of them.
    judgments, grades, query_table
        For the audits of judgments and of the query table, and whether grades look like scores.
    left_out, unmatched
        What exclusion removed from the lists, and excluded pairs that are in none.
    error
        The parts of an error.
    """

    sums: list[Sums] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    judged: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    extra: int = 0
    extra_names: list[str] = field(default_factory=list)
    judgments: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    query_table: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    unmatched: list[str] = field(default_factory=list)
    error: NamedValues | None = None

    @classmethod
    def of_error(cls, error: RankstoneError) -> Trailer:
        """Return a trailer that carries an error of the input, without a traceback."""
        parts = {"kind": type(error).__name__}
        for name in ("what", "where", "given", "expected", "fix"):
            parts[name] = getattr(error, name)
        return cls(error=parts)

    def to_json(self) -> NamedValues:
        """Return the data as values that JSON can store."""
        data = {**vars(self)}
        data["sums"] = [sums.to_json() for sums in self.sums]
        return data

    @classmethod
    def from_json(cls, data: NamedValues) -> Trailer:
        """Rebuild it from :meth:`to_json`; an error of the input is raised."""
        if data["error"] is not None:
            parts = {**data["error"]}
            kind: Any = getattr(errors, parts.pop("kind"), RankstoneError)
            raise kind(parts.pop("what"), **parts)

        fields = {**data}
        for name in _ADDED:
            fields[name] = Counter(data[name])
        # names of JSON are texts
        lengths = {int(length): lists for length, lists in data["lengths"].items()}
        fields["lengths"] = Counter(lengths)
        fields["sums"] = [Sums.from_json(sums) for sums in data["sums"]]
        return cls(**fields)

    def add(self, tally: Tally) -> None:
        """Add the counts of a batch of lists."""
        self.judged += int(tally.judged.sum())
        self.counts.update(tally.counts())
        self.unjudged.update(tally.unjudged)
        lengths, lists = np.unique(tally.n, return_counts=True)
        for length, count in zip(lengths.tolist(), lists.tolist(), strict=True):
            self.lengths[length] += count

    def merge(self, other: Trailer) -> None:
        """Add the trailer of another share."""
        if not self.sums:
            self.sums = [Sums() for _ in other.sums]
        # a share without queries has no sums
        if other.sums:
            for whole, more in zip(self.sums, other.sums, strict=True):
                whole.merge(more)

        for name in ("lengths", *_ADDED):
            counter = getattr(self, name)
            counter.update(getattr(other, name))
        self.judged += other.judged
        self.missing += other.missing
        self.extra += other.extra

        unmatched = sorted(self.unmatched + other.unmatched)
        self.unmatched = unmatched[:SHOWN]
        extra_names = self.extra_names + other.extra_names
        self.extra_names = extra_names[:_SHOWN]

    def excluded(self) -> LeftOut | None:
        """Return what exclusion removed from all lists; ``None`` without exclusion."""
        if not self.left_out.keys():
            return None
        figures = {name: self.left_out[name] for name in _LEFT_OUT}
        return LeftOut(**figures, examples=tuple(self.unmatched))

    def tally(self) -> Tally:
        """Return the counts over all lists as the tally of one batch."""
        lengths = list(self.lengths)
        lists = list(self.lengths.values())
        n = np.repeat(lengths, lists).astype(np.int64)
        judged = np.array([self.judged])
        counts: NamedValues = {name: self.counts[name] for name in Tally.counters()}
        return Tally(n, judged, self.unjudged, **counts)


class ShareResult(NamedTuple):
    """The result of a share.

    Attributes
    ----------
    scores
        The scores of its queries.
    judged
        bool ``[queries]``: True for queries with judgments.
    trailer
        What is added up over all shares.
    """

    scores: RunScores
    judged: Bools
    trailer: Trailer


def scored_share(pipeline: Pipeline, table: Table) -> ShareResult:
    """Score the lists of some queries with a pipeline that has the judgments of the same queries.

    Parameters
    ----------
    pipeline
        The measures, and the judgments.
    table
        All rows of these queries; there may be none.
    """
    judgments = pipeline.judged
    parts, lists = pipeline.align(table, pipeline.measure)
    codes = np.concatenate([part.codes for part in parts])
    codes = codes[query_order(parts)]
    scores = pipeline.assemble(parts, last=True)

    query_table = Counter[str]()
    if pipeline.queries is not None:
        audit = check_queries(
            pipeline.queries, pipeline.measures, judgments.queries.names
        )
        query_table["known"] = audit.rows - audit.unknown
        query_table["missing"] = audit.missing
    groups = judgments.groups
    counts = judgment_counts(judgments, pipeline.options.empty)
    needs_none = excused(judgments, pipeline.options.empty)
    is_excused = ~lists.answered & needs_none
    counts["excused"] = int(is_excused.sum())
    counts["several_subtopics"] = 0
    if groups is not None:
        counts["several_subtopics"] = groups.several()

    unjudged = lists.unjudged()
    measures = pipeline.measures
    trailer = Trailer(
        sums=[Sums.of(measure, scores.by_measure[measure]) for measure in measures],
        missing=int((~lists.answered).sum()),
        extra=len(unjudged),
        extra_names=[printable(name) for name in unjudged[:_SHOWN]],
        judgments=Counter(counts),
        grades=Counter(asdict(judgments.grade_counts)),
        query_table=query_table,
    )

    tallies = [part.tally for part in parts if part.tally is not None]
    for tally in tallies:
        trailer.add(tally)
    figures_of_extras = audited(judgments, tallies)
    left_out = figures_of_extras.get("left_out")
    if left_out is not None:
        figures = {name: getattr(left_out, name) for name in _LEFT_OUT}
        trailer.left_out = Counter(figures)
        trailer.unmatched = list(left_out.examples)
    return ShareResult(scores, codes >= 0, trailer)
