"""Tests test: each asserts something, and none reaches into the command line's private parts."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from docs.making import house

TESTS = Path(__file__).parents[1]
ASSERTING = {"raises", "warns", "fail"}
#: folders that are no room: kinds of tests; what they share; and the project itself
KINDS = {
    *("arrays", "browser", "fuzz", "hooks", "laws", "live", "mutation", "oracle"),
    *("parity", "project", "regression", "shapes", "strangers", "typing"),
}
#: folders that `make test` does not even collect
APART = ("parity", "hooks")
#: words that say nothing about what a name holds
NO_NOUNS = {"found", "given"}
DIALECT = re.compile(
    r"(?<![A-Za-z])(told|asked|said|nobody)(?![A-Za-z])", re.IGNORECASE
)


@cache
def nodes() -> list[tuple[Path, ast.AST]]:
    """Return the nodes of all files' syntax trees."""
    paths = sorted(TESTS.rglob("*.py"))
    return [
        (path, node)
        for path in paths
        for node in ast.walk(ast.parse(path.read_bytes()))
    ]


def called(function: ast.AST) -> set[str]:
    """Return the names of what is called, without where they come from."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {getattr(call, "attr", getattr(call, "id", "")) for call in calls}


def asserts(function: ast.AST) -> bool:
    """Say whether a function asserts or raises by itself."""
    own = any(isinstance(node, (ast.Assert, ast.Raise)) for node in ast.walk(function))
    return own or any(
        name in ASSERTING or name.startswith("assert_") for name in called(function)
    )


def test_folders_mirror_the_rooms() -> None:
    """The tests of a room are in the folder of its name; any other folder is a kind of tests."""
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("*/*.py")}
    loose = [path.name for path in TESTS.glob("test_*.py")]

    assert folders - house.FLOOR.keys() == KINDS
    assert not loose


def test_every_test_asserts() -> None:
    """By itself, or through a helper of the tests that does; "it runs" is stated by an assertion, too."""
    functions = [
        (path, node) for path, node in nodes() if isinstance(node, ast.FunctionDef)
    ]
    tests = [(path, node) for path, node in functions if node.name.startswith("test_")]
    others = [node for _, node in functions if not node.name.startswith("test_")]
    helpers = {node.name for node in others if asserts(node)}
    while more := {node.name for node in others if called(node) & helpers} - helpers:
        helpers |= more

    idle = [
        (path, node)
        for path, node in tests
        if not asserts(node) and not called(node) & helpers
    ]
    assert len(tests) > 1000
    assert not [f"{path.name}: {node.name}" for path, node in idle]


def names_bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds: of variables, attributes, parameters, functions and classes."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Store())
            | ast.Attribute(attr=name, ctx=ast.Store())
            | ast.arg(arg=name)
            | ast.FunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.ExceptHandler(name=str(name))
        ):
            return [name]
    return []


def test_names_are_nouns_of_the_field() -> None:
    """A name says what it holds: no ``told``, ``asked``, ``said``, ``nobody``, ``found``, ``given``."""
    vague = [
        f"{path.name}:{getattr(node, 'lineno', 0)}: {name}"
        for path, node in nodes()
        for name in names_bound(node)
        if name in NO_NOUNS or DIALECT.search(name)
    ]

    assert not vague


def test_docstrings_are_plain() -> None:
    """The words that names avoid are not in docstrings, either, unless they are quoted as code."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [
        (path, node, ast.get_docstring(node) or "")
        for path, node in nodes()
        if isinstance(node, documented)
    ]
    dialect = [
        f"{path.name}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}"
        for path, node, text in texts
        if DIALECT.search(re.sub(r"``.*?``", "", text))
    ]

    assert len(texts) > 5000
    assert not dialect


def test_no_private_part_of_the_command_line_is_used() -> None:
    """What a user cannot reach is tested through what a user can."""
    private = [
        f"{path.name}: {node.module}.{alias.name}"
        for path, node in nodes()
        if isinstance(node, ast.ImportFrom)
        and f"{node.module}.".startswith("rankstone.cli.")
        for alias in node.names
        if alias.name.startswith("_")
    ]

    assert not private


def test_folders_apart_are_marked() -> None:
    """No test is lost where `make test` does not look: each file there is taken by another verb."""
    files = [path for folder in APART for path in (TESTS / folder).glob("test_*.py")]
    marked = re.compile(
        r"^pytestmark = \[?pytest\.mark\.(heavy_parity|parity|hooks|arrays|trackers)\b",
        re.MULTILINE,
    )

    assert len(files) > 20
    assert not [
        path.name for path in files if not marked.search(path.read_text("utf-8"))
    ]
