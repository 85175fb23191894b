"""Scores of arrays: values per query, and what they come to."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record, queries
from rankstone.evaluation.outside_means import outside_means
from rankstone.evaluation.scores import RunScores, measure_rows, uncounted, weights
from rankstone.hits.alignment_audit import not_in_means
from rankstone.integrations.arrays.array_libraries import Home, home_of
from rankstone.integrations.arrays.dense_scores import columns_of
from rankstone.integrations.arrays.device_arrays import DeviceArray
from rankstone.measures.core.measure import Measure, Scored
from rankstone.tables.results import Result, plain_name
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankstone._basics import NamedValues, Names
    from rankstone.hits.list_arrays import Codes
    from rankstone.integrations.arrays.dense_scores import DenseScores


class ArrayScores(Result, Record):
    """Scores of arrays.

    Attributes
    ----------
    queries
        The queries' ids, or their numbers, ``[queries]``.
    by_measure
        For each measure one value a query, where it was computed; without those in ``dense``.
    measures
        All measures, in order.
    home
        The library and the device that the scores came from.
    alignment
        The options of alignment, by name.
    doubts
        What deserves attention about the labels, one sentence each.
    dense
        Scores on a device, of which nothing has been copied to the host yet.

    Examples
    --------
    >>> from rankstone.integrations import arrays as functional
    >>> scores = functional.evaluate([[0.9, 0.5], [0.3, 0.8]], [[1, 0], [1, 0]], "RR P@1")
    >>> scores
    ArrayScores of 2 queries: RR 0.75, P@1 0.5
    >>> scores.values["RR"]
    array([1. , 0.5])
    """

    queries: NDArray[Any]
    by_measure: Mapping[Measure, Scored]
    measures: tuple[Measure, ...]
    home: Home = field(default_factory=lambda: home_of(None))
    alignment: Mapping[str, Any] = field(default_factory=lambda: {"empty": "zero"})
    doubts: Names = ()
    dense: DenseScores | None = None

    @cached_property
    def _outside(self) -> NamedValues:
        return outside_means(self._near, self.alignment)

    @property
    def warnings(self) -> Names:
        """What deserves attention, one sentence each: the labels, and queries outside means with the reason.

        >>> from rankstone.integrations import arrays
        >>> arrays.evaluate([0.9, 0.5, 0.4], [1, 0, 1], "AUC(negatives=judged)", sizes=[2, 1]).warnings
        ('1 query not in the mean of AUC(negatives=judged): no relevant document, or no negative',)
        """
        undefined, dropped = map(not_in_means, self._outside.values())
        return (*self.doubts, *undefined, *dropped)

    @property
    def values(self) -> NamedValues:
        """Values by the measures' texts, float64 ``[queries]``, NaN where there is none.

        Arrays are of the library, and on the device, that the scores came from.
        """
        return {
            str(measure): self._handed_back(scored.value)
            for measure, scored in self._where_computed.items()
        }

    def _handed_back(self, values: Any) -> Any:  # noqa: ANN401 - an array of some library
        if isinstance(values, DeviceArray):
            return values.data
        return self.home.back(values)

    @cached_property
    def _where_computed(self) -> dict[Measure, Scored]:
        """The scores of all measures, on a device or in the memory of the host."""
        if self.dense is None:
            return dict(self.by_measure)
        with self.home.exactly():
            dense = {m: self.dense.scored(m) for m in self.dense.measures}
        return {m: dense.get(m) or self.by_measure[m] for m in self.measures}

    @cached_property
    def _near(self) -> dict[Measure, Scored]:
        """The scores in the memory of the host; of those on a device all numbers come at once."""
        afar = {
            m: scored
            for m, scored in self._where_computed.items()
            if isinstance(scored.value, DeviceArray)
        }
        if not afar:
            return self._where_computed
        with self.home.exactly():
            columns: list[Any] = []
            for scored in afar.values():
                columns += columns_of(scored)
            doubles = [column.astype(np.float64) for column in columns]
            together: Any = np.concatenate(doubles)
            rows = self.home.host(together.data).reshape(len(columns), -1)
        numbers = iter(rows)
        near = dict(self._where_computed)
        for measure, scored in afar.items():
            own = [next(numbers) for _ in columns_of(scored)]
            numerator, denominator, value, status, *weight = own
            codes = status.astype(np.int8)
            near[measure] = Scored(numerator, denominator, value, codes, *weight)
        return near

    @property
    def status(self) -> dict[str, Codes]:
        """Why each query has the value it has, int8 ``[queries]``: :class:`~rankstone.measures.Status`."""
        return {str(measure): scored.status for measure, scored in self._near.items()}

    def mean(self, *, exact: bool = False) -> dict[str, float]:
        """Return one number a measure: the mean over queries, or what its ``agg`` says.

        Queries without a value do not count.  Sums are rounded once, as ``math.fsum`` does.

        Parameters
        ----------
        exact
            Round sums once on a device, too: all values are copied to the host.  Otherwise the device sums
            in float64, with the same bits for the same shape.
        """
        means = {} if self.dense is None or exact else self.dense.means
        numbers = {}
        for measure in self.measures:
            mean = means.get(measure)
            if mean is None:
                mean = _aggregate(measure, self._near[measure])
            numbers[str(measure)] = mean
        return numbers

    def to_flat_dict(
        self, prefix: str = "", *, plain: bool = False
    ) -> dict[str, float]:
        """Return :meth:`mean` for trackers of experiments.

        Parameters
        ----------
        prefix
            Stands before every name: ``val/``.
        plain
            Names of letters, digits and ``_``, as MLflow wants them: ``nDCG_at_10``.

        Examples
        --------
        >>> from rankstone.integrations import arrays as functional
        >>> functional.evaluate([0.9, 0.5], [1, 0], "nDCG@10").to_flat_dict("val/", plain=True)
        {'val/nDCG_at_10': 1.0}
        """
        return {
            f"{prefix}{plain_name(name) if plain else name}": value
            for name, value in self.mean().items()
        }

    def to_frame(self) -> pl.DataFrame:
        """Return one row per query and measure, as :attr:`rankstone.Scores.per_query` has them for a run."""
        run = RunScores(pl.Series(self.queries), self._near)
        rows = [
            measure_rows("", run, measure, scored)
            for measure, scored in self._near.items()
        ]
        return pl.concat(rows).drop("run").collect()

    def to_dict(self) -> dict[str, float | None]:
        """Return :meth:`mean`, with ``None`` where there is none."""
        return {
            name: None if np.isnan(value) else value
            for name, value in self.mean().items()
        }

    def report(self) -> NamedValues:
        """Return the number of queries, the means, and who is not part of them."""
        return {
            "queries": len(self.queries),
            "means": self.to_dict(),
            **self._outside,
            "warnings": list(self.warnings),
        }

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the means as a sheet."""
        means = self.to_dict()
        frame = pl.DataFrame(
            {
                "measure": list(means),
                "mean": pl.Series(means.values(), dtype=pl.Float64),
            }
        )
        return Sheet(
            "",
            parts=(Table.of(frame, digits=digits),),
            notes=(repr(self).partition(":")[0], *self.warnings),
        )

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {value:.4g}" for name, value in self.mean().items())
        head = f"ArrayScores of {queries(len(self.queries))}: {means}"
        return "; ".join((head, *self.warnings))


def _aggregate(measure: Measure, scored: Scored) -> float:
    counted = ~np.isin(
        scored.status, uncounted(undefined_propagates=measure.undefined_propagates)
    )
    parts = (scored.value, weights(scored), scored.numerator, scored.denominator)
    return measure.aggregate(*(part[counted] for part in parts))
