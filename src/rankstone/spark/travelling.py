"""What travels to executors tells which version packed it."""

from __future__ import annotations

from typing import Any

__all__ = ["Travelling", "version"]


class Travelling:
    """What is sent to executors: it is opened by the version that packed it, or not at all."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it is opened."""
        return _opened, (version(), type(self), dict(vars(self)))


def _opened(packed_by: str, kind: type[Any], held: dict[str, Any]) -> Any:  # noqa: ANN401 - of that kind
    if packed_by != version():
        raise ImportError(f"executors have rankstone {version()}, and what they were sent is of {packed_by}")
    made = object.__new__(kind)
    vars(made).update(held)
    return made


def version() -> str:
    """Return the version of rankstone here."""
    import rankstone

    return rankstone.__version__
