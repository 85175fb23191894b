"""What every measure is, whatever it looks at: a frozen value with a name, parameters and a card.

Measures of one ranking against judgments, of two rankings and of whole runs share this: they compare,
hash, print as a canonical text and are read back from it, and print the same card everywhere.
"""

from __future__ import annotations

import math
import re
from dataclasses import (
    FrozenInstanceError,
    dataclass,
    field,
    fields,
    is_dataclass,
    replace,
)
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self, TypeVar

import numpy as np

from rankstone._basics import exact
from rankstone.errors import BadOption, BadParameter, did_you_mean, printable
from rankstone.hits.budgets import Budget
from rankstone.measures.core.aggregation import (
    aggregated,
    percentile,
    ratio_of_sums,
    share_trimmed,
)
from rankstone.measures.core.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.hits.alignment_options import AlignmentOptions

    class RelevantFrom:
        """The type of a parameter ``rel``: a grade or a threshold is given, a threshold is kept."""

        def __get__(self, measure: object, kind: object) -> Threshold: ...
        def __set__(self, measure: object, value: Threshold | float) -> None: ...

    class OptionalRelevantFrom:
        """The same for a parameter that may be ``None``."""

        def __get__(self, measure: object, kind: object) -> Threshold | None: ...
        def __set__(self, measure: object, value: Threshold | float | None) -> None: ...


#: lowest and highest value; ``None`` where there is no bound
Span = tuple[float | None, float | None]
#: bound of parameters without a bound of their own: squares and products of such numbers stay finite
_LARGEST: Final = 1e9
#: the fields that are written behind an @
CUTOFFS: Final = ("k", "budget")
#: no list is longer; a larger cutoff is a typing error
MOST_RANKS: Final = 10**12
Kind = TypeVar("Kind")
#: words that can be parsed from a measure's text
_WORD: Final = re.compile(r"[^\s,{}()\"'=@](?:[^,{}()\"'=@]*[^\s,{}()\"'=@])?")
_BOUNDS: Final = {
    "low": "{:g} or more",
    "above": "more than {:g}",
    "below": "less than {:g}",
    "high": "up to {:g}",
}


@dataclass(frozen=True, slots=True)
class Threshold:
    """When a grade counts as relevant: at or above ``level``, or above it when ``strict``.

    >>> import numpy as np
    >>> Threshold(2)(np.array([1.0, 2.0, 3.0])).tolist()
    [False, True, True]
    """

    level: float = 0.0
    strict: bool = False

    def __post_init__(self) -> None:
        """Refuse a level that is not a finite number."""
        if not math.isfinite(self.level):
            raise BadParameter(
                f"rel={self.level} is not a threshold", expected="a grade, such as 2"
            )

    def __call__(self, grade: Floats) -> Bools:
        """Return which grades are relevant."""
        return grade > self.level if self.strict else grade >= self.level

    def __str__(self) -> str:
        return f'">{exact(self.level)}"' if self.strict else exact(self.level)


ANY_GAIN: Final = Threshold(0.0, strict=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Card:
    """The description of a measure that documentation and command line print.

    Attributes
    ----------
    sentence
        What it measures, in words that a product manager understands.
    formula
        Ranks start at 1; every symbol is named.
    symbols
        What the symbols mean.
    example
        An example small enough for pencil and paper.
    needs
        The data it needs.
    span
        Lowest and highest value; ``None`` for no bound.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    undefined
        When there is no value, and what happens then.
    peers
        Other program → how its number of this name differs.
    sensitive
        What the value is sensitive to: ties, unjudged documents, depth.
    use
        When to use it and when not.
    scale
        What a step of the value means, and whether equal steps mean the same anywhere.
    citation
        Author, year, where.
    """

    sentence: str
    formula: str
    symbols: str
    example: str
    needs: str = "judgments"
    span: Span = (0.0, 1.0)
    direction: str = "higher"
    undefined: str = (
        "no relevant document: the option `empty` decides (default 0, counted)"
    )
    peers: Mapping[str, str] = field(default_factory=dict)
    sensitive: str
    use: str
    scale: str = "that equal steps are worth the same is not shown"
    citation: str
    since: str = "0.1"


def parameter(
    default: Any,  # noqa: ANN401 - any kind of parameter
    doc: str,
    *choices: str | Sequence[str],
    low: float | None = None,
    above: float | None = None,
    below: float | None = None,
    high: float | None = None,
    needed: str | None = None,
    word: bool = False,
    whole: bool = False,
    needs_k: tuple[str, ...] = (),
    needs_candidates: tuple[str, ...] = (),
) -> Any:  # noqa: ANN401 - a dataclass field in place of its value
    """Declare a parameter of a measure: default, meaning, and the values allowed.

    Parameters
    ----------
    default
        The default value; ``None`` for a required or an optional parameter.
    doc
        What it means, in a few words.
    *choices
        The words allowed, or one sequence of them to which users may add.
    low, above, below, high
        Bounds of a number: ``≥ low``, ``> above``, ``< below``, ``≤ high``; ±1e9 on a side without a bound.
    needed
        For a required parameter: the fix to suggest where it is missing.
    word
        True for a name that users choose: a column, a group.
    whole
        True if the number must be a whole number.
    needs_k
        The words that need a cutoff.
    needs_candidates
        The words that need the size of the catalogue, the option ``candidates``.
    """
    words = choices[0] if choices and not isinstance(choices[0], str) else choices
    number = isinstance(default, (int, float)) and not isinstance(default, bool)
    if number or any(bound is not None for bound in (low, above, below, high)):
        low = -_LARGEST if low is None and above is None else low
        high = _LARGEST if high is None and below is None else high
    rules = {
        "doc": doc,
        "choices": words,
        "low": low,
        "above": above,
        "below": below,
        "high": high,
    }
    rules |= {"needed": needed, "word": word, "whole": whole, "needs_k": needs_k}
    return field(
        default=default, metadata={**rules, "needs_candidates": needs_candidates}
    )


class _MeasureType(type):
    """The metaclass of measures: a class with a cutoff after it is a measure, ``nDCG @ 10``."""

    def __matmul__(cls: type[Kind], k: int | Budget | str) -> Kind:
        return cls(**_cut(k))


class _Frozen:
    """Refuses every assignment, also in classes without parameters of their own, which are not decorated."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")


@dataclass(frozen=True, kw_only=True)
class Named(_Frozen, metaclass=_MeasureType):
    """A frozen value with a name, parameters, a canonical text and a card.

    >>> import rankstone
    >>> print(rankstone.nDCG @ 10, rankstone.AP(rel=2) @ 10)
    nDCG@10 AP(rel=2)@10
    """

    name: ClassVar[str]
    family: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    card: ClassVar[Card]
    #: the command that computes it, for messages of other commands
    computed_by: ClassVar[str] = "rankstone eval QRELS RUN"
    takes_cutoff: ClassVar[bool] = True
    #: what it needs of judgments, runs and further tables, by a file and class in ``evaluation.side_inputs``
    side_input: ClassVar[str] = ""
    #: texts of typical measures for documentation and tests, where the bare name is not enough
    examples: ClassVar[tuple[str, ...]] = ()

    k: int | None = parameter(
        None, "cutoff: ranks below it do not count", low=1, high=MOST_RANKS
    )

    def __post_init__(self) -> None:
        """Check every parameter against its declaration; numbers of NumPy become those of Python."""
        for declared in fields(self):
            object.__setattr__(
                self,
                declared.name,
                _normalized(declared.name, getattr(self, declared.name)),
            )
            _check(self, declared.name, declared.metadata, declared.default)
        if self.k is not None and not self.takes_cutoff:
            raise BadParameter(f"{self.name} takes no cutoff", given=f"@{self.k}")

    def __init_subclass__(cls, *, family: str | None = None) -> None:
        """Name a measure after its class, set its family, and refuse a claim that would have no effect."""
        super().__init_subclass__()
        cls.family = family or cls.family
        if "card" in vars(cls) and "name" not in vars(cls):
            cls.name = cls.__name__
        for name in Claims.__dataclass_fields__.keys() & vars(cls).keys():
            raise BadParameter(
                f"{cls.__name__}.{name} has no effect",
                fix=f"write claims = Claims({name}=…) in the class",
            )

    @property
    def span(self) -> Span:
        """Lowest and highest possible value; ``None`` for no bound."""
        return self.card.span

    @property
    def deepest(self) -> int | None:
        """The deepest rank it looks at; ``None`` for whole lists."""
        return self.k

    @property
    def claims(self) -> Claims:
        """Return what it claims under its parameters; the base class has the defaults."""
        return Claims()

    def changed(self) -> dict[str, Any]:
        """Return the parameters (except the cutoff) that differ from their defaults."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in CUTOFFS and getattr(self, f.name) != f.default
        }

    @property
    def inactive_parameters(self) -> frozenset[str]:
        """Parameters without an effect under the others: the base of a logarithm that is not used."""
        return frozenset()

    def default_parameters(self) -> dict[str, str]:
        """Return the parameters that the canonical text leaves out: ``{"nDCG.gain": "linear"}``."""
        left_out = {*CUTOFFS, "agg", *self.changed(), *self.inactive_parameters}
        values = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in left_out
        }
        return {
            f"{self.name}.{name}": _text(value)
            for name, value in values.items()
            if value is not None
        }

    def __matmul__(self, k: int | Budget | str) -> Self:
        other = {"budget": None} if hasattr(self, "budget") else {}
        return replace(self, **({"k": None} | other | _cut(k)))

    def check_needs(self, options: AlignmentOptions) -> None:
        """Refuse options that lack what the measure needs, before any work."""
        for declared in fields(self):
            value = getattr(self, declared.name)
            if options.candidates is None and value in declared.metadata.get(
                "needs_candidates", ()
            ):
                raise BadOption(
                    f"{self} needs to know how many documents a query could have retrieved",
                    fix="name their number: --candidates N (in Python candidates=N)",
                )

    @property
    def label(self) -> str:
        """The name by which it was requested, as ``HR@10`` for what is Success@10: the head of its column."""
        return vars(self).get("_label") or str(self)

    def __str__(self) -> str:
        inside = ", ".join(
            f"{name}={_text(value)}" for name, value in self.changed().items()
        )
        cutoffs = [
            f"@{cut}"
            for cut in (getattr(self, name, None) for name in CUTOFFS)
            if cut is not None
        ]
        return f"{self.name}{f'({inside})' if inside else ''}{''.join(cutoffs)}"


@dataclass(frozen=True, kw_only=True)
class PerQuery(Named):
    """A measure with one value per query.

    Parameters
    ----------
    k
        Only the first ``k`` ranks count; ``None`` for the whole list.
    agg
        How queries become one number.
    """

    #: the column of the query table that groups queries into the units of the mean; ``None``: each query is
    #: one
    unit: ClassVar[str | None] = None
    #: True if the mean is undefined as soon as one query is; otherwise such queries are left out
    undefined_propagates: ClassVar[bool] = False

    agg: str = parameter(
        "mean",
        "how queries become one number; also a percentile such as p95",
        *("mean", "sum", "median", "gmean", "trimmed", "weighted", "pooled"),
    )

    def unit_values(
        self,
        unit: Ints,
        count: int,
        value: Floats,
        numerator: Floats,
        denominator: Floats,
    ) -> Floats:
        """Return the value of each unit of queries, a ratio of sums.

        A unit in which every denominator is 0 has the mean of its queries' values.

        Parameters
        ----------
        unit
            int64 ``[queries]``: the unit of each query.
        count
            The number of units; each has at least one query.
        value, numerator, denominator
            float64 ``[queries]``.

        Returns
        -------
        numpy.ndarray
            float64 ``[count]``.
        """
        above = np.bincount(unit, numerator, count)
        below = np.bincount(unit, denominator, count)
        values = np.bincount(unit, value, count) / np.bincount(unit, minlength=count)
        np.divide(above, below, out=values, where=below > 0)
        return values

    def aggregate(
        self, value: Floats, weight: Floats, numerator: Floats, denominator: Floats
    ) -> float:
        """Return the aggregate of the values of queries; NaN without queries.

        Parameters
        ----------
        value, weight, numerator, denominator
            float64 ``[queries]``: of the queries that count.
        """
        if not len(value):
            return math.nan
        if self.agg == "pooled":
            return ratio_of_sums(numerator, denominator)
        if self.agg == "weighted":
            return ratio_of_sums(value * weight, weight)
        return aggregated(self.agg, value)


def _cut(k: int | Budget | str) -> dict[str, Any]:
    """Return the field that a cutoff behind an @ sets."""
    if isinstance(k, Budget) or (isinstance(k, str) and "(" in k):
        return {"budget": Budget.of(k)}
    return {"k": k}


def _text(value: object) -> str:
    if isinstance(value, float):
        return exact(value)
    if isinstance(value, tuple):
        return "{" + ", ".join(_text(v) for v in value) + "}"
    return str(value)


def _normalized(name: str, value: object) -> object:
    """Return the value of a parameter with a number of NumPy as one of Python, and a grade as a threshold."""
    if isinstance(value, np.generic):
        value = value.item()
    if (
        name == "rel"
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
    ):
        return Threshold(float(value))
    return value


def _check(
    measure: Named, name: str, rules: Mapping[str, Any], default: object
) -> None:
    """Check one parameter: given where it is required, a number in its range, or one of its choices."""
    value = getattr(measure, name)
    if value is None and rules.get("needed"):
        raise BadParameter(
            f"{measure.name} needs {name}: {rules['doc']}", fix=rules["needed"]
        )
    choices: Sequence[str] = rules.get("choices", ())
    if rules.get("word"):
        if value is not None and not (
            isinstance(value, str) and _WORD.fullmatch(value)
        ):
            raise BadParameter(
                f"{measure.name}: {name}={value!r} cannot be written as a word",
                expected="a name without brackets, quotes, commas, = and @",
            )
    elif choices and isinstance(value, str):
        _check_choice(measure, name, value, choices)
    elif value is not None and any(rules.get(bound) is not None for bound in _BOUNDS):
        for number in value if isinstance(value, tuple) else (value,):
            _check_number(measure, name, number, rules)
    elif (
        choices and not is_dataclass(value) and not (value is None and default is None)
    ):
        register = "give the function a name: register_gain, register_discount or register_continuation"
        text = f'write it as a text: parse_measure("{measure.name}({name}={{1: 3, 2: 7}})")'
        raise BadParameter(
            f"{measure.name}: {name}={printable(repr(value), 60)} is not a word",
            expected=", ".join(choices),
            fix=register
            if callable(value)
            else text
            if isinstance(value, dict)
            else None,
        )
    elif (
        name == "rel"
        and not isinstance(value, Threshold)
        and not (value is None and default is None)
    ):
        raise BadParameter(
            f"{measure.name}: rel={printable(repr(value), 60)} is not a threshold",
            expected="a grade (rel=2), or rankstone.measures.Threshold(2, strict=True) for those above it",
        )
    if (
        measure.k is None
        and isinstance(value, str)
        and value in rules.get("needs_k", ())
    ):
        example = f"{measure.name}({name}={value})"
        raise BadParameter(f"{example} needs a cutoff", fix=f"write {measure}@10")


def _check_choice(
    measure: Named, name: str, value: str, choices: Sequence[str]
) -> None:
    if value in choices or (
        name == "agg" and (_trims(value) or percentile(value) is not None)
    ):
        return
    raise BadParameter(
        f"{measure.name}: {name}={value!r} is not known",
        expected=", ".join(choices),
        fix=did_you_mean(value, choices, f"{name}={{}}".format),
    )


def _trims(value: str) -> bool:
    share = share_trimmed(value)
    return share is not None and 0 < share < 0.5  # noqa: PLR2004 - some values must remain


def _check_number(
    measure: Named, name: str, value: object, rules: Mapping[str, Any]
) -> None:
    whole = name == "k" or rules.get("whole")
    kind = int if name == "k" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kind) or (whole and value % 1):
        raise BadParameter(
            f"{measure.name}: {name}={value!r} is not a {'whole ' if whole else ''}number"
        )
    low, above, below, high = (rules.get(bound) for bound in _BOUNDS)
    inside = (
        (low is None or value >= low)
        and (above is None or value > above)
        and (below is None or value < below)
        and (high is None or value <= high)
        and math.isfinite(value)
    )
    if not inside:
        limits = {
            bound: rules[bound] for bound in _BOUNDS if rules.get(bound) is not None
        }
        bounds = [
            _BOUNDS[bound].format(limit)
            for bound, limit in limits.items()
            if math.isfinite(limit)
        ]
        raise BadParameter(
            f"{measure.name}: {name}={value!r} is out of range",
            expected=f"{'a whole number, ' if whole else ''}{', '.join(bounds)}",
        )
