"""The slow and obvious second derivation of every measure of whole lists, from its card, in plain loops."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import rankstone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.rankings.recommendation.worlds import World

#: user → value (None: none)
PerUser = dict[str, float | None]
Lists = dict[str, list[str]]


def value(text: str, world: World) -> PerUser | float | None:
    """Return a measure's value for every user, or for the run."""
    measure: Any = rankstone.parse_measure(text)
    return ORACLES[measure.name](measure, world, world.lists(measure.k))


# -- what everybody asks ---------------------------------------------------------------------------
def attention(measure: Any, rank: int) -> float:
    if measure.discount == "log2":
        return 1 / math.log2(rank + 1)
    if measure.discount == "reciprocal":
        return 1 / rank
    return measure.p ** (rank - 1) if measure.discount == "geometric" else 1.0


def catalogue(world: World) -> tuple[int, set[str] | None]:
    if world.options.get("catalogue_size"):
        return world.options["catalogue_size"], None
    if "items" not in world.options:
        return len(world.items), set(world.items)
    return len({item for _, item, _ in world.history}), {
        item for _, item, _ in world.history
    }


def relevant(measure: Any, world: World, user: str) -> set[str]:
    return {
        item for item, grade in world.qrels.get(user, {}).items() if measure.rel(grade)
    }


def past_of(world: World, user: str) -> list[str]:
    """Return the distinct items a user met."""
    return sorted({item for who, item, _ in world.history if who == user})


def met_by(world: World, item: str, of: str = "users") -> float:
    if of == "records":
        return sum(1.0 for _, what, _ in world.history if what == item)
    return float(len({who for who, what, _ in world.history if what == item}))


def met(world: World) -> list[str]:
    """Return the items somebody met, most popular first, equal ones by id, larger first."""
    there = {item for _, item, _ in world.history}
    return sorted(
        there, key=lambda item: (met_by(world, item), item.encode()), reverse=True
    )


def mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def per_user(lists: Lists, result: Callable[[str, list[str]], float | None]) -> PerUser:
    return {user: result(user, items) for user, items in lists.items()}


def labels(world: World, column: str, item: str) -> list[str]:
    return sorted(set(world.items.get(item, {}).get(column) or []))


def vector(world: World, columns: tuple[str, ...], item: str) -> list[float] | None:
    about = world.items.get(item, {})
    if columns == ("features",):
        result: list[float] | None = about.get("features")
        return result
    numbers = [about.get(column) for column in columns]
    return None if None in numbers else numbers  # type: ignore[return-value]


# -- the catalogue ---------------------------------------------------------------------------------
def among(measure: Any, world: World, lists: Lists) -> tuple[int, set[str] | None]:
    """Return how many items there are for a measure, and which of them it looks at."""
    if measure.among == "shown":
        there = {item for items in lists.values() for item in items}
        return len(there), there
    m, known = catalogue(world)
    if measure.among == "past":
        known = set(met(world))
        m = len(known)
    return m, None if measure.outside == "count" else known


def shown(lists: Lists, lines: set[str] | None) -> Counter[str]:
    return Counter(
        i for items in lists.values() for i in items if lines is None or i in lines
    )


def coverage(measure: Any, world: World, lists: Lists) -> float:
    m, known = among(measure, world, lists)
    distinct = len(shown(lists, known))
    return distinct / m if measure.scale == "share" else distinct


def user_coverage(measure: Any, world: World, lists: Lists) -> float | None:
    least = 1 if measure.at_least == "one" else measure.k
    liking = {
        user
        for user, grades in world.qrels.items()
        if any(g > 0 for g in grades.values())
    }
    everybody = {"known": set(world.users), "run": set(lists), "relevant": liking}[
        measure.among
    ]
    covered = sum(
        len(items) >= least for user, items in lists.items() if user in everybody
    )
    if measure.scale == "count":
        return covered
    return covered / len(everybody) if everybody else None


def gini(measure: Any, world: World, lists: Lists) -> float | None:
    m, known = among(measure, world, lists)
    received: Counter[str] = Counter()
    for items in lists.values():
        for rank, item in enumerate(items, 1):
            if known is None or item in known:
                received[item] += attention(measure, rank)  # type: ignore[assignment]
    amounts = sorted([*received.values(), *[0.0] * (m - len(received))])
    norm = m if measure.denom == "m" else m - 1
    if not sum(amounts) or not norm:
        return None
    # the mean absolute difference of two items, half of it relative to the mean; equal amounts together
    many = Counter(amounts)
    apart = math.fsum(many[a] * many[b] * abs(a - b) for a in many for b in many)
    return apart / (2 * norm * math.fsum(amounts))


def entropy(measure: Any, world: World, lists: Lists) -> float | None:
    counts = Counter(i for items in lists.values() for i in items)
    if measure.scale == "share":
        counts = shown(lists, catalogue(world)[1])
    whole = sum(counts.values())
    bits = -math.fsum(c / whole * math.log2(c / whole) for c in counts.values())
    if measure.scale == "effective":
        return 2**bits
    if measure.scale == "share":
        m = catalogue(world)[0]
        return bits / math.log2(m) if counts and m > 1 else None
    return bits


def personalization(measure: Any, _world: World, lists: Lists) -> float | None:
    longest = max(len(items) for items in lists.values())
    alike = [
        len(set(a) & set(b))
        / (
            (measure.k or longest)
            if measure.similarity == "overlap"
            else (len(a) * len(b)) ** 0.5
        )
        for a, b in permutations(lists.values(), 2)
    ]
    return 1 - math.fsum(alike) / len(alike) if alike else None


# -- novelty ---------------------------------------------------------------------------------------
def novelty(measure: Any, world: World, lists: Lists) -> PerUser:
    everybody = (
        len({who for who, _, _ in world.history})
        if measure.count == "users"
        else len(world.history)
    )
    least = min(met_by(world, item, measure.count) for item in met(world))

    def of(item: str) -> float | None:
        count = met_by(world, item, measure.count)
        if count:
            return -math.log2(count / everybody)
        stand_in = {
            "one": -math.log2(1 / everybody),
            "rarest": -math.log2(least / everybody),
            "zero": 0.0,
        }
        return stand_in.get(measure.cold)

    def user_value(_: str, items: list[str]) -> float | None:
        values = [v for v in map(of, items) if v is not None]
        most = math.log2(everybody) if measure.scale == "share" else 1.0
        if not values or not most:
            return None
        return (
            math.fsum(values)
            / (len(values) if measure.denom == "n" else measure.k)
            / most
        )

    return per_user(lists, user_value)


def discovery(measure: Any, world: World, lists: Lists) -> PerUser:
    users = len({who for who, _, _ in world.history})
    pairs = len({(who, what) for who, what, _ in world.history})
    rarest = min(met_by(world, item) for item in met(world))

    def worth(item: str) -> float:
        if measure.name == "EPC":
            return 1 - met_by(world, item) / users
        return -math.log2((met_by(world, item) or rarest) / pairs)

    def user_value(user: str, items: list[str]) -> float:
        good = (
            set(items)
            if measure.relevance_by == "all"
            else relevant(measure, world, user)
        )
        whole = math.fsum(attention(measure, r) for r in range(1, len(items) + 1))
        seen = [
            attention(measure, r) * worth(i)
            for r, i in enumerate(items, 1)
            if i in good
        ]
        return math.fsum(seen) / whole

    return per_user(lists, user_value)


def unexpectedness(measure: Any, world: World, lists: Lists) -> PerUser:
    def user_value(user: str, items: list[str]) -> float | None:
        if measure.against == "popular":
            expected = set(met(world)[: measure.k or len(items)])
        elif measure.against == "history":
            expected = set(past_of(world, user))
        elif user not in world.baseline:
            return 0.0 if measure.absent == "zero" else None
        else:
            expected = set(world.baseline[user][: measure.k])
        return 1 - len(expected & set(items)) / (
            len(items) if measure.denom == "n" else measure.k
        )

    return per_user(lists, user_value)


def serendipity(measure: Any, world: World, lists: Lists) -> PerUser:
    m = catalogue(world)[0]
    levels = sorted(
        {met_by(world, item, measure.count) for item in met(world)}, reverse=True
    )

    def popular(rank: int, item: str) -> float:
        count = met_by(world, item, measure.count)
        general = (m + 1 - (levels.index(count) + 1)) / m if count else 0.0
        return max((m + 1 - rank) / m - general, 0.0)

    def distance(user: str, item: str) -> float | None:
        past = [j for j in past_of(world, user) if featured(world, measure.features, j)]
        if not past:
            return None
        if not featured(world, measure.features, item):
            return 1.0
        return 1 - math.fsum(
            cosine(world, measure.features, item, j) for j in past
        ) / len(past)

    def user_value(user: str, items: list[str]) -> float | None:
        good = relevant(measure, world, user)
        norm = len(items) if measure.denom == "n" or measure.k is None else measure.k
        if measure.expected == "popular":
            return (
                math.fsum(popular(r, i) for r, i in enumerate(items, 1) if i in good)
                / norm
            )
        apart = [distance(user, i) for i in items]
        if apart[0] is None:
            return None
        return (
            math.fsum(
                a
                for i, a in zip(items, apart, strict=True)
                if i in good and a is not None
            )
            / norm
        )

    return per_user(lists, user_value)


# -- popularity ------------------------------------------------------------------------------------
def popularity(measure: Any, world: World, lists: Lists) -> PerUser:
    order = [met_by(world, item, measure.count) for item in met(world)]

    def of(item: str) -> float:
        count = met_by(world, item, measure.count)
        if measure.scale in ("share", "max"):
            return count / (
                math.fsum(order) if measure.scale == "share" else max(order)
            )
        if measure.scale == "quantile":
            if not count:
                return 0.0
            below, same = sum(c < count for c in order), sum(c == count for c in order)
            return (below + (same + 1) / 2) / len(order)
        return count

    def user_value(_: str, items: list[str]) -> float | None:
        return mean(
            [of(i) for i in items if measure.cold == "zero" or met_by(world, i)]
        )

    return per_user(lists, user_value)


def tail(measure: Any, world: World, lists: Lists) -> PerUser:
    order, head, reached = met(world), set(), 0.0
    share = Fraction(str(measure.head))
    if measure.by == "items":
        head = set(order[: math.ceil(share * len(order))])
    else:
        whole = Fraction(sum(int(met_by(world, i)) for i in order))
        for item in order:
            head.add(item)
            reached += met_by(world, item)
            if reached >= share * whole:
                break

    def user_value(_: str, items: list[str]) -> float:
        count = sum(i not in head for i in items)
        return count / len(items) if measure.name == "APLT" else count

    return per_user(lists, user_value)


def lift(_: Any, world: World, lists: Lists) -> PerUser:
    def user_value(user: str, items: list[str]) -> float | None:
        before = mean([met_by(world, i) for i in past_of(world, user)])
        now = mean([met_by(world, i) for i in items])
        return None if before is None or now is None else (now - before) / before

    return per_user(lists, user_value)


# -- diversity -------------------------------------------------------------------------------------
def featured(world: World, features: str, item: str) -> bool:
    if features == "category":
        return bool(labels(world, "category", item))
    return vector(world, tuple(features.split("+")), item) is not None


def cosine(world: World, features: str, a: str, b: str) -> float:
    if features == "category":
        x, y = set(labels(world, features, a)), set(labels(world, features, b))
        return len(x & y) / math.sqrt(len(x) * len(y))
    u, v = (vector(world, tuple(features.split("+")), i) or [] for i in (a, b))
    lengths = math.hypot(*u) * math.hypot(*v)
    return (
        math.fsum(p * q for p, q in zip(u, v, strict=True)) / lengths
        if lengths
        else 0.0
    )


def apart(world: World, features: str, distance: str, a: str, b: str) -> float:
    if distance == "cosine":
        return 1 - cosine(world, features, a, b)
    if distance == "jaccard":
        x, y = set(labels(world, features, a)), set(labels(world, features, b))
        return 1 - len(x & y) / len(x | y)
    u, v = (vector(world, tuple(features.split("+")), i) or [] for i in (a, b))
    if distance == "hamming":
        return float(sum(p != q for p, q in zip(u, v, strict=True)))
    return math.dist(u, v) ** (2 if distance == "sqeuclidean" else 1)


def diversity(measure: Any, world: World, lists: Lists) -> PerUser:
    kind = measure.distance if measure.name == "ILD" else measure.similarity

    def user_value(_: str, items: list[str]) -> float | None:
        kept = [i for i in items if featured(world, measure.features, i)]
        distances = [
            apart(world, measure.features, kind, a, b) for a, b in combinations(kept, 2)
        ]
        if measure.name == "ILS":
            return 1 - math.fsum(distances) / len(distances) if distances else None
        if len(items) == 1 and measure.lone == "zero":
            return 0.0
        if measure.denom == "n":
            return math.fsum(distances) / len(kept) if kept else None
        return mean(distances)

    return per_user(lists, user_value)


# -- calibration and fairness ----------------------------------------------------------------------
def mix(
    world: World, column: str, weighted: list[tuple[str, float]]
) -> dict[str, float] | None:
    amounts: Counter[str] = Counter()
    for item, weight in weighted:
        for label in labels(world, column, item):
            amounts[label] += weight / len(labels(world, column, item))  # type: ignore[assignment]
    whole = math.fsum(amounts.values())
    return {label: a / whole for label, a in amounts.items()} if whole else None


def divergence(
    p: dict[str, float], q: dict[str, float], log: Callable[[float], float] = math.log
) -> float:
    return math.fsum(share * log(share / q[c]) for c, share in p.items() if share)


def halfway(p: dict[str, float], q: dict[str, float]) -> dict[str, float]:
    return {c: (p.get(c, 0) + q.get(c, 0)) / 2 for c in {*p, *q}}


def calibration(measure: Any, world: World, lists: Lists) -> PerUser:
    def user_value(user: str, items: list[str]) -> float | None:
        past = [
            (i, w if measure.weight else 1.0)
            for who, i, w in world.history
            if who == user
        ]
        p = mix(world, measure.category, past)
        q = mix(
            world,
            measure.category,
            [(i, attention(measure, r)) for r, i in enumerate(items, 1)],
        )
        if p is None or q is None:
            return None
        if measure.distance == "hellinger":
            return math.sqrt(
                math.fsum(
                    (math.sqrt(p.get(c, 0)) - math.sqrt(q.get(c, 0))) ** 2
                    for c in {*p, *q}
                )
                / 2
            )
        if measure.distance == "js":
            return (divergence(p, halfway(p, q)) + divergence(q, halfway(p, q))) / 2
        return divergence(
            p, {c: (1 - measure.alpha) * q.get(c, 0) + measure.alpha * p[c] for c in p}
        )

    return per_user(lists, user_value)


def of_group(world: World, group: str, amounts: dict[str, float]) -> float:
    """Sum what the items of a group have; an item of several groups is shared equally."""
    return math.fsum(
        amounts.get(i, 0) / len(labels(world, "group", i))
        for i in world.items
        if group in labels(world, "group", i)
    )


def groups(world: World) -> list[str]:
    return sorted({g for item in world.items for g in labels(world, "group", item)})


def exposures(
    measure: Any, world: World, lists: Lists, *, good: bool = False
) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for user, items in lists.items():
        for rank, item in enumerate(items, 1):
            if not good or item in relevant(measure, world, user):
                counts[item] += attention(measure, rank)  # type: ignore[assignment]
    return dict(counts)


def parity(measure: Any, world: World, lists: Lists) -> float | None:
    got = exposures(measure, world, lists, good=measure.name == "RUR")
    if measure.name == "DP":
        due = dict.fromkeys(world.items, 1.0)
    else:
        due = dict(Counter(i for user in lists for i in relevant(measure, world, user)))
    mine = {
        g: (of_group(world, g, got), of_group(world, g, due)) for g in groups(world)
    }
    if measure.protected not in mine:
        raise KeyError(measure.protected)
    x, dx = mine.pop(measure.protected)
    y, dy = (
        (math.fsum(side) for side in zip(*mine.values(), strict=True))
        if mine
        else (0.0, 0.0)
    )
    if measure.name == "DP" and measure.per == "group" and dx and dy:
        dx = dy = 1.0
    if not dx or not dy or not y or (measure.scale == "log" and not x):
        return None
    ratio = (x / dx) / (y / dy)
    return ratio if measure.scale == "ratio" else math.log(ratio)


def awrf(measure: Any, world: World, lists: Lists) -> PerUser:
    def user_value(user: str, items: list[str]) -> float | None:
        got = mix(
            world, "group", [(i, attention(measure, r)) for r, i in enumerate(items, 1)]
        )
        due: dict[str, float] | None
        if measure.target == "equal":
            due = {g: 1 / len(groups(world)) for g in groups(world)}
        elif measure.target == "population":
            due = mix(world, "group", [(i, 1.0) for i in world.items])
        else:
            due = mix(
                world, "group", [(i, 1.0) for i in relevant(measure, world, user)]
            )
        if got is None or due is None:
            return None
        if measure.distance == "l1":
            return (
                1
                - math.fsum(abs(got.get(g, 0) - due.get(g, 0)) for g in groups(world))
                / 2
            )
        middle = halfway(got, due)
        return (
            1
            - (divergence(got, middle, math.log2) + divergence(due, middle, math.log2))
            / 2
        )

    return per_user(lists, user_value)


def iaa(measure: Any, world: World, lists: Lists) -> float | None:
    got = exposures(measure, world, lists)
    due = {
        i: float(c)
        for i, c in Counter(
            i for u in lists for i in relevant(measure, world, u)
        ).items()
    }
    if measure.by == "group":
        got, due = (
            {g: of_group(world, g, side) for g in groups(world)} for side in (got, due)
        )
    a, r = math.fsum(got.values()), math.fsum(due.values())
    if not a or not r:
        return None
    return math.fsum(abs(got.get(i, 0) / a - due.get(i, 0) / r) for i in {*got, *due})


def chances(measure: Any, world: World, lists: Lists) -> float | None:
    rows = []
    for group in groups(world):
        placed = possible = 0.0
        for user, items in lists.items():
            past = set(past_of(world, user))
            able = (
                set(world.items)
                if measure.name == "RSP"
                else relevant(measure, world, user)
            )
            top = [i for i in items if measure.name == "RSP" or i in able]
            placed += of_group(world, group, dict.fromkeys(top, 1.0))
            possible += of_group(world, group, dict.fromkeys(able - past, 1.0))
        if not possible:
            return None
        rows.append(placed / possible)
    middle = math.fsum(rows) / len(rows) if rows else 0.0
    if not middle:
        return None
    return math.sqrt(math.fsum((c - middle) ** 2 for c in rows) / len(rows)) / middle


def due_exposure(measure: Any, world: World, lists: Lists) -> dict[str, float]:
    """Return what relevance deserves: the mean over all orders that show relevant items first."""
    m, depth = (
        len(world.items),
        measure.k or max(len(items) for items in lists.values()),
    )
    weights = [attention(measure, r) for r in range(1, min(depth, m) + 1)]
    due: Counter[str] = Counter()
    for user in lists:
        good = relevant(measure, world, user) & set(world.items)
        for item in world.items:
            places = range(len(good)) if item in good else range(len(good), m)
            due[item] += (
                math.fsum(weights[p] for p in places if p < len(weights))
                / len(places)
                / len(lists)
            )  # type: ignore[assignment]
    if measure.by == "group":
        return {g: of_group(world, g, dict(due)) for g in groups(world)}
    return dict(due)


def expected(measure: Any, world: World, lists: Lists) -> float:
    got = {
        i: a / len(lists)
        for i, a in exposures(measure, world, lists).items()
        if i in world.items
    }
    if measure.by == "group":
        got = {g: of_group(world, g, got) for g in groups(world)}
    if measure.name == "EED":
        return math.fsum(a * a for a in got.values())
    due = due_exposure(measure, world, lists)
    if measure.name == "EEL":
        return math.fsum((got.get(i, 0) - due.get(i, 0)) ** 2 for i in {*got, *due})
    return math.fsum(2 * got.get(i, 0) * due.get(i, 0) for i in got)


ORACLES: dict[str, Callable[[Any, World, Lists], PerUser | float | None]] = {
    "Coverage": coverage,
    "UserCoverage": user_coverage,
    "Gini": gini,
    "Entropy": entropy,
    "Personalization": personalization,
    "Novelty": novelty,
    "EPC": discovery,
    "EFD": discovery,
    "Unexpectedness": unexpectedness,
    "Serendipity": serendipity,
    "Popularity": popularity,
    "APLT": tail,
    "ACLT": tail,
    "PopularityLift": lift,
    "ILD": diversity,
    "ILS": diversity,
    "Calibration": calibration,
    "DP": parity,
    "EUR": parity,
    "RUR": parity,
    "AWRF": awrf,
    "IAA": iaa,
    "RSP": chances,
    "REO": chances,
    "EEL": expected,
    "EED": expected,
    "EER": expected,
}
