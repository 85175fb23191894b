"""The numbers that parameters of measures have in print, and the parameters that nothing is tried for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rankstone.measures.unit_gain import UnitGain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.identifying.facts import Facts
    from rankstone.measures import Measure

__all__ = ["LEFT_OUT", "PUBLISHED", "numbers_for", "scales", "with_scale"]

_SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_TENTHS: Final = tuple(at / 10 for at in range(11))
#: parameter → numbers that papers and defaults of libraries give it
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
}
#: the numbers that are tried for a parameter which only goes with another choice: the p of discount=geometric
_WITH_ANOTHER: Final = (0.5, 0.8, 0.9, 2.0)
#: tops of grade scales, tried where they are above the highest grade there is
_TOPS: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 10.0)

_MEASURED: Final = (
    "a quantity of a study of users, in seconds or words: any value may stand there, and none is usual"
)
_PRICES: Final = "a price that whoever asks sets: none is usual"
#: parameters that are not searched, of every measure or of one (``CWL.hb``) → why not
LEFT_OUT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("click", "click_relevant", "save", "opening", "per_word", "summary", "words"), _MEASURED
    ),
    **dict.fromkeys(("half_life", "L", "cost", "cost_relevant"), _MEASURED),
    **dict.fromkeys(("a", "b", "c", "d"), _PRICES),
    **dict.fromkeys(("CWL.gain_med", "CWL.hb", "CWL.hc"), "of model=BPM alone, and searched as BPM's"),
    "of": "the measure of one intent is what was asked for: name it",
}


def numbers_for(measure: Measure, parameter: str, facts: Facts) -> Sequence[Any]:
    """Return the numbers to try for a parameter of a measure."""
    own = getattr(measure, parameter)
    if parameter == "max_grade":
        return scales(facts)
    if isinstance(own, bool):
        return (True, False)
    numbers = PUBLISHED.get(parameter, ())
    return numbers if own is not None else [number for number in numbers if number in _WITH_ANOTHER]


def scales(facts: Facts) -> tuple[float, ...]:
    """Return what the top of the grade scale may be: the highest grade there is, or a usual one above it."""
    return (facts.highest, *(top for top in _TOPS if top > facts.highest))


def with_scale(measure: Measure, change: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Return a change of gains with the scale it needs: the one that was said, or up to the highest grade."""
    if "gain" not in change or not isinstance(measure, UnitGain):
        return change
    top = None if change["gain"] == "binary" else measure.max_grade or facts.highest
    return {**change, "max_grade": top}
