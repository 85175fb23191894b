"""The phrases of results in each language: data files, read when first needed."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

from rankstone.errors import BadOption

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
    """Return a phrase with its parts filled in; a name without a phrase becomes its words.

    >>> phrase("comparison", "wtl", "zh"), phrase("explanation", "half_life")
    ('胜/平/负', 'half life')
    """
    return phrases(section, lang).get(name, name.replace("_", " ")).format(**parts)
