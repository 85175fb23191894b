"""The folder a site is built from: every page in its place, links between pages still right."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from docs.making import command_line, measures, notebooks, reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BrokenLink", "navigation", "relinked", "sources", "stage", "staged"]

_ROOT: Final = Path(__file__).resolve().parents[2]
#: code, in which nothing is a link, or a link, whose label may hold code
_CODE_OR_LINK: Final = re.compile(
    r"^```.*?^```$|`[^`\n]+`|\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)",
    flags=re.MULTILINE | re.DOTALL,
)
_PICTURES: Final = "docs/pictures/"
_NOT_MINE: Final = ("http://", "https://", "mailto:", "#")


class BrokenLink(Exception):
    """A page links to a file that is not there."""


def sources() -> dict[str, str]:
    """Return the pages of the repository: where each lies → where it goes in the site."""
    listed = [
        path.relative_to(_ROOT).as_posix()
        for path in sorted((_ROOT / "docs").glob("**/*.md"))
    ]
    places = {
        name: name.removeprefix("docs/").replace("README.md", "index.md")
        for name in listed
    }
    places["docs/home.md"] = "index.md"
    notebook = {
        f"examples/notebooks/{name}.ipynb": f"{name}.md" for name in notebooks.names()
    }
    root = {
        "README.zh": "index.zh",
        "CONTRIBUTING": "contributing",
        "CHANGELOG": "changelog",
    }
    return (
        places
        | notebook
        | {f"{name}.md": f"{place}.md" for name, place in root.items()}
    )


def staged() -> dict[str, str]:
    """Return the pages of the site by their places: the repository's, and those only the site has."""
    places, found = sources(), measures.families()
    cards = {place: family.page for family in found for _, place, _ in family.measures}
    aims = places | {
        "README.md": "index.md"
    }  # the readme is for the repository: links to it lead home
    pages = {
        place: relinked(_read(name), name, aims, cards)
        for name, place in places.items()
    }
    pages["index.md"] = "---\nhide:\n  - toc\n---\n" + pages["index.md"]
    own = {family.page: family.text for family in found} | reference.pages(
        {
            name: f"{family.page}#{place}"
            for family in found
            for name, place, _ in family.measures
        }
    )
    every = (
        pages
        | own
        | {
            "measures.md": measures.overview(found),
            "command-line.md": command_line.page(),
        }
    )
    return {place: _apart(text) for place, text in every.items()}


def _apart(text: str) -> str:
    """Put a blank line between a block of code and the block that shows what it prints."""
    return re.sub(r"^```\n(?=```)", "```\n\n", text, flags=re.MULTILINE)


def _read(name: str) -> str:
    if name.endswith(".ipynb"):
        return notebooks.page(PurePosixPath(name).stem)
    return (_ROOT / name).read_text(encoding="utf-8")


def relinked(
    text: str, name: str, places: Mapping[str, str], cards: Mapping[str, str]
) -> str:
    """Return a page with links that lead to the same pages from its place in the site.

    What is no page (code, a data file) is named and not linked.

    Parameters
    ----------
    text, name
        The page and where it lies in the repository.
    places
        Where pages go.
    cards
        Anchor of a measure's card → the page that holds it in the site.

    Raises
    ------
    BrokenLink
        When a link leads nowhere.
    """

    def link(found: re.Match[str]) -> str:
        label, target = found[1], found[2]
        if target is None or target.startswith(_NOT_MINE):
            return found[0]
        path, _, place = target.partition("#")
        aim = os.path.normpath(PurePosixPath(name).parent / path)
        if aim in (".", "docs"):
            return label
        if aim.startswith(_PICTURES) and (_ROOT / aim).exists():
            way = os.path.relpath(
                aim.removeprefix("docs/"), PurePosixPath(places[name]).parent
            )
            return f"[{label}]({way})"
        if aim not in places:
            if (_ROOT / aim / "README.md").exists():
                aim = f"{aim}/README.md"
            elif (_ROOT / aim).exists():
                return label
            else:
                raise BrokenLink(f"{name} links to {target}, which is not there")
        there = (
            cards.get(place, places[aim]) if aim == "docs/measures.md" else places[aim]
        )
        way = os.path.relpath(there, PurePosixPath(places[name]).parent)
        return f"[{label}]({way}{'#' * bool(place)}{place})"

    return _CODE_OR_LINK.sub(link, text)


def navigation(config: str, pages: Iterable[str]) -> str:
    """Return the configuration with patterns in `nav` written out, in the order of the pages.

    A page that has a line of its own, or was matched before, is not matched again.

    Raises
    ------
    BrokenLink
        When no line leads to a page.
    """
    left = [page for page in pages if f'"{page}"' not in config]

    def written_out(found: re.Match[str]) -> str:
        depth = found[1].count("/")  # a pattern is for one folder
        matching = [
            page
            for page in left
            if page.count("/") == depth and PurePosixPath(page).match(found[1])
        ]
        for page in matching:
            left.remove(page)
        return "".join(f'"{page}", ' for page in matching)

    full = re.sub(r'"([^"\n]*\*[^"\n]*)"(?:, ?)?', written_out, config)
    if left:
        raise BrokenLink(
            f"no line of nav in docs/making/zensical.toml leads to {', '.join(left)}"
        )
    return full


def stage(folder: Path) -> None:
    """Lay out ``docs`` and ``zensical.toml`` in a folder."""
    pages = staged()
    config = navigation(_read("docs/making/zensical.toml"), pages)
    shutil.rmtree(folder / "docs", ignore_errors=True)
    for place, text in pages.items():
        path = folder / "docs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copytree(_ROOT / _PICTURES, folder / _PICTURES)
    for name in ("site.css", "site.js"):
        shutil.copy(_ROOT / "docs/making" / name, folder / "docs")
    (folder / "zensical.toml").write_text(config, encoding="utf-8")
