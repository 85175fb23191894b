"""Bugs of other libraries, and measures only they have: replayed under their names, offered under no other.

A replay is a measure like any other, a value over hits; a data file names it ``replay:<file>.<Class>@<k>``.
Its card is in ``cards.toml``.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from rankstone.measures.core.definition import Card

if TYPE_CHECKING:
    from rankstone.measures.core.definition import Span


@cache
def _cards() -> dict[str, Any]:
    return tomllib.loads(
        (files("rankstone.conventions.replays") / "cards.toml").read_text(
            encoding="utf-8"
        )
    )


class Replay:
    """Mixin before a measure: what ``cards.toml`` has under the name of its file and its own is its card.

    >>> from rankstone.conventions.replays.catboost import AverageGain
    >>> AverageGain.card.span
    (None, None)
    """

    card: ClassVar[Card]

    def __init_subclass__(cls, **keywords: str | None) -> None:
        """Set the card before the measure is named."""
        of_file = _cards().get(cls.__module__.rpartition(".")[2], {})
        if cls.__name__ in of_file:
            facts = dict(of_file[cls.__name__])
            low, high = facts.pop("span", (0.0, 1.0))
            span: Span = (
                low if math.isfinite(low) else None,
                high if math.isfinite(high) else None,
            )
            cls.card = Card(**facts, span=span)
        super().__init_subclass__(**keywords)
