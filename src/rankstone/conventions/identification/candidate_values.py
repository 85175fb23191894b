"""One alignment, many measures: every value that the queries have.

What there is in the data: which choices can make a difference at all.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.conventions.identification.reported_number import roundings
from rankstone.errors import RankstoneError
from rankstone.evaluation.prepared import options_for
from rankstone.evaluation.request import check, require_columns
from rankstone.hits.alignment import joined
from rankstone.hits.alignment_options import CHOICES, AlignmentOptions
from rankstone.measures.core.definition import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankstone.conventions.identification.reported_number import Rounding
    from rankstone.evaluation.prepared import Prepared
    from rankstone.hits.alignment_audit import JudgmentsAudit, RunAudit
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.list_arrays import Bools
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure, Scored


#: grades that are tried as thresholds, at most
_THRESHOLDS: Final = 8


@dataclass(frozen=True)
class Facts:
    """What the judgments and the run hold.

    Attributes
    ----------
    judgments, run
        What alignment found.
    grades
        The different grades above zero, in order.
    hollow
        Whether a query has no document of the highest grade, so that under some threshold it has nothing
        relevant.
    narrows
        Whether scores become others as float32.
    orders
        Other ways to order the lists that the run has data for.
    unanswered
        Whether lists are there and empty.
    """

    judgments: JudgmentsAudit
    run: RunAudit
    grades: tuple[float, ...]
    hollow: bool
    narrows: bool
    orders: tuple[str, ...]
    unanswered: bool

    @classmethod
    def of(
        cls, audit: JudgmentsAudit, run: RunAudit, judgments: Judgments, table: Table, order: str
    ) -> Facts:
        """Look at what alignment does not tell: grades, scores, and the order of the rows."""
        above = np.unique(judgments.grade[judgments.grade > 0]).tolist()
        best = judgments.ideal.relevant_count(Threshold(above[-1])) if above else np.zeros(1)
        empty = table.unanswered is not None and len(table.unanswered) > 0
        return cls(audit, run, tuple(above), not best.all(), *_of_scores(table, order), empty)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Grades that may be where relevance begins; the lowest is where it begins anyway."""
        return self.grades[1:] if len(self.grades) <= _THRESHOLDS else ()

    @property
    def highest(self) -> float:
        """The highest grade there is, 1 where none is above 0: the least that the top of the scale can be."""
        return self.grades[-1] if self.grades else 1.0

    @property
    def queries(self) -> int:
        """How many queries are judged."""
        return self.judgments.queries

    def told(self) -> dict[str, Any]:
        """Return what decides which choices matter."""
        run = self.run
        told = {"queries": self.queries, "rows": run.rows, "tied": run.tied, "missing": run.missing}
        told |= {"extra": run.extra, "without_relevant": self.judgments.empty, "duplicates": run.duplicates}
        return told | {"negative": self.judgments.negative, "grades": list(self.grades)}

    @property
    def _matters(self) -> dict[str, bool]:
        """Whether an option of alignment can change where a document stands, or that it counts."""
        return {
            "ties": self.run.tied > 0 or self.narrows,
            "score_dtype": self.narrows,
            "duplicates": self.run.duplicates > 0,
            "duplicate_judgments": self.judgments.duplicates > 0,
            "negative": self.judgments.negative > 0,
            "unjudged": self.run.retrieved > self.run.judged,
            "pool": self.judgments.judgments - self.judgments.negative > self.run.judged,
            "no_results": self.unanswered,
            **dict.fromkeys(("missing", "extra", "empty"), False),  # decided when queries are put together
        }

    def alignments(self, usual: AlignmentOptions) -> Iterator[tuple[str, Any]]:
        """Return the options, each with another value, that may change where documents stand or count."""
        for option in (name for name, does in self._matters.items() if does):
            for value in CHOICES[option]:
                if value not in ("error", getattr(usual, option)):
                    yield option, value
        for order in self.orders:
            yield "order", order

    def effective(self, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return options without those that make no difference here: a key of what is aligned alike."""
        matters = self._matters
        return tuple(sorted((name, value) for name, value in options.items() if matters.get(name, True)))

    def counted(self, usual: AlignmentOptions) -> dict[str, tuple[str, ...]]:
        """Return the options that say which queries count, and for how much, the usual value first."""
        matters = {
            "empty": self.hollow,
            "missing": self.run.missing > 0,
            "extra": self.run.extra > 0,
        }
        found = {}
        for option, does in matters.items():
            own = getattr(usual, option)
            others = [value for value in CHOICES[option] if value not in ("error", own)] if does else []
            found[option] = (own, *others)
        return found


def _of_scores(table: Table, order: str) -> tuple[bool, tuple[str, ...]]:
    """Say whether scores are others as float32, and by what else lists could be ordered."""
    if "score" not in table.columns:
        return False, ()
    score, query = pl.col("score"), pl.col("query_id")
    frame = table.collect(*(name for name in ("query_id", "score", "rank") if name in table.columns))
    same = query == query.shift(1)
    told = frame.select(
        narrows=(score.cast(pl.Float32).cast(pl.Float64) != score).any(),
        falls=((score > score.shift(1)) & same).any(),
    ).row(0)
    other = ["input"] if told[1] else []
    if "rank" in table.columns and not frame["rank"].null_count():
        rank = pl.col("rank")
        crossed = frame.select(((rank < rank.shift(1)) == (score < score.shift(1))) & same).to_series().any()
        other += ["rank"] if crossed or told[1] else []
    if order == "rank":
        other += ["score"]
    return bool(told[0]), tuple(one for one in other if one != order)


#: which queries count is decided afterwards, so that all of them are brought
_ALL: Final = {"missing": "zero", "extra": "keep", "empty": "zero"}


@dataclass(frozen=True, eq=False)
class Swept:
    """What measures gave under one alignment.

    Attributes
    ----------
    scores
        Measure → rule for queries without a relevant document → scores; measures that cannot be computed
        are left out.
    rounded
        Measure → what is written down on the way → scores.
    missing, extra
        bool ``[queries]``: judged but not answered, answered but not judged.
    """

    scores: Mapping[Measure, Mapping[str, Scored]]
    rounded: Mapping[Measure, Mapping[Rounding, Scored]]
    missing: Bools
    extra: Bools


class Sweeper:
    """Judgments and a run that are read once, and measured in many ways.

    Parameters
    ----------
    ready
        The judgments, and the options that are usual here.
    run
        As for :func:`rankstone.evaluate`; one run.
    name
        What the run is called in messages.
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
        """Look at the data under the usual options."""
        pipeline, table = self._ready.pipeline(self.lists)
        _, audit = pipeline.map_chunks(table, pipeline.measure)
        found = self._ready.judgments_audit()
        return Facts.of(found, audit, pipeline.judged, self.lists, self.options.order)

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
            What to compute, each under which rules for queries without a relevant document; what cannot be
            computed under these options is passed over.
        options
            Options of alignment, ``one_group`` perhaps among them.
        rounded
            Whether to compute them with numbers written down on the way, too.

        Raises
        ------
        RankstoneError
            When the run cannot be aligned so.
        """
        alignment = AlignmentOptions(**{**{n: v for n, v in options.items() if n != "one_group"}, **_ALL})
        able = [measure for measure in measures if self._can(measure, alignment)]
        ready = self._ready.under(alignment, one_group=bool(options.get("one_group")))
        pipeline, table = ready.pipeline(self.lists)
        pipeline = replace(pipeline, options=alignment, measures=tuple(able))
        chunks, _ = pipeline.align(table, lambda chunk, hits: (chunk, hits))
        parts = [_Part(*one) for one in _as_few(chunks)]
        several = len(pipeline.judged.queries) > 1
        scores, written = {}, {}
        for measure in able:
            try:
                rules = tuple(measures[measure])
                scores[measure] = _scored(measure, parts, rules)
                if rounded:
                    written[measure] = _rounded(measure, parts, rules[0], several=several)
            except RankstoneError:  # grades it has no gain for, values out of range
                continue
        missing = np.concatenate([~part.hits.found for part in parts])
        return Swept(scores, written, missing, np.concatenate([part.codes for part in parts]) < 0)

    def _can(self, measure: Measure, alignment: AlignmentOptions) -> bool:
        """Say whether the data suffice for a measure, and it is defined under such options."""
        try:
            check(alignment, (measure,))
            require_columns(self._ready.queries, (measure,))
        except RankstoneError:
            return False
        return self._ready.reads((measure,))


@dataclass(frozen=True, eq=False)
class _Part:
    """Hits of some queries; ``undefined`` where their lists are empty and have no value for that."""

    hits: Hits
    codes: Any  # int64 [queries]
    undefined: bool

    def scored(self, measure: Measure, empty: str) -> Scored:
        found = measure.score(self.hits, empty)
        return found.without_value() if self.undefined else found


def _as_few(chunks: Sequence[tuple[Chunk, Hits]]) -> Iterator[tuple[Hits, Any, bool]]:
    """Bring hits together: measuring a few queries takes as long as measuring many."""
    plain = [(chunk, hits) for chunk, hits in chunks if not chunk.undefined and hits.pool is None]
    if plain:
        yield joined([hits for _, hits in plain]), np.concatenate([chunk.codes for chunk, _ in plain]), False
    for chunk, hits in chunks:
        if chunk.undefined or hits.pool is not None:
            yield hits, chunk.codes, chunk.undefined


def _scored(measure: Measure, parts: Sequence[_Part], rules: Sequence[str]) -> dict[str, Scored]:
    """Score under every rule for queries without a relevant document, where there are such queries."""
    counts = [measure.relevant_count(part.hits) for part in parts]
    empty = any(count is not None and not count.all() for count in counts)
    found = {
        rule: _together([part.scored(measure, rule) for part in parts])
        for rule in (rules if empty else rules[:1])
    }
    return {rule: found.get(rule, found[rules[0]]) for rule in rules}


def _rounded(
    measure: Measure, parts: Sequence[_Part], empty: str, *, several: bool
) -> dict[Rounding, Scored]:
    """Score with numbers written down on the way."""
    scored = [(part.hits, part.scored(measure, empty)) for part in parts]
    return {
        one: _together([replace(found, value=one.values(measure, hits, found)) for hits, found in scored])
        for one in roundings(several=several)
    }


def _together(parts: Sequence[Scored]) -> Scored:
    return parts[0].joined(parts, np.arange(sum(len(part.value) for part in parts)))
