"""A pattern of JSON: a document in which our names stand where their values are.

``{"{query_id}": {"contexts": [{"docid": "{doc_id}", "score": "{score}"}]}}`` reads a document for each
context.  A list of one pattern stands for any number of entries, a list of several for a list of that length,
and ``null`` at its end for no further one; a key in braces stands for every key that the pattern does not name;
a key that ends in ``?`` may be missing.  Lists of values beside one another are read side by side:
``{"docs": ["{doc_id}"], "scores": ["{score}"]}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import Record
from rankstone.errors import InputError, printable
from rankstone.io.exact_numbers import is_number
from rankstone.io.shapes.shape import placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = dict[str, Any]

#: columns of numbers, and what stands for any part of a document
NUMBERS: Final = ("relevance", "score", "rank")
ANYTHING: Final = "…"
#: marks the row of an object that lacks a key which may be missing
_LACKS: Final = "?"
#: entries of each list and object that decide whether a document is of a pattern
_HEAD: Final = 20


class Misfit(Exception):
    """A part of a document that is not as the pattern says; ``path`` leads to it."""

    def __init__(
        self, path: str, expected: str, value: object, *, lacks_key: bool = False
    ) -> None:
        super().__init__(path)
        self.lacks_key = lacks_key
        self.path = path
        self.expected = expected
        self.value = value


class JsonPattern(Record):
    """A pattern, and how many entries of each list are looked at; all by default.

    Where it is not exact, a list for one entry may have any number of them.
    """

    pattern: Any
    entries: int | None = None
    is_exact: bool = True

    def misfit(self, value: object) -> Misfit | None:
        """Return where the first entries of a document are not of the pattern; ``None`` where they are.

        A document of which no entry has what the pattern is about differs, too.
        """
        head = replace(self, entries=_HEAD)
        try:
            rows = list(islice(head.rows(value), _HEAD * _HEAD))
        except Misfit as misfit:
            return misfit
        is_known_by_keys = isinstance(self.pattern, dict) and any(
            placeholder(key) is None for key in self.pattern
        )
        if any("doc_id" in row for row in rows):
            return None
        if is_known_by_keys and any(
            "query_id" in row and _LACKS not in row for row in rows
        ):
            return None
        return Misfit("$", "a document", value, lacks_key=True)

    def rows(self, value: object) -> Iterator[Row]:
        """Yield a row for each document, and one without ``doc_id`` for an empty list.

        Raises
        ------
        Misfit
            Where the document is not of the pattern.
        """
        return self._rows(self.pattern, value, {}, "$")

    def _rows(
        self, pattern: object, value: object, row: Row, path: str
    ) -> Iterator[Row]:
        if isinstance(pattern, dict):
            return self._of_object(pattern, value, row, path)
        if isinstance(pattern, list):
            return self._of_list(pattern, value, row, path)
        name = placeholder(pattern)
        if name == ANYTHING:
            return iter((row,))
        if name is None:
            if value != pattern:
                raise Misfit(path, printable(pattern, 40), value)
            return iter((row,))
        is_value = value is None or isinstance(value, (str, int, float))
        if not is_value or (
            name in NUMBERS and value is not None and not is_number(value)
        ):
            raise Misfit(path, f"the {name}", value)
        return iter(({**row, name: value},))

    def _of_object(
        self, pattern: dict[str, Any], value: object, row: Row, path: str
    ) -> Iterator[Row]:
        if not isinstance(value, Mapping):
            raise Misfit(path, "an object", value)
        rows = iter((row,))
        plain = {key.removesuffix("?"): key for key in pattern if not placeholder(key)}
        beside = _values_of_lists(pattern)
        if len(beside) > 1 and {*beside} <= {*value}:
            rows = self._side_by_side(beside, value, row, path)
            for key in beside:
                del plain[key]
        for key, written in plain.items():
            may_lack = key != written
            if key in value and not (may_lack and value[key] is None):
                part = pattern[written], value[key], f"{path}.{key}"
                rows = self._product(rows, *part)
            elif may_lack:
                rows = ({**row, _LACKS: True} for row in rows)
            else:
                expected = f"an object with {key}"
                raise Misfit(path, expected, value, lacks_key=True)
        for key in pattern:
            if placeholder(key):
                rows = self._of_keys(pattern, key, value, rows, path)
        return rows

    def _side_by_side(
        self, pattern: dict[str, Any], value: Mapping[str, Any], row: Row, path: str
    ) -> Iterator[Row]:
        """Yield the rows of lists that say something of the same documents."""
        lists = [value[key] for key in pattern]
        for cells in lists:
            if not isinstance(cells, list) or len(cells) != len(lists[0]):
                raise Misfit(f"{path}.*", "lists of the same length", cells)
        rows = zip(*lists, strict=True)
        records = [dict(zip(pattern, cells, strict=True)) for cells in rows]
        return self._rows([pattern], records, row, path)

    def _product(
        self, rows: Iterator[Row], pattern: object, value: object, path: str
    ) -> Iterator[Row]:
        for row in rows:
            yield from self._rows(pattern, value, row, path)

    def _of_keys(
        self,
        pattern: dict[str, Any],
        key: str,
        value: Mapping[str, Any],
        rows: Iterator[Row],
        path: str,
    ) -> Iterator[Row]:
        """Yield the rows of all keys that the pattern does not name."""
        name = str(placeholder(key))
        named = {other.removesuffix("?") for other in pattern}
        items = [item for item in value.items() if item[0] not in named]
        for row in rows:
            if not items:
                yield row
            for theirs, part in items[: self.entries]:
                inner = {**row, name: theirs}
                yield from self._rows(pattern[key], part, inner, f"{path}.{theirs}")

    def _of_list(
        self, pattern: list[Any], value: object, row: Row, path: str
    ) -> Iterator[Row]:
        if not isinstance(value, (list, tuple)):
            raise Misfit(path, "a list", value)
        if len(pattern) > 1:
            parts = [part for part in pattern if part is not None]
            if not self.is_exact:
                parts = parts[:1] * len(value)
            if len(value) != len(parts):
                raise Misfit(path, f"a list of {len(parts)}", value)
            rows = iter((row,))
            for number, part in enumerate(zip(parts, value, strict=True)):
                rows = self._product(rows, *part, f"{path}[{number}]")
            yield from rows
            return
        if not value:
            yield row
        for number, part in enumerate(value[: self.entries]):
            yield from self._rows(pattern[0], part, row, f"{path}[{number}]")


def _values_of_lists(pattern: Mapping[str, Any]) -> dict[str, str]:
    """Return what each value of a list is, where an object has lists of values."""
    return {
        key: part[0]
        for key, part in pattern.items()
        if isinstance(part, list) and isinstance(part[0], str)
    }


def fits(pattern: object, value: object) -> bool:
    """Return whether the first entries of a document are of a pattern."""
    return JsonPattern(pattern).misfit(value) is None


def refused(misfit: Misfit, what: str, source: str) -> InputError:
    """Return the error for a document that goes on otherwise than it begins.

    Parameters
    ----------
    misfit
        Where it differs.
    what
        The beginning of the sentence: what it is, or looks like.
    source
        Its name in messages.
    """
    return InputError(
        f"{what} an entry differs",
        where=f"{source}, {printable(misfit.path, 200)}",
        given=printable(repr(misfit.value), 40),
        expected=misfit.expected,
    )
