"""Commands on pages succeed as they stand, also those that are about files of the reader's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from docs.making.printed import blocks, typed
from tests.project.test_documents import DOCUMENTS, TYPED, shell_lines
from tests.stand_ins import lay_out

from rankstone.measures import MEASURES
from rankstone.measures.core.gains_and_discounts import CUSTOM_DISCOUNTS, CUSTOM_GAINS
from rankstone.measures.walk_models import CUSTOM_WALKS

if TYPE_CHECKING:
    from collections.abc import Iterator

#: what `make test` has not: other tests run these
SERVERS: Final = ("--engine spark", "postgresql://")


def untyped(page: Path) -> list[str]:
    """Return the commands of a page that are not run to compare what they print."""
    text = page.read_text(encoding="utf-8")
    shown = {block.code.strip() for block in blocks(text) if block.shown is not None}
    return [
        line
        for line in shell_lines(text)
        if line.strip() not in shown and not any(name in line for name in SERVERS)
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


PAGES: Final = [
    page
    for page in DOCUMENTS
    if untyped(page) and not any(name.endswith(page.name) for name in TYPED)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_a_page_succeed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, in a folder with files of the names that they give."""
    lay_out(tmp_path, page.name)
    monkeypatch.chdir(tmp_path)
    failed = {}
    for line in untyped(page):
        command, _, redirected = line.partition(" > ")
        done = typed(command)
        if redirected:
            Path(redirected).write_text(done.stdout, encoding="utf-8")
        if done.exit_code:
            failed[line] = f"{done.exception}\n{done.stderr}"
    assert failed == {}
