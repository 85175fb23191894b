"""``eval --memory``: the same numbers from ranges of queries, and nothing left behind."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import exit_code

from rankstone import demo
from rankstone.evaluation.out_of_core import MemoryBudget, evaluate_out_of_core

if TYPE_CHECKING:
    from pathlib import Path

FILES = f"{demo.QRELS} {demo.RUNS['bm25']} {demo.RUNS['tfidf']}"


@pytest.fixture(autouse=True)
def three_ranges(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Split small files, too, and keep everything in one folder."""
    monkeypatch.setattr(MemoryBudget, "ranges", lambda *_, **__: 3)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def printed(
    line: str, capsys: pytest.CaptureFixture[str], code: int = 0
) -> tuple[str, str]:
    """Run a command line; return what it says on standard output and error."""
    assert exit_code(shlex.split(line)) == code
    out, err = capsys.readouterr()
    return out, err


@pytest.mark.parametrize("form", ["table", "csv", "jsonl", "md", "latex", "trec"])
def test_the_same_text(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every format, with the rows below a run."""
    line = f'eval {FILES} --quiet --format {form} -m "nDCG@10 AP RR(agg=gmean)"'
    assert printed(f"{line} --memory 1GB", capsys) == printed(line, capsys)


def test_queries_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reasons of queries without a result are noted as without ranges."""
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text(
        "query_id,doc_id,relevance\n" + "".join(f"q{index},d,1\n" for index in range(6))
    )
    run.write_text(
        "query_id,doc_id,score,error\nq0,d,1,\nq1,,,timeout\nq2,,,timeout\nq3,,,out of memory\nq4,d,1,\n"
    )
    out, err = printed(f"eval {qrels} {run} -m R", capsys)
    assert "3 queries failed" in out + err
    assert printed(f"eval {qrels} {run} -m R --memory 1GB", capsys) == (out, err)


def test_rows_of_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of queries hold the same rows, whatever their format; nothing else is left."""
    line = f'eval {FILES} --quiet -m "nDCG@10 AP"'
    for suffix in ("parquet", "csv", "jsonl"):
        first, other = tmp_path / f"one.{suffix}", tmp_path / f"other.{suffix}"
        printed(f"{line} --per-query {first}", capsys)
        printed(f"{line} --per-query {other} --memory 800MB", capsys)
        read: Any = {
            "parquet": pl.read_parquet,
            "csv": pl.read_csv,
            "jsonl": pl.read_ndjson,
        }[suffix]
        by = ["run", "measure", "query_id"]
        assert read(first).sort(by).equals(read(other).sort(by))
    assert len(list(tmp_path.iterdir())) == 6


def test_segments_and_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What looks at every query brings them here."""
    ids = pl.read_csv(demo.QRELS, separator=" ", has_header=False, infer_schema=False)[
        "column_1"
    ].unique(maintain_order=True)
    table = tmp_path / "queries.csv"
    pl.DataFrame(
        {"query_id": ids, "half": [f"h{index % 2}" for index in range(len(ids))]}
    ).write_csv(table)
    line = f"eval {FILES} --quiet --format json -m nDCG@10 --queries {table} --by half --ci --interval t"
    (first, _), (other, _) = (
        printed(line, capsys),
        printed(f"{line} --memory 1GB", capsys),
    )
    first, other = json.loads(first), json.loads(other)
    assert first["segments"] == other["segments"]
    for mine, theirs in zip(first["intervals"], other["intervals"], strict=True):
        assert mine["low"] == pytest.approx(theirs["low"], rel=1e-12)


def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken line is named, a size that is none, and options that cannot be split."""
    broken = tmp_path / "broken.run"
    lines = demo.RUNS["bm25"].read_text().splitlines()
    lines[400] = "7 Q0 x 1 many tag"
    broken.write_text("\n".join(lines))
    _, err = printed(
        f"eval {demo.QRELS} {broken} --memory 1GB --per-query {tmp_path}/out.csv",
        capsys,
        3,
    )
    assert f"{broken}:401" in err
    assert [path.name for path in tmp_path.iterdir()] == ["broken.run"]
    _, err = printed(f"eval {FILES} --memory lots", capsys, 2)
    assert "not a size" in err
    _, err = printed(f"eval {FILES} --memory 2GB --one-group", capsys, 2)
    assert "--one-group cannot go with --memory" in err
    _, err = printed(f"eval --labeled {broken} --memory 2GB", capsys, 2)
    assert "--labeled cannot go with --memory" in err


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--ci",
        "--unjudged global_mean",
        "--convention xgboost",
        "--format json",
        "--one-group",
    ],
)
def test_many_judgments(
    options: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many judgments are scored in ranges, unless an option needs all of them at once."""
    measures = "ndcg@10-" if "xgboost" in options else "nDCG@10 AP"
    line = f'eval {FILES} --quiet -m "{measures}" {options}'
    usual = printed(line, capsys)
    called = []

    def in_ranges(*value: Any, **named: Any) -> Any:
        called.append(named["memory"])
        return evaluate_out_of_core(*value, **named)

    monkeypatch.setattr(
        "rankstone.evaluation.out_of_core.evaluate_out_of_core", in_ranges
    )
    monkeypatch.setattr("rankstone.cli.eval_command._MANY", 100)
    assert printed(line, capsys) == usual
    assert called == ([] if "xgboost" in options or "group" in options else ["3GB"])
    called.clear()
    monkeypatch.setattr("rankstone.cli.eval_command._MANY", 1_000_000)
    printed(line, capsys)
    assert called == []
