"""What must hold for every measure, whatever the data."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.laws.table import (
    ALL,
    GROUPS,
    IDEAL_IS_BEST,
    IDEAL_IS_ONE,
    LOG_ODDS,
    TABLES,
    TAIL_PROOF,
    UNIT,
    measure,
    refused,
)
from tests.oracle.diversity import split
from tests.oracle.oracle import aggregate, judge, pooled
from tests.oracle.pairs import CANDIDATES
from tests.oracle.worlds import CHOICES, WHOLE, World, close, options, values, worlds
from tests.rows import each

import rankstone
from rankstone.hits.alignment_options import IMPUTATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.oracle.oracle import Id, Row

WITHIN = 1e-12
DISTINCT = tuple(text for text in ALL if "min_grade" not in text)


def table_of(
    world: World, measures: Sequence[str]
) -> dict[tuple[str, str], float | None]:
    """Return ``{(measure, query): value}``."""
    scored = world.evaluate(with_value(world, measures)).per_query
    return {
        (m, q): v
        for m, q, v in scored.select("measure", "query_id", "value").iter_rows()
    }


def with_value(world: World, measures: Sequence[str]) -> list[str]:
    """Return the measures whose value is known under the world's options."""
    return [text for text in measures if not refused(text, world.options)]


def is_lower_better(text: str) -> bool:
    """Say whether less of a measure is better."""
    return measure(text).card.direction == "lower"


def bits(
    world: World, measures: Sequence[str]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return every number to the last bit."""
    scored = world.evaluate(with_value(world, measures)).per_query
    columns = ["measure", "query_id", "value", "numerator", "denominator", "status"]
    return {
        (m, q): (*(repr(x) if x is None else x.hex() for x in numbers), status)
        for m, q, *numbers, status in scored.select(columns).iter_rows()
    }


# -- texts ---------------------------------------------------------------------------------------------
@each("text", [*ALL, *TABLES])
def test_a_measure_is_its_text(text: str) -> None:
    """Reading a canonical text and printing the measure gives the text back, for each aggregation too."""
    assert str(measure(text)) == text
    for agg in ("sum", "median", "gmean"):
        summed = replace(measure(text), agg=agg)
        assert measure(str(summed)) == summed


@given(
    name=st.sampled_from(sorted(rankstone.measures.MEASURES)),
    k=st.none() | st.integers(1, 1000),
    data=st.data(),
)
def test_any_measure_survives_its_text(
    name: str, k: int | None, data: st.DataObject
) -> None:
    """Every measure that can be built prints a text that reads as the same measure."""
    cls = rankstone.measures.MEASURES[name]
    number = st.sampled_from([0.1, 0.5, 1 / 3, 1.0, 2.0, 1e-7])
    given_: dict[str, Any] = {}
    for declared in cls.__dataclass_fields__.values():
        choices = declared.metadata.get("choices")
        if choices and data.draw(st.booleans()):
            given_[declared.name] = data.draw(st.sampled_from(choices))
        elif declared.name in ("beta", "p", "base") and data.draw(st.booleans()):
            given_[declared.name] = data.draw(number)
    try:
        built = cls(k=k, **given_)
    except rankstone.UsageError:
        assume(False)
        return
    assert rankstone.parse_measure(str(built)) == built
    assert hash(rankstone.parse_measure(str(built))) == hash(built)


# -- bounds --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", GROUPS.values(), ids=GROUPS)
@given(world=worlds(), chosen=options("ties", "unjudged", "empty", "extra", "missing"))
def test_values_stay_in_their_span(
    family: tuple[str, ...], world: World, chosen: dict[str, Any]
) -> None:
    """No value leaves the span its measure declares."""
    for (text, _), value in table_of(world.under(**chosen), family).items():
        low, high = measure(text).span
        assert value is None or low is None or low <= value
        assert value is None or high is None or value <= high * (1 + 1e-15)
        assert text not in UNIT or high == 1.0


@given(world=worlds(complete=True, ties=False))
def test_the_ideal_order_is_best(world: World) -> None:
    """No list does better than all judged documents, best grade first, and there 1 is reached."""
    best: list[Row] = [(query, doc, grade) for query, doc, grade in world.qrels]
    perfect = table_of(World(world.qrels, tuple(best)), IDEAL_IS_BEST)
    for key, value in table_of(world, IDEAL_IS_BEST).items():
        there = perfect[key]
        assert value is not None
        assert there is not None
        assert value <= there + WITHIN
        assert key[0] not in IDEAL_IS_ONE or close(there, 1.0, WITHIN)


# -- promotion and tails -------------------------------------------------------------------------------
@given(
    world=worlds(ties=False, negative=False),
    data=st.data(),
    chosen=options("unjudged", "empty"),
)
def test_promoting_a_better_document_never_lowers(
    world: World, data: st.DataObject, chosen: dict[str, Any]
) -> None:
    """Exchanging neighbours so that the better one comes first lowers no measure that promises so."""
    chosen.pop("unjudged", None) if isinstance(chosen.get("unjudged"), str) else None
    grades = judge(world.qrels, {})
    run = sorted(world.run, key=lambda row: (str(row[0]), -row[2]))
    worse = [
        index
        for index in range(len(run) - 1)
        if run[index][0] == run[index + 1][0]
        and _worth(grades, run[index], chosen) < _worth(grades, run[index + 1], chosen)
    ]
    assume(worse)
    drawn = data.draw(st.sampled_from(worse))
    (query, upper, high), (_, lower, low) = run[drawn], run[drawn + 1]
    better = [
        *run[:drawn],
        (query, lower, high),
        (query, upper, low),
        *run[drawn + 2 :],
    ]
    texts = [
        t
        for t in ALL
        if measure(t).claims.promotion_helps and not t.startswith("Judged")
    ]
    before = table_of(World(world.qrels, tuple(run), chosen), texts)
    after = table_of(World(world.qrels, tuple(better), chosen), texts)
    for key, value in before.items():
        there, sign = after[key], -1.0 if is_lower_better(key[0]) else 1.0
        assert (value is None) == (there is None)
        assert value is None or there is None or sign * (there - value) >= -WITHIN, key


def _worth(
    grades: dict[Id, dict[Id, float]], row: Row, chosen: dict[str, Any]
) -> tuple[float, bool]:
    """Return what a document is worth; an unjudged one a little less than one judged 0."""
    judged = row[1] in grades.get(row[0], {})
    grade = grades.get(row[0], {}).get(row[1], float(chosen.get("unjudged", 0)))
    return grade, judged or "unjudged" in chosen


@given(world=worlds(ties=False, negative=False, scattered=False), data=st.data())
def test_a_worthless_tail_changes_nothing(world: World, data: st.DataObject) -> None:
    """Documents without relevance behind the last one leave AP, RR, R, DCG and nDCG alone, to the bit."""
    tail: list[Row] = []
    qrels = list(world.qrels)
    numbers = isinstance(world.qrels[0][1], int)
    for query in dict.fromkeys(query for query, _, _ in world.run):
        for index in range(data.draw(st.integers(0, 3))):
            doc: Id = 1000 + index if numbers else f"tail {index}"
            tail.append((query, doc, -1000.0 - index))
            if data.draw(st.booleans()) and any(
                query == judged for judged, _, _ in world.qrels
            ):
                qrels.append((query, doc, 0.0))
    longer = World(tuple(qrels), (*world.run, *tail))
    judged = World(tuple(qrels), world.run)
    assert bits(judged, TAIL_PROOF) == bits(longer, TAIL_PROOF)


# -- what must not matter ------------------------------------------------------------------------------
@given(
    world=worlds(),
    ties=st.sampled_from(["docid_desc", "docid_asc", "input", "best", "expected"]),
    turn=st.sampled_from(
        [lambda x: 3 * x + 7, math.atan, lambda x: 2.0**x, lambda x: x**3]
    ),
)
def test_monotone_scores_change_nothing(world: World, ties: str, turn: Any) -> None:
    """Only the order of the scores counts: any increasing function of them gives the same bits."""
    texts = [
        t
        for t in ALL
        if measure(t).claims.closed_under_ties and measure(t).claims.extremal_under_ties
    ]
    turned = tuple((query, doc, turn(score)) for query, doc, score in world.run)
    assert bits(world.under(ties=ties), texts) == bits(
        replace(world, run=turned).under(ties=ties), texts
    )


@given(
    world=worlds(ties=False),
    data=st.data(),
    chosen=options("unjudged", "depth", "negative"),
)
def test_row_order_changes_nothing(
    world: World, data: st.DataObject, chosen: dict[str, Any]
) -> None:
    """Where scores are distinct, shuffled rows of run and judgments give the same bits."""
    if chosen.get("unjudged") in ("doc_mean", "global_mean"):
        chosen = {
            **chosen,
            "unjudged": "query_mean",
        }  # a mean over all rows is equal to 1e-12 only
    shuffled = World(
        tuple(data.draw(st.permutations(world.qrels))),
        tuple(data.draw(st.permutations(world.run))),
    )
    texts = (
        ALL
        if chosen.get("negative") != "keep"
        else [t for t in ALL if "nDCG" not in t and "nsDCG" not in t]
    )
    assert bits(world.under(**chosen), texts) == bits(shuffled.under(**chosen), texts)


@given(
    world=worlds(),
    chosen=options("ties", "missing", "empty", "extra", "depth", "score_dtype"),
)
def test_split_by_query_and_merge_is_the_whole(
    world: World, chosen: dict[str, Any]
) -> None:
    """Queries scored one by one have the bits they have together."""
    world = world.under(**chosen)
    together = bits(world, DISTINCT)
    apart: dict[tuple[str, str], tuple[str, ...]] = {}
    answered = {query for query, _, _ in world.run}
    judged = {query for query, _, _ in world.qrels}
    for query in judged & answered:
        qrels = tuple(row for row in world.qrels if row[0] == query)
        run = tuple(row for row in world.run if row[0] == query)
        apart |= bits(replace(world, qrels=qrels, run=run), DISTINCT)
    assert apart == {key: value for key, value in together.items() if key in apart}
    alone = {key for key in together if key not in apart}
    assert {query for _, query in alone} <= {
        str(query) for query in (judged ^ answered)
    }


@pytest.mark.parametrize("scattered", [False, True])
@given(
    world=worlds(longest=5),
    chosen=options("order", "ties", "missing", "extra", "unjudged", "depth"),
)
def test_batch_borders_change_nothing(
    scattered: bool,  # noqa: FBT001
    world: World,
    chosen: dict[str, Any],
) -> None:
    """Batches of three rows, which cut lists anywhere, give the bits of one large batch."""
    if not scattered:
        world = replace(
            world, run=tuple(sorted(world.run, key=lambda row: str(row[0])))
        )
    world = world.under(**chosen)
    large = bits(world, DISTINCT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankstone.io.input_table.ROWS", 3)
        for name in ("_LOOK", "_PART", "_ROWS"):
            patch.setattr(f"rankstone.hits.query_lists.{name}", 3)
        small = bits(world, DISTINCT)
    assert large == small


@given(
    world=worlds(longest=5), chosen=options("ties", "missing", "extra", "score_dtype")
)
def test_batch_borders_in_text_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, world: World, chosen: dict[str, Any]
) -> None:
    """A TREC file read three lines at a time gives the bits of the same rows in memory."""
    assume(isinstance(world.run[0][1], str))
    folder = tmp_path_factory.mktemp("trec")
    plain = [
        t
        for t in DISTINCT
        if not (measure(t).judgment_columns or measure(t).query_columns)
    ]
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    qrels.write_text(
        "".join(f"{q} {s} {d} {g!r}\n" for q, s, d, g in split(world.qrels)), "utf-8"
    )
    run.write_text(
        "".join(f"{q} Q0 {d} 1 {s!r} tag\n" for q, d, s in world.run), "utf-8"
    )
    expected = world.under(**chosen).evaluate(plain).per_query.drop("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankstone.io.trec_text.ROWS", 3)
        patch.setattr("rankstone.io.input_table.ROWS", 3)
        for name in ("_LOOK", "_PART", "_ROWS"):
            patch.setattr(f"rankstone.hits.query_lists.{name}", 3)
        rest = rankstone.evaluate(
            qrels, run, plain, candidates=CANDIDATES, **chosen
        ).per_query.drop("run")
    assert rest.sort("measure", "query_id").equals(expected.sort("measure", "query_id"))


# -- ties ----------------------------------------------------------------------------------------------
@given(world=worlds(), chosen=options("unjudged", "empty", "missing", "extra"))
def test_best_expected_worst(world: World, chosen: dict[str, Any]) -> None:
    """The best order scores no less than the mean over orders, and that no less than the worst."""
    texts = [
        t
        for t in ALL
        if measure(t).claims.closed_under_ties and measure(t).claims.extremal_under_ties
    ]
    best, expected, worst = (
        table_of(world.under(ties=ties, **chosen), texts)
        for ties in ("best", "expected", "worst")
    )
    anyone = table_of(world.under(ties="docid_desc", **chosen), texts)
    for key, middle in expected.items():
        high, low, part = best[key], worst[key], anyone[key]
        if is_lower_better(key[0]):
            high, low = low, high
        if middle is None or high is None or low is None or part is None:
            assert middle is high is low is part is None
            continue
        assert low - WITHIN <= middle <= high + WITHIN, key
        assert low - WITHIN <= part <= high + WITHIN, key


@given(
    world=worlds(ties=False), chosen=options("unjudged", "empty", "missing", "extra")
)
def test_open_ties_move_no_bit_where_nothing_ties(
    world: World, chosen: dict[str, Any]
) -> None:
    """A list in which nothing ties has one order, whose numbers come out whatever its neighbours do."""
    texts = [
        t for t in ALL if measure(t).claims.closed_under_ties and "min_grade" not in t
    ]
    settled, open_ = (
        world.under(ties=ties, **chosen) for ties in ("input", "expected")
    )
    plain = bits(settled, texts)
    assert bits(open_, texts) == plain
    assume(
        chosen.get("unjudged") not in IMPUTATIONS
    )  # neighbours tell what a missing grade is

    (query, doc, _), *_ = world.qrels
    beside = "zz" if isinstance(query, str) else 10**6
    other = doc * 2 if isinstance(doc, str) else 10**6
    tied = replace(
        open_,
        qrels=(*world.qrels, (beside, doc, 1.0)),
        run=(*world.run, (beside, doc, 1.0), (beside, other, 1.0)),
    )
    assert {key: bit for key, bit in bits(tied, texts).items() if key in plain} == plain


# -- sums and means ------------------------------------------------------------------------------------
@given(
    world=worlds(),
    chosen=st.fixed_dictionaries(
        {"ties": st.sampled_from([*CHOICES["ties"], "expected"])},
        optional={
            name: st.sampled_from(CHOICES[name])
            for name in ("unjudged", "empty", "missing", "extra")
        },
    ),
)
def test_a_value_is_numerator_over_denominator(
    world: World, chosen: dict[str, Any]
) -> None:
    """Value = numerator / denominator to the bit, and a mean is the exact sum of values over their count."""
    ratios = [t for t in ALL if t not in LOG_ODDS]
    texts = [
        t
        for t in ratios
        if chosen["ties"] != "expected" or measure(t).claims.closed_under_ties
    ]
    world = world.under(**chosen)
    scored = world.evaluate(with_value(world, texts))
    for value, above, below, status in scored.per_query.select(
        "value", "numerator", "denominator", "status"
    ).iter_rows():
        if status == "undefined":
            assert value is None
        elif status == "ok":
            assert value == above / below
        elif status in ("no_ideal", "out_of_reach"):
            assert (value, below) == (0.0, 0.0)
        elif status == "missing" or chosen.get("empty", "zero") == "zero":
            assert value == 0.0 or (status == "missing" and value == above / below)
        else:
            assert value == 1.0
    for row in scored.mean().iter_rows(named=True):
        of_measure = scored.per_query.filter(
            pl.col("measure") == row["measure"], pl.col("value").is_not_null()
        )
        listed = of_measure["value"].to_list()
        assert row["n"] == len(listed)
        if not listed:
            assert row["value"] is None
        elif row["measure"].startswith("GAUC"):
            weight = of_measure["weight"].to_list()
            pairs = zip(listed, weight, strict=True)
            whole = math.fsum(weight)
            assert row["value"] == (
                math.fsum(v * w for v, w in pairs) / whole if whole else None
            )
        else:
            count = 1 if row["measure"].startswith("Num") else len(listed)
            assert row["value"] == math.fsum(listed) / count


@pytest.mark.parametrize("how", ["mean", "sum", "median", "gmean"])
@given(world=worlds(), empty=st.sampled_from(["zero", "undefined", "drop"]))
def test_aggregations(how: str, world: World, empty: str) -> None:
    """Mean, sum, median and geometric mean (1e-5 the least value) over the queries that count."""
    for base in ("AP", "nDCG@3", "RR", "P@3"):
        text = (
            base
            if how == "mean"
            else f"{base.partition('@')[0]}(agg={how}){base[len(base.partition('@')[0]) :]}"
        )
        scored = world.under(empty=empty).evaluate([text])
        counted = [v for v in values(scored, text).values() if v is not None]
        total = scored.to_dict()["run"][text]
        if counted:
            assert total is not None
            assert close(aggregate(counted, how), total, WITHIN)
        else:
            assert total is None


@given(world=worlds(), k=st.integers(1, 5))
def test_pooled_recall_is_all_hits_over_all_relevant(world: World, k: int) -> None:
    """R(agg=pooled)@k is Σ hits / Σ R, queries without a list included."""
    numbers = values(world.evaluate([f"NumRelRet@{k}"]), f"NumRelRet@{k}")
    relevant = values(world.evaluate(["NumRel"]), "NumRel")
    assume(sum(relevant.values()))  # type: ignore[arg-type]  # counts are never undefined
    pairs = [(numbers[query] or 0.0, relevant[query] or 0.0) for query in relevant]
    text = f"R(agg=pooled)@{k}"
    total = world.evaluate([text]).to_dict()["run"][text]
    assert total is not None
    assert close(pooled(pairs), total, WITHIN)


# -- identities ----------------------------------------------------------------------------------------
@given(ranks=st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_one_relevant_document(ranks: list[int]) -> None:
    """With one relevant document at rank r: AP = RR = 1/r, nDCG = 1/log2(1 + r), R@k = Success@k."""
    qrels = {f"q{position}": {"it": 1} for position in range(len(ranks))}
    run = {
        f"q{position}": [*(f"d{i}" for i in range(1, rank)), "it", "d99"]
        for position, rank in enumerate(ranks)
    }
    scored = rankstone.evaluate(qrels, run, ["AP", "RR", "nDCG", "R@5", "Success@5"])
    for index, rank in enumerate(ranks):
        query = f"q{index}"
        assert values(scored, "AP")[query] == values(scored, "RR")[query] == 1 / rank
        assert values(scored, "nDCG")[query] == 1 / math.log2(1 + rank)
        assert (
            values(scored, "R@5")[query]
            == values(scored, "Success@5")[query]
            == float(rank <= 5)
        )


@given(world=worlds(negative=False))
def test_precision_at_r_is_recall_at_r(world: World) -> None:
    """P@R = R@R = Rprec."""
    rprec = values(world.evaluate(["Rprec"]), "Rprec")
    for query, total in values(world.evaluate(["NumRel"]), "NumRel").items():
        if total:
            cut = int(total)
            scored = world.evaluate([f"P@{cut}", f"R@{cut}"])
            assert (
                values(scored, f"P@{cut}")[query]
                == rprec[query]
                == values(scored, f"R@{cut}")[query]
            )


@given(world=worlds(grades=(0.0, 1.0), negative=False))
def test_binary_grades_make_gains_alike(world: World) -> None:
    """On grades 0 and 1 the gains linear, exp2, binary and exp2_offset are one gain."""
    for shape in ("DCG({})@3", "nDCG({})", "nDCG({}, ideal=list)@4"):
        texts = [
            shape.format(f"gain={gain}") for gain in ("exp2", "binary", "exp2_offset")
        ]
        plain = shape.replace("({})", "").replace("{}, ", "")
        table = table_of(world, [plain, *texts])
        for (text, query), value in table.items():
            assert value == table[plain, query], text


@given(world=worlds(complete=True, grades=(1.0,)), k=st.integers(1, 5))
def test_micro_is_macro_recall_when_r_is_equal(world: World, k: int) -> None:
    """Where all queries have equally many relevant documents, pooled recall is mean recall."""
    counts = [
        sum(row[0] == query for row in world.qrels)
        for query in {row[0] for row in world.qrels}
    ]
    least = min(counts)
    kept: dict[Id, int] = {}
    qrels = []
    for row in world.qrels:
        kept[row[0]] = kept.get(row[0], 0) + 1
        if kept[row[0]] <= least:
            qrels.append(row)
    texts = [f"R@{k}", f"R(agg=pooled)@{k}"]
    macro, micro = (
        replace(world, qrels=tuple(qrels)).evaluate(texts).to_dict()["run"].values()
    )
    assert macro is not None
    assert close(macro, micro, WITHIN)


@pytest.mark.parametrize(
    "shape", ["RR@{}", "R@{}", "DCG@{}", "Success@{}", "CG(gain=exp2)@{}", "AP@{}"]
)
@given(world=worlds(negative=False), ties=st.sampled_from(["docid_desc", "expected"]))
def test_deeper_cutoffs_never_lower(shape: str, world: World, ties: str) -> None:
    """RR@k, R@k, Success@k, DCG@k and AP@k (over R) do not fall when k grows."""
    texts = [shape.format(k) for k in range(1, 8)]
    table = table_of(world.under(ties=ties), texts)
    for shallow, deep in pairwise(texts):
        for (text, query), value in table.items():
            if text == shallow:
                there = table[deep, query]
                assert value is not None
                assert there is not None
                assert there >= value - WITHIN


# -- random order --------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", range(1, 7))
def test_random_order_has_its_closed_forms(n: int) -> None:
    """A list in which everything ties scores what random order scores on average."""
    harmonic = [sum(1 / i for i in range(1, m + 1)) for m in range(n + 1)]
    for total in range(1, n + 1):
        qrels = {"q": {f"d{i}": int(i < total) for i in range(n)}}
        run = {"q": {f"d{i}": 1.0 for i in range(n)}}
        for k in range(1, n + 1):
            scored = rankstone.evaluate(
                qrels,
                run,
                [f"P@{k}", f"R@{k}", f"Success@{k}", f"RR@{k}", f"AP@{k}", f"DCG@{k}"],
                ties="expected",
            ).to_dict()["run"]
            none = math.comb(n - total, k) / math.comb(n, k)
            first = sum(
                (1 / r) * math.comb(n - r, total - 1) / math.comb(n, total)
                for r in range(1, min(k, n - total + 1) + 1)
            )
            rise = (total - 1) / (n - 1) if n > 1 else 0.0
            precisions = sum(
                (total / n) * (1 + (i - 1) * rise) / i for i in range(1, k + 1)
            )
            expected = {
                f"P@{k}": total / n,
                f"R@{k}": k / n,
                f"Success@{k}": 1 - none,
                f"RR@{k}": first,
                f"AP@{k}": precisions / total,
                f"DCG@{k}": (total / n)
                * sum(1 / math.log2(i + 1) for i in range(1, k + 1)),
            }
            for text, value in expected.items():
                assert close(value, scored[text], WITHIN), (n, total, text)
        whole = rankstone.evaluate(qrels, run, ["AP"], ties="expected").to_dict()[
            "run"
        ]["AP"]
        bestgen = (
            ((total - 1) / (n - 1) * (n - harmonic[n]) + harmonic[n]) / n
            if n > 1
            else 1.0
        )
        assert close(bestgen, whole, WITHIN)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10, 20])
def test_one_answer_anywhere_in_the_first_k(k: int) -> None:
    """One relevant document, equally likely at each of k ranks, has E[RR] = H_k / k."""
    qrels, run = {"q": {"d0": 1}}, {"q": {f"d{i}": 0.0 for i in range(k)}}
    value = rankstone.evaluate(qrels, run, ["RR"], ties="expected").to_dict()["run"][
        "RR"
    ]
    assert close(sum(1 / i for i in range(1, k + 1)) / k, value, WITHIN)


@given(
    order=st.permutations(["q1", "q2", "q3", "q4", "q5", "q6"]), scattered=st.booleans()
)
def test_queries_come_in_any_order(order: list[str], scattered: bool) -> None:  # noqa: FBT001
    """The run may answer the judged queries in another order than the judgments name them."""
    judged = ["q1", "q2", "q3", "q4", "q5", "q6"]
    qrels = pl.DataFrame(
        {
            "query_id": judged,
            "doc_id": [f"for {q}" for q in judged],
            "relevance": [1] * 6,
        }
    )
    rows = [
        (query, f"{what} {query}", score)
        for query in order
        for what, score in (("no", 2.0), ("for", 1.0))
    ]
    if scattered:
        rows = rows[::2] + rows[1::2]
    run = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")
    numbers = values(rankstone.evaluate(qrels, run, ["RR"]), "RR")
    assert numbers == dict.fromkeys(judged, 1 / 2)


# -- what the random worlds found once -----------------------------------------------------------------
def test_lists_that_swap_places() -> None:
    """Judged documents are found when inner queries of the run stand the other way round."""
    qrels = {query: {f"for {query}": 1} for query in "abcdef"}
    run = {query: {f"for {query}": 1.0} for query in "abdcef"}
    assert rankstone.evaluate(qrels, run, "RR").to_dict() == {"run": {"RR": 6 / 6}}


def test_minus_zero_ties_with_zero() -> None:
    """0.0 and -0.0 are one score: under ties=input the earlier row comes first."""
    run = {"q": {"a": -0.0, "b": 0.0, "c": 1.0}}
    assert rankstone.evaluate({"q": {"a": 1}}, run, "RR", ties="input").to_dict() == {
        "run": {"RR": 1 / 2}
    }


def test_scores_beyond_float32_are_scores() -> None:
    """A score that float32 cannot hold orders its list without a warning, in either precision."""
    run = {"q": {"a": 1e39, "b": 0.0}}
    for dtype in ("float64", "float32"):
        record = rankstone.evaluate(
            {"q": {"a": 1}}, run, "RR", score_dtype=dtype
        ).to_dict()
        assert record == {"run": {"RR": 1 / 1}}


def test_removed_documents_leave_the_list_as_long_as_it_is() -> None:
    """condensed_keep_rank keeps ranks, so pad=shrink and pad=min_grade see the list's old length."""
    qrels, run = {"q": {"a": 1}}, {"q": ["u", "v", "a"]}
    value = rankstone.evaluate(
        qrels,
        run,
        ["nDCG(pad=shrink)@5", "DCG(pad=min_grade)@3"],
        unjudged="condensed_keep_rank",
    ).to_dict()["run"]
    assert value["nDCG(pad=shrink)@5"] == (1 / math.log2(3 + 1)) / (
        1 / math.log2(1 + 1)
    )
    assert value["DCG(pad=min_grade)@3"] == 1 / math.log2(3 + 1)


def test_a_list_that_exclude_empties() -> None:
    """A query whose whole list is excluded was answered, retrieves nothing and scores 0."""
    record = rankstone.evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, ["RR", "NumRet"], exclude={"q": ["a"]}
    ).to_dict()
    assert record == {"run": {"RR": 0.0, "NumRet": 0.0}}


def test_the_passed_list_is_ideal_with_its_unjudged_documents() -> None:
    """ideal=list sorts everything passed: an unjudged document (gain 0) stands above a negative one."""
    value = rankstone.evaluate(
        {"q": {"a": 2, "b": -1}},
        {"q": ["a", "u", "b"]},
        ["nDCG(ideal=list)"],
        negative="keep",
    ).to_dict()["run"]
    assert value["nDCG(ideal=list)"] == 1.0


def test_a_worthless_copy_is_not_best() -> None:
    """ties=best puts a document that still earns something before a later copy that earns nothing."""
    rows = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"], "score": [2.0, 1.0, 1.0]}
    )
    value = rankstone.evaluate(
        {"q": {"a": 2, "b": 1}}, rows, ["AP"], ties="best", duplicates="first_keep_rank"
    ).to_dict()["run"]
    assert value["AP"] == (1 / 1 + 2 / 2) / 2


def test_best_is_best_when_the_cut_list_is_the_ideal() -> None:
    """With depth the ideal of ideal=list depends on who is cut, so best is the best or is refused."""
    qrels, run = {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0, "u": 1.0}}
    try:
        best, worst = (
            rankstone.evaluate(
                qrels, run, ["nDCG(ideal=list)"], ties=ties, depth=2
            ).to_dict()["run"]
            for ties in ("best", "worst")
        )
    except rankstone.UsageError:
        return
    assert (best["nDCG(ideal=list)"] or 0.0) >= (worst["nDCG(ideal=list)"] or 0.0)


@given(size=st.integers(200, 400), seed=st.integers(0, 2**32 - 1))
def test_long_tie_blocks_stay_exact(size: int, seed: int) -> None:
    """In a block of hundreds of tied documents E[RR] and E[Success] keep their closed forms."""
    chosen = np.random.default_rng(seed)
    total = int(chosen.integers(1, 20))
    qrels = {"q": {f"d{i}": 1 for i in range(total)}}
    run = {"q": {f"d{i}": 1.0 for i in range(size)}}
    value = rankstone.evaluate(
        qrels, run, ["RR", "Success@10"], ties="expected"
    ).to_dict()["run"]
    first = math.fsum(
        math.comb(size - r, total - 1) / math.comb(size, total) / r
        for r in range(1, size - total + 2)
    )
    assert close(first, value["RR"], WITHIN)
    assert close(
        1 - math.comb(size - total, 10) / math.comb(size, 10),
        value["Success@10"],
        WITHIN,
    )


def test_the_whole_scale_is_in_the_table() -> None:
    """The gain tables name every grade the worlds use, so no law skips them by accident."""
    assert set(WHOLE) <= {0.0, 1.0, 2.0, 3.0}
