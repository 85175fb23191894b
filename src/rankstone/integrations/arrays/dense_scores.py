"""Scores of lists on a device: measures are recorded once, and computed from the recording from then on."""

from __future__ import annotations

from functools import cached_property, partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from rankstone._basics import Record
from rankstone.errors import RankstoneError
from rankstone.evaluation.scores import uncounted
from rankstone.integrations.arrays.device_arrays import DeviceArray
from rankstone.integrations.arrays.device_tape import Node, Step
from rankstone.measures.core.measure import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.integrations.arrays.array_libraries import Home
    from rankstone.integrations.arrays.dense_lists import DenseLists
    from rankstone.integrations.arrays.device_arrays import Data, Library
    from rankstone.measures.core.measure import Measure, Measures

#: tolerance for values outside their range, since sums are rounded
_ROUNDING: Final = 1e-9


def tried(
    score: Callable[[Hits, str], Scored], hits: Hits, empty: str
) -> Scored | None:
    """Return scores; ``None`` for what is not supported on the device."""
    try:
        return score(hits, empty)
    except RankstoneError:
        raise
    except (TypeError, ValueError, RuntimeError):
        return None  # computed elsewhere, or a better error


class Recording:
    """Measures of some lists, recorded.

    Parameters
    ----------
    lists
        The lists.
    rows
        Their scores, as a table of the library.
    depth, whole
        As :meth:`DenseLists.select` takes them.
    """

    def __init__(
        self, lists: DenseLists, rows: Data, depth: int | None, *, whole: bool
    ) -> None:
        self.lists = lists
        self.tape = lists.tape
        self._entry = self.tape.given(rows, fixed=False)
        self._selection = lists.select(self._entry, depth, whole=whole)
        self.scored: dict[Measure, Scored] = {}

    def measures(self, measures: Measures, empty: str) -> None:
        """Record the measures that lists in tables can be scored by."""
        for measure in measures:
            scored = tried(measure.score, self._selection.hits, empty)
            if scored is not None:
                self.scored[measure] = scored

    def finish(self, measures: Measures, rows: Data) -> dict[int, Data]:
        """Record sums over queries for these measures, and return the results for the recorded scores."""
        self.scored = {measure: self.scored[measure] for measure in measures}
        tape = self.tape
        library = tape.library
        self.summary = self._summary()
        columns: list[Data] = []
        for scored in self.scored.values():
            columns += map(tape.own, columns_of(scored))
        nodes = [column for column in columns if isinstance(column, Node)]
        self._columns = sorted({node.place for node in nodes if not node.fixed})

        steps = tape.steps_for([self.summary, *nodes])
        needed = {place for step in steps for place in step.operands}
        recorded = tape.values()
        kept = enumerate(tape.forget())
        self._fixed = {place: value for place, value in kept if value is not None}
        self._used = {
            place: value for place, value in self._fixed.items() if place in needed
        }

        ends = (self._entry.place, self.summary.place, *self._columns)
        key = [(step.key, step.operands, step.result) for step in steps]
        run = partial(_repeated, ends, steps)
        self._run = library.repeated((ends, *key), run)
        results = {place: recorded[place] for place in ends[1:]}
        if any(value is None for value in results.values()):
            return self.again(rows)
        return results

    def _summary(self) -> Node:
        """Return sums, least and largest values of all measures, doubts, and who is outside of means."""
        tape = self.tape
        library = tape.library
        shown = self._stacked([scored.value for scored in self.scored.values()])
        outside = list(map(self._outside, self.scored, self.scored.values()))
        left_out: list[Data] = []
        if any(tape.everywhere(mask) is not False for mask in outside):
            masks = self._stacked(outside)
            shown = tape.call("where", masks, 0.0, shown)
            left_out = [tape.call("sum", masks, axis=1)]
        extremes = [tape.call(name, shown, axis=1) for name in ("sum", "min", "max")]

        def joined(*parts: Data) -> Data:
            flat = [part.reshape(-1) for part in parts]
            numbers = [library.cast(part, np.dtype(float)) for part in flat]
            return library.function("concatenate", (tuple(numbers),), {})

        doubts = self._selection.doubts
        return tape.do(joined, "summary", *extremes, *doubts, *left_out)

    def _stacked(self, columns: Sequence[Data]) -> Node:
        """Return one row a measure."""
        library = self.tape.library

        def stacked(*rows: Data) -> Data:
            values = library.function("concatenate", (rows,), {})
            return values.reshape(len(rows), -1)

        return self.tape.do(stacked, "rows", *map(self._whole, columns))

    def _whole(self, column: Data) -> Node:
        """Return one value a query, also where all queries have the same."""
        return self.tape.broadcast(column, (self.lists.queries,))

    def _outside(self, measure: Measure, scored: Scored) -> Data:
        """Return which queries are not part of the mean."""
        status: Data = scored.status
        codes = uncounted(undefined_propagates=measure.undefined_propagates)
        masks = [status == int(code) for code in codes]
        return self.tape.own(reduce(or_, masks))

    @property
    def kind(self) -> str:
        """What repeats the recording: a graph of a GPU, a compiled function, or one operation after another."""
        return str(getattr(self._run, "kind", "a compiled function"))

    def again(self, rows: Data) -> dict[int, Data]:
        """Return the results for other scores, by number."""
        summary, columns = self._run(self._used, rows)
        return {**columns, self.summary.place: summary}

    def of(self, measure: Measure, values: Mapping[int, Data]) -> list[Data]:
        """Return the columns of a measure's scores, as the library has them."""
        library = self.tape.library
        shape = (self.lists.queries,)
        columns = []
        for column in columns_of(self.scored[measure]):
            data = self.tape.own(column)
            if isinstance(data, Node):
                value = values.get(data.place, self._fixed.get(data.place))
            else:
                value = library.own(data)
            if tuple(value.shape) != shape:
                value = library.function("broadcast_to", (value,), {"shape": shape})
            columns.append(value)
        return columns


def _repeated(
    ends: tuple[int, ...], steps: Sequence[Step], fixed: Mapping[int, Data], rows: Data
) -> tuple[Data, dict[int, Data]]:
    """Return the summary and the columns: nothing here keeps labels, as compiled functions stay."""
    entry, summary, *columns = ends
    values = {**fixed, entry: rows}
    for step in steps:
        operands = [values[place] for place in step.operands]
        values[step.result] = step.act(*operands)
    return values[summary], {place: values[place] for place in columns}


def columns_of(scored: Scored) -> list[Data]:
    """Return the arrays of scores, in the order in which ``Scored`` takes them."""
    columns = [scored.numerator, scored.denominator, scored.value, scored.status]
    if scored.weight is not None:
        columns.append(scored.weight)
    return columns


#: recordings, and the arrays that each of them has for the scores
RecordedParts: TypeAlias = list[tuple[Recording, dict[int, "Data"]]]


class Summary(Record):
    """What the host learns about the scores of some lists.

    Attributes
    ----------
    total, least, most
        The sum over queries, the smallest and the largest value, float64 ``[measures]``.
    nan
        Whether a score is NaN.
    goes_on
        Whether equal scores go on below the ranks selected.
    left_out
        How many queries are not in a mean, ``[measures]``; empty if all are.
    """

    total: Floats
    least: Floats
    most: Floats
    nan: bool
    goes_on: bool
    left_out: Floats

    @classmethod
    def of(cls, numbers: Floats, measures: int) -> Summary:
        """Read the numbers, as :meth:`Recording._summary` lays them down."""
        doubts = 3 * measures
        total, least, most = numbers[:doubts].reshape(3, measures)
        nan, goes_on, *left_out = numbers[doubts:]
        return cls(
            total=total,
            least=least,
            most=most,
            nan=bool(nan),
            goes_on=bool(goes_on),
            left_out=np.array(left_out),
        )


class DenseScores:
    """The scores of all lists on a device, of which a few numbers are copied to the host on request.

    Parameters
    ----------
    compute
        Returns the recordings, and their arrays for the scores; ``whole`` sorts whole lists.
    check
        Raises the error for a score that is NaN, or a value out of range.
    home
        The library and the device.
    """

    def __init__(
        self,
        compute: Callable[..., RecordedParts],
        check: Callable[[], object],
        home: Home,
    ) -> None:
        self._compute = compute
        self._check = check
        self._home = home
        self._parts = compute(whole=False)
        self.measures: tuple[Measure, ...] = ()
        if self._parts:
            recording, _ = self._parts[0]
            self.measures = tuple(recording.scored)

    @property
    def kind(self) -> str:
        """What repeats the recordings."""
        return self._parts[0][0].kind

    @cached_property
    def _settled(self) -> list[Summary]:
        """The summary of each part: one copy to the host.

        Raises
        ------
        BadValue
            When a score is NaN.
        """
        summaries = self._summaries()
        if any(summary.nan for summary in summaries):
            self._check()
        if any(summary.goes_on for summary in summaries):
            self._parts = self._compute(whole=True)
            summaries = self._summaries()
        lowest = self._parts[0][0].lists.lowest
        least = np.min([summary.least for summary in summaries], axis=0)
        most = np.max([summary.most for summary in summaries], axis=0)
        for measure, low, high in zip(self.measures, least, most, strict=True):
            if not _possible(measure, lowest, low, high):
                self._check()
                break
        return summaries

    def _summaries(self) -> list[Summary]:
        parts = [values[part.summary.place] for part, values in self._parts]
        library = self._home.library()
        with self._home.exactly():
            together = _joined(library, parts)
        numbers = np.array(together.tolist(), np.float64)
        ends = np.cumsum([len(part) for part in parts])
        rows = np.split(numbers, ends[:-1])
        return [Summary.of(row, len(self.measures)) for row in rows]

    def settle(self) -> None:
        """Look whether a score is NaN, or equal ones go on below the ranks selected."""
        self._settled  # noqa: B018 - it is read

    @cached_property
    def means(self) -> dict[Measure, float]:
        """Means over queries, of measures that are averaged."""
        total = np.zeros(len(self.measures))
        queries = np.zeros(len(self.measures))
        for summary, (part, _) in zip(self._settled, self._parts, strict=True):
            total += summary.total
            queries += part.lists.queries
            if len(summary.left_out):
                queries -= summary.left_out
        with np.errstate(invalid="ignore"):
            means = (total / queries).tolist()
        by_measure = zip(self.measures, means, strict=True)
        return {measure: mean for measure, mean in by_measure if measure.agg == "mean"}

    def scored(self, measure: Measure) -> Scored:
        """Return a measure's scores of all queries, on the device."""
        self.settle()
        library = self._home.library()
        parts = [part.of(measure, values) for part, values in self._parts]
        columns = [_joined(library, column) for column in zip(*parts, strict=True)]
        if self._order is not None:
            order = library.own(self._order)
            columns = [column[order] for column in columns]
        wrapped: list[Data] = [DeviceArray(column, library) for column in columns]
        return Scored(*wrapped)

    @cached_property
    def _order(self) -> Ints | None:
        """Where each query is among those of all parts, one after another; ``None`` for in order."""
        lists = np.concatenate([part.lists.lists for part, _ in self._parts])
        if (np.diff(lists) > 0).all():
            return None
        return np.argsort(lists)


def _joined(library: Library, parts: Sequence[Data]) -> Data:
    """Return arrays one after the other."""
    if len(parts) == 1:
        return parts[0]
    return library.function("concatenate", (parts,), {})


def _possible(measure: Measure, lowest: float, least: float, most: float) -> bool:
    """Return whether values are in the range of the measure's card, under the lowest grade."""
    low, high = measure.span
    floor = -np.inf
    ceiling = np.inf
    if low is not None and lowest >= 0:
        floor = min(low, 0.0) - _ROUNDING
    if high is not None:
        ceiling = max(high, 0.0) + _ROUNDING
    inside = floor <= least and most <= ceiling
    return bool(inside and np.isfinite([least, most]).all())
