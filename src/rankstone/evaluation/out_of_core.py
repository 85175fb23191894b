"""Scoring of data larger than memory: one range of query ids after another, in the usual pipeline.

The number of ranges follows from the memory allowed; ranges are cut so that they have about as many rows
each.
"""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Final, Unpack

import polars as pl

from rankstone._basics import Record
from rankstone.errors import BadOption, BadParameter, printable
from rankstone.evaluation.prepared import Prepared, options_for
from rankstone.evaluation.request import RunErrors, name_runs
from rankstone.evaluation.shares import (
    Trailer,
    pads,
    refuse_what_looks_at_others,
    scored_share,
)
from rankstone.evaluation.stored_scores import (
    Origin,
    Store,
    StoredScores,
    check_trailer,
)
from rankstone.hits.judgments import lowest_of
from rankstone.hits.query_lists import Scattered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankstone._basics import Names, Progress
    from rankstone.evaluation.pipeline import Pipeline
    from rankstone.evaluation.request import (
        EvaluationKeywords,
        MeasuresLike,
        QrelsLike,
        RunsLike,
    )
    from rankstone.io.input_table import Table


_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)

#: bytes needed for any data: libraries, pieces of the stream, two batches being processed
_BASE: Final = 600_000_000
_LEAST: Final = 800_000_000
#: bytes of a judgment while it is prepared, and of a query without its scores; text ids take more
_JUDGMENT: Final = {False: 90, True: 140}
_QUERY: Final = {False: 100, True: 170}
#: bytes of one score: as a part, and while parts are assembled
_SCORE: Final = 45
#: bytes of a row that is regrouped by query
_ROW: Final = {False: 55, True: 75}


def parse_size(size: str | float) -> int:
    """Parse a size in bytes.

    >>> parse_size("4GB"), parse_size("1.5 GiB"), parse_size("800M"), parse_size(2_000_000_000)
    (4000000000, 1610612736, 800000000, 2000000000)
    """
    text = (
        f"{size:.0f}"
        if isinstance(size, (int, float)) and not isinstance(size, bool)
        else str(size)
    )
    shape = _SIZE.fullmatch(text)
    if shape is None:
        raise BadParameter(
            f"memory={printable(text)!r} is not a size",
            expected="a number of bytes, 800MB, 4GB, 1.5GiB",
        )
    unit = shape[2].upper()
    units = _UNITS
    if unit and shape[3]:
        units = _BINARY
    size = int(float(shape[1]) * units[unit])
    if size < _LEAST:
        raise BadParameter(
            f"memory={printable(text)} is too little",
            expected=f"{_LEAST // 10**6}MB or more",
        )
    return size


@dataclass(frozen=True)
class MemoryBudget:
    """What must fit into memory at the same time.

    Attributes
    ----------
    memory
        Bytes.
    measures
        The number of measures.
    texts
        True if ids are text, which takes more memory than numbers.
    """

    memory: int
    measures: int
    texts: bool

    def ranges(self, judgments: QuerySurvey, gathered: int = 0) -> int:
        """Return the number of ranges into which to split the queries.

        Parameters
        ----------
        judgments
            The survey of the judgments.
        gathered
            Rows of the run to regroup, where those of a query are scattered.
        """
        queries = min(judgments.stretches, judgments.rows)
        scores = queries * (_QUERY[self.texts] + self.measures * _SCORE)
        size = (
            judgments.rows * _JUDGMENT[self.texts]
            + scores
            + gathered * _ROW[self.texts]
        )
        return max(1, ceil(size / (self.memory - _BASE)))


#: ids that are sampled to choose the ranges
_SAMPLE: Final = 200_000
_SEED: Final = 1


@dataclass(frozen=True)
class QueryRange:
    """Query ids from ``low`` on and below ``high``; ``None`` is no bound.

    Texts are ordered by their UTF-8 bytes.  Rows without an id belong to the range without a lower bound,
    where they are refused.
    """

    low: str | int | None = None
    high: str | int | None = None

    def keep(self) -> pl.Expr:
        """Return the filter for its rows."""
        query = pl.col("query_id")
        if self.low is None and self.high is None:
            return pl.lit(True)
        if self.low is None:
            return (query < self.high) | query.is_null()
        if self.high is None:
            return query >= self.low
        return (query >= self.low) & (query < self.high)

    @property
    def whole(self) -> bool:
        """True if every id belongs to it."""
        return self.low is None and self.high is None


class QuerySurvey(Record):
    """The result of one pass over the query ids of a table.

    Attributes
    ----------
    rows
        The number of rows.
    stretches
        How often a row's query differs from that of the row before: the number of queries, if none is
        scattered.
    sample
        Ids of some rows, enough for good quantiles.
    """

    rows: int
    stretches: int
    sample: pl.Series


def survey(table: Table) -> QuerySurvey:
    """Read a table's query ids without keeping them."""
    rows = 0
    stretches = 0
    kept = pl.Series("query_id", [], dtype=table.schema["query_id"])
    every = 1  # one row in so many is sampled
    for piece in table.tables([pl.col("query_id")]):
        ids = piece["query_id"]
        stretches += int((ids != ids.shift(1)).sum()) + 1
        rows += len(ids)
        kept = kept.append(ids.gather_every(every).drop_nulls())
        while len(kept) > 2 * _SAMPLE:
            kept = kept.gather_every(2)
            every = 2 * every
    return QuerySurvey(rows, stretches, kept)


def ranges(samples: Sequence[pl.Series], count: int) -> list[QueryRange]:
    """Return about ``count`` ranges with about the same number of sampled rows each.

    >>> [(part.low, part.high) for part in ranges([pl.Series([1, 2, 3, 4])], 2)]
    [(None, 3), (3, None)]
    """
    drawn = []
    for sample in samples:
        size = min(len(sample), _SAMPLE)
        drawn.append(sample.sample(size, seed=_SEED))
    ids = pl.concat(drawn).sort()
    if not len(ids):
        return [QueryRange()]

    places = [len(ids) * part // count for part in range(1, count)]
    cuts = ids.gather(places).unique().sort()
    inner = cuts.filter(cuts > ids[0])
    bounds = [None, *inner, None]
    return [QueryRange(low, high) for low, high in pairwise(bounds)]


def evaluate_out_of_core(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    memory: str | float = "4GB",
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> StoredScores:
    """Score runs against judgments, both of which may be larger than memory.

    The queries are split into ranges of ids, so that judgments, scores and, where the rows of a query are
    scattered, lists of one range fit.  A range's rows go through the usual pipeline, its scores are written
    to disk (in ``TMPDIR``), and means are computed from exact sums: all numbers equal those of
    :func:`rankstone.evaluate`, bit by bit.  Runs are read once for each range; of Parquet files sorted by
    query id only the range is read.

    Parameters
    ----------
    qrels, runs, measures, on_bad_run, progress, **options
        As for :func:`rankstone.evaluate`; but imputed grades such as ``unjudged=query_mean``, which depend on
        judgments of other queries, are refused.
    memory
        The memory to use: bytes, or a text such as ``"4GB"`` or ``"800MB"``.  This is an estimate: a larger
        list must be held nevertheless, and so are tables of queries and of intents.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    >>> evaluate_out_of_core(qrels, run, "RR", memory="1GB").to_dict()
    {'run': {'RR': 0.75}}
    """
    if options.get("one_group"):
        raise BadOption(
            "one_group makes one list of all, which cannot be split into ranges of queries"
        )
    ready = Prepared(qrels, measures, **options)
    refuse_what_looks_at_others(ready.options, ready.measures)
    bad = RunErrors(on_bad_run)
    source = ready.judged
    lowest = None
    if pads(ready.measures):
        grades = source.tables([pl.col("relevance")])
        lowest = lowest_of(grades, ready.options.negative)
    work = _Work(ready, lowest, parse_size(memory), progress, bad)
    trailers = {}
    files = {}
    sources = {}
    options_used = ready.options
    try:
        named = name_runs(runs)
        for name, run_source in named.items():
            with bad.of(name):
                run = ready.open(run_source, name)
                options_used = options_for(run, ready.options)
                trailer, stored = work.score(run)
                check_trailer(run.source, trailer, options_used, source.source)
                trailers[name], files[name] = trailer, stored
                failed = Counter(run.failed.values())
                sources[name] = Origin(
                    run.source, run.comments(), run.read_as(), failed
                )
        bad.settle(len(named))
        findings = ready.side_findings()
    except BaseException:
        work.store.remove()
        raise
    judged = Origin(source.source, source.comments(), source.read_as())
    return StoredScores(
        ready.measures,
        trailers,
        options_used,
        ready.queries,
        judged,
        sources,
        files,
        work.store,
        bad_runs=bad.by_run,
        recorded=ready.recorded,
        sides=ready.sources,
        findings=findings,
    )


@dataclass(eq=False)
class _Work:
    """The state shared by all ranges of all runs."""

    ready: Prepared
    #: the lowest grade of all queries, where a measure reads it
    lowest: float | None
    memory: int
    progress: Progress | None
    bad: RunErrors
    store: Store = field(default_factory=Store)
    _surveys: dict[Names, QuerySurvey] = field(default_factory=dict)

    def score(self, run: Table) -> tuple[Trailer, list[Path]]:
        """Score a run; return the merged trailer of its ranges, and the files of their scores."""
        texts = self.ready.texts(run)
        ready = self.ready.as_texts(texts)
        run = run.with_text_ids(*texts)
        if texts not in self._surveys:
            with self.bad.shared():
                self._surveys[texts] = survey(ready.judged)
        known = self._surveys[texts]
        kinds = ready.judged.schema
        budget = MemoryBudget(
            self.memory,
            len(ready.measures),
            pl.String in (kinds["query_id"], kinds["doc_id"]),
        )
        try:
            parts = ranges([known.sample], budget.ranges(known))
            return self._score_ranges(ready, run, parts, regroups=False)
        except Scattered:
            # the rows of a query are gathered first, which takes memory, too
            listed = survey(run)
        count = budget.ranges(known, listed.rows)
        parts = ranges([known.sample, listed.sample], count)
        return self._score_ranges(ready, run, parts, regroups=True)

    def _score_ranges(
        self,
        ready: Prepared,
        run: Table,
        parts: Sequence[QueryRange],
        *,
        regroups: bool,
    ) -> tuple[Trailer, list[Path]]:
        merged = Trailer()
        files = []
        for part in parts:
            keep = None
            rows = run
            if not part.whole:
                keep = part.keep()
                rows = run.only(keep)
            share = ready.only(keep, self.lowest)
            with self.bad.shared():
                pipeline, rows = share.pipeline(rows, regroups=regroups)
            trailer, file = self._scored(pipeline, rows)
            merged.merge(trailer)
            files.append(file)
            _release_memory()
        return merged, files

    def _scored(self, pipeline: Pipeline, run: Table) -> tuple[Trailer, Path]:
        """Score one range; only its trailer and file remain in memory."""
        share = scored_share(pipeline, run.watched(self.progress))
        return share.trailer, self.store.write(share, self.ready.measures)


def _release_memory() -> None:
    """Release the memory of a range before the next one.

    Python must collect reference cycles first, and glibc keeps freed blocks until it is trimmed.
    """
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
