"""The laws, and the checker that runs a measure through them."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from itertools import chain, groupby, permutations, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import OutOfRange, UsageError
from rankstone.measures import Measure, parse_measure
from rankstone.testing.worlds import World, small_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.testing.worlds import Row

__all__ = ["LawBroken", "check_measure"]

_WITHIN: Final = 1e-9
#: orders of tied documents that are written down before a world is passed over
_MOST_ORDERS: Final = 150

Draw = np.random.Generator


class LawBroken(AssertionError):
    """A measure breaks a law; the message shows a small world in which it does."""


#: a query, and what is wrong with it
Wrong = tuple[str, str]


@dataclass(frozen=True)
class Law:
    """A law: its name, which measures are under it, whether scores tie in its world, and the check.

    The check returns a query for which the law does not hold and what is wrong there, or nothing.
    """

    name: str
    concerns: Callable[[Measure], bool]
    ties: bool
    check: Callable[[Measure, World, Draw], Wrong | None]


def check_measure(measure: str | Measure, *, queries: int = 120, seed: int = 0) -> list[str]:
    """Run a measure through every law it is under, on small random queries.

    Parameters
    ----------
    measure
        A measure or its text, with every parameter it needs.
    queries
        Random queries for each law.
    seed
        Where the random numbers start; the same seed makes the same queries.

    Returns
    -------
    list of str
        The laws the measure was found to keep.

    Raises
    ------
    LawBroken
        At the first law that does not hold, with a query that shows it.

    Examples
    --------
    >>> check_measure("P@3", queries=10)[:3]
    ['it is its text', 'it is a value', 'its card is whole']
    """
    kind = parse_measure(measure)
    if not isinstance(kind, Measure):
        raise UsageError(
            f"{kind} is not a measure of a run against judgments", fix=f"it is {kind.computed_by}"
        )
    kept = []
    for name, wrong in _of_the_value(kind):
        if wrong:
            raise LawBroken(f"{kind}: {name}: {wrong}")
        kept.append(name)
    for law in LAWS:
        if law.concerns(kind):
            _hold(law, kind, small_world(kind, queries, seed, ties=law.ties), seed)
            kept.append(law.name)
    return kept


def _hold(law: Law, measure: Measure, world: World, seed: int) -> None:
    try:
        wrong = law.check(measure, world, np.random.Generator(np.random.Philox(seed + 1)))
    except OutOfRange as error:
        raise LawBroken(f"{measure}: {law.name}: {error}") from error
    if wrong:
        query, what = wrong
        raise LawBroken(f"{measure}: {law.name}: query {query}: {what}\n{world.only([query])}")


# -- laws of the value itself --------------------------------------------------------------------------
def _of_the_value(measure: Measure) -> Iterator[tuple[str, str | None]]:
    again = parse_measure(str(measure))
    yield "it is its text", None if again == measure and str(again) == str(measure) else f"reads as {again!r}"
    yield "it is a value", _value(measure, again)
    empty = [
        f.name
        for f in fields(measure.card)
        if f.name != "peers" and getattr(measure.card, f.name) in ("", None)
    ]
    yield "its card is whole", f"empty: {', '.join(empty)}" if empty else None


def _value(measure: Measure, again: object) -> str | None:
    if hash(again) != hash(measure):
        return "equal measures have different hashes"
    try:
        measure.k = 7  # type: ignore[misc]
    except FrozenInstanceError:
        return None
    return "it can be changed"


# -- laws over a world ---------------------------------------------------------------------------------
def _in_span(measure: Measure, world: World, _draw: Draw) -> Wrong | None:
    low, high = measure.span
    for unjudged, empty in product(("nonrelevant", "condensed"), ("zero", "undefined")):
        under = {"unjudged": unjudged, "empty": empty}
        for query, (value, *_) in world.under(**under).values(measure).items():
            if value is None:
                continue
            inside = (low is None or value >= low - _WITHIN) and (high is None or value <= high + _WITHIN)
            if not inside or not math.isfinite(value):
                return query, f"{value} under {under}"
    return None


def _row_order(measure: Measure, world: World, draw: Draw) -> Wrong | None:
    shuffled = replace(world, run=world.run[draw.permutation(world.run.height)])
    return _difference(world.values(measure), shuffled.values(measure))


def _names(measure: Measure, world: World, draw: Draw) -> Wrong | None:
    """Give documents other names in the same order of names."""
    names = pl.concat([world.judgments["doc_id"], world.run["doc_id"]]).unique().sort().to_list()
    other = {name: f"{chr(97 + at)}{draw.integers(1000)}" for at, name in enumerate(names)}
    renamed = pl.col("doc_id").replace(other)
    elsewhere = replace(
        world, judgments=world.judgments.with_columns(renamed), run=world.run.with_columns(renamed)
    )
    return _difference(world.values(measure), elsewhere.values(measure))


def _scores(measure: Measure, world: World, _draw: Draw) -> Wrong | None:
    curved = replace(world, run=world.run.with_columns(score=pl.col("score").exp() * 3 - 7))
    return _difference(world.values(measure), curved.values(measure))


def _apart(measure: Measure, world: World, _draw: Draw) -> Wrong | None:
    together = world.values(measure)
    answered = list(world.lists())
    for part in (answered[::2], *([query] for query in answered[::10])):
        alone = world.only(part).values(measure)
        if wrong := _difference({query: together[query] for query in alone}, alone):
            return wrong
    return None


def _below_cutoff(measure: Measure, world: World, _draw: Draw) -> Wrong | None:
    return _difference(world.values(measure), world.under(depth=measure.k).values(measure))


def _promotion(measure: Measure, world: World, draw: Draw) -> Wrong | None:
    """Exchange two neighbours in every list so that the one with the better grade comes first."""
    grade = {(q, d): g for q, d, g in world.judgments.select("query_id", "doc_id", "relevance").iter_rows()}
    better: list[Row] = []
    for rows in world.lists().values():
        worth = [grade.get(row[:2], -1.0) for row in rows]
        worse = [at for at in range(len(rows) - 1) if worth[at] < worth[at + 1]]
        if worse:
            at = int(draw.choice(worse))
            (query, upper, high), (_, lower, low) = rows[at], rows[at + 1]
            rows[at], rows[at + 1] = (query, lower, high), (query, upper, low)
        better += rows
    sign = 1.0 if measure.card.direction == "higher" else -1.0
    after = world.ranked(better).values(measure)
    for query, (value, *_) in world.values(measure).items():
        there = after[query][0] if query in after else None
        if value is not None and there is not None and sign * (there - value) < -_WITHIN:
            moved = [row[1:] for row in better if row[0] == query]
            return query, f"{value} became {there} when a better document moved up: {moved}"
    return None


def _expected(measure: Measure, world: World, _draw: Draw) -> Wrong | None:
    found = world.under(ties="expected").values(measure)
    for query, orders in _every_order(measure, world).items():
        value = found[query][0]
        if (value is None) != (None in orders):
            return query, f"expected says {value}, the orders {orders}"
        mean = math.fsum(orders) / len(orders) if value is not None else None
        if value is not None and mean is not None and abs(mean - value) > _WITHIN:
            return query, f"the mean over all orders is {mean}, expected says {value}"
    return None


def _extremes(measure: Measure, world: World, _draw: Draw) -> Wrong | None:
    best = world.under(ties="best").values(measure)
    worst = world.under(ties="worst").values(measure)
    for query, orders in _every_order(measure, world).items():
        if None in orders:
            continue
        low, high = sorted((best[query][0], worst[query][0]))
        if abs(min(orders) - low) > _WITHIN or abs(max(orders) - high) > _WITHIN:
            return query, f"orders reach {min(orders)} … {max(orders)}, best and worst say {low} … {high}"
    return None


def _every_order(measure: Measure, world: World) -> dict[str, list[Any]]:
    """Return, for each query, the value under every order of its tied documents, few enough to write down."""
    rows: list[Row] = []
    copies: list[tuple[str, str]] = []
    for query, ranked in world.lists().items():
        blocks = [[doc for _, doc, _ in block] for _, block in groupby(ranked, key=itemgetter(2))]
        if math.prod(math.factorial(len(block)) for block in blocks) > _MOST_ORDERS:
            continue
        for orders in product(*(permutations(block) for block in blocks)):
            copies.append((query, copy := f"{query}#{len(copies)}"))
            rows += [(copy, doc, -float(at)) for at, doc in enumerate(chain.from_iterable(orders))]
    of_copy = pl.DataFrame(copies, {"query_id": pl.String, "copy": pl.String}, orient="row")
    judged = of_copy.join(world.judgments, on="query_id", maintain_order="left")
    judged = judged.drop("query_id").rename({"copy": "query_id"})
    scored = replace(world, judgments=judged).ranked(rows).values(measure)
    values: dict[str, list[Any]] = {}
    for query, copy in copies:
        values.setdefault(query, []).append(scored[copy][0])
    return values


def _difference(one: dict[str, tuple[Any, ...]], other: dict[str, tuple[Any, ...]]) -> Wrong | None:
    """Return the first query whose numbers are not the same, to the last bit."""
    for query in one.keys() | other.keys():
        if one.get(query) != other.get(query):
            return query, f"{one.get(query)} became {other.get(query)}"
    return None


def _any(_measure: Measure) -> bool:
    return True


LAWS: Final = (
    Law("values keep to the card's range", _any, ties=True, check=_in_span),
    Law("the order of rows does not matter", _any, ties=False, check=_row_order),
    Law("names of documents do not matter", _any, ties=False, check=_names),
    Law("only the order of scores matters", _any, ties=False, check=_scores),
    Law("queries alone have the bits they have together", _any, ties=True, check=_apart),
    Law(
        "documents below the cutoff do not matter",
        lambda m: m.k is not None and not m.looks_deeper,
        ties=False,
        check=_below_cutoff,
    ),
    Law(
        "moving a better document up is no loss",
        lambda m: m.promotion_helps and m.card.direction != "neither" and "groups" not in m.brings,
        ties=False,
        check=_promotion,
    ),
    Law(
        "ties=expected is the mean over all orders", lambda m: m.closed_under_ties, ties=True, check=_expected
    ),
    Law("ties=best and worst are the extremes", lambda m: m.extremal_under_ties, ties=True, check=_extremes),
)
