"""The progress bar: on a terminal it says how many rows, how fast and how much is left; elsewhere nothing."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone.cli.standard_error import Ticker
from rankstone.io import read_run
from rankstone.io.sources import estimated_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LISTS, LENGTH = 2000, 150
ROWS = LISTS * LENGTH
RUN = pl.DataFrame(
    {
        "query_id": np.repeat(np.arange(LISTS), LENGTH),
        "doc_id": np.tile(np.arange(LENGTH), LISTS),
        "score": np.tile(np.arange(LENGTH, 0, -1) / LENGTH, LISTS),
    }
).with_columns(
    pl.format("q{}", "query_id").alias("query_id"),
    pl.format("d{}", "doc_id").alias("doc_id"),
)
QRELS = pl.DataFrame(
    {"query_id": ["q0", "q1"], "doc_id": ["d1", "d2"], "relevance": [1, 1]}
)
WRITE: dict[str, Callable[[Path], object]] = {
    "r.parquet": RUN.write_parquet,
    "r.arrow": RUN.write_ipc,
    "r.csv": RUN.write_csv,
    "r.jsonl": RUN.write_ndjson,
    "r.run": lambda path: RUN.select(
        "query_id",
        pl.lit("Q0").alias("q0"),
        "doc_id",
        pl.lit(1).alias("rank"),
        "score",
        tag=pl.lit("r"),
    ).write_csv(path, separator=" ", include_header=False),
    "l.parquet": lambda path: (
        RUN.group_by("query_id", maintain_order=True)
        .agg("doc_id", "score")
        .write_parquet(path)
    ),
}
#: the command line with a bar that is never waited for
AT_ONCE = """
import sys
import rankstone.cli.standard_error as ticker
ticker._PATIENCE = -1.0
from rankstone.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("name", WRITE)
def test_extents(tmp_path: Path, name: str) -> None:
    """Files of columns know how many rows they have; of text, sizes and lines say about how many."""
    WRITE[name](tmp_path / name)
    table = read_run(tmp_path / name)
    for _ in table.tables(
        [pl.col("query_id")]
    ):  # lists say so once some have been seen
        pass

    exact = name.endswith((".parquet", ".arrow"))
    assert table.extent() == (ROWS if exact else pytest.approx(ROWS, rel=0.02))


def test_unknown_extents(tmp_path: Path) -> None:
    """Of packed text, and of frames that are yet to be computed, no word is printed."""
    (tmp_path / "r.csv.gz").write_bytes(b"\x1f\x8b more")
    (tmp_path / "r.csv").write_text("a\n" * 10)

    assert estimated_rows([tmp_path / "r.csv", tmp_path / "r.csv"]) == 20
    assert estimated_rows([tmp_path / "r.csv", tmp_path / "r.csv.gz"]) is None
    assert estimated_rows([b"a\nb\n"]) == 2
    assert read_run(RUN.lazy()).extent() is None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a clock that stands still: its last entry is the time."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[-1])
    return now


def test_what_is_reported(clock: list[float]) -> None:
    """Rows, rows a second, the share of what is being read, and the time the rest will take."""
    with Ticker() as ticker, ticker.stream(lambda: 4_000_000) as tell:
        tell(500_000)
        assert not ticker.visible  # short work shows nothing
        clock.append(4.0)
        tell(500_000)
        assert ticker.visible
        assert list(ticker.fields().values()) == [
            "1,000,000 rows",
            "250.0 k rows/s",
            "25%",
            "0:12 left",
        ]
        with ticker.stream(
            lambda: None
        ) as other:  # beside it, something without an end
            other(4_000_000)
            assert ticker.fields() == {
                "count": "5,000,000 rows",
                "rate": "1.2 M rows/s",
                "share": "",
                "left": "",
            }
        tell(3_500_000)  # more than was thought
        assert ticker.fields()["share"] == "99%"


def test_a_second_run_begins_anew(clock: list[float]) -> None:
    """Shares are of the file that is being read; a run read twice is not half read at the end."""
    with Ticker() as ticker:
        clock.append(2.0)
        for _ in range(2):
            with ticker.stream(lambda: 100) as tell:
                tell(40)
                assert ticker.fields()["share"] == "40%"
        assert ticker.fields()["count"] == "80 rows"


def at_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """Run the command line on a terminal of its own; return what that shows."""
    ours, theirs = pty.openpty()
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("CI", "NO_COLOR", "TERM")
    }
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            AT_ONCE,
            "eval",
            "q.parquet",
            *arguments,
            "-m",
            "RR",
            "-o",
            "o.txt",
        ],
        cwd=folder,
        stderr=theirs,
        env={**kept, "TERM": "xterm", "COLUMNS": "120", **environment},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    """A terminal shows rows, rate, share and time left; --quiet and CI show nothing, nor does a pipe."""
    QRELS.write_parquet(tmp_path / "q.parquet")
    for name in ("r.parquet", "l.parquet", "r.run"):
        WRITE[name](tmp_path / name)
        shown = at_a_terminal(tmp_path, name)
        assert re.search(
            rf"{ROWS:,} rows [\d.]+ [kM] rows/s 0:00:\d\d 9\d% 0:00 left", shown
        ), shown
        assert at_a_terminal(tmp_path, name, "--quiet") == ""
        assert at_a_terminal(tmp_path, name, CI="1") == ""
    line = [
        sys.executable,
        "-c",
        AT_ONCE,
        "eval",
        "q.parquet",
        "r.run",
        "-m",
        "RR",
        "-o",
        "o.txt",
    ]
    done = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_plain_callbacks_count_rows() -> None:
    """Whoever hands a function to Python's ``progress=`` sees rows as ever."""
    counts: list[int] = []
    rankstone.evaluate(QRELS, RUN, "RR", progress=counts.append)

    assert sum(counts) == ROWS
