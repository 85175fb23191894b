"""The first station of the road: read judgments, runs and labelled tables from anywhere.

Comes in: a path, a frame, a dict, arrays.  Goes out: a :class:`~rankstone.io.table.Table` with our
column names.  Knows nothing of what the rows are for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankstone.io.columns import parse_columns
from rankstone.io.files import read_files, stem
from rankstone.io.objects import read_object
from rankstone.io.table import Table
from rankstone.io.text import GROUPED_QRELS, QRELS, RUN
from rankstone.io.write import atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Table", "atomic", "parse_columns", "read_judgments", "read_labelled", "read_run", "stem"]


def read_judgments(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
) -> Table:
    """Open judgments: ``query_id``, ``doc_id``, ``relevance``, and ``further`` columns by name."""
    layout = GROUPED_QRELS if "subtopic" in further else QRELS
    if isinstance(source, (str, os.PathLike)):
        table = read_files(source, layout, columns or {}, format_in, further=further)
    else:
        table = read_object(source, "relevance", columns or {}, "judgments", further)
    return table.requires("query_id", "doc_id", "relevance", *further)


def read_run(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
    name: str = "run",
) -> Table:
    """Open a run: ``query_id``, ``doc_id``, and what ``order`` asks for."""
    if isinstance(source, (str, os.PathLike)):
        table = read_files(source, RUN, columns or {}, format_in, rank=order == "rank")
    else:
        table = read_object(source, "score", columns or {}, name)
    by = () if order == "input" or table.listed else (order,)
    return table.requires("query_id", "doc_id", *by)


def read_labelled(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
) -> Table:
    """Open a labelled table: ``query_id``, ``relevance`` (or ``label``), a score, perhaps ``doc_id``."""
    columns = {"label": "relevance", **(columns or {})}
    if isinstance(source, (str, os.PathLike)):
        table = read_files(source, RUN, columns, format_in or _not_trec(source))
    else:
        table = read_object(source, "score", columns, "labelled table")
    by = () if order == "input" else (order,)
    return table.requires("query_id", "relevance", *by)


def _not_trec(source: str | os.PathLike[str]) -> str | None:
    """Read standard input as CSV: TREC lines have no labels."""
    return "csv" if os.fspath(source) == "-" else None
