"""A mean beside what chance, the worst and the best order reach: enumerated, in closed form, simulated."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import baseline, demo
from rankstone.baselines import at_random
from rankstone.cli import _run
from rankstone.errors import BadOption, BadParameter

if TYPE_CHECKING:
    from pathlib import Path

MEASURES = (
    "P@2 R@3 Success@2 AP AP@3 RR RR@2 DCG@3 nDCG@3 nDCG RBP(p=0.8)@3 "
    "AUC(negatives=judged) AUC(negatives=candidates) AUC(negatives=judged, unreturned=exclude) "
    "pAUC(negatives=judged)@1 pAUC(negatives=candidates)@2 "
    "RC RC(ties=drop) RC(weight=log2) RC(weight=hyperbolic) RC(weight=log2, combine=multiply) "
    "RC(weight=hyperbolic, combine=multiply, ties=drop) RC(weight=geometric, p=0.5) "
    "RC(weight=hyperbolic, weight_on=ideal) nDCG(ideal=topk)@3 AP(denom=hits) infAP"
)
#: measures of which no order is proven to be the worst, and those of which none is proven at all
NO_WORST = (
    "RC(weight=geometric",
    "RC(weight=hyperbolic, weight_on=ideal)",
    "nDCG(ideal=topk)",
    "AP(denom=hits)",
)
NEITHER = ("infAP",)
QRELS = {
    "q1": {"a": 2.0, "b": 1.0, "c": 0.0, "x": 1.0},
    "q2": {"a": 1.0, "d": 3.0},
    "q3": {"e": 1.0},
    "q4": {"f": 0.0},
}
RUN = {"q1": list("caubv"), "q2": list("wda"), "q4": list("fa")}


def orders() -> dict[str, Any]:
    """Return measure → query → values of every way to order its list, each way a query of its own."""
    found: dict[str, Any] = {}
    for query, docs in RUN.items():
        run = {f"{at}": list(way) for at, way in enumerate(itertools.permutations(docs))}
        scores = rankstone.evaluate(dict.fromkeys(run, QRELS[query]), run, MEASURES)
        for measure, values in scores.per_query.group_by("measure", maintain_order=True):
            found.setdefault(measure[0], {})[query] = values["value"].to_list()
    assert len(found["AP"]["q1"]) == math.factorial(5)
    return found


def test_every_order_was_tried() -> None:
    """Chance is the mean over all orders, worst and best are the least and the largest."""
    table = {row["measure"]: row for row in baseline(QRELS, RUN, MEASURES).values.iter_rows(named=True)}
    for measure, by_query in orders().items():
        row, scores = table[measure], rankstone.evaluate(QRELS, RUN, measure).per_query
        unanswered = scores.filter(query_id="q3")["value"][0]
        for word, made in (("chance", lambda v: math.fsum(v) / len(v)), ("worst", min), ("best", max)):
            values = [made(some) for some in by_query.values() if None not in some]
            if unanswered is not None:  # the run does not answer it, in no order
                values.append(unanswered)
            if row[word] is None:  # no closed form, or no order that is proven to be the extreme
                assert word == "chance" or measure.startswith(
                    NEITHER if word == "best" else NO_WORST + NEITHER
                )
                continue
            mean = math.fsum(values) / len(values)
            assert row[word] == pytest.approx(mean, abs=1e-12), (measure, word)
        if row["chance"] is not None and row["best"] not in (None, row["chance"]):
            expected = (row["value"] - row["chance"]) / (row["best"] - row["chance"])
            assert row["skill"] == pytest.approx(expected, abs=1e-15)
        else:
            assert row["skill"] is None


@pytest.mark.parametrize("grades", [(3, 2, 1, 1, 0, 0, 0), (2, 2, 1, 0, 0, 0), (1, 1, 1, 0, 0), (1, 0)])
def test_every_order_of_one_list(grades: tuple[int, ...]) -> None:
    """All orders of up to seven documents, each a query of its own: mean, least and largest."""
    ways = list(itertools.permutations(range(len(grades))))
    judged = {f"d{at}": float(grade) for at, grade in enumerate(grades)}
    run = {f"q{at}": [f"d{doc}" for doc in way] for at, way in enumerate(ways)}
    tried = rankstone.evaluate(dict.fromkeys(run, judged), run, MEASURES.replace(" infAP", "")).per_query
    told = baseline({"q0": judged}, {"q0": run["q0"]}, MEASURES.replace(" infAP", "")).values
    extremes = tried.group_by("measure").agg(worst=pl.col("value").min(), best=pl.col("value").max())
    means = {
        measure[0]: math.fsum(values["value"]) / len(ways)
        for measure, values in tried.group_by("measure")
        if not values["value"].null_count()
    }
    for measure, worst, best in extremes.rows():
        row = told.row(by_predicate=pl.col("measure") == measure, named=True)
        assert row["chance"] is None or row["chance"] == pytest.approx(means[measure], abs=1e-12), measure
        assert row["worst"] is None or row["worst"] == pytest.approx(worst, abs=1e-12), measure
        assert row["best"] == (None if best is None else pytest.approx(best, abs=1e-12)), measure
        assert (row["worst"] is None) <= (best is None or measure.startswith(NO_WORST))


@pytest.mark.parametrize("candidates", [6, 7, 1000])
def test_chance_draws_from_candidates(candidates: int) -> None:
    """The closed forms of one query, averaged; the best is the ideal list."""
    names = "P@2 AP RR DCG@3 nDCG@3 Success@2"
    found = baseline(QRELS, RUN, names, candidates=candidates).values
    for measure, chance, best in found.select("measure", "chance", "best").rows():
        each = [at_random(measure, candidates, grades=list(judged.values())) for judged in QRELS.values()]
        assert chance == pytest.approx(math.fsum(v or 0.0 for v in each) / len(each), abs=1e-12)
        ideal = {
            query: sorted(judged, key=judged.__getitem__, reverse=True) for query, judged in QRELS.items()
        }
        assert best == rankstone.evaluate(QRELS, ideal, measure).to_dict()["run"][measure]


def test_chance_is_what_random_lists_score() -> None:
    """Simulated: within four standard errors for lists of a hundred."""
    rng = np.random.default_rng(3)
    docs, times = [f"d{at}" for at in range(100)], 2000
    grades = {doc: float(grade) for doc, grade in zip(docs, rng.choice([0, 0, 0, 1, 2], 100), strict=True)}
    qrels = {f"q{at}": grades for at in range(times)}
    run = {query: rng.permutation(docs).tolist() for query in qrels}
    found = baseline(
        qrels, run, "nDCG@10 AP AP@10 RR RR@10 P@5 R@20 Success@5 DCG@10 AUC(negatives=judged) RC"
    )
    for measure, value, chance in found.values.select("measure", "value", "chance").rows():
        spread = found.scores.per_query.filter(measure=measure)["value"].std()
        assert isinstance(spread, float)
        assert abs(value - chance) <= 4 * spread / math.sqrt(times)


def test_words() -> None:
    """Values that have a plain meaning say it; others, and other means, do not."""
    run = {"q1": ["u", "a", "b"], "q2": ["d", "w"], "q3": ["w", "v", "u", "e"]}
    said = baseline(QRELS, run, "RR AP P@4 R@2 nDCG P(agg=sum)@4 RR(rel=2)").meaning()
    assert said == [
        "RR 0.4375: as one answer that stands anywhere in the first 5 ranks",
        "AP 0.2847: as relevant documents 3.51 ranks apart",
        "P@4 0.25: 1 of the first 4 are relevant",
        "R@2 0.2083: 20.8% of what there is stands in the first 2",
    ]
    both = baseline(QRELS, {"one": run, "other": run}, "R@2").meaning()
    assert both[1].startswith("other, R@2")


def test_options_and_files(tmp_path: Path) -> None:
    """Scores, columns and options of alignment are those of evaluate."""
    frame = pl.DataFrame(
        {"user": ["q1", "q1", "q2", "q2"], "item": ["a", "c", "d", "w"], "score": [1.0, 2.0, 2.0, 1.0]}
    )
    frame.write_parquet(tmp_path / "run.parquet")
    given: dict[str, Any] = {"columns": {"user": "query_id", "item": "doc_id"}, "missing": "drop"}
    found = baseline(QRELS, tmp_path / "run.parquet", "RR", **given)
    assert found.values.row(0)[1:] == ("RR", 0.75, 0.75, 0.5, 1.0, 0.0, 2)
    with pytest.raises(BadParameter, match="fewer than the judged documents"):
        baseline(QRELS, {"q2": ["w"]}, "RR", candidates=3)


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every format; what stands in the table is what the function returns."""
    files = f"{demo.QRELS} {demo.RUNS['bm25']}".split()
    assert _run(["baseline", *files, "-m", "RR", "--format", "json", "--candidates", "5000"]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = baseline(demo.QRELS, demo.RUNS["bm25"], "RR", candidates=5000)
    assert told["values"] == expected.values.to_dicts()
    assert told["meaning"] == expected.meaning()
    assert told["gains"] == []
    for form in ("table", "csv", "md"):
        assert _run(["baseline", *files, "-m", "RR", "--format", form, "-o", str(tmp_path / form)]) == 0
    assert "5 ranks" not in (tmp_path / "table").read_text()
    assert "chance" in (tmp_path / "md").read_text().splitlines()[0]
    assert len((tmp_path / "csv").read_text().splitlines()) == 2
    assert _run(["baseline", *files, "--format", "tabel"]) == 2
    assert "did you mean table" in capsys.readouterr().err


# -- steps between means ---------------------------------------------------------------------------------
def test_steps_between_two_runs() -> None:
    """Of several runs, what the step from the first one's mean to each other's is worth."""
    worse = {"q1": ["c", "a", "b"], "q2": ["w", "d", "a"]}
    better = {"q1": ["a", "x", "c"], "q2": ["d", "a", "w"]}
    found = baseline(QRELS, {"worse": worse, "better": better}, "AP P@1", missing="drop")
    first = found.gains().row(0, named=True)
    means = found.scores.to_dict()
    before, after = means["worse"]["AP"], means["better"]["AP"]
    assert before is not None
    assert after is not None

    assert (first["run"], first["against"], first["measure"]) == ("better", "worse", "AP")
    assert first["error_reduction"] == (after - before) / (1 - before)
    assert (first["ranks_before"], first["ranks_after"]) == (1 / before, 1 / after)
    skills = dict(found.values.filter(measure="AP").select("run", "skill").rows())
    assert first["skill"] == skills["better"] - skills["worse"]
    assert found.gains("better")["difference"].to_list() == [-d for d in found.gains()["difference"]]
    assert found.steps()[0].startswith(f"worse → better, AP {before:.4g} → {after:.4g}: +")
    assert found.gains().height == len(found.steps()) == 2
    with pytest.raises(BadOption, match="against='wrose'"):
        found.gains("wrose")


def test_lists_are_not_cut_first() -> None:
    """A depth is refused by its name, not by that of an option nobody gave."""
    with pytest.raises(BadOption, match="orders whole lists anew"):
        baseline(QRELS, RUN, "RR", depth=2)
