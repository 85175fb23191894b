"""Scores of arrays: values per query, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.functional.device_array import DeviceArray
from rankstone.functional.libraries import Home, home_of
from rankstone.measures.base import Measure, Scored
from rankstone.results import plain_name
from rankstone.scores import uncounted, weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankstone.hits.arrays import Codes

__all__ = ["ArrayScores"]


@dataclass(frozen=True, eq=False, repr=False)
class ArrayScores:
    """Scores of arrays.

    Attributes
    ----------
    queries
        The queries' ids, or their numbers, ``[queries]``.
    by_measure
        For each measure one value a query, where it was computed.
    home
        The library and the device that the scores came from.

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
    home: Home = field(default_factory=lambda: home_of(None))

    @property
    def values(self) -> dict[str, Any]:
        """Values by the measures' texts, float64 ``[queries]``, NaN where there is none.

        Arrays are of the library, and on the device, that the scores came from.
        """
        return {str(measure): self._handed_back(scored.value) for measure, scored in self.by_measure.items()}

    def _handed_back(self, values: Any) -> Any:  # noqa: ANN401 - an array of some library
        return values.data if isinstance(values, DeviceArray) else self.home.back(values)

    @cached_property
    def _near(self) -> dict[Measure, Scored]:
        """The scores in the memory of the host; of those on a device all numbers come at once."""
        afar = {m: scored for m, scored in self.by_measure.items() if isinstance(scored.value, DeviceArray)}
        if not afar:
            return dict(self.by_measure)
        with self.home.exactly():
            columns = [column.astype(np.float64) for scored in afar.values() for column in _columns(scored)]
            together: Any = np.concatenate(columns)
            rows = together.library.to_host(together.data).reshape(len(columns), -1)
        numbers, near = iter(rows), dict(self.by_measure)
        for measure, scored in afar.items():
            value, numerator, denominator, status, *weight = (next(numbers) for _ in _columns(scored))
            near[measure] = Scored(numerator, denominator, value, status.astype(np.int8), *weight)
        return near

    @property
    def status(self) -> dict[str, Codes]:
        """Why each query has the value it has, int8 ``[queries]``: :class:`~rankstone.measures.Status`."""
        return {str(measure): scored.status for measure, scored in self._near.items()}

    def mean(self) -> dict[str, float]:
        """Return one number a measure: the mean over queries, or what its ``agg`` says.

        Queries without a value do not count.  Sums are rounded once, as ``math.fsum`` does.
        """
        return {str(measure): _aggregate(measure, scored) for measure, scored in self._near.items()}

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
        return {
            f"{prefix}{plain_name(name) if plain else name}": value for name, value in self.mean().items()
        }

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {value:.4g}" for name, value in self.mean().items())
        count = len(self.queries)
        return f"ArrayScores of {count:,} {'query' if count == 1 else 'queries'}: {means}"


def _columns(scored: Scored) -> list[NDArray[Any]]:
    further = [] if scored.weight is None else [scored.weight]
    return [scored.value, scored.numerator, scored.denominator, scored.status, *further]


def _aggregate(measure: Measure, scored: Scored) -> float:
    counted = ~np.isin(scored.status, uncounted(spoils=measure.spoils))
    parts = (scored.value, weights(scored), scored.numerator, scored.denominator)
    return measure.aggregate(*(part[counted] for part in parts))
