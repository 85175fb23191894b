"""The reference: a page for each public name of ``rankstone``, and one for each module with further names."""

from __future__ import annotations

import ast
import inspect
import logging
import re
import textwrap
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, UnionType
from typing import TYPE_CHECKING, Any, Final

import griffe
from docs.making.markdown import anchor, escaped

import rankstone
from rankstone.measures import MEASURES
from rankstone.tables.results import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MODULES", "Entry", "NotDescribed", "entries", "pages"]

#: public modules below ``rankstone``, and the page in which a reader meets each
MODULES: Final = {
    "measures": "your-own-measure.md",
    "answers": "answers.md",
    "boards": "boards.md",
    "collections": "collections.md",
    "golden": "the-loop.md",
    "online": "online.md",
    "ltr": "ltr.md",
    "comparison": "compare.md",
    "diagnostics": "bounds.md",
    "explanation": "explain.md",
    "rankings": "beyond-accuracy.md",
    "conventions": "conventions/index.md",
    "conventions.trec_eval": "trec_eval.md",
    "stats": "compare.md",
    "reports.charts": "report.md",
    "integrations.arrays": "arrays.md",
    "integrations.catboost": "hooks.md",
    "integrations.grouped_ranker": "hooks.md",
    "integrations.ir_measures": "hooks.md",
    "integrations.lightgbm": "hooks.md",
    "integrations.optuna": "hooks.md",
    "integrations.pytest": "continuous-integration.md",
    "integrations.sentence_transformers": "hooks.md",
    "integrations.sklearn": "hooks.md",
    "integrations.torch": "hooks.md",
    "integrations.xgboost": "hooks.md",
    "spark": "spark.md",
    "errors": "ten-minutes.md",
    "testing": "your-own-measure.md",
    "demo": "ten-minutes.md",
}
#: titles of the sections of a docstring
_TITLES: Final = {
    "parameters": "Parameters",
    "returns": "Returns",
    "yields": "Yields",
    "raises": "Raises",
}
_ROLE: Final = re.compile(r":(?:\w+):`~?([^`]+)`")
_CONSTANT: Final = re.compile(
    r"^((?:#:? ?.*\n)+)(\w+)(?:: [^=\n]+)? = ", flags=re.MULTILINE
)
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
_WIDTH: Final = 88


@dataclass(frozen=True)
class Entry:
    """A public name: the module it is imported from, and what it is."""

    module: str
    name: str
    object: Any

    @property
    def page(self) -> str:
        """Where it is described: a page of its own for names of ``rankstone``, else its module's."""
        if self.module == "rankstone":
            return f"reference/rankstone/{self.name.lower()}.md"  # a verb and its result share a page
        return f"reference/{self.module.removeprefix('rankstone.')}.md"

    @property
    def summary(self) -> str:
        """The first sentence of its docstring, or the comment above a constant."""
        text = documentation(self.object) or constants().get(self.name, "")
        return " ".join(_inline(text.split("\n\n")[0]).split())


class NotDescribed(ImportError):
    """A public name whose module cannot be imported here, and which its source does not define as a class."""


@dataclass(frozen=True)
class Source:
    """A public class as its source has it, where the library it is made for is not installed."""

    docstring: str
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, module: str, name: str) -> Source | None:
        """Read a class, in whichever function it stands; ``None`` where there is none of this name.

        It may be a private one, ``_Name``, that becomes ``Name`` when the library is there to inherit from.
        """
        for node in ast.walk(ast.parse(_source(module))):
            if isinstance(node, ast.ClassDef) and node.name in (name, f"_{name}"):
                return cls(ast.get_docstring(node) or "", _parameters(node))
        return None


def _parameters(described: ast.ClassDef) -> tuple[str, ...]:
    """Return the parameters of a class as its source has them."""
    for node in described.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            listed = ast.unparse(node.args).removeprefix("self, ")
            return tuple(re.split(r", (?![^\[(]*[\])])", listed))
    return ()


def documentation(described: object) -> str:
    """Return the docstring of an object; none for values that only have that of their class."""
    if isinstance(described, Source):
        return described.docstring
    if not (
        inspect.isclass(described)
        or inspect.isroutine(described)
        or isinstance(described, ModuleType)
    ):
        return ""
    return inspect.getdoc(described) or ""


@cache
def constants() -> dict[str, str]:
    """Return what the comment (``#:``) above each public constant says."""
    found: dict[str, str] = {}
    for path in sorted(Path(rankstone.__file__).parent.rglob("*.py")):
        for comment, name in _CONSTANT.findall(path.read_text("utf-8")):
            found.setdefault(
                name,
                " ".join(re.sub(r"^#:? ?", "", comment, flags=re.MULTILINE).split()),
            )
    return found


def entries() -> list[Entry]:
    """Return every public name, those of ``rankstone`` first; measures are on their families' pages."""
    found = [
        Entry("rankstone", name, getattr(rankstone, name))
        for name in rankstone.__all__
        if name != "plots"
    ]
    for module in MODULES:
        home = f"rankstone.{module}"
        listed = [
            Entry(home, name, _object(home, name))
            for name in sorted(_names(home), key=str.lower)
        ]
        # measures have cards; of errors a user meets the classes
        found += [
            one
            for one in listed
            if one.name not in MEASURES
            and (module != "errors" or _is_error(one.object))
        ]
    return found


def _is_error(described: object) -> bool:
    return inspect.isclass(described) and issubclass(described, BaseException)


def _names(module: str) -> list[str]:
    """Return the public names of a module, from its source: it may need a library that is not there."""
    listed = re.search(
        r"^__all__ = (\[.*?\])$", _source(module), re.MULTILINE | re.DOTALL
    )
    return (
        list(import_module(module).__all__)
        if listed is None
        else ast.literal_eval(listed[1])
    )


def _source(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin).read_text("utf-8")


def _module_docstring(module: str) -> str:
    return ast.get_docstring(ast.parse(_source(module))) or ""


def _object(module: str, name: str) -> object:
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:  # MissingExtra is an ImportError
        described = Source.of(module, name)
        if described is None:
            raise NotDescribed(
                f"{module}.{name} cannot be described: {error}"
            ) from error
        return described


def pages(measure_pages: Mapping[str, str]) -> dict[str, str]:
    """Return the pages of the reference by their places.

    Parameters
    ----------
    measure_pages
        Name of a measure → the page and the anchor of its card.
    """
    listed = entries()
    written: dict[str, str] = {}
    for one in listed:
        if one.module == "rankstone":
            written[one.page] = written.get(one.page, "") + _section(
                one, measure_pages.get(one.name)
            )
    for module, guide in MODULES.items():
        name = f"rankstone.{module}"
        lines = [
            f"# {name}",
            "",
            *_text(_module_docstring(name)),
            "",
            f"Guide: [{guide}](../{guide})",
            "",
        ]
        for one in listed:
            if one.module == name:
                lines += [f"## {one.name}", "", *_described(one, "###"), ""]
        written[f"reference/{module}.md"] = "\n".join(lines)
    return {"reference/index.md": _index(listed)} | written


def _index(listed: list[Entry]) -> str:
    lines = [
        "# Reference",
        "",
        "Every public name; measures have [cards](../measures.md) of their own.",
        "",
    ]
    module = ""
    for one in listed:
        if one.module != module:
            module = one.module
            title = (
                f"[{module}]({module.removeprefix('rankstone.')}.md)"
                if module != "rankstone"
                else module
            )
            lines += ["", f"## {title}", ""]
        place = one.page.removeprefix("reference/") + (
            "" if module == "rankstone" else f"#{anchor(one.name)}"
        )
        lines.append(
            f"- [`{one.name}`]({place}){': ' if one.summary else ''}{one.summary}"
        )
    return "\n".join(lines) + "\n"


def _section(one: Entry, card: str | None) -> str:
    lines = [f"# rankstone.{one.name}", ""]
    if card:
        lines += [
            f"A measure; its formula, its ranges and worked examples: [card](../../{card}).",
            "",
        ]
    return "\n".join([*lines, *_described(one, "##")]) + "\n"


def _described(one: Entry, level: str) -> list[str]:
    """Return signature, text and members of what has a public name; only a link where it has a page."""
    described, name = one.object, one.name
    if one.module != "rankstone" and getattr(rankstone, name, None) is described:
        return [f"As [rankstone.{name}](rankstone/{name.lower()}.md)."]
    if not documentation(described):
        shown = (
            []
            if isinstance(described, Path)
            else textwrap.wrap(f"{name} = {_value(described)}", _WIDTH)
        )
        return [one.summary, "", *(["```python", *shown, "```"] if shown else [])]
    if _is_error(described) or name in MEASURES:
        return _text(documentation(described))
    made_by_verbs = inspect.isclass(described) and issubclass(described, Result)
    lines = [
        *([] if made_by_verbs else _signature(described, name)),
        *_text(documentation(described)),
    ]
    for member, found in _members(described):
        if isinstance(found, property):
            lines += [
                "",
                f"{level} {name}.{member}",
                "",
                *_text(inspect.getdoc(found) or ""),
            ]
        else:
            lines += [
                "",
                f"{level} {name}.{member}",
                "",
                *_signature(found, member),
                *_text(documentation(found)),
            ]
    return lines


def _value(value: object) -> str:
    """Return a value as code; of a table of names only the names."""
    if isinstance(value, (AbstractSet, Mapping)):
        return "{" + ", ".join(sorted(map(repr, value))[:60]) + "}"
    return str(value) if isinstance(value, UnionType) else repr(value)


def _members(described: object) -> Iterator[tuple[str, Any]]:
    """Yield the documented public methods and properties of a class of ours."""
    if not inspect.isclass(described):
        return
    seen = set()
    for kind in described.__mro__:
        if not kind.__module__.startswith("rankstone"):
            continue
        for member, found in vars(kind).items():
            inner = (
                found.__func__
                if isinstance(found, (classmethod, staticmethod))
                else found
            )
            if (
                member.startswith("_")
                or member in seen
                or not (inspect.isroutine(inner) or isinstance(inner, property))
            ):
                continue
            seen.add(member)
            if inspect.getdoc(inner):
                yield member, inner


def _signature(described: object, name: str) -> list[str]:
    """Return the signature as a block of code, a parameter a line where one line is too long."""
    if isinstance(described, Source):
        return _block(name, described.parameters, "")
    if not callable(described):
        return []
    try:
        signature = inspect.signature(described)
    except (TypeError, ValueError):
        return []
    parameters = [
        _ADDRESS.sub("", str(one)).replace("'", "") for one in _without_self(signature)
    ]
    back = signature.return_annotation
    after = (
        ""
        if back is inspect.Signature.empty or inspect.isclass(described)
        else f" -> {back}".replace("'", "")
    )
    return _block(name, parameters, after)


def _block(name: str, parameters: Sequence[str], after: str) -> list[str]:
    line = f"{name}({', '.join(parameters)}){after}"
    block = (
        [line]
        if len(line) <= _WIDTH
        else [f"{name}(", *(f"    {one}," for one in parameters), f"){after}"]
    )
    return ["```python", *block, "```", ""]


def _without_self(signature: inspect.Signature) -> Iterator[object]:
    """Yield parameters, with the marks of those that are positional or keywords only."""
    starred = False
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.VAR_POSITIONAL:
            starred = True
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield one


def _text(docstring: str) -> list[str]:
    """Return a docstring in NumPy's style as Markdown."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    lines: list[str] = []
    for section in griffe.Docstring(docstring, parser="numpy").parse(
        "numpy", warn_unknown_params=False
    ):
        kind = section.kind.value
        title = section.title or _TITLES.get(kind, kind.capitalize())
        if kind == "text":
            lines += [_inline(section.value), ""]
        elif kind == "examples":
            lines += ["**Examples**", ""]
            for part, text in section.value:
                lines += (
                    ["```pycon", text, "```", ""]
                    if part.value == "examples"
                    else [_inline(text), ""]
                )
        elif isinstance(section.value, list):
            lines += [f"**{title}**", "", *map(_item, section.value), ""]
        else:
            lines += [f"**{title}**", "", _inline(section.value.description), ""]
    return lines


def _item(item: griffe.DocstringElement) -> str:
    """Return a parameter, a return value or an exception as an item of a list."""
    label = getattr(item, "name", "") or item.annotation
    described = textwrap.indent(_inline(item.description), "    ").strip()
    return f"- `{label}`: {described}" if label else f"- {described}"


def _inline(text: str) -> str:
    """Return text of a docstring as Markdown: roles and literals as code, brackets and stars as they are."""
    text = _ROLE.sub(r"``\1``", text.replace("::\n", ":\n"))
    parts = re.split(
        r"(^>>> .*(?:\n.+)*$|``[^`]+``|`[^`\n]+`)", text, flags=re.MULTILINE
    )
    return "".join(map(_part, parts))


def _part(part: str) -> str:
    if part.startswith(">>>"):
        return f"```pycon\n{part}\n```"
    return f"`{part.strip('`')}`" if part.startswith("`") else _plain(part)


def _plain(text: str) -> str:
    return (
        escaped(text)
        if not re.search(r"^\s*(\*|-|\d+\.) ", text, flags=re.MULTILINE)
        else text
    )
