"""Curves of runs, computed by the pipeline of :func:`~rankstone.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

from rankstone.diagnostics.curve_resampling import Resampling
from rankstone.diagnostics.curve_result import Curves
from rankstone.diagnostics.mean_curves import RunCurves
from rankstone.evaluation.labelled_table import Given
from rankstone.evaluation.request import EvaluationKeywords
from rankstone.hits.alignment_options import takes
from rankstone.measures.at_cutoffs import AtK, parse_curves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone._basics import Progress
    from rankstone.evaluation.pipeline import ScoredRuns
    from rankstone.evaluation.request import QrelsLike, RunsLike, TableLike
    from rankstone.measures.core.curve import Curve, CurveValues
    from rankstone.measures.core.measure import Measure, Scored

    CurvesLike = str | Curve | Measure | Iterable[str | Curve | Measure]


@takes(EvaluationKeywords)
def curve(
    qrels: QrelsLike | None = None,
    runs: RunsLike | None = None,
    curves: CurvesLike = "PR",
    *,
    table: TableLike | None = None,
    name: str | None = None,
    k: str | int | Sequence[int] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    band: tuple[float, float] = (0.1, 0.9),
    progress: Progress | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Curves:
    """Trace curves of one or more runs: precision over recall, ROC, or a measure over its cutoff.

    Parameters
    ----------
    qrels, runs, table, name, progress, **options
        As for :func:`~rankstone.evaluate`, the options of alignment included.
    curves
        ``"PR"``, ``"ROC(negatives=judged)"``, ``"nDCG@1..100"``, ``"R@1,5,10"``, several in one text
        or list.
    k
        Cutoffs for measures whose text names none: ``[1, 5, 10]`` or ``"1..100"``.
    resamples, seed, confidence, band
        How uncertainty over queries is estimated, see ``Resampling``.

    Returns
    -------
    Curves
        Every query's points, macro and micro means with bands and intervals, noise figures, crossings
        of runs, the cutoff that reaches a target.

    Raises
    ------
    InputError
        When a file, frame or dict is not what it should be.
    UsageError
        When a curve, measure or option does not exist.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 1}}
    >>> traced = curve(qrels, {"q1": ["d1", "d9", "d2"]}, "PR(levels=3)")
    >>> traced.mean().select("x", "mean").rows()
    [(0.0, 1.0), (0.5, 1.0), (1.0, 0.6666666666666666)]
    >>> curve(qrels, {"q1": ["d1", "d9", "d2"]}, "R", k=[1, 2, 3]).reach(0.9)["k"].to_list()
    [3]
    >>> clicks = {"query_id": ["u", "u", "u"], "score": [3, 2, 1], "label": [0, 1, 1]}
    >>> curve(table=clicks, curves="Success@1,2").mean()["mean"].to_list()
    [0.0, 1.0]
    """
    resampling = Resampling(
        resamples=resamples, seed=seed, confidence=confidence, band=band
    )
    parsed = parse_curves(curves, k)
    inputs = Given(qrels, runs, table, name)
    walked = _walking(parsed)
    evaluated = inputs.score_runs(walked, progress=progress, **options)
    # ideal lists may have no budget
    scored = dict(zip(walked, evaluated.measures, strict=True))
    return _curves(
        evaluated,
        tuple(cast("Curve", scored[cast("Any", curve)]) for curve in parsed),
        resampling,
    )


def _walking(curves: tuple[Curve, ...]) -> tuple[Measure, ...]:
    """Return what the pipeline computes: curves, and the measures that summarise them.

    Both turn hits into values that are joined afterwards, so the pipeline treats them the same way.
    """
    summaries = [curve.summary() for curve in curves]
    both = dict.fromkeys([*curves, *summaries])
    return cast("tuple[Measure, ...]", tuple(both))


def _curves(
    evaluated: ScoredRuns, curves: tuple[Curve, ...], resampling: Resampling
) -> Curves:
    runs = {}
    for name, run in evaluated.runs.items():
        made = cast("Mapping[object, Any]", run.by_measure)
        scored: dict[Measure, Scored] = {
            curve.summary(): made[curve.summary()] for curve in curves
        }
        traced = {curve: _weighed(curve, made[curve], scored) for curve in curves}
        runs[name] = RunCurves(run.queries, traced, scored)
    return Curves(
        runs,
        curves,
        evaluated.audit,
        evaluated.conventions,
        evaluated.inputs,
        resampling,
    )


def _weighed(
    curve: Curve, traced: CurveValues, scored: Mapping[Measure, Scored]
) -> CurveValues:
    """Return a curve with the weights of the query table, where queries are weighted."""
    if (
        not isinstance(curve, AtK)
        or curve.measure.agg != "weighted"
        or traced.numerator is not None
    ):
        return traced
    weight = scored[curve.summary()].weight
    return traced if weight is None else traced.weighted(weight[:, None])
