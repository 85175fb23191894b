"""What Spark says when it cannot go on, as one sentence instead of two stacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankstone.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["telling_failures"]

#: letters of what Spark says
_SAID = 300


@contextmanager
def telling_failures(where: str) -> Iterator[None]:
    """Turn errors of Spark's, a file that is no Parquet say, into one of ours that names ``where``."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
            raise
        java = getattr(error, "java_exception", None)
        said = str(error if java is None else java.toString()).strip().splitlines()
        raise InputError(
            "Spark cannot open or read this",
            where=printable(where),
            given=printable(said[0] if said else type(error).__name__, _SAID),
            fix="is it whole, and of the format that its suffix says? --format-in names another",
        ) from error
