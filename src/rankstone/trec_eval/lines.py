"""Which lines are asked for (-m), and which measure of ours each is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rankstone.conventions.replays.trec_eval import QueryScaledRBP, SeenResidual
from rankstone.errors import UnknownMeasure, UsageError, nearest, printable
from rankstone.measures import GainTable, Measure, Threshold, parse_measure
from rankstone.measures.syntax import read_as
from rankstone.measures.trec_table import NICKNAMES, TREC, TrecMeasure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.trec_eval.settings import Settings

__all__ = ["Asked", "Line", "asked_for", "lines_of"]


@dataclass(frozen=True)
class Asked:
    """A measure asked for, and its parameters as they were written."""

    trec: TrecMeasure
    given: str | None


@dataclass(frozen=True)
class Line:
    """One line of a query's output, or of the summary.

    Attributes
    ----------
    name
        As trec_eval prints it.
    trec
        The measure it belongs to.
    measure
        Ours; ``None`` for ``runid``, ``num_q`` and ``relstring``.
    length
        Of a relevance string; 0 for everything else.
    """

    name: str
    trec: TrecMeasure
    measure: Measure | None
    length: int = 0

    @property
    def is_geometric(self) -> bool:
        """Whether queries count by their logarithms."""
        return self.name.startswith("gm_")


def asked_for(texts: Sequence[str], version: int) -> tuple[list[Asked], list[str]]:
    """Read -m options; return the measures in the order they are printed, and notes.

    The first list of parameters of a measure counts, whatever follows.
    """
    given: dict[str, str | None] = {}
    notes = []
    for text in texts or ("official",):
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise UsageError(f"-m {printable(text)}: nothing stands behind the dot", expected="as in P.5,10")
        for one in _members(name, version):
            if dot and given.get(one) not in (None, parameters):
                notes.append(f"-m {printable(text)}: as in trec_eval only -m {one}.{given[one]} counts")
            elif dot or one not in given:
                given[one] = parameters if dot else given.get(one)
    return [Asked(trec, given[name]) for name, trec in TREC.items() if name in given], notes


def _members(name: str, version: int) -> list[str]:
    names = NICKNAMES.get(name, (name,))
    known = [one for one in TREC if TREC[one].since <= version]
    found = [one for one in names if one in known]
    if not found:
        close = nearest(name, [*known, *NICKNAMES])
        newer = name in TREC
        meant = f"did you mean {', '.join(close)}?" if close else None
        raise UnknownMeasure(
            f"trec_eval {version} has no measure {printable(name)!r}",
            expected=f"{', '.join(known[:5])} …; or several at once: {', '.join(NICKNAMES)}",
            fix="add --compat 10" if newer else meant,
        )
    return found


#: format of judgments → measures that are computed from it, where those usually asked for are not
_INSTEAD: Final = {"prefs": "all_prefs", "qrels_prefs": "all_prefs", "qrels_jg": "qrels_jg"}
#: which formats of judgments a measure is computed from
_FORMATS: Final = {"prefs": ("prefs", "qrels_prefs"), "jg": ("qrels_jg",), "": ("qrels",)}


def lines_of(asked: Sequence[Asked], settings: Settings, grades: Sequence[float]) -> list[Line]:
    """Return every line of what is asked for.

    Parameters
    ----------
    asked
        Measures and their parameters.
    settings
        The level (-l), the version, the format of the judgments.
    grades
        The grades that occur in the judgments.
    """
    return [line for one in asked for line in _lines(one, settings, grades)]


def _lines(asked: Asked, settings: Settings, grades: Sequence[float]) -> list[Line]:
    trec = asked.trec
    if trec.name in ("runid", "num_q"):
        return [Line(trec.name, trec, None)]
    if trec.name == "relstring" and settings.judgments == "qrels":
        return [Line(trec.texts(asked.given)[0][0], trec, None, _length(asked.given))]
    kind = "prefs" if trec.name.startswith("prefs_") else "jg" if trec.name.endswith("avgjg") else ""
    if settings.judgments not in _FORMATS[kind]:
        raise UsageError(
            f"{trec.name} cannot be computed from -R {settings.judgments}",
            expected=" or ".join(f"-R {form}" for form in _FORMATS[kind]),
            fix=f"-m {_INSTEAD[settings.judgments]}" if settings.judgments in _INSTEAD else None,
        )
    pairs = trec.texts(asked.given, settings.version)
    return [
        Line(name, trec, _measure(text, trec, settings, grades) if text else None) for name, text in pairs
    ]


def _length(given: str | None) -> int:
    words = (given or "10").split(",")
    if not words[0].isdigit() or not int(words[0]):
        raise UsageError(f"relstring.{printable(given)}: no length of a string", expected="a whole number")
    return int(words[0])


#: measures that trec_eval takes otherwise than we do
_REPLAYED: Final[Mapping[str, type[Measure]]] = {"rbp": QueryScaledRBP, "rbp_resid": SeenResidual}


def _measure(text: str, trec: TrecMeasure, settings: Settings, grades: Sequence[float]) -> Measure:
    replayed = _REPLAYED.get(trec.name)
    measure = parse_measure(text) if replayed is None else read_as(replayed, text)
    assert isinstance(measure, Measure)  # noqa: S101 - the table names no other kind
    changed: dict[str, Any] = {}
    if trec.level and settings.level != 1 and hasattr(measure, "rel"):
        changed["rel"] = Threshold(float(settings.level))
    if settings.judgments == "prefs":
        changed["within"] = "subgroup"
    table = getattr(measure, "gain", None)
    if isinstance(table, GainTable) and replayed is None:  # other levels keep their grade
        named = dict(table.gains)
        rest = {grade: grade for grade in grades if grade >= 0 and grade not in named}
        changed["gain"] = GainTable(tuple(sorted({**rest, **named}.items())))
    return replace(measure, **changed) if changed else measure
