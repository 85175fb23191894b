"""Comparing runs: what is read, in which order, what is counted and what is refused."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import Similarity, UsageError, diff
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    DuplicateRows,
    EmptyInput,
    MixedIds,
    NotComparable,
    TiedScores,
)
from rankstone.rankings import ListMeasure
from rankstone.rankings.rank_similarity.paired_lists import PairedLists

if TYPE_CHECKING:
    from pathlib import Path

OLD = {
    "q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0},
    "q2": {"d1": 1.0},
    "q3": {"d1": 1.0, "d2": 1.0},
}
NEW = {
    "q1": {"d2": 3.0, "d1": 2.0, "d4": 1.0},
    "q3": {"d1": 2.0, "d2": 1.0},
    "q4": {"d1": 1.0, "d5": 0.0},
}


@pytest.fixture
def alike() -> Similarity:
    """Two runs with a query each that the other lacks, and one whose documents all tie."""
    return diff(OLD, NEW, "Jaccard@2 tau_b", names=("old", "new"))


# -- results -----------------------------------------------------------------------------------------------
def test_every_query_has_a_row_with_value_or_reason(alike: Similarity) -> None:
    """Queries of the first run come in its order, then those of the second; nothing is a quiet 0."""
    rows = alike.per_query.select(
        "query_id", "measure", "value", "status", "n_a", "n_b", "n_common"
    ).rows()

    assert rows == [
        ("q1", "Jaccard@2", 2 / 2, "ok", 2, 2, 2),
        ("q2", "Jaccard@2", None, "only_a", 1, 0, 0),
        ("q3", "Jaccard@2", 2 / 2, "ok", 2, 2, 2),
        ("q4", "Jaccard@2", None, "only_b", 0, 2, 0),
        ("q1", "tau_b", -1.0, "ok", 3, 3, 2),
        ("q2", "tau_b", None, "only_a", 1, 0, 0),
        ("q3", "tau_b", None, "constant", 2, 2, 2),
        ("q4", "tau_b", None, "only_b", 0, 2, 0),
    ]


def test_means_leave_out_what_has_no_value(alike: Similarity) -> None:
    """A mean is over queries with a value; how many have none stands beside it."""
    assert alike.mean().rows() == [
        ("Jaccard@2", (1 + 1) / 2, 2, 2),
        ("tau_b", -1.0, 1, 3),
    ]
    assert alike.to_dict() == {"Jaccard@2": 1.0, "tau_b": -1.0}
    assert alike.table().columns == [
        "measure",
        "value",
        "min",
        "median",
        "max",
        "n",
        "n_undefined",
    ]


def test_other_aggregations() -> None:
    """The median and a trimmed mean; sums and pooled ratios mean nothing here and are refused."""
    a = {f"q{i}": list("abcd") for i in range(3)}
    b = {"q0": list("abcd"), "q1": list("abxy"), "q2": list("wxyz")}

    assert diff(a, b, "Overlap(agg=median)").to_dict() == {"Overlap(agg=median)": 2 / 4}
    assert (
        diff(a, b, "Overlap(agg=trimmed(0.4))").to_dict()["Overlap(agg=trimmed(0.4))"]
        == 2 / 4
    )
    for agg in ("sum", "pooled", "gmean", "weighted"):
        with pytest.raises(BadParameter, match="is not known"):
            diff(a, b, f"Overlap(agg={agg})")


def test_no_value_at_all_is_null_and_not_nan() -> None:
    """Where no query has a value, the mean is null."""
    alike = diff({"q": ["a"]}, {"q": ["b"]}, "tau_ap")

    assert alike.to_dict() == {"tau_ap": None}
    assert alike.per_query["status"].to_list() == ["few_common"]
    assert alike.table().row(0) == ("tau_ap", None, None, None, None, 0, 1)


def test_the_audit_counts(alike: Similarity) -> None:
    """What is tied, missing on one side and shared is in the audit."""
    audit = alike.audit

    assert (audit.common_queries, audit.only_a, audit.only_b) == (2, ("q2",), ("q4",))
    assert (audit.documents_a, audit.documents_b, audit.common_documents) == (
        3 + 2,
        3 + 2,
        2 + 2,
    )
    assert (audit.a.queries, audit.a.documents, audit.a.tied, audit.a.tied_queries) == (
        3,
        6,
        2,
        1,
    )
    assert (audit.b.shortest, audit.b.longest, audit.b.tied) == (2, 3, 0)
    assert "1 query only in old (q2), without a value" in repr(alike)
    assert "2 tied rows in 1 query" in repr(audit)


def test_conventions_name_every_choice() -> None:
    """Options of order and parameters that were not given are in the conventions."""
    conventions = diff(OLD, NEW, "RBO(p=0.9) Jaccard@2", depth=5).conventions

    assert conventions["alignment"] == {
        "order": "score",
        "score_dtype": "float64",
        "ties": "docid_desc",
        "duplicates": "error",
        "depth": 5,
    }
    assert conventions["measures"] == ["RBO(p=0.9)", "Jaccard@2"]
    assert conventions["defaults"] == {"RBO.ties": "a", "RBO.score": "ext"}


def test_what_changed_most() -> None:
    """Least alike first: low similarities, large distances; queries without a value are left out."""
    a = {"q0": list("abc"), "q1": list("abc"), "q2": list("abc"), "q3": ["z"]}
    b = {"q0": list("abc"), "q1": list("cba"), "q2": list("acb"), "q3": ["z"]}
    alike = diff(a, b, "tau_b footrule")

    assert alike.changed()["query_id"].to_list() == ["q1", "q2", "q0"]
    assert alike.changed(2, "footrule")["query_id"].to_list() == ["q1", "q2"]
    assert alike.changed(1).columns == [
        "query_id",
        "tau_b",
        "footrule",
        "n_a",
        "n_b",
        "n_common",
    ]
    with pytest.raises(BadOption, match="was not computed"):
        alike.changed(1, "rho")


def test_two_lists_side_by_side() -> None:
    """Each rank shows both documents, and where they are in the other list."""
    a = {"q": {"d1": 3.0, "d2": 2.0, "d3": 2.0}, "other": {"d1": 1.0}}
    b = {"q": {"d3": 3.0, "d1": 2.0}}
    frame = diff(a, b, "Jaccard").side_by_side("q")

    assert frame.columns == ["rank", "a", "a_to", "a_tied", "b", "b_from", "b_tied"]
    assert frame.rows() == [
        (1, "d1", 2, False, "d3", 2, False),
        (2, "d3", 1, True, "d1", 1, False),
        (3, "d2", None, True, None, None, None),
    ]
    assert diff(a, b, "Jaccard").side_by_side("other").rows() == [
        (1, "d1", None, False, None, None, None)
    ]
    assert diff(a, b, "Jaccard").side_by_side("q", 1).height == 1
    with pytest.raises(NotComparable, match="neither run"):
        diff(a, b, "Jaccard").side_by_side("Q")


def test_files_hold_what_the_frame_holds(alike: Similarity, tmp_path: Path) -> None:
    """Parquet, CSV and JSON lines read back as the per-query frame; JSON as the report."""
    alike.write(tmp_path / "s.parquet")
    alike.write(tmp_path / "s.csv")
    alike.write(tmp_path / "s.jsonl")
    alike.write(tmp_path / "s.json")
    values = alike.per_query["value"].to_list()

    assert pl.read_parquet(tmp_path / "s.parquet")["value"].to_list() == values
    assert pl.read_csv(tmp_path / "s.csv")["value"].to_list() == values
    assert pl.read_ndjson(tmp_path / "s.jsonl")["value"].to_list() == values
    assert json.loads((tmp_path / "s.json").read_text()) == alike.report()
    assert alike.report()["measures"]["tau_b"]["value"] == -1.0
    assert alike.report()["audit"]["only_a"] == ["q2"]
    assert len(list(tmp_path.iterdir())) == 4


def test_names_are_escaped_in_a_notebook() -> None:
    """Names of runs and queries are untrusted: they do not become markup."""
    html = diff(
        {"q": ["a"], "<b>": ["a"]}, {"q": ["a"]}, "Jaccard", names=("<i>", "n")
    )._repr_html_()

    assert "<table" in html
    assert "<i>" not in html
    assert "<b>" not in html


# -- reading and order -------------------------------------------------------------------------------------
def trec(run: dict[str, dict[str, float]]) -> str:
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    return "".join(
        f"{q} Q0 {d} {index} {s} t\n" for index, (q, d, s) in enumerate(rows)
    )


def test_runs_come_from_anywhere(tmp_path: Path) -> None:
    """Dicts, TREC files, Parquet files and frames give the same values."""
    expected = diff(OLD, NEW, "RBO(p=0.9) tau_b").per_query
    rows = [(q, d, s) for q, docs in NEW.items() for d, s in docs.items()]
    frame = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")
    frame.write_parquet(tmp_path / "new.parquet")
    (tmp_path / "old.run").write_text(trec(OLD))
    for second in (frame, tmp_path / "new.parquet", frame.rename({"doc_id": "item"})):
        difference = diff(
            tmp_path / "old.run", second, "RBO(p=0.9) tau_b", columns={"item": "doc_id"}
        )

        assert difference.per_query.equals(expected)
    assert difference.names == ("old", "b")


def test_rows_in_any_order_make_the_same_lists() -> None:
    """Scattered queries and unordered scores are put in order first."""
    rng = np.random.default_rng(3)
    rows = pl.DataFrame(
        {
            "query_id": [f"q{i % 40}" for i in range(2000)],
            "doc_id": [f"d{i}" for i in rng.permutation(2000)],
            "score": rng.integers(0, 20, 2000).astype(float),
        }
    )
    other = rows.with_columns(score=pl.Series(rng.integers(0, 20, 2000).astype(float)))[
        ::2
    ]
    tidy = diff(
        rows.sort("query_id", maintain_order=True),
        other.sort("query_id"),
        "RBO(p=0.9) tau_ap wtau",
    )
    mixed = diff(
        rows, other.sample(fraction=1, shuffle=True, seed=1), "RBO(p=0.9) tau_ap wtau"
    )

    assert tidy.per_query.sort("query_id", "measure").equals(
        mixed.per_query.sort("query_id", "measure")
    )
    assert mixed.queries.to_list() == [f"q{i}" for i in range(40)]


def test_plain_lists_have_an_order_of_their_own() -> None:
    """A list of documents is compared with scores, by its order."""
    assert diff({"q": ["b", "a"]}, {"q": {"a": 1.0, "b": 2.0}}, "tau_b").to_dict() == {
        "tau_b": 1.0
    }


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({}, "d2"),
        ({"ties": "docid_asc"}, "d10"),
        ({"ties": "input"}, "d1x"),
        ({"order": "rank"}, "d10"),
    ],
)
def test_order_and_ties_are_those_of_an_evaluation(
    options: dict[str, Any], first: str
) -> None:
    """Which of tied documents a cutoff keeps is decided by the alignment's rule, ids compared as bytes."""
    frame = pl.DataFrame(
        {
            "query_id": ["q"] * 3,
            "doc_id": ["d1x", "d10", "d2"],
            "score": [1.0, 1.0, 1.0],
            "rank": [2, 1, 3],
        }
    )
    alike = diff({"q": [first]}, frame, "Overlap@1", **options)

    assert alike.to_dict() == {"Overlap@1": 1.0}
    assert alike.side_by_side("q", 1)["b"].item() == first


def test_near_equal_scores_tie_in_single_precision() -> None:
    """score_dtype=float32 makes ties of scores that differ only as float64."""
    a = {"q": {"d1": 1.0 + 1e-12, "d2": 1.0}}
    b = {"q": {"d1": 2.0, "d2": 1.0}}

    assert diff(a, b, "tau_b").to_dict() == {"tau_b": 1.0}
    assert (
        diff(a, b, "tau_b", score_dtype="float32").per_query["status"].item()
        == "constant"
    )


def test_depth_cuts_both_lists() -> None:
    """depth=1 leaves one document in each list, and tie blocks shrink to what is left."""
    alike = diff(OLD, NEW, "Jaccard RBO(p=0.5, ties=w)", depth=1)

    assert alike.per_query["n_a"].to_list() == [1, 1, 1, 0] * 2
    assert alike.audit.a.documents == 3
    assert alike.per_query.filter(query_id="q3")["value"].to_list() == [0.0, 0.0]


def test_duplicates() -> None:
    """The same document twice is an error that says where, unless a copy is to be dropped."""
    twice = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["a", "b", "a"], "score": [3.0, 2.0, 1.0]}
    )
    with pytest.raises(DuplicateRows, match="retrieved 2 times"):
        diff(twice, {"q": ["a", "b"]}, "tau_b")
    with pytest.raises(DuplicateRows, match="retrieved 2 times"):
        diff({"q": ["a", "b"]}, twice, "tau_b")

    drops: dict[Literal["first_drop", "last_drop"], float] = {
        "first_drop": 1.0,
        "last_drop": -1.0,
    }
    for drop, expected in drops.items():
        assert diff(twice, {"q": ["a", "b"]}, "tau_b", duplicates=drop).to_dict() == {
            "tau_b": expected
        }
        assert diff({"q": ["a", "b"]}, twice, "tau_b", duplicates=drop).to_dict() == {
            "tau_b": expected
        }


def test_ids_of_text_files_have_no_type(tmp_path: Path) -> None:
    """A 7 in a TREC file is the 7 of an integer column; typed texts and numbers never match."""
    (tmp_path / "a.run").write_text("1 Q0 7 1 2.0 t\n1 Q0 8 2 1.0 t\n")

    assert diff(tmp_path / "a.run", {1: {7: 2.0, 8: 1.0}}, "tau_b").to_dict() == {
        "tau_b": 1.0
    }
    with pytest.raises(MixedIds, match="doc_id has two types"):
        diff({"q": {7: 1.0}}, {"q": {"7": 1.0}}, "tau_b")


def test_progress_is_reported() -> None:
    """Every row of both runs is counted once."""
    seen: list[int] = []
    diff(OLD, NEW, "Jaccard", progress=seen.append)

    assert sum(seen) == 6 + 7


def test_nothing_is_kept_that_is_not_needed() -> None:
    """Lists that have been measured are let go at once, even where the garbage collector is off."""
    run = {f"q{i}": {f"d{j}": float(j % 3) for j in range(5)} for i in range(5)}
    gc.collect()
    gc.disable()
    try:
        diff(run, run, "RBO(p=0.9) RBO(p=0.9, ties=broken)@3 tau_ap wtau Fagin_K@2")
        left = [result for result in gc.get_objects() if type(result) is PairedLists]
    finally:
        gc.enable()

    assert not left


# -- refusals ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unjudged": "condensed"}, "has no effect"),
        ({"empty": "one"}, "has no effect"),
        ({"tie": "input"}, "did you mean 'ties'"),
        ({"ties": "expected"}, "tau_b"),
        ({"ties": "best"}, "needs judgments"),
        ({"duplicates": "keep"}, "each document once"),
        ({"order": "random"}, "not a value"),
        ({"depth": 0}, "from 1 up"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    """An option that needs judgments is distinguished from a slip, and both are refused."""
    with pytest.raises(BadOption, match=message):
        diff(OLD, NEW, "Jaccard", **options)


def test_measures_of_another_kind() -> None:
    """Each side names the command that computes the other's measures."""
    with pytest.raises(UsageError, match="rankstone eval"):
        diff(OLD, NEW, "nDCG@10")
    with pytest.raises(UsageError, match="rankstone diff"):
        rankstone.evaluate({"q1": {"d1": 1}}, OLD, "RBO(p=0.9)")


@pytest.mark.parametrize(
    "text",
    [
        "RBO",
        "RBO(p=1)",
        "RBO(p=0)",
        "RBO(p=0.9, ties=c)",
        "Overlap(denom=k)",
        "Fagin_K(p=2)",
        "tau_ap(ties=b, reference=both)",
        "Fagin_F(location=0)",
        "wtau(weights=log)",
    ],
)
def test_parameters_that_make_no_sense(text: str) -> None:
    """Parameters are checked where they are declared."""
    with pytest.raises(BadParameter):
        rankstone.parse_measure(text)


def test_rank_biased_overlap_asks_for_its_p() -> None:
    """How deep to look is no matter of a default, and the message suggests values."""
    with pytest.raises(BadParameter, match=r"RBO\(p=0.9\)"):
        diff(OLD, NEW, "RBO")


def test_runs_that_do_not_belong_together() -> None:
    """No query in common, an empty run, no number, or ties that are not allowed."""
    with pytest.raises(NotComparable, match="no query in common"):
        diff(OLD, {"Q1": ["d1"]}, "Jaccard")
    with pytest.raises(EmptyInput):
        diff(
            OLD,
            pl.DataFrame(
                schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
            ),
        )
    with pytest.raises(EmptyInput):
        diff(
            pl.DataFrame(
                schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
            ),
            OLD,
        )
    with pytest.raises(BadValue, match="NaN"):
        diff(OLD, {"q1": {"d1": float("nan")}}, "Jaccard")
    with pytest.raises(TiedScores):
        diff(OLD, NEW, "Jaccard", ties="error")


# -- measures of others ------------------------------------------------------------------------------------
def test_a_measure_of_ones_own() -> None:
    """A registered measure of two rankings is computed beside ours."""
    from dataclasses import dataclass
    from typing import ClassVar

    @dataclass(frozen=True, kw_only=True)
    class SameTop(ListMeasure):
        """Whether the first document is the same."""

        name: ClassVar[str] = "SameTop"
        family: ClassVar[str] = "test"
        conjoint: ClassVar[bool] = False
        card: ClassVar[rankstone.measures.Card] = rankstone.measures.Card(
            sentence="Is the first document the same?",
            formula="1 or 0",
            symbols="none",
            example="ab against ba: 0",
            sensitive="ties",
            use="never",
            citation="none",
        )

        def ratio(self, couple: Any) -> Any:
            top = couple.down_to(1).n_common
            return top.astype(float), np.ones(couple.queries)

    rankstone.register(SameTop)
    try:
        record = diff(
            {"q": ["a", "b"], "r": ["a"]}, {"q": ["b"], "r": ["a", "c"]}, "SameTop"
        ).to_dict()
    finally:
        rankstone.measures.MEASURES.remove("SameTop")

    assert record == {"SameTop": (0 + 1) / 2}


@pytest.mark.parametrize(
    ("option", "scores"), [("ties", (1.0, 1.0, 0.5)), ("duplicates", (3.0, 2.0, 1.0))]
)
def test_a_fix_offers_what_lists_without_judgments_allow(
    option: str, scores: tuple[float, ...]
) -> None:
    """Every value that the error about ties or duplicates offers is accepted by the same verb."""
    docs = ["a", "b", "a" if option == "duplicates" else "c"]
    run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": docs, "score": scores})
    verbs = (
        lambda **options: rankstone.diff(run, run, "tau_b", **options),
        lambda **options: rankstone.beyond(run, "Entropy", **options),
    )
    for verb in verbs:
        with pytest.raises(rankstone.InputError) as refused:
            verb(**{option: "error"})
        assert refused.value.where
        assert refused.value.fix is not None
        offered = refused.value.fix.partition(f"{option}=")[2].split(", ")
        assert len(offered) > 1
        for value in offered:
            verb(**{option: value})
