"""Arrays say what tables say: every measure, every rule for ties, every layout."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each

import rankstone
from rankstone import InputError, Measure, UsageError
from rankstone.hits.extras.list_costs import ListCosts
from rankstone.hits.extras.pool_members import JudgmentGroups, PoolMembers
from rankstone.integrations import arrays as functional
from rankstone.integrations.arrays import Evaluator, evaluate
from rankstone.measures import MEASURES, Status

#: every measure whose bare name is one, alone and with a cutoff, but those that need more than labels
TEXTS = [
    text
    for name, kind in MEASURES.items()
    if issubclass(kind, Measure)
    and not (
        kind.judgment_columns
        or kind.query_columns
        or kind.requires & {PoolMembers, JudgmentGroups, ListCosts}
    )
    for text in dict.fromkeys(
        kind.examples or (name, f"{name}@3" if kind.takes_cutoff else name)
    )
]
SEVERAL = (
    "nDCG@3 nDCG(gain=exp2) nDCG(ideal=list) AP AP@3 RR P@2 R@3 Rprec Success@1 "
    "RBP(p=0.8) Bpref AUC(negatives=judged) GAUC(negatives=judged)"
)
TIES = ("expected", "input", "reverse_input", "best", "worst")


def drawn(seed: int, queries: int = 12, *, holes: bool = True) -> tuple[Any, Any, Any]:
    """Draw scores that tie, labels of which some are below zero, and lists of 1 to 9."""
    draw = np.random.Generator(np.random.Philox(seed))
    sizes = draw.integers(1, 10, queries)
    scores = draw.integers(0, 4, sizes.sum()) / 4
    labels = draw.choice(
        [-1.0, 0.0, 0.0, 1.0, 2.0] if holes else [0.0, 0.0, 1.0, 2.0], sizes.sum()
    )
    return scores, labels, sizes


def by_table(
    scores: Any, labels: Any, sizes: Any, measures: Any, **options: Any
) -> dict[str, list[Any]]:
    """Return ``{measure: [(value, status), …]}`` as the table of these rows has it."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    table = pl.DataFrame({"query_id": qid, "score": scores, "relevance": labels})
    rows = rankstone.evaluate(table=table, measures=measures, **options).per_query
    values: dict[str, list[Any]] = {}
    for measure, query, value, status in rows.select(
        "measure", "query_id", "value", "status"
    ).iter_rows():
        values.setdefault(measure, []).append((int(query), value, status))
    return values


def by_arrays(scored: functional.ArrayScores) -> dict[str, list[Any]]:
    numbers = {}
    for text, values in scored.values.items():
        status = [Status(code).name for code in scored.status[text]]
        rows = zip(scored.queries.tolist(), values.tolist(), status, strict=True)
        shown = [
            (query, None if math.isnan(value) else value, s)
            for query, value, s in rows
            if s != "dropped"
        ]
        numbers[text] = shown
    return numbers


def usable(text: str, **options: Any) -> bool:
    """Say whether tables take the measure under these options at all."""
    try:
        by_table([1.0], [1.0], [1], text, **options)
    except UsageError:
        return False
    return True


@pytest.mark.parametrize("ties", ["expected", "input"])
@each("text", TEXTS)
def test_every_measure(text: str, ties: str) -> None:
    """Each measure has the table's values and statuses, bit by bit; arrays refuse what tables refuse."""
    options: dict[str, Any] = {"ties": ties, "candidates": 20, "empty": "undefined"}
    if not usable(text, **options):
        with pytest.raises(UsageError):
            evaluate([1.0], [1.0], text, sizes=[1], **options)
        return
    scores, labels, sizes = drawn(1)

    scored = evaluate(scores, labels, text, sizes=sizes, **options)

    assert by_arrays(scored) == by_table(scores, labels, sizes, text, **options)


@pytest.mark.parametrize(
    "text", ["Cost(column=tokens)@3", "Cost(column=tokens, per=call)", "R@tokens(9)"]
)
def test_costs_are_refused(text: str) -> None:
    """Arrays have no column of costs."""
    with pytest.raises(
        UsageError, match="needs the costs of documents; these lists have none"
    ):
        evaluate([1.0], [1.0], text, sizes=[1], ties="input")


@given(
    seed=st.integers(0, 1 << 30),
    ties=st.sampled_from(TIES),
    empty=st.sampled_from(["zero", "one", "undefined", "drop"]),
    negative=st.sampled_from(["unjudged", "zero"]),
)
def test_ties_and_options(seed: int, ties: str, empty: str, negative: str) -> None:
    """Options mean to arrays what they mean to tables; so does the mean."""
    options: dict[str, Any] = {"ties": ties, "empty": empty, "negative": negative}
    measures = [
        m
        for m in SEVERAL.split()
        if ties not in ("best", "worst") or usable(m, **options)
    ]
    scores, labels, sizes = drawn(seed)

    scored = evaluate(scores, labels, measures, sizes=sizes, **options)

    assert by_arrays(scored) == by_table(scores, labels, sizes, measures, **options)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    table = pl.DataFrame({"query_id": qid, "score": scores, "relevance": labels})
    means = rankstone.evaluate(table=table, measures=measures, **options).to_dict()[
        "run"
    ]
    assert {m: None if math.isnan(v) else v for m, v in scored.mean().items()} == means


@pytest.mark.parametrize(
    "option",
    [{"score_above": 0.3}, {"depth": 2, "ties": "input"}, {"unjudged": "condensed"}],
)
def test_further_options(option: dict[str, Any]) -> None:
    """What is left of the other options says the same, too."""
    scores, labels, sizes = drawn(3)

    measures = "nDCG@3 AP RR P@2 R@3"

    scored = evaluate(scores, labels, measures, sizes=sizes, **option)

    assert by_arrays(scored) == by_table(scores, labels, sizes, measures, **option)


@given(seed=st.integers(0, 1 << 30))
def test_layouts(seed: int) -> None:
    """Sizes, ids, ids in any order and padded rows are the same lists."""
    scores, labels, sizes = drawn(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    expected = evaluate(scores, labels, SEVERAL, sizes=sizes, ties="input").values
    mask = np.arange(9) < sizes[:, None]
    padded, grades = (
        np.full(mask.shape, np.nan),
        np.full(mask.shape, np.inf),
    )  # nothing reads that far
    padded[mask], grades[mask] = scores, labels
    shuffled = np.argsort(
        np.arange(len(qid)) - 7 * qid, kind="stable"
    )  # lists interleave, rows keep order
    first = qid[shuffled][np.sort(np.unique(qid[shuffled], return_index=True)[1])]

    by_id = evaluate(scores, labels, SEVERAL, qid=[f"q{q}" for q in qid], ties="input")
    scattered = evaluate(
        scores[shuffled], labels[shuffled], SEVERAL, qid=qid[shuffled], ties="input"
    )

    assert by_id.queries.tolist() == [f"q{q}" for q in range(len(sizes))]
    np.testing.assert_equal(by_id.values, expected)
    np.testing.assert_equal(
        evaluate(padded, grades, SEVERAL, mask=mask, ties="input").values, expected
    )
    assert scattered.queries.tolist() == first.tolist()
    np.testing.assert_equal(
        scattered.values, {text: values[first] for text, values in expected.items()}
    )


def test_many_lists_are_cut_into_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rows are scored at a time changes no bit."""
    scores, labels, sizes = drawn(5, queries=40)
    expected = evaluate(scores, labels, SEVERAL, sizes=sizes).values
    monkeypatch.setattr("rankstone.integrations.arrays.array_evaluator._ROWS", 10)

    np.testing.assert_equal(
        evaluate(scores, labels, SEVERAL, sizes=sizes).values, expected
    )


def test_labels_are_prepared_once() -> None:
    """One evaluator scores epoch after epoch, and leaves the arrays it was given alone."""
    scores, labels, sizes = drawn(6)
    kept = scores.copy(), labels.copy()
    ready = Evaluator(labels, SEVERAL, sizes=sizes)
    for epoch in (scores, -scores, np.zeros_like(scores)):
        np.testing.assert_equal(
            ready(epoch).values, evaluate(epoch, labels, SEVERAL, sizes=sizes).values
        )
    np.testing.assert_equal((scores, labels), kept)


def test_empty_lists() -> None:
    """A list without documents is a query without a relevant one."""
    scored = evaluate(
        [0.5, 0.4], [0, 1], "RR nDCG@10", sizes=[0, 2, 0], empty="undefined"
    )

    assert scored.status["RR"].tolist() == [
        Status.undefined,
        Status.ok,
        Status.undefined,
    ]
    assert scored.mean() == {"RR": 0.5, "nDCG@10": pytest.approx(1 / math.log2(3))}
    assert scored.warnings == (
        "2 lists without documents: nothing relevant, so empty=undefined decides",
        "2 queries not in the mean of RR, nDCG@10: no relevant document (empty=undefined)",
    )


def test_nothing_counts() -> None:
    """Where no query has a value there is no mean, and no NaN among values of others."""
    scored = evaluate([0.5, 0.4], [0, 0], "RR", empty="drop")

    assert math.isnan(scored.mean()["RR"])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, bool])
def test_narrow_numbers(dtype: Any) -> None:
    """Half precision, integers and truth values are numbers like any other."""
    scores, labels, sizes = drawn(7, holes=False)
    narrow = scores.astype(dtype)

    scored = evaluate(narrow, labels.astype(np.int8), "AP nDCG@3", sizes=sizes)

    np.testing.assert_equal(
        scored.values,
        evaluate(narrow.astype(float), labels, "AP nDCG@3", sizes=sizes).values,
    )


def test_functions() -> None:
    """Every measure is a function, by its name or an alias, with its parameters and the options."""
    scores, labels, sizes = drawn(8)
    for made, text in (
        (
            functional.ndcg(scores, labels, sizes=sizes, k=3, gain="exp2"),
            "nDCG(gain=exp2)@3",
        ),
        (functional.average_precision(scores, labels, sizes=sizes, rel=2), "AP(rel=2)"),
        (functional.reciprocal_rank(scores, labels, sizes=sizes), "RR"),
        (functional.precision(scores, labels, sizes=sizes, k=2), "P@2"),
        (functional.recall(scores, labels, sizes=sizes, k=2), "R@2"),
        (functional.hit_rate(scores, labels, sizes=sizes, k=1), "Success@1"),
    ):
        np.testing.assert_array_equal(
            made, evaluate(scores, labels, text, sizes=sizes).values[text]
        )
    assert "ndcg" in dir(functional)
    assert "nDCG" in str(functional.ndcg.__doc__)
    assert not hasattr(functional, "nonsense")
    assert not hasattr(functional, "rbo")  # of two rankings


def test_flat_names() -> None:
    """Means have the measures' texts for names, or names any tracker takes."""
    scored = evaluate([0.5, 0.4], [1, 0], "nDCG@10 AP(rel=2)@5")

    assert scored.to_flat_dict("val/") == {"val/nDCG@10": 1.0, "val/AP(rel=2)@5": 0.0}
    assert list(scored.to_flat_dict(plain=True)) == ["nDCG_at_10", "AP_rel_2_at_5"]
    assert repr(scored) == "ArrayScores of 1 query: nDCG@10 1, AP(rel=2)@5 0"


@each(
    ("scores", "labels", "how", "message"),
    [
        ([], [], {}, "there are no labels"),
        ([1.0], [1.0, 2.0], {}, r"scores do not fit the labels.*shape \(1,\)"),
        ([math.nan, 1.0], [1.0, 2.0], {}, r"\[0\], query 0: a score is NaN"),
        ([1.0, 1.0], [math.inf, 0.0], {}, "a label is inf"),
        (["a"], [1.0], {}, "scores are not numbers"),
        ([1.0], [["a"]], {}, "labels are not numbers"),
        ([1.0, 2.0], [1.0, 2.0], {"sizes": [1]}, "sizes do not add up"),
        ([1.0, 2.0], [1.0, 2.0], {"sizes": [3, -1]}, "sizes are not counts"),
        ([1.0, 2.0], [1.0, 2.0], {"sizes": [1.0, 1.0]}, "sizes are not counts"),
        ([1.0, 2.0], [1.0, 2.0], {"qid": [1]}, "qid does not fit"),
        ([1.0, 2.0], [1.0, 2.0], {"qid": [1.0, math.nan]}, "a qid is NaN"),
        (
            [1.0, 2.0],
            [1.0, 2.0],
            {"qid": [1, 1], "sizes": [2]},
            "qid and sizes are given",
        ),
        ([1.0, 2.0], [1.0, 2.0], {"mask": [True, True]}, "mask is for arrays"),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"mask": [True, True]}, "the mask does not fit"),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"mask": [[1, 0]]}, "the mask does not fit"),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"qid": [1, 2]}, "qid is for flat arrays"),
        ([[[1.0]]], [[[1.0]]], {}, "labels of 3 dimensions"),
        ([1.0, 2.0], [1.0, -1.0], {"negative": "error"}, "a label below zero"),
        ([1.0, 1.0], [1.0, 0.0], {"ties": "error"}, "2 documents tie at 1"),
        ([1.0], [0.0], {"empty": "error"}, "without a relevant document"),
        ([1.0], [1.0], {"ties": "docid_desc"}, "needs document ids"),
        ([1.0], [1.0], {"missing": "drop"}, "has no meaning for arrays"),
        ([1.0, 2.0], [1.0, 2.0], {"qid": [1, None]}, "value 1: a qid is None"),
        ([1.0, 2.0], [1.0, 2.0], {"qid": ["a", None]}, "value 1: a qid is None"),
        (
            [1.0, 2.0],
            [1.0, 2.0],
            {"qid": np.array(["a", math.nan], object)},
            "value 1: a qid is NaN",
        ),
        (
            [1.0, 2.0],
            [1.0, 2.0],
            {"qid": np.array(["a", 1], object)},
            r"several types.*int, str.*qid=\[str\(",
        ),
        ([1.0], [1.0], {"group": [1]}, "no argument group.*sizes=….*qid=…"),
        ([1.0], [1.0], {"query_id": [1]}, "no argument query_id.*sizes=….*qid=…"),
        ([1.0], [1.0], {"tie": "input"}, "there is no alignment option 'tie'"),
        ([1.0], [1.0], {"k": 10}, "k is a parameter of measures"),
    ],
)
def test_what_does_not_fit(
    scores: Any, labels: Any, how: dict[str, Any], message: str
) -> None:
    """Every mistake is reported in words, with the place where it is."""
    with pytest.raises((InputError, UsageError), match=f"(?s){message}"):
        evaluate(scores, labels, "RR", **how)


def test_what_cannot_be_scored_is_refused_before_training() -> None:
    """Measures that an evaluator takes have a value for any scores, and a fix that names ties works."""
    taken = 0
    for kind in MEASURES.values():
        if not issubclass(kind, Measure):
            continue
        name = kind.name
        texts = [*kind.examples, name, f"{name}@3", f"{name}@tokens(9)"]
        texts += [f"{name}(denom=hits)@5", f"{name}@score(0.5)"]
        settings: tuple[Any, ...] = ({}, {"ties": "input"}, {"ties": "best"})
        for text, options in product(texts, settings):
            try:
                ready = Evaluator([1.0, 0.0, 2.0], text, candidates=20, **options)
            except UsageError as error:
                if 'ties="input"' in str(error):
                    Evaluator([1.0], text, candidates=20, ties="input")([1.0])
                continue
            taken += 1
            ready([0.3, 0.2, 0.2]).mean()
    assert taken > 250, taken
    with pytest.raises(UsageError, match=r'(?s)AP\(denom=hits\)@5 .*ties="input"'):
        Evaluator([1.0], "AP(denom=hits)@5")


def test_centred_targets() -> None:
    """Labels below zero that are no whole numbers are hardly padding; it is stated, with the first of them."""
    scores, labels = [0.07, 0.31, 0.75], [-1.0, -0.53, 0.56]

    with pytest.warns(UserWarning, match=r"2 of 3 labels .* -0\.53 \(\[1\], query 0\)"):
        scored = evaluate(scores, labels, "nDCG")

    assert "subtract the smallest label" in repr(scored)
    assert scored.report()["warnings"] == list(scored.warnings) != []
    assert not evaluate(scores, [-1.0, -2.0, 0.56], "nDCG").warnings
    assert not evaluate(scores, labels, "nDCG", negative="zero").warnings


def test_one_query_of_many_rows() -> None:
    """Hundreds of rows are one query only if it is stated that they are."""
    many, few = np.arange(200.0), np.arange(199.0)

    with pytest.warns(UserWarning, match=r"all 200 rows are one query.*sizes=\[200\]"):
        assert "all 200 rows are one query" in repr(evaluate(many, many, "RR"))

    assert not evaluate(few, few, "RR").warnings
    assert not evaluate(many, many, "RR", sizes=[200]).warnings
    assert not evaluate(many, many, "RR", qid=[7] * 200).warnings
    assert not evaluate(many[None], many[None], "RR").warnings


@each("text", TEXTS)
def test_queries_outside_means_are_counted(text: str) -> None:
    """Each query without a value is counted with a reason, as the audit of a table counts it."""
    scores, labels, sizes = drawn(4, holes=False)
    options: dict[str, Any] = {"ties": "input", "candidates": 20, "empty": "drop"}
    if not usable(text, **options):
        return
    scored = evaluate(scores, labels, text, sizes=sizes, **options)

    report, (status,) = scored.report(), scored.status.values()
    for name in ("undefined", "dropped"):
        count = sum(sum(reasons.values()) for reasons in report[name].values())
        assert count == (status == Status[name]).sum()
    qid = np.repeat(np.arange(len(sizes)), sizes)
    table = pl.DataFrame({"query_id": qid, "score": scores, "relevance": labels})
    audit = rankstone.evaluate(table=table, measures=text, **options).audit.runs["run"]
    assert (report["undefined"], report["dropped"]) == (audit.undefined, audit.dropped)
    assert all(warning in audit.line(in_ideal=True) for warning in scored.warnings)
    assert all(warning in repr(scored) for warning in scored.warnings)


@pytest.mark.parametrize(
    "text", ["alpha_nDCG@3", "PSP@3", "sDCG", "P(agg=weighted)@1", "RBO", "PR"]
)
def test_measures_that_need_more(text: str) -> None:
    """Measures that need subtopics, sessions, weights or another ranking say so."""
    with pytest.raises(UsageError):
        evaluate([1.0], [1.0], text)
