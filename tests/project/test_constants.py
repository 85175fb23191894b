"""Constants stand above the first function of their file, so that a reader meets them first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from docs.making import house

if TYPE_CHECKING:
    from pathlib import Path

#: files with constants further down that could stand above; the number only falls
LIMIT = 65
#: rooms in which there are none; ``options`` is a table, in the order of the panels that it describes
WALKED = {"tables", "io", "cli", "measures", "online"}
TABLES = {"rankstone.cli.options"}


def late_constants(path: Path) -> list[str]:
    """Return the constants below the first function or class that are made of no such thing."""
    body = house.body(path)
    defined = {getattr(node, "name", "") for node in body} - {""}
    late: list[str] = []
    is_below = False
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            is_below = True
        elif is_below and isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name for target in targets for name in _names(target)]
            if defined & {*_names(node.value)}:
                defined |= {*names}
            else:
                late += names
    return late


def _names(node: ast.AST) -> list[str]:
    return [item.id for item in ast.walk(node) if isinstance(item, ast.Name)]


def test_constants_stand_above_functions() -> None:
    """Nowhere in the rooms that were walked, and in ever fewer files elsewhere."""
    late = {
        name: result
        for name, path in house.modules().items()
        if (result := late_constants(path)) and name not in TABLES
    }

    assert {name: late[name] for name in late if house.room(name) in WALKED} == {}
    assert len(late) <= LIMIT, len(late)


def test_what_is_made_of_a_function_stands_below_it(tmp_path: Path) -> None:
    """A table of functions cannot stand above them, nor what is made of the table."""
    path = tmp_path / "module.py"
    path.write_text(
        "A = 1\ndef f(): ...\nB = 2\nTABLE = {'f': f}\nNAMES = tuple(TABLE)\nC: int = B\n"
    )

    assert late_constants(path) == ["B", "C"]
