"""Lists of hits by query, ``{query: [{"path": …, "score": …}, …]}``, whose keys are the ids of the queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, some
from rankstone.errors import InputError, printable
from rankstone.io.advice import Advice
from rankstone.io.column_suggestions import is_common_name
from rankstone.io.columns import Renames
from rankstone.io.golden_records import document_keys, plain_key
from rankstone.io.python_rows import frame_of_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone._basics import Columns


#: what is beside the id of a document
_NUMBERS: Final = ("score", "rank", "relevance")


class HitsByQuery(Record):
    """The hits of queries as rows.

    Attributes
    ----------
    rows
        ``query_id``, and the keys of the hits.
    columns
        {their name: our name}, the document's key among them.
    empty
        The queries without hits.
    note
        What the document's key is; empty where options say it.
    """

    rows: pl.DataFrame
    columns: Renames
    empty: pl.Series
    note: str


def hits_by_query(value: object, columns: Columns, source: str) -> HitsByQuery | None:
    """Return the hits of two or more queries; ``None`` for an object of something else.

    Parameters
    ----------
    value
        The object.
    columns
        {their name: our name}, which goes before common names of documents.
    source
        Its name in messages.

    Raises
    ------
    InputError
        Where no key of the hits is known to be that of a document.

    Examples
    --------
    >>> hits = hits_by_query({"q1": [{"path": "a.md", "score": 2}], "q2": []}, {}, "run.json")
    >>> hits.rows.rows(), dict(hits.columns), hits.empty.to_list()
    ([('q1', 'a.md', 2)], {'path': 'doc_id'}, ['q2'])
    """
    if not isinstance(value, Mapping) or len(value) == 1:
        # the one list in an object stands for all its records
        return None
    hits = _hits(value)
    if not hits:
        return None
    keys: dict[str, None] = {}
    for _, hit in hits:
        keys |= dict.fromkeys(hit)
    names = {columns.get(key, key): key for key in keys}
    document = names.get("doc_id")
    if document is None:
        document = _document(keys, hits)

    others = keys.keys() - {document, "id"}
    queries = [key for key in others if is_common_name(key, ["query_id"])]
    if _are_of_others(hits, [*queries, names.get("query_id", "")]):
        return None
    if isinstance(columns, Renames):
        columns.present.update(keys)
    if document is None:
        ids = [key for key in keys if not is_common_name(key, _NUMBERS)]
        proposals = [Advice({key: "doc_id"}) for key in ids]
        raise _unnamed(keys, source).proposing(*proposals)

    rows = [{"query_id": query, **hit} for query, hit in hits]
    renames = Renames(columns, columns)
    note = ""
    if "doc_id" not in names:
        renames[document] = "doc_id"
        note = f"{printable(document, 40)}=doc_id"
    without = [query for query, entry in value.items() if not entry]
    return HitsByQuery(
        frame_of_records(rows, source),
        renames,
        pl.Series(without, dtype=pl.String),
        note,
    )


def _hits(value: Mapping[Any, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return each hit with its query, none where some entry is no list of objects."""
    hits = []
    for query, entry in value.items():
        if not isinstance(entry, list):
            return []
        hits += [(str(query), hit) for hit in entry]
    if not all(isinstance(hit, Mapping) for _, hit in hits):
        return []
    return hits


def _are_of_others(
    hits: Sequence[tuple[str, Mapping[str, Any]]], keys: Sequence[str]
) -> bool:
    """Return whether hits name another query, as the records of a split do."""
    is_other = False
    for query, hit in hits:
        queries = [hit.get(key, query) for key in keys]
        is_other |= any(name != query for name in queries)
    return is_other


def _document(
    keys: Iterable[str], hits: Sequence[tuple[str, Mapping[str, Any]]]
) -> str | None:
    """Return the key of the documents: of those that every hit has, the likeliest."""
    by_name = {plain_key(key): key for key in keys}
    for name in document_keys():
        key = by_name.get(name)
        if key is None:
            continue
        if all(isinstance(hit.get(key), (str, int)) for _, hit in hits):
            return key
    return None


def _unnamed(keys: Iterable[str], source: str) -> InputError:
    return InputError(
        "the lists of queries hold hits without the id of a document",
        where=source,
        given=f"keys {some([*keys], 12)}",
        expected="a key with the id of the document in each hit: doc_id, id, path, url, …",
    )
