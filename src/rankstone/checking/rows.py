"""What rows of judgments and of runs have in common: ids, numbers, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.errors import printable
from rankstone.findings import Finding
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["bad_numbers", "duplicates", "missing_ids", "row", "spread"]


def missing_ids(frame: pl.DataFrame) -> Iterator[Finding]:
    """Find rows without an id."""
    for column in ("query_id", "doc_id"):
        if count := frame[column].null_count():
            yield Finding("error", f"{counted(count, 'row')} without {column}", None, "repair or remove them")


def bad_numbers(frame: pl.DataFrame, column: str) -> Iterator[Finding]:
    """Find rows whose grade, score or rank is none, or infinite."""
    bad = frame.filter(pl.col(column).is_null() | pl.col(column).is_nan())
    if len(bad):
        yield Finding(
            "error",
            f"{counted(len(bad), 'row')} whose {column} is no number",
            row(bad),
            "repair or remove them",
        )
    infinite = frame.filter(pl.col(column).is_infinite())
    if len(infinite):
        level = "error" if column == "relevance" else "note"
        yield Finding(level, f"{counted(len(infinite), 'row')} whose {column} is infinite", row(infinite))


def duplicates(frame: pl.DataFrame, fix: str) -> Iterator[Finding]:
    """Find pairs that stand in the table more than once."""
    pairs = frame.select("query_id", "doc_id")
    twice = frame.filter(pairs.is_duplicated())
    if len(twice):
        yield Finding(
            "error",
            f"{counted(len(twice), 'row')} with a (query, document) that stands there twice",
            row(twice),
            f"choose {fix}",
        )


def spread(lengths: pl.Series) -> str:
    """Return the least, the greatest and the median of counts as text."""
    values = lengths.to_numpy()
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low}–{high}, median {np.median(values):g}"


def row(frame: pl.DataFrame) -> str:
    """Return query and document of the first row as text."""
    return f"query {printable(frame['query_id'][0], 40)}, document {printable(frame['doc_id'][0], 40)}"
