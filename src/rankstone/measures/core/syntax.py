"""Text to measure and back: ir_measures' grammar, and the spellings of trec_eval and ranx.

.. code-block:: text

    measure  = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    parameter = key "=" ( number | word | "quoted" | "{" grade ":" gain { "," … } "}" | measure )

``str(measure)`` is the canonical text; it holds every choice that moves the number and leaves
defaults out.  Parsing it gives the same measure back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from rankstone.errors import (
    BadParameter,
    UnknownMeasure,
    did_you_mean,
    nearest,
    printable,
)
from rankstone.hits.budgets import Budget
from rankstone.measures.core.definition import CUTOFFS, Named, Threshold
from rankstone.measures.core.gains_and_discounts import GainTable
from rankstone.measures.core.registry import MEASURES

if TYPE_CHECKING:
    from dataclasses import Field

#: names that have trec_eval's default cutoffs, or its persistence, where nothing follows them
_TREC_DEFAULTS: Final = ("map_cut", "ndcg_cut", "rbp", "rbp_resid")
#: a cutoff as other libraries attach it: ndcg_at_10, MRR_10, recip_rank_cut_10
_ATTACHED: Final = re.compile(r"(?P<name>.+?)_(?:at_|cut_)?(?P<cut>\d+)")
Kind = TypeVar("Kind", bound=Named)
_SHAPE: Final = re.compile(
    r"""^(?P<name>[^\W\d][\w.\-#]*?)      # nDCG, ndcg_cut_10, r-precision, α-nDCG, D#-nDCG
        (?:-l(?P<early>\d+))?               # ranx: relevant from this grade up
        (?:\((?P<inside>.*?)\))?            # (gain=exp2, rel=2)
        (?:@(?P<cut>[^\W\d]\w*\([^()]*\)|[^()]*?))?    # @10, @tokens(2000)
        (?:-l(?P<late>\d+))?$               # ranx, again
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIR: Final = re.compile(
    r"""\s*(?P<key>\w+)\s*=\s*(?P<value>
        \{[^{}]*\} | "[^"]*" | '[^']*'
        | [\w.\-]+\([^()]*\)(?:@\d+)?      # another measure: of=nDCG(gain=exp2)@10
        | [^,{}"'=]+?
    )\s*(?:,|$)""",
    re.VERBOSE,
)


def _trec() -> Any:  # noqa: ANN401 - a module
    """Import the names of other programs, which take milliseconds to read, only if one may be meant."""
    from rankstone.measures.core import trec_eval_names

    return trec_eval_names


def _is_own_name(name: str) -> bool:
    """Return True for a name that is not left to trec_eval's grammar."""
    if name in MEASURES:
        return True
    if name in _TREC_DEFAULTS or name in _trec().NICKNAMES:
        return False
    return (
        name.lower() in _trec().NAMES["spellings"]
        or MEASURES.canonical_name(name) is not None
    )


def resolve(name: str) -> tuple[str, dict[str, Any]]:
    """Return the canonical name for a spelling, and the parameters that it implies; refuse other words."""
    folded = name.lower()
    if name in MEASURES:
        return name, {}
    if text := _trec().NAMES["spellings"].get(folded):
        shape = _match(text)
        return shape["name"], dict(_pairs(shape["inside"] or "", text))
    if canonical := MEASURES.canonical_name(name):
        return canonical, {}
    if folded in _trec().NAMES["ambiguous"]:
        raise UnknownMeasure(
            f"{printable(name)!r} means different measures in different libraries",
            **_trec().NAMES["ambiguous"][folded],
        )
    if attached := _ATTACHED.fullmatch(name):
        kind = _with_cutoff(attached["name"])
        if kind is not None:
            raise UnknownMeasure(
                f"there is no measure {printable(name)!r}",
                fix=f"write {kind}@{attached['cut']}; how other tools differ: rankstone measures show {kind} "
                f"(in Python rankstone.measures.MEASURES[{kind!r}].card)",
            )
    known = [*_trec().NAMES["spellings"], *MEASURES.spellings(), *_trec().TREC]
    close = list(dict.fromkeys(_suggested(word) for word in nearest(name, known)))
    if meant := _trec().NAMES["suggested"].get(folded):
        close = [meant]
    raise UnknownMeasure(
        f"there is no measure {printable(name)!r}",
        fix=(f"did you mean {', '.join(close)}? " if close else "")
        + "for a list of all: rankstone measures --all (in Python list(rankstone.measures.MEASURES))",
    )


def _with_cutoff(name: str) -> str | None:
    """Return the name of the measure that a word means if it takes a cutoff."""
    try:
        kind = MEASURES[resolve(name)[0]]
    except UnknownMeasure:
        return None
    return kind.name if kind.takes_cutoff else None


def _suggested(word: str) -> str:
    """Return the name to suggest: trec_eval's where only trec_eval has it, else the canonical one."""
    return word if word in _trec().TREC and not _is_own_name(word) else resolve(word)[0]


def _unquoted(text: str) -> str:
    quoted = text[:1] in "\"'" and text[-1:] == text[:1]
    return text[1:-1] if quoted else text


def _value(cls: type[Named], key: str, text: str) -> Any:  # noqa: ANN401 - by the parameter's kind
    """Return the value of a parameter: a number, word, boolean, list of numbers, gain table or threshold."""
    bare = _unquoted(text)
    if key == "rel":
        return _threshold(bare)
    declared = next(f for f in fields(cls) if f.name == key)
    if bare.startswith("{"):
        return _table(bare) if key == "gain" else _list(cls, declared, bare)
    if isinstance(declared.default, bool):
        return _boolean(cls, key, bare)
    words = declared.metadata.get("choices")
    free = declared.metadata.get("word")
    worded = words and (bare in words or declared.metadata.get("low") is None)
    return bare if free or worded else _number(cls, key, bare)


def _number(cls: type[Named], key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadParameter(
            f"{cls.name}: {key}={printable(text)} is not a number"
        ) from None


def _boolean(cls: type[Named], key: str, text: str) -> bool:
    if text not in ("True", "False"):
        raise BadParameter(
            f"{cls.name}: {key}={printable(text)} is not known",
            expected="True or False",
        )
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
            f"rel={printable(text)} is not a threshold",
            expected='a grade (2), or ">2" for above it',
        )
    return Threshold(level, strict=strict)


def _list(cls: type[Named], declared: Field[Any], text: str) -> tuple[float, ...]:
    if "tuple" not in str(declared.type):
        raise BadParameter(
            f"{cls.name}: {declared.name}={printable(text)} is a list",
            expected="one value",
        )
    try:
        return tuple(float(entry) for entry in text[1:-1].split(","))
    except ValueError:
        raise BadParameter(
            "a list of numbers cannot be read", given=printable(text)
        ) from None


def _table(text: str) -> GainTable:
    pairs = []
    for entry in filter(None, (part.strip() for part in text[1:-1].split(","))):
        grade, _, gain = entry.partition(":")
        try:
            pairs.append((float(grade), float(gain)))
        except ValueError:
            raise BadParameter(
                f"gain table: {printable(entry)} is not a pair",
                expected="{grade: gain, …}, as {1: 1, 2: 3}",
            ) from None
    if not pairs or len({grade for grade, _ in pairs}) < len(pairs):
        raise BadParameter(
            "the gain table is empty or names a grade twice", given=printable(text)
        )
    return GainTable(tuple(sorted(pairs)))


def parse_measures(measures: str | Named | Iterable[str | Named]) -> tuple[Named, ...]:
    """Read measures from a text or a list; a text may hold several, separated by blanks or commas.

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
    parsed: dict[Named, None] = {}
    for item in measures:
        if isinstance(item, Named):
            parsed[item] = None
        elif isinstance(item, type) and issubclass(item, Named):
            raise UnknownMeasure(
                f"{item.__name__} is a class of measures, not a measure",
                fix=f'write {item.__name__}() or "{item.__name__}", with a cutoff {item.__name__} @ 10 or '
                f'"{item.__name__}@10"',
            )
        elif isinstance(item, str) or _is_of_ir_measures(item):
            parsed.update(
                (m, None) for text in _split(str(item)) for m in _labelled(text)
            )
        else:
            raise UnknownMeasure(
                f"{printable(repr(item), 60)} is not a measure",
                fix='name some: "nDCG@10 AP RR@10"',
            )
    if not parsed:
        raise UnknownMeasure("no measure given", fix='name some: "nDCG@10 AP RR@10"')
    return tuple(parsed)


def _is_of_ir_measures(item: object) -> bool:
    """Return True for a measure of ir_measures, which prints as a text that can be parsed here."""
    return any(
        kind.__module__.partition(".")[0] == "ir_measures"
        for kind in type(item).__mro__
    )


def parse_only(
    kinds: tuple[type[Kind], ...],
    measures: str | Named | Iterable[str | Named],
    refused: str,
) -> tuple[Kind, ...]:
    """Read measures of some classes, and refuse all others.

    Parameters
    ----------
    kinds
        The classes.
    measures
        As for :func:`parse_measures`.
    refused
        The end of the message about a measure of another class, behind its name.
    """
    items = (
        [measures]
        if isinstance(measures, str) or not isinstance(measures, Iterable)
        else [*measures]
    )
    try:
        parsed = parse_measures(items)
    except BadParameter:
        # a missing parameter matters less than a measure of the wrong class
        texts = (
            str(item)
            for item in items
            if isinstance(item, str) or _is_of_ir_measures(item)
        )
        for text in (text for item in texts for text in _split(item)):
            kind = measure_kind(text)
            if not issubclass(kind, kinds):
                raise BadParameter(
                    f"{kind.name} {refused}", fix=f"use {kind.computed_by}"
                ) from None
        raise
    for measure in parsed:
        if not isinstance(measure, kinds):
            raise BadParameter(f"{measure} {refused}", fix=f"use {measure.computed_by}")
    return cast("tuple[Kind, ...]", parsed)


def parse_measure(text: str | Named) -> Named:
    """Read exactly one measure: a text, or a measure as it is.

    >>> parse_measure("nDCG(gain=exp2)@10").gain
    'exp2'
    """
    measures = parse_measures(text)
    if len(measures) != 1:
        raise UnknownMeasure(
            f"one measure expected, {len(measures)} given", given=str(text)
        )
    return measures[0]


def measure_kind(text: str) -> type[Named]:
    """Return the class of a measure from its name or text, whatever its parameters.

    >>> measure_kind("map").name, measure_kind("nDCG(gain=exp2)@10").name
    ('AP', 'nDCG')
    """
    shape = _SHAPE.match(text)
    name = shape["name"] if shape else text
    trec, _ = _trec().split_name(text) or (text, None)
    if not _is_own_name(name) and (texts := _trec().own_texts(trec)):
        return measure_kind(texts[0])
    return MEASURES[resolve(name)[0]]


def parse_as(kind: type[Named], text: str) -> Named:
    """Parse the parameters and the cutoff of a measure of a known class, whatever name precedes them.

    >>> from rankstone import AP
    >>> print(parse_as(AP, "AveragePrecision(rel=2)@5"))
    AP(rel=2)@5
    """
    shape = _match(text)
    return _build(kind, dict(_pairs(shape["inside"] or "", text)), shape["cut"], text)


def _match(text: str) -> re.Match[str]:
    """Match the text of a measure that no user wrote."""
    shape = _SHAPE.fullmatch(text)
    assert shape is not None, text  # noqa: S101 - the package's own data
    return shape


def trec_name(measure: Named) -> str:
    """Return trec_eval's name of a measure where it has one, the canonical name otherwise.

    >>> [trec_name(measure) for measure in parse_measures("nDCG@10 nDCG(gain=exp2)@10")]
    ['ndcg_cut_10', 'nDCG(gain=exp2)@10']
    """
    return _trec().name_of(measure) or str(measure)


def _split(text: str) -> list[str]:
    """Split a text at blanks and commas outside brackets and trec_eval's lists of cutoffs."""
    parts = []
    depth = 0
    word = ""
    for position, char in enumerate(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(char, 0)
        separates = char.isspace() or (
            char == "," and not _trec().is_inside_parameters(word, text[position + 1 :])
        )
        if separates and depth == 0:
            parts.append(word)
            word = ""
        else:
            word += char
    if depth:
        raise BadParameter("brackets do not match", given=printable(text))
    return [part for part in [*parts, word] if part]


def _labelled(text: str) -> list[Named]:
    """Read a text; a measure without parameters that has another name here keeps the one it was given."""
    measures = _read(text)
    if (
        len(measures) == 1
        and "(" not in text
        and text.casefold() != str(measures[0]).casefold()
    ):
        object.__setattr__(measures[0], "_label", text)
    return measures


def _read(text: str) -> list[Named]:
    shape = _SHAPE.match(text)
    if not (shape and _is_own_name(shape["name"])):
        name, parameter = _trec().split_name(text) or (text, None)
        if parameter is not None and _trec().TREC[name].ignores(parameter):
            raise _ignored(name, parameter, text)
        if texts := _trec().own_texts(text):
            return [_read_ours(ours) for ours in texts]
    return [_read_ours(text)]


def _ignored(name: str, parameter: str, text: str) -> BadParameter:
    """Return the error about a parameter that trec_eval ignores: what is asked for must have an effect."""
    what = f"{name} takes no parameter {printable(parameter)}"
    if _trec().TREC[name].values == "cutoffs":
        return BadParameter(what, given=printable(text), expected="whole numbers")
    (measure,) = _read(name)
    fix = f"write {name}"
    if parameter.isdecimal() and int(parameter) and measure.takes_cutoff:
        fix = f"write {measure @ int(parameter)}"
    return BadParameter(what, given=printable(text), fix=fix)


def _read_ours(text: str) -> Named:
    shape = _SHAPE.match(text)
    if shape is None:
        raise UnknownMeasure(
            f"{printable(text)!r} is not a measure",
            expected="such as nDCG@10, AP(rel=2)@100",
            fix=f"each cutoff with its measure: nDCG@5 nDCG@{text}"
            if text.isdecimal()
            else None,
        )
    parameters = dict(_pairs(shape["inside"] or "", text))
    if level := shape["early"] or shape["late"]:
        parameters["rel"] = level
    name, extra = resolve(shape["name"])
    return _build(MEASURES[name], {**extra, **parameters}, shape["cut"], text)


def _build(
    cls: type[Named], parameters: dict[str, Any], cut: str | None, text: str
) -> Named:
    known = {f.name: f for f in fields(cls) if f.name not in CUTOFFS}
    arguments: dict[str, Any] = {}
    # ir_measures writes a level of recall where a cutoff stands, IPrec@0.1
    if cls.name == "IPrec" and cut is not None and "recall" not in parameters:
        parameters = {**parameters, "recall": cut}
        cut = None
    for key, value in _translated(parameters):
        if key not in known:
            raise BadParameter(
                f"{cls.name} has no parameter {printable(key)!r}",
                given=printable(text),
                expected=", ".join(known) or "no parameters",
                fix=_hint(key, list(known)),
            )
        arguments[key] = (
            parse_measure(_unquoted(value)) if key == "of" else _value(cls, key, value)
        )
    if cut is not None and (budget := Budget.parse(cut)):
        if not any(f.name == "budget" for f in fields(cls)):
            raise BadParameter(f"{cls.name} takes no budget", given=printable(text))
        arguments["budget"] = budget
    elif cut is not None:
        arguments["k"] = _cutoff(cut, text)
    try:
        return cls(**arguments)
    except BadParameter as error:
        error.given = error.given or printable(text)
        raise


def _translated(parameters: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield parameters under their names here; those of ir_measures are dcg, gains, max_rel and min_rel."""
    for key, value in parameters.items():
        if key == "dcg":
            yield (
                "gain",
                {"exp-log2": "exp2", "log2": "linear"}.get(
                    str(value).strip("'\""), value
                ),
            )
        elif key == "max_rel":
            yield "max_grade", value
        elif key == "min_rel":
            if str(value) != "0":
                raise BadParameter(
                    f"min_rel={printable(str(value))}: scales start at 0 here",
                    fix="name the gain of each grade: gain={1: 0, 2: 0.5, 3: 1}",
                )
        else:
            yield ("gain" if key == "gains" else key), value


def _hint(key: str, known: list[str]) -> str | None:
    if key == "judged_only":
        return "that is no parameter here, but the option unjudged with the value condensed"
    if key == "cutoff":
        return "write the cutoff after an @: nDCG@10"
    return did_you_mean(key, known, repr)


def _cutoff(cut: str, text: str) -> int:
    if not re.fullmatch(r"\d+", cut) or int(cut) < 1:
        raise BadParameter(
            f"the cutoff {printable(cut)!r} is not a rank",
            given=printable(text),
            expected="a whole number of 1 or more after the @, or a budget such as @tokens(2000)",
            fix=f"a curve takes several budgets: @{cut}(500,1000,2000)"
            if cut.isidentifier()
            else None,
        )
    return int(cut)


def _pairs(inside: str, text: str) -> Iterable[tuple[str, str]]:
    position = 0
    while position < len(inside):
        pair = _PAIR.match(inside, position)
        if pair is None:
            raise BadParameter(
                "a parameter cannot be read",
                given=printable(text),
                expected="name=value, name=value",
            )
        yield pair["key"], pair["value"]
        position = pair.end()
