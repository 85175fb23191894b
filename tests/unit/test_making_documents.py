"""Pages that are made are what would be made now, and what they tell to type can be typed."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from docs.making.classic import LANGUAGES, page
from docs.making.markdown import anchor, escaped, number, table
from tests.unit.test_documents import shell_lines

from rankstone.cli import cli

DOCS = Path(__file__).resolve().parents[2] / "docs"

classic_page = cache(page)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_classic_examples_are_what_rankstone_prints_now(lang: str) -> None:
    """`make pages` has been run since an example, an explanation or a number changed."""
    name = "classic-examples.md" if lang == "en" else f"classic-examples.{lang}.md"
    assert (DOCS / name).read_text(encoding="utf-8") == classic_page(lang)


def test_commands_of_the_classic_examples_print_the_derivations() -> None:
    """Whoever types what stands above a derivation is shown it, all of it."""
    lines = shell_lines(classic_page("en"))
    assert len(lines) > 20
    for line in lines:
        run = CliRunner().invoke(cli, [*shlex.split(line)[1:], "--format", "md"])
        assert run.exit_code == 0, line
        heading, derivation = run.output.split("\n", 1)
        assert heading.split("   ")[0] in classic_page("en"), line
        assert derivation.rstrip() in classic_page("en"), line


def test_what_pages_are_written_with() -> None:
    """Tables, anchors and numbers come out as Markdown wants them."""
    assert table(["k", "P"], [["1", "0.5"]]) == ["", "| k | P |", "|---|---|", "| 1 | 0.5 |", ""]
    assert anchor("W17: What 1/min(R, k) is") == "w17-what-1minr-k-is"
    assert anchor("W8：五部电影的 nDCG@5") == "w8五部电影的-ndcg5"
    assert [number(value) for value in (0.829613, 13.0, 1 / 3, 0.0)] == ["0.829613", "13", "0.333333", "0"]
    assert escaped("a_b|c") == r"a\_b\|c"
