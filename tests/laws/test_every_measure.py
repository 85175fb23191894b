"""Every measure that is registered keeps the laws that measures of users are held to."""

from __future__ import annotations

import pytest
from tests.laws.shared_worlds import share, shared_world

from rankstone import Measure, parse_measure
from rankstone.measures import MEASURES
from rankstone.testing import check_measure, laws

TEXTS = [
    text
    for name, kind in MEASURES.items()
    if issubclass(kind, Measure)
    for text in dict.fromkeys(kind.examples or (name,))
]


QUERIES = 150
SEED = 1


@pytest.fixture(scope="module", autouse=True)
def worlds() -> None:
    """Tell which measures there are: those with the same rows are scored together."""
    measures = [parse_measure(text) for text in TEXTS]
    share([kind for kind in measures if isinstance(kind, Measure)], QUERIES, SEED)


@pytest.mark.parametrize("text", TEXTS)
def test_it_keeps_the_laws(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Range, order of rows, names, scores, queries apart, cutoff, promotion, ties."""
    monkeypatch.setattr(laws, "small_world", shared_world)
    assert len(check_measure(text, queries=QUERIES, seed=SEED)) >= 8
