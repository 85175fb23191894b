"""What is in judgments, by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone.checking.ids import padded_ids
from rankstone.checking.rows import bad_numbers, duplicates, missing_ids, row, spread
from rankstone.errors import InputError
from rankstone.findings import Finding
from rankstone.hits.arrays import offsets_of
from rankstone.hits.ideal import Ideal
from rankstone.hits.options import LARGEST_GRADE
from rankstone.hits.score_like import Grades
from rankstone.measures.threshold import ANY_GAIN
from rankstone.stats import unseen_share
from rankstone.words import counted, queries, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone.findings import FileReport
    from rankstone.io import Table
    from rankstone.measures import Measure

__all__ = ["look_at_copies", "look_at_judgments"]

#: one-sided level of a gate with one rule
_GATE: Final = 0.025


def look_at_judgments(report: FileReport, frame: pl.DataFrame, measures: Sequence[Measure]) -> None:
    """Say what is in judgments, and what that means for measures that are asked for."""
    grades = frame["relevance"]
    levels = grades.drop_nulls().value_counts().sort("relevance").head(12)
    report.facts |= {
        "judgments": f"{frame.height:,}",
        "queries": f"{(n := frame['query_id'].n_unique()):,}",
        "smallest margin": f"{unseen_share(n, _GATE):.2g} of the range, for a gate where few queries change",
        "grades": ", ".join(f"{grade:g} × {count:,}" for grade, count in levels.iter_rows()),
        "judged a query": spread(frame.group_by("query_id").len()["len"]),
    }
    report.findings += [
        *missing_ids(frame),
        *bad_numbers(frame, "relevance"),
        *_huge(frame),
        *_negative(frame),
        *_score_like(frame),
        *_relevant_alone(grades.drop_nulls(), measures),
        *padded_ids(frame),
    ]
    best = frame.group_by("query_id").agg(pl.col("relevance").max())
    empty = best.filter(pl.col("relevance") <= 0)["query_id"]
    if len(empty):
        report.findings.append(
            Finding(
                "warning", f"{queries(len(empty))} without a relevant document", some(empty), "see --empty"
            )
        )


def _relevant_alone(grades: pl.Series, measures: Sequence[Measure]) -> Iterator[Finding]:
    """Name what means nothing where no document is judged not relevant."""
    if not len(grades) or (grades <= 0).any():
        return
    found = grades.to_numpy()
    meaningless = [
        m for m in measures if m.reads_nonrelevant and (getattr(m, "rel", None) or ANY_GAIN)(found).all()
    ]
    if meaningless:
        says = "says" if len(meaningless) == 1 else "say"
        yield Finding(
            "warning",
            f"no document is judged not relevant, so {', '.join(map(str, meaningless))} {says} nothing",
            None,
            "ask for measures that take unjudged documents for not relevant, such as AP and nDCG",
            doubtful=True,
        )
        return
    yield Finding(
        "note",
        "no document is judged not relevant (no grade of 0 or below)",
        None,
        "Bpref, infAP, AUC(negatives=judged) and unjudged=condensed say nothing then, and Judged@k is P@k",
    )


def look_at_copies(report: FileReport, frame: pl.DataFrame, by_subtopic: Callable[[], Table]) -> None:
    """Tell documents judged twice from documents judged once for each subtopic (or assessor)."""
    twice = list(duplicates(frame, "duplicate_judgments=max, mean, majority, first or last"))
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
    report.facts["subtopics"] = spread(count)
    report.findings.append(
        Finding(
            "note",
            "documents are judged once for each subtopic (the second column)",
            row(frame.filter(frame.select("query_id", "doc_id").is_duplicated())),
            "for measures of diversity; for others the best of its grades is the document's",
        )
    )


def _huge(frame: pl.DataFrame) -> Iterator[Finding]:
    huge = frame.filter(pl.col("relevance").is_finite() & (pl.col("relevance").abs() > LARGEST_GRADE))
    if len(huge):
        what = f"{counted(len(huge), 'grade')} beyond {LARGEST_GRADE:,.0f}"
        yield Finding("error", what, row(huge), "are these ids, or scores, in the wrong column?")


def _negative(frame: pl.DataFrame) -> Iterator[Finding]:
    below = frame.filter(pl.col("relevance") < 0)
    if len(below):
        yield Finding("warning", f"{counted(len(below), 'grade')} below zero", row(below), "see --negative")


def _score_like(frame: pl.DataFrame) -> Iterator[Finding]:
    ordered = frame.drop_nulls().sort("query_id", "relevance", descending=[False, True])
    lengths = ordered["query_id"].rle().struct.field("len").to_numpy().astype(np.int64)
    judged = Ideal(offsets_of(lengths), ordered["relevance"].to_numpy())
    for sentence in Grades.of(judged).doubts():
        yield Finding("warning", sentence, None, "QRELS comes first", doubtful=True)
