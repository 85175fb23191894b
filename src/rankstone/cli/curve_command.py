"""``rankstone curve``: precision over recall, ROC, or a measure over its cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import judged_runs, no_files, numbers, refuse_with
from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, check_charts, execute, written
from rankstone.cli.options import ALIGNMENT, LISTS, PRINTED, READING
from rankstone.errors import UsageError, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone import Curves
    from rankstone.measures import Curve


#: kind → what it traces unless -m says what
KINDS = {"pr": "PR", "roc": "ROC(negatives=judged)", "metric-k": "nDCG RR P R"}
#: all cutoffs, if the smallest that reaches a target is looked for
_EVERY = range(1, 101)
_NAMES = {"pr": "PR", "roc": "ROC", "metric-k": "AtK"}
_LISTS = ("exclude", "unit", "same_as", "documents", "corpus", "intents", "split")


@declare(
    "curve",
    {"files": "QRELS RUN [RUN]…"},
    f"measures kind cutoffs labeled one-group target which-k chart cloud per-query {PRINTED}",
    f"resamples seed confidence band {LISTS} queries intents import {READING} {ALIGNMENT}",
    but={"measures": {"shown": "those of --kind"}, "resamples": {"shown": "1000"}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    kind: str | None,
    cutoffs: str | None,
    labelled: str | None,
    target: tuple[str, ...],
    which_k: bool,
    chart: str | None,
    cloud: str | None,
    band: str,
    **given: Any,
) -> None:
    """Compute curves of runs, averaged over queries: precision-recall, ROC, or a measure over k.

    A measure with several cutoffs, or with -k, gives a curve over k.  The table shows means with bootstrap
    intervals; csv, json and jsonl also contain spread and bands (with --target or --which-k, csv and jsonl
    contain those rows instead).

    rankstone curve qrels.txt bm25.run dense.run -m "PR ROC(negatives=judged)" --cloud cloud.svg
    rankstone curve qrels.txt bm25.run dense.run --target RR=0.5 --target R=0.8,0.9 -k 1..1000
    rankstone curve qrels.txt bm25.run dense.run other.run -m nDCG -k 1..10,20,50,100 --which-k
    """
    targets = _targets(target)
    check_charts({"chart": chart, "cloud": cloud})
    curves = _curves(kind, measures, targets, cutoffs, which_k=which_k)
    _one_table(given["form"], targets, files, which_k=which_k)
    low_high = _two("--band", band)
    if labelled is not None:
        refuse_with("--labeled", given, _LISTS)

    def find(**options: Any) -> Curves:
        from rankstone import curve

        options |= {"curves": curves, "band": low_high}
        if labelled is not None:
            no_files(files)
            return curve(table=labelled, **options)
        runs = judged_runs(
            "curve",
            files,
            else_try="for one table with scores and labels: rankstone curve --labeled FILE",
        )
        return curve(files[0], runs, **options)

    def show(traced: Curves, form: str, digits: int | None) -> str:
        from rankstone import plots

        whole, rows = _parts(traced, targets, which_k=which_k, form=form)
        view: dict[str, Any] = {"targets": targets or None, "which_k": which_k}
        text = written(traced, form, digits, frame=rows, content=whole, **view)
        for name, file in (("means", chart), ("cloud", cloud)):
            if file is not None:
                plots.write(getattr(plots, name)(traced), file)
        return text

    inputs = [*files, labelled, given["exclude"], given["queries"], given["intents"]]
    execute(
        given,
        find,
        inputs,
        show=show,
        paged=True,
        notes=lambda traced: [*audit_lines(traced), traced.resampling_line()],
    )


def _parts(
    traced: Curves, targets: Mapping[str, Sequence[float]], *, which_k: bool, form: str
) -> tuple[Any, Any]:
    """Return what JSON holds, and the rows of CSV: the means, unless targets or cutoffs are looked for."""
    if form == "json":
        report = traced.report()
        if targets:
            report["reach"] = traced.reach(targets).to_dicts()
            report["races"] = traced.races(targets).to_dicts()
        if which_k:
            report["which_k"] = traced.which_k().to_dicts()
        return report, None
    if form not in ("csv", "jsonl"):
        return None, None
    if which_k:
        return None, traced.which_k()
    if targets:
        return None, traced.reach(targets)
    return None, traced.mean()


def _curves(
    kind: str | None,
    curves: tuple[str, ...],
    targets: Mapping[str, list[float]],
    cutoffs: str | None,
    *,
    which_k: bool,
) -> tuple[Curve, ...]:
    """Return what is traced; -m, --kind and --target must agree."""
    from rankstone.measures import DEFAULT_CUTOFFS, parse_curves, targets_of

    if kind is not None:
        one_of("kind", kind, KINDS)
    named = [name for name in targets if name]
    texts = (
        curves
        or tuple(named)
        or (KINDS[kind or ("metric-k" if targets or which_k else "pr")],)
    )
    found = parse_curves(texts, cutoffs, _EVERY if targets else DEFAULT_CUTOFFS)
    others = [
        curve for curve in found if kind is not None and curve.name != _NAMES[kind]
    ]
    if others:
        raise UsageError(
            f"--kind {kind} does not fit {others[0]}",
            fix="leave out --kind: -m is enough",
        )
    if targets:
        targets_of(found, targets)  # refuses what is not traced before any work
    return found


def _targets(texts: tuple[str, ...]) -> dict[str, list[float]]:
    """Read targets: measure → values; those of every measure under an empty name."""
    found: dict[str, list[float]] = {}
    for text in texts:
        measure, _, values = text.rpartition("=")
        found.setdefault(measure.strip(), []).extend(
            numbers("--target", values, "MEASURE=VALUE: RR=0.5")
        )
    return found


def _one_table(
    form: str,
    targets: Mapping[str, list[float]],
    files: tuple[str, ...],
    *,
    which_k: bool,
) -> None:
    """Refuse two tables in a format that holds one, and a choice among systems for a single one."""
    if form in ("csv", "jsonl") and targets and which_k:
        raise UsageError(
            f"--format {form} holds one table: that of --target or that of --which-k",
            fix="--format json",
        )
    if which_k and len(files) < 3:  # noqa: PLR2004 - judgments and two runs
        raise UsageError("--which-k compares runs", expected="two runs or more")


def _two(flag: str, text: str) -> tuple[float, float]:

    found = numbers(flag, text)
    if len(found) != 2:  # noqa: PLR2004 - low and high
        raise UsageError(
            f"{flag} must be two numbers",
            given=text,
            expected="low,high, such as 0.1,0.9",
        )
    return found[0], found[1]
