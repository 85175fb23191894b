"""Bounds of scores over all possible grades of the unjudged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.diagnostics.bound_differences import difference as differ
from rankstone.diagnostics.bound_differences import together
from rankstone.diagnostics.bound_questions import check_measure, check_options
from rankstone.diagnostics.bound_rules import extremes
from rankstone.diagnostics.bounds_result import Bounds, MeasureBounds
from rankstone.diagnostics.filled_lists import slices
from rankstone.diagnostics.lists_with_holes import ListsWithHoles
from rankstone.errors import BadOption, UsageError, printable
from rankstone.evaluation.pipeline import ScoredPart, query_order
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs, of_rankings
from rankstone.hits.alignment_options import LARGEST_GRADE, takes
from rankstone.hits.extras.unjudged_places import Holes
from rankstone.hits.list_arrays import ragged_range
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Floats, Ints, Progress
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.evaluation.scores import RunScores
    from rankstone.hits.alignment_audit import RunAudit
    from rankstone.hits.hits import Hits
    from rankstone.hits.judgments import Judgments
    from rankstone.hits.matching import Chunk
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measures


#: assignments of one query tried at most
LIMIT: Final = 4096
#: holes of two runs that are worked on at a time
_HOLES: Final = 1 << 17


@takes(EvaluationKeywords)
def bounds(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    grades: Sequence[float] | None = None,
    difference: tuple[str, str] | None = None,
    limit: int = LIMIT,
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Bounds:
    """Return the lowest and highest scores over every assignment of grades to unjudged documents.

    A retrieved document without a judgment might have any grade, so a score can be anything between the
    lowest and the highest value over these grades.  All unjudged documents of a list get grades, also those
    below a cutoff, since they enter the ideal list and R; documents that were neither judged nor retrieved
    are not considered.

    Parameters
    ----------
    qrels, runs, measures, progress, **options
        As for :func:`rankstone.evaluate`.
    grades
        The grades a document can have; by default 0 and the grades of the judgments.
    difference
        Names of two runs whose difference is bounded, too.  An unjudged document of both lists has
        one grade, and all unjudged documents of either list enter the ideal list and R of both.
    limit
        How many assignments of grades are tried per query, where the extremes have no closed form; beyond
        that the bounds are valid but may be too wide (``certificate`` is ``outer``).

    Returns
    -------
    Bounds
        Per query, and for the mean.

    Raises
    ------
    UsageError
        For a measure that has no bounds (``Judged``), needs more than grades, or an option under which
        grades decide more than scores (``ties=best``, ``unjudged=condensed`` …).

    Examples
    --------
    Grades 2, 2, 1 and two unjudged documents: both worthless gives nDCG 1, both of grade 2 gives 0.979;
    the lowest is one of grade 2 at the bottom.

    >>> qrels = {"q": {"a": 2, "b": 2, "c": 1}}
    >>> bounds(qrels, {"q": ["a", "b", "c", "d", "e"]}, "nDCG").mean().select("low", "high").row(0)
    (0.9665488040107213, 1.0)
    """
    _check_limit(limit)
    named = name_runs(runs)
    for name in difference or ():
        if name not in named:
            known = ", ".join(map(printable, named))
            raise UsageError(f"there is no run {printable(name)!r}", expected=known)
    for measure in of_rankings(measures):
        check_measure(measure)
    ready = Prepared(qrels, measures, **options)
    for measure in ready.measures:
        check_measure(measure)
    bounder = _Bounder(ready, _scale(grades), limit, difference)
    return bounder.bound(named, progress)


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise BadOption(
            f"limit={limit!r} is not a count", expected="a whole number from 1 up"
        )


def _scale(grades: Sequence[float] | None) -> Floats | None:
    """Check a scale that is given."""
    if grades is None:
        return None
    scale = np.unique(np.array(list(grades), np.float64))
    if not len(scale) or not (scale <= LARGEST_GRADE).all() or scale[0] < 0:
        raise BadOption(
            f"grades={list(grades)!r} is not a scale",
            expected="numbers of 0 or more, such as 0, 1, 2",
        )
    return scale


class _Part(ScoredPart):
    """Scores and bounds of one chunk of hits, and its lists where they are needed again."""

    bounds: list[MeasureBounds]
    lists: ListsWithHoles | None
    rows: Ints | None


class _Side(Record):
    """One of two runs: its lists, the numbers of their queries, their values, and their holes' ids."""

    lists: ListsWithHoles
    codes: Ints
    names: pl.Series
    values: list[Floats]
    docs: pl.Series

    def holes(self, queries: Ints) -> pl.Series:
        """Return the ids of the holes of some queries."""
        return self.docs.gather(
            ragged_range(self.lists.starts[queries], self.lists.listed[queries])
        )


class _Bounder:
    """Judgments prepared once, for the bounds of many runs."""

    def __init__(
        self,
        ready: Prepared,
        scale: Floats | None,
        limit: int,
        pair: tuple[str, str] | None,
    ) -> None:
        check_options(ready.options)
        self._ready, self._measures = ready, ready.measures
        self._scale, self._limit, self._pair = scale, limit, pair
        self._frames: list[pl.DataFrame] = []
        self._sides: dict[str, _Side] = {}
        if pair is not None:
            _check_pair(ready.measures, ready.options.extra)

    def bound(self, runs: Mapping[str, object], progress: Progress | None) -> Bounds:
        """Bound named runs, and the difference of a pair of them."""
        scored = self._ready.score_runs(runs, self._along, progress=progress)
        if self._pair is not None:
            self._frames += self._differences(*self._pair)
        scale: tuple[float, ...] = ()
        if self._scale is not None:
            scale = tuple(self._scale.tolist())
        settings = {"grades": list(scale), "limit": self._limit}
        return Bounds(
            pl.concat(self._frames),
            self._measures,
            scale,
            self._pair,
            scored.audit,
            {**scored.conventions, "bounds": settings},
            scored.inputs,
        )

    def _along(
        self, name: str, pipeline: Pipeline, table: Table
    ) -> tuple[RunScores, RunAudit]:
        """Score one run, and bound its scores on the way."""
        scale = self._grades(pipeline.judged)
        keeps = self._pair is not None and name in self._pair

        def each(chunk: Chunk, hits: Hits) -> _Part:
            part = pipeline.measure(chunk, hits)
            lists = ListsWithHoles.of(hits, pipeline.options.empty)
            bounds = []
            for measure, scored in zip(self._measures, part.scored, strict=True):
                search = extremes(lists, measure, scale, self._limit)
                bounds.append(
                    MeasureBounds.from_search(scored.value, search, lists.holes)
                )
            if not keeps:
                return _Part(**vars(part), bounds=bounds, lists=None, rows=None)
            rows = hits.added(Holes).run_row
            return _Part(**vars(part), bounds=bounds, lists=lists, rows=rows)

        parts, audit = pipeline.map_chunks(table, each, frozenset({Holes}))
        scores = pipeline.assemble(parts)
        order = query_order(parts)
        for place, (measure, scored) in enumerate(scores.by_measure.items()):
            bounded = MeasureBounds.joined(
                [part.bounds[place] for part in parts], order
            )
            frame = bounded.frame(name, str(measure), scores.queries)
            kept = pl.Series(scored.status != Status.dropped)
            self._frames.append(frame.filter(kept))
        if keeps:
            self._sides[name] = _side(parts, table, self._ready)
        return scores, audit

    def _grades(self, judgments: Judgments) -> Floats:
        """Return the scale: as given, or the judgments' own grades and 0."""
        if self._scale is None:
            self._scale = np.unique(np.append(judgments.grade, 0.0))
        self._check_bottom(judgments)
        return self._scale

    def _check_bottom(self, judgments: Judgments) -> None:
        """Refuse grades below those judged where one of them would pad the lists of all queries."""
        assert self._scale is not None  # noqa: S101 - it is settled before it is checked
        bottom = float(self._scale[0])
        padded = [
            measure for measure in self._measures if measure.claims.reads_lowest_grade
        ]
        if padded and bottom < judgments.lowest_grade:
            raise BadOption(
                f"{padded[0]}: one document of grade {bottom:g} would change the lowest grade, which pads "
                f"all lists ({judgments.lowest_grade:g}), so queries cannot be bounded one by one",
                given=f"grades {', '.join(f'{grade:g}' for grade in self._scale)}",
                fix=f"use grades from {judgments.lowest_grade:g} up",
            )

    def _differences(self, first: str, second: str) -> list[pl.DataFrame]:
        """Bound the difference of two runs over the queries that both have."""
        side = self._sides[first]
        other = self._sides[second]
        common, rows, other_rows = np.intersect1d(
            side.codes, other.codes, return_indices=True
        )
        sizes = side.lists.listed[rows] + other.lists.listed[other_rows]
        parts: list[list[MeasureBounds]] = [[] for _ in self._measures]
        assert self._scale is not None  # noqa: S101 - both runs have been scored
        for begin, end in slices(sizes, _HOLES):
            queries = rows[begin:end]
            others = other_rows[begin:end]
            lists = side.lists.take(queries), other.lists.take(others)
            docs = side.holes(queries), other.holes(others)
            question = together(lists, docs)
            for place, measure in enumerate(self._measures):
                value = side.values[place][queries] - other.values[place][others]
                search = differ(question, measure, self._scale, self._limit)
                parts[place].append(
                    MeasureBounds.from_search(value, search, question.holes)
                )

        every = np.arange(len(common))
        names = side.names.gather(rows)
        frames = []
        for measure, bounds in zip(self._measures, parts, strict=True):
            bounded = MeasureBounds.joined(bounds, every)
            frames.append(bounded.frame(f"{first} - {second}", str(measure), names))
        return frames


def _side(parts: Sequence[_Part], table: Table, ready: Prepared) -> _Side:
    """Put the parts of a run together, and read the ids of its holes."""
    docs = ready.unit_ids(table.collect("doc_id")["doc_id"])
    rows = np.concatenate([part.rows for part in parts if part.rows is not None])
    lists = [part.lists for part in parts if part.lists is not None]
    by_measure = zip(*(part.scored for part in parts), strict=True)
    values = [np.concatenate([part.value for part in of]) for of in by_measure]
    return _Side(
        lists=ListsWithHoles.joined(lists),
        codes=np.concatenate([part.codes for part in parts]),
        names=pl.concat([part.names for part in parts]),
        values=values,
        docs=docs.gather(rows).cast(pl.String),
    )


def _check_pair(measures: Measures, extra: str) -> None:
    for measure in measures:
        if measure.agg not in ("mean", "sum"):
            raise BadOption(
                f"{measure}: differences under agg={measure.agg} are not made of differences of queries",
                fix="bound differences under agg=mean",
            )
    if extra == "keep":
        raise BadOption(
            "extra=keep: queries without judgments have no difference to bound",
            fix="use extra=drop",
        )
