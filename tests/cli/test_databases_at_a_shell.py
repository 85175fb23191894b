"""Addresses of databases at a shell: they stand where paths stand, and no password comes back."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest
from tests.command_line import exit_code
from tests.postgres import a_server, tells_the_password

if TYPE_CHECKING:
    from pathlib import Path

QRELS = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["d1", "d2", "d3"],
        "relevance": [1, 0, 1],
        "fold": [1, 1, 2],
    }
)
BM25 = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["d2", "d1", "d3"],
        "score": [0.9, 0.8, 0.7],
    }
)
DENSE = BM25.with_columns(score=-pl.col("score")).rename(
    {"query_id": "user", "doc_id": "item"}
)
TABLES = {"qrels": QRELS, "bm25": BM25, "dense": DENSE}

_ = a_server  # pytest finds fixtures by their names in this module


@dataclass
class Shell:
    """A way to run command lines in this process."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, line: str, code: int = 0) -> tuple[str, str]:
        """Run a command line; return what it says on standard output and error."""
        ended = exit_code(shlex.split(line))
        out, err = self.capsys.readouterr()
        assert ended == code, err
        return out, err


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """Return a shell in a folder with ``runs.db`` and the same tables as files."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("runs.db") as connection:
        for name, frame in TABLES.items():
            connection.register("frame", frame.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS FROM frame")
            frame.write_parquet(f"{name}.parquet")
        connection.execute(
            "CREATE VIEW folds AS SELECT DISTINCT query_id, fold FROM qrels"
        )
    return Shell(capsys)


@pytest.fixture(scope="session", name="server")
def a_filled_server(postgres: str) -> str:
    """Return the URL of a PostgreSQL database with the tables."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(postgres) as connection, connection.cursor() as cursor:
        for name, frame in TABLES.items():
            cursor.adbc_ingest(name, frame.to_arrow(), mode="create")
        connection.commit()
    return postgres


def means(out: str) -> dict[str, dict[str, float]]:
    """Return the means of --format json."""
    value: dict[str, dict[str, float]] = json.loads(out)["runs"]
    return value


def test_tables_stand_where_files_stand(shell: Shell) -> None:
    """Judgments and a run of a DuckDB file score as files do; the table gives the run its name."""
    out, _ = shell(
        "eval duckdb:runs.db#qrels duckdb:runs.db#bm25 -m nDCG@10 --format json"
    )

    assert means(out) == means(
        shell("eval qrels.parquet bm25.parquet -m nDCG@10 --format json")[0]
    )
    assert json.loads(out)["inputs"] == {
        "judgments": "duckdb:runs.db#qrels",
        "runs": {"bm25": "duckdb:runs.db#bm25"},
    }


def test_queries_and_names(shell: Shell) -> None:
    """A query is a run called ``query``, or what stands before its address."""
    query = "duckdb:runs.db?query=SELECT query_id, doc_id, -score AS score FROM bm25 WHERE score >= 0.8"
    out, _ = shell(
        f"eval duckdb:runs.db#qrels '{query}' 'low=duckdb:runs.db#bm25' '-mRR' --format json"
    )

    assert means(out) == {"query": {"RR": 1 / 2}, "low": {"RR": (1 / 2 + 1) / 2}}


def test_columns_are_renamed(shell: Shell) -> None:
    """--columns works on tables; a name that none has is refused."""
    line = "eval duckdb:runs.db#qrels duckdb:runs.db#dense -m RR --format json"

    assert means(shell(f"{line} --columns user=query_id,item=doc_id")[0])["dense"] == {
        "RR": 1.0
    }
    _, err = shell(line, 3)
    assert "--columns user=query_id" in err


@pytest.mark.parametrize(
    "line",
    [
        "check duckdb:runs.db#qrels duckdb:runs.db#bm25",
        "explain duckdb:runs.db#qrels duckdb:runs.db#bm25 -q q1",
        "diff duckdb:runs.db#bm25 other=bm25.parquet",
        "compare duckdb:runs.db#qrels duckdb:runs.db#bm25 other=duckdb:runs.db#bm25 -m RR",
        "eval duckdb:runs.db#qrels duckdb:runs.db#bm25 --queries duckdb:runs.db#folds --by fold",
        "trec-eval duckdb:runs.db#qrels duckdb:runs.db#bm25",
        "bounds duckdb:runs.db#qrels duckdb:runs.db#bm25",
    ],
)
def test_every_command_reads_tables(shell: Shell, line: str) -> None:
    """Commands that read judgments and runs read them from databases."""
    assert shell(line)[0]


def test_the_database_is_not_written_over(shell: Shell, tmp_path: Path) -> None:
    """An output that is the database's file is refused before any work."""
    before = (tmp_path / "runs.db").read_bytes()
    _, err = shell("eval duckdb:runs.db#qrels bm25=duckdb:runs.db#bm25 -o runs.db", 2)

    assert "is also an input" in err
    assert (tmp_path / "runs.db").read_bytes() == before


def test_a_hostile_table_does_nothing(shell: Shell) -> None:
    """SQL in place of a table's name is a name that no table has."""
    line = "eval duckdb:runs.db#qrels 'duckdb:runs.db#{}'"
    _, err = shell(line.format('x"; DROP TABLE bm25; --'), 3)

    assert 'there is no table x"; DROP TABLE bm25; --' in err
    assert shell(line.format("bm25"))[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("eval {server}#qrels {server}#bm25", 0),
        ("eval {server}#qrels {server}#bm25 --format json", 0),
        ("eval {server}#qrels {server}#bm25 {server}?sslmode=prefer#bm25", 2),
        ("eval {server}#qrels {server}#bm26", 3),
        ("eval {server}#qrels {server}#dense", 3),
        ("eval {server}#qrels {server}?query=SELEC", 3),
        ("eval {server}#qrels", 2),
        ("eval {server} {server}", 2),
        ("eval {server}#qrels {server}nowhere#bm25", 3),
        ("eval {server}#qrels {server}#bm25 -o {server}", 2),
        ("eval - - {server}#bm25", 2),
        ("eval --labeled {server}#qrels {server}#bm25", 2),
        ("eval {server}#qrels {server}#bm25 --columns {server}=score", 2),
        ("eval {server}#qrels {server}#bm25 --depth {server}", 2),
        ("eval {server}#qrels {server}#bm25 --format {server}", 2),
        ("eval {server}#qrels {server}#bm25 -m {server}", 2),
        ("eval {server}#qrels {server}#bm25 --config={server}", 2),
        ("{server}", 2),
        ("check {server}#qrels {server}#bm25", 0),
        ("check {server}#qrels {server}#nowhere", 3),
        ("explain {server}#qrels {server}#bm25 -q q1", 0),
        ("explain {server}#qrels {server}#bm25 {server}#bm25", 2),
        (
            "compare {server}#qrels {server}#bm25 other=bm25.parquet -m RR --format json",
            0,
        ),
        (
            "report {server}#qrels {server}#bm25 other=bm25.parquet -m RR -o report.html",
            0,
        ),
        ("trec-eval {server}#qrels {server}#bm25", 0),
        ("trec-eval {server}#nowhere {server}#bm25", 3),
        ("diff {server}#bm25 {server}?sslmode=prefer#bm25", 2),
        ("diff {server}#bm25 other={server}#bm25", 0),
        ("identify {server}#qrels {server}#bm25 --value 0.75 -m RR", 0),
    ],
)
def test_no_password_comes_back(
    shell: Shell,
    server: str,
    line: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever is printed or written, with success or with an error, holds no password."""
    text = line.format(server=server)
    monkeypatch.setattr("sys.argv", ["rankstone", *shlex.split(text)])
    out, err = shell(text, code)

    assert (out + err).strip() or "report" in line
    written = "".join(
        path.read_text("utf-8") for path in tmp_path.iterdir() if path.suffix == ".html"
    )
    assert bool(written) == ("report" in line)
    assert not tells_the_password(out + err + written)
