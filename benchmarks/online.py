"""How often results of logs of users are wrong, in worlds whose truth is known.

``python benchmarks/online.py looks`` tells false alarms of A/B tests that are looked at ten times,
``positions`` the coverage of intervals of the position-based model, ``interleaving`` how many pairs of
rankings optimised interleaving cannot mix.  ``--count`` says how many experiments (queries) there are.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadValue
from rankstone.online.ab_metrics import ClaimSettings, difference, make_arm
from rankstone.online.click_judgments import clicks
from rankstone.online.interleaved_lists import interleave

if TYPE_CHECKING:
    from collections.abc import Callable

    Floats = np.ndarray[Any, np.dtype[np.float64]]


def _ratio(draw: np.random.Generator, n: int) -> Floats:
    """Return clicks and documents of users who come one to many times and have a taste each."""
    documents = 5.0 * draw.geometric(0.3, n)
    return np.stack(
        [draw.binomial(documents.astype(np.int64), draw.beta(1, 9, n)), documents]
    )


#: what a user does → a draw of so many: values, or sums and sizes of a ratio
_USERS: Final[dict[str, Callable[[np.random.Generator, int], Floats]]] = {
    "normal": lambda draw, n: draw.normal(size=n),
    "clicks, half": lambda draw, n: (draw.random(n) < 0.5) * 1.0,  # noqa: PLR2004 - a share
    "clicks, 2 %": lambda draw, n: (draw.random(n) < 0.02) * 1.0,  # noqa: PLR2004 - a share
    "lognormal, σ = 2": lambda draw, n: draw.lognormal(0, 2, n),
    "clicks / documents": _ratio,
}
_LOOKS: Final = {
    "20, 40 … 200": range(20, 201, 20),
    "4, 8, 12, 20, 40 … 1,280": (4, 8, 12, 20, 40, 80, 160, 320, 640, 1280),
    "1,000 … 10,000": range(1000, 10_001, 1000),
}
#: queries, lists of each, share of lists that are shuffled
_LOGS: Final = [
    (500, 10, 1.0),
    (100, 10, 1.0),
    (100, 10, 0.1),
    (20, 10, 1.0),
    (5, 10, 1.0),
    (10, 1000, 1.0),
]
_EXAMINATION: Final = np.array([1.0, 0.7, 0.5, 0.35, 0.25])


def looks(count: int) -> None:
    """Print false alarms of ten looks: with p of one look, and with those of all."""
    print(
        "| users at each look | a user's value | one look's p | `--sequential` |\n|---|---|---|---|"
    )
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
    total, size = values if values.ndim > 1 else (values, np.ones(len(values)))
    for n in sizes:
        unit = np.arange(n)
        one, other = (
            make_arm(total[:n], size[:n], unit, n, unit % 2 == at) for at in (1, 0)
        )
        found = difference(one, other)
        assert found is not None  # noqa: S101 - every user counts
        ps = [
            ClaimSettings(None, "none", 0.95, kind).p_value(found)
            for kind in (False, True)
        ]
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


def positions(count: int) -> None:
    """Print what the position-based model makes of few impressions a query, and how often intervals hold."""
    print(
        "| queries | lists of each | shuffled | .7 is found as | positions held | pairs held |"
    )
    print("|---|---|---|---|---|---|")
    for queries, lists, shuffled in _LOGS:
        found, held, pairs = [], [], []
        for seed in range(count):
            log, relevant = _log(
                np.random.default_rng([seed, queries, lists]), queries, lists, shuffled
            )
            try:
                made = clicks(log, "pbm", unlinked="drop")
            except BadValue:  # nothing tells positions apart
                continue
            table = made.positions.filter(pl.col("position") > 1).drop_nulls()
            truth = _EXAMINATION[table["position"].to_numpy() - 1]
            held += (
                table.select(pl.lit(pl.Series(truth)).is_between("low", "high"))
                .to_series()
                .to_list()
            )
            found += table.filter(position=2)["propensity"].to_list()
            true = relevant[
                made.judgments["query_id"].to_numpy(),
                made.judgments["doc_id"].to_numpy(),
            ]
            inside = made.judgments.select(
                pl.lit(pl.Series(true)).is_between("low", "high")
            )
            pairs.append(inside.to_series().mean())
        told = f"{np.median(found):.3f} | {np.mean(held):.3f} | {np.mean(pairs):.3f}"
        print(f"| {queries} | {lists} | {shuffled:.0%} | {told} |", flush=True)


def _log(
    draw: np.random.Generator, queries: int, lists: int, shuffled: float
) -> tuple[pl.DataFrame, Floats]:
    """Return lists of five documents, some of them shuffled, with clicks, and how relevant documents are."""
    places, n = len(_EXAMINATION), queries * lists
    relevant = draw.beta(1.2, 2.5, (queries, places))
    order = np.argsort(draw.random((n, places)), axis=1)
    order = np.where((draw.random(n) < shuffled)[:, None], order, np.arange(places))
    query = np.repeat(np.arange(queries), lists)
    clicked = draw.random((n, places)) < _EXAMINATION * relevant[query[:, None], order]
    columns = {
        "query_id": np.repeat(query, places),
        "session": np.repeat(np.arange(n), places),
        "doc_id": order.ravel(),
        "position": np.tile(np.arange(1, places + 1), n),
        "clicked": clicked.ravel(),
    }
    return pl.DataFrame(columns), relevant


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("what", choices=("looks", "positions", "interleaving"))
    reader.add_argument("--count", type=int, default=400)
    given = reader.parse_args()
    {"looks": looks, "positions": positions, "interleaving": interleaving}[given.what](
        given.count
    )
