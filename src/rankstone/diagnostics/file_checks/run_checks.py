"""Checks of a run by itself: duplicates, scores, ranks, the order of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankstone._basics import counted, queries
from rankstone.diagnostics.file_checks import BadRows, FileCheck
from rankstone.diagnostics.file_checks.checks_of_all_files import duplicates
from rankstone.diagnostics.findings import Finding, row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.diagnostics.file_checks import CheckedFile


class DuplicateRetrievals(FileCheck):
    """Documents that are retrieved twice for a query."""

    looks_at = ("run",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield an error."""
        choices = "duplicates=first_keep_rank, first_drop, last_drop or keep"
        return duplicates(file, choices)


class EqualScores(FileCheck):
    """Rows of one list with the same score, or with one that float32 does not tell apart."""

    looks_at = ("run",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield the first of both that holds."""
        if file.by == "input":
            return
        for dtype, level in ((pl.Float64, "warning"), (pl.Float32, "note")):
            scores = file.frame.select(
                "query_id", "doc_id", pl.col(file.by).cast(dtype)
            )
            equals = pl.len().over("query_id", file.by)
            tied = scores.filter(equals > 1)
            if not len(tied):
                continue
            sentence = f"{counted(len(tied), 'tied row')} in {queries(tied['query_id'].n_unique())}"
            fix = "see ties=…"
            if dtype == pl.Float32:
                sentence += ", if scores are compared as float32"
                fix = "as trec_eval up to 9 does: see score_dtype=…"
            yield Finding(level, sentence, row(tied), fix)
            return


class RowOrder(FileCheck):
    """Rows that are not in the order of what orders them."""

    looks_at = ("run",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning if every score increases, otherwise a note."""
        if file.by == "input":
            return
        better = pl.col(file.by)
        if file.by != "rank":
            better = -better
        change = better.diff().over("query_id")
        differences = file.frame.select(step=change)
        steps = differences["step"].drop_nulls()
        falls = int((steps < 0).sum())
        if falls and file.by == "score" and falls == len(steps):
            yield Finding(
                "warning",
                "scores increase down every list: are they distances, where smaller is better?",
                None,
                "negate them, or use order=rank",
                doubtful=True,
            )
        elif falls:
            sentence = f"rows are not in the order of {file.by}"
            yield Finding("note", sentence, None, "harmless: they are sorted")


class NoRanks(BadRows):
    """Ranks that are no whole numbers, where they do not give the order."""

    looks_at = ("run",)
    level = "note"
    sentence = "{n:,} {n:row|rows} whose rank is not a whole number"
    advice = "harmless: ranks do not give the order"

    def rows(self, file: CheckedFile) -> pl.DataFrame:
        """Return the rows with such ranks."""
        if "rank" not in file.frame.columns or file.by == "rank":
            return file.frame.clear()
        return file.frame.filter(pl.col("rank").is_null())


class ContradictingRanks(FileCheck):
    """Lists in which a better rank has a lower score; equal ranks do not count."""

    looks_at = ("run",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning with what gives the order."""
        if not {"rank", "score"} <= set(file.frame.columns):
            return
        rows = file.frame.drop_nulls(["rank", "score"])
        down = rows.sort("rank", "score", descending=[False, True])
        rise = pl.col("score").diff().over("query_id") > 0
        rises = down.with_columns(rise=rise).filter("rise")
        lists = rises["query_id"].n_unique()
        if not lists:
            return
        orders = {
            "score": "scores give the order; order=rank uses the ranks",
            "rank": "ranks give the order; order=score uses the scores",
        }
        yield Finding(
            "warning",
            f"ranks contradict scores in {queries(lists)}",
            row(rises),
            orders.get(file.by, "the order of rows counts"),
            doubtful=2 * lists > file.frame["query_id"].n_unique(),
        )


class ScatteredRows(FileCheck):
    """Rows of a query that are not together."""

    looks_at = ("run",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a note."""
        query = file.frame["query_id"]
        if query.rle().len() > query.n_unique():
            sentence = "the rows of a query are not together"
            yield Finding("note", sentence, None, "harmless, but slower to read")
