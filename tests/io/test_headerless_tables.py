"""Tables without a header: read by their shape, by positions, or refused with positions that work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.command_line import command
from tests.strangers.pasting import pasted_command

from rankstone.errors import RankstoneError
from rankstone.io import read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_columns_by_position(tmp_path: Path) -> None:
    """A first row that is data is no header, and columns have the names of their positions."""
    path = write(tmp_path, "a.csv", "x,1,q1,3,d1\ny,2,q1,0,d2\n")
    positions: dict[Any, str] = {"3": "query_id", "5": "doc_id", "4": "relevance"}
    numbered: dict[Any, str] = {
        int(position): ours for position, ours in positions.items()
    }
    for columns in (positions, numbered):
        table = read_judgments(path, columns)
        assert table.collect("query_id", "doc_id", "relevance").rows() == [
            ("q1", "d1", 3.0),
            ("q1", "d2", 0.0),
        ]
        assert "no header" in table.read_as()
        assert table.locate(1) == f"{path}:2"


def test_a_header_of_positions_stays_one(tmp_path: Path) -> None:
    """Frames without names write 0, 1, 2 above their columns, which is no row."""
    path = write(tmp_path, "a.csv", "0,1,2\nq1,d1,3\nq1,d2,0\n")
    table = read_judgments(path, {"0": "query_id", "1": "doc_id", "2": "relevance"})
    assert table.collect("doc_id").to_series().to_list() == ["d1", "d2"]
    with pytest.raises(RankstoneError, match="no column query_id"):
        read_judgments(path)


def test_words_are_read_only_when_declared(tmp_path: Path) -> None:
    """A first row of words may be a header; the option says that it is none."""
    qrels = write(tmp_path, "q.csv", "q1,d1\nq1,d2\n")
    run = write(tmp_path, "r.run", "q1 Q0 d3 1 2 r\nq1 Q0 d2 2 1 r\n")
    columns = ["--columns", "qrels.1=query_id,qrels.2=doc_id"]
    printed = command("eval", qrels, run, "-m", "RR", "--no-header", *columns)
    assert "0.5000" in printed.stdout


def test_the_fix_of_a_refusal_works(tmp_path: Path) -> None:
    """Columns that no shape has are named by position, as far as they are clear."""
    qrels = write(tmp_path, "q.csv", '"q,1",d1,2,7\n"q,1",d2,0,8\n')
    run = write(tmp_path, "r.json", '{"q,1": ["d2", "d1"]}')
    line = f"eval {qrels} {run} -m RR"
    refused = command(*line.split(), code=3).stderr
    assert "the first row is data" in refused
    pasted = pasted_command(line, refused)
    assert pasted is not None
    assert "--no-header" in pasted
    assert "0.5000" in command(*pasted.split()).stdout
    with pytest.raises(
        RankstoneError, match=r"fix: +columns=\{1: 'query_id', 2: 'doc_"
    ):
        read_judgments(qrels)


def test_runs_whose_third_number_may_be_either(tmp_path: Path) -> None:
    """Numbers that fall from n to 1 are ranks without scores, or scores: the user says which."""
    path = write(tmp_path, "r.tsv", "1\ta\t2\n1\tb\t1\n2\ta\t2\n2\tc\t1\n")
    with pytest.raises(RankstoneError, match="may be msmarco-run or scores"):
        read_run(path)
    assert "rank" in read_run(path, format_in="msmarco-run").schema
    assert "score" in read_run(path, format_in="scores").schema
