"""A template of lines, such as ``{query_id}::{doc_id}::{relevance}``, and whether the first lines fit it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = Mapping[str, str]

_NUMBER: Final = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
#: seconds to nanoseconds since 1973
_TIME: Final = r"[1-9][0-9]{8,18}(?:\.[0-9]+)?"
_TYPES: Final = {
    "relevance": _NUMBER,
    "score": _NUMBER,
    "rank": r"[0-9]+",
    "time": _TIME,
    "…": r".*",
}
_BLANKS: Final = r"[ \t]+"
_BETWEEN_NUMBERS: Final = r"[ \t,]+"
#: rows that may all be of one document
_FEW: Final = 3
#: rows from which numbers that are all different are no grades, but ids or times
_MANY: Final = 10
#: name of the documents of a line of several
LISTED: Final = "doc_ids"


class LineTemplate(Record):
    """A line with the names of columns in braces.

    A blank stands for the separator; ``{doc_id…}`` is a list, up to the end of the line.

    Attributes
    ----------
    text
        The template.
    separator
        What stands for each of its blanks: a blank is any number of blanks and tabs.
    """

    text: str
    separator: str = " "

    @property
    def names(self) -> list[str]:
        """The columns, in their order."""
        return list(re.findall(r"\{([^{}]*)\}", self._plain))

    @property
    def lists(self) -> bool:
        """Whether a line holds several documents."""
        return "{doc_id…}" in self.text

    @property
    def shown(self) -> str:
        """The template as people read it: ``query_id::doc_id::relevance``."""
        separator = "⇥" if self.separator == "\t" else self.separator
        return re.sub(r"[{}]", "", self.text.replace(" ", separator))

    @property
    def _plain(self) -> str:
        return self.text.replace("{doc_id…}", "{doc_id}")

    @property
    def pattern(self) -> str:
        """The regular expression of a line, with a named group for each column that is read."""
        parts = re.split(r"(\{[^{}]*\})", self.text)
        return f"^{''.join(map(self._part, parts))}$"

    @property
    def _between(self) -> str:
        """What stands between words, as a regular expression."""
        return _BLANKS if self.separator == " " else re.escape(self.separator)

    def _part(self, part: str) -> str:
        if not part.startswith("{"):
            words = map(re.escape, part.split(" "))
            return self._between.join(words)
        name = part[1:-1]
        word = self._word
        if name == "doc_id…":
            return f"(?P<{LISTED}>{word}(?:{self._between}{word})*)"
        if name == "…":
            return _TYPES[name]
        return f"(?P<{name}>{_TYPES.get(name, word)})"

    @property
    def _word(self) -> str:
        """What an id is made of: anything but the separator, and quotes where cells may have them."""
        if self.separator == " ":
            return r"[^ \t]+"
        quote = '"' if self.separator in ",;\t" else ""
        first = re.escape(self.separator[0])
        return rf"[^{first}{quote}]+"

    def rows_of(self, lines: Sequence[str]) -> list[dict[str, str]] | None:
        """Return the cells of lines by column; ``None`` where a line does not fit."""
        pattern = re.compile(self.pattern)
        matches = [pattern.match(line) for line in lines]
        if not all(matches):
            return None
        return [match.groupdict() for match in matches if match]

    def fits(self, lines: Sequence[str], *, plausible: bool = True) -> bool:
        """Return whether lines are of this template, with ``plausible`` content in every column."""
        rows = self.rows_of(lines)
        if not rows or not plausible:
            return bool(rows)
        is_pair = {*self.names} <= {"query_id", "doc_id"}
        if is_pair and not _are_numbers(rows):
            return False  # any two words
        return all(_CHECKS[name](rows) for name in rows[0] if name in _CHECKS)

    def read(self, lines: pl.Series) -> pl.DataFrame:
        """Return the cells of lines as texts by column, null where a line does not fit."""
        cells = lines.str.extract_groups(self.pattern).struct.unnest()
        if not self.lists:
            return cells
        listed = pl.col(LISTED)
        if self.separator in " \t":
            # such ids are numbers, so a comma stands between two
            listed = listed.str.replace_all(_BETWEEN_NUMBERS, self.separator)
        return cells.with_columns(listed.str.split(self.separator).alias("doc_id"))


def _are_numbers(rows: Sequence[Row]) -> bool:
    cells = [cell for row in rows for cell in row.values()]
    return all(re.fullmatch(r"[0-9 \t,]+", cell) for cell in cells)


def _are_documents(rows: Sequence[Row]) -> bool:
    """Return whether documents differ, and none is ``all``, as trec_eval prints its means."""
    docs = {row["doc_id"] for row in rows}
    if "all" in docs:
        return False
    return len(rows) < _FEW or len(docs) > 1


def are_grades(rows: Sequence[Row]) -> bool:
    """Return whether the relevance of rows may be grades: no times, and not all different in many rows."""
    grades = [row["relevance"] for row in rows]
    if all(re.fullmatch(_TIME, grade) for grade in grades):
        return False
    return len(rows) < _MANY or len({*grades}) < len(rows)


def _are_ranks(rows: Sequence[Row]) -> bool:
    """Return whether the numbers of each query count its documents, from 0 or from 1."""
    for ranks in _by_query(rows, "rank"):
        if min(ranks) not in (0, 1):
            return False
        if not _count_up(sorted(ranks)):
            return False
    return True


def _are_scores(rows: Sequence[Row]) -> bool:
    """Return whether numbers are no ranks: in some list they do not count up."""
    scores = [row["score"] for row in rows]
    if any(not score.isdigit() for score in scores):
        return not all(re.fullmatch(_TIME, score) for score in scores)
    return not all(map(_count_up, _by_query(rows, "score")))


def _count_up(numbers: Sequence[int]) -> bool:
    first = numbers[0]
    return list(numbers) == [*range(first, first + len(numbers))]


def _by_query(rows: Sequence[Row], name: str) -> Iterable[list[int]]:
    by_query: dict[str, list[int]] = {}
    for row in rows:
        numbers = by_query.setdefault(row["query_id"], [])
        numbers.append(int(row[name]))
    return by_query.values()


def _are_lists(rows: Sequence[Row]) -> bool:
    """Return whether each user has one line, and some have several items.

    Lines of one width that all begin with the same item, or end in a time, are of something else.
    """
    items = [re.split(r"[ \t,]+", row[LISTED]) for row in rows]
    widths = {*map(len, items)}
    users = {row["query_id"] for row in rows}
    if max(widths) == 1 or len(users) < len(rows):
        return False
    if len(widths) > 1:
        return True
    first_items = {of_user[0] for of_user in items}
    end_in_times = all(re.fullmatch(_TIME, of_user[-1]) for of_user in items)
    is_table = len(first_items) == 1 or end_in_times
    return not is_table


_CHECKS: Final[dict[str, Any]] = {
    "doc_id": _are_documents,
    "relevance": are_grades,
    "rank": _are_ranks,
    "score": _are_scores,
    LISTED: _are_lists,
}
