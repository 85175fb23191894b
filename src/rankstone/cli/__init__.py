"""The command line: one file a command, thin over the public functions.

Results go to standard output, everything else to standard error.  Exit codes: 0 fine · 2 usage ·
3 input invalid or not comparable · 5 a package is missing · 70 a bug of ours · 130 interrupted.
"""

from __future__ import annotations

import gc
from typing import NoReturn

import click

from rankstone.cli.declaring import Group
from rankstone.cli.ending import BUG, ended, leave, open_streams
from rankstone.cli.standard_error import NativeErrors

__all__ = ["cli", "main"]

_SECTIONS = {
    "Score": {
        "eval": "score runs against judgments, or one labelled table",
        "curve": "precision over recall, ROC, or a measure over its cutoff, averaged over queries",
        "sampled": "what measures would give among all items, from lists of a few sampled ones",
        "trec-eval": "print what trec_eval prints, by its own options",
    },
    "Compare": {
        "compare": "which run is better, and how sure that is: tests, intervals, verdicts",
        "gate": "may this run replace that one: margins, floors and guards for continuous integration",
        "report": "a comparison as one HTML page that opens offline",
        "power": "how many queries would show a difference",
        "diff": "how alike two runs are, without judgments: RBO, tau, overlap, what moved",
    },
    "Trust": {
        "check": "what is in the files: duplicates, ties, missing queries, NaN, score order",
        "explain": "how a number came about: the table a score is the sum of",
        "identify": "how a reported number was computed: measure, conventions, library",
        "bounds": "what scores could be if the unjudged documents were judged",
        "baseline": "what a mean is worth: chance, the worst and the best order",
        "thresholds": "what the threshold between relevant and not relevant decides",
    },
    "Recommend and online": {
        "beyond": "beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness",
        "online": "what users did: retention, clicks, counterfactual, interleave, ab",
    },
    "Learn": {
        "ltr": "learning to rank: train, tune, score and compare rankers on documents with features",
    },
    "Reference": {
        "measures": "the measures there are, and the card of each",
        "conventions": "what other libraries mean by the same names, and by how much it moves a number",
        "demo": "score the two runs of the collection that comes with the package",
    },
}
#: commands that were at the top once
_MOVED = {name: f"online {name}" for name in ("retention", "clicks", "counterfactual", "interleave", "ab")}

cli = Group(
    "rankstone",
    _SECTIONS,
    moved=_MOVED,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Say how good a ranking is, by which convention, and to the last digit.",
)
click.version_option(package_name="rankstone", prog_name="rankstone")(cli)


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
    except BaseException as error:  # noqa: BLE001 - whatever it is, the user gets a message
        return ended(error)
    return code if isinstance(code, int) else 0
