"""A reported number: its decimals, the name of its measure, common parameters, and intermediate rounding."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from rankstone.conventions.convention_files import conventions
from rankstone.conventions.library_convention import named
from rankstone.errors import BadOption, RankstoneError, UsageError, printable
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.registry import MEASURES
from rankstone.measures.core.relevance import UnitGain
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankstone.conventions.identification.candidate_values import Facts
    from rankstone.conventions.library_convention import Convention, Entry, Reading


@dataclass(frozen=True)
class ReportedMeasure:
    """The reported name of a measure.

    Attributes
    ----------
    word
        The name as it was written.
    measure
        Our measure, from which the search starts; ``None`` where only libraries have it.
    k
        The cutoff.
    given
        The parameters that were given; other values of these count as two steps.
    """

    word: str
    measure: Measure | None
    k: int | None
    given: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str | Measure) -> ReportedMeasure:
        """Parse a measure by our name, or by the name of any library.

        Raises
        ------
        UnknownMeasure
            When neither rankstone nor any library has such a measure.
        """
        try:
            measure = parse_measure(text)
        except RankstoneError as error:
            reported = _example(str(text)) or _of_libraries(str(text))
            if reported is None:
                raise error from None
            return reported
        if not isinstance(measure, Measure):
            raise BadOption(
                f"{printable(str(measure))} is not a measure of one run against judgments",
                expected="nDCG@10, AP, RR, P@5, …",
            )
        return cls(
            measure.name, measure, measure.k, _given(measure.changed(), measure.k)
        )

    def fits(self, entry: Entry) -> bool:
        """Return True if a library's measure fits the reported name, by our name or its own."""
        ours = kind(re.sub(r"^replay:\w+\.", "", entry.ours))
        names = (
            [self.word]
            if self.measure is None
            else [self.word, self.measure.name, *self.measure.aliases]
        )
        known = {ours.lower()}
        for (
            word
        ) in entry.spellings:  # NDCG:top=<k>;type=Exp is an NDCG, ndcg_cut_<k> an ndcg
            known |= {_letters(word), re.split(r"[^a-z]", word.lower(), maxsplit=1)[0]}
        return any(_letters(name) in known for name in names)


def kind(text: str) -> str:
    """Return the name that a measure's text begins with."""
    return re.split(r"\W", text, maxsplit=1)[0]


def _given(parameters: Iterable[str], k: int | None) -> frozenset[str]:
    """Return the given parameters, with the cutoff."""
    return frozenset((*parameters, *(() if k is None else ("k",))))


def _letters(word: str) -> str:
    """Return the letters of a name, without cutoffs, placeholders and brackets."""
    return re.sub(r"<\w+>|\(.*?\)|\[.*?\]|[^a-z]", "", word.lower())


def _example(text: str) -> ReportedMeasure | None:
    """Parse a measure without a required parameter as the first example on its card."""
    name = MEASURES.canonical_name(kind(text))
    examples = () if name is None else MEASURES[name].examples
    if "(" in text or not examples:
        return None
    cutoff = re.search(r"@(\d+)$", text)
    measure = parse_measure(examples[0])
    if not isinstance(measure, Measure):
        return None
    k = int(cutoff[1]) if cutoff is not None else None
    return ReportedMeasure(text, replace(measure, k=k), k, _given((), k))


def _of_libraries(word: str) -> ReportedMeasure | None:
    """Parse a library's name, as our measure where we have it."""
    readings = [
        reading
        for library in conventions()
        if (reading := _read(library, word)) is not None
    ]
    if not readings:
        return None
    ours = [
        measure
        for measure in (named(r.ours) for r in readings if _is_ours(r))
        if isinstance(measure, Measure)
    ]
    k = next((reading.measure.k for reading in readings), None)
    return ReportedMeasure(
        word, ours[0] if ours else None, k, _given(ours[0].changed() if ours else (), k)
    )


def _read(library: Convention, word: str) -> Reading | None:
    try:
        reading = library.read(word)[0]
    except RankstoneError:
        return None
    if reading.entry.of_lists:
        return None
    return reading


def _is_ours(reading: Reading) -> bool:
    return not reading.entry.ours.startswith("replay:")


_SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_TENTHS: Final = tuple(tenth / 10 for tenth in range(11))
#: parameter → values in papers and in defaults of libraries
PUBLISHED: Final[Mapping[str, Sequence[Any]]] = {
    "p": (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99),
    "T": (1.0, 2.0, 3.0),
    "alpha": _SHARES,
    "gamma": _SHARES,
    "beta": (0.5, 0.8, 1.0, 2.0, 10.0, 100.0),
    "bq": (2.0, 4.0),
    "recall": (*_TENTHS, 0.95),
    "multiple": (0.5, 1.0, 1.5, 2.0),
    "levels": (3, 5, 11, 21, 101),
    "n_max": (10, 20, 100, 1000),
    "depth": (10, 100, 1000),
    "gain_med": (0.25, 0.5, 0.75, 1.0),
    "hb": (0.0, 0.5, 1.0),
    "hc": (0.0, 0.5, 1.0),
    "partial": (0.0, 0.5),
    "okay": (0.5, 1.0),
}
#: values tried for a parameter that depends on another choice: the p of discount=geometric
_DEPENDENT: Final = (0.5, 0.8, 0.9, 2.0)
#: tops of grade scales, tried where they are above the highest grade
_TOPS: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 10.0)

_MEASURED: Final = "a quantity of a user study, in seconds or words: any value is possible, and none is common"
_PRICES: Final = "a price that the user sets: none is common"
#: parameters that are not searched, of all measures or of one (``CWL.hb``) → the reason
LEFT_OUT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("click", "click_relevant", "save", "opening", "per_word", "summary", "words"),
        _MEASURED,
    ),
    **dict.fromkeys(("half_life", "L", "cost", "cost_relevant"), _MEASURED),
    **dict.fromkeys(("a", "b", "c", "d"), _PRICES),
    **dict.fromkeys(
        ("CWL.gain_med", "CWL.hb", "CWL.hc"),
        "of model=BPM alone, and searched as BPM's",
    ),
    **dict.fromkeys(
        ("CitationP.level", "CitationR.level"), "what counts is given by the measure"
    ),
    "of": "the measure of one intent must be given",
    **dict.fromkeys(("budget", "column"), "costs of documents must be given"),
}


def numbers_for(measure: Measure, parameter: str, facts: Facts) -> Sequence[Any]:
    """Return the values to try for a parameter of a measure."""
    own = getattr(measure, parameter)
    if parameter == "max_grade":
        return scales(facts)
    if isinstance(own, bool):
        return (True, False)
    numbers = PUBLISHED.get(parameter, ())
    if own is not None:
        return numbers
    return [number for number in numbers if number in _DEPENDENT]


def scales(facts: Facts) -> tuple[float, ...]:
    """Return possible tops of the grade scale: the highest grade, or a common one above it."""
    return (facts.highest, *(top for top in _TOPS if top > facts.highest))


def with_scale(
    measure: Measure, change: dict[str, Any], facts: Facts
) -> dict[str, Any]:
    """Return a change of gains with the scale it needs: the given one, or up to the highest grade."""
    if "gain" not in change or not isinstance(measure, UnitGain):
        return change
    top = None if change["gain"] == "binary" else measure.max_grade or facts.highest
    return {**change, "max_grade": top}


#: the largest difference of sums in different orders
_OTHER_ORDER = 1e-12
#: the most decimals of a float
_MOST_DIGITS = 17
#: a comma before three digits: decimals or thousands; after a zero only decimals
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number with its known decimals.

    Attributes
    ----------
    value
        The number.
    digits
        The number of printed decimals.
    percent
        True if it has a percent sign.

    Examples
    --------
    >>> printed = Printed.of("0.827")
    >>> printed.how(0.82749), printed.how(0.82796), printed.how(0.829)
    ('rounded', 'cut off', None)
    """

    value: float
    digits: int
    percent: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The largest distances of a value that prints so: half a step towards 0, a whole one away."""
        step = 10.0**-self.digits
        return step / 2, step

    @classmethod
    def of(cls, text: str | float, digits: int | None = None) -> Printed:
        """Parse a number; ``digits`` where its text does not show all printed decimals.

        Raises
        ------
        UsageError
            When it is not a number, or its comma may be a decimal or a thousands separator.
        """
        shown = str(text).strip()
        percent = shown.endswith("%")
        bare = shown.removesuffix("%").strip()
        if _THOUSANDS.fullmatch(bare):
            fix = f"{bare.replace(',', '.')} or {bare.replace(',', '')}"
            raise UsageError(
                f"{printable(shown)!r} can be read in two ways",
                expected="a point before decimals",
                fix=fix,
            )
        try:
            exact = Decimal(bare.replace(",", "."))
        except InvalidOperation:
            exact = Decimal("nan")
        if not exact.is_finite() or abs(exact) > Decimal(2**53):
            raise UsageError(
                f"{printable(shown)!r} is not a number",
                expected="a number: 0.827, 82.7%",
            )
        exponent = exact.as_tuple().exponent
        own = max(0, -exponent) if isinstance(exponent, int) else 0
        if digits is not None and not 0 <= digits <= _MOST_DIGITS:
            raise UsageError(
                f"digits={digits} is out of range",
                expected=f"0 to {_MOST_DIGITS} decimals",
            )
        return cls(float(exact), own if digits is None else digits, percent)

    def __str__(self) -> str:
        return f"{self.value:.{self.digits}f}{'%' if self.percent else ''}"

    def scales(self) -> tuple[float, ...]:
        """Return possible scale factors of a value: 100 where the number can be a percentage."""
        if self.percent:
            return (100.0,)
        if abs(self.value) > 1:
            return (1.0, 100.0)
        return (1.0,)

    def how(self, value: float) -> str | None:
        """Return how a value prints as this number: ``rounded``, ``cut off``; ``None`` where it does not."""
        step = 10.0**-self.digits
        slack = _OTHER_ORDER * max(1.0, abs(self.value))
        for scale in self.scales():
            off = value * scale - self.value
            if abs(off) <= step / 2 + slack:
                return "rounded"
        for scale in self.scales():
            towards_zero = math.copysign(1.0, self.value) * (value * scale - self.value)
            if -slack <= towards_zero < step - slack:
                return "cut off"
        return None

    def off(self, value: float) -> float:
        """Return the difference of a value from the number, on the number's scale."""
        return min((value * scale - self.value for scale in self.scales()), key=abs)
