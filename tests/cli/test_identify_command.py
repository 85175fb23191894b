"""``rankstone identify`` as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rankstone
from rankstone.cli import cli
from rankstone.errors import RankstoneError

DEMO = Path(__file__).parents[2] / "src" / "rankstone" / "demo"
FILES = (str(DEMO / "qrels.txt"), str(DEMO / "bm25.run"))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["identify", *arguments], catch_exceptions=True)


@pytest.fixture
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of one search show what the first of them found: searching takes seconds."""
    search, result = rankstone.identify, list[Any]()

    def once(*arguments: Any, **options: Any) -> Any:
        if not result:
            result.append(search(*arguments, **options))
        return result[0]

    monkeypatch.setattr(rankstone, "identify", once)


def test_a_number_of_files() -> None:
    """The demo's nDCG@10 with 2^g − 1, reported with the libraries that print it."""
    done = run(*FILES, "--value", "0.5493", "-m", "nDCG@10")
    assert done.exit_code == 0
    assert "0.5493, reported as nDCG@10" in done.stdout
    assert "nDCG(gain=exp2)@10" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_typed_in_grades_need_no_files() -> None:
    """The number of an article that was rounded midway and then cut off."""
    inputs = (
        "--grades",
        "5,3,2,1,2",
        "--judged",
        "5,3,2,1,2,4,0",
        "-m",
        "nDCG(gain=exp2)@5",
    )
    done = run(*inputs, "--value", "0.827")
    assert done.exit_code == 0
    assert "each term rounded to 1 decimal" in done.stdout
    assert "cut off, not rounded" in done.stdout


@pytest.mark.usefixtures("searched_once")
def test_every_format(tmp_path: Path) -> None:
    """A table, Markdown, LaTeX, HTML, JSON, CSV; to a file, too."""
    words = (*FILES, "--value", "0.5704", "-m", "nDCG@10")
    for form, sign in (
        ("table", "Nearest"),
        ("md", "| --: |"),
        ("latex", "toprule"),
        ("html", "<table>"),
    ):
        assert sign in run(*words, "--format", form).stdout
    parsed = json.loads(run(*words, "--format", "json").stdout)
    assert parsed["groups"][0]["ways"][0]["measure"] == "nDCG@10"
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    assert rows[0]["group"] == "1"
    done = run(*words, "-o", str(tmp_path / "it.json"), "--format", "json")
    assert not done.stdout
    assert json.loads((tmp_path / "it.json").read_text(encoding="utf-8"))["digits"] == 4


@pytest.mark.usefixtures("searched_once")
def test_numbers_of_several_runs() -> None:
    """Rows that were swapped: every number is reported with the run it belongs to, in every format."""
    runs = (FILES[0], str(DEMO / "tfidf.run"), "mine=" + FILES[1])
    words = (*runs, "--value", "0.5704", "--value", "39,9 %", "-m", "nDCG@10")
    assert "this is mine's value, not tfidf's" in " ".join(run(*words).stdout.split())
    first, second = json.loads(run(*words, "--format", "json").stdout)
    assert (first["taken_for"], first["run"], second["taken_for"]) == (
        "tfidf",
        "mine",
        "mine",
    )
    assert (second["value"], second["digits"], second["percent"]) == (39.9, 1, True)
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    assert {row["number"] for row in rows} == {"0.5704", "39.9%"}
    assert {row["run"] for row in rows} == {"tfidf", "mine"}
    assert all(len(line) <= 80 for line in run(*words).stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which number"),
        (("--value", "0.5"), "judgments and at least one run"),
        (("--value", "0.5", FILES[0], "a=x", "a=y"), "two runs have the name"),
        (("--value", "1,234", *FILES), "two ways"),
        (("--value", "x", *FILES), "is not a number"),
        (("--value", "0.5", *FILES, "--format", "xml"), "not known"),
        (("--value", "0.5", *FILES, "-m", "nDGC"), "did you mean"),
        (("--value", "0.5", *FILES, "--decimals", "99"), "out of range"),
        (("--value", "0.5", *FILES, "--grades", "1,0"), "list of its own"),
        (("--value", "0.5", FILES[0], "/nowhere.run"), "nowhere.run"),
    ],
)
def test_mistakes_are_reported(arguments: tuple[str, ...], message: str) -> None:
    """One message, no traceback."""
    done = run(*arguments)
    assert isinstance(done.exception, RankstoneError)
    assert message in str(done.exception)
