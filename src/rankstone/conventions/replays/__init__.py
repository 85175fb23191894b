"""Bugs of other libraries, and measures only they have: replayed under their names, offered under no other.

A replay is a measure like any other, a value over hits; a data file names it ``replay:<file>.<Class>@<k>``.
Its card is in ``cards.toml``.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rankstone.measures.core.definition import Card

if TYPE_CHECKING:
    from rankstone.measures.core.definition import Span


@cache
def _cards() -> dict[str, Any]:
    return tomllib.loads((files("rankstone.conventions.replays") / "cards.toml").read_text(encoding="utf-8"))


def replay_card(name: str) -> Card:
    """Return the card of a replay, named by its file and class.

    >>> replay_card("catboost.AverageGain").span
    (None, None)
    """
    module, _, kind = name.partition(".")
    facts = dict(_cards()[module][kind])
    low, high = facts.pop("span", (0.0, 1.0))
    span: Span = (low if math.isfinite(low) else None, high if math.isfinite(high) else None)
    return Card(**facts, span=span)
