"""What linear rankers have in common: a weight for each feature; a score is the weighted sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.errors import MissingExtra, UsageError
from rankstone.ltr.estimator_inputs import (
    checked_features,
    checked_labels,
    in_cross_validation,
    in_order,
    listed,
    names_of,
    places_of,
    products,
    queries_of,
)
from rankstone.ltr.predictions import mean_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats
    from rankstone.ltr.estimator_inputs import Queries
    from rankstone.measures.core.measure import Measure

try:
    from sklearn.base import BaseEstimator
except ImportError as error:  # pragma: no cover - tests have it
    raise MissingExtra(
        "scikit-learn is not installed", fix='pip install "rankstone[ltr]"'
    ) from error


class LinearRanker(BaseEstimator):  # type: ignore[misc] # scikit-learn ships no types
    """A ranker whose scores are ``X @ coef_``.

    Attributes
    ----------
    coef_
        float64 ``[features]``, of the features as they came.
    n_features_in_, feature_names_in_
        How many features there were, and their names where a frame brought them.  Then columns of a frame
        to score are found by name, in any order; arrays must have the order of training.
    trained_queries_
        The queries that were learnt from: ``query_id``, ``rows``, ``labels`` (their sum).
    """

    #: what scikit-learn's metadata routing passes on by default
    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - scikit-learn reads it so
    __metadata_request__score = {"qid": True}  # noqa: RUF012 - the same

    coef_: Floats

    def predict(self, X: object) -> Floats:
        """Return a score for each row, float64 ``[rows]``; higher is better."""
        if not hasattr(self, "coef_"):
            raise UsageError(
                f"this {type(self).__name__} is not trained yet",
                fix="call fit(X, y, qid=…)",
            )
        places = places_of(self, X)
        return products(
            in_order(checked_features(X, len(self.coef_)), places), self.coef_
        )

    def score(
        self,
        X: object,
        y: object,
        qid: object = None,
        measure: str | Measure = "nDCG@10",
    ) -> float:
        """Return the mean of a measure over queries, tied documents in any order.

        Raises
        ------
        UsageError
            A query that was learnt from comes again with other rows: a fold has cut it in two.
        """
        scores = self.predict(X)
        labels = checked_labels(y, len(scores))
        queries = queries_of(qid, len(scores))
        self._refuse_cut_queries(labels, queries)
        return mean_of(scores, labels, queries, measure)

    def _remember(self, features: object, labels: Floats, queries: Queries) -> None:
        """Keep the names of a frame's columns, and which queries were learnt from."""
        self.__dict__.pop("feature_names_in_", None)
        if (names := names_of(features)) is not None:
            self.feature_names_in_ = np.array(names, object)
        self.trained_queries_ = _census(labels, queries)

    def _refuse_cut_queries(self, labels: Floats, queries: Queries) -> None:
        now = _census(labels, queries)
        both = now.join(self.trained_queries_, on="query_id", suffix="_then")
        apart = (pl.col("labels") - pl.col("labels_then")).abs() > 1e-9 * (
            1 + pl.col("labels").abs()
        )
        cut = both.filter((pl.col("rows") != pl.col("rows_then")) | apart)[
            "query_id"
        ].to_list()
        if cut:
            raise UsageError(
                f"{len(cut):,} of {counted(len(now), 'query')} {'was' if len(cut) == 1 else 'were'} learnt "
                f"from with other rows: {listed(cut)}",
                expected="all rows of a query either to learn from or to be scored",
                fix=f"{in_cross_validation()}\nif they are other queries, give them other ids",
            )


def _census(labels: Floats, queries: Queries) -> pl.DataFrame:
    """Return how many rows each query has, and the sum of their labels."""
    total = np.bincount(queries.query, queries.arranged(labels), len(queries))
    ids = queries.names.cast(pl.String)
    return pl.DataFrame({"query_id": ids, "rows": queries.lengths, "labels": total})


def checked_training(
    features: object, y: object, qid: object
) -> tuple[Any, Floats, Queries]:
    """Return features, labels and queries to learn from, checked."""
    matrix = checked_features(features)
    return matrix, checked_labels(y, matrix.shape[0]), queries_of(qid, matrix.shape[0])


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse an unknown value of a parameter."""
    from rankstone.errors import one_of

    one_of(name, value, known)


def check_number(
    name: str, value: object, *, above: float = 0.0, whole: bool = False
) -> None:
    """Refuse a parameter that is not a finite number above a bound."""
    import math
    from numbers import Integral, Real

    kind = Integral if whole else Real
    if (
        isinstance(value, bool)
        or not isinstance(value, kind)
        or not above < float(value) < math.inf
    ):
        raise UsageError(
            f"{name}={value!r}",
            expected=f"a {'whole ' if whole else ''}number above {above:g}",
        )
