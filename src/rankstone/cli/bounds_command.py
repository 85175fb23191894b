"""``rankstone bounds``: the scores that unjudged documents leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import chosen_measures, numbers
from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute, on_runs, written
from rankstone.cli.options import ALIGNMENT, LISTS, PRINTED, READING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone import Bounds


@declare(
    "bounds",
    {"files": "QRELS RUN [RUN]…"},
    f"measures rel scale limit per-query {PRINTED} {LISTS} import {READING} {ALIGNMENT}",
    but={"scale": {"keyword": "grades"}},
)
def command(
    files: tuple[str, ...], measures: tuple[str, ...], rel: float | None, grades: str | None, **given: Any
) -> None:
    """Show the lowest and highest scores if the unjudged documents were judged.

    Bounds hold for every assignment of grades to the retrieved documents without a judgment.  With two runs
    their difference is bounded, too (a document that both retrieve has one grade), and the last column says
    whether it is certain which run is above.

    rankstone bounds qrels.txt bm25.run -m "nDCG@10 AP"
    rankstone bounds qrels.txt bm25.run dense.run --scale 0,1,2,3
    """
    from rankstone import bounds

    if grades is not None:
        given["grades"] = numbers("--scale", grades, "a scale: 0,1,2")

    def bounded(qrels: str, runs: Mapping[str, object], *rest: Any, **options: Any) -> Bounds:
        return bounds(qrels, runs, *rest, difference=_pair(runs), **options)

    def show(found: Bounds, form: str, digits: int | None) -> str:
        return written(found, form, digits, frame=found.mean())

    find = on_runs(bounded, files, chosen_measures(measures, rel=rel))
    execute(given, find, [*files, given["exclude"]], show=show, paged=True)


def _pair(runs: Mapping[str, object]) -> tuple[str, str] | None:
    """Return the names of the runs where there are two."""
    names = list(runs)
    return (names[0], names[1]) if len(names) == 2 else None  # noqa: PLR2004 - a pair
