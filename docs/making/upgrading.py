"""The page for those who come from the last version: what was renamed, and what to write instead."""

from __future__ import annotations

from rankstone import removed_names

__all__ = ["page"]

_HEAD = """\
# From 0.1 to 0.2

Update your code to version 0.2. Numbers are the same, to the last digit; names have changed. A removed name
raises an `AttributeError` that says what to write instead. This page lists them all; names without a
module are `rankstone`'s own.

| was | write |
|---|---|
"""


def page() -> str:
    """Return the page."""
    rows = sorted(removed_names().items(), key=lambda row: (row[0].lower(), row[0]))
    return _HEAD + "".join(
        f"| `{old}` | `{new.replace('|', chr(92) + '|')}` |\n" for old, new in rows
    )
