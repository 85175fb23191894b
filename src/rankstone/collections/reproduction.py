"""``reproduce``: whether a repeated experiment gives the same lists, scores, improvements and order.

The figures are those of Breuer and others (How to Measure the Reproducibility of System-oriented IR
Experiments, SIGIR 2020), as their program repro_eval computes them, with intervals.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Unpack

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
from rankstone.io.columns import columns_in
from rankstone.rankings.rank_similarity.list_ordering import (
    OPTIONS,
    options_for,
    ordering_options,
)
from rankstone.rankings.rank_similarity.list_pairs import load_run
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

    from rankstone._basics import Floats, Progress
    from rankstone.evaluation.request import MeasuresLike, QrelsLike
    from rankstone.stats.mean_intervals import Estimate


_SIDES: Final = ("original", "again")
#: documents of a list that are compared, and what they are compared by
_DEPTH: Final = 1000
_OF_LISTS: Final = f"tau_b RBO(p=0.95, ties=broken) RBO(p=0.95, score=normalized, ties=broken)@{_DEPTH}"
#: systems whose order says something
_ORDER: Final = 3


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
    given: dict[str, Any] = dict(options)
    columns = columns_in(given)
    if scores:
        if unused := [*given, *(["qrels"] if qrels is not None else [])]:
            raise UsageError(
                f"{unused[0]} has no effect on saved scores", fix=f"remove {unused[0]}"
            )
        sources = [Source.saved(one, measures, columns) for one in (original, again)]
        named = [{name: name for name in one.runs} for one in sources]
        systems, only = _same_systems(named[0], named[1], baseline)
        queries = [
            {*table["query_id"]}
            for one in sources
            for table in [*one.tables.values()][:1]
        ]
        return _compared(
            sources,
            [*systems],
            settings,
            [],
            paired=bool(queries[0] & queries[1]),
            only=only,
        )
    runs, only = _same_systems(name_runs(original), name_runs(again), baseline)
    figures: list[Figure] = []
    if qrels_again is None:
        ordering = {name: value for name, value in given.items() if name in OPTIONS}
        reading = {"columns": columns, "format_in": given.get("format_in")}
        for name, pair in runs.items():
            figures += _of_lists(name, pair, reading, ordering, confidence)
    if qrels is None:
        if qrels_again is not None:
            raise UsageError("qrels_again goes with qrels", fix="add qrels=ORIGINAL")
        paths = (
            (f"{_SIDES[at]} {name}", run)
            for name, of in runs.items()
            for at, run in enumerate(of)
        )
        inputs = {name: str(run) for name, run in paths if is_path(run)}
        return Reproduction(
            tuple(figures),
            tuple(runs),
            only=only,
            inputs=inputs,
            **settings,  # type: ignore[arg-type]
        )
    requested = of_rankings(measures or "nDCG@10")
    sources = []
    for side, judged in enumerate(
        (qrels, qrels if qrels_again is None else qrels_again)
    ):
        of_side = {name: pair[side] for name, pair in runs.items()}
        scored = Prepared(judged, requested, columns=columns, **given).evaluate(
            of_side, progress=progress
        )
        sources.append(Source.of(scored, requested))
    return _compared(
        sources, [*runs], settings, figures, paired=qrels_again is None, only=only
    )


def _same_systems(
    original: Mapping[str, Any], again: Mapping[str, Any], baseline: str | None
) -> tuple[dict[str, tuple[Any, Any]], tuple[str, ...]]:
    """Return what each system has on both sides, and those of one side only; single ones go together."""
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
        problem = f"the baseline {printable(baseline)} is not in both experiments"
        raise UsageError(
            problem, expected=some(both, 20), fix=did_you_mean(baseline, both)
        )
    if single:
        return {both[0]: (*original.values(), *again.values())}, ()
    alone = [name for name in (*original, *again) if name not in both]
    return {name: (original[name], again[name]) for name in both}, tuple(alone)


# -- lists ----------------------------------------------------------------------------------------------
def _of_lists(
    system: str,
    pair: tuple[Any, Any],
    reading: Mapping[str, Any],
    options: Mapping[str, Any],
    confidence: float,
) -> Iterator[Figure]:
    """Yield how alike the lists of both runs are, on the average over queries."""
    one, other = pair
    of_documents = diff(one, other, _OF_LISTS, names=_SIDES, **reading, **options)
    checked = ordering_options(options)
    ids = []
    for table in open_runs(one, other, _SIDES, order=checked.order, **reading):
        loaded = load_run(table, options_for(table, checked))
        places = {
            "query_id": loaded.names.gather(loaded.ranked.query),
            "doc_id": loaded.ranked.rank,
        }
        lists = pl.DataFrame({**places, "id": loaded.docs.cast(pl.String)}).filter(
            pl.col("doc_id") <= _DEPTH
        )
        ids.append(lists.with_columns(score=-pl.col("id").rank().over("query_id")))
    # what repro_eval correlates: which of two positions has the document with the lower id
    of_positions = diff(ids[0].drop("id"), ids[1].drop("id"), "tau_a")
    shared = [one.join(two, on="query_id", how="semi") for one, two in (ids, ids[::-1])]
    both = shared[0].join(
        shared[1], on=["query_id", "doc_id"], how="full", coalesce=True
    )
    same = both.group_by("query_id").agg(
        pl.col("id").eq_missing(pl.col("id_right")).all()
    )["id"]
    found = {"same": same.cast(pl.Float64).to_numpy()}
    found |= {
        str(measure): one.value for measure, one in of_documents.by_measure.items()
    }
    found[f"KTU@{_DEPTH}"] = next(iter(of_positions.by_measure.values())).value
    for name, every in found.items():
        values = every[~np.isnan(every)]
        if len(values):
            span = (-1.0, 1.0) if name.startswith(("tau", "KTU")) else (0.0, 1.0)
            mean = _mean(values, span)
            yield Figure(
                system, None, name, mean.value, *mean.interval(confidence), len(values)
            )


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
    """Return the figures of all systems and measures."""
    first, second = sources
    measures = tuple(name for name in first.measures if name in second.measures)
    if not measures:
        given = f"{some(first.measures)}; {some(second.measures)}"
        raise NotComparable("no measure is in both experiments", given=given)
    level = settings["confidence"]
    baseline = settings["baseline"]
    left_out = 0
    for measure in measures:
        one, other, span, lost = _tables(sources, systems, measure, paired=paired)
        left_out = max(left_out, lost)
        for at, system in enumerate(systems):
            columns = one[:, at], other[:, at]
            figures += _of_scores(system, measure, columns, span, level, paired=paired)
            if baseline not in (None, system):
                base = systems.index(baseline)
                sides = [(table[:, at], table[:, base]) for table in (one, other)]
                figures += _of_effects(system, measure, sides, level, paired=paired)
        if len(systems) >= _ORDER:
            sign = -1 if first.measures[measure] == "lower" else 1
            found = order_agreement(
                sign * one,
                sign * other,
                paired=paired,
                confidence=level,
                seed=settings["seed"],
            )
            figures.append(
                Figure(
                    None,
                    measure,
                    "tau of systems",
                    found.tau,
                    found.low,
                    found.high,
                    found.n,
                )
            )
    inputs = {side: source.inputs for side, source in zip(_SIDES, sources, strict=True)}
    about: dict[str, Any] = {
        "audit": first.audit,
        "conventions": first.conventions,
        "inputs": inputs,
    }
    about |= {"only": only, "left_out": left_out}
    return Reproduction(
        tuple(figures), tuple(systems), measures, paired, **settings, **about
    )


def _tables(
    sources: list[Source], systems: list[str], measure: str, *, paired: bool
) -> tuple[Floats, Floats, tuple[float, float], int]:
    """Return the scores of both sides, of the same queries if paired; the range; queries left out."""
    every = []
    for side, source in zip(_SIDES, sources, strict=True):
        # single ones go together, whatever their names
        names = systems if len(systems) > 1 else source.runs[:1]
        every.append(
            {
                (f"{side}/{name}", measure): source.tables[name, measure]
                for name in names
            }
        )
    declared = sources[0].spans.get(measure, (None, None))
    values = []
    spans = []
    left_out = 0
    for tables in [every[0] | every[1]] if paired else every:
        runs = {run: [run] for run, _ in tables}
        matrix = Matrix.of(tables, measure, "higher", runs, None, declared)
        values += np.split(matrix.values, 2, axis=1) if paired else [matrix.values]
        spans.append(matrix.span)
        left_out += matrix.left_out
    return (
        values[0],
        values[1],
        (min(low for low, _ in spans), max(high for _, high in spans)),
        left_out,
    )


def _of_scores(
    system: str,
    measure: str,
    columns: tuple[Floats, Floats],
    span: tuple[float, float],
    level: float,
    *,
    paired: bool,
) -> Iterator[Figure]:
    """Yield the means, their difference, and if queries are the same how far scores are from each other."""
    n = min(map(len, columns))

    def figure(
        name: str, value: float, ends: tuple[float, float] = (math.nan, math.nan)
    ) -> Figure:
        return Figure(system, measure, name, value, *ends, n)

    means = [_mean(column, span) for column in columns]
    yield from (
        figure(side, one.value, one.interval(level))
        for side, one in zip(_SIDES, means, strict=True)
    )
    difference = means[1].value - means[0].value
    if paired:
        gaps = columns[1] - columns[0]
        gaps[np.abs(gaps) <= ROUNDING * max(map(abs, span))] = 0.0
        yield figure(
            "difference",
            difference,
            difference_estimate(Units.from_scores(gaps[:, None]), span).interval(level),
        )
        squares = _mean(gaps**2, (0.0, (span[1] - span[0]) ** 2))
        low, high = (math.sqrt(max(end, 0.0)) for end in squares.interval(level))
        rmse = math.sqrt(math.fsum(gaps**2) / n)
        yield figure("RMSE", rmse, (low, high))
        most = math.sqrt(float(np.mean(np.maximum(columns[0], 1 - columns[0]) ** 2)))
        yield figure("nRMSE", rmse / most if most else math.nan)
        error = _error(gaps)
        df = n - 1
    else:
        parts = [
            (float(column.var(ddof=1)) if len(column) > 1 else math.nan, len(column))
            for column in columns
        ]
        reach = two_sided_t(level, n - 1) * math.sqrt(
            sum(variance / size for variance, size in parts)
        )
        yield figure("difference", difference, symmetric_interval(difference, reach))
        df = sum(size - 1 for _, size in parts)
        pooled = sum(variance * (size - 1) for variance, size in parts) / max(df, 1)
        error = math.sqrt(pooled * sum(1 / size for _, size in parts))
    yield figure("p", _p(difference, error, df))


def _mean(values: Floats, span: tuple[float, float]) -> Estimate:
    """Estimate the mean of values within a range."""
    return mean_estimates(Units.from_scores(values[:, None]), [span])[0]


def _error(values: Floats) -> float:
    """Return the standard error of the mean; NaN for a single value."""
    if len(values) < 2:  # noqa: PLR2004 - one value has no spread
        return math.nan
    return float(values.std(ddof=1)) / math.sqrt(len(values))


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
        reach = _error(values) * two_sided_t(level, len(values) - 1)
        yield figure(name, (mean, *symmetric_interval(mean, reach)))
    yield figure("ER", effect_ratio(*improvements, paired=paired, confidence=level))
    yield figure("ΔRI", relative_change(*sides, paired=paired, confidence=level))
