"""The catalogue of measures, ``measures/__init__.pyi``: where each is, for type checkers and the registry.

It is collected from the classes.  Modules and measures keep the place they have in the catalogue; new ones go
last, a measure behind the others of its module.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Final

import rankstone
from rankstone.measures.core.definition import Named
from rankstone.measures.core.registry import measure_modules

__all__ = ["CATALOGUE", "collected", "stub"]

PACKAGE: Final = Path(rankstone.__file__).parent
CATALOGUE: Final = PACKAGE / "measures" / "__init__.pyi"
#: definitions of measures, and of what other libraries mean by theirs, which no name of ours reaches
_DEFINES: Final = re.compile(r"^    card: ClassVar\[Card\] = ", re.MULTILINE)
_OF_LIBRARIES: Final = "rankstone.conventions."
_HEAD: Final = """\
# Written by `make pages` from the classes: where each measure is defined.
# ruff: noqa: I001
"""


def collected() -> dict[str, list[str]]:
    """Return module → measures defined there, in the order of the catalogue."""
    old, found = measure_modules(), {}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("rankstone", *path.relative_to(PACKAGE).with_suffix("").parts))
        if module.startswith(_OF_LIBRARIES) or not _DEFINES.search(path.read_text(encoding="utf-8")):
            continue
        kinds = [kind for kind in vars(import_module(module)).values() if _is_defined(kind, module)]
        if kinds:
            found[module] = sorted((kind.name for kind in kinds), key=lambda name: _place(name, old))
    return dict(sorted(found.items(), key=lambda item: (_place(item[1][0], old), item[0])))


def _place(name: str, old: dict[str, str]) -> int:
    """Return a measure's place in the catalogue; new ones come behind all others."""
    return list(old).index(name) if name in old else len(old)


def _is_defined(kind: object, module: str) -> bool:
    """Return True for a class that a module defines and that its name alone can stand for."""
    return (
        isinstance(kind, type)
        and issubclass(kind, Named)
        and kind.__module__ == module
        and "card" in vars(kind)
        and all(f.default is not MISSING for f in fields(kind))
    )


def stub() -> str:
    """Return the catalogue as a stub."""
    shared = [
        _line(f"rankstone.measures.{home}", name)
        for home, names in vars(rankstone.measures)["PUBLIC"].items()
        for name in names
    ]
    old, found = measure_modules(), [(name, home) for home, names in collected().items() for name in names]
    measures = [_line(home, name) for name, home in sorted(found, key=lambda one: _place(one[0], old))]
    return "\n".join([_HEAD, *shared, "", "# measures", *measures, ""])


def _line(home: str, name: str) -> str:
    return f"from {home} import {name} as {name}"
