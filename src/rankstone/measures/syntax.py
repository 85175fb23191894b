"""Text to measure and back: ir_measures' grammar, and the spellings of trec_eval and ranx.

.. code-block:: text

    measure  = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    parameter = key "=" ( number | word | "quoted" | "{" grade ":" gain { "," … } "}" )

``str(measure)`` is the canonical text; it holds every choice that moves the number and leaves
defaults out.  Parsing it gives the same measure back.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import BadParameter, UnknownMeasure, nearest, printable
from rankstone.measures.base import Threshold
from rankstone.measures.named import Named
from rankstone.measures.parts import GainTable
from rankstone.measures.registry import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["parse_measure", "parse_measures", "trec_name"]

#: alternative spellings that stand for a name and parameters
_SPELLINGS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "map": ("AP", {}),
    "mrr": ("RR", {}),
    "ndcg": ("nDCG", {}),
    "precision": ("P", {}),
    "gmap": ("AP", {"agg": "gmean"}),
    "gm_map": ("AP", {"agg": "gmean"}),
    "map_cut": ("AP", {}),
    "recip_rank": ("RR", {}),
    "recall": ("R", {}),
    "set_recall": ("R", {}),
    "set_p": ("P", {"denom": "n"}),
    "ndcg_cut": ("nDCG", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRelRet", {}),
    "hit_rate": ("Success", {}),
    "hits": ("NumRelRet", {"agg": "mean"}),
    "r-precision": ("Rprec", {}),
    "f1": ("F", {}),
    "dcg_burges": ("DCG", {"gain": "exp2"}),
    "ndcg_burges": ("nDCG", {"gain": "exp2"}),
    "hr": ("Success", {}),
}

#: trec_eval measures whose number behind the last underscore or dot is a cutoff
_TREC_CUT: Final = {
    "p": "P",
    "recall": "R",
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "success": "Success",
}
_TREC_NAMES: Final = {
    "AP": ("map", "map_cut_{k}"),
    "P": ("set_P", "P_{k}"),
    "R": ("set_recall", "recall_{k}"),
    "nDCG": ("ndcg", "ndcg_cut_{k}"),
    "RR": ("recip_rank", None),
    "Success": (None, "success_{k}"),
    "Rprec": ("Rprec", None),
    "NumRet": ("num_ret", None),
    "NumRel": ("num_rel", None),
    "NumRelRet": ("num_rel_ret", None),
}

_SHAPE: Final = re.compile(
    r"""^(?P<name>[A-Za-z_][\w.\-]*?)       # nDCG, ndcg_cut_10, r-precision
        (?:-l(?P<early>\d+))?               # ranx: relevant from this grade up
        (?:\((?P<inside>.*)\))?             # (gain=exp2, rel=2)
        (?:@(?P<cut>.*?))?                  # @10
        (?:-l(?P<late>\d+))?$               # ranx, again
    """,
    re.VERBOSE | re.DOTALL,
)
_TREC_SHAPE: Final = re.compile(r"^(?P<name>[A-Za-z_]+?)[_.](?P<cuts>\d+(?:,\d+)*)$")


def parse_measures(measures: str | Named | Iterable[str | Named]) -> tuple[Named, ...]:
    """Read measures from text or a list; several texts may stand in one, divided by blanks or commas.

    Parameters
    ----------
    measures
        ``"nDCG@10 AP RR@10"``, ``["nDCG@10", AP()]``, ``"ndcg_cut_10,map"``.

    Returns
    -------
    tuple of Named
        In the order given, each once.

    Raises
    ------
    UnknownMeasure, BadParameter
        Naming the nearest measures and the values that are allowed.

    Examples
    --------
    >>> [str(m) for m in parse_measures("ndcg@10 map P.5,10 AP(denom=min_R_k, rel=2)@5")]
    ['nDCG@10', 'AP', 'P@5', 'P@10', 'AP(rel=2, denom=min_R_k)@5']
    """
    if isinstance(measures, (str, Named)):
        measures = [measures]
    found: dict[Named, None] = {}
    for item in measures:
        if isinstance(item, Named):
            found[item] = None
        else:
            found.update((m, None) for text in _split(str(item)) for m in _read(text))
    if not found:
        raise UnknownMeasure("no measure given", fix='name some: "nDCG@10 AP RR@10"')
    return tuple(found)


def parse_measure(text: str | Named) -> Named:
    """Read exactly one measure.

    >>> parse_measure("nDCG(gain=exp2)@10").gain
    'exp2'
    """
    found = parse_measures(text)
    if len(found) != 1:
        raise UnknownMeasure(f"one measure expected, {len(found)} given", given=str(text))
    return found[0]


def trec_name(measure: Named) -> str:
    """Return trec_eval's name of a measure where it has one, the canonical name otherwise.

    >>> [trec_name(measure) for measure in parse_measures("nDCG@10 nDCG(gain=exp2)@10")]
    ['ndcg_cut_10', 'nDCG(gain=exp2)@10']
    """
    changed = measure.changed()
    if measure.name == "AP" and changed == {"agg": "gmean"} and measure.k is None:
        return "gm_map"
    if measure.name == "P" and measure.k is None:
        return "set_P" if changed.get("denom", "n") == "n" and set(changed) <= {"denom"} else str(measure)
    whole, cut = _TREC_NAMES.get(measure.name, (None, None))
    name = whole if measure.k is None else cut
    return str(measure) if changed or name is None else name.format(k=measure.k)


def _split(text: str) -> list[str]:
    """Cut a text at blanks and commas that stand outside brackets and trec_eval's cutoff lists."""
    parts, depth, word = [], 0, ""
    for at, char in enumerate(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(char, 0)
        divides = char.isspace() or (char == "," and not _in_cut_list(word, text[at + 1 :]))
        if divides and depth == 0:
            parts.append(word)
            word = ""
        else:
            word += char
    if depth:
        raise BadParameter("brackets do not match", given=printable(text))
    return [part for part in [*parts, word] if part]


def _in_cut_list(word: str, rest: str) -> bool:
    return bool(_TREC_SHAPE.match(word)) and rest[:1].isdigit()


def _read(text: str) -> list[Named]:
    trec = _TREC_SHAPE.match(text)
    if trec and trec["name"].lower() in _TREC_CUT:
        name = _TREC_CUT[trec["name"].lower()]
        return [_build(name, {}, cut, text) for cut in trec["cuts"].split(",")]
    shape = _SHAPE.match(text)
    if shape is None:
        raise UnknownMeasure(f"{printable(text)!r} is no measure", expected="such as nDCG@10, AP(rel=2)@100")
    given = dict(_pairs(shape["inside"] or "", text))
    if level := shape["early"] or shape["late"]:
        given["rel"] = level
    name, extra = _resolve(shape["name"])
    return [_build(name, {**extra, **given}, shape["cut"], text)]


def _resolve(name: str) -> tuple[str, dict[str, Any]]:
    folded = name.lower()
    if name in MEASURES:
        return name, {}
    if folded in _SPELLINGS:
        return _SPELLINGS[folded]
    if canonical := MEASURES.named(name):
        return canonical, {}
    known = [*_SPELLINGS, *MEASURES.spellings()]
    close = list(dict.fromkeys(_resolve(word)[0] for word in nearest(name, known)))
    raise UnknownMeasure(
        f"there is no measure {printable(name)!r}",
        fix=(f"did you mean {', '.join(close)}? " if close else "") + "`rankstone measures` lists them all",
    )


def _build(name: str, given: dict[str, Any], cut: str | None, text: str) -> Named:
    cls = MEASURES[name]
    known = {f.name: f for f in fields(cls) if f.name != "k"}
    arguments: dict[str, Any] = {}
    for key, value in _translated(given):
        if key not in known:
            raise BadParameter(
                f"{cls.name} has no parameter {printable(key)!r}",
                given=printable(text),
                expected=", ".join(known) or "no parameters",
                fix=_hint(key, list(known)),
            )
        arguments[key] = _value(cls, key, value)
    if cut is not None:
        arguments["k"] = _cutoff(cut, text)
    try:
        return cls(**arguments)
    except BadParameter as error:
        error.given = error.given or printable(text)
        raise


def _translated(given: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield parameters under our names: ir_measures says dcg='exp-log2' and gains={…}."""
    for key, value in given.items():
        if key == "dcg":
            yield "gain", {"exp-log2": "exp2", "log2": "linear"}.get(str(value).strip("'\""), value)
        else:
            yield ("gain" if key == "gains" else key), value


def _hint(key: str, known: list[str]) -> str | None:
    if key == "judged_only":
        return "that is an option of alignment here: unjudged=condensed"
    if key == "cutoff":
        return "write the cutoff behind an @: nDCG@10"
    close = nearest(key, known, n=1)
    return f"did you mean {close[0]!r}?" if close else None


def _cutoff(cut: str, text: str) -> int:
    if not re.fullmatch(r"\d+", cut) or int(cut) < 1:
        raise BadParameter(
            f"the cutoff {printable(cut)!r} is no rank",
            given=printable(text),
            expected="a whole number from 1 up behind the @",
        )
    return int(cut)


_PAIR: Final = re.compile(
    r"""\s*(?P<key>\w+)\s*=\s*(?P<value>\{[^{}]*\}|"[^"]*"|'[^']*'|[^,{}"'=]+?)\s*(?:,|$)""", re.VERBOSE
)


def _pairs(inside: str, text: str) -> Iterable[tuple[str, str]]:
    at = 0
    while at < len(inside):
        pair = _PAIR.match(inside, at)
        if pair is None:
            raise BadParameter(
                "a parameter cannot be read",
                given=printable(text),
                expected="name=value, name=value",
            )
        yield pair["key"], pair["value"]
        at = pair.end()


def _value(cls: type[Named], key: str, value: str) -> Any:  # noqa: ANN401 - by the parameter's kind
    quoted = value[:1] in "\"'" and value[-1:] == value[:1]
    bare = value[1:-1] if quoted else value
    if key == "rel":
        return _threshold(bare)
    if bare.startswith("{"):
        return _table(bare)
    if key == "agg" or any(f.name == key and f.metadata.get("choices") for f in fields(cls)):
        return bare
    try:
        return float(bare)
    except ValueError:
        raise BadParameter(f"{cls.name}: {key}={printable(bare)} is no number") from None


def _threshold(text: str) -> Threshold:
    strict = text.startswith(">") and not text.startswith(">=")
    number = text.lstrip(">=").strip()
    try:
        level = float(number)
    except ValueError:
        level = float("nan")
    if not math.isfinite(level):
        raise BadParameter(
            f"rel={printable(text)} is no threshold", expected='a grade (rel=2), or ">2" for above it'
        )
    return Threshold(level, strict=strict)


def _table(text: str) -> GainTable:
    pairs = []
    for entry in filter(None, (part.strip() for part in text[1:-1].split(","))):
        grade, _, gain = entry.partition(":")
        try:
            pairs.append((float(grade), float(gain)))
        except ValueError:
            raise BadParameter(
                f"gain table: {printable(entry)} is no pair", expected="{grade: gain, …}, as {1: 1, 2: 3}"
            ) from None
    if not pairs or len({grade for grade, _ in pairs}) < len(pairs):
        raise BadParameter("the gain table is empty or names a grade twice", given=printable(text))
    return GainTable(tuple(sorted(pairs)))
