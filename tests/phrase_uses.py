"""Every use of a phrase in the code, the templates and the scripts, as the syntax trees show it."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Final

import jinja2
from jinja2 import nodes

import rankstone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Use", "parts", "read_by_scripts", "sentences", "uses"]

PACKAGE: Final = Path(rankstone.__file__).parent
ASSETS: Final = PACKAGE / "reports" / "assets"
#: what callables that return phrases are called
_CALLED: Final = ("say", "heading", "label", "phrase", "words", "counted", "several")
#: rooms, and files, whose functions take ``say`` from their callers → its section
_OF_ROOM: Final = {
    "comparison": "comparison",
    "boards": "board",
    "explanation": "explanation",
    "rankings": "lists",
    "charts": "charts",
    "reports": "pages",
    "collections": "cards",
    "answers": "agreement",
    "conventions": "identification",
    "eval_command": "scores",
    "conventions_command": "conventions",
}
_TEXTS: Final = (ast.Constant, ast.JoinedStr)
#: modules that show phrases
_MENTIONED: Final = re.compile(r"\b(phrase|say|heading|Words|chart_style)\b")
_SCRIPT_CALL: Final = re.compile(r"\b(say|several)\(")


@dataclass(frozen=True)
class Use:
    """A place where phrases are shown.

    Attributes
    ----------
    place
        File and line.
    section
        The section of the phrases.
    names
        Their names as far as they can be read there: patterns of :mod:`re`; empty if they cannot.
    parts_given
        The names of the parts that are filled in.
    more
        True if further parts are filled in whose names cannot be read there.
    """

    place: str
    section: str
    names: tuple[str, ...]
    parts_given: frozenset[str] = frozenset()
    more: bool = False

    def among(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the phrases that are shown here, by name."""
        return {
            name: text
            for name, text in values.items()
            if any(re.fullmatch(pattern, name) for pattern in self.names)
        }


@cache
def sentences(lang: str = "en") -> dict[str, dict[str, str]]:
    """Return the phrases of a language: section → name → text."""
    path = PACKAGE / "tables" / "locales" / f"{lang}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def parts(phrase: str) -> set[str]:
    """Return the names of the parts of a phrase."""
    return {part for _, part, _, _ in Formatter().parse(phrase) if part is not None}


def uses() -> list[Use]:
    """Return every use of a phrase in modules, templates and scripts."""
    of_modules = [
        use
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "phrases.py"
        for use in _of_module(path)
    ]
    of_templates = [
        use for path in sorted(ASSETS.glob("*.j2")) for use in _of_template(path)
    ]
    of_scripts = [
        use for path in sorted(ASSETS.glob("*.js")) for use in _of_script(path)
    ]
    return [*of_modules, *of_templates, *of_scripts]


# -- modules -------------------------------------------------------------------------------------------------
def _of_module(path: Path) -> Iterator[Use]:
    text = path.read_text(encoding="utf-8")
    if _MENTIONED.search(text):
        yield from _of_node(
            ast.parse(text), path, _section_of(path), ast.Module([], [])
        )


def _of_node(node: ast.AST, path: Path, section: str, scope: ast.AST) -> Iterator[Use]:
    """Yield the uses below a node, which stands in a function or module, its scope."""
    if isinstance(node, ast.ClassDef):
        section = getattr(getattr(_module(path), node.name, None), "section", section)
    if isinstance(node, ast.FunctionDef | ast.Module):
        scope = node
    if isinstance(node, ast.Call) and node.args:
        yield from _of_call(node, path, section, scope)
    for inner in ast.iter_child_nodes(node):
        yield from _of_node(inner, path, section, scope)


def _of_call(node: ast.Call, path: Path, section: str, scope: ast.AST) -> Iterator[Use]:
    called, arguments = _name(node.func), node.args
    place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
    if called == "map" and _name(arguments[0]) in _CALLED:
        texts = [node for node in ast.walk(arguments[1]) if isinstance(node, _TEXTS)]
        yield Use(
            place,
            section,
            tuple(pattern for text in texts for pattern in _patterns(text, scope)),
        )
    elif called in _CALLED and not _is_another(node, path):
        if called == "phrase":
            section, arguments = ast.literal_eval(arguments[0]), arguments[1:]
        elif called == "words" and len(arguments) > 1:
            section = ast.literal_eval(arguments[1])
        names = tuple(_patterns(arguments[0], scope))
        inputs = {keyword.arg for keyword in node.keywords if keyword.arg} - {"lang"}
        more = any(keyword.arg is None for keyword in node.keywords)
        if called == "counted":
            inputs |= {"count"}
            names = (*names, *(f"{name}_1" for name in names))
        yield Use(place, section, names, frozenset(inputs), more)


def _is_another(node: ast.Call, path: Path) -> bool:
    """Return True for functions of the same name that show no phrases."""
    if "reports" in path.parts:
        return isinstance(node.func, ast.Attribute) and _name(node.func) == "label"
    called = _name(node.func)
    return called in {"label", "words", "counted", "several"}


def _section_of(path: Path) -> str:
    names = *path.parts, path.stem
    rooms = [name for name in names if name in _OF_ROOM]
    return _OF_ROOM[rooms[-1]] if rooms else ""


@cache
def _module(path: Path) -> object:
    named = path.relative_to(PACKAGE.parent).with_suffix("")
    return import_module(".".join(named.parts).removesuffix(".__init__"))


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _patterns(node: ast.AST, scope: ast.AST) -> Iterator[str]:
    """Yield patterns of the names that an expression can have; none if they cannot be read."""
    if isinstance(node, ast.Constant):
        yield re.escape(str(node.value))
    elif isinstance(node, ast.IfExp):
        sides = [[*_patterns(side, scope)] for side in (node.body, node.orelse)]
        yield from sides[0] + sides[1] if all(sides) else []
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"
            for part in node.values
        )
    elif isinstance(node, ast.Name):
        values = [
            inner.value
            for inner in ast.walk(scope)
            if isinstance(inner, ast.Assign)
            and any(_name(target) == node.id for target in inner.targets)
        ]
        patterns = [[*_patterns(value, ast.Module([], []))] for value in values]
        if all(patterns):
            yield from (pattern for item in patterns for pattern in item)


# -- templates -----------------------------------------------------------------------------------------------
def _of_template(path: Path) -> Iterator[Use]:
    tree = jinja2.Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name):
            called = call.node.name
        elif isinstance(call.node, nodes.Getattr):
            called = call.node.attr
        else:
            continue
        if called not in {"say", "counted"}:
            continue
        names = tuple(_template_patterns(call.args[0]))
        keys = {keyword.key for keyword in call.kwargs}
        section = "pages"
        if called == "counted":
            keys |= {"count"}
            names = (*names, *(f"{name}_1" for name in names))
        elif len(call.args) > 1:
            section = call.args[1].as_const()
        more = call.dyn_kwargs is not None
        yield Use(f"{path.name}:{call.lineno}", section, names, frozenset(keys), more)


def _template_patterns(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Const):
        yield re.escape(str(node.value))
    elif isinstance(node, nodes.CondExpr):
        sides = [
            [*_template_patterns(side)] for side in (node.expr1, node.expr2) if side
        ]
        yield from (name for side in sides for name in side) if all(sides) else ()
    elif isinstance(node, nodes.Concat):
        yield "".join(
            re.escape(str(part.value)) if isinstance(part, nodes.Const) else ".+"
            for part in node.nodes
        )
    elif isinstance(node, nodes.Add):
        left, right = (
            [*_template_patterns(node.left)],
            [*_template_patterns(node.right)],
        )
        yield (left or [".+"])[0] + (right or [".+"])[0]


# -- scripts -------------------------------------------------------------------------------------------------
def read_by_scripts(values: Mapping[str, str]) -> set[str]:
    """Return the names of the phrases of pages that scripts read."""
    names = {
        name
        for path in ASSETS.glob("*.js")
        for use in _of_script(path)
        for name in use.among(values)
    }
    # what stands in a list of names, and is looked up from there
    texts = {
        text
        for path in ASSETS.glob("*.js")
        for text in re.findall(r'"([a-z]\w+)"', path.read_text(encoding="utf-8"))
    }
    return names | (texts & values.keys())


def _of_script(path: Path) -> Iterator[Use]:
    text = path.read_text(encoding="utf-8")
    for read in re.finditer(r"\bW\.(\w+)", text):
        yield Use(f"{path.name}:{_line(text, read)}", "pages", (read[1],))
    for read in re.finditer(r"\bW\[([^\]]+)\]", text):
        names = tuple(_script_patterns(read[1]))
        yield Use(f"{path.name}:{_line(text, read)}", "pages", names)
    for call in re.finditer(_SCRIPT_CALL, text):
        several = call[1] == "several"
        name, *arguments = _split(text[call.end() :])
        filled = arguments[several:]
        literal = not filled or filled[0].startswith("{")
        entries = _split(filled[0][1:]) if filled and literal else []
        inputs = {entry.partition(":")[0].strip() for entry in entries if entry}
        more = not literal or any(entry.startswith("...") for entry in entries)
        inputs = {entry for entry in inputs if not entry.startswith("...")}
        names = tuple(_script_patterns(name))
        if several:
            inputs |= {"count"}
            names = (*names, *(f"{name}_1" for name in names))
        place = f"{path.name}:{_line(text, call)}"
        yield Use(place, "pages", names, frozenset(inputs), more)


def _split(text: str) -> list[str]:
    """Return what commas separate from here to the bracket that closes; strings have no brackets.

    >>> _split("name, { a: f(1, 2) }) + 1")
    ['name', '{ a: f(1, 2) }']
    """
    pieces, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            break
        if sign == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    return [piece.strip() for piece in pieces]


def _script_patterns(expression: str) -> list[str]:
    """Return patterns of a name in JavaScript: constants, sums with constants, texts with holes."""
    whole = (
        expression.split("?", 1)[-1].split(":") if "?" in expression else [expression]
    )
    rows = []
    for item in map(str.strip, whole):
        if item.startswith("`"):
            rows.append(re.sub(r"\\\$\\\{.*?\\\}", ".+", re.escape(item.strip("`"))))
        elif '"' in item:
            pieces = [piece.strip() for piece in item.split("+")]
            rows.append(
                "".join(
                    re.escape(piece.strip('"')) if piece.startswith('"') else ".+"
                    for piece in pieces
                )
            )
    return rows


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1
