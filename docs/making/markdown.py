"""The few things every generated page writes: tables, links to headings, text that stays as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["anchor", "escaped", "number", "table"]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table, a blank line before and after it.

    >>> table(["k", "P"], [["1", "0.5"]])
    ['', '| k | P |', '|---|---|', '| 1 | 0.5 |', '']
    """
    names = list(head)
    lines = [f"| {' | '.join(cells)} |" for cells in (names, *rows)]
    return ["", lines[0], f"|{'---|' * len(names)}", *lines[1:], ""]


def anchor(heading: str) -> str:
    """Return what links to a heading, as GitHub and the site make it.

    >>> anchor("W8: nDCG@5 of the five films")
    'w8-ndcg5-of-the-five-films'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def escaped(text: str) -> str:
    r"""Return text that Markdown leaves as it is.

    >>> print(escaped("a_b|c"))
    a\_b\|c
    """
    return "".join(f"\\{sign}" if sign in "\\`*_|<>[]" else sign for sign in text)


def number(value: float) -> str:
    """Return a number with at most six digits behind the point, and none that say nothing.

    >>> number(0.8296130), number(13.0), number(1 / 3)
    ('0.829613', '13', '0.333333')
    """
    return f"{value:.6f}".rstrip("0").rstrip(".")
