"""Advice on how a table is to be read: it was tried on the same files, or it is not given."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import BadLine, InputError, MissingColumn, UnknownFormat
from rankstone.io import parse_columns, read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path

HEAD: Final = "user,item,stars\n"


def test_one_line_for_all_tables(tmp_path: Path) -> None:
    """Judgments and run have other names, one of them for two things: one line is for both."""
    (tmp_path / "q.csv").write_text("user,item,rating\nu,d1,1\nu,d2,0\n")
    (tmp_path / "r.csv").write_text("uid,iid,rating\nu,d2,9\nu,d1,3\n")
    line = ["eval", "q.csv", "r.csv", "-m", "RR"]
    stderr = command(*line, code=3, cwd=tmp_path).stderr
    option = stderr.partition("add --columns ")[2].split()[0]

    assert set(option.split(",")) == {
        *("user=query_id", "item=doc_id", "rating=relevance"),
        *("uid=query_id", "iid=doc_id", "run.rating=score"),
    }
    assert " 0.5000" in command(*line, "--columns", option, cwd=tmp_path).stdout
    with pytest.raises(MissingColumn) as error:
        rankstone.evaluate(tmp_path / "q.csv", tmp_path / "r.csv", "RR")
    assert error.value.renames == parse_columns(option)
    assert "--" not in str(error.value.fix)
    checked = command("check", *line[1:3], code=3, cwd=tmp_path).stdout
    assert option in "".join(checked.split())


def test_no_harm_to_another_table(tmp_path: Path) -> None:
    """A name that the other table has for something else is meant for this one only."""
    (tmp_path / "q.csv").write_text("query_id,id,relevance\nu,d1,1\n")
    (tmp_path / "r.csv").write_text("query_id,doc_id,score,id\nu,d1,9,7\n")
    line = ["eval", "q.csv", "r.csv", "-m", "RR"]
    stderr = command(*line, code=3, cwd=tmp_path).stderr

    assert "add --columns qrels.id=doc_id\n" in stderr
    words = command(*line, "--columns", "qrels.id=doc_id", cwd=tmp_path)
    assert " 1.0000" in words.stdout


def test_the_next_message_is_another(tmp_path: Path) -> None:
    """A later line that cannot be read is named, and no fix comes again."""
    path = tmp_path / "q.csv"
    path.write_text(HEAD + "u,d1,1\n" * 40_000 + "u,d2,high\n")
    names = {"user": "query_id", "item": "doc_id", "stars": "relevance"}
    with pytest.raises(MissingColumn) as first:
        read_judgments(path)
    assert first.value.renames == names
    with pytest.raises(
        InputError, match=r"q\.csv:40002: the relevance 'high'"
    ) as second:
        read_judgments(path, names).collect()
    assert second.value.fix is None


def test_what_is_tried_is_the_head(tmp_path: Path) -> None:
    """However long the file: the advice costs what its first rows cost."""
    path = tmp_path / "q.csv"
    path.write_text(HEAD + "u,d1,1\n" * 2_000_000)
    started = time.perf_counter()
    with pytest.raises(MissingColumn, match="'stars': 'relevance'"):
        read_judgments(path)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("columns", "fix"),
    [
        (
            {"item": "doc_id", "user": "query_id", "mark": "relevance"},
            "columns={'stars'",
        ),
        ({"user": "doc_id", "item": "doc_id"}, None),
    ],
)
def test_names_that_were_given(columns: dict[str, str], fix: str | None) -> None:
    """They stay, and the fix has all of them; one that contradicts another is no way."""
    frame = pl.DataFrame({"user": ["u"], "item": ["d"], "stars": [1]})
    with pytest.raises(rankstone.RankstoneError) as error:
        read_judgments(frame, columns)
    if fix is None:
        assert "write qrels. or run. before" in str(error.value.fix)
    else:
        named = {**columns, "stars": "relevance"}
        assert isinstance(error.value, MissingColumn)
        assert error.value.renames == named


def test_options_that_were_given_are_replaced(tmp_path: Path) -> None:
    """A second value of an option is no help: the fix says which to replace."""
    (tmp_path / "q.csv").write_text("query_id;doc_id;relevance\nu;d1;1\n")
    line = ["check", "q.csv", "--csv-separator", "|"]
    stdout = command(*line, "--format", "json", code=3, cwd=tmp_path).stdout

    assert (
        "instead: --csv-separator ';'" in stdout
        or 'instead: --csv-separator \\";\\"' in stdout
    )
    (tmp_path / "ms.csv").write_text("user_id,time\na,1700000000000\na,1700086400500\n")
    line = ["online", "retention", "ms.csv", "--time-unit", "s"]
    stderr = command(*line, code=3, cwd=tmp_path).stderr
    assert "instead --time-unit ms" in stderr
    command(*line[:3], "--time-unit", "ms", cwd=tmp_path)


def test_objects_and_lists(tmp_path: Path) -> None:
    """The id of an object beside a list is named by its path, once or after a first try."""
    (tmp_path / "r.json").write_text(
        '[{"query": {"text": "t", "qid": "7"}, "docs": [{"docid": "d", "score": 9.5}]}]'
    )
    with pytest.raises(MissingColumn) as error:
        read_run(tmp_path / "r.json")
    assert error.value.renames == {"query.qid": "query_id", "docid": "doc_id"}
    with pytest.raises(InputError) as second:
        read_run(tmp_path / "r.json", {"query": "query_id", "docid": "doc_id"})
    assert second.value.attempt is not None
    names = second.value.attempt.way["columns"]
    assert names == {"query.qid": "query_id", "docid": "doc_id"}
    table = read_run(tmp_path / "r.json", names)
    assert table.collect("query_id", "doc_id").rows() == [("7", "d")]


def test_numbers_of_queries_and_times_are_no_grades() -> None:
    """Times, and other numbers in every row, are not proposed; few whole numbers are."""
    times = {
        "query_id": ["q"] * 3,
        "doc_id": ["a", "b", "c"],
        "at_all": [1.7e9, 1.6e9, 1.5e9],
    }
    fractions = {**times, "at_all": [0.3, 0.2, 0.1]}
    grades = {**times, "at_all": [3, 0, 1]}
    for columns, works in ((times, False), (fractions, False), (grades, True)):
        with pytest.raises(MissingColumn) as error:
            read_judgments(pl.DataFrame(columns))
        assert bool(error.value.renames) == works, columns


def test_binary_files_are_no_text(tmp_path: Path) -> None:
    """They are named, with the program that unpacks them, and no other encoding is proposed."""
    packed = bytes.fromhex("04224d18604082") + b"\xff\0\0"
    for name, content, words in (
        ("a.run", packed, "packed with lz4"),
        ("a.csv", b"query_id,doc_id\n\x00\xff,1\n", "the file is binary"),
        ("b.run", b"\x00\xff\x00 1\n", "the file is binary"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnknownFormat, match=words) as error:
            read_run(tmp_path / name).collect()
        assert "iconv" not in str(error.value)
    (tmp_path / "c.csv").write_bytes(b"query_id,doc_id,score\nq,d\xe9,1\n")
    with pytest.raises(BadLine, match="iconv"):
        read_run(tmp_path / "c.csv").collect()


def test_a_run_is_checked_alone(tmp_path: Path) -> None:
    """A file that is a run, and no judgments, is checked as one."""
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.5 t\n")

    assert "tied" in command("check", "a.run", cwd=tmp_path).stdout
    (tmp_path / "q.txt").write_text("q1 0 d1 1\n")
    assert "judgments" in command("check", "q.txt", cwd=tmp_path).stdout


@pytest.mark.parametrize("relevant", ["gold_ids", "truth", "expected_docs", "actual"])
@pytest.mark.parametrize("retrieved", ["pred_ids", "results", "outputs", "hits"])
def test_each_side_keeps_its_list(relevant: str, retrieved: str) -> None:
    """Whatever the names: what was retrieved is never judged by itself."""
    frame = pl.DataFrame(
        {"question_id": ["q"], retrieved: [["d2", "d1"]], relevant: [["d1", "d3"]]}
    )
    with pytest.raises(MissingColumn) as error:
        rankstone.evaluate(frame, frame, "RR")
    names = {
        "question_id": "query_id",
        f"run.{retrieved}": "doc_id",
        f"qrels.{relevant}": "doc_id",
    }
    assert error.value.fix is not None
    assert error.value.fix.startswith(f"columns={names}")
    scores = rankstone.evaluate(frame, frame, "RR", columns=names)
    assert scores.to_dict() == {"run": {"RR": 1 / 2}}


def test_heads_of_long_tables_may_have_nothing_in_common(tmp_path: Path) -> None:
    """The ids of two tables are only compared where a head shows enough of them."""
    rows = [f"query{at},document{at},1" for at in range(20_000)]
    judged, run = tmp_path / "q.csv", tmp_path / "r.csv"
    run.write_text("\n".join(["query_id,doc_id,score", *rows[::-1]]))
    judged.write_text("\n".join(["qid,docid,label", *rows]))
    with pytest.raises(MissingColumn, match="'qid': 'query_id', 'docid': 'doc_id'"):
        rankstone.evaluate(judged, run, "RR")
    judged.write_text("\n".join(["qid,docid,label", *rows[:9]]))
    with pytest.raises(MissingColumn, match="'qid': 'query_id', 'docid': 'doc_id'"):
        rankstone.evaluate(judged, run, "RR")
    # but of the same queries they show the documents
    others = [row.replace("document", "page") for row in rows]
    judged.write_text("\n".join(["qid,docid,label", *others[::-1]]))
    with pytest.raises(
        MissingColumn, match="with qid, docid the two tables do not go together"
    ):
        rankstone.evaluate(judged, run, "RR")


@pytest.mark.parametrize("mark", [",", "\t"])
def test_thousands_are_no_fractions(tmp_path: Path, mark: str) -> None:
    """1,234 beside 725 is a thousand: no decimal comma is advised."""
    path = tmp_path / "run.csv"
    rows = [("query_id", "doc_id", "score"), ("q", "d1", '"1,234"'), ("q", "d2", "725")]
    path.write_text("\n".join(map(mark.join, rows)))
    with pytest.raises(BadLine, match="without thousands separators") as error:
        read_run(path).collect()
    assert error.value.fix is None
    path.write_text(path.read_text().replace("1,234", "1,25"))
    if mark == ",":
        with pytest.raises(BadLine, match="decimal=','"):
            read_run(path).collect()
    else:
        assert read_run(path).collect("score").to_series().to_list() == [1.25, 725]
