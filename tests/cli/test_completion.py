"""What shells complete: commands, options, words, files."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import click
import pytest
from docs.making.command_line import commands

from rankstone.cli import cli
from rankstone.cli.declaring import Option


def completed(line: str, shell: str = "bash") -> list[str]:
    """Return what a shell gets when the line ends with a tab."""
    words = line.split(" ")
    env = {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_RANKSTONE_COMPLETE": f"{shell}_complete",
    }
    return _run(env).split()


def _run(env: dict[str, str]) -> str:
    program = [sys.executable, "-m", "rankstone"]
    return subprocess.run(
        program, env=os.environ | env, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str) -> None:
    """What docs/install.md tells people to load is printed."""
    assert "_RANKSTONE_COMPLETE" in _run({"_RANKSTONE_COMPLETE": f"{shell}_source"})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankstone ev", ["plain,eval"]),
        ("rankstone online re", ["plain,retention"]),
        ("rankstone eval --per", ["plain,--per-query"]),
        ("rankstone eval a --format js", ["plain,json", "plain,jsonl"]),
        ("rankstone compare a b --lang ", ["plain,en", "plain,zh"]),
        ("rankstone eval data/q", ["file,data/q"]),
        ("rankstone trec-eval data/q", ["file,data/q"]),
        ("rankstone eval a b -o out", ["file,out"]),
        ("rankstone measures show n", []),
    ],
)
def test_bash(line: str, expected: list[str]) -> None:
    """Words are offered, and paths are left to the shell."""
    assert completed(line) == expected


def test_every_list_of_words_is_offered() -> None:
    """Values written ``a|b|c`` in the help complete to these words."""
    options = [
        (option, context)
        for _, command, context in commands(
            cli, click.Context(cli, info_name="rankstone")
        )
        for option in command.params
        if isinstance(option, Option)
        and re.fullmatch(r"[a-z]\w*(\|[a-z]\w*)+", str(option.metavar))
    ]
    assert len(options) > 100
    for option, context in options:
        offered = [item.value for item in option.shell_complete(context, "")]
        assert "|".join(offered) == option.metavar
