"""Every measure that is registered keeps the laws that measures of users are held to."""

from __future__ import annotations

import pytest

from rankstone import Measure
from rankstone.measures import MEASURES
from rankstone.testing import check_measure

TEXTS = [
    text
    for name, kind in MEASURES.items()
    if issubclass(kind, Measure)
    for text in dict.fromkeys(kind.examples or (name,))
]


@pytest.mark.parametrize("text", TEXTS)
def test_it_keeps_the_laws(text: str) -> None:
    """Range, order of rows, names, scores, queries apart, cutoff, promotion, ties."""
    assert len(check_measure(text, queries=150, seed=1)) >= 8
