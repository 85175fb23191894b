"""The phrases of results in each language: data files, read when first needed."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import BadOption

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LANGUAGES: Final = ("en", "zh")
#: what parts the pieces of an English text, the coarsest first, and what does so in Chinese
_CUTS: Final = {
    "; +": "；",
    " · ": " · ",
    # neither within parentheses, which may hold the parameters of a measure
    r"(?<! ): (?![^(]*\))": "：",
    r", (?![^(]*\))": "，",
}


def check_language(lang: str) -> None:
    """Refuse a language without phrases."""
    if lang not in LANGUAGES:
        raise BadOption(f"lang={lang!r} is not known", expected=", ".join(LANGUAGES))


@cache
def _language(lang: str) -> dict[str, Any]:
    check_language(lang)
    return tomllib.loads(_text_of(lang))


def _text_of(name: str) -> str:
    place = files("rankstone.tables") / "locales" / f"{name}.toml"
    return place.read_text(encoding="utf-8")


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


@cache
def _book(lang: str) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of English texts that arise without a language, and what they are in another one."""
    book = tomllib.loads(_text_of(f"english.{lang}"))
    entries = []
    for section in book.values():
        for english, words in section.items():
            pattern = re.compile(_pattern(english))
            template = re.sub(r"%(\d)", r"\\\1", words)
            entry = pattern, template
            entries.append(entry)
    return entries


def _pattern(english: str) -> str:
    """Return the expression of a text: ``%1`` is anything, ``@1`` a name, ``#1`` a number, and so on."""
    words = re.escape(english)
    either = re.sub(r"(?<=\w\w)\\\(s\\\)", "s?", words)
    either = re.sub(r"\\\((\w+)\\\|(\w+)\\\)", r"(?:\1|\2)", either)
    anything = r"((?:(?![;:·] ).)+?)"  # within a piece
    number = "([0-9][0-9,.]*)"
    name = "((?:(?![;:·,] ).)+?)"
    kinds = {r"\\#\d": number, r"@\d": name, r"%\d": anything}
    for mark, expression in kinds.items():
        either = re.sub(mark, expression, either)
    return either


def from_english(text: str, lang: str, cuts: Iterable[str] = _CUTS) -> str:
    """Return a text of a card or an audit in a language, piece by piece, as far as its book has them.

    >>> from_english("both runs: 1 query missing; 2 more with -v", "zh")
    '两个运行结果：1 个查询缺失；另有 2 条见 -v'

    Names of runs stay as they are.

    >>> from_english("new: 1 query missing", "zh")
    'new：1 个查询缺失'
    """
    if lang == "en":
        return text
    for pattern, words in _book(lang):
        if match := pattern.fullmatch(text):
            return match.expand(words)
    cut, *finer = *cuts, ""
    if not cut:
        return text
    pieces = re.split(cut, text)
    said = [from_english(piece, lang, finer) for piece in pieces]
    # a list of names stays as it is
    if said == pieces and not finer[0]:
        return text
    return _CUTS[cut].join(said)


def about_card(card: Mapping[str, object], lang: str) -> tuple[str, str]:
    """Return the formula of a measure and its symbols in a language."""
    formula = from_english(str(card["formula"]), lang)
    symbols = from_english(str(card["symbols"]), lang)
    return formula, symbols


class _Agreeing(Formatter):
    """Fills in the words that agree with a number, too."""

    def format_field(self, value: object, format_spec: str) -> str:
        """Return a part, or the words for one or for another number: ``{n:query|queries}``."""
        singular, separator, plural = format_spec.partition("|")
        if not separator:
            return str(super().format_field(value, format_spec))
        if str(value) == "1":
            return singular
        return plural


def filled(phrase: str, parts: Mapping[str, object]) -> str:
    """Return a phrase with its parts, and with words that agree with numbers.

    >>> all_of = "all {n} {n:query|queries}"
    >>> filled(all_of, {"n": 1}), filled(all_of, {"n": "1,200"})
    ('all 1 query', 'all 1,200 queries')
    >>> filled("in {n:the only list|all {n} lists}", {"n": 3})
    'in all 3 lists'
    """
    return _Agreeing().vformat(phrase, (), parts)
