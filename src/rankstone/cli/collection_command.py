"""``rankstone collection``, ``reproduce``, ``certify`` and ``verify``: shared tasks, repetitions, cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import (
    chosen_measures,
    judged_runs,
    name_and_path,
    named_runs,
    refuse_with,
)
from rankstone.cli.declaring import declare
from rankstone.cli.execution import check_charts, execute, progress_bar, written
from rankstone.cli.options import ALIGNMENT, LISTS, PRINTED, READING
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.collections import Collection, Reproduction, RunCard, Verification


@declare(
    "collection",
    {"files": "QRELS RUN RUN…"},
    "measures teams pool-depth confidence seed queries documents chart lang import",
    f"{PRINTED} {READING}",
    ALIGNMENT,
    but={"measures": {"shown": "nDCG@10 AP"}},
)
def collection_command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    groups: str | None,
    chart: str | None,
    **given: Any,
) -> None:
    """Study a test collection with the runs of a shared task.

    Leaderboard with the ranks that clear differences leave, best, median and worst of each topic, how alike
    measures order the runs, and leave one group out: what would its runs lose, and would the order change, if
    its own documents had not been judged?

    rankstone collection qrels.txt runs/ --teams teams.csv -m "nDCG@10 AP"
    rankstone collection qrels.txt a.run b.run --pool-depth 20 -o collection.html --chart topics.pdf
    """
    check_charts({"chart": chart})
    files = (*files[:1], *(one for path in files[1:] for one in _files(path)))
    quiet = given["quiet"]
    runs = judged_runs("collection", files)

    def find(**options: Any) -> Collection:
        from rankstone import collections

        chosen = [*chosen_measures(measures or ("nDCG@10 AP",))]
        with progress_bar(quiet=quiet, what="groups left out") as bar:
            return collections.collection(
                files[0], runs, chosen, groups=groups, **options | {"progress": bar}
            )

    inputs = [*files, groups, given["queries"]]
    found = execute(given, find, inputs, paged=True)
    if chart is not None:
        from rankstone import plots

        plots.write(plots.topics(found), chart)


@declare(
    "reproduce",
    {"files": "ORIGINAL AGAIN [BASELINE BASELINE_AGAIN]"},
    "measures qrels qrels-again scores baseline margin confidence seed queries lang import",
    f"{PRINTED} {READING} {LISTS}",
    ALIGNMENT,
    but={"measures": {"shown": "nDCG@10"}, "baseline": {"kind": str, "shown": ""}},
)
def reproduce_command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    **given: Any,
) -> None:
    """Compare a repeated experiment with the original one: lists, scores, improvements, order of systems.

    ORIGINAL and AGAIN are a run each, or folders with the runs of several systems under the same names; with
    --scores tables of scores per query.  The figures are those of repro_eval, with intervals.

    rankstone reproduce original.run again.run
    rankstone reproduce original.run again.run --qrels qrels.txt -m "nDCG@10 AP"
    rankstone reproduce dense.run dense2.run bm25.run bm25-2.run --qrels qrels.txt
    rankstone reproduce original/ again/ --qrels qrels.txt --baseline bm25
    rankstone reproduce original/ other/ --qrels qrels.txt --qrels-again other.qrels --baseline bm25
    rankstone reproduce --scores table2.parquet again.parquet --margin 0.01
    """
    if len(files) not in (2, 4):
        expected = "rankstone reproduce ORIGINAL AGAIN [BASELINE BASELINE_AGAIN]"
        raise UsageError(
            "an experiment and its repetition are compared",
            given=" ".join(files),
            expected=expected,
        )
    sides: list[Any] = [*files]
    if len(files) == 4:  # noqa: PLR2004 - with a baseline on both sides
        refuse_with(
            "a baseline of its own", {"baseline": baseline, "scores": given["scores"]}
        )
        baseline = "baseline"
        sides = _with_baselines(files)
    elif not given["scores"]:
        sides = [named_runs(_files(run)) for run in files]

    def find(**options: Any) -> Reproduction:
        from rankstone.collections import reproduce

        return reproduce(
            sides[0], sides[1], list(measures) or None, baseline=baseline, **options
        )

    inputs = [*files, given["qrels"], given["qrels_again"], given["queries"]]
    execute(
        given,
        find,
        [one for one in inputs if not Path(one or "").is_dir()],
        notes=None,
        paged=True,
    )


def _with_baselines(files: Sequence[str]) -> list[dict[str, str]]:
    """Return a run and its baseline of each side; the run is called on both as the original is."""
    system = name_and_path(files[0])[0]
    paths = [name_and_path(name)[1] for name in files]
    if system == "baseline":
        raise UsageError(
            "the original run is called as its baseline is", fix=f"dense={paths[0]}"
        )
    return [{system: paths[side], "baseline": paths[side + 2]} for side in range(2)]


def _files(path: str) -> list[str]:
    """Return the files of a folder, or the one file."""
    if not Path(path).is_dir():
        return [path]
    if found := [
        str(one)
        for one in sorted(Path(path).iterdir())
        if one.name[0] != "." and one.is_file()
    ]:
        return found
    raise UsageError(f"there are no runs in {printable(path)}", expected="a run a file")


@declare(
    "certify",
    {"files": "QRELS RUN…"},
    "measures convention queries lang import",
    f"{PRINTED} {READING} {LISTS}",
    ALIGNMENT,
    but={"measures": {"shown": "nDCG@10"}},
)
def certify_command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    convention: str | None,
    **given: Any,
) -> None:
    """Write a card of runs, with which anybody can check their figures.

    The card has the SHA-256 of every file and of every 64 KiB block of it, of this program's source,
    versions, options, conventions, the header of metadata (ir_metadata) of each run, and every figure,
    the means with their intervals and the value of each query, as text that loses no digit.

    rankstone certify qrels.txt bm25.run dense.run -m "nDCG@10 AP" -o card.json
    """
    runs = judged_runs("certify", files)
    output = given["output"]

    def find(**options: Any) -> RunCard:
        from rankstone.collections import certify

        chosen: Any = chosen_measures(measures or ("nDCG@10",), convention)
        folder = Path(output or ".").parent
        return certify(
            files[0], runs, chosen, convention=convention, folder=folder, **options
        )

    def show(found: RunCard, form: str, digits: int | None) -> str:
        return written(found, "json" if output and form == "table" else form, digits)

    execute(given, find, [*files, given["queries"]], show=show, notes=None)


@declare("verify", {"card": "CARD", "files": "[FILE]…"}, f"original lang {PRINTED}")
def verify_command(
    card: str, files: tuple[str, ...], original: tuple[str, ...], **given: Any
) -> int:
    """Compute the figures of a card again; name the file, the block and the digit that are others.

    Exit codes: 0 the card holds, 1 it does not.

    rankstone verify card.json
    rankstone verify card.json downloads/qrels.txt downloads/bm25.run
    rankstone verify card.json --original backup/bm25.run
    """

    def find(*, columns: object, **options: Any) -> Verification:  # noqa: ARG001 - those on the card
        from rankstone.collections import verify

        return verify(card, files, original=original, **options)

    inputs = [card, *files, *original]
    verified = execute({"columns": None, **given}, find, inputs, notes=None)
    return int(not verified.holds)
