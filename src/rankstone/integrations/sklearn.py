"""scikit-learn: scorers that receive the queries, and a wrapper with ``qid`` for rankers with groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import BadOption, installed
from rankstone.integrations.trainer_scores import Scoring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankstone._basics import NamedValues
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords
    from rankstone.integrations.grouped_ranker import GroupedRanker
    from rankstone.measures.core.measure import Measure


__all__ = ["GroupedRanker", "scorer", "scorers"]

#: what a model may say of rows, the first that it has: a classifier's ``predict`` would rank by classes
_RESPONSES: Final = ("decision_function", "predict_proba", "predict")


def scorer(
    measure: str | Measure,
    *,
    convention: str | None = None,
    response_method: str | Sequence[str] = _RESPONSES,
    **options: Unpack[AlignmentKeywords],
) -> Any:  # noqa: ANN401 - a scorer of a library that is imported late
    """Return a scorer for ``GridSearchCV``, ``cross_validate`` and friends.

    It receives the queries by metadata routing, so ``sklearn.set_config(enable_metadata_routing=True)``
    comes first.  Fold by query (``GroupKFold``): a query cut in two is two easier queries.

    Parameters
    ----------
    measure
        One measure; where less is better the scorer's numbers are negative, as scikit-learn has it.
    convention
        ``"sklearn"`` for measures as scikit-learn spells and counts them.
    response_method
        What ranks: the first of these that the model has.
    **options
        ``ties``, ``empty`` and other options of :class:`rankstone.integrations.arrays.Evaluator`.
    """
    scoring = Scoring(measure, convention=convention, **options)
    made = needed("metrics").make_scorer(
        _Score(scoring),
        response_method=response_method
        if isinstance(response_method, str)
        else tuple(response_method),
        greater_is_better=scoring.higher_is_better(scoring.one),
    )
    if not needed().get_config()["enable_metadata_routing"]:
        raise BadOption(
            "scikit-learn does not hand on the queries",
            fix="sklearn.set_config(enable_metadata_routing=True), before the scorer is made",
        )
    return made.set_score_request(qid=True)


class _Score:
    """The value of labels and scores of queries, as scikit-learn's scorers call it."""

    def __init__(self, scoring: Scoring) -> None:
        self._scoring, self.__name__ = scoring, str(scoring.one)

    def __call__(self, y_true: Any, y_pred: Any, qid: Any = None) -> float:  # noqa: ANN401 - arrays
        if qid is None:
            raise BadOption(
                "the scorer receives no queries",
                fix='fit(X, y, qid=qid), cross_validate(…, params={"qid": qid})',
            )
        labels = np.asarray(y_true)
        means = self._scoring(y_pred, labels, qid=np.asarray(qid))
        return means[self.__name__]


def scorers(
    measures: MeasuresLike,
    *,
    convention: str | None = None,
    response_method: str | Sequence[str] = _RESPONSES,
    **options: Unpack[AlignmentKeywords],
) -> NamedValues:
    """Return a scorer for each measure by its name, for ``scoring=``; parameters as for :func:`scorer`."""
    texts = map(str, Scoring(measures, convention=convention, **options).measures)
    return {
        text: scorer(
            text, convention=convention, response_method=response_method, **options
        )
        for text in texts
    }


def needed(module: str = "") -> Any:  # noqa: ANN401 - a module
    """Return scikit-learn, or a module of it; raise an error that says how to install it if it is missing."""
    name = f"sklearn.{module}" if module else "sklearn"
    return installed(name, "scikit-learn", "pip install scikit-learn")


def __getattr__(name: str) -> type:
    """Import :class:`GroupedRanker` when it is first used: its bases are scikit-learn's."""
    if name != "GroupedRanker":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    needed()
    from rankstone.integrations.grouped_ranker import GroupedRanker

    return GroupedRanker
