"""The data files: found, read, checked."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

from rankstone.conventions.convention import Convention, Entry, Grades
from rankstone.errors import UnknownConvention, nearest, printable

__all__ = ["convention", "conventions"]

#: ``xgboost``, ``xgboost-3.2``, ``xgboost 3.2.1``
_NAME: Final = re.compile(r"(.+?)(?:[-=\s]+v?(\d[\w.]*))?")

#: what a data file may say of a library, and of each measure
_OF_LIBRARY: Final = frozenset(
    {"name", "version", "title", "url", "about", "checked", "also", "options", "grades", "digits", "measures"}
)
_OF_MEASURE: Final = frozenset(
    {"spelling", "ours", "also", "options", "grades", "digits", "unbounded", "bug", "note", "differs"}
)


@cache
def conventions() -> tuple[Convention, ...]:
    """Return every convention there is, by name, newest version first."""
    found = [
        _parsed(tomllib.loads(file.read_text(encoding="utf-8")), file.name)
        for file in files("rankstone.conventions").joinpath("data").iterdir()
        if file.name.endswith(".toml")
    ]
    newest_first = sorted(found, key=lambda one: _numbers(one.version), reverse=True)
    return tuple(sorted(newest_first, key=lambda one: one.name))


def convention(name: str) -> Convention:
    """Return a library's conventions: ``xgboost`` (the newest we know), ``xgboost-3.2``, ``xgboost-3.2.1``.

    Raises
    ------
    UnknownConvention
        When we do not know the library, or nothing of that version; the nearest names are given.

    Examples
    --------
    >>> str(convention("xgboost-3.2.1"))
    'xgboost-3.2'
    """
    asked = _NAME.fullmatch(name.strip())
    library, version = (asked[1].lower(), asked[2]) if asked else (name, None)
    known = conventions()
    mine = [one for one in known if library in (one.name, *one.also)]
    fitting = [one for one in mine if version is None or _covers(one.version, version)]
    if fitting:
        return fitting[0]
    if mine:
        raise UnknownConvention(
            f"nothing is known of {mine[0].title} {printable(version)}",
            expected=", ".join(map(str, mine)),
            fix=f"choose the nearest: {mine[0]}",
        )
    close = nearest(name, [spelled for one in known for spelled in (one.name, str(one), *one.also)])
    raise UnknownConvention(
        f"no library is known as {printable(name)}",
        expected=", ".join(dict.fromkeys(one.name for one in known)),
        fix=f"did you mean {' or '.join(close)}?" if close else "rankstone conventions list",
    )


def _covers(known: str, asked: str) -> bool:
    """Say whether what is known of ``3.2`` holds for ``3.2.1``."""
    return asked == known or asked.startswith(f"{known}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _parsed(data: dict[str, Any], file: str) -> Convention:
    _only(data, _OF_LIBRARY, file)
    shared: dict[str, Any] = {name: data[name] for name in ("grades", "digits") if name in data}
    entries = tuple(
        _entry(measure, data.get("options", {}), shared, f"{file}: {measure.get('spelling')}")
        for measure in data["measures"]
    )
    return Convention(
        name=data["name"],
        version=data["version"],
        title=data["title"],
        url=data["url"],
        about=data["about"],
        checked=tuple(data.get("checked", ())),
        entries=entries,
        also=tuple(data.get("also", ())),
    )


def _entry(data: dict[str, Any], options: dict[str, Any], shared: dict[str, Any], where: str) -> Entry:
    _only(data, _OF_MEASURE, where)
    said = {**shared, **data}
    grades = said.get("grades")
    return Entry(
        spelling=data["spelling"],
        ours=data["ours"],
        also=tuple(data.get("also", ())),
        options={**options, **data.get("options", {})},
        grades=Grades(**grades) if grades else None,
        digits=said.get("digits"),
        unbounded=data.get("unbounded", False),
        bug=data.get("bug"),
        note=data.get("note"),
        differs=data.get("differs"),
    )


def _only(data: dict[str, Any], known: frozenset[str], where: str) -> None:
    if strange := sorted(set(data) - known):
        raise ValueError(f"{where}: {', '.join(strange)} is nothing a convention says")
