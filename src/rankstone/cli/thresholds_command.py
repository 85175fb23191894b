"""``rankstone thresholds``: what the threshold between relevant and not relevant decides."""

from __future__ import annotations

from functools import partial
from typing import Any

from rankstone.cli.arguments import numbers
from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, execute, on_runs, written
from rankstone.cli.options import ALIGNMENT, DEFAULT_MEASURES, PRINTED, READING

#: the default measures, without the one that has no threshold
_MEASURES = DEFAULT_MEASURES.removeprefix("nDCG@10 ")


@declare(
    "thresholds",
    {"files": "QRELS RUN [RUN]…"},
    f"measures levels strict interval confidence seed plot {PRINTED} import {READING} {ALIGNMENT}",
    but={"measures": {"shown": _MEASURES}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    levels: str | None,
    plot: bool,
    **given: Any,
) -> None:
    """Score runs with every relevance threshold on the grades.

    Shows the value at each threshold with its interval, the spread over thresholds, where runs swap places,
    and how many preferences between documents are lost.

    rankstone thresholds qrels.txt bm25.run dense.run -m "AP P@10"
    rankstone thresholds ratings.csv als.csv knn.csv --strict --levels 2,3,4 --plot
    """
    from rankstone import thresholds

    if levels is not None:
        given["levels"] = numbers("--levels", levels, "grades separated by commas: 1,2,3")
    find = on_runs(thresholds, files, measures or (_MEASURES,))
    show = partial(written, drawn=plot)
    execute(given, find, files, show=show, notes=lambda found: audit_lines(found.scores))
