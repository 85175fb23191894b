"""Values of parameters, as they stand in the text of a measure."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rankstone.errors import BadParameter, printable
from rankstone.measures.base import Threshold
from rankstone.measures.parts import GainTable

if TYPE_CHECKING:
    from dataclasses import Field

    from rankstone.measures.named import Named

__all__ = ["bare_text", "value_of"]


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
