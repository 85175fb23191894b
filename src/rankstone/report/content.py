"""What is on the pages of a report, as plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.errors import printable
from rankstone.plots.style import records
from rankstone.report.charts import charts
from rankstone.report.judgments import judgments
from rankstone.report.libraries import libraries
from rankstone.report.lists import lists
from rankstone.report.provenance import provenance
from rankstone.report.queries import quantiles, scores
from rankstone.report.words import words
from rankstone.sheets import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.comparing import Comparison

__all__ = ["content"]

#: questions beyond so many are in the table only
_SENTENCES = 12
#: verdicts that decide nothing
_OPEN = ("inconclusive", "identical")
#: rows of all runs together that are kept in memory, at most
_ROWS = 20_000_000


def content(
    found: Comparison, command: str | None, progress: Callable[[int], None] | None = None
) -> dict[str, Any]:
    """Return everything the pages show."""
    found = _at_hand(found)
    sheet = found.sheet()
    said = [part for part in sheet.parts if not isinstance(part, Table)]
    sentences = _sentences(found)
    drawn, notes = charts(found)
    return {
        "lang": found.lang,
        "digits": found.digits,
        "words": words(found.lang),
        "title": sheet.title,
        "sentences": sentences[:_SENTENCES],
        "unsaid": len(sentences) - len(sentences[:_SENTENCES]),
        "said": [{"title": title, "lines": list(lines)} for title, lines in said[1:]],
        "systems": list(found.systems),
        "baseline": found.baseline,
        "primary": list(found.primary),
        "measures": [
            {"name": name, "sign": matrix.sign, "n": len(matrix)} for name, matrix in found.matrices.items()
        ],
        "means": found.means.to_dicts(),
        "questions": found.table.to_dicts(),
        "by": [] if found.segments is None else _by(found),
        "segments": None if found.segments is None else found.segments.to_dicts(),
        "anova": found.anova.to_dicts(),
        "friedman": found.friedman.to_dicts() if len(found.systems) > 2 else [],  # noqa: PLR2004 - all pairs
        "by_test": found.by_test.to_dicts(),
        "alpha": found.how.alpha,
        "queries": scores(found),
        "quantiles": records(quantiles(found)),
        "lists": lists(found, progress),
        "judgments": judgments(found),
        "libraries": libraries(found),
        "provenance": provenance(found, command),
        "charts": drawn,
        "notes": notes,
    }


def _at_hand(found: Comparison) -> Comparison:
    """Return the comparison with runs that stay in memory unless they are long: several parts read them."""
    audits = {} if found.audit is None else found.audit.runs
    if found.sources is None or sum(audit.retrieved for audit in audits.values()) > _ROWS:
        return found
    return replace(found, sources=found.sources.remembering())


def _sentences(found: Comparison) -> list[str]:
    """Return the verdict; where there are many questions the sum of it, and what is decided first."""
    said = found.sentences()
    if len(said) <= _SENTENCES:
        return said
    verdicts = found.table.filter(role="primary")["verdict"].to_list()
    ordered = sorted(zip(verdicts, said, strict=True), key=lambda one: one[0] in _OPEN)
    return [*_summed(found), *(sentence for _, sentence in ordered)]


def _summed(found: Comparison) -> list[str]:
    lines = []
    for measure in found.primary:
        verdicts = found.table.filter(measure=measure)["verdict"]
        sign = found.matrices[measure].sign
        means = found.means.filter(measure=measure).sort(pl.col("mean") * sign, descending=True)
        line = words(found.lang)["decided"].format(
            measure=measure,
            decided=int((~verdicts.is_in(_OPEN)).sum()),
            all=len(verdicts),
            best=printable(means["system"][0], 30),
            mean=f"{means['mean'][0]:.{found.digits}f}",
        )
        lines.append(line)
    return lines


def _by(found: Comparison) -> list[str]:
    assert found.segments is not None  # noqa: S101 - asked before
    names = found.segments.columns
    return names[: names.index("measure")]
