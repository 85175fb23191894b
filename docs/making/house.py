"""The rooms of the package, computed from its syntax trees: floors, arrows, third-party imports.

Every import counts: at the top of a module, inside functions, and for type checkers only.  Tests read this
module, and the floor plan in ``docs/architecture.md`` is printed by it.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "rankstone"

#: the rooms from the ground up, with what each holds; imports go down only, never between rooms of one floor
FLOORS: Final[tuple[dict[str, str], ...]] = (
    {"errors": "one tree of errors"},
    {"_basics": "records, and English around numbers for messages"},
    {
        "io": "tables in (files, frames, databases, arrays), whole and atomic files out",
        "stats": "arrays in; p-values, intervals and the verdict from an interval out",
        "demo": "the demo collection",
    },
    {"tables": "what all results have in common; one table, one writer a format"},
    {
        "hits": "run × judgments → `Hits`: ranks, ties, exclusions, the algebra that measures are written in"
    },
    {
        "measures": "`core/` (definition, syntax, registry, exact sums) and one file a family of measures"
    },
    {
        "evaluation": "request → prepare → align → measure → `Scores`; out of core; shares for engines"
    },
    {
        "rankings": "whole lists: `rank_similarity/` of two, `recommendation/` beyond accuracy"
    },
    {
        "conventions": "other libraries by name, identification of reported numbers, trec_eval"
    },
    {"explanation": "the table that a number is the sum of"},
    {
        "diagnostics": "file checks, score bounds, chance, thresholds, sampled candidates, curves, abstention"
    },
    {
        "comparison": "which is better and how sure: tests, intervals, verdicts, gates, plans"
    },
    {
        "collections": "test collections after a shared task, repeated experiments, cards that prove numbers",
        "boards": "systems on many data sets and in battles: ranks and their intervals; slices of queries",
        "answers": "nuggets, citations and similar texts as judgments and runs; agreement of assessors",
        "golden": "golden sets: checks against a corpus, splits that stay as they are",
        "online": "clicks, interleaving, A/B tests, counterfactual estimates, retention",
        "ltr": "learning to rank: train, tune, score",
        "integrations": "arrays of NumPy, PyTorch, JAX; trainers, frameworks, trackers",
        "spark": "evaluate and compare on a cluster",
    },
    {"reports": "charts and HTML pages of results"},
    {"api": "the public verbs: choose engine and convention, call one room"},
    {"testing": "laws for your own measure", "cli": "the command line"},
)

FLOOR: Final = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

#: what stands in the package's folder and is no room
NO_ENTRIES: Final = {
    "__init__.py",
    "__init__.pyi",
    "__main__.py",
    "__pycache__",
    "py.typed",
}


class Import(NamedTuple):
    """One import of one module by another, in dotted names below ``rankstone``."""

    importer: str
    imported: str
    line: int
    at_import: bool


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Return every module of the package by its dotted name; a package by its own."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = ["rankstone", *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return the nodes of a module's syntax tree, the module first."""
    return _nodes(path.read_text("utf-8"))


# a file is parsed once, whoever counts
@cache
def _nodes(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(text)))


def body(path: Path) -> list[ast.stmt]:
    """Return the statements of a module."""
    return [
        statement
        for module in nodes(path)[:1]
        for statement in ast.iter_child_nodes(module)
        if isinstance(statement, ast.stmt)
    ]


def imports(
    package: Path = PACKAGE,
) -> tuple[tuple[Import, ...], dict[str, set[tuple[str, str]]]]:
    """Return the imports within the package, and by room what it imports from outside with the importer."""
    return _imports(package)


@cache
def _imports(
    package: Path,
) -> tuple[tuple[Import, ...], dict[str, set[tuple[str, str]]]]:
    ours = modules(package)
    inner: list[Import] = []
    outer: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for name, path in ours.items():
        at_import = {*body(path)}
        for node in nodes(path):
            for target in _targets(node, ours):
                if target.split(".")[0] == "rankstone":
                    inner.append(
                        Import(
                            name, target, getattr(node, "lineno", 0), node in at_import
                        )
                    )
                elif target.split(".")[0] not in sys.stdlib_module_names:
                    outer[room(name)].add((target.split(".")[0], name))
    return tuple(inner), dict(outer)


def file_edges(package: Path = PACKAGE) -> set[tuple[str, str]]:
    """Return which file uses which, whether it imports at once, later, or for type checkers.

    A name that a package only gives on is used from the file that defines it; what gives it on uses nothing.
    """
    ours = modules(package)
    origins = {name: _given_on(name, path) for name, path in ours.items()}
    edges = set()
    for importer, path in ours.items():
        for node in nodes(path):
            for target in _targets(node, ours):
                names = [alias.name for alias in getattr(node, "names", [])]
                homes = {origins.get(target, {}).get(name, target) for name in names}
                edges |= {(importer, home) for home in homes or {target}}
    return {
        (importer, home)
        for importer, home in edges
        if home in ours and importer != home and not home.startswith(f"{importer}.")
    }


def _given_on(name: str, path: Path) -> dict[str, str]:
    """Return the names that a package takes from its modules, at once or when they are first used."""
    if path.name != "__init__.py":
        return {}
    homes: dict[str, str] = {}
    for node in body(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            homes |= {alias.name: node.module for alias in node.names}
        elif (
            isinstance(node, ast.Assign)
            and getattr(node.targets[0], "id", "") == "PUBLIC"
        ):
            for module, names in ast.literal_eval(node.value).items():
                homes |= dict.fromkeys(names, f"{name}.{module}")
    return homes


def _targets(node: ast.AST, ours: dict[str, Path]) -> list[str]:
    """Return the modules that a node imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        below = [f"{node.module}.{alias.name}" for alias in node.names]
        return sorted({name if name in ours else node.module for name in below})
    if (
        isinstance(node, ast.Call)
        and "import_module"
        in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ):
        return [str(node.args[0].value)]
    return []


def room(module: str) -> str:
    """Return the room that a module belongs to; the package's own ``__init__`` and ``__main__`` are none."""
    return module.split(".")[1] if "." in module else ""


def arrows(package: Path = PACKAGE) -> dict[tuple[str, str], list[Import]]:
    """Return the imports between rooms, by importing and imported room."""
    found: dict[tuple[str, str], list[Import]] = defaultdict(list)
    for one in imports(package)[0]:
        pair = room(one.importer), room(one.imported)
        if "" not in pair and "__main__" not in pair and pair[0] != pair[1]:
            found[pair].append(one)
    return dict(found)


def upward(package: Path = PACKAGE) -> list[str]:
    """Return the imports that go up or sideways, as ``importer:line -> imported``."""
    return [
        f"{one.importer}:{one.line} -> {one.imported}"
        for (start, end), found in sorted(arrows(package).items())
        if FLOOR.get(start, -1) <= FLOOR.get(end, len(FLOORS))
        for one in found
    ]


def circles(edges: set[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of nodes that can reach one another."""
    after: dict[str, set[str]] = defaultdict(set)
    for start, end in edges:
        after[start].add(end)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            waiting += (new := after[waiting.pop()] - seen)
            seen |= new
        return seen

    ahead = {node: reached(node) for node in list(after)}
    groups = {
        tuple(sorted(other for other in found if node in ahead.get(other, ())))
        for node, found in ahead.items()
        if node in found
    }
    return [list(group) for group in sorted(groups)]


def floor_plan() -> str:
    """Return the floors as Markdown, the ground at the bottom, with what each room imports."""
    below: dict[str, set[str]] = defaultdict(set)
    for start, end in arrows():
        below[start].add(end)
    lines = ["| floor | room | what lives there | imports |", "|--:|---|---|---|"]
    for level in reversed(range(len(FLOORS))):
        for name, what in FLOORS[level].items():
            used = ", ".join(
                f"`{other}`"
                for other in sorted(below[name], key=lambda x: (-FLOOR[x], x))
            )
            lines.append(
                f"| {level + 1} | `{name}` | {what} | {used or 'nothing of ours'} |"
            )
    return "\n".join(lines)


def architecture(page: str) -> str:
    """Return the page of the architecture with the floor plan as it is now."""
    start, end = "<!-- floor plan -->\n", "<!-- end of floor plan -->"
    before, _, rest = page.partition(start)
    return f"{before}{start}{floor_plan()}\n{end}{rest.partition(end)[2]}"
