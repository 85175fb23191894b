"""Scores of queries, all of them or, where there are too many, those that say most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.io import read_attributes
from rankstone.plots.pairs import query_rows
from rankstone.plots.sampling import MOST, thinned

if TYPE_CHECKING:
    from rankstone.comparing import Comparison

__all__ = ["first_pair", "quantiles", "scores"]

#: numbers that a page holds at most: queries × systems × measures
_NUMBERS: Final = 400_000
#: letters of what was asked
_TEXT: Final = 160
_LEVELS: Final = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


def first_pair(found: Comparison) -> tuple[str, str]:
    """Return the two systems of the first question."""
    one, other = found.table.select("system", "versus").row(0)
    return one, other


def scores(found: Comparison) -> dict[str, Any]:
    """Return ids, what was asked where that is known, and each measure's values by system, in their order.

    ``n`` queries there are; where more than 10,000, or too many numbers, the ends of the first question's
    differences are kept, and queries at even steps between them: they stand for quantiles.
    """
    one, other = first_pair(found)
    lead = found.matrices[found.primary[0]]
    most = min(MOST, _NUMBERS // (len(found.systems) * len(found.measures)))
    ordered = query_rows(lead, lead.systems.index(one), lead.systems.index(other))
    ids = thinned(ordered, most)["query_id"]
    values = {
        measure: [_placed(matrix.queries, matrix.values[:, at], ids) for at in range(len(found.systems))]
        for measure, matrix in found.matrices.items()
    }
    return {"ids": ids.to_list(), "n": len(lead), "values": values, "texts": _texts(found, ids)}


def _texts(found: Comparison, ids: pl.Series) -> list[str | None]:
    """Return what was asked, where the table of queries has a column ``text`` or ``query``."""
    given = {} if found.sources is None else found.sources.given
    if given.get("queries") is None:
        return []
    about = read_attributes(given["queries"], "query_id", given.get("columns"))
    column = next((name for name in ("text", "query", "title") if name in about.columns), None)
    if column is None:
        return []
    placed = ids.to_frame("query_id").join(
        about.collect(column), on="query_id", how="left", maintain_order="left"
    )
    return [None if text is None else printable(str(text), _TEXT) for text in placed[column]]


def _placed(queries: pl.Series, values: np.ndarray[Any, Any], ids: pl.Series) -> list[float | None]:
    """Return the values of the queries asked for, six figures each."""
    frame = pl.DataFrame({"query_id": queries.cast(pl.String), "value": values})
    placed = ids.to_frame().join(frame, on="query_id", how="left", maintain_order="left")["value"]
    return placed.round_sig_figs(6).fill_nan(None).to_list()


def quantiles(found: Comparison) -> pl.DataFrame:
    """Return how the differences of each question are spread over all queries."""
    rows = []
    for measure, system, versus in found.table.select("measure", "system", "versus").iter_rows():
        matrix = found.matrices[measure]
        differences = matrix.differences(matrix.systems.index(system), matrix.systems.index(versus))
        ends = np.quantile(differences, _LEVELS)
        rows.append({
            "measure": measure, "system": system, "versus": versus,
            **{f"{level:.0%}": float(value) for level, value in zip(_LEVELS, ends, strict=True)},
        })  # fmt: skip
    return pl.DataFrame(rows)
