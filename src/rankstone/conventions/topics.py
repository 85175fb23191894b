"""Query ids that a library does not tell apart, or cannot read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rankstone.words import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["confused"]

#: groups of ids that are told
_SHOWN: Final = 3


def confused(library: str, pattern: str, ids: Iterable[str]) -> Iterator[str]:
    """Say which query ids a library takes for one query, and which it refuses.

    Parameters
    ----------
    library
        Its name.
    pattern
        Matches the ids that it takes, and captures the number it goes by.
    ids
        The query ids, each once.

    Examples
    --------
    >>> list(confused("gdeval", "(?:.*-)?([0-9]+)", ["2010-1", "2011-1", "7"]))
    ['gdeval takes each of these groups of query ids for one query: 2010-1, 2011-1']
    """
    by_number: dict[int, list[str]] = {}
    refused = []
    for one in ids:
        found = re.fullmatch(pattern, one, re.ASCII)
        if found is None:
            refused.append(one)
        else:
            by_number.setdefault(int(found[1]), []).append(one)
    merged = [some(group) for group in by_number.values() if len(group) > 1]
    if merged:
        shown = "; ".join(merged[:_SHOWN])
        more = f" ({len(merged) - _SHOWN} more such groups)" if len(merged) > _SHOWN else ""
        yield f"{library} takes each of these groups of query ids for one query: {shown}{more}"
    if refused:
        yield f"{library} ends with an error at query ids that end in no number: {some(refused)}"
