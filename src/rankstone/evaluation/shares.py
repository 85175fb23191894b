"""One share of the work: the lists of some queries, scored.

What a share tells of its queries together: counts and sums that can be added up in any order.

What cannot be done in shares, because a query's score depends on judgments of other queries.

What a mean is made of, in parts that can be added up anywhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rankstone import errors
from rankstone.errors import BadOption, RankstoneError, printable
from rankstone.evaluation.pipeline import in_order
from rankstone.evaluation.request import check_queries
from rankstone.evaluation.scores import uncounted, weights
from rankstone.hits.alignment_audit import Tally
from rankstone.hits.alignment_options import IMPUTATIONS
from rankstone.hits.exclusion import SHOWN, LeftOut
from rankstone.measures.core.aggregation import ExactSum
from rankstone.measures.core.definition import ANY_GAIN
from rankstone.measures.core.measure import Measure, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import polars as pl

    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.list_arrays import Bools
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Scored


def refuse_what_looks_at_others(options: AlignmentOptions, measures: Sequence[Measure]) -> None:
    """Refuse options under which a query's score depends on judgments of other queries."""
    if options.unjudged in IMPUTATIONS:
        raise BadOption(
            f"unjudged={options.unjudged} looks at judgments of other queries, which other shares have",
            fix="compute the grade and give it: unjudged=0.25",
        )
    if options.duplicate_judgments != "error" and pads(measures):
        raise BadOption(
            f"pad=min_grade with duplicate_judgments={options.duplicate_judgments} is not known in shares",
            fix="merge the judgments beforehand",
        )


def pads(measures: Sequence[Measure]) -> bool:
    """Say whether a measure asks for the lowest grade of all."""
    return any(measure.claims.reads_lowest_grade for measure in measures)


#: ways to make one number of many that need no more than sums
SUMMED: Final = ("mean", "sum", "weighted", "pooled")


@dataclass(eq=False)
class _Sum:
    """Exact sums over some queries, and how many these are."""

    above: ExactSum = field(default_factory=ExactSum)
    below: ExactSum = field(default_factory=ExactSum)
    n: int = 0

    def merge(self, other: _Sum) -> None:
        self.above.merge(other.above)
        self.below.merge(other.below)
        self.n += other.n


@dataclass(eq=False)
class Sums:
    """Sums over the queries of each status, so that a mean may leave some of them out.

    Attributes
    ----------
    by_status
        Status → sums; only those that some query has.
    """

    by_status: dict[Status, _Sum] = field(default_factory=dict)

    @classmethod
    def of(cls, measure: Measure, scored: Scored) -> Sums:
        """Sum up one measure's scores."""
        counts = np.bincount(scored.status, minlength=len(Status))
        return cls({s: _summed(measure, scored, scored.status == s) for s in Status if counts[s]})

    def count(self, status: Status) -> int:
        """Return how many queries have a status."""
        return self.by_status[status].n if status in self.by_status else 0

    def merge(self, other: Sums) -> None:
        """Take in the sums of other queries."""
        for status, one in other.by_status.items():
            self.by_status.setdefault(status, _Sum()).merge(one)

    def mean(self, measure: Measure, without: Collection[Status] = ()) -> tuple[float | None, int]:
        """Return the mean over queries of other statuses, ``None`` where there is none, and their number."""
        out = {*uncounted(undefined_propagates=measure.undefined_propagates), *without}
        whole = _Sum()
        for status, one in self.by_status.items():
            if status not in out:
                whole.merge(one)
        spoilt = Status.undefined not in out and self.count(Status.undefined) > 0
        return (None if spoilt or not whole.n else _ratio(measure, whole)), whole.n

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {s.name: [one.above.told(), one.below.told(), one.n] for s, one in self.by_status.items()}

    @classmethod
    def read(cls, told: dict[str, Any]) -> Sums:
        """Return what :meth:`told` told."""
        return cls(
            {
                Status[name]: _Sum(ExactSum.read(above), ExactSum.read(below), n)
                for name, (above, below, n) in told.items()
            }
        )


def _summed(measure: Measure, scored: Scored, some: Bools) -> _Sum:
    found, value = _Sum(n=int(some.sum())), scored.value[some]
    if np.isnan(value).any():  # these have no value: counted, never summed
        return found
    if measure.agg in ("mean", "sum"):
        found.above.add(value)
    elif measure.agg == "pooled":
        found.above.add(scored.numerator[some])
        found.below.add(scored.denominator[some])
    elif measure.agg == "weighted":
        weight = weights(scored)[some]
        found.above.add(value * weight)
        found.below.add(weight)
    return found


def _ratio(measure: Measure, whole: _Sum) -> float | None:
    above = whole.above.value()
    if measure.agg == "mean":
        return above / whole.n
    if measure.agg == "sum":
        return above
    below = whole.below.value()
    return above / below if below else None


_COUNTS: Final = ("rows", "tied", "tied_queries", "tied_float32", "duplicates", "contradicted", "single")
#: counters of what is added up by name
_ADDED: Final = ("counts", "judgments", "grades", "asked", "left_out")
_LEFT_OUT: Final = ("rows", "relevant", "pairs_relevant", "unmatched")
#: names that a message shows
_SHOWN: Final = 5


@dataclass(eq=False)
class Trailer:
    """What shares tell of their queries.

    Attributes
    ----------
    sums
        Of each measure.
    counts, lengths, judged, unjudged
        What the audit of a run counts: rows and ties, list length → lists, judged documents, shares of
        unjudged documents at each cutoff.
    missing, extra
        Judged queries without a list; queries nobody judged, and some of their names.
    judgments, grades, asked
        What the audits of judgments and of the query table count, and what grades were like.
    left_out, unmatched
        What excluding pairs did to the lists, and pairs that stand in none.
    error
        What went wrong, as its parts.
    """

    sums: list[Sums] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    judged: int = 0
    unjudged: list[float] = field(default_factory=list)
    missing: int = 0
    extra: int = 0
    strangers: list[str] = field(default_factory=list)
    judgments: Counter[str] = field(default_factory=Counter)
    grades: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
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
        asked: dict[str, int] | None,
        left_out: LeftOut | None,
    ) -> Trailer:
        """Count and sum up what one share has seen."""
        found = cls(
            sums=[Sums.of(measure, scores.by_measure[measure]) for measure in measures],
            judged=sum(int(one.judged.sum()) for one in tallies),
            missing=missing,
            extra=len(extra),
            strangers=[printable(name) for name in extra[:_SHOWN]],
            judgments=Counter(judgments),
            grades=Counter(grades),
            asked=Counter(asked or {}),
        )
        if left_out is not None:
            found.left_out = Counter({name: getattr(left_out, name) for name in _LEFT_OUT})
            found.unmatched = list(left_out.examples)
        for one in tallies:
            found.counts.update({name: getattr(one, name) for name in _COUNTS})
            length, lists = np.unique(one.n, return_counts=True)
            found.lengths.update(dict(zip(length.tolist(), lists.tolist(), strict=True)))
            found.unjudged = [
                a + b for a, b in zip(found.unjudged or [0.0] * len(one.unjudged), one.unjudged, strict=True)
            ]
        return found

    @classmethod
    def of_error(cls, error: RankstoneError) -> Trailer:
        """Tell of a mistake in the data, which is no reason for a traceback."""
        parts = {name: getattr(error, name) for name in ("what", "where", "given", "expected", "fix")}
        return cls(error={"kind": type(error).__name__, **parts})

    def told(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        rest = {name: value for name, value in vars(self).items() if name != "sums"}
        return {**rest, "sums": [one.told() for one in self.sums]}

    @classmethod
    def read(cls, told: dict[str, Any]) -> Trailer:
        """Return what :meth:`told` told; a mistake in the data is raised."""
        if told["error"] is not None:
            kind: Any = getattr(errors, told["error"].pop("kind"), RankstoneError)
            raise kind(told["error"].pop("what"), **told["error"])
        sums = [Sums.read(one) for one in told["sums"]]
        lengths = Counter({int(length): lists for length, lists in told["lengths"].items()})
        counts = {name: Counter(told[name]) for name in _ADDED}
        return cls(**{**told, **counts, "lengths": lengths, "sums": sums})

    def merge(self, other: Trailer) -> None:
        """Take in what another share tells."""
        if not self.sums:
            self.sums = [Sums() for _ in other.sums]
        if other.sums:  # one that has seen nothing has none
            for one, more in zip(self.sums, other.sums, strict=True):
                one.merge(more)
        for name in ("lengths", *_ADDED):
            getattr(self, name).update(getattr(other, name))
        if other.unjudged:
            mine = self.unjudged or [0.0] * len(other.unjudged)
            self.unjudged = [a + b for a, b in zip(mine, other.unjudged, strict=True)]
        self.judged += other.judged
        self.missing += other.missing
        self.extra += other.extra
        self.unmatched = sorted([*self.unmatched, *other.unmatched])[:SHOWN]
        self.strangers = [*self.strangers, *other.strangers][:_SHOWN]

    def excluded(self) -> LeftOut | None:
        """Return what excluding pairs did over all lists; ``None`` where nothing was excluded."""
        if not self.left_out.keys():
            return None
        return LeftOut(**{name: self.left_out[name] for name in _LEFT_OUT}, examples=tuple(self.unmatched))

    def tally(self) -> Tally:
        """Return what was counted over all lists as the tally of one batch."""
        n = np.repeat(list(self.lengths.keys()), list(self.lengths.values())).astype(np.int64)
        counts: dict[str, Any] = {name: self.counts[name] for name in _COUNTS}
        return Tally(
            **counts,
            n=n,
            judged=np.array([self.judged]),
            unjudged=tuple(self.unjudged),
        )


class Share(NamedTuple):
    """What a share came to.

    Attributes
    ----------
    scores
        Of its queries.
    judged
        bool ``[queries]``: which of them somebody judged.
    trailer
        What there is to add up over all shares.
    """

    scores: RunScores
    judged: Bools
    trailer: Trailer


def scored_share(pipeline: Pipeline, table: Table) -> Share:
    """Take the lists of some queries along a pipeline, whose judgments are those of the same queries.

    Parameters
    ----------
    pipeline
        What to compute, and the judgments.
    table
        All rows of these queries; perhaps none.
    """
    judgments = pipeline.judged
    parts, lists = pipeline.aligned(table, pipeline.measure)
    codes = np.concatenate([part.codes for part in parts])[in_order(parts)]
    scores = pipeline.assemble(parts, last=True)
    asked = None
    if pipeline.queries is not None:
        found = check_queries(pipeline.queries, pipeline.measures, judgments.queries.names)
        asked = {"known": found.rows - found.unknown, "missing": found.missing}
    tallies = [part.tally for part in parts if part.tally is not None]
    trailer = Trailer.of(
        pipeline.measures,
        scores,
        tallies,
        int((~lists.seen).sum()),
        lists.unjudged(),
        _told_of(judgments),
        asdict(judgments.given),
        asked,
        None if pipeline.exclude is None else LeftOut.of(pipeline.exclude, tallies),
    )
    return Share(scores, codes >= 0, trailer)


def _told_of(judgments: Judgments) -> dict[str, int]:
    return {
        "queries": len(judgments.queries),
        "judgments": len(judgments.grade),
        "negative": judgments.negative,
        "duplicates": judgments.duplicates,
        "empty": int((judgments.ideal.relevant_count(ANY_GAIN) == 0).sum()),
        "declared": judgments.declared,
        "excluded": judgments.excluded,
        "excluded_relevant": judgments.excluded_relevant,
        "several_subtopics": 0 if judgments.groups is None else judgments.groups.several(),
    }
