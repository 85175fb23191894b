"""Where the numbers come from: options, inputs and their hashes, versions, the command."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from rankstone.errors import masked
from rankstone.plots import vega

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.comparing import Comparison

__all__ = ["flat", "provenance", "versions"]


def provenance(found: Comparison, command: str | None) -> dict[str, Any]:
    """Return what somebody needs to come to the same numbers."""
    hashes = found.hashes()
    return {
        "command": None if command is None else masked(command),
        "comparison": flat(found.how.as_dict()),
        "conventions": flat(found.conventions),
        "inputs": [
            {"name": name, "source": source, "sha256": hashes.get(name, "")}
            for name, source in flat(found.inputs, last_name=True)
        ],
        "versions": versions(),
        "audit": [] if found.audit is None else found.audit.lines(),
    }


def versions() -> list[dict[str, str]]:
    """Return what a page was made with."""
    packages = ("rankstone", "numpy", "polars", "scipy", "altair")
    return [
        *({"name": name, "version": version(name)} for name in packages),
        *({"name": name, "version": told} for name, told in vega.versions().items()),
        {"name": "Python", "version": platform.python_version()},
    ]


def flat(told: Mapping[str, Any], above: str = "", *, last_name: bool = False) -> list[tuple[str, str]]:
    """Return nested options as lines of name and value.

    >>> flat({"alignment": {"ties": "docid_desc"}, "measures": ["AP", "RR"]})
    [('alignment.ties', 'docid_desc'), ('measures', 'AP RR')]
    """
    lines: list[tuple[str, str]] = []
    for name, value in told.items():
        path = name if last_name or not above else f"{above}.{name}"
        if isinstance(value, dict):
            lines += flat(value, path, last_name=last_name)
        elif isinstance(value, (list, tuple)):
            lines.append((path, " ".join(map(str, value))))
        else:
            lines.append((path, "–" if value is None else str(value)))
    return lines
