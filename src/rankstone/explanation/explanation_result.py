"""One query's score against judgments as the table it is the sum of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rankstone.rankings.derivation import Derivation

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from rankstone.explanation.footnotes import Footnote
    from rankstone.explanation.score_difference import ExplainedDifference
    from rankstone.tables.sheet import Sheet


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
        Its grade, ``None`` where it is not judged.
    judged
        True if it is judged; a grade may be imputed.
    values
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
    values: Mapping[str, float | bool]
    contribution: float | None
    running: float


@dataclass(frozen=True, slots=True)
class IdealRow:
    """One rank of the list the norm is made of; ``doc_id`` where it is known which document that is."""

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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Explanation(Derivation):
    """How the score of one query against judgments came about.

    The last running total, plus what was missed and what is unjudged, is the numerator; the numerator over
    the denominator is the ratio, and the ratio the value unless the measure says otherwise (``value``
    is what :func:`rankstone.evaluate` gives, to the last bit).

    Attributes
    ----------
    measure, of, runs, status, value, tables, conventions, card, lang
        As of :class:`Derivation`; the one table is the list, ``runs`` the one run, ``of`` the query.
    ours
        The measure in our words, where a convention names it otherwise.
    numerator, denominator, ratio
        What the value was made of.
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
    k
        The cutoff.
    curve
        Points (x, y), where a curve is explained; the rest is then about the area that sums it up.
    intents
        The query's subtopics, for measures of diversity.

    Examples
    --------
    >>> import rankstone
    >>> found = rankstone.explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, "DCG", "q")
    >>> [(row.doc_id, row.contribution, row.running) for row in found.rows]
    [('b', 1.0, 1.0), ('x', None, 1.0), ('a', 1.5, 2.5)]
    >>> found.value
    2.5
    """

    ours: str
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
    k: int | None = None
    curve: tuple[tuple[float, float], ...] = ()
    intents: tuple[Intent, ...] = ()

    @property
    def query_id(self) -> str:
        """The query."""
        return str(self.of)

    @property
    def run(self) -> str:
        """The run."""
        return self.runs[0]

    @property
    def frame(self) -> pl.DataFrame:
        """One row a retrieved document: what :attr:`rows` says, the measure's own columns among it."""
        return self.tables[0].frame

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns between a document's grade and its contribution."""
        names = self.frame.columns
        return tuple(names[names.index("judged") + 1 : names.index("contribution")])

    def versus(self, other: Explanation) -> ExplainedDifference:
        """Attribute the difference between this list's score and another's to documents."""
        from rankstone.explanation.score_difference import ExplainedDifference

        return ExplainedDifference.of(self, other)

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`frame`."""
        return self.frame

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts and lists."""
        names = (
            "measure", "ours", "run", "query_id", "status", "value", "numerator", "denominator", "ratio",
            "missed", "unjudged",
        )  # fmt: skip
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("rows", "not_retrieved", "ideal", "changes", "intents"):
            plain[name] = [asdict(one) for one in getattr(self, name)]
        plain["footnotes"] = [note.text(self.lang) for note in self.footnotes]
        plain["curve"] = [list(point) for point in self.curve]
        return plain | {
            name: dict(getattr(self, name)) for name in ("facts", "others", "conventions", "card")
        }

    def sheet(self, digits: int = 4) -> Sheet:
        """Return what people read; always with four decimals."""
        del digits
        from rankstone.explanation.explanation_tables import of_explanation

        return of_explanation(self)
