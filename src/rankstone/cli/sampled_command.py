"""``rankstone sampled``: what measures would give among all items, from lists of a few sampled ones."""

from __future__ import annotations

from typing import Any

from rankstone.cli.answering import answer, of_runs
from rankstone.cli.declaring import declare
from rankstone.cli.options import ALIGNMENT, PRINTED, READING

#: those that have bounds and estimators, of the usual kinds
_MEASURES = "nDCG@10 R@10 RR"


@declare(
    "sampled",
    {"files": "QRELS RUN [RUN]…"},
    f"measures catalogue-size method gamma replacement rel confidence {PRINTED} import {READING} {ALIGNMENT}",
    but={
        "catalogue-size": {"keyword": "items"},
        "measures": {"usual": _MEASURES},
        "method": {"values": "bv|cls|rank|naive"},
    },
    required="catalogue-size",
)
def command(files: tuple[str, ...], measures: tuple[str, ...], **given: Any) -> None:
    """Bound and estimate what measures would give among all items.

    Every list holds a query's relevant documents and so many sampled ones.  Measures of such lists are other
    measures, which may order systems otherwise.  lower and upper are the least and the most that the
    measure can be among all N items; value is a guess.

    rankstone sampled test.csv als.csv knn.csv --catalogue-size 20000 -m "nDCG@10 R@10"
    """
    from rankstone import sampled

    find = of_runs(sampled, files, measures or (_MEASURES,))
    answer(given, find, files)
