"""Small worlds of recommendations: runs with ties, unknown items, users without a past."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

import rankstone

if TYPE_CHECKING:
    import numpy as np

USERS = ("u1", "u10", "u2", "ü", "U3", "u4")
ITEMS = ("a", "b", "c", "d", "é", "f10", "f2", "\uff5e", "\U0001d51e", "z")
CATEGORIES = ("drama", "comedy", "war", "love story")
GROUPS = ("g", "h", "k")


@dataclass(frozen=True)
class World:
    """Everything a measure may look at, as plain Python.

    Attributes
    ----------
    run
        User → item → score, in file order.
    items
        Item → its categories, groups, features and numbers; each may be missing.
    history
        (user, item, weight), perhaps several times the same pair.
    qrels
        User → item → grade.
    users
        User → group.
    baseline
        User → items, best first.
    """

    run: dict[str, dict[str, float]]
    items: dict[str, dict[str, Any]]
    history: list[tuple[str, str, float]]
    qrels: dict[str, dict[str, float]]
    users: dict[str, str | None]
    baseline: dict[str, list[str]]
    options: dict[str, Any] = field(default_factory=dict)

    def lists(self, k: int | None) -> dict[str, list[str]]:
        """Return each user's list, best first: by score, then by the id's bytes, larger first."""
        return {
            user: sorted(
                scores, key=lambda item: (scores[item], item.encode()), reverse=True
            )[:k]
            for user, scores in self.run.items()
            if scores
        }

    def tables(self) -> dict[str, Any]:
        """Return the tables as arguments of :func:`rankstone.beyond`."""
        columns = ("category", "group", "features", "x", "y", "popularity")
        cells = {c: [about.get(c) for about in self.items.values()] for c in columns}
        cells["category"] = [
            None if c is None else "|".join(c) for c in cells["category"]
        ]
        kinds: dict[str, Any] = {
            "features": pl.List(pl.Float64),
            "x": pl.Float64,
            "y": pl.Float64,
            "popularity": pl.Float64,
        }
        kinds |= {"category": pl.String, "group": pl.List(pl.String)}
        items = pl.DataFrame(
            {"doc_id": list(self.items), **cells}, schema_overrides=kinds
        )
        past = pl.DataFrame(
            self.history,
            schema={"query_id": pl.String, "doc_id": pl.String, "weight": pl.Float64},
            orient="row",
        )
        users = pl.DataFrame(
            {"query_id": list(self.users), "group": list(self.users.values())}
        )
        values = {"items": items, "history": past, "qrels": self.qrels, "users": users}
        return {**values, "baseline": self.baseline, **self.options}

    def beyond(
        self, measures: str | list[str], **options: Any
    ) -> rankstone.BeyondScores:
        """Compute measures of the world."""
        return rankstone.beyond(
            {"run": self.frame()}, measures, **{**self.tables(), **options}
        )

    def frame(self) -> pl.DataFrame:
        """Return the run as a table."""
        rows = [(u, i, s) for u, scores in self.run.items() for i, s in scores.items()]
        return pl.DataFrame(
            rows,
            schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64},
            orient="row",
        )


def world(rng: np.random.Generator) -> World:
    """Draw a world; at least one user has a list, one item is known, one pair judged and one met."""
    users = list(rng.permutation(USERS)[: rng.integers(1, len(USERS) + 1)])
    shown = list(rng.permutation(ITEMS)[: rng.integers(2, len(ITEMS) + 1)])
    run = {
        str(user): {
            str(item): float(rng.choice([0.5, 1.0, 2.0, -1.0, 3.25]))
            for item in rng.permutation(shown)[: rng.integers(1, len(shown) + 1)]
        }
        for user in users
    }
    first_user = users[0]
    first_item = next(iter(run[str(first_user)]))
    known = {
        str(i) for i in rng.permutation(ITEMS)[: rng.integers(2, len(ITEMS) + 1)]
    } | {first_item}
    items = {item: _item(rng) for item in sorted(known)}
    history = [
        (str(rng.choice(USERS)), str(rng.choice(ITEMS)), float(rng.integers(1, 4)))
        for _ in range(rng.integers(0, 15))
    ]
    history.append((str(rng.choice(users)), first_item, 2.0))
    qrels: dict[str, dict[str, float]] = {
        str(first_user): {first_item: float(rng.integers(0, 4))}
    }
    for _ in range(rng.integers(0, 12)):
        user, item = str(rng.choice(USERS)), str(rng.choice(ITEMS))
        qrels.setdefault(user, {})[item] = float(rng.choice([0, 0, 1, 2, 3]))
    groups = {
        str(user): (None if rng.random() < 0.1 else str(rng.choice(GROUPS)))
        for user in rng.permutation(USERS)
    }
    baseline = {
        str(user): [str(i) for i in rng.permutation(ITEMS)[: rng.integers(1, 6)]]
        for user in rng.permutation(USERS)[: rng.integers(1, len(USERS) + 1)]
    }
    return World(run, items, history, qrels, groups, baseline)


def _item(rng: np.random.Generator) -> dict[str, Any]:
    def drawn_groups(names: tuple[str, ...]) -> list[str]:
        return [
            str(n) for n in rng.permutation(names)[: rng.integers(1, len(names) + 1)]
        ]

    about: dict[str, Any] = {}
    if rng.random() < 0.85:
        about["category"] = drawn_groups(CATEGORIES)
    if rng.random() < 0.9:
        about["group"] = (
            drawn_groups(GROUPS[:2])
            if rng.random() < 0.2
            else [str(rng.choice(GROUPS))]
        )
    if rng.random() < 0.85:
        about["features"] = [
            float(v) for v in rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0], 3)
        ]
    if rng.random() < 0.9:
        about["x"] = float(rng.choice([0.0, 1.0, 2.0]))
    about["y"] = float(rng.choice([0.0, 1.0]))
    about["popularity"] = float(rng.integers(0, 9))
    return about
