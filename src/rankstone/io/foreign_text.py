"""Text without a header that is not TREC's, known by its first lines: ratings, lists of items, prels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rankstone._basics import Record
from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = Sequence[str]

#: the columns of user, item and rating, of judgments, of prels, and of a run
_RATING, _JUDGMENT, _PREL, _RUN = 3, 4, 5, 6
#: numbers between these are times, in seconds to nanoseconds, and no grades
_FIRST_TIME, _LAST_TIME = 1e8, 1e20
#: what stands for a word that is no number
_NONE: Final = float("-inf")


class Foreign(Record):
    """What a text is, and how its first row is to be written."""

    what: str
    instead: str = ""
    fix: str | None = None


def foreign(rows: Sequence[Row], number: str) -> Foreign | None:
    """Return what the first rows are where they are not TREC's; ``None`` where they may be.

    Parameters
    ----------
    rows
        The words of the first lines, without comments.
    number
        What is expected: the ``score`` of a run, the ``relevance`` of judgments, or something else.

    Examples
    --------
    >>> foreign([["1", "1193", "5", "978300760"]], "relevance").instead
    '1 0 1193 5'
    >>> foreign([["q1", "0", "d1", "1"]], "relevance")
    """
    run = number == "score"
    first = rows[0]
    if number == "relevance" and len(first) >= _RUN and first[1].upper() == "Q0":
        return Foreign(
            "these judgments look like a run",
            fix="are judgments and run in the right order? QRELS comes first",
        )
    known = _learning(rows, run=run)
    if known is None:
        known = _exchanged(rows) if run else _judged(rows)
    if known is None and len({row[1] for row in rows if row[1:]}) > 1:  # not always 0
        known = _of_users(rows, run=run)
    return known


def _learning(rows: Sequence[Row], *, run: bool) -> Foreign | None:
    row = next((row for row in rows if row[1:] and row[1].startswith("qid:")), None)
    if row is None:
        return None
    grade, query, *rest = row
    doc = rest[1] if rest[:1] == ["#"] and rest[1:] else "doc_id"
    return Foreign(
        "this is text of learning to rank: grade qid:query … # document",
        _row(query.removeprefix("qid:"), doc, grade, run=run),
    )


def _judged(rows: Sequence[Row]) -> Foreign | None:
    widths = {len(row) for row in rows}
    if widths == {_JUDGMENT} and all(_is_time(row[3]) for row in rows):
        user, item, rating, _ = rows[0]
        has_ratings = all(_number(row[2]) > _NONE for row in rows)
        return Foreign(
            "the fourth column has times, and no grades",
            _row(user, item, rating) if has_ratings else "",
        )
    if widths == {_PREL} and all(map(_is_prel, rows)):
        query, doc, grade, *_ = rows[0]
        return Foreign(
            "these are prels: query, document, grade, method and probability",
            _row(query, doc, grade),
        )
    return None


def _exchanged(rows: Sequence[Row]) -> Foreign | None:
    if any(len(row) < _RUN or not _is_whole(row[4]) for row in rows):
        return None
    numbers = [_number(row[3]) for row in rows]
    if _NONE in numbers or not any(number % 1 for number in numbers):
        return None
    query, _, doc, score, rank, *_ = rows[0]
    row = f"{query} Q0 {doc} {rank} {score} tag"
    return Foreign("rank and score are exchanged", printable(row, 40))


def _of_users(rows: Sequence[Row], *, run: bool) -> Foreign | None:
    user, *items = rows[0]
    widths = {len(row) for row in rows}
    if widths == {_RATING} and all(_number(row[2]) >= 0 for row in rows):
        return Foreign("these are user, item and rating", _row(user, *items, run=run))
    if not all(_is_whole(word) for row in rows for word in row):
        return None
    users = {row[0] for row in rows}
    if not run and widths == {_JUDGMENT} and len(users) < len(rows):
        return None  # judgments may name an assessor, too
    return Foreign(
        "these are lists: a user and items in each line",
        json.dumps({user: items[:2]}).replace("]}", ", …]}"),
    )


def _row(query: str, doc: str, number: str, *, run: bool = False) -> str:
    row = f"{query} 0 {doc} {number}"
    if run:
        row = f"{query} Q0 {doc} 1 {number} tag"
    return printable(row, 40)


def _is_prel(row: Row) -> bool:
    return all(map(_is_whole, row[2:4])) and 0 <= _number(row[4]) <= 1


def _is_time(word: str) -> bool:
    return _FIRST_TIME <= _number(word) <= _LAST_TIME


def _is_whole(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _number(word: str) -> float:
    """Return a number; what is none is less than all."""
    try:
        return float(word)
    except ValueError:
        return _NONE
