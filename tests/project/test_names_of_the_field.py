"""A local name or a parameter is a noun of the field: it says what the value is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from docs.making import house

if TYPE_CHECKING:
    from collections.abc import Iterator

#: words that stand for any value at all
PRONOUNS = {"one", "found", "at", "told", "given", "some"}

#: rooms without such names; a room that is done is added, none is ever taken out
DONE = {
    "_basics",
    "answers",
    "api",
    "boards",
    "collections",
    "comparison",
    "conventions",
    "demo",
    "diagnostics",
    "errors",
    "evaluation",
    "explanation",
    "golden",
    "hits",
    "integrations",
    "ltr",
    "measures",
    "online",
    "rankings",
    "reports",
    "spark",
    "stats",
    "tables",
    "testing",
}

#: function and parameter, where users write the parameter's name
PUBLIC = {
    ("answers.nugget_tables", "nuggets", "given"),
    ("answers.nugget_tables", "nuggets_to_assign", "given"),
    ("errors", "__init__", "given"),
    ("errors", "of", "given"),
}


def pronouns(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, str, int]]:
    """Yield function, name and line of each pronoun that is bound; fields of classes are no local names."""
    for node in ast.iter_child_nodes(tree):
        is_field = isinstance(tree, ast.ClassDef) and isinstance(node, ast.AnnAssign)
        if is_field:
            continue
        if isinstance(node, ast.arg) and node.arg in PRONOUNS:
            yield owner, node.arg, node.lineno
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in PRONOUNS
        ):
            yield owner, node.id, node.lineno

        inner = owner
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = node.name
        yield from pronouns(node, inner)


def test_rooms_without_pronouns() -> None:
    """No function of a room that is done binds a name that says nothing about its value."""
    assert sorted(DONE - house.FLOOR.keys()) == []

    wrong = []
    public = set()
    for module, path in house.modules().items():
        if house.room(module) not in DONE:
            continue
        name = module.removeprefix("rankstone.")
        for function, pronoun, line in pronouns(ast.parse(path.read_text("utf-8"))):
            if (name, function, pronoun) in PUBLIC:
                public.add((name, function, pronoun))
            else:
                wrong.append(f"{name}:{line} {pronoun}")

    assert wrong == []
    assert public == {row for row in PUBLIC if row[0].partition(".")[0] in DONE}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(given): pass", ["given"]),
        ("def f(*, at=1): pass", ["at"]),
        ("rows = [one for one in table]", ["one"]),
        ("for at, row in rows: pass", ["at"]),
        ("if found := search(): pass", ["found"]),
        ("key = lambda one: one.name", ["one"]),
        ("with opened() as some: pass", ["some"]),
        ("class Window:\n    at: str", []),
        ("class Window:\n    def f(self):\n        told: str = ''", ["told"]),
        ("raise BadValue(given=row.found)", []),
        ("from texts import some\nprint(some(rows))", []),
    ],
)
def test_what_counts(code: str, names: list[str]) -> None:
    """Names that are bound count, in whatever way; keywords, attributes and fields do not."""
    assert [pronoun for _, pronoun, _ in pronouns(ast.parse(code))] == names
