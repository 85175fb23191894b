"""The difference of two lists' scores, document by document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import polars as pl

from rankstone._basics import Record
from rankstone.tables.results import Result

if TYPE_CHECKING:
    from rankstone._basics import NamedValues
    from rankstone.explanation.explanation_result import Explanation


@dataclass(frozen=True, slots=True)
class Share:
    """The shares of one document in two scores.

    Attributes
    ----------
    doc_id
        The document; ``None`` for the sum over documents that were not retrieved or not judged, and for the
        last step of the formula (``of`` says which).
    relevance
        Its grade.
    ranks
        Its ranks in the first and in the second list, deeper than the measure looks, too; ``None`` where it
        is not retrieved.
    shares
        Its contribution over the norm in each score.
    difference
        The first share less the second.
    of
        ``document``, ``missed``, ``unjudged`` or ``link``.
    """

    doc_id: str | None
    relevance: float | None
    ranks: tuple[int | None, int | None]
    shares: tuple[float, float]
    difference: float
    of: str = "document"


class ExplainedDifference(Result, Record):
    """Two explanations of one query, and the difference of their scores by document.

    Attributes
    ----------
    first, second
        The explanations.
    difference
        The first score less the second.
    shares
        The share of each document in the difference, largest first; they sum to it.

    Examples
    --------
    >>> import rankstone
    >>> qrels, first, second = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, {"q": ["x", "b"]}
    >>> compared = rankstone.explain(qrels, first, "AP", "q", versus=second)
    >>> compared.difference, [(share.doc_id, share.difference) for share in compared.shares]
    (0.25, [('a', 0.5), ('b', -0.25)])
    """

    first: Explanation
    second: Explanation
    difference: float
    shares: tuple[Share, ...]

    picture = "rankstone.explanation.explanation_tables:difference_sheet"

    @classmethod
    def of(cls, first: Explanation, second: Explanation) -> ExplainedDifference:
        """Attribute the difference of two explanations."""
        grades: dict[str, float | None] = {}
        sides = [_shares(side, grades) for side in (first, second)]
        docs = list(dict.fromkeys([*sides[0], *sides[1]]))
        shares = []
        ranks_of_first = _ranks(first)
        ranks_of_second = _ranks(second)
        for doc in docs:
            share, other = (side.get(doc, 0.0) for side in sides)
            if share or other:
                document_share = Share(
                    doc_id=doc,
                    relevance=grades[doc],
                    ranks=(ranks_of_first.get(doc), ranks_of_second.get(doc)),
                    shares=(share, other),
                    difference=share - other,
                )
                shares.append(document_share)
        for of in ("missed", "unjudged", "link"):
            share, other = (_rest(side, of) for side in (first, second))
            if share or other:
                shares.append(
                    Share(None, None, (None, None), (share, other), share - other, of)
                )
        ordered = sorted(shares, key=lambda entry: -abs(entry.difference))
        difference = (first.value or 0.0) - (second.value or 0.0)
        return cls(first, second, difference, tuple(ordered))

    @property
    def frame(self) -> pl.DataFrame:
        """One row per document.

        Columns ``query_id``, ``of``, ``doc_id``, ``relevance``, ``rank`` and ``other_rank``, ``share`` and
        ``other_share``, ``difference``.
        """
        rows = [
            (
                self.first.query_id,
                share.of,
                share.doc_id,
                share.relevance,
                *share.ranks,
                *share.shares,
                share.difference,
            )
            for share in self.shares
        ]
        schema = {
            "query_id": pl.String(),
            "of": pl.String(),
            "doc_id": pl.String(),
            "relevance": pl.Float64(),
            "rank": pl.Int64(),
            "other_rank": pl.Int64(),
            "share": pl.Float64(),
            "other_share": pl.Float64(),
            "difference": pl.Float64(),
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def report(self) -> NamedValues:
        """Return everything as plain dicts and lists."""
        return {
            "difference": self.difference,
            "shares": [asdict(share) for share in self.shares],
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`frame`."""
        return self.frame


def _over(explanation: Explanation) -> float:
    """Return the divisor of contributions; infinite where there is no value."""
    if explanation.denominator > 0 and explanation.value is not None:
        return explanation.denominator
    return float("inf")


def _shares(
    explanation: Explanation, grades: dict[str, float | None]
) -> dict[str, float]:
    """Return the share of every document that the measure reads; duplicates are summed."""
    shares: dict[str, float] = {}
    divisor = _over(explanation)
    for row in explanation.rows:
        if row.doc_id is None or row.contribution is None:
            continue
        so_far = shares.get(row.doc_id, 0.0)
        shares[row.doc_id] = so_far + row.contribution / divisor
        grades[row.doc_id] = row.relevance
    return shares


def _ranks(explanation: Explanation) -> dict[str, int]:
    """Return the best rank of every document of the list, however deep."""
    ranks: dict[str, int] = {}
    for row in explanation.rows:
        if row.doc_id is not None:
            ranks.setdefault(row.doc_id, row.rank)
    return ranks


def _rest(explanation: Explanation, of: str) -> float:
    """Return the part of a score without a document: a further sum, or the last step of the formula."""
    if of == "link":
        if explanation.value is None:
            return 0.0
        ratio = explanation.ratio if explanation.denominator > 0 else 0.0
        return explanation.value - ratio

    return (getattr(explanation, of) or 0.0) / _over(explanation)
