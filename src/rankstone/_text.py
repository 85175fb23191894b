"""Text for messages and audits: counts with their nouns, quoting, lists of names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


#: texts that need no quotes in a shell, and characters that a shell expands between double quotes
_BARE: Final = re.compile(r"[\w@%+=:,./~-]+", re.ASCII)
_EXPANDED: Final = frozenset('"$`!')


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, in singular or plural.

    >>> counted(1, "query", "queries"), counted(1200, "row")
    ('1 query', '1,200 rows')
    """
    plural = many or (f"{one[:-1]}ies" if one.endswith("query") else f"{one}s")
    return f"1 {one}" if count == 1 else f"{count:,} {plural}"


def noted(count: int | None, one: str, more: str = "", many: str | None = None) -> str:
    """Return a count with its noun and a remark; nothing where the count is 0.

    >>> noted(2, "duplicate row", "merged"), noted(0, "duplicate row", "merged")
    ('2 duplicate rows merged', '')
    """
    return f"{counted(count, one, many)} {more}".rstrip() if count else ""


def line(*parts: str | Iterable[str]) -> str:
    """Join the parts of an audit's line that are not empty.

    >>> line("2 queries", noted(0, "tied row"), ["read as: tsv"])
    '2 queries · read as: tsv'
    """
    texts = chain.from_iterable((part,) if isinstance(part, str) else part for part in parts)
    return " · ".join(filter(None, texts))


def plain(value: Any) -> Any:  # noqa: ANN401 - an audit, or what is in one
    """Return an audit as plain dicts, lists and texts; ``read_as`` only where something was detected.

    >>> plain({1: ("a", "b")})
    {'1': ['a', 'b']}
    """
    if is_dataclass(value):
        known = {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        return known if known.get("read_as", True) else {k: v for k, v in known.items() if k != "read_as"}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value.isoformat() if isinstance(value, date) else value


def exact(number: float) -> str:
    """Return a number as briefly as it can be written and read back without loss.

    >>> exact(2.0), exact(0.1), exact(1e6), exact(1_000_001.0)
    ('2', '0.1', '1e+06', '1000001.0')
    """
    brief = f"{number:g}"
    return brief if float(brief) == number else repr(float(number))


def read_as(notes: Sequence[str]) -> list[str]:
    """Return the part of an audit about a file's format; nothing where nothing was detected.

    >>> read_as(("separator ';'", "decimal comma")), read_as(())
    (["read as: separator ';', decimal comma"], [])
    """
    return [f"read as: {', '.join(map(printable, notes))}"] if notes else []


def left_out(rows: Mapping[str, int]) -> list[str]:
    """Return how many rows were left out, for each reason.

    >>> left_out({"without a user": 2, "without a time": 0})
    ['2 rows without a user left out']
    """
    return [noted(count, "row", f"{what} left out") for what, count in rows.items() if count]


def quoted(text: str) -> str:
    r"""Return a text as one word of a command line, in double quotes, which cmd and PowerShell know, too.

    Only text that a shell would expand in these (``$``, a quote) is in single quotes.

    >>> print(quoted("map@10"), quoted("AUC(negatives=judged)"), quoted("$HOME"))
    map@10 "AUC(negatives=judged)" '$HOME'
    """
    if _BARE.fullmatch(text):
        return text
    return shlex.quote(text) if _EXPANDED & {*text} else f'"{text}"'


def queries(count: int) -> str:
    """Return ``1 query`` or ``2 queries``."""
    return counted(count, "query")


def some(names: Iterable[object], most: int = 3) -> str:
    """Return the first of several names, each as one safe line.

    >>> some(["q1", "q2"]), some(["q1", "q2", "q3", "q4"])
    ('q1, q2', 'q1, q2, q3 …')
    """
    first = list(islice(names, most + 1))
    return ", ".join(printable(name, 40) for name in first[:most]) + (" …" if len(first) > most else "")


def spread(lowest: int, highest: int, one: str, median: float | None = None) -> str:
    """Return a range of counts with its noun; one number where all are equal.

    >>> spread(1000, 1000, "row", 1000.0), spread(1, 1, "row"), spread(1, 1000, "row", 12.5)
    ('1,000 rows', '1 row', '1–1,000 (median 12.5) rows')
    """
    if lowest == highest:
        return counted(highest, one)
    return f"{lowest:,}–{highest:,}{'' if median is None else f' (median {median:g})'} {one}s"


class InLines:
    """An object that is shown in lines, as text or as an HTML list."""

    def lines(self) -> list[str]:
        """Return the lines."""
        raise NotImplementedError

    def brief(self) -> list[str]:
        """Return what is shown of the lines by default."""
        return self.lines()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        audit: dict[str, Any] = plain(self)
        return audit

    def __repr__(self) -> str:
        return "\n".join([type(self).__name__, *(f"  {line}" for line in self.lines())])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in self.lines())}</ul>"
