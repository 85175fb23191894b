"""Shared tasks, repetitions and cards on the command line: what is printed, written and refused."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from rankstone import demo

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., str]

TASK: Final = Path(__file__).parents[2] / "examples" / "shared-task"
QRELS: Final = str(TASK / "qrels.txt")
STUDY: Final = (
    "collection",
    QRELS,
    str(TASK / "runs"),
    "--teams",
    str(TASK / "teams.csv"),
    "--pool-depth",
    "10",
)
AGAIN: Final = ("reproduce", str(TASK / "runs"), str(TASK / "again"), "--qrels", QRELS)


def test_a_shared_task_in_one_command(run: Run, tmp_path: Path) -> None:
    """The table, a page, a picture; CSV is the leaderboard, JSON everything."""
    text = run(*STUDY)
    assert "alpha-hybrid has the highest nDCG@10" in text
    whole = run(*STUDY, "-v")
    for heading in ("Leaderboard", "Orders of the runs", "Topics, the hardest first"):
        assert heading in whole
        assert heading not in text
    page, picture = tmp_path / "task.html", tmp_path / "topics.svg"
    run(*STUDY, "-o", str(page), "--chart", str(picture))
    assert 'class="shared_task"' in page.read_text()
    assert "<svg" in picture.read_text()
    rows = list(csv.DictReader(io.StringIO(run(*STUDY, "--format", "csv", "--quiet"))))
    assert rows[0]["run"] == "alpha-hybrid"
    whole = json.loads(run(*STUDY, "--format", "json"))
    assert len(whole["topics"]) == 20
    assert {row["group"] for row in whole["reusability"]} == {
        "alpha",
        "beta",
        "gamma",
        "delta",
    }


def test_repetitions(run: Run, tmp_path: Path) -> None:
    """Folders, files with and without a baseline, tables of scores, lists alone, a page in Chinese."""
    text = run(*AGAIN, "--baseline", "beta-bm25")
    assert "beta-bm25: the same documents in the same order" in text
    assert "Systems of one side only, left out: alpha-dense" in text
    pair = [
        str(TASK / folder / f"{name}.run")
        for name in ("beta-rerank", "beta-bm25")
        for folder in ("runs", "again")
    ]
    four = json.loads(run("reproduce", *pair, "--qrels", QRELS, "--format", "json"))
    assert any(figure["statistic"] == "ER" for figure in four["figures"])
    assert "Lists of documents" in run("reproduce", *pair[:2])
    scores = [tmp_path / f"{position}.parquet" for position in range(2)]
    for index, file in enumerate(scores):
        run(
            "eval",
            QRELS,
            pair[index],
            pair[index + 2],
            "-m",
            "nDCG@10",
            "--per-query",
            str(file),
            "--quiet",
        )
    assert "RMSE" in run("reproduce", "--scores", *map(str, scores), "--margin", "0.3")
    run(*AGAIN, "--lang", "zh", "-o", str(tmp_path / "again.html"))
    page = (tmp_path / "again.html").read_text()
    assert 'class="reproduction"' in page
    assert "每个查询的文档及顺序完全相同" in page


def test_cards(run: Run, tmp_path: Path) -> None:
    """Written, found to hold, found not to: exit codes and the place."""
    for file in (demo.QRELS, demo.RUNS["bm25"]):
        shutil.copy(file, tmp_path)
    card, copy = tmp_path / "card.json", tmp_path / "bm25.run"
    run(
        "certify",
        str(tmp_path / "qrels.txt"),
        str(copy),
        "-m",
        "nDCG@10 AP",
        "-o",
        str(card),
    )
    assert "The card holds" in run("verify", str(card))
    whole = copy.read_bytes()
    copy.write_bytes(whole.replace(b"0.9", b"0.8", 1))
    text = run("verify", str(card), "--original", str(demo.RUNS["bm25"]), code=1)
    assert f"from byte {whole.index(b'0.9') + 2:,} on" in text
    assert (
        json.loads(run("verify", str(card), "--format", "json", code=1))["holds"]
        is False
    )
    assert "卡片不成立" in run("verify", str(card), "--lang", "zh", code=1)
    assert "The card holds" in run("verify", str(card), str(demo.RUNS["bm25"]))
    card.write_text(card.read_text()[:-20])
    assert "card.json" in run("verify", str(card), code=3)


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("reproduce", "a.run"), 2, "ORIGINAL AGAIN"),
        (
            ("reproduce", "a", "b", "c", "d", "--baseline", "x"),
            2,
            "--baseline cannot go with",
        ),
        ((*AGAIN, "--baseline", "bm25"), 2, "beta-bm25"),
        (
            ("collection", QRELS, str(TASK / "runs" / "beta-bm25.run")),
            3,
            "several runs",
        ),
        ((*STUDY, "--chart", "topics.gif"), 2, ".svg"),
        (("verify", QRELS), 3, "qrels.txt"),
    ],
)
def test_mistakes(run: Run, words: tuple[str, ...], code: int, part: str) -> None:
    """Each names what is wrong."""
    assert part in run(*words, code=code)


def test_a_repeated_run_is_compared_with_the_original(run: Run, tmp_path: Path) -> None:
    """Of four files the first two are one system, whatever the files are called; all four are read."""
    again = tmp_path / "again.run"
    shutil.copy(demo.RUNS["tfidf"], again)
    files = [*map(str, (demo.RUNS["tfidf"], again)), *[str(demo.RUNS["bm25"])] * 2]
    out = run("reproduce", *files, "--qrels", str(demo.QRELS), "-m", "AP")
    assert out.startswith("Reproduced on the same queries: tfidf, baseline")
    assert "left out" not in out
    again.unlink()
    assert str(again) in run("reproduce", *files, "--qrels", str(demo.QRELS), code=3)
    files[0] = f"baseline={files[0]}"
    assert "dense=" in run("reproduce", *files, "--qrels", str(demo.QRELS), code=2)
