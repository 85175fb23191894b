"""The first station of the road: read judgments, runs and labelled tables from anywhere.

Comes in: a path, a frame, a dict, arrays.  Goes out: a :class:`~rankstone.io.table.Table` with our
column names.  Knows nothing of what the rows are for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rankstone.io.attributes import Attributes, read_attributes
from rankstone.io.columns import parse_columns
from rankstone.io.files import read_files, stem
from rankstone.io.matching import ids_of_two_kinds
from rankstone.io.objects import read_object
from rankstone.io.table import Progress, Table
from rankstone.io.text import GROUPED_QRELS, INTENTS, PREFERENCES, QRELS, RUN
from rankstone.io.write import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Attributes",
    "Progress",
    "Table",
    "atomic",
    "ids_of_two_kinds",
    "parse_columns",
    "read_attributes",
    "read_intents",
    "read_interactions",
    "read_judgments",
    "read_labelled",
    "read_run",
    "stem",
]


def read_judgments(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
) -> Table:
    """Open judgments: ``query_id``, ``doc_id``, ``relevance``, and ``further`` columns by name."""
    layout = GROUPED_QRELS if "subtopic" in further else QRELS
    layout = PREFERENCES if "subgroup" in further else layout
    if isinstance(source, Table):
        table = source
    elif isinstance(source, (str, os.PathLike)):
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
    if isinstance(source, Table):
        table = source
    elif isinstance(source, (str, os.PathLike)):
        table = read_files(source, RUN, columns or {}, format_in, rank=order == "rank")
    else:
        table = read_object(source, "score", columns or {}, name)
    by = () if order == "input" or table.listed else (order,)
    return table.requires("query_id", "doc_id", *by)


def read_interactions(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    further: Sequence[str] = (),
) -> Table:
    """Open who met what in the past: ``query_id``, ``doc_id``, and ``further`` number columns by name.

    A mapping may be ``{query: [doc, …]}``; TREC text is read as judgments are.
    """
    if isinstance(source, (str, os.PathLike)):
        table = read_files(source, QRELS, columns or {}, format_in, further=further)
    else:
        table = read_object(source, "weight", columns or {}, "history", further)
    return table.requires("query_id", "doc_id", *further)


def read_intents(
    source: object, columns: Mapping[str, str] | None = None, format_in: str | None = None
) -> Table:
    """Open weights of subtopics: a table with ``query_id``, ``subtopic`` and ``weight``, or nested dicts."""
    further = ("subtopic", "weight")
    if isinstance(source, (str, os.PathLike)):
        table = read_files(source, INTENTS, columns or {}, format_in, further=further)
    elif isinstance(source, Mapping):
        table = read_object(source, "weight", {}, "intents").requires("query_id", "doc_id", "weight")
        frame = table.collect("query_id", "doc_id", "weight").rename({"doc_id": "subtopic"})
        table = read_object(frame, "weight", {}, "intents", further)
    else:
        table = read_object(source, "weight", columns or {}, "intents", further)
    return table.requires("query_id", *further).with_text_ids("query_id")


def read_labelled(
    source: object,
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
    *,
    order: str = "score",
    one_group: bool = False,
) -> Table:
    """Open a labelled table: ``query_id``, ``relevance`` (or ``label``), a score, perhaps ``doc_id``.

    With ``one_group`` all rows are one list, whatever ids they have.
    """
    columns = {"label": "relevance", **(columns or {})}
    if isinstance(source, (str, os.PathLike)):
        table = read_files(source, RUN, columns, format_in or _not_trec(source))
    else:
        table = read_object(source, "score", columns, "labelled table")
    table = table.in_one_list() if one_group else table
    by = () if order == "input" else (order,)
    return table.requires("query_id", "relevance", *by)


def _not_trec(source: str | os.PathLike[str]) -> str | None:
    """Read standard input as CSV: TREC lines have no labels."""
    return "csv" if os.fspath(source) == "-" else None
