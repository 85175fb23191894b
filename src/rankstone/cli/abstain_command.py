"""``rankstone abstain``: whether to answer nothing where the top score is low, and from which score."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rankstone.cli.arguments import named_numbers
from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute, kept, on_runs, written
from rankstone.cli.options import ALIGNMENT, PRINTED, READING

_MEASURE: Final = "nDCG@10"


@declare(
    "abstain",
    {"files": "QRELS RUN [RUN]…"},
    f"k rel utility measure queries documents split confidence seed lang {PRINTED} import {READING} {ALIGNMENT}",
    but={
        "k": {"short": "-k", "shown": "1"},
        "rel": {"shown": "1"},
        "digits": {"shown": "3", "default": 3},
        "measure": {"shown": _MEASURE},
    },
)
def command(
    files: tuple[str, ...], measure: str | None, utility: str | None, **given: Any
) -> None:
    """Say whether to answer nothing where the top score is low: a score threshold (min_score, cutoff).

    A query deserves an answer if a relevant document is among its first k, or if a column answerable of the
    judgments or of --queries says so.  Shows whether the top score separates the two kinds (AUROC), what the
    best threshold is worth, what thresholds are worth on queries that did not choose them, and a verdict: use
    this similarity cutoff, answer always, never answer, scores do not separate, or cannot tell.

    rankstone abstain qrels.txt bm25.run
    rankstone abstain qrels.txt dense.run -k 3 --rel 2 --utility right=1,wrong=-4,abstain=0
    rankstone abstain golden.json results.jsonl --split dev -o abstention.html
    """
    from rankstone import abstain

    given["utility"] = named_numbers("--utility", utility, "right=1,wrong=-1")
    find = on_runs(abstain, files, measure or _MEASURE)
    inputs = [*files, given["queries"], given["documents"]]
    show = partial(written, verbose=bool(kept("verbose")))
    execute(given, find, inputs, show=show, paged=True)
