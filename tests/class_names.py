"""The names of classes in the style, the templates and the scripts of pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import rankstone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

__all__ = ["ASSETS", "HOOKS", "in_markup", "in_style", "in_texts", "without_rule"]

ASSETS: Final = Path(rankstone.__file__).parent / "reports" / "assets"
#: classes that have no rule, and what they are for
HOOKS: Final = {
    "examples": "scripts open a query in this section",
    "inconclusive": "the verdict of a badge, which looks as badges do",
    "pair": "the kind of page, on its body",
    "board": "the kind of page, on its body",
    "curves": "the kind of page, on its body",
    "bounds": "the kind of page, on its body",
    "beyond": "the kind of page, on its body",
    "retention": "the kind of page, on its body",
    "standings": "the kind of page, on its body",
    "slices": "the kind of page, on its body",
    "shared_task": "the kind of page, on its body",
    "reproduction": "the kind of page, on its body",
    "abstention": "the kind of page, on its body",
}
#: a class; a script may fill in what stands behind its last hyphen
_NAME: Final = re.compile(r"[a-z]\w*(?:-\w+)*(?:-\$\{\})?")
_HOLE: Final = r"\{\{.*?\}\}|\{%.*?%\}|\$\{[^{}]*\}"
#: strings of scripts and of expressions in templates
_STRING: Final = re.compile(r'"([^"\n]*)"|`([^`]*)`')
#: what a script gives as the class of an element: strings whole, up to a comma or brace
_CLASS: Final = re.compile(r'\bclass: ((?:"[^"]*"|`[^`]*`|[^,}])*)')
_CLASS_LIST: Final = re.compile(r'classList\.\w+\("([\w-]+)"')
_QUERY: Final = re.compile(r'querySelector(?:All)?\(\s*["`]([^"`]*)["`]')
_ATTRIBUTE: Final = re.compile(
    r'\bclass="((?:\{\{.*?\}\}|\{%.*?%\}|[^"])*)"', re.DOTALL
)


def in_style() -> set[str]:
    """Return the classes that selectors of the style name."""
    style = re.sub(r"/\*.*?\*/", "", _text("report.css"), flags=re.DOTALL)
    selectors = re.sub(r"\{[^{}]*\}", "{}", style)
    return set(re.findall(r"\.([A-Za-z][\w-]*)", selectors))


def in_markup() -> Iterator[tuple[str, str]]:
    """Yield each class that a template or script gives or looks for, as a pattern, and its file."""
    for path in sorted(ASSETS.glob("*.j2")):
        for value in _ATTRIBUTE.findall(path.read_text(encoding="utf-8")):
            names = re.sub(_HOLE, " ", value)
            expressions = " ".join(re.findall(_HOLE, value))
            for text in [names, *_strings(expressions)]:
                yield from ((name, path.name) for name in text.split())
    for path in sorted(ASSETS.glob("*.js")):
        script = path.read_text(encoding="utf-8")
        values = [re.sub(r'=== "\w+"', "", value) for value in _CLASS.findall(script)]
        texts = [text for value in values for text in _strings(value)]
        matches = [re.findall(r"\.([\w-]+)", text) for text in _QUERY.findall(script)]
        for text in [*texts, *_CLASS_LIST.findall(script), *map(" ".join, matches)]:
            words = filter(_NAME.fullmatch, _words(text))
            yield from ((_pattern(word), path.name) for word in words)


def in_texts() -> set[str]:
    """Return patterns of all words in strings of templates, scripts and the cards of caveats."""
    templates = [path.read_text(encoding="utf-8") for path in ASSETS.glob("*.j2")]
    others = [*ASSETS.glob("*.js"), ASSETS.parent / "caveat_cards.py"]
    texts = [*templates, *(path.read_text(encoding="utf-8") for path in others)]
    strings = [string for text in texts for string in _strings(text)]
    attributes = [
        re.sub(_HOLE, " ", value)
        for text in templates
        for value in _ATTRIBUTE.findall(text)
    ]
    words = {word for text in [*strings, *attributes] for word in _words(text)}
    return {_pattern(word) for word in words if _NAME.fullmatch(word)}


def without_rule(page: Page) -> list[str]:
    """Return the classes of elements of a page that is open which are no hooks and have no rule."""
    elements = "[...document.querySelectorAll('[class]')]"
    names = page.evaluate(f"{elements}.flatMap((element) => [...element.classList])")
    return sorted(set(names) - in_style() - HOOKS.keys())


def _strings(text: str) -> list[str]:
    return [plain or filled for plain, filled in _STRING.findall(text)]


def _words(text: str) -> list[str]:
    """Return words; what an expression fills in is part of its word.

    >>> _words("series-${index % 4} line")
    ['series-${}', 'line']
    """
    return re.sub(r"\$\{[^{}]*\}", "${}", text).split()


def _pattern(word: str) -> str:
    return re.escape(word).replace(re.escape("${}"), r"[\w-]+")


def _text(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
