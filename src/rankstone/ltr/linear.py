"""What linear rankers have in common: a weight for each feature; a score is the weighted sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.errors import MissingExtra, UsageError
from rankstone.ltr.inputs import checked_features, checked_labels, products, queries_of
from rankstone.ltr.scoring import mean_of

try:
    from sklearn.base import BaseEstimator
except ImportError as error:  # pragma: no cover - tests have it
    raise MissingExtra("scikit-learn is not installed", fix='pip install "rankstone[ltr]"') from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.arrays import Floats
    from rankstone.ltr.inputs import Queries
    from rankstone.measures import Measure

__all__ = ["LinearRanker", "check_choice", "check_number", "checked_training"]


class LinearRanker(BaseEstimator):  # type: ignore[misc] # scikit-learn ships no types
    """A ranker whose scores are ``X @ coef_``.

    Attributes
    ----------
    coef_
        float64 ``[features]``, of the features as they came.
    n_features_in_, feature_names_in_
        How many features there were, and their names where a frame brought them.
    """

    coef_: Floats

    def predict(self, X: object) -> Floats:
        """Return a score for each row, float64 ``[rows]``; higher stands first."""
        if not hasattr(self, "coef_"):
            raise UsageError(f"this {type(self).__name__} is not trained yet", fix="call fit(X, y, qid=…)")
        return products(checked_features(X, len(self.coef_)), self.coef_)

    def score(
        self,
        X: object,
        y: object,
        qid: object = None,
        measure: str | Measure = "nDCG@10",
    ) -> float:
        """Return the mean of a measure over queries, tied documents in any order."""
        scores = self.predict(X)
        labels = checked_labels(y, len(scores))
        return mean_of(scores, labels, queries_of(qid, len(scores)), measure)

    def _remember_names(self, features: object) -> None:
        names: Sequence[Any] | None = getattr(features, "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            import numpy as np

            self.feature_names_in_ = np.array(list(names), object)


def checked_training(features: object, y: object, qid: object) -> tuple[Any, Floats, Queries]:
    """Return features, labels and queries to learn from, checked."""
    found = checked_features(features)
    return found, checked_labels(y, found.shape[0]), queries_of(qid, found.shape[0])


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse a parameter's value that is none of those known."""
    from rankstone.errors import one_of

    one_of(name, value, known)


def check_number(name: str, value: object, *, above: float = 0.0, whole: bool = False) -> None:
    """Refuse a parameter that is no finite number above a bound."""
    import math
    from numbers import Integral, Real

    kind = Integral if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind) or not above < float(value) < math.inf:
        raise UsageError(f"{name}={value!r}", expected=f"a {'whole ' if whole else ''}number above {above:g}")
