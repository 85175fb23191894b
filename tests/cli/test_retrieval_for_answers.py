"""Chunks, budgets, calls and failures on the command line, on the example of a shop's assistant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., str]

RAG: Final = Path(__file__).parents[2] / "examples" / "rag"
LOG: Final = str(RAG / "log.json")
TWO: Final = (LOG, f"vector={LOG}", f"reranked={RAG / 'reranked.json'}")
COLUMNS: Final = (
    "--columns",
    "question=query_id,qrels.relevant=doc_id,run.retrieved=doc_id",
)
CHUNKS: Final = ("--documents", str(RAG / "chunks.csv"))


def test_two_retrievers_at_a_budget(run: Run) -> None:
    """From a log to recall at a rank and at a budget, with intervals and a verdict, in two commands."""
    scores = run(
        "eval", *TWO, *COLUMNS, *CHUNKS, "-m", "R@3 R@tokens(60)", "--format", "csv"
    )
    assert "reranked,R@tokens(60),0.9166666666666666,12,0" in scores
    verdict = run("compare", *TWO, *COLUMNS, *CHUNKS, "-m", "R@tokens(60)")
    assert "Inconclusive: reranked − vector on R@tokens(60) = +0.2917" in verdict


def test_other_commands_take_budgets(run: Run, tmp_path: Path) -> None:
    plan = run("power", *TWO, *COLUMNS, *CHUNKS, "-m", "R@tokens(60)", "-d", "0.2")
    assert "R@tokens(60)" in plan
    words = (
        "-m",
        "R@tokens(30,60,90)",
        "--target",
        "R=0.9",
        "--format",
        "jsonl",
        "--quiet",
    )
    rows = run("curve", *TWO, *COLUMNS, *CHUNKS, *words).splitlines()
    assert [json.loads(row)["k"] for row in rows if row[:1] == "{"] == [None, 60]
    text = run(
        "curve",
        *TWO,
        *COLUMNS,
        *CHUNKS,
        "-m",
        "R@tokens(30,60,90)",
        "--target",
        "R=0.6",
    )
    assert "reaches 0.6 at a smaller budget of tokens than" in " ".join(text.split())
    chart, curves = tmp_path / "chart.svg", tmp_path / "curves.html"
    run(
        "curve",
        *TWO,
        *COLUMNS,
        *CHUNKS,
        "-m",
        "R@tokens(30,60)",
        "--chart",
        str(chart),
        "-o",
        str(curves),
    )
    assert ">tokens</text>" in chart.read_text(encoding="utf-8")
    assert "cutoff k" not in chart.read_text(encoding="utf-8")
    assert '["R@tokens(30,60)","tokens"]' in curves.read_text(encoding="utf-8").replace(
        ", ", ","
    )
    page = tmp_path / "page.html"
    run("report", *TWO, *COLUMNS, *CHUNKS, "-m", "R@tokens(60)", "-o", str(page))
    assert "R@tokens(60)" in page.read_text(encoding="utf-8")
    explained = run(
        "explain", LOG, LOG, *COLUMNS, *CHUNKS, "-m", "R@tokens(60)", "--worst", "1"
    )
    assert "the budget tokens(60) allows" in explained


@pytest.mark.parametrize("command", ["bounds", "baseline"])
def test_commands_about_other_lists_refuse_budgets(
    run: Run, command: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.csv"
    file.write_text("query_id,doc_id,score,tokens\nq,a,1,5\n")
    judged = tmp_path / "qrels.csv"
    judged.write_text("query_id,doc_id,relevance\nq,a,1\n")
    output = run(command, str(judged), str(file), "-m", "R@tokens(60)", code=2)
    assert "use a cutoff by rank: R@10" in output


def test_a_gate_on_a_budget(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "rankstone.toml"
    config.write_text(
        f"""
        [gate]
        qrels = '{LOG}'
        baseline = '{LOG}'
        candidate = '{TWO[2].partition("=")[2]}'
        [gate.options]
        columns = {{question = "query_id", "qrels.relevant" = "doc_id", "run.retrieved" = "doc_id"}}
        documents = '{CHUNKS[1]}'
        [[gate.rules]]
        measure = "R@tokens(60)"
        margin = 0.1
        """
    )
    assert "R@tokens(60)" in run("gate", "--config", str(config))


def test_calls_of_an_agent(run: Run) -> None:
    words = (
        LOG,
        str(RAG / "agent.jsonl"),
        "--columns",
        "question=query_id,qrels.relevant=doc_id",
    )
    options = ("--order", "input", "--missing", "drop", "--format", "csv", "--quiet")
    rows = run("eval", *words, *options, "-m", "R@calls(1) R@calls(2)").splitlines()
    assert [row.split(",")[2] for row in rows if "calls" in row] == ["0.125", "0.5"]
    assert "error:" not in run("check", *words, "--order", "input")


def test_failures_are_counted(run: Run, tmp_path: Path) -> None:
    """Flat records and lists; the mean over the others is shown below."""
    judged = tmp_path / "gold.jsonl"
    judged.write_text(
        '{"query_id": "q1", "doc_id": ["a"]}\n{"query_id": "q2", "doc_id": ["b"]}\n'
    )
    failed = {"query_id": "q2", "error": "timeout"}
    flat, lists = (
        {"query_id": "q1", "doc_id": "a", "score": 1.0},
        {"query_id": "q1", "retrieved": ["a"]},
    )
    for index, record in enumerate((flat, lists)):
        file = tmp_path / f"run{index}.jsonl"
        file.write_text(f"{json.dumps(record)}\n{json.dumps(failed)}\n")
        columns = ("--columns", "run.retrieved=doc_id") if index else ()
        output = run("eval", str(judged), str(file), *columns, "-m", "R@5")
        output = " ".join(output.split())
        assert (
            "1 query failed: timeout (1); 1 query missing, failed ones included"
            in output
        )
        assert "over answered queries" in output
        because = run(
            "explain", str(judged), str(file), *columns, "-m", "R@5", "-q", "q2"
        )
        assert "retrieval failed: timeout" in because
        assert "retrieval failed" not in run(
            "explain", str(judged), str(file), *columns, "-m", "R", "-q", "q1"
        )


def test_costs_that_are_nowhere(run: Run) -> None:
    output = run("eval", *TWO[:2], *COLUMNS, "-m", "R@tokens(60)", code=3)
    assert "needs a column tokens" in output
    assert "@tokens(500,1000,2000)" in run(
        "curve", *TWO[:2], "-m", "R@tokens", "-k", "500,1000", code=2
    )
    assert "--documents FILE" in output


def test_records_in_an_object(run: Run, tmp_path: Path) -> None:
    """What a file says about its records is passed over; several lists are not taken for one another."""
    judged, log = tmp_path / "gold.json", tmp_path / "log.jsonl"
    questions = [{"id": "q1", "gold": ["a::1"]}, {"id": "q2", "gold": ["b::1"]}]
    judged.write_text(
        json.dumps({"dataset": "faq", "about": {"by": "us"}, "questions": questions})
    )
    log.write_text('{"qid": "q1", "hits": [{"chunk": "a::2", "score": 1.0}]}\n')
    columns = (
        "--columns",
        "id=query_id,gold=doc_id,qid=query_id,chunk=doc_id",
        "--format",
        "csv",
    )
    words = (str(judged), str(log), *columns, "-m", "R@5")
    assert "R@5,0.5" in run("eval", *words, "--unit", "::")
    judged.write_text(json.dumps({"questions": questions, "others": questions}))
    assert "this object holds 2 lists of records" in run("eval", *words, code=3)


def test_columns_of_a_table_of_copies(run: Run, tmp_path: Path) -> None:
    judged, log, texts = (tmp_path / f"{name}.csv" for name in ("gold", "run", "texts"))
    judged.write_text("query_id,doc_id,relevance\nq1,a,1\n")
    log.write_text("query_id,doc_id,score\nq1,b,1\n")
    texts.write_text("key,text\na,one text\nb,One  Text\n")
    words = ("eval", str(judged), str(log), "-m", "R", "--same-as", str(texts))
    output = run(*words, "--columns", "key=doc_id", "--format", "csv")
    assert "R,1.0" in output
    assert "there is no column doc_id" in run(*words, code=3)


def test_intervals_say_that_sessions_are_the_units(run: Run, tmp_path: Path) -> None:
    judged, log, queries = (
        tmp_path / f"{name}.csv" for name in ("gold", "run", "queries")
    )
    names = [f"q{index}" for index in range(8)]
    judged.write_text(
        "query_id,doc_id,relevance\n" + "".join(f"{name},a,1\n" for name in names)
    )
    log.write_text(
        "query_id,doc_id,score\n"
        + "".join(f"{name},{name[1]},1\n{name},a,0\n" for name in names)
    )
    queries.write_text(
        "query_id,session\n" + "".join(f"{name},s{name[1:] < '4'}\n" for name in names)
    )
    words = (
        "eval",
        str(judged),
        str(log),
        "-m",
        "RR",
        "--ci",
        "--queries",
        str(queries),
    )
    by_default = run(*words)
    assert "over queries, by session" in by_default
    assert "only 2 clusters" in by_default
    assert by_default == run(*words, "--cluster", "session")


def test_a_unit_that_fits_no_id(run: Run, tmp_path: Path) -> None:
    judged, log = tmp_path / "gold.csv", tmp_path / "run.csv"
    judged.write_text("query_id,doc_id,relevance\nq1,a,1\n")
    log.write_text("query_id,doc_id,score\nq1,a::2,1\nq1,b::1,0.5\n")
    for memory in ((), ("--memory", "1GB")):
        words = ("eval", str(judged), str(log), "-m", "R", *memory, "--unit")
        output = run(*words, "document")
        assert "unit leaves every id as it is" in " ".join(output.split())
        assert "unit=document" in output
        output = run(*words, "::")
        assert "as it is" not in " ".join(output.split())
        assert "unit=::" in output


def test_objects_in_a_log(run: Run, tmp_path: Path) -> None:
    """A list of objects is no list of ids: the message names the field; numbers as texts are no costs."""
    judged, log = tmp_path / "gold.jsonl", tmp_path / "log.jsonl"
    judged.write_text('{"qid": "q1", "expected": ["a#1"]}\n')
    chunk = {"chunk_id": "a#1", "score": 0.5, "n_tokens": 12}
    log.write_text(json.dumps({"qid": "q1", "results": [chunk]}))
    names = "qid=query_id,expected=doc_id"
    wrong = run(
        "eval",
        str(judged),
        str(log),
        "-m",
        "R@5",
        "--columns",
        f"{names},results=doc_id",
        code=3,
    )
    assert f"instead: --columns {names},results.chunk_id=doc_id" in wrong
    columns = ("--columns", f"{names},chunk_id=doc_id")
    output = run(
        "eval",
        str(judged),
        str(log),
        *columns,
        "-m",
        "R@n_tokens(12) R@n_tokens(11)",
        "--format",
        "csv",
    )
    assert "R@n_tokens(12),1.0" in output
    assert "R@n_tokens(11),0.0" in output
    log.write_text(json.dumps({"qid": "q1", "results": [chunk | {"n_tokens": "12"}]}))
    assert "n_tokens holds texts" in run(
        "eval", str(judged), str(log), *columns, "-m", "R@n_tokens(9)", code=3
    )


def test_a_column_of_errors_that_are_numbers(run: Run, tmp_path: Path) -> None:
    """An error of 0 is a number, and nothing has failed."""
    judged, file = tmp_path / "qrels.csv", tmp_path / "run.csv"
    judged.write_text("query_id,doc_id,relevance\nq,a,1\n")
    file.write_text("query_id,doc_id,score,call,tokens\nq,a#1,1,1,5\nq,a#1,1,2,5\n")
    assert "R@5,1.0" in run(
        "eval",
        str(judged),
        str(file),
        "-m",
        "R@5",
        "--unit",
        "document",
        "--format",
        "csv",
    )
    rows = [{"query_id": "q", "doc_id": "a", "score": 1.0, "error": 0}]
    log = tmp_path / "run.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    output = run("eval", str(judged), str(log), "-m", "R@5")
    assert "failed" not in output
    file.write_text("query_id,doc_id,score,error\nq,a,1,0\n")
    assert "failed" not in run("eval", str(judged), str(file), "-m", "R@5")
    failed = tmp_path / "failed.jsonl"
    failed.write_text(
        '{"query_id": "q", "doc_id": "a", "score": 1.0}\n{"query_id": "p", "error": "timeout"}\n'
    )
    assert "without doc_id" not in run("check", str(judged), str(failed))
