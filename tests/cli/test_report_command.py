"""``rankstone report`` as a user meets it."""

from __future__ import annotations

import shutil
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rankstone import demo
from rankstone.cli import cli
from rankstone.errors import MissingExtra, RankstoneError

pytest.importorskip("jinja2", reason="reports need the extra: report")

QRELS, BM25, TFIDF = str(demo.QRELS), str(demo.RUNS["bm25"]), str(demo.RUNS["tfidf"])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["report", *arguments])


def test_a_page_is_written_and_nothing_printed(tmp_path: Path) -> None:
    """The page is there, and neither output nor standard error have anything where no terminal is attached."""
    done = run(QRELS, BM25, TFIDF, "-m", "nDCG@10", "-o", str(tmp_path / "report.html"))

    assert (done.exit_code, done.output) == (0, "")
    assert (
        (tmp_path / "report.html")
        .read_text(encoding="utf-8")
        .startswith("<!DOCTYPE html>")
    )


def test_from_saved_scores(tmp_path: Path) -> None:
    """Saved scores make a page, too."""
    saved = tmp_path / "scores.csv"
    rows = [
        f"{run},q{index},AP,{index / 60 + (run == 'b') / 10}"
        for run in "ab"
        for index in range(50)
    ]
    saved.write_text("\n".join(["run,query_id,measure,value", *rows]))

    done = run("--scores", str(saved), "-o", str(tmp_path / "report.html"))

    assert done.exit_code == 0
    assert '<span class="claim">b beats a</span>' in (
        tmp_path / "report.html"
    ).read_text(encoding="utf-8")


def test_the_language(tmp_path: Path) -> None:
    """``--lang zh`` reaches the browser and the reader."""
    run(
        QRELS,
        BM25,
        TFIDF,
        "-m",
        "nDCG@10",
        "--lang",
        "zh",
        "-o",
        str(tmp_path / "report.html"),
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert '<html lang="zh">' in page
    assert '<span class="claim">tfidf 与 bm25 孰优孰劣，尚无定论</span>' in page


def test_the_output_must_be_named() -> None:
    """A page is a file, so its name is needed."""
    done = run(QRELS, BM25, TFIDF)

    assert done.exit_code == 2
    assert "-o" in done.stderr


def test_inputs_are_spared(tmp_path: Path) -> None:
    """The page never takes the place of an input."""
    copy = tmp_path / "run.txt"
    copy.write_bytes(demo.RUNS["bm25"].read_bytes())

    done = run(QRELS, str(copy), TFIDF, "-o", str(copy))

    assert isinstance(done.exception, RankstoneError)
    assert copy.read_bytes() == demo.RUNS["bm25"].read_bytes()


def test_the_missing_extra_is_reported_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without Jinja the command says what to install, even before it looks for files."""
    monkeypatch.setitem(sys.modules, "jinja2", None)

    done = run("nowhere.txt", "a.run", "b.run", "-o", "x.html")

    assert isinstance(done.exception, MissingExtra)
    assert "rankstone[report]" in str(done.exception)


def test_the_command_line_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page tells the command that made it, quoted for a shell."""
    monkeypatch.setattr(sys, "argv", ["rankstone", "report", "a b.txt"])
    run(QRELS, BM25, TFIDF, "-m", "nDCG@10", "-o", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert "<pre>rankstone report &#39;a b.txt&#39;</pre>" in page


def test_title_and_documents(tmp_path: Path) -> None:
    """The title is at the head; titles of documents and texts of queries come from tables."""
    folder = demo.QRELS.parent
    done = run(
        *(
            QRELS,
            BM25,
            TFIDF,
            "-m",
            "nDCG@10",
            "-o",
            str(tmp_path / "report.html"),
            "--title",
            "A demo",
        ),
        *(
            "--documents",
            str(folder / "documents.jsonl"),
            "--queries",
            str(folder / "queries.jsonl"),
        ),
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert (done.exit_code, done.output) == (0, "")
    assert "<title>A demo</title>" in page
    assert '<p class="page-title">A demo</p>' in page
    assert "Growing your own leaven" in page
    assert "how to make a sourdough starter" in page


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        (
            ["compare", QRELS, BM25, TFIDF, "-m", "nDCG@10"],
            "No clear winner between tfidf and bm25",
        ),
        (["curve", QRELS, BM25, TFIDF, "--resamples", "20"], "PR of 2 runs"),
        (
            ["bounds", QRELS, BM25, "-m", "nDCG@10"],
            "How far missing judgments could move the scores of bm25",
        ),
        (
            ["beyond", BM25, "-m", "Coverage@3", "--catalogue-size", "200"],
            "bm25 beyond accuracy",
        ),
    ],
)
def test_other_commands_write_pages(
    tmp_path: Path, line: list[str], claim: str
) -> None:
    """``-o page.html`` writes the page of a result; another format is written as it is."""
    out = tmp_path / "page.html"

    done = CliRunner().invoke(cli, [*line, "-o", str(out)])
    assert (done.exit_code, done.stdout) == (0, "")
    assert claim in out.read_text(encoding="utf-8")

    CliRunner().invoke(cli, [*line, "-o", str(out), "--format", "csv"])
    assert "<" not in out.read_text(encoding="utf-8")


def test_a_file_of_several_systems_is_one_input(tmp_path: Path) -> None:
    """It has one line and one hash, with the names of what it holds; judgments and runs have their own."""
    scores, page = tmp_path / "scores.csv", tmp_path / "page.html"
    names = [f"s{index}" for index in range(7)]
    rows = [
        f"{name},q{q},RR,{(q * index) % 5 / 5}"
        for index, name in enumerate(names)
        for q in range(9)
    ]
    scores.write_text("\n".join(["run,query_id,measure,value", *rows]) + "\n")
    for lang, item in (("en", "1 input, with its hash"), ("zh", "1 个输入")):
        run("--scores", str(scores), "-o", str(page), "--lang", lang)
        text = page.read_text()
        assert item in text
        assert text.count(sha256(scores.read_bytes()).hexdigest()) == 1
        assert "<dt>s0, s1, s2 …</dt>" in text
    run(QRELS, BM25, TFIDF, "-o", str(page))
    assert "3 inputs, with hashes" in page.read_text()


def test_the_command_on_a_page_can_be_typed_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of this folder are named as from here, however they were typed."""
    for path in (QRELS, BM25, TFIDF):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = [Path(path).name for path in (QRELS, BM25, TFIDF)]
    words = ["report", f"{tmp_path}/{names[0]}", f"a={tmp_path}/{names[1]}", names[2]]
    monkeypatch.setattr("sys.argv", ["rankstone", *words, "-o", "r.html"])
    assert run(*words[1:], "-o", "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"<pre>rankstone report {names[0]} a={names[1]} {names[2]} -o" in page
    assert str(tmp_path) not in page.partition("<pre>")[2].partition("</pre>")[0]
