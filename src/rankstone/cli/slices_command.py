"""``rankstone slices``: groups of queries in which a run loses or gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import (
    judged_runs,
    present,
    refuse_with,
    saved_scores,
    words,
)
from rankstone.cli.declaring import declare
from rankstone.cli.execution import check_charts, execute, progress_bar
from rankstone.cli.options import ALIGNMENT, LISTS, PRINTED, READING
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from rankstone.boards import Slices


@declare(
    "slices",
    {"files": "[QRELS A [B]]"},
    "measure queries attributes tag bins min-size against margin log metric variant versus scores cluster",
    f"direction confidence power permutations seed chart lang convention import {PRINTED} {READING} {LISTS}",
    ALIGNMENT,
    but={"measure": {"shown": "nDCG@10"}, "permutations": {"shown": "2000"}},
)
def command(
    files: tuple[str, ...],
    log: str | None,
    scores: bool,
    tags: tuple[str, ...],
    attributes: str | None,
    queries: str | None,
    chart: str | None,
    **given: Any,
) -> None:
    """Find groups of queries in which a run loses or gains, without taking chance for a finding.

    B is compared with A; of A alone, slices are compared with its mean elsewhere.  Columns of --queries make
    slices: values, ranges of numbers, length and question word of texts, and pairs of these.  Every gap is
    compared with the largest gap of all slices in shuffled data.  With --log, an A/B log.

    rankstone slices qrels.txt bm25.run dense.run --queries queries.csv -m nDCG@10
    rankstone slices qrels.txt dense.run --queries queries.jsonl --tag 'price=cheap|price|cost'
    rankstone slices --scores scores.parquet --queries queries.csv --margin 0.05
    rankstone slices --log ab.csv --versus old --attributes device,country
    rankstone slices qrels.txt a.run b.run --queries queries.csv -o slices.html --chart slices.pdf
    """
    check_charts({"chart": chart})
    options = {"attributes": words(attributes) or None, "tags": _tags(tags)}
    of_log = {name: given.pop(name) for name in ("value", "by", "versus", "direction")}
    quiet = given["quiet"]

    def find(**read: Any) -> Slices:
        with progress_bar(quiet=quiet, what="blocks drawn") as drawing:
            given = present(options | read | {"drawing": drawing})
            return _find(
                files, log, scores=scores, queries=queries, of_log=of_log, **given
            )

    inputs = [*files, queries, log]
    found = execute(given, find, inputs, notes=None, paged=True)
    if chart is not None:
        from rankstone import plots

        plots.write(plots.slices(found), chart)


def _find(
    files: tuple[str, ...],
    log: str | None,
    *,
    scores: bool,
    queries: str | None,
    of_log: dict[str, Any],
    **given: Any,
) -> Slices:
    """Return the slices of a log, of saved scores, or of runs."""
    from rankstone import boards

    if log is not None:
        refuse_with(
            "--log",
            {**given, "files": files, "queries": queries, "scores": scores},
            ("files", "queries", "scores", "measure", "convention"),
        )
        given.pop("progress", None)
        return boards.slices_of_log(
            log, **given, **{name: one for name, one in of_log.items() if one}
        )
    refuse_with("--scores" if scores else "runs", of_log)
    if scores:
        refuse_with("--scores", given, ("convention",))
        given.pop("progress", None)
        source = saved_scores(files)
        return boards.slices_of_scores(source, queries=queries, **given)
    runs = judged_runs(
        "slices",
        files,
        else_try="for saved scores per query: rankstone slices --scores FILE",
    )
    return boards.slices(files[0], runs, queries=queries, **given)


def _tags(given: tuple[str, ...]) -> dict[str, str] | None:
    """Read NAME=REGEX."""
    pairs = [one.partition("=") for one in given]
    if bad := [one for one, equals, regex in pairs if not (one and equals and regex)]:
        raise UsageError(
            "--tag is NAME=REGEX",
            given=printable(bad[0]),
            expected="such as price=cheap",
        )
    return {name: regex for name, _, regex in pairs} or None
