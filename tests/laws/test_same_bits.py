"""The same rows give the same bits, whatever holds them, whoever computes, in whichever order they come."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import duckdb
import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone.evaluation.out_of_core import MemoryBudget

if TYPE_CHECKING:
    from pathlib import Path

MEASURES: Final = "nDCG@10 nDCG(gain=linear)@7 DCG AP RR@5 P@5 R@20 RBP(p=0.7) bpref"
TIES: Final = ("expected", "docid_desc", "best")
#: every way to hold a table; the rows of each are in an order of their own
FORMATS: Final = (
    "txt",
    "txt.gz",
    "csv",
    "tsv",
    "jsonl",
    "jsonl.gz",
    "json",
    "parquet",
    "arrow",
    "duckdb",
    "sqlite",
)


def tied_world(
    seed: int, queries: int = 12, depth: int = 40
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return judgments and a run in which many documents tie, with grades that no sum holds exactly."""
    rng = np.random.default_rng(seed)
    query, doc = (part.ravel() for part in np.mgrid[:queries, :depth])
    pairs = pl.DataFrame(
        {
            "query_id": [f"q{position:03}" for position in query],
            "doc_id": [f"d{position * 7919 % 100003}" for position in doc],
            "score": rng.integers(0, 5, query.size) / 3,
            "relevance": rng.choice([0.0, 0.1, 0.3, 0.7, 1.0, 1.9, 3.3], query.size),
        }
    )
    judged = pairs.filter(pl.Series(rng.random(query.size) < 0.7))
    return judged.select("query_id", "doc_id", "relevance"), pairs.select(
        "query_id", "doc_id", "score"
    )


def written(frame: pl.DataFrame, form: str, folder: Path, seed: int) -> str:
    """Write a run, its lists in any order and rows anywhere in them; return what opens it."""
    mixed = frame.sample(fraction=1, shuffle=True, seed=seed)
    path = folder / f"run.{form}"
    rows = mixed.rows()
    if form in ("duckdb", "sqlite"):
        connect: Any = duckdb.connect if form == "duckdb" else sqlite3.connect
        with closing(connect(str(path))) as connection:
            connection.execute(
                "CREATE TABLE run (query_id TEXT, doc_id TEXT, score DOUBLE)"
            )
            connection.executemany("INSERT INTO run VALUES (?, ?, ?)", rows)
            connection.commit()
        return f"{form}:{path}#run"
    if form == "json":
        lists = mixed.partition_by("query_id", as_dict=True, maintain_order=True)
        nested = {
            q: dict(part.select("doc_id", "score").rows())
            for (q,), part in lists.items()
        }
        path.write_text(json.dumps(nested))
    elif form.startswith("txt"):
        text = "".join(
            f"{q} Q0 {d} {index} {s!r} t\n" for index, (q, d, s) in enumerate(rows)
        )
        path.write_bytes(
            gzip.compress(text.encode()) if form.endswith("gz") else text.encode()
        )
    elif form == "jsonl.gz":
        path.write_bytes(gzip.compress(mixed.write_ndjson().encode()))
    elif form == "tsv":
        mixed.write_csv(path, separator="\t")
    else:
        ways = {
            "csv": "write_csv",
            "jsonl": "write_ndjson",
            "parquet": "write_parquet",
            "arrow": "write_ipc",
        }
        getattr(mixed, ways[form])(path)
    return str(path)


def bits(per_query: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return every number as it is, to the last bit."""
    ordered = per_query.select(
        "query_id", "measure", "value", "numerator", "denominator"
    ).sort("query_id", "measure")
    return [
        tuple(cell.hex() if isinstance(cell, float) else cell for cell in row)
        for row in ordered.rows()
    ]


@pytest.mark.parametrize("ties", TIES)
def test_formats_engines_and_orders(
    ties: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten formats, read in memory, as frames and share after share, give what the rows in order give."""
    monkeypatch.setattr(
        MemoryBudget, "ranges", lambda *_: 3
    )  # shares of the queries, as if memory were short
    qrels, run = tied_world(1)
    expected = bits(rankstone.evaluate(qrels, run, MEASURES, ties=ties).per_query)
    for seed, form in enumerate(FORMATS if ties == "expected" else FORMATS[::4]):
        path = written(run, form, tmp_path, seed)
        mixed = qrels.sample(fraction=1, shuffle=True, seed=seed)
        assert (
            bits(rankstone.evaluate(mixed, path, MEASURES, ties=ties).per_query)
            == expected
        ), form
        if form in ("parquet", "csv", "txt"):
            stored = rankstone.evaluate(mixed, path, MEASURES, ties=ties, memory="4GB")
            assert bits(stored.lazy().collect()) == expected, f"{form}, out of core"
    for seed in range(2):
        mixed = run.sample(fraction=1, shuffle=True, seed=seed)
        for held in (mixed, mixed.to_pandas(), mixed.to_arrow(), mixed.lazy()):
            assert (
                bits(rankstone.evaluate(qrels, held, MEASURES, ties=ties).per_query)
                == expected
            )


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads(threads: int, tmp_path: Path) -> None:
    """Polars' threads change no bit."""
    qrels, run = tied_world(2, queries=60)
    qrels.write_parquet(tmp_path / "qrels.parquet")
    path = written(run, "parquet", tmp_path, 7)
    code = (
        "import sys, rankstone; from tests.laws.test_same_bits import bits;"
        "print(bits(rankstone.evaluate(sys.argv[1], sys.argv[2], sys.argv[3], ties='expected').per_query))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "qrels.parquet", path, MEASURES],
        env={**os.environ, "POLARS_MAX_THREADS": str(threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = bits(rankstone.evaluate(qrels, run, MEASURES, ties="expected").per_query)
    assert output.stdout.strip() == str(expected)


def test_labelled_tables_agree_with_themselves() -> None:
    """Scores and grades in one table: rows within a tie block in any order."""
    qrels, run = tied_world(3)
    table = run.join(qrels, on=["query_id", "doc_id"])
    measures = "nDCG@10 DCG AP RBP(p=0.7) AUC(negatives=judged)"
    expected = None
    for seed in range(5):
        mixed = table.sample(fraction=1, shuffle=True, seed=seed)
        for frame in (mixed, mixed.drop("doc_id")):
            result = bits(
                rankstone.evaluate(
                    table=frame, measures=measures, ties="expected"
                ).per_query
            )
            expected = expected or result
            assert result == expected
