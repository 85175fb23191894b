"""English around numbers, for messages and audits."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, in singular or plural.

    >>> counted(1, "query", "queries"), counted(1200, "row")
    ('1 query', '1,200 rows')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {many or one + 's'}"


def queries(count: int) -> str:
    """Return ``1 query`` or ``2 queries``."""
    return counted(count, "query", "queries")
