"""Pages that are made are what would be made now, and what they tell to type can be typed."""

from __future__ import annotations

import inspect
import re
import shlex
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from docs.making import __main__ as making
from docs.making import catalogue, reference, staging
from docs.making.classic import LANGUAGES, page
from docs.making.command_line import page as command_line
from docs.making.markdown import anchor, escaped, number, table
from docs.making.measures import CHINESE, chinese, families
from docs.making.staging import BrokenLink, navigation, relinked, staged
from tests.project.test_documents import shell_lines

import rankstone
from rankstone.cli import cli
from rankstone.measures import MEASURES

if TYPE_CHECKING:
    from types import ModuleType

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
    assert table(["k", "P"], [["1", "0.5"]]) == [
        "",
        "| k | P |",
        "|---|---|",
        "| 1 | 0.5 |",
        "",
    ]
    assert anchor("W17: What 1/min(R, k) is") == "w17-what-1minr-k-is"
    assert anchor("W8：五部电影的 nDCG@5") == "w8五部电影的-ndcg5"
    assert [number(value) for value in (0.829613, 13.0, 1 / 3, 0.0)] == [
        "0.829613",
        "13",
        "0.333333",
        "0",
    ]
    assert escaped("a_b|c") == r"a\_b\|c"


# -- measures --------------------------------------------------------------------------------------------
def test_every_measure_has_chinese_words() -> None:
    """A new measure or family has its line in docs/making/measures.zh.yaml, and none is left over there."""
    result = families()
    assert set(CHINESE["measures"]) == {
        name for family in result for name, _, _ in family.measures
    }
    assert set(CHINESE["families"]) == {
        f"{family.title} · {family.computed_by}" for family in result
    }
    assert set(CHINESE["measures"]) == set(MEASURES)
    assert (DOCS / "measures.zh.md").read_text(encoding="utf-8") == chinese(result)


def test_the_catalogue_is_what_the_classes_say() -> None:
    """``make pages`` has been run: each measure is in the catalogue, once, where it is defined."""
    for path, text in catalogue.stubs().items():
        assert path.read_text(encoding="utf-8") == text, path
    assert sorted(
        name for names in catalogue.collected().values() for name in names
    ) == sorted(MEASURES)


def test_families_have_pages_of_their_own() -> None:
    """Two families of one name are two pages."""
    pages = [family.page for family in families()]
    assert len(pages) == len(set(pages))
    assert {"measures/diversity.md", "measures/diversity-beyond.md"} <= set(pages)


# -- the site --------------------------------------------------------------------------------------------
def test_the_site_has_every_page_in_its_navigation() -> None:
    """Each page of docs/ has a line in docs/making/zensical.toml, and every link leads to a page."""
    pages = staged()
    config = navigation(
        (DOCS / "making" / "zensical.toml").read_text(encoding="utf-8"), pages
    )
    nav = tomllib.loads(config)["project"]["nav"]
    assert sorted(listed(nav)) == sorted(pages)
    assert {
        "index.md",
        "index.zh.md",
        "contributing.md",
        "conventions/index.md",
        "rag.md",
    } <= set(pages)
    assert "## I build RAG" in pages["index.md"]
    assert "](pictures/compare.svg)" in pages["index.md"]


def listed(nav: Any) -> list[str]:
    """Return the pages of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [
        page
        for part in (nav.values() if isinstance(nav, dict) else nav)
        for page in listed(part)
    ]


def test_a_page_that_navigation_forgets_is_reported() -> None:
    """A page without a line is an error that names it; a pattern takes what has no line of its own."""
    config = 'nav = ["a.md", { "More" = ["b*.md", "b/*.md"] }]'
    assert (
        navigation(config, ["a.md", "b.md", "b/c.md"])
        == 'nav = ["a.md", { "More" = ["b.md", "b/c.md", ] }]'
    )
    with pytest.raises(BrokenLink, match=r"x/bc\.md"):  # a pattern is for one folder
        navigation(config, ["a.md", "x/bc.md"])
    assert tomllib.loads(navigation(config, ["a.md"])) == {
        "nav": ["a.md", {"More": []}]
    }
    with pytest.raises(BrokenLink, match=r"lost\.md"):
        navigation(config, ["a.md", "lost.md"])


def test_links_lead_to_the_same_pages_in_the_site() -> None:
    """Links follow pages to where they go; code is named; what is not there is reported."""
    places = {
        "README.md": "index.md",
        "docs/x.md": "x.md",
        "docs/measures.md": "measures.md",
    }
    places |= {"docs/conventions/README.md": "conventions/index.md"}
    cards = {"p-also": "measures/binary.md"}

    def become(text: str, name: str) -> str:
        return relinked(text, name, places, cards)

    assert become("[a](docs/x.md#there)", "README.md") == "[a](x.md#there)"
    assert become("[a](docs/conventions)", "README.md") == "[a](conventions/index.md)"
    assert become("[a](../README.md), [b](#b)", "docs/x.md") == "[a](index.md), [b](#b)"
    assert (
        become("[P](measures.md#p-also)", "docs/x.md")
        == "[P](measures/binary.md#p-also)"
    )
    assert (
        become("[`cli`](../pyproject.toml) `[a](b)`", "docs/x.md") == "`cli` `[a](b)`"
    )
    with pytest.raises(BrokenLink, match=r"docs/x\.md links to gone\.md"):
        become("[a](gone.md)", "docs/x.md")


def test_the_command_line_page_has_every_command() -> None:
    """Commands of commands, too."""
    result = command_line()
    for name in ("eval", "explain", "measures show", "conventions diff", "trec-eval"):
        assert f"# rankstone {name}\n" in result
    assert result.count("Usage: rankstone ") == result.count("```text")


# -- the reference ---------------------------------------------------------------------------------------
def test_every_public_name_has_its_place_in_the_reference() -> None:
    """Names of `rankstone` have pages, those of public modules headings; each says what it is."""
    pages = staged()
    for entry in reference.entries():
        heading = (
            f"# rankstone.{entry.name}\n"
            if entry.module == "rankstone"
            else f"## {entry.name}\n"
        )
        assert heading in pages[entry.page], entry
        assert entry.summary, (
            f"{entry.module}.{entry.name} has no docstring, or no comment (#:) above it"
        )
    assert {name for name in rankstone.__all__ if name != "plots"} == {
        item.name for item in reference.entries() if item.module == "rankstone"
    }


def test_what_cannot_be_described_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name, what is not installed, and what installs it; a class is read from its source instead."""

    def absent(name: str) -> ModuleType:
        if name.startswith("rankstone.integrations."):
            raise ModuleNotFoundError("No module named 'pytest'")
        return import_module(name)

    def stage(_: Path) -> None:
        reference.entries()

    monkeypatch.setattr(reference, "import_module", absent)
    monkeypatch.setattr(staging, "stage", stage)
    with pytest.raises(SystemExit) as ended:
        making.main("stage")
    first, *others = str(ended.value).splitlines()
    assert re.fullmatch(
        r"rankstone\.integrations\.\w+\.\w+ cannot be described: No module named 'pytest'",
        first,
    )
    assert others[-1].startswith("make pages, make site, or ")


def test_every_public_module_is_in_the_reference() -> None:
    """Packages a user may import, and each integration; the others are rooms of the house."""
    package = Path(rankstone.__file__).parent
    inner = {
        "api",
        "cli",
        "evaluation",
        "hits",
        "integrations",
        "io",
        "reports",
        "tables",
    }
    rooms = {
        path.name.removesuffix(".py")
        for path in package.iterdir()
        if not path.name.startswith("_")
    }
    assert (
        rooms - inner - {"py.typed"}
        == {name.split(".")[0] for name in reference.MODULES} - inner
    )
    texts = "".join(path.read_text("utf-8") for path in DOCS.glob("*.md"))
    named = set(re.findall(r"(?:from|import) rankstone\.(integrations\.\w+)", texts))
    assert named <= set(reference.MODULES), named - set(reference.MODULES)


def test_parameters_of_the_verbs_are_described() -> None:
    """Every parameter of a verb, of a result and of what they take is in the docstring."""
    for entry in reference.entries():
        described = entry.object
        if (
            entry.module != "rankstone"
            or entry.name in MEASURES
            or not callable(described)
        ):
            continue
        if isinstance(described, type) and issubclass(described, Exception):
            continue
        text = reference.documentation(described)
        for parameter in inspect.signature(described).parameters.values():
            # what is described with its fellows, where they are defined, has no default here
            name = "options" if parameter.default is ... else parameter.name
            assert name.startswith("_") or re.search(rf"\b{name}\b", text), (
                entry.name,
                name,
            )
