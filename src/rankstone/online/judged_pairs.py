"""Pairs with their estimates, and how they were estimated."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.online.click_options import ClickOptions
    from rankstone.online.examination import Estimates, Weighing
    from rankstone.online.position_counts import Fit


class JudgedPairs(Record):
    """Pairs with their estimates, and how they were estimated.

    Attributes
    ----------
    pairs, estimates
        Pairs, in any order, and their estimates.
    propensities
        {position: examination probability}, if given or fitted.
    known
        {name: {position: value}} on the accuracy of propensities; for ``pbm``: ``low``, ``high``, ``moved``.
    weighing, fit
        Totals of the weights; how the fit went.
    unlinked
        {position: impressions left out}.
    """

    pairs: pl.DataFrame
    estimates: Estimates
    propensities: Mapping[int, float] = field(default_factory=dict)
    known: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    weighing: Weighing | None = None
    fit: Fit | None = None
    unlinked: Mapping[int, int] = field(default_factory=dict)

    def frame(self, options: ClickOptions) -> pl.DataFrame:
        """Return one row per pair, sorted by query and document."""
        estimates = self.estimates
        estimate = pl.Series("estimate", estimates.value).fill_nan(None)
        relevance = estimate
        if options.grades is not None:
            grade = np.searchsorted(np.array(options.grades), estimates.value, "right")
            relevance = pl.Series(grade, dtype=pl.Int64)
        further = {
            "effective": estimates.effective,
            "standard_error": estimates.error,
            "low": estimates.low,
            "high": estimates.high,
        }
        return self.pairs.with_columns(
            relevance.alias("relevance"),
            pl.Series("impressions", estimates.impressions).cast(pl.Int64),
            pl.Series("clicks", estimates.clicks).cast(pl.Int64),
            estimate,
            *(
                pl.Series(name, values).fill_nan(None)
                for name, values in further.items()
            ),
        ).sort("query_id", "doc_id")

    def kept(self, options: ClickOptions) -> pl.DataFrame:
        """Return the pairs that have a grade."""
        enough = pl.col("impressions") >= options.min_impressions
        return self.frame(options).filter(pl.col("estimate").is_not_null() & enough)

    def positions(self, by_position: pl.DataFrame) -> pl.DataFrame:
        """Add click-through rate, propensity and its accuracy to counts by position."""
        of = {"propensity": self.propensities, **self.known}
        columns = {
            name: pl.Series(
                [values.get(position) for position in by_position["position"]],
                dtype=pl.Float64,
            )
            for name, values in of.items()
        }
        positions = by_position.with_columns(
            ctr=pl.col("clicks") / pl.col("impressions"), **columns
        )
        whole = pl.selectors.by_name("moved", require_all=False).cast(pl.Int64)
        return positions.with_columns(pl.selectors.float().fill_nan(None)).with_columns(
            whole
        )
