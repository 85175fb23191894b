"""Whole numbers and decimals that a float64 cannot hold are refused on every road, and no others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import duckdb
import numpy as np
import polars as pl
import pytest
from tests.postgres import a_server

import rankstone
from rankstone.errors import RankstoneError
from rankstone.integrations import arrays as functional
from rankstone.io.exact_numbers import inexact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ = a_server  # pytest finds fixtures by their names in this module

#: nanoseconds since 1970, which become the same float64
FIRST: Final = 1_795_443_600_000_000_001
NEXT: Final = FIRST + 1
ROWS: Final = [("q", "x", FIRST), ("q", "y", NEXT)]
QRELS: Final = {"q": {"y": 1}}
REFUSED: Final = (
    "the score 179544360000000000[12](.00)? has more digits than a float64 holds"
)


def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS, ["query_id", "doc_id", "score"], orient="row")


def database(kind: str, folder: Path) -> str:
    path = folder / kind
    connect: Any = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect}[kind]
    with closing(connect(str(path))) as connection:
        connection.execute(
            "CREATE TABLE run (query_id TEXT, doc_id TEXT, score BIGINT)"
        )
        connection.executemany("INSERT INTO run VALUES (?, ?, ?)", ROWS)
        connection.commit()
    return f"{kind}:{path}#run"


def file(name: str, write: Callable[[Path], object]) -> Callable[[Path], str]:
    def made(folder: Path) -> str:
        write(folder / name)
        return str(folder / name)

    return made


DECIMALS: Final = pl.col("score").cast(pl.Decimal(38, 2))
ROADS: Final[dict[str, Callable[[Path], Any]]] = {
    "TREC": file(
        "r.txt",
        lambda p: p.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in ROWS)),
    ),
    "CSV": file("r.csv", lambda p: frame().write_csv(p)),
    "JSON lines": file("r.jsonl", lambda p: frame().write_ndjson(p)),
    "JSON": file(
        "r.json", lambda p: p.write_text(json.dumps({"q": {d: s for _, d, s in ROWS}}))
    ),
    "Parquet": file("r.parquet", lambda p: frame().write_parquet(p)),
    "decimals in Parquet": file(
        "r.parquet", lambda p: frame().with_columns(DECIMALS).write_parquet(p)
    ),
    "lists in Parquet": file(
        "r.parquet",
        lambda p: frame().group_by("query_id").agg("doc_id", "score").write_parquet(p),
    ),
    "Arrow": file("r.arrow", lambda p: frame().write_ipc(p)),
    "DuckDB": lambda folder: database("duckdb", folder),
    "SQLite": lambda folder: database("sqlite", folder),
    "Polars": lambda _: frame(),
    "unsigned": lambda _: frame().with_columns(pl.col("score").cast(pl.UInt64)),
    "pandas": lambda _: frame().to_pandas(),
    "objects in pandas": lambda _: frame().to_pandas().astype({"score": object}),
    "PyArrow": lambda _: frame().to_arrow(),
    "a dict": lambda _: {"q": {d: s for _, d, s in ROWS}},
    "Decimals in a dict": lambda _: {"q": {d: Decimal(s) for _, d, s in ROWS}},
    "arrays": lambda _: (["q", "q"], ["x", "y"], np.array([FIRST, NEXT])),
}


@pytest.mark.parametrize("road", ROADS)
def test_scores_that_would_tie_are_refused(road: str, tmp_path: Path) -> None:
    """Read as float64 both are the same number: RR would be 0.5 or 1 by the documents' ids."""
    with pytest.raises(RankstoneError, match=REFUSED):
        rankstone.evaluate(QRELS, ROADS[road](tmp_path), "RR")


def test_postgresql(postgres: str) -> None:
    """Columns of bigint and of numeric."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE large (query_id text, doc_id text, score bigint)")
        cursor.executemany("INSERT INTO large VALUES ($1, $2, $3)", ROWS)
        cursor.execute(
            "CREATE TABLE digits AS SELECT query_id, doc_id, score::numeric FROM large"
        )
        connection.commit()
    for table in ("large", "digits"):
        with pytest.raises(RankstoneError, match=REFUSED):
            rankstone.evaluate(QRELS, f"{postgres}#{table}", "RR")


def test_arrays_side_by_side() -> None:
    """Scores and labels in arrays, where the place is reported."""
    with pytest.raises(RankstoneError, match=rf"\[0, 0\].*{REFUSED}"):
        functional.evaluate(np.array([[FIRST, NEXT]]), np.array([[0, 1]]), "RR")


def test_the_row_is_reported(tmp_path: Path) -> None:
    """File and line."""
    (tmp_path / "r.txt").write_text(f"q Q0 x 1 2 t\nq Q0 y 2 {NEXT} t\n")
    with pytest.raises(RankstoneError, match=r"r\.txt:2: .* digits"):
        rankstone.evaluate(QRELS, tmp_path / "r.txt", "RR")


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (
            [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, None],
            [False, True, False, True, False],
        ),
        (
            [10**18, 123_456_789_012_345_000, 2**62, 2**63 - 1],
            [False, False, False, True],
        ),
        (
            ["9007199254740993", "9007199254740993.0", "9007199254740992.5"],
            [True, True, True],
        ),
        (
            [
                "9007199254740992.00",
                "1.7954436000000000012e18",
                "1e300",
                "0.12345678901234567890",
            ],
            [False] * 4,
        ),
        (["1" + "0" * 60, "1" * 60, "-" + "9" * 20], [False, True, True]),
    ],
)
def test_which_numbers_would_tie(numbers: list[Any], expected: list[bool]) -> None:
    """Those above 2⁵³ with more than 15 digits of their own, unless a float64 is exactly that number."""
    assert inexact(pl.Series(numbers)).to_list() == expected


def test_large_numbers_that_are_exact_are_read(tmp_path: Path) -> None:
    """A power of two, a rounded timestamp: no number is refused for its size alone."""
    scores = {"x": 2**60, "y": 10**18 * 2, "z": 5}
    (tmp_path / "r.txt").write_text(
        "".join(f"q Q0 {d} 1 {s} t\n" for d, s in scores.items())
    )
    for run in ({"q": scores}, tmp_path / "r.txt"):
        assert rankstone.evaluate({"q": {"x": 1}}, run, "RR").to_dict()[
            "run" if run == {"q": scores} else "r"
        ] == {"RR": 0.5}
