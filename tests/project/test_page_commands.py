"""Every command on every page can be typed in the folder that `rankstone demo --copy` writes."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from docs.making import desk
from docs.making.printed import blocks, typed
from tests.project.test_documents import DOCUMENTS, shell_lines

from rankstone.measures import MEASURES
from rankstone.measures.core.gains_and_discounts import CUSTOM_DISCOUNTS, CUSTOM_GAINS
from rankstone.measures.walk_models import CUSTOM_WALKS

if TYPE_CHECKING:
    from collections.abc import Iterator

#: what a command needs that no folder has → how a page says so, beside the command
SERVERS: Final = {"--engine spark": "Java 17", "postgresql://": "server"}
#: pages whose commands are typed by tests of their own, in such a folder
ELSEWHERE: Final = ("classic-examples.md", "classic-examples.zh.md")
PAGES: Final = [page for page in DOCUMENTS if page.name not in ELSEWHERE]


def commands(page: Path) -> list[str]:
    """Return the commands of a page, without those that only print and are compared with the page elsewhere."""
    text = page.read_text(encoding="utf-8")
    shown = {block.code.strip() for block in blocks(text) if block.shown is not None}
    return [
        line
        for line in shell_lines(text)
        # later commands of the page read what one writes
        if line.strip() not in shown or " -o " in line or "golden split" in line
    ]


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Forget the measures and gains of one's own that pages import."""
    names = set(MEASURES)
    yield
    for name in set(MEASURES) - names:
        MEASURES.remove(name)
    for words in (CUSTOM_GAINS, CUSTOM_DISCOUNTS, CUSTOM_WALKS):
        words.clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a reader has who typed `rankstone demo --copy`: one folder for all pages."""
    place = tmp_path_factory.mktemp("reader") / "desk"
    assert typed(f"rankstone demo --copy {place}").exit_code == 0
    return place


@cache
def outcome(line: str) -> str:
    """Type a line, once for all pages that have it, and return what went wrong."""
    command, _, redirected = line.partition(" > ")
    done = typed(command)
    if redirected:
        Path(redirected).write_text(done.stdout, encoding="utf-8")
    return f"{done.exception}\n{done.stderr}" if done.exit_code else ""


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: page.name
)
def test_commands_on_a_page_succeed(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other; those that need a server say so, and no output is written over an input."""
    monkeypatch.chdir(folder)
    text = page.read_text(encoding="utf-8")
    failed = {}
    for line in commands(page):
        need = next((words for name, words in SERVERS.items() if name in line), None)
        if need is not None:
            assert need in text, f"{line}: the page does not say that it needs {need}"
        elif trouble := outcome(" ".join(line.split())):
            failed[line] = trouble
    assert failed == {}
    with zipfile.ZipFile(desk.PACKED) as packed:
        changed = [
            place
            for place in packed.namelist()
            if (folder / place).read_bytes() != packed.read(place)
        ]
    assert changed == []


def test_the_folder_is_made_of_the_examples_as_they_are() -> None:
    """`make pages` has been run since an example or a table of the folder changed."""
    assert desk.stale() == []


def test_the_folder_is_not_written_over_files(folder: Path) -> None:
    """A second time the same folder is refused."""
    again = typed(f"rankstone demo --copy {folder}")
    assert again.exit_code
    assert "has files in it, which are not overwritten" in str(again.exception)
