"""Draw functions for a fresh reader: ``python -m docs.making.drawn_functions SEED``.

Whether code reads well is decided by people who have not seen it.  A reader is given twelve functions and
says of each what it computes, what may be None, what raises, and where it is used; another reader checks
the answers against the code.
"""

from __future__ import annotations

import ast
import random
import sys
from collections import defaultdict
from typing import Final, NamedTuple

from docs.making.house import PACKAGE, ROOT

#: rooms whose code is the hardest to read: four of the twelve come from there
_DENSE_ROOMS: Final = ("stats", "boards", "diagnostics")
_FROM_DENSE_ROOMS: Final = 4
_FUNCTIONS: Final = 12
#: shorter functions say nothing about how code reads
_MIN_LINES: Final = 12


class Drawn(NamedTuple):
    """A function and where it stands."""

    place: str
    name: str


def functions_by_room() -> dict[str, list[Drawn]]:
    """All functions and methods that are long enough, by room."""
    rooms: dict[str, list[Drawn]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            if (node.end_lineno or 0) - node.lineno >= _MIN_LINES:
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                rooms[room].append(Drawn(place, node.name))
    return rooms


def drawn(seed: int) -> list[Drawn]:
    """Twelve functions, four of them from the dense rooms, the others each from a room of its own."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    rooms = functions_by_room()
    dense = [function for room in _DENSE_ROOMS for function in rooms.pop(room)]
    chosen = draw.sample(dense, _FROM_DENSE_ROOMS)
    others = draw.sample(sorted(rooms), _FUNCTIONS - _FROM_DENSE_ROOMS)
    return chosen + [draw.choice(rooms[room]) for room in others]


if __name__ == "__main__":
    seed = int(sys.argv[1])
    print(f"seed {seed}")
    for function in drawn(seed):
        print(f"{function.place}  {function.name}")
