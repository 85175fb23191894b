"""Where the package makes a fix, and what the text says: a pattern, with ``…`` for what is filled in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import rankstone
from rankstone.errors import at_shell, in_python

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HOLE", "FixText", "fix_texts"]

SOURCE: Final = Path(rankstone.__file__).parent
#: what stands for a part that is filled in
HOLE: Final = "…"
#: names of arguments and attributes that hold a fix
_NAMES: Final = {"fix", "need", "advice", "else_try"}
#: a field of a text that is formatted
_FIELD: Final = re.compile(r"\{!?\w*\}")
#: how often a name or a function is followed to what it holds or returns
_FAR: Final = 3


@dataclass(frozen=True)
class FixText:
    """A text that a fix consists of.

    Parameters
    ----------
    file
        Where it stands, from the folder of the package.
    text
        The text, with ``…`` for what is filled in.
    """

    file: str
    text: str

    def matches(self, fix: str) -> bool:
        """Return True if a fix may have been made by this text."""
        # a shell sees one part of what is for both
        forms = {self.text, at_shell(self.text), in_python(self.text)}
        return any(_pattern(form).search(fix) for form in forms)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    # a dot in a text is one, too
    return re.compile("(?s:.*)".join(map(re.escape, text.split(HOLE))))


@cache
def fix_texts() -> tuple[FixText, ...]:
    """Return all texts of fixes in the package, those of helpers in the same module included."""
    texts: dict[FixText, None] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = _Module(tree)
        file = path.relative_to(SOURCE).as_posix()
        for node, scope in module.fixes():
            for text in module.texts(node, scope):
                if text.strip(f" {HOLE}"):
                    texts[FixText(file, text)] = None
    return tuple(texts)


class _Module:
    """What names of a module hold, and what its functions return."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
        }

    def fixes(self) -> Iterator[tuple[ast.expr, ast.AST]]:
        """Yield what is handed over as a fix, and the function in which that happens."""
        scopes: list[ast.AST] = [*self.functions.values(), self.tree]
        seen = set[int]()
        for scope in scopes:
            for node in ast.walk(scope):
                if id(node) in seen:
                    continue
                seen.add(id(node))
                if isinstance(node, ast.keyword) and node.arg in _NAMES:
                    yield node.value, scope
                elif isinstance(node, ast.Assign):
                    [target, *_] = node.targets
                    if isinstance(target, ast.Attribute) and target.attr in _NAMES:
                        yield node.value, scope

    def texts(
        self, node: ast.AST | None, scope: ast.AST, far: int = _FAR
    ) -> Iterator[str]:
        """Yield the texts that an expression may be."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield _FIELD.sub(HOLE, node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [
                part.value if isinstance(part, ast.Constant) else HOLE
                for part in node.values
            ]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.BinOp):
            for left in [*self.texts(node.left, scope, far)] or [HOLE]:
                for right in [*self.texts(node.right, scope, far)] or [HOLE]:
                    yield left + right
        elif node is not None:
            for part, step in self._parts(node, scope, far):
                yield from self.texts(part, scope, far - step)

    def _parts(
        self, node: ast.AST, scope: ast.AST, far: int
    ) -> Iterator[tuple[ast.AST, int]]:
        """Yield the expressions that another may be, and whether a name had to be followed."""
        choices = {
            ast.IfExp: ("body", "orelse"),
            ast.BoolOp: ("values",),
            ast.Tuple: ("elts",),
            ast.List: ("elts",),
            ast.Dict: ("values",),
            ast.Subscript: ("value",),
        }
        for field in choices.get(type(node), ()):
            value = getattr(node, field)
            for part in value if isinstance(value, list) else [value]:
                yield part, 0
        if far and isinstance(node, ast.Name):
            for value in self._held(node.id, scope):
                yield value, 1
        elif far and isinstance(node, ast.Call):
            for value in self._returned(node):
                yield value, 1

    def _held(self, name: str, scope: ast.AST) -> Iterator[ast.expr]:
        for place in (scope, self.tree):
            body = ast.walk(place) if place is scope else iter(self.tree.body)
            for node in body:
                if isinstance(node, ast.Assign):
                    targets = node.targets
                elif isinstance(node, ast.AnnAssign):
                    targets = [node.target]
                else:
                    continue
                held = any(
                    isinstance(target, ast.Name) and target.id == name
                    for target in targets
                )
                if held and node.value is not None:
                    yield node.value

    def _returned(self, call: ast.Call) -> Iterator[ast.expr]:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in ("join", "format"):
            yield function.value
            return
        name = getattr(function, "attr", getattr(function, "id", ""))
        defined = self.functions.get(name)
        for node in ast.walk(defined) if defined else ():
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value
