"""Fresh random recommendations and the tables beside them, as nasty as a library can take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Traits", "cases"]

_ITEMS = 14
_CATEGORIES = ("drama", "comedy", "war")


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a library can be handed at all; everything it can be is drawn.

    Attributes
    ----------
    ties
        Equal scores.
    full
        Lists of k items at least; otherwise of any length.
    seen
        Lists that show what their user met.
    strangers
        Users with a list and without a past.
    cold
        Items shown that no user met.
    outside
        Items shown that are not in the table of items.
    repeated
        Pairs that come more than once in the past.
    blank
        Items in the table without features.
    users
        Users at most.
    """

    ties: bool = True
    full: bool = False
    seen: bool = True
    strangers: bool = True
    cold: bool = True
    outside: bool = True
    repeated: bool = True
    blank: bool = True
    users: int = 5


def cases(seed: int, count: int, traits: Traits) -> list[dict[str, Any]]:
    """Draw cases.

    Returns
    -------
    list of dict
        ``run`` {user: [[item, score], …]} in order, ``history`` [[user, item], …], ``items``
        {item: {"features": [x, y] or None, "category": text}}, ``qrels`` {user: {item: grade}},
        ``baseline`` {user: [item, …]}, ``k``.  Some list shows an item of the table, and some user with a
        list has a past and a judgment, so that the tables belong together.
    """
    rng = np.random.default_rng(seed)
    return [_case(rng, traits) for _ in range(count)]


def _case(rng: np.random.Generator, traits: Traits) -> dict[str, Any]:
    names = [f"i{number:02d}" for number in range(_ITEMS)]
    k = int(rng.integers(1, 6))
    users = [f"u{number}" for number in range(int(rng.integers(1, traits.users + 1)))]
    history = _history(rng, traits, users, names)
    run = {}
    for user in users:
        met = {item for who, item in history if who == user}
        able = [item for item in names if traits.seen or item not in met]
        if not traits.cold:
            everything = {item for _, item in history}
            able = [item for item in able if item in everything] or able[:1]
        least = min(k, len(able)) if traits.full else 1
        shown = [
            str(item)
            for item in rng.permutation(able)[: int(rng.integers(least, len(able) + 1))]
        ]
        run[user] = _scored(rng, traits, shown)
    first = next(iter(run.values()))[0][0]
    subset = set(rng.permutation(names)[: int(rng.integers(2, _ITEMS + 1))]) | {first}
    table = [item for item in names if item in subset or not traits.outside]
    judged = {
        user: _judged(rng, names)
        for user in [*users, "u8"]
        if user == users[0] or rng.random() < 0.7
    }
    baseline = {
        user: [str(item) for item in rng.permutation(names)[: int(rng.integers(1, 7))]]
        for user in [*users, "u9"]
        if user == users[0] or rng.random() < 0.7
    }
    return {
        "run": run,
        "history": history,
        "items": {item: _about(rng, traits) for item in table},
        "qrels": judged,
        "baseline": baseline,
        "k": k,
    }


def _history(
    rng: np.random.Generator, traits: Traits, users: list[str], names: list[str]
) -> list[list[str]]:
    """Draw the past: of some users with a list, and of others."""
    people = [*users, "u8", "u9"]
    known = [
        user
        for user in people
        if user == users[0] or not traits.strangers or rng.random() < 0.8
    ]
    pairs = []
    for user in known:
        met = rng.permutation(names)[: int(rng.integers(1, 6))]
        pairs += [[user, str(item)] for item in met]
    if traits.repeated:
        pairs += [
            pairs[int(position)]
            for position in rng.integers(0, len(pairs), int(rng.integers(0, 4)))
        ]
    rng.shuffle(pairs)
    return pairs


def _scored(
    rng: np.random.Generator, traits: Traits, shown: list[str]
) -> list[list[Any]]:
    steps = rng.integers(0, 2, len(shown)) if traits.ties else np.ones(len(shown), int)
    scores = 5.0 - np.cumsum(steps) * 0.5
    return [[item, float(score)] for item, score in zip(shown, scores, strict=True)]


def _judged(rng: np.random.Generator, names: list[str]) -> dict[str, float]:
    part = rng.permutation(names)[: int(rng.integers(1, 8))]
    return {str(item): float(rng.choice([0, 1, 1, 2])) for item in part}


def _about(rng: np.random.Generator, traits: Traits) -> dict[str, Any]:
    features = [float(value) for value in rng.choice([0.0, 0.0, 1.0, 2.0, -1.0], 2)]
    blank = traits.blank and rng.random() < 0.2
    return {
        "features": None if blank else features,
        "category": str(rng.choice(_CATEGORIES)),
    }
