"""Templates, scripts and styles of pages are written for people: names are words, lines are short."""

from __future__ import annotations

import re
from typing import Final

from tests.class_names import ASSETS, HOOKS, in_markup, in_style, in_texts

#: characters of a line
_WIDTH: Final = 120


def test_every_class_of_the_style_is_given() -> None:
    """No rule of the style is for a class that no template, script or module of pages names."""
    text = "|".join(sorted(in_texts()))
    assert [name for name in sorted(in_style()) if not re.fullmatch(text, name)] == []


def test_every_class_that_is_given_has_a_rule() -> None:
    """A class that has none is a hook, and its reason is written down."""
    known = in_style() | HOOKS.keys()
    without = [
        (file, name)
        for name, file in in_markup()
        if not any(re.fullmatch(name, item) for item in known)
    ]
    assert without == []


def test_class_names_are_words() -> None:
    """Parts between hyphens have three letters, a vowel among them, or are the number of a step."""
    short = [
        name
        for name in sorted(in_style() | HOOKS.keys())
        for part in re.split("[-_]", name)
        if not re.fullmatch(r"\d|(?=.*[aeiouy])[a-z]{3,}", part)
    ]
    assert short == []


def test_lines_of_assets_are_short() -> None:
    """One cell, one statement, one declaration a line."""
    long = [
        (path.name, number)
        for path in sorted(ASSETS.iterdir())
        if path.suffix in {".j2", ".js", ".css"}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > _WIDTH
    ]
    assert long == []


def test_templates_hold_one_element_a_line() -> None:
    """A line opens one block, cell or variable: what follows stands below."""
    crowded = [
        (path.name, number, line.strip())
        for path in sorted(ASSETS.glob("*.j2"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(re.findall(r"<(?:td|th|tr|dt|dd|li|p|div|section)\b", line)) > 1
        or len(re.findall(r"\{% (?:set|for|macro|include|import)\b", line)) > 1
    ]
    assert crowded == []
