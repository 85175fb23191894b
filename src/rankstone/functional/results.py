"""Scores of arrays: values per query, and what they come to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.scores import uncounted, weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rankstone.hits.arrays import Codes
    from rankstone.measures.base import Measure, Scored

__all__ = ["ArrayScores"]


def _as_it_is(values: NDArray[Any]) -> Any:  # noqa: ANN401 - an array of some library
    return values


@dataclass(frozen=True, eq=False, repr=False)
class ArrayScores:
    """Scores of arrays.

    Attributes
    ----------
    queries
        The queries' ids, or their numbers, ``[queries]``.
    by_measure
        For each measure one value a query.

    Examples
    --------
    >>> from rankstone import functional
    >>> scores = functional.evaluate([[0.9, 0.5], [0.3, 0.8]], [[1, 0], [1, 0]], "RR P@1")
    >>> scores
    ArrayScores of 2 queries: RR 0.75, P@1 0.5
    >>> scores.values["RR"]
    array([1. , 0.5])
    """

    queries: NDArray[Any]
    by_measure: Mapping[Measure, Scored]
    _hand_back: Callable[[NDArray[Any]], Any] = _as_it_is

    @property
    def values(self) -> dict[str, Any]:
        """Values by the measures' texts, float64 ``[queries]``, NaN where there is none.

        Arrays are of the library, and on the device, that the scores came from.
        """
        return {str(measure): self._hand_back(scored.value) for measure, scored in self.by_measure.items()}

    @property
    def status(self) -> dict[str, Codes]:
        """Why each query has the value it has, int8 ``[queries]``: :class:`~rankstone.measures.Status`."""
        return {str(measure): scored.status for measure, scored in self.by_measure.items()}

    def mean(self) -> dict[str, float]:
        """Return one number a measure: the mean over queries, or what its ``agg`` says.

        Queries without a value do not count.  Sums are rounded once, as ``math.fsum`` does.
        """
        return {str(measure): _aggregate(measure, scored) for measure, scored in self.by_measure.items()}

    def to_flat_dict(self, prefix: str = "", *, plain: bool = False) -> dict[str, float]:
        """Return :meth:`mean` for trackers of experiments.

        Parameters
        ----------
        prefix
            Stands before every name: ``val/``.
        plain
            Names of letters, digits and ``_``, as MLflow wants them: ``nDCG_at_10``.

        Examples
        --------
        >>> from rankstone import functional
        >>> functional.evaluate([0.9, 0.5], [1, 0], "nDCG@10").to_flat_dict("val/", plain=True)
        {'val/nDCG_at_10': 1.0}
        """
        return {f"{prefix}{_plain(name) if plain else name}": value for name, value in self.mean().items()}

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {value:.4g}" for name, value in self.mean().items())
        count = len(self.queries)
        return f"ArrayScores of {count:,} {'query' if count == 1 else 'queries'}: {means}"


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name.replace("@", "_at_")).replace("__at_", "_at_")


def _aggregate(measure: Measure, scored: Scored) -> float:
    counted = ~np.isin(scored.status, uncounted(spoils=measure.spoils))
    parts = (scored.value, weights(scored), scored.numerator, scored.denominator)
    return measure.aggregate(*(part[counted] for part in parts))
