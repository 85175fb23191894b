"""How often results of logs of users are wrong, in worlds whose truth is known.

``python benchmarks/online.py looks`` tells false alarms of A/B tests that are looked at ten times,
``positions`` the coverage of intervals of the position-based model, ``interleaving`` how many pairs of
rankings optimised interleaving cannot mix.  ``--count`` says how many experiments (queries) there are.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.behaviour import interleave
from rankstone.behaviour.experiments.family import Rules
from rankstone.behaviour.experiments.measuring import arm, difference

if TYPE_CHECKING:
    from collections.abc import Callable

    Floats = np.ndarray[Any, np.dtype[np.float64]]

#: what a user does → a draw of so many
_USERS: Final[dict[str, Callable[[np.random.Generator, int], Floats]]] = {
    "normal": lambda draw, n: draw.normal(size=n),
    "clicks, half": lambda draw, n: draw.binomial(1, 0.5, n) * 1.0,
    "clicks, 2 %": lambda draw, n: draw.binomial(1, 0.02, n) * 1.0,
    "lognormal, σ = 2": lambda draw, n: draw.lognormal(0, 2, n),
}
_LOOKS: Final = {
    "20, 40 … 200": range(20, 201, 20),
    "4, 8, 12, 20, 40 … 1,280": (4, 8, 12, 20, 40, 80, 160, 320, 640, 1280),
    "1,000 … 10,000": range(1000, 10_001, 1000),
}
_EXAMINATION: Final = np.array([1.0, 0.7, 0.5, 0.35, 0.25])


def looks(count: int) -> None:
    """Print false alarms of ten looks: with p of one look, and with those of all."""
    print("| users at each look | a user's value | one look's p | `--sequential` |\n|---|---|---|---|")
    for at, (told, sizes) in enumerate(_LOOKS.items()):
        for name, draw in _USERS.items():
            alarms = np.zeros(2)
            for experiment in range(count):
                random = np.random.default_rng([at, experiment])
                alarms += _alarms(draw(random, max(sizes)), sizes)
            once, always = alarms / count
            print(f"| {told} | {name} | {once:.3f} | {always:.4f} |", flush=True)


def _alarms(values: Floats, sizes: Any) -> Floats:  # noqa: ANN401 - whole numbers
    """Return whether users who are dealt out in turn ever differ, by both kinds of p."""
    alarms = np.zeros(2)
    for n in sizes:
        unit, ones = np.arange(n), np.ones(n)
        one, other = (arm(values[:n], ones, unit, n, unit % 2 == at) for at in (1, 0))
        found = difference(one, other)
        assert found is not None  # noqa: S101 - every user counts
        ps = [Rules(None, "none", 0.95, kind).p(found) for kind in (False, True)]
        alarms = np.maximum(alarms, np.array(ps) <= 0.05)  # noqa: PLR2004 - alpha
    return alarms


def interleaving(count: int, k: int = 10) -> None:
    """Print how many of so many pairs of rankings, in different order, cannot be mixed fairly."""
    draw = np.random.default_rng(2)
    runs: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for query in range(count):
        pool = draw.integers(k, 2 * k + 2)
        noise = draw.exponential(5)
        for run in runs:
            order = np.argsort(np.arange(pool) + noise * draw.normal(size=pool))[:k]
            run[f"q{query}"] = [f"d{doc}" for doc in order]
    made = interleave(*runs, "optimised", k=k)
    print("\n".join(made.audit.lines()))


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("what", choices=("looks", "positions", "interleaving"))
    reader.add_argument("--count", type=int, default=400)
    given = reader.parse_args()
    {"looks": looks, "interleaving": interleaving}[given.what](given.count)
