"""Mistakes at a shell: each ends with a message that says what to do, and with the right code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.command_line import exit_code

import rankstone

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n"
RUN = "q1 Q0 d2 1 0.9 t\nq1 Q0 d1 2 0.8 t\nq2 Q0 d3 1 0.7 t\n"
TABLE = "user,item,score,sim\nq1,d1,1,2\nq1,d2,2,1\n"


@dataclass
class Shell:
    """A folder with files, and a way to run command lines in it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def __call__(self, line: str, code: int = 0) -> tuple[str, str]:
        """Run a command line in this process; return what it says on standard output and error."""
        ended = exit_code(line.split())
        out, err = self.capsys.readouterr()
        assert ended == code, err
        return out, err

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / name).write_text(text)


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """Return a shell in a folder with judgments, runs and a table."""
    monkeypatch.chdir(tmp_path)
    files = {"q.txt": QRELS, "a.run": RUN, "b.run": RUN, "t.csv": TABLE}
    for name, text in {**files, "twice.run": RUN + "q1 Q0 d1 3 0.1 t\n"}.items():
        (tmp_path / name).write_text(text)
    return Shell(tmp_path, capsys)


# -- options are spelled as the shell spells them --------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (
            "eval q.txt twice.run",
            3,
            "choose what to do with --duplicates first_keep_rank",
        ),
        ("eval q.txt a.run --depth 0", 2, "--depth 0 is not a count"),
        (
            "eval q.txt a.run --score-above 1 --order input",
            2,
            "--score-above 1.0 needs scores, but --order",
        ),
        ("eval q.txt a.run --ties docid-asc", 2, "--ties 'docid-asc' is not a value"),
        ("curve q.txt a.run --resamples 0", 2, "--resamples 0 is not valid"),
        (
            "beyond a.run --catalogue-size 0",
            2,
            "--catalogue-size 0 is not a number of items",
        ),
        ("diff a.run b.run -m RBO(p=0.9,ties=x)", 2, "RBO: ties='x' is not known"),
    ],
)
def test_options_are_named_as_flags(
    shell: Shell, line: str, code: int, message: str
) -> None:
    """What Python calls duplicates=… is --duplicates … here; a measure's parameters are the same in both."""
    assert message in shell(line, code)[1]


def test_checks_name_flags_too(shell: Shell) -> None:
    """Findings at a shell say what to type there; those in Python have its names."""
    for command in ("check q.txt twice.run", "check q.txt twice.run --format json"):
        printed = " ".join(shell(command, 3)[0].split())
        advice = "choose rankstone eval QRELS RUN --duplicates first_keep_rank"
        assert advice in printed
    files = rankstone.check("q.txt", {"twice": "twice.run"}).files
    fixes = [finding.fix or "" for file in files for finding in file.findings]
    assert any("choose duplicates=first_keep_rank" in fix for fix in fixes)


# -- columns ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("eval q.txt a.run --columns item=doc_id", "TREC text has no column names"),
        (
            "eval q.txt t.csv --columns user=query_id,item=doc_id,smi=score",
            "did you mean sim? rename them instead: --columns user=query_id,item=doc_id,sim=score",
        ),
        (
            "thresholds q.txt t.csv --columns user=query_id,item=doc_id,x=rank",
            "no table has a column x",
        ),
        (
            "diff a.run t.csv --columns user=query_id,item=doc_id,x=rank",
            "one of the columns item, score, sim, user",
        ),
        (
            "beyond t.csv --columns user=query_id,item=doc_id,x=rank",
            "no table has a column x",
        ),
        (
            "bounds q.txt t.csv --columns user=query_id,item=doc_id,x=rank",
            "no table has a column x",
        ),
        (
            "curve q.txt t.csv --columns user=query_id,item=doc_id,x=rank",
            "no table has a column x",
        ),
        (
            "check q.txt t.csv --columns user=query_id,item=doc_id,x=rank",
            "no table has a column x",
        ),
        (
            "conventions diff ranx beir q.txt a.run --columns x=rank",
            "no table has a column x",
        ),
    ],
)
def test_names_of_columns_that_nothing_has(
    shell: Shell, line: str, message: str
) -> None:
    """A slip in --columns would leave another column in its place, and other numbers."""
    assert message in shell(line, 2)[1]


def test_names_of_columns_that_some_table_has(shell: Shell) -> None:
    """One table with such a column is enough; --labeled knows its own other names."""
    shell("eval q.txt t.csv a.run --columns user=query_id,item=doc_id -m RR")
    shell.write("l.csv", "user,sim,label\nu,1,1\n")
    shell("eval --labeled l.csv --columns user=query_id,sim=score -m RR")
    shell.write("about.csv", "user,sid,turn\nq1,s,1\nq2,s,2\n")
    names = "user=query_id,item=doc_id,sid=session,turn=position"
    shell(f"eval q.txt t.csv --columns {names} --queries about.csv -m sDCG")


# -- outputs ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "command",
    ["eval q.txt", "bounds q.txt", "curve q.txt", "thresholds q.txt", "diff b.run"],
)
@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("-o folder", "-o folder is a folder"),
        ("-o none/x.txt", "there is no folder"),
        ("-o a.run", "-o a.run is also an input"),
    ],
)
def test_outputs_are_tried_before_any_work(
    shell: Shell, command: str, output: str, message: str
) -> None:
    """Where a result cannot be written is known before a long evaluation, not after it."""
    for folder in ("folder", "folder.csv"):
        (shell.folder / folder).mkdir()
    shell.write("a.run", "this is no run")
    assert message in shell(f"{command} a.run {output}", 2)[1]


def test_values_per_query_are_tried_too(shell: Shell) -> None:
    """So is the file of --per-query, and the one output must not be the other."""
    (shell.folder / "folder.csv").mkdir()
    assert "is a folder" in shell("eval q.txt a.run --per-query folder.csv", 2)[1]
    assert (
        "is also the other output"
        in shell("eval q.txt a.run -o o.csv --per-query o.csv", 2)[1]
    )


@pytest.mark.parametrize(
    "line",
    [
        "eval q.txt - x=-",
        "thresholds q.txt - -",
        "check - -",
        "diff - x=-",
        "eval - a.run --exclude -",
    ],
)
def test_standard_input_is_read_once(shell: Shell, line: str) -> None:
    """Whoever came second would find nothing."""
    assert "standard input can be read only once" in shell(line, 2)[1]


# -- commands of commands --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evl q.txt a.run", "did you mean eval?"),
        ("conventions xgboost", "rankstone conventions show xgboost-"),
        ("conventions lst", "did you mean list?"),
        ("measures ndcg", "rankstone measures show nDCG"),
        ("measures shw", "did you mean show?"),
        ("conventions list --format xml", "expected: text, json"),
        ("conventions show ranx --format xml", "expected: text, md, json"),
        ("measures list --format jso", "did you mean json?"),
        ("check q.txt a.run --format xml", "expected: table, csv, json"),
        ("conventions diff ranx beir q.txt a.run -m foo", "there is no measure 'foo'"),
        ("conventions diff ranx beir - -", "standard input can be read only once"),
        ("eval q.txt a.run -k 10", "nDCG@10; --depth cuts every list"),
        ("diff a.run b.run -k 10", "--depth cuts every list"),
        ("eval q.txt a.run -q", "--per-query FILE writes values per query"),
    ],
)
def test_commands_that_there_are_not(shell: Shell, line: str, message: str) -> None:
    """The nearest command, format or measure is named."""
    assert message in shell(line, 2)[1]


def test_libraries_are_not_blamed_for_a_file(shell: Shell) -> None:
    """A file that cannot be read ends the comparison; what a library refuses is reported beside the others."""
    assert (
        "there is no such file" in shell("conventions diff --all q.txt none.run", 3)[1]
    )
    shell.write("bad.run", "q1 Q0 d1\n")
    assert "bad.run:1" in shell("conventions diff ranx beir q.txt bad.run", 3)[1]
    head, row = shell("conventions diff sklearn ranx q.txt twice.run -m nDCG@10")[
        0
    ].splitlines()[-2:]
    assert "refuses: document d1 is retrieved 2 times for query q1  " in row
    assert row[head.index("ranx") - 2 :].startswith("  ")
    assert row[head.index("ranx")] != " "


# -- streams ---------------------------------------------------------------------------------------------
@pytest.mark.skipif(
    not os.path.exists("/dev/full"),  # noqa: PTH110
    reason="no device that is always full",
)
@pytest.mark.parametrize(
    ("redirected", "code", "message"),
    [
        (
            "eval q.txt a.run > /dev/full",
            3,
            "error: standard output: No space left on device",
        ),
        ("eval q.txt a.run -m nonsense 2> /dev/full", 2, ""),
        ("eval q.txt a.run >&-", 3, "error: standard output: Bad file descriptor"),
        ("eval q.txt a.run 2>&-", 0, ""),
        ("eval q.txt - <&-", 3, "standard input: the run is empty"),
    ],
)
def test_streams_that_take_nothing(
    shell: Shell, redirected: str, code: int, message: str
) -> None:
    """A full disk, or a stream that the shell has closed, is no bug of ours."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m rankstone {redirected}'],
        cwd=shell.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert message in done.stderr
    assert "internal error" not in done.stderr


# -- interrupts ------------------------------------------------------------------------------------------
def test_an_interrupt_while_importing_leaves_no_traceback(tmp_path: Path) -> None:
    """Ctrl-C right after the start, while modules are read, ends with 130 and without a word."""
    (tmp_path / "click.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rankstone", "demo"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                [str(tmp_path), os.environ.get("PYTHONPATH", "")]
            ),
        },
    )
    assert done.returncode == 130
    assert done.stderr == ""


def test_ignored_interrupts_do_not_cut_files_short(tmp_path: Path) -> None:
    """A script's background job has interrupts ignored; readers of files would heed them and stop early."""
    rows = 300_000
    (tmp_path / "q.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(
        "".join(f"q{i // 1000} Q0 d{i % 1000} 1 {-i} t\n" for i in range(rows))
    )
    ignoring = [
        "sh",
        "-c",
        'trap "" INT; echo ready; exec "$@"',
        "sh",
        sys.executable,
        "-m",
        "rankstone",
        "check",
    ]
    process = subprocess.Popen(
        [*ignoring, tmp_path / "q.txt", tmp_path / "a.run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "ready\n"
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue
    with process.stdout as out, process.stderr as err:
        assert f"rows: {rows:,} · " in out.read(), err.read()
