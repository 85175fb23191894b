"""The frames curves come as: their columns, and how arrays become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankstone.hits.arrays import Floats
    from rankstone.measures.curves import Curve, Traced

__all__ = ["COUNTS", "CROSSINGS", "DOMINANCE", "MEAN", "MICRO", "NOISE", "POINTS", "RACES", "REACH"]
__all__ += ["WHICH_K", "curve_frame", "frame_of", "joined", "points_frame"]

Schema = dict[str, Any]

_RUN: Final[Schema] = {"run": pl.String, "curve": pl.String}
_PAIR: Final[Schema] = {"curve": pl.String, "run": pl.String, "other": pl.String}

POINTS: Final[Schema] = {
    "run": pl.String, "query_id": pl.String, "curve": pl.String, "x": pl.Float64, "y": pl.Float64,
}  # fmt: skip
COUNTS: Final[Schema] = {
    **_RUN, "n": pl.Int64, "n_missing": pl.Int64, "n_no_relevant": pl.Int64, "n_undefined": pl.Int64,
}  # fmt: skip
MEAN: Final[Schema] = {
    **_RUN, "x": pl.Float64, "mean": pl.Float64, "n": pl.Int64, "sd": pl.Float64, "se": pl.Float64,
    "band_low": pl.Float64, "band_high": pl.Float64, "min": pl.Float64, "max": pl.Float64,
    "ci_low": pl.Float64, "ci_high": pl.Float64,
}  # fmt: skip
MICRO: Final[Schema] = {**_RUN, "k": pl.Int64, "x": pl.Float64, "y": pl.Float64}
NOISE: Final[Schema] = {
    **_RUN, "measure": pl.String, "n": pl.Int64,
    **dict.fromkeys(("mean", "ci_low", "ci_high", "sd", "se", "cv"), pl.Float64),
    **dict.fromkeys(("q25", "median", "q75", "iqr", "min", "max", "failed"), pl.Float64),
}  # fmt: skip
REACH: Final[Schema] = {
    **_RUN, "target": pl.Float64, "k": pl.Int64, "grows": pl.Boolean, "all_k": pl.List(pl.Int64),
    "ci_low": pl.Int64, "ci_high": pl.Int64, "never": pl.Float64,
}  # fmt: skip
CROSSINGS: Final[Schema] = {
    **_PAIR, "x": pl.Float64, "before": pl.String, "after": pl.String,
    "ci_low": pl.Float64, "ci_high": pl.Float64, "found": pl.Float64,
}  # fmt: skip
DOMINANCE: Final[Schema] = {
    **_PAIR, "above": pl.Int64, "equal": pl.Int64, "below": pl.Int64, "dominates": pl.Boolean,
    "p": pl.Float64, "n": pl.Int64,
}  # fmt: skip
RACES: Final[Schema] = {
    **_PAIR, "target": pl.Float64, "k": pl.Int64, "k_other": pl.Int64,
    "sooner": pl.Float64, "same": pl.Float64, "later": pl.Float64,
}  # fmt: skip
WHICH_K: Final[Schema] = {
    "curve": pl.String, "k": pl.Int64, "n": pl.Int64, "pairs": pl.Int64, "apart": pl.Int64,
    "power": pl.Float64,
    "tau_deepest": pl.Float64, "tau_samples": pl.Float64, "tau_low": pl.Float64,
    "best": pl.String, "best_again": pl.Float64,
}  # fmt: skip


def frame_of(rows: Iterable[tuple[object, ...]], schema: Schema) -> pl.DataFrame:
    """Return rows as a frame; what is no number is null."""
    return pl.DataFrame(list(rows), schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def curve_frame(run: str, curve: Curve, columns: Mapping[str, Any], schema: Schema) -> pl.DataFrame:
    """Return arrays as a frame behind the names of run and curve; what is no number is null."""
    frame = pl.DataFrame(dict(columns)).with_columns(
        pl.lit(run).alias("run"), pl.lit(str(curve)).alias("curve"), pl.col(pl.Float64).fill_nan(None)
    )
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())


def joined(parts: Iterable[pl.DataFrame], schema: Schema) -> pl.DataFrame:
    """Return frames one below the other."""
    return pl.concat([pl.DataFrame(schema=schema), *parts])


def points_frame(run: str, queries: pl.Series, curve: Curve, traced: Traced) -> pl.DataFrame:
    """Return the points of every query that has a curve."""
    if traced.points is None:
        query, x, y = _on_grid(curve, traced)
    else:
        query = np.repeat(np.arange(len(traced.value)), np.diff(traced.points.offsets))
        x, y = traced.points.x, traced.points.y
    some = ~np.isnan(y)
    names = queries.cast(pl.String).gather(query[some])
    return curve_frame(run, curve, {"query_id": names, "x": x[some], "y": y[some]}, POINTS)


def _on_grid(curve: Curve, traced: Traced) -> tuple[Floats, Floats, Floats]:
    grid, count = curve.grid(), len(traced.value)
    return np.repeat(np.arange(count), len(grid)), np.tile(grid, count), traced.value.ravel()
