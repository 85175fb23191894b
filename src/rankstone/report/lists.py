"""Lists of queries side by side, and the derivations of their scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone.errors import InputError, UsageError, printable
from rankstone.explaining import Explainer
from rankstone.io import read_run
from rankstone.plots.pairs import query_rows
from rankstone.report.queries import first_pair
from rankstone.report.words import words
from rankstone.sheets import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.comparing import Comparison
    from rankstone.comparing.result import Sources
    from rankstone.explaining import Explanation
    from rankstone.sheets import Sheet

__all__ = ["lists"]

#: lists that are unfolded, a query and system each; and their rows together, more or less
_LISTS: Final = 200
_ROWS: Final = 80_000
#: names of queries looked through for them, together
_NAMES: Final = 5_000_000
#: documents shown of a list
_DEPTH: Final = 20
_NAME: Final = 80


def lists(found: Comparison, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Return lists with grades and derivations, for the queries whose scores differ most.

    The two systems of the first question come first, then others while there is room for all queries.
    """
    say = words(found.lang)
    none: dict[str, Any] = {"systems": [], "queries": {}, "of": 0}
    if found.sources is None:
        return {**none, "note": say["no_lists"]}
    if found.sources.convention is not None:
        return {**none, "note": say["no_lists_convention"]}
    measure = found.primary[0]
    chosen = _queries(found)
    systems = _systems(found, len(chosen))
    try:
        ready = Explainer(found.sources.qrels, measure, **found.sources.given)
        told = {system: _unfolded(ready, found, system, chosen, progress) for system in systems}
    except (UsageError, InputError) as error:
        return {**none, "note": f"{say['no_lists_here']}: {error}"}
    by_query = {query: _side_by_side({s: told[s][query] for s in systems}) for query in chosen}
    return {"systems": systems, "measure": measure, "queries": by_query, "of": len(found.matrices[measure])}


def _queries(found: Comparison) -> list[str]:
    """Return the queries whose scores differ most, either way, and then any others there is room for."""
    one, other = first_pair(found)
    matrix = found.matrices[found.primary[0]]
    rows = query_rows(matrix, matrix.systems.index(one), matrix.systems.index(other))
    ordered = rows.sort(pl.col("difference").abs(), descending=True, maintain_order=True)
    return ordered.head(_room(found) // 2)["query_id"].to_list()


def _room(found: Comparison) -> int:
    """Return how many lists are unfolded: fewer where they are long."""
    lengths = [audit.median_length for audit in found.audit.runs.values()] if found.audit else []
    queries = len(found.matrices[found.primary[0]])
    return max(2, min(_LISTS, int(_ROWS / max([1.0, *lengths])), _NAMES // queries))


def _systems(found: Comparison, queries: int) -> list[str]:
    one, other = first_pair(found)
    rest = [system for system in found.systems if system not in (one, other)]
    return [other, one, *rest][: max(2, _room(found) // max(queries, 1))]


def _unfolded(
    ready: Explainer,
    found: Comparison,
    system: str,
    queries: Sequence[str],
    progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    """Unfold one system's lists; of several runs of a system, the first is shown."""
    assert found.sources is not None  # noqa: S101 - asked before
    run = found.replicates.get(system, [system])[0]
    parts = _rows(found.sources, run, queries)
    told = {}
    for query in queries:
        mine = parts.get(
            query, next(iter(parts.values()), None)
        )  # unanswered: the others' rows say nothing of it
        one = ready.explain(found.sources.runs[run] if mine is None else mine, query, run, changes=False)
        told[query] = _told(one, found.lang)
        if progress is not None:
            progress(1)
    return told


def _rows(sources: Sources, run: str, queries: Sequence[str]) -> dict[str, Any]:
    """Return the rows of a run that belong to the queries, in the order of the run."""
    columns, form = sources.given.get("columns"), sources.given.get("format_in")
    table = read_run(sources.runs[run], columns, form, order=sources.given.get("order", "score"), name=run)
    wanted = pl.Series(queries, dtype=pl.String)
    kept = [
        piece.filter(pl.col("query_id").cast(pl.String).is_in(wanted.implode()))
        for piece in table.tables([pl.col(name) for name in table.schema])
    ]
    parts = pl.concat(kept).partition_by("query_id", as_dict=True, maintain_order=True)
    if table.listed:  # plain lists of documents have no order but their own, and stay such lists
        return {str(key[0]): {key[0]: part["doc_id"].to_list()} for key, part in parts.items()}
    return {str(key[0]): part for key, part in parts.items()}


def _side_by_side(mine: dict[str, Any]) -> dict[str, Any]:
    """Tell for each list where it has the documents that the others show; it may be further down."""
    shown = {row[1] for one in mine.values() for row in one["rows"]}
    for one in mine.values():
        one["ranks"] = {doc: rank for doc, rank in one["ranks"].items() if doc in shown}
    return mine


def _told(one: Explanation, lang: str) -> dict[str, Any]:
    """Return one list as the page shows it: rank, document, grade, what it adds; and the derivation."""
    rows = [
        [row.rank, printable(row.doc_id or "", _NAME), row.relevance, row.judged, _short(row.contribution)]
        for row in one.rows[:_DEPTH]
    ]
    return {
        "run": one.run,
        "value": _short(one.value),
        "rows": rows,
        "ranks": {printable(row.doc_id or "", _NAME): row.rank for row in reversed(one.rows)},
        "retrieved": len(one.rows),
        "sheet": _sheet(replace(one, lang=lang).sheet()),
    }


def _sheet(sheet: Sheet) -> dict[str, Any]:
    parts = [
        {
            "title": part.title,
            "head": part.head,
            "rows": part.rows,
            "numeric": part.numeric,
            "total": part.total,
        }
        if isinstance(part, Table)
        else {"title": part[0], "lines": part[1]}
        for part in sheet.parts
    ]
    return {"title": sheet.title, "formula": sheet.formula, "symbols": sheet.symbols, "parts": parts}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
