"""Text that is not TREC's although its words could be, known by its first lines: ratings, lists of items, prels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = Sequence[str]

#: the columns of user, item and rating, of judgments, of prels, and of a run
_RATING: Final = 3
_JUDGMENT: Final = 4
_PREL: Final = 5
_RUN: Final = 6
#: numbers between these are times, in seconds to nanoseconds, and no grades
_FIRST_TIME: Final = 1e8
_LAST_TIME: Final = 1e20
#: what stands for a word that is no number
_NONE: Final = float("-inf")


class Foreign(Record):
    """What a text is, and what to do about it."""

    what: str
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
    >>> foreign([["1", "1193", "5", "978300760"]], "relevance").what
    'the fourth column has times, and no grades'
    >>> foreign([["q1", "0", "d1", "1"]], "relevance")
    """
    is_run = number == "score"
    first = rows[0]
    if number == "relevance" and len(first) >= _RUN and first[1].upper() == "Q0":
        return Foreign(
            "these judgments look like a run",
            fix="are judgments and run in the right order? QRELS comes first",
        )
    second = {row[1] for row in rows if len(row) > 1}
    if any(word.startswith("qid:") for word in second):
        return Foreign(
            "this is text of learning to rank, which rankstone ltr eval reads: grade qid:query … # document"
        )
    what = _exchanged(rows) if is_run else _judged(rows)
    if not what and len(second) > 1:  # not always 0
        what = _of_users(rows, is_run=is_run)
    if what:
        return Foreign(what)
    return None


def _judged(rows: Sequence[Row]) -> str:
    widths = {len(row) for row in rows}
    if widths == {_JUDGMENT} and all(_is_time(row[3]) for row in rows):
        return "the fourth column has times, and no grades"
    if widths == {_PREL} and all(map(_is_prel, rows)):
        return "these are prels: query, document, grade, method and probability"
    return ""


def _exchanged(rows: Sequence[Row]) -> str:
    if any(len(row) < _RUN or not _is_whole(row[4]) for row in rows):
        return ""
    numbers = [_number(row[3]) for row in rows]
    are_fractions = any(number % 1 for number in numbers)
    if _NONE in numbers or not are_fractions:
        return ""
    return "rank and score are exchanged"


def _of_users(rows: Sequence[Row], *, is_run: bool) -> str:
    widths = {len(row) for row in rows}
    if widths == {_RATING} and all(_number(row[2]) >= 0 for row in rows):
        return "these are user, item and rating"
    if not all(_is_whole(word) for row in rows for word in row):
        return ""
    if widths == {_JUDGMENT} and all(_is_time(row[3]) for row in rows):
        return "these are user, item, rating and time"
    users = {row[0] for row in rows}
    may_be_judgments = not is_run and widths == {_JUDGMENT}
    if may_be_judgments and len(users) < len(rows):
        return ""  # judgments may name an assessor, too
    return "these are lists: a user and items in each line"


def _is_prel(row: Row) -> bool:
    grade_and_method = row[2:4]
    probability = _number(row[4])
    return all(map(_is_whole, grade_and_method)) and 0 <= probability <= 1


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
