"""Grades for retrieved documents that nobody judged (``unjudged=…``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import BadOption
from rankstone.hits.judgments import Judgments, SelfLabelled
from rankstone.hits.pairs import Matches

if TYPE_CHECKING:
    from rankstone.hits.arrays import Bools, Floats, Ints
    from rankstone.hits.batches import Batch
    from rankstone.hits.options import Alignment

__all__ = ["impute"]


def impute(
    batch: Batch,
    matches: Matches,
    grades: Floats,
    truth: Judgments | SelfLabelled,
    options: Alignment,
) -> tuple[Matches, Floats, Bools]:
    """Turn every row into a match; unjudged rows get an imputed grade.

    Returns
    -------
    tuple
        Matches (of pair -1 where imputed) and grades of all rows, and which were judged.
    """
    judged = np.zeros(batch.height, bool)
    judged[matches.row] = True
    everything = np.arange(batch.height)
    grade = np.empty(batch.height)
    grade[~judged] = _imputed(batch, np.flatnonzero(~judged), truth, options)
    grade[matches.row] = grades
    pair = np.full(batch.height, -1)
    pair[matches.row] = matches.pair
    return Matches(everything, batch.list_of_row, pair), grade, judged


def _imputed(batch: Batch, rows: Ints, truth: Judgments | SelfLabelled, options: Alignment) -> Floats:
    if isinstance(options.unjudged, (int, float)):
        return np.full(len(rows), float(options.unjudged))
    if isinstance(truth, SelfLabelled):
        raise BadOption(
            f"unjudged={options.unjudged} imputes from judgments, a labelled table has none",
            fix="give a grade (unjudged=0), or evaluate a run against judgments",
        )
    overall = float(truth.grade.mean()) if len(truth.grade) else 0.0
    if options.unjudged == "global_mean":
        return np.full(len(rows), overall)
    if options.unjudged == "doc_mean":
        judged = pl.DataFrame({"doc": truth.pairs.docs, "grade": truth.grade})
        means = judged.group_by("doc").agg(pl.col("grade").mean())
        asked = pl.DataFrame({"doc": batch.ids(rows)})
        found = asked.join(means, on="doc", how="left", maintain_order="left")["grade"]
        return found.fill_null(overall).to_numpy()
    per_list = _per_query(truth, batch.codes, overall, median=options.unjudged == "query_median")
    return per_list[batch.list_of_row[rows]]


def _per_query(truth: Judgments, codes: Ints, overall: float, *, median: bool) -> Floats:
    """Return each query's mean or median judged grade, the overall mean where nothing is judged."""
    ideal = truth.ideal.take(codes)
    counts = np.diff(ideal.offsets)
    some = counts > 0
    values = np.full(len(codes), overall)
    if median:
        low, high = ideal.offsets[:-1] + (counts - 1) // 2, ideal.offsets[:-1] + counts // 2
        values[some] = (ideal.grade[low[some]] + ideal.grade[high[some]]) / 2
    else:
        values[some] = ideal.total(ideal.grade)[some] / counts[some]
    return values
