"""Laws that every measure must keep, and their check on small random judgments and runs.

The random data have ties, gaps and unjudged documents, like real data.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from itertools import chain, groupby, pairwise, permutations, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadParameter, OutOfRange, UsageError
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measure
from rankstone.testing.small_worlds import World, small_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankstone.measures.core.claims import Claims
    from rankstone.testing.small_worlds import Row

#: values that differ by less are equal
_TOLERANCE: Final = 1e-9
#: the most orders of tied documents that are enumerated
_MAX_ORDERS: Final = 150
#: cutoffs of lists as small as these, and one below them, where walks of some ranks have ended
_CUTOFFS: Final = (*range(1, 7), 25)

Draw = np.random.Generator


class LawBroken(AssertionError):
    """A measure breaks a law; the message has a small example."""


#: a query, and the violation
Violation = tuple[str, str]


@dataclass(frozen=True)
class Law:
    """A law and the check of it.

    Attributes
    ----------
    name
        The law in a sentence.
    ties
        True if scores tie in the data of the check.
    check
        Returns a query for which the law does not hold and the violation, or ``None``.
    applies
        True if the law can be checked for a measure.
    claimed
        True if a measure claims it; most laws hold without a claim.
    """

    name: str
    ties: bool
    check: Callable[[Measure, World, Draw], Violation | None]
    applies: Callable[[Measure], bool] = lambda _: True
    claimed: Callable[[Claims], bool] = lambda _: True

    def broken(self, measure: Measure, world: World, seed: int) -> Violation | None:
        """Return a query for which the law does not hold and the violation, or ``None``."""
        return self.check(
            measure, world, np.random.Generator(np.random.Philox(seed + 1))
        )


def check_measure(
    measure: str | Measure, *, queries: int = 120, seed: int = 0
) -> list[str]:
    """Check a measure against every law that applies to it, on small random queries.

    Parameters
    ----------
    measure
        A measure or its text, with every parameter it needs.
    queries
        The number of random queries for each law.
    seed
        Where the random numbers start; the same seed gives the same queries.

    Returns
    -------
    list of str
        The laws that hold for the measure.

    Raises
    ------
    LawBroken
        At the first law that does not hold, with a query as an example.

    Examples
    --------
    >>> check_measure("P@3", queries=10)[:3]
    ['its text parses back to it', 'it is an immutable value', 'its card is complete']
    """
    parsed = parse_measure(measure)
    if not isinstance(parsed, Measure):
        raise UsageError(
            f"{parsed} is not a measure of a run against judgments",
            fix=f"use {parsed.computed_by}",
        )

    kept = []
    for name, violation in _value_laws(parsed):
        if violation:
            raise LawBroken(f"{parsed}: {name}: {violation}")
        kept.append(name)

    worlds = {
        False: small_world(parsed, queries, seed),
        True: small_world(parsed, queries, seed, ties=True),
    }
    for law in LAWS:
        if law.applies(parsed) and law.claimed(parsed.claims):
            _check_law(law, parsed, worlds[law.ties], seed)
            kept.append(law.name)
    return kept


def _check_law(law: Law, measure: Measure, world: World, seed: int) -> None:
    """Raise :class:`LawBroken` with the query of the violation as an example."""
    try:
        violation = law.broken(measure, world, seed)
    except OutOfRange as error:
        raise LawBroken(f"{measure}: {law.name}: {error}") from error
    if violation:
        query, what = violation
        raise LawBroken(
            f"{measure}: {law.name}: query {query}: {what}\n{world.only([query])}"
        )


# -- laws of the value itself --------------------------------------------------------------------------
def _value_laws(measure: Measure) -> Iterator[tuple[str, str | None]]:
    again = parse_measure(str(measure))
    yield (
        "its text parses back to it",
        None
        if again == measure and str(again) == str(measure)
        else f"parses as {again!r}",
    )
    yield "it is an immutable value", _value(measure, again)
    empty = [
        f.name
        for f in fields(measure.card)
        if f.name != "peers" and getattr(measure.card, f.name) in ("", None)
    ]
    yield "its card is complete", f"empty: {', '.join(empty)}" if empty else None


def _value(measure: Measure, again: object) -> str | None:
    if hash(again) != hash(measure):
        return "equal measures have different hashes"
    try:
        measure.k = 7  # type: ignore[misc]
    except FrozenInstanceError:
        return None
    return "it can be changed"


# -- laws over a world ---------------------------------------------------------------------------------
def _in_span(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    low, high = measure.span
    for unjudged, empty in product(("nonrelevant", "condensed"), ("zero", "undefined")):
        under = {"unjudged": unjudged, "empty": empty}
        try:
            values = world.under(**under).values(measure)
        except BadOption:  # what is about all documents leaves none out
            continue
        for query, (value, *_) in values.items():
            if value is None:
                continue
            inside = (low is None or value >= low - _TOLERANCE) and (
                high is None or value <= high + _TOLERANCE
            )
            if not inside or not math.isfinite(value):
                return query, f"{value} under {under}"
    return None


def _row_order(measure: Measure, world: World, draw: Draw) -> Violation | None:
    shuffled = replace(world, run=world.run[draw.permutation(world.run.height)])
    return _difference(world.values(measure), shuffled.values(measure))


def _renamed_documents(measure: Measure, world: World, draw: Draw) -> Violation | None:
    """Rename documents without changing the order of names."""
    names = pl.concat([world.judgments["doc_id"], world.run["doc_id"]])
    new_names = {}
    for place, name in enumerate(names.unique().sort()):
        letter = chr(ord("a") + place)
        new_names[name] = f"{letter}{draw.integers(1000)}"

    renamed = pl.col("doc_id").replace(new_names)
    documents = world.documents
    if documents is not None:
        documents = documents.with_columns(renamed)
    renamed_world = replace(
        world,
        judgments=world.judgments.with_columns(renamed),
        run=world.run.with_columns(renamed),
        documents=documents,
    )
    return _difference(world.values(measure), renamed_world.values(measure))


def _scores(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    curved = replace(
        world, run=world.run.with_columns(score=pl.col("score").exp() * 3 - 7)
    )
    return _difference(world.values(measure), curved.values(measure))


def _single_queries(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    together = world.values(measure)
    answered = list(world.lists())
    for part in (answered[::2], *([query] for query in answered[::10])):
        alone = world.only(part).values(measure)
        if violation := _difference({query: together[query] for query in alone}, alone):
            return violation
    return None


def _below_cutoff(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    """Replace documents below the cutoff by unknown ones."""
    rows: list[Row] = []
    for of_query in world.lists().values():
        rows += of_query[: measure.k]
        rows += [
            (query, f"unknown {doc}", score)
            for query, doc, score in of_query[measure.k :]
        ]
    return _difference(world.values(measure), world.ranked(rows).values(measure))


def _promotion(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    """Exchange two neighbours of a list so that the one with the better grade comes first."""
    judged = world.judgments.select("query_id", "doc_id", "relevance")
    grades = {(query, doc): grade for query, doc, grade in judged.iter_rows()}

    orders: dict[str, list[list[str]]] = {}
    for query, rows in world.lists().items():
        docs = [doc for _, doc, _ in rows]
        worth = [_worth(grades.get((query, doc)), **world.options) for doc in docs]
        orders[query] = [docs]
        for rank, (upper, lower) in enumerate(pairwise(docs)):
            if worth[rank] < worth[rank + 1]:
                exchanged = [*docs[:rank], lower, upper, *docs[rank + 2 :]]
                orders[query].append(exchanged)

    sign = 1.0 if measure.card.direction == "higher" else -1.0
    for query, (value, *others) in _in_orders(measure, world, orders).items():
        for changed, docs in zip(others, orders[query][1:], strict=True):
            if value is None or changed is None:
                continue
            if sign * (changed - value) < -_TOLERANCE:
                return (
                    query,
                    f"{value} became {changed} when a better document moved up: {docs}",
                )
    return None


def _worth(
    grade: float | None, negative: str = "", unjudged: float | str = "", **_: object
) -> float:
    """Return what a document is worth: an unjudged one is between one judged 0 and one judged below."""
    if grade is not None and grade < 0 and negative != "keep":
        grade = 0.0 if negative == "zero" else None
    unknown = math.nextafter(0.0, -1.0) if isinstance(unjudged, str) else unjudged
    return unknown if grade is None else grade


def _expected(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    expected = world.under(ties="expected").values(measure)
    for query, orders in _every_order(measure, world).items():
        value = expected[query][0]
        if (value is None) != (None in orders):
            return query, f"ties=expected gives {value}, the orders {orders}"
        if value is None:
            continue
        mean = math.fsum(orders) / len(orders)
        if abs(mean - value) > _TOLERANCE:
            return (
                query,
                f"the mean over all orders is {mean}, ties=expected gives {value}",
            )
    return None


def _extremes(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    best = world.under(ties="best").values(measure)
    worst = world.under(ties="worst").values(measure)
    for query, orders in _every_order(measure, world).items():
        if None in orders:
            continue
        low = worst[query][0]
        high = best[query][0]
        if measure.card.direction == "lower":
            low, high = high, low
        if abs(min(orders) - low) > _TOLERANCE or abs(max(orders) - high) > _TOLERANCE:
            return (
                query,
                f"orders reach {min(orders)} … {max(orders)}, ties=best and worst give {low} … {high}",
            )
    return None


def _every_order(measure: Measure, world: World) -> dict[str, list[Any]]:
    """Return the values of each query under every order of its tied documents, if these are few."""
    orders: dict[str, list[list[str]]] = {}
    for query, ranked in world.lists().items():
        blocks = [
            [doc for _, doc, _ in block]
            for _, block in groupby(ranked, key=itemgetter(2))
        ]
        if math.prod(math.factorial(len(block)) for block in blocks) <= _MAX_ORDERS:
            each = product(*(permutations(block) for block in blocks))
            orders[query] = [list(chain.from_iterable(order)) for order in each]
    return _in_orders(measure, world, orders)


def _in_orders(
    measure: Measure, world: World, orders: dict[str, list[list[str]]]
) -> dict[str, list[Any]]:
    """Return the values of each query with its documents in each of some orders."""
    copies = [
        (query, f"{query}#{number}", docs)
        for query in orders
        for number, docs in enumerate(orders[query])
    ]
    of_copy = pl.DataFrame(
        [row[:2] for row in copies],
        {"query_id": pl.String, "copy": pl.String},
        orient="row",
    )
    judged = of_copy.join(world.judgments, on="query_id", maintain_order="left")
    judged = judged.drop("query_id").rename({"copy": "query_id"})
    rows = [
        (copy, doc, -float(place))
        for _, copy, docs in copies
        for place, doc in enumerate(docs)
    ]
    scored = replace(world, judgments=judged).ranked(rows).values(measure)
    values: dict[str, list[Any]] = {query: [] for query in orders}
    for query, copy, _ in copies:
        values[query].append(scored[copy][0])
    return values


def _difference(
    before: dict[str, tuple[Any, ...]], after: dict[str, tuple[Any, ...]]
) -> Violation | None:
    """Return the first query whose numbers are not the same, to the last bit."""
    for query in sorted(before.keys() | after.keys()):
        old = before.get(query)
        new = after.get(query)
        if old != new:
            return query, f"{old} became {new}"
    return None


def _deeper_cutoff(measure: Measure, world: World, _draw: Draw) -> Violation | None:
    for shallow, deep in pairwise(_cut_at(measure)):
        after = world.values(deep)
        for query, (value, *_) in world.values(shallow).items():
            changed = after[query][0]
            # where a value appears, a mean over queries may fall
            appears = (value is None) != (changed is None)
            falls = not appears and value is not None and changed < value - _TOLERANCE
            if appears or falls:
                return query, f"{value} at {shallow.k} became {changed} at {deep.k}"
    return None


def _cut_at(measure: Measure) -> list[Measure]:
    """Return a measure at every cutoff of small lists that it takes."""
    measures = []
    for k in _CUTOFFS if measure.takes_cutoff else ():
        with suppress(BadParameter):
            measures.append(replace(measure, k=k))
    return measures


def _has_direction(measure: Measure) -> bool:
    """Return True if better values and better documents are defined: one grade each, and a direction."""
    return (
        measure.card.direction != "neither" and JudgmentGroups not in measure.requires
    )


LAWS: Final = (
    Law("values keep to the card's range", ties=True, check=_in_span),
    Law("the order of rows does not matter", ties=False, check=_row_order),
    Law("names of documents do not matter", ties=False, check=_renamed_documents),
    Law(
        "only the order of scores matters",
        ties=False,
        check=_scores,
        applies=lambda m: m.budget is None or m.budget.adds,
    ),
    Law(
        "values of a query do not depend on other queries",
        ties=True,
        check=_single_queries,
    ),
    Law(
        "documents below the cutoff do not matter",
        ties=False,
        check=_below_cutoff,
        applies=lambda m: m.k is not None,
        claimed=lambda claims: not claims.looks_deeper,
    ),
    Law(
        "moving a better document up is no loss",
        ties=False,
        check=_promotion,
        applies=_has_direction,
        claimed=lambda claims: claims.promotion_helps,
    ),
    Law(
        "a deeper cutoff never lowers the value",
        ties=False,
        check=_deeper_cutoff,
        applies=lambda m: len(_cut_at(m)) > 1,
        claimed=lambda claims: claims.grows_with_k,
    ),
    Law(
        "ties=expected is the mean over all orders",
        ties=True,
        check=_expected,
        claimed=lambda claims: claims.means_over_orders,
    ),
    Law(
        "ties=best and worst are the extremes",
        ties=True,
        check=_extremes,
        applies=lambda m: JudgmentGroups not in m.requires,
        claimed=lambda claims: claims.extremal_under_ties,
    ),
)
