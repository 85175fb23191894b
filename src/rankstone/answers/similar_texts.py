"""Retrieved texts that resemble reference texts, as judgments and a run; for data without ids and grades.

Each reference is a subtopic.  A retrieved text is relevant to it with grade 2 if their similarity is above
the threshold, 1 if it equals the threshold: Ragas counts such a text in precision, but not in recall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.answers.answer_records import query_of, records
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    between_0_and_1,
    installed,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCES: Final = ("reference_contexts", "expected_contexts", "references")
_RETRIEVED: Final = ("retrieved_contexts", "contexts", "retrieved")
_QRELS: Final = {
    "query_id": pl.String,
    "subtopic": pl.String,
    "doc_id": pl.String,
    "relevance": pl.Float64,
}


def judge_by_similarity(
    source: object, threshold: float = 0.5
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judge retrieved texts by their similarity to reference texts, and return them with their ranking.

    Parameters
    ----------
    source
        Records with ``query_id`` (or ``qid``, ``topic_id``, ``user_input``, ``question``),
        ``reference_contexts`` and ``retrieved_contexts``, lists of texts, the latter in ranked order.
    threshold
        The least similarity, above 0 and below 1: 1 minus the edit distance (Levenshtein 1966) over the
        length of the longer text.

    Returns
    -------
    tuple
        ``query_id``, ``subtopic`` (the place of the reference, from 1), ``doc_id`` (the text),
        ``relevance``; and ``query_id``, ``doc_id`` (a list), for :func:`rankstone.evaluate`.

    Raises
    ------
    InputError
        When a record is not what it should be.

    Examples
    --------
    >>> from rankstone import evaluate
    >>> record = {"query_id": "q", "reference_contexts": ["Paris is the capital.", "It lies on the Seine."],
    ...           "retrieved_contexts": ["Lyon is a city.", "Paris is a capital."]}
    >>> evaluate(*judge_by_similarity([record]), "AP(denom=hits) StRecall(rel=2)").to_dict()
    {'run': {'AP(denom=hits)': 0.5, 'StRecall(rel=2)': 0.5}}
    """
    between_0_and_1("threshold", threshold)
    judged: list[tuple[str, str, str, float]] = []
    ranked: list[tuple[str, list[str]]] = []
    seen: dict[str, str] = {}
    for where, record in records(source):
        query = query_of(record, where)
        if seen.setdefault(query, where) != where:
            raise DuplicateRows(
                f"a second record of query {printable(query)}",
                where=where,
                given=f"first at {seen[query]}",
            )
        references = _texts(record, _REFERENCES, where)
        retrieved = _texts(record, _RETRIEVED, where)
        ranked.append((query, retrieved))
        if not references:
            judged.append((query, "1", "no reference", 0.0))  # it counts
        for subtopic, reference in enumerate(references, 1):
            # a reference that nothing resembles is a subtopic, too
            grades = {reference: 2.0} | {
                text: _grade(reference, text, threshold) for text in retrieved
            }
            judged += [
                (query, str(subtopic), text, grade)
                for text, grade in grades.items()
                if grade
            ]
    if not ranked:
        raise EmptyInput("there are no records")
    run = pl.DataFrame(
        ranked, {"query_id": pl.String, "doc_id": pl.List(pl.String)}, orient="row"
    )
    return pl.DataFrame(judged, _QRELS, orient="row"), run


def _grade(reference: str, text: str, threshold: float) -> float:
    levenshtein = installed(
        "rapidfuzz.distance.Levenshtein", "rapidfuzz", 'pip install "rankstone[texts]"'
    )
    similarity = 1 - levenshtein.normalized_distance(reference, text)
    if similarity > threshold:
        return 2.0
    return float(similarity == threshold)


def _texts(record: Mapping[str, Any], names: tuple[str, ...], where: str) -> list[str]:
    texts = next((record[name] for name in names if record.get(name) is not None), None)
    if not isinstance(texts, list) or any(not isinstance(text, str) for text in texts):
        raise BadValue(
            f"{names[0]} is not a list of texts",
            where=where,
            given=printable(texts, 60)
            if texts is not None
            else ", ".join(map(printable, record)),
            expected='{"query_id": …, "reference_contexts": ["text", …], "retrieved_contexts": ["text", …]}',
        )
    return texts
