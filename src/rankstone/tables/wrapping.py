"""Lines that are broken at the width of a page or a column, as terminals count it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterator

#: signs of Chinese before which no line may break
_CLOSING: Final = "，。；：、）"


def wrapped(line: str, width: int, indent: str = "") -> list[str]:
    """Wrap a line at ``width`` columns, at blanks; words stay whole, except in Chinese.

    >>> wrapped("alpha beta gamma", 11)
    ['alpha beta', 'gamma']
    """
    room = width - len(indent)
    lines = []
    line_now = ""
    for word in _words(line):
        if line_now.strip() and cell_len(line_now + word.rstrip()) > room:
            lines.append(indent + line_now.rstrip())
            line_now = word.lstrip()
        else:
            line_now += word
    return [*lines, indent + line_now.rstrip()]


def _words(line: str) -> Iterator[str]:
    """Yield pieces after which a line may break: words with the blanks after them, and wide characters."""
    word = ""
    for sign, after in zip(line, [*line[1:], " "], strict=False):
        word += sign
        ends_word = sign == " " and after != " "
        is_wide = cell_len(sign) > 1 and after not in _CLOSING
        if ends_word or is_wide:
            yield word
            word = ""
    yield word


def broken(line: str, width: int) -> Iterator[str]:
    """Yield a line in pieces of at most ``width`` columns, whatever is between them."""
    while cell_len(line) > width:
        fitting = (n for n in range(1, len(line)) if cell_len(line[:n]) <= width)
        end = max(fitting, default=1)
        yield line[:end]
        line = line[end:]
    yield line
