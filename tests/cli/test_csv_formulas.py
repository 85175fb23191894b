"""Texts that a spreadsheet would compute stand behind an apostrophe in CSV, where somebody asks for it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl
import pytest
from click.testing import CliRunner

import rankstone
from rankstone.cli import cli
from rankstone.errors import BadOption
from rankstone.ltr.predictions import write_predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

#: an id for each character that begins a formula, and some that begin none
FORMULAS = ("=1+1", "+1", "-1", "@sum(a)", "\tq", "\rq")
HARMLESS = ("q=1", "1", "'=1", "–1", " =1")


def commands(group: click.Command = cli) -> Iterator[click.Command]:
    """Yield every command of the command line."""
    if not isinstance(group, click.Group):
        yield group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        yield from commands(group.get_command(context, name) or group)


def shell(*arguments: object) -> str:
    """Run a command here, and return what it printed on standard output."""
    done = CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Make judgments, two runs and a table of queries whose ids are formulas."""
    queries = [*FORMULAS, *HARMLESS]
    rows = pl.DataFrame(
        {"query_id": queries, "doc_id": "=d", "relevance": 1, "score": -1.5}
    )
    rows.drop("score").write_parquet(tmp_path / "qrels.parquet")
    rows.drop("relevance").write_parquet(tmp_path / "=run.parquet")
    pl.DataFrame({"query_id": queries, "=country": "@de"}).write_parquet(
        tmp_path / "queries.parquet"
    )
    return tmp_path


def test_every_command_that_writes_csv_has_the_option() -> None:
    """Whoever offers CSV, to be printed or in a file, says what becomes of formulas."""
    offering = {
        command
        for command in commands()
        for option in command.params
        if isinstance(option, click.Option)
        and "csv"
        in f"{option.metavar if '--format' in option.opts else ''}{option.help}"
        and {"--format", "--output", "--per-query", "--positions", "--cohorts"}
        & {*option.opts}
    }
    having = {
        command
        for command in commands()
        for p in command.params
        if "--csv-formulas" in p.opts
    }

    assert {"eval", "clicks", "identify", "sampled", "retention"} <= {
        str(c.name) for c in offering
    }
    assert offering <= having
    assert "score" in {command.name for command in having}  # its -o FILE.csv is a table


def test_nothing_else_writes_csv() -> None:
    """Commands leave CSV to what all results have in common, and hand it the option."""
    folder = Path(rankstone.__file__).parent / "cli"
    writing = [
        path.name
        for path in folder.glob("*.py")
        if ".write_csv(" in path.read_text(encoding="utf-8")
    ]
    assert not writing


def test_means_are_escaped(files: Path) -> None:
    """Names of runs, values and names of columns are texts; a number below zero stays one."""
    line = (
        "eval",
        files / "qrels.parquet",
        files / "=run.parquet",
        "-m",
        "RR NumRet(agg=sum)",
        "--quiet",
    )
    words = (
        "--queries",
        files / "queries.parquet",
        "--by",
        "=country",
        "--format",
        "csv",
    )

    result = shell(*line, *words, "--csv-formulas", "escape")
    plain = shell(*line, *words)

    assert result == plain.replace("=run", "'=run").replace(
        "=country", "'=country"
    ).replace("@de", "'@de")
    assert plain.splitlines()[1] == "=run,@de,RR,1.0,11,0"
    assert shell(*line, *words, "--csv-formulas", "keep") == plain


def test_values_per_query_are_escaped(files: Path) -> None:
    """So are ids in files that are written beside; other formats hold every id as it is."""
    line = (
        "eval",
        files / "qrels.parquet",
        files / "=run.parquet",
        "-m",
        "RR",
        "--csv-formulas",
        "escape",
    )

    shell(*line, "--per-query", files / "rows.csv")
    shell(*line, "--per-query", files / "rows.jsonl")

    with (files / "rows.csv").open(newline="") as rows:
        ids = [row["query_id"] for row in csv.DictReader(rows)]
    assert ids == [*(f"'{formula}" for formula in FORMULAS), *HARMLESS]
    lines = (files / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line)["query_id"] for line in lines] == [*FORMULAS, *HARMLESS]


def test_curves_and_scores_of_rankers_are_escaped(files: Path) -> None:
    """What is written by hand, cell by cell, and tables of documents."""
    line = ("curve", files / "qrels.parquet", files / "=run.parquet", "--format", "csv")
    assert {
        row["run"]
        for row in csv.DictReader(io.StringIO(shell(*line, "--csv-formulas", "escape")))
    } == {"'=run"}
    features = files / "features.csv"
    features.write_text("query_id,doc_id,label,f1\n=q,@d,1,0.5\n=q,+d,0,-0.5\n")
    shell("ltr", "train", features, "-o", files / "model.json")
    for suffix, between in (("csv", ","), ("tsv", "\t")):
        scored = files / f"scored.{suffix}"
        shell(
            "ltr",
            "score",
            files / "model.json",
            features,
            "-o",
            scored,
            "--csv-formulas",
            "escape",
        )
        assert [
            row.split(between)[:2] for row in scored.read_text().splitlines()[1:]
        ] == [["'=q", "'@d"], ["'=q", "'+d"]]


def test_in_python(tmp_path: Path) -> None:
    """The method that writes CSV takes the same choice, and refuses any other."""
    scores = rankstone.evaluate({"=q": {"d": 1}}, {"=q": ["d"]}, "RR")
    scores.write(tmp_path / "kept.csv")
    scores.write(tmp_path / "escaped.csv", formulas="escape")

    kept, escaped = (
        (tmp_path / name).read_text() for name in ("kept.csv", "escaped.csv")
    )
    assert (kept.splitlines()[1][:6], escaped.splitlines()[1][:7]) == (
        "run,=q",
        "run,'=q",
    )
    assert escaped == kept.replace("=q", "'=q")
    with pytest.raises(BadOption, match="did you mean escape"):
        scores.write(tmp_path / "no.csv", formulas="escaped")
    assert write_predictions.__kwdefaults__ == {"formulas": "keep"}
