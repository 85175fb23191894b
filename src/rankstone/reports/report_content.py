"""``report``: a result as one HTML page that opens offline; which results have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.errors import BadParameter, masked
from rankstone.io.atomic_files import atomic
from rankstone.io.file_roles import separate_files
from rankstone.reports.page_words import Words
from rankstone.tables.phrases import check_language
from rankstone.tables.results import Result

if TYPE_CHECKING:
    from rankstone._basics import Progress, StrPath
    from rankstone.boards.slices_result import Slices


def report(
    result: Result,
    path: StrPath,
    *,
    lang: str = "en",
    title: str | None = None,
    documents: object = None,
    queries: object = None,
    slices: Slices | None = None,
    command: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a result as one HTML page that opens offline, whole or not at all (needs the extra ``report``).

    Parameters
    ----------
    result
        A comparison, a board, slices, a collection, a repetition, curves, score bounds, stages, abstention,
        scores beyond accuracy, or retention.
    path
        The file.
    lang
        Language of the page, ``en`` or ``zh``; a comparison has its own.
    title
        What the data are called: ``"TREC Deep Learning 2019, passages"``.
    documents
        Of a comparison: a table with ``doc_id`` and any of ``title``, ``text``, ``cost``, ``class``.
    queries
        Of a comparison: a table with ``query_id``, ``text`` and further columns to be shown; by default the
        one that it was made with.
    slices
        Of a comparison of two systems: what :func:`rankstone.slices` found, as a tab of its own.
    command
        The command line that made it, to be shown.
    progress
        Called with 1 for every system whose lists are read.

    Raises
    ------
    BadParameter
        When there are no pages of such a result.
    UsageError
        When the page would take the place of a file that is read for it.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> found = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10 AP")
    >>> rankstone.report(found, "report.html")  # doctest: +SKIP
    """
    with separate_files({"path": path}):
        text = page_of(
            result,
            lang=lang,
            command=command,
            title=title,
            documents=documents,
            queries=queries,
            slices=slices,
            progress=progress,
        )
        with atomic(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


def page_of(
    result: object,
    *,
    lang: str = "en",
    command: str | None = None,
    title: str | None = None,
    **shown: Any,  # noqa: ANN401 - as for report
) -> str:
    """Return a result as one HTML page: no part of it is fetched from anywhere; see :func:`report`."""
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.reports.comparison_page import comparison_content
    from rankstone.reports.html_page import page, require
    from rankstone.reports.result_pages import result_content

    check_language(lang)
    require()
    compared = isinstance(result, Comparison)
    words = Words(result.lang if isinstance(result, Comparison) else lang)
    content = (
        comparison_content(result, words, **shown)  # type: ignore[arg-type]
        if compared
        else result_content(result)
    )
    if content is None:
        raise BadParameter(
            f"{type(result).__name__} has no page",
            expected="a comparison, a board, slices, a collection, a repetition, curves, bounds, stages, "
            "abstention, scores beyond accuracy, or retention",
            fix="result.to_html() is a table, result.write(path) writes files",
        )
    # where no script runs, as in mails, the tables stand for the charts
    results = [result, shown.get("slices")]
    content["sheets"] = [part.sheet() for part in results if isinstance(part, Result)]
    names = {"title": title, "command": None}
    if command is not None:
        names["command"] = masked(command)
    return page(content, result, words, **names)
