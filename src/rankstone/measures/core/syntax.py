"""Text to measure and back: ir_measures' grammar, and the spellings of trec_eval and ranx.

.. code-block:: text

    measure  = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    parameter = key "=" ( number | word | "quoted" | "{" grade ":" gain { "," … } "}" | measure )

``str(measure)`` is the canonical text; it holds every choice that moves the number and leaves
defaults out.  Parsing it gives the same measure back.

Names of measures: ours, and the words other tools have for them.

Values of parameters, as they stand in the text of a measure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rankstone.errors import BadParameter, UnknownMeasure, nearest, printable
from rankstone.measures.core import trec_eval_names as trec_names
from rankstone.measures.core.definition import Named, Threshold
from rankstone.measures.core.gains_and_discounts import GainTable
from rankstone.measures.core.registry import MEASURES
from rankstone.measures.core.trec_eval_names import NICKNAMES, TREC

if TYPE_CHECKING:
    from dataclasses import Field


__all__ = [
    "bare_text",
    "is_ours",
    "measure_kind",
    "parse_measure",
    "parse_measures",
    "parse_only",
    "read_as",
    "resolve",
    "trec_name",
    "value_of",
]

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
    "set_f": ("F", {}),
    "setp": ("P", {"denom": "n"}),
    "setr": ("R", {}),
    "ndcg_cut": ("nDCG", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRelRet", {}),
    "num_nonrel_judged_ret": ("NumNonrelRet", {}),
    "hit_rate": ("Success", {}),
    "hits": ("NumRelRet", {"agg": "mean"}),
    "r-precision": ("Rprec", {}),
    "f1": ("F", {}),
    "dcg_burges": ("DCG", {"gain": "exp2"}),
    "ndcg_burges": ("nDCG", {"gain": "exp2"}),
    "hr": ("Success", {}),
    "wss_95": ("WSS", {}),
    "wss_100": ("WSS", {"recall": "1"}),
    "ndcg_ia": ("IA", {"of": "nDCG"}),
    "ndcg-ia": ("IA", {"of": "nDCG"}),
    "rr_ia": ("IA", {"of": "RR"}),
    "mrr_ia": ("IA", {"of": "RR"}),
    "mrr-ia": ("IA", {"of": "RR"}),
}

#: words that libraries use for different measures: what may be meant, in our words
_SEVERAL: Final = {
    "accuracy": (
        (
            "Success@k (anything relevant among the first k: top-k accuracy, as in BEIR), R@1 (MTEB), or "
            "AUC(negatives=candidates, unreturned=exclude, tied=order) (pairs in order: ir_measures)"
        ),
        "write Success@10, say, or name the library whose word it is: --convention beir",
    )
}

#: words that trec_eval's list of cutoffs, or its persistence, belongs to when they stand alone
_TREC_ALONE: Final = ("map_cut", "ndcg_cut", "rbp", "rbp_resid", *NICKNAMES)


def is_ours(name: str) -> bool:
    """Say whether a word means something before trec_eval is asked."""
    if name in _TREC_ALONE:
        return False
    return name in MEASURES or name.lower() in _SPELLINGS or MEASURES.named(name) is not None


def resolve(name: str) -> tuple[str, dict[str, Any]]:
    """Return our name for a word, and the parameters it stands for; refuse a word that nobody knows."""
    folded = name.lower()
    if name in MEASURES:
        return name, {}
    if folded in _SPELLINGS:
        return _SPELLINGS[folded]
    if canonical := MEASURES.named(name):
        return canonical, {}
    if folded in _SEVERAL:
        meant, fix = _SEVERAL[folded]
        raise UnknownMeasure(
            f"{printable(name)!r} means different measures in different libraries", expected=meant, fix=fix
        )
    if attached := _ATTACHED.fullmatch(name):
        kind = _alike(attached["name"])
        if kind is not None:
            raise UnknownMeasure(
                f"there is no measure {printable(name)!r}",
                fix=f"write {kind}@{attached['cut']}; `rankstone measures show {kind}` says how other tools "
                "differ",
            )
    known = [*_SPELLINGS, *MEASURES.spellings(), *TREC]
    close = list(dict.fromkeys(_named(word) for word in nearest(name, known)))
    raise UnknownMeasure(
        f"there is no measure {printable(name)!r}",
        fix=(f"did you mean {', '.join(close)}? " if close else "") + "`rankstone measures` lists them all",
    )


#: a cutoff as other libraries attach it: ndcg_at_10, MRR_10
_ATTACHED: Final = re.compile(r"(?P<name>.+?)_(?:at_)?(?P<cut>\d+)")


def _alike(name: str) -> str | None:
    """Return the name of a measure that takes a cutoff and is called so, or nothing."""
    try:
        kind = MEASURES[resolve(name)[0]]
    except UnknownMeasure:
        return None
    return kind.name if kind.takes_cutoff else None


def _named(word: str) -> str:
    """Return our name for a spelling, trec_eval's own for what it has and we spell otherwise."""
    return word if word in TREC and not is_ours(word) else resolve(word)[0]


def bare_text(text: str) -> str:
    """Return a text without the quotes around it."""
    quoted = text[:1] in "\"'" and text[-1:] == text[:1]
    return text[1:-1] if quoted else text


def value_of(cls: type[Named], key: str, text: str) -> Any:  # noqa: ANN401 - by the parameter's kind
    """Return what a text means as the value of a parameter: a number, word, truth, list, table, threshold."""
    bare = bare_text(text)
    if key == "rel":
        return _threshold(bare)
    declared = next(f for f in fields(cls) if f.name == key)
    if bare.startswith("{"):
        return _table(bare) if key == "gain" else _list(cls, declared, bare)
    if isinstance(declared.default, bool):
        return _truth(cls, key, bare)
    words, free = declared.metadata.get("choices"), declared.metadata.get("word")
    worded = words and (bare in words or declared.metadata.get("low") is None)
    return bare if free or worded else _number(cls, key, bare)


def _number(cls: type[Named], key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadParameter(f"{cls.name}: {key}={printable(text)} is no number") from None


def _truth(cls: type[Named], key: str, text: str) -> bool:
    if text not in ("True", "False"):
        raise BadParameter(f"{cls.name}: {key}={printable(text)} is not known", expected="True or False")
    return text == "True"


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


def _list(cls: type[Named], declared: Field[Any], text: str) -> tuple[float, ...]:
    if "tuple" not in str(declared.type):
        raise BadParameter(f"{cls.name}: {declared.name}={printable(text)} is a list", expected="one value")
    try:
        return tuple(float(entry) for entry in text[1:-1].split(","))
    except ValueError:
        raise BadParameter("a list of numbers cannot be read", given=printable(text)) from None


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


Kind = TypeVar("Kind", bound=Named)

_SHAPE: Final = re.compile(
    r"""^(?P<name>[^\W\d][\w.\-#]*?)      # nDCG, ndcg_cut_10, r-precision, α-nDCG, D#-nDCG
        (?:-l(?P<early>\d+))?               # ranx: relevant from this grade up
        (?:\((?P<inside>.*)\))?             # (gain=exp2, rel=2)
        (?:@(?P<cut>.*?))?                  # @10
        (?:-l(?P<late>\d+))?$               # ranx, again
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_measures(measures: str | Named | Iterable[str | Named]) -> tuple[Named, ...]:
    """Read measures from text or a list; several texts may stand in one, divided by blanks or commas.

    Parameters
    ----------
    measures
        ``"nDCG@10 AP RR@10"``, ``["nDCG@10", AP()]``, ``"ndcg_cut_10,map"``; measures of ir_measures are read
        by the names they print.

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
    if isinstance(measures, str) or not isinstance(measures, Iterable):
        measures = [measures]
    found: dict[Named, None] = {}
    for item in measures:
        if isinstance(item, Named):
            found[item] = None
        elif isinstance(item, type) and issubclass(item, Named):
            raise UnknownMeasure(
                f"{item.__name__} is a kind of measure, not yet a measure",
                fix=f'write {item.__name__}() or "{item.__name__}", with a cutoff {item.__name__} @ 10 or '
                f'"{item.__name__}@10"',
            )
        elif isinstance(item, str) or _is_of_ir_measures(item):
            found.update((m, None) for text in _split(str(item)) for m in _read(text))
        else:
            raise _no_measure(item)
    if not found:
        raise UnknownMeasure("no measure given", fix='name some: "nDCG@10 AP RR@10"')
    return tuple(found)


def _is_of_ir_measures(item: object) -> bool:
    """Say whether an object is a measure of ir_measures, which prints as the text that stands for it here."""
    return any(kind.__module__.partition(".")[0] == "ir_measures" for kind in type(item).__mro__)


def parse_only(
    kinds: tuple[type[Kind], ...], measures: str | Named | Iterable[str | Named], refused: str
) -> tuple[Kind, ...]:
    """Read measures of some kinds, and refuse all others.

    Parameters
    ----------
    kinds
        What the measures may be.
    measures
        As for :func:`parse_measures`.
    refused
        What is said of a measure of another kind, behind its name.
    """
    found: list[Kind] = []
    given = [measures] if isinstance(measures, str) or not isinstance(measures, Iterable) else [*measures]
    try:
        read = parse_measures(given)
    except BadParameter:  # what a measure lacks matters less than that it has no place here
        texts = (str(item) for item in given if isinstance(item, str) or _is_of_ir_measures(item))
        for text in (text for item in texts for text in _split(item)):
            if not issubclass(kind := measure_kind(text), kinds):
                raise BadParameter(f"{kind.name} {refused}", fix=f"use {kind.computed_by}") from None
        raise
    for measure in read:
        if not isinstance(measure, kinds):
            raise BadParameter(f"{measure} {refused}", fix=f"use {measure.computed_by}")
        found.append(measure)
    return tuple(found)


def _no_measure(given: object) -> UnknownMeasure:
    return UnknownMeasure(f"{printable(repr(given), 60)} is no measure", fix='name some: "nDCG@10 AP RR@10"')


def parse_measure(text: str | Named) -> Named:
    """Read exactly one measure: a text, or a measure as it is.

    >>> parse_measure("nDCG(gain=exp2)@10").gain
    'exp2'
    """
    found = parse_measures(text)
    if len(found) != 1:
        raise UnknownMeasure(f"one measure expected, {len(found)} given", given=str(text))
    return found[0]


def measure_kind(text: str) -> type[Named]:
    """Return the kind of measure that a name or text stands for, whatever its parameters.

    >>> measure_kind("map").name, measure_kind("nDCG(gain=exp2)@10").name
    ('AP', 'nDCG')
    """
    shape = _SHAPE.match(text)
    name = shape["name"] if shape else text
    if not is_ours(name) and (texts := trec_names.expanded(text)):
        return measure_kind(texts[0])
    return MEASURES[resolve(name)[0]]


def read_as(kind: type[Named], text: str) -> Named:
    """Read the parameters and the cutoff of a measure whose kind is known, whatever name stands before them.

    >>> from rankstone import AP
    >>> print(read_as(AP, "AveragePrecision(rel=2)@5"))
    AP(rel=2)@5
    """
    shape = _SHAPE.fullmatch(text)
    assert shape is not None, text  # noqa: S101 - not for what users write
    return _build(kind, dict(_pairs(shape["inside"] or "", text)), shape["cut"], text)


def trec_name(measure: Named) -> str:
    """Return trec_eval's name of a measure where it has one, the canonical name otherwise.

    >>> [trec_name(measure) for measure in parse_measures("nDCG@10 nDCG(gain=exp2)@10")]
    ['ndcg_cut_10', 'nDCG(gain=exp2)@10']
    """
    return trec_names.name_of(measure) or str(measure)


def _split(text: str) -> list[str]:
    """Cut a text at blanks and commas that stand outside brackets and trec_eval's cutoff lists."""
    parts, depth, word = [], 0, ""
    for at, char in enumerate(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(char, 0)
        divides = char.isspace() or (char == "," and not trec_names.continues(word, text[at + 1 :]))
        if divides and depth == 0:
            parts.append(word)
            word = ""
        else:
            word += char
    if depth:
        raise BadParameter("brackets do not match", given=printable(text))
    return [part for part in [*parts, word] if part]


def _read(text: str) -> list[Named]:
    shape = _SHAPE.match(text)
    if not (shape and is_ours(shape["name"])) and (texts := trec_names.expanded(text)):
        return [_read_ours(ours) for ours in texts]
    return [_read_ours(text)]


def _read_ours(text: str) -> Named:
    shape = _SHAPE.match(text)
    if shape is None:
        raise UnknownMeasure(
            f"{printable(text)!r} is no measure",
            expected="such as nDCG@10, AP(rel=2)@100",
            fix=f"each cutoff with its measure: nDCG@5 nDCG@{text}" if text.isdecimal() else None,
        )
    given = dict(_pairs(shape["inside"] or "", text))
    if level := shape["early"] or shape["late"]:
        given["rel"] = level
    name, extra = resolve(shape["name"])
    return _build(MEASURES[name], {**extra, **given}, shape["cut"], text)


def _build(cls: type[Named], given: dict[str, Any], cut: str | None, text: str) -> Named:
    known = {f.name: f for f in fields(cls) if f.name != "k"}
    arguments: dict[str, Any] = {}
    if cls.name == "IPrec" and cut is not None and "recall" not in given:  # ir_measures: IPrec@0.1
        given, cut = {**given, "recall": cut}, None
    for key, value in _translated(given):
        if key not in known:
            raise BadParameter(
                f"{cls.name} has no parameter {printable(key)!r}",
                given=printable(text),
                expected=", ".join(known) or "no parameters",
                fix=_hint(key, list(known)),
            )
        arguments[key] = parse_measure(bare_text(value)) if key == "of" else value_of(cls, key, value)
    if cut is not None:
        arguments["k"] = _cutoff(cut, text)
    try:
        return cls(**arguments)
    except BadParameter as error:
        error.given = error.given or printable(text)
        raise


def _translated(given: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield parameters under our names: ir_measures says dcg='exp-log2', gains={…}, max_rel and min_rel."""
    for key, value in given.items():
        if key == "dcg":
            yield "gain", {"exp-log2": "exp2", "log2": "linear"}.get(str(value).strip("'\""), value)
        elif key == "max_rel":
            yield "max_grade", value
        elif key == "min_rel":
            if str(value) != "0":
                raise BadParameter(
                    f"min_rel={printable(str(value))}: scales start at 0 here",
                    fix="say what each grade is worth: gain={1: 0, 2: 0.5, 3: 1}",
                )
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
    r"""\s*(?P<key>\w+)\s*=\s*(?P<value>
        \{[^{}]*\} | "[^"]*" | '[^']*'
        | [\w.\-]+\([^()]*\)(?:@\d+)?      # another measure: of=nDCG(gain=exp2)@10
        | [^,{}"'=]+?
    )\s*(?:,|$)""",
    re.VERBOSE,
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
