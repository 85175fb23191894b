"""The lines that trec_eval prints (-m), and the measure of each; relevance strings; z-scores (-Z)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from rankstone._basics import Record
from rankstone.conventions.replays.trec_eval import QueryScaledRBP, SeenResidual
from rankstone.errors import (
    BadLine,
    EmptyInput,
    UnknownMeasure,
    UsageError,
    did_you_mean,
    printable,
)
from rankstone.hits.extras.unjudged_places import PooledHoles
from rankstone.io.json_objects import read_text
from rankstone.measures.core.definition import Card, Threshold, parameter
from rankstone.measures.core.gains_and_discounts import GainTable
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.core.syntax import parse_as, parse_measure
from rankstone.measures.core.trec_eval_names import NICKNAMES, TREC, TrecMeasure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankstone._basics import Floats, Ints
    from rankstone.conventions.trec_eval.trec_settings import Settings
    from rankstone.hits.hits import Hits


@dataclass(frozen=True)
class Requested:
    """A requested measure, and its parameters as they were written."""

    trec: TrecMeasure
    given: str | None


@dataclass(frozen=True)
class TrecLine:
    """One line of a query's output, or of the summary.

    Attributes
    ----------
    name
        As trec_eval prints it.
    trec
        The measure it belongs to.
    measure
        Our measure; ``None`` for ``runid``, ``num_q`` and ``relstring``.
    length
        The length of a relevance string; 0 for all other lines.
    """

    name: str
    trec: TrecMeasure
    measure: Measure | None
    length: int = 0

    @property
    def is_geometric(self) -> bool:
        """True for geometric means."""
        return self.name.startswith("gm_")


def requested_measures(
    texts: Sequence[str], version: int
) -> tuple[list[Requested], list[str]]:
    """Parse -m options; return the measures in the order they are printed, and notes.

    Only the first list of parameters of a measure counts.
    """
    parameters_of: dict[str, str | None] = {}
    notes = []
    for text in texts or ("official",):
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise UsageError(
                f"-m {printable(text)}: there is nothing after the dot",
                expected="as in P.5,10",
            )
        for member in _members(name, version):
            if dot and parameters_of.get(member) not in (None, parameters):
                notes.append(
                    f"-m {printable(text)}: as in trec_eval only -m {member}.{parameters_of[member]} counts"
                )
            elif dot or member not in parameters_of:
                parameters_of[member] = parameters if dot else parameters_of.get(member)
    return [
        Requested(trec, parameters_of[name])
        for name, trec in TREC.items()
        if name in parameters_of
    ], notes


def _members(name: str, version: int) -> list[str]:
    names = NICKNAMES.get(name, (name,))
    known = [member for member in TREC if TREC[member].since <= version]
    members = [member for member in names if member in known]
    if not members:
        raise UnknownMeasure(
            f"trec_eval {version} has no measure {printable(name)!r}",
            expected=f"{', '.join(known[:5])} …; or several at once: {', '.join(NICKNAMES)}",
            fix="instead --compat 10, which has it"
            if name in TREC
            else did_you_mean(name, [*known, *NICKNAMES], n=3),
        )
    return members


#: format of judgments → measures to use instead of the default ones
_INSTEAD: Final = {
    "prefs": "all_prefs",
    "qrels_prefs": "all_prefs",
    "qrels_jg": "qrels_jg",
}
#: kind of measure → formats of judgments from which it is computed
_FORMATS: Final = {
    "prefs": ("prefs", "qrels_prefs"),
    "jg": ("qrels_jg",),
    "": ("qrels",),
}


def lines_of(
    requested: Sequence[Requested], settings: Settings, grades: Sequence[float]
) -> list[TrecLine]:
    """Return all lines of the requested measures.

    Parameters
    ----------
    requested
        Measures and their parameters.
    settings
        The level (-l), the version, the format of the judgments.
    grades
        The grades that occur in the judgments.
    """
    return [line for measure in requested for line in _lines(measure, settings, grades)]


def _lines(
    requested: Requested, settings: Settings, grades: Sequence[float]
) -> list[TrecLine]:
    trec = requested.trec
    if trec.name in ("runid", "num_q"):
        return [TrecLine(trec.name, trec, None)]
    if trec.name == "relstring" and settings.judgments == "qrels":
        return [
            TrecLine(
                trec.texts(requested.given)[0][0], trec, None, _length(requested.given)
            )
        ]
    kind = (
        "prefs"
        if trec.name.startswith("prefs_")
        else "jg"
        if trec.name.endswith("avgjg")
        else ""
    )
    if settings.judgments not in _FORMATS[kind]:
        raise UsageError(
            f"{trec.name} cannot be computed from -R {settings.judgments}",
            expected=" or ".join(f"-R {form}" for form in _FORMATS[kind]),
            fix=f"instead: -m {_INSTEAD[settings.judgments]}"
            if settings.judgments in _INSTEAD
            else None,
        )
    pairs = trec.texts(requested.given, settings.version)
    return [
        TrecLine(name, trec, _measure(text, trec, settings, grades) if text else None)
        for name, text in pairs
    ]


def _length(parameters: str | None) -> int:
    words = (parameters or "10").split(",")
    if not words[0].isdigit() or not int(words[0]):
        raise UsageError(
            f"relstring.{printable(parameters)}: not the length of a string",
            expected="a whole number",
        )
    return int(words[0])


#: measures that trec_eval defines differently
_REPLAYED: Final[Mapping[str, type[Measure]]] = {
    "rbp": QueryScaledRBP,
    "rbp_resid": SeenResidual,
}


def _measure(
    text: str, trec: TrecMeasure, settings: Settings, grades: Sequence[float]
) -> Measure:
    replayed = _REPLAYED.get(trec.name)
    measure = parse_measure(text) if replayed is None else parse_as(replayed, text)
    assert isinstance(measure, Measure)  # noqa: S101 - the table names no other kind
    changed: dict[str, Any] = {}
    if trec.level and settings.level != 1 and hasattr(measure, "rel"):
        changed["rel"] = Threshold(float(settings.level))
    if settings.judgments == "prefs":
        changed["within"] = "subgroup"
    table = getattr(measure, "gain", None)
    if (
        isinstance(table, GainTable) and replayed is None
    ):  # other levels keep their grade
        named = dict(table.gains)
        rest = {grade: grade for grade in grades if grade >= 0 and grade not in named}
        changed["gain"] = GainTable(tuple(sorted({**rest, **named}.items())))
    if changed:
        return replace(measure, **changed)
    return measure


#: symbols: grades up to 9, a higher grade, not in the pool, in the pool but not judged
_ALPHABET: Final = "0123456789>-."
_HIGHER, _OUTSIDE, _POOLED = 10, 11, 12
#: how many symbols of four bits fit into a float64 without rounding
_LONGEST: Final = 12


@dataclass(frozen=True, kw_only=True)
class Symbols(Measure, family="trec_eval"):
    """The symbols of some ranks as one number with digits to the base 16.

    So a string is computed like any score, and decoded at the end.
    """

    name = "Symbols"
    requires = frozenset({PooledHoles})
    needs_relevant = False
    takes_cutoff = False
    card = Card(
        sentence="Which grades are at the first ranks, a digit for each.",
        formula="Σ_i s_i · 16^(i − first)",
        symbols="s_i: the symbol of rank i: its grade up to 9, 10 above, 11 not in the pool, 12 not judged",
        example="grades 1, 0: 1 + 0 · 16 = 1",
        span=(0.0, None),
        direction="neither",
        undefined="never",
        sensitive="everything",
        use="inside trec_eval's relstring",
        citation="trec_eval relstring",
    )

    first: int = parameter(1, "the first rank", low=1)

    def relevant_count(self, hits: Hits) -> Ints | None:  # noqa: ARG002 - the base's signature
        """Return ``None``: relevance is not used."""
        return None

    def contributions(self, hits: Hits) -> Contributions:
        """Count every rank as outside the pool, then correct those of hits and pooled documents."""
        places = hits.added(PooledHoles)
        grade = np.minimum(np.floor(hits.grade), _HIGHER)
        shown = np.clip(hits.n - self.first + 1, 0, _LONGEST)
        outside = np.asarray(_OUTSIDE * (16.0**shown - 1.0) / 15.0, np.float64)
        pooled = np.bincount(places.query, self._digit(places.rank), hits.queries)
        return Contributions(
            (grade - _OUTSIDE) * self._digit(hits.rank),
            np.ones(hits.queries),
            unjudged=outside + (_POOLED - _OUTSIDE) * pooled,
        )

    def _digit(self, rank: Ints) -> Floats:
        """Return the value of a digit at each rank."""
        place = rank - self.first
        return np.where(
            (place >= 0) & (place < _LONGEST), 16.0 ** np.clip(place, 0, _LONGEST), 0.0
        )


def pieces(length: int) -> list[Symbols]:
    """Return the measures of a string of some length."""
    return [Symbols(first=first) for first in range(1, length + 1, _LONGEST)]


def decoded(numbers: Sequence[float], length: int) -> str:
    """Decode the numbers of the pieces of a string.

    >>> decoded([1 + 11 * 16 + 12 * 256], 3)
    '1-.'
    """
    digits = [
        _ALPHABET[int(number) >> 4 * place & 15]
        for number in numbers
        for place in range(_LONGEST)
    ]
    return "".join(digits[:length])


#: the z-score without a reference
MISSING: Final = -1_000_000.0
_ZSCORE: Final = "query measure mean deviation"


class ZScores(Record):
    """Mean and standard deviation of each measure on each query.

    Attributes
    ----------
    known
        {(query, measure): (mean, deviation)}.
    """

    known: Mapping[tuple[str, str], tuple[float, float]]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read lines of ``query measure mean deviation``."""
        known = {}
        for number, line in enumerate(read_text(str(path)).splitlines(), start=1):
            words = line.split()
            try:
                query, measure, mean, deviation = words
                known[query, measure] = float(mean), float(deviation)
            except ValueError:
                raise BadLine(
                    "this is not a reference for z-scores",
                    where=f"{path}:{number}",
                    given=printable(line, 40),
                    expected=_ZSCORE,
                ) from None
        if not known:
            raise EmptyInput("the file is empty", where=str(path), expected=_ZSCORE)
        return cls(known)

    def of(self, measure: str, queries: Sequence[str], values: Floats) -> Floats:
        """Return z-scores; -1000000 without a reference, and off references without spread."""
        mean, deviation = (
            np.array(
                [
                    self.known.get((query, measure), (np.nan, np.nan))
                    for query in queries
                ]
            )
            .reshape(-1, 2)
            .T
        )
        spread = np.where(deviation == 0, 1.0, deviation)
        z = (values - mean) / spread
        return np.where(np.isnan(z) | ((deviation == 0) & (values != mean)), MISSING, z)
