"""Shares of the work: lists of some queries, scored, with counts and sums to add in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rankstone import errors
from rankstone.errors import BadOption, RankstoneError, printable
from rankstone.evaluation.pipeline import audited, judgment_counts, query_order
from rankstone.evaluation.request import check_queries
from rankstone.evaluation.scores import uncounted, weights
from rankstone.hits.alignment_options import IMPUTATIONS
from rankstone.hits.tallies import Tally
from rankstone.measures.core.aggregation import ExactSum
from rankstone.measures.core.measure import Measure, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import polars as pl

    from rankstone._basics import Bools
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.extras.exclusion import LeftOut
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Scored


def refuse_what_looks_at_others(
    options: AlignmentOptions, measures: Sequence[Measure]
) -> None:
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


def pads(measures: Sequence[Measure]) -> bool:
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
        counts = np.bincount(scored.status, minlength=len(Status))
        return cls(
            {
                s: _summed(measure, scored, scored.status == s)
                for s in Status
                if counts[s]
            }
        )

    def count(self, status: Status) -> int:
        """Return how many queries have a status."""
        return self.by_status[status].n if status in self.by_status else 0

    def merge(self, other: Sums) -> None:
        """Add the sums of other queries."""
        for status, one in other.by_status.items():
            self.by_status.setdefault(status, _Sum()).merge(one)

    def mean(
        self, measure: Measure, without: Collection[Status] = ()
    ) -> tuple[float | None, int]:
        """Return the mean over queries of other statuses, ``None`` where there is none, and their number."""
        out = {*uncounted(undefined_propagates=measure.undefined_propagates), *without}
        whole = _Sum()
        for status, one in self.by_status.items():
            if status not in out:
                whole.merge(one)
        undefined = Status.undefined not in out and self.count(Status.undefined) > 0
        return (None if undefined or not whole.n else _ratio(measure, whole)), whole.n

    def to_json(self) -> dict[str, Any]:
        """Return the data as values that JSON can store."""
        return {
            s.name: [x.above.to_dict(), x.below.to_dict(), x.n]
            for s, x in self.by_status.items()
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Sums:
        """Rebuild it from :meth:`to_json`."""
        return cls(
            {
                Status[name]: _Sum(
                    ExactSum.from_dict(above), ExactSum.from_dict(below), n
                )
                for name, (above, below, n) in data.items()
            }
        )


def _summed(measure: Measure, scored: Scored, some: Bools) -> _Sum:
    sums = _Sum(n=int(some.sum()))
    value = scored.value[some]
    if np.isnan(value).any():  # undefined: counted, never summed
        return sums
    if measure.agg in ("mean", "sum"):
        sums.above.add(value)
    elif measure.agg == "pooled":
        sums.above.add(scored.numerator[some])
        sums.below.add(scored.denominator[some])
    elif measure.agg == "weighted":
        weight = weights(scored)[some]
        sums.above.add(value * weight)
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
    error: dict[str, Any] | None = None

    @classmethod
    def of(
        cls,
        measures: Sequence[Measure],
        scores: RunScores,
        tallies: Sequence[Tally],
        missing: int,
        extra: pl.Series,
        judgments: dict[str, int],
        grades: dict[str, int],
        query_table: dict[str, int] | None,
        left_out: LeftOut | None,
    ) -> Trailer:
        """Count and sum the queries of one share."""
        trailer = cls(
            sums=[Sums.of(measure, scores.by_measure[measure]) for measure in measures],
            judged=sum(int(one.judged.sum()) for one in tallies),
            missing=missing,
            extra=len(extra),
            extra_names=[printable(name) for name in extra[:_SHOWN]],
            judgments=Counter(judgments),
            grades=Counter(grades),
            query_table=Counter(query_table or {}),
        )
        if left_out is not None:
            trailer.left_out = Counter(
                {name: getattr(left_out, name) for name in _LEFT_OUT}
            )
            trailer.unmatched = list(left_out.examples)
        for one in tallies:
            trailer.counts.update(one.counts())
            length, lists = np.unique(one.n, return_counts=True)
            trailer.lengths.update(
                dict(zip(length.tolist(), lists.tolist(), strict=True))
            )
            trailer.unjudged.update(one.unjudged)
        return trailer

    @classmethod
    def of_error(cls, error: RankstoneError) -> Trailer:
        """Return a trailer that carries an error of the input, without a traceback."""
        parts = {
            name: getattr(error, name)
            for name in ("what", "where", "given", "expected", "fix")
        }
        return cls(error={"kind": type(error).__name__, **parts})

    def to_json(self) -> dict[str, Any]:
        """Return the data as values that JSON can store."""
        rest = {name: value for name, value in vars(self).items() if name != "sums"}
        return {**rest, "sums": [one.to_json() for one in self.sums]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trailer:
        """Rebuild it from :meth:`to_json`; an error of the input is raised."""
        if data["error"] is not None:
            kind: Any = getattr(errors, data["error"].pop("kind"), RankstoneError)
            raise kind(data["error"].pop("what"), **data["error"])
        sums = [Sums.from_json(one) for one in data["sums"]]
        lengths = Counter(
            {int(length): lists for length, lists in data["lengths"].items()}
        )
        counts = {name: Counter(data[name]) for name in _ADDED}
        return cls(**{**data, **counts, "lengths": lengths, "sums": sums})

    def merge(self, other: Trailer) -> None:
        """Add the trailer of another share."""
        if not self.sums:
            self.sums = [Sums() for _ in other.sums]
        if other.sums:  # a share without queries has none
            for one, more in zip(self.sums, other.sums, strict=True):
                one.merge(more)
        for name in ("lengths", *_ADDED):
            getattr(self, name).update(getattr(other, name))
        self.judged += other.judged
        self.missing += other.missing
        self.extra += other.extra
        from rankstone.hits.extras.exclusion import SHOWN

        self.unmatched = sorted([*self.unmatched, *other.unmatched])[:SHOWN]
        self.extra_names = [*self.extra_names, *other.extra_names][:_SHOWN]

    def excluded(self) -> LeftOut | None:
        """Return what exclusion removed from all lists; ``None`` without exclusion."""
        if not self.left_out.keys():
            return None
        from rankstone.hits.extras.exclusion import LeftOut

        return LeftOut(
            **{name: self.left_out[name] for name in _LEFT_OUT},
            examples=tuple(self.unmatched),
        )

    def tally(self) -> Tally:
        """Return the counts over all lists as the tally of one batch."""
        n = np.repeat(list(self.lengths.keys()), list(self.lengths.values())).astype(
            np.int64
        )
        counts: dict[str, Any] = {name: self.counts[name] for name in Tally.counters()}
        return Tally(n, np.array([self.judged]), self.unjudged, **counts)


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
    codes = np.concatenate([part.codes for part in parts])[query_order(parts)]
    scores = pipeline.assemble(parts, last=True)
    query_table = None
    if pipeline.queries is not None:
        audit = check_queries(
            pipeline.queries, pipeline.measures, judgments.queries.names
        )
        query_table = {"known": audit.rows - audit.unknown, "missing": audit.missing}
    tallies = [part.tally for part in parts if part.tally is not None]
    several = 0 if judgments.groups is None else judgments.groups.several()
    trailer = Trailer.of(
        pipeline.measures,
        scores,
        tallies,
        int((~lists.answered).sum()),
        lists.unjudged(),
        {
            **judgment_counts(judgments, pipeline.options.empty),
            "several_subtopics": several,
        },
        asdict(judgments.given),
        query_table,
        audited(judgments, tallies).get("left_out"),
    )
    return ShareResult(scores, codes >= 0, trailer)
