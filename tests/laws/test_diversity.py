"""What must hold for measures over subtopics, whatever the data."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.laws.table import INTENTS, NOVELTY, measure
from tests.oracle import diversity
from tests.oracle.oracle import read_measure, scores
from tests.oracle.worlds import World, close, differences, options, values, worlds

import rankstone
from rankstone.hits.judged_pool import greedy
from rankstone.measures.subtopic_diversity import GREEDY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Judged = dict[str, dict[str, int]]
GROUPED = tuple(text for text in (*NOVELTY, *INTENTS) if not text.startswith("PS"))
WITHIN = 1e-12


@st.composite
def judged(draw: st.DrawFn, most: int = 5) -> Judged:
    """Draw documents and what they are about; at least one is relevant to something."""
    docs = draw(st.integers(1, most))
    names = st.sets(st.sampled_from("abcdef"), min_size=1, max_size=4)
    about = {
        f"d{index}": {name: draw(st.integers(0, 2)) for name in sorted(draw(names))}
        for index in range(docs)
    }
    about["d0"][min(about["d0"])] = 1
    return about


def ask(
    about: Judged,
    ranked: Sequence[str],
    texts: Sequence[str],
    intents: Mapping[str, float] | None = None,
) -> dict[str, float | None]:
    """Return ``{measure: value}`` for one query."""
    weights = None if intents is None else {"q": intents}
    evaluation = rankstone.evaluate(
        {"q": about}, {"q": list(ranked)}, list(texts), intents=weights
    )
    return evaluation.to_dict()["run"]


# -- weights -------------------------------------------------------------------------------------------
@given(
    world=worlds(),
    chosen=options("ties", "unjudged", "empty", "missing", "extra", "depth"),
)
def test_weighted_intents(world: World, chosen: dict[str, Any]) -> None:
    """With a table of intents every measure equals its formula with those weights."""
    world = world.under(**chosen)
    table = {query: diversity.WEIGHTS for query, _, _ in world.qrels}
    assume(
        any(
            diversity.WEIGHTS[s]
            for _, s, _, g in diversity.split(world.qrels)
            if g >= 0
        )
    )
    scored = rankstone.evaluate(
        world.judgments(GROUPED),
        world.table(),
        list(GROUPED),
        intents=table,
        **world.options,
    )
    possible = {
        query: {_weighted(facts): count for facts, count in lists.items()}
        for query, lists in world.possible(named=True).items()
    }
    for text in GROUPED:
        expected, numbers = scores(possible, text, world.options), values(scored, text)
        assert set(expected) == set(numbers)
        for query, rows in expected.items():
            value = numbers[query]
            assert (value is None) == (rows.value is None)
            assert value is None or close(value, rows.value, WITHIN), (text, query)


def _weighted(facts: Any) -> Any:
    from dataclasses import replace

    return replace(facts, weighted=True)


@given(about=judged(), scale=st.sampled_from([1e-6, 0.1, 3.0, 1e6]), data=st.data())
def test_weights_are_shares(about: Judged, scale: float, data: st.DataObject) -> None:
    """Only the proportions of weights count."""
    names = sorted({name for subtopics in about.values() for name in subtopics})
    weights = {name: data.draw(st.sampled_from([0.5, 1.0, 2.0])) for name in names}
    ranked = data.draw(st.permutations(sorted(about)))
    result = ask(about, ranked, GROUPED, weights)
    other = ask(
        about,
        ranked,
        GROUPED,
        {name: weight * scale for name, weight in weights.items()},
    )
    assert all(close(result[text], other[text], 1e-9) for text in GROUPED)


# -- copies --------------------------------------------------------------------------------------------
#: a document that counts twice takes other measures out of their range, which is refused
COPIES_STAY_IN_RANGE = tuple(
    text
    for text in GROUPED
    if text.startswith(("alpha_DCG", "ERR_IA", "NRBP", "StRecall", "P_IA@", "IA(of=RR"))
)


@pytest.mark.parametrize(
    "duplicates", ["first_keep_rank", "first_drop", "last_drop", "keep"]
)
@given(data=st.data(), chosen=options("ties", "depth", "order"))
def test_duplicates(
    duplicates: str, data: st.DataObject, chosen: dict[str, Any]
) -> None:
    """Copies of a document keep their rank and serve nothing, are removed, or serve again."""
    world = data.draw(worlds(longest=4))
    copies = data.draw(st.lists(st.sampled_from(world.run), min_size=1, max_size=3))
    run = [
        *world.run,
        *(
            (query, doc, data.draw(st.sampled_from([4.0, 0.0])))
            for query, doc, _ in copies
        ),
    ]
    twice = World(world.qrels, tuple(data.draw(st.permutations(run)))).under(
        duplicates=duplicates, **chosen
    )
    lines = differences(
        twice, GROUPED if duplicates != "keep" else COPIES_STAY_IN_RANGE
    )
    assert not lines, "\n".join(lines[:12])


# -- subtopics -----------------------------------------------------------------------------------------
@given(about=judged(), data=st.data())
def test_a_subtopic_without_documents_changes_nothing(
    about: Judged, data: st.DataObject
) -> None:
    """Judgments that are all 0 for a subtopic leave every number as it is, to the bit."""
    ranked = data.draw(st.permutations(sorted(about)))
    more = {doc: {**subtopics, "z": 0} for doc, subtopics in about.items()}
    assert ask(about, ranked, GROUPED) == ask(more, ranked, GROUPED)


@given(about=judged(), data=st.data())
def test_the_names_of_subtopics_mean_nothing(
    about: Judged, data: st.DataObject
) -> None:
    """Renamed subtopics give the same numbers."""
    ranked = data.draw(st.permutations(sorted(about)))
    names = dict(zip("abcdef", data.draw(st.permutations("uvwxyz")), strict=True))
    renamed = {
        doc: {names[s]: grade for s, grade in about[doc].items()} for doc in about
    }
    first, other = ask(about, ranked, GROUPED), ask(renamed, ranked, GROUPED)
    assert all(close(first[text], other[text], WITHIN) for text in GROUPED)


@given(
    grades=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    k=st.integers(1, 6),
    data=st.data(),
)
def test_one_subtopic_is_the_plain_measure(
    grades: list[int], k: int, data: st.DataObject
) -> None:
    """With a single subtopic an intent-aware measure is the measure, and α = 0 makes α-nDCG binary nDCG."""
    docs = [f"d{index}" for index in range(len(grades))]
    shown = data.draw(st.permutations(docs))[:5]
    about = {doc: {"only": grade} for doc, grade in zip(docs, grades, strict=True)}
    plain = dict(zip(docs, grades, strict=True))
    pairs = {
        f"alpha_nDCG(alpha=0)@{k}": f"nDCG(gain=binary)@{k}",
        f"AP_IA@{k}": f"AP@{k}",
        f"P_IA@{k}": f"P@{k}",
        f"IA(of=nDCG(gain=exp2))@{k}": f"nDCG(gain=exp2)@{k}",
        f"IA(of=RR)@{k}": f"RR@{k}",
        f"D_nDCG@{k}": f"nDCG@{k}",
        f"StRecall@{k}": f"Success@{k}",
    }
    grouped = ask(about, shown, list(pairs))
    alone = rankstone.evaluate(
        {"q": plain}, {"q": shown}, list(pairs.values())
    ).to_dict()["run"]
    for text, other in pairs.items():
        assert close(grouped[text], alone[other], WITHIN), text


@given(about=judged(), k=st.integers(1, 6), data=st.data())
def test_what_measures_have_in_common(
    about: Judged, k: int, data: st.DataObject
) -> None:
    """Coverage is the mean success; TREC's ERR-IA is the mean ERR of chance α, over endless lists'."""
    ranked = data.draw(st.permutations(sorted(about)))
    texts = [
        f"StRecall@{k}",
        f"IA(of=Success)@{k}",
        f"ERR_IA@{k}",
        f"IA(of=ERR(gain={{1: 0.5, 2: 0.5}}))@{k}",
    ]
    cover, success, trec, mean = (ask(about, ranked, [text])[text] for text in texts)
    assert close(cover, success, WITHIN)
    assert trec is not None
    endless = math.fsum(0.5**i / (i + 1) for i in range(k))
    assert close(trec * endless * 0.5, mean, WITHIN)


@given(about=judged(), data=st.data())
def test_document_grades_beside_subtopics(about: Judged, data: st.DataObject) -> None:
    """A measure that knows nothing of subtopics sees each document's highest grade."""
    ranked = data.draw(st.permutations(sorted(about)))
    plain = {doc: max(subtopics.values()) for doc, subtopics in about.items()}
    texts = ["nDCG@3", "AP", "RR", "NumRel"]
    beside = ask(about, ranked, [*texts, "alpha_nDCG@3"])
    alone = rankstone.evaluate({"q": plain}, {"q": list(ranked)}, texts).to_dict()[
        "run"
    ]
    assert {text: beside[text] for text in texts} == alone


# -- the greedy ideal ----------------------------------------------------------------------------------
@pytest.mark.parametrize("text", ["alpha_nDCG", "nERR_IA", "nNRBP"])
@given(
    about=judged(4), k=st.integers(1, 4), alpha=st.sampled_from([0.0, 0.5, 0.9, 1.0])
)
def test_how_far_lists_beat_the_greedy_order(
    text: str, about: Judged, k: int, alpha: float
) -> None:
    """The best order of all is within 1 and the declared bound, and the greedy order itself is worth 1."""
    name = str(rankstone.parse_measure(f"{text}(alpha={alpha})@{k}"))
    best = max(
        ask(about, order, [name])[name] or 0.0
        for order in itertools.permutations(sorted(about))
    )
    top = rankstone.parse_measure(name).span[1]
    assert top is not None
    assert 1 - WITHIN <= best <= top + WITHIN
    assert top <= GREEDY
    facts = next(
        iter(
            World(
                tuple(("q", doc, 1.0) for doc in about), (("q", "d0", 1.0),)
            ).possible(named=True)["q"]
        )
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diversity, "subtopics", lambda doc, _: about[doc])
        order = [
            item[0]
            for item in diversity.greedy(facts, read_measure(name))
            if item is not None
        ]
    assert ask(about, [str(doc) for doc in order], [name])[name] == pytest.approx(
        1.0, abs=WITHIN
    )


def test_the_greedy_order_is_not_the_best() -> None:
    """A list can exceed 1, so the span says so: e/(e − 1) at most."""
    about = {
        "d0": dict.fromkeys("abcd", 1),
        "d1": dict.fromkeys("abe", 1),
        "d2": dict.fromkeys("cdf", 1),
    }
    value = ask(about, ["d1", "d2"], ["alpha_nDCG(alpha=1)@2"])["alpha_nDCG(alpha=1)@2"]
    assert value == pytest.approx((3 + 3 / np.log2(3)) / (4 + 1 / np.log2(3)))
    assert (
        1
        < (value or 0)
        < (measure("alpha_nDCG(alpha=1)@2").span[1] or 0)
        == 1 / (1 - 1 / 4)
    )


def test_a_greedy_order_is_made_once_for_all_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ideal depends on the judgments alone; ten runs cost one."""
    calls: list[int] = []

    def counted(*value: Any) -> Any:
        calls.append(1)
        return greedy(*value)

    monkeypatch.setattr("rankstone.measures.subtopic_diversity.greedy", counted)
    about = {"d0": {"a": 1}, "d1": {"b": 1}}
    runs = {f"run{index}": {"q": ["d0", "d1"]} for index in range(10)}
    rankstone.evaluate({"q": about}, runs, "alpha_nDCG@5")
    assert len(calls) == 1
