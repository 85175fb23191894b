"""``rankstone diff``: how similar two runs are, without judgments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import named_runs, refuse_with
from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, execute, written
from rankstone.cli.options import ORDERING, PRINTED, READING_RUNS, WITHOUT_JUDGMENTS
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from rankstone import Similarity


_MEASURES = "RBO(p=0.9) tau_ap Jaccard@10"
#: ranks of two lists side by side that are shown unless --depth says how many
_SHOWN = 20


@declare(
    "diff",
    {"files": "A B"},
    f"measures query top per-query explain lang width {PRINTED} import {READING_RUNS} {ORDERING}",
    but={**WITHOUT_JUDGMENTS, "measures": {"shown": _MEASURES}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    query: str | None,
    top: int | None,
    explain: str | None,
    lang: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Compare two rankings without judgments.

    A is the reference (the old run), B is compared with it.  Both are files as `rankstone eval` takes
    them; name=FILE names a run.

    rankstone diff old.run new.run -m "RBO(p=0.9) tau_ap Jaccard@10" --top 5
    rankstone diff old.run new.run -q 1037798
    rankstone diff old.run new.run -q 1037798 --explain "RBO(p=0.9)"
    """
    from rankstone import diff

    if explain is None:
        refuse_with("a table", {"lang": lang, "width": width})
    elif query is None:
        raise UsageError(
            "which query?",
            fix="-q ID; rankstone diff A B --top 5 shows those that changed most",
        )
    else:
        refuse_with(
            "--explain",
            {"measures": measures, "top": top, "per-query": given["per_query"]},
        )
    if query is not None:
        refuse_with("--query", {"top": top})
    view: dict[str, Any] = {
        "query": query,
        "top": top,
        "ranks": given["depth"] or _SHOWN,
    }
    output = given["output"]

    def show(found: Similarity, form: str, digits: int | None) -> str:
        if explain is not None:
            return written(
                found.explain(found.measures[0], query, lang=lang or "en"),
                form,
                digits,
                width=width,
            )
        whole, rows = _parts(found, form, **view)
        text = written(found, form, digits, frame=rows, content=whole, **view)
        if (
            form == "csv" and output is None and sys.stdout.isatty()
        ):  # nothing in a text reaches the terminal
            text = "".join(
                f"{printable(line, len(text))}\n" for line in text.split("\n")[:-1]
            )
        return text

    def find(**options: Any) -> Similarity:
        (first, a), (second, b) = _two(files).items()
        return diff(
            a, b, measures or (explain or _MEASURES,), names=(first, second), **options
        )

    execute(
        given, find, files, show=show, notes=audit_lines if explain is None else None
    )


def _two(files: tuple[str, ...]) -> dict[str, object]:
    """Return the two runs by name."""
    if len(files) != 2:  # noqa: PLR2004 - this and that
        raise UsageError(
            "two runs are needed",
            given=" ".join(files) or "nothing",
            expected="rankstone diff A B",
        )
    return named_runs(files)


def _parts(
    similarity: Similarity, form: str, query: str | None, top: int | None, ranks: int
) -> tuple[dict[str, Any] | None, Any]:
    """Return what JSON holds, and the rows of CSV: the lists, the changed queries, or the means."""
    rows = similarity.table() if top is None else similarity.changed(top)
    if query is not None:
        rows = similarity.side_by_side(query, ranks)
    whole = similarity.report()
    if top is not None:
        whole["changed"] = rows.to_dicts()
    if query is not None:
        values = similarity.per_query.filter(query_id=query).drop("query_id").to_dicts()
        whole = {
            "query_id": query,
            "measures": values,
            "lists": rows.to_dicts(),
            "inputs": whole["inputs"],
        }
    return (whole if form == "json" else None), rows
