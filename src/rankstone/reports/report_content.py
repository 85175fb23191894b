"""Pages written whole: which results have one, and what makes it.

What is on the pages of a report, as plain data.

What is known of judgments: how much of each list is judged, what bounds say.

Where the numbers come from: options, inputs and their hashes, versions, the command.
"""

from __future__ import annotations

import platform
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from rankstone.errors import BadParameter, masked, printable
from rankstone.io.atomic_files import atomic
from rankstone.reports import chart_style as vega
from rankstone.reports.chart_style import records
from rankstone.reports.list_pages import charts, libraries, lists, quantiles, scores
from rankstone.tables.phrases import phrases
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.online.retention_result import Retention


def page_of(
    result: Comparison | Retention,
    *,
    lang: str = "en",
    command: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> str:
    """Return a result as one HTML page: no part of it is fetched from anywhere; see :func:`write`."""
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.online.retention_result import Retention
    from rankstone.reports.html_page import page, require
    from rankstone.reports.retention_page import RetentionReport

    require()
    if isinstance(result, Retention):
        return RetentionReport(result, lang=lang, command=command).html()
    if not isinstance(result, Comparison):
        raise BadParameter(
            f"{type(result).__name__} has no page",
            expected="a comparison, or retention",
            fix="result.to_html() is a table, result.write(path) writes files",
        )
    return page(content(result, command, progress))


def report(
    result: Comparison | Retention,
    path: str | os.PathLike[str],
    *,
    lang: str = "en",
    command: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write a result as one HTML page that opens offline, whole or not at all (needs the extra ``report``).

    Parameters
    ----------
    result
        A comparison, or retention.
    path
        The file.
    lang
        Of a page of retention, ``en`` or ``zh``; a comparison has its own.
    command
        The command line that made it, to be shown.
    progress
        Called with 1 for every list that is unfolded.

    Raises
    ------
    BadParameter
        When there are no pages of such a result.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    >>> rankstone.report(found, "report.html")  # doctest: +SKIP
    """
    text = page_of(result, lang=lang, command=command, progress=progress)
    with atomic(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def judgments(found: Comparison) -> dict[str, Any]:
    """Return shares of unjudged documents at cutoffs, what alignment found, and bounds."""
    audits = {} if found.audit is None else found.audit.runs
    unjudged = [
        {"run": run, "k": k, "share": share}
        for run, audit in audits.items()
        for k, share in sorted(audit.unjudged.items())
    ]
    counts = [
        {
            "run": run, "queries": audit.queries, "missing": audit.missing, "extra": audit.extra,
            "retrieved": audit.retrieved, "judged": audit.judged, "tied": audit.tied,
            "duplicates": audit.duplicates,
        }
        for run, audit in audits.items()
    ]  # fmt: skip
    bounds = [
        {name: row[name] for name in ("measure", "system", "versus", "difference", "lowest", "highest")}
        for row in found.table.iter_rows(named=True)
        if row.get("lowest") is not None
    ]
    return {
        "judged": None if found.judged is None else found.judged[0],
        "unjudged": unjudged,
        "counts": counts,
        "bounds": bounds,
    }


def provenance(found: Comparison, command: str | None) -> dict[str, Any]:
    """Return what is needed to reproduce the numbers."""
    hashes = found.hashes()
    return {
        "command": None if command is None else masked(command),
        "comparison": flat(found.settings.as_dict()),
        "conventions": flat(found.conventions),
        "inputs": [
            {"name": name, "source": source, "sha256": hashes.get(name, "")}
            for name, source in flat(found.inputs, last_name=True)
        ],
        "versions": versions(),
        "audit": [] if found.audit is None else found.audit.lines(),
    }


def versions() -> list[dict[str, str]]:
    """Return what a page was made with."""
    packages = ("rankstone", "numpy", "polars", "scipy", "altair")
    return [
        *({"name": name, "version": version(name)} for name in packages),
        *({"name": name, "version": values} for name, values in vega.versions().items()),
        {"name": "Python", "version": platform.python_version()},
    ]


def flat(values: Mapping[str, Any], above: str = "", *, last_name: bool = False) -> list[tuple[str, str]]:
    """Return nested options as lines of name and value.

    >>> flat({"alignment": {"ties": "docid_desc"}, "measures": ["AP", "RR"]})
    [('alignment.ties', 'docid_desc'), ('measures', 'AP RR')]
    """
    lines: list[tuple[str, str]] = []
    for name, value in values.items():
        path = name if last_name or not above else f"{above}.{name}"
        if isinstance(value, dict):
            lines += flat(value, path, last_name=last_name)
        elif isinstance(value, (list, tuple)):
            lines.append((path, " ".join(map(str, value))))
        else:
            lines.append((path, "–" if value is None else str(value)))
    return lines


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
    said = [part for part in sheet.readable if not isinstance(part, Table)]
    sentences = _sentences(found)
    drawn, notes = charts(found)
    return {
        "lang": found.lang,
        "digits": found.digits,
        "words": phrases("pages", found.lang),
        "title": sheet.title,
        "sentences": sentences[:_SENTENCES],
        "omitted": len(sentences) - len(sentences[:_SENTENCES]),
        "said": [{"title": title, "lines": list(lines)} for title, lines in said[1:]],
        "systems": list(found.systems),
        "baseline": found.baseline,
        "primary": list(found.primary),
        "measures": [
            {"name": name, "sign": matrix.sign, "n": len(matrix)} for name, matrix in found.matrices.items()
        ],
        "means": found.mean().to_dicts(),
        "questions": found.table.to_dicts(),
        "by": [] if found.segments is None else _by(found),
        "segments": None if found.segments is None else found.segments.to_dicts(),
        "anova": found.anova.to_dicts(),
        "friedman": found.friedman.to_dicts() if len(found.systems) > 2 else [],  # noqa: PLR2004 - all pairs
        "by_test": found.by_test.to_dicts(),
        "alpha": found.settings.alpha,
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
        means = found.mean().filter(measure=measure).sort(pl.col("mean") * sign, descending=True)
        line = phrases("pages", found.lang)["decided"].format(
            measure=measure,
            decided=int((~verdicts.is_in(_OPEN)).sum()),
            all=len(verdicts),
            best=printable(means["system"][0], 30),
            mean=f"{means['mean'][0]:.{found.digits}f}",
        )
        lines.append(line)
    return lines


def _by(found: Comparison) -> list[str]:
    assert found.segments is not None  # noqa: S101 - the caller checked
    names = found.segments.columns
    return names[: names.index("measure")]
