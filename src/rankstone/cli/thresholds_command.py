"""``rankstone thresholds``: what the threshold between relevant and not relevant decides."""

from __future__ import annotations

from functools import partial
from typing import Any

from rankstone.cli.answering import answer, of_runs
from rankstone.cli.arguments import numbers
from rankstone.cli.declaring import declare
from rankstone.cli.options import ALIGNMENT, DEFAULT_MEASURES, PRINTED, READING
from rankstone.cli.outputs import written

#: the usual measures, without the one that has no threshold
_MEASURES = DEFAULT_MEASURES.removeprefix("nDCG@10 ")


@declare(
    "thresholds",
    {"files": "QRELS RUN [RUN]…"},
    f"measures levels strict interval confidence seed plot {PRINTED} import {READING} {ALIGNMENT}",
    but={"measures": {"usual": _MEASURES}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    levels: str | None,
    plot: bool,
    **given: Any,
) -> None:
    """Score runs with every threshold on the grades.

    Shows each value by threshold with its interval, how far it moves, where runs change places, and how many
    preferences between documents a threshold wipes out.

    rankstone thresholds qrels.txt bm25.run dense.run -m "AP P@10"
    rankstone thresholds ratings.csv als.csv knn.csv --strict --levels 2,3,4 --plot
    """
    from rankstone import thresholds

    if levels is not None:
        given["levels"] = numbers("--levels", levels, "grades separated by commas: 1,2,3")
    find = of_runs(thresholds, files, measures or (_MEASURES,))
    show = partial(written, drawn=plot)
    answer(given, find, files, show=show, audit=lambda found: found.scores.audit)
