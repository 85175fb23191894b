"""LightGBM: ``feval`` of its training API, ``eval_metric`` of its scikit-learn API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.errors import BadOption
from rankstone.integrations.trainer_scores import (
    Scoring,
    weights_of_queries,
    without_blanks,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords

    Results = list[tuple[str, float, bool]]

__all__ = ["eval_metric", "feval"]


def feval(
    measures: MeasuresLike,
    *,
    convention: str | None = None,
    **options: Unpack[AlignmentKeywords],
) -> Callable[[Any, Any], Results]:
    """Return an evaluation function for ``lightgbm.train(…, feval=…)`` and ``lightgbm.cv``.

    Train with ``metric="None"``: otherwise LightGBM computes its own metrics in addition, and early
    stopping uses all of them (or only the first, which is its own).

    Parameters
    ----------
    measures
        One or several; each becomes a metric with its direction.
    convention
        ``"lightgbm"`` for LightGBM's own names and numbers.
    **options
        ``ties``, ``empty`` and other options of :class:`rankstone.integrations.arrays.Evaluator`.

    Notes
    -----
    Weights of rows become weights of queries as in LightGBM: the mean over the query's rows.  LightGBM's
    own ndcg gives queries without a relevant row the weight 1; here they keep their weight.

    Examples
    --------
    >>> evaluate = feval("nDCG@10 RR", ties="worst")
    >>> class Data:  # what LightGBM passes
    ...     get_label = lambda self: [0, 1, 1, 0]
    ...     get_group = lambda self: [2, 2]
    ...     get_weight = lambda self: None
    >>> evaluate([0.9, 0.5, 0.1, 0.4], Data())
    [('nDCG@10', 0.6309297535714575, True), ('RR', 0.5, True)]
    """
    return _OfDatasets(Scoring(measures, convention=convention, **options))


def eval_metric(
    measures: MeasuresLike,
    *,
    convention: str | None = None,
    **options: Unpack[AlignmentKeywords],
) -> Callable[[Any, Any, Any, Any], Results]:
    """Return an evaluation function for ``LGBMRanker.fit(…, eval_metric=…)``; parameters as for feval.

    LightGBM counts the arguments of such a function, and gives the groups to one that takes four.
    Make the ranker with ``metric="None"`` to disable LightGBM's own metric.

    Examples
    --------
    >>> eval_metric("ndcg@1", convention="lightgbm")([0, 1, 0], [0.9, 0.5, 0.1], None, [2, 1])
    [('ndcg@1', 0.5, True)]
    """
    return _OfArrays(Scoring(measures, convention=convention, **options))


class _Evaluation:
    """The function that LightGBM calls: names, values and directions of measures."""

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self._higher = [
            scoring.higher_is_better(measure) for measure in scoring.measures
        ]

    def _results(
        self,
        labels: object,
        scores: object,
        weights: Any,  # noqa: ANN401 - arrays
        sizes: Any,  # noqa: ANN401 - arrays
    ) -> Results:
        if sizes is None:
            raise BadOption(
                "these data have no groups",
                fix="lightgbm.Dataset(…, group=sizes), LGBMRanker.fit(…, group=)",
            )
        sizes = np.asarray(sizes)
        of_queries = None if weights is None else weights_of_queries(weights, sizes)
        means = self._scoring(scores, labels, sizes=sizes, weights=of_queries)
        return [
            (without_blanks(name), mean, better)
            for (name, mean), better in zip(means.items(), self._higher, strict=True)
        ]


class _OfDatasets(_Evaluation):
    def __call__(self, preds: Any, data: Any) -> Results:  # noqa: ANN401 - an array, a lightgbm.Dataset
        return self._results(
            data.get_label(), preds, data.get_weight(), data.get_group()
        )


class _OfArrays(_Evaluation):
    def __call__(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> Results:  # noqa: ANN401 - arrays
        return self._results(y_true, y_pred, weight, group)
