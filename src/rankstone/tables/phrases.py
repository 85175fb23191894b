"""The phrases of results in each language: data files, read when first needed."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import BadOption

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES: Final = ("en", "zh")


def check_language(lang: str) -> None:
    """Refuse a language without phrases."""
    if lang not in LANGUAGES:
        raise BadOption(f"lang={lang!r} is not known", expected=", ".join(LANGUAGES))


@cache
def _language(lang: str) -> dict[str, Any]:
    check_language(lang)
    return tomllib.loads(
        (files("rankstone.tables") / "locales" / f"{lang}.toml").read_text(
            encoding="utf-8"
        )
    )


def phrases(section: str, lang: str) -> dict[str, str]:
    """Return the phrases of a section of a language's file, by name.

    >>> phrases("pages", "en")["nav_curve"], phrases("pages", "zh")["nav_curve"]
    ('Curves', '曲线')
    """
    by_name: dict[str, str] = _language(lang)[section]
    return by_name


def phrase(section: str, name: str, /, lang: str = "en", **parts: object) -> str:
    """Return a phrase with its parts filled in (:func:`filled`); a name without one becomes its words.

    >>> phrase("comparison", "wtl", "zh"), phrase("explanation", "half_life")
    ('胜/平/负', 'half life')
    """
    words = name.replace("_", " ")
    template = phrases(section, lang).get(name, words)
    return filled(template, parts)


class _Agreeing(Formatter):
    """Fills in the words that agree with a number, too."""

    def format_field(self, value: object, format_spec: str) -> str:
        """Return a part, or the words for one or for another number: ``{n:query|queries}``."""
        one, several, other = format_spec.partition("|")
        if not several:
            return str(super().format_field(value, format_spec))
        if str(value) == "1":
            return one
        return other


def filled(phrase: str, parts: Mapping[str, object]) -> str:
    """Return a phrase with its parts, and with words that agree with numbers.

    >>> all_of = "all {n} {n:query|queries}"
    >>> filled(all_of, {"n": 1}), filled(all_of, {"n": "1,200"})
    ('all 1 query', 'all 1,200 queries')
    >>> filled("in {n:the only list|all {n} lists}", {"n": 3})
    'in all 3 lists'
    """
    return _Agreeing().vformat(phrase, (), parts)
