"""What numbers depend on: ``rankstone check``, ``bounds``, ``baseline``, ``thresholds`` and others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import (
    as_flags,
    chosen_measures,
    judged_runs,
    named_runs,
    numbers,
    present,
    split_columns,
)
from rankstone.cli.declaring import declare
from rankstone.cli.execution import (
    audit_lines,
    check_format,
    deliver,
    execute,
    on_runs,
    written,
)
from rankstone.cli.explain_command import typed_list
from rankstone.cli.options import (
    ALIGNMENT,
    DEFAULT_MEASURES,
    LISTS,
    OF_MEANS,
    PRINTED,
    READING,
)
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone import Bounds, QrelsLike, RunLike
    from rankstone.diagnostics import Gain


_INVALID = 3
#: the default measures, without the one that has no threshold
_WITH_THRESHOLD = DEFAULT_MEASURES.removeprefix("nDCG@10 ")
#: common measures that have bounds and estimators
_SAMPLED = "nDCG@10 R@10 RR"


@declare(
    "check",
    {"qrels": "QRELS", "runs": "[RUN]…"},
    f"measures train documents order format csv-formulas verbose {READING}",
    but={"measures": {"shown": "none: cutoffs of measures are checked"}},
)
def check_command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    form: str,
    **given: Any,
) -> None:
    """Check files for problems: duplicates, ties, missing queries, unjudged documents, NaN, order.

    Runs are optional, and so are judgments: a run can be checked alone.  Runs with errors come first, then
    those with warnings.  The exit code is 3 if a problem would stop an evaluation.

    rankstone check qrels.txt bm25.run -m "nDCG@10 AP"
    rankstone check test.csv recommended.csv --train train.csv -m R@20
    """
    from rankstone import AlignmentOptions, check

    check_format(form)
    given["columns"] = named = split_columns(given["columns"])
    given = present(given)
    AlignmentOptions(order=given.get("order", "score"))  # refuses what is no order
    judged, listed = (
        (qrels, runs) if runs or not _is_run(qrels, given) else (None, [qrels])
    )
    report = check(judged, named_runs(listed) or None, measures=list(measures), **given)
    if report.ok:
        named.require_present()
    click.echo(written(report.with_fixes(as_flags), form), nl=False)
    if not report.ok:
        raise click.exceptions.Exit(_INVALID)


def _is_run(path: str, given: Mapping[str, Any]) -> bool:
    """Return True for a file that is read as a run, and not as judgments, or would be with other options."""
    from rankstone.io import has_advice, is_read, read_judgments, read_run

    tried = [
        (how, read)
        for how in (is_read, has_advice)
        for read in (read_judgments, read_run)
    ]
    readable = (read for how, read in tried if how(read, path, given))
    return next(readable, None) is read_run


@declare(
    "bounds",
    {"files": "QRELS RUN [RUN]…"},
    f"measures rel scale limit per-query {PRINTED} {LISTS} import {READING} {ALIGNMENT}",
    but={"scale": {"keyword": "grades"}},
)
def bounds_command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    rel: float | None,
    grades: str | None,
    **given: Any,
) -> None:
    """Show the lowest and highest scores if the unjudged documents were judged.

    Bounds hold for every assignment of grades to the retrieved documents without a judgment.  With two runs
    their difference is bounded, too (a document that both retrieve has one grade), and the last column says
    whether it is certain which run is above.

    rankstone bounds qrels.txt bm25.run -m "nDCG@10 AP"
    rankstone bounds qrels.txt bm25.run dense.run --scale 0,1,2,3
    """
    from rankstone import bounds

    if grades is not None:
        given["grades"] = numbers("--scale", grades, "a scale: 0,1,2")

    def bounded(
        qrels: str, runs: Mapping[str, object], *rest: Any, **options: Any
    ) -> Bounds:
        return bounds(qrels, runs, *rest, difference=_pair(runs), **options)

    def show(found: Bounds, form: str, digits: int | None) -> str:
        return written(found, form, digits, frame=found.mean())

    find = on_runs(bounded, files, chosen_measures(measures, rel=rel))
    execute(given, find, [*files, given["exclude"]], show=show, paged=True)


def _pair(runs: Mapping[str, object]) -> tuple[str, str] | None:
    """Return the names of the runs where there are two."""
    names = list(runs)
    return (names[0], names[1]) if len(names) == 2 else None  # noqa: PLR2004 - a pair


@declare(
    "baseline",
    {"files": "QRELS RUN [RUN]…"},
    f"measures rel gain {PRINTED} documents split import {READING} {ALIGNMENT}",
)
def baseline_command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    rel: float | None,
    gain: tuple[str, ...],
    **given: Any,
) -> None:
    """Compare each mean with a random, the worst and the best order of the same documents.

    chance is the mean over all orders, skill = (value - chance) / (best - chance).  With --candidates N,
    lists as long as the run's are drawn from N documents instead.  With several runs, the gain over the
    first is shown, too: in ranks, and as a share of the possible gain.

    rankstone baseline qrels.txt bm25.run -m "nDCG@10 RR"
    rankstone baseline qrels.txt recs.parquet --candidates 50000 -m "R@100"
    rankstone baseline --gain AP=0.2,0.4 --gain AP=0.7,0.9
    """
    from rankstone import baseline
    from rankstone.diagnostics import Gains

    if gain:
        check_format(given["form"])
        _refuse_files(files, measures)
        deliver(
            None,
            written(Gains(tuple(map(_step, gain))), given["form"]),
            given["output"],
            None,
        )
        return
    find = on_runs(baseline, files, chosen_measures(measures, rel=rel))
    inputs = [*files, given["documents"]]
    execute(given, find, inputs, notes=lambda found: audit_lines(found.scores))


# -- steps between two means, without files --------------------------------------------------------------
def _refuse_files(files: tuple[str, ...], measures: tuple[str, ...]) -> None:
    """Refuse files and measures together with --gain."""
    if files or measures:
        raise UsageError(
            "--gain takes two means as they are, and no files or -m",
            given=" ".join([*files, *measures]),
            fix="leave out --gain: gains between several runs are shown anyway",
        )


def _step(text: str) -> Gain:
    """Read ``AP=0.2,0.4``."""
    from rankstone.diagnostics import gain

    measure, _, means = text.rpartition("=")
    try:
        before, after = map(float, means.split(",") if measure else ())
    except ValueError:
        raise UsageError(
            "--gain wants a measure and two means",
            given=printable(text),
            expected="such as AP=0.2,0.4",
        ) from None
    return gain(measure, before, after)


@declare(
    "thresholds",
    {"files": "QRELS RUN [RUN]…"},
    f"measures levels above-level interval confidence seed plot {PRINTED} documents split "
    f"import {READING} {ALIGNMENT}",
    but={**OF_MEANS, "measures": {"shown": _WITH_THRESHOLD}},
)
def thresholds_command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    levels: str | None,
    plot: bool,
    **given: Any,
) -> None:
    """Score runs with every relevance threshold on the grades.

    Shows the value at each threshold with its interval, the spread over thresholds, where runs swap places,
    and how many preferences between documents are lost.

    rankstone thresholds qrels.txt bm25.run dense.run -m "AP P@10"
    rankstone thresholds ratings.csv als.csv knn.csv --above-level --levels 2,3,4 --plot
    """
    from rankstone import thresholds

    if levels is not None:
        given["levels"] = numbers(
            "--levels", levels, "grades separated by commas: 1,2,3"
        )
    find = on_runs(thresholds, files, measures or (_WITH_THRESHOLD,))
    show = partial(written, drawn=plot)
    inputs = [*files, given["documents"]]
    execute(
        given, find, inputs, show=show, notes=lambda found: audit_lines(found.scores)
    )


@declare(
    "sampled",
    {"files": "QRELS RUN [RUN]…"},
    f"measures catalogue-size method gamma replacement rel confidence {PRINTED} import {READING} {ALIGNMENT}",
    but={
        "catalogue-size": {"keyword": "items"},
        "measures": {"shown": _SAMPLED},
        "method": {"values": "bv|cls|rank|naive"},
    },
    required="catalogue-size",
)
def sampled_command(
    files: tuple[str, ...], measures: tuple[str, ...], **given: Any
) -> None:
    """Estimate measures among all items from lists of sampled candidates.

    Every list holds the relevant documents of a query and a fixed number of sampled ones.  Measures of such
    lists differ from those among all items and may order systems differently.  lower and upper bound the
    measure among all N items; value is an estimate.

    rankstone sampled test.csv als.csv knn.csv --catalogue-size 20000 -m "nDCG@10 R@10"
    """
    from rankstone import sampled

    find = on_runs(sampled, files, measures or (_SAMPLED,))
    execute(given, find, files)


@declare(
    "identify",
    {"files": "QRELS RUN [RUN]…"},
    f"value measure decimals grades judged format lang width quiet output csv-formulas {LISTS} import",
    f"{READING} {ALIGNMENT}",
    but={"measure": {"shown": "any measure"}},
)
def identify_command(
    files: tuple[str, ...],
    value: tuple[str, ...],
    measure: str | None,
    digits: int | None,
    grades: str | None,
    judged: str | None,
    lang: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Find out how a reported number was computed.

    Searches measures and their parameters, options of alignment (starting from those given), and the
    definitions of all known libraries.  Shows which of them print the number, and how close others come.
    With several runs, the number is taken for the first, or one number for each run, in their order; it also
    shows which run has this value.

    rankstone identify qrels.txt bm25.run --value 0.4132 -m nDCG@10
    rankstone identify qrels.txt bm25.run dense.run --value 0.4132 --value 39.9% -m nDCG@10
    rankstone identify qrels.txt bm25.run --value 41.3
    rankstone identify --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 --value 0.827 -m "nDCG(gain=exp2)@5"
    """
    from rankstone import identify

    if not value:
        raise UsageError(
            "which number?", expected="--value as it was printed: --value 0.827"
        )
    qrels, runs = (
        typed_list(grades, judged, files) if grades is not None else _files(files)
    )

    find = partial(identify, qrels, runs, value, measure, digits=digits)
    execute(
        given,
        find,
        [*files, given["exclude"]],
        show=partial(written, width=width, lang=lang or "en"),
        notes=None,
    )


def _files(files: tuple[str, ...]) -> tuple[QrelsLike, RunLike]:
    runs = judged_runs(
        "identify",
        files,
        else_try="without files: rankstone identify --grades 3,2,0,1 --value 0.827",
    )
    return files[0], runs
