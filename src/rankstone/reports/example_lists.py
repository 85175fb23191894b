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
#: characters of ids, titles and texts
_ID, _TITLE, _TEXT = 60, 120, 220
#: columns of queries and documents that are shown by name
_QUERY_TEXT: Final = ("text", "query", "title")
_QUERY_ATTRIBUTES: Final = 4


def examples(
    found: Comparison,
    order: Sequence[str],
    ids: Sequence[str],
    documents: object = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return lists of queries: for each a pool of documents, and the rank of each in every system's list.

    Parameters
    ----------
    found
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
    none: dict[str, Any] = {"k": 0, "systems": 0, "queries": {}, "note": None}
    if found.sources is None or found.sources.convention is not None:
        return {
            **none,
            "note": "no_lists" if found.sources is None else "no_lists_convention",
        }
    audits = {} if found.audit is None else found.audit.runs
    if sum(audit.retrieved for audit in audits.values()) > _ROWS:
        return {**none, "note": "no_lists_large"}
    wanted = [*ids] if len(ids) <= _ALL else [*ids[:_ENDS], *ids[-_ENDS:]]
    depth = _depth(found.primary[0])
    systems = order[
        : max(2, min(_SYSTEMS, int((_RANKS / (depth * len(wanted))) ** 0.5)))
    ]
    try:
        ready = Explainer(found.sources.qrels, found.primary[0], **found.sources.given)
        lists = []
        for run in (found.replicates.get(system, [system])[0] for system in systems):
            lists.append(ready.ranked_lists(found.sources.runs[run], run, wanted))
            if progress is not None:
                progress(1)
    except (UsageError, InputError):
        return {**none, "note": "no_lists_here"}
    keys = ["query_id", "doc_id"]
    ranked = [one.with_columns(system=pl.lit(at)) for at, one in enumerate(lists)]
    top = pl.concat(one.filter(pl.col("rank") <= depth) for one in ranked)
    pool = top.group_by(keys, maintain_order=True).agg(pl.col("relevance").first())
    # one list at a time: a join of all would hold each many times over
    found_at = pl.concat(
        one.join(pool, on=keys, how="semi").drop("relevance") for one in ranked
    )
    placed = pool.join(found_at, on=keys, how="left")
    wide = placed.group_by("query_id", "doc_id", "relevance", maintain_order=True).agg(
        "system", "rank"
    )
    about = _titles(documents, pool["doc_id"].unique(maintain_order=True), found)
    queries = {
        printable(str(key[0]), 300): _query(part, len(systems), about)
        for key, part in wide.partition_by(
            "query_id", as_dict=True, maintain_order=True
        ).items()
    }
    return {**none, "k": depth, "systems": len(systems), "queries": queries}


def _depth(measure: str) -> int:
    cutoff = re.search(r"@(\d+)$", measure)
    return _DEPTH if cutoff is None else min(int(cutoff[1]), _DEEPEST)


def _query(
    part: pl.DataFrame, systems: int, about: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Return the documents of a query as columns; 0 is the rank of what a list does not hold."""
    ranks = [[0] * part.height for _ in range(systems)]
    for at, (some, places) in enumerate(part.select("system", "rank").iter_rows()):
        for system, rank in zip(some, places, strict=True):
            ranks[system][at] = rank
    docs = part["doc_id"].to_list()
    return {
        "docs": [printable(doc, _ID) for doc in docs],
        "about": [about.get(doc) for doc in docs] if about else [],
        "grades": [
            int(g) if g is not None and g == int(g) else g for g in part["relevance"]
        ],
        "ranks": ranks,
    }


def _titles(
    documents: object, ids: pl.Series, found: Comparison
) -> dict[str, dict[str, str]]:
    """Return what is known of documents: title, text, cost, class."""
    if documents is None:
        return {}
    given = {} if found.sources is None else found.sources.given
    table = read_attributes(documents, "doc_id", given.get("columns"))
    columns = {"title": _TITLE, "text": _TEXT, "cost": _ID, "class": _ID}
    known = [name for name in columns if name in table.columns]
    every = table.frame.select(
        pl.col("doc_id").cast(pl.String), *known
    )  # it may be a whole corpus
    rows = every.filter(pl.col("doc_id").is_in(ids.implode())).collect()
    return {
        row["doc_id"]: {
            name: printable(str(row[name]), columns[name])
            for name in known
            if row[name] is not None
        }
        for row in rows.iter_rows(named=True)
    }


def query_texts(
    found: Comparison, ids: Sequence[str], queries: object = None
) -> dict[str, list[str]]:
    """Return the text of each query, and its other attributes in one line; empty where nothing is known."""
    given = {} if found.sources is None else found.sources.given
    source = given.get("queries") if queries is None else queries
    if source is None:
        return {"texts": [], "attributes": []}
    table = read_attributes(source, "query_id", given.get("columns"))
    text = next((name for name in _QUERY_TEXT if name in table.columns), None)
    others = [name for name in table.columns if name != text][:_QUERY_ATTRIBUTES]
    rows = {
        row["query_id"]: row
        for row in table.collect(*table.columns).iter_rows(named=True)
    }

    def attributes(row: Mapping[str, Any]) -> Iterator[str]:
        for name in others:
            if row.get(name) is not None:
                yield f"{printable(name, _ID)}: {printable(str(row[name]), _ID)}"

    known = [rows.get(name, {}) for name in ids]
    return {
        "texts": []
        if text is None
        else [printable(str(row.get(text) or ""), _TITLE) for row in known],
        "attributes": [" · ".join(attributes(row)) for row in known] if others else [],
    }
