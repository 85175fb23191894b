"""Phrases of all languages: each is there, is used, and gets the parts that it names, from every call."""

from __future__ import annotations

import inspect

from tests.phrase_uses import parts, sentences, uses

from rankstone.reports.page_words import Words
from rankstone.tables.phrases import LANGUAGES, phrase

ENGLISH = sentences()
USES = uses()


def test_all_languages_say_the_same() -> None:
    """The same names in the same sections, the same parts in each phrase."""
    for lang in LANGUAGES:
        other = sentences(lang)
        assert other.keys() == ENGLISH.keys()
        for section, value in ENGLISH.items():
            assert other[section].keys() == value.keys(), (lang, section)
            for name, text in value.items():
                assert parts(other[section][name]) == parts(text), (lang, section, name)


def test_no_part_is_called_as_a_parameter() -> None:
    """A part of that name could not be given."""
    own = {
        parameter.name
        for function in (phrase, Words.__call__, Words.counted)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.POSITIONAL_ONLY
    }
    named = {
        part
        for section in ENGLISH.values()
        for text in section.values()
        for part in parts(text)
    }
    assert not named & own


def test_every_phrase_that_is_named_is_there() -> None:
    """A name, or at least one that fits where only a part of it can be read."""
    missing = [
        f"{use.place} {use.section}: {' '.join(use.names)}"
        for use in USES
        if use.names and not use.among(ENGLISH[use.section])
    ]
    assert missing == []


def test_every_call_fills_in_what_the_phrase_names() -> None:
    """No part without an argument, and no argument that no phrase names."""
    wrong = []
    for use in USES:
        result = use.among(ENGLISH[use.section]) if use.names else {}
        named = {part for text in result.values() for part in parts(text)}
        if result and (extra := use.parts_given - named):
            wrong.append(f"{use.place}: {' '.join(use.names)} does not name {extra}")
        lacking = {
            name: parts(text) - use.parts_given
            for name, text in result.items()
            if parts(text) - use.parts_given and not use.more
        }
        # where a part of the name cannot be read here, others may be meant as well
        if lacking.keys() & {*use.names} or (
            result and lacking.keys() == result.keys()
        ):
            wrong.append(f"{use.place}: {lacking}")
    assert wrong == []
