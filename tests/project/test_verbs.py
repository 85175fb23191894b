"""Each verb of make installs what the code that it runs imports, so it works alone in a fresh clone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.verb_imports import VERBS, imports, installed
from tests.verbs import SHORT, named

ROOT: Final = Path(__file__).resolve().parents[2]
#: what is imported by code that a verb runs, and is not installed by it on purpose: why not
ELSEWHERE: Final = {
    ("bench", "pandas"): "RecTools has an environment of its own",
    ("bench", "rectools"): "RecTools has an environment of its own",
    ("night", "rectools"): "RecTools has an environment of its own",
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_installs_what_it_imports(verb: str) -> None:
    """By name, in a group that it depends on, and not because some other package brings it."""
    there = {name.lower() for name in installed(verb)}
    missing = {
        package: file
        for package, file in imports(verb).items()
        if package.lower() not in there and (verb, package) not in ELSEWHERE
    }
    assert missing == {}, f"make {verb} does not install what it imports"


def test_imports_are_seen() -> None:
    """The test above is about something: what verbs are known to need is among what they import."""
    assert {"sklearn", "altair", "griffe", "zensical"} <= set(imports("docs"))
    assert {"hypothesis", "yaml", "xdist"} <= set(imports("test"))
    assert {"ranx", "ir_measures"} <= set(imports("bench"))
    assert "lightgbm" in imports("hooks")


def test_verbs_are_those_of_the_makefile() -> None:
    """Those that pages name, and those with a short form."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    names = named(*(path.relative_to(ROOT).as_posix() for path in pages))
    assert {"demo", "docs", "site", "live"} <= set(names)
    assert {*names, *SHORT} - {"clean", "install"} <= set(VERBS)
