"""What cards print is right: every "sum = number" in an example is computed again."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.rows import each

from rankstone.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHARACTERS = re.compile(r"(?:log2|sqrt|[0-9.+*/() -])+")
_IN_ASCII = str.maketrans({"−": "-", "·": "*", "½": " 0.5", "²": "**2", "√": "sqrt "})


def value(text: str) -> float | None:
    """Return what a text is worth, if it is arithmetic and nothing else."""
    text = re.sub(
        r"(log2|sqrt) ([0-9.]+)", r"\1(\2)", text.translate(_IN_ASCII).strip()
    )
    text = re.sub(r"(?<=[0-9]) 0\.5", "+0.5", text)
    if not _CHARACTERS.fullmatch(text):
        return None
    try:
        return float(
            eval(text, {"__builtins__": {}}, {"log2": math.log2, "sqrt": math.sqrt})  # noqa: S307 - ours
        )
    except (SyntaxError, TypeError):
        return None


def equations(example: str) -> Iterator[tuple[str, str]]:
    """Yield every two texts that an example says are equal."""
    for sentence in re.split(r"[;:,](?=\s)|\bso\b|\band\b", example):
        yield from pairwise(sentence.split(" = "))


@each("name", sorted(MEASURES))
def test_examples_are_computed_rightly(name: str) -> None:
    """Both sides of an equation are the same number, to the decimals that are printed."""
    for left, right in equations(MEASURES[name].card.example):
        computed, printed = value(left), value(right)
        if computed is None or printed is None:
            continue
        decimals = (
            len(right.partition(".")[2].strip())
            if re.fullmatch(r"\s*[0-9.]+\s*", right)
            else 12
        )
        rounded = (
            1.01 if re.search(r"[0-9]\.[0-9]{4}", left) else 0.501
        )  # terms that are rounded themselves
        assert abs(computed - printed) <= max(rounded * 10**-decimals, 1e-12), left


def test_examples_are_seen() -> None:
    """The check above would notice: it reads most of the cards."""
    seen = {
        name
        for name, kind in MEASURES.items()
        for sides in equations(kind.card.example)
        if all(value(side) is not None for side in sides)
    }
    assert len(seen) > len(MEASURES) / 2, sorted(set(MEASURES) - seen)
