"""What is in a run, by itself and against judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone.checking.against import against
from rankstone.checking.ids import padded_ids
from rankstone.checking.rows import bad_numbers, duplicates, missing_ids, row, spread
from rankstone.findings import Finding
from rankstone.words import counted, queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone.findings import FileReport

__all__ = ["look_at_run"]


def look_at_run(
    report: FileReport,
    frame: pl.DataFrame,
    truth: pl.DataFrame | None,
    declared: pl.Series | None,
    order: str,
    depths: Sequence[int | None],
) -> None:
    """Say what is in a run.

    Parameters
    ----------
    report
        Where to say it.
    frame
        Its rows.
    truth, declared, depths
        As for :func:`~rankstone.checking.against.against`.
    order
        The option of that name.
    """
    by = "input" if frame["listed"][0] else order
    by = "rank" if by == "score" and "score" not in frame.columns else by  # all that there is
    lengths = frame.group_by("query_id").len()["len"]
    report.facts |= {
        "rows": f"{frame.height:,}",
        "queries": f"{len(lengths):,}",
        "list lengths": spread(lengths),
    }
    report.findings += [*missing_ids(frame), *padded_ids(frame)]
    report.findings += duplicates(frame, "duplicates=first_keep_rank, first_drop, last_drop or keep")
    if by != "input":
        report.findings += [*bad_numbers(frame, by), *_ties(frame, by), *_order(frame, by)]
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


def _no_ranks(frame: pl.DataFrame) -> Iterator[Finding]:
    bad = frame.filter(pl.col("rank").is_null())
    if len(bad):
        what = f"{counted(len(bad), 'row')} whose rank is no whole number"
        yield Finding("note", what, row(bad), "no harm, ranks do not give the order")


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
            yield Finding(note, what, row(tied), fix)
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
        yield Finding("warning", what, row(rises), said, doubtful=2 * lists > frame["query_id"].n_unique())
