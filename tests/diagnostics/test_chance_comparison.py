"""A mean beside what chance, the worst and the best order reach: enumerated, in closed form, simulated."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.command_line import exit_code

import rankstone
from rankstone import baseline, demo
from rankstone.diagnostics.expected_by_chance import at_random
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
    numbers: dict[str, Any] = {}
    for query, docs in RUN.items():
        run = {
            f"{index}": list(way)
            for index, way in enumerate(itertools.permutations(docs))
        }
        scores = rankstone.evaluate(dict.fromkeys(run, QRELS[query]), run, MEASURES)
        for measure, values in scores.per_query.group_by(
            "measure", maintain_order=True
        ):
            numbers.setdefault(measure[0], {})[query] = values["value"].to_list()
    assert len(numbers["AP"]["q1"]) == math.factorial(5)
    return numbers


def test_every_order_was_tried() -> None:
    """Chance is the mean over all orders, worst and best are the least and the largest."""
    table = {
        row["measure"]: row
        for row in baseline(QRELS, RUN, MEASURES).values.iter_rows(named=True)
    }
    for measure, by_query in orders().items():
        row, scores = table[measure], rankstone.evaluate(QRELS, RUN, measure).per_query
        unanswered = scores.filter(query_id="q3")["value"][0]
        for word, made in (
            ("chance", lambda v: math.fsum(v) / len(v)),
            ("worst", min),
            ("best", max),
        ):
            values = [made(value) for value in by_query.values() if None not in value]
            if unanswered is not None:  # the run does not answer it, in no order
                values.append(unanswered)
            if (
                row[word] is None
            ):  # no closed form, or no order that is proven to be the extreme
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


@pytest.mark.parametrize(
    "grades", [(3, 2, 1, 1, 0, 0, 0), (2, 2, 1, 0, 0, 0), (1, 1, 1, 0, 0), (1, 0)]
)
def test_every_order_of_one_list(grades: tuple[int, ...]) -> None:
    """All orders of up to seven documents, each a query of its own: mean, least and largest."""
    ways = list(itertools.permutations(range(len(grades))))
    judged = {f"d{index}": float(grade) for index, grade in enumerate(grades)}
    run = {f"q{index}": [f"d{doc}" for doc in way] for index, way in enumerate(ways)}
    tried = rankstone.evaluate(
        dict.fromkeys(run, judged), run, MEASURES.replace(" infAP", "")
    ).per_query
    message = baseline(
        {"q0": judged}, {"q0": run["q0"]}, MEASURES.replace(" infAP", "")
    ).values
    extremes = tried.group_by("measure").agg(
        worst=pl.col("value").min(), best=pl.col("value").max()
    )
    means = {
        measure[0]: math.fsum(values["value"]) / len(ways)
        for measure, values in tried.group_by("measure")
        if not values["value"].null_count()
    }
    for measure, worst, best in extremes.rows():
        row = message.row(by_predicate=pl.col("measure") == measure, named=True)
        assert row["chance"] is None or row["chance"] == pytest.approx(
            means[measure], abs=1e-12
        ), measure
        assert row["worst"] is None or row["worst"] == pytest.approx(
            worst, abs=1e-12
        ), measure
        assert row["best"] == (
            None if best is None else pytest.approx(best, abs=1e-12)
        ), measure
        assert (row["worst"] is None) <= (best is None or measure.startswith(NO_WORST))


#: grades of the judged documents, how many candidates there are, how many of them a list holds
SHAPES = (
    ((1, 1), 6, 3),
    ((1, 1, 0), 6, 3),
    ((2, 1, 1), 5, 2),
    ((3, 1, 0, 0), 5, 4),
    ((1, 0), 5, 1),
    ((2, 2, 1, 0), 6, 4),
    ((1,), 4, 4),
    ((0,), 4, 2),
)
#: measures that add up over ranks, cut above and below the end of the list, and some that count what is held
DRAWN = (
    "P@2 P@10 R@2 R@10 F@5 Success@2 Success Rprec AP AP@2 AP(denom=min_R_n) RR RR@2 RR(target=best) GAP "
    "DCG@2 DCG@10 nDCG nDCG@2 nDCG@10 nDCG(gain=exp2)@5 nDCG(ideal=list) RBP(p=0.8) Judged@5 SetAP Bpref RC "
    "AUC(negatives=judged) AUC(negatives=candidates) AUC(negatives=catalogue, unreturned=bottom) "
    "AUC(negatives=judged, unreturned=exclude) pAUC(negatives=catalogue)@2 LastRel WSS AvgRelPosition"
)
#: where less is better, the best list has the lowest value
LESS = ("Fallout", "LastRel", "AvgRelPosition")


def drawn_lists(
    grades: tuple[int, ...], candidates: int, depth: int
) -> tuple[dict[str, float], list[Any]]:
    """Return judgments, and every ordered list of some of the candidates."""
    judged = {f"d{index}": float(grade) for index, grade in enumerate(grades)}
    return judged, list(
        itertools.permutations([f"d{index}" for index in range(candidates)], depth)
    )


@pytest.mark.parametrize(("grades", "candidates", "depth"), SHAPES)
def test_chance_of_candidates_is_the_mean_over_all_lists(
    grades: tuple[int, ...], candidates: int, depth: int
) -> None:
    """A random list is as long as the run's: every list that can be drawn, each a query of its own."""
    judged, ways = drawn_lists(grades, candidates, depth)
    run = {f"q{index}": list(way) for index, way in enumerate(ways)}
    known = {"q0": judged}
    tried = rankstone.evaluate(
        dict.fromkeys(run, judged), run, DRAWN, candidates=candidates
    )
    message = baseline(known, {"q0": run["q0"]}, DRAWN, candidates=candidates).values
    every = dict(tried.per_query.group_by("measure").agg("value").rows())
    for row in message.iter_rows(named=True):
        values = [value for value in every[row["measure"]] if value is not None]
        mean = math.fsum(values) / len(values) if values else None
        assert row["chance"] == (
            None if mean is None else pytest.approx(mean, abs=1e-12)
        ), row["measure"]
        if row["measure"].startswith(LESS):
            continue
        for word, extreme in (("worst", min), ("best", max)):
            if row[word] is not None:
                assert row[word] == pytest.approx(extreme(values), abs=1e-12), (
                    row["measure"],
                    word,
                )
    adds_up = message.filter(
        pl.col("measure").str.contains(r"^(P|R|AP|RR|n?DCG|Success)@")
    )
    assert adds_up.height == 11
    assert not adds_up.select("worst", "best").null_count().sum_horizontal().item()


def test_three_documents_of_six() -> None:
    """Two of six are relevant: AP of the first three ranks, where each pair of ranks is as likely as any."""
    precisions = [
        (1 / i + sum(1 / i for j in range(1, 7) if j < i) / 5) / 6 for i in range(1, 4)
    ]
    values = baseline(
        {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "AP", candidates=6
    ).values
    assert values["chance"].item() == pytest.approx(math.fsum(precisions), abs=1e-15)


def test_each_query_has_chance_lists_of_its_own_length() -> None:
    """Lists of 3, 1 and no documents; the unjudged query counts as it does in the value's mean."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}, "q3": {"d": 1}}
    run = {"q1": ["x", "a", "y"], "q2": ["b"], "q4": ["u", "v"]}
    values = baseline(qrels, run, "R@10 Success", candidates=10, extra="keep").values
    for measure, each in (
        ("R@10", (3 / 10, 1 / 10, 0, 0)),
        ("Success", (3 / 10, 2 / 10, 0, 0)),
    ):
        row = values.row(by_predicate=pl.col("measure") == measure, named=True)
        assert row["chance"] == pytest.approx(sum(each) / 4, abs=1e-15)
        assert row["n"] == 4
    assert values["best"].to_list() == [
        pytest.approx((1 + 1 / 2) / 4),
        pytest.approx(2 / 4),
    ]


def test_chance_of_many_grades_is_reported_or_not_known() -> None:
    """Additive measures know it however much is judged; where counts matter, within what can be looked at."""
    rng = np.random.default_rng(5)
    qrels = {
        "q": {
            f"d{index}": int(grade)
            for index, grade in enumerate(rng.integers(0, 4, 600))
        }
    }
    run = {"q": [f"d{index}" for index in range(300)]}
    result = baseline(qrels, run, "nDCG AP Bpref", candidates=1000).values
    assert result["chance"].is_null().to_list() == [False, False, True]
    lists = [
        rng.permutation([f"d{index}" for index in range(1000)])[:300].tolist()
        for _ in range(400)
    ]
    drawn = {f"q{index}": docs for index, docs in enumerate(lists)}
    tried = rankstone.evaluate(
        dict.fromkeys(drawn, qrels["q"]), drawn, "nDCG AP"
    ).per_query
    for measure, chance in result.select("measure", "chance").head(2).rows():
        values = tried.filter(measure=measure)["value"]
        spread = values.std()
        assert isinstance(spread, float)
        assert abs(values.to_numpy().mean() - chance) <= 4 * spread / math.sqrt(400)


@pytest.mark.parametrize(
    "options", [{"unjudged": "condensed"}, {"unjudged": 1.0}, {"pool": "list"}]
)
def test_candidates_know_no_scores_and_judge_nothing(options: dict[str, Any]) -> None:
    """Options that look at the documents of a list are refused, not left out of account in silence."""
    with pytest.raises(BadOption, match="drawn from candidates=50"):
        baseline(QRELS, RUN, "P@2", candidates=50, **options)


def test_what_is_seen_all_at_once_has_no_chance() -> None:
    """AP(tied=block) of one block is R/n, no mean over orders: 2 relevant of 3 have 1, 5/6 and 7/12."""
    values = baseline(
        {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "AP(tied=block) AP"
    ).values
    assert values["chance"].to_list() == [None, pytest.approx((1 + 5 / 6 + 7 / 12) / 3)]
    with pytest.raises(BadParameter, match="not a mean over their orders"):
        at_random("AP(tied=block)", 3, 2)


def test_chance_is_what_random_lists_score() -> None:
    """Simulated: within four standard errors for lists of a hundred."""
    rng = np.random.default_rng(3)
    docs, times = [f"d{index}" for index in range(100)], 2000
    grades = {
        doc: float(grade)
        for doc, grade in zip(docs, rng.choice([0, 0, 0, 1, 2], 100), strict=True)
    }
    qrels = {f"q{index}": grades for index in range(times)}
    run = {query: rng.permutation(docs).tolist() for query in qrels}
    result = baseline(
        qrels,
        run,
        "nDCG@10 AP AP@10 RR RR@10 P@5 R@20 Success@5 DCG@10 AUC(negatives=judged) RC",
    )
    for measure, value, chance in result.values.select(
        "measure", "value", "chance"
    ).rows():
        spread = result.scores.per_query.filter(measure=measure)["value"].std()
        assert isinstance(spread, float)
        assert abs(value - chance) <= 4 * spread / math.sqrt(times)


def test_words() -> None:
    """Values that have a plain meaning say it; others, and other means, do not."""
    run = {"q1": ["u", "a", "b"], "q2": ["d", "w"], "q3": ["w", "v", "u", "e"]}
    meaning = baseline(
        QRELS, run, "RR AP P@4 R@2 nDCG P(agg=sum)@4 RR(rel=2)"
    ).meaning()
    assert meaning == [
        "RR 0.4375: like one relevant document placed at random among the first 5 ranks",
        "AP 0.2847: like relevant documents 3.51 ranks apart",
        "P@4 0.25: 1 of the first 4 are relevant",
        "R@2 0.2083: 20.8% of the relevant documents are in the first 2",
    ]
    both = baseline(QRELS, {"one": run, "other": run}, "R@2").meaning()
    assert both[1].startswith("other, R@2")


def test_options_and_files(tmp_path: Path) -> None:
    """Scores, columns and options of alignment are those of evaluate."""
    frame = pl.DataFrame(
        {
            "user": ["q1", "q1", "q2", "q2"],
            "item": ["a", "c", "d", "w"],
            "score": [1.0, 2.0, 2.0, 1.0],
        }
    )
    frame.write_parquet(tmp_path / "run.parquet")
    options: dict[str, Any] = {
        "columns": {"user": "query_id", "item": "doc_id"},
        "missing": "drop",
    }
    chance = baseline(QRELS, tmp_path / "run.parquet", "RR", **options)
    assert chance.values.row(0)[1:] == ("RR", 0.75, 0.75, 0.5, 1.0, 0.0, 2)
    with pytest.raises(BadParameter, match="fewer than the judged documents"):
        baseline(QRELS, {"q1": ["a"]}, "RR", candidates=3)
    with pytest.raises(BadOption, match="q3 retrieves 5 documents"):
        baseline(QRELS, {"q3": list("abcde")}, "RR", candidates=4)


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every format; what stands in the table is what the function returns."""
    files = f"{demo.QRELS} {demo.RUNS['bm25']}".split()
    assert (
        exit_code(
            ["baseline", *files, "-m", "RR", "--format", "json", "--candidates", "5000"]
        )
        == 0
    )
    parsed = json.loads(capsys.readouterr().out)
    expected = baseline(demo.QRELS, demo.RUNS["bm25"], "RR", candidates=5000)
    assert parsed["values"] == expected.values.to_dicts()
    assert parsed["meaning"] == expected.meaning()
    assert parsed["gains"] == []
    for form in ("table", "csv", "md"):
        assert (
            exit_code(
                [
                    "baseline",
                    *files,
                    "-m",
                    "RR",
                    "--format",
                    form,
                    "-o",
                    str(tmp_path / form),
                ]
            )
            == 0
        )
    assert "5 ranks" not in (tmp_path / "table").read_text()
    assert "chance" in (tmp_path / "md").read_text().splitlines()[0]
    assert len((tmp_path / "csv").read_text().splitlines()) == 2
    assert exit_code(["baseline", *files, "--format", "tabel"]) == 2
    assert "did you mean table" in capsys.readouterr().err


# -- steps between means ---------------------------------------------------------------------------------
def test_steps_between_two_runs() -> None:
    """Of several runs, what the step from the first one's mean to each other's is worth."""
    worse = {"q1": ["c", "a", "b"], "q2": ["w", "d", "a"]}
    better = {"q1": ["a", "x", "c"], "q2": ["d", "a", "w"]}
    chance = baseline(
        QRELS, {"worse": worse, "better": better}, "AP P@1", missing="drop"
    )
    first = chance.gains().row(0, named=True)
    means = chance.scores.to_dict()
    before, after = means["worse"]["AP"], means["better"]["AP"]
    assert before is not None
    assert after is not None

    assert (first["run"], first["against"], first["measure"]) == (
        "better",
        "worse",
        "AP",
    )
    assert first["error_reduction"] == (after - before) / (1 - before)
    assert (first["ranks_before"], first["ranks_after"]) == (1 / before, 1 / after)
    skills = dict(chance.values.filter(measure="AP").select("run", "skill").rows())
    assert first["skill"] == skills["better"] - skills["worse"]
    assert chance.gains("better")["difference"].to_list() == [
        -d for d in chance.gains()["difference"]
    ]
    assert chance.steps()[0].startswith(
        f"worse → better, AP {before:.4g} → {after:.4g}: +"
    )
    assert chance.gains().height == len(chance.steps()) == 2
    with pytest.raises(BadOption, match="against='wrose'"):
        chance.gains("wrose")


def test_lists_are_not_cut_first() -> None:
    """A depth is refused by its name, not by that of an option that is absent."""
    with pytest.raises(BadOption, match="shuffles whole lists"):
        baseline(QRELS, RUN, "RR", depth=2)
