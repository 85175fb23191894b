"""``rankstone sampled``: what measures would give among all items, from lists of a few sampled ones."""

from __future__ import annotations

from typing import Any

from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute, on_runs
from rankstone.cli.options import ALIGNMENT, PRINTED, READING

#: common measures that have bounds and estimators
_MEASURES = "nDCG@10 R@10 RR"


@declare(
    "sampled",
    {"files": "QRELS RUN [RUN]…"},
    f"measures catalogue-size method gamma replacement rel confidence {PRINTED} import {READING} {ALIGNMENT}",
    but={
        "catalogue-size": {"keyword": "items"},
        "measures": {"shown": _MEASURES},
        "method": {"values": "bv|cls|rank|naive"},
    },
    required="catalogue-size",
)
def command(files: tuple[str, ...], measures: tuple[str, ...], **given: Any) -> None:
    """Estimate measures among all items from lists of sampled candidates.

    Every list holds the relevant documents of a query and a fixed number of sampled ones.  Measures of such
    lists differ from those among all items and may order systems differently.  lower and upper bound the
    measure among all N items; value is an estimate.

    rankstone sampled test.csv als.csv knn.csv --catalogue-size 20000 -m "nDCG@10 R@10"
    """
    from rankstone import sampled

    find = on_runs(sampled, files, measures or (_MEASURES,))
    execute(given, find, files)
