"""scikit-learn: scorers that are told the queries, and rankers that take groups made to take ``qid``."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.errors import BadOption, BadValue, MissingExtra
from rankstone.hooks.scoring import Scoring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.measures import Measure

    GroupedRanker: type

__all__ = ["GroupedRanker", "scorer", "scorers"]

#: what a model may say of rows, the first that it has: a classifier's ``predict`` would rank by classes
_RESPONSES: Final = ("decision_function", "predict_proba", "predict")


def scorer(
    measure: str | Measure,
    *,
    convention: str | None = None,
    response_method: str | Sequence[str] = _RESPONSES,
    **options: Any,  # noqa: ANN401 - checked by Alignment
) -> Any:  # noqa: ANN401 - a scorer of a library that is imported late
    """Return a scorer for ``GridSearchCV``, ``cross_validate`` and friends.

    It is told the queries by metadata routing, so ``sklearn.set_config(enable_metadata_routing=True)``
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
        ``ties``, ``empty`` and other options of :class:`rankstone.functional.Evaluator`.
    """
    scoring = Scoring(measure, convention=convention, **options)

    def score(y_true: Any, y_pred: Any, qid: Any = None) -> float:  # noqa: ANN401 - arrays
        if qid is None:
            raise BadOption(
                "the scorer is not told the queries",
                fix='fit(X, y, qid=qid), cross_validate(…, params={"qid": qid})',
            )
        return scoring(y_pred, np.asarray(y_true), qid=np.asarray(qid))[str(scoring.one)]

    score.__name__ = str(scoring.one)
    made = needed("metrics").make_scorer(
        score,
        response_method=response_method if isinstance(response_method, str) else tuple(response_method),
        greater_is_better=scoring.higher_is_better(scoring.one),
    )
    if not needed().get_config()["enable_metadata_routing"]:
        raise BadOption(
            "scikit-learn does not hand on the queries",
            fix="sklearn.set_config(enable_metadata_routing=True), before the scorer is made",
        )
    return made.set_score_request(qid=True)


def scorers(
    measures: str | Measure | Sequence[str | Measure],
    **how: Any,  # noqa: ANN401 - as for scorer
) -> dict[str, Any]:
    """Return a scorer for each measure by its name, for ``scoring=``; parameters as for :func:`scorer`."""
    asked = Scoring(measures, **{name: value for name, value in how.items() if name != "response_method"})
    texts = [str(measure) for measure in asked.measures]
    return {text: scorer(text, **how) for text in texts}


@cache
def _grouped_ranker() -> type:
    base: Any = needed("base")
    utils = needed("utils")

    class GroupedRanker(base.RegressorMixin, base.MetaEstimatorMixin, base.BaseEstimator):  # type: ignore[misc]
        """A ranker that takes groups (``LGBMRanker``, ``CatBoostRanker``), made to take ``qid``.

        Cross-validation cuts ``qid`` row by row, and cannot cut sizes of groups.  So rows are sorted by
        query here (those of a query keep their order), and the ranker is given what it takes: ``group``
        (sizes), ``group_id`` or ``qid``.

        Parameters
        ----------
        estimator
            The ranker; its parameters are ``estimator__num_leaves`` and so on.

        Attributes
        ----------
        estimator_
            The ranker, trained.
        """

        __metadata_request__fit = {"qid": True}  # noqa: RUF012 - scikit-learn reads it so

        def __init__(self, estimator: Any) -> None:  # noqa: ANN401 - a ranker
            self.estimator = estimator

        def fit(self, X: Any, y: Any, *, qid: Any = None, **further: Any) -> Any:  # noqa: ANN401, N803
            """Train on rows of queries; ``further`` goes to the ranker's own ``fit``."""
            if qid is None:
                raise BadOption("no queries are given", fix="fit(X, y, qid=qid), a query id for each row")
            qid, y = np.asarray(qid), np.asarray(y)
            if qid.shape != (len(y),):
                raise BadValue("qid does not fit y", given=f"{qid.shape}", expected=f"{(len(y),)}")
            self.estimator_ = base.clone(self.estimator)
            _, query = np.unique(qid, return_inverse=True)
            if (np.diff(query) < 0).any():
                order = np.argsort(query, kind="stable")
                X, y, query = utils._safe_indexing(X, order), y[order], query[order]  # noqa: N806, SLF001
                further = {
                    name: np.asarray(value)[order] if name == "sample_weight" and value is not None else value
                    for name, value in further.items()
                }
            self.estimator_.fit(X, y, **_groups(self.estimator_, query), **further)
            return self

        def predict(self, X: Any) -> Any:  # noqa: ANN401, N803
            """Return the ranker's scores."""
            return self.estimator_.predict(X)

    GroupedRanker.__qualname__, GroupedRanker.__module__ = "GroupedRanker", __name__  # so that it pickles
    return GroupedRanker


def _groups(ranker: Any, query: Any) -> dict[str, Any]:  # noqa: ANN401 - a ranker, the number of each row's query
    """Return the queries of sorted rows in the words that a ranker's ``fit`` knows."""
    takes = signature(ranker.fit).parameters
    ways = {"group": np.bincount(query), "group_id": query, "qid": query}
    known = [way for way in ways if way in takes]
    if not known:
        raise BadOption(f"{type(ranker).__name__}.fit takes no groups", expected=" or ".join(ways))
    return {known[0]: ways[known[0]]}


def needed(module: str = "") -> Any:  # noqa: ANN401 - a module
    """Return scikit-learn, or a module of it; say how to install it where it is missing."""
    try:
        return import_module(f"sklearn.{module}" if module else "sklearn")
    except ImportError as error:
        raise MissingExtra("scikit-learn is not installed", fix="pip install scikit-learn") from error


def __getattr__(name: str) -> type:
    """Make :class:`GroupedRanker` when it is first asked for."""
    if name != "GroupedRanker":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return _grouped_ranker()
