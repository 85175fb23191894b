"""What a measure is: a frozen value that turns hits into contributions.

The one rule: ``score(q) = Σ contribution(q, hit) / norm(q)``.  A measure says what its contributions
and its norm are; summing, dividing, the treatment of queries without a relevant document and the
mean over queries are the same for all and live here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from rankstone.errors import BadOption, BadParameter, nearest
from rankstone.words import queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.hits.ragged import Bools, Cutoff, Floats, Hits, Ints

__all__ = ["Card", "Contributions", "Measure", "Scored", "Status", "Threshold", "parameter"]


class Status(IntEnum):
    """Why a query has the value it has.

    ``ok``; ``missing`` (judged, not answered by the run); ``no_relevant`` (no relevant document
    exists: the option ``empty`` decided); ``no_ideal`` (the norm is zero although relevant documents
    exist: 0); ``undefined`` (no value).
    """

    ok = 0
    missing = 1
    no_relevant = 2
    no_ideal = 3
    undefined = 4
    dropped = 5


@dataclass(frozen=True, slots=True)
class Threshold:
    """When a grade counts as relevant: at or above ``level``, or above it when ``strict``.

    >>> Threshold(2)(np.array([1.0, 2.0, 3.0])).tolist()
    [False, True, True]
    """

    level: float = 0.0
    strict: bool = False

    def __call__(self, grade: Floats) -> Bools:
        """Return which grades are relevant."""
        return grade > self.level if self.strict else grade >= self.level

    def __str__(self) -> str:
        return f'">{self.level:g}"' if self.strict else f"{self.level:g}"


#: no list is longer; a larger cutoff is a slip
MOST_RANKS: Final = 10**12
ANY_GAIN: Final = Threshold(0.0, strict=True)


@dataclass(frozen=True, eq=False)
class Contributions:
    """The table a score is the sum of.

    Attributes
    ----------
    hits
        float64 ``[hits]``: what each hit adds.
    norm
        float64 ``[queries]``: what the sum is divided by.
    missed
        float64 ``[queries]``: added by judged documents that were not retrieved.
    unjudged
        float64 ``[queries]``: added by retrieved documents nobody judged, and by padding.
    """

    hits: Floats
    norm: Floats
    missed: Floats | None = None
    unjudged: Floats | None = None


@dataclass(frozen=True, eq=False)
class Scored:
    """One measure's scores of some queries; arrays ``[queries]``, ``status`` as :class:`Status`."""

    numerator: Floats
    denominator: Floats
    value: Floats
    status: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Card:
    """What a reader must know about a measure; documentation and command line print the same card.

    Attributes
    ----------
    sentence
        What it tells, in words a product person understands.
    formula
        Ranks start at 1; every symbol is named.
    symbols
        Names of the symbols.
    example
        Small enough for paper.
    needs
        What has to be known.
    span
        Lowest and highest value; ``None`` for no bound.
    undefined
        When there is no value, and what is done then.
    peers
        Other tool → how its number of this name differs.
    sensitive
        To ties, unjudged documents, depth.
    use
        When to use it and when not.
    citation
        Author, year, where.
    """

    sentence: str
    formula: str
    symbols: str
    example: str
    needs: str = "judgments"
    span: tuple[float, float | None] = (0.0, 1.0)
    undefined: str = "no relevant document: the option `empty` decides (default 0, counted)"
    peers: Mapping[str, str] = field(default_factory=dict)
    sensitive: str
    use: str
    citation: str
    since: str = "0.1"


def parameter(
    default: Any,  # noqa: ANN401 - any kind of parameter
    doc: str,
    *choices: str,
    low: float | None = None,
    above: float | None = None,
) -> Any:  # noqa: ANN401 - a dataclass field stands for its value
    """Declare a parameter of a measure: default, meaning, and the values allowed."""
    return field(default=default, metadata={"doc": doc, "choices": choices, "low": low, "above": above})


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A ranking measure: a value that compares, hashes, prints and parses back to itself.

    Parameters
    ----------
    k
        Only the first ``k`` ranks count; ``None`` for the whole list.
    agg
        How queries become one number.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    card: ClassVar[Card]
    #: whether the option ``empty`` says what a query without a relevant document is worth
    needs_relevant: ClassVar[bool] = True
    #: what a zero norm means when relevant documents exist
    zero_norm: ClassVar[Status] = Status.no_ideal
    takes_cutoff: ClassVar[bool] = True

    k: int | None = parameter(None, "cutoff: ranks below it do not count", low=1)  # and MOST_RANKS
    agg: str = parameter("mean", "how queries become one number", "mean", "sum", "median", "gmean", "pooled")

    def __post_init__(self) -> None:
        """Check every parameter against its declaration."""
        for declared in fields(self):
            _check(self, declared.name, declared.metadata)
        if self.k is not None and not self.takes_cutoff:
            raise BadParameter(f"{self.name} takes no cutoff", given=f"@{self.k}")

    # -- what a measure says of itself -------------------------------------------------------------
    def contributions(self, hits: Hits) -> Contributions:
        """Return what each hit contributes and what the sum is divided by."""
        raise NotImplementedError

    def relevant_count(self, hits: Hits) -> Ints | None:
        """Return R, int64 ``[queries]``; ``None`` when relevance plays no part."""
        return hits.relevant_count(ANY_GAIN)

    @property
    def closed_under_ties(self) -> bool:
        """Whether the expectation over tied documents has a closed form here."""
        return True

    @property
    def extremal_under_ties(self) -> bool:
        """Whether best-first and worst-first orders of tied documents give the extremes."""
        return True

    @property
    def negative_is_least(self) -> bool:
        """Whether a grade below zero never counts more than an unjudged document."""
        return True

    @property
    def looks_deeper(self) -> bool:
        """Whether hits below the cutoff matter, in the norm say."""
        return False

    @property
    def promotion_helps(self) -> bool:
        """Whether moving a better document up never lowers the score (a law)."""
        return True

    @property
    def span(self) -> tuple[float, float | None]:
        """Lowest and highest possible value; ``None`` for no bound."""
        return self.card.span

    # -- what is the same for all ------------------------------------------------------------------
    def check(self, ties: str, depth: int | None = None, negative: str = "unjudged") -> None:
        """Refuse options of alignment under which this measure's value is not known."""
        if ties == "expected" and not self.closed_under_ties:
            raise BadOption(
                f"{self} has no closed form for the mean over tied documents",
                fix="choose another rule for ties: docid_desc, input, …",
            )
        if ties in ("best", "worst") and not (
            self.extremal_under_ties
            and (depth is None or not self.looks_deeper)
            and (negative != "keep" or self.negative_is_least)
        ):
            raise BadOption(
                f"ties={ties!r}: for {self} no order of tied documents is proven extremal",
                fix="choose another rule for ties: docid_desc, expected, …",
            )

    def limit(self, _hits: Hits) -> Cutoff | None:
        """Return the cutoff: one number, int64 ``[queries]``, or ``None`` for whole lists."""
        return self.k

    def score(self, hits: Hits, empty: str = "zero") -> Scored:
        """Sum the contributions and divide by the norm; ``empty`` as in the alignment options."""
        if self.k is not None and not self.looks_deeper:
            hits = hits.down_to(self.k)
        parts = self.contributions(hits)
        numerator = hits.total(parts.hits)
        for pseudo_row in (parts.missed, parts.unjudged):
            if pseudo_row is not None:
                numerator = numerator + pseudo_row
        norm = parts.norm
        value = np.divide(numerator, norm, out=np.zeros(hits.queries), where=norm > 0)
        status = np.zeros(hits.queries, np.int64)
        status[norm <= 0] = self.zero_norm  # below zero: an ideal of negative grades is none
        self._settle_empty(hits, empty, value, status)
        status[~hits.found & (status != Status.undefined) & (status != Status.dropped)] = Status.missing
        value[status == Status.undefined] = np.nan
        return Scored(numerator, norm, value, status)

    def _settle_empty(self, hits: Hits, empty: str, value: Floats, status: Ints) -> None:
        relevant = self.relevant_count(hits)
        if relevant is None:
            return
        none = relevant == 0
        if empty == "error" and none.any():
            raise BadOption(
                f"{queries(int(none.sum()))} without a relevant document for {self}",
                fix="choose what they are worth: empty=zero, one, undefined or drop",
            )
        if empty == "drop":
            status[none] = Status.dropped
        if not self.needs_relevant:
            return
        if empty in ("zero", "one"):
            status[none] = Status.no_relevant
            value[none & hits.found] = 1.0 if empty == "one" else 0.0
        elif empty == "undefined":
            status[none] = Status.undefined

    def aggregate(self, scored: Scored, counted: Bools) -> float:
        """Make one number of the counted queries; NaN where there is none."""
        value = scored.value[counted]
        if not len(value):
            return math.nan
        if self.agg == "pooled":
            norm = math.fsum(scored.denominator[counted].tolist())
            return math.fsum(scored.numerator[counted].tolist()) / norm if norm else math.nan
        return AGGREGATIONS[self.agg](value)

    # -- text ----------------------------------------------------------------------------------------
    def changed(self) -> dict[str, Any]:
        """Return the parameters (the cutoff aside) that are not at their default."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "k" and getattr(self, f.name) != f.default
        }

    def unsaid(self) -> dict[str, str]:
        """Return the parameters that the canonical text leaves out: ``{"nDCG.gain": "linear"}``."""
        said = {"k", "agg", *self.changed()}
        silent = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in said}
        if silent.get("base") is not None and getattr(self, "discount", "jk") != "jk":
            del silent["base"]
        return {f"{self.name}.{name}": _text(value) for name, value in silent.items() if value is not None}

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={_text(value)}" for name, value in self.changed().items())
        cutoff = "" if self.k is None else f"@{self.k}"
        return f"{self.name}{f'({inside})' if inside else ''}{cutoff}"


#: the least value that enters a geometric mean, as in trec_eval's gm_map
SMALLEST_IN_GMEAN: Final = 1e-5


def _mean(value: Floats) -> float:
    return math.fsum(value.tolist()) / len(value)


def _gmean(value: Floats) -> float:
    logs = (math.log(max(v, SMALLEST_IN_GMEAN)) for v in value.tolist())
    return math.exp(math.fsum(logs) / len(value))


AGGREGATIONS: Final = {
    "mean": _mean,
    "sum": lambda value: math.fsum(value.tolist()),
    "median": lambda value: float(np.median(value)),
    "gmean": _gmean,
}


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def _check(measure: Measure, name: str, rules: Mapping[str, Any]) -> None:
    """Check one parameter: a number in its range, or one of its choices."""
    value = getattr(measure, name)
    choices: Sequence[str] = rules.get("choices", ())
    if choices and isinstance(value, str):
        if value not in choices:
            close = nearest(value, choices, n=1)
            raise BadParameter(
                f"{measure.name}: {name}={value!r} is not known",
                expected=", ".join(choices),
                fix=f"did you mean {name}={close[0]}?" if close else None,
            )
        return
    low, above = rules.get("low"), rules.get("above")
    if value is None or (low is None and above is None):
        return
    whole = name == "k"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise BadParameter(f"{measure.name}: {name}={value!r} is no {'whole ' if whole else ''}number")
    if whole and value > MOST_RANKS:
        raise BadParameter(
            f"{measure.name}: {name}={value!r} is out of range", expected=f"up to {MOST_RANKS:,}"
        )
    if (low is not None and not value >= low) or (above is not None and not value > above):
        bound = f"{low:g} or more" if low is not None else f"more than {above:g}"
        raise BadParameter(
            f"{measure.name}: {name}={value!r} is out of range",
            expected=f"{'a whole number, ' if whole else ''}{bound}",
        )
