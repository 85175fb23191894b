"""XGBoost: ``custom_metric``, early stopping in the right direction, and a callback for XGBRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone._basics import Record
from rankstone.errors import installed
from rankstone.integrations.trainer_scores import Scoring
from rankstone.integrations.xgboost_groups import groups_of, name_of, scored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords
    from rankstone.measures.core.measure import Measure

    Results = list[tuple[str, float]]

__all__ = ["custom_metric", "early_stopping", "name_of", "watch"]


def custom_metric(
    measures: MeasuresLike,
    *,
    convention: str | None = None,
    **options: Unpack[AlignmentKeywords],
) -> Callable[[Any, Any], Results]:
    """Return a function for ``xgboost.train(…, custom_metric=…)``.

    XGBoost keeps six decimals of what it returns, and its early stopping minimises all names but a few:
    stop with :func:`early_stopping`.  :func:`watch` gives every digit, and serves ``XGBRanker``, too.

    Parameters
    ----------
    measures
        One or several.
    convention
        ``"xgboost"`` for measures as XGBoost spells and counts them.
    **options
        ``ties``, ``empty`` and other options of :class:`rankstone.integrations.arrays.Evaluator`.

    Examples
    --------
    >>> import numpy as np
    >>> class Data:  # what XGBoost hands over
    ...     get_label = lambda self: np.array([0, 1, 1, 0], np.float32)
    ...     get_weight = lambda self: np.array([], np.float32)
    ...     get_uint_info = lambda self, name: np.array([0, 2, 4], np.uint32)
    >>> custom_metric("RR P@1")(np.array([0.9, 0.5, 0.4, 0.1], np.float32), Data())
    [('RR', 0.75), ('P@1', 0.5)]
    """
    return _Evaluation(Scoring(measures, convention=convention, **options))


def early_stopping(
    rounds: int,
    measure: str | Measure,
    *,
    convention: str | None = None,
    save_best: bool = True,
    **further: Any,  # noqa: ANN401 - parameters of xgboost.callback.EarlyStopping
) -> Any:  # noqa: ANN401 - a callback of a library that is imported late
    """Return ``xgboost.callback.EarlyStopping`` for a measure, by its name and in its direction.

    Left alone, XGBoost maximises only names that begin with auc, aucpr, pre, map or ndcg (in these
    letters), and minimises all others: it would keep the worst model by RR, or by nDCG.

    Parameters
    ----------
    rounds
        So many rounds without a better value end the training.
    measure, convention
        As given to :func:`custom_metric` or :func:`watch`.
    save_best
        Whether the model is cut back to its best round.
    **further
        ``data_name`` (by default the last set of data), ``min_delta``.
    """
    scoring = Scoring(measure, convention=convention)
    further = {"rounds": rounds, "save_best": save_best, **further}
    higher = scoring.higher_is_better(scoring.one)
    return _callbacks().EarlyStopping(
        metric_name=name_of(scoring.one), maximize=higher, **further
    )


def watch(
    measures: MeasuresLike,
    data: Mapping[str, Any],
    *,
    convention: str | None = None,
    **options: Unpack[AlignmentKeywords],
) -> Any:  # noqa: ANN401 - a callback of a library that is imported late
    """Return a callback that scores sets of data after every round, for ``train`` and ``XGBRanker``.

    A callable ``eval_metric`` of ``XGBRanker`` will not do: XGBoost weighs its queries by their sizes, and
    a query of one document counts 1.  Numbers go to the history of training (``evals_result``), with
    every digit; list it before :func:`early_stopping`.

    Parameters
    ----------
    measures, convention, **options
        As for :func:`custom_metric`.
    data
        Name → ``xgboost.DMatrix(X, y, qid=qid)``.
    """
    scoring = Scoring(measures, convention=convention, **options)
    for name, matrix in data.items():
        groups_of(matrix, f"data[{name!r}]")
    _callbacks()
    from rankstone.integrations.xgboost_callback import Watch

    return Watch(scoring, data)


class _Evaluation(Record):
    """What XGBoost calls with predictions and their data."""

    scoring: Scoring

    def __call__(self, predt: Any, data: Any) -> Results:  # noqa: ANN401 - an array, an xgboost.DMatrix
        return scored(self.scoring, predt, data)


def _callbacks() -> Any:  # noqa: ANN401 - a module
    return installed("xgboost.callback", "xgboost", "pip install xgboost")
