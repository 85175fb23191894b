"""The command line: thin over the public functions; large commands have a file each.

Results go to standard output, everything else to standard error.  ``docs/commands.md`` lists exit codes.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn

import click

from rankstone.cli.declaring import CommandGroup
from rankstone.cli.ending import (
    BUG,
    ended,
    heed_memory_limit,
    heed_termination,
    interrupt_again,
    leave,
    open_streams,
)
from rankstone.cli.plain_text import plain_streams
from rankstone.cli.standard_error import NativeErrors

__all__ = ["cli", "main"]

_SECTIONS = {
    "Score": {
        "eval": "score runs against judgments, or one labelled table",
        "curve": "precision-recall and ROC curves, or a measure over its cutoff",
        "sampled": "estimate measures among all items from lists of sampled candidates",
        "trec-eval": "print what trec_eval prints, with its options",
    },
    "Compare": {
        "compare": "which run is better: tests, confidence intervals, verdicts",
        "board": "leaderboards over many data sets: ranks, and how sure they are",
        "slices": "groups of queries in which a run loses or gains, beyond chance",
        "gate": "release gate for continuous integration: margins, floors, guards",
        "report": "write a comparison as one HTML page that opens offline",
        "reproduce": "does a repeated experiment give the same lists, scores, improvements",
        "power": "how many queries are needed to detect a difference",
        "diff": "compare two rankings without judgments: RBO, tau, overlap",
    },
    "Trust": {
        "check": "check files: duplicates, ties, missing queries, NaN, score order",
        "stages": "where relevant documents are lost: corpus, first pool, reranking",
        "explain": "how a score was computed: the table that it is the sum of",
        "identify": "find how a reported number was computed: measure, library",
        "bounds": "the lowest and highest score if unjudged documents were judged",
        "baseline": "compare a mean with a random, the worst and the best order",
        "thresholds": "how results depend on the relevance threshold",
        "abstain": "answer nothing below a score threshold (min_score)? which, and does it hold",
        "collection": "a test collection after a shared task: pool, topics, reusability",
        "golden": "golden sets: ids that are gone, queries that cannot be won, splits that stay",
        "certify": "write a card with which anybody can check the figures of runs",
        "verify": "check a card: which file, block or digit changed",
    },
    "Recommend, online and answers": {
        "beyond": "beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness",
        "online": "user behaviour: retention, clicks, counterfactual, interleave, ab",
        "answers": "answers of language models: nuggets and citations",
    },
    "Learn": {"ltr": "learning to rank: train, tune, score and compare rankers"},
    "Reference": {
        "measures": "list the measures, and show their definitions",
        "conventions": "how other libraries define measures of the same name",
        "formats": "the files that are recognised, and what those of other programs look like",
        "demo": "score the demo collection",
    },
}
#: command → whose file it is in
_SHARED = {
    **dict.fromkeys(
        ("check", "bounds", "baseline", "thresholds", "sampled", "identify"),
        "diagnostics",
    ),
    **dict.fromkeys(("power", "report"), "compare"),
    **dict.fromkeys(("reproduce", "certify", "verify"), "collection"),
    "demo": "eval",
}

cli = CommandGroup(
    "rankstone",
    _SECTIONS,
    shared=_SHARED,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Evaluate rankings: scores, comparisons, and how every number was computed.",
)
click.version_option(package_name="rankstone", prog_name="rankstone")(cli)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; a usage error never shows a traceback."""
    # one command is over before cycles of garbage add up; looking for them costs a tenth of the time
    gc.disable()
    if sys.argv[1:2] != [
        "ltr"
    ]:  # nothing else multiplies matrices, and BLAS threads wait for work busily
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.unraisablehook = interrupt_again
    heed_termination()
    open_streams()
    heed_memory_limit()
    native = NativeErrors()
    with plain_streams():
        code = _run(arguments)
    native.close(shown=code == BUG)
    leave(code)


def _run(arguments: list[str] | None) -> int:
    at_once = signal.getsignal(signal.SIGINT)
    heeded = callable(at_once)  # it is not where the shell has interrupts ignored
    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = cli.main(arguments, prog_name="rankstone", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the user gets a message
        return ended(error)
    finally:
        if heeded:
            signal.signal(signal.SIGINT, at_once)
    return code if isinstance(code, int) else 0
