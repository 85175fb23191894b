"""Short names: long ones are cut so that different names stay different."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: the least number of characters of a name
_MIN_WIDTH: Final = 8
#: the least number of characters of its end
_MIN_END: Final = 3
#: separators of the parts of a name
_SEPARATOR: Final = re.compile(r"[-_./:\\ ]")


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten names to ``width`` characters: a common beginning is dropped, the middle cut, the end kept.

    Different names stay different; where ``width`` characters are not enough for that, they are longer.

    >>> shortened(["run.large.bm25-k1=0.9", "run.large.bm25-k1=1.2"], 12)
    {'run.large.bm25-k1=0.9': '…k1=0.9', 'run.large.bm25-k1=1.2': '…k1=1.2'}
    >>> shortened(["a dense retriever of 2024", "bm25"], 12)["a dense retriever of 2024"]
    'a d… of 2024'
    """
    distinct = list(dict.fromkeys(names))
    longest = max(map(len, distinct), default=0)
    if longest <= width:
        return {name: name for name in distinct}

    rest = _without_common_beginning(distinct)
    for most in range(max(width, _MIN_WIDTH), longest + 1):
        for begin in range((most - 1) // 3, most - _MIN_END):
            short = {name: _cut(text, most, begin) for name, text in rest.items()}
            if len({*short.values()}) == len(distinct):
                return short
    return {name: name for name in distinct}


def _without_common_beginning(names: list[str]) -> dict[str, str]:
    """Return each name with an ellipsis for the whole parts with which all of several begin."""
    shared = _common_prefix(min(names), max(names)) if len(names) > 1 else ""
    part_ends = [separator.end() for separator in _SEPARATOR.finditer(shared)]

    dropped = part_ends[-1] if part_ends else len(shared)
    if dropped <= 1:
        return {name: name for name in names}
    return {name: f"…{name[dropped:]}" for name in names}


def _common_prefix(first: str, last: str) -> str:
    """Return the common beginning of two texts; of the first and the last of many, that of all."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(sign for sign, _ in same)


def _cut(text: str, most: int, begin: int) -> str:
    """Cut the middle of a text, ``begin`` characters from its beginning."""
    return text if len(text) <= most else f"{text[:begin]}…{text[begin + 1 - most :]}"
