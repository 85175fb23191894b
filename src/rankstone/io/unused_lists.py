"""Numbers beside the documents of a row that have no name of ours: perhaps grades, perhaps scores.

Judgments without grades are all relevant, and a run without scores has the order of its lists, but only where
nothing else is said.  So a list of numbers as long as that of the documents needs a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.io.column_suggestions import (
    begins_as_list,
    is_common_name,
    is_id,
    sides_of,
)
from rankstone.io.columns import COSTS, UNUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankstone._basics import Columns
    from rankstone.io.column_suggestions import Kind


#: our columns that are neither grades nor scores
_OTHERS: Final = (
    *COSTS, "start", "end", "subtopic", "subgroup", "propensity", "session", "time",
)  # fmt: skip
#: our columns, and texts, that may stand beside a pair which is relevant
_BESIDE: Final = (
    *(
        "query_id",
        "doc_id",
        "user_id",
        "time",
        "title",
        "text",
        "document",
        "question",
        "answer",
        "answers",
    ),
    *("url", "content", "passage", "body", "description", "groundtruths"),
)
_NUMBERS: Final = ("wholes", "numbers")
#: objects in which tools keep what they know about a document
_ABOUT: Final = ("metadata.", "meta.")


def numbers_beside(
    kinds: Mapping[str, Kind | None],
    lists: Callable[[], pl.LazyFrame],
    columns: Columns,
) -> tuple[tuple[str, ...], set[str]]:
    """Return the lists of numbers of a table that has no grades, or no scores, by our names.

    Parameters
    ----------
    kinds
        What columns contain, by their current names.
    lists
        Returns the first rows of columns of lists.
    columns
        {their name: our name}, with the table that is read.

    Returns
    -------
    tuple
        Those that are as long as the lists of documents, and those that belong to other lists.
    """
    ours, other = sides_of(columns)
    known = {name for name, kind in kinds.items() if kind in ("texts", *_NUMBERS)}
    if not ours or "doc_id" not in known or not kinds.keys().isdisjoint(ours):
        return (), set()
    numbers = [
        name
        for name, kind in kinds.items()
        if kind in _NUMBERS and may_be_meant(name, ours)
    ]
    elsewhere = [name for name in known if begins_as_list(name, other)]
    if not numbers:
        return (), set()
    try:
        every = pl.col({"doc_id", *numbers, *elsewhere})
        lengths = lists().select(every.list.len()).collect()
    except pl.exceptions.PolarsError:
        # a broken row is reported where the table is read
        return (), set()

    def is_beside(name: str) -> bool:
        owners = [] if is_common_name(name, ours) else elsewhere
        alike = [
            docs for docs in (*owners, "doc_id") if lengths[name].equals(lengths[docs])
        ]
        return alike[:1] == ["doc_id"] and not begins_as_list(name, other)

    unused = tuple(filter(is_beside, numbers))
    return unused, {*numbers}.difference(unused)


def may_be_meant(name: str, ours: Sequence[str]) -> bool:
    """Return True for names of numbers that may be grades, scores or ranks."""
    others = is_id(name) or is_common_name(name, _OTHERS)
    others |= name.startswith((UNUSED, *_ABOUT))
    return is_common_name(name, ours) or not others


def possible_grades(names: Iterable[str], columns: Columns) -> list[str]:
    """Return the columns of judgments that may be grades under a name that is not known.

    Times and texts, known by their names, are none.

    Parameters
    ----------
    names
        The columns.
    columns
        {their name: our name}.

    Examples
    --------
    >>> possible_grades(["user", "stars", "timestamp", "title"], {"user": "query_id"})
    ['stars']
    """
    return [
        name
        for name in names
        if columns.get(name, name) not in ("query_id", "doc_id")
        and not name.startswith(UNUSED)
        and not is_common_name(name, _BESIDE)
    ]
