"""How large and how dense the package is, room by room, and the limits on both.

Lines are saved by folding them, tokens are not.  So the budget is in tokens, and a limit on tokens a line
keeps the lines open.  ``make house`` prints the table, ``tests/project/test_walls.py`` holds the limits.
"""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from docs.making.house import PACKAGE, ROOT, modules, nodes, room

if TYPE_CHECKING:
    from pathlib import Path

#: tokens that only lay out the text
LAYOUT: Final = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}

#: the key of the sum over all rooms
WHOLE: Final = "all"


class Size(NamedTuple):
    """What stands in some files.

    Imports and docstrings are neither tokens nor code: an imported name is no work for a reader, and words
    are to be encouraged.
    """

    tokens: int
    code: int
    docstrings: int
    comments: int
    lines: int
    files: int

    @property
    def density(self) -> float:
        """Tokens a line of code."""
        return self.tokens / max(self.code, 1)

    def plus(self, other: Size) -> Size:
        """Add two sizes."""
        return Size(*map(sum, zip(self, other, strict=True)))


NOTHING: Final = Size(0, 0, 0, 0, 0, 0)


def lines_of(node: ast.stmt) -> range:
    """Return the numbers of a statement's lines."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def docstring(node: ast.AST) -> ast.Expr | None:
    """Return the docstring of a module, class or function."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if not isinstance(node, documented) or not node.body:
        return None
    first = node.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    return first if isinstance(first.value.value, str) else None


def size(path: Path) -> Size:
    """Measure one file."""
    return _measured(path, path.read_text("utf-8"))


# a file is measured once for all limits
@cache
def _measured(path: Path, text: str) -> Size:
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in nodes(path):
        if words := docstring(node):
            docstrings.update(lines_of(words))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(lines_of(node))

    tokens = 0
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            comments.add(line)
        elif token.type not in LAYOUT and line not in docstrings | imports:
            tokens += 1
            code.update(range(line, token.end[0] + 1))
    return Size(
        tokens=tokens,
        code=len(code),
        docstrings=len(docstrings),
        comments=len(comments - code),
        lines=text.count("\n"),
        files=1,
    )


def sizes(package: Path = PACKAGE) -> dict[str, Size]:
    """Return the size of every room, the densest first, and of the whole."""
    rooms: dict[str, Size] = {}
    for name, path in modules(package).items():
        key = room(name) or "rankstone"
        rooms[key] = rooms.get(key, NOTHING).plus(size(path))
    whole = NOTHING
    for each in rooms.values():
        whole = whole.plus(each)
    densest_first = sorted(rooms.items(), key=lambda item: -item[1].density)
    return {**dict(densest_first), WHOLE: whole}


def budget() -> dict[str, Any]:
    """Return the limits, of ``[tool.rankstone.budget]`` in ``pyproject.toml``."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    limits: dict[str, Any] = settings["tool"]["rankstone"]["budget"]
    return limits


def density_limit(name: str) -> float:
    """Return how many tokens a line of a room may hold on average."""
    return float(budget()["tokens_a_line"][name])


def too_dense() -> list[str]:
    """Return the rooms above their limit of tokens a line, with both figures."""
    return [
        f"{name}: {each.density:.2f} tokens a line, {density_limit(name)} allowed"
        for name, each in sizes().items()
        if each.density > density_limit(name)
    ]


def size_table() -> str:
    """Return sizes by room and their sum, beside the limits."""
    columns = (*Size._fields, "tokens/line", "limit")
    lines = [f"{'room':<14}" + "".join(f"{head:>12}" for head in columns)]
    for name, each in sizes().items():
        counts = "".join(f"{number:>12,}" for number in each)
        lines.append(
            f"{name:<14}{counts}{each.density:>12.2f}{density_limit(name):>12.2f}"
        )
    limits = budget()
    lines.append(
        f"limits: {limits['tokens']:,} tokens, {limits['longest_file']} lines a file, "
        f"{limits['top_level_entries']} top-level entries"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    print(size_table())
