"""The rows of a comparison: one a measure and pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_TEXTS: Final = ("measure", "role", "system", "versus", "interval_kind", "verdict")


_COUNTS: Final = (
    "n",
    "units",
    "left_out",
    "needed",
    "needed_cautious",
    "family",
    "wins",
    "ties",
    "losses",
)


#: columns of the table in their order
_ROWS: Final[dict[str, Any]] = {
    name: pl.String if name in _TEXTS else pl.Int64 if name in _COUNTS else pl.Float64
    for name in (
        "measure",
        "role",
        "system",
        "versus",
        "n",
        "units",
        "left_out",
        "mean",
        "mean_versus",
        "difference",
        "low",
        "high",
        "low_guarded",
        "high_guarded",
        "interval_kind",
        "confidence",
        "verdict",
        "needed",
        "needed_cautious",
        "p",
        "p_adjusted",
        "family",
        "p_t",
        "p_not_worse",
        "p_equivalent",
        "wins",
        "ties",
        "losses",
        "d_z",
        "g",
        "es_hsd",
        "error",
        "spread",
        "low_alone",
        "high_alone",
        "detectable",
    )
}


def comparison_frame(
    rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Return rows as a frame, with further columns (``kinds``) in front; NaN and infinity become null."""
    frame = pl.DataFrame(rows, {**(kinds or {}), **_ROWS})
    numbers = [name for name, kind in _ROWS.items() if kind == pl.Float64]
    finite = [
        pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in numbers
    ]
    return frame.with_columns(finite)
