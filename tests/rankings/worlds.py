"""Random pairs of rankings: ties, different documents, different lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    import numpy as np
    from tests.rankings.oracle import Ranking

Scores = dict[str, float]

DOCS = ["d1", "d10", "d2", "D3", "é", "\uff5e", "\U0001d51e", "z", "a b", "7", "x", "y"]

#: a typical text of every measure and setting; {p} stands where a probability does
TEXTS = [
    "tau_a", "tau_b", "tau_b@3", "rho", "rho@4", "tau_ap", "tau_ap(ties=b)", "tau_ap(ties=broken)@5",
    "tau_ap(reference=second)", "tau_ap(reference=both)", "wtau", "wtau(weights=multiplicative)",
    "wtau(ranks=first)", "wtau(weights=multiplicative, ranks=second)", "footrule", "footrule(norm=none)",
    "Fagin_F@4", "Fagin_F(norm=none)", "Fagin_F(location=20)", "Fagin_K", "Fagin_K(p=0)@3",
    "Fagin_K(p=1, norm=none)", "RBO(p=0.9)", "RBO(p=0.5, ties=b)", "RBO(p=0.9, ties=w, score=min)",
    "RBO(p=0.98, score=max)", "RBO(p=0.9, ties=b, score=res)", "RBO(p=0.8, ties=broken)@3",
    "RBO(p=0.9, score=normalized)@3", "RBO(p=0.7, ties=w, score=normalized)@40",
    "Overlap@3", "Overlap", "Overlap(denom=shorter)", "Overlap(denom=k)@20", "Jaccard@3", "Jaccard",
]  # fmt: skip


def scores(ranking: Ranking) -> Scores:
    """Return scores that put documents in this order."""
    return {doc: -float(index) for index, group in enumerate(ranking) for doc in group}


def groups(result: Scores) -> Ranking:
    """Return the documents by score, tied ones together."""
    levels = sorted(set(result.values()), reverse=True)
    return [
        [doc for doc, score in result.items() if score == level] for level in levels
    ]


def random_ranking(
    rng: np.random.Generator, pool: list[str], tied: float, longest: int
) -> Ranking:
    """Return some documents of the pool in random order, each tied with the one before at a chance."""
    shown = rng.permutation(pool)[
        : rng.integers(1, min(longest, len(pool)) + 1)
    ].tolist()
    ranking: Ranking = []
    for doc in shown:
        if ranking and rng.random() < tied:
            ranking[-1].append(doc)
        else:
            ranking.append([doc])
    return ranking


@st.composite
def rankings(draw: st.DrawFn, *, ties: bool = True, least: int = 1) -> Scores:
    """Draw one list with scores."""
    shown = draw(
        st.lists(st.sampled_from(DOCS), min_size=least, max_size=9, unique=True)
    )
    levels = (
        st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0])
        if ties
        else st.integers(-99, 99).map(float)
    )
    drawn = draw(
        st.lists(levels, min_size=len(shown), max_size=len(shown), unique=not ties)
    )
    return dict(zip(shown, drawn, strict=True))
