"""``reproduce``: whether a repeated experiment gives the same lists, scores, improvements and order.

The figures are those of Breuer and others (How to Measure the Reproducibility of System-oriented IR
Experiments, SIGIR 2020), as their program repro_eval computes them, with intervals.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

import numpy as np
import polars as pl

from rankstone._basics import is_path, some
from rankstone.collections.reproduction_result import Figure, Reproduction
from rankstone.comparison.score_matrix import ROUNDING, Matrix
from rankstone.comparison.score_sources import Source
from rankstone.errors import (
    NotComparable,
    UsageError,
    above_0,
    between_0_and_1,
    did_you_mean,
    printable,
)
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import EvaluationKeywords, name_runs, of_rankings
from rankstone.hits.alignment_options import takes
from rankstone.io.columns import columns_in
from rankstone.rankings.rank_similarity.list_ordering import (
    OPTIONS,
    options_for,
    ordering_options,
)
from rankstone.rankings.rank_similarity.ranked_lists import load_run
from rankstone.rankings.rank_similarity.run_similarity import diff, open_runs
from rankstone.stats.automatic_intervals import difference_estimate, mean_estimates
from rankstone.stats.effect_ratios import (
    effect_ratio,
    relative_change,
    symmetric_interval,
)
from rankstone.stats.order_agreement import order_agreement
from rankstone.stats.sampling_units import Units
from rankstone.stats.student_t import two_sided_p, two_sided_t
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone._basics import Columns, Floats, Progress
    from rankstone.evaluation.request import MeasuresLike, QrelsLike
    from rankstone.stats.mean_intervals import Estimate, Span

    #: name, value, limits
    _Statistic = tuple[str, float, Span]


_SIDES: Final = ("original", "again")
#: documents of a list that are compared, and what they are compared by
_DEPTH: Final = 1000
_OF_LISTS: Final = f"tau_b RBO(p=0.95, ties=broken) RBO(p=0.95, score=normalized, ties=broken)@{_DEPTH}"
_MEASURE: Final = "nDCG@10"
#: systems whose order says something
_ORDER: Final = 3
#: the limits of a figure that has none
_NONE: Final = (math.nan, math.nan)


@takes(EvaluationKeywords)
def reproduce(
    original: object,
    again: object,
    measures: MeasuresLike | None = None,
    *,
    qrels: QrelsLike | None = None,
    qrels_again: QrelsLike | None = None,
    scores: bool = False,
    baseline: str | None = None,
    margin: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    lang: str = "en",
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Reproduction:
    """Compare a repeated experiment with the original one.

    Parameters
    ----------
    original, again
        A run each, or the runs of several systems under the same names, as for :func:`rankstone.evaluate`;
        tables of scores if ``scores``, as for :func:`rankstone.compare_scores`.
    measures
        Measures of a run against judgments, by default nDCG@10; of tables of scores those that both have.
    qrels
        Judgments; without them only the lists are compared.
    qrels_again
        Judgments of another collection, if the experiment was repeated on one.
    scores
        True for tables of scores per query.  Without a common query they are of different collections.
    baseline
        The system over which the others improve.
    margin
        A difference of means that does not matter, above 0; without it equality is never claimed.
    confidence, seed, lang
        Of every interval; of the bootstrap; of sentences, ``en`` or ``zh``.
    progress, **options
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`; when the two sides have no system in common.

    Examples
    --------
    >>> from rankstone import demo
    >>> bm25, tfidf = demo.RUNS.values()
    >>> found = reproduce(bm25, tfidf, "P@5", qrels=demo.QRELS)
    >>> round(found.figure("bm25", "P@5", "RMSE").value, 4)
    0.1173
    """
    check_language(lang)
    between_0_and_1("confidence", confidence)
    if margin is not None:
        above_0("margin", margin)
    settings = {
        "baseline": baseline,
        "margin": margin,
        "confidence": confidence,
        "seed": seed,
        "lang": lang,
    }
    reading: dict[str, Any] = dict(options)
    columns = columns_in(reading)
    if scores:
        unused = [*reading]
        if qrels is not None:
            unused.append("qrels")
        if unused:
            raise UsageError(
                f"{unused[0]} has no effect on saved scores", fix=f"remove {unused[0]}"
            )
        return _of_saved_scores((original, again), measures, columns, settings)

    named = name_runs(original), name_runs(again)
    runs, only = _same_systems(*named, baseline)
    figures: list[Figure] = []
    if qrels_again is None:
        ordering = {name: value for name, value in reading.items() if name in OPTIONS}
        opening = {"columns": columns, "format_in": reading.get("format_in")}
        for name, pair in runs.items():
            figures += _of_lists(name, pair, opening, ordering, confidence)
    if qrels is None:
        if qrels_again is not None:
            raise UsageError("qrels_again goes with qrels", fix="add qrels=ORIGINAL")
        return Reproduction(
            tuple(figures),
            tuple(runs),
            only=only,
            inputs=_paths(runs),
            **settings,  # type: ignore[arg-type]
        )

    requested = of_rankings(measures or _MEASURE)
    sources = []
    for side, judgments in enumerate((qrels, qrels_again)):
        judged = qrels if judgments is None else judgments
        of_side = {name: pair[side] for name, pair in runs.items()}
        prepared = Prepared(judged, requested, columns=columns, **reading)
        scored = prepared.evaluate(of_side, progress=progress)
        sources.append(Source.of(scored, prepared.measures))
    return _compared(
        sources, [*runs], settings, figures, paired=qrels_again is None, only=only
    )


def _of_saved_scores(
    experiments: tuple[object, object],
    measures: MeasuresLike | None,
    columns: Columns | None,
    settings: dict[str, Any],
) -> Reproduction:
    """Compare two tables of scores; without a common query they are of different collections."""
    sources = [Source.saved(tables, measures, columns) for tables in experiments]
    first, second = (dict.fromkeys(source.runs) for source in sources)
    systems, only = _same_systems(first, second, settings["baseline"])

    queries = []
    for source in sources:
        table = next(iter(source.tables.values()))
        queries.append({*table["query_id"]})
    paired = not queries[0].isdisjoint(queries[1])
    return _compared(sources, [*systems], settings, [], paired=paired, only=only)


def _paths(runs: Mapping[str, tuple[Any, Any]]) -> dict[str, str]:
    """Return side and system → path, of the runs that are files."""
    paths = {}
    for name, pair in runs.items():
        for side, run in zip(_SIDES, pair, strict=True):
            if is_path(run):
                paths[f"{side} {name}"] = str(run)
    return paths


def _same_systems(
    original: Mapping[str, Any], again: Mapping[str, Any], baseline: str | None
) -> tuple[dict[str, tuple[Any, Any]], tuple[str, ...]]:
    """Return what each system has on both sides, and those of one side only.

    Where both sides have a single system these go together, whatever their names.
    """
    single = len(original) == len(again) == 1
    both = [name for name in original if single or name in again]
    if not both:
        raise NotComparable(
            "no system is in both experiments",
            given=f"{some(original)}; {some(again)}",
            expected="the same names on both sides",
            fix="name the runs: name=FILE",
        )
    if baseline is not None and baseline not in both:
        raise UsageError(
            f"the baseline {printable(baseline)} is not in both experiments",
            expected=some(both, 20),
            fix=did_you_mean(baseline, both),
        )
    if single:
        (first,) = original.values()
        (second,) = again.values()
        return {both[0]: (first, second)}, ()
    pairs = {name: (original[name], again[name]) for name in both}
    alone = [name for name in (*original, *again) if name not in both]
    return pairs, tuple(alone)


# -- lists ----------------------------------------------------------------------------------------------
def _of_lists(
    system: str,
    pair: tuple[Any, Any],
    opening: Mapping[str, Any],
    options: Mapping[str, Any],
    confidence: float,
) -> Iterator[Figure]:
    """Yield how alike the lists of both runs are, on the average over queries."""
    ordering = ordering_options(options)
    lists = []
    for table in open_runs(*pair, _SIDES, order=ordering.order, **opening):
        documents = load_run(table, options_for(table, ordering)).to_frame()
        first = documents.filter(pl.col("rank") <= _DEPTH)
        texts = pl.col("doc_id").cast(pl.String)
        places = first.select("query_id", doc_id="rank", id=texts)
        place_of_id = pl.col("id").rank().over("query_id")
        lists.append(places.with_columns(score=-place_of_id))

    values = {"same": _same_lists(*lists)}
    original, again = pair
    of_documents = diff(original, again, _OF_LISTS, names=_SIDES, **opening, **options)
    for measure, agreement in of_documents.by_measure.items():
        values[str(measure)] = agreement.value
    # what repro_eval correlates: which of two positions has the document with the lower id
    first, second = (places.drop("id") for places in lists)
    of_positions = diff(first, second, "tau_a")
    (positions,) = of_positions.by_measure.values()
    values[f"KTU@{_DEPTH}"] = positions.value

    for name, by_query in values.items():
        defined = by_query[~np.isnan(by_query)]
        if len(defined):
            least = -1.0 if name.startswith(("tau", "KTU")) else 0.0
            mean = _mean(defined, (least, 1.0))
            limits = mean.interval(confidence)
            yield Figure(system, None, name, mean.value, *limits, len(defined))


def _same_lists(left: pl.DataFrame, right: pl.DataFrame) -> Floats:
    """Return 1 for each query of both runs with the same documents in the same places, and 0 for others."""
    shared = left.join(right, on="query_id", how="semi")
    shared_right = right.join(left, on="query_id", how="semi")
    places = ["query_id", "doc_id"]
    both = shared.join(shared_right, on=places, how="full", coalesce=True)

    is_same = pl.col("id").eq_missing(pl.col("id_right"))
    all_same = is_same.all().cast(pl.Float64)
    by_query = both.group_by("query_id").agg(same=all_same)
    return by_query["same"].to_numpy()


# -- scores ---------------------------------------------------------------------------------------------
def _compared(
    sources: list[Source],
    systems: list[str],
    settings: dict[str, Any],
    figures: list[Figure],
    *,
    paired: bool,
    only: tuple[str, ...],
) -> Reproduction:
    """Return the figures of all systems and measures, after those of lists."""
    first, second = sources
    measures = tuple(name for name in first.measures if name in second.measures)
    if not measures:
        raise NotComparable(
            "no measure is in both experiments",
            given=f"{some(first.measures)}; {some(second.measures)}",
        )
    left_out = 0
    for measure in measures:
        tables = _tables(sources, systems, measure, paired=paired)
        left_out = max(left_out, tables.left_out)
        figures += _of_measure(measure, tables, systems, settings, paired=paired)
        if len(systems) >= _ORDER:
            sign = -1 if first.measures[measure] == "lower" else 1
            order = order_agreement(
                sign * tables.original,
                sign * tables.again,
                paired=paired,
                confidence=settings["confidence"],
                seed=settings["seed"],
            )
            taus = order.tau, order.low, order.high
            figures.append(Figure(None, measure, "tau of systems", *taus, order.n))

    inputs = {}
    for side, source in zip(_SIDES, sources, strict=True):
        inputs[side] = source.inputs
    return Reproduction(
        tuple(figures),
        tuple(systems),
        measures,
        paired,
        **settings,
        only=only,
        left_out=left_out,
        audit=first.audit,
        conventions=first.conventions,
        inputs=inputs,
    )


class _Tables(NamedTuple):
    """The scores of both experiments by one measure.

    Attributes
    ----------
    original, again
        float64 ``[queries, systems]``: of the same queries if paired.
    span
        The lowest and highest score a query can have.
    left_out
        How many queries some system has no value for.
    """

    original: Floats
    again: Floats
    span: Span
    left_out: int


def _tables(
    sources: list[Source], systems: list[str], measure: str, *, paired: bool
) -> _Tables:
    """Return the scores of both sides by a measure."""
    sides = []
    for side, source in zip(_SIDES, sources, strict=True):
        # single ones go together, whatever their names
        names = systems if len(systems) > 1 else source.runs[:1]
        tables = {}
        for name in names:
            tables[f"{side}/{name}", measure] = source.tables[name, measure]
        sides.append(tables)
    if paired:
        sides = [sides[0] | sides[1]]

    declared = sources[0].spans.get(measure, (None, None))
    matrices = []
    for tables in sides:
        runs = {run: [run] for run, _ in tables}
        matrix = Matrix.of(tables, measure, "higher", runs, None, declared)
        matrices.append(matrix)
    values = [matrix.values for matrix in matrices]
    if paired:
        values = np.split(values[0], 2, axis=1)
    low = min(matrix.span[0] for matrix in matrices)
    high = max(matrix.span[1] for matrix in matrices)
    left_out = sum(matrix.left_out for matrix in matrices)
    return _Tables(values[0], values[1], (low, high), left_out)


def _of_measure(
    measure: str,
    tables: _Tables,
    systems: list[str],
    settings: Mapping[str, Any],
    *,
    paired: bool,
) -> Iterator[Figure]:
    """Yield the figures of each system, and those of its improvement over the baseline if there is one."""
    level = settings["confidence"]
    baseline = settings["baseline"]
    both = tables.original, tables.again
    for column, system in enumerate(systems):
        scores = [side[:, column] for side in both]
        yield from _of_scores(
            system, measure, scores, tables.span, level, paired=paired
        )
        if baseline not in (None, system):
            base = systems.index(baseline)
            sides = [(side[:, column], side[:, base]) for side in both]
            yield from _of_effects(system, measure, sides, level, paired=paired)


def _of_scores(
    system: str,
    measure: str,
    columns: list[Floats],
    span: Span,
    level: float,
    *,
    paired: bool,
) -> Iterator[Figure]:
    """Yield the means, their difference, and if queries are the same how far scores are from each other."""
    n = min(map(len, columns))
    means = [_mean(column, span) for column in columns]
    for side, mean in zip(_SIDES, means, strict=True):
        limits = mean.interval(level)
        yield Figure(system, measure, side, mean.value, *limits, n)

    difference = means[1].value - means[0].value
    statistics = _of_other_queries(columns, difference, level)
    if paired:
        statistics = _of_same_queries(columns, difference, span, level)
    for name, value, limits in statistics:
        yield Figure(system, measure, name, value, *limits, n)


def _of_same_queries(
    columns: list[Floats], difference: float, span: Span, level: float
) -> Iterator[_Statistic]:
    """Yield the difference of means, the root mean square of those of queries, and p.

    nRMSE is the share of the largest RMSE that scores from 0 to 1 could have.
    """
    gaps = columns[1] - columns[0]
    rounding = ROUNDING * max(map(abs, span))
    gaps[np.abs(gaps) <= rounding] = 0.0
    n = len(gaps)
    units = Units.from_scores(gaps[:, None])
    estimate = difference_estimate(units, span)
    yield "difference", difference, estimate.interval(level)

    squares = gaps**2
    reach = span[1] - span[0]
    low, high = _mean(squares, (0.0, reach**2)).interval(level)
    limits = math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
    rmse = math.sqrt(math.fsum(squares) / n)
    yield "RMSE", rmse, limits

    scores = columns[0]
    largest = np.maximum(scores, 1 - scores)
    most = math.sqrt(float(np.mean(largest**2)))
    yield "nRMSE", rmse / most if most else math.nan, _NONE
    yield "p", _p(difference, _error(gaps), n - 1), _NONE


def _of_other_queries(
    columns: list[Floats], difference: float, level: float
) -> Iterator[_Statistic]:
    """Yield the difference of means, with limits for unequal variances, and p of the pooled variance."""
    df = 0
    squares = 0.0
    of_means = 0.0
    inverse_sizes = 0.0
    for column in columns:
        size = len(column)
        variance = math.nan
        if size > 1:
            variance = float(column.var(ddof=1))
        df += size - 1
        squares += variance * (size - 1)
        of_means += variance / size
        inverse_sizes += 1 / size

    n = min(map(len, columns))
    reach = two_sided_t(level, n - 1) * math.sqrt(of_means)
    yield "difference", difference, symmetric_interval(difference, reach)

    pooled = squares / max(df, 1)
    error = math.sqrt(pooled * inverse_sizes)
    yield "p", _p(difference, error, df), _NONE


def _mean(values: Floats, span: Span) -> Estimate:
    """Estimate the mean of values within a range."""
    units = Units.from_scores(values[:, None])
    return mean_estimates(units, [span])[0]


def _error(values: Floats) -> float:
    """Return the standard error of the mean; NaN for a single value."""
    if len(values) < 2:  # noqa: PLR2004 - one value has no spread
        return math.nan
    spread = float(values.std(ddof=1))
    return spread / math.sqrt(len(values))


def _p(difference: float, error: float, df: int) -> float:
    """Return Student's p-value; 1 for scores that are all the same."""
    if not difference or not error > 0:
        return math.nan if math.isnan(error) else float(not difference)
    return two_sided_p(difference / error, df)


def _of_effects(
    system: str,
    measure: str,
    sides: list[tuple[Floats, Floats]],
    level: float,
    *,
    paired: bool,
) -> Iterator[Figure]:
    """Yield the improvements over the baseline, their ratio, and how much the relative one changed."""
    improvements = [advanced - baseline for advanced, baseline in sides]
    n = min(map(len, improvements))

    def figure(name: str, numbers: tuple[float, float, float]) -> Figure:
        return Figure(system, measure, name, *numbers, n)

    names = ("improvement", "improvement again")
    for name, values in zip(names, improvements, strict=True):
        mean = float(values.mean())
        critical = two_sided_t(level, len(values) - 1)
        limits = symmetric_interval(mean, _error(values) * critical)
        yield figure(name, (mean, *limits))
    ratio = effect_ratio(*improvements, paired=paired, confidence=level)
    yield figure("ER", ratio)
    change = relative_change(*sides, paired=paired, confidence=level)
    yield figure("ΔRI", change)
