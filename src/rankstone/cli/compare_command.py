"""``rankstone compare``: which run is better, and how sure that is.

What commands have in common that compare systems.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.arguments import chosen_measures, judged_runs, named_runs, refuse_with, words
from rankstone.cli.declaring import declare
from rankstone.cli.ending import end_with_bad_runs
from rankstone.cli.execution import execute, kept, progress_bar, written
from rankstone.cli.options import ALIGNMENT, COMPARING, PRINTED, READING
from rankstone.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone import Comparison


#: what is about judgments and runs, and means nothing for saved scores
_OF_RUNS: Final = (
    "bounds", "exclude", "unit", "same_as", "documents", "convention", "format_in", "run_column", "rel",
    "on_bad_run",
)  # fmt: skip


def comparison(
    files: tuple[str, ...], given: dict[str, Any]
) -> tuple[Callable[..., Comparison], list[str | None]]:
    """Return what compares the systems a command line names, and the files it reads."""
    quiet = given["quiet"]
    given["by"] = words(given["by"])

    def find(**options: Any) -> Comparison:
        with progress_bar(quiet=quiet, what="blocks drawn") as drawing:
            return of_files(files, drawing=drawing, **options)

    return find, [*files, given["exclude"], given["queries"]]


def of_files(
    files: tuple[str, ...], measures: tuple[str, ...], *, scores: bool, rel: float | None = None, **given: Any
) -> Comparison:
    """Compare runs against judgments, or saved scores per query."""
    if scores:
        return _of_scores(files, measures, {"rel": rel, **given})
    from rankstone import compare

    runs = judged_runs(
        "compare", files, else_try="for saved scores per query: rankstone compare --scores FILE"
    )
    return compare(files[0], runs, chosen_measures(measures, given.get("convention"), rel), **given)


def _of_scores(files: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]) -> Comparison:
    from rankstone import compare_scores

    refuse_with("--scores", given, _OF_RUNS)
    if not files:
        raise UsageError(
            "--scores needs a file of scores", fix="rankstone eval QRELS A B --per-query scores.parquet"
        )
    own = {name: value for name, value in given.items() if name not in (*_OF_RUNS, "progress")}
    source = files[0] if len(files) == 1 and "=" not in files[0] else named_runs(files)
    return compare_scores(source, list(measures) or None, **own)


@declare(
    "compare",
    {"files": "QRELS A B [C]…"},
    f"{COMPARING} per-query width {PRINTED} {READING} {ALIGNMENT}",
)
def command(files: tuple[str, ...], width: int | None, **given: Any) -> None:
    """Compare runs: which is better, with tests, confidence intervals and verdicts.

    With two runs, B is compared with A.  With more runs, each is compared with --baseline, or every pair is
    compared.  The first measure (or --primary) gives the verdict, the others are exploratory.  Runs called
    system/seed1, system/seed2 … are replicates of one system.  More than 12 systems are shown as a
    leaderboard; --verbose lists every pair, as do --format csv and json.

    rankstone compare qrels.txt bm25.run dense.run -m "nDCG@10 AP"
    rankstone compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25 --margin 0.01
    rankstone compare --scores scores.parquet -m nDCG@10
    rankstone compare --scores matrix.csv -m AP
    """
    find, inputs = comparison(files, given)
    show = partial(written, width=width, verbose=bool(kept("verbose")))
    found = execute(given, find, inputs, show=show, rows=attrgetter("per_query"), paged=True)
    if found.audit is not None and found.audit.bad_runs:
        end_with_bad_runs(found.audit.bad_runs)
