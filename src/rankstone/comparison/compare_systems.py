"""``compare`` and ``compare_scores``: evaluate systems and test their differences; the settings of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from rankstone._basics import is_path
from rankstone.comparison.compared_systems import RunSources
from rankstone.comparison.pairwise_tests import baseline_names, compare_pairs
from rankstone.comparison.score_sources import Source
from rankstone.comparison.settings import ComparisonSettings, SettingsKeywords
from rankstone.comparison.verdict import only_relevant_judged, with_judged
from rankstone.comparison.verdict_conditions import unanswered_queries
from rankstone.conventions.evaluation_by_convention import evaluate_by
from rankstone.diagnostics.score_bounds import bounds as bounded
from rankstone.errors import (
    BadOption,
    BadRuns,
    RankstoneError,
    UsageError,
    blaming,
    printable,
)
from rankstone.evaluation.labelled_table import Given
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import (
    EvaluationKeywords,
    name_runs,
    of_rankings,
    split_runs,
)
from rankstone.evaluation.scores import Scores
from rankstone.hits.alignment_options import takes
from rankstone.io.attributes import read_attributes
from rankstone.io.columns import columns_in, with_csv
from rankstone.io.sources import display_name
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from rankstone._basics import Columns, Progress
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.evaluation.request import MeasuresLike, QrelsLike, RunsLike
    from rankstone.measures.core.measure import Measures


class ComparisonKeywords(SettingsKeywords, EvaluationKeywords, total=False):
    """The settings of a comparison, and the options of evaluation."""


@takes(ComparisonKeywords)
def compare(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike,
    *,
    baseline: str | Sequence[str] | None = None,
    primary: MeasuresLike | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    bounds: bool = False,
    run_column: str | None = None,
    convention: str | None = None,
    lang: str = "en",
    keep_runs: bool = False,
    on_bad_run: str = "stop",
    progress: Progress | None = None,
    drawing: Progress | None = None,
    **options: Unpack[ComparisonKeywords],
) -> Comparison:
    """Compare runs query by query: which is better, with tests, intervals and verdicts.

    With a ``baseline``, every other run is compared with it; without one, every pair is compared.  The
    comparisons of primary measures are one family, whose family-wise error rate is ``1 - confidence``; the
    other measures are exploratory and corrected separately.

    Parameters
    ----------
    qrels, measures, run_column, convention, on_bad_run, progress
        As for :func:`rankstone.evaluate`.
    runs
        As for :func:`rankstone.evaluate`.  Runs called ``system/replicate`` are runs of one system (seeds,
        folds): its scores are their mean, and the variance between them is part of the uncertainty.
    baseline
        The run that the others are compared with, or several: every pair that holds one of them.  With two
        runs the first by default.
    primary
        The measures of the verdict; the first one by default.
    by
        Columns of ``queries``: the same comparisons for each of their values, as a family of their own.
    cluster
        A column of ``queries``, such as the user or session: clusters are the independent units then.  By
        default ``session``, if the table has this column.
    bounds
        True to bound the differences of primary measures over all grades of the unjudged documents.
    lang
        Language of sentences and headings: ``en`` or ``zh``.
    keep_runs
        True to keep runs in memory, for reports and curves, which read the lists again.
    drawing
        Called with 1 after every block of permutations or resamples.
    **options
        How systems are compared (see ``ComparisonSettings``): ``test``, ``interval``,
        ``correction``, ``confidence``, ``margin``, ``rope``, ``power``, ``permutations``, ``resamples``, ``seed``;
        and ``queries``, ``columns`` and all else that :func:`rankstone.evaluate` takes.

    Returns
    -------
    Comparison
        A row for each pair and measure, the scores behind them, and the settings.

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`; for fewer than two systems; for measures that are not
        averaged over queries.

    Examples
    --------
    >>> from rankstone import demo
    >>> comparison = compare(demo.QRELS, demo.RUNS, "nDCG@10 AP", baseline="tfidf")
    >>> comparison.table.select("measure", "system", "versus", "verdict").row(0)
    ('nDCG@10', 'bm25', 'tfidf', 'inconclusive')
    """
    check_language(lang)
    settings, aligned = _split_settings(options)
    queries = aligned.pop("queries", None)
    columns = columns_in(aligned)

    named_runs = _two_or_more(runs, run_column, columns, aligned)
    inputs: dict[str, Any] = {"queries": queries, "columns": columns, **aligned}
    sources = RunSources(qrels, named_runs, inputs, convention)
    if keep_runs:
        sources = sources.remembering()
        named_runs = dict(sources.runs)

    only_relevant = False
    computed_as: dict[str, str] = {}
    if convention is not None:
        read: dict[str, Any] = {"on_bad_run": on_bad_run, "progress": progress}
        scores = evaluate_by(
            convention, Given(qrels, named_runs), measures, **read, **inputs
        )
    else:
        requested = of_rankings(measures)
        ready = Prepared(qrels, requested, **inputs)
        computed_as = _names_as_computed(ready, requested)
        primary = _as_computed(primary, computed_as)
        requested = ready.measures
        ready = with_judged(ready, requested)
        scores = Scores(
            *ready.score_runs(named_runs, progress=progress, on_bad_run=on_bad_run)
        )
        only_relevant = only_relevant_judged(ready, requested)

    _refuse_without(scores, baseline_names(baseline), len(named_runs))
    named_runs = {name: named_runs[name] for name in scores.runs}
    sources = replace(sources, runs=named_runs)
    kept = [m for m in scores.measures if convention is not None or m in requested]
    cluster = cluster or cluster_of(queries, columns, kept)
    query_columns = _query_columns(queries, columns, by, cluster)
    comparison = compare_pairs(
        _source(scores, kept, only_relevant=only_relevant),
        baseline,
        primary,
        _columns(by),
        cluster,
        query_columns,
        settings,
        drawing,
    )
    labels = {str(measure): measure.label for measure in kept}
    comparison = replace(
        comparison,
        lang=lang,
        sources=sources,
        labels=labels,
        computed_as=computed_as,
        unanswered=unanswered_queries(scores.per_query),
    )
    if bounds:
        ends = _bounds(comparison, sources, columns, aligned)
        comparison = comparison.with_bounds(ends)
    return comparison


def _source(scores: Scores, kept: Measures, *, only_relevant: bool) -> Source:
    """Return the scores of the measures that were asked for, without shares of judged documents."""
    names = [str(measure) for measure in kept]
    return replace(
        Source.of(scores, kept),
        audit=scores.audit.about(names),
        conventions={**scores.conventions, "measures": names},
        relevant_alone=only_relevant,
    )


@takes(SettingsKeywords)
def compare_scores(
    scores: object,
    measures: MeasuresLike | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    primary: MeasuresLike | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    queries: object = None,
    columns: Columns | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    lang: str = "en",
    drawing: Progress | None = None,
    **options: Unpack[SettingsKeywords],
) -> Comparison:
    """Compare systems from saved scores per query.

    Parameters
    ----------
    scores
        What :func:`rankstone.evaluate` returned; its table of scores per query as a file or frame
        (``query_id``, ``measure``, ``value``, and ``run`` for several systems); what ``trec_eval -q``
        printed; ``{system: any of these}`` or a list of files; ``{system: {query: {measure: value}}}``, as
        pytrec_eval returns.
    measures
        Which measures; by default all that have a better direction.
    baseline, primary, by, cluster, queries, columns, csv_separator, decimal, lang, drawing, **options
        As for :func:`compare`.

    Examples
    --------
    >>> old = {f"q{at}": {"map": 0.3 + at / 100} for at in range(30)}
    >>> new = {f"q{at}": {"map": 0.35 + at / 80} for at in range(30)}
    >>> comparison = compare_scores({"old": old, "new": new})
    >>> comparison.table.select("system", "verdict", "wins").row(0)
    ('new', 'better', 30)
    """
    check_language(lang)
    settings, unknown = _split_settings(options)
    columns = with_csv(columns, csv_separator, decimal)
    if unknown:
        name = next(iter(unknown))
        raise BadOption(
            f"{printable(name)} is not an option of compare_scores",
            expected=", ".join(field.name for field in fields(ComparisonSettings)),
        )
    unanswered: dict[str, frozenset[str]] = {}
    if isinstance(scores, Scores):
        if measures is None:
            requested = scores.measures
        else:
            requested = of_rankings(measures)
        source = Source.of(scores, [m for m in scores.measures if m in requested])
        unanswered = unanswered_queries(scores.per_query)
    else:
        with blaming(_files(scores)):
            source = Source.saved(scores, measures, columns)
    cluster = cluster or cluster_of(queries, columns, ())
    query_columns = _query_columns(queries, columns, by, cluster)
    with blaming(_files(scores)):
        comparison = compare_pairs(
            source,
            baseline,
            primary,
            _columns(by),
            cluster,
            query_columns,
            settings,
            drawing,
        )
    return replace(comparison, lang=lang, unanswered=unanswered)


def _split_settings(
    options: Mapping[str, Any],
) -> tuple[ComparisonSettings, dict[str, Any]]:
    """Split options into settings of the comparison and options of alignment."""
    names = {field.name for field in fields(ComparisonSettings)}
    settings = ComparisonSettings(
        **{name: value for name, value in options.items() if name in names}
    )
    return settings, {
        name: value for name, value in options.items() if name not in names
    }


def _names_as_computed(ready: Prepared, requested: Measures) -> dict[str, str]:
    """Return for each requested measure the one that the judgments have computed in its place."""
    computed = (ready.as_computed((measure,))[0] for measure in requested)
    return dict(zip(map(str, requested), map(str, computed), strict=True))


def _as_computed(primary: object, computed_as: Mapping[str, str]) -> Any:  # noqa: ANN401 - measures
    """Return primary measures by the names that they are computed by; others as they are."""
    if primary is None:
        return None
    try:
        names = map(str, of_rankings(primary))  # type: ignore[arg-type] # or refused
        return [computed_as[name] for name in names]
    except (KeyError, RankstoneError):
        return primary


def _two_or_more(
    runs: RunsLike,
    run_column: str | None,
    columns: Columns | None,
    aligned: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the runs by name; refuse a single one."""
    named = name_runs(runs)
    if run_column is not None:
        named = split_runs(named, run_column, columns, aligned)
    if len(named) < 2:  # noqa: PLR2004 - two make a pair
        raise UsageError(
            "a comparison needs two or more runs",
            given=", ".join(map(printable, named)),
            fix="add another run",
        )
    return named


def _refuse_without(scores: Scores, baselines: tuple[str, ...], total: int) -> None:
    """Refuse a comparison without one of its baselines, or with fewer than two valid runs."""
    bad = scores.audit.bad_runs
    for baseline in baselines:
        if baseline in bad:
            raise bad[baseline]
    if bad and len(scores.runs) < 2:  # noqa: PLR2004 - two make a pair
        raise BadRuns(bad, total, "a comparison needs two or more runs")


def _files(scores: object) -> str | None:
    """Return the names of the files that scores are read from."""
    several = scores
    if isinstance(scores, Mapping):
        several = [*scores.values()]
    paths = several if isinstance(several, (list, tuple)) else (several,)
    return ", ".join(display_name(path) for path in paths if is_path(path)) or None


def _columns(by: str | Sequence[str]) -> tuple[str, ...]:
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not all(
        isinstance(name, str) for name in names
    ):
        raise BadOption(
            f"by={by!r} is not a name", expected="the name of a column, or several"
        )
    return tuple(dict.fromkeys(names))


def cluster_of(
    queries: object, columns: Columns | None, measures: Sequence[object]
) -> str | None:
    """Return ``session`` if the query table has this column: queries of a session are not independent.

    Measures with one value for each session need no clusters.
    """
    if queries is None or any(getattr(measure, "unit", None) for measure in measures):
        return None
    if "session" in read_attributes(queries, "query_id", columns).columns:
        return "session"
    return None


def _query_columns(
    queries: object,
    columns: Columns | None,
    by: str | Sequence[str],
    cluster: str | None,
) -> pl.DataFrame | None:
    """Return the columns of the query table that queries are grouped or clustered by."""
    requested = [*_columns(by), *([] if cluster is None else [cluster])]
    if not requested:
        return None
    if queries is None:
        raise BadOption(
            f"{' and '.join(map(printable, requested))} need a table of queries",
            fix="--queries FILE (in Python queries={query: {column: value}})",
        )
    return read_attributes(queries, "query_id", columns).collect(
        *dict.fromkeys(requested)
    )


def _bounds(
    comparison: Comparison,
    sources: RunSources,
    columns: Columns | None,
    aligned: Mapping[str, Any],
) -> pl.DataFrame:
    """Return the bounds of differences of primary measures over grades of unjudged documents."""
    repeated = any(len(names) > 1 for names in comparison.replicates.values())
    if sources.convention is not None or repeated:
        raise BadOption(
            "bounds=True works for rankstone's own measures and single runs only",
            fix="leave bounds out",
        )

    rows = []
    pairs = (
        comparison.table.filter(role="primary")
        .select("system", "versus")
        .unique(maintain_order=True)
    )
    for pair in pairs.iter_rows():
        bounds = bounded(
            sources.qrels,
            {name: sources.runs[name] for name in pair},
            list(comparison.primary),
            difference=pair,
            columns=columns,
            **aligned,
        )
        mean = bounds.mean().filter(run=" - ".join(pair))
        rows += [
            (measure, *pair, low, high)
            for measure, low, high in mean.select("measure", "low", "high").rows()
        ]

    schema = {"measure": pl.String, "system": pl.String, "versus": pl.String}
    return pl.DataFrame(
        rows, {**schema, "lowest": pl.Float64, "highest": pl.Float64}, orient="row"
    )
