"""A ranker with ``qid`` from a ranker with groups, in a module of its own: it subclasses scikit-learn."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from rankstone.errors import BadOption, BadValue

__all__ = ["GroupedRanker"]

_BASE: Any = import_module("sklearn.base")
_UTILS: Any = import_module("sklearn.utils")
_VALIDATION: Any = import_module("sklearn.utils.validation")


class GroupedRanker(
    _BASE.RegressorMixin,  # type: ignore[misc]
    _BASE.MetaEstimatorMixin,  # type: ignore[misc]
    _BASE.BaseEstimator,  # type: ignore[misc]
):
    """A wrapper that makes a ranker with groups (``LGBMRanker``, ``CatBoostRanker``) take ``qid``.

    Cross-validation can split ``qid`` by rows, but not sizes of groups.  So rows are sorted by
    query here (those of a query keep their order), and the ranker gets what its ``fit`` takes: ``group``
    (sizes), ``group_id`` or ``qid``.

    Parameters
    ----------
    estimator
        The ranker; its parameters are ``estimator__num_leaves`` and so on.

    Attributes
    ----------
    estimator_
        The ranker, trained.
    n_features_in_, feature_names_in_
        The number of features, and their names if they came from a frame.  A frame to score must
        have these columns in this order.
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - scikit-learn reads it so

    def __init__(self, estimator: Any) -> None:  # noqa: ANN401 - a ranker
        self.estimator = estimator

    def fit(self, X: Any, y: Any, *, qid: Any = None, **further: Any) -> Any:  # noqa: ANN401, N803
        """Train on rows of queries; ``further`` goes to the ranker's own ``fit``."""
        if qid is None:
            raise BadOption(
                "no queries are given",
                fix="fit(X, y, qid=qid), a query id for each row",
            )
        qid = np.asarray(qid)
        y = np.asarray(y)
        if qid.shape != (len(y),):
            raise BadValue(
                "qid does not fit y", given=f"{qid.shape}", expected=f"{(len(y),)}"
            )
        _VALIDATION.validate_data(self, X, skip_check_array=True)
        self.estimator_ = _BASE.clone(self.estimator)
        _, query = np.unique(qid, return_inverse=True)
        if (np.diff(query) < 0).any():
            order = np.argsort(query, kind="stable")
            X, y, query = _UTILS._safe_indexing(X, order), y[order], query[order]  # noqa: N806, SLF001
            further = {
                name: np.asarray(value)[order]
                if name == "sample_weight" and value is not None
                else value
                for name, value in further.items()
            }
        self.estimator_.fit(X, y, **_groups(self.estimator_, query), **further)
        return self

    def predict(self, X: Any) -> Any:  # noqa: ANN401, N803
        """Return the ranker's scores."""
        _VALIDATION.validate_data(
            self, X, reset=False, skip_check_array=True
        )  # not every ranker checks
        return self.estimator_.predict(X)


def _groups(ranker: Any, query: Any) -> dict[str, Any]:  # noqa: ANN401 - a ranker, the number of each row's query
    """Return the queries of sorted rows as the argument that a ranker's ``fit`` takes."""
    takes = signature(ranker.fit).parameters
    ways = {"group": np.bincount(query), "group_id": query, "qid": query}
    known = [way for way in ways if way in takes]
    if not known:
        raise BadOption(
            f"{type(ranker).__name__}.fit takes no groups", expected=" or ".join(ways)
        )
    return {known[0]: ways[known[0]]}
