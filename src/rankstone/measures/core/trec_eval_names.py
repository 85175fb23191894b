"""trec_eval's names of measures, read and written; ``names.toml`` holds them in the order it prints them.

.. code-block:: text

    map   P_10   P.5,10   iprec_at_recall_0.10   utility.2,-1,0,0   ndcg.1=3,2=9   official
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import exact
from rankstone.errors import BadParameter, printable
from rankstone.measures.core.definition import MOST_RANKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankstone.measures.core.definition import Named

#: names of measures in other programs, read by :mod:`rankstone.measures.core.syntax`, too
NAMES: Final = tomllib.loads(
    (files("rankstone.measures.core") / "names.toml").read_text(encoding="utf-8")
)
#: names that stand for several measures
NICKNAMES: Final[dict[str, list[str]]] = NAMES["nicknames"]
_VALUE: Final = r"-?(?:\d+\.?\d*|\.\d+)"
_SHAPE: Final = re.compile(
    rf"(?P<name>[A-Za-z0-9_]+?)(?:[_.](?P<given>(?:\w+=)?{_VALUE}(?:,(?:\w+=)?{_VALUE})*))?"
)
_NEXT: Final = re.compile(rf"(?:\w+=)?{_VALUE}(?=[,\s]|$)")
#: parameters as trec_eval writes them, from a measure that may be of another class
_GUESSES: Final[dict[str, Callable[[Any], str]]] = {
    "persistence": lambda m: f"p={m.p:.15g}",
    "gains": lambda m: ",".join(
        f"{grade:g}={gain:.15g}" for grade, gain in m.gain.gains
    ),
    "set_F": lambda m: f"{round(m.beta**2, 12):.15g}",
    "utility": lambda m: ",".join(f"{getattr(m, name):.15g}" for name in "abcd"),
    "11pt_avg": lambda m: ",".join(f"{point:.15g}" for point in m.recalls),
}


@dataclass(frozen=True)
class TrecMeasure:
    """One of trec_eval's measures; several where it has cutoffs.

    Attributes
    ----------
    name
        Its name in trec_eval.
    ours
        The text of the measure here, with ``{x}`` for the parameter; empty where there is no such measure.
    values
        What follows the name: nothing (``none``), ``cutoffs``, ``shares``, ``coefficients``, ``gains`` or a
        ``persistence`` (``p``, and gains).
    default
        The values where none are given.
    counts
        True for a count, which is printed as a whole number and summed over queries.
    since
        The first version that has it.
    level
        True if the option ``-l`` says from which grade on a document counts.
    """

    name: str
    ours: str
    values: str = "none"
    default: tuple[float, ...] = ()
    counts: bool = False
    since: int = 9
    level: bool = True

    def texts(self, parameter: str | None, version: int = 10) -> list[tuple[str, str]]:
        """Return the names that trec_eval prints, each with the text of the measure here.

        Parameters
        ----------
        parameter
            What follows the name, ``"5,10"``; ``None`` for the default.
        version
            The version of trec_eval whose interpolation is meant.

        >>> TREC["P"].texts("10,5")
        [('P_5', 'P@5'), ('P_10', 'P@10')]
        """
        ours = self.ours.replace("{interp}", f"trec{version}")
        if self.values == "none":
            return [(self.name, ours)]
        if self.values in ("gains", "persistence"):
            return [self._paired(ours, parameter)]
        values = self.default if parameter is None else _numbers(self.name, parameter)
        if self.values == "coefficients":
            text = _LISTED[self.name](values).replace("{interp}", f"trec{version}")
            return [
                (self.name if parameter is None else f"{self.name}_{parameter}", text)
            ]
        if self.values == "cutoffs":
            values = tuple(
                int(value) if abs(value) <= MOST_RANKS else 0 for value in values
            )
        if len(set(values)) < len(values) or (
            self.values == "cutoffs" and min(values) < 1
        ):
            raise BadParameter(
                f"{self.name}: these are not cutoffs",
                given=printable(str(parameter)),
                expected="numbers above 0, each once"
                if self.values == "cutoffs"
                else "each number once",
            )
        shown = "{}_{}" if self.values == "cutoffs" else "{}_{:3.2f}"
        return [
            (shown.format(self.name, x), ours.format(x=f"{x:.15g}"))
            for x in sorted(values)
        ]

    def ignores(self, parameter: str) -> bool:
        """Return True if trec_eval ignores what follows the name, or a part of it.

        >>> TREC["recip_rank"].ignores("10"), TREC["P"].ignores("10"), TREC["P"].ignores("5.7")
        (True, False, True)
        """
        words = parameter.split(",")
        if self.values == "cutoffs":
            return any("." in word for word in words)
        if self.values in ("gains", "persistence"):
            return any("=" not in word for word in words)
        return self.values == "none" or (self.name == "set_F" and len(words) > 1)

    def _paired(self, ours: str, parameter: str | None) -> tuple[str, str]:
        pairs = {} if parameter is None else _pairs(self.name, parameter)
        name = self.name if parameter is None else f"{self.name}_{parameter}"
        p = pairs.pop("p", 0.9) if self.values == "persistence" else None
        table = ", ".join(f"{grade}: {gain:.15g}" for grade, gain in pairs.items())
        # rbp_resid ignores gains
        inside = [f"gain={{{table}}}"] if table and self.name != "rbp_resid" else []
        inside += [] if p is None else [f"p={p:.15g}"]
        return name, f"{ours}({', '.join(inside)})" if inside else ours


def _numbers(name: str, parameter: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in parameter.split(","))
    except ValueError:
        raise BadParameter(
            f"{name}: a parameter is not a number",
            given=printable(parameter),
            expected="numbers, separated by commas",
        ) from None


def _pairs(name: str, parameter: str) -> dict[str, float]:
    pairs = {}
    for pair in parameter.split(","):
        key, _, value = pair.partition("=")
        try:
            pairs[key.strip()] = float(value)
        except ValueError:
            raise BadParameter(
                f"{name}: a parameter is not a pair",
                given=printable(parameter),
                expected="name=number, …",
            ) from None
    return pairs


def _utility(values: Sequence[float]) -> str:
    if len(values) != 4:  # noqa: PLR2004 - shown or not, relevant or not
        raise BadParameter(
            "utility takes four coefficients",
            expected="relevant shown, others shown, relevant missed, rest",
        )
    terms = zip("abcd", values, (1.0, -1.0, 0.0, 0.0), strict=True)
    inside = ", ".join(
        f"{name}={value:.15g}" for name, value, default in terms if value != default
    )
    return f"Utility({inside})" if inside else "Utility"


def _points(values: Sequence[float]) -> str:
    if list(values) == NAMES["defaults"]["recall"]:
        return "IAP(interp={interp})"
    return f"IAP(levels={{{', '.join(f'{value:.15g}' for value in values)}}}, interp={{interp}})"


def _f(values: Sequence[float]) -> str:
    if not values[0] > 0:
        raise BadParameter(
            f"set_F.{values[0]:g}: its parameter is the square of beta",
            expected="above 0",
        )
    beta = math.sqrt(values[0])
    return "F" if beta == 1 else f"F(beta={exact(beta)})"


#: measures whose parameters are one list → the text of the measure here for a list
_LISTED: Final[dict[str, Callable[[Sequence[float]], str]]] = {
    "utility": _utility,
    "11pt_avg": _points,
    "set_F": _f,
    "relstring": lambda _: "",
}


def _of_row(name: str, ours: str = "", default: Any = (), **rest: Any) -> TrecMeasure:  # noqa: ANN401
    """Return a row of ``names.toml``; its default is a list, or the name of one."""
    values = NAMES["defaults"][default] if isinstance(default, str) else default
    return TrecMeasure(name, ours, default=tuple(values), **rest)


#: every measure of trec_eval, in the order in which it prints them
TREC: Final[dict[str, TrecMeasure]] = {
    name: _of_row(name, **row) for name, row in NAMES["trec_eval"].items()
}

_FOLDED: Final = {name.lower(): name for name in TREC}


def split_name(text: str) -> tuple[str, str | None] | None:
    """Return the name and the parameters of a text in trec_eval's grammar; ``None`` for any other text.

    >>> split_name("P.5,10"), split_name("11pt_avg"), split_name("nDCG@10")
    (('P', '5,10'), ('11pt_avg', None), None)
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    if text in NICKNAMES:
        return text, None
    name = _FOLDED.get(shape["name"].lower())
    if name is None and (name := _FOLDED.get(text.lower())):
        return name, None
    return None if name is None else (name, shape["given"])


def is_inside_parameters(word: str, rest: str) -> bool:
    """Return True if a comma between two pieces of text separates parameters, and not measures."""
    parts = split_name(word)
    return parts is not None and parts[1] is not None and _NEXT.match(rest) is not None


def own_texts(text: str) -> list[str] | None:
    """Return the texts of measures here for a name of trec_eval; ``None`` for any other text.

    >>> own_texts("P.5,10"), own_texts("set_F_0.25"), own_texts("nDCG@10")
    (['P@5', 'P@10'], ['F(beta=0.5)'], None)
    """
    parts = split_name(text)
    if parts is None:
        return None
    name, parameter = parts
    pairs = [
        pair
        for trec_name in NICKNAMES.get(name, (name,))
        for pair in TREC[trec_name].texts(parameter)
    ]
    return [ours for _, ours in pairs if ours]


def name_of(measure: Named) -> str | None:
    """Return trec_eval's name of a measure, as it prints it; ``None`` where it has none.

    Names with recall levels have the meaning of version 10.
    """
    text = str(measure)
    if text == "P":  # over the whole list there is no other denominator
        return "set_P"
    for trec in TREC.values():
        for parameter in _guesses(trec, measure):
            for name, ours in trec.texts(parameter):
                if ours == text:
                    return name
    return None


def _guesses(trec: TrecMeasure, measure: Named) -> list[str | None]:
    """Return the parameters under which a name may mean a measure."""
    if trec.values == "cutoffs":
        return [] if measure.k is None else [str(measure.k)]
    if trec.values == "shares":
        share = getattr(measure, "recall", getattr(measure, "multiple", None))
        return [] if share is None else [f"{share:.15g}"]
    if trec.values == "none":
        return [None]
    guess = _GUESSES.get(trec.values if trec.values != "coefficients" else trec.name)
    try:
        return [None] if guess is None else [None, guess(measure)]
    except (AttributeError, TypeError):
        # a measure of another class, or without such a parameter
        return [None]
