"""Scores whose means are made of what shares tell, wherever the scores of queries are.

Scores whose queries are in Parquet files: as many as the disk holds.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import queries
from rankstone.errors import EmptyInput, NotComparable
from rankstone.evaluation.pipeline import cutoffs_of, what_to_wonder_about
from rankstone.evaluation.request import choices
from rankstone.evaluation.score_tables import of_runs
from rankstone.evaluation.scores import RunScores, Scores, as_rows, status_of, weights
from rankstone.evaluation.shares import SUMMED
from rankstone.hits.alignment_audit import Audit, BesideAudit, JudgmentsAudit, RunAudit
from rankstone.hits.judgments import Grades
from rankstone.measures.core.measure import Measure, Scored, Status
from rankstone.tables.results import HasMeans

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.errors import InputError
    from rankstone.evaluation.shares import Share, Trailer
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.tables.sheet import Sheet


_MEANS: Final[dict[str, Any]] = {
    "run": pl.String, "measure": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True)
class Origin:
    """Where rows came from, the comment lines passed over there, and what was guessed of how they stand."""

    source: str
    comments: int = 0
    read_as: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class SummedScores(HasMeans):
    """Means of what shares tell; scores of queries are elsewhere, and :meth:`collect` brings them here.

    Attributes
    ----------
    measures
        The measures, in the order asked for.
    told
        Run name → what its shares told of their queries.
    options
        The options of alignment.
    queries
        The query table, where there is one.
    judged, listed
        Where judgments and (run name →) runs came from.
    bad_runs
        Runs that were left out, and what is wrong with each.
    """

    measures: tuple[Measure, ...]
    told: Mapping[str, Trailer]
    options: AlignmentOptions
    queries: QueryTable | None
    judged: Origin
    listed: Mapping[str, Origin]
    bad_runs: Mapping[str, InputError] = field(default_factory=dict, kw_only=True)

    def collect(self) -> Scores:
        """Return the same as one machine holds it; the scores of all queries must fit into its memory."""
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of :attr:`rankstone.Scores.per_query`; they must fit into memory."""
        return self._collected.per_query

    def sheet(
        self,
        digits: int = 4,
        by: Sequence[str] = (),
        intervals: pl.DataFrame | None = None,
        about: Sequence[str] = (),
    ) -> Sheet:
        """Return the means as a sheet; see :func:`rankstone.evaluation.score_tables.of_runs`."""
        return of_runs(self, digits, by, intervals, about)

    @cached_property
    def _collected(self) -> Scores:
        return self.collect()

    @property
    def conventions(self) -> dict[str, Any]:
        """Every option and parameter the numbers depend on."""
        return choices(self.options, self.measures, one_group=False)

    @property
    def inputs(self) -> dict[str, Any]:
        """Where judgments and runs came from."""
        found = {
            "judgments": self.judged.source,
            "runs": {name: one.source for name, one in self.listed.items()},
        }
        return found if self.queries is None else {**found, "queries": self.queries.source}

    # -- means ---------------------------------------------------------------------------------------
    def has(self, status: str) -> bool:
        """Return whether any query has the given status for any measure."""
        code = status_of(status)
        return any(one.count(code) for told in self.told.values() for one in told.sums)

    def share_of(self, run: str, status: str) -> float:
        """Return the share of a run's queries that have a status, of the measure where it is largest."""
        code = status_of(status)
        counts = [(one.count(code), sum(one.count(s) for s in Status)) for one in self.told[run].sums]
        return max((count / n for count, n in counts if n), default=0.0)

    def mean(self, without: str | Iterable[str] = (), by: str | Sequence[str] = ()) -> pl.DataFrame:
        """Return one row per run and measure, as :meth:`rankstone.Scores.mean` does.

        Means of sums need no score of a query; medians, means of sessions and means ``by`` columns of the
        query table do, and :meth:`collect` these.
        """
        if by or not all(measure.agg in SUMMED and measure.unit is None for measure in self.measures):
            return self._collected.mean(without, by)
        left_out = [status_of(name) for name in ((without,) if isinstance(without, str) else without)]
        rows = []
        for name, told in self.told.items():
            for measure, sums in zip(self.measures, told.sums, strict=True):
                undefined = sums.count(Status.undefined)
                rows.append((name, str(measure), *sums.mean(measure, left_out), undefined))
        return pl.DataFrame(rows, _MEANS, orient="row")

    # -- what was found --------------------------------------------------------------------------------
    @cached_property
    def audit(self) -> Audit:
        """What alignment did."""
        first = next(iter(self.told.values()))
        counts: dict[str, Any] = {**first.judgments}
        counts.pop("several_subtopics", None)
        counts |= {"comments": self.judged.comments, "warnings": Grades.summed(first.grades).doubts()}
        counts["read_as"] = self.judged.read_as
        judgments = JudgmentsAudit(source=self.judged.source, **counts)
        runs = {name: self._audit(name, one) for name, one in self.told.items()}
        bad = dict(self.bad_runs)
        if self.queries is None:
            return Audit(judgments, runs, bad_runs=bad)
        table = self.queries
        unknown = len(table.ids) - first.asked["known"]
        return Audit(
            judgments,
            runs,
            queries=BesideAudit(
                table.source, len(table.ids), unknown, first.asked["missing"], read_as=table.read_as
            ),
            bad_runs=bad,
        )

    def _audit(self, name: str, told: Trailer) -> RunAudit:
        found = RunAudit.of(
            self.listed[name].source,
            [told.tally()] if told.lengths else [],
            missing=told.missing,
            extra=told.extra,
            comments=self.listed[name].comments,
            cutoffs=cutoffs_of(self.measures),
            deepest=max((m.deepest for m in self.measures if m.deepest is not None), default=None),
            order=self.options.order,
            left_out=told.excluded(),
            read_as=self.listed[name].read_as,
        )
        bounded = {m: one.count(Status.lower_bound) for m, one in zip(self.measures, told.sums, strict=True)}
        more = what_to_wonder_about(bounded, told.judgments["several_subtopics"])
        return replace(found, warnings=(*found.warnings, *more))


def check_met(run: str, told: Trailer, options: AlignmentOptions, where: str = "judgments") -> None:
    """Refuse what no share can see alone.

    Parameters
    ----------
    run
        What to call the run.
    told
        What all shares told together.
    options
        The options of alignment.
    where
        What to call the judgments.
    """
    if told.judgments["queries"] == told.judgments["declared"]:
        raise EmptyInput("there are no judgments", where=where)
    if not told.lengths and not told.extra:
        raise EmptyInput("the run is empty", where=run)
    if told.missing == told.judgments["queries"]:
        raise NotComparable(
            "no query of the run is judged",
            where=run,
            given=f"queries of the run {', '.join(told.strangers)}",
            expected="the same query ids on both sides",
            fix="check that judgments and run belong together, and that ids are spelled alike",
        )
    if options.missing == "error" and told.missing:
        raise NotComparable(
            f"{queries(told.missing)} missing from the run", where=run, fix="missing=zero or drop"
        )
    if options.extra == "error" and told.extra:
        raise NotComparable(
            f"{queries(told.extra)} of the run nobody judged",
            where=run,
            given=", ".join(told.strangers),
            fix="extra=drop or keep",
        )


_NUMBERS = ("value", "numerator", "denominator", "weight", "status")


class Store:
    """A folder of scores, a file a share, that is gone when nobody needs it any more."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rankstone-"))
        self._written = 0
        self.remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def write(self, share: Share, measures: Sequence[Measure]) -> Path:
        """Write a share's scores; return the file."""
        columns: dict[str, object] = {"query_id": share.scores.queries}
        for at, measure in enumerate(measures):
            scored = share.scores.by_measure[measure]
            columns |= {f"{name} {at}": getattr(scored, name) for name in _NUMBERS if name != "weight"}
            columns[f"weight {at}"] = weights(scored)
        path = self._folder / f"{self._written:06}.parquet"
        pl.DataFrame(columns).write_parquet(path, compression="lz4")
        self._written += 1
        return path


@dataclass(frozen=True, eq=False, repr=False)
class StoredScores(SummedScores):
    """Scores of one or more runs, those of queries in files that are removed with this object.

    Means, audit and report are those of :class:`rankstone.Scores`, to the last digit; :meth:`lazy` is a lazy
    frame, and ``write`` writes it without holding it.  Queries are
    in the order of their ranges of ids, inside a range in that of the judgments.

    Attributes
    ----------
    measures, told, options, queries, judged, listed, bad_runs
        As for sums of scores: the means, and what alignment counted.
    files
        Run name → its files, a row a query.
    store
        Where they are.
    """

    files: Mapping[str, Sequence[Path]]
    store: Store

    def lazy(self) -> pl.LazyFrame:
        """Return the rows of :attr:`rankstone.Scores.per_query`, lazily."""
        parts = [
            as_rows(self._wide(name).select("query_id", **_numbered(at)), name, measure)
            for name in self.files
            for at, measure in enumerate(self.measures)
        ]
        return pl.concat(parts)

    @property
    def per_query(self) -> pl.DataFrame:
        """The same, in memory."""
        return self.lazy().collect(engine="streaming")

    def collect(self) -> Scores:
        """Return the same as one machine holds it; the scores of all queries must fit into its memory."""
        runs = {name: self._run(name) for name in self.files}
        return Scores(runs, self.measures, self.audit, self.conventions, self.inputs)

    def _wide(self, run: str) -> pl.LazyFrame:
        return pl.concat([pl.scan_parquet(path, glob=False) for path in self.files[run]])

    def _run(self, name: str) -> RunScores:
        by_measure = {}
        for at, measure in enumerate(self.measures):
            found = self._wide(name).select(**_numbered(at)).collect(engine="streaming")
            arrays = {column: found[column].to_numpy() for column in _NUMBERS}
            by_measure[measure] = Scored(**{**arrays, "status": arrays["status"].astype(np.int8)})
        names = self._wide(name).select("query_id").collect(engine="streaming")["query_id"]
        return RunScores(names, by_measure, None if self.queries is None else self.queries.take(names))


def _numbered(at: int) -> dict[str, pl.Expr]:
    """Return the columns of one measure under their own names."""
    return {name: pl.col(f"{name} {at}") for name in _NUMBERS}
