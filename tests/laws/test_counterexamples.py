"""Claiming nothing is no way out: a law that a measure does not claim is broken in a world that is kept."""

from __future__ import annotations

import pytest
from tests.laws.counterexamples import Pair, breaks, kept, not_claimed

WORLDS = kept()
PAIRS = not_claimed()


def test_what_is_not_claimed_has_a_counterexample() -> None:
    """Each law that a measure does not claim has a world, and no world is left over.

    ``python -m tests.laws.counterexamples`` looks for missing ones.  Where it finds none the law may well
    hold: then the measure should claim it, or a world be made by hand.
    """
    assert WORLDS.keys() == set(PAIRS)


@pytest.mark.parametrize("law", sorted({law for law, _ in WORLDS}))
def test_the_counterexample_breaks_the_law(law: str) -> None:
    """The law does not hold in the world that is kept."""
    mine: list[Pair] = [pair for pair in WORLDS if pair[0] == law]
    assert [pair for pair in mine if not breaks(pair, WORLDS[pair])] == []
