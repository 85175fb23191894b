"""One query's score as the table it is the sum of."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.results import WritesReport
from rankstone.sheets import ShowsSheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.explaining.footnotes import Footnote

__all__ = ["Change", "Explanation", "IdealRow", "Intent", "Missed", "Row"]


@dataclass(frozen=True, slots=True)
class Row:
    """One retrieved document.

    Attributes
    ----------
    rank
        Where it stands.
    first, last
        Ends of its tie block; both are ``rank`` where nothing ties.
    doc_id
        The document; ``None`` where there are no ids.
    relevance
        Its grade, ``None`` where nobody judged it.
    judged
        Whether somebody did; a grade may be imputed.
    told
        What the measure computed with, by name.
    contribution
        What it adds to the numerator; ``None`` for what the measure does not look at.
    running
        The numerator so far.
    """

    rank: int
    first: int
    last: int
    doc_id: str | None
    relevance: float | None
    judged: bool
    told: Mapping[str, float | bool]
    contribution: float | None
    running: float


@dataclass(frozen=True, slots=True)
class IdealRow:
    """One rank of the list the norm is made of; ``doc_id`` where it is known which document that is."""

    rank: int
    doc_id: str | None
    told: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Missed:
    """A judged document that was not retrieved."""

    doc_id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Intent:
    """One subtopic of the query: what it counts, and where the list answers it.

    Attributes
    ----------
    name
        The subtopic.
    weight
        How much it counts.
    relevant
        How many documents are judged relevant to it.
    ranks
        Where such documents stand in the list.
    """

    name: str
    weight: float
    relevant: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What the score would be if a document stood elsewhere.

    Attributes
    ----------
    doc_id, relevance
        The document and its grade.
    at
        Its rank; ``None`` where it was not retrieved.
    to
        The rank it would take: the first whose document is worth less.
    value
        The score then.
    gain
        How much more that is.
    """

    doc_id: str
    relevance: float
    at: int | None
    to: int
    value: float
    gain: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(ShowsSheet, WritesReport):
    """How the score of one query came about.

    The last running total, plus what was missed and what nobody judged, is the numerator; the numerator over
    the denominator is the ratio, and the ratio the value unless the measure says otherwise (``value``
    is what :func:`rankstone.evaluate` gives, to the last bit).

    Attributes
    ----------
    measure, run, query_id
        What is explained.
    ours
        The measure in our words, where a convention names it otherwise.
    status
        See :class:`~rankstone.measures.Status`.
    value
        The score; ``None`` where it is undefined or left out.
    numerator, denominator, ratio
        What it was made of.
    rows
        The list, a row a rank.
    missed, unjudged
        What judged documents that were not retrieved add, and what retrieved documents without a judgment
        (and padding) add; ``None`` where the measure adds nothing for them.
    not_retrieved
        Judged documents outside the list, best first.
    ideal
        What the norm is the sum of, where it is one.
    facts
        Numbers about the query: documents retrieved, judged, relevant.
    footnotes
        Which rules decided something here.
    changes
        What would raise the score most.
    others
        Library → what it would print for this query: a number, ``None``, or why it refuses.
    conventions
        Every option and parameter the number depends on.
    card
        Sentence, formula and symbols of the measure.
    k
        The cutoff.
    curve
        Points (x, y), where a curve is explained; the rest is then about the area that sums it up.
    intents
        The query's subtopics, for measures of diversity.
    lang
        Language of headings and footnotes.

    Examples
    --------
    >>> import rankstone
    >>> found = rankstone.explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, "DCG", "q")
    >>> [(row.doc_id, row.contribution, row.running) for row in found.rows]
    [('b', 1.0, 1.0), ('x', None, 1.0), ('a', 1.5, 2.5)]
    >>> found.value
    2.5
    """

    measure: str
    ours: str
    run: str
    query_id: str
    status: str
    value: float | None
    numerator: float
    denominator: float
    ratio: float
    rows: tuple[Row, ...]
    missed: float | None
    unjudged: float | None
    not_retrieved: tuple[Missed, ...]
    ideal: tuple[IdealRow, ...]
    facts: Mapping[str, float]
    footnotes: tuple[Footnote, ...]
    changes: tuple[Change, ...]
    others: Mapping[str, float | str | None]
    conventions: Mapping[str, Any]
    card: Mapping[str, str]
    k: int | None = None
    curve: tuple[tuple[float, float], ...] = ()
    intents: tuple[Intent, ...] = ()
    lang: str = "en"
    _told: tuple[str, ...] = field(default=(), repr=False)

    @property
    def told(self) -> tuple[str, ...]:
        """Names of the columns between a document's grade and its contribution."""
        return self._told

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a retrieved document: what :attr:`rows` says, the measure's own columns beside."""
        rows = [
            {
                "rank": row.rank,
                "doc_id": row.doc_id,
                "relevance": row.relevance,
                "judged": row.judged,
                **{name: _number(row.told.get(name)) for name in self.told},
                "contribution": row.contribution,
                "running": row.running,
            }
            for row in self.rows
        ]
        numbers = ("relevance", *self.told, "contribution", "running")
        schema = {
            "rank": pl.Int64(),
            "doc_id": pl.String(),
            "relevance": pl.Float64(),
            "judged": pl.Boolean(),
            **dict.fromkeys(numbers, pl.Float64()),
        }
        return pl.DataFrame(rows, schema=schema)

    def versus(self, other: Explanation) -> Comparison:
        """Attribute the difference between this list's score and another's to documents."""
        from rankstone.explaining.versus import Comparison

        return Comparison.of(self, other)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts and lists."""
        said = {
            name: getattr(self, name)
            for name in (
                "measure", "ours", "run", "query_id", "status", "value", "numerator", "denominator", "ratio",
                "missed", "unjudged",
            )
        }  # fmt: skip
        rows = [asdict(row) for row in self.rows]
        parts = {
            "not_retrieved": [asdict(one) for one in self.not_retrieved],
            "ideal": [asdict(one) for one in self.ideal],
            "footnotes": [note.text(self.lang) for note in self.footnotes],
            "changes": [asdict(one) for one in self.changes],
            "curve": [list(point) for point in self.curve],
            "intents": [asdict(one) for one in self.intents],
        }
        rest = {name: dict(getattr(self, name)) for name in ("facts", "others", "conventions", "card")}
        return {**said, "rows": rows, **parts, **rest}

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, as :meth:`write_json` writes it."""
        return self.to_dict()

    def sheet(self) -> Sheet:
        """Return what is shown."""
        from rankstone.explaining.sheets import of_explanation

        return of_explanation(self)


def _number(value: float | bool | None) -> float | None:  # noqa: FBT001 - what measures tell
    return None if value is None else float(value)


if TYPE_CHECKING:
    from rankstone.explaining.versus import Comparison
    from rankstone.sheets import Sheet
