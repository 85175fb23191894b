"""The command line: one file a command, thin over the public functions.

Results go to standard output, everything else to standard error.  Exit codes: 0 fine · 2 usage ·
3 input invalid or not comparable · 5 a package is missing · 70 a bug of ours · 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from rankstone.cli.arguments import no_command
from rankstone.errors import RankstoneError, printable

__all__ = ["cli", "main"]

_COMMANDS = {
    "eval": "score runs against judgments, or one labelled table",
    "explain": "how a number came about: the table a score is the sum of",
    "bounds": "what scores could be if the unjudged documents were judged",
    "curve": "precision over recall, ROC, or a measure over its cutoff, averaged over queries",
    "diff": "how alike two runs are, without judgments: RBO, tau, overlap, what moved",
    "beyond": "beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness",
    "thresholds": "what the line between relevant and not relevant decides",
    "check": "what is in the files: duplicates, ties, missing queries, NaN, score order",
    "measures": "the measures there are, and the card of each",
    "conventions": "what other libraries mean by the same names, and by how much it moves a number",
    "trec-eval": "print what trec_eval prints, by its own options",
    "demo": "score the shipped collection's two rankers",
}
#: what other tools have options for, and where it stands here
_ELSEWHERE = {
    **dict.fromkeys(("--rel", "--level", "--threshold", "-l"), "that belongs to a measure: AP(rel=2)"),
    **dict.fromkeys(
        ("--cutoff", "--at", "--topk", "--top-k", "-k"),
        "that belongs to a measure: nDCG@10; --depth cuts every list",
    ),
    **dict.fromkeys(("--gain", "--gains"), "that belongs to a measure: nDCG(gain=exp2)@10"),
    "-q": "--per-query FILE writes the values of every query; --quiet leaves notes out",
}
_BUG = 70
_INTERRUPTED = 130


class _Lazy(click.Group):
    """Imports a command's module when the command is called; ``--help`` imports none."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"rankstone.cli.{name.replace('-', '_')}_command").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise no_command(args[0], _COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rankstone", prog_name="rankstone")
def cli() -> None:
    """Say how good a ranking is, by which convention, and to the last digit."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; a user's mistake never shows a traceback."""
    # one command is over before cycles of garbage add up; looking for them costs a tenth of the time
    gc.disable()
    _leave(_run(arguments))


def _leave(code: int) -> NoReturn:
    """End the process now: nothing is left to clean up, and Python would look through every object."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    os._exit(code)


def _run(arguments: list[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="rankstone", standalone_mode=False)
    except RankstoneError as error:
        from rankstone.cli.spelling import told

        click.echo(f"error: {told(error)}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        if hint := _ELSEWHERE.get(getattr(error, "option_name", "")):
            click.echo(f"  fix:      {hint}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away; say nothing, also not while Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last net: a bug, told as such
        return _bug(error)
    return code if isinstance(code, int) else 0


def _bug(error: Exception) -> int:
    if os.environ.get("RANKSTONE_TRACEBACK"):
    from rankstone.cli.importing import own_mistake

        raise error
    click.echo(
    if (mistake := own_mistake(error)) is not None:
        click.echo(f"error: {mistake}", err=True)
        return mistake.exit_code
        f"internal error: {type(error).__name__}: {printable(error)}\n"
        "  This is a bug in rankstone, not in your data. Please report it, with the command and what\n"
        "  it prints when run again with RANKSTONE_TRACEBACK=1 in the environment.",
        err=True,
    )
    return _BUG
