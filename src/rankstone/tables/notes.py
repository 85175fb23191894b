"""Notes below results: the audit of their data, and the conventions that their numbers depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import printable
from rankstone.tables.sheet import Details

if TYPE_CHECKING:
    from collections.abc import Mapping


#: options and parameters whose defaults are shown in brief: those that libraries disagree on most
_USUAL: Final = ("gain", "rel", "ties", "missing")


def data_notes(audit: Any, conventions: Mapping[str, Any] | None) -> Details:  # noqa: ANN401 - of any room
    """Return what is noted below numbers: the audit of their data, and the conventions they depend on."""
    audits = ((), ()) if audit is None else (audit.lines(), audit.brief())
    whole, brief = (conventions_lines(conventions or {}, brief=brief) for brief in (False, True))
    return Details((*audits[0], *whole), (*audits[1], *brief))


def conventions_lines(conventions: Mapping[str, Any], *, brief: bool = False) -> list[str]:
    """Return the lines about the conventions of numbers; ``brief``: only what differs from the defaults.

    >>> known = {"alignment": {"order": "score", "ties": "input"}, "defaults": {"AP.denom": "R"}}
    >>> conventions_lines(known)
    ['conventions  order=score ties=input · AP.denom=R']
    >>> conventions_lines(known | {"changed": {"ties": "docid_desc"}}, brief=True)
    ['conventions  ties=input (default docid_desc) · defaults: …']
    """
    if "convention" in conventions:
        lines = [f"convention  {conventions['convention']}"]
        for text, meaning in conventions["meaning"].items():
            options = " ".join(f"{name}={value}" for name, value in meaning["options"].items())
            lines.append(f"  {text} is {meaning['ours']}{f' with {options}' if options else ''}")
        return lines
    if "alignment" not in conventions:
        known = {name: value for name, value in conventions.items() if value is not None}
        shown = [f"{name}={printable(_listed(value), 40)}" for name, value in known.items()]
        return [f"conventions  {' '.join(shown)}"] if shown else []
    shown = [f"{name}={value}" for name, value in conventions["alignment"].items() if value is not None]
    if brief:
        changed = conventions.get("changed", {})
        defaults = {name.rpartition(".")[2]: value for name, value in conventions["defaults"].items()}
        usual = [f"{name}={defaults[name]}" for name in _USUAL if name in defaults]
        usual += [
            one for one in shown if one.partition("=")[0] in _USUAL and one.partition("=")[0] not in changed
        ]
        other = [
            one if changed[name] is None else f"{one} (default {changed[name]})"
            for one in shown
            if (name := one.partition("=")[0]) in changed
        ]
        return [f"conventions  {' '.join([*other, *(['·'] if other else []), 'defaults:', *usual, '…'])}"]
    parameters = [f"{name}={value}" for name, value in conventions["defaults"].items()]
    return ["conventions  " + " ".join(shown) + (" · " + " ".join(parameters) if parameters else "")]


def _listed(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return ",".join(str(_listed(one)) for one in value)
    return f"{value:g}" if isinstance(value, float) else value
