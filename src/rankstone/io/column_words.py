"""Common names and words of the columns of tables, and which of our columns a name speaks of."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def common_names() -> Mapping[str, Any]:
    """Return the common names of our columns, folded; ``words`` are those that longer names hold."""
    import tomllib

    file = resources.files(__package__) / "column_names.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def folded_name(name: str) -> str:
    """Return a name in lower case, without blanks and hyphens."""
    return re.sub(r"[\W_]+", "", name).lower()


def subject(name: str) -> str:
    """Return which of our columns the words of a name speak of; empty for none.

    >>> subject("Product SKU"), subject("Rating (A-D)"), subject("Doc Position"), subject("Title")
    ('doc_id', 'relevance', 'rank', '')
    """
    words = re.split(r"[\W_]+", name.lower())
    spaced = " ".join(["", *words, ""])
    for ours, known in common_names()["words"].items():
        for word in known:
            if f" {word} " in spaced:
                return str(ours)
            # no blanks stand between words there
            if word in spaced and not word.isascii():
                return str(ours)
    return ""
