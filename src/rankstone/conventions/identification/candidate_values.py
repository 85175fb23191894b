"""Candidate values: scores of many measures under one alignment, and the choices that matter here."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.conventions.identification.rounding import roundings
from rankstone.errors import RankstoneError
from rankstone.evaluation.prepared import options_for
from rankstone.evaluation.request import check, require_columns
from rankstone.hits.alignment import joined
from rankstone.hits.alignment_options import CHOICES, AlignmentOptions
from rankstone.hits.extras.pool_members import PoolMembers
from rankstone.measures.core.definition import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankstone._basics import Bools
    from rankstone.conventions.identification.rounding import Rounding
    from rankstone.evaluation.prepared import Prepared
    from rankstone.hits.alignment_audit import JudgmentsAudit, RunAudit
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Scored


#: the most grades that are tried as thresholds
_THRESHOLDS: Final = 8


@dataclass(frozen=True)
class Facts:
    """Facts about the judgments and the run.

    Attributes
    ----------
    judgments, run
        Their audits.
    grades
        The different grades above zero, in order.
    lacks_highest
        True if a query has no document of the highest grade, so that some threshold leaves it without a
        relevant one.
    narrows
        True if scores change as float32.
    orders
        Other orders of the lists for which the run has data.
    unanswered
        True if there are empty lists.
    """

    judgments: JudgmentsAudit
    run: RunAudit
    grades: tuple[float, ...]
    lacks_highest: bool
    narrows: bool
    orders: tuple[str, ...]
    unanswered: bool

    @classmethod
    def of(
        cls,
        audit: JudgmentsAudit,
        run: RunAudit,
        judgments: Judgments,
        table: Table,
        order: str,
    ) -> Facts:
        """Collect facts that are not in the audits: about grades, scores, and the order of rows."""
        above = np.unique(judgments.grade[judgments.grade > 0]).tolist()
        best = (
            judgments.ideal.relevant_count(Threshold(above[-1]))
            if above
            else np.zeros(1)
        )
        empty = table.unanswered is not None and len(table.unanswered) > 0
        return cls(
            audit, run, tuple(above), not best.all(), *_score_facts(table, order), empty
        )

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Possible thresholds of relevance; the lowest grade is the default."""
        if len(self.grades) <= _THRESHOLDS:
            return self.grades[1:]
        return ()

    @property
    def highest(self) -> float:
        """The highest grade, 1 where none is above 0: the least possible top of the scale."""
        if self.grades:
            return self.grades[-1]
        return 1.0

    @property
    def queries(self) -> int:
        """The number of judged queries."""
        return self.judgments.queries

    def to_dict(self) -> dict[str, Any]:
        """Return the facts that decide which choices matter."""
        run = self.run
        facts = {
            "queries": self.queries,
            "rows": run.rows,
            "tied": run.tied,
            "missing": run.missing,
        }
        facts |= {
            "extra": run.extra,
            "without_relevant": self.judgments.empty,
            "duplicates": run.duplicates,
        }
        return facts | {
            "negative": self.judgments.negative,
            "grades": list(self.grades),
        }

    @property
    def _matters(self) -> dict[str, bool]:
        """Alignment option → True if it can change a rank, or which documents count."""
        return {
            "ties": self.run.tied > 0 or self.narrows,
            "score_dtype": self.narrows,
            "duplicates": self.run.duplicates > 0,
            "duplicate_judgments": self.judgments.duplicates > 0,
            "negative": self.judgments.negative > 0,
            "unjudged": self.run.retrieved > self.run.judged,
            "pool": self.judgments.judgments - self.judgments.negative
            > self.run.judged,
            "no_results": self.unanswered,
            **dict.fromkeys(
                ("missing", "extra", "empty"), False
            ),  # decided when queries are aggregated
        }

    def alignments(self, defaults: AlignmentOptions) -> Iterator[tuple[str, Any]]:
        """Yield options with other values that can change ranks, or which documents count."""
        for option in (name for name, does in self._matters.items() if does):
            for value in CHOICES[option]:
                if value not in ("error", getattr(defaults, option)):
                    yield option, value
        for order in self.orders:
            yield "order", order

    def effective(self, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return the options that make a difference here: a key for equal alignments."""
        matters = self._matters
        return tuple(
            sorted(
                (name, value)
                for name, value in options.items()
                if matters.get(name, True)
            )
        )

    def counted(self, defaults: AlignmentOptions) -> dict[str, tuple[str, ...]]:
        """Return the options that decide which queries count, with their values, the default first."""
        matters = {
            "empty": self.lacks_highest,
            "missing": self.run.missing > 0,
            "extra": self.run.extra > 0,
        }
        choices = {}
        others_than = {
            "error",
            "unanswerable",
        }  # the latter leaves out the queries that drop does
        for option, does in matters.items():
            own = getattr(defaults, option)
            others = (
                [value for value in CHOICES[option] if value not in {*others_than, own}]
                if does
                else []
            )
            choices[option] = (own, *others)
        return choices


def _score_facts(table: Table, order: str) -> tuple[bool, tuple[str, ...]]:
    """Return True if scores change as float32, and by what else lists could be ordered."""
    if "score" not in table.columns:
        return False, ()
    score = pl.col("score")
    query = pl.col("query_id")
    frame = table.collect(
        *(name for name in ("query_id", "score", "rank") if name in table.columns)
    )
    same = query == query.shift(1)
    facts = frame.select(
        narrows=(score.cast(pl.Float32).cast(pl.Float64) != score).any(),
        falls=((score > score.shift(1)) & same).any(),
    ).row(0)
    other = ["input"] if facts[1] else []
    if "rank" in table.columns and not frame["rank"].null_count():
        rank = pl.col("rank")
        crossed = (
            frame.select(((rank < rank.shift(1)) == (score < score.shift(1))) & same)
            .to_series()
            .any()
        )
        other += ["rank"] if crossed or facts[1] else []
    if order == "rank":
        other += ["score"]
    return bool(facts[0]), tuple(column for column in other if column != order)


#: all queries are aligned; which of them count is decided afterwards
_ALL: Final = {"missing": "zero", "extra": "keep", "empty": "zero"}


class Swept(Record):
    """The scores of measures under one alignment.

    Attributes
    ----------
    scores
        Measure → rule for queries without a relevant document → scores; measures that cannot be computed
        are left out.
    rounded
        Measure → rounding of intermediate numbers → scores.
    missing, extra
        bool ``[queries]``: judged but not answered, answered but not judged.
    """

    scores: Mapping[Measure, Mapping[str, Scored]]
    rounded: Mapping[Measure, Mapping[Rounding, Scored]]
    missing: Bools
    extra: Bools


class Sweeper:
    """Judgments and a run that are read once and measured in many ways.

    Parameters
    ----------
    ready
        The judgments, and the default options.
    run
        As for :func:`rankstone.evaluate`; one run.
    name
        The run's name in messages.
    """

    def __init__(self, ready: Prepared, run: object, name: str = "run") -> None:
        self._ready = ready
        self.lists = ready.open(run, name).in_memory()
        self.options = options_for(self.lists, ready.options)

    def judgments(self) -> Judgments:
        """Return the prepared judgments."""
        return self._ready.judgments()

    def without_empty_entries(self) -> Sweeper:
        """Return the same, but an empty entry makes no judged query, as with most libraries."""
        other = copy(self)
        other._ready = self._ready.without_empty_entries()  # noqa: SLF001 - a copy of ourselves
        return other

    def facts(self) -> Facts:
        """Collect facts about the data under the default options."""
        pipeline, table = self._ready.pipeline(self.lists)
        _, audit = pipeline.map_chunks(table, pipeline.measure)
        judgments_audit = self._ready.judgments_audit()
        return Facts.of(
            judgments_audit, audit, pipeline.judged, self.lists, self.options.order
        )

    def sweep(
        self,
        measures: Mapping[Measure, Iterable[str]],
        options: Mapping[str, Any],
        *,
        rounded: bool = False,
    ) -> Swept:
        """Score the run in many ways under one alignment.

        Parameters
        ----------
        measures
            Measure → rules for queries without a relevant document; measures that cannot be computed under
            these options are skipped.
        options
            Alignment options, perhaps with ``one_group``.
        rounded
            True to compute them with rounded intermediate numbers, too.

        Raises
        ------
        RankstoneError
            When the run cannot be aligned under these options.
        """
        alignment = AlignmentOptions(
            **{**{n: v for n, v in options.items() if n != "one_group"}, **_ALL}
        )
        able = [measure for measure in measures if self._can(measure, alignment)]
        ready = self._ready.under(alignment, one_group=bool(options.get("one_group")))
        pipeline, table = ready.pipeline(self.lists)
        pipeline = replace(
            pipeline, options=alignment, measures=tuple(able), audited=False
        )
        chunks, _ = pipeline.align(table, lambda chunk, hits: (chunk, hits))
        parts = [_Part(*chunk) for chunk in _joined_chunks(chunks)]
        several = len(pipeline.judged.queries) > 1
        scores = {}
        written = {}
        for measure in able:
            try:
                rules = tuple(measures[measure])
                scores[measure] = _scored(measure, parts, rules)
                if rounded:
                    written[measure] = _rounded(
                        measure, parts, rules[0], several=several
                    )
            except RankstoneError:  # grades it has no gain for, values out of range
                continue
        missing = np.concatenate([~part.hits.found for part in parts])
        return Swept(
            scores, written, missing, np.concatenate([part.codes for part in parts]) < 0
        )

    def _can(self, measure: Measure, alignment: AlignmentOptions) -> bool:
        """Return True if a measure can be computed from the data under these options."""
        try:
            check(alignment, (measure,))
            require_columns(self._ready.queries, (measure,))
        except RankstoneError:
            return False
        return self._ready.reads((measure,))


class _Part(Record):
    """Hits of some queries; ``undefined`` if their lists are empty and therefore have no value."""

    hits: Hits
    codes: Any  # int64 [queries]
    undefined: bool

    def scored(self, measure: Measure, empty: str) -> Scored:
        scored = measure.score(self.hits, empty)
        if self.undefined:
            return scored.without_value()
        return scored


def _joined_chunks(
    chunks: Sequence[tuple[Chunk, Hits]],
) -> Iterator[tuple[Hits, Any, bool]]:
    """Join hits, because measuring a few queries takes as long as measuring many."""
    plain = [
        (chunk, hits)
        for chunk, hits in chunks
        if not chunk.undefined and PoolMembers not in hits.extras
    ]
    if plain:
        yield (
            joined([hits for _, hits in plain]),
            np.concatenate([chunk.codes for chunk, _ in plain]),
            False,
        )
    for chunk, hits in chunks:
        if chunk.undefined or PoolMembers in hits.extras:
            yield hits, chunk.codes, chunk.undefined


def _scored(
    measure: Measure, parts: Sequence[_Part], rules: Sequence[str]
) -> dict[str, Scored]:
    """Score under every rule for queries without a relevant document, where there are such queries."""
    counts = [measure.relevant_count(part.hits) for part in parts]
    empty = any(count is not None and not count.all() for count in counts)
    by_rule = {
        rule: _together([part.scored(measure, rule) for part in parts])
        for rule in (rules if empty else rules[:1])
    }
    return {rule: by_rule.get(rule, by_rule[rules[0]]) for rule in rules}


def _rounded(
    measure: Measure, parts: Sequence[_Part], empty: str, *, several: bool
) -> dict[Rounding, Scored]:
    """Score with rounded intermediate numbers."""
    scored = [(part.hits, part.scored(measure, empty)) for part in parts]
    rounded = {}
    for rounding in roundings(several=several):
        chunks = [
            replace(scores, value=rounding.values(measure, hits, scores))
            for hits, scores in scored
        ]
        rounded[rounding] = _together(chunks)

    return rounded


def _together(parts: Sequence[Scored]) -> Scored:
    return parts[0].joined(parts, np.arange(sum(len(part.value) for part in parts)))
