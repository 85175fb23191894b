"""``rankstone compare``, ``power`` and ``eval --ci`` as a user meets them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.command_line import command
from tests.rows import each

from rankstone import compare, demo
from rankstone.cli import cli
from rankstone.errors import RankstoneError, UsageError

QRELS, BM25, TFIDF = str(demo.QRELS), str(demo.RUNS["bm25"]), str(demo.RUNS["tfidf"])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def printed(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exception is None, done.exception
    return done.stdout


def test_text_fits_eighty_columns() -> None:
    """Verdict, means and differences, cautions and how it was done, no wider than 80 but for the audit."""
    text = printed("compare", QRELS, BM25, TFIDF, "-m", "nDCG@10 AP RR@10")
    above = text.split("audit  ")[0]

    assert max(map(len, above.splitlines())) <= 80
    for part in (
        "Verdict",
        "Differences from bm25",
        "Caveats",
        "Method",
        "inconclusive",
    ):
        assert part in above


def test_every_pair_of_three(tmp_path: Path) -> None:
    """Three runs are three pairs, named by numbers."""
    third = tmp_path / "third.run"
    third.write_text(Path(BM25).read_text())
    text = printed(
        *("compare", QRELS, BM25, TFIDF, str(third), "-m", "AP"),
        *("--permutations", "500", "-v"),
    )

    for pair in ("#2 − #1", "#3 − #1", "#3 − #2"):
        assert pair in text
    assert "max-|t| by sign flips (Westfall and Young 1993)" in " ".join(text.split())
    assert "assumption: " in text
    assert "have identical scores on AP for all" in " ".join(text.split())


def test_json_is_the_report() -> None:
    """The same as from Python."""
    parsed = json.loads(
        printed(
            "compare", QRELS, BM25, TFIDF, "-m", "AP", "--format", "json", "--seed", "3"
        )
    )
    page = compare(QRELS, {"bm25": BM25, "tfidf": TFIDF}, "AP", seed=3).report()

    assert parsed == json.loads(json.dumps(page))


def test_csv_is_the_table() -> None:
    """A row a measure and pair."""
    rows = list(
        csv.DictReader(
            io.StringIO(
                printed("compare", QRELS, BM25, TFIDF, "--format", "csv", "--quiet")
            )
        )
    )

    assert [row["measure"] for row in rows] == [
        "nDCG@10",
        "AP",
        "RR@10",
        "R@100",
        "P@10",
    ]
    assert rows[0]["verdict"] == "inconclusive"


@pytest.mark.parametrize("form", ["md", "latex", "html"])
def test_documents_escape_names(form: str) -> None:
    """A run's name is anybody's text."""
    out = printed(
        "compare",
        QRELS,
        f"b&c%_<i>={BM25}",
        TFIDF,
        "-m",
        "AP",
        "--format",
        form,
        "--quiet",
    )

    shown = [
        line
        for line in out.splitlines()
        if not (form == "latex" and line.startswith("%"))
    ]  # no comments
    assert not any("b&c%_<i>" in line for line in shown)
    assert {"md": r"b\&c%\_\<i\>", "latex": r"b\&c\%\_", "html": "b&amp;c%_&lt;i&gt;"}[
        form
    ] in out
    if form == "latex":
        assert r"\toprule" in out


def test_chinese() -> None:
    """Words in Chinese, numbers as they are."""
    text = printed("compare", QRELS, BM25, TFIDF, "-m", "AP", "--lang", "zh")

    assert "结论" in text
    assert "tfidf 劣于 bm25" in text


def test_from_saved_scores(tmp_path: Path) -> None:
    """What eval --per-query wrote is compared as the runs are."""
    saved = tmp_path / "scores.parquet"
    printed("eval", QRELS, BM25, TFIDF, "-m", "AP", "--per-query", str(saved))
    from_scores = printed("compare", "--scores", str(saved), "--format", "csv")

    assert from_scores == printed(
        "compare", QRELS, BM25, TFIDF, "-m", "AP", "--format", "csv", "--quiet"
    )


def test_from_what_trec_eval_prints(tmp_path: Path) -> None:
    """trec_eval -q of two runs, whose names are those of the files."""
    for name, path in (("bm25", BM25), ("tfidf", TFIDF)):
        (tmp_path / f"{name}.txt").write_text(
            printed("trec-eval", "-q", "-c", "-m", "map", QRELS, path)
        )
    files = [str(tmp_path / f"{name}.txt") for name in ("bm25", "tfidf")]
    parsed = json.loads(
        printed("compare", "--scores", *files, "-m", "AP", "--format", "json")
    )

    assert parsed["systems"] == ["bm25", "tfidf"]
    assert parsed["comparisons"][0]["measure"] == "map"


def test_differences_of_queries_are_written(tmp_path: Path) -> None:
    """A row a query."""
    place = tmp_path / "differences.csv"
    printed("compare", QRELS, BM25, TFIDF, "-m", "AP", "--per-query", str(place))

    assert place.read_text().startswith(
        "measure,query_id,system,versus,value,value_versus,difference\n"
    )


def test_segments_and_clusters(tmp_path: Path) -> None:
    """Columns of the table of queries group and cluster."""
    queries = tmp_path / "queries.csv"
    lines = [
        "query_id,half,user",
        *(f"q{index:02d},{index % 2},u{index // 4}" for index in range(1, 33)),
    ]
    queries.write_text("\n".join(lines) + "\n")
    common = ("compare", QRELS, BM25, TFIDF, "-m", "AP", "--queries", str(queries))

    assert "Segments" in printed(*common, "--by", "half")
    assert "clusters of queries" in printed(*common, "--cluster", "user")


def test_bounds_are_reported() -> None:
    """How far unjudged documents could move the difference."""
    text = printed("compare", QRELS, BM25, TFIDF, "-m", "AP", "--bounds")
    assert "if the unjudged documents were judged" in text


@each(
    ("arguments", "message"),
    [
        (["compare", QRELS], "judgments and at least one run"),
        (["compare", QRELS, BM25], "two or more runs"),
        (["compare", QRELS, BM25, TFIDF, "--baseline", "bm52"], "did you mean bm25?"),
        (
            ["compare", QRELS, BM25, TFIDF, "--test", "tukey"],
            "--test 'tukey' is not known",
        ),
        (
            ["compare", QRELS, BM25, TFIDF, "--format", "pdf"],
            "--format pdf is not known",
        ),
        (["compare", "--scores"], "needs a file of scores"),
        (
            ["compare", "--scores", "x.csv", "--bounds"],
            "--bounds cannot go with --scores",
        ),
        (["power", "-d", "0.1"], "either runs or --deviation"),
        (["power", "-d", "x", "--deviation", "1"], "numbers, separated by commas"),
        (["eval", QRELS, BM25, "--cluster", "user"], "needs --queries"),
        (["eval", QRELS, BM25, "--ci", "--interval", "bcaa"], "did you mean bca"),
        (
            ["eval", QRELS, BM25, "--ci", "--format", "trec"],
            "no place for segments and intervals",
        ),
    ],
)
def test_mistakes_are_reported(arguments: list[str], message: str) -> None:
    """What was given, what was expected; never a traceback."""
    done = run(*arguments)

    assert isinstance(done.exception, RankstoneError)
    assert message in str(done.exception)


def test_power_from_a_pilot_and_from_a_number() -> None:
    """How many queries, in a table, JSON and CSV."""
    assert "128" in printed("power", "--deviation", "0.2", "-d", "0.05")
    parsed = json.loads(
        printed(
            "power",
            QRELS,
            BM25,
            TFIDF,
            "-m",
            "AP nDCG@10",
            "-d",
            "0.05,0.1",
            "--format",
            "json",
        )
    )

    plan = parsed["plan"]

    assert [row["measure"] for row in plan] == ["AP", "AP", "nDCG@10", "nDCG@10"]
    assert plan[0]["needed"] > plan[1]["needed"]


def test_intervals_beside_means() -> None:
    """Every format has them."""
    common = (
        "eval",
        QRELS,
        BM25,
        "--ci",
        "-m",
        "AP",
        "--seed",
        "1",
        "--interval",
        "studentised",
    )
    interval = json.loads(printed(*common, "--format", "json"))["intervals"][0]
    rows = list(
        csv.DictReader(io.StringIO(printed(*common, "--format", "csv", "--quiet")))
    )

    assert (
        f"{interval['value']:.4f} [{interval['low']:.4f}, {interval['high']:.4f}]"
        in printed(*common)
    )
    assert (float(rows[0]["low"]), float(rows[0]["high"])) == (
        interval["low"],
        interval["high"],
    )
    assert "studentised: bootstrap, studentised, seed 1" in printed(*common)
    assert "auto: chosen from the measure's range" in printed(*common[:-2])


def test_several_baselines(tmp_path: Path) -> None:
    """Each is compared with all others: in a table, in rows, and on the page, in both languages."""
    third = tmp_path / "third.run"
    third.write_text(Path(BM25).read_text())
    words = ["compare", QRELS, BM25, TFIDF, third, "-m", "nDCG@10"]
    words += ["--baseline", "bm25", "--baseline", "third"]
    output = run(*map(str, words))
    for name in ("bm25", "third"):
        assert f"Differences from {name}" in output.stdout
    rows = json.loads(printed(*map(str, words), "--format", "json"))["comparisons"]
    pairs = [(row["system"], row["versus"]) for row in rows]
    assert pairs == [("tfidf", "bm25"), ("third", "bm25"), ("tfidf", "third")]

    for lang, claim in (
        ("en", "No system clearly beats {}"),
        ("zh", "没有系统明显优于 {}"),
    ):
        page = tmp_path / "page.html"
        printed("report", *map(str, words[1:]), "--lang", lang, "-o", str(page))
        text = page.read_text()
        assert all(claim.format(name) in text for name in ("bm25", "third"))
        assert '"baselines":[0,1]' in text


def test_the_threshold_of_rel_is_that_of_every_option_that_names_a_measure() -> None:
    """--primary, --sort and the measure of a plan mean the measure that is computed."""
    files = (QRELS, BM25, TFIDF)
    primary = command("compare", *files, "-m", "AP P@2", "--rel", 2, "--primary", "P@2")
    assert "on P(rel=2)@2" in primary.stdout
    ordered = command("eval", *files, "-m", "AP P@2", "--rel", 2, "--sort", "AP")
    assert "AP(rel=2)" in ordered.stdout
    assert command("power", *files, "-m", "AP", "--rel", 2, "-d", "0.1").stdout


def test_a_refused_option_is_called_what_was_typed() -> None:
    """Also where Python calls it otherwise, and where it is no option."""
    files = (QRELS, BM25, TFIDF)
    for option, value in (("--variant", "arm"), ("--metric", "m"), ("--versus", "b")):
        refusal = command("slices", *files, option, value, code=2).stderr
        assert f"{option} cannot go with runs" in refusal
    assert (
        "files cannot go with"
        in command("board", QRELS, "--pairs", BM25, code=2).stderr
    )


def test_means_for_a_paper(tmp_path: Path) -> None:
    """The shell writes what Python does; names come from a line or a file, and unknown ones are refused."""
    names = tmp_path / "names.txt"
    names.write_text("bm25=BM25\n\ntfidf = TF & IDF\n")
    paper = ("compare", QRELS, BM25, TFIDF, "-m", "AP P@5", "--format", "latex")
    whole = (*paper, "--table", "means", "--marks", "bold", "--caption")
    made = compare(QRELS, [BM25, TFIDF], "AP P@5")
    wanted = made.to_latex(
        table="means",
        marks="bold",
        names={"bm25": "BM25", "tfidf": "TF & IDF"},
        caption=True,
    )

    for naming in (str(names), "bm25=BM25,tfidf=TF & IDF"):
        assert printed(*whole, "--names", naming) == wanted
    assert r"TF \& IDF" in wanted
    assert "did you mean bm25?" in str(run(*whole, "--names", "bm52=x").exception)
    assert "No such file" in str(run(*whole, "--names", "nowhere").exception)
    assert "system=name" in str(run(*whole, "--names", "bm25=x,tfidf").exception)


@pytest.mark.parametrize(
    "options",
    [
        ["--caption"],
        ["--names", "bm25=BM25"],
        ["--marks", "bold"],
        ["--table", "means"],
    ],
)
@pytest.mark.parametrize("form", ["table", "csv", "latex"])
def test_options_of_papers_are_refused_elsewhere(options: list[str], form: str) -> None:
    """None is silently ignored, and the fix works."""
    if form == "latex" and options[0] == "--table":
        return
    done = run("compare", QRELS, BM25, TFIDF, "--format", form, *options)

    assert isinstance(done.exception, UsageError)
    assert done.exception.expected == "--format latex --table means"
    made = compare(QRELS, [BM25, TFIDF], "AP")
    for ignored in ({"caption": True}, {"names": {"bm25": "x"}}):
        with pytest.raises(UsageError, match=r'to_latex\(table="means"'):
            made.to_latex(**ignored)
