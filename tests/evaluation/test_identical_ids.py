"""Documents that have the id of their query, and lists that an unstable sort puts in order."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.rows import each

import rankstone
from rankstone.cli import cli
from rankstone.errors import BadOption, NotComparable

QRELS = {"q1": {"q1": 1, "a": 1}, "q2": {"b": 2, "q1": 1}, "7": {"c": 1}}
RUN = {
    "q1": {"q1": 9.0, "a": 1.0},
    "q2": {"q1": 5.0, "b": 4.0},
    "7": {"7": 3.0, "c": 2.0},
}


def rr(run: Any, qrels: Any = QRELS, **options: Any) -> dict[str, float | None]:
    scores = rankstone.evaluate(qrels, {"run": run}, "RR R@2", **options)
    return {
        f"{m} {q}": v
        for m, q, v in scores.per_query["measure", "query_id", "value"].iter_rows()
    }


def test_a_document_with_the_id_of_its_query_can_be_left_out() -> None:
    """The list closes up, another query's list keeps it, and the judgments know of it still."""
    kept, dropped = rr(RUN), rr(RUN, identical_ids="drop")
    assert kept == {
        "RR q1": 1.0,
        "RR q2": 1.0,
        "RR 7": 0.5,
        "R@2 q1": 1.0,
        "R@2 q2": 1.0,
        "R@2 7": 1.0,
    }
    assert dropped == {
        "RR q1": 1.0,
        "RR q2": 1.0,
        "RR 7": 1.0,
        "R@2 q1": 0.5,
        "R@2 q2": 1.0,
        "R@2 7": 1.0,
    }


def test_ids_are_compared_as_texts() -> None:
    """Whole numbers that are written alike are alike."""
    frame = pl.DataFrame(
        {"query_id": [7, 7], "doc_id": ["7", "c"], "score": [2.0, 1.0]}
    )
    qrels = pl.DataFrame({"query_id": [7], "doc_id": ["c"], "relevance": [1]})
    assert rr(frame, qrels, identical_ids="drop") == {"RR 7": 1.0, "R@2 7": 1.0}


def test_a_list_of_nothing_else_is_empty() -> None:
    """The query is answered, by nothing."""
    run = {"q1": {"q1": 1.0}, "q2": {"b": 1.0}}
    assert rr(
        run, {"q1": {"a": 1}, "q2": {"b": 1}}, identical_ids="drop", missing="error"
    ) == {"RR q1": 0.0, "R@2 q1": 0.0, "RR q2": 1.0, "R@2 q2": 1.0}


def test_it_is_reported_where_it_is_chosen() -> None:
    """Who leaves nothing out reads nothing of it."""
    value = rankstone.evaluate(QRELS, RUN, "RR").conventions["alignment"]
    assert "identical_ids" not in value
    assert "sort" not in value
    chosen = rankstone.evaluate(QRELS, RUN, "RR", identical_ids="drop").conventions[
        "alignment"
    ]
    assert chosen["identical_ids"] == "drop"
    with pytest.raises(
        BadOption, match="identical_ids='ignore' is not a value of this option"
    ):
        rankstone.evaluate(QRELS, RUN, "RR", identical_ids="ignore")


def test_the_command_line_has_it(tmp_path: Any) -> None:
    """--identical-ids drop."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q 0 a 1\n")
    run.write_text("q Q0 q 1 2.0 a\nq Q0 a 2 1.0 a\n")
    done = CliRunner().invoke(
        cli, ["eval", str(qrels), str(run), "-m", "RR", "--identical-ids", "drop"]
    )
    assert done.exit_code == 0, done.output
    assert "1.0000" in done.output
    assert "identical_ids=drop" in done.output


@pytest.mark.parametrize(
    ("length", "levels", "once", "twice"),
    [
        (15, 1, 0.4848484848484848, 0.4848484848484848),
        (16, 1, 0.2333333333333333, 0.5),
        (40, 3, 0.14696969696969697, 0.10242778663831294),
    ],
)
def test_lists_of_sixteen_and_more_are_sorted_as_ranx_sorts_them(
    length: int, levels: int, once: float, twice: float
) -> None:
    """Numbers of ranx 0.3.21, once as a Run and once made comparable, which sorts again."""
    qrels = {"q": {"d0": 1, "d7": 2, "d11": 1}}
    run = {"q": {f"d{index}": float(index * 7 % levels) for index in range(length)}}
    if length == 15:  # in the order of the run, as everything used to be
        once = twice = (1 + 2 / 8 + 3 / 12) / 3
    names = ["map", "map[make_comparable=True]"]
    value = rankstone.evaluate(qrels, run, names, convention="ranx").to_dict()["run"]
    assert list(value.values()) == pytest.approx([once, twice], abs=1e-15)


def test_beir_leaves_them_out_and_mteb_where_a_task_says_so() -> None:
    """The library's default, and its switch."""
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    names = ["MAP@5", "MAP@5[ignore_identical_ids=False]", "MRR@5"]
    assert rankstone.evaluate(qrels, run, names, convention="beir").to_dict()[
        "run"
    ] == {"MAP@5": 1.0, "MAP@5[ignore_identical_ids=False]": 0.5, "MRR@5": 0.5}
    names = ["map_at_5", "map_at_5[ignore_identical_ids=True]"]
    value = rankstone.evaluate(qrels, run, names, convention="mteb").to_dict()["run"]
    assert list(value.values()) == [0.5, 1.0]


@each(
    ("library", "measure", "value"),
    [
        ("beir", "NDCG@5", 1 / 2),
        ("mteb", "ndcg_at_5", 1 / 2),
        ("ranx", "ndcg@5", 1 / 2),
        ("recbole", "ndcg@5", 1 / 2),
        ("xgboost", "ndcg@5", 1.0),
        ("xgboost", "ndcg@5-", 1 / 2),
        ("lightgbm", "ndcg@5", 1.0),
        ("cornac", "NDCG@5", 1 / 2),
        ("cornac", "Precision@-1", None),
        ("ml_metrics", "mapk@5", 1 / 2),
        ("pytrec_eval", "11pt_avg", None),
        ("lenskit", "NDCG@5", 1 / 2),
        ("lenskit", "Precision@5[measure_list]", None),
    ],
)
def test_an_empty_list_counts_as_the_library_counts_it(
    library: str, measure: str, value: float | None
) -> None:
    """Numbers of the libraries themselves: a query answered rightly, and one by an empty list."""
    qrels, run = (
        {"q1": {"a": 1}, "q2": {"b": 1}},
        {"q1": {"a": 1.0}, "q2": dict[str, float]()},
    )
    assert rankstone.evaluate(qrels, run, measure, convention=library).to_dict()[
        "run"
    ] == {measure: value}


@pytest.mark.parametrize(
    ("library", "measure"),
    [
        ("xgboost", "pre@5"),
        ("pyntcireval", "RR"),
        ("ir_measures", "Judged"),
        ("scikit-learn", "ndcg_score"),
    ],
)
def test_an_empty_list_is_refused_where_the_library_raises(
    library: str, measure: str
) -> None:
    """There is no number to follow."""
    qrels, run = (
        {"q1": {"a": 1}, "q2": {"b": 1}},
        {"q1": {"a": 1.0}, "q2": dict[str, float]()},
    )
    with pytest.raises(NotComparable, match="an empty list for query q2"):
        rankstone.evaluate(qrels, run, measure, convention=library)


def test_an_empty_list_of_an_unjudged_query() -> None:
    """It counts where such queries count, and is an error where they are."""
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": dict[str, float]()}
    scores = rankstone.evaluate(qrels, run, "P@1", extra="keep", no_results="zero")
    assert scores.to_dict() == {"run": {"P@1": 0.5}}
    assert rankstone.evaluate(qrels, run, "P@1", extra="keep").to_dict() == {
        "run": {"P@1": 1.0}
    }
    with pytest.raises(
        NotComparable, match="an empty list for query q2, which has no judgments"
    ):
        rankstone.evaluate(qrels, run, "MRR@1", convention="beir")


@pytest.mark.parametrize(
    ("library", "measure", "value"),
    [
        ("beir", "MRR@5", 0.5),
        ("ranx", "mrr", 0.5),
        ("ir_measures", "RR", 0.5),
        ("pytrec_eval", "recip_rank", 1.0),
    ],
)
def test_a_query_whose_judgments_are_empty_counts_where_the_library_counts_it(
    library: str, measure: str, value: float
) -> None:
    """An empty entry of the judgments, answered by a list."""
    qrels: dict[str, dict[str, int]] = {"q1": {"a": 1}, "q2": {}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    assert rankstone.evaluate(qrels, run, measure, convention=library).to_dict()[
        "run"
    ] == {measure: value}


def test_a_rating_below_zero_is_a_like_of_implicit() -> None:
    """Every stored entry is; numbers of implicit 0.7.3 over thirty items."""
    scores = rankstone.evaluate(
        {"u": {"a": -0.5, "b": 2.0}},
        {"u": {"a": 5.0}},
        "precision@2 map@2 ndcg@2",
        convention="implicit",
    )
    assert list(scores.to_dict()["run"].values()) == pytest.approx(
        [0.5, 0.5, 0.6131471927654584]
    )


def test_fractions_below_zero_are_refused_where_grades_are_whole() -> None:
    """What a library reads before it drops it is looked at."""
    with pytest.raises(
        rankstone.InputError, match=r"pytrec_eval refuses grade -0\.5 for map"
    ):
        rankstone.evaluate(
            {"q": {"a": 1, "b": -0.5}}, {"q": ["a"]}, "map", convention="pytrec_eval"
        )
