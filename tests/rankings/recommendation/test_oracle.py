"""Every measure of whole lists against loops that say the same thing slowly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.night import NIGHT, part, turn_of
from tests.rankings.recommendation import oracle
from tests.rankings.recommendation.table import ALL, BY_FAMILY
from tests.rankings.recommendation.worlds import world
from tests.rows import each

import rankstone

if TYPE_CHECKING:
    from tests.rankings.recommendation.worlds import World

WORLDS = 300 if NIGHT else 40
WITHIN = 1e-12


def differences(drawn: World, texts: tuple[str, ...]) -> list[str]:
    """Return what differs between the engine and the loops."""
    texts = tuple(text for text in texts if _has_groups(drawn, text))
    if not texts:
        return []
    qualities = drawn.beyond(list(texts))
    per_user = {
        (m, u): v
        for m, u, v in qualities.per_query.select(
            "measure", "query_id", "value"
        ).iter_rows()
    }
    whole = dict(qualities.mean().select("measure", "value").iter_rows())
    wrong = []
    for text in texts:
        wanted = oracle.value(text, drawn)
        got = (
            {u: per_user[text, u] for u in wanted}
            if isinstance(wanted, dict)
            else {"": whole[text]}
        )
        for user, expected in (
            wanted if isinstance(wanted, dict) else {"": wanted}
        ).items():
            if not _same(got[user], expected):
                wrong.append(f"{text} {user}: {got[user]} is not {expected}")
    return wrong


def _has_groups(drawn: World, text: str) -> bool:
    protected = getattr(rankstone.parse_measure(text), "protected", None)
    return protected is None or protected in oracle.groups(drawn)


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=WITHIN, abs_tol=WITHIN)


@pytest.mark.parametrize("family", list(BY_FAMILY))
def test_engine_and_loops_agree(family: str) -> None:
    """Every measure has the value that obvious loops over its card's formula give, at night in every world."""
    for seed in part(range(WORLDS), 3, turn_of(family)):
        assert (
            differences(world(np.random.default_rng(seed)), BY_FAMILY[family]) == []
        ), seed


@pytest.mark.parametrize("options", [{"catalogue_size": 30}, {"items": None}])
def test_other_catalogues(options: dict[str, object]) -> None:
    """The number of items may be stated, or come from the past."""
    texts = (
        *(t for t in BY_FAMILY["catalogue"] if "UserCoverage" not in t),
        "Serendipity",
    )
    for seed in range(WORLDS // 3):
        drawn = replace(world(np.random.default_rng(seed)), options=options)
        assert differences(drawn, texts) == [], seed


def test_every_measure_is_in_the_table() -> None:
    """No measure of whole lists escapes the oracle."""
    names = {rankstone.parse_measure(text).name for text in ALL}
    assert (
        names
        == {
            n
            for n, kind in rankstone.measures.MEASURES.items()
            if "beyond" in kind.computed_by
        }
        == set(oracle.ORACLES)
    )


@each("text", ALL)
def test_a_measure_is_its_text(text: str) -> None:
    """Reading a canonical text and printing the measure gives the text back."""
    assert str(rankstone.parse_measure(text)) == text
