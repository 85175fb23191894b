"""``--explain`` of ``rankstone diff`` and ``rankstone beyond`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rankstone.cli import cli
from rankstone.errors import RankstoneError

DEMO = Path(__file__).parents[2] / "src" / "rankstone" / "demo"
QRELS, BM25, TFIDF = (
    str(DEMO / name) for name in ("qrels.txt", "bm25.run", "tfidf.run")
)
FORMATS = (
    ("table", "numerator"),
    ("md", "| --: |"),
    ("latex", "toprule"),
    ("html", "<table>"),
)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(
        cli, [*arguments], input=Path(BM25).read_bytes(), catch_exceptions=True
    )


@pytest.mark.parametrize(("form", "sign"), FORMATS)
def test_two_rankings(form: str, sign: str) -> None:
    """One query of two runs, in every format."""
    assert (
        sign
        in run(
            "diff",
            BM25,
            TFIDF,
            "-q",
            "q01",
            "--explain",
            "RBO(p=0.9)",
            "--format",
            form,
        ).stdout
    )


@pytest.mark.parametrize(("form", "sign"), FORMATS)
def test_whole_lists(form: str, sign: str) -> None:
    """The whole run, in every format."""
    assert (
        sign in run("beyond", BM25, "--explain", "Entropy@5", "--format", form).stdout
    )


def test_values_are_those_printed(tmp_path: Path) -> None:
    """As JSON, and to a file."""
    output = run(
        "diff", BM25, TFIDF, "-q", "q01", "--explain", "tau_b", "--format", "json"
    )
    listed = run("diff", BM25, TFIDF, "-q", "q01", "-m", "tau_b", "--format", "json")
    assert (
        json.loads(output.stdout)["value"]
        == json.loads(listed.stdout)["measures"][0]["value"]
    )
    there = tmp_path / "it.json"
    line = (
        "--history",
        QRELS,
        "--explain",
        "Novelty@3",
        "-q",
        "q01",
        "--format",
        "json",
        "-o",
        str(there),
    )
    assert not run("beyond", BM25, *line).stdout
    assert json.loads(there.read_text(encoding="utf-8"))["of"] == "q01"


@pytest.mark.parametrize("form", ["table", "md", "latex", "html"])
def test_decimals(form: str) -> None:
    """--digits sets the decimals of explanations, too; JSON has them all."""
    pair = ("diff", BM25, TFIDF, "-q", "q01", "--explain", "RBO(p=0.9)", "--format")
    whole = ("beyond", BM25, "--explain", "Entropy@5", "--format")
    for line in (pair, whole):
        value = json.loads(run(*line, "json", "--digits", "2").stdout)["value"]
        assert value != round(value, 4)
        for digits in (2, 7):
            assert (
                f"= {value:.{digits}f}"
                in run(*line, form, "--digits", str(digits)).stdout
            )


def test_several_runs_and_chinese() -> None:
    """Each run is explained; headings speak Chinese."""
    done = run(
        "beyond",
        BM25,
        TFIDF,
        "--explain",
        "Coverage@5",
        "--catalogue-size",
        "500",
        "--lang",
        "zh",
    )
    assert done.stdout.count("按物品") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diff", BM25, TFIDF, "--explain", "tau_b"), "which query?"),
        (
            ("diff", BM25, TFIDF, "--explain", "tau_b", "-q", "q01", "-m", "rho"),
            "--measures cannot go with",
        ),
        (
            ("diff", BM25, TFIDF, "--explain", "tau_b", "-q", "q01", "--format", "svg"),
            "--format svg",
        ),
        (("diff", BM25, TFIDF, "--lang", "zh"), "--lang cannot go with a table"),
        (
            ("diff", BM25, TFIDF, "--explain", "AP", "-q", "q01"),
            "not a measure of two rankings",
        ),
        (("beyond", BM25, "--explain", "Entropy@5", "-q", "q01"), "leave the user out"),
        (("beyond", BM25, "-q", "q01"), "--query cannot go with a table"),
        (
            ("explain", QRELS, BM25, "-q", "q01", "-m", "tau_b"),
            "rankstone diff A B --explain tau_b",
        ),
        (
            ("explain", QRELS, BM25, "-q", "q01", "-m", "Gini"),
            "rankstone beyond RUN --explain Gini",
        ),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str) -> None:
    """Every refusal says what is wrong, or what to do."""
    done = run(*arguments)
    assert done.exit_code
    assert isinstance(done.exception, (RankstoneError, SystemExit))
    assert (
        message
        in f"{done.exception} {getattr(done.exception, 'fix', '')} {done.output}"
    )
