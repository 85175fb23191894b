"""Ranked lists of queries, with grades, titles and texts: the examples behind a difference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import InputError, UsageError, printable
from rankstone.explanation.explain_scores import Explainer
from rankstone.io.attributes import read_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.comparison.comparison_result import Comparison

#: queries that are all shown; of more, so many at each end of the differences
_ALL: Final = 60
_ENDS: Final = 20
#: systems whose lists are on the page, the best ones
_SYSTEMS: Final = 40
#: documents of a list, unless the measure has another cutoff
_DEPTH: Final = 10
_DEEPEST: Final = 20
#: ranks in other lists that a page holds at most; then lists of fewer systems
_RANKS: Final = 250_000
#: documents in the lists of all systems together: longer runs are not read again
_ROWS: Final = 20_000_000
#: characters of ids of queries, of other ids, titles and texts
_QUERY_ID: Final = 300
_ID: Final = 60
_TITLE: Final = 120
_TEXT: Final = 220
#: columns of queries and documents that are shown by name
_QUERY_TEXT: Final = ("text", "query", "title")
_QUERY_ATTRIBUTES: Final = 4


def examples(
    comparison: Comparison,
    order: Sequence[str],
    ids: Sequence[str],
    documents: object = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return lists of queries: for each a pool of documents, and the rank of each in every system's list.

    Parameters
    ----------
    comparison
        The comparison.
    order
        The systems, the first two those of the page.
    ids
        Queries in the order of their differences.
    documents
        A table with ``doc_id`` and ``title``, ``text``, ``cost`` or ``class``.
    progress
        Called with 1 for every system whose lists are read.

    Returns
    -------
    dict
        ``k`` documents of each list, the ``systems`` (places in ``order``), ``queries`` by id, and a ``note``
        where there are no lists: a key of the page's phrases.
    """
    note = _obstacle(comparison)
    if note is not None:
        return _no_lists(note)

    queries = [*ids]
    if len(queries) > _ALL:
        queries = [*ids[:_ENDS], *ids[-_ENDS:]]
    depth = _depth(comparison.primary[0])
    held = (_RANKS / (depth * len(queries))) ** 0.5
    systems = order[: max(2, min(_SYSTEMS, int(held)))]
    try:
        lists = _ranked_lists(comparison, systems, queries, progress)
    except (UsageError, InputError):
        return _no_lists("no_lists_here")

    pooled = _pooled(lists, depth)
    ids_shown = pooled["doc_id"].unique(maintain_order=True)
    about = _titles(documents, ids_shown, comparison)
    parts = pooled.partition_by("query_id", as_dict=True, maintain_order=True)
    columns = {}
    for (query, *_), part in parts.items():
        name = printable(str(query), _QUERY_ID)
        columns[name] = _query(part, len(systems), about)
    return {"k": depth, "systems": len(systems), "queries": columns, "note": None}


def _no_lists(note: str) -> dict[str, Any]:
    return {"k": 0, "systems": 0, "queries": {}, "note": note}


def _obstacle(comparison: Comparison) -> str | None:
    """Return the phrase that says why lists cannot be read; ``None`` if they can."""
    if comparison.sources is None:
        return "no_lists"
    if comparison.sources.convention is not None:
        return "no_lists_convention"
    if comparison.audit is None:
        return None
    runs = comparison.audit.runs.values()
    rows = sum(audit.retrieved for audit in runs)
    return "no_lists_large" if rows > _ROWS else None


def _ranked_lists(
    comparison: Comparison,
    systems: Sequence[str],
    queries: list[str],
    progress: Progress | None,
) -> list[pl.DataFrame]:
    """Return the lists of each system, or of its first run, with the system's place as ``system``."""
    sources = comparison.sources
    assert sources is not None  # noqa: S101 - the caller checked
    explainer = Explainer(sources.qrels, comparison.primary[0], **sources.given)
    lists = []
    for place, system in enumerate(systems):
        run = comparison.replicates.get(system, [system])[0]
        ranked = explainer.ranked_lists(sources.runs[run], run, queries)
        lists.append(ranked.with_columns(system=pl.lit(place)))
        if progress is not None:
            progress(1)
    return lists


def _pooled(lists: list[pl.DataFrame], depth: int) -> pl.DataFrame:
    """Return each query's documents among the first of any list, with all ``system`` and ``rank`` that have it."""
    keys = ["query_id", "doc_id"]
    top = pl.concat(ranked.filter(pl.col("rank") <= depth) for ranked in lists)
    grade = pl.col("relevance").first()
    pool = top.group_by(keys, maintain_order=True).agg(grade)

    # one list at a time: a join of all would hold each many times over
    places = pl.concat(
        ranked.join(pool, on=keys, how="semi").drop("relevance") for ranked in lists
    )
    placed = pool.join(places, on=keys, how="left")
    documents = placed.group_by(*keys, "relevance", maintain_order=True)
    return documents.agg("system", "rank")


def _depth(measure: str) -> int:
    cutoff = re.search(r"@(\d+)$", measure)
    return _DEPTH if cutoff is None else min(int(cutoff[1]), _DEEPEST)


def _query(
    part: pl.DataFrame, systems: int, about: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Return the documents of a query as columns; 0 is the rank of what a list does not hold."""
    ranks = [[0] * part.height for _ in range(systems)]
    placed = part.select("system", "rank").iter_rows()
    for document, (holders, places) in enumerate(placed):
        for system, rank in zip(holders, places, strict=True):
            ranks[system][document] = rank

    docs = part["doc_id"].to_list()
    return {
        "docs": [printable(doc, _ID) for doc in docs],
        "about": [about.get(doc) for doc in docs] if about else [],
        "grades": [*map(_whole, part["relevance"])],
        "ranks": ranks,
    }


def _whole(grade: float | None) -> float | None:
    """Return a grade, as an integer if it is one."""
    if grade is None or grade != int(grade):
        return grade
    return int(grade)


def _titles(
    documents: object, ids: pl.Series, comparison: Comparison
) -> dict[str, dict[str, str]]:
    """Return what is known of documents: title, text, cost, class."""
    if documents is None:
        return {}
    options = _reading_options(comparison)
    table = read_attributes(documents, "doc_id", options.get("columns"))
    lengths = {"title": _TITLE, "text": _TEXT, "cost": _ID, "class": _ID}
    columns = [name for name in lengths if name in table.columns]

    rows = table.of_ids(ids.to_list(), *columns)

    about = {}
    for row in rows.iter_rows(named=True):
        about[row["doc_id"]] = {
            name: printable(str(row[name]), lengths[name])
            for name in columns
            if row[name] is not None
        }
    return about


def _reading_options(comparison: Comparison) -> Mapping[str, Any]:
    """Return the options with which the lists of a comparison were read."""
    return {} if comparison.sources is None else comparison.sources.given


def query_texts(
    comparison: Comparison, ids: Sequence[str], queries: object = None
) -> dict[str, list[str]]:
    """Return the text of each query, and its other attributes in one line; empty where nothing is known."""
    options = _reading_options(comparison)
    source = options.get("queries") if queries is None else queries
    if source is None:
        return {"texts": [], "attributes": []}

    table = read_attributes(source, "query_id", options.get("columns"))
    text = next((name for name in _QUERY_TEXT if name in table.columns), None)
    others = [name for name in table.columns if name != text][:_QUERY_ATTRIBUTES]
    frame = table.collect(*table.columns)
    rows = {row["query_id"]: row for row in frame.iter_rows(named=True)}

    texts = []
    attributes = []
    for query in ids:
        row = rows.get(query, {})
        if text is not None:
            texts.append(printable(str(row.get(text) or ""), _TITLE))
        if others:
            attributes.append(" · ".join(_attributes(row, others)))
    return {"texts": texts, "attributes": attributes}


def _attributes(row: Mapping[str, Any], columns: list[str]) -> Iterator[str]:
    for name in columns:
        if row.get(name) is not None:
            yield f"{printable(name, _ID)}: {printable(str(row[name]), _ID)}"
