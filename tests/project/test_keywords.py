"""Every verb of Python names its keywords, where notebooks, editors and ``help()`` find them."""

from __future__ import annotations

import inspect
import pydoc
import typing
from typing import Any

import pytest

import rankstone

#: verbs whose further keywords are free: the texts of a card
FREE = {"measure"}
VERBS = sorted(
    name
    for name in rankstone.__all__
    if inspect.isfunction(getattr(rankstone, name)) and name not in FREE
)


@pytest.mark.parametrize("verb", VERBS)
def test_keywords_are_in_the_signature(verb: str) -> None:
    """No ``**options`` is left, and ``help()`` names each keyword."""
    function = getattr(rankstone, verb)
    shown = inspect.signature(function).parameters
    assert not [p for p in shown.values() if p.kind is p.VAR_KEYWORD]
    documented = pydoc.plain(pydoc.render_doc(function))
    for name in shown:
        assert name in documented


def test_the_names_are_taken() -> None:
    """What a signature names is what the verb takes: an option given by each name is no TypeError."""
    qrels: Any = {"q1": {"d": 1}}
    defaults = rankstone.AlignmentOptions().as_dict()
    names = inspect.signature(rankstone.evaluate).parameters
    assert defaults.keys() <= names.keys()
    own = {name: value for name, value in defaults.items() if value is not None}
    assert rankstone.evaluate(qrels, {"q1": ["d"]}, "RR", **own)["RR"] == 1.0


@pytest.mark.parametrize("verb", ["certify", "collection", "verify"])
def test_verbs_of_a_room_stand_beside_the_others(verb: str) -> None:
    """They are the room's own functions, and importing the package does not import the room."""
    assert getattr(rankstone, verb) is getattr(rankstone.collections, verb)
    assert verb in dir(rankstone)


def test_types_of_keywords_are_types() -> None:
    """Choices are shown as the values that they may have."""
    shown = inspect.signature(rankstone.compare).parameters["missing"].annotation
    assert typing.get_args(shown)[:1] == ("zero",)
