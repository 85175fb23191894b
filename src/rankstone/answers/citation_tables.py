"""Citations of answers, sentence by sentence, and whether they support what they are cited for.

Of the citations the supported ones are counted (precision), and of the sentences those that one of their
citations supports (recall).  No model is called: whether a passage supports a sentence is input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import counted
from rankstone.answers.answer_records import objects_of, query_of, records
from rankstone.answers.nugget_tables import support_of
from rankstone.errors import (
    BadValue,
    DuplicateRows,
    EmptyInput,
    NotComparable,
    printable,
)
from rankstone.measures.support import VITAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_RUN: Final = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
_PLACES: Final = "ids, or places in references, from 0"
_QRELS: Final = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}


def citations(
    answers: object, support: object = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the citations and sentences of answers as judgments, and their support as a run.

    Parameters
    ----------
    answers
        JSON lines or records with ``topic_id`` (or ``qid``, ``query_id``), ``references``, a list of ids, and
        ``answer``, a list of ``{"text", "citations"}``; citations are ids, or places among these from 0.
    support
        A row for each citation: ``qid``, ``sentence`` (from 0), ``doc_id``, ``support`` (support,
        partial_support, not_support, or 1, 0.5, 0).  Citations without a row earn nothing.

    Returns
    -------
    tuple
        Judgments with a row for each sentence, named by its place from 0 (grade 2), and for each of its
        citations, ``3:d7`` (grade 1); and a run with their support, of sentences that of their best citation.

    Raises
    ------
    InputError
        When a record is not what it should be, or a citation is not in the references.

    Examples
    --------
    >>> from rankstone import evaluate
    >>> answer = [{"text": "One.", "citations": [0, 1]}, {"text": "Two.", "citations": []}]
    >>> answers = [{"qid": "q", "references": ["a", "b"], "answer": answer}]
    >>> support = [{"qid": "q", "sentence": 0, "doc_id": "a", "support": "support"}]
    >>> evaluate(*citations(answers, support), "CitationP CitationR").to_dict()
    {'run': {'CitationP': 0.5, 'CitationR': 0.5}}
    """
    known = _support(support)
    judged: list[tuple[str, str, float]] = []
    said: list[tuple[str, str, float]] = []
    nothing = support is not None and not known
    for query, parts in _answers(answers):
        for sentence, docs in enumerate(parts):
            names = {doc: f"{sentence}:{doc}" for doc in docs}
            scores = [
                (query, names[doc], known.pop(key))
                for doc in docs
                if (key := (query, sentence, doc)) in known
            ]
            judged += [
                (query, str(sentence), VITAL),
                *((query, name, 1.0) for name in names.values()),
            ]
            best = max((score for *_, score in scores), default=0.0)
            said += [*scores, (query, str(sentence), best)]
        if not parts:
            judged.append((query, "no sentence", 0.0))
            said.append((query, "no sentence", 0.0))
    if not judged:
        raise EmptyInput("there are no answers")
    if nothing and any(grade == 1 for *_, grade in judged):
        raise EmptyInput(
            "no citation is judged",
            where=support if isinstance(support, str) else None,
            expected="support: support, partial_support or not_support",
        )
    if known:
        query, sentence, doc = next(iter(known))
        raise NotComparable(
            "support for a citation that no answer has",
            given=f"query {printable(query)}, sentence {sentence}, document {printable(doc)}",
            fix="sentences are counted from 0; are answers and support of the same system?",
        )
    return pl.DataFrame(judged, _QRELS, orient="row"), pl.DataFrame(
        said, _RUN, orient="row"
    )


def citations_to_judge(answers: object) -> pl.DataFrame:
    """Return what is to be judged: a row for each citation, with an empty column ``support``."""
    rows = [
        (query, sentence, doc)
        for query, parts in _answers(answers)
        for sentence, docs in enumerate(parts)
        for doc in docs
    ]
    schema = {"query_id": pl.String, "sentence": pl.Int64, "doc_id": pl.String}
    return pl.DataFrame(rows, schema, orient="row").with_columns(support=pl.lit(""))


def _answers(source: object) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the query of each answer, and the documents that each of its sentences cites."""
    seen: dict[str, str] = {}
    for place, record in records(source):
        query = query_of(record, place)
        if query in seen:
            raise BadValue(
                f"a second answer to query {printable(query)}",
                where=place,
                given=f"first at {seen[query]}",
            )
        seen[query] = place
        references = record.get("references") or []
        if not isinstance(references, list) or any(
            type(reference) not in (str, int) for reference in references
        ):
            raise BadValue(
                "references are not a list of ids",
                where=place,
                given=printable(references, 60),
            )
        yield (
            query,
            [
                _cited(sentence, references, where)
                for where, sentence in objects_of(record, "answer", place)
            ],
        )


def _cited(sentence: Mapping[str, Any], references: list[Any], where: str) -> list[str]:
    documents = []
    cited = sentence.get("citations")
    listed = [] if cited is None else cited
    if not isinstance(listed, list) or any(
        type(citation) not in (str, int) for citation in listed
    ):
        raise BadValue(
            "citations are not a list",
            where=where,
            given=printable(cited, 60),
            expected=_PLACES,
        )
    for citation in listed:
        if isinstance(citation, int) and not 0 <= citation < len(references):
            raise BadValue(
                f"citation {citation} of {counted(len(references), 'reference')}",
                where=where,
                expected=_PLACES,
            )
        document = references[citation] if isinstance(citation, int) else citation
        documents.append(str(document))

    return list(dict.fromkeys(documents))


def _support(source: object) -> dict[tuple[str, int, str], float]:
    """Return the support of citations by query, sentence and document."""
    support: dict[tuple[str, int, str], float] = {}
    for place, record in records(source) if source is not None else ():
        try:
            sentence = int(str(record["sentence"]))
            doc = str(
                next(
                    record[name]
                    for name in ("doc_id", "citation")
                    if record.get(name) is not None
                )
            )
        except (KeyError, ValueError, StopIteration):
            raise BadValue(
                "support without a sentence and a document",
                where=place,
                given=", ".join(map(printable, record)),
                expected="qid, sentence, doc_id, support",
            ) from None
        if str(record.get("support", "?")).strip():  # not judged yet
            key = query_of(record, place), sentence, doc
            if key in support:
                raise DuplicateRows(
                    "a citation is judged twice",
                    where=place,
                    given=f"query {printable(key[0])}, sentence {sentence}, document {printable(doc)}",
                )
            support[key] = support_of(record, "support", place)
    return support
