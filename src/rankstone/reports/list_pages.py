"""Lists of queries side by side, and the derivations of their scores.

The charts of the pages, as Vega-Lite specifications with their rows apart.

Scores of queries, all of them or, where there are too many, those that say most.

What other libraries would say of the first two systems, by words that mean such a measure.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.conventions.identification.identification import as_libraries
from rankstone.errors import InputError, UsageError, printable
from rankstone.explanation.explain_scores import Explainer
from rankstone.io import read_run
from rankstone.io.attributes import read_attributes
from rankstone.reports import charts as plots
from rankstone.reports.chart_style import label
from rankstone.reports.charts.curve_charts import cloud_chart, cloud_rows, curve_chart, traced
from rankstone.reports.charts.pair_charts import MOST, query_rows, thinned
from rankstone.tables.phrases import phrases
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.comparison.comparison_result import Comparison, Sources
    from rankstone.conventions.identification.search_space import Way
    from rankstone.diagnostics.curve_result import Curves
    from rankstone.explanation.explanation_result import Explanation
    from rankstone.tables.sheet import Sheet

#: measures that are drawn over their cutoff
_OVER_K: Final = 3
_CHART_DEPTH: Final = 20
_CUTOFF: Final = re.compile(r"@(\d+)$")


def charts(found: Comparison) -> tuple[dict[str, Any], list[str]]:
    """Return specifications by name, and why some are not there.

    What depends on a measure or a pair that the reader chooses is drawn for the first, and the page contains
    other rows to it.
    """
    drawn: dict[str, Any] = {
        "forest": plots.forest(found),
        "differences": plots.differences(found),
        "scatter": plots.scatter(found),
        "histogram": plots.histogram(found),
    }
    if found.segments is not None:
        drawn["segments"] = plots.segments(found)
    charts = {name: apart(chart, keep=False) for name, chart in drawn.items()}
    curves, notes = _curves(found)
    return charts | curves, notes


def apart(chart: Any, *, keep: bool) -> dict[str, Any]:  # noqa: ANN401 - Altair's chart
    """Return a specification, with its rows or without."""
    spec: dict[str, Any] = chart.to_dict(validate=False)  # rows by the thousand would be looked at one by one
    rows = spec.pop("datasets")
    spec.pop("config", None)
    name = next(iter(rows))
    return {"spec": spec, "data": name, "rows": rows[name] if keep else None}


def _curves(found: Comparison) -> tuple[dict[str, Any], list[str]]:
    """Trace curves; return notes on lists that are missing or have none."""
    say = phrases("pages", found.lang)
    if found.sources is None:
        return {}, [say["no_lists"]]
    if found.sources.convention is not None:
        return {}, [say["no_lists_convention"]]
    texts = ["PR", *_over_k(found)]
    traces, notes = _traced(found, texts)
    drawn: dict[str, Any] = {}
    for curves, curve in [(some, one) for some in traces for one in some.curves]:
        name = str(curve)
        title = label("at_k", found.lang, measure=name) if "@" in name else label("pr", found.lang)
        if name.startswith("Success@"):
            title = say["first_relevant"]
        drawn[f"curve{len(drawn)}"] = apart(curve_chart(curves, title, found.lang, name), keep=True)
        if "@" not in name:
            drawn["cloud"] = _clouds(curves, name, found.lang)
    return drawn, [f"{say['no_curves']}: {note}" for note in notes]


def _clouds(curves: Curves, name: str, lang: str) -> dict[str, Any]:
    """Return the curves of queries for each run, of which the reader chooses one."""
    runs = list(curves.runs)
    rows = {run: cloud_rows(curves, run, name) for run in runs}
    return {**apart(cloud_chart(curves, runs[0], "", lang, name), keep=False), "by": rows}


def _traced(found: Comparison, texts: list[str]) -> tuple[list[Curves], list[str]]:
    """Trace curves together; if one fails, each by itself, with the reasons of failures."""
    try:
        return [traced(found, " ".join(texts))], []
    except (UsageError, InputError) as error:
        if len(texts) == 1:
            return [], [f"{texts[0]}: {error}"]
    parts = [_traced(found, [one]) for one in texts]
    return [curves for some, _ in parts for curves in some], [note for _, notes in parts for note in notes]


def _over_k(found: Comparison) -> list[str]:
    """Return the measures with a cutoff, over all cutoffs up to it, and Success."""
    texts: dict[str, None] = {}
    for measure in found.measures:
        if (cutoff := _CUTOFF.search(measure)) is not None and len(texts) < _OVER_K:
            texts[f"{measure[: cutoff.start()]}@1..{min(max(int(cutoff[1]), _CHART_DEPTH), 100)}"] = None
    texts["Success@1..20"] = None
    return list(texts)


#: numbers that a page holds at most: queries × systems × measures
_NUMBERS: Final = 400_000
#: the most characters of a query's text
_TEXT: Final = 160
_LEVELS: Final = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


def first_pair(found: Comparison) -> tuple[str, str]:
    """Return the two systems of the first question."""
    one, other = found.table.select("system", "versus").row(0)
    return one, other


def scores(found: Comparison) -> dict[str, Any]:
    """Return ids, query texts if known, and each measure's values by system, in their order.

    ``n`` queries there are; where more than 10,000, or too many numbers, the ends of the first question's
    differences are kept, and queries at even steps between them: they approximate quantiles.
    """
    one, other = first_pair(found)
    lead = found.matrices[found.primary[0]]
    most = min(MOST, _NUMBERS // (len(found.systems) * len(found.measures)))
    ordered = query_rows(lead, lead.systems.index(one), lead.systems.index(other))
    ids = thinned(ordered, most)["query_id"]
    values = {
        measure: [_placed(matrix.queries, matrix.values[:, at], ids) for at in range(len(found.systems))]
        for measure, matrix in found.matrices.items()
    }
    return {"ids": ids.to_list(), "n": len(lead), "values": values, "texts": _texts(found, ids)}


def _texts(found: Comparison, ids: pl.Series) -> list[str | None]:
    """Return the query texts, if the table of queries has a column ``text`` or ``query``."""
    given = {} if found.sources is None else found.sources.given
    if given.get("queries") is None:
        return []
    about = read_attributes(given["queries"], "query_id", given.get("columns"))
    column = next((name for name in ("text", "query", "title") if name in about.columns), None)
    if column is None:
        return []
    placed = ids.to_frame("query_id").join(
        about.collect(column), on="query_id", how="left", maintain_order="left"
    )
    return [None if text is None else printable(str(text), _TEXT) for text in placed[column]]


def _placed(queries: pl.Series, values: np.ndarray[Any, Any], ids: pl.Series) -> list[float | None]:
    """Return the values of the requested queries, six digits each."""
    frame = pl.DataFrame({"query_id": queries.cast(pl.String), "value": values})
    placed = ids.to_frame().join(frame, on="query_id", how="left", maintain_order="left")["value"]
    return placed.round_sig_figs(6).fill_nan(None).to_list()


def quantiles(found: Comparison) -> pl.DataFrame:
    """Return how the differences of each question are spread over all queries."""
    rows = []
    for measure, system, versus in found.table.select("measure", "system", "versus").iter_rows():
        matrix = found.matrices[measure]
        differences = matrix.differences(matrix.systems.index(system), matrix.systems.index(versus))
        ends = np.quantile(differences, _LEVELS)
        rows.append({
            "measure": measure, "system": system, "versus": versus,
            **{f"{level:.0%}": float(value) for level, value in zip(_LEVELS, ends, strict=True)},
        })  # fmt: skip
    return pl.DataFrame(rows)


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
    say = phrases("pages", found.lang)
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
        lists_by_query = {system: _unfolded(ready, found, system, chosen, progress) for system in systems}
    except (UsageError, InputError) as error:
        return {**none, "note": f"{say['no_lists_here']}: {error}"}
    by_query = {query: _side_by_side({s: lists_by_query[s][query] for s in systems}) for query in chosen}
    return {"systems": systems, "measure": measure, "queries": by_query, "of": len(found.matrices[measure])}


def _queries(found: Comparison) -> list[str]:
    """Return the queries whose scores differ most, either way, and then any others there is room for."""
    one, other = first_pair(found)
    matrix = found.matrices[found.primary[0]]
    rows = query_rows(matrix, matrix.systems.index(one), matrix.systems.index(other))
    ordered = rows.sort(pl.col("difference").abs(), descending=True, maintain_order=True)
    return ordered.head(_room(found) // 2)["query_id"].to_list()


def _room(found: Comparison) -> int:
    """Return the number of lists that are shown: fewer if they are long."""
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
    """Explain one system's lists; of several runs of a system, the first is shown."""
    assert found.sources is not None  # noqa: S101 - the caller checked
    run = found.replicates.get(system, [system])[0]
    parts = _rows(found.sources, run, queries)
    lists_by_query = {}
    for query in queries:
        mine = parts.get(
            query, next(iter(parts.values()), None)
        )  # not in the run: rows of another query do not change it
        one = ready.explain(found.sources.runs[run] if mine is None else mine, query, run, changes=False)
        lists_by_query[query] = _list_content(one, found.lang)
        if progress is not None:
            progress(1)
    return lists_by_query


def _rows(sources: Sources, run: str, queries: Sequence[str]) -> dict[str, Any]:
    """Return the rows of a run that belong to the queries, in the order of the run."""
    columns, form = sources.given.get("columns"), sources.given.get("format_in")
    table = read_run(sources.runs[run], columns, form, order=sources.given.get("order", "score"), name=run)
    names = pl.Series(queries, dtype=pl.String)
    kept = [
        piece.filter(pl.col("query_id").cast(pl.String).is_in(names.implode()))
        for piece in table.tables([pl.col(name) for name in table.schema])
    ]
    parts = pl.concat(kept).partition_by("query_id", as_dict=True, maintain_order=True)
    if table.listed:  # plain lists of documents have only their own order, and stay lists
        return {str(key[0]): {key[0]: part["doc_id"].to_list()} for key, part in parts.items()}
    return {str(key[0]): part for key, part in parts.items()}


def _side_by_side(mine: dict[str, Any]) -> dict[str, Any]:
    """Keep for each list the ranks of the documents that the others show, which may be further down."""
    shown = {row[1] for one in mine.values() for row in one["rows"]}
    for one in mine.values():
        one["ranks"] = {doc: rank for doc, rank in one["ranks"].items() if doc in shown}
    return mine


def _list_content(one: Explanation, lang: str) -> dict[str, Any]:
    """Return one list for the page: rank, document, grade and contribution; and the derivation."""
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
        for part in sheet.readable
    ]
    return {"title": sheet.title, "formula": sheet.formula, "symbols": sheet.symbols, "parts": parts}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


#: rows of a run that are aligned as often as libraries differ, at most
_LIBRARY_ROWS: Final = 1_000_000
#: values no further apart than this are equal: sums were taken in another order
_EQUAL: Final = 11
_ALIGNED: Final = ("columns", "format_in", "exclude", "collapse", "order", "depth", "queries")


def libraries(found: Comparison) -> dict[str, Any]:
    """Return what libraries would print for each primary measure, those that agree in one row."""
    say = phrases("pages", found.lang)
    one, other = first_pair(found)
    table: dict[str, Any] = {"systems": [one, other], "rows": [], "note": None}
    if found.sources is None or found.sources.convention is not None or found.audit is None:
        return {**table, "note": say["no_libraries"]}
    runs = [found.replicates.get(system, [system])[0] for system in (one, other)]
    if max(found.audit.runs[run].retrieved for run in runs) > _LIBRARY_ROWS:
        return {**table, "note": say["libraries_large"]}
    given = {name: value for name, value in found.sources.given.items() if name in _ALIGNED}
    try:
        for measure in found.primary:
            word = re.sub(r"\(.*?\)", "", measure)
            ways = [as_libraries(found.sources.qrels, found.sources.runs[run], word, **given) for run in runs]
            table["rows"] += _library_rows(measure, _mean(found, measure, (one, other)), *ways)
    except (UsageError, InputError) as error:
        return {**table, "rows": [], "note": str(error)}
    return table


def _mean(found: Comparison, measure: str, systems: tuple[str, str]) -> tuple[float, float]:
    matrix = found.matrices[measure]
    one, other = (float(matrix.units.mean[matrix.systems.index(name)]) for name in systems)
    return one, other


def _library_rows(
    measure: str, ours: tuple[float, float], one: list[Way], other: list[Way]
) -> list[dict[str, Any]]:
    """Return a row for each pair of values: ours first, then as libraries agree."""
    second = {(way.library, way.spelling): way for way in other}
    agreeing: dict[tuple[float, float], list[Way]] = {_key(*ours): []}
    for way in one:
        same = second.get((way.library, way.spelling))
        if same is not None and not way.steps:  # with steps it is one with another cutoff
            agreeing.setdefault(_key(way.value, same.value), []).append(way)
    return [
        {
            "measure": measure,
            "means": measure if not at else _simplest(ways),
            "libraries": _named(ways),
            "one": values[0],
            "other": values[1],
            "difference": values[0] - values[1],
            "turned": (values[0] - values[1]) * (ours[0] - ours[1]) < 0,
        }
        for at, (values, ways) in enumerate(agreeing.items())
    ]


def _key(one: float, other: float) -> tuple[float, float]:
    return round(one, _EQUAL), round(other, _EQUAL)


def _simplest(ways: list[Way]) -> str:
    """Return the shortest way to say in our words what libraries mean."""
    return min(map(str, ways), key=lambda text: (len(text), text))


def _named(ways: list[Way]) -> str:
    """Return libraries with the shortest word each has for it, and how many others.

    >>> from rankstone.conventions.identification import Way
    >>> _named([Way(0.5, "RR", library="a-1", spelling=word) for word in ("mrr@all", "mrr")])
    'a-1 mrr (+1)'
    """
    known: dict[str, dict[str, None]] = {}
    for way in ways:
        known.setdefault(way.library, {})[way.spelling] = None
    return "; ".join(
        f"{library} {min(words, key=len)}{f' (+{len(words) - 1})' if len(words) > 1 else ''}"
        for library, words in known.items()
    )
