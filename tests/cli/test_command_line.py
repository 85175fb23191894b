"""The command line as a user meets it: what it prints, where, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import polars as pl
import pytest
from tests.command_line import command as run
from tests.rows import each

import rankstone
from rankstone import demo, errors
from rankstone.cli.execution import check_format

BM25, TFIDF = demo.RUNS["bm25"], demo.RUNS["tfidf"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two queries: the first answered at rank 2, the second missing."""
    qrels, ranking = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q1 0 d1 1\nq2 0 d3 1\n")
    ranking.write_text("q1 Q0 d2 1 0.9 t\nq1 Q0 d1 2 0.8 t\n")
    return qrels, ranking


def test_a_table_says_everything(files: tuple[Path, Path]) -> None:
    """The table has the run, both means, the audit and with -v every convention."""
    out = run("eval", *files, "-m", "RR AP", "-v").stdout

    lines = out.splitlines()
    assert lines[0].split() == ["run", "RR", "AP"]
    assert lines[1].split() == ["a", "0.2500", "0.2500"]
    assert lines[2].split() == ["…", "1", "answered", "query", "0.5000", "0.5000"]
    assert "1 query missing" in out
    assert (
        "conventions  order=score score_dtype=float64 ties=docid_desc missing=zero"
        in out
    )


def test_json_is_what_is_promised(files: tuple[Path, Path]) -> None:
    """--format json prints runs, audit, conventions and inputs."""
    report = json.loads(run("eval", *files, "-m", "RR", "--format", "json").stdout)

    assert report["runs"] == {"a": {"RR": (1 / 2 + 0) / 2}}
    assert set(report) == {"runs", "audit", "conventions", "inputs"}
    assert report["audit"]["runs"]["a"]["missing"] == 1
    assert report["audit"]["runs"]["a"]["means_without_missing"] == {
        "RR": {"value": 1 / 2, "n": 1}
    }
    assert report["conventions"]["alignment"]["ties"] == "docid_desc"
    assert report["inputs"] == {
        "judgments": str(files[0]),
        "runs": {"a": str(files[1])},
    }


def test_machine_formats_carry_full_precision() -> None:
    """CSV and JSON lines have every digit; the audit goes to standard error."""
    done = run("eval", demo.QRELS, BM25, TFIDF, "-m", "nDCG@10 AP", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    lines = [
        json.loads(line)
        for line in run(
            "eval", demo.QRELS, BM25, TFIDF, "-m", "nDCG@10 AP", "--format", "jsonl"
        ).stdout.splitlines()
    ]

    assert [(r["run"], r["measure"]) for r in rows] == [
        ("bm25", "nDCG@10"),
        ("bm25", "AP"),
        ("tfidf", "nDCG@10"),
        ("tfidf", "AP"),
    ]
    assert [float(r["value"]) for r in rows] == [line["value"] for line in lines]
    assert "judgments" in done.stderr


def test_trec_format_is_trec_evals() -> None:
    """--format trec prints trec_eval's three columns and names."""
    out = run(
        "eval", demo.QRELS, BM25, "-m", "map P.5,10 num_ret", "--format", "trec"
    ).stdout

    assert out.splitlines()[0] == "runid                 \tall\tbm25"
    assert [line.split("\t")[0].strip() for line in out.splitlines()] == [
        "runid",
        "map",
        "P_5",
        "P_10",
        "num_ret",
    ]
    assert out.splitlines()[-1] == "num_ret               \tall\t419"


def test_markup_in_names_is_escaped(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """Run names are untrusted: terminal escapes, Markdown and LaTeX do nothing."""
    evil = tmp_path / "a\x1b[31m|$_%[bold].run"
    evil.write_text(files[1].read_text())

    assert "\x1b" not in run("eval", files[0], evil).stdout
    assert "\\|" in run("eval", files[0], evil, "--format", "md").stdout
    assert "\\$\\_\\%" in run("eval", files[0], evil, "--format", "latex").stdout


def test_per_query_values_are_written_whole(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    """--per-query writes Parquet, CSV or JSON lines by suffix."""
    for name, read in (
        ("a.parquet", pl.read_parquet),
        ("a.csv", pl.read_csv),
        ("a.jsonl", pl.read_ndjson),
    ):
        run("eval", *files, "-m", "RR", "--per-query", tmp_path / name)
        frame = read(tmp_path / name)

        assert frame.columns == [
            "run",
            "query_id",
            "measure",
            "value",
            "numerator",
            "denominator",
            "weight",
            "status",
        ]
        assert frame["value"].to_list() == [1 / 2, 0.0]
        assert frame["status"].cast(pl.String).to_list() == ["ok", "missing"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.csv",
        "a.jsonl",
        "a.parquet",
        "a.run",
        "qrels.txt",
    ]


def test_nothing_is_left_when_a_command_fails(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    """A failing evaluation leaves no output and no temporary file."""
    files[1].write_text("q1 Q0 d2 1 oops t\n")
    before = sorted(tmp_path.iterdir())
    run(
        "eval",
        *files,
        "--per-query",
        tmp_path / "out.parquet",
        "-o",
        tmp_path / "out.json",
        code=3,
    )

    assert before == sorted(tmp_path.iterdir())


def test_output_file(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """-o writes the result instead of printing it."""
    done = run(
        "eval", *files, "-m", "RR", "--format", "json", "-o", tmp_path / "out.json"
    )

    assert done.stdout == ""
    assert json.loads((tmp_path / "out.json").read_text())["runs"] == {
        "a": {"RR": 1 / 4}
    }


def test_standard_input(files: tuple[Path, Path]) -> None:
    """- reads the run from standard input."""
    done = run(
        "eval",
        files[0],
        "-",
        "-m",
        "RR",
        "--format",
        "json",
        stdin=files[1].read_text(),
    )

    assert list(json.loads(done.stdout)["runs"].values()) == [{"RR": 1 / 4}]
    assert "only once" in run("eval", "-", "-", code=2, stdin="").stderr


def test_named_runs(files: tuple[Path, Path]) -> None:
    """name=path names a run; two of one name are refused."""
    done = run("eval", files[0], f"mine={files[1]}", "-m", "RR", "--format", "json")

    assert list(json.loads(done.stdout)["runs"]) == ["mine"]
    assert (
        "two runs have the name 'a'"
        in run("eval", files[0], files[1], files[1], code=2).stderr
    )


def test_labelled_tables(tmp_path: Path) -> None:
    """--labeled scores one table of scores and labels."""
    table = tmp_path / "log.csv"
    table.write_text("query_id,score,label\nu1,0.9,0\nu1,0.5,1\n")
    done = run("eval", "--labeled", table, "-m", "RR", "--format", "json")

    assert json.loads(done.stdout)["runs"] == {"log": {"RR": 1 / 2}}
    assert "takes one table" in run("eval", "--labeled", table, table, code=2).stderr
    together = run(
        "eval", "--labeled", table, "--one-group", "-m", "NumRet", "--format", "json"
    )
    assert json.loads(together.stdout)["conventions"]["alignment"]["one_group"] is True
    assert (
        "--exact-run"
        in run("eval", "--one-group", "--exact-run", table, table, code=2).stderr
    )


def test_every_alignment_option_is_a_flag(files: tuple[Path, Path]) -> None:
    """Each option of alignment reaches the numbers from the command line."""
    from dataclasses import fields

    from rankstone import AlignmentOptions

    shown = run("eval", "--help-all").stdout
    for option in fields(AlignmentOptions):
        assert f"--{option.name.replace('_', '-')}" in shown
    done = run(
        "eval",
        *files,
        "-m",
        "RR",
        "--format",
        "json",
        "--missing",
        "drop",
        "--unjudged",
        "condensed",
    )

    assert json.loads(done.stdout)["runs"] == {"a": {"RR": 1.0}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "nDGC@10"], "did you mean nDCG"),
        (["-m", "nDCG@0"], "the cutoff '0' is not a rank"),
        (["--ties", "docid-desc"], "did you mean 'docid_desc'"),
        (["--format", "jsn"], "did you mean json"),
        (["--columns", "user"], "their_name=our_name"),
        (["--per-query", "x.xlsx"], "no known suffix"),
        (["--nonsense"], "No such option"),
    ],
)
def test_usage_errors(
    files: tuple[Path, Path], arguments: list[str], message: str
) -> None:
    """A question without an answer ends with 2 and says what can."""
    assert message in run("eval", *files, *arguments, code=2).stderr


def test_lists_of_columns_add_up(tmp_path: Path) -> None:
    """--columns and --by given twice are one list; a column with two names is refused, with both."""
    qrels, ranking, queries = (
        tmp_path / f"{name}.csv" for name in ("qrels", "run", "queries")
    )
    qrels.write_text("user,item,relevance\nu,a,1\n")
    ranking.write_text("user,item,score\nu,b,0.9\nu,a,0.8\n")
    queries.write_text("user,country,device\nu,de,phone\n")
    line = (
        "eval",
        qrels,
        ranking,
        "-m",
        "RR",
        "--format",
        "json",
        "--queries",
        queries,
    )
    named = ("--columns", "user=query_id", "--columns", "item=doc_id")

    report = json.loads(run(*line, *named, "--by", "country", "--by", "device").stdout)
    refused = run(*line, *named, "--columns", "user=doc_id", code=2).stderr

    assert report["runs"] == {"run": {"RR": 1 / 2}}
    assert (report["segments"][0]["country"], report["segments"][0]["device"]) == (
        "de",
        "phone",
    )
    assert "columns: user has two names" in refused
    assert "user=query_id and user=doc_id" in refused


def test_every_option_of_columns_adds_up() -> None:
    """No command has a --columns of which only the last counts."""
    from rankstone.cli import cli

    def commands(group: click.Command) -> list[click.Command]:
        if not isinstance(group, click.Group):
            return [group]
        context = click.Context(group)
        names = group.list_commands(context)
        return [
            each
            for name in names
            for each in commands(group.get_command(context, name) or group)
        ]

    options = [
        option
        for command in commands(cli)
        for option in command.params
        if "--columns" in option.opts
    ]

    assert len(options) >= len(
        {"eval", "compare", "report", "ltr train", "conventions diff"}
    )
    assert all(
        isinstance(option, click.Option) and option.multiple for option in options
    )


def test_too_few_files() -> None:
    """One file alone is a usage error that mentions --labeled."""
    assert "--labeled" in run("eval", demo.QRELS, code=2).stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 Q0 d1 1 abc t\n", "a.run:1: the score 'abc' is not a number"),
        ("q1 Q0 d1 1 nan t\n", "a.run:1: the score is NaN"),
        ("q1 Q0 d1 1 1 t\nq1 Q0 d1 2 0 t\n", "a.run:1, "),
        ("q9 Q0 d1 1 1 t\n", "no query of the run is judged"),
        ("", "the file is empty"),
        ("q1 Q0\n", "too few columns"),
    ],
)
def test_bad_input(files: tuple[Path, Path], content: str, message: str) -> None:
    """Bad data ends with 3 and names the place."""
    files[1].write_text(content)

    assert message in run("eval", *files, code=3).stderr


def test_a_missing_file(files: tuple[Path, Path]) -> None:
    """A file that is not there ends with 3."""
    assert (
        "there is no such file"
        in run("eval", files[0], files[0].with_name("nope.run"), code=3).stderr
    )


def test_a_bug_asks_for_a_report(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """An error of our own ends with 70 and asks to be reported; the traceback is on request."""
    patch = tmp_path / "sitecustomize.py"
    patch.write_text(
        "import rankstone.cli as c\nclass B:\n def main(*a, **k): raise RuntimeError('boom')\nc.cli = B\n"
    )
    line = [sys.executable, "-m", "rankstone", "eval", *map(str, files)]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        ),
    }
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    assert "internal error: RuntimeError: boom" in done.stderr
    assert "RANKSTONE_TRACEBACK=1" in done.stderr


def test_interrupts_are_clean(tmp_path: Path, files: tuple[Path, Path]) -> None:
    """Ctrl-C ends with 130, without a traceback or a half-written file."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "rankstone",
            "eval",
            files[0],
            "-",
            "-o",
            tmp_path / "out.json",
        ],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    # more than a pipe holds is only taken by a command that is reading by now
    process.stdin.write("q1 Q0 d2 1 0.9 t\n" * 60_000)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Traceback" not in err
    assert not (tmp_path / "out.json").exists()


#: the command line in a process that gets a signal while it writes a file
_SIGNALLED = """
import os, signal, sys
from pathlib import Path
from rankstone.cli import main

# whatever started the tests may ignore it, as nohup does
sent = getattr(signal, os.environ["SENT"])
usual = signal.default_int_handler if sent == signal.SIGINT else signal.SIG_DFL
signal.signal(sent, usual)
write_text = Path.write_text

def writing(path, *given, **named):
    written = write_text(path, *given, **named)
    os.kill(os.getpid(), sent)
    return written

Path.write_text = writing
main(sys.argv[1:])
"""


@each("name, code", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_leave_no_unfinished_file(
    name: str, code: int, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    """Whoever asks the process to end finds nothing beside the inputs, and a word on standard error."""
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED, "eval", *files, "-o", tmp_path / "out.txt"],
        env={**os.environ, "SENT": name},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert done.stderr.split() == ["interrupted" if code == 130 else "terminated"]
    assert sorted(tmp_path.iterdir()) == sorted(files)


@each("words, code", [("", 3), ("-o out.txt", 0), ("--help", 3), ("-m nope", 2)])
def test_a_result_for_closed_output_is_not_lost_silently(
    words: str, code: int, files: tuple[Path, Path]
) -> None:
    """`rankstone … >&-` fails if there was something to print; what is written to a file is not printed."""
    line = shlex.join([sys.executable, "-m", "rankstone", "eval", *map(str, files)])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{line} {words} >&-"],
        cwd=files[0].parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert ("standard output" in done.stderr) == (code == 3)


def test_the_page_lists_every_exit_code() -> None:
    """Those of all errors, of verdicts (1, and 4 of a gate), of bugs and signals; no other."""
    page = Path(__file__).parents[2] / "docs" / "commands.md"
    rows = re.findall(r"(?m)^\| ([\d, ]+) \|", page.read_text(encoding="utf-8"))
    listed = {int(code) for row in rows for code in row.split(",")}
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    of_errors = {
        kind.exit_code for kind in classes if issubclass(kind, errors.RankstoneError)
    }
    signals = {
        128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }

    assert listed == {0, 1, 4, *of_errors, *signals}


def test_a_closed_pipe_is_no_error(files: tuple[Path, Path]) -> None:
    """`rankstone … | head -0` ends in silence."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rankstone", "eval", *files],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    code = process.wait()
    process.stderr.close()

    assert (code, err) == (0, "")


def test_check_reports_all_at_once(tmp_path: Path) -> None:
    """Check names duplicates, ties, missing and extra queries, negative grades, NaN: all in one go."""
    qrels, ranking = tmp_path / "q.txt", tmp_path / "r.txt"
    qrels.write_text("q1 0 d1 1\nq1 0 d1 2\nq2 0 d3 -1\nq3 0 d4 0\n")
    ranking.write_text(
        "q1 Q0 d1 1 1 t\nq1 Q0 d1 2 1 t\nqx Q0 d3 1 nan t\nq1 Q0 d7 3 2 t\n"
    )
    out = run("check", qrels, ranking, code=3).stdout

    for expected in (
        "2 rows with a duplicate (query, document)",
        "1 grade below zero",
        "2 queries without a relevant document",
        "2 tied rows in 1 query",
        "1 row whose score is not a number",
        "2 queries missing",
        "1 query without judgments",
        "unjudged@10",
        ": cannot be evaluated; fix the errors below",
    ):
        assert expected in out, out
    harmless = "rows are not in the order of score"
    assert harmless not in out
    assert harmless in run("check", qrels, ranking, "-v", code=3).stdout


def test_check_goes_on_after_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A broken file is one finding; the others are still looked at."""
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0\n")
    report = json.loads(
        run("check", demo.QRELS, broken, BM25, "--format", "json", code=3).stdout
    )

    assert [file["name"] for file in report["files"]] == ["judgments", "broken", "bm25"]
    assert "too few columns" in report["files"][1]["findings"][0]["what"]
    assert report["files"][2]["facts"]["rows"] == "419"


def test_check_is_content_with_the_demo() -> None:
    """The shipped collection is fit to be evaluated."""
    judged_runs = run("check", demo.QRELS, BM25, TFIDF).stdout
    assert judged_runs.startswith("ok, 5 warnings\n")
    assert run("check", demo.QRELS).stdout.startswith("ok, 1 warning\n")


def test_check_looks_at_measures_and_training(files: tuple[Path, Path]) -> None:
    """-m says which cutoffs matter, --train what a model has seen; a doubt stands in the first line."""
    out = run("check", *files, "--train", files[0], "-m", "P@3").stdout
    assert "unjudged@3: " in out
    assert "unjudged@10" not in out
    assert "(training, " in out
    advice = " ".join(out.split())
    assert "remove them with rankstone eval QRELS RUN --exclude FILE" in advice
    assert "--exclude-from both" in advice
    assert re.match("ok, .*; check this first: ", out)


def test_rising_scores_are_noticed(files: tuple[Path, Path]) -> None:
    """Lists whose scores rise look like distances."""
    files[1].write_text("q1 Q0 d2 1 0.1 t\nq1 Q0 d1 2 0.8 t\n")

    assert "are they distances" in run("check", *files).stdout


def test_measures_are_listed_and_shown() -> None:
    """Every measure is listed with a line and has a card; without --all the common ones are."""
    from rankstone.measures import MEASURES

    common = run("measures", env={"COLUMNS": "200"}).stdout
    assert sum(line.startswith("  ") for line in common.splitlines()) == 30
    listing = run("measures", "--all", env={"COLUMNS": "200"}).stdout
    for name, cls in MEASURES.items():
        assert re.search(
            rf"^  {name} +{re.escape(cls.card.sentence)}$", listing, re.MULTILINE
        )
    card = run("measures", "show", "ndcg").stdout
    assert card.startswith("nDCG (also NDCG)")
    assert "formula" in card
    assert "did you mean" in run("measures", "show", "nDGC", code=2).stderr
    objects = json.loads(run("measures", "list", "--format", "json").stdout)
    assert [o["name"] for o in objects] == list(MEASURES)
    assert "### nDCG (also NDCG)" in run("measures", "list", "--format", "md").stdout
    assert (
        "--format xml is not known"
        in run("measures", "list", "--format", "xml", code=2).stderr
    )


def test_words_of_other_tools() -> None:
    """A command misspelt and an option that is a measure's parameter lead to what is meant."""
    assert "did you mean eval?" in run("evl", code=2).stderr
    assert "AP(rel=2)" in run("eval", demo.QRELS, BM25, "--level", "2", code=2).stderr


def test_a_bare_name_is_taken_for_a_question() -> None:
    """`rankstone measures nDCG` says which command prints the card."""
    assert "rankstone measures show nDCG" in run("measures", "nDCG", code=2).stderr


def test_narrow_terminals_show_whole_names() -> None:
    """A table that is wider than the terminal is broken between measures, and cards between words."""
    names = [
        "nDCG@10",
        "AP(rel=2)",
        "RR(rel=2)@10",
        "R(rel=2)@100",
        "Judged@10",
        "RBP(p=0.8)",
        "P@10",
    ]
    out = run(
        "eval", demo.QRELS, BM25, TFIDF, "-m", " ".join(names), env={"COLUMNS": "60"}
    ).stdout
    heads = [line.split() for line in out.splitlines() if line.startswith("run ")]

    assert [name for head in heads for name in head if name != "run"] == names
    assert len(heads) > 1
    assert (
        max(
            map(
                len,
                run(
                    "measures", "show", "nDCG", env={"COLUMNS": "80"}
                ).stdout.splitlines(),
            )
        )
        <= 80
    )


def test_demo_runs() -> None:
    """The first files have no flaw, so nothing stands below their numbers; the others show what a warning is."""
    first, _, second = run("demo").stdout.partition("$ rankstone eval qrels.txt")

    assert first.rstrip().splitlines()[-1].split()[0] == "reranked"
    assert "audit" not in first
    assert "audit  32 queries, 432 judgments · 5 warnings: " in second
    task = Path(__file__).parents[2] / "examples" / "shared-task"
    copied = ("qrels.txt", "bm25.run", "reranked.run")
    names = ("qrels.txt", "runs/beta-bm25.run", "runs/beta-rerank.run")
    for path, name in zip(copied, names, strict=True):
        assert (demo.FIRST / path).read_bytes() == (task / name).read_bytes()


def test_outputs_never_overwrite_inputs(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """Writing onto an input, or both outputs onto one file, is refused before any work is done."""
    before = files[1].read_text()

    assert "an input" in run("eval", *files, "-o", files[1], code=2).stderr
    assert (
        "an input"
        in run(
            "eval",
            *files,
            "--per-query",
            files[0].with_name("x.csv"),
            "-o",
            files[0],
            code=2,
        ).stderr
    )
    both = tmp_path / "both.csv"
    assert (
        "the other output"
        in run("eval", *files, "-o", both, "--per-query", both, code=2).stderr
    )
    assert before == files[1].read_text()


def test_links_and_devices_stay_what_they_are(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A link is written through, a device receives the bytes."""
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    run("eval", *files, "-m", "RR", "--format", "json", "-o", link)
    run("eval", *files, "-m", "RR", "-o", "/dev/null")

    assert link.is_symlink()
    assert json.loads(target.read_text())["runs"] == {"a": {"RR": 1 / 4}}
    assert not Path("/dev/null").is_file()


def test_a_run_in_the_place_of_judgments_is_refused(files: tuple[Path, Path]) -> None:
    """Swapped arguments would take ranks for grades."""
    assert "look like a run" in run("eval", files[1], files[1], code=3).stderr


def test_check_survives_missing_values(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    """Rows without an id or a grade are findings, not failures."""
    qrels = tmp_path / "q.csv"
    qrels.write_text("query_id,doc_id,relevance\nq1,d1,\n,d2,1\n")
    out = run("check", qrels, files[1], code=3).stdout

    assert "1 row without query_id" in out
    assert "1 row whose relevance is not a number" in out


def test_help_keeps_its_lines() -> None:
    """The examples in the help stand on lines of their own."""
    out = run("eval", "--help").stdout

    assert "\\b" not in out
    assert "\n  rankstone eval --labeled clicks.parquet" in out


def test_thresholds_are_compared(tmp_path: Path) -> None:
    """A row for each grade, the spread, and the runs that change places."""
    qrels, a, b = tmp_path / "q.txt", tmp_path / "picky.run", tmp_path / "broad.run"
    qrels.write_text("q 0 good 2\nq 0 fair 1\nq 0 poor 0\n")
    a.write_text("q Q0 good 1 3 t\nq Q0 poor 2 2 t\nq Q0 fair 3 1 t\n")
    b.write_text("q Q0 fair 1 2 t\nq Q0 good 2 1 t\n")

    wide = {"COLUMNS": "200"}  # in a narrow terminal intervals stand below their means
    text = run("thresholds", qrels, a, b, "-m", "AP", env=wide).stdout
    ends = r" \[0\.\d{4}, \d\.\d{4}\]"  # of a single query: wide
    assert re.search(rf"AP +≥ 1 +0\.8333{ends} +1\.0000{ends} +33% +0\n", text)
    assert re.search(r"AP +spread +0\.1667 +0\.5000\n", text)
    assert "AP: from 1 to 2 picky and broad swap places" in text
    strict = run(
        "thresholds", qrels, a, b, "-m", "AP", "--above-level", "--plot", env=wide
    ).stdout
    assert "AP over the threshold" in strict
    assert re.search(rf"AP +> 1 +1\.0000{ends} +0\.5000{ends} +33% +0\n", strict)
    assert run("thresholds", qrels, a, "-m", "AP", "--format", "md").stdout.startswith(
        "| measure | relevant"
    )
    parsed = json.loads(
        run("thresholds", qrels, a, "-m", "AP", "--format", "json").stdout
    )
    assert [row["value"] for row in parsed["values"]] == [(1 / 1 + 2 / 3) / 2, 1.0]
    assert (
        "has no threshold" in run("thresholds", qrels, a, "-m", "Judged", code=2).stderr
    )
    assert (
        "--levels must be numbers"
        in run("thresholds", qrels, a, "--levels", "x", code=2).stderr
    )


def test_sampled_candidates_are_corrected(tmp_path: Path) -> None:
    """Estimates beside what the lists have, with a warning; --items is required."""
    qrels, recs = tmp_path / "test.csv", tmp_path / "recs.csv"
    qrels.write_text("query_id,doc_id,relevance\nu,a,1\nv,b,1\n")
    recs.write_text("query_id,doc_id,score\nu,a,3\nu,x,2\nu,y,1\nv,y,3\nv,b,2\nv,z,1\n")

    done = run(
        "sampled",
        qrels,
        recs,
        "--catalogue-size",
        "101",
        "-m",
        "RR R@1",
        "--method",
        "rank",
    )
    assert re.search(
        r"recs +RR +0\.5098 ", done.stdout
    )  # ranks 1 and 51: (1/1 + 1/51) / 2
    assert "warning  ranked among 2 sampled items instead of all 101" in done.stdout
    rows = run(
        "sampled", qrels, recs, "--catalogue-size", "101", "-m", "RR", "--format", "csv"
    )
    assert rows.stdout.startswith(
        "run,measure,value,lower,upper,naive,sampled,relevant,queries\nrecs,RR,"
    )
    assert "--catalogue-size" in run("sampled", qrels, recs, code=2).stderr
    assert (
        "did you mean rank?"
        in run(
            "sampled", qrels, recs, "--catalogue-size", "9", "--method", "rnk", code=2
        ).stderr
    )


def test_no_name_commands_the_terminal(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """Paths and options with control characters are escaped in results, audits and errors."""
    evil = tmp_path / "e\x1b[31mvil.run"
    evil.write_text(files[1].read_text())
    empty = tmp_path / "e\x1b[31mmpty.run"
    empty.touch()
    report = rankstone.evaluate(*files, "AP").audit
    report.runs["x\x1b[31m"] = report.runs.pop("a")

    assert "\x1b" not in "".join(report.lines())
    for command, measure in {
        "eval": "AP",
        "bounds": "AP",
        "curve": "P@1,2",
        "thresholds": "AP",
    }.items():
        assert "\x1b" not in run(command, files[0], evil, "-m", measure).stdout
    with pytest.raises(rankstone.InputError) as unread:
        rankstone.evaluate(files[0], empty, "AP")
    with pytest.raises(rankstone.UsageError) as unknown:
        check_format("\x1b[31m", ["table"])
    assert "\x1b" not in f"{unread.value}{unknown.value}"


def test_unjudged_grades_work_everywhere(files: tuple[Path, Path]) -> None:
    """--unjudged 1 is a grade for thresholds, too: q1 has d2 and d1, both relevant then."""
    done = run("thresholds", *files, "-m", "P@2", "--unjudged", "1", "--format", "csv")
    assert done.stdout.splitlines()[1].startswith("a,P@2,1.0,0.5,")


def test_options_that_mean_nothing_are_refused(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """Values without a meaning, options that another one makes idle, names of runs that are empty."""
    table = tmp_path / "queries.csv"
    table.write_text("query_id,c\nq1,x\nq2,y\n")
    by = ("eval", *files, "-m", "AP", "--queries", table, "--format", "csv", "--by")

    assert run(*by, "c,c").stdout == run(*by, "c").stdout
    assert "--by names no column" in run(*by, ",", code=2).stderr
    assert (
        "--target must be numbers"
        in run("curve", *files, "-m", "P@1,2", "--target", "nan", code=2).stderr
    )
    assert (
        "--order 'foo' is not a value"
        in run("check", *files, "--order", "foo", code=2).stderr
    )
    assert "no such file" in run("eval", files[0], f"={files[1]}", code=3).stderr
    other = ("diff", files[1], f"b={files[1]}", "--query", "q1")
    assert "--top cannot go with --query" in run(*other, "--top", "3", code=2).stderr
