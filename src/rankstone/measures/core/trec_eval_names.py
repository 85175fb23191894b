"""The measures of trec_eval, in the order it prints them: what each is called here, and its parameters.

trec_eval's texts for measures, read and written.

.. code-block:: text

    map   P_10   P.5,10   iprec_at_recall_0.10   utility.2,-1,0,0   ndcg.1=3,2=9   official
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rankstone._text import exact
from rankstone.errors import BadParameter, printable
from rankstone.measures.core.definition import MOST_RANKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankstone.measures.core.definition import Named


__all__ = ["NICKNAMES", "TREC", "TrecMeasure", "continues", "expanded", "name_of", "taken_apart"]

_CUTOFFS: Final = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_RECALL: Final = tuple(at / 10 for at in range(11))
_MULTIPLES: Final = tuple(at / 10 for at in range(2, 21, 2))


@dataclass(frozen=True)
class TrecMeasure:
    """One of trec_eval's measures, a list of them where it has cutoffs.

    Attributes
    ----------
    name
        What trec_eval calls it.
    ours
        Our text, with ``{x}`` where the parameter goes; empty for what is no measure here.
    values
        What stands behind the name: nothing (``none``), ``cutoffs``, ``shares``, ``coefficients``,
        ``gains`` or a ``persistence`` (``p``, and gains beside it).
    default
        The values when none are given.
    counts
        True for a number of things, printed whole and added up.
    since
        The first version that has it.
    level
        True if a document counts only from the level of ``-l`` up.
    """

    name: str
    ours: str
    values: str = "none"
    default: tuple[float, ...] = ()
    counts: bool = False
    since: int = 9
    level: bool = True

    def texts(self, given: str | None, version: int = 10) -> list[tuple[str, str]]:
        """Return the names that trec_eval prints, each with our text.

        Parameters
        ----------
        given
            What stands behind the name, ``"5,10"``; ``None`` for the default.
        version
            The version whose reading of recall levels is meant.

        >>> TREC["P"].texts("10,5")
        [('P_5', 'P@5'), ('P_10', 'P@10')]
        """
        ours = self.ours.replace("{interp}", f"trec{version}")
        if self.values == "none":
            return [(self.name, ours)]
        if self.values in ("gains", "persistence"):
            return [self._paired(ours, given)]
        values = self.default if given is None else _numbers(self.name, given)
        if self.values == "coefficients":
            text = _LISTED[self.name](values).replace("{interp}", f"trec{version}")
            return [(self.name if given is None else f"{self.name}_{given}", text)]
        if self.values == "cutoffs":
            values = tuple(int(value) if abs(value) <= MOST_RANKS else 0 for value in values)
        if len(set(values)) < len(values) or (self.values == "cutoffs" and min(values) < 1):
            raise BadParameter(
                f"{self.name}: these are no cutoffs",
                given=printable(str(given)),
                expected="numbers above 0, each once" if self.values == "cutoffs" else "each number once",
            )
        shown = "{}_{}" if self.values == "cutoffs" else "{}_{:3.2f}"
        return [(shown.format(self.name, x), ours.format(x=f"{x:.15g}")) for x in sorted(values)]

    def _paired(self, ours: str, given: str | None) -> tuple[str, str]:
        pairs = {} if given is None else _pairs(self.name, given)
        name = self.name if given is None else f"{self.name}_{given}"
        p = pairs.pop("p", 0.9) if self.values == "persistence" else None
        table = ", ".join(f"{grade}: {gain:.15g}" for grade, gain in pairs.items())
        said = (
            [f"gain={{{table}}}"] if table and self.name != "rbp_resid" else []
        )  # which has no use for gains
        said += [] if p is None else [f"p={p:.15g}"]
        return name, f"{ours}({', '.join(said)})" if said else ours


def _numbers(name: str, given: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in given.split(","))
    except ValueError:
        raise BadParameter(
            f"{name}: a parameter is no number", given=printable(given), expected="numbers, divided by commas"
        ) from None


def _pairs(name: str, given: str) -> dict[str, float]:
    pairs = {}
    for pair in given.split(","):
        key, _, value = pair.partition("=")
        try:
            pairs[key.strip()] = float(value)
        except ValueError:
            raise BadParameter(
                f"{name}: a parameter is no pair", given=printable(given), expected="name=number, …"
            ) from None
    return pairs


def _utility(values: Sequence[float]) -> str:
    if len(values) != 4:  # noqa: PLR2004 - shown or not, relevant or not
        raise BadParameter(
            "utility takes four coefficients", expected="relevant shown, others shown, relevant missed, rest"
        )
    given = zip("abcd", values, (1.0, -1.0, 0.0, 0.0), strict=True)
    inside = ", ".join(f"{name}={value:.15g}" for name, value, default in given if value != default)
    return f"Utility({inside})" if inside else "Utility"


def _points(values: Sequence[float]) -> str:
    if tuple(values) == _RECALL:
        return "IAP(interp={interp})"
    return f"IAP(levels={{{', '.join(f'{value:.15g}' for value in values)}}}, interp={{interp}})"


def _f(values: Sequence[float]) -> str:
    if not values[0] > 0:
        raise BadParameter(
            f"set_F.{values[0]:g}: its parameter is the square of beta", expected="more than 0"
        )
    beta = math.sqrt(values[0])
    return "F" if beta == 1 else f"F(beta={exact(beta)})"


#: measures whose parameters are one list: our text from it
_LISTED: Final[dict[str, Callable[[Sequence[float]], str]]] = {
    "utility": _utility,
    "11pt_avg": _points,
    "set_F": _f,
    "relstring": lambda _: "",
}


def _counted(name: str, ours: str) -> TrecMeasure:
    return TrecMeasure(name, ours, counts=True, level=not name.startswith("prefs"))


def _cut(name: str, ours: str, default: tuple[float, ...] = _CUTOFFS) -> TrecMeasure:
    return TrecMeasure(name, ours, "cutoffs", default)


def _gains(name: str, ours: str, since: int = 9) -> TrecMeasure:
    return TrecMeasure(name, ours, "gains", since=since, level=False)


def _preferences() -> Iterator[TrecMeasure]:
    for suffix, when in (("", ""), ("_ret", "when=both"), ("_imp", "when=one")):
        for name, over in (("simp", ""), ("pair", "over=pairs"), ("avgjg", "over=groups")):
            inside = ", ".join(filter(None, (over, when)))
            text = f"Prefs({inside})" if inside else "Prefs"
            yield TrecMeasure(f"prefs_{name}{suffix}", text, level=False)
        if suffix != "_imp":
            inside = ", ".join(filter(None, ("over=groups", when, "nonrel=trec")))
            yield TrecMeasure(f"prefs_avgjg_Rnonrel{suffix}", f"Prefs({inside})", level=False)


#: every measure, in the order in which trec_eval prints them
TREC: Final = {
    measure.name: measure
    for measure in (
        TrecMeasure("runid", ""),
        TrecMeasure("num_q", "NumQ", counts=True),
        _counted("num_ret", "NumRet"),
        _counted("num_rel", "NumRel"),
        _counted("num_rel_ret", "NumRelRet"),
        TrecMeasure("map", "AP"),
        TrecMeasure("gm_map", "AP(agg=gmean)"),
        TrecMeasure("Rprec", "Rprec"),
        TrecMeasure("bpref", "Bpref"),
        TrecMeasure("recip_rank", "RR"),
        TrecMeasure("iprec_at_recall", "IPrec(recall={x}, interp={interp})", "shares", _RECALL),
        _cut("P", "P@{x}"),
        TrecMeasure("relstring", "", "coefficients", (10,), level=False),
        _cut("recall", "R@{x}"),
        TrecMeasure("infAP", "infAP"),
        TrecMeasure("gm_bpref", "Bpref(agg=gmean)"),
        TrecMeasure("Rprec_mult", "Rprec(multiple={x})", "shares", _MULTIPLES),
        TrecMeasure("utility", "", "coefficients", (1.0, -1.0, 0.0, 0.0)),
        TrecMeasure("11pt_avg", "", "coefficients", _RECALL),
        TrecMeasure("binG", "binG"),
        _gains("G", "G"),
        _gains("dcg", "DCG", since=10),
        _gains("ideal_dcg", "IDCG", since=10),
        _gains("ndcg", "nDCG"),
        _gains("ndcg_rel", "ndcg_rel"),
        _gains("Rndcg", "Rndcg"),
        TrecMeasure("ndcg_cut", "nDCG@{x}", "cutoffs", _CUTOFFS, level=False),
        _cut("map_cut", "AP@{x}"),
        _cut("relative_P", "P(denom=min_R_k)@{x}"),
        _cut("success", "Success@{x}", (1, 5, 10)),
        TrecMeasure("set_P", "P(denom=n)"),
        TrecMeasure("set_relative_P", "P(denom=min_R_k)"),
        TrecMeasure("set_recall", "R"),
        TrecMeasure("set_map", "SetAP"),
        TrecMeasure("set_F", "", "coefficients", (1.0,)),
        _counted("num_nonrel_judged_ret", "NumNonrelRet"),
        _counted("prefs_num_prefs_poss", "NumPrefs"),
        _counted("prefs_num_prefs_ful", "NumPrefs(what=fulfilled)"),
        _counted("prefs_num_prefs_ful_ret", "NumPrefs(what=both)"),
        *_preferences(),
        TrecMeasure("map_avgjg", "AP_avgjg"),
        _cut("P_avgjg", "P_avgjg@{x}"),
        TrecMeasure("Rprec_mult_avgjg", "Rprec_avgjg(multiple={x})", "shares", _MULTIPLES),
        TrecMeasure("yaap", "yaap"),
        TrecMeasure("rbp", "RBP", "persistence", since=10, level=False),
        TrecMeasure("rbp_resid", "RBP_residual", "persistence", since=10, level=False),
        TrecMeasure("unj", "Unjudged@{x}", "cutoffs", (5, 10, 20), since=10, level=False),
    )
}

_SET: Final = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall",
               "set_relative_P", "set_map", "set_F")  # fmt: skip
_PREFS: Final = tuple(name for name in TREC if name.startswith("prefs_"))
#: names that stand for several measures
NICKNAMES: Final = {
    "official": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref",
                 "recip_rank", "iprec_at_recall", "P"),
    "set": _SET,
    "all_trec": tuple(
        name for name in TREC
        if name not in (*_PREFS, "dcg", "ideal_dcg", "yaap") and not name.endswith("avgjg")
    ),
    "all_prefs": ("runid", "num_q", *_PREFS),
    "prefs": ("runid", "num_q", *_PREFS[:6]),
    "qrels_jg": ("runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}  # fmt: skip

_FOLDED: Final = {name.lower(): name for name in TREC}
_VALUE: Final = r"-?(?:\d+\.?\d*|\.\d+)"
_SHAPE: Final = re.compile(
    rf"(?P<name>[A-Za-z0-9_]+?)(?:[_.](?P<given>(?:\w+=)?{_VALUE}(?:,(?:\w+=)?{_VALUE})*))?"
)
_NEXT: Final = re.compile(rf"(?:\w+=)?{_VALUE}(?=[,\s]|$)")


def taken_apart(text: str) -> tuple[str, str | None] | None:
    """Return the name and the parameters of a text in trec_eval's grammar; ``None`` for any other text.

    >>> taken_apart("P.5,10"), taken_apart("11pt_avg"), taken_apart("nDCG@10")
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


def continues(word: str, rest: str) -> bool:
    """Say whether a comma between two pieces of text divides parameters, and not measures."""
    apart = taken_apart(word)
    return apart is not None and apart[1] is not None and _NEXT.match(rest) is not None


def expanded(text: str) -> list[str] | None:
    """Return our texts for one of trec_eval's; ``None`` when it is none of them.

    >>> expanded("P.5,10"), expanded("set_F_0.25"), expanded("nDCG@10")
    (['P@5', 'P@10'], ['F(beta=0.5)'], None)
    """
    apart = taken_apart(text)
    if apart is None:
        return None
    name, given = apart
    pairs = [pair for one in NICKNAMES.get(name, (name,)) for pair in TREC[one].texts(given)]
    return [ours for _, ours in pairs if ours]


def name_of(measure: Named) -> str | None:
    """Return trec_eval's name of a measure, as it prints it; ``None`` where it has none.

    Names with recall levels mean what version 10 makes of them.
    """
    text = str(measure)
    if text == "P":  # over the whole list there is no other denominator
        return "set_P"
    for trec in TREC.values():
        for given in _guesses(trec, measure):
            for name, ours in trec.texts(given):
                if ours == text:
                    return name
    return None


def _guesses(trec: TrecMeasure, measure: Named) -> list[str | None]:
    """Return the parameters with which a name may stand for a measure."""
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
    except (AttributeError, TypeError):  # another kind of measure, or without such a parameter
        return [None]


#: parameters as trec_eval writes them, from a measure that may be of another kind
_GUESSES: Final[dict[str, Callable[[Any], str]]] = {
    "persistence": lambda m: f"p={m.p:.15g}",
    "gains": lambda m: ",".join(f"{grade:g}={gain:.15g}" for grade, gain in m.gain.gains),
    "set_F": lambda m: f"{round(m.beta**2, 12):.15g}",
    "utility": lambda m: ",".join(f"{getattr(m, name):.15g}" for name in "abcd"),
    "11pt_avg": lambda m: ",".join(f"{point:.15g}" for point in m.recalls),
}
