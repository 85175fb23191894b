"""What is in the files, before anything is scored: findings, worst first, none of them fatal.

Every file is looked at to the end of what can be read; a problem that would stop an evaluation is an
``error``, one that moves numbers a ``warning``, the rest is worth knowing.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.checking_against import against
from rankstone.errors import InputError, printable
from rankstone.evaluation import name_runs
from rankstone.findings import CheckReport, FileReport, Finding
from rankstone.hits.arrays import offsets_of
from rankstone.hits.ideal import Ideal
from rankstone.hits.options import LARGEST_GRADE
from rankstone.hits.score_like import Grades
from rankstone.io import Table, read_judgments, read_run, shown
from rankstone.stats import unseen_share
from rankstone.words import counted, queries, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["check"]

#: one-sided level of a gate with one rule
_GATE: Final = 0.025


def check(
    qrels: object,
    runs: object,
    *,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    order: str = "score",
    depths: Sequence[int] = (10, 100),
) -> CheckReport:
    """Look at judgments and runs.

    Parameters
    ----------
    qrels, runs, columns, format_in, order
        As for :func:`rankstone.evaluate`.
    depths
        The cutoffs at which unjudged documents are counted, and nDCG is looked at.

    Examples
    --------
    >>> report = check({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}})
    >>> [finding.what for finding in report.files[1].findings][:3]
    ['2 tied rows in 1 query', 'unjudged@10: 50.0%', 'unjudged@100: 50.0%']
    """
    judged = FileReport("judgments", _source(qrels, "judgments"), "judgments")
    declared: pl.Series | None = None

    def opened() -> Table:
        nonlocal declared
        table = read_judgments(qrels, columns, format_in)
        declared = table.unanswered
        return table

    truth = _opened(judged, opened)
    if truth is not None:
        _look_at_judgments(judged, truth)
        _look_at_copies(
            judged, truth, lambda: read_judgments(qrels, columns, format_in, further=["subtopic"])
        )
    files = [judged]
    for name, run in name_runs(runs).items():
        report = FileReport(name, _source(run, name), "run")
        files.append(report)
        frame = _opened(
            report, partial(read_run, run, columns, format_in, order=order, name=name, ranks=True)
        )
        if frame is not None:
            _look_at_run(report, frame, truth, declared, order, depths)
    return CheckReport(files)


def _source(value: object, name: str) -> str:
    return shown(value) if isinstance(value, (str, os.PathLike)) else name


def _opened(report: FileReport, read: Any) -> pl.DataFrame | None:  # noqa: ANN401 - a function
    """Read a table with row numbers; what stops the reading becomes the first finding."""
    try:
        table: Table = read()
        frame = table.collect()
    except InputError as error:
        where = f"{error.where}: " if error.where else ""
        report.findings.append(Finding("error", where + error.what, error.given, error.fix))
        return None
    if table.comments():
        report.facts["comment lines"] = f"{table.comments():,}"
    if (none := table.unanswered) is not None:
        what = "empty lists" if report.kind == "run" else "declared empty"
        report.facts[what] = f"{len(none):,}"
    if frame.is_empty():
        report.findings.append(Finding("error", "there are no rows"))
        return None
    return frame.with_columns(pl.lit(table.listed).alias("listed"))


def _look_at_judgments(report: FileReport, frame: pl.DataFrame) -> None:
    grades = frame["relevance"]
    levels = grades.drop_nulls().value_counts().sort("relevance").head(12)
    report.facts |= {
        "judgments": f"{frame.height:,}",
        "queries": f"{(n := frame['query_id'].n_unique()):,}",
        "smallest margin": f"{unseen_share(n, _GATE):.2g} of the range, for a gate where few queries change",
        "grades": ", ".join(f"{grade:g} × {count:,}" for grade, count in levels.iter_rows()),
        "judged a query": _spread(frame.group_by("query_id").len()["len"]),
    }
    report.findings += [
        *_missing_ids(frame),
        *_bad_numbers(frame, "relevance"),
        *_huge(frame),
        *_negative(frame),
        *_score_like(frame),
    ]
    best = frame.group_by("query_id").agg(pl.col("relevance").max())
    empty = best.filter(pl.col("relevance") <= 0)["query_id"]
    if len(empty):
        report.findings.append(
            Finding(
                "warning", f"{queries(len(empty))} without a relevant document", some(empty), "see --empty"
            )
        )


def _look_at_copies(report: FileReport, frame: pl.DataFrame, by_subtopic: Callable[[], Table]) -> None:
    """Tell documents judged twice from documents judged once for each subtopic (or assessor)."""
    twice = list(_duplicates(frame, "duplicate_judgments=max, mean, majority, first or last"))
    if not twice:
        return
    try:
        groups = by_subtopic().collect()
    except InputError:  # no such column
        groups = frame.with_columns(subtopic=pl.lit("0"))
    if groups.select("query_id", "doc_id", "subtopic").is_duplicated().any():
        report.findings += twice
        return
    count = groups.select("query_id", "subtopic").unique().group_by("query_id").len()["len"]
    report.facts["subtopics"] = _spread(count)
    report.findings.append(
        Finding(
            "note",
            "documents are judged once for each subtopic (the second column)",
            _row(frame.filter(frame.select("query_id", "doc_id").is_duplicated())),
            "for measures of diversity; for others the best of its grades is the document's",
        )
    )


def _look_at_run(
    report: FileReport,
    frame: pl.DataFrame,
    truth: pl.DataFrame | None,
    declared: pl.Series | None,
    order: str,
    depths: Sequence[int],
) -> None:
    by = "input" if frame["listed"][0] else order
    lengths = frame.group_by("query_id").len()["len"]
    report.facts |= {
        "rows": f"{frame.height:,}",
        "queries": f"{len(lengths):,}",
        "list lengths": _spread(lengths),
    }
    report.findings += _missing_ids(frame)
    report.findings += _duplicates(frame, "duplicates=first_keep_rank, first_drop, last_drop or keep")
    if by != "input":
        report.findings += [*_bad_numbers(frame, by), *_ties(frame, by), *_order(frame, by)]
    if "rank" in frame.columns and by != "rank":
        report.findings += _no_ranks(frame)
    if {"rank", "score"} <= set(frame.columns):
        report.findings += _contradictions(frame, by)
    if frame["query_id"].rle().len() > len(lengths):
        report.findings.append(
            Finding("note", "rows of a query are not all together", None, "no harm, only slower to read")
        )
    if truth is not None:
        report.findings += against(frame, truth, declared, by, depths)


def _missing_ids(frame: pl.DataFrame) -> Iterator[Finding]:
    for column in ("query_id", "doc_id"):
        if count := frame[column].null_count():
            yield Finding("error", f"{counted(count, 'row')} without {column}", None, "repair or remove them")


def _bad_numbers(frame: pl.DataFrame, column: str) -> Iterator[Finding]:
    bad = frame.filter(pl.col(column).is_null() | pl.col(column).is_nan())
    if len(bad):
        yield Finding(
            "error",
            f"{counted(len(bad), 'row')} whose {column} is no number",
            _row(bad),
            "repair or remove them",
        )
    infinite = frame.filter(pl.col(column).is_infinite())
    if len(infinite):
        level = "error" if column == "relevance" else "note"
        yield Finding(level, f"{counted(len(infinite), 'row')} whose {column} is infinite", _row(infinite))


def _no_ranks(frame: pl.DataFrame) -> Iterator[Finding]:
    bad = frame.filter(pl.col("rank").is_null())
    if len(bad):
        what = f"{counted(len(bad), 'row')} whose rank is no whole number"
        yield Finding("note", what, _row(bad), "no harm, ranks do not give the order")


def _duplicates(frame: pl.DataFrame, fix: str) -> Iterator[Finding]:
    pairs = frame.select("query_id", "doc_id")
    twice = frame.filter(pairs.is_duplicated())
    if len(twice):
        yield Finding(
            "error",
            f"{counted(len(twice), 'row')} with a (query, document) that stands there twice",
            _row(twice),
            f"choose {fix}",
        )


def _huge(frame: pl.DataFrame) -> Iterator[Finding]:
    huge = frame.filter(pl.col("relevance").is_finite() & (pl.col("relevance").abs() > LARGEST_GRADE))
    if len(huge):
        what = f"{counted(len(huge), 'grade')} beyond {LARGEST_GRADE:,.0f}"
        yield Finding("error", what, _row(huge), "are these ids, or scores, in the wrong column?")


def _negative(frame: pl.DataFrame) -> Iterator[Finding]:
    below = frame.filter(pl.col("relevance") < 0)
    if len(below):
        yield Finding("warning", f"{counted(len(below), 'grade')} below zero", _row(below), "see --negative")


def _score_like(frame: pl.DataFrame) -> Iterator[Finding]:
    ordered = frame.drop_nulls().sort("query_id", "relevance", descending=[False, True])
    lengths = ordered["query_id"].rle().struct.field("len").to_numpy().astype(np.int64)
    judged = Ideal(offsets_of(lengths), ordered["relevance"].to_numpy())
    for sentence in Grades.of(judged).doubts():
        yield Finding("warning", sentence, None, "QRELS comes first", doubtful=True)


def _ties(frame: pl.DataFrame, by: str) -> Iterator[Finding]:
    for dtype, note in ((pl.Float64, "warning"), (pl.Float32, "note")):
        tied = frame.select("query_id", "doc_id", pl.col(by).cast(dtype)).filter(
            pl.len().over("query_id", by) > 1
        )
        if len(tied):
            what = f"{counted(len(tied), 'tied row')} in {queries(tied['query_id'].n_unique())}"
            if dtype == pl.Float32:
                what += ", if scores are compared as float32"
            fix = "see --ties" if dtype == pl.Float64 else "as trec_eval up to 9 does: see --score-dtype"
            yield Finding(note, what, _row(tied), fix)
            return


def _order(frame: pl.DataFrame, by: str) -> Iterator[Finding]:
    better = pl.col(by) if by == "rank" else -pl.col(by)
    steps = frame.select(step=better.diff().over("query_id"))["step"].drop_nulls()
    falls = int((steps < 0).sum())
    if not falls:
        return
    if by == "score" and falls == len(steps):
        yield Finding(
            "warning",
            "scores rise down every list: are they distances, smaller is better?",
            None,
            "negate them, or use --order rank",
            doubtful=True,
        )
    else:
        yield Finding("note", f"rows are not in the order of {by}", None, "no harm, they are sorted")


def _contradictions(frame: pl.DataFrame, by: str) -> Iterator[Finding]:
    """Find lists in which a better rank goes with a lower score; equal ranks say nothing."""
    down = frame.drop_nulls(["rank", "score"]).sort("rank", "score", descending=[False, True])
    rises = down.with_columns(rise=pl.col("score").diff().over("query_id") > 0).filter("rise")
    lists = rises["query_id"].n_unique()
    if lists:
        fix = {
            "score": "scores give the order; --order rank would take the ranks",
            "rank": "ranks give the order; --order score would take the scores",
        }
        what = f"ranks contradict scores in {queries(lists)}"
        said = fix.get(by, "the order of rows is what counts")
        yield Finding("warning", what, _row(rises), said, doubtful=2 * lists > frame["query_id"].n_unique())


def _spread(lengths: pl.Series) -> str:
    values = lengths.to_numpy()
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low}–{high}, median {np.median(values):g}"


def _row(frame: pl.DataFrame) -> str:
    return f"query {printable(frame['query_id'][0], 40)}, document {printable(frame['doc_id'][0], 40)}"
