"""CSV as spreadsheets of several countries write it, and BEIR's data as they are downloaded."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.command_line import command as at_a_shell

import rankstone
from rankstone import ltr
from rankstone import online as behaviour
from rankstone.errors import (
    BadLine,
    BadOption,
    InputError,
    MissingColumn,
    UnknownFormat,
)
from rankstone.evaluation import head_of_run
from rankstone.io import (
    parse_columns,
    read_attributes,
    read_events,
    read_judgments,
    read_run,
)
from rankstone.io.columns import with_csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JUDGED = [
    ("query_id", "doc_id", "relevance"),
    ("q1", "d1", 1.5),
    ("q1", "d2", 0),
    ("q2", "d3", 1),
]
RUN = [
    ("query_id", "doc_id", "score"),
    ("q1", "d2", 0.75),
    ("q1", "d1", 0.5),
    ("q2", "d3", 12.25),
]
#: the first query's document with grade 1.5 is second, the second's first
EXPECTED = {"RR": (1 / 2 + 1) / 2, "CG@10": (1.5 + 1) / 2}


def german(table: list[tuple[Any, ...]]) -> bytes:
    """Excel, “CSV UTF-8”, in Germany or France: semicolons, decimal commas, a byte order mark, CRLF."""
    return b"\xef\xbb\xbf" + cells(table, ";", ",").encode()


def with_line(table: list[tuple[Any, ...]]) -> bytes:
    """Any tool, with a line that tells Excel the separator."""
    return ("sep=;\r\n" + cells(table, ";", ",")).encode()


def french_plain(table: list[tuple[Any, ...]]) -> bytes:
    """Excel, plain “CSV”, in France: Windows-1252."""
    return cells(table, ";", ",").encode("cp1252")


def german_unicode(table: list[tuple[Any, ...]]) -> bytes:
    """Excel, “Unicode text”, in Germany: tabs in UTF-16, with a byte order mark."""
    return b"\xff\xfe" + cells(table, "\t", ",").encode("utf-16-le")


def american_unicode(table: list[tuple[Any, ...]]) -> bytes:
    """Excel, “Unicode text”, in the United States."""
    return b"\xff\xfe" + cells(table, "\t", ".").encode("utf-16-le")


def american(table: list[tuple[Any, ...]]) -> bytes:
    """Excel, “CSV UTF-8”, in the United States."""
    return b"\xef\xbb\xbf" + cells(table, ",", ".").encode()


def cells(table: list[tuple[Any, ...]], separator: str, decimal: str) -> str:
    rows = (
        separator.join(str(cell).replace(".", decimal) for cell in row) for row in table
    )
    return "".join(f"{row}\r\n" for row in rows)


COUNTRIES = [
    (german, "csv", ("separator ';'", "decimal comma")),
    (with_line, "csv", ("separator ';' (from its line sep=)", "decimal comma")),
    (french_plain, "csv", ("separator ';'", "decimal comma")),
    (german_unicode, "txt", ("UTF-16", "decimal comma")),
    (american_unicode, "txt", ("UTF-16",)),
    (german_unicode, "csv", ("separator tab", "UTF-16", "decimal comma")),
    (american, "csv", ()),
]


@pytest.mark.parametrize(("export", "suffix", "lines"), COUNTRIES)
def test_exports_of_three_countries(
    tmp_path: Path, export: Callable[[Any], bytes], suffix: str, lines: tuple[str, ...]
) -> None:
    """Judgments and runs are read right, and what was guessed is in the audit."""
    qrels, run = tmp_path / f"qrels.{suffix}", tmp_path / f"run.{suffix}"
    qrels.write_bytes(export(JUDGED))
    run.write_bytes(export(RUN))

    scores = rankstone.evaluate(qrels, run, list(EXPECTED))

    assert scores.to_dict() == {"run": EXPECTED}
    assert scores.audit.judgments is not None
    assert scores.audit.judgments.read_as == lines
    assert scores.audit.runs["run"].read_as == lines
    assert all(
        (f"read as: {', '.join(lines)}" in line) == bool(lines)
        for line in scores.audit.lines()
    )
    in_json = scores.audit.to_dict()
    assert [
        in_json["judgments"].get("read_as"),
        in_json["runs"]["run"].get("read_as"),
    ] == [list(lines) or None] * 2


def test_packed_exports(tmp_path: Path) -> None:
    """The first lines of a packed file are looked at, too."""
    run = tmp_path / "run.csv.gz"
    run.write_bytes(gzip.compress(with_line(RUN)))
    assert read_run(run).collect("score")["score"].to_list() == [0.75, 0.5, 12.25]


def test_what_is_declared_decides(tmp_path: Path) -> None:
    """Separator and decimal of one's own; declared ones are no guess, and are not reported."""
    run = tmp_path / "run.csv"
    run.write_text("query_id|doc_id|score\nq1|d1|0,5\n")
    table = read_run(run, with_csv(None, "|", ","))
    assert table.collect("score")["score"].to_list() == [0.5]
    assert table.read_as() == ()
    with pytest.raises(
        MissingColumn, match=r'is "\|" the separator\? If so, csv_separator='
    ):
        read_run(run)

    run.write_text('query_id,doc_id,score\nq1,d1,"0,5"\n')
    assert read_run(run, with_csv(None, None, ",")).collect("score")[
        "score"
    ].to_list() == [0.5]
    with pytest.raises(
        BadLine,
        match=r"run\.csv:2: the score '0,5' is not a number\n.*\n.*decimal=',' if",
    ):
        read_run(run).collect()


def test_one_of_the_two_is_declared(tmp_path: Path) -> None:
    """With --decimal . a comma between semicolons is no fraction, and the header is still looked at."""
    run = tmp_path / "run.csv"
    run.write_text("query_id;doc_id;score\nq1;d1;0.5\n")
    assert read_run(run, with_csv(None, None, ".")).collect("score")[
        "score"
    ].to_list() == [0.5]
    assert read_run(run).collect("score")["score"].to_list() == [0.5]
    run.write_text("query_id;doc_id;score\nq1;d1;0,5\n")
    with pytest.raises(BadLine, match="the score '0,5' is not a number"):
        read_run(run, with_csv(None, None, ".")).collect()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "q1;d1;0,5\nq1;d2;0.25\n",
            r"run\.csv:3: the score '0\.25' is not a number\n.*the decimal comma above",
        ),
        (
            "q1;d1;0.5\nq1;d2;0,25\n",
            r"run\.csv:3: the score '0,25' is not a number\n.*the decimal point above",
        ),
        (
            "q1;d1;0,5\nq1;d2;1.234,5\n",
            r"run\.csv:3: the score '1\.234,5' is not a number",
        ),
        ("q1;d1;1,234.5\n", r"run\.csv:2: the score '1,234\.5' is not a number"),
        ("q1;d1;0,5\nq1;d2;9007199254740993,5\n", r"run\.csv:3: .*9007199254740993\.5"),
        ("q1;d1;0,5\nq1;d2;1,2,3\n", r"run\.csv:3: the score '1,2,3' is not a number"),
    ],
)
def test_fractions_of_two_kinds(tmp_path: Path, rows: str, message: str) -> None:
    """The first fraction decides; nothing is read as what it may not be."""
    run = tmp_path / "run.csv"
    run.write_text(f"query_id;doc_id;score\n{rows}")
    with pytest.raises(InputError, match=message):
        read_run(run).collect()


def test_thousands_between_tabs(tmp_path: Path) -> None:
    """Where tabs divide cells, 1,234 may be either; a fraction elsewhere, or an option, decides."""
    run = tmp_path / "run.tsv"
    run.write_text("query_id\tdoc_id\tscore\nq1\td1\t999\nq1\td2\t1,234\n")
    with pytest.raises(
        BadLine, match=r"run\.tsv:3: '1,234' may be a fraction or thousands"
    ):
        read_run(run).collect()
    assert read_run(run, with_csv(None, None, ",")).collect("score")[
        "score"
    ].to_list() == [999.0, 1.234]
    run.write_text("query_id\tdoc_id\tscore\nq1\td1\t0,999\nq1\td2\t1,234\n")
    assert read_run(run).collect("score")["score"].to_list() == [0.999, 1.234]


def test_the_line_above_the_header_decides(tmp_path: Path) -> None:
    """A separator that cannot be guessed, and one that another sign in the rows contradicts."""
    run = tmp_path / "run.csv"
    for text in (
        "sep=#\nquery_id#doc_id#score\nq1#d1#0.5\n",
        "sep=#\nquery_id,doc_id,score,x#query_id#doc_id#score\n1,2,3,4#q1#d1#0.5\n",
    ):
        run.write_text(text)
        table = read_run(run)
        assert table.collect().row(0) == ("q1", "d1", 0.5)
        assert table.read_as()[0] == "separator '#' (from its line sep=)"


def test_lines_are_counted_as_editors_do(tmp_path: Path) -> None:
    """Newlines in quoted cells, a line above the header, and a header of two lines."""
    run = tmp_path / "run.csv"
    text = 'sep=;\r\nquery_id;doc_id;score;"a\nnote"\r\nq1;d1;0,5;"one\ntwo\nthree"\r\nq1;d2;x;\r\n'
    run.write_bytes(text.encode())
    with pytest.raises(BadLine, match=r"run\.csv:7: the score 'x' is not a number"):
        read_run(run).collect()
    run.write_bytes(text.replace(";x;", ";0,25;").encode())
    assert read_run(run).collect("score")["score"].to_list() == [0.5, 0.25]
    run.write_bytes(b"sep=;\r\nquery_id;doc_id;score\r\nq1;d1;1;2\r\n")
    with pytest.raises(
        BadLine, match=r"run\.csv:3: the row has 4 columns, and the header 3"
    ):
        read_run(run).collect()


def test_blanks_around_names(tmp_path: Path) -> None:
    """They are no part of a name, unless somebody writes it so; twice is twice with them, too."""
    run = tmp_path / "run.csv"
    run.write_text("Query ;doc_id; score\nq1;d1;0,5\n")
    table = read_run(run, parse_columns("Query=query_id"))
    assert table.collect().row(0) == ("q1", "d1", 0.5)
    assert read_run(run, {"Query ": "query_id"}).collect().row(0) == ("q1", "d1", 0.5)
    run.write_text("query_id,doc_id,score,score \nq1,d1,1,2\n")
    with pytest.raises(BadLine, match=r"run\.csv:1: the header has score twice"):
        read_run(run)
    run.write_text("query_id,doc_id,score,note,note ,,\nq1,d1,1,2,3,,\n")
    assert read_run(run).collect("score")["score"].to_list() == [1.0]


@pytest.mark.parametrize("text", ["查询", "蓝牙耳机", "天气 文档7"])
def test_chinese_of_windows(tmp_path: Path, text: str) -> None:
    """The encoding of Chinese Windows is named, and the advised command reads it."""
    run = tmp_path / "run.csv"
    run.write_bytes(f"query_id,doc_id,score\nq1,{text},1\n".encode("gbk"))

    with pytest.raises(BadLine, match=r"\(if it is GB18030\)") as raised:
        read_run(run)
    assert text in str(raised.value)
    assert "iconv -f gb18030 -t utf-8 FILE > NEW" in str(raised.value)


@pytest.mark.parametrize("text", ["SITUAÇÃO;AÇÃO", "Größe", "naïve;café", "déjà vu"])
def test_accents_are_no_chinese(tmp_path: Path, text: str) -> None:
    """Two letters with accents beside each other are no character."""
    run = tmp_path / "run.csv"
    run.write_bytes(f"query_id;doc_id;score\nq1;{text};1\n".encode("cp1252"))

    with pytest.raises(BadLine, match=r"\(if it is Windows-1252\)"):
        read_run(run)


def test_plain_csv_of_excel(tmp_path: Path) -> None:
    """Windows-1252 is refused by line and name, for ids read in a wrong encoding match nothing."""
    run = tmp_path / "run.csv"
    run.write_bytes(
        "query_id;doc_id;score\r\nq1;d1;0,5\r\nq1;Größe;0,25\r\n".encode("cp1252")
    )
    with pytest.raises(
        BadLine,
        match=r"run\.csv:3: the text is not UTF-8\n.*Größe.*\(if it is Windows-1252\)",
    ) as raised:
        read_run(run)
    assert "iconv -f windows-1252 -t utf-8" in str(raised.value)
    many = b"query_id;doc_id;score\r\n" + b"q1;d1;0,5\r\n" * 9000
    run.write_bytes(
        many + "q1;Größe;0,25\r\n".encode("cp1252")
    )  # below the first block
    with pytest.raises(BadLine, match=r"run\.csv:9002: the text is not UTF-8\n.*Größe"):
        read_run(run).collect()
    run.write_bytes(cells(RUN, ";", ",").replace("\r\n", "\r").encode())
    with pytest.raises(BadLine, match="its lines end in carriage returns"):
        read_run(run)
    run.write_bytes("query_id,doc_id,score,Größe\r\nq1,d1,0.5,7\r\n".encode("cp1252"))
    assert read_run(run).collect("score")["score"].to_list() == [
        0.5
    ]  # a name that is not read
    run.write_bytes(b"\xff\xfe" + "query_id".encode("utf-16-le") + b"\x00")
    with pytest.raises(
        UnknownFormat, match="begins as UTF-16, but it is not valid UTF-16"
    ):
        read_run(run)


def test_a_comma_file_stays_one(tmp_path: Path) -> None:
    """However many semicolons its cells and names hold; and tabs in a .csv are seen."""
    run = tmp_path / "run.csv"
    run.write_text(
        'query_id,doc_id,score,"a;b;c;d;e"\nq1,d1,1,"1;2;3;4;5"\nq1,"x;y;z;z;y",0.5,;;;;\n'
    )
    assert read_run(run).collect().rows() == [
        ("q1", "d1", 1.0),
        ("q1", "x;y;z;z;y", 0.5),
    ]
    assert read_run(run).read_as() == ()
    run.write_text("query_id\tdoc_id\tscore\nq1\ta,b,c,d\t1\n")
    assert read_run(run).collect().rows() == [("q1", "a,b,c,d", 1.0)]


def test_rows_of_separators_only_are_skipped(tmp_path: Path) -> None:
    """What spreadsheets leave below a table is no row: it is counted, and later lines keep their numbers."""
    qrels, run, about = (
        tmp_path / f"{name}.csv" for name in ("qrels", "run", "queries")
    )
    qrels.write_text(
        "query_id;doc_id;relevance;note\n;;;\nq1;d1;1;\n;;;\nq1;d2;0;kept\n;;;\n"
    )
    run.write_text("query_id,doc_id,score\n,,\nq1,d1,1\nq1,d2,2\n,,\n")
    about.write_text("query_id;country\nq1;de\n;\n")
    scores = rankstone.evaluate(qrels, run, "RR", queries=about)

    assert scores.to_dict() == {"run": {"RR": 1 / 2}}
    judgments, queries, listed = scores.audit.lines()
    assert judgments.endswith("read as: separator ';', 3 blank rows skipped")
    assert queries == "queries  1 row · read as: separator ';', 1 blank row skipped"
    assert "read as: 2 blank rows skipped" in listed
    for row, what in (
        (";d3;1;", "without query_id"),
        ("q1;d3;one;", "is not a number"),
    ):
        qrels.write_text(f"query_id;doc_id;relevance;note\n;;;\nq1;d1;1;\n;;;\n{row}\n")
        with pytest.raises(InputError, match=rf"qrels\.csv:5: .*{what}"):
            rankstone.evaluate(qrels, run, "RR")
    qrels.write_text("query_id;doc_id;relevance;note\n;;;a note alone\nq1;d1;1;\n")
    with pytest.raises(InputError, match=r"qrels\.csv:2: .*without query_id"):
        rankstone.evaluate(qrels, run, "RR")


def written_german(folder: Path, **tables: list[tuple[Any, ...]]) -> dict[str, Path]:
    """Write tables as Excel does in Germany, and return their paths."""
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, path in paths.items():
        path.write_bytes(german(tables[name]))
    return paths


def test_side_tables_report_what_was_detected(tmp_path: Path) -> None:
    """Weights of subtopics, an exact run, and the tables of recommendations have their notes in the audit."""
    pairs, ids = [("q1", "d1"), ("q1", "d2"), ("q2", "d3")], ("query_id", "doc_id")
    files = written_german(
        tmp_path,
        run=RUN,
        qrels=JUDGED,
        sub=[
            ("query_id", "subtopic", "doc_id", "relevance"),
            ("q1", "s", "d1", 1),
            ("q2", "t", "d3", 1),
        ],
        intents=[("query_id", "subtopic", "weight"), ("q1", "s", 0.5), ("q2", "t", 1)],
        history=[ids, *pairs],
        items=[("doc_id", "genre"), *((f"d{n}", "g") for n in (1, 2, 3))],
        users=[("query_id", "country"), ("q1", "de"), ("q2", "fr")],
    )
    run, note = files["run"], "read as: separator ';'"
    scores = rankstone.evaluate(
        files["sub"], run, "alpha_nDCG", intents=files["intents"]
    )
    assert f"intents  2 rows · {note}, decimal comma" in scores.audit.lines()
    alike = rankstone.evaluate(head_of_run(run, 1), run, "R@1")
    assert (
        alike.audit.lines()[0]
        == f"judgments  2 queries, 2 judgments · {note}, decimal comma"
    )
    tables: dict[str, Any] = {
        name: files[name] for name in ("history", "items", "users", "qrels")
    }
    lines = rankstone.beyond(run, "Novelty@2", **tables, baseline=run).audit.lines()
    noted = {line.partition(" ")[0] for line in lines if note in line}
    assert noted == {"history", "judgments", "items", "users", "baseline", "run"}


def test_saved_scores_report_what_was_detected(tmp_path: Path) -> None:
    """A comparison of saved scores notes what was guessed of files; the whole audit has a line for each."""
    rows = [
        ("query_id", "measure", "value"),
        *((f"q{n}", "AP", n / 8) for n in range(8)),
    ]
    files = written_german(tmp_path, a=rows, b=[rows[0], *rows[:0:-1]])
    (tmp_path / "c.csv").write_text(cells(rows, ",", "."))
    comparison = rankstone.compare_scores(
        [*map(str, files.values()), str(tmp_path / "c.csv")]
    )
    expected = [
        f"{path}  read as: separator ';', decimal comma" for path in files.values()
    ]
    whole = comparison.text(200, verbose=True)
    assert [line for line in whole.splitlines() if "read as" in line] == expected
    assert "audit  read as: separator ';', decimal comma" in comparison.text(200)
    assert comparison.to_dict()["audit"]["scores"] == {
        str(path): ["separator ';'", "decimal comma"] for path in files.values()
    }
    plain = rankstone.compare_scores(
        {"c": str(tmp_path / "c.csv"), "d": {"q0": {"AP": 0.5}, "q1": {"AP": 1.0}}}
    )
    assert plain.audit is None


def test_tables_beside(tmp_path: Path) -> None:
    """Weights of queries, items and logs: number columns have points, texts stay as they are."""
    about = tmp_path / "queries.csv"
    about.write_bytes(
        german([("query_id", "weight", "kind"), ("q1", 0.5, "a,b"), ("q2", 2, "1,2,3")])
    )
    attributes = read_attributes(about, "query_id")
    assert attributes.collect("weight", "kind").rows() == [
        ("q1", "0.5", "a,b"),
        ("q2", "2", "1,2,3"),
    ]
    assert attributes.read_as == ("separator ';'", "decimal comma")
    scores = rankstone.evaluate(
        {"q1": {"d": 1}, "q2": {"e": 1}},
        {"q1": ["x", "d"], "q2": ["e"]},
        "RR(agg=weighted)",
        queries=about,
    )
    assert scores.to_dict() == {
        "run": {"RR(agg=weighted)": (0.5 * 0.5 + 2 * 1.0) / 2.5}
    }
    assert (
        scores.audit.lines()[1]
        == "queries  2 rows · read as: separator ';', decimal comma"
    )

    log = tmp_path / "log.csv"
    log.write_bytes(
        with_line([("user_id", "time", "value"), ("u1", "2026-01-05", 0.5)])
    )
    events = read_events(log, further=("value",))
    assert events.collect(events.frame).rows() == [("u1", "2026-01-05", "0.5")]
    assert events.first(pl.col("user_id") == "u1")[0] == f"{log}:3"


def test_scores_that_somebody_saved(tmp_path: Path) -> None:
    """A table of scores that went through a German spreadsheet."""
    rows = [
        (f"q{index}", "AP", system, index / 40 + gap)
        for index in range(20)
        for system, gap in (("a", 0.0), ("b", 0.25))
    ]
    text = cells([("query_id", "measure", "run", "value"), *rows], ";", ",")
    (tmp_path / "scores.csv").write_text(text, newline="")
    comparison = rankstone.compare_scores(tmp_path / "scores.csv", "AP")
    assert comparison.table["difference"].to_list() == [0.25]


def test_options_at_a_shell(tmp_path: Path) -> None:
    """They go to every table of a command, and are refused where nothing is CSV."""
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text("query_id|doc_id|relevance\nq1|d1|1\n")
    run.write_text("query_id|doc_id|score\nq1|d2|0,75\nq1|d1|0,5\n")
    texts = ["--csv-separator", "|", "--decimal", ","]
    words = ("eval", qrels, run, "-m", "RR", "--format", "json")
    assert json.loads(at_a_shell(*words, *texts).stdout)["runs"]["run"]["RR"] == 0.5

    plain, lines = tmp_path / "qrels.txt", tmp_path / "run.txt"
    plain.write_text("q1 0 d1 1\n")
    lines.write_text("q1 Q0 d1 1 0.5 t\n")
    stderr = at_a_shell("eval", plain, lines, "-m", "RR", *texts, code=2).stderr
    assert (
        "no CSV file was read that --csv-separator and --decimal could apply to"
        in stderr
    )
    assert (
        "--csv-separator 'ab' is not a separator"
        in at_a_shell(*words, "--csv-separator", "ab", code=2).stderr
    )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("csv_separator", "ab"),
        ("csv_separator", '"'),
        ("csv_separator", "x"),
        ("decimal", ";"),
    ],
)
def test_options_that_cannot_be(option: str, value: Any) -> None:
    """One character that no number or name begins with; a point or a comma."""
    with pytest.raises(BadOption, match=option):
        rankstone.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "RR", **{option: value})


def test_options_in_python(tmp_path: Path) -> None:
    """Every function that reads tables takes them."""
    run = tmp_path / "run.csv"
    run.write_text("query_id|doc_id|score|relevance\nq1|d2|0,75|0\nq1|d1|0,5|1\n")
    texts: Any = {"csv_separator": "|", "decimal": ","}
    assert rankstone.evaluate(run, run, "RR", **texts).to_dict() == {"run": {"RR": 0.5}}
    assert rankstone.Prepared(run, "RR", **texts).evaluate(run).to_dict() == {
        "run": {"RR": 0.5}
    }
    assert rankstone.evaluate(table=run, measures="RR", **texts).to_dict() == {
        "run": {"RR": 0.5}
    }
    assert rankstone.evaluate(run, run, "RR", memory="1GB", **texts).to_dict() == {
        "run": {"RR": 0.5}
    }
    assert rankstone.curve(run, run, "RR", k=[1, 2], **texts).mean()[
        "mean"
    ].to_list() == [0.0, 0.5]
    assert rankstone.bounds(run, run, "RR", **texts).mean()["value"].to_list() == [0.5]
    assert rankstone.baseline(run, run, "RR", **texts).values["value"].to_list() == [
        0.5
    ]
    assert rankstone.beyond(run, "Coverage@1", catalogue_size=4, **texts).to_dict() == {
        "run": {"Coverage@1": 0.25}
    }
    assert rankstone.diff(run, run, "Jaccard@1", **texts).to_dict() == {
        "Jaccard@1": 1.0
    }
    assert rankstone.qrels_from_run(run, 1, **texts)["doc_id"].to_list() == ["d2"]
    assert not [
        f
        for file in rankstone.check(run, run, **texts).files
        for f in file.findings
        if f.level == "error"
    ]


BEIR = "query-id\tcorpus-id\tscore\n1\t31715818\t1\n3\t14717500\t2\n"


def beir(folder: Path, *splits: str) -> Path:
    (folder / "qrels").mkdir(parents=True)
    for name in ("corpus.jsonl", "queries.jsonl"):
        (folder / name).write_text('{"_id": "1", "text": "x"}\n')
    for index, split in enumerate(splits):
        (folder / "qrels" / f"{split}.tsv").write_text(
            BEIR.replace("\t1\n", f"\t{index + 1}\n")
        )
    return folder


def test_judgments_of_beir(tmp_path: Path) -> None:
    """Their score is the grade; in a run of this header it stays a score."""
    qrels = beir(tmp_path / "scifact", "test") / "qrels" / "test.tsv"
    expected = [("1", "31715818", 1.0), ("3", "14717500", 2.0)]
    for columns in (
        None,
        {"query-id": "query_id", "corpus-id": "doc_id"},
        {"item": "doc_id"},
    ):
        table = read_judgments(qrels, columns)
        assert table.collect("query_id", "doc_id", "relevance").rows() == expected, (
            columns
        )
        assert table.read_as() == ("BEIR's qrels, whose score is the grade",)
    frame = pl.read_csv(qrels, separator="\t")
    assert read_judgments(frame).collect("relevance")["relevance"].to_list() == [
        1.0,
        2.0,
    ]
    with pytest.raises(MissingColumn, match="no column query_id and no column doc_id"):
        read_judgments(qrels, {"score": "weight", "corpus-id": "relevance"})
    with pytest.raises(MissingColumn, match="there is no column query_id"):
        read_run(qrels)
    scores = rankstone.evaluate(
        qrels, {"1": {"31715818": 1.0}, "3": {"14717500": 0.5}}, "RR"
    )
    assert scores.to_dict() == {"run": {"RR": 1.0}}


def test_folders_of_beir(tmp_path: Path) -> None:
    """The test split, or the only one; of several none is chosen."""
    table = read_judgments(beir(tmp_path / "a", "dev", "test", "train"))
    assert table.collect("relevance")["relevance"].to_list() == [2.0, 2.0]
    assert table.read_as()[0] == "BEIR folder: qrels/test.tsv (not dev.tsv, train.tsv)"
    table = read_judgments(str(beir(tmp_path / "b", "dev")))
    assert table.collect("relevance")["relevance"].to_list() == [1.0, 2.0]
    assert table.read_as()[0] == "BEIR folder: qrels/dev.tsv"
    several = beir(tmp_path / "c", "dev", "train")
    with pytest.raises(
        InputError,
        match=r"(?s)several splits.*qrels/dev\.tsv, qrels/train\.tsv.*name the file",
    ) as raised:
        read_judgments(several)
    assert raised.value.fix == f"name the file: {several}/qrels/dev.tsv"


def test_guesses_about_logs(tmp_path: Path) -> None:
    """What was guessed stands below every table that is made of a log, and in its JSON."""
    log = tmp_path / "log.csv"
    names = "user_id time query_id doc_id impression_id position clicked variant reward propensity"
    head = (*names.split(), "target_propensity")
    rows = [
        (
            f"u{index}",
            "2026-01-05",
            f"q{index % 2}",
            f"d{index % 3}",
            index,
            1,
            index % 2,
            "ab"[index // 4],
            index % 2,
            0.5,
            0.25,
        )
        for index in range(8)
    ]
    log.write_bytes(german([head, *rows]))
    text = "read as: separator ';', decimal comma"
    for retention in (
        behaviour.retention(log, "1"),
        behaviour.clicks(log),
        behaviour.counterfactual(log),
        behaviour.ab(log, by="variant"),
    ):
        assert text in "\n".join(retention.audit.lines()), retention
    assert behaviour.clicks(log).audit.to_dict()["read_as"] == [
        "separator ';'",
        "decimal comma",
    ]
    assert behaviour.retention(log, "1").audit.to_dict()["read_as"] == [
        "separator ';'",
        "decimal comma",
    ]


def test_options_for_logs(tmp_path: Path) -> None:
    """Logs and tables of features are read by the same options."""
    log = tmp_path / "log.csv"
    texts: Any = {"csv_separator": "|", "decimal": ","}
    log.write_text(
        "user_id|time|note\nu1|2026-01-05|a\nu1|2026-01-12|b\nu2|2026-01-12|c\n"
    )
    retention = behaviour.retention(log, "1,7", **texts)
    assert retention.cohorts.filter(at="7")["retained"].sum() == 1
    documents = tmp_path / "documents.csv"
    documents.write_text("query_id|doc_id|relevance|length\nq1|d1|1|0,5\nq1|d2|0|2\n")
    data = ltr.read(documents, **texts)
    assert list(data.features) == ["length"]
    assert np.asarray(data.X)[:, 0].tolist() == [0.5, 2.0]
