"""``rankstone compare``, ``report`` and ``power``: which run is better, and how sure that is.

What commands have in common that compare systems.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.arguments import (
    chosen_measures,
    judged_runs,
    numbers,
    present,
    queries_of,
    refuse_with,
    saved_scores,
    with_thresholds,
    words,
)
from rankstone.cli.declaring import declare
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.execution import (
    audit_lines,
    command_line,
    execute,
    kept,
    keyword_options,
    print_notes,
    progress_bar,
    written,
)
from rankstone.cli.options import (
    ALIGNMENT,
    COMPARING,
    DEFAULT_MEASURES,
    LISTS,
    PRINTED,
    READING,
)
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone import Comparison, Plan


#: what is about judgments and runs, and means nothing for saved scores
_OF_RUNS: Final = (
    "bounds",
    "exclude",
    "unit",
    "same_as",
    "documents",
    "convention",
    "format_in",
    "run_column",
    "rel",
    "on_bad_run",
)
_PLANNED = DEFAULT_MEASURES.split()[0]


def comparison(
    files: tuple[str, ...], given: dict[str, Any]
) -> tuple[Callable[..., Comparison], list[str | None]]:
    """Return what compares the systems a command line names, and the files it reads."""
    quiet = given["quiet"]
    judged = () if given["scores"] else files
    columns = given["columns"]
    given["queries"] = queries_of(given["queries"], given["by"], judged, columns)
    given["by"] = words(given["by"])

    def find(**options: Any) -> Comparison:
        with progress_bar(quiet=quiet, what="blocks drawn") as drawing:
            return of_files(files, drawing=drawing, **options)

    return find, [*files, given["exclude"], given["queries"]]


def of_files(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    *,
    scores: bool,
    rel: float | None = None,
    **given: Any,
) -> Comparison:
    """Compare runs against judgments, or saved scores per query."""
    if scores:
        return _of_scores(files, measures, {"rel": rel, **given})
    from rankstone import compare

    runs = judged_runs(
        "compare",
        files,
        else_try="for saved scores per query: rankstone compare --scores FILE",
    )
    chosen = chosen_measures(measures, given.get("convention"), rel)
    primary = with_thresholds(given.pop("primary", None), rel)
    return compare(files[0], runs, chosen, primary=primary, **given)


def _of_scores(
    files: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]
) -> Comparison:
    from rankstone import compare_scores

    refuse_with("--scores", given, _OF_RUNS)
    if not files:
        raise UsageError(
            "--scores needs a file of scores",
            fix="rankstone eval QRELS A B --per-query scores.parquet",
        )
    own = {
        name: value
        for name, value in given.items()
        if name not in (*_OF_RUNS, "progress")
    }
    return compare_scores(saved_scores(files), list(measures) or None, **own)


@declare(
    "compare",
    {"files": "QRELS A B [C]…"},
    f"{COMPARING} per-query width {PRINTED} table marks names caption {READING} {ALIGNMENT}",
)
def command(
    files: tuple[str, ...],
    width: int | None,
    table: str | None,
    marks: str,
    names: str | None,
    caption: bool,
    **given: Any,
) -> None:
    """Compare runs: which is better, with tests, confidence intervals and verdicts.

    With two runs, B is compared with A.  With more runs, each is compared with every --baseline, or every
    pair is compared.  The first measure (or --primary) gives the verdict, the others are exploratory.  Runs called
    system/seed1, system/seed2 … are replicates of one system.  More than two systems are
    shown as a leaderboard; --verbose lists every pair, as do --format csv and json.

    rankstone compare qrels.txt bm25.run dense.run -m "nDCG@10 AP"
    rankstone compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25 --margin 0.01
    rankstone compare --scores scores.parquet -m nDCG@10
    rankstone compare qrels.txt a.run b.run --format latex --table means --caption
    """
    show: Callable[..., str] = partial(
        written, width=width, verbose=bool(kept("verbose"))
    )
    for_paper = table or names is not None or caption or marks != "superscript"
    if for_paper:
        show = _means_for_a_paper(table, given["form"], marks, names, caption=caption)
    if for_paper and given["by"]:
        raise UsageError(
            "--table means has no segments",
            given=f"--by {printable(given['by'], 60)}",
            fix="leave out --by",
        )
    quiet = given["quiet"]
    find, inputs = comparison(files, given)
    found = execute(
        given, find, inputs, show=show, rows=attrgetter("per_query"), paged=True
    )
    if for_paper and not quiet:
        print_notes(audit_lines(found))
    if found.audit is not None and found.audit.bad_runs:
        end_with_bad_runs(found.audit.bad_runs)


def _means_for_a_paper(
    table: str | None, form: str, marks: str, names: str | None, *, caption: bool
) -> Callable[..., str]:
    """Return what writes the means as LaTeX; its options are refused for other tables and formats."""
    if table is None or form != "latex":
        raise UsageError(
            "--table, --marks, --names and --caption are about one table of LaTeX",
            expected="--format latex --table means",
            fix="add --format latex --table means",
        )
    shown = _names_in_papers(names or "")

    def show(found: Comparison, form: str, digits: int) -> str:  # noqa: ARG001 - checked
        return replace(found, digits=digits).to_latex(
            table,
            marks=None if marks == "none" else marks,
            names=shown,
            caption=caption,
        )

    return show


def _names_in_papers(text: str) -> dict[str, str]:
    """Return system → name of ``a=b,c=d``, or of the lines of a file."""
    expected = "system=name, such as bm25=BM25: a line for each system, or with commas"
    lines = text.split(",")
    place = "--names"
    if text and "=" not in text:
        place = f"--names {printable(text)}"
        try:
            lines = Path(text).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{place} cannot be read as text",
                given=getattr(error, "strerror", None) or "bytes that are not UTF-8",
                expected=expected,
                fix="--names bm25=BM25,splade=SPLADE",
            ) from None
    names = {}
    for line in filter(None, map(str.strip, lines)):
        system, equals, name = line.partition("=")
        if not equals:
            raise UsageError(
                f"{place} names no system", given=printable(line, 60), expected=expected
            )
        names[system.strip()] = name.strip()
    return names


@declare(
    "power",
    {"files": "[QRELS A B [C]…]"},
    "difference interval-width among measures rel deviation scores cluster queries baseline confidence power",
    "comparisons",
    f"{PRINTED} import {LISTS} {READING} {ALIGNMENT}",
    but={"measures": {"shown": _PLANNED}},
)
def power_command(
    files: tuple[str, ...],
    differences: str | None,
    widths: str | None,
    measures: tuple[str, ...],
    deviation: float | None,
    scores: bool,
    **given: Any,
) -> None:
    """Compute how many queries are needed to detect a difference, or for intervals of some width.

    The standard deviation of the differences per query is estimated from existing runs (a pilot), or given.
    Without a difference it is the observed one of each pair.

    rankstone power qrels.txt bm25.run dense.run -m nDCG@10 -d 0.01,0.02,0.05
    rankstone power --deviation 0.2 -d 0.02 --power 0.9
    rankstone power --deviation 0.2 -d 0.05 --among 10
    rankstone power --deviation 0.2 --interval-width 0.05
    """
    wanted: dict[str, Any] = {
        f"{name}s": numbers(f"--{name}", text, "such as 0.01,0.05")
        for name, text in (("difference", differences), ("width", widths))
        if text is not None
    }
    if (deviation is None) == (not files):
        raise UsageError(
            "give either runs or --deviation",
            given=" ".join(files) or "neither",
            fix="rankstone power QRELS A B -d 0.02, or rankstone power --deviation 0.2 -d 0.02",
        )
    settings = {
        name: given.pop(name)
        for name in ("power", "confidence", "comparisons", "among")
    }
    names = measures if scores else measures or (_PLANNED,)

    def find(**options: Any) -> Plan:
        from rankstone import power

        pilot: Any = deviation
        if files:
            pilot = of_files(
                files, names, scores=scores, test="t", primary=names or None, **options
            )
        chosen = present(settings)
        return power(pilot, **wanted, **chosen)

    execute(given, find, [*files, given["queries"]], notes=None)


@declare(
    "report",
    {"files": "QRELS A B [C]…"},
    f"output title documents slices min-size {COMPARING} quiet digits {READING} {ALIGNMENT}",
    required="output",
)
def report_command(
    files: tuple[str, ...],
    output: str,
    digits: int,
    title: str | None,
    documents: str | None,
    slices: bool,
    min_size: int | None,
    **given: Any,
) -> None:
    """Write a comparison as one HTML page: the answer, queries won and lost, examples, caveats, method.

    The page opens offline and fetches nothing.  It needs the extra: pip install "rankstone[report]"

    rankstone report qrels.txt bm25.run dense.run -o report.html
    rankstone report qrels.txt a.run b.run c.run --baseline a -m "nDCG@10 AP" -o report.html --lang zh
    rankstone report qrels.txt a.run b.run --queries queries.jsonl --documents docs.jsonl -o report.html
    rankstone report qrels.txt a.run b.run --queries queries.jsonl --slices -o report.html
    """
    import rankstone
    from rankstone.reports import require

    require()
    quiet = given["quiet"]
    queries = given["queries"]
    find, inputs = comparison(files, given)
    with keyword_options(given, [*inputs, documents]) as options:
        found = find(
            **options, **({} if options["scores"] else {"documents": documents})
        )
    parts = None
    if slices:
        of_slices = present(
            {"min_size": min_size, "queries": queries, "lang": found.lang}
        )
        parts = rankstone.boards.slices_of_scores(found, **of_slices)
    with progress_bar(quiet=quiet, what="runs read") as read:
        shown = replace(found, digits=digits)
        rankstone.report(
            shown,
            output,
            title=title,
            documents=documents,
            queries=queries,
            slices=parts,
            command=command_line(),
            progress=read,
        )
    if found.audit is not None and found.audit.bad_runs:
        end_with_bad_runs(found.audit.bad_runs)
