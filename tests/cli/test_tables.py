"""Tables beside judgments and runs on the command line: queries, intents, an exact run for the truth."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING

import pytest
from tests.command_line import command as run

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 s1 a 1\nq1 s2 b 1\nq2 s1 a 1\n"
RUN = "q1 Q0 b 1 0.9 t\nq1 Q0 a 2 0.8 t\nq2 Q0 x 1 0.9 t\nq2 Q0 a 2 0.5 t\n"
QUERIES = (
    "query_id,country,weight,session,position\nq1,de,3,s,1\nq2,fr,1,s,2\nq9,fr,1,t,1\n"
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Judgments by subtopic, a run, a table of queries and one of intents, an exact run."""
    texts = {
        "qrels.txt": QRELS,
        "a.run": RUN,
        "queries.csv": QUERIES,
        "intents.txt": "q1 s1 0.9\nq1 s2 0.1\n",
        "exact.run": "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 0.8 t\nq1 Q0 c 3 0.8 t\nq2 Q0 a 1 1 t\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name.partition(".")[0]: tmp_path / name for name in texts}


def test_means_by_segment(files: dict[str, Path]) -> None:
    """--by adds a row for each segment, and the audit says what the table of queries held."""
    arguments = (
        "eval",
        files["qrels"],
        files["a"],
        "-v",
        "--queries",
        files["queries"],
        "-m",
        "IA(of=RR)",
    )
    out = run(*arguments, "--by", "country").stdout.splitlines()

    assert out[1].split() == ["a", "0.6250"]
    assert out[2].split() == ["country=de", "(1)", "0.7500"]
    assert out[3].split() == ["country=fr", "(1)", "0.5000"]
    assert "queries  3 rows · 1 row about queries without judgments" in out
    table = list(
        csv.DictReader(
            io.StringIO(run(*arguments, "--by", "country", "--format", "csv").stdout)
        )
    )
    assert [(row["country"], float(row["value"])) for row in table] == [
        ("de", 0.75),
        ("fr", 0.5),
    ]
    report = json.loads(
        run(*arguments, "--by", "country,session", "--format", "json").stdout
    )
    assert [row["session"] for row in report["segments"]] == ["s", "s"]
    assert report["audit"]["queries"]["unknown"] == 1
    for form in ("md", "latex", "jsonl"):
        assert "de" in run(*arguments, "--by", "country", "--format", form).stdout


def test_weights_and_sessions(files: dict[str, Path]) -> None:
    """--queries serves weighted means and session measures."""
    measures = "IA(of=RR, agg=weighted) sDCG@10"
    out = run(
        "eval",
        files["qrels"],
        files["a"],
        "--queries",
        files["queries"],
        "-m",
        measures,
    ).stdout

    session = 1 + 1 / math.log2(3) + 1 / math.log2(3) / (1 + math.log(2, 4))
    assert out.splitlines()[1].split() == [
        "a",
        f"{(3 * 0.75 + 0.5) / 4:.4f}",
        f"{session:.4f}",
    ]


def test_weights_of_intents(files: dict[str, Path]) -> None:
    """--intents weighs subtopics; what is not mentioned has equal weights."""
    measures = "IA(of=RR) StRecall@1 alpha_nDCG@10"
    out = run(
        "eval",
        files["qrels"],
        files["a"],
        "--intents",
        files["intents"],
        "-m",
        measures,
    ).stdout

    assert out.splitlines()[1].split()[:3] == [
        "a",
        f"{((0.9 / 2 + 0.1) + 0.5) / 2:.4f}",
        "0.2500",
    ]
    assert "intents: 1 query without a row" in out


def test_an_exact_run_is_the_truth(files: dict[str, Path]) -> None:
    """--exact-run judges by the head of a run; the default measure is found / k, ties with the k-th count."""
    out = run(
        "eval", "--exact-run", files["exact"], "--depth", 2, files["a"]
    ).stdout.splitlines()

    assert out[0].split() == ["run", "R(denom=min_R_k)@2"]
    assert out[1].split() == ["a", f"{(2 / 2 + 1 / 1) / 2:.4f}"]
    assert not out[2:]
    report = json.loads(
        run(
            "eval",
            "--exact-run",
            files["exact"],
            "--depth",
            2,
            files["a"],
            "-m",
            "P@1 AP",
            "--format",
            "json",
        ).stdout
    )
    assert report["runs"]["a"]["P@1"] == (1 + 0) / 2
    assert report["inputs"]["judgments"] == f"first 2 of {files['exact']}"


def test_epsilon_for_the_truth(files: dict[str, Path]) -> None:
    """--within counts scores near the k-th as tied with it."""
    item = ("eval", "--exact-run", files["exact"], "--depth", 1)
    assert run(*item, files["a"]).stdout.splitlines()[1].split() == ["a", "0.0000"]
    assert run(*item, "--within", 0.11, files["a"]).stdout.splitlines()[1].split() == [
        "a",
        "0.5000",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("{qrels}", "{a}", "--by", "country"), 2, "--by needs --queries FILE"),
        (("{qrels}", "{a}", "--within", "1"), 2, "--within needs --exact-run RUN"),
        (
            ("{qrels}", "{a}", "--queries", "{queries}", "--by", "contry"),
            3,
            "did you mean country?",
        ),
        (
            (
                "{qrels}",
                "{a}",
                "--queries",
                "{queries}",
                "--by",
                "country",
                "--format",
                "trec",
            ),
            2,
            "no place",
        ),
        (
            ("{qrels}", "{a}", "--queries", "{qrels}"),
            3,
            "a table with column names is needed",
        ),
        (("{qrels}", "{a}", "-m", "sDCG"), 2, "needs a query table"),
        (("--exact-run", "{exact}", "{a}"), 2, "--exact-run needs --depth"),
        (
            ("--exact-run", "{exact}", "--depth", "2"),
            2,
            "--exact-run needs at least one run",
        ),
        (
            ("--exact-run", "{exact}", "--depth", "2", "--exclude", "{a}", "{a}"),
            2,
            "--exclude cannot go with",
        ),
        (
            ("--labeled", "{queries}", "--intents", "{intents}"),
            2,
            "--intents cannot go with --labeled",
        ),
        (
            ("{qrels}", "{a}", "--queries", "{queries}", "-o", "{queries}"),
            2,
            "is also an input",
        ),
    ],
)
def test_mistakes(
    files: dict[str, Path], arguments: tuple[str, ...], code: int, message: str
) -> None:
    """What goes with what is checked before anything is scored."""
    filled = [argument.format(**files) for argument in arguments]
    assert message in run("eval", *filled, code=code).stderr
