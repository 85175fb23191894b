"""ir_measures and PyTerrier run on rankstone, with the numbers they had before."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import rankstone
from rankstone import UsageError
from rankstone.integrations import ir_measures as hook

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.hooks, pytest.mark.filterwarnings("ignore")]
ir_measures = pytest.importorskip("ir_measures")

MEASURES = [
    "nDCG@10",
    "nDCG",
    "AP(rel=2)",
    "P(judged_only=True,rel=2)@5",
    "RR@3",
    "RR",
    "Rprec",
    "Bpref",
    "R@10",
    "Success@1",
    "Judged@10",
    "RBP(p=0.8,rel=1)",
    "NumRet",
    "SetF",
    "IPrec@0.5",
    "infAP",
]


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Leave ir_measures' default choice as it was found."""
    kept = list(ir_measures.DefaultPipeline.providers)
    yield
    ir_measures.DefaultPipeline.providers[:] = kept


def drawn(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw judgments and a run with ties; queries stand in one of them only, or have nothing relevant."""
    draw = random.Random(seed)
    docs = [f"d{number}" for number in range(30)]
    grade = {str(query): draw.choice([0, 3, 3]) for query in range(15)}
    qrels = {
        q: {d: draw.randint(0, high) for d in draw.sample(docs, 8)}
        for q, high in grade.items()
    }
    run = {
        str(query): {d: draw.randint(0, 9) / 4 for d in draw.sample(docs, 15)}
        for query in range(2, 18)
    }
    return qrels, run


def test_its_own_numbers(seed: int) -> None:
    """Means and values of every query are those of ir_measures' own providers."""
    qrels, run = drawn(seed)
    measures = [ir_measures.parse_measure(text) for text in MEASURES]
    # in ir_measures NumRet joins the first call made for another measure, by the order of a set, and counts
    # only judged documents where that call does: it is computed by itself
    words = [[m for m in measures if m.NAME != "NumRet"], [ir_measures.NumRet]]
    means = {
        m: v
        for item in words
        for m, v in ir_measures.calc_aggregate(item, qrels, run).items()
    }
    each = {
        (m.query_id, m.measure): m.value
        for item in words
        for m in ir_measures.iter_calc(item, qrels, run)
    }

    hook.install()
    hook.install()

    first = ir_measures.DefaultPipeline.providers[:2]
    assert [provider.NAME for provider in first] == ["rankstone", "runtime"]
    assert all(hook.provider().supports(measure) for measure in measures)
    assert ir_measures.calc_aggregate(measures, qrels, run) == pytest.approx(
        means, abs=1e-9
    )
    values = {
        (m.query_id, m.measure): m.value
        for m in ir_measures.iter_calc(measures, qrels, run)
    }
    assert values == pytest.approx(each, abs=1e-9)


def test_forms_of_input(seed: int) -> None:
    """Dicts, named tuples and frames are the same judgments and the same run."""
    pandas = pytest.importorskip("pandas")
    qrels, run = drawn(seed)
    rows = [
        ir_measures.Qrel(q, d, grade)
        for q, judged in qrels.items()
        for d, grade in judged.items()
    ]
    listed = [
        ir_measures.ScoredDoc(q, d, score)
        for q, value in run.items()
        for d, score in value.items()
    ]
    words = [ir_measures.nDCG @ 5, ir_measures.AP]
    expected = hook.provider().calc_aggregate(words, qrels, run)

    assert hook.provider().calc_aggregate(words, iter(rows), iter(listed)) == expected
    frames = pandas.DataFrame(rows), pandas.DataFrame(listed)
    assert hook.provider().calc_aggregate(words, *frames) == expected


def test_subtopics() -> None:
    """The iteration of a judgment is its subtopic."""
    pytest.importorskip("pyndeval")
    draw = random.Random(1)
    pairs = [(d, s) for d in range(12) for s in range(4)]
    qrels = [
        ir_measures.Qrel(str(q), f"d{d}", 1, str(s))
        for q in range(5)
        for d, s in draw.sample(pairs, 12)
    ]
    run = {str(q): {f"d{d}": draw.random() for d in range(12)} for q in range(5)}
    measures = [
        ir_measures.parse_measure(text)
        for text in ("alpha_nDCG@5", "ERR_IA@5", "StRecall@3")
    ]

    ours = hook.provider().calc_aggregate(measures, qrels, run)

    assert ours == pytest.approx(
        ir_measures.calc_aggregate(measures, qrels, run), abs=1e-6
    )


def test_our_measures(seed: int) -> None:
    """Measures of ours stand beside theirs, with options, under names of their own."""
    qrels, run = drawn(seed)
    ours = hook.measure("nDCG(gain=exp2)@5", ties="expected")
    hook.install()

    result = ir_measures.calc_aggregate([ours, ir_measures.AP], qrels, run)

    expected = rankstone.evaluate(
        qrels, run, "nDCG(gain=exp2)@5", ties="expected"
    ).to_dict()
    assert result[ours] == pytest.approx(next(iter(expected["run"].values())))
    assert str(ours) == "rankstone:nDCG(gain=exp2)@5[ties=expected]"
    assert ours != hook.measure("nDCG(gain=exp2)@5")


def test_pyterrier() -> None:
    """PyTerrier's Experiment prints the same table, and takes our measures."""
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        terrier = pytest.importorskip("pyterrier")
    qrels, run = drawn(1)
    topics = pandas.DataFrame({"qid": list(qrels), "query": "what"})
    judged = pandas.DataFrame(
        [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()],
        columns=["qid", "docno", "label"],
    )
    listed = pandas.DataFrame(
        [(q, d, s, 0) for q, docs in run.items() for d, s in docs.items()],
        columns=["qid", "docno", "score", "rank"],
    )

    def table(*further: Any) -> Any:
        measures = [ir_measures.nDCG @ 10, ir_measures.AP, *further]
        return terrier.Experiment(
            [listed], topics, judged, eval_metrics=measures, names=["run"]
        )

    before = table()
    hook.install()
    after = table(hook.measure("RBP(p=0.8)"))

    assert after[["nDCG@10", "AP"]].to_numpy() == pytest.approx(
        before[["nDCG@10", "AP"]].to_numpy()
    )
    expected = rankstone.evaluate(qrels, run, "RBP(p=0.8)").to_dict()["run"][
        "RBP(p=0.8)"
    ]
    assert after["rankstone:RBP(p=0.8)"][0] == pytest.approx(expected)


def test_mistakes() -> None:
    """Measures that are no means, options that do not exist: reported before anything is computed."""
    with pytest.raises(UsageError, match="needs means"):
        hook.measure("AP(agg=gmean)")
    with pytest.raises(UsageError, match="no alignment option 'tie'"):
        hook.measure("AP", tie="expected")
    with pytest.raises(UsageError, match="one measure"):
        hook.measure("AP RR")


def test_its_objects_are_taken_as_they_are() -> None:
    """Measures, judgments and runs of ir_measures need no conversion, and give its numbers."""
    qrels, run = drawn(3)
    judged = [
        ir_measures.Qrel(q, d, g) for q, docs in qrels.items() for d, g in docs.items()
    ]
    scored = [
        ir_measures.ScoredDoc(q, d, s)
        for q, docs in run.items()
        for d, s in docs.items()
    ]
    measures = [ir_measures.nDCG @ 10, ir_measures.AP(rel=2)]
    theirs = ir_measures.calc_aggregate(measures, judged, scored)
    values = rankstone.evaluate(
        judged, iter(scored), measures, convention="ir_measures"
    ).to_dict()["run"]

    assert values == pytest.approx(
        {str(measure): value for measure, value in theirs.items()}
    )
    ours = rankstone.evaluate(qrels, run, ["nDCG@10", "AP(rel=2)"])
    assert rankstone.evaluate(judged, scored, measures).to_dict() == ours.to_dict()
