"""CatBoost: ``eval_metric`` objects with groups, and scores tree by tree after training."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.errors import BadOption, BadValue
from rankstone.integrations.trainer_scores import Scoring, weights_of_queries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankstone._basics import Floats, Ints
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords
    from rankstone.measures.core.measure import Measure


__all__ = ["eval_metric", "staged"]


class _Bound(NamedTuple):
    """One data set: its labels and the sizes of its groups."""

    labels: Floats
    sizes: Ints

    def matches(self, labels: Floats) -> bool:
        return np.array_equal(self.labels, labels)


def eval_metric(
    measure: str | Measure,
    *pools: Any,  # noqa: ANN401 - catboost.Pool, or labels and group ids
    convention: str | None = None,
    **options: Unpack[AlignmentKeywords],
) -> Any:  # noqa: ANN401 - of a class with the measure's name
    """Return an object for ``CatBoost(eval_metric=…)`` that scores group by group.

    CatBoost passes labels, predictions and weights to such an object, but no groups.  So data sets are given
    in advance, and found by their labels.

    Parameters
    ----------
    measure
        One measure, by which the best number of trees is chosen.
    *pools
        Every data set that will be scored, including the training data:
        ``catboost.Pool(X, y, group_id=…)``, or pairs of arrays ``(labels, group_id)``.
    convention
        ``"catboost"`` for CatBoost's own names and numbers.
    **options
        ``ties``, ``empty`` and other options of :class:`rankstone.integrations.arrays.Evaluator`.

    Raises
    ------
    BadOption
        If two data sets have the same labels and different groups, which cannot be distinguished.

    Examples
    --------
    >>> metric = eval_metric("RR", ([0, 1, 1, 0], ["a", "a", "b", "b"]))
    >>> metric.is_max_optimal(), metric.evaluate(([0.9, 0.5, 0.4, 0.1],), [0, 1, 1, 0], None)
    (True, (0.75, 1.0))
    """
    scoring = Scoring(measure, convention=convention, **options)
    bound = [_bound(pool, f"pools[{number}]") for number, pool in enumerate(pools)]
    if not bound:
        raise BadOption(
            "no data sets are given; CatBoost passes no groups",
            fix="eval_metric(…, train, valid)",
        )
    for number, data in enumerate(bound):
        for other in bound[:number]:
            same_groups = np.array_equal(data.sizes, other.sizes)
            if data.matches(other.labels) and not same_groups:
                raise BadOption(
                    "two data sets have the same labels and different groups, and cannot be distinguished",
                    where=f"pools[{number}]",
                    fix="score after training: rankstone.integrations.catboost.staged",
                )
    return _named(scoring, bound)


def _named(scoring: Scoring, bound: Sequence[_Bound]) -> _Metric:
    """Return a metric of a class with the measure's name, since CatBoost shows the name of the class."""
    kind = type(str(scoring.one), (_Metric,), {})
    metric: _Metric = kind(scoring, bound)
    return metric


class _Metric:
    """The object that CatBoost calls.

    It is immutable and its own copy: CatBoost copies its parameters, and scikit-learn's ``clone`` requires
    the identical object.
    """

    #: CatBoost would compile these methods with Numba, if installed, and warn that it cannot
    no_jit: ClassVar[bool] = True

    def __init__(self, scoring: Scoring, bound: Sequence[_Bound]) -> None:
        self._scoring = scoring
        self._bound = bound
        self._higher = scoring.higher_is_better(scoring.one)

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self._scoring, self._bound)

    def __deepcopy__(self, _memo: dict[int, Any]) -> _Metric:
        return self

    def is_max_optimal(self) -> bool:
        return self._higher

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:  # noqa: ANN401 - arrays
        labels = np.asarray(target, np.float64)
        for data in self._bound:
            if not data.matches(labels):
                continue
            weights = None
            if weight is not None:
                weights = weights_of_queries(weight, data.sizes)
            means = self._scoring(
                approxes[0], labels, sizes=data.sizes, weights=weights
            )
            return means[str(self._scoring.one)], 1.0
        raise BadValue(
            "these labels belong to none of the given data sets",
            given=f"{counted(len(labels), 'label')}",
            expected=" or ".join(f"{len(data.labels):,}" for data in self._bound),
            fix="give every data set, including the training data: eval_metric(…, train, valid)",
        )

    def get_final_error(self, error: float, weight: float) -> float:
        return error / weight


def staged(
    model: Any,  # noqa: ANN401 - a trained CatBoost
    pool: Any,  # noqa: ANN401 - catboost.Pool
    measures: MeasuresLike,
    *,
    every: int = 1,
    group_weight: object = None,
    convention: str | None = None,
    **options: Any,  # noqa: ANN401 - those of alignment, except `pool`
) -> pl.DataFrame:
    """Score a trained model after each tree, with any number of measures and no data sets given in advance.

    Train with ``use_best_model=False``, or there are no trees after the best by its own metric.

    Parameters
    ----------
    model, pool
        The model, and a ``catboost.Pool`` with labels and group ids.
    measures, convention, **options
        As for :func:`eval_metric`.
    every
        Score after each multiple of this number of trees, and after the last.
    group_weight
        The weight of each row's group, as passed to the pool, from which it cannot be read.

    Returns
    -------
    polars.DataFrame
        ``trees``, and a column for each measure.
    """
    scoring = Scoring(measures, convention=convention, **options)
    labels, sizes = _bound(pool, "the pool")
    weights = None if group_weight is None else weights_of_queries(group_weight, sizes)
    kind = {}
    if "prediction_type" in signature(model.staged_predict).parameters:
        # a classifier would return classes
        kind = {"prediction_type": "RawFormulaVal"}

    rows = []
    stages = model.staged_predict(pool, eval_period=every, **kind)
    for number, stage in enumerate(stages, 1):
        trees = min(number * every, model.tree_count_)
        means = scoring(stage, labels, sizes=sizes, weights=weights)
        rows.append({"trees": trees} | means)
    return pl.DataFrame(rows)


def _bound(pool: Any, where: str) -> _Bound:  # noqa: ANN401 - a pool, or a pair
    if hasattr(pool, "get_label"):
        labels = pool.get_label()
        groups = pool.get_group_id_hash()
    else:
        labels, groups = pool
    if labels is None or groups is None or not len(groups):
        raise BadOption(
            "these data lack labels or groups",
            where=where,
            fix="Pool(X, y, group_id=…)",
        )
    labels = np.asarray(labels, np.float64)
    groups = np.asarray(groups)
    if labels.shape != groups.shape:
        raise BadValue(
            "labels and group ids do not match",
            where=where,
            given=f"{labels.shape} and {groups.shape}",
        )
    changes = np.flatnonzero(groups[1:] != groups[:-1])
    heads = np.concatenate(([0], changes + 1))
    if len(np.unique(groups)) < len(heads):
        raise BadValue(
            "the rows of a group are not adjacent",
            where=where,
            fix="sort by group, as CatBoost requires",
        )
    return _Bound(labels, np.diff(heads, append=len(groups)))
