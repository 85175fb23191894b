"""Checks of judgments: grades, what they mean for the requested measures, duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone._basics import queries, some
from rankstone.diagnostics.file_checks import BadRows, FileCheck
from rankstone.diagnostics.file_checks.checks_of_all_files import duplicates
from rankstone.diagnostics.findings import Finding, row, spread
from rankstone.errors import InputError
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.judgments import GradeCounts
from rankstone.hits.list_arrays import Ideal, offsets_of
from rankstone.measures.core.definition import ANY_GAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.diagnostics.file_checks import CheckedFile


class HugeGrades(BadRows):
    """Grades that sums would not hold exactly."""

    looks_at = ("judgments",)
    sentence = f"{{n:,}} {{n:grade|grades}} beyond {LARGEST_GRADE:,.0f}"
    advice = "are these ids or scores from another column?"

    def rows(self, file: CheckedFile) -> pl.DataFrame:
        """Return the judgments with such grades."""
        grade = pl.col("relevance")
        is_huge = grade.abs() > LARGEST_GRADE
        return file.frame.filter(grade.is_finite() & is_huge)


class NegativeGrades(BadRows):
    """Grades below zero."""

    looks_at = ("judgments",)
    level = "warning"
    sentence = "{n:,} {n:grade|grades} below zero"
    advice = "see negative=…"

    def rows(self, file: CheckedFile) -> pl.DataFrame:
        """Return the judgments with such grades."""
        return file.frame.filter(pl.col("relevance") < 0)


class ScoresForGrades(FileCheck):
    """Grades that look like the scores of a run."""

    looks_at = ("judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield the doubts about the grades."""
        rows = file.frame.drop_nulls()
        rows = rows.sort("query_id", "relevance", descending=[False, True])
        runs = rows["query_id"].rle().struct
        lengths = runs.field("len").to_numpy()
        offsets = offsets_of(lengths.astype(np.int64))
        grades = rows["relevance"].to_numpy()
        judged = Ideal(offsets, grades)
        for sentence in GradeCounts.of(judged).doubts():
            yield Finding("warning", sentence, None, "QRELS comes first", doubtful=True)


class RelevantAlone(FileCheck):
    """No document that is judged not relevant, and measures that need some."""

    looks_at = ("judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning if a requested measure is meaningless, otherwise a note."""
        grades = file.frame["relevance"].drop_nulls()
        if not len(grades) or (grades <= 0).any():
            return
        values = grades.to_numpy()
        meaningless = [
            str(measure)
            for measure in file.measures
            if measure.claims.reads_nonrelevant
            and (getattr(measure, "rel", None) or ANY_GAIN)(values).all()
        ]
        if meaningless:
            are = "is" if len(meaningless) == 1 else "are"
            yield Finding(
                "warning",
                f"no document is judged not relevant, so {', '.join(meaningless)} {are} meaningless",
                None,
                "use measures that treat unjudged documents as not relevant, such as AP and nDCG",
                doubtful=True,
            )
            return
        yield Finding(
            "note",
            "no document is judged not relevant (no grade of 0 or below)",
            None,
            "Bpref, infAP, AUC(negatives=judged) and condensed lists have no meaning then, Judged@k is P@k",
        )


class NothingRelevant(FileCheck):
    """Queries without a relevant document."""

    looks_at = ("judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a finding with some of the queries."""
        highest = pl.col("relevance").max()
        best = file.frame.group_by("query_id").agg(highest)
        empty = best.filter(pl.col("relevance") <= 0)["query_id"]
        if len(empty):
            sentence = f"{queries(len(empty))} without a relevant document"
            yield Finding("warning", sentence, some(empty), "see empty=…")


class DuplicateJudgments(FileCheck):
    """Pairs that are judged twice, unless they are judged for different subtopics (or by assessors)."""

    looks_at = ("judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield an error for duplicates, a note for subtopics."""
        choices = "duplicate_judgments=max, mean, majority, first or last"
        twice = list(duplicates(file, choices))
        if not twice or file.by_subtopic is None:
            return
        try:
            groups = file.by_subtopic().collect()
        except InputError:  # no such column
            groups = file.frame.with_columns(subtopic=pl.lit("0"))
        if groups.select("query_id", "doc_id", "subtopic").is_duplicated().any():
            yield from twice
            return

        subtopics = groups.select("query_id", "subtopic").unique()
        counts = subtopics.group_by("query_id").len()
        file.facts["subtopics"] = spread(counts["len"])
        pairs = file.frame.select("query_id", "doc_id")
        yield Finding(
            "note",
            "documents are judged once for each subtopic (the second column)",
            row(file.frame.filter(pairs.is_duplicated())),
            "for measures of diversity; other measures use a document's best grade",
        )
