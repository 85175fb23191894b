"""What is looked for in slices: differences of queries, or of the rows of an A/B test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record, some
from rankstone.errors import NotComparable

if TYPE_CHECKING:
    from rankstone._basics import Bools, Floats, Ints
    from rankstone.comparison.score_matrix import Matrix


class SlicedValues(Record):
    """What is looked for in slices.

    Attributes
    ----------
    ids
        Queries, or rows of a log.
    values
        Differences per query, scores of one system, or what an experiment's rows say of its difference;
        float64 ``[queries]``.
    sides
        For each system, the one compared with first: what its mean sums up, and counts; float64
        ``[queries]`` each.
    systems
        The system, and the one it is compared with, if any.
    """

    ids: pl.Series
    values: Floats
    sides: tuple[tuple[Floats, Floats], ...]
    systems: tuple[str, ...]
    measure: str
    sign: int = 1
    cluster: Ints | None = None
    kind: str = "queries"
    without_value: int = 0

    @classmethod
    def of(cls, matrix: Matrix) -> SlicedValues:
        """Return the differences of the last system from the first, or the scores of the only one."""
        if len(matrix.systems) > 2:  # noqa: PLR2004 - a pair
            raise NotComparable(
                "slices are of one system, or of two that are compared",
                given=some(matrix.systems),
                fix="name two of the runs",
            )
        if np.ptp(matrix.weight) > 0:
            raise NotComparable(
                f"{matrix.measure} weighs queries, and slices count them alike"
            )
        count = np.ones(len(matrix))
        two = len(matrix.systems) > 1
        values = matrix.differences(1, 0) if two else matrix.values[:, 0]
        sides = tuple((column, count) for column in matrix.values.T)
        names = matrix.systems[::-1]
        ids = matrix.queries.cast(pl.String)
        about = matrix.measure, matrix.sign, matrix.cluster
        return cls(ids, values, sides, names, *about, without_value=matrix.left_out)

    @classmethod
    def of_variants(cls, values: Floats, treated: Bools, **about: Any) -> SlicedValues:  # noqa: ANN401 - fields
        """Return for each row of a log what it says of the difference of two variants.

        That is the overall effect, and how far the row is from the mean of its variant, over the variant's
        share (Athey and Imbens 2016 call it the transformed outcome); its mean is the effect.
        """
        share = treated.mean()
        baseline = values[~treated].mean()
        mean = values[treated].mean()
        transformed = (
            mean
            - baseline
            + np.where(
                treated, (values - mean) / share, -(values - baseline) / (1 - share)
            )
        )
        sides = tuple(
            (np.where(variant, values, 0.0), variant.astype(np.float64))
            for variant in (~treated, treated)
        )
        ids = pl.Series("query_id", map(str, range(1, len(values) + 1)))
        return cls(ids, transformed, sides, kind="rows", **about)
