"""The command line: one file a command, thin over the public functions.

Results go to standard output, everything else to standard error.  Exit codes: 0 fine · 2 usage ·
3 input invalid or not comparable · 5 a package is missing · 70 a bug of ours · 130 interrupted.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import NoReturn

import click

from rankstone.cli.arguments import no_command
from rankstone.cli.ending import BUG, ended, leave, open_streams
from rankstone.cli.native_errors import NativeErrors

__all__ = ["cli", "main"]

_COMMANDS = {
    "eval": "score runs against judgments, or one labelled table",
    "explain": "how a number came about: the table a score is the sum of",
    "identify": "what somebody computed who printed a number: measure, conventions, library",
    "compare": "which run is better, and how sure that is: tests, intervals, verdicts",
    "gate": "may this run replace that one: margins, floors and guards for continuous integration",
    "report": "a comparison as one HTML page that opens offline",
    "power": "how many queries would show a difference",
    "bounds": "what scores could be if the unjudged documents were judged",
    "curve": "precision over recall, ROC, or a measure over its cutoff, averaged over queries",
    "diff": "how alike two runs are, without judgments: RBO, tau, overlap, what moved",
    "beyond": "beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness",
    "baseline": "what a mean is worth: chance, the worst and the best order beside it",
    "retention": "how many users come back: new and returning users, cohorts, day-N retention",
    "clicks": "judgments made of a log of clicks: click rates, corrected for positions where asked",
    "counterfactual": "what another ranking would have earned, from a log: IPS, SNIPS, doubly robust",
    "interleave": "two rankings shown as one list, and which of them users prefer",
    "ab": "A/B tests of rankings: click-through, click ranks, abandonment, and who was dealt what",
    "ltr": "learning to rank: train, tune, score and compare rankers on documents with features",
    "thresholds": "what the line between relevant and not relevant decides",
    "sampled": "what measures would give among all items, from lists of a few sampled ones",
    "check": "what is in the files: duplicates, ties, missing queries, NaN, score order",
    "measures": "the measures there are, and the card of each",
    "conventions": "what other libraries mean by the same names, and by how much it moves a number",
    "trec-eval": "print what trec_eval prints, by its own options",
    "demo": "score the shipped collection's two rankers",
}


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
    open_streams()
    native = NativeErrors()
    code = _run(arguments)
    native.close(shown=code == BUG)
    leave(code)


def _run(arguments: list[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="rankstone", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - whatever it is, somebody is told
        return ended(error)
    return code if isinstance(code, int) else 0
