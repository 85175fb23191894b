"""Packages that are older than rankstone needs: installed by other means, or held back by another package."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

from rankstone.errors import MissingExtra

__all__ = ["outdated"]


def outdated() -> MissingExtra | None:
    """Return the error for the first package that is too old, of those rankstone cannot do without."""
    try:
        wanted = requires("rankstone") or []
    except PackageNotFoundError:  # run from a folder
        return None
    for line in wanted:
        found = re.match(r"([\w.-]+)[^;]*>=\s*([\d.]+)(?!.*\bextra\b)", line)
        if found is None:
            continue
        name, least = found.groups()
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue
        if _numbers(installed) < _numbers(least):
            return MissingExtra(
                f"{name} {installed} is older than rankstone needs ({least} or later)",
                fix=f'python -m pip install --upgrade "{name}>={least}"',
            )
    return None


def _numbers(text: str) -> list[int]:
    """Return a version as numbers, of which zeros at the end say nothing.

    >>> _numbers("2.10.0rc1") > _numbers("2.9"), _numbers("2.0") == _numbers("2")
    (True, True)
    """
    release = re.match(r"[\d.]*", text)
    numbers = [int(number) for number in re.findall(r"\d+", release[0] if release else "")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers
