"""Bad runs among good ones: all are named at once, or left out and named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone
from rankstone import InputError, demo
from rankstone.errors import BadLine, BadOption, BadRuns, DuplicateRows
from rankstone.evaluation.out_of_core import evaluate_out_of_core

if TYPE_CHECKING:
    from pathlib import Path

BM25, TFIDF = demo.RUNS["bm25"], demo.RUNS["tfidf"]
LINES = BM25.read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    """Return good runs and bad ones: no number, a document twice, no such file, unknown queries, empty."""
    texts = {
        "number": "".join(LINES[:5]) + "q1 Q0 d1 1 high t\n",
        "twice": "".join(LINES) + LINES[0],
        "strange": "nobody Q0 d1 1 0.5 t\n",
        "empty": "",
    }
    values = {"bm25": BM25}
    for name, text in texts.items():
        values[name] = tmp_path / f"{name}.run"
        values[name].write_text(text, encoding="utf-8")
    return {**values, "absent": tmp_path / "absent.run", "tfidf": TFIDF}


BAD = ["number", "twice", "strange", "empty", "absent"]


# -- in Python -------------------------------------------------------------------------------------------
def test_all_bad_runs_are_named_at_once(runs: dict[str, Path]) -> None:
    """The first three messages whole, the others by name, and what may be done."""
    with pytest.raises(BadRuns) as met:
        rankstone.evaluate(demo.QRELS, runs, "AP")

    assert list(met.value.errors) == BAD
    assert [type(error) for error in list(met.value.errors.values())[:2]] == [
        BadLine,
        DuplicateRows,
    ]
    lines = str(met.value).splitlines()
    assert lines[0] == "5 of 7 runs cannot be scored"
    assert lines[1] == f"  number: {runs['number']}:6: the score 'high' is not a number"
    assert lines[-2:] == [
        "  and empty, absent",
        "  fix:      on_bad_run=skip leaves them out and scores the others",
    ]


def test_one_bad_run_is_refused_in_its_own_words(runs: dict[str, Path]) -> None:
    """One bad run keeps its class and message, and so does a run alone."""
    for subset in (["bm25", "number"], ["number"]):
        for option in ("stop", "skip") if subset == ["number"] else ("stop",):
            with pytest.raises(BadLine, match="the score 'high' is not a number"):
                rankstone.evaluate(
                    demo.QRELS, {n: runs[n] for n in subset}, "AP", on_bad_run=option
                )


@pytest.mark.parametrize("how", ["evaluate", "convention", "out_of_core"])
def test_others_are_scored_without_bad_runs(runs: dict[str, Path], how: str) -> None:
    """Their numbers are those they have without them, and the audit says what is wrong with which."""
    verb: Any = evaluate_out_of_core if how == "out_of_core" else rankstone.evaluate
    more: dict[str, Any] = {"convention": "trec_eval-9"} if how == "convention" else {}
    measures = ["map", "map[-J]"] if how == "convention" else ["AP", "nDCG@10"]
    if how == "convention":  # trec_eval takes a document twice in its own way
        runs.pop("twice")
    result = verb(demo.QRELS, runs, measures, on_bad_run="skip", **more)

    assert (
        result.to_dict()
        == rankstone.evaluate(demo.QRELS, demo.RUNS, measures, **more).to_dict()
    )
    assert list(result.audit.runs) == list(result.inputs["runs"]) == ["bm25", "tfidf"]
    assert (
        list(result.audit.bad_runs)
        == list(result.audit.to_dict()["bad_runs"])
        == [n for n in BAD if n in runs]
    )
    assert (
        f"number  left out: {runs['number']}:6: the score 'high' is not a number"
        in result.audit.lines()
    )


@pytest.mark.parametrize("verb", [rankstone.evaluate, evaluate_out_of_core])
def test_bad_judgments_are_no_bad_runs(verb: Any) -> None:
    """What is wrong with the judgments is stated once, and nothing is left out for it."""
    qrels = [("q1", "d1", 1), ("q1", "d1", 0)]
    table = pl.DataFrame(qrels, ["query_id", "doc_id", "relevance"], orient="row")
    for option in ("stop", "skip"):
        with pytest.raises(DuplicateRows):
            verb(table, demo.RUNS, "AP", on_bad_run=option)


def test_nothing_is_left_when_all_are_bad(runs: dict[str, Path]) -> None:
    """Then they are refused, without the advice to leave them out."""
    with pytest.raises(BadRuns) as met:
        rankstone.evaluate(
            demo.QRELS, {name: runs[name] for name in BAD}, "AP", on_bad_run="skip"
        )
    assert met.value.fix is None
    with pytest.raises(BadOption, match="on_bad_run='ignore' is not known"):
        rankstone.evaluate(demo.QRELS, runs, "AP", on_bad_run="ignore")


def test_ids_of_another_kind_make_a_bad_run() -> None:
    """Numbers against texts are this run's mistake."""
    runs = {"good": {"1": {"a": 1.0}}, "numbers": {1: {2: 1.0}}}
    scores = rankstone.evaluate({"1": {"a": 1}}, runs, "AP", on_bad_run="skip")
    assert scores.to_dict() == {"good": {"AP": 1.0}}
    assert "query_id has two types" in str(scores.audit.bad_runs["numbers"])


def test_a_list_leaves_the_order_of_other_runs_alone() -> None:
    """Within a given memory, too, plain lists have no order but their own, and runs with scores theirs."""
    runs = {"listed": {"q": ["b", "a"]}, "scored": {"q": {"b": 1.0, "a": 2.0}}}
    want = rankstone.evaluate({"q": {"a": 1}}, runs, "RR").to_dict()
    assert want == {"listed": {"RR": 0.5}, "scored": {"RR": 1.0}}
    assert (
        rankstone.evaluate({"q": {"a": 1}}, runs, "RR", memory="4GB").to_dict() == want
    )


@pytest.mark.parametrize("keep_runs", [False, True])
def test_comparisons_leave_bad_runs_out(
    runs: dict[str, Path], *, keep_runs: bool
) -> None:
    """The verdict is that of the others; a bad baseline leaves nothing to compare with."""
    options: dict[str, Any] = {"on_bad_run": "skip", "keep_runs": keep_runs}
    comparison = rankstone.compare(
        demo.QRELS, runs, "nDCG@10", baseline="tfidf", **options
    )
    assert comparison.table.equals(
        rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10", baseline="tfidf").table
    )
    assert comparison.audit is not None
    assert list(comparison.audit.bad_runs) == BAD

    with pytest.raises(BadLine):
        rankstone.compare(demo.QRELS, runs, "nDCG@10", baseline="number", **options)
    subset = {name: runs[name] for name in ("bm25", "number")}
    with pytest.raises(InputError, match="1 of 2 runs cannot be scored"):
        rankstone.compare(demo.QRELS, subset, "nDCG@10", **options)


# -- at a shell ------------------------------------------------------------------------------------------
def test_eval_names_every_bad_run(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3 either way; with skip the table of the others is printed, the whole messages below."""
    line = ["eval", str(demo.QRELS), *map(str, runs.values()), "-m", "AP"]
    assert exit_code(line) == 3
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: 5 of 7 runs cannot be scored\n  number: ")
    assert "fix:      choose what to do with --duplicates first_keep_rank" in err
    assert err.endswith(
        "  fix:      --on-bad-run skip leaves them out and scores the others\n"
    )

    assert (
        exit_code([*line, "--on-bad-run", "skip", "--format", "json", "--quiet"]) == 3
    )
    out, err = capsys.readouterr()
    assert (
        json.loads(out)["runs"]
        == rankstone.evaluate(demo.QRELS, demo.RUNS, "AP").to_dict()
    )
    assert list(json.loads(out)["audit"]["bad_runs"]) == BAD
    assert [
        text.split(" is left out")[0]
        for text in err.splitlines()
        if text.startswith("error: ")
    ] == [f"error: {name}" for name in BAD]


@pytest.mark.parametrize("command", ["compare", "report"])
def test_comparing_commands_leave_bad_runs_out(
    command: str,
    runs: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The result is written, bad runs are named, and the exit code says so."""
    if command == "report":
        pytest.importorskip("jinja2")
    target = tmp_path / ("page.html" if command == "report" else "result.txt")
    line = [
        command,
        str(demo.QRELS),
        *map(str, runs.values()),
        "-m",
        "nDCG@10",
        "-o",
        str(target),
    ]
    more = ["--permutations", "100", "--resamples", "100"]
    assert exit_code([*line, *more]) == 3
    assert "5 of 7 runs cannot be scored" in capsys.readouterr().err
    assert not target.exists()

    assert exit_code([*line, *more, "--on-bad-run", "skip"]) == 3
    err = capsys.readouterr().err
    assert all(f"error: {name} is left out: " in err for name in BAD)
    shown = target.read_text(encoding="utf-8")
    if command == "report":
        assert "Some runs could not be scored" in shown
        assert all(f"{name} (" in shown for name in BAD)
    else:
        assert "5 runs left out: " in shown
        assert "number could not be scored and is left out" in shown


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "eval --labeled x.csv --on-bad-run skip",
            "--on-bad-run cannot go with --labeled",
        ),
        (
            "eval q.txt a.run --engine spark --on-bad-run skip",
            "--on-bad-run cannot go with --engine spark",
        ),
        (
            "compare --scores x.csv --on-bad-run skip",
            "--on-bad-run cannot go with --scores",
        ),
        ("eval q.txt a.run --on-bad-run skp", "fix:      did you mean skip?"),
    ],
)
def test_where_nothing_can_be_left_out(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One table, saved scores and a cluster know no bad runs."""
    assert exit_code(line.split()) == 2
    assert message in capsys.readouterr().err
