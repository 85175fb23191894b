"""What makes code slow to read, counted room by room: see ``make house``.

Three ways to put several ideas into one line, each per 1,000 lines of code, and functions that are too long.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from docs.making.house import PACKAGE, modules, nodes, room
from docs.making.sizes import WHOLE, budget, docstring, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: what is counted → its limit per 1,000 lines, in ``[tool.rankstone.budget]``
KINDS: Final = ("ternaries", "comprehensions", "tuple_assignments")


class LongFunction(NamedTuple):
    """A function and the lines of its body, without its docstring."""

    lines: int
    module: str
    name: str


def kinds_of(nodes_of_module: Iterable[ast.AST]) -> Counter[str]:
    """Return how often each kind of folded line occurs in a module."""
    counts = Counter[str]()
    for node in nodes_of_module:
        counts["ternaries"] += isinstance(node, ast.IfExp)
        counts["comprehensions"] += isinstance(node, _COMPREHENSIONS)
        counts["tuple_assignments"] += (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        )
    return counts


def folded_lines() -> dict[str, dict[str, float]]:
    """Return room → kind → how many there are per 1,000 lines of code; the whole is ``all``."""
    counts = defaultdict[str, Counter[str]](Counter)
    for name, path in modules(PACKAGE).items():
        found = kinds_of(nodes(path))
        for key in (room(name) or "rankstone", WHOLE):
            counts[key] += found
    size_of = sizes()
    return {
        key: {kind: 1000 * counts[key][kind] / size_of[key].code for kind in KINDS}
        for key in size_of
    }


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its signature and its docstring."""
    statements = function.body[1:] if docstring(function) else function.body
    if not statements:
        return 0
    last = statements[-1]
    return (last.end_lineno or last.lineno) - statements[0].lineno + 1


def long_functions(longest: int) -> list[LongFunction]:
    """Return the functions whose bodies are longer than this, the longest first."""
    functions = [
        LongFunction(body_lines(node), name, node.name)
        for name, path in modules(PACKAGE).items()
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted((one for one in functions if one.lines > longest), reverse=True)


def folded_table() -> str:
    """Return the counts room by room, beside the limits of the whole."""
    heads = "".join(f"{kind.replace('_', ' '):>20}" for kind in KINDS)
    lines = [f"{'per 1,000 lines':<16}{heads}"]
    for key, counts in folded_lines().items():
        lines.append(f"{key:<16}" + "".join(f"{counts[kind]:>20.0f}" for kind in KINDS))
    limits = budget()["folded_lines"]
    limit = "".join(f"{limits[kind]:>20}" for kind in KINDS)
    return "\n".join([*lines, f"{'limits':<16}{limit}"])
