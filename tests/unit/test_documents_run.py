"""Python and commands on the pages run, and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pytest
from click.testing import CliRunner
from tests.unit.test_documents import DOCUMENTS

import rankstone
from rankstone.cli import cli
from rankstone.measures import MEASURES
from rankstone.measures.models import OWN_WALKS
from rankstone.measures.parts import OWN_DISCOUNTS, OWN_GAINS

if TYPE_CHECKING:
    from collections.abc import Iterator

DEMO = Path(rankstone.__file__).parent / "demo"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", flags=re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """Code on a page, and what is printed according to the page."""

    kind: str
    code: str
    shown: str | None


def blocks(page: Path) -> list[Block]:
    """Return a page's blocks of code, each with the block of text that follows at once."""
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one[1], one[2], one[3]) for one in found if one[1] != "text"]


def pages_with(kind: str, *, shown: bool) -> list[Path]:
    """Return the pages that hold blocks of a kind, with what they print where that is asked for."""
    return [
        page
        for page in DOCUMENTS
        if any(block.kind == kind and (block.shown is not None or not shown) for block in blocks(page))
    ]


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Give pages what they take for granted: judgments, runs, tables; forget what they register."""
    recs = pl.DataFrame({"query_id": ["u", "u", "v"], "doc_id": ["a", "b", "c"], "score": [2.0, 1.0, 1.0]})
    train = pl.DataFrame({"query_id": ["u", "v", "w"], "doc_id": ["a", "b", "c"]})
    recs.write_parquet(tmp_path / "recs.parquet")
    train.write_parquet(tmp_path / "train.parquet")
    pl.DataFrame({"doc_id": list("abcd"), "genre": list("xxyy")}).write_csv(tmp_path / "items.csv")
    pl.DataFrame({"query_id": list("uvw"), "gender": list("fmf")}).write_csv(tmp_path / "users.csv")
    monkeypatch.chdir(tmp_path)
    qrels = {"301": {"d1": 3, "d2": 0, "d3": 1}, "302": {"d4": 1}}
    run = {"301": {"d2": 9.1, "d1": 7.5, "d9": 2.2}, "302": {"d4": 4.0}}
    other = {"301": {"d1": 9.0, "d3": 7.0}, "302": {"d5": 4.0}}
    before = set(MEASURES)
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
    for own in (OWN_GAINS, OWN_DISCOUNTS, OWN_WALKS):
        own.clear()


@pytest.mark.parametrize("page", pages_with("python", shown=False), ids=lambda page: page.name)
def test_python_on_a_page_runs(page: Path, given: dict[str, Any]) -> None:
    """Blocks run from the first to the last, and print what the page says they print."""
    for block in blocks(page):
        if block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(block.code, given)  # noqa: S102 - our own pages
            assert block.shown in (None, out.getvalue()), block.code


@pytest.mark.parametrize("page", pages_with("", shown=True), ids=lambda page: page.name)
def test_commands_on_a_page_print_what_stands_below(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command with a block of text below prints it, in the folder of the shipped collection."""
    monkeypatch.chdir(DEMO)
    for block in blocks(page):
        if not block.kind and block.shown is not None:
            run = CliRunner().invoke(cli, shlex.split(block.code)[1:])
            assert run.stdout == block.shown, block.code
