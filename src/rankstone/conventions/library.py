"""The data files: found, read, checked."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from rankstone.conventions.convention import Convention, Entry, Grades, Refusal
from rankstone.errors import UnknownConvention, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["convention", "conventions"]

#: ``xgboost``, ``xgboost-3.2``, ``xgboost 3.2.1``
_NAME: Final = re.compile(r"(.+?)(?:[-=\s]+v?(\d[\w.]*))?")

#: what a library may say once for all its measures
_SHARED: Final = frozenset({"declared", "grades", "digits", "nan", "nobody", "refuses", "summed", "topics"})
#: what a data file may say of a library, and of each measure
_OF_LIBRARY: Final = frozenset(
    {"name", "version", "title", "url", "about", "checked", "also", "options"}
    | {"measures", "variants", "beyond"}
    | _SHARED
)
_OF_MEASURE: Final = frozenset(
    {"spelling", "ours", "also", "options", "unbounded", "bug", "note", "differs"} | _SHARED
)
#: what is said of all measures and holds for those of whole lists, too; the rest is about judgments
_OF_ORDER: Final = ("ties", "score_dtype")
#: what it may say of a way to ask for any of its measures; the suffix comes behind the spelling
_OF_VARIANT: Final = frozenset({"suffix", "options", "note"}) | _SHARED


@cache
def conventions() -> tuple[Convention, ...]:
    """Return every convention there is, by name, newest version first."""
    return _newest_first(_files())


def _files() -> list[str]:
    """Return the names of the data files."""
    folder = files("rankstone.conventions").joinpath("data")
    return [file.name for file in folder.iterdir() if file.name.endswith(".toml")]


def _newest_first(names: Iterable[str]) -> tuple[Convention, ...]:
    """Read data files; by name, newest version first."""
    found = sorted(map(_read, names), key=lambda one: _numbers(one.version), reverse=True)
    return tuple(sorted(found, key=lambda one: one.name))


@cache
def _read(name: str) -> Convention:
    text = files("rankstone.conventions").joinpath("data", name).read_text(encoding="utf-8")
    return _parsed(tomllib.loads(text), name)


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
    asked = _NAME.fullmatch(str(name).strip())
    library, version = (asked[1].lower(), asked[2]) if asked else (name, None)
    own = _newest_first(
        name for name in _files() if name.startswith(f"{library}-")
    )  # rarely needs the others
    known = own or conventions()
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
    usual: dict[str, Any] = {name: data[name] for name in ("options", *_SHARED) if name in data}
    entries = []
    for measure in data["measures"]:
        _only(measure, _OF_MEASURE, f"{file}: {measure.get('spelling')}")
        entries += [_entry(_over(usual, measure))]
        entries += [_entry(_varied(usual, measure, variant)) for variant in data.get("variants", ())]
    for variant in data.get("variants", ()):
        _only(variant, _OF_VARIANT, f"{file}: {variant.get('suffix')}")
    order = {name: value for name, value in data.get("options", {}).items() if name in _OF_ORDER}
    for measure in data.get("beyond", ()):
        _only(measure, _OF_MEASURE - {"grades"}, f"{file}: {measure.get('spelling')}")
        entries += [_entry(_over({"options": order, "of_lists": True}, measure))]
    return Convention(
        name=data["name"],
        version=data["version"],
        title=data["title"],
        url=data["url"],
        about=data["about"],
        checked=tuple(data.get("checked", ())),
        entries=tuple(entries),
        also=tuple(data.get("also", ())),
    )


def _over(usual: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Lay what is said of one over what is said of all."""
    return {**usual, **own, "options": {**usual.get("options", {}), **own.get("options", {})}}


def _varied(usual: dict[str, Any], measure: dict[str, Any], variant: dict[str, Any]) -> dict[str, Any]:
    """Return a measure asked for in another way; what it says of itself holds there, too."""
    spelled = [text + variant["suffix"] for text in (measure["spelling"], *measure.get("also", ()))]
    said = {name: value for name, value in variant.items() if name != "suffix"}
    return _over(_over(usual, said), measure) | {"spelling": spelled[0], "also": spelled[1:]}


def _entry(data: dict[str, Any]) -> Entry:
    grades = data.get("grades")
    return Entry(
        spelling=data["spelling"],
        ours=data["ours"],
        also=tuple(data.get("also", ())),
        options=data["options"],
        grades=Grades(**grades) if grades else None,
        digits=data.get("digits"),
        spoils=data.get("nan") == "spoils",
        nobody=data.get("nobody"),
        summed=data.get("summed"),
        topics=data.get("topics"),
        refuses=tuple(_refusal(one) for one in data.get("refuses", ())),
        unbounded=data.get("unbounded", False),
        declared=data.get("declared", False),
        of_lists=data.get("of_lists", False),
        bug=data.get("bug"),
        note=data.get("note"),
        differs=data.get("differs"),
    )


def _refusal(data: dict[str, Any]) -> Refusal:
    """Read what a library refuses; a value of ``"none"`` is no value at all."""
    value = None if data["value"] == "none" else float(data["value"])
    return Refusal(data["measure"], value, data["why"], data.get("every", False))


def _only(data: dict[str, Any], known: frozenset[str], where: str) -> None:
    if strange := sorted(set(data) - known):
        raise ValueError(f"{where}: {', '.join(strange)} is nothing a convention says")
