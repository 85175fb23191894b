"""Python and commands on the pages run, and print what stands below them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from docs.making.printed import Block, BrokenCommand, blocks, refreshed, run_python
from tests.project.test_documents import DOCUMENTS, without_twins

import rankstone
from rankstone.comparison import GateRule
from rankstone.measures import MEASURES
from rankstone.measures.core.gains_and_discounts import CUSTOM_DISCOUNTS, CUSTOM_GAINS
from rankstone.measures.walk_models import CUSTOM_WALKS

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = [
    page
    for page in without_twins(DOCUMENTS, "python")
    if "```python\n" in page.read_text(encoding="utf-8")
]
SHOWING = [
    page
    for page in without_twins(DOCUMENTS)
    if "```\n```text\n" in page.read_text(encoding="utf-8")
]


@pytest.fixture
def page_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    """Give pages what they take for granted: judgments, runs, tables; forget what they register."""
    recs = pl.DataFrame(
        {
            "query_id": ["u", "u", "v"],
            "doc_id": ["a", "b", "c"],
            "score": [2.0, 1.0, 1.0],
        }
    )
    train = pl.DataFrame({"query_id": ["u", "v", "w"], "doc_id": ["a", "b", "c"]})
    recs.write_parquet(tmp_path / "recs.parquet")
    train.write_parquet(tmp_path / "train.parquet")
    pl.DataFrame({"doc_id": list("abcd"), "genre": list("xxyy")}).write_csv(
        tmp_path / "items.csv"
    )
    pl.DataFrame({"query_id": list("uvw"), "gender": list("fmf")}).write_csv(
        tmp_path / "users.csv"
    )
    (tmp_path / "examples").symlink_to(Path(__file__).parents[2] / "examples")
    monkeypatch.chdir(tmp_path)
    qrels = {"301": {"d1": 3, "d2": 0, "d3": 1}, "302": {"d4": 1}}
    run = {"301": {"d2": 9.1, "d1": 7.5, "d9": 2.2}, "302": {"d4": 4.0}}
    other = {"301": {"d1": 9.0, "d3": 7.0}, "302": {"d5": 4.0}}
    before = set(MEASURES)
    rules = set(GateRule.known())
    yield {
        "rankstone": rankstone,
        "qrels": qrels,
        "run": run,
        "other": other,
        "runs": {"run": run, "other": other},
        "scores": rankstone.evaluate(qrels, run, "nDCG@10 AP"),
        "recs": recs,
        "train": train,
        "ranks": [1, 3, 7],
        "true_ranks": [1, 250, 900],
    }
    for name in set(MEASURES) - before:
        MEASURES.remove(name)
    for name in set(GateRule.known()) - rules:
        del GateRule._known[name]  # noqa: SLF001 - no public function takes one back
    for own in (CUSTOM_GAINS, CUSTOM_DISCOUNTS, CUSTOM_WALKS):
        own.clear()


@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.name)
def test_python_on_a_page_runs(page: Path, page_inputs: dict[str, Any]) -> None:
    """Blocks run from the first to the last, and there are some."""
    code = [
        block.code
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.kind == "python"
    ]
    assert code
    assert all(isinstance(run_python(each, page_inputs), str) for each in code)


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.name)
def test_a_page_shows_what_is_printed(page: Path) -> None:
    """What stands below code is what it prints now; `make pages` writes it anew."""
    text = page.read_text(encoding="utf-8")
    assert refreshed(text) == text


def test_what_is_printed_is_written_anew() -> None:
    """Below Python and below a command; what is not shown is not written."""
    page = "```python\nx = 2\n```\ntext\n```python\nprint(x)\n```\n```text\nold\n```\n"
    assert refreshed(page) == page.replace("old", "2")
    assert list(blocks(page)) == [
        Block("python", "x = 2\n", None),
        Block("python", "print(x)\n", "old\n"),
    ]
    text = "```\nrankstone explain --grades 1,0 -m P@2 --format json\n```\n\n```text\n```\n"
    assert '"value": 0.5' in refreshed(text)


def test_a_command_that_fails_is_not_written() -> None:
    """A page does not lose what stands below a command because the command is broken now."""
    page = "```\nrankstone eval nowhere.txt nowhere.run\n```\n```text\nrun  AP\n```\n"
    with pytest.raises(BrokenCommand, match="no such file"):
        refreshed(page)
