"""The first screen of ``rankstone eval``: a line a run, then only what deserves attention."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.command_line import command as run

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq2 0 b 0\n"
FULL = "q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\nq2 Q0 b 1 2 x\nq2 Q0 a 2 1 x\n"
ANSWERED = (
    "audit  2 queries, 4 judgments · 1 warning: 1 query missing"
    " · RR over answered queries 1.0000 (run)"
)
#: option or flaw → the beginnings of the lines below the two rows
STATES = {
    "nothing": (FULL, "", ()),
    "detected": (FULL, "run.csv", ("audit  2 queries, 4 judgments · read as: ",)),
    "missing": (FULL[:28], "", (ANSWERED,)),
    "option": (FULL, "--ties input", ("conventions  ties=input (default docid_desc)",)),
}


@pytest.mark.parametrize("state", STATES)
def test_a_line_a_run(tmp_path: Path, state: str) -> None:
    """Whatever the files are like, the table has a row a run; what follows is about flaws and options."""
    text, option, expected = STATES[state]
    (tmp_path / "qrels.txt").write_text(QRELS)
    name = option if option.endswith(".csv") else "run.txt"
    if name == "run.csv":
        rows = [line.split() for line in text.splitlines()]
        body = "".join(f"{row[0]};{row[2]};{row[4]},5\n" for row in rows)
        text = f"query_id;doc_id;score\n{body}"
    (tmp_path / name).write_text(text)
    options = option.split() if option.startswith("-") else []
    line = ("eval", tmp_path / "qrels.txt", tmp_path / name, "-m", "RR", *options)
    head, row, *below = run(*line).stdout.splitlines()

    assert head.split() == ["run", "RR"]
    assert row.split()[0] == "run"
    assert len(below) == len(expected)
    for line_below, begin in zip(below, expected, strict=True):
        assert line_below.startswith(begin)


def test_means_over_fewer_queries(tmp_path: Path) -> None:
    """-v and HTML have a row of means over answered queries; means that are alike are not repeated."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(FULL[:28])
    line = ("eval", tmp_path / "qrels.txt", tmp_path / "run.txt")
    row = "… 1 answered query"
    whole = run(*line, "-m", "RR", "-v").stdout.splitlines()
    assert whole[2].split() == [*row.split(), "1.0000"]
    assert row in run(*line, "-m", "RR", "--format", "html").stdout
    assert row not in run(*line, "-m", "RR").stdout
    (tmp_path / "run.txt").write_text("q1 Q0 b 1 2 x\n")
    alike = run(*line, "-m", "RR").stdout
    assert "1 query missing" in alike
    (tmp_path / "qrels.txt").write_text("q1 0 a 0\nq2 0 a 0\n")
    nothing = run(*line, "-m", "RR", "-v").stdout
    assert "  … queries with a relevant document  0.0000" in nothing
    assert "over answered" not in alike


def test_excluded_relevant_documents_are_a_warning(tmp_path: Path) -> None:
    """--exclude may take relevant documents away; then the first screen says what still counts."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(FULL)
    (tmp_path / "out.txt").write_text("q1 0 a 1\n")
    line = ("eval", tmp_path / "qrels.txt", tmp_path / "run.txt", "-m", "AP")
    for place, sentence in (
        ("lists", "1 excluded relevant document still in the ideal list"),
        ("judgments", "1 excluded relevant document no longer judged"),
        ("both", "1 excluded relevant document no longer judged"),
    ):
        options = ("--exclude", tmp_path / "out.txt", "--exclude-from", place)
        assert sentence in run(*line, *options).stdout
    (tmp_path / "out.txt").write_text("q1 0 b 1\n")
    harmless = run(*line, "--exclude", tmp_path / "out.txt")
    assert "relevant" not in harmless.stdout


def test_a_page_has_all_notes(tmp_path: Path) -> None:
    """HTML folds the whole audit and all conventions, and JSON has them."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(FULL)
    line = ("eval", tmp_path / "qrels.txt", tmp_path / "run.txt", "-m", "AP")
    page = run(*line, "--format", "html").stdout
    assert "ties=docid_desc" in page.partition("<details>")[2]
    report = json.loads(run(*line, "--format", "json").stdout)
    assert report["conventions"]["alignment"]["ties"] == "docid_desc"


def test_one_log_of_judgments_and_lists(tmp_path: Path) -> None:
    """A file with both is given twice, and the messages lead there from the first attempt."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"question": "q1", "retrieved": ["a", "b"], "gold": ["b"]}\n')
    alone = run("eval", log, code=2).stderr
    assert "for judgments and lists in one: name the file twice" in alone
    twice = run("eval", log, log, code=3).stderr
    columns = "question=query_id,run.retrieved=doc_id,qrels.gold=doc_id"
    assert f"--columns {columns}" in twice
    assert run("eval", log, log, "-m", "RR", "--columns", columns).stdout.splitlines()[
        1
    ].split() == ["log", "0.5000"]


def test_a_board_whose_scores_have_another_name(tmp_path: Path) -> None:
    """A row a system and data set lacks a column by name; it is not read as a column a data set."""
    rows = [f"{name},{place},0.{name}{place}" for name in "123" for place in "45678"]
    (tmp_path / "b.csv").write_text("model,dataset,ndcg\n" + "\n".join(rows))
    refused = run("board", tmp_path / "b.csv", code=3).stderr
    assert "there is no column value" in refused
    assert "rename it with --columns" in refused
    renamed = run("board", tmp_path / "b.csv", "--columns", "ndcg=value").stdout
    assert "3 systems on 5 data sets" in renamed
