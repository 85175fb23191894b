"""Several runs where one is meant: folders of runs are refused, parts are read, long tables are split."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command, exit_code
from tests.real_data import data
from tests.rows import each

import rankstone
from rankstone import InputError, answers, demo
from rankstone.errors import MissingColumn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BM25, TFIDF = (
    demo.RUNS[name].read_text(encoding="utf-8") for name in ("bm25", "tfidf")
)


def frame(lines: str) -> pl.DataFrame:
    """Return TREC lines as a table."""
    rows = [line.split() for line in lines.splitlines()]
    return pl.DataFrame(
        {
            "query_id": [r[0] for r in rows],
            "doc_id": [r[2] for r in rows],
            "score": [float(r[4]) for r in rows],
        }
    )


WRITE: dict[str, Any] = {
    "parquet": lambda table, path: table.write_parquet(path),
    "csv": lambda table, path: table.write_csv(path),
    "jsonl": lambda table, path: table.write_ndjson(path),
    "arrow": lambda table, path: table.write_ipc(path),
}


def folder(place: Path, **texts: str) -> Path:
    """Write files of TREC text."""
    place.mkdir()
    for name, text in texts.items():
        (place / f"{name}.run").write_text(text, encoding="utf-8")
    return place


def halves(lines: str) -> tuple[str, str]:
    """Cut TREC lines into two, in the middle of a list."""
    rows = lines.splitlines(keepends=True)
    return "".join(rows[:100]), "".join(rows[100:])


# -- folders ---------------------------------------------------------------------------------------------
def test_files_with_different_tags_are_several_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names files and tags, and what to type; that makes two runs of them."""
    folder(tmp_path / "my runs", bm25=BM25, tfidf=TFIDF)
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--duplicates", "first_drop"]):
        assert exit_code(["eval", str(demo.QRELS), "my runs", *more]) == 3
        err = capsys.readouterr().err
        assert (
            "error: my runs: these 2 files look like several runs, not like parts of one"
            in err
        )
        assert "tags in column 6: bm25.run (bm25), tfidf.run (tfidf)" in err
        assert 'to read each file as a run give their paths: "my runs"/* (in ' in err
        assert 'PowerShell (Get-ChildItem "my runs").FullName)' in err
    pasted = ["/bin/sh", "-c", "printf '%s\\n' \"my runs\"/*"]
    files = subprocess.run(
        pasted, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert files == ["my runs/bm25.run", "my runs/tfidf.run"]


def test_disjoint_topics_do_not_hide_several_runs(tmp_path: Path) -> None:
    """Two runs that answer different queries are two runs."""
    first = "".join(line for line in BM25.splitlines(keepends=True) if line < "q10")
    rest = "".join(line for line in TFIDF.splitlines(keepends=True) if line >= "q10")
    with pytest.raises(InputError, match="several runs"):
        rankstone.evaluate(demo.QRELS, folder(tmp_path / "runs", a=first, b=rest), "AP")


def test_a_quoted_glob_is_no_other_folder(tmp_path: Path) -> None:
    """The same holds for a glob that no shell has seen, and the pattern stays."""
    place = folder(tmp_path / "runs", bm25=BM25, tfidf=TFIDF)
    with pytest.raises(InputError) as met:
        rankstone.evaluate(demo.QRELS, f"{place}/*.run", "AP")
    assert f"{place}/*.run (in PowerShell " in str(met.value.fix)


@pytest.mark.parametrize("kind", WRITE)
def test_files_that_answer_the_same_queries_are_several_runs(
    kind: str, tmp_path: Path
) -> None:
    """Tables have no tags: what is called differently and answers the same queries is no part."""
    place = tmp_path / "runs"
    place.mkdir()
    for name, text in (("bm25", BM25), ("tfidf", TFIDF)):
        WRITE[kind](frame(text), place / f"{name}.{kind}")
    with pytest.raises(InputError, match="several runs") as met:
        rankstone.evaluate(demo.QRELS, place, "AP")
    assert met.value.given == f"the same queries in bm25.{kind}, tfidf.{kind}"


def test_runs_of_one_tag_are_distinguished_by_their_queries(tmp_path: Path) -> None:
    """Tools that write the same tag into every run do not make one run of two."""
    place = folder(
        tmp_path / "runs", bm25=BM25, tfidf=TFIDF.replace(" tfidf\n", " bm25\n")
    )
    with pytest.raises(InputError, match="several runs"):
        rankstone.evaluate(demo.QRELS, place, "AP")


TWO_TAGS = ("a Q0 d 1 9 sysA", "b Q0 x 1 9 sysB", "b Q0 y 2 8 sysB")
ONE_TAG = ("a Q0 d 1 9 sysA", "b Q0 x 1 9 sysA", "b Q0 y 2 8 sysA")
JUDGED = {"a": {"d": 1}, "b": {"y": 1}}
#: the same rows as programs write them: tidy, with tabs, two blanks, comments, and words behind the tag
WRITTEN: list[Callable[[str], str]] = [
    lambda line: f"{line}\n",
    lambda line: line.replace(" ", "\t") + "\n",
    lambda line: line.replace(" ", "  ") + "\r\n",
    lambda line: f"# a comment\n{line} and {line[0]}\n",
    lambda line: f"{line} more words\n",
]


@pytest.mark.parametrize("suffix", ["run", "run.gz"])
@each("written", WRITTEN)
def test_two_tags_in_one_file_are_two_runs(
    tmp_path: Path, written: Callable[[str], str], suffix: str
) -> None:
    """They are refused with the line, whatever the file looks like, and what is advised reads each as a run."""
    file, qrels = tmp_path / f"two.{suffix}", tmp_path / "qrels"
    text = "".join(map(written, TWO_TAGS)).encode()
    file.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    qrels.write_text("a 0 d 1\nb 0 y 1\n")
    line = text[: text.index(b"sysB")].count(b"\n") + 1

    refused = command("eval", qrels, file, "-m", "RR", code=3).stderr

    assert f"two.{suffix}:{line}: a second tag in column 6" in refused
    assert "sysB after sysA" in refused
    (advised,) = re.findall(r"--run-column \w+", refused)
    for verb in ("eval", "compare"):
        command(verb, qrels, file, "-m", "RR", *advised.split())
    scores = rankstone.evaluate(JUDGED, file, "RR", run_column="tag", missing="drop")
    assert scores.to_dict() == {"sysA": {"RR": 1.0}, "sysB": {"RR": 0.5}}
    with pytest.raises(InputError, match="a second tag"):
        rankstone.evaluate(JUDGED, file, "RR")


@pytest.mark.parametrize("suffix", ["run", "run.gz"])
@each("written", WRITTEN)
def test_one_tag_is_one_run(
    tmp_path: Path, written: Callable[[str], str], suffix: str
) -> None:
    """Words behind the tag, also different ones, are no other tag."""
    file = tmp_path / f"one.{suffix}"
    text = "".join(map(written, ONE_TAG)).encode()
    file.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)

    assert rankstone.evaluate(JUDGED, {"r": file}, "RR").to_dict() == {
        "r": {"RR": 0.75}
    }


def test_trec_eval_looks_at_no_tag(tmp_path: Path) -> None:
    """The command of that name scores such a file as one run, as trec_eval does."""
    file, qrels = tmp_path / "two.run", tmp_path / "qrels"
    file.write_text("\n".join(TWO_TAGS) + "\n")
    qrels.write_text("a 0 d 1\nb 0 y 1\n")

    done = command("trec-eval", "-m", "recip_rank", qrels, file)

    assert done.stdout.split()[-1] == "0.7500"


@pytest.mark.parametrize("column", ["run", "run_id"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_of_two_runs(tmp_path: Path, suffix: str, column: str) -> None:
    """A second run in a column that names runs is refused with its place; the advised option reads both."""
    rows = [("a", "x", 2.0, "s1"), ("a", "y", 1.0, "s1"), ("b", "y", 1.0, "s2")]
    two = pl.DataFrame(rows, ["query_id", "doc_id", "score", column], orient="row")
    file, qrels = tmp_path / f"two.{suffix}", tmp_path / "qrels"
    qrels.write_text("a 0 x 1\nb 0 y 1\n")

    def write(frame: pl.DataFrame) -> None:
        if suffix == "parquet":
            frame.write_parquet(file)
        elif suffix == "jsonl":
            frame.write_ndjson(file)
        else:
            frame.write_csv(file, separator="\t" if suffix == "tsv" else ",")

    write(two)
    refused = command("eval", qrels, file, "-m", "RR", code=3).stderr
    (advised,) = re.findall(r"--run-column \w+", refused)
    report = json.loads(
        command(
            "eval", qrels, file, "-m", "RR", *advised.split(), "--format", "json"
        ).stdout
    )
    write(two.with_columns(pl.when(pl.col(column) == "s1").then(column)))
    alone = rankstone.evaluate(qrels, file, "RR").to_dict()

    place = {"parquet": ", row 3", "jsonl": ":3"}.get(suffix, ":4")
    assert f"two.{suffix}{place}: a second {column}" in refused
    assert "given:    s2 after s1" in refused
    assert [*report["runs"]] == ["s1", "s2"]
    assert alone == {"two": {"RR": 1.0}}


def test_frames_of_two_runs() -> None:
    """So is a frame; a column that holds lists names no run."""
    frame = pl.DataFrame(
        {"query_id": ["a", "a"], "doc_id": ["x", "y"], "score": [2, 1]}
    )
    judged = {"a": {"x": 1}}
    with pytest.raises(InputError, match="a second run: the table holds several runs"):
        rankstone.evaluate(judged, frame.with_columns(run=pl.Series([1, 2])), "RR")
    settings = pl.Series([{"k1": 1}, {"k1": 2}])
    scored = rankstone.evaluate(judged, frame.with_columns(run=settings), "RR")
    assert scored.to_dict() == {"run": {"RR": 1.0}}


def test_answers_of_two_runs_in_one_file(tmp_path: Path) -> None:
    """Records with two run_ids are refused with their place, and read by run with what is advised."""
    nugget = {"text": "a", "importance": "vital", "assignment": "support"}
    failed = {**nugget, "assignment": "not_support"}
    rows = [
        {"qid": "1", "run_id": "sysA", "nuggets": [nugget]},
        {"qid": "1", "run_id": "sysB", "nuggets": [failed]},
    ]
    file = tmp_path / "two.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    refused = command("answers", file, code=3).stderr
    (advised,) = re.findall(r"--run-column \w+", refused)
    report = json.loads(
        command("answers", file, *advised.split(), "--format", "json").stdout
    )

    assert "two.jsonl:2: these are records of several runs" in refused
    assert "run_id sysB after sysA" in refused
    means = {name: of["Support"] for name, of in report["runs"].items()}
    assert means == {"sysA": 1.0, "sysB": 0.0}
    for of_another in ({**rows[1], "qid": "2"}, rows[1]):
        with pytest.raises(InputError, match="record 2: these are records of several"):
            answers.nuggets([rows[0], of_another])
    assert len(answers.nuggets([rows[0], {**rows[0], "qid": "2"}])[1]) == 2
    with pytest.raises(InputError, match="record 1: a record without system"):
        answers.runs_of(rows, "system")
    command("answers", file, *advised.split(), "--to-judge", code=2)


def test_folders_by_run_are_several_runs(tmp_path: Path) -> None:
    """So are the parts of several runs in folders of their own."""
    for name, text in (("bm25", BM25), ("tfidf", TFIDF)):
        (tmp_path / "all" / f"run={name}").mkdir(parents=True)
        frame(text).write_parquet(tmp_path / "all" / f"run={name}" / "part-0.parquet")
    with pytest.raises(InputError, match="several runs"):
        rankstone.evaluate(demo.QRELS, tmp_path / "all", "AP")


@pytest.mark.parametrize(
    "names", [("part-00000", "part-00001"), ("xaa", "xab"), ("de", "en")]
)
def test_shards_of_one_tag_are_one_run(names: tuple[str, str], tmp_path: Path) -> None:
    """Parts of one run go on being read as one, though a list goes on in the second file."""
    place = folder(tmp_path / "runs", **dict(zip(names, halves(BM25), strict=True)))
    whole = rankstone.evaluate(demo.QRELS, {"r": demo.RUNS["bm25"]}, "AP nDCG@10")
    assert (
        rankstone.evaluate(demo.QRELS, {"r": place}, "AP nDCG@10").to_dict()
        == whole.to_dict()
    )


def test_parts_with_every_query_in_each_are_one_run(tmp_path: Path) -> None:
    """Numbered parts may hold a piece of each list, as shards of an index do."""
    table = frame(BM25)
    place = tmp_path / "runs"
    place.mkdir()
    for index in range(3):
        name = f"part-{index:05}-3f2a9c1e-c000.snappy.parquet"
        table.gather_every(3, index).write_parquet(place / name)
    whole = rankstone.evaluate(demo.QRELS, {"r": table}, "AP nDCG@10")
    assert (
        rankstone.evaluate(demo.QRELS, {"r": place}, "AP nDCG@10").to_dict()
        == whole.to_dict()
    )


def test_judgments_may_be_in_any_files(tmp_path: Path) -> None:
    """Judgments have no tags, and what is stated here is about runs."""
    place = tmp_path / "qrels"
    place.mkdir()
    lines = demo.QRELS.read_text(encoding="utf-8").splitlines(keepends=True)
    (place / "monday.txt").write_text("".join(lines[::2]), encoding="utf-8")
    (place / "tuesday.txt").write_text("".join(lines[1::2]), encoding="utf-8")
    record = rankstone.evaluate(place, demo.RUNS["bm25"], "AP").to_dict()
    assert record["bm25"]["AP"] == pytest.approx(
        rankstone.evaluate(demo.QRELS, demo.RUNS["bm25"], "AP").to_dict()["bm25"]["AP"]
    )


# -- long tables -----------------------------------------------------------------------------------------
def long() -> pl.DataFrame:
    """Return both runs in one table, row by row in turn."""
    runs = [
        frame(text).with_columns(algorithm=pl.lit(name), row=pl.int_range(pl.len()))
        for name, text in (("bm25", BM25), ("tfidf", TFIDF))
    ]
    named = {"query_id": "user", "doc_id": "item"}
    return pl.concat(runs).sort("row", maintain_order=True).drop("row").rename(named)


COLUMNS = {"user": "query_id", "item": "doc_id"}


@pytest.mark.parametrize("kind", [*WRITE, "frame"])
def test_a_long_table_holds_many_runs(kind: str, tmp_path: Path) -> None:
    """Every run has the numbers it has in a file of its own."""
    table: Any = long()
    if kind != "frame":
        WRITE[kind](table, tmp_path / f"long.{kind}")
        table = tmp_path / f"long.{kind}"
    scores = rankstone.evaluate(
        demo.QRELS, table, "AP nDCG@10", columns=COLUMNS, run_column="algorithm"
    )
    apart = rankstone.evaluate(
        demo.QRELS,
        {n: frame(t) for n, t in (("bm25", BM25), ("tfidf", TFIDF))},
        "AP nDCG@10",
    )
    assert scores.to_dict() == apart.to_dict()


def test_comparisons_take_long_tables() -> None:
    """The verdict is that of two files."""
    table = long()
    comparison = rankstone.compare(
        demo.QRELS,
        table,
        "nDCG@10",
        columns=COLUMNS,
        run_column="algorithm",
        baseline="tfidf",
    )
    apart = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", baseline="tfidf")
    assert comparison.table.drop("versus").equals(apart.table.drop("versus"))


def test_eval_compare_and_report_take_long_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--run-column at a shell; the report, too, looks at the lists of both."""
    pytest.importorskip("altair")
    long().write_csv(tmp_path / "long.csv")
    line = [str(demo.QRELS), str(tmp_path / "long.csv"), "--run-column", "algorithm"]
    line += ["--columns", "user=query_id,item=doc_id", "-m", "nDCG@10"]
    assert exit_code(["eval", *line, "--format", "json"]) == 0
    assert (
        json.loads(capsys.readouterr().out)["runs"]
        == rankstone.evaluate(demo.QRELS, demo.RUNS, "nDCG@10").to_dict()
    )
    assert exit_code(["compare", *line, "--baseline", "tfidf"]) == 0
    assert "bm25" in capsys.readouterr().out
    assert exit_code(["report", *line, "-o", str(tmp_path / "page.html")]) == 0
    assert "tfidf" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_conventions_read_long_tables() -> None:
    """A library's numbers are those of its runs in files."""
    options: dict[str, Any] = {
        "columns": COLUMNS,
        "run_column": "algorithm",
        "convention": "pytrec_eval",
    }
    record = rankstone.evaluate(demo.QRELS, long(), "map", **options).to_dict()
    assert (
        record
        == rankstone.evaluate(
            demo.QRELS, demo.RUNS, "map", convention="pytrec_eval"
        ).to_dict()
    )


def test_mistakes_in_long_tables_are_reported(tmp_path: Path) -> None:
    """A column that is not there, a row without a name, a bad row by its own line; TREC text has only a tag."""
    with pytest.raises(
        MissingColumn, match="no column algoritm that names runs"
    ) as met:
        rankstone.evaluate(
            demo.QRELS, long(), "AP", columns=COLUMNS, run_column="algoritm"
        )
    assert met.value.fix == "did you mean algorithm?"
    unnamed = long().with_columns(
        algorithm=pl.when(pl.int_range(pl.len()) != 4).then("algorithm")
    )
    with pytest.raises(InputError, match="row 5: a row without algorithm"):
        rankstone.evaluate(
            demo.QRELS, unnamed, "AP", columns=COLUMNS, run_column="algorithm"
        )
    spoilt = long().with_columns(
        score=pl.when(pl.int_range(pl.len()) != 6).then("score")
    )
    spoilt.write_csv(tmp_path / "long.csv")
    with pytest.raises(InputError, match=r"long\.csv:8: the score is missing"):
        rankstone.evaluate(
            demo.QRELS,
            tmp_path / "long.csv",
            "AP",
            columns=COLUMNS,
            run_column="algorithm",
        )
    with pytest.raises(MissingColumn, match="no column algorithm"):
        rankstone.evaluate(demo.QRELS, demo.RUNS["bm25"], "AP", run_column="algorithm")


@pytest.mark.parametrize(
    "flag",
    [
        ["--memory", "1GB"],
        ["--exact-run", "x.run", "--depth", "3"],
        ["--labeled", "x.csv"],
    ],
)
def test_where_long_tables_are_no_runs(
    flag: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere the option is refused, and not passed over."""
    assert (
        exit_code(
            ["eval", str(demo.QRELS), "x.csv", "--run-column", "algorithm", *flag]
        )
        == 2
    )
    assert "--run-column" in capsys.readouterr().err


def test_recommendations_of_eight_algorithms() -> None:
    """Reciprocal ranks are those that LensKit for Java computed for its own lists, user by user."""
    place = data("lenskit-topn")
    columns = {"user": "query_id", "item": "doc_id", "rating": "relevance"}
    scores = rankstone.evaluate(
        place / "topn-java-truth.csv",
        place / "topn-java-recs.csv.gz",
        "RR",
        columns=columns,
        run_column="Algorithm",
        order="rank",
    )
    assert len(scores.to_dict()) == 8
    selected = pl.read_csv(place / "topn-java-metrics.csv").select(
        run="Algorithm", query_id=pl.col("user").cast(pl.String), known="Java.RecipRank"
    )
    both = selected.join(scores.per_query, on=["run", "query_id"])
    assert both.height == selected.height
    assert (both["known"] - both["value"]).abs().max() == pytest.approx(0, abs=1e-9)
