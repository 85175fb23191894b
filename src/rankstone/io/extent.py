"""About how many rows files of text hold, from their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.io.broken import PACKED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["rows_about"]

#: bytes whose lines are counted, at the beginning of a file, in its middle and before its end
_SAMPLE: Final = 1 << 16


def rows_about(sources: Sequence[Path | bytes]) -> int | None:
    """Return about how many lines files hold that are not packed: their size by the length of a line.

    Parameters
    ----------
    sources
        Paths, or the content itself.
    """
    counts = [_lines(source) for source in sources]
    known = [count for count in counts if count is not None]
    return round(sum(known)) if len(known) == len(counts) else None


def _lines(source: Path | bytes) -> float | None:
    if isinstance(source, bytes):
        return source.count(b"\n")
    try:
        size = source.stat().st_size
        with source.open("rb") as file:
            sample = file.read(_SAMPLE)
            for place in (size // 2, size - _SAMPLE) if size > _SAMPLE else ():
                file.seek(place)
                sample += file.read(_SAMPLE)
    except OSError:
        return None
    if sample.startswith(PACKED):
        return None
    return size / len(sample) * sample.count(b"\n") if sample else 0.0
