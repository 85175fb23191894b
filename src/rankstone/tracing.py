"""The conductor of curves: the same road as :func:`~rankstone.evaluate`, with curves at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rankstone.curves import Curves, Resampling, RunCurves
from rankstone.evaluation import Evaluator, name_runs, walk_labelled
from rankstone.measures.at_cutoffs import AtK, parse_curves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.evaluation import Progress, Walked
    from rankstone.measures import Measure
    from rankstone.measures.base import Scored
    from rankstone.measures.curves import Curve, Traced

    Asked = str | Curve | Measure | Iterable[str | Curve | Measure]

__all__ = ["Tracer", "curve", "curve_labelled"]


def curve(
    qrels: object,
    runs: object,
    curves: Asked = "PR",
    *,
    k: str | int | Sequence[int] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    band: tuple[float, float] = (0.1, 0.9),
    progress: Progress | None = None,
    **given: Any,  # noqa: ANN401 - arguments of Evaluator
) -> Curves:
    """Trace curves of one or more runs: precision over recall, ROC, or a measure over its cutoff.

    Parameters
    ----------
    qrels, runs, progress, **given
        As for :func:`~rankstone.evaluate`, the options of alignment included.
    curves
        ``"PR"``, ``"ROC(negatives=judged)"``, ``"nDCG@1..100"``, ``"R@1,5,10"``, several in one text
        or list.
    k
        Cutoffs for measures whose text names none: ``[1, 5, 10]`` or ``"1..100"``.
    resamples, seed, confidence, band
        How certainty and spread over queries are expressed, see :class:`~rankstone.curves.Resampling`.

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
    """
    how: dict[str, Any] = {"resamples": resamples, "seed": seed, "confidence": confidence, "band": band}
    return Tracer(qrels, curves, k=k, **how, **given).trace(name_runs(runs), progress=progress)


def curve_labelled(
    table: object,
    curves: Asked = "PR",
    *,
    k: str | int | Sequence[int] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    band: tuple[float, float] = (0.1, 0.9),
    **given: Any,  # noqa: ANN401 - arguments of evaluate_labelled
) -> Curves:
    """Trace curves of one table whose rows carry both score and label.

    Parameters
    ----------
    table, **given
        As for :func:`~rankstone.evaluate_labelled`.
    curves, k, resamples, seed, confidence, band
        As for :func:`curve`.

    Examples
    --------
    >>> import polars as pl
    >>> clicks = pl.DataFrame({"query_id": ["u", "u", "u"], "score": [3, 2, 1], "label": [0, 1, 1]})
    >>> curve_labelled(clicks, "Success@1,2").mean()["mean"].to_list()
    [0.0, 1.0]
    """
    how = Resampling(resamples=resamples, seed=seed, confidence=confidence, band=band)
    parsed = parse_curves(curves, k)
    rest: dict[str, Any] = dict.fromkeys(("name", "columns", "format_in", "queries", "progress")) | given
    return _curves(walk_labelled(table, _walking(parsed), **rest), parsed, how)


class Tracer(Evaluator):
    """Judgments prepared once, for the curves of many runs.

    Parameters are those of :func:`curve`.

    Examples
    --------
    >>> ready = Tracer({"q1": {"d1": 1}}, "RR@1..2")
    >>> ready.trace({"run": {"q1": ["d2", "d1"]}}).mean()["mean"].to_list()
    [0.0, 0.5]
    """

    def __init__(
        self,
        qrels: object,
        curves: Asked = "PR",
        *,
        k: str | int | Sequence[int] | None = None,
        resamples: int = 1000,
        seed: int = 0,
        confidence: float = 0.95,
        band: tuple[float, float] = (0.1, 0.9),
        **given: Any,  # noqa: ANN401 - arguments of Evaluator
    ) -> None:
        self.resampling = Resampling(resamples=resamples, seed=seed, confidence=confidence, band=band)
        self.curves = parse_curves(curves, k)
        super().__init__(qrels, _walking(self.curves), **given)

    @staticmethod
    def _asked(measures: Any) -> tuple[Measure, ...]:  # noqa: ANN401 - read before
        return tuple(measures)

    def trace(self, runs: Mapping[str, object], progress: Progress | None = None) -> Curves:
        """Trace the curves of named runs."""
        return _curves(self._walk(runs, progress), self.curves, self.resampling)


def _walking(curves: tuple[Curve, ...]) -> tuple[Measure, ...]:
    """Return what walks the road: curves, beside the measures that sum them up.

    Both turn hits into something that is joined afterwards; the road need not know what.
    """
    asked = dict.fromkeys([*curves, *(curve.summary() for curve in curves)])
    return cast("tuple[Measure, ...]", tuple(asked))


def _curves(walked: Walked, curves: tuple[Curve, ...], how: Resampling) -> Curves:
    found = {}
    for name, run in walked.runs.items():
        made = cast("Mapping[object, Any]", run.by_measure)
        scored: dict[Measure, Scored] = {curve.summary(): made[curve.summary()] for curve in curves}
        traced = {curve: _weighed(curve, made[curve], scored) for curve in curves}
        found[name] = RunCurves(run.queries, traced, scored)
    return Curves(found, curves, walked.audit, walked.conventions, walked.inputs, how)


def _weighed(curve: Curve, traced: Traced, scored: Mapping[Measure, Scored]) -> Traced:
    """Return a curve of weighed queries under the weights of the query table."""
    if not isinstance(curve, AtK) or curve.measure.agg != "weighted" or traced.numerator is not None:
        return traced
    weight = scored[curve.summary()].weight
    return traced if weight is None else traced.weighed(weight[:, None])
