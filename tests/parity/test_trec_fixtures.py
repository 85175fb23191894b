"""Every line of trec_eval's own expected outputs, by its own commands through our command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.real_data import data

from rankstone.cli.trec_eval_command import command

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parity

_PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
    "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
#: expected output → options, judgments and run that made it, as trec_eval's Makefile has them
COMMANDS = [
    ("out.test", "", "qrels.test", "results.test"),
    ("out.test", "", "qrels.test.with-comments", "results.test"),
    ("out.comment.test", "", "qrels.comment.test.gz", "results.comment.test.gz"),
    ("out.test.a", "-m all_trec", "qrels.test", "results.test"),
    ("out.test.aq", "-m all_trec -q", "qrels.test", "results.test"),
    ("out.test.aqc", "-m all_trec -q -c", "qrels.test", "results.trunc"),
    ("out.test.aqcM", "-m all_trec -q -c -M100", "qrels.test", "results.trunc"),
    (
        "out.test.aql",
        "-m all_trec -mrelstring.20 -q -l2",
        "qrels.rel_level",
        "results.test",
    ),
    ("out.test.prefs", "-m all_prefs -q -R prefs", "prefs.test", "prefs.results.test"),
    (
        "out.test.prefs",
        "-m all_prefs -q -R prefs",
        "prefs.comment.test",
        "prefs.results.test",
    ),
    (
        "out.test.qrels_prefs",
        "-m all_prefs -q -R qrels_prefs",
        "qrels.test",
        "results.test",
    ),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg", "qrels.123", "results.test"),
    (
        "out.test.qrels_jg",
        "-m qrels_jg -q -R qrels_jg",
        "qrels.comments.123",
        "results.test",
    ),
    ("out.test.meas_params", _PARAMETERS, "qrels.test", "results.test"),
    ("out.test.aqZ", "-q -m all_trec -Z zscores_file", "qrels.test", "results.test"),
]


def printed(folder: Path, options: str, judgments: str, run: str, *more: str) -> str:
    """Return what our command prints on standard output, run in a folder."""
    here = os.getcwd()  # noqa: PTH109 - changed below, and back
    os.chdir(folder)
    try:
        result = CliRunner().invoke(
            command, [*more, *options.split(), judgments, run], catch_exceptions=False
        )
    finally:
        os.chdir(here)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize(("expected", "options", "judgments", "run"), COMMANDS)
def test_every_line(expected: str, options: str, judgments: str, run: str) -> None:
    """The whole output, byte by byte; the fixtures were made by version 10."""
    folder = data("trec_eval-fixtures")

    assert (folder / expected).read_text() == printed(folder, options, judgments, run)


_NEW = ("rbp", "rbp_resid", "unj_5", "unj_10", "unj_20")
#: lines that version 9 prints with another value: it rounds recall levels to documents otherwise
_ROUNDED = {
    "out.test": {"iprec_at_recall_0.10 all", "iprec_at_recall_0.60 all"},
    "out.comment.test": {f"iprec_at_recall_0.{level}0 all" for level in (1, 2, 3, 4, 6, 7, 9)},
    "out.test.a": {"11pt_avg all", "iprec_at_recall_0.10 all", "iprec_at_recall_0.60 all"},
    "out.test.aq": {
        "11pt_avg 302", "11pt_avg all", "iprec_at_recall_0.10 301", "iprec_at_recall_0.10 all",
        "iprec_at_recall_0.60 302", "iprec_at_recall_0.60 all",
    },
    "out.test.aqc": {"iprec_at_recall_0.10 301"},
    "out.test.aql": {
        "11pt_avg 301", "11pt_avg 302", "11pt_avg 303", "11pt_avg all", "iprec_at_recall_0.10 301",
        "iprec_at_recall_0.10 all", "iprec_at_recall_0.60 302", "iprec_at_recall_0.60 all",
        "iprec_at_recall_0.90 303", "iprec_at_recall_0.90 all",
    },
    "out.test.meas_params": {
        "11pt_avg_.25,.5,.75 302", "11pt_avg_.25,.5,.75 all", "iprec_at_recall_0.10 301",
        "iprec_at_recall_0.10 all", "iprec_at_recall_0.25 302", "iprec_at_recall_0.25 all",
    },
    "out.test.aqZ": {
        "Z11pt_avg 301", "Z11pt_avg 302", "Z11pt_avg all", "Ziprec_at_recall_0.10 301",
        "Ziprec_at_recall_0.10 all", "Ziprec_at_recall_0.60 302", "Ziprec_at_recall_0.60 all",
    },
}  # fmt: skip


@pytest.mark.parametrize(("expected", "options", "judgments", "run"), COMMANDS)
def test_version_9_differs_where_it_says(
    expected: str, options: str, judgments: str, run: str
) -> None:
    """Under --compat 9 recall levels are rounded otherwise, and new measures and missing queries are gone."""
    folder = data("trec_eval-fixtures")
    ninth = _split(printed(folder, options, judgments, run, "--compat", "9"))
    tenth = _split((folder / expected).read_text())
    answered = {query.rpartition(" ")[2] for query in ninth}
    gone = {key.rpartition(" ") for key in tenth if key not in ninth}

    assert {key for key in ninth if ninth[key] != tenth[key]} == _ROUNDED.get(
        expected, set()
    )
    assert all(
        name.removeprefix("Z") in _NEW or query not in answered
        for name, _, query in gone
    )


def _split(text: str) -> dict[str, str]:
    rows = [line.split("\t") for line in text.splitlines()]
    return {f"{name.strip()} {query}": value for name, query, value in rows}
