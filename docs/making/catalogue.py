"""Stubs of packages whose names are imported at first use, for type checkers and editors.

Each is written from the table ``PUBLIC`` of its package.  That of ``rankstone.measures`` is the
catalogue of measures, too, which the registry reads: it is collected from the classes.  Modules and measures
keep the place they have in the catalogue; new ones go last, a measure behind the others of its module.
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

__all__ = ["CATALOGUE", "collected", "stubs"]

PACKAGE: Final = Path(rankstone.__file__).parent
CATALOGUE: Final = PACKAGE / "measures" / "__init__.pyi"
#: definitions of measures, and of what other libraries mean by theirs, which no name of ours reaches
_DEFINES: Final = re.compile(r"^    card = ", re.MULTILINE)
_OF_LIBRARIES: Final = "rankstone.conventions."
_HEAD: Final = """\
# Written by `make pages`: where each public name is defined.
"""
#: what the package itself defines
_OF_PACKAGE: Final = """
from collections.abc import Callable, Mapping

PUBLIC: dict[str, tuple[str, ...]]
__version__: str

def lazy_names(
    package: str, public: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], list[str]]: ...
"""


def collected() -> dict[str, list[str]]:
    """Return module → measures defined there, in the order of the catalogue."""
    old, found = measure_modules(), {}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(
            ("rankstone", *path.relative_to(PACKAGE).with_suffix("").parts)
        )
        if module.startswith(_OF_LIBRARIES) or not _DEFINES.search(
            path.read_text(encoding="utf-8")
        ):
            continue
        kinds = [
            kind
            for kind in vars(import_module(module)).values()
            if _is_defined(kind, module)
        ]
        if kinds:
            found[module] = sorted(
                (kind.name for kind in kinds), key=lambda name: _place(name, old)
            )
    return dict(
        sorted(found.items(), key=lambda item: (_place(item[1][0], old), item[0]))
    )


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


def stubs() -> dict[Path, str]:
    """Return the text of every stub by its path."""
    rooms = [
        path.parent
        for path in PACKAGE.rglob("__init__.py")
        if "lazy_names(__name__, PUBLIC)" in path.read_text("utf-8")
    ]
    return {
        PACKAGE / "__init__.pyi": _package(),
        CATALOGUE: _measures(),
        **{room / "__init__.pyi": _room(room) for room in rooms},
    }


def _room(folder: Path) -> str:
    module = ".".join(("rankstone", *folder.relative_to(PACKAGE).parts))
    return "\n".join([_HEAD, *_public(module), *_all(module), ""])


def _public(module: str) -> list[str]:
    """Return an import for each name of a package's table."""
    table = vars(import_module(module))["PUBLIC"]
    return [
        _line(f"{module}.{home}", name)
        for home, names in table.items()
        for name in names
    ]


def _all(module: str) -> list[str]:
    return [
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in import_module(module).__all__),
        "]",
    ]


def _package() -> str:
    packages = [_line("rankstone", name) for name in vars(rankstone)["_ROOMS"]]
    packages += [
        f"from rankstone.{home.rpartition('.')[0]} import {home.rpartition('.')[2]} as {name}"
        for name, home in vars(rankstone)["_PACKAGES"].items()
    ]
    return "\n".join(
        [_HEAD + _OF_PACKAGE, *packages, *_public("rankstone"), *_all("rankstone"), ""]
    )


def _measures() -> str:
    old, found = (
        measure_modules(),
        [(name, home) for home, names in collected().items() for name in names],
    )
    measures = [
        _line(home, name)
        for name, home in sorted(found, key=lambda one: _place(one[0], old))
    ]
    shared = [*_public("rankstone.measures"), *_all("rankstone.measures")]
    return "\n".join([_HEAD, *shared, "", "# measures", *measures, ""])


def _line(home: str, name: str) -> str:
    return f"from {home} import {name} as {name}"
