"""What Spark says when it cannot go on, as one sentence instead of two stacks."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rankstone.errors import InputError, MissingExtra, RankstoneError, printable
from rankstone.spark.exact import found_in
from rankstone.spark.travelling import version

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["telling_failures"]

#: letters of what Spark says
_SAID = 300
#: what a process of Python on an executor says when a package is not there
_MISSING: Final = re.compile(
    r"No module named '(rankstone|polars|numpy|pyarrow)['.]|(PyArrow) >?=? ?[\d.]+ must be installed"
)
#: what it says when its rankstone is another than the one that sent the task
_OTHER: Final = re.compile(
    r"executors have rankstone [^\n]+"
    r"|No module named 'rankstone\.[^\n]+"
    r"|(?:Can't get attribute|cannot import name|has no attribute)[^\n]*rankstone[^\n]*"
)
_PYTHON: Final = re.compile(r"PYTHON_VERSION_MISMATCH\][^\n]*")
_ENDED: Final = re.compile(
    r"Python worker exited unexpectedly|Python worker failed to connect back|ExecutorLostFailure"
)
_INSTALL: Final = (
    'pip install "rankstone[spark]=={version}" where executors run, or send an environment (docs/spark.md)'
)


@contextmanager
def telling_failures(where: str) -> Iterator[None]:
    """Turn errors of Spark's, a file that is no Parquet say, into one of ours that names ``where``."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
            raise
        java = getattr(error, "java_exception", None)
        said = str(error), None if java is None else str(java.toString())
        raise found_in("\n".join(filter(None, said)), where) or _told(where, *said) from error


def _told(where: str, said: str, java: str | None) -> RankstoneError:
    """Say what Spark's words come to.

    >>> print(_told("run", "ModuleNotFoundError: No module named 'rankstone'", None).what)
    executors have no rankstone
    """
    whole = f"{said}\n{java or ''}"
    place, install = printable(where), _INSTALL.format(version=version())
    if found := _OTHER.search(whole):
        return MissingExtra(
            "executors have another rankstone than this one",
            where=place,
            given=printable(found[0], _SAID),
            expected=f"rankstone {version()}",
            fix=install,
        )
    if found := _MISSING.search(whole):
        package = (found[1] or found[2]).lower()
        return MissingExtra(f"executors have no {package}", where=place, fix=install)
    if found := _PYTHON.search(whole):
        return MissingExtra(
            "executors run another Python than this one",
            where=place,
            given=printable(found[0], _SAID),
            fix="PYSPARK_PYTHON names the Python of executors; its minor version has to be this one's",
        )
    if found := _ENDED.search(whole):
        return RankstoneError(
            "a process on an executor ended before its task did",
            where=place,
            given=printable(_line(said, found[0]), _SAID),
            fix="was there too little memory? more of it (spark.executor.memoryOverhead), more partitions, "
            "or broadcast=0, which sends no judgments along",
        )
    if "Traceback (most recent call last)" in said:
        return RankstoneError(
            "a Python function failed on an executor",
            where=place,
            given=printable(_last_of_traceback(said), _SAID),
            fix="is it one of your own, that the frames were made by? If not, it is a mistake of ours: the "
            "stack above this message tells where",
        )
    lines = (java or said).strip().splitlines()
    return InputError(
        "Spark cannot open or read this",
        where=place,
        given=printable(lines[0] if lines else "", _SAID),
        fix="is it whole, and of the format that its suffix says? --format-in names another",
    )


def _line(text: str, part: str) -> str:
    return next((line.strip() for line in text.splitlines() if part in line), part)


def _last_of_traceback(text: str) -> str:
    r"""Return the line that names the error of the last stack of Python's.

    >>> _last_of_traceback("Traceback (most recent call last):\n  File x\n    f()\nValueError: no\n at org.x")
    'ValueError: no'
    """
    stack = text[text.rindex("Traceback (most recent call last)") :].splitlines()[1:]
    return next((line for line in stack if line and not line[0].isspace()), "")
