"""The conventions that numbers depend on, as they are noted below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: characters of a value
_MAX_VALUE: Final = 40


def conventions_lines(
    conventions: Mapping[str, Any], *, brief: bool = False
) -> list[str]:
    """Return the lines about the conventions of numbers; ``brief``: only what differs from the defaults.

    >>> known = {"alignment": {"order": "score", "ties": "input"}, "defaults": {"AP.denom": "R"}}
    >>> conventions_lines(known)
    ['conventions  order=score ties=input · AP.denom=R']
    >>> conventions_lines(known | {"changed": {"ties": "docid_desc"}}, brief=True)
    ['conventions  ties=input (default docid_desc) · the rest by default (-v)']
    """
    if "convention" in conventions:
        return list(_lines_of_a_named(conventions))

    if "alignment" not in conventions:
        known = _without_none(conventions)
        values = {
            name: printable(_listed(value), _MAX_VALUE) for name, value in known.items()
        }
        return [f"conventions  {_assigned(values)}"] if values else []

    if brief:
        different = " ".join(_different(conventions))
        if not different:
            return []
        return [f"conventions  {different} · the rest by default (-v)"]
    line = f"conventions  {_assigned(_without_none(conventions['alignment']))}"
    parameters = _assigned(conventions["defaults"])
    return [f"{line} · {parameters}" if parameters else line]


def _lines_of_a_named(conventions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a convention that has a name: what each measure is in our terms."""
    yield f"convention  {conventions['convention']}"
    for measure, meaning in conventions["meaning"].items():
        ours = meaning["ours"]
        if ours == measure:
            ours = "a measure of this library alone"
        line = f"  {measure} is {ours}"
        if meaning["options"]:
            line += f" with {_assigned(meaning['options'])}"
        if meaning.get("note"):
            line += f": {meaning['note']}"
        yield line


def _different(conventions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options that are not at their default."""
    changed = conventions.get("changed", {})
    for name, value in _without_none(conventions["alignment"]).items():
        if name in changed:
            default = changed[name]
            note = "" if default is None else f" (default {default})"
            yield f"{name}={value}{note}"


def _assigned(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _listed(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return ",".join(str(_listed(part)) for part in value)
    return f"{value:g}" if isinstance(value, float) else value
