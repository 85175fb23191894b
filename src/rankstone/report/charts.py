"""The charts of the pages, as Vega-Lite specifications with their rows apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import InputError, UsageError
from rankstone.plots.of_curves import cloud_chart, cloud_rows, curve_chart, traced
from rankstone.plots.words import label
from rankstone.report.words import words

if TYPE_CHECKING:
    from rankstone.comparing import Comparison
    from rankstone.curves import Curves

__all__ = ["apart", "charts"]

#: measures that are drawn over their cutoff
_OVER_K: Final = 3
_DEPTH: Final = 20
_CUTOFF: Final = re.compile(r"@(\d+)$")


def charts(found: Comparison) -> tuple[dict[str, Any], list[str]]:
    """Return specifications by name, and why some are not there.

    What depends on a measure or a pair that the reader chooses is drawn for the first, and the page brings
    other rows to it.
    """
    plot = found.plot
    drawn: dict[str, Any] = {
        "forest": plot.forest(),
        "differences": plot.differences(),
        "scatter": plot.scatter(),
        "histogram": plot.histogram(),
    }
    if found.segments is not None:
        drawn["segments"] = plot.segments()
    told = {name: apart(chart, keep=False) for name, chart in drawn.items()}
    curves, notes = _curves(found)
    return told | curves, notes


def apart(chart: Any, *, keep: bool) -> dict[str, Any]:  # noqa: ANN401 - Altair's chart
    """Return a specification, with its rows or without."""
    spec: dict[str, Any] = chart.to_dict(validate=False)  # rows by the thousand would be looked at one by one
    rows = spec.pop("datasets")
    spec.pop("config", None)
    name = next(iter(rows))
    return {"spec": spec, "data": name, "rows": rows[name] if keep else None}


def _curves(found: Comparison) -> tuple[dict[str, Any], list[str]]:
    """Trace curves; lists that are not there, or have none, are told of."""
    say = words(found.lang)
    if found.sources is None:
        return {}, [say["no_lists"]]
    if found.sources.convention is not None:
        return {}, [say["no_lists_convention"]]
    asked = ["PR", *_over_k(found)]
    traces, notes = _traced(found, asked)
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
    """Return the curves of queries, a run at a time: the reader says which."""
    runs = list(curves.runs)
    rows = {run: cloud_rows(curves, run, name) for run in runs}
    return {**apart(cloud_chart(curves, runs[0], "", lang, name), keep=False), "by": rows}


def _traced(found: Comparison, asked: list[str]) -> tuple[list[Curves], list[str]]:
    """Trace curves together; where one of them cannot be, each for itself, and say which not and why."""
    try:
        return [traced(found, " ".join(asked))], []
    except (UsageError, InputError) as error:
        if len(asked) == 1:
            return [], [f"{asked[0]}: {error}"]
    parts = [_traced(found, [one]) for one in asked]
    return [curves for some, _ in parts for curves in some], [note for _, notes in parts for note in notes]


def _over_k(found: Comparison) -> list[str]:
    """Return the measures with a cutoff, over all cutoffs up to it, and when the first relevant is met."""
    asked: dict[str, None] = {}
    for measure in found.measures:
        if (cutoff := _CUTOFF.search(measure)) is not None and len(asked) < _OVER_K:
            asked[f"{measure[: cutoff.start()]}@1..{min(max(int(cutoff[1]), _DEPTH), 100)}"] = None
    asked["Success@1..20"] = None
    return list(asked)
