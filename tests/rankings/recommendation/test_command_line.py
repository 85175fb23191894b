"""``rankstone beyond`` as its users meet it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.command_line import command

if TYPE_CHECKING:
    from pathlib import Path


call = partial(command, "beyond")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    tables = {
        "one.run": "u1 Q0 a 1 3 t\nu1 Q0 b 2 2 t\nu2 Q0 a 1 3 t\nu2 Q0 c 2 2 t\n",
        "two.csv": "query_id,doc_id,score\nu1,a,3\nu1,d,2\nu2,b,1\n",
        "items.csv": "doc_id,genre,provider\na,x|y,p\nb,x,q\nc,z,q\nd,y,p\n",
        "past.csv": "query_id,doc_id\nu1,c\nu2,a\nu3,a\n",
        "users.csv": "query_id,sex\nu1,f\nu2,m\nu3,f\n",
        "qrels.txt": "u1 0 a 1\nu2 0 c 1\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in tables}


def test_a_table_of_measures(files: dict[str, str]) -> None:
    """One line a measure, one column a run, notes and conventions below."""
    out = call(
        files["one.run"],
        files["two.csv"],
        "-m",
        "Coverage@2 Entropy@1",
        "--items",
        files["items.csv"],
    ).stdout.splitlines()

    assert out[0].split() == ["measure", "one", "two"]
    assert out[1].split() == ["Coverage@2", "0.7500", "0.7500"]
    assert out[2].split() == ["Entropy@1", "0.0000", "1.0000"]
    assert out[3] == "catalogue  4 items (table of items)"
    assert not [line for line in out if line.startswith("conventions")]


def test_groups_of_users(files: dict[str, str]) -> None:
    """--by adds a line for each group, and the largest gap between two."""
    arguments = [
        "--history",
        files["past.csv"],
        "--queries",
        files["users.csv"],
        "--by",
        "sex",
    ]
    out = call(files["one.run"], "-m", "Novelty@2", *arguments).stdout.splitlines()

    assert [line.split()[0] for line in out[1:5]] == [
        "Novelty@2",
        "sex=f",
        "sex=m",
        "largest",
    ]
    assert "1 user without a list" in out[-1]


def test_every_format(files: dict[str, str]) -> None:
    """JSON holds everything, CSV and JSON lines the values, Markdown the table."""
    arguments = [
        files["one.run"],
        "-m",
        "Novelty@2 Coverage@2",
        "--history",
        files["past.csv"],
    ]
    parsed = json.loads(call(*arguments, "--format", "json").stdout)

    assert set(parsed["runs"]["one"]) == {"Novelty@2", "Coverage@2"}
    assert (
        call(*arguments, "--format", "csv").stdout.splitlines()[0]
        == "run,measure,value,n,n_undefined"
    )
    assert (
        json.loads(call(*arguments, "--format", "jsonl").stdout.splitlines()[1])[
            "measure"
        ]
        == "Coverage@2"
    )
    assert (
        call(*arguments, "--format", "md").stdout.splitlines()[0] == "| measure | one |"
    )


def test_values_per_user(files: dict[str, str], tmp_path: Path) -> None:
    """--per-query writes them, and inputs are spared."""
    out = tmp_path / "users.parquet"
    call(
        files["one.run"],
        "-m",
        "Novelty@2",
        "--history",
        files["past.csv"],
        "--per-query",
        str(out),
    )

    assert pl.read_parquet(out)["query_id"].to_list() == ["u1", "u2"]
    spared = call(files["one.run"], "-m", "Entropy", "-o", files["one.run"], code=2)
    assert "is also an input" in spared.stderr


def test_what_is_missing_is_stated(files: dict[str, str]) -> None:
    """Exit code 2 and the option that would help, no traceback."""
    done = call(files["one.run"], "-m", "ILD@2", code=2)
    assert done.stderr == (
        "error: ILD@2 needs a table of items\n"
        "  fix:      add --items FILE: doc_id and columns of attributes\n"
    )
    assert (
        "--by needs a table of users"
        in call(files["one.run"], "--by", "sex", code=2).stderr
    )
    assert "a run is needed" in call(code=2).stderr
    assert "no such file" in call("nothing.run", "-m", "Entropy", code=3).stderr


def test_the_usual_measures(files: dict[str, str]) -> None:
    """Without -m, everything usual that the tables allow."""
    tables = [
        "--items",
        files["items.csv"],
        "--history",
        files["past.csv"],
        "--qrels",
        files["qrels.txt"],
    ]
    out = call(files["one.run"], *tables).stdout

    assert {"Coverage@10", "Novelty@10", "Serendipity@10"} <= {
        line.split()[0] for line in out.splitlines()
    }
