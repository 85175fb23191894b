"""Preference measures against a derivation by hand: every pair of documents looked at."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.worlds import close

import rankstone
from rankstone.errors import BadValue, UsageError

Rows = list[tuple[str, str, str, str, float]]
DOCS = ["d1", "d10", "d2", "D3", "é", "z"]
MEASURES = [
    "Prefs", "Prefs(when=one)", "Prefs(when=both)", "Prefs(over=pairs)", "Prefs(over=pairs, when=one)",
    "Prefs(over=pairs, when=both)", "Prefs(over=groups)", "Prefs(over=groups, when=one)",
    "Prefs(over=groups, when=both)", "Prefs(over=groups, nonrel=R)",
    "Prefs(over=groups, when=both, nonrel=R)", "NumPrefs", "NumPrefs(what=fulfilled)", "NumPrefs(what=both)",
]  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Rows, dict[str, list[str]]]:
    """Draw comparisons that no group contradicts, and ranked lists."""
    rows: Rows = []
    for query, group in itertools.product(("q1", "q2"), ("u", "v")):
        level = {doc: index for index, doc in enumerate(draw(st.permutations(DOCS)))}
        bad = draw(st.integers(0, 3))
        for part in range(draw(st.integers(1, 3))):
            shown = draw(st.lists(st.sampled_from(DOCS), max_size=4, unique=True))
            rows += [
                (query, group, f"s{part}", doc, float(max(level[doc] - bad, 0)))
                for doc in shown
            ]
    rows.append(("q1", "u", "s0x", "d1", 7.0))
    lists = {
        query: draw(st.lists(st.sampled_from([*DOCS, "?"]), min_size=1, unique=True))
        for query in ("q1", "q2")
    }
    return rows, lists


def engine(
    rows: Rows, lists: dict[str, list[str]], texts: list[str], **options: Any
) -> dict[str, dict[str, float]]:
    """Return ``{query: {measure: value}}``."""
    names = ["query_id", "subtopic", "subgroup", "doc_id", "relevance"]
    frame = pl.DataFrame(rows, names, orient="row")
    values = {
        text: text.replace("Prefs", "Prefs(within=subgroup)", 1).replace(")(", ", ", 1)
        for text in texts
    }
    values = {text: _ordered(words) for text, words in values.items()}
    scored = rankstone.evaluate(
        frame, lists, list(values.values()), **options
    ).per_query
    back = {words: text for text, words in values.items()}
    result: dict[str, dict[str, float]] = defaultdict(dict)
    for query, measure, value in scored.select(
        "query_id", "measure", "value"
    ).iter_rows():
        result[query][back[measure]] = value
    return result


def _ordered(text: str) -> str:
    return str(rankstone.parse_measure(text))


def by_hand(rows: Rows, lists: dict[str, list[str]], query: str, text: str) -> float:
    """Return one value from sets of (better, worse) pairs."""
    values = dict(
        part.split("=")
        for part in text.partition("(")[2].rstrip(")").split(", ")
        if part
    )
    place = {doc: index for index, doc in enumerate(lists[query])}
    groups = {
        group: prefers(rows, query, group)
        for group in {row[1] for row in rows if row[0] == query}
    }

    def counts(pair: tuple[str, str], when: str) -> bool:
        shown = sum(doc in place for doc in pair)
        return shown >= {"any": 0, "one": 1, "both": 2}[when]

    def won(pair: tuple[str, str]) -> bool:
        better, worse = pair
        return better in place and place[better] < place.get(worse, 99)

    when = values.get("when", "any")
    if text.startswith("NumPrefs"):
        when = "both" if values.get("what") == "both" else "any"
        pairs = [
            pair for value in groups.values() for pair in value if counts(pair, when)
        ]
        return float(len(pairs) if "what" not in values else sum(map(won, pairs)))
    texts = {
        group: [pair for pair in value if counts(pair, when)]
        for group, value in groups.items()
    }
    if values.get("over") == "groups":
        shares = [
            limited(rows, query, group, pairs, values, place, won)
            for group, pairs in texts.items()
        ]
        return sum(shares) / len(shares) if shares else 0.0
    if values.get("over") == "pairs":
        about: dict[frozenset[str], list[bool]] = defaultdict(list)
        for pairs in texts.values():
            for pair in pairs:
                about[frozenset(pair)].append(won(pair))
        return (
            sum(sum(votes) / len(votes) for votes in about.values()) / len(about)
            if about
            else 0.0
        )
    everything = [pair for pairs in texts.values() for pair in pairs]
    return sum(map(won, everything)) / len(everything) if everything else 0.0


def prefers(rows: Rows, query: str, group: str) -> set[tuple[str, str]]:
    """Return all that follows from a group's subgroups."""
    parts = defaultdict(list)
    for row in rows:
        if row[:2] == (query, group):
            parts[row[2]].append(row[3:])
    pairs = {
        (first, other)
        for docs in parts.values()
        for (first, high), (other, low) in itertools.product(docs, docs)
        if high > low
    }
    while (
        more := {(a, d) for (a, b), (c, d) in itertools.product(pairs, pairs) if b == c}
        - pairs
    ):
        pairs |= more
    return pairs


def limited(
    rows: Rows,
    query: str,
    group: str,
    pairs: list[tuple[str, str]],
    options: dict[str, str],
    place: dict[str, int],
    won: Any,
) -> float:
    """Return a group's share, perhaps with as many documents of grade 0 as relevant ones."""
    extra, wins = 0, 0
    if options.get("nonrel") == "R":
        grades: dict[str, float] = {}
        for row in rows:
            if row[:2] == (query, group):
                grades[row[3]] = max(row[4], grades.get(row[3], 0.0))
        seen = [doc for doc in grades if doc in place or options.get("when") != "both"]
        good = [doc for doc in seen if grades[doc] > 0]
        bad = sorted(
            (doc for doc in seen if grades[doc] == 0),
            key=lambda doc: (place.get(doc, 99), doc.encode()),
        )
        pairs = [pair for pair in pairs if pair[1] not in bad[len(good) :]]
        lacking = max(len(good) - len(bad), 0)
        extra, wins = len(good) * lacking, sum(doc in place for doc in good) * lacking
    possible = len(pairs) + extra
    return (sum(map(won, pairs)) + wins) / possible if possible else 0.0


@given(world=worlds())
def test_every_pair_by_hand(world: tuple[Rows, dict[str, list[str]]]) -> None:
    """All readings of all measures, subgroups and what follows from them included."""
    rows, lists = world
    values = engine(rows, lists, MEASURES)
    for query in {row[0] for row in rows}:
        for text in MEASURES:
            expected = by_hand(rows, lists, query, text)
            assert close(expected, values[query][text], 1e-12), (query, text)


@given(world=worlds(), k=st.integers(1, 4))
def test_a_cutoff_is_a_shorter_list(
    world: tuple[Rows, dict[str, list[str]]], k: int
) -> None:
    """Documents below rank k count as not retrieved."""
    rows, lists = world
    texts = [f"{text}@{k}" for text in MEASURES]
    short = engine(rows, {query: docs[:k] for query, docs in lists.items()}, MEASURES)
    cut = engine(rows, lists, texts)

    assert cut == {
        query: {f"{text}@{k}": value for text, value in row.items()}
        for query, row in short.items()
    }


def test_contradictions_are_refused() -> None:
    """Within one group a ≻ b ≻ a cannot be; two groups may disagree."""
    rows: Rows = [
        ("q", "u", "s", "a", 2.0),
        ("q", "u", "s", "b", 1.0),
        ("q", "u", "t", "b", 2.0),
        ("q", "u", "t", "a", 1.0),
    ]
    with pytest.raises(BadValue, match="contradict"):
        engine(rows, {"q": ["a"]}, ["Prefs"])
    apart: Rows = [
        (query, part, part, doc, level) for query, _, part, doc, level in rows
    ]

    assert engine(apart, {"q": ["a"]}, ["Prefs"])["q"] == {"Prefs": 1 / 2}


def test_open_ties_are_refused() -> None:
    """Tied documents have no order, and no order is best for groups that disagree."""
    for ties in ("expected", "best"):
        with pytest.raises(UsageError):
            engine([("q", "u", "s", "a", 2.0)], {"q": ["a"]}, ["Prefs"], ties=ties)
