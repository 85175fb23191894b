"""What the scores of a whole list look like: the highest, the lowest, their spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.hits.extras.extra import Extra
from rankstone.hits.extras.extra_values import QueryArrays

if TYPE_CHECKING:
    from rankstone._basics import Floats
    from rankstone.hits.matched_batch import MatchedBatch


class ScoresOfLists(QueryArrays):
    """Scores of whole lists, float64 ``[queries]`` each; NaN for a list without a document.

    Attributes
    ----------
    top, bottom
        The highest and the lowest score.
    std
        The standard deviation of all of them, of a population.
    diff1
        How far the highest is above the next one, 0 where it is alone.
    """

    top: Floats
    bottom: Floats
    std: Floats
    diff1: Floats


class ListScores(Extra[ScoresOfLists]):
    """Adds what the scores of each list look like; they must be in order of scores."""

    grades_decide = False

    def attach(self, work: MatchedBatch) -> ScoresOfLists:
        """Return the figures."""
        batch = work.batch
        rows = pl.DataFrame({"list": batch.list_of_row, "score": batch.key})
        score = pl.col("score").cast(pl.Float64)
        figures = rows.group_by("list").agg(
            top=score.max(),
            bottom=score.min(),
            std=score.std(ddof=0),
            diff1=score.max() - score.top_k(2).min(),
        )
        lists = pl.DataFrame({"list": np.arange(len(batch.lengths))})
        joined = lists.join(figures, on="list", how="left", maintain_order="left")
        columns = joined.drop("list").fill_null(np.nan)
        return ScoresOfLists(**{each.name: each.to_numpy() for each in columns})
