"""The conductor of work that does not fit into memory: range after range, each along the road."""

from __future__ import annotations

import ctypes
import gc
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.asked import checked, columns_read, of_rankings
from rankstone.beside import collapser, declared_queries, excluded_pairs, intents_of, query_table
from rankstone.evaluation import RunErrors, name_runs, options_for
from rankstone.hits.batches import Scattered
from rankstone.hits.exclusion import Exclusion, pairs_of
from rankstone.hits.grade_scale import lowest_of
from rankstone.hits.grouping import prepared
from rankstone.io import Progress, Table, ids_of_two_kinds, read_judgments, read_run, with_csv
from rankstone.out_of_core.budget import Budget, parse_size
from rankstone.out_of_core.ranges import QueryRange, Survey, ranges, survey
from rankstone.out_of_core.result import Store, StoredScores
from rankstone.road import Road
from rankstone.tasks import (
    Origin,
    Trailer,
    check_met,
    pads,
    refuse_what_looks_at_others,
    scored_share,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rankstone.hits.intents import Intents
    from rankstone.hits.options import Alignment
    from rankstone.hits.query_table import QueryTable
    from rankstone.measures import Measure

__all__ = ["evaluate_out_of_core"]


def evaluate_out_of_core(
    qrels: object,
    runs: object,
    measures: str | Measure | Sequence[str | Measure],
    *,
    memory: str | float = "4GB",
    columns: Mapping[str, str] | None = None,
    exclude: object = None,
    collapse: object = None,
    queries: object = None,
    intents: object = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - checked by Alignment
) -> StoredScores:
    """Score runs against judgments, both of which may be larger than memory.

    The queries are split into ranges of ids, so many that judgments, scores and, where the rows of a query
    are scattered, lists of one range fit.  A range's rows go along the same road as ever, its scores go to
    disk (where ``TMPDIR`` says), and means are made of exact sums: all numbers are those of
    :func:`rankstone.evaluate`, bit by bit.  Runs are read once for each range; Parquet whose queries are in
    the order of their ids, only the range itself.

    Parameters
    ----------
    qrels, runs, measures, columns, exclude, collapse, intents, on_bad_run, progress, **options
        As for :func:`rankstone.evaluate`; but ``unjudged=query_mean`` and its like, which look at judgments
        of other queries, are refused.
    memory
        How much may be used: bytes, or a text such as ``"4GB"`` or ``"800MB"``.  An estimate: a list that is
        larger than this must be held all the same, and tables of queries and of intents are.
    queries
        As for :func:`rankstone.evaluate`; this table is held in memory.
    csv_separator, decimal
        How CSV files are written, as for :func:`rankstone.evaluate`.
    format_in
        The format of all files, where suffixes do not tell.

    Returns
    -------
    StoredScores
        Means here, scores of queries in files.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d9": 0.7, "d3": 0.6}}
    >>> evaluate_out_of_core(qrels, run, "RR", memory="1GB").to_dict()
    {'run': {'RR': 0.75}}
    """
    wanted = of_rankings(measures)
    aligned = checked(options, wanted)
    refuse_what_looks_at_others(aligned, wanted)
    renamed, further = with_csv(columns, csv_separator, decimal) or {}, columns_read(wanted)
    bad = RunErrors(on_bad_run)
    table = read_judgments(qrels, renamed, format_in, further=further)
    grades = (pl.col("relevance"),)
    work = _Work(
        judged=table,
        lowest=lowest_of(table.tables(grades), aligned.negative) if pads(wanted) else None,
        exclude=excluded_pairs(exclude, renamed, aligned),
        measures=wanted,
        memory=parse_size(memory),
        collapse=collapser(collapse),
        queries=query_table(queries, wanted, renamed),
        intents=intents_of(intents, renamed),
        further=further,
        progress=progress,
        bad=bad,
    )
    told, files, listed = {}, {}, {}
    own = aligned
    try:
        named = name_runs(runs)
        for name, given in named.items():
            with bad.of(name):
                run = read_run(given, renamed, format_in, order=aligned.order, name=name, ranks=True)
                own = options_for(run, aligned)
                trailer, stored = work.score(run, own)
                check_met(run.source, trailer, own, work.judged.source)
                told[name], files[name] = trailer, stored
                listed[name] = Origin(run.source, run.comments(), run.read_as())
        bad.settle(len(named))
    except BaseException:
        work.store.remove()
        raise
    judged = Origin(work.judged.source, work.judged.comments(), work.judged.read_as())
    return StoredScores(
        wanted, told, own, work.queries, judged, listed, files, work.store, bad_runs=bad.found
    )


@dataclass(eq=False)
class _Work:
    """What all ranges of all runs need."""

    judged: Table
    lowest: float | None  # the bottom of the grade scale, where a measure asks: it is not that of one range
    exclude: Table | None
    measures: tuple[Measure, ...]
    memory: int
    collapse: Callable[[pl.Expr], pl.Expr] | None
    queries: QueryTable | None
    intents: Intents | None
    further: tuple[str, ...]
    progress: Progress | None
    bad: RunErrors
    store: Store = field(default_factory=Store)
    _surveys: dict[tuple[str, ...], Survey] = field(default_factory=dict)

    def score(self, run: Table, options: Alignment) -> tuple[Trailer, list[Path]]:
        """Score a run; return what its ranges tell, and the files of their scores."""
        texts = ids_of_two_kinds(self.judged, run, "texts on both sides, or whole numbers on both sides")
        judged, run = self.judged.with_text_ids(*texts), run.with_text_ids(*texts)
        if texts not in self._surveys:
            with self.bad.shared():
                self._surveys[texts] = survey(judged)
        known = self._surveys[texts]
        of_texts = pl.String in (judged.schema["query_id"], judged.schema["doc_id"])
        budget = Budget(self.memory, len(self.measures), of_texts)
        try:
            parts = ranges([known.sample], budget.ranges(known))
            return self._along(judged, run, options, parts, regroups=False)
        except Scattered:
            pass
        listed = survey(run)
        parts = ranges([known.sample, listed.sample], budget.ranges(known, listed.rows))
        return self._along(judged, run, options, parts, regroups=True)

    def _along(
        self, judged: Table, run: Table, options: Alignment, parts: Sequence[QueryRange], *, regroups: bool
    ) -> tuple[Trailer, list[Path]]:
        told, files = Trailer(), []
        for part in parts:
            some = run if part.whole else run.only(part.keep())
            with self.bad.shared():
                road = self._road(judged, options, part, regroups=regroups)
            found, file = self._scored(road, some)
            told.merge(found)
            files.append(file)
            _let_go()
        return told, files

    def _scored(self, road: Road, run: Table) -> tuple[Trailer, Path]:
        """Score one range, of which nothing but this is left when the next one begins."""
        share = scored_share(road, run.watched(self.progress))
        return share.trailer, self.store.write(share, self.measures)

    def _road(self, judged: Table, options: Alignment, part: QueryRange, *, regroups: bool) -> Road:
        """Return the road for one range: its judgments, and what is excluded from its lists."""
        table = judged if part.whole else judged.only(part.keep())
        frame = table.collect("query_id", "doc_id", "relevance", *self.further)
        declared = declared_queries(table, self.queries)
        if declared is not None:  # the query table knows nothing of ranges
            declared = declared.to_frame("query_id").filter(part.keep()).to_series()
        pairs = None if self.exclude is None else _pairs(self.exclude, frame.schema, part.keep())
        judgments = prepared(frame, options, table.locate, self.intents, declared, pairs)
        if self.lowest is not None:
            judgments = replace(judgments, lowest_grade=self.lowest)
        exclude = Exclusion.of(pairs, frame, options)
        return Road(judgments, options, self.measures, exclude, self.collapse, self.queries, regroups)


def _let_go() -> None:
    """Give back what a range leaves behind: it would be there beside the next one.

    Python has to collect circles first, and glibc keeps blocks that were freed until it is asked.
    """
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def _pairs(table: Table, kinds: Mapping[str, pl.DataType], keep: pl.Expr) -> pl.DataFrame:
    """Return the excluded pairs of one range."""
    pieces = table.tables([pl.col("query_id"), pl.col("doc_id")])
    found = [pairs_of(piece, kinds).filter(keep) for piece in pieces]
    none = pl.DataFrame(schema={name: kinds[name] for name in ("query_id", "doc_id")})
    return pl.concat([none, *found]).unique(maintain_order=True)
