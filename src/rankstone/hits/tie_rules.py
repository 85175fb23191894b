"""Rules for tied documents: one table, which everything that meets ties asks.

A rule more is an entry of ``TIES``, and its word among the types above it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankstone._basics import Floats, Ints

#: rules that need no judgments
Ordered = Literal["docid_desc", "docid_asc", "input", "reverse_input"]
#: every rule; the first is the default
Ties = Literal[Ordered, "expected", "best", "worst", "error"]


class TiedRows(Record):
    """The rows of the tie blocks of a batch.

    Attributes
    ----------
    rows
        int64 ``[rows]``: their row numbers, in the order of the input.
    ids
        Returns their documents' ids as texts.
    worth
        Returns their worth to a measure, float64 ``[rows]``; ``None`` without judgments.
    """

    rows: Ints
    ids: Callable[[], pl.Series]
    worth: Callable[[], Floats] | None = None


class TieRule(Record):
    """What a rule makes of tied documents.

    Attributes
    ----------
    key
        Returns what rows are sorted by within their tie block, a column; ``None``: no row moves.  It has to
        decide fully: documents with equal keys stay in the order of the input, which no rule but ``input``
        may show, so a key of lengths of ids ends in the ids.
    descending
        True if larger keys come first.
    needs_ids, needs_grades, needs_order
        True if the rule looks at ids, at judgments, or at the order of the input.
    closed_form
        True if no order is chosen: a measure takes the mean over all of them.
    refuses
        True if ties are an error.
    """

    key: Callable[[TiedRows], Any] | None = None
    descending: bool = False
    needs_ids: bool = False
    needs_grades: bool = False
    needs_order: bool = False
    closed_form: bool = False
    refuses: bool = False

    @property
    def extremal(self) -> bool:
        """True if the order is the best or the worst for a measure."""
        return self.needs_grades and not self.closed_form


_BY_ID: Final = TieRule(lambda tied: tied.ids(), needs_ids=True)
_BY_WORTH: Final = TieRule(lambda tied: tied.worth and tied.worth(), needs_grades=True)

#: what each value of the option ``ties`` means
TIES: Final[dict[str, TieRule]] = {
    "docid_desc": replace(_BY_ID, descending=True),
    "docid_asc": _BY_ID,
    "input": TieRule(needs_order=True),
    "reverse_input": TieRule(lambda tied: tied.rows, descending=True, needs_order=True),
    "expected": TieRule(needs_grades=True, closed_form=True),
    "best": replace(_BY_WORTH, descending=True),
    "worst": _BY_WORTH,
    "error": TieRule(refuses=True),
}
