"""What is broken or of a wrong type is refused with its place: no traceback, and no exit as of a bug."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Final

import duckdb
import pandas as pd
import polars as pl
import pytest
from tests.rows import each

import rankstone
from rankstone.errors import InputError, RankstoneError
from rankstone.io import read_attributes, read_run

if TYPE_CHECKING:
    from pathlib import Path

QRELS: Final = {"q1": {"a": 1}, "q2": {"b": 1}}
RUN: Final = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
LINES: Final = "".join(
    f'{{"query_id": "q{q}", "doc_id": "d{d}", "score": {d}}}\n'
    for q in (1, 2)
    for d in range(400)
)


def packed(lines: bytes, form: str, folder: Path) -> bytes:
    if form == "gz":
        return gzip.compress(lines)
    pl.Series([lines.decode()]).to_frame("x").write_csv(
        folder / "x.zst",
        compression="zstd",
        include_header=False,
        quote_style="never",
        line_terminator="",
    )
    return (folder / "x.zst").read_bytes()


@pytest.mark.parametrize("form", ["gz", "zst"])
def test_torn_files(form: str, tmp_path: Path) -> None:
    """A download that ended early."""
    whole = packed(LINES.encode(), form, tmp_path)
    path = tmp_path / f"torn.jsonl.{form}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RankstoneError, match=r"torn\.jsonl"):
        rankstone.evaluate(QRELS, path, "RR")


@pytest.mark.parametrize(
    "lines",
    [
        LINES.encode().replace(b"d7", b"d\xff"),
        LINES.encode() + b"[" * 100_000 + b"\n",
        LINES.encode() + b'{"query_id": ' + b"[" * 5000 + b"]" * 5000 + b"}\n",
    ],
)
def test_bytes_that_are_no_text_and_lists_without_end(
    lines: bytes, tmp_path: Path
) -> None:
    """One byte that is not UTF-8; brackets that never close."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(lines)
    with pytest.raises(RankstoneError, match=r"bad\.jsonl"):
        rankstone.evaluate(QRELS, path, "RR")


@pytest.mark.parametrize("key", ["score", "doc_id", "query_id"])
def test_a_key_twice_in_one_object(key: str, tmp_path: Path) -> None:
    """JSON allows it, and readers keep the first or the last of them."""
    again = {"score": "9", "doc_id": '"b"', "query_id": '"q2"'}[key]
    path = tmp_path / "run.jsonl"
    path.write_text(
        f'{LINES}{{"query_id": "q1", "doc_id": "a", "score": 1, "{key}" : {again}}}\n'
    )
    with pytest.raises(RankstoneError, match=rf"run\.jsonl:801: {key} occurs twice"):
        rankstone.evaluate(QRELS, path, "RR")


def test_a_key_within_another_object_or_text_is_no_copy(tmp_path: Path) -> None:
    """Only the object of the row counts."""
    path = tmp_path / "run.jsonl"
    more = '"text": "he said \\"score\\": 1", "title": "a \\"doc_id\\""'
    path.write_text(f'{{"query_id": "q1", "doc_id": "a", "score": 1, {more}}}\n')
    assert rankstone.evaluate(QRELS, path, "RR", missing="drop").to_dict()["run"] == {
        "RR": 1.0
    }


def test_query_ids_that_begin_with_a_hash(tmp_path: Path) -> None:
    """A row is a row; what is no row is a comment, and counted."""
    (tmp_path / "qrels.txt").write_text("# query 0 doc grade\n#1 0 a 1\n#2 0 b 1\n")
    (tmp_path / "run.txt").write_text(
        "#runid bm25\n# q Q0 doc 1 2 tag\n#1 Q0 a 1 2 t\n#1 Q0 b 2 1 t\n#2 Q0 b 1 1 t\n"
    )
    scores = rankstone.evaluate(
        tmp_path / "qrels.txt", tmp_path / "run.txt", "RR NumRet"
    )
    assert scores.to_dict()["run"] == {"RR": 1.0, "NumRet": 3.0}
    assert "1 comment line\n" in str(scores.audit)
    assert "2 comment lines" in str(scores.audit)


GATE: Final = """[gate]
qrels = "qrels.txt"
baseline = "a.txt"
candidate = "b.txt"
{gate}
[gate.statistics]
{statistics}
[gate.options]
{options}
[[gate.rules]]
measure = "RR"
margin = 0.5
"""


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("statistics", 'confidence = "0.9"'),
        ("statistics", "test = 3"),
        ("statistics", "seed = 1.5"),
        ("statistics", "margin = true"),
        ("options", "convention = []"),
        ("options", "columns = 3"),
        ("options", "columns = {{ a = 1 }}"),
        ("options", "exclude = [1]"),
        ("options", "depth = 'x'"),
        ("gate", "by = 0"),
        ("gate", "by = [1]"),
        ("gate", "cluster = 3"),
        ("gate", "queries = []"),
        ("gate", "inconclusive = 4"),
        ("gate", "guards = 3"),
    ],
)
def test_gate_files_with_wrong_types(table: str, line: str, tmp_path: Path) -> None:
    """Every name of a gate file has a type, and the message names file and option."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("q1 Q0 a 1 2 t\nq2 Q0 b 1 1 t\n")
    tables = {
        "gate": "",
        "statistics": "",
        "options": "",
        table: line.replace("{{", "{").replace("}}", "}"),
    }
    (tmp_path / "gate.toml").write_text(GATE.format(**tables))
    with pytest.raises(RankstoneError) as caught:
        rankstone.gate(tmp_path / "gate.toml")
    assert "gate.toml" in str(caught.value)
    assert line.partition(" ")[0] in str(caught.value)


def test_a_gate_file_is_a_table(tmp_path: Path) -> None:
    """What stands under [gate] is checked before anything is read."""
    for text in ("gate = 3", "[tool]\nrankstone = 1", "gate = " + "[" * 5000):
        path = tmp_path / ("pyproject.toml" if "tool" in text else "gate.toml")
        path.write_text(text)
        with pytest.raises(RankstoneError, match=r"toml|rankstone"):
            rankstone.gate(path)


def test_a_gate_may_cut_lists_itself(tmp_path: Path) -> None:
    """``depth`` of the options, and the cutoff of a rule's measure, whichever is less."""
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{index} 0 a 1\n" for index in range(9))
    )
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"q{index} Q0 a 1 2 t\n" for index in range(9))
        )
    (tmp_path / "gate.toml").write_text(
        GATE.format(gate="", statistics="", options="depth = 2")
    )
    assert rankstone.gate(tmp_path / "gate.toml").verdict


@pytest.mark.parametrize("folder", ["", "collections/"])
def test_a_gate_file_names_tables_of_databases(folder: str, tmp_path: Path) -> None:
    """An address is one of a database, and its file stands beside the configuration, as other files do."""
    (tmp_path / folder).mkdir(exist_ok=True)
    with duckdb.connect(str(tmp_path / folder / "all.db")) as connection:
        rows = "SELECT 'q' || i AS query_id, 'a' AS doc_id, 1 AS relevance FROM range(9) r(i)"
        connection.execute(f"CREATE TABLE qrels AS {rows}")
        connection.execute(
            "CREATE TABLE run AS SELECT query_id, doc_id, 2.0 AS score FROM qrels"
        )
    text = GATE.format(gate="", statistics="", options="")
    for file, table in (("qrels.txt", "qrels"), ("a.txt", "run"), ("b.txt", "run")):
        text = text.replace(file, f"duckdb:{folder}all.db#{table}")
    (tmp_path / "gate.toml").write_text(text)
    assert rankstone.gate(tmp_path / "gate.toml").verdict == "pass"


@pytest.mark.parametrize(
    "row", ['"measure": null', '"measure": ["RR"]', '"measure": "RR", "run": null']
)
def test_saved_scores(row: str, tmp_path: Path) -> None:
    """A row without a name for its measure or run, or with a list for one."""
    path = tmp_path / "scores.jsonl"
    rows = [
        f'{{"run": "{r}", "query_id": "{q}", "measure": "RR", "value": 1.0}}\n'
        for r in "ab"
        for q in "xyz"
    ]
    path.write_text(
        "".join(rows)
        + f'{{"run": "a", "query_id": "w", {row}, "value": 1.0}}\n'.replace(
            '"run": "a", "query_id": "w", "measure": "RR", "run"',
            '"query_id": "w", "measure": "RR", "run"',
        )
    )
    with pytest.raises(RankstoneError, match=r"scores\.jsonl"):
        rankstone.compare_scores(path)


@each(
    "text",
    [
        "set_F.-1",
        "F(beta=1e308)",
        "F(beta=nan)",
        "IAP(levels=-inf)",
        "IAP(levels=1e8)",
        "nDCG(gain={1: 1e308})",
        "Compat(p=0.9, normalize={0.5, nan})",
        "RBP(p=0.8, k=3)@1e30",
    ],
)
def test_parameters_out_of_bounds(text: str) -> None:
    """Every number of a measure has bounds."""
    with pytest.raises(RankstoneError):
        rankstone.evaluate(QRELS, RUN, text)


def test_every_number_of_every_measure_has_bounds() -> None:
    """Whatever is declared as a number refuses what no number of the field is."""
    from dataclasses import fields

    for name, kind in rankstone.measures.MEASURES.items():
        for declared in fields(kind):
            rules = declared.metadata
            if rules.get("low") is None and rules.get("above") is None:
                continue
            assert rules["high"] is not None or rules["below"] is not None, (
                f"{name}.{declared.name}"
            )
            for wrong in ("1e308", "-1e308", "inf", "nan"):
                with pytest.raises(RankstoneError):
                    rankstone.parse_measure(f"{name}({declared.name}={wrong})")


def test_weights_beyond_all_sums() -> None:
    """A weighted mean of such would be no number."""
    queries = {"q1": {"weight": 1e308}, "q2": {"weight": 1e308}}
    with pytest.raises(RankstoneError, match="weight"):
        rankstone.evaluate(QRELS, RUN, "AP(agg=weighted)", queries=queries)


def test_a_frame_with_a_column_twice() -> None:
    """Pandas allows it."""
    frame = pd.DataFrame(
        [["q1", "a", 1.0, 2.0]], columns=["query_id", "doc_id", "score", "score"]
    )
    with pytest.raises(RankstoneError, match="score"):
        rankstone.evaluate(QRELS, frame, "RR")


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_what_is_wrong_is_in_words(tmp_path: Path, suffix: str) -> None:
    """The message is not that of a library's code."""
    table = pl.DataFrame({"query_id": ["q"] * 99, "doc_id": ["d"] * 99, "score": 1.0})
    path = tmp_path / f"run.{suffix}"
    write = table.write_parquet if suffix == "parquet" else table.write_ipc
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(InputError, match="is damaged: its end is missing"):
        read_run(path).collect()


def test_values_of_different_kinds(tmp_path: Path) -> None:
    """The types of another library are not named."""
    lines = [
        '{"query_id": "q", "doc_id": {"a": 1}}',
        '{"query_id": "q", "doc_id": [[1]]}',
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "run.jsonl").collect()
    assert "supertype" not in str(error.value)


@each(
    ("name", "text", "where", "what", "fix"),
    [
        ("a.csv", "query_id,x\nq1,1\nq2,1,2\n", "a.csv:3", "3 columns", "into quotes"),
        ("a.csv", "query_id,x\nq1,1,\n", "a.csv:2", "3 columns", "delete the sep"),
        ("a.tsv", "query_id\tx\nq1\t1\t2\n", "a.tsv:2", "3 columns", "into quotes"),
        ("a.csv", 'query_id,x\nq1,"1\n\nq2,1\n', "a.csv:2", "not closed", ""),
        ("a.csv", 'query_id,x\nq1,"1"2\nq2,1\n', "a.csv:2", "not closed", ""),
        ("a.jsonl", '{"query_id": "q1"}\n{"query_\n', "a.jsonl:2", "within a text", ""),
        ("a.jsonl", '{"query_id": "q1", "x": NaN}\n', "a.jsonl:1", "NaN is no", ""),
        ("a.jsonl", '{"query_id": "q1", "x": 1e999}\n', "a.jsonl:1", "1e999 is no", ""),
        ("a.json", '[{"query_id": "q1",\n"x": 1}', "a.json:2", "too early", "copy or"),
        (
            "a.json",
            '[{"query_id": "q1", "x": 1}, {"query_id": "q2", "x": {"y": 1}}]',
            "a.json, row 2",
            "x is an object, and a number above",
            "",
        ),
    ],
)
def test_rows_of_tables_of_attributes(
    name: str, text: str, where: str, what: str, fix: str, tmp_path: Path
) -> None:
    """A line is named in every table, as it is in judgments and runs."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=what) as error:
        read_attributes(path, "query_id").collect("x")
    assert str(error.value.where).endswith(where)
    assert fix in (error.value.fix or "")


def test_interleaved_clicks_of_a_draw_that_is_no_number_of_a_list() -> None:
    """Half a draw is none, and was rounded."""
    lists = rankstone.online.interleave(RUN, RUN, draws=1)
    for draw in (0.5, 1e30):
        clicks = {"query_id": ["q1"], "draw": [draw], "doc_id": ["a"]}
        with pytest.raises(InputError, match="without a list"):
            rankstone.online.interleaving_preference(clicks, lists)
