"""Files and objects of every kind become the same table, or an error that says where and why."""

from __future__ import annotations

import gzip
import io
import json
import re
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankstone
from rankstone import InputError, UsageError
from rankstone.errors import (
    BadLine,
    BadParameter,
    BadValue,
    EmptyInput,
    MissingColumn,
    MixedIds,
)
from rankstone.io import read_attributes, read_judgments, read_run
from rankstone.io.file_formats import format_of

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.5}}
EXPECTED = {"run": {"RR": (1 / 2 + 1 / 1) / 2}}

QRELS_TEXT = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
RUN_TEXT = "q1 Q0 d2 1 0.9 t\nq1 Q0 d1 2 0.8 t\nq2 Q0 d3 1 0.5 t\n"

FRAME = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["d2", "d1", "d3"],
        "score": [0.9, 0.8, 0.5],
    }
)


def rr(run: Any, **options: Any) -> dict[str, dict[str, float | None]]:
    return rankstone.evaluate(QRELS, {"run": run}, "RR", **options).to_dict()


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


OBJECTS: dict[str, object] = {
    "dict": RUN,
    "ordered lists": {"q1": ["d2", "d1"], "q2": ["d3"]},
    "polars": FRAME,
    "polars lazy": FRAME.lazy(),
    "pandas": FRAME.to_pandas(),
    "pandas object strings": FRAME.to_pandas().astype(
        {"query_id": object, "doc_id": object}
    ),
    "pyarrow": FRAME.to_arrow(),
    "pyarrow batches": pa.table(FRAME.to_arrow()).combine_chunks(),
    "categorical": FRAME.with_columns(
        pl.col("query_id", "doc_id").cast(pl.Categorical)
    ),
    "arrays": (
        ["q1", "q1", "q2"],
        np.array(["d2", "d1", "d3"]),
        np.array([0.9, 0.8, 0.5]),
    ),
    "float32 scores": FRAME.with_columns(pl.col("score").cast(pl.Float32)),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_object_reads_alike(kind: str) -> None:
    """A run is the same run whatever library holds it."""
    assert rr(OBJECTS[kind]) == EXPECTED


def test_duckdb_relations_are_read_through_arrow() -> None:
    """A DuckDB relation is a run."""
    connection = duckdb.connect()
    connection.register("frame", FRAME.to_arrow())

    assert rr(connection.sql("SELECT * FROM frame")) == EXPECTED


def test_pandas_is_not_imported_for_polars_input() -> None:
    """No frame library is imported that the user has not imported."""
    import subprocess
    import sys

    code = (
        "import sys, rankstone; rankstone.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}}, 'RR AP nDCG@10');"
        "print(sorted({'pandas', 'scipy', 'pyarrow', 'pyspark', 'torch', 'altair', 'sklearn', 'duckdb'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "text",
    [
        RUN_TEXT,
        RUN_TEXT.replace(" ", "\t"),
        RUN_TEXT.replace(" ", "  \t "),
        RUN_TEXT.replace("\n", "\r\n"),
        RUN_TEXT.replace(" t\n", " t extra columns\n"),
        "# a comment\n" + RUN_TEXT + "\n# the end\n",
        "\n \n" + RUN_TEXT.rstrip("\n"),
        "\ufeff" + RUN_TEXT,
        "q1\tQ0 d2  1 0.9 t\n  q1 Q0 d1 2 8e-1 t\nq2 Q0 d3 1 5e-1 t\n",
    ],
    ids=[
        "blanks",
        "tabs",
        "several",
        "crlf",
        "trailing",
        "comments",
        "empty lines",
        "bom",
        "mixed",
    ],
)
def test_trec_text_in_all_its_forms(tmp_path: Path, text: str) -> None:
    """Blanks, tabs, CRLF, comments and trailing columns make no difference."""
    assert rr(write(tmp_path / "a.run", text)) == EXPECTED


def test_a_quote_in_an_id_is_part_of_the_id(tmp_path: Path) -> None:
    """Quotes in TREC text are characters like any other; leading zeros stay."""
    run = write(tmp_path / "a.run", 'q"1 Q0 "d1 1 0.9 t\nq"1 Q0 01 2 0.8 t\n')

    assert rankstone.evaluate({'q"1': {"01": 1}}, {"run": run}, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }


def test_comment_lines_are_counted(tmp_path: Path) -> None:
    """The audit says how many comment lines were passed over."""
    qrels = write(tmp_path / "q.txt", "# one\n" + QRELS_TEXT + "# two\n")
    audit = rankstone.evaluate(
        qrels, {"run": write(tmp_path / "r.txt", "#\n" + RUN_TEXT)}, "RR"
    ).audit

    assert audit.judgments is not None
    assert (audit.judgments.comments, audit.runs["run"].comments) == (2, 1)


def test_compressed_files(tmp_path: Path) -> None:
    """Files ending in .gz and .zst are looked through, text and tables alike."""
    packed = tmp_path / "a.run.gz"
    packed.write_bytes(gzip.compress(RUN_TEXT.encode()))
    csv = tmp_path / "a.csv.zst"
    FRAME.lazy().sink_csv(csv, compression="zstd")

    assert rr(packed) == EXPECTED
    assert rr(csv) == EXPECTED


def test_packed_text_is_read_alike_however_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unpacked in memory, or looked through where that would be much: the same; a torn file is reported."""
    packed = tmp_path / "a.run.gz"
    packed.write_bytes(gzip.compress(RUN_TEXT.replace(" ", "\t").encode()))
    assert rr(packed) == EXPECTED

    monkeypatch.setattr("rankstone.io.trec_text._INFLATED", 10)
    assert rr(packed) == EXPECTED

    (tmp_path / "torn.run.gz").write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(InputError, match=r"torn\.run\.gz"):
        rr(tmp_path / "torn.run.gz")


def test_tables_by_suffix(tmp_path: Path) -> None:
    """CSV, TSV, JSON lines, Parquet and Arrow, file and stream, are distinguished by suffix."""
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.write_csv(tmp_path / "a.tsv", separator="\t")
    FRAME.write_ndjson(tmp_path / "a.jsonl")
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.write_ipc(tmp_path / "a.arrow")
    FRAME.write_ipc_stream(tmp_path / "b.arrow")

    for path in sorted(tmp_path.iterdir()):
        assert rr(path) == EXPECTED, path.name


def test_binary_tables_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    """Parquet and Arrow say what they are, whatever the file is called."""
    FRAME.write_parquet(tmp_path / "parquet.csv")
    FRAME.write_ipc(tmp_path / "arrow.run")
    for path in tmp_path.iterdir():
        assert format_of(path) == path.stem
        assert rr(path) == EXPECTED, path.name


def test_parts_in_a_folder_or_glob_are_one_run(tmp_path: Path) -> None:
    """A folder and a glob read as one table, parts in the order of their names."""
    for number, part in enumerate(FRAME.iter_slices(1)):
        part.write_parquet(tmp_path / f"part-{number}.parquet")

    assert rr(tmp_path) == EXPECTED
    assert rr(str(tmp_path / "part-*.parquet")) == EXPECTED


def test_json_of_one_object(tmp_path: Path) -> None:
    """{query: {doc: number}}, {query: [doc, …]} and records are read from .json files, packed ones too."""
    dicts = write(tmp_path / "run.json", json.dumps(RUN, indent=1))
    lists = write(tmp_path / "lists.json", '\ufeff{"q1": ["d2", "d1"], "q2": ["d3"]}')
    rows = write(tmp_path / "rows.json", json.dumps(FRAME.to_dicts()))
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(json.dumps(RUN).encode()))
    qrels = write(tmp_path / "qrels.json", json.dumps(QRELS))

    for run in (dicts, lists, rows, tmp_path / "packed.json.gz"):
        assert rankstone.evaluate(qrels, {"run": run}, "RR").to_dict() == EXPECTED
    named = write(tmp_path / "run.txt", json.dumps(RUN))
    assert (
        rankstone.evaluate(
            qrels, {"run": read_run(named, None, "json")}, "RR"
        ).to_dict()
        == EXPECTED
    )


def test_keys_of_json_match_whole_numbers(tmp_path: Path) -> None:
    """JSON writes every key as text: "7" is the 7 of a column of whole numbers."""
    run = write(tmp_path / "run.json", '{"1": {"7": 0.5}}')
    qrels = pl.DataFrame({"query_id": [1], "doc_id": [7], "relevance": [1]})

    assert rankstone.evaluate(qrels, {"run": run}, "RR").to_dict() == {
        "run": {"RR": 1.0}
    }


def test_tables_beside_from_json(tmp_path: Path) -> None:
    """Queries, subtopics, their weights and pairs to exclude may be JSON, too."""
    queries = write(
        tmp_path / "queries.json", '{"q1": {"country": "de"}, "q2": {"country": "fr"}}'
    )
    exclude = write(tmp_path / "exclude.json", '{"q1": ["d2"]}')
    scores = rankstone.evaluate(QRELS, RUN, "RR", queries=queries, exclude=exclude)
    assert scores.mean(by="country").select("country", "value").rows() == [
        ("de", 1.0),
        ("fr", 1.0),
    ]

    grouped = write(tmp_path / "grouped.json", '{"q": {"a": {"1": 1}, "b": {"2": 1}}}')
    intents = write(tmp_path / "intents.json", '{"q": {"1": 3, "2": 1}}')
    record = rankstone.evaluate(
        grouped, {"q": ["a"]}, "P_IA@1", intents=intents
    ).to_dict()
    assert (
        record
        == rankstone.evaluate(
            {"q": {"a": {"1": 1}, "b": {"2": 1}}},
            {"q": ["a"]},
            "P_IA@1",
            intents={"q": {"1": 3, "2": 1}},
        ).to_dict()
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("{}", "the file has no data"),
        ("[1]", "a list with 1"),
        ("7", "this JSON is not a table"),
        ('{"q1": {"d1": 1}', "a.json:1: this is not JSON"),
        ('{"q1": {"d1": 1}}\n{"q2": {"d1": 1}}', "the JSON continues after its object"),
        ('{"q1": {"d1": 1, "d1": 2}}', "d1 occurs twice in one object"),
        ('{"q1": {"d1": "high"}}', "the score 'high' is not a number"),
        ("[" * 100_000, "this JSON cannot be read"),
        ('{"q1": {"d1": ' + "9" * 5000 + "}}", "this JSON cannot be read"),
    ],
)
def test_json_that_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    """What is wrong, and in which file; a key twice would lose the first."""
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        rr(write(tmp_path / "a.json", text))
    assert "a.json" in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"q1": {"d1": 1}}',
        '{\n"q1": ["d1"]}',
        '{"q1": ["d1"]}',
        '[{"query_id": "q1", "doc_id": "d1", "score": 1}]',
        '{"query_id": "q1", "doc_id": "d1", "score": 1}',
    ],
)
def test_json_elsewhere_is_read(tmp_path: Path, text: str) -> None:
    """A name that says nothing, or something else, is no evidence."""
    qrels = {"q1": {"d1": 1}}
    for name in ("a.txt", "a.csv"):
        scores = rankstone.evaluate(qrels, write(tmp_path / name, text), "RR")
        assert scores.to_dict()["a"] == {"RR": 1.0}


@pytest.mark.parametrize(
    ("text", "name"),
    [('{"q1": {"d1": 1}}', "json"), ('{"query_id": "q1", "doc_id": "d1"}', "jsonl")],
)
def test_packed_json_elsewhere_is_named(tmp_path: Path, text: str, name: str) -> None:
    """A packed file is not opened to guess its format: the message says what it is."""
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match=rf"format_in='{name}'|ends in \.{name}$"):
        rr(path)


def test_lines_that_end_in_carriage_returns_are_refused(tmp_path: Path) -> None:
    """A file of such lines would pass for its first line; CRLF is fine."""
    assert rr(write(tmp_path / "crlf.run", RUN_TEXT.replace("\n", "\r\n"))) == EXPECTED
    with pytest.raises(
        BadLine, match=r"cr\.run:1: there is a carriage return within the line"
    ):
        rr(write(tmp_path / "cr.run", RUN_TEXT.replace("\n", "\r")))


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_two_bytes_a_character(tmp_path: Path, code: str) -> None:
    """Some shells write UTF-16 where output is sent to a file: TREC text is read, and the audit says so."""
    path = tmp_path / "a.run"
    path.write_bytes(("\ufeff" + RUN_TEXT.replace("\n", "\r\n")).encode(code))

    scores = rankstone.evaluate(QRELS, path, "RR")
    assert scores.to_dict()["a"] == rr(RUN)["run"]
    assert "read as: UTF-16" in scores.audit.lines()[1]
    path.write_bytes("\ufeffq1 Q0 d1 1 2 t\nq1 Q0 d1\n".encode(code))
    with pytest.raises(BadLine, match=r"a\.run:2: the line has too few columns"):
        rr(path)
    path.write_bytes("\ufeffq1".encode(code) + b"\x00")
    with pytest.raises(InputError, match="it is not valid UTF-16"):
        rr(path)
    path.write_bytes("\ufeff".encode(code))
    with pytest.raises(InputError, match="empty"):
        rr(path)


def test_two_bytes_a_character_are_refused_in_json_lines(tmp_path: Path) -> None:
    """The message has the command that converts them."""
    path = tmp_path / "a.jsonl"
    row = '{"query_id": "q1", "doc_id": "d1", "score": 1}'
    path.write_bytes(row.encode("utf-16"))

    with pytest.raises(InputError, match="iconv -f utf-16 -t utf-8"):
        rr(path)


def test_pairs_to_exclude_come_in_many_shapes(tmp_path: Path) -> None:
    """A table, judgments, a run, JSON, or a dict of any collection of documents."""
    shapes: list[object] = [
        write(tmp_path / "e.csv", "query_id,doc_id\nq1,d2\n"),
        write(tmp_path / "e.qrels", "q1 0 d2 1\n"),
        write(tmp_path / "e.run", "q1 Q0 d2 1 0.5 t\n"),
        write(tmp_path / "e.json", '{"q1": {"d2": 1}}'),
        {"q1": {"d2"}},
        {"q1": ("d2",)},
        {"q1": {"d2": 3}},
        FRAME[:1],
    ]
    for shape in shapes:
        assert rr(RUN, exclude=shape) == {"run": {"RR": 1.0}}, shape
    with pytest.raises(
        BadLine, match=r"or a table \(\.csv, …\) with query_id and doc_id"
    ):
        rr(RUN, exclude=write(tmp_path / "two.txt", "q1 d2\n"))
    with pytest.raises(InputError, match="the documents of a query are no list"):
        rr(RUN, exclude={"q1": "d2"})


HEAD = "query_id,doc_id,score\n"
OBJECT = '{"query_id": "q1", "doc_id": "d1", "score": 1}'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.csv",
            f"{HEAD}q1,d1,1\nq1,d2,1,7\n",
            "a.csv:3: the row has 4 columns, and the header 3",
        ),
        (
            "a.tsv",
            HEAD.replace(",", "\t") + "q1\td1\t1\t\t\n",
            "a.tsv:2: the row has 5 columns",
        ),
        (
            "a.csv",
            f'{HEAD}q1,"d1,1\n',
            "a.csv:2: a quoted text is not closed correctly",
        ),
        (
            "a.csv",
            "query_id,x,doc_id,score,y\nq1,a, b,d1,1,7\n",
            "a.csv:2: the row has 6 columns",
        ),
        (
            "a.csv",
            "query_id,doc_id,doc_id,score\nq1,d1,d2,1\n",
            "a.csv:1: the header has doc_id twice",
        ),
        (
            "a.jsonl",
            f"{OBJECT}\n\n{{oops\n",
            "a.jsonl:3: the line is not a JSON object",
        ),
        ("a.jsonl", f"{OBJECT}\n[1]\n", "a.jsonl:2: the line is not a JSON object"),
    ],
)
def test_rows_that_do_not_go_with_the_others(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    """The line is named, though the reader that is fast does not know it; packed files are no different."""
    with pytest.raises(BadLine, match=re.escape(message)):
        rr(write(tmp_path / name, text))
    packed = tmp_path / f"packed-{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(BadLine, match=re.escape(message.partition(":")[2])):
        rr(packed)


def test_columns_twice_that_are_not_read(tmp_path: Path) -> None:
    """Only a column that counts must be there once."""
    path = write(
        tmp_path / "a.csv",
        "query_id,doc_id,score,x,x\nq1,d1,1,,\nq1,d2,2,,\nq2,d3,1,,\n",
    )
    assert rr(path) == EXPECTED
    twice = write(tmp_path / "b.csv", "query_id,doc,doc,score\nq1,d1,d1,1\n")
    with pytest.raises(BadLine, match="the header has doc twice"):
        rr(twice, columns={"doc": "doc_id"})


def test_tables_beside_runs_have_a_format_of_their_own(tmp_path: Path) -> None:
    """TREC is no format of tables with column names: these go by their suffix."""
    path = write(tmp_path / "queries.csv", "query_id,country\nq1,de\n")
    assert read_attributes(path, "query_id", None, "trec").columns == ("country",)


def test_column_names_by_option() -> None:
    """Recommendation names map onto ours."""
    ratings = pl.DataFrame(
        {"user_id": [1, 1], "item_id": [10, 20], "rating": [0.0, 4.5]}
    )
    recommended = pl.DataFrame(
        {"user_id": [1, 1], "item_id": [10, 20], "score": [2.0, 1.0]}
    )
    columns = {"user_id": "query_id", "item_id": "doc_id", "rating": "relevance"}

    assert rankstone.evaluate(
        ratings, recommended, "RR", columns=columns
    ).to_dict() == {"run": {"RR": 1 / 2}}


def test_a_missing_column_suggests_the_option() -> None:
    """A table with other names gets the option that would name them."""
    frame = pl.DataFrame({"user": ["a"], "item_id": ["b"], "rating": [1]})

    with pytest.raises(
        MissingColumn,
        match=r"(?s)no column query_id.*'user': 'query_id', 'item_id': 'doc_id'",
    ):
        read_judgments(frame)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("q1 Q0 d1 1 abc t\n", 1, "score 'abc' is not a number"),
        (RUN_TEXT + "q2 Q0 d9\n", 4, "too few columns"),
        ("# c\n\n" + RUN_TEXT + "q2 Q0 d9 2 x t\n", 6, "score 'x' is not a number"),
        ("q1  Q0 d1 1 0.5 t\nq1 Q0 d2 1\n", 2, "too few columns"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, line: int, what: str) -> None:
    """A line that cannot be read is named by file and number, and shown."""
    path = write(tmp_path / "bad.run", text)

    with pytest.raises(BadLine) as caught:
        rr(path)

    assert caught.value.where == f"{path}:{line}"
    assert what in caught.value.what
    assert caught.value.expected == "query_id Q0 doc_id rank score tag"


def test_a_bad_grade_is_named(tmp_path: Path) -> None:
    """Judgments with a word for a grade say so."""
    path = write(tmp_path / "bad.qrels", "q1 0 d1 2\nq1 0 d2 high\n")

    with pytest.raises(
        BadLine, match=r"bad.qrels:2: the relevance 'high' is not a number"
    ):
        rankstone.evaluate(path, {"run": RUN}, "RR")


def test_a_bad_number_in_csv_is_named(tmp_path: Path) -> None:
    """CSV lines are counted with the header."""
    path = write(tmp_path / "bad.csv", "query_id,doc_id,score\nq1,d1,0.5\nq1,d2,oops\n")

    with pytest.raises(BadLine, match=r"bad.csv:3: the score 'oops' is not a number"):
        rr(path)


@pytest.mark.parametrize("form", ["trec", "csv", "parquet", "jsonl"])
def test_nan_scores_are_refused_with_their_place(tmp_path: Path, form: str) -> None:
    """A NaN score is an error with file and row or line, never a rank."""
    path = tmp_path / f"a.{form}"
    frame = FRAME.with_columns(score=pl.Series([0.9, float("nan"), 0.5]))
    if form == "trec":
        path.write_text("q1 Q0 d2 1 0.9 t\nq1 Q0 d1 2 nan t\n")
    elif form == "jsonl":
        path.write_text(
            '{"query_id":"q1","doc_id":"d2","score":0.9}\n{"query_id":"q1","doc_id":"d1","score":null}\n'
        )
    else:
        getattr(frame, f"write_{form}")(path)
    place = {"trec": ":2", "csv": ":3", "parquet": ", row 2", "jsonl": ":2"}[form]

    with pytest.raises(BadValue) as caught:
        rr(path)

    assert caught.value.where == f"{path}{place}"
    assert caught.value.given == "query q1, document d1"


def test_a_judgment_that_is_no_number_is_refused() -> None:
    """A NaN or infinite grade is an error, a NaN never enters a mean."""
    for grade in (float("nan"), float("inf")):
        with pytest.raises(BadValue, match=r"is empty or nan|is inf, not a number"):
            rankstone.evaluate({"q1": {"d1": grade}}, RUN, "RR")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_an_empty_file_is_an_error(tmp_path: Path, text: str) -> None:
    """A run or qrels file with nothing in it is refused by name."""
    path = write(tmp_path / "empty.txt", text)

    with pytest.raises(EmptyInput, match=r"empty\.txt"):
        rr(path)
    with pytest.raises(EmptyInput, match=r"empty\.txt"):
        rankstone.evaluate(path, {"run": RUN}, "RR")


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    """A misspelt path names the nearest file."""
    write(tmp_path / "qrels.txt", QRELS_TEXT)

    with pytest.raises(InputError, match=r"(?s)no such file.*did you mean .*qrels.txt"):
        read_judgments(tmp_path / "qrel.txt")


def test_a_broken_parquet_file_is_no_traceback(tmp_path: Path) -> None:
    """A truncated binary file is an input error that names it."""
    path = tmp_path / "cut.parquet"
    whole = io.BytesIO()
    FRAME.write_parquet(whole)
    path.write_bytes(whole.getvalue()[:40])

    with pytest.raises(InputError, match=r"cut.parquet: the file is damaged"):
        rr(path)


def test_csv_under_another_name_is_recognised(tmp_path: Path) -> None:
    """A header with query_id shows a table, whatever the file is called."""
    path = write(tmp_path / "a.txt", "query_id,doc_id,score,more\nq1,d1,3,4\n")

    assert rr(path) == rr(write(tmp_path / "b.csv", path.read_text()))


def test_unknown_format_names() -> None:
    """An unknown format is refused with the nearest."""
    with pytest.raises(UsageError, match="did you mean parquet"):
        read_run("x", format_in="parket")


def test_mixed_ids_are_refused() -> None:
    """Integers against texts never match, so they are an error, within a dict and between sides."""
    with pytest.raises(
        MixedIds, match=r"(?s)text and whole number|whole number and text"
    ):
        rr({"q1": {"d1": 1.0, 2: 0.5}})
    with pytest.raises(MixedIds, match=r"(?s)doc_id has two types.*whole numbers"):
        rankstone.evaluate({"q1": {"d1": 1}}, {"q1": {1: 0.5}}, "RR")


def test_grades_beyond_what_is_exact_are_refused() -> None:
    """Above and below zero."""
    for grade in (1e300, -1e300, 2.0**53 + 2, float("nan")):
        with pytest.raises(BadValue, match="a judgment's grade is"):
            rankstone.evaluate({"q1": {"d1": grade, "d2": 1}}, RUN, "RR")


def test_an_id_that_is_none_is_no_text() -> None:
    """Written as text it would be a document called None: no such advice."""
    with pytest.raises(MixedIds, match="holds nothing and text") as caught:
        rankstone.evaluate(QRELS, {"q1": ["d1", None]}, "RR")
    assert "as texts" not in str(caught.value)
    with pytest.raises(MixedIds, match="holds fraction and text") as caught:
        rankstone.evaluate(QRELS, {"q1": ["d1", 1.5]}, "RR")
    assert "write all of them as texts" in str(caught.value)


def test_numbers_in_text_files_match_whole_numbers(tmp_path: Path) -> None:
    """Ids in text files have no type: 7 in a TREC file is the 7 of a Parquet column."""
    qrels = write(tmp_path / "q.txt", "1 0 7 1\n")
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": [8, 7], "score": [2.0, 1.0]})
    text = write(tmp_path / "r.txt", "1 Q0 8 1 2 t\n1 Q0 7 2 1 t\n")
    numbers = pl.DataFrame({"query_id": [1], "doc_id": [7], "relevance": [1]})

    assert rankstone.evaluate(qrels, {"run": run}, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }
    assert rankstone.evaluate(numbers, {"run": text}, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }


def test_integers_tie_by_their_decimal_text() -> None:
    """With equal scores 9 comes before 10: '9' is the larger text, on every id type."""
    numbers = {1: {9: 1.0, 10: 1.0}}
    texts = {"1": {"9": 1.0, "10": 1.0}}

    assert rankstone.evaluate({1: {9: 1}}, numbers, "RR").to_dict() == {
        "run": {"RR": 1.0}
    }
    assert rankstone.evaluate({"1": {"9": 1}}, texts, "RR").to_dict() == {
        "run": {"RR": 1.0}
    }


LARGE = 2**63 + 5


@pytest.mark.parametrize(
    "qrels",
    [
        {1: {LARGE: 1}},
        (np.array([1], np.uint64), np.array([LARGE], np.uint64), [1]),
        pl.DataFrame(
            {
                "query_id": [1],
                "doc_id": pl.Series([LARGE], dtype=pl.UInt64),
                "relevance": [1],
            }
        ),
        pl.DataFrame(
            {
                "query_id": [1],
                "doc_id": pl.Series([LARGE], dtype=pl.Int128),
                "relevance": [1],
            }
        ),
        pd.DataFrame(
            {"query_id": [1], "doc_id": np.array([LARGE], np.uint64), "relevance": [1]}
        ),
    ],
    ids=["dict", "arrays", "UInt64", "Int128", "pandas"],
)
def test_whole_numbers_of_more_than_63_bits_are_ids(qrels: Any, tmp_path: Path) -> None:
    """Hashes are ids, too: they match whatever writes the same number, and tie by their decimal text."""
    small = {1: {LARGE - 1: 1.0, LARGE: 1.0, 7: 1.0}}
    text = write(
        tmp_path / "a.run",
        f"1 Q0 {LARGE - 1} 1 1 t\n1 Q0 {LARGE} 2 1 t\n1 Q0 7 3 1 t\n",
    )
    arrays = ([1, 1, 1], np.array([LARGE - 1, LARGE, 7], np.uint64), [1.0, 1.0, 1.0])
    for run in (small, text, arrays):
        scores = rankstone.evaluate(qrels, {"run": run}, "RR NumRet", no_results="zero")
        assert scores.to_dict() == {"run": {"RR": 1.0, "NumRet": 3.0}}
    assert rankstone.evaluate(qrels, {1: [7, LARGE]}, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }
    empty = rankstone.evaluate(
        {LARGE: {1: 1}}, {LARGE: [], 2: [1]}, "NumRet", no_results="zero"
    )
    assert empty.per_query["status"].to_list() == ["ok"]


def test_tied_texts_compare_by_their_bytes() -> None:
    """Ids compare by UTF-8 bytes, so é (0xC3 …) comes after z and before 中 under docid_desc."""
    run = {"q": {"é": 1.0, "z": 1.0, "中": 1.0}}

    assert rankstone.evaluate({"q": {"é": 1}}, run, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }


def test_runs_are_named_after_their_files(tmp_path: Path) -> None:
    """A list of paths becomes runs by stem."""
    first, second = (
        write(tmp_path / "a.run", RUN_TEXT),
        write(tmp_path / "b.run.txt", RUN_TEXT),
    )

    assert list(rankstone.evaluate(QRELS, [first, second], "RR").runs) == ["a", "b"]


def test_what_is_no_table_is_refused() -> None:
    """An object that cannot be read says what can."""
    with pytest.raises(
        InputError, match=r"(?s)an object of type int cannot be read.*expected"
    ):
        read_run(17)
    with pytest.raises(InputError, match="different types"):
        rr({"q1": {"d1": 1.0}, "q2": ["d1"]})
    with pytest.raises(EmptyInput):
        rr({})


def test_two_columns_cannot_both_be_one() -> None:
    """Renaming two columns to the same name is a usage error."""
    frame = FRAME.rename({"query_id": "a"}).with_columns(b=pl.col("a"))

    with pytest.raises(UsageError, match="both renamed to query_id"):
        rr(frame, columns={"a": "query_id", "b": "query_id"})


def test_pandas_frames_need_no_pyarrow_types() -> None:
    """Integer ids of a pandas frame stay integers."""
    run = pd.DataFrame({"query_id": [1, 1], "doc_id": [3, 4], "score": [1.0, 2.0]})

    assert rankstone.evaluate({1: {3: 1}}, run, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }


_WITHOUT_PYARROW = """
import sys
from datetime import datetime, timedelta, timezone
sys.modules["pyarrow"] = None
import pandas as pd, polars as pl, rankstone
from rankstone.online import retention
from rankstone.io import read_attributes, read_events

days = [datetime(2024, 3, 30, 23, 30), datetime(2024, 3, 31, 23, 30), datetime(2024, 3, 30), None]
log = {"user_id": ["a", "a", "b", "b"], "time": days, "app": ["x", "x", "y", "y"]}
told = [retention(of(log), "1", by="app", invalid="drop").cohorts for of in (pd.DataFrame, pl.DataFrame)]
assert told[0].equals(told[1]) and told[0].height

half = timezone(timedelta(hours=5, minutes=30))
for zone, name in (("Europe/Berlin",) * 2, (timezone(timedelta(hours=-2)), "Etc/GMT+2"), (half, "UTC")):
    moments = pd.Series(days).dt.tz_localize("UTC").dt.tz_convert(zone)
    read = read_events(pd.DataFrame(log).assign(time=moments))
    assert read.schema["time"].time_zone == name
    moments = read.frame.select(pl.col("time").dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    assert moments.collect()["time"].to_list() == days

items = pd.DataFrame({"doc_id": ["d1", "d2"], "price": [1.5, None], "shop": pd.Categorical(["s", None])})
read = read_attributes(items, "doc_id").frame.select("doc_id", "price", "shop").collect()
assert read.rows() == [("d1", 1.5, "s"), ("d2", None, None)]
"""


def test_pandas_needs_no_pyarrow() -> None:
    """Logs and attributes of pandas are read without PyArrow: moments stay what they are, NaN is missing."""
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_PYARROW],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_columns_that_are_not_needed_may_hold_anything() -> None:
    """A text column called rank or score in the judgments does not matter."""
    qrels = pl.DataFrame(
        {"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1], "rank": ["first"]}
    )

    assert rankstone.evaluate(qrels, {"run": RUN}, "RR").to_dict() == {
        "run": {"RR": 1 / 2}
    }
    with pytest.raises(InputError, match="rank holds texts"):
        rr(FRAME.with_columns(rank=pl.lit("first")), order="rank")


def test_renaming_wins_over_a_column_of_that_name() -> None:
    """A mapping may put one column in the place of another; label gives way to relevance."""
    run = FRAME.rename({"doc_id": "item"}).with_columns(doc_id=pl.lit("nonsense"))
    labelled = pl.DataFrame(
        {"query_id": ["q"], "score": [1.0], "label": [0], "relevance": [1]}
    )

    assert rr(run, columns={"item": "doc_id"}) == EXPECTED
    assert rankstone.evaluate(table=labelled, measures="RR").to_dict() == {
        "run": {"RR": 1.0}
    }


def test_numbers_beyond_all_scales() -> None:
    """Huge grades, ids and cutoffs are used or refused, never a crash."""
    most = {"q": {"d": 2**53}}
    assert rankstone.evaluate(most, {"q": {"d": 1}}, "AP").to_dict() == {
        "run": {"AP": 1.0}
    }
    for grade in (2**53 + 2, 10**20, 1e308, -1e308):
        with pytest.raises(
            BadValue, match=r"judgments, row 1: a judgment's grade is .*, beyond"
        ):
            rankstone.evaluate({"q": {"d": grade}}, {"q": {"d": 1}}, "AP")
        table = pl.DataFrame(
            {"query_id": ["q"], "score": [1.0], "label": [float(grade)]}
        )
        with pytest.raises(BadValue, match=r"a label is .*, beyond"):
            rankstone.evaluate(table=table, measures="AP")
    with pytest.raises(BadValue, match="beyond 128 bits"):
        rankstone.evaluate({1: {2**127: 1}}, {1: {2**127: 1.0}}, "AP")
    with pytest.raises(UsageError, match="out of range"):
        rankstone.parse_measure("P@99999999999999999999")
    for option in ("depth", "candidates"):
        with pytest.raises(UsageError, match=f"{option}=.* is out of range"):
            rr(RUN, **{option: 10**30})
    with pytest.raises(UsageError, match=r"unjudged=1e\+308 is not a grade"):
        rankstone.evaluate(QRELS, RUN, "DCG", unjudged=1e308)
    with pytest.raises(UsageError, match="is not a scale"):
        rankstone.bounds(QRELS, RUN, "AP", grades=[0, 1e308])


def test_numbers_that_cannot_be_summed() -> None:
    """A value that is no number is refused, without a warning of NumPy's on the way."""
    for measure in ("CG", "DCG", "nDCG", "Q"):
        with pytest.raises(BadParameter, match="gains from 0 to 9e15"):
            rankstone.parse_measure(f"{measure}(gain={{1: 1e308}})")


def test_texts_and_numbers_that_do_not_fit() -> None:
    """Half a character and a whole number without end are reported, as mistakes."""
    with pytest.raises(BadValue, match="half a character"):
        rankstone.evaluate({"q\ud800": {"a": 1}}, {"q\ud800": {"a": 1}}, "AP")
    with pytest.raises(BadValue, match="is not a number"):
        rankstone.evaluate({"q": {"a": 1}}, {"q": {"a": 10**400}}, "AP")


def test_files_of_another_kind_are_reported(tmp_path: Path) -> None:
    """A CSV with other separators than spreadsheets have, and text that is not UTF-8."""
    (tmp_path / "run.csv").write_text("query_id|doc_id|score\nq1|d1|1\n")
    with pytest.raises(
        MissingColumn, match=r'is "\|" the separator\? If so, csv_separator='
    ):
        rr(tmp_path / "run.csv")
    (tmp_path / "qrels.txt").write_bytes(b"q1 0 d\xff 1\n")
    with pytest.raises(InputError, match="save it as UTF-8"):
        rankstone.evaluate(tmp_path / "qrels.txt", RUN, "AP")


def test_ids_that_became_floats_are_named_by_their_type() -> None:
    """A table with missing values makes 1.0 of an id 1: the refusal says what it looks like."""
    qrels = pl.DataFrame({"query_id": [1.0], "doc_id": ["d"], "relevance": [1]})
    with pytest.raises(MixedIds) as refused:
        rankstone.evaluate(qrels, {"1": ["d"]}, "RR")
    assert refused.value.given == "numbers with a decimal point, of which 1 is 1.0"
