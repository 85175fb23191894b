"""Nuggets that an answer should hold, and whether it does, as judgments and runs.

A nugget is vital (grade 2) or okay (grade 1).  What an answer says of it is its score: 1 if it supports the
nugget, ½ if it does in part, 0 if it does not.  :class:`~rankstone.measures.Support` is the share that is
supported.  No model is called: assignments, of people or models, are input.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import is_path
from rankstone.answers.answer_records import objects_of, query_of, records
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    NotComparable,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: importance → grade
_GRADES: Final = {"vital": 2.0, "okay": 1.0}
#: assignments of nuggetizer and of people → support
_SUPPORT: Final = {
    "support": 1.0,
    "supported": 1.0,
    "full": 1.0,
    "full_support": 1.0,
    "yes": 1.0,
    "1": 1.0,
    "1.0": 1.0,
    "partial_support": 0.5,
    "partial": 0.5,
    "0.5": 0.5,
    "not_support": 0.0,
    "not_supported": 0.0,
    "no_support": 0.0,
    "none": 0.0,
    "no": 0.0,
    "0": 0.0,
    "0.0": 0.0,
}
_RUN: Final = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


def nuggets(source: object, given: object = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return nuggets as judgments, and what one system's answers say of them as a run.

    Parameters
    ----------
    source
        Assignments: JSON lines or records with ``qid`` (or ``query_id``, ``topic_id``) and ``nuggets``, a
        list of ``{"text", "importance", "assignment"}``; or a row for each, with ``nugget``, ``importance``
        and ``assignment``.  An ``id`` of a nugget names it instead of its text.
    given
        The nuggets, in the same form without assignments, where they are in another file.

    Returns
    -------
    tuple
        ``query_id``, ``doc_id`` (the nugget), ``relevance`` (2 vital, 1 okay); ``query_id``, ``doc_id``,
        ``score`` (1, ½, 0).  A nugget without an assignment is not in the run, and earns nothing.

    Raises
    ------
    InputError
        When a word is not known, a nugget occurs twice, or an assignment is about none.

    Examples
    --------
    >>> from rankstone import evaluate
    >>> assigned = [{"text": "a", "importance": "vital", "assignment": "support"},
    ...             {"text": "b", "importance": "okay", "assignment": "partial_support"}]
    >>> judged, said = nuggets([{"qid": "q1", "nuggets": assigned}])
    >>> evaluate(judged, said, "Support Support(partial=0.5) Support(level=vital)").to_dict()
    {'run': {'Support': 0.5, 'Support(partial=0.5)': 0.75, 'Support(level=vital)': 1.0}}
    """
    assigned = list(_nuggets(source))
    known = assigned if given is None else list(_nuggets(given))
    judged = [
        (query, nugget, _word(record, "importance", _GRADES, where))
        if nugget is not None
        else (query, "no nugget", 0.0)  # it counts, with 0
        for query, nugget, record, where in known
    ]
    said = [
        (query, nugget, _word(record, "assignment", _SUPPORT, where))
        for query, nugget, record, where in assigned
        if nugget is not None and _given(record, "assignment")
    ]
    where = _name_of(source)
    for rows, name in ((assigned, where), (known, _name_of(given))):
        if not rows:
            expected = '{"qid": …, "nuggets": […]} for each question'
            raise EmptyInput("there are no records", where=name, expected=expected)
    if not said and any(grade for *_, grade in judged):
        raise EmptyInput(
            "no nugget has an assignment",
            where=where,
            expected="assignment: support, partial_support or not_support",
            fix="--to-judge (in Python nuggets_to_assign) writes the table to fill in",
        )
    if given is not None:
        names = {(query, nugget) for query, nugget, *_ in known}
        for query, nugget, _, where in assigned:
            if nugget is not None and (query, nugget) not in names:
                raise NotComparable(
                    "an assignment is about a nugget that is not in the list",
                    where=where,
                    given=f"query {printable(query)}: {printable(nugget)}",
                )
    said += [(query, nugget, 0.0) for query, nugget, grade in judged if not grade]
    grades = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    return pl.DataFrame(judged, grades, orient="row"), pl.DataFrame(
        said, _RUN, orient="row"
    )


def _name_of(source: object) -> str | None:
    if is_path(source):
        return os.fspath(source)
    return None


def nuggets_to_assign(given: object) -> pl.DataFrame:
    """Return what is to be assigned: a row for each nugget, with an empty column ``assignment``."""
    rows = [
        (query, nugget, str(record.get("importance")))
        for query, nugget, record, _ in _nuggets(given)
        if nugget is not None
    ]
    schema = dict.fromkeys(("query_id", "nugget", "importance"), pl.String)
    return pl.DataFrame(rows, schema, orient="row").with_columns(assignment=pl.lit(""))


def _nuggets(
    source: object,
) -> Iterator[tuple[str, str | None, Mapping[str, Any], str]]:
    """Yield query, name, record and place of each nugget; a query without nuggets has one without a name."""
    seen: dict[tuple[str, str], str] = {}
    listing: dict[str, str] = {}
    for place, record in records(source):
        query = query_of(record, place)
        if "nuggets" in record and listing.setdefault(query, place) != place:
            raise DuplicateRows(
                f"a second record of query {printable(query)}",
                where=place,
                given=f"first at {listing[query]}",
            )
        listed = (
            [(place, record)]
            if "nuggets" not in record
            else objects_of(record, "nuggets", place)
        )
        if not listed:
            yield query, None, {}, place
        for where, nugget in listed:
            name = next(
                (
                    nugget[key]
                    for key in ("id", "nugget_id", "nugget", "text")
                    if _given(nugget, key)
                ),
                None,
            )
            if name is None:
                raise BadValue(
                    "a nugget without id and text",
                    where=where,
                    given=", ".join(map(printable, nugget)),
                )
            key = query, str(name)
            if key in seen:
                raise DuplicateRows(
                    "a nugget occurs twice in a query",
                    where=where,
                    given=f"{printable(name)}, first at {seen[key]}",
                )
            seen[key] = where
            yield *key, nugget, where


def _given(record: Mapping[str, Any], name: str) -> bool:
    """Return True if a record has a value; 0 is one, and an empty text is none."""
    return record.get(name) is not None and str(record[name]).strip() != ""


def _word(
    record: Mapping[str, Any], name: str, known: Mapping[str, float], where: str
) -> float:
    """Return the number that a word means."""
    word = str(record.get(name, "")).strip().lower()
    if word not in known:
        raise BadValue(
            f"{name} is {printable(record.get(name))}",
            where=where,
            expected=", ".join(dict.fromkeys(known)),
        )
    return known[word]


def support_of(record: Mapping[str, Any], name: str, where: str) -> float:
    """Return the support that a word means: 1, ½ or 0."""
    return _word(record, name, _SUPPORT, where)
