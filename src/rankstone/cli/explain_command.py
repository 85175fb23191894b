"""``rankstone explain``: how a number came about."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import chosen_measures, holds_both, name_and_path
from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute, written
from rankstone.cli.options import ALIGNMENT, DEFAULT_MEASURES, LISTS, PRINTED, READING
from rankstone.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.explanation import ExplainedDifference, Explanation

    Found = list[Explanation | ExplainedDifference]


def typed_list(
    grades: str, judged: str | None, others: Sequence[str]
) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """Return judgments and a run of what was typed in; no file or query goes with it."""
    from rankstone.explanation import QUERY, typed_in

    if others:
        raise UsageError(
            "--grades is a list of its own",
            given=" ".join(others),
            fix="leave one of them out",
        )
    qrels, listed = typed_in(grades, judged)
    return qrels, {QUERY: listed}


@declare(
    "explain",
    {"files": "QRELS RUN"},
    "query measure versus worst libraries grades judged convention lang width",
    f"{PRINTED} import {LISTS} {READING} {ALIGNMENT}",
    but={"query": {"kind": tuple}},
)
def command(
    files: tuple[str, ...],
    query: tuple[str, ...],
    measure: str | None,
    versus: str | None,
    worst: int | None,
    grades: str | None,
    judged: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Explain a score: the table that it is the sum of, the rules that applied, what would change it.

    rankstone explain qrels.txt bm25.run -q 301 -m nDCG@10
    rankstone explain qrels.txt bm25.run -q 301 -m AP --versus dense.run
    rankstone explain qrels.txt bm25.run --worst 5
    rankstone explain --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 -m "nDCG(gain=exp2)@5"
    """
    from rankstone.explanation import explain_queries

    queries: list[Any] = list(query)
    qrels: Any
    run: Any
    if grades is not None:
        qrels, run = typed_list(grades, judged, [*files, *queries])
        queries = list(qrels)
        worst = None
        versus = None
    elif len(files) != 2 and not holds_both(files):  # noqa: PLR2004 - qrels and a run
        raise UsageError(
            "judgments and one run are needed",
            given=" ".join(files) or "nothing",
            expected="rankstone explain QRELS RUN -q ID, or --grades 3,2,0,1",
        )
    else:
        qrels = files[0]
        run = dict([name_and_path(files[-1])])
        if not queries and worst is None:
            raise UsageError(
                "which query?", fix="-q ID, or --worst 5 for the lowest scores"
            )
    other = None
    if versus is not None:
        other = dict([name_and_path(versus)])

    def find(**options: Any) -> Found:
        del options["progress"]
        library = options.get("convention")
        wanted = (
            measure
            or (chosen_measures((), library) if library else DEFAULT_MEASURES.split())[
                0
            ]
        )
        return explain_queries(
            qrels, run, wanted, queries, worst=worst or 0, versus=other, **options
        )

    show = partial(written, width=width)
    execute(given, find, [*files, given["exclude"], versus], show=show, notes=None)
