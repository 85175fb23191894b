"""Lines of a recording: what they are (a number or words), a key, and the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Line = tuple[str, str, str]
#: keys of reports whose values are places and dates
_VOLATILE = frozenset({"inputs", "hashes", "source"})


def refused(key: str, error: Exception) -> Iterator[Line]:
    """Yield what kind of error it is, and what it says."""
    yield "number", key, f"refused: {type(error).__name__}"
    yield "words", key, str(error)


def flat(key: str, result: Any) -> Iterator[Line]:
    """Yield what a report holds, leaf by leaf."""
    if isinstance(result, dict):
        for name, value in result.items():
            if name not in _VOLATILE:
                yield from flat(f"{key}.{name}", value)
    elif isinstance(result, (list, tuple)):
        for index, value in enumerate(result):
            yield from flat(f"{key}[{index}]", value)
    else:
        sentence = isinstance(result, str) and " " in result.strip()
        yield ("words" if sentence else "number"), key, exact(result)


def exact(value: Any) -> str:
    """Return a value with every bit of it."""
    return repr(value) if isinstance(value, float) else str(value)
