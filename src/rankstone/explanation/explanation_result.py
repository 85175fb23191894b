"""The score of one query as the table that it is the sum of."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from rankstone.rankings.derivation import Derivation

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from rankstone._basics import NamedValues, Names
    from rankstone.explanation.explanation_rows import (
        Change,
        IdealRow,
        Intent,
        Missed,
        Row,
    )
    from rankstone.explanation.footnotes import Footnote
    from rankstone.explanation.score_difference import ExplainedDifference


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Explanation(Derivation):
    """How the score of one query against judgments was computed.

    The last running total plus ``missed`` and ``unjudged`` is the numerator; the numerator over the
    denominator is the ratio, and the ratio is the value unless the measure has a further function (``value``
    is what :func:`rankstone.evaluate` returns, to the last bit).

    Attributes
    ----------
    measure, of, runs, status, value, tables, conventions, card, lang
        As in :class:`Derivation`; the only table is the list, ``runs`` is the run, ``of`` the query.
    ours
        The measure as rankstone writes it, where a convention has another name for it.
    numerator, denominator, ratio
        The numbers that the value was computed from.
    rows
        The list, one row per rank.
    missed, unjudged
        The sums for judged documents that were not retrieved, and for unjudged documents (and padding);
        ``None`` where the measure has no such sum.
    whole
        True where the measure is about all documents shown, judged or not: ``unjudged`` is their sum.
    not_retrieved
        Judged documents outside the list, best first.
    ideal
        The ideal list that the norm is the sum of, if it is one.
    facts
        Numbers about the query: documents retrieved, judged, relevant.
    footnotes
        The rules that decided something here.
    changes
        The changes that would raise the score most.
    others
        Library → the value it would print for this query: a number, ``None``, or the reason for its refusal.
    k
        The cutoff.
    curve
        Points (x, y) of a curve that is explained; everything else is then about its summary measure.
    intents
        The query's subtopics, for measures of diversity.
    texts
        Document → its title and text, where a table of documents has them.
    note
        What is special about the measure of a library.
    sources
        Document → its source, of those that a measure of sources counts, in their order.

    Examples
    --------
    >>> import rankstone
    >>> explanation = rankstone.explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, "DCG", "q")
    >>> [(row.doc_id, row.contribution, row.running) for row in explanation.rows]
    [('b', 1.0, 1.0), ('x', None, 1.0), ('a', 1.5, 2.5)]
    >>> explanation.value
    2.5
    """

    ours: str
    numerator: float
    denominator: float
    ratio: float
    rows: tuple[Row, ...]
    missed: float | None
    unjudged: float | None
    whole: bool
    not_retrieved: tuple[Missed, ...]
    ideal: tuple[IdealRow, ...]
    facts: Mapping[str, float]
    footnotes: tuple[Footnote, ...]
    changes: tuple[Change, ...]
    others: Mapping[str, float | str | None]
    k: int | None = None
    curve: tuple[tuple[float, float], ...] = ()
    intents: tuple[Intent, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)

    picture = "rankstone.explanation.explanation_tables:explanation_sheet"

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
        """One row per retrieved document, as in :attr:`rows`, with the columns of the measure."""
        return self.tables[0].frame

    @property
    def columns(self) -> Names:
        """Names of the columns that the measure recorded."""
        names = self.frame.columns
        return tuple(names[names.index("judged") + 1 : names.index("contribution")])

    def versus(self, other: Explanation) -> ExplainedDifference:
        """Attribute the difference between this list's score and another's to documents."""
        from rankstone.explanation.score_difference import ExplainedDifference

        return ExplainedDifference.of(self, other)

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`frame`."""
        return self.frame

    def report(self) -> NamedValues:
        """Return everything as plain dicts and lists."""
        names = (
            "measure",
            "ours",
            "run",
            "query_id",
            "status",
            "value",
            "numerator",
            "denominator",
            "ratio",
            "missed",
            "unjudged",
        )
        plain: NamedValues = {name: getattr(self, name) for name in names}
        for name in ("rows", "not_retrieved", "ideal", "changes", "intents"):
            plain[name] = [asdict(entry) for entry in getattr(self, name)]
        plain["footnotes"] = [note.text(self.lang) for note in self.footnotes]
        plain["curve"] = [list(point) for point in self.curve]
        plain |= {"texts": dict(self.texts)} if self.texts else {}
        plain |= {"note": self.note} if self.note else {}
        if self.sources:
            plain["sources"] = dict(self.sources)
        return plain | {
            name: dict(getattr(self, name))
            for name in ("facts", "others", "conventions", "card")
        }
