"""Imputed grades for retrieved documents without a judgment (``unjudged=…``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadValue, printable
from rankstone.hits.alignment_options import LARGEST_GRADE, recorded_value
from rankstone.hits.extras.extra import Extra
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.hits.pair_index import Matches

if TYPE_CHECKING:
    from rankstone._basics import Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions, Imputation
    from rankstone.hits.batches import Batch
    from rankstone.hits.matched_batch import MatchedBatch


class Imputed(Extra[None]):
    """Grades rows without a judgment."""

    def grade(self, work: MatchedBatch) -> None:
        """Turn every row into a match, unjudged rows with an imputed grade and pair -1."""
        if not work.options.imputes:
            return
        batch = work.batch
        judged = np.zeros(batch.height, bool)
        judged[work.matches.row] = True
        grade = np.empty(batch.height)
        bare = np.flatnonzero(~judged)
        grade[bare] = _imputed(batch, bare, work.judgments, work.options)
        grade[work.matches.row] = work.grade
        pair = np.full(batch.height, -1)
        pair[work.matches.row] = work.matches.pair
        work.matches = Matches(np.arange(batch.height), batch.list_of_row, pair)
        work.grade = grade
        work.judged = judged


def _imputed(
    batch: Batch,
    rows: Ints,
    judgments: Judgments | SelfLabelled,
    options: AlignmentOptions,
) -> Floats:
    rule = options.unjudged
    if callable(rule):
        return _by_function(rule, batch, rows)
    if isinstance(rule, (int, float)):
        return np.full(len(rows), float(rule))
    if isinstance(judgments, SelfLabelled):
        raise BadOption(
            f"unjudged={rule} imputes from judgments, but a labelled table has none",
            fix="set a grade (unjudged=0), or evaluate a run against judgments",
        )
    of, _, middle = rule.partition("_")
    median = middle == "median"
    overall = _overall(judgments.grade, median=median)
    if of == "global":
        return np.full(len(rows), overall)
    if of == "doc":
        return _per_document(judgments, batch.ids(rows), overall, median=median)
    return _per_query(judgments, batch.codes, overall, median=median)[
        batch.list_of_row[rows]
    ]


def _by_function(rule: Imputation, batch: Batch, rows: Ints) -> Floats:
    """Call a function for grades, and check what it returns."""
    if not len(rows):
        return np.empty(0)
    pairs = batch.names.gather(batch.list_of_row[rows]).alias("query_id").to_frame()
    if batch.docs is not None:
        pairs = pairs.with_columns(batch.ids(rows).alias("doc_id"))
    grades_of_rows = np.asarray(rule(pairs))
    expected = f"a grade for each of the {len(rows):,} rows it was given"
    if grades_of_rows.shape != (len(rows),) or grades_of_rows.dtype.kind not in "buif":
        raise BadValue(
            f"unjudged={recorded_value(rule)} did not return a list of grades",
            given=f"shape {grades_of_rows.shape}, {grades_of_rows.dtype}",
            expected=expected,
        )
    grades: Floats = grades_of_rows.astype(np.float64)
    wrong = ~(np.abs(grades) <= LARGEST_GRADE)
    if wrong.any():
        row = int(wrong.argmax())
        pair = ", ".join(
            f"{name} {printable(value, 40)}"
            for name, value in pairs.row(row, named=True).items()
        )
        raise BadValue(
            f"unjudged={recorded_value(rule)} returned {grades[row]}",
            where=pair,
            expected=expected,
        )
    return grades


def _overall(grade: Floats, *, median: bool) -> float:
    if not len(grade):
        return 0.0
    return float(np.median(grade) if median else grade.mean())


def _per_document(
    judgments: Judgments, docs: pl.Series, overall: float, *, median: bool
) -> Floats:
    """Return each document's mean or median grade, the overall one where it was never judged."""
    grade = pl.col("grade").median() if median else pl.col("grade").mean()
    judged = (
        pl.DataFrame({"doc": judgments.pairs.docs, "grade": judgments.grade})
        .group_by("doc")
        .agg(grade)
    )
    grade_of_doc = (
        docs.alias("doc")
        .to_frame()
        .join(judged, on="doc", how="left", maintain_order="left")["grade"]
    )
    return grade_of_doc.fill_null(overall).to_numpy()


def _per_query(
    judgments: Judgments, codes: Ints, overall: float, *, median: bool
) -> Floats:
    """Return each query's mean or median grade, the overall one where nothing is judged."""
    ideal = judgments.ideal.take(codes)
    counts = np.diff(ideal.offsets)
    is_judged = counts > 0
    values = np.full(len(codes), overall)
    if median:
        low = ideal.offsets[:-1] + (counts - 1) // 2
        high = ideal.offsets[:-1] + counts // 2
        lower = ideal.grade[low[is_judged]]
        upper = ideal.grade[high[is_judged]]
        values[is_judged] = (lower + upper) / 2
    else:
        values[is_judged] = ideal.total(ideal.grade)[is_judged] / counts[is_judged]
    return values
