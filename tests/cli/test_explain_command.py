"""``rankstone explain`` as a user meets it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.command_line import command

from rankstone.cli import cli
from rankstone.errors import RankstoneError
from rankstone.io.file_formats import read_files

DEMO = Path(__file__).parents[2] / "src" / "rankstone" / "demo"
FILES = (str(DEMO / "qrels.txt"), str(DEMO / "bm25.run"))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["explain", *arguments], catch_exceptions=True)


def test_typed_in_grades_need_no_files() -> None:
    """The first example of the help: nDCG of five grades, seven judged."""
    done = run(
        "--grades", "5,3,2,1,2", "--judged", "5,3,2,1,2,4,0", "-m", "nDCG(gain=exp2)@5"
    )
    assert done.exit_code == 0
    assert "nDCG(gain=exp2)@5 = 0.8296" in done.stdout
    assert "46.4165" in done.stdout


def test_a_query_of_files_in_every_format(tmp_path: Path) -> None:
    """A table, Markdown, LaTeX, HTML, JSON; to a file, too."""
    for form, sign in (
        ("table", "numerator"),
        ("md", "| --: |"),
        ("latex", "toprule"),
        ("html", "<table>"),
    ):
        assert sign in run(*FILES, "-q", "q03", "--format", form).stdout
    parsed = json.loads(run(*FILES, "-q", "q03", "--format", "json").stdout)
    assert parsed["query_id"] == "q03"
    done = run(*FILES, "-q", "q03", "-o", str(tmp_path / "it.html"), "--format", "html")
    assert not done.stdout
    assert "<table>" in (tmp_path / "it.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["table", "md", "latex", "html"])
def test_decimals(form: str) -> None:
    """--digits sets the decimals of every table; whole numbers stay whole, JSON and CSV have all digits."""
    line = (*FILES, "-q", "q03", "-m", "nDCG@5", "--digits")
    parsed = json.loads(run(*line, "2", "--format", "json").stdout)
    for digits in (2, 7):
        shown = run(*line, str(digits), "--format", form).stdout
        numbers = re.findall(
            r"(?<![\d.])\d\.(\d+)(?!\d*e)",
            re.sub("<style>.*?</style>", "", shown, flags=re.DOTALL),
        )
        assert f"{parsed['value']:.{digits}f}" in shown
        assert {len(number) for number in numbers} == {digits}
    full = run(*line, "2", "--format", "csv").stdout
    assert full == run(*FILES, "-q", "q03", "-m", "nDCG@5", "--format", "csv").stdout


@pytest.mark.parametrize("form", ["table", "md", "latex", "html"])
def test_decimals_of_a_difference(form: str) -> None:
    """--digits goes for the comparison of two lists, too."""
    line = (*FILES, "-q", "q03", "-m", "nDCG@5", "--versus", str(DEMO / "tfidf.run"))
    parsed = json.loads(run(*line, "--format", "json").stdout)
    for digits in (2, 7):
        value = f"{parsed['difference']:.{digits}f}"
        assert value in run(*line, "--format", form, "--digits", str(digits)).stdout


def test_the_worst_and_the_largest_losses() -> None:
    """Queries are chosen by their score, or by their loss beside another run."""
    parsed = json.loads(run(*FILES, "--worst", "3", "--format", "json").stdout)
    values = [item["value"] for item in parsed]
    assert values == sorted(values)
    assert len(values) == 3
    lost = json.loads(
        run(
            *FILES,
            "--worst",
            "2",
            "--versus",
            str(DEMO / "tfidf.run"),
            "--format",
            "json",
        ).stdout
    )
    assert lost[0]["difference"] <= lost[1]["difference"] < 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "judgments and one run are needed"),
        (FILES, "which query?"),
        ((*FILES, "-q", "q99"), "q99 is not judged"),
        (("--grades", "1,x"), "'x' is not a grade"),
        ((*FILES, "--grades", "1"), "a list of its own"),
        ((*FILES, "-q", "q03", "--format", "pdf"), "--format pdf is not known"),
        ((*FILES, "-q", "q03", "-m", "nDGC@10"), "nDCG"),
    ],
)
def test_mistakes_are_reported(arguments: tuple[str, ...], message: str) -> None:
    """No traceback: what was given, what was expected."""
    error = run(*arguments).exception
    assert isinstance(error, RankstoneError)
    assert message in str(error)


def test_the_worst_of_files_of_a_given_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--format-in holds for --worst, too, and several queries read every file once."""
    (tmp_path / "q").write_text("query_id,doc_id,relevance\n1,a,1\n2,a,1\n3,a,1\n")
    (tmp_path / "r").write_text(
        "query_id,doc_id,score\n1,a,2\n1,b,1\n2,a,1\n2,b,2\n3,b,1\n"
    )
    opened: list[str] = []

    def counted(path: Any, *rest: Any, **options: Any) -> Any:
        table = read_files(path, *rest, **options)
        start = table.start

        def again(columns: Any) -> Any:
            opened.append(str(path))
            return start(columns)

        return replace(table, start=again)

    monkeypatch.setattr("rankstone.io.read_files", counted)
    files = [str(tmp_path / "q"), str(tmp_path / "r")]
    done = CliRunner().invoke(
        cli,
        ["explain", *files, "--worst", "2", "--format-in", "csv", "--format", "json"],
    )
    assert [entry["query_id"] for entry in json.loads(done.output)] == ["3", "2"], (
        done.output
    )
    assert opened.count(files[1]) == 1


def test_ranks_beside_another_run_are_those_of_whole_lists(tmp_path: Path) -> None:
    """A document below the cutoff has its rank; one that is not retrieved has words; the query is a column."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 0\n")
    lists = {"first.run": "abx", "second.run": "xya"}
    for name, documents in lists.items():
        lines = [
            f"1 Q0 {doc} {rank} {9 - rank} t\n" for rank, doc in enumerate(documents, 1)
        ]
        (tmp_path / name).write_text("".join(lines))
    qrels, first, second = (str(tmp_path / name) for name in ("qrels.txt", *lists))
    named = (qrels, f"a long name of a run={first}", "-m", "P@2", "-q", "1")
    versus = ("--versus", f"a long name of another={second}")

    text = command("explain", *named, *versus).stdout
    rows = command("explain", *named, *versus, "--format", "csv").stdout
    zh = command("explain", *named, *versus, "--lang", "zh").stdout

    assert re.search(r" a +1 +1 +3 ", text)
    assert re.search(r" b +1 +2 +not retrieved ", text)
    assert "未检索到" in zh
    assert "of a run" in text
    assert "of another" in text
    assert rows.startswith("query_id,of,doc_id,")
    assert rows.splitlines()[1].startswith("1,document,")
    alone = command("explain", *named).stdout
    assert "relevant, not in the list: c (1)" in alone
