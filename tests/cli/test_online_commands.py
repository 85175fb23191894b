"""``rankstone online counterfactual``, ``interleave`` and ``ab`` as a user meets them."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from tests.command_line import command as run

from rankstone.online.ab_test import ab
from rankstone.online.counterfactual_estimates import counterfactual
from rankstone.online.interleaved_lists import interleave
from rankstone.online.preference_test import interleaving_preference

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log of lists."""
    path = tmp_path / "log.csv"
    path.write_text(
        "impression_id,user,query_id,doc_id,position,click,pscore\n"
        "1,u,q,a,1,1,1\n1,u,q,b,2,0,0.5\n2,v,q,a,1,0,1\n2,v,q,b,2,true,0.5\n"
    )
    return path


def test_counterfactual(log: Path, tmp_path: Path) -> None:
    """What is printed is what Python returns, in every format; the target may be a run."""
    (tmp_path / "new.run").write_text("q Q0 b 1 2.0 r\nq Q0 a 2 1.0 r\n")
    names = {"click": "reward", "pscore": "propensity"}
    named = ("--columns", ",".join(f"{a}={b}" for a, b in names.items()))
    how = (
        "--propensity",
        "examination",
        "--discount",
        "log2",
        "--k",
        10,
        "--cluster",
        "user",
    )
    words = ("online", "counterfactual", log, tmp_path / "new.run", *named, *how)
    estimates = counterfactual(
        log,
        tmp_path / "new.run",
        columns=names,
        propensity="examination",
        discount="log2",
        k=10,
        cluster="user",
    )
    assert json.loads(run(*words, "--format", "json").stdout) == estimates.report()
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    assert [float(row["value"]) for row in rows] == estimates.estimates[
        "value"
    ].to_list()
    table = run(*words).stdout.splitlines()
    assert table[0].split() == ["estimator", "value", "error", "low", "high", "bias"]
    assert table[-1].startswith(
        "conventions  propensity=examination discount=log2 k=10 cluster=user"
    )
    assert any("2 impressions · 2 rewarded" in line for line in table)
    assert run(*words, "--format", "latex").stdout.startswith("% log  4 rows")
    assert not run(*words, "--format", "latex", "--quiet").stdout.startswith("%")


def test_counterfactual_mistakes(log: Path) -> None:
    """Mistakes end with a code and a sentence, never a traceback."""
    assert (
        "--columns click=reward" in run("online", "counterfactual", log, code=3).stderr
    )
    assert (
        "no discount 'log3'"
        in run("online", "counterfactual", log, "--discount", "log3", code=2).stderr
    )


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Write two runs."""
    first, other = tmp_path / "a.run", tmp_path / "b.run"
    first.write_text("q Q0 x 1 2.0 r\nq Q0 y 2 1.0 r\np Q0 z 1 1.0 r\n")
    other.write_text("q Q0 y 1 2.0 r\nq Q0 z 2 1.0 r\n")
    return first, other


def test_interleave(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """Lists are made, written and printed; clicks on them are tested; all as from Python."""
    lists = tmp_path / "lists.parquet"
    done = run("online", "interleave", *runs, "-o", lists, "--draws", 5, "--seed", 3)
    assert "1 query in both runs · 5 lists · 1 query in a only: no list" in done.stderr
    made = interleave(*runs, draws=5, seed=3)
    printed = run(
        "online", "interleave", *runs, "--draws", 5, "--seed", 3, "--format", "jsonl"
    ).stdout.splitlines()
    assert [json.loads(line) for line in printed] == made.lists.to_dicts()

    log = tmp_path / "clicks.csv"
    log.write_text(
        "query_id,draw,item,impression_id,user\nq,0,x,1,u\nq,1,y,2,u\nq,4,x,3,v\n"
    )
    words = (
        "online",
        "interleave",
        lists,
        "--clicks",
        log,
        "--columns",
        "item=doc_id",
        "--cluster",
        "user",
    )
    preference = interleaving_preference(
        log, lists, columns={"item": "doc_id"}, cluster="user"
    )
    assert json.loads(run(*words, "--format", "json").stdout) == preference.report()
    assert "warning  there is no column clicked" in run(*words).stdout


def test_interleave_mistakes(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """Options of making and of testing do not mix; files that cannot be written are refused first."""
    assert (
        "--k cannot go with --clicks"
        in run(
            "online", "interleave", runs[0], "--clicks", runs[1], "--k", 3, code=2
        ).stderr
    )
    assert (
        "--margin cannot go with two runs"
        in run("online", "interleave", *runs, "--margin", 0.1, code=2).stderr
    )
    assert (
        "two runs are interleaved"
        in run("online", "interleave", runs[0], code=2).stderr
    )
    assert (
        "no known suffix"
        in run(
            "online", "interleave", *runs, "-o", tmp_path / "lists.run", code=2
        ).stderr
    )


def test_ab(tmp_path: Path) -> None:
    """Differences, variants and sample ratio; the numbers are Python's."""
    log = tmp_path / "log.csv"
    rows = [f"{n},{n // 2},{'xy'[n // 2 % 2]},1,{n % 3 == 0}" for n in range(60)]
    log.write_text("\n".join(["impression_id,uid,arm,position,click", *rows]) + "\n")
    words = (
        "online",
        "ab",
        log,
        "--variant",
        "arm",
        "--versus",
        "y",
        "--columns",
        "uid=user_id",
        "--shares",
        "x=1,y=1",
    )
    experiment = ab(
        log, "arm", versus="y", columns={"uid": "user_id"}, shares={"x": 1, "y": 1}
    )
    assert json.loads(run(*words, "--format", "json").stdout) == experiment.report()
    table = run(*words, env={"COLUMNS": "200"}).stdout.splitlines()
    assert table[0].split()[:4] == ["measure", "variant", "versus", "difference"]
    assert any(
        line.startswith("log  60 rows · 60 impressions · 20 clicks · 30 values")
        for line in table
    )
    assert "variant=" not in table[-1]
    assert any(line.startswith("looks  ") and "--sequential" in line for line in table)
    running = run(*words, "--planned", 100, "--format", "csv").stderr
    assert "warning  the experiment is still running, with 30 of 100 units" in running
    always = ab(
        log,
        "arm",
        versus="y",
        columns={"uid": "user_id"},
        shares={"x": 1, "y": 1},
        sequential=True,
    )
    assert (
        json.loads(run(*words, "--sequential", "--format", "json").stdout)
        == always.report()
    )
    assert always.differences["low"][0] < experiment.differences["low"][0]
    assert "--planned 0" in run(*words, "--planned", 0, code=2).stderr
    alone = run(
        "online",
        "ab",
        log,
        "--variant",
        "arm",
        "--cluster",
        "impression_id",
        "--format",
        "json",
    ).stdout
    assert json.loads(alone)["conventions"]["cluster"] is None
    assert (
        "--shares x"
        in run("online", "ab", log, "--variant", "arm", "--shares", "x", code=2).stderr
    )
    assert "no column variant" in run("online", "ab", log, code=3).stderr
