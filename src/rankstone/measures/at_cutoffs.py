"""A measure over its cutoff: metric@k for many k, and curves read from text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rankstone.errors import BadParameter, UnknownMeasure, printable
from rankstone.measures.core.aggregation import aggregated
from rankstone.measures.core.curve import Curve, Traced
from rankstone.measures.core.definition import MOST_RANKS, Card, Named
from rankstone.measures.core.measure import Measure, Scored, Status
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats
    from rankstone.measures.core.claims import Claims


__all__ = ["DEFAULT_CUTOFFS", "AtK", "Targets", "named_by", "parse_curves", "read_cutoffs", "targets_of"]

#: values to be reached by every measure, or measure → values
Targets = float | Sequence[float] | Mapping[str, float | Sequence[float]]
#: where nobody names cutoffs
DEFAULT_CUTOFFS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
#: a run of at least so many cutoffs is written ``1..5``
_RUN: Final = 3


@dataclass(frozen=True, kw_only=True)
class AtK(Curve):
    """A measure at several cutoffs, from one alignment.

    At each cutoff it is exactly the measure with that cutoff, to the last bit.  ``Success`` gives the
    share of queries whose first relevant document stands at rank k or above: the distribution of the
    first relevant rank.

    >>> print(AtK(measure=parse_measure("nDCG(gain=exp2)@1"), cutoffs=(1, 2, 3, 10)))
    nDCG(gain=exp2)@1..3,10
    """

    family: ClassVar[str] = "curves"
    takes_cutoff: ClassVar[bool] = False
    axes: ClassVar[tuple[str, str]] = ("k", "value")
    card: ClassVar[Card] = Card(
        sentence="How does a measure grow or fall with the depth looked at?",
        formula="M@k for every cutoff k",
        symbols="M: any measure that takes a cutoff",
        example="first relevant documents at ranks 3, 2 and 1: RR@1, @2, @3 = 1/3, 1/2, 11/18",
        span=(None, None),
        sensitive="whatever the measure is sensitive to",
        use="choosing a cutoff, or seeing whether a comparison hangs on the one chosen",
        citation="the measure's",
    )

    measure: Measure
    cutoffs: tuple[int, ...]

    def __post_init__(self) -> None:
        """Put the cutoffs in order, and refuse a measure that takes none."""
        super().__post_init__()
        measure: object = self.measure
        if not isinstance(measure, Measure):
            raise BadParameter(
                f"{measure} is not a measure of a run against judgments, so it has no curve over k"
            )
        if not measure.takes_cutoff:
            raise BadParameter(f"{measure.name} takes no cutoff, so it has no curve over k")
        if measure.unit is not None:
            raise BadParameter(f"{measure.name} has one value a {measure.unit}, not a query: no curve over k")
        if not self.cutoffs or not all(0 < k <= MOST_RANKS for k in self.cutoffs):
            raise BadParameter("cutoffs are ranks, from 1 up", given=str(self.cutoffs))
        object.__setattr__(self, "cutoffs", tuple(sorted(set(self.cutoffs))))
        object.__setattr__(self, "measure", replace(measure, k=self.cutoffs[-1]))

    def __str__(self) -> str:
        return f"{str(self.measure).rpartition('@')[0]}@{_written(self.cutoffs)}"

    @property
    def brings(self) -> frozenset[str]:
        """What alignment must bring beside the hits: what the measure asks for."""
        return self.measure.brings

    @property
    def claims(self) -> Claims:
        """The measure's."""
        return self.measure.claims

    @property
    def judgment_columns(self) -> tuple[str, ...]:
        """Columns of the judgments the measure reads."""
        return self.measure.judgment_columns

    @property
    def query_columns(self) -> tuple[str, ...]:
        """Columns of the query table the measure reads."""
        return self.measure.query_columns

    @property
    def deepest(self) -> int | None:
        """The deepest rank the measure looks at."""
        return self.measure.deepest

    def default_parameters(self) -> dict[str, str]:
        """Return the measure's parameters that the text leaves out."""
        return self.measure.default_parameters()

    def grid(self) -> Floats:
        """Return the cutoffs."""
        return np.array(self.cutoffs, np.float64)

    def summary(self) -> Measure:
        """Return the measure at the deepest cutoff."""
        return self.measure

    def check(self, ties: str, depth: int | None = None, negative: str = "unjudged") -> None:
        """Refuse what the measure refuses."""
        self.measure.check(ties, depth, negative)

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse what the measure refuses."""
        self.measure.check_needs(options)

    @property
    def averages(self) -> bool:
        """True if queries are averaged."""
        return self.measure.agg == "mean"

    def mean(self, value: Floats) -> float:
        """Make one number of the values of queries, the measure's way."""
        return aggregated(self.measure.agg, value) if len(value) else float("nan")

    @cached_property
    def _at_each(self) -> tuple[Measure, ...]:
        return tuple(replace(self.measure, k=k) for k in self.cutoffs)

    def score(self, hits: Hits, empty: str = "zero") -> Traced:
        """Score every query at every cutoff, the deepest first: shallower ones need ever fewer hits."""
        scored: list[Scored] = []
        for k, measure in zip(reversed(self.cutoffs), reversed(self._at_each), strict=True):
            if not measure.claims.looks_deeper:
                hits = hits.shortened(k)
            scored.append(measure.score(hits, empty))
        scored.reverse()
        value = _columns([_counted(one) for one in scored])
        status = scored[-1].status
        traced = Traced(value, status)
        if self.measure.agg == "pooled":
            return traced.as_ratio(
                _columns([s.numerator for s in scored]), _columns([s.denominator for s in scored])
            )
        weights = [s.weight for s in scored if s.weight is not None]
        return traced.weighed(_columns(weights)) if self.measure.agg == "weighted" and weights else traced


def _counted(scored: Scored) -> Floats:
    """Return values with NaN where a query does not count."""
    return np.where(scored.status == Status.dropped, np.nan, scored.value)


def _columns(columns: Sequence[Floats]) -> Floats:
    return np.column_stack(columns)


def _written(cutoffs: Sequence[int]) -> str:
    """Write cutoffs as briefly as they can be read back: ``1..10,20,50``."""
    runs = [[k for _, k in run] for _, run in groupby(enumerate(cutoffs), lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0]}..{run[-1]}" if len(run) >= _RUN else ",".join(map(str, run)) for run in runs)


def read_cutoffs(text: str) -> tuple[int, ...]:
    """Read cutoffs: numbers and ranges, divided by commas.

    >>> read_cutoffs("1..4,10,100")
    (1, 2, 3, 4, 10, 100)
    """
    found: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(?P<low>[0-9]{1,12})(?:\.\.(?P<high>[0-9]{1,12}))?\s*", part)
        low, high = (int(span["low"]), int(span["high"] or span["low"])) if span else (0, 0)
        if not 0 < low <= high < low + _MOST_CUTOFFS:
            raise BadParameter(
                f"{printable(part)!r} is no cutoff",
                given=printable(text),
                expected="ranks from 1 up and ranges of them: 1..10,20,50,100",
            )
        found += range(low, high + 1)
    return tuple(sorted(set(found)))


#: a curve has a value for every query at every cutoff
_MOST_CUTOFFS: Final = 100_000
_CUT: Final = re.compile(r"(?P<measure>[^@]+)@(?P<cutoffs>[0-9]+(?:\.\.[0-9]+|,)[0-9.,]*)$", re.DOTALL)
_ITEM: Final = re.compile(r"(?:\([^()]*\)|\{[^{}]*\}|,(?=[0-9])|[^\s,(){}])+")


def parse_curves(
    curves: str | Curve | Measure | Iterable[str | Curve | Measure],
    cutoffs: str | int | Sequence[int] | None = None,
    unless_said: Sequence[int] = DEFAULT_CUTOFFS,
) -> tuple[Curve, ...]:
    """Read curves from text or a list; several texts may stand in one, divided by blanks or commas.

    Parameters
    ----------
    curves
        ``"PR"``, ``"PR(interp=trec9) ROC(negatives=judged)"``, ``"nDCG@1..100"``, ``"R@1,5,10 RR"``.
    cutoffs
        For measures whose text names none, such as ``"1..10,20"`` or ``[1, 5]``.
    unless_said
        The same, where nobody says.

    Raises
    ------
    UnknownMeasure, BadParameter
        Naming what is allowed.

    Examples
    --------
    >>> [str(curve) for curve in parse_curves("PR nDCG(gain=exp2)@1,5,10 RR", cutoffs=(1, 2))]
    ['PR', 'nDCG(gain=exp2)@1,5,10', 'RR@1,2']
    """
    if isinstance(curves, (str, Curve, Measure)):
        curves = [curves]
    if isinstance(cutoffs, (str, int)):
        cutoffs = read_cutoffs(str(cutoffs))
    found: dict[Curve, bool] = {}
    for item in curves:
        texts = _ITEM.findall(item) if isinstance(item, str) else [item]
        found.update(_curve(text, cutoffs, unless_said) for text in texts)
    if not found:
        raise UnknownMeasure("no curve given", fix='name some: "PR nDCG@1..100"')
    if cutoffs is not None and not any(found.values()):
        raise BadParameter(
            f"cutoffs are for measures that name none, and {' '.join(map(str, found))} takes none",
            given=f"k = {_written(cutoffs)}",
            fix="leave them out, or name a measure to be traced over them: nDCG",
        )
    return tuple(found)


def named_by(text: str, curves: Iterable[Curve]) -> list[AtK]:
    """Return the curves over k that a text names, with its cutoffs or without.

    >>> [str(curve) for curve in named_by("MRR", parse_curves("PR RR@1..3 nDCG@1..3"))]
    ['RR@1..3']
    """
    over_k = [curve for curve in curves if isinstance(curve, AtK)]
    return [curve for curve in over_k if _curve(text, None, curve.cutoffs)[0] == curve]


def targets_of(curves: Iterable[Curve], targets: Targets) -> list[tuple[AtK, float]]:
    """Return every curve over k with a value that it shall reach, in the order of the curves.

    Parameters
    ----------
    curves
        What is traced.
    targets
        Values for every curve over k, or measure → values; the empty name stands for every measure.

    Raises
    ------
    BadParameter
        When no curve over k is there, or none of a measure that is named.
    """
    over_k = [curve for curve in curves if isinstance(curve, AtK)]
    if not over_k:
        raise BadParameter(
            "a value is reached at a cutoff, and no measure is traced over its cutoff",
            fix="name one: RR, or R@1..100",
        )
    wanted: dict[AtK, list[float]] = {curve: [] for curve in over_k}
    for text, values in targets.items() if isinstance(targets, Mapping) else [("", targets)]:
        named = named_by(text, over_k) if text else over_k
        if not named:
            raise BadParameter(
                f"{printable(text)} is not among the measures traced over their cutoffs",
                expected=" ".join(map(str, over_k)),
            )
        for curve in named:
            wanted[curve] += _numbers(values, curve if text else None)
    return [(curve, value) for curve, values in wanted.items() for value in dict.fromkeys(values)]


def _numbers(values: float | Sequence[float], of: AtK | None) -> list[float]:
    """Return values to be reached; those meant for one measure lie in its range."""
    numbers = [float(value) for value in ([values] if isinstance(values, (int, float)) else values)]
    if not all(map(math.isfinite, numbers)):
        raise BadParameter("a value to be reached is a number", given=", ".join(map(str, numbers)))
    low, high = (None, None) if of is None or of.measure.agg == "sum" else of.measure.span
    for number in numbers:
        if (low is not None and number < low) or (high is not None and number > high):
            raise BadParameter(
                f"{of} has no value {number:g}",
                expected=f"{'-∞' if low is None else f'{low:g}'} … {'∞' if high is None else f'{high:g}'}",
            )
    return numbers


def _curve(
    item: str | Curve | Measure, cutoffs: Sequence[int] | None, unless_said: Sequence[int]
) -> tuple[Curve, bool]:
    """Return a curve, and whether it is traced over cutoffs that its text does not name."""
    if isinstance(item, Curve):
        return item, False
    many = _CUT.match(item) if isinstance(item, str) else None
    if many is not None:
        own = read_cutoffs(many["cutoffs"])
        return _over(parse_measure(f"{many['measure']}@{own[-1]}"), own), False
    spread = tuple(cutoffs or unless_said)
    try:
        read = parse_measure(item)
    except BadParameter:
        if (cut := _with_cutoff(str(item), max(spread))) is None:
            raise
        return _over(cut, spread), True
    if isinstance(read, Curve):
        return read, False
    if read.k is not None:
        raise BadParameter(
            f"{read} is one point of a curve", fix=f"write {str(read).rpartition('@')[0]}@1..{read.k}"
        )
    return _over(read, spread), True


def _with_cutoff(text: str, k: int) -> Named | None:
    """Read a measure that is nothing without a cutoff, such as AP(denom=k)."""
    try:
        return parse_measure(f"{text}@{k}")
    except BadParameter:
        return None


def _over(measure: object, cutoffs: tuple[int, ...]) -> AtK:
    if not isinstance(measure, Measure):
        raise BadParameter(
            f"{measure} has no curve over k",
            expected="a measure of a run against judgments that takes a cutoff",
        )
    return AtK(measure=measure, cutoffs=cutoffs)
