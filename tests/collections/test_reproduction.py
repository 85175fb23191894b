"""Repeated experiments: figures by hand, what they say, tables of scores, mistakes."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any, Final

import pytest

from rankstone import demo
from rankstone.collections import reproduce
from rankstone.errors import NotComparable, UsageError

QRELS: Final = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"c": 1}, "q4": {"d": 1}}
#: RR of advanced: 1, 1, 1/2, 1; of the baseline: 1/2, 1/2, 1/2, 1/3
ADVANCED: Final = {
    "q1": ["a", "b", "x"],
    "q2": ["a", "x"],
    "q3": ["x", "c"],
    "q4": ["d"],
}
BASELINE: Final = {
    "q1": ["x", "a"],
    "q2": ["x", "a"],
    "q3": ["x", "c"],
    "q4": ["x", "y", "d"],
}
#: RR again: 1, 1/2, 1/2, 1 and 1/2, 1/2, 1/3, 1/2
ADVANCED_AGAIN: Final = {
    "q1": ["a", "x", "b"],
    "q2": ["x", "a"],
    "q3": ["x", "c"],
    "q4": ["d"],
}
BASELINE_AGAIN: Final = {
    "q1": ["x", "a"],
    "q2": ["x", "a"],
    "q3": ["x", "y", "c"],
    "q4": ["x", "d"],
}
ORIGINAL: Final = {"advanced": ADVANCED, "baseline": BASELINE}
AGAIN: Final = {"advanced": ADVANCED_AGAIN, "baseline": BASELINE_AGAIN}


def test_figures_by_hand() -> None:
    """Means, RMSE, effect ratio and ΔRI of reciprocal ranks."""
    reproduction = reproduce(ORIGINAL, AGAIN, "RR", qrels=QRELS, baseline="baseline")
    original, again = fmean([1, 1, 0.5, 1]), fmean([1, 0.5, 0.5, 1])
    base, base_again = fmean([0.5, 0.5, 0.5, 1 / 3]), fmean([0.5, 0.5, 1 / 3, 0.5])

    def value(statistic: str) -> float:
        return reproduction.figure("advanced", "RR", statistic).value

    assert value("original") == pytest.approx(original)
    assert value("again") == pytest.approx(again)
    assert value("RMSE") == pytest.approx(math.sqrt(0.25 / 4))
    assert value("nRMSE") == pytest.approx(
        math.sqrt(0.25 / 4) / math.sqrt(fmean([1, 1, 0.25, 1]))
    )
    assert value("ER") == pytest.approx((again - base_again) / (original - base))
    assert value("ΔRI") == pytest.approx(original / base - again / base_again)
    assert value("p") == pytest.approx(
        0.391002, abs=1e-6
    )  # Student's t with 3 degrees of freedom at t = 1
    assert reproduction.figure("advanced", None, "same").value == 0.5
    low, high = (
        getattr(reproduction.figure("advanced", "RR", "difference"), name)
        for name in ("low", "high")
    )
    assert low < -0.125 < high


def test_the_same_again() -> None:
    """Nothing differs: every list, every score, and the sentences say so."""
    reproduction = reproduce(
        ORIGINAL, ORIGINAL, "RR AP", qrels=QRELS, baseline="baseline"
    )
    for system in ORIGINAL:
        for statistic in ("same", "tau_b", "KTU@1000", "RBO(p=0.95, ties=broken)"):
            if statistic != "tau_b" or system == "advanced":
                assert reproduction.figure(
                    system, None, statistic
                ).value == pytest.approx(1)
        assert reproduction.figure(system, "RR", "p").value == 1
    assert reproduction.figure("advanced", "AP", "ER").value == 1
    text = " ".join(reproduction.findings())
    assert "every query has the same score again" in text
    assert "the same documents in the same order in every query" in text


def test_tau_union_changes_with_the_names_of_documents() -> None:
    """KTU correlates ids by the alphabet: renaming the documents of both runs changes it, tau_b does not."""
    single, other = {"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}
    names = {"a": "z", "b": "m", "c": "y", "d": "a"}
    renamed = [{"q": [names[doc] for doc in run["q"]]} for run in (single, other)]
    first, second = reproduce(single, other), reproduce(renamed[0], renamed[1])
    assert (
        first.figure("run", None, "tau_b").value
        == second.figure("run", None, "tau_b").value
        == -1
    )
    assert (
        first.figure("run", None, "KTU@1000").value
        != second.figure("run", None, "KTU@1000").value
    )


def test_another_collection() -> None:
    """Without common queries there are no lists to compare; p is that of two samples."""
    other = {f"{query}'": docs for query, docs in QRELS.items()}
    again = {
        name: {f"{query}'": docs for query, docs in run.items()}
        for name, run in AGAIN.items()
    }
    reproduction = reproduce(
        ORIGINAL, again, "RR", qrels=QRELS, qrels_again=other, baseline="baseline"
    )
    assert not reproduction.paired
    assert {figure.statistic for figure in reproduction.figures} == {
        "original",
        "again",
        "difference",
        "p",
        "improvement",
        "improvement again",
        "ER",
        "ΔRI",
    }
    same = reproduce(ORIGINAL, AGAIN, "RR", qrels=QRELS, baseline="baseline")
    assert (
        reproduction.figure("advanced", "RR", "ER").value
        == same.figure("advanced", "RR", "ER").value
    )


def test_saved_scores() -> None:
    """Tables of scores, of the same queries or of others; the order of three systems."""

    def table(**systems: list[float]) -> Any:
        return {
            name: {f"q{index}": {"map": item} for index, item in enumerate(of)}
            for name, of in systems.items()
        }

    first = table(a=[0.1, 0.2, 0.3], b=[0.2, 0.3, 0.5], c=[0.4, 0.5, 0.9])
    second = table(
        a=[0.1, 0.2, 0.3], b=[0.4, 0.6, 0.9], c=[0.2, 0.3, 0.4], d=[0.5, 0.5, 0.5]
    )
    reproduction = reproduce(first, second, scores=True)
    assert reproduction.figure(None, "map", "tau of systems").value == pytest.approx(
        1 / 3
    )
    assert reproduction.only == ("d",)
    assert reproduction.paired
    del second["c"]["q2"]
    assert "no value: 1." in " ".join(reproduce(first, second, scores=True).findings())
    other = {
        name: {f"x{query}": value for query, value in of.items()}
        for name, of in second.items()
    }
    assert not reproduce(first, other, scores=True).paired


def test_what_the_sentences_say() -> None:
    """A margin, an improvement that may be nothing, one that is smaller."""
    a, b = demo.RUNS["bm25"], demo.RUNS["tfidf"]
    near = reproduce(a, a, "P@5", qrels=demo.QRELS, margin=0.4)
    assert "every query has the same score" in "".join(near.findings())
    gone = reproduce(
        {"bm25": a, "tfidf": b},
        {"bm25": b, "tfidf": b},
        "nDCG@10",
        qrels=demo.QRELS,
        baseline="tfidf",
    )
    assert "The original improvement may be 0" in " ".join(gone.findings())
    assert "尚无定论" in " ".join(
        reproduce(
            {"bm25": a, "tfidf": b},
            {"bm25": b, "tfidf": b},
            qrels=demo.QRELS,
            baseline="tfidf",
            lang="zh",
        ).findings()
    )


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (NotComparable, {"original": {"a": ADVANCED, "b": BASELINE}, "again": AGAIN}),
        (UsageError, {"baseline": "bm25"}),
        (UsageError, {"margin": 0.0}),
        (UsageError, {"qrels": None, "qrels_again": QRELS}),
        (UsageError, {"scores": True, "qrels": QRELS}),
    ],
)
def test_mistakes(error: type[Exception], options: dict[str, Any]) -> None:
    """Names that do not match, a baseline that is not there, options that do not go together."""
    with pytest.raises(error):
        reproduce(
            **(
                {"original": ORIGINAL, "again": AGAIN, "measures": "RR", "qrels": QRELS}
                | options
            )
        )


def test_an_unknown_figure_names_those_that_there_are() -> None:
    """A slip in a name is answered with the names."""
    with pytest.raises(UsageError, match="RMSE"):
        reproduce(ADVANCED, BASELINE, "RR", qrels=QRELS).figure("run", "RR", "rmse")
