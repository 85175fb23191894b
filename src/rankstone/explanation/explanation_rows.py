"""The rows of an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Row:
    """One retrieved document.

    Attributes
    ----------
    rank
        Its rank in the list.
    first, last
        First and last rank of its tie block; both are ``rank`` where nothing ties.
    doc_id
        The document; ``None`` where there are no ids.
    relevance
        Its grade, ``None`` where it is not judged.
    judged
        True if it is judged; a grade may be imputed.
    values
        The numbers that the measure computed with, by name.
    contribution
        What it adds to the numerator; ``None`` for a document that the measure does not read.
    running
        The numerator so far.
    """

    rank: int
    first: int
    last: int
    doc_id: str | None
    relevance: float | None
    judged: bool
    values: Mapping[str, float | bool]
    contribution: float | None
    running: float


@dataclass(frozen=True, slots=True)
class IdealRow:
    """One rank of the ideal list; ``doc_id`` is ``None`` where its document is not known."""

    rank: int
    doc_id: str | None
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Missed:
    """A judged document that was not retrieved."""

    doc_id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Intent:
    """One subtopic of the query: its weight, and the ranks of its relevant documents.

    Attributes
    ----------
    name
        The subtopic.
    weight
        Its weight.
    relevant
        The number of documents judged relevant to it.
    ranks
        The ranks of such documents in the list.
    """

    name: str
    weight: float
    relevant: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What the score would be if a document were at another rank.

    Attributes
    ----------
    doc_id, relevance
        The document and its grade.
    at
        Its rank; ``None`` where it was not retrieved.
    to
        The rank it would take: the first with a document of a lower grade.
    value
        The score in that case.
    gain
        The increase of the score.
    """

    doc_id: str
    relevance: float
    at: int | None
    to: int
    value: float
    gain: float
