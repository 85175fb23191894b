"""A measure at many cutoffs as a curve, and the parsing of curves from text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from rankstone._basics import exact
from rankstone.errors import BadParameter, UnknownMeasure, printable
from rankstone.hits.budgets import Budget
from rankstone.measures.core.aggregation import aggregated
from rankstone.measures.core.curve import Curve, CurveValues
from rankstone.measures.core.definition import MOST_RANKS, Card, Named
from rankstone.measures.core.measure import Measure, Scored, Status
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone._basics import Floats
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.claims import Claims

#: values to reach for every measure, or measure → values
Targets = float | Sequence[float] | Mapping[str, float | Sequence[float]]
#: cutoffs where none are given
DEFAULT_CUTOFFS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
#: at least so many cutoffs in a row are written ``1..5``
_RUN: Final = 3
#: a curve has a value for every query at every cutoff
_MOST_CUTOFFS: Final = 100_000
_CUT: Final = re.compile(
    r"(?P<measure>[^@]+)@(?P<cutoffs>[0-9]+(?:\.\.[0-9]+|,)[0-9.,]*)$", re.DOTALL
)
_BUDGETS: Final = re.compile(
    r"(?P<measure>.+)@(?P<cost>[^\W\d]\w*)\((?P<limits>[0-9.]+(?:,[0-9.]+)+)(?:,\s*crossing=(?P<crossing>\w+))?\)"
)
_ITEM: Final = re.compile(r"(?:\([^()]*\)|\{[^{}]*\}|,(?=[0-9])|[^\s,(){}])+")


@dataclass(frozen=True, kw_only=True)
class AtK(Curve, family="curves"):
    """A measure at several cutoffs, from one alignment.

    At each cutoff it is exactly the measure with that cutoff, to the last bit.  ``Success`` gives the
    share of queries whose first relevant document is at rank k or above: the distribution of the
    first relevant rank.

    >>> print(AtK(measure=parse_measure("nDCG(gain=exp2)@1"), cutoffs=(1, 2, 3, 10)))
    nDCG(gain=exp2)@1..3,10
    """

    takes_cutoff = False
    card = Card(
        sentence="How does a measure grow or fall with the cutoff?",
        formula="M@k for every cutoff k",
        symbols="M: any measure that takes a cutoff",
        example="first relevant documents at ranks 3, 2 and 1: RR@1, @2, @3 = 1/3, 1/2, 11/18",
        span=(None, None),
        sensitive="whatever the measure is sensitive to",
        use="choosing a cutoff, or checking whether a comparison depends on the one chosen",
        citation="the measure's",
    )

    measure: Measure
    cutoffs: tuple[float, ...]
    #: what the cutoffs are limits of, where they are no ranks
    budget: Budget | None = None

    def __post_init__(self) -> None:
        """Sort the cutoffs, and refuse a measure that takes none."""
        super().__post_init__()
        measure: object = self.measure
        if not isinstance(measure, Measure):
            raise BadParameter(
                f"{measure} needs no judgments, so it has no curve over k"
            )
        if not measure.takes_cutoff:
            raise BadParameter(
                f"{measure.name} takes no cutoff, so it has no curve over k"
            )
        if measure.unit is not None:
            raise BadParameter(
                f"{measure.name} has one value per {measure.unit}, so it has no curve over k"
            )
        if not self.cutoffs or not all(0 < k <= MOST_RANKS for k in self.cutoffs):
            raise BadParameter(
                "cutoffs are ranks of 1 or more", given=str(self.cutoffs)
            )
        whole = (int(k) if k % 1 == 0 else k for k in self.cutoffs)
        object.__setattr__(self, "cutoffs", tuple(sorted(set(whole))))
        object.__setattr__(self, "measure", self._at(self.cutoffs[-1]))

    def __str__(self) -> str:
        head = str(self.measure).rpartition("@")[0]
        if self.budget is None:
            return f"{head}@{_ranges(self.cutoffs)}"
        limits = ",".join(map(exact, self.cutoffs))
        return f"{head}@{replace(self.budget, limit=1)}".replace("(1", f"({limits}")

    @property
    def axes(self) -> tuple[str, str]:  # type: ignore[override]
        """What the cutoffs are, and the value."""
        return ("k" if self.budget is None else self.budget.cost), "value"

    @property
    def budgets(self) -> tuple[Budget, ...]:  # type: ignore[override]
        """The budgets that the curve is made of."""
        return (
            ()
            if self.budget is None
            else tuple(replace(self.budget, limit=k) for k in self.cutoffs)
        )

    @property
    def costs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the run that the measure adds up."""
        return self.measure.costs

    @property
    def ideal_has_costs(self) -> bool:  # type: ignore[override]
        """True if the norm is a sum over the best list."""
        return self.measure.ideal_has_costs

    def _at(self, k: float) -> Measure:
        """Return the measure with one of the cutoffs."""
        return self.measure @ (  # type: ignore[operator]
            k if self.budget is None else replace(self.budget, limit=k)
        )

    @property
    def claims(self) -> Claims:
        """The claims of the measure."""
        return self.measure.claims

    @property
    def query_columns(self) -> tuple[str, ...]:
        """Columns of the query table the measure reads."""
        return self.measure.query_columns

    def default_parameters(self) -> dict[str, str]:
        """Return the parameters of the measure that its text leaves out."""
        return self.measure.default_parameters()

    def grid(self) -> Floats:
        """Return the cutoffs."""
        return np.array(self.cutoffs, np.float64)

    def summary(self) -> Measure:
        """Return the measure at the deepest cutoff."""
        return self.measure

    @property
    def averages(self) -> bool:
        """True if queries are averaged."""
        return self.measure.agg == "mean"

    def mean(self, value: Floats) -> float:
        """Return the aggregate of the values of queries, as the measure defines it."""
        return aggregated(self.measure.agg, value) if len(value) else float("nan")

    def score(self, hits: Hits, empty: str = "zero") -> CurveValues:
        """Score every query at every cutoff, the deepest first, since shallower ones need fewer hits."""
        scored: list[Scored] = []
        for k in reversed(self.cutoffs):
            measure = self._at(k)
            if self.budget is None and not measure.claims.looks_deeper:
                hits = hits.shortened(int(k))
            scored.append(measure.score(hits, empty))
        scored.reverse()
        values = [
            np.where(scores.status == Status.dropped, np.nan, scores.value)
            for scores in scored
        ]
        curve = CurveValues(np.column_stack(values), scored[-1].status)
        if self.measure.agg == "pooled":
            numerator = np.column_stack([scores.numerator for scores in scored])
            denominator = np.column_stack([scores.denominator for scores in scored])
            return curve.as_ratio(numerator, denominator)
        weights = [scores.weight for scores in scored if scores.weight is not None]
        if self.measure.agg == "weighted" and weights:
            return curve.weighted(np.column_stack(weights))
        return curve


def _ranges(cutoffs: Sequence[float]) -> str:
    """Return cutoffs as a text with ranges: ``1..10,20,50``."""
    runs = [
        [int(k) for _, k in run]
        for _, run in groupby(enumerate(cutoffs), lambda pair: pair[1] - pair[0])
    ]
    return ",".join(
        f"{run[0]}..{run[-1]}" if len(run) >= _RUN else ",".join(map(str, run))
        for run in runs
    )


def read_cutoffs(text: str) -> tuple[int, ...]:
    """Parse cutoffs: numbers and ranges, separated by commas.

    >>> read_cutoffs("1..4,10,100")
    (1, 2, 3, 4, 10, 100)
    """
    cutoffs: list[int] = []
    for part in text.split(","):
        span = re.fullmatch(
            r"\s*(?P<low>[0-9]{1,12})(?:\.\.(?P<high>[0-9]{1,12}))?\s*", part
        )
        low, high = (
            (int(span["low"]), int(span["high"] or span["low"])) if span else (0, 0)
        )
        if not 0 < low <= high < low + _MOST_CUTOFFS:
            raise BadParameter(
                f"{printable(part)!r} is not a cutoff",
                given=printable(text),
                expected="ranks of 1 or more, and ranges of them: 1..10,20,50,100",
            )
        cutoffs += range(low, high + 1)
    return tuple(sorted(set(cutoffs)))


def parse_curves(
    curves: str | Curve | Measure | Iterable[str | Curve | Measure],
    cutoffs: str | int | Sequence[int] | None = None,
    unless_said: Sequence[int] = DEFAULT_CUTOFFS,
) -> tuple[Curve, ...]:
    """Parse curves from a text or a list; a text may hold several, separated by blanks or commas.

    Parameters
    ----------
    curves
        ``"PR"``, ``"PR(interp=trec9) ROC(negatives=judged)"``, ``"nDCG@1..100"``, ``"R@1,5,10 RR"``.
    cutoffs
        For measures whose text has none, such as ``"1..10,20"`` or ``[1, 5]``.
    unless_said
        The same where ``cutoffs`` is not given.

    Raises
    ------
    UnknownMeasure, BadParameter
        With the values that are allowed.

    Examples
    --------
    >>> [str(curve) for curve in parse_curves("PR nDCG(gain=exp2)@1,5,10 RR", cutoffs=(1, 2))]
    ['PR', 'nDCG(gain=exp2)@1,5,10', 'RR@1,2']
    """
    if isinstance(curves, (str, Curve, Measure)):
        curves = [curves]
    if isinstance(cutoffs, (str, int)):
        cutoffs = read_cutoffs(str(cutoffs))
    parsed: dict[Curve, bool] = {}
    for item in curves:
        texts = _ITEM.findall(item) if isinstance(item, str) else [item]
        parsed.update(_curve(text, cutoffs, unless_said) for text in texts)
    if not parsed:
        raise UnknownMeasure("no curve given", fix='name some: "PR nDCG@1..100"')
    if cutoffs is not None and not any(parsed.values()):
        raise BadParameter(
            f"cutoffs are for measures without one, and {' '.join(map(str, parsed))} takes none",
            given=f"k = {_ranges(cutoffs)}",
            fix="leave them out, or add a measure that takes cutoffs: nDCG",
        )
    return tuple(parsed)


def curves_of(text: str, curves: Iterable[Curve]) -> list[AtK]:
    """Return the curves over k of the measure in a text, with its cutoffs or without.

    >>> [str(curve) for curve in curves_of("MRR", parse_curves("PR RR@1..3 nDCG@1..3"))]
    ['RR@1..3']
    """

    def is_of(curve: AtK) -> bool:
        other, bare = _curve(text, None, DEFAULT_CUTOFFS)
        if bare and isinstance(other, AtK):
            other = replace(other, cutoffs=curve.cutoffs, budget=curve.budget)
        return other == curve

    return [curve for curve in curves if isinstance(curve, AtK) and is_of(curve)]


def targets_of(curves: Iterable[Curve], targets: Targets) -> list[tuple[AtK, float]]:
    """Return every curve over k with each value that it should reach, in the order of the curves.

    Parameters
    ----------
    curves
        The curves.
    targets
        Values for every curve over k, or measure → values; the empty name means every measure.

    Raises
    ------
    BadParameter
        When there is no curve over k, or none of a measure in ``targets``.
    """
    over_k = [curve for curve in curves if isinstance(curve, AtK)]
    if not over_k:
        raise BadParameter(
            "targets are for curves over cutoffs, and there is none",
            fix="name one: RR, or R@1..100",
        )
    targets_by_curve: dict[AtK, list[float]] = {curve: [] for curve in over_k}
    for text, values in (
        targets.items() if isinstance(targets, Mapping) else [("", targets)]
    ):
        chosen = curves_of(text, over_k) if text else over_k
        if not chosen:
            raise BadParameter(
                f"{printable(text)} has no curve over cutoffs here",
                expected=" ".join(map(str, over_k)),
            )
        for curve in chosen:
            targets_by_curve[curve] += _numbers(values, curve if text else None)
    return [
        (curve, value)
        for curve, values in targets_by_curve.items()
        for value in dict.fromkeys(values)
    ]


def _numbers(values: float | Sequence[float], of: AtK | None) -> list[float]:
    """Return target values; those of one measure must lie in its range."""
    numbers = [
        float(value)
        for value in ([values] if isinstance(values, (int, float)) else values)
    ]
    if not all(map(math.isfinite, numbers)):
        raise BadParameter(
            "a target is a finite number", given=", ".join(map(str, numbers))
        )
    low, high = (
        (None, None) if of is None or of.measure.agg == "sum" else of.measure.span
    )
    for number in numbers:
        if (low is not None and number < low) or (high is not None and number > high):
            raise BadParameter(
                f"{of} has no value {number:g}",
                expected=f"{'-∞' if low is None else f'{low:g}'} … {'∞' if high is None else f'{high:g}'}",
            )
    return numbers


def _curve(
    item: str | Curve | Measure,
    cutoffs: Sequence[float] | None,
    unless_said: Sequence[float],
) -> tuple[Curve, bool]:
    """Return a curve, and whether its cutoffs come from outside its text."""
    if isinstance(item, Curve):
        return item, False
    budgets = _BUDGETS.fullmatch(item) if isinstance(item, str) else None
    if budgets is not None:
        limits = tuple(map(float, budgets["limits"].split(",")))
        budget = Budget(budgets["cost"], limits[0], budgets["crossing"] or "drop")  # type: ignore[arg-type]
        return _over(parse_measure(budgets["measure"]), limits, budget), False
    many = _CUT.match(item) if isinstance(item, str) else None
    if many is not None:
        listed = read_cutoffs(many["cutoffs"])
        return _over(parse_measure(f"{many['measure']}@{listed[-1]}"), listed), False
    spread = tuple(cutoffs or unless_said)
    try:
        read = parse_measure(item)
    except BadParameter:
        if (cut := _with_cutoff(str(item), max(spread))) is None:
            raise
        return _over(cut, spread), True
    if isinstance(read, Curve):
        return read, False
    if isinstance(read, Measure) and read.budget is not None:
        low, high = (exact(read.budget.limit / part) for part in (2, 1))
        several = str(read.budget).replace(f"({high}", f"({low},{high}")
        fix = f"write {str(read).rpartition('@')[0]}@{several}"
        raise BadParameter(f"{read} is one point of a curve", fix=fix)
    if read.k is not None:
        raise BadParameter(
            f"{read} is one point of a curve",
            fix=f"write {str(read).rpartition('@')[0]}@1..{read.k}",
        )
    return _over(read, spread), True


def _with_cutoff(text: str, k: float) -> Named | None:
    """Parse a measure that needs a cutoff, such as AP(denom=k)."""
    try:
        return parse_measure(f"{text}@{k}")
    except BadParameter:
        return None


def _over(
    measure: object, cutoffs: tuple[float, ...], budget: Budget | None = None
) -> AtK:
    if not isinstance(measure, Measure):
        raise BadParameter(
            f"{measure} has no curve over k",
            expected="a measure of a run against judgments that takes a cutoff",
        )
    return AtK(measure=measure, cutoffs=cutoffs, budget=budget)
