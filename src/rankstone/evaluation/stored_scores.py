"""Scores whose means are sums over shares of the queries; the scores of queries may be in Parquet files."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import polars as pl

from rankstone._basics import Record, queries
from rankstone.errors import EmptyInput, NotComparable
from rankstone.evaluation.outside_means import outside_means
from rankstone.evaluation.pipeline import cutoffs_of, deepest_of, score_warnings
from rankstone.evaluation.request import choices
from rankstone.evaluation.scores import (
    RunMeans,
    RunScores,
    Scores,
    as_rows,
    status_of,
    weights,
)
from rankstone.evaluation.shares import SUMMED
from rankstone.hits.alignment_audit import Audit, JudgmentsAudit, RunAudit
from rankstone.hits.judgments import GradeCounts
from rankstone.hits.side_table_audit import SideTableAudit
from rankstone.measures.core.measure import Scored, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import NamedValues, Names
    from rankstone.errors import InputError
    from rankstone.evaluation.shares import ShareResult, Trailer
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.judged_pool import QueryTable
    from rankstone.measures.core.measure import Measure, Measures


_MEANS: Final[NamedValues] = {
    "run": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "n": pl.Int64,
    "n_undefined": pl.Int64,
}


@dataclass(frozen=True)
class Origin:
    """The source of rows, its number of comment lines, notes on its format, and failed queries by reason."""

    source: str
    comments: int = 0
    read_as: Names = ()
    failed: Mapping[str, int] = field(default_factory=dict)


class SummedScores(RunMeans, Record):
    """Means computed from shares; the scores of queries are elsewhere, and :meth:`collect` fetches them.

    Attributes
    ----------
    measures
        The measures, in the requested order.
    trailers
        Run name → the counts and sums of its shares.
    options
        The alignment options.
    queries
        The query table, where there is one.
    judged, listed
        The sources of the judgments and of the runs by name.
    bad_runs
        Runs that were left out, with their errors.
    recorded
        The options of side inputs.
    sides
        The sources of the other tables.
    findings
        What side inputs add to the audit of the judgments.
    unnamed
        True if the only run was given without a name.
    """

    measures: tuple[Measure, ...]
    trailers: Mapping[str, Trailer]
    options: AlignmentOptions
    queries: QueryTable | None
    judged: Origin
    listed: Mapping[str, Origin]
    bad_runs: Mapping[str, InputError] = field(default_factory=dict, kw_only=True)
    recorded: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    sides: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    findings: NamedValues = field(default_factory=dict, kw_only=True)
    unnamed: bool = field(default=False, kw_only=True)

    def collect(self) -> Scores:
        """Return the scores in memory, which must be large enough for those of all queries."""
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """Return the rows of :attr:`rankstone.Scores.per_query`; they must fit into memory."""
        return self._collected.per_query

    @cached_property
    def _collected(self) -> Scores:
        return self.collect()

    @property
    def conventions(self) -> NamedValues:
        """All options and parameters that the numbers depend on."""
        return choices(self.options, self.measures, further=self.recorded)

    @property
    def inputs(self) -> NamedValues:
        """The sources of judgments and runs."""
        sources: NamedValues = {
            "judgments": self.judged.source,
            "runs": {name: origin.source for name, origin in self.listed.items()},
            **self.sides,
        }
        if self.queries is not None:
            sources["queries"] = self.queries.source
        return sources

    def _with_runs(self, names: Sequence[str]) -> Self:
        trailers = {name: self.trailers[name] for name in names}
        return replace(
            self, trailers=trailers, listed={name: self.listed[name] for name in names}
        )

    # -- means ---------------------------------------------------------------------------------------
    def share_of(self, run: str, status: str) -> float:
        """Return the share of a run's queries with a status, for the measure where it is largest."""
        code = status_of(status)
        largest = 0.0
        for sums in self.trailers[run].sums:
            n = sum(sums.count(other) for other in Status)
            if n:
                largest = max(largest, sums.count(code) / n)
        return largest

    def mean(
        self, without: str | Iterable[str] = (), by: str | Sequence[str] = ()
    ) -> pl.DataFrame:
        """Return one row per run and measure, as :meth:`rankstone.Scores.mean` does.

        Means, sums and ratios need no score of a query; medians, means of sessions and means ``by`` columns
        of the query table do, and :meth:`collect` them.
        """
        are_sums = all(m.agg in SUMMED and m.unit is None for m in self.measures)
        if by or not are_sums:
            return self._collected.mean(without, by)

        names = (without,) if isinstance(without, str) else without
        left_out = [status_of(name) for name in names]
        rows = []
        for run, trailer in self.trailers.items():
            for measure, sums in zip(self.measures, trailer.sums, strict=True):
                mean, n = sums.mean(measure, left_out)
                undefined = sums.count(Status.undefined)
                rows.append((run, str(measure), mean, n, undefined))
        return pl.DataFrame(rows, _MEANS, orient="row")

    # -- audit -----------------------------------------------------------------------------------------
    @cached_property
    def audit(self) -> Audit:
        """What alignment did."""
        first = next(iter(self.trailers.values()))
        grades = GradeCounts.summed(first.grades)
        counts: NamedValues = {**first.judgments}
        counts.pop("several_subtopics", None)
        counts.pop("excused", None)
        counts["comments"] = self.judged.comments
        findings = {**self.findings}
        counts["warnings"] = (*findings.pop("warnings", ()), *grades.doubts())
        counts["read_as"] = self.judged.read_as
        counts |= findings
        judgments = JudgmentsAudit(source=self.judged.source, **counts)
        runs = {
            name: self._audit(name, trailer) for name, trailer in self.trailers.items()
        }
        bad = dict(self.bad_runs)
        if self.queries is None:
            return Audit(judgments, runs, bad_runs=bad)
        table = self.queries
        unknown = len(table.ids) - first.query_table["known"]
        return Audit(
            judgments,
            runs,
            queries=SideTableAudit(
                table.source,
                len(table.ids),
                unknown,
                first.query_table["missing"],
                read_as=table.read_as,
            ),
            bad_runs=bad,
        )

    def _audit(self, name: str, trailer: Trailer) -> RunAudit:
        audit = RunAudit.of(
            self.listed[name].source,
            [trailer.tally()] if trailer.lengths else [],
            missing=trailer.missing - trailer.judgments["excused"],
            extra=trailer.extra,
            comments=self.listed[name].comments,
            cutoffs=cutoffs_of(self.measures),
            deepest=deepest_of(self.measures),
            order=self.options.order,
            left_out=trailer.excluded(),
            read_as=self.listed[name].read_as,
            failed=self.listed[name].failed,
        )
        counts = {
            measure: [sums.count(status) for status in Status]
            for measure, sums in zip(self.measures, trailer.sums, strict=True)
        }
        more = score_warnings(counts, trailer.judgments["several_subtopics"])
        outside = outside_means(counts, self.options.as_dict())
        return replace(audit, warnings=(*audit.warnings, *more), **outside)


def check_trailer(
    run: str, trailer: Trailer, options: AlignmentOptions, where: str = "judgments"
) -> None:
    """Refuse a run that fails as a whole, which no share can detect alone.

    Parameters
    ----------
    run
        The run's name.
    trailer
        The merged trailer of all shares.
    options
        The alignment options.
    where
        The judgments' name.
    """
    if trailer.judgments["queries"] == trailer.judgments["declared"]:
        raise EmptyInput("there are no judgments", where=where)
    if not trailer.lengths and not trailer.extra:
        raise EmptyInput("the run is empty", where=run)
    if trailer.missing == trailer.judgments["queries"]:
        raise NotComparable(
            "no query of the run is judged",
            where=run,
            given=f"queries of the run {', '.join(trailer.extra_names)}",
            expected="the same query ids on both sides",
            fix="check that judgments and run belong together, and that ids are spelled the same way",
        )
    if options.missing == "error" and trailer.missing:
        raise NotComparable(
            f"{queries(trailer.missing)} missing from the run",
            where=run,
            fix="missing=zero or drop",
        )
    if options.extra == "error" and trailer.extra:
        raise NotComparable(
            f"{queries(trailer.extra)} of the run without judgments",
            where=run,
            given=", ".join(trailer.extra_names),
            fix="extra=drop or keep",
        )


_NUMBERS = ("value", "numerator", "denominator", "weight", "status")


class Store:
    """A temporary folder with one file of scores for each share, removed with this object."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rankstone-"))
        self._written = 0
        self.remove = weakref.finalize(
            self, shutil.rmtree, self._folder, ignore_errors=True
        )

    def write(self, share: ShareResult, measures: Measures) -> Path:
        """Write the scores of a share and return the file."""
        columns: dict[str, object] = {"query_id": share.scores.queries}
        for index, measure in enumerate(measures):
            scored = share.scores.by_measure[measure]
            for name in _NUMBERS:
                columns[f"{name} {index}"] = getattr(scored, name)
            columns[f"weight {index}"] = weights(scored)
        path = self._folder / f"{self._written:06}.parquet"
        pl.DataFrame(columns).write_parquet(path, compression="lz4")
        self._written += 1
        return path


class StoredScores(SummedScores):
    """Scores of one or more runs; those of queries are in files that are removed with this object.

    Means, audit and report equal those of :class:`rankstone.Scores` to the last digit; :meth:`lazy` is a lazy
    frame, and ``write`` writes it without holding it in memory.  Queries are in the order of their ranges of
    ids, and of the judgments inside a range.

    Attributes
    ----------
    measures, trailers, options, queries, judged, listed, bad_runs, recorded, sides, findings, unnamed
        As for sums of scores: the means, and what alignment counted.
    files
        Run name → its files, one row for each query.
    store
        Their folder.
    """

    files: Mapping[str, Sequence[Path]]
    store: Store

    def lazy(self) -> pl.LazyFrame:
        """Return the rows of :attr:`rankstone.Scores.per_query`, lazily."""
        parts = [
            as_rows(
                self._wide(name).select("query_id", **_numbered(index)), name, measure
            )
            for name in self.files
            for index, measure in enumerate(self.measures)
        ]
        return pl.concat(parts)

    @property
    def per_query(self) -> pl.DataFrame:
        """The rows in memory."""
        return self.lazy().collect(engine="streaming")

    def collect(self) -> Scores:
        """Return the scores in memory, which must be large enough for those of all queries."""
        runs = {name: self._run(name) for name in self.files}
        return Scores(runs, self.measures, self.audit, self.conventions, self.inputs)

    def _wide(self, run: str) -> pl.LazyFrame:
        return pl.concat(
            [pl.scan_parquet(path, glob=False) for path in self.files[run]]
        )

    def _run(self, name: str) -> RunScores:
        by_measure = {}
        for index, measure in enumerate(self.measures):
            columns = self._wide(name).select(**_numbered(index))
            frame = columns.collect(engine="streaming")
            arrays = {column: frame[column].to_numpy() for column in _NUMBERS}
            arrays["status"] = arrays["status"].astype(np.int8)
            by_measure[measure] = Scored(**arrays)
        ids = self._wide(name).select("query_id")
        names = ids.collect(engine="streaming")["query_id"]
        about = None
        if self.queries is not None:
            about = self.queries.take(names)
        return RunScores(names, by_measure, about)


def _numbered(index: int) -> dict[str, pl.Expr]:
    """Return the columns of one measure by their plain names."""
    return {name: pl.col(f"{name} {index}") for name in _NUMBERS}
