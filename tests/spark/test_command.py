"""``rankstone eval --engine spark`` prints what the same command prints on one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.command_line import Done, command

from rankstone import demo
from rankstone.io import read_judgments, read_run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

ON_SPARK = ("--engine", "spark", "--master", "local[2]")


def at_a_shell(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, which starts a Spark of its own."""
    line = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "rankstone",
        "eval",
        *map(str, arguments),
    ]
    options = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    return subprocess.run(
        line, capture_output=True, text=True, check=False, env=options
    )


def evaluated(*arguments: str | Path, code: int = 0) -> Done:
    """Run a command in this process, on the Spark that is there."""
    return command("eval", *arguments, code=code)


@pytest.mark.usefixtures("spark")
def test_texts_and_scores_of_queries(tmp_path: Path) -> None:
    """TREC text; the scores of queries are Spark's to write."""
    files = demo.QRELS, *demo.RUNS.values()
    far = at_a_shell(
        *files, "-m", "nDCG@10 AP", *ON_SPARK, "--per-query", tmp_path / "scores"
    )

    assert far.stdout == evaluated(*files, "-m", "nDCG@10 AP").stdout != "", far.stderr
    assert pl.read_parquet(tmp_path / "scores" / "*.parquet").height == 2 * 2 * 32


@pytest.mark.usefixtures("spark")
def test_tables_with_names_of_their_own(tmp_path: Path) -> None:
    """Parquet and CSV beside each other, columns renamed."""
    qrels = read_judgments(demo.QRELS).collect().rename({"query_id": "user"})
    listed = read_run(demo.RUNS["bm25"]).collect().rename({"query_id": "user"})
    qrels.write_parquet(tmp_path / "qrels.parquet")
    listed.write_csv(tmp_path / "run.csv")
    words = (
        tmp_path / "qrels.parquet",
        tmp_path / "run.csv",
        "--columns",
        "user=query_id",
        "--ties",
        "expected",
    )

    assert evaluated(*words, *ON_SPARK).stdout == evaluated(*words).stdout != ""


@pytest.mark.usefixtures("spark")
def test_csv_of_a_spreadsheet(tmp_path: Path) -> None:
    """Separator and decimal reach Spark, which guesses nothing."""
    (tmp_path / "qrels.csv").write_text("query_id;doc_id;relevance\nq1;d1;1\n")
    (tmp_path / "run.csv").write_text("query_id;doc_id;score\nq1;d1;0,5\nq1;d2;0,75\n")
    words = (
        tmp_path / "qrels.csv",
        tmp_path / "run.csv",
        "-m",
        "RR",
        "--csv-separator",
        ";",
        "--decimal",
        ",",
    )
    far = evaluated(*words, *ON_SPARK)
    assert far.stdout == evaluated(*words).stdout != "", far.stderr
    assert "0.5000" in far.stdout


@pytest.mark.usefixtures("spark")
def test_mistakes(tmp_path: Path) -> None:
    """No such file, options that are not Spark's: a sentence, and nothing of Java."""
    lost = evaluated(
        tmp_path / "no.parquet", tmp_path / "run.parquet", *ON_SPARK, code=3
    )
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(b"PAR1 and no more")
    for done in (lost, evaluated(torn, torn, *ON_SPARK, code=3)):
        assert "Spark cannot open or read this" in done.stderr
        assert "internal error" not in done.stderr
    refused = evaluated("a", "b", "--convention", "xgboost", *ON_SPARK, code=2)
    assert "cannot go with --engine spark" in refused.stderr
    assert (
        "--master needs --engine spark"
        in evaluated("a", "b", "--master", "local[2]", code=2).stderr
    )


@pytest.mark.usefixtures("spark")
def test_no_output_takes_the_place_of_what_spark_reads(tmp_path: Path) -> None:
    """Parts of a folder are known, which the JVM opens, by path and by URL."""
    read_judgments(demo.QRELS).collect().write_parquet(tmp_path / "qrels.parquet")
    parts = tmp_path / "run.parquet"
    parts.mkdir()
    listed = read_run(demo.RUNS["bm25"]).collect()
    for index in range(2):
        listed[index::2].write_parquet(parts / f"{index}.parquet")
    before = (parts / "1.parquet").read_bytes()

    for run in (str(parts), f"r=file://{parts}"):
        files = tmp_path / "qrels.parquet", run
        done = evaluated(*files, *ON_SPARK, "-o", parts / "1.parquet", code=2)
        assert "is also an input in" in done.stderr
    assert (parts / "1.parquet").read_bytes() == before


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("judged", "listed"),
    [
        (
            "1::a::5::978300760\n1::b::3::978302109\n2::a::4::978298413\n",
            "1 a .5\n1 b .9\n2 a 1.5\n",
        ),
        ("0 11 12 13\n1 21 22\n", "0 98 11 12\n1 21 80\n"),
        ("4\tqid:1 #\tb\tRambo\n3\tqid:1 #\ta\tRambo III\n", "1 a 1\n1 b 2\n"),
    ],
)
def test_text_of_other_programs(tmp_path: Path, judged: str, listed: str) -> None:
    """Shapes are those of one machine."""
    files = tmp_path / "judged.txt", tmp_path / "listed.txt"
    for file, text in zip(files, (judged, listed), strict=True):
        file.write_text(text)
    here = evaluated(*files, "-m", "nDCG R@2", "--digits", "17", "--format", "csv")
    far = evaluated(
        *files, "-m", "nDCG R@2", "--digits", "17", "--format", "csv", *ON_SPARK
    )
    assert far.stdout == here.stdout != ""


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("judged", "message"),
    [
        ("1 a 1 0 0.5\n1 b 0 0 0.25\n", "prels"),
        ("1 0 a 1\n1 0 new york 1\n", "1 0 new york 1"),
        ("1 0 a 1\n1 0 b 90 1\n", "1 0 b 90 1"),
    ],
)
def test_text_that_is_not_trecs(tmp_path: Path, judged: str, message: str) -> None:
    """Rows of another width are refused, as on one machine."""
    (tmp_path / "judged.txt").write_text(judged)
    (tmp_path / "run.txt").write_text("1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    files = tmp_path / "judged.txt", tmp_path / "run.txt"
    refused = evaluated(*files, "-m", "RR", *ON_SPARK, code=3)
    assert message in refused.stderr
