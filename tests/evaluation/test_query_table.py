"""What is known of queries: weights, sessions, segments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone import InputError, UsageError
from rankstone.io.attributes import read_attributes
from rankstone.measures.core.aggregation import aggregated

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {"c": 3}, "q4": {"d": 1}}
RUN = {"q1": ["a", "x", "b"], "q2": ["x", "a"], "q3": ["c"], "q4": ["x", "y", "z", "d"]}
TABLE: dict[str, dict[str, Any]] = {
    "q1": {"weight": 4, "country": "de", "session": "s1", "position": 1},
    "q2": {"weight": 1, "country": "fr", "session": "s1", "position": 2},
    "q3": {"weight": 2, "country": "de", "session": "s2", "position": 1},
    "q4": {"weight": 1, "country": None, "session": "s2", "position": 3},
}


def evaluated(measures: str, table: Any = TABLE, **options: Any) -> rankstone.Scores:
    """Evaluate with a query table."""
    return rankstone.evaluate(QRELS, RUN, measures, queries=table, **options)


def only_value(scores: rankstone.Scores) -> float | None:
    """Return the only number there is."""
    return next(iter(scores.to_dict()["run"].values()))


# -- weights -------------------------------------------------------------------------------------------
def test_a_weighted_mean() -> None:
    """agg=weighted is Σ w v / Σ w, and the weights stand in every row."""
    scores = evaluated("RR(agg=weighted) RR")
    assert scores.to_dict()["run"]["RR(agg=weighted)"] == (
        4 * 1 + 1 / 2 + 2 * 1 + 1 / 4
    ) / (4 + 1 + 2 + 1)
    assert scores.to_dict()["run"]["RR"] == (1 + 1 / 2 + 1 + 1 / 4) / 4
    assert scores.per_query.filter(measure="RR")["weight"].to_list() == [
        4.0,
        1.0,
        2.0,
        1.0,
    ]


def test_equal_weights_are_the_mean() -> None:
    """Weights that are all the same, whatever they are, change nothing."""
    same = {query: {"weight": 0.3} for query in QRELS}
    assert only_value(evaluated("nDCG(agg=weighted)", same)) == pytest.approx(
        only_value(evaluated("nDCG")), abs=1e-15
    )


def test_weights_follow_the_queries_that_count() -> None:
    """A query that is dropped takes its weight along; one of weight 0 counts nothing."""
    qrels = {**QRELS, "q5": {"z": 0}}
    table = {**TABLE, "q5": {"weight": 100}}
    scores = rankstone.evaluate(
        qrels, RUN, "RR(agg=weighted)", queries=table, empty="drop"
    )
    assert only_value(scores) == (4 * 1 + 1 / 2 + 2 * 1 + 1 / 4) / (4 + 1 + 2 + 1)
    none = {query: {"weight": 0 if query != "q4" else 1} for query in QRELS}
    assert only_value(evaluated("RR(agg=weighted)", none)) == 1 / 4
    assert (
        only_value(
            evaluated("RR(agg=weighted)", {query: {"weight": 0} for query in QRELS})
        )
        is None
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("RR(agg=trimmed)", (1 + 1 / 2 + 1 + 1 / 4) / 4),
        ("RR(agg=trimmed(0.25))", (1 / 2 + 1) / 2),
        ("RR(agg=trimmed(0.49))", (1 / 2 + 1) / 2),
    ],
)
def test_trimmed_means(text: str, value: float) -> None:
    """The share is left out at either end, rounded down to whole queries."""
    assert only_value(rankstone.evaluate(QRELS, RUN, text)) == value


def test_trimming_leaves_the_middle() -> None:
    """A tenth at either end by default; nothing is trimmed of fewer than ten values."""
    values = [0.0, *[0.5] * 8, 1000.0]
    assert aggregated("trimmed", pl.Series(values).to_numpy()) == 0.5
    assert (
        aggregated("trimmed", pl.Series(values[1:]).to_numpy()) == (8 * 0.5 + 1000) / 9
    )


@pytest.mark.parametrize("share", ["0", "0.5", "0.7", "x"])
def test_a_trim_that_leaves_nothing_is_refused(share: str) -> None:
    """The share lies between 0 and one half."""
    with pytest.raises(UsageError, match="is not known"):
        rankstone.parse_measure(f"RR(agg=trimmed({share}))")


# -- segments ------------------------------------------------------------------------------------------
def test_means_by_a_column() -> None:
    """One row for each value, sorted; queries without a value come last."""
    rows = (
        evaluated("RR NumRel")
        .mean(by="country")
        .select("country", "measure", "value", "n")
        .rows()
    )
    assert rows == [
        ("de", "RR", (1 + 1) / 2, 2),
        ("de", "NumRel", 3.0, 2),
        ("fr", "RR", 1 / 2, 1),
        ("fr", "NumRel", 1.0, 1),
        (None, "RR", 1 / 4, 1),
        (None, "NumRel", 1.0, 1),
    ]


def test_segments_make_the_whole() -> None:
    """Sums of segments add up to the sum, and so do their sizes."""
    scores = evaluated("DCG(agg=sum)")
    parts = scores.mean(by=["country", "session"])
    assert parts.columns == [
        "run",
        "country",
        "session",
        "measure",
        "value",
        "n",
        "n_undefined",
    ]
    assert math.fsum(parts["value"]) == pytest.approx(only_value(scores))
    assert parts["n"].sum() == 4


def test_segments_keep_their_type() -> None:
    """Numbers stay numbers, and other aggregations and left-out statuses go along."""
    table = {query: {"length": index} for index, query in enumerate(QRELS)}
    means = evaluated("RR(agg=median)", table).mean(by="length")
    assert means["length"].to_list() == [0, 1, 2, 3]
    run = {query: docs for query, docs in RUN.items() if query != "q4"}
    scores = rankstone.evaluate(QRELS, run, "RR", queries=TABLE)
    assert scores.mean(without=["missing"], by="session")["n"].to_list() == [2, 1]
    assert scores.mean(by="session")["n"].to_list() == [2, 2]


def test_a_table_from_anywhere(tmp_path: Path) -> None:
    """CSV, Parquet, frames and dicts say the same; ids are compared as text."""
    frame = pl.DataFrame([{"query_id": query, **row} for query, row in TABLE.items()])
    frame.write_csv(tmp_path / "q.csv")
    frame.write_parquet(tmp_path / "q.parquet")
    means = [
        evaluated("RR(agg=weighted) sDCG", table).mean().rows()
        for table in (
            TABLE,
            frame,
            tmp_path / "q.csv",
            tmp_path / "q.parquet",
            str(tmp_path / "q.csv"),
        )
    ]
    assert all(mean == means[0] for mean in means)
    numbered = rankstone.evaluate(
        {1: {"a": 1}}, {1: ["a"]}, "RR", queries={"1": {"country": "de"}}
    )
    assert numbered.mean(by="country")["country"].to_list() == ["de"]
    renamed = frame.rename({"query_id": "user_id"})
    scores = rankstone.evaluate(
        QRELS, RUN, "RR", queries=renamed, columns={"user_id": "query_id"}
    )
    assert scores.mean(by="country").height == 3


def test_labelled_tables_have_queries_too() -> None:
    """One table with scores and labels takes a query table like a run does."""
    rows = {
        "query_id": ["u1", "u1", "u2"],
        "score": [0.9, 0.5, 0.3],
        "label": [0, 1, 1],
    }
    table = {"u1": {"weight": 3, "plan": "free"}, "u2": {"weight": 1, "plan": "paid"}}
    scores = rankstone.evaluate(
        table=pl.DataFrame(rows), measures="RR(agg=weighted)", queries=table
    )
    assert only_value(scores) == (3 * 1 / 2 + 1) / 4
    assert scores.mean(by="plan")["value"].to_list() == [1 / 2, 1.0]


# -- the audit -----------------------------------------------------------------------------------------
def test_the_audit_says_what_did_not_fit() -> None:
    """Rows about unjudged queries, and judged queries without a row, are counted and shown."""
    table = {"q1": {"country": "de"}, "zz": {"country": "fr"}}
    scores = evaluated("RR", table)
    beside = scores.audit.queries
    assert beside is not None
    assert (beside.rows, beside.unknown, beside.missing) == (2, 1, 3)
    assert (
        "queries  2 rows · 1 row about queries without judgments · 3 queries without a row"
        in scores.audit.lines()
    )
    assert scores.report()["audit"]["queries"]["missing"] == 3
    assert scores.report(by="country")["segments"][0]["country"] == "de"
    assert scores.mean(by="country")["n"].to_list() == [1, 3]


def test_without_a_table_nothing_is_stated() -> None:
    """Results without a query table look as they always did."""
    scores = rankstone.evaluate(QRELS, RUN, "RR")
    assert scores.audit.queries is None
    assert set(scores.report()["audit"]) == {"judgments", "runs"}


# -- mistakes ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("measures", "table", "error", "message"),
    [
        (
            "RR(agg=weighted)",
            None,
            UsageError,
            "needs a query table with a column weight",
        ),
        ("sDCG", None, UsageError, "needs a query table with a column position"),
        (
            "sDCG",
            {"q1": {"country": "de"}},
            InputError,
            "needs a column position of the query table",
        ),
        (
            "sDCG",
            {"q1": {"position": 1, "sessions": 1}},
            InputError,
            "did you mean sessions",
        ),
        (
            "RR(agg=weighted)",
            {"q1": {"weight": 1}},
            UsageError,
            "needs a weight for every query",
        ),
        ("RR", {"q1": {"weight": -1}}, InputError, "the weight of query q1 is -1"),
        (
            "RR",
            {"q1": {"weight": "much"}},
            InputError,
            "the weight of query q1 is much",
        ),
        (
            "sDCG",
            {"q1": {"session": 1, "position": 1.5}},
            InputError,
            "the position of query q1 is 1.5",
        ),
        (
            "sDCG",
            {"q1": {"session": 1, "position": 0}},
            InputError,
            "the position of query q1 is 0",
        ),
        (
            "RR sDCG",
            {
                "q1": {"session": "s", "position": 1},
                "q2": {"session": "s", "position": 1},
            },
            InputError,
            "session s has two queries at position 1",
        ),
    ],
)
def test_tables_that_do_not_serve(
    measures: str, table: Any, error: type[Exception], message: str
) -> None:
    """What lacks, where, and what to do."""
    with pytest.raises(error, match=message):
        evaluated(measures, table)


@pytest.mark.parametrize("positions", [(1, 1), (0.5, 2), ("top", "side")])
def test_positions_matter_to_measures_of_sessions_only(
    positions: tuple[object, object],
) -> None:
    """A table may hold columns of these names for whatever reason; means by them are fine."""
    table = {
        query: {"session": "s", "position": position}
        for query, position in zip(QRELS, [*positions, None, None], strict=True)
    }
    scores = evaluated("RR", table)
    assert scores.mean(by="position").height == len({*positions, None})


def test_a_query_twice_is_refused() -> None:
    """A query has one row."""
    frame = pl.DataFrame({"query_id": ["q1", "q1"], "weight": [1, 2]})
    with pytest.raises(InputError, match="has several rows, which differ"):
        evaluated("RR", frame)


def test_unjudged_queries_that_are_kept_need_a_weight_too() -> None:
    """extra=keep evaluates unjudged queries; a weighted mean must know what they count."""
    run = {**RUN, "zz": ["a"]}
    with pytest.raises(UsageError, match="none for zz"):
        rankstone.evaluate(QRELS, run, "RR(agg=weighted)", queries=TABLE, extra="keep")


def test_segments_that_are_not_there() -> None:
    """A mean by nothing known is refused, naming the nearest column."""
    with pytest.raises(UsageError, match="need a query table"):
        rankstone.evaluate(QRELS, RUN, "RR").mean(by="country")
    with pytest.raises(UsageError, match="did you mean country"):
        evaluated("RR").mean(by="contry")
    with pytest.raises(UsageError, match="would collide with the columns of the means"):
        evaluated("RR", {"q1": {"value": 1}}).mean(by="value")


# -- sessions ------------------------------------------------------------------------------------------
def dcg(*gains: float) -> float:
    """Gains over log2(rank + 1)."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def test_session_dcg() -> None:
    """Queries of a session are added up, the q-th divided by 1 + log_4 q; sessions are averaged."""
    first = dcg(1, 0, 2) + dcg(0, 1) / (1 + math.log(2, 4))
    second = dcg(3) + dcg(0, 0, 0, 1) / (1 + math.log(3, 4))
    scores = evaluated("sDCG")
    assert only_value(scores) == pytest.approx((first + second) / 2)
    assert scores.mean()["n"].to_list() == [2]
    assert scores.per_unit.select("unit", "n").rows() == [("s1", 2), ("s2", 2)]
    assert scores.per_unit["value"].to_list() == pytest.approx([first, second])
    assert scores.per_query["value"].to_list()[1] == pytest.approx(dcg(0, 1) / 1.5)


def test_normalised_session_dcg() -> None:
    """Gains and ideal gains are both discounted by the query's place, and then divided."""
    late, later = 1 + math.log2(2), 1 + math.log2(3)
    first = (dcg(1, 0, 2) + dcg(0, 1) / late) / (dcg(2, 1) + dcg(1) / late)
    second = (dcg(3) + dcg(0, 0, 0, 1) / later) / (dcg(3) + dcg(1) / later)
    assert only_value(evaluated("nsDCG(bq=2)")) == pytest.approx((first + second) / 2)
    perfect = rankstone.evaluate(
        QRELS,
        {"q1": ["b", "a"], "q2": ["a"], "q3": ["c"], "q4": ["d"]},
        "nsDCG",
        queries=TABLE,
    )
    assert only_value(perfect) == 1.0


def test_the_session_dcg_of_ir_metrics() -> None:
    """Jiang and Allan: gain 2^g − 1, the q-th query divided by log_bq (q + bq − 1)."""
    first = dcg(1, 0, 3) + dcg(0, 1) / math.log(2 + 3, 4)
    second = dcg(7) + dcg(0, 0, 0, 1) / math.log(3 + 3, 4)
    assert only_value(evaluated("sDCG(gain=exp2, late=shifted)@10")) == pytest.approx(
        (first + second) / 2
    )


def test_one_query_a_session_is_plain() -> None:
    """Sessions of one query are queries: sDCG = DCG, nsDCG = nDCG, with cutoffs, gains and ties."""
    alone = {query: {"session": query, "position": 1} for query in QRELS}
    tied = {query: dict.fromkeys(docs, 1.0) for query, docs in RUN.items()}
    for ties in ("docid_desc", "expected"):
        texts = "sDCG@2 DCG@2 nsDCG(gain=exp2)@2 nDCG(gain=exp2)@2"
        value = rankstone.evaluate(
            QRELS, tied, texts, queries=alone, ties=ties
        ).to_dict()["run"]
        values = list(value.values())
        assert values[0] == pytest.approx(values[1])
        assert values[2] == pytest.approx(values[3])


def test_a_session_with_a_missing_query() -> None:
    """A judged query that the run does not answer adds nothing to its session, whose ideal keeps it."""
    run = {query: docs for query, docs in RUN.items() if query != "q2"}
    scores = rankstone.evaluate(QRELS, run, "nsDCG", queries=TABLE)
    expected = dcg(1, 0, 2) / (dcg(2, 1) + dcg(1) / 1.5)
    assert scores.per_unit.filter(unit="s1")["value"].item() == pytest.approx(expected)
    dropped = rankstone.evaluate(QRELS, run, "nsDCG", queries=TABLE, missing="drop")
    assert dropped.per_unit.filter(unit="s1")["value"].item() == pytest.approx(
        dcg(1, 0, 2) / dcg(2, 1)
    )
    empty = rankstone.evaluate(
        {**QRELS, "q3": {"c": 0}, "q4": {"d": 0}},
        RUN,
        "nsDCG",
        queries=TABLE,
        empty="drop",
    )
    assert empty.per_unit["unit"].to_list() == ["s1"]
    assert empty.mean()["n"].to_list() == [1]


def test_a_session_with_nothing_to_find() -> None:
    """It is worth what the option empty says; sessions that have something keep their ratio."""
    qrels = {**QRELS, "q1": {"a": 0}, "q3": {"c": 0}, "q4": {"d": 0}}
    for empty, nothing in (("zero", 0.0), ("one", 1.0)):
        scores = rankstone.evaluate(qrels, RUN, "nsDCG", queries=TABLE, empty=empty)
        assert scores.per_unit["value"].to_list() == [
            pytest.approx(dcg(0, 1) / dcg(1)),
            nothing,
        ]
    undefined = rankstone.evaluate(
        qrels, RUN, "nsDCG", queries=TABLE, empty="undefined"
    )
    assert undefined.per_unit["unit"].to_list() == ["s1"]


@pytest.mark.parametrize("agg", ["pooled", "weighted"])
def test_sessions_are_averaged(agg: str) -> None:
    """Weights and pools of queries have no meaning for sessions."""
    with pytest.raises(UsageError, match="sessions have no weights"):
        rankstone.parse_measure(f"nsDCG(agg={agg})")


def test_session_and_scaled_dcg_are_not_mixed_up() -> None:
    """SDCG is scaled, sDCG is over sessions; a name in neither case is refused."""
    assert rankstone.parse_measure("sDCG@5").name == "sDCG"
    assert rankstone.parse_measure("SDCG(max_grade=3)@5").name == "SDCG"
    with pytest.raises(UsageError, match="could be SDCG or sDCG"):
        rankstone.parse_measure("sdcg@5")


def test_judgments_may_have_the_columns_of_queries(tmp_path: Path) -> None:
    """Where the judgments are a table, --by needs no other one."""
    qrels = tmp_path / "qrels.csv"
    qrels.write_text(
        "query_id,doc_id,relevance,kind\nq1,d1,1,a\nq1,d2,0,a\nq2,d2,1,b\n"
    )
    run = tmp_path / "run.json"
    run.write_text('{"q1": ["d2", "d1"], "q2": ["d2"]}')
    done = command("eval", str(qrels), str(run), "-m", "RR", "--by", "kind")
    assert "kind=a (1)  0.5000" in done.stdout
    assert "kind=b (1)  1.0000" in done.stdout
    compared = command(
        "compare", str(qrels), str(run), f"b={run}", "-m", "RR", "--by", "kind"
    )
    assert "Segments" in compared.stdout


def test_a_column_of_judgments_that_differs_within_a_query(tmp_path: Path) -> None:
    """The place of the first other value is named, and what is in it."""
    path = tmp_path / "qrels.csv"
    path.write_text("query_id,doc_id,relevance,country\nq1,a,1,de\nq1,b,0,fr\n")
    read = read_attributes(path, "query_id")
    with pytest.raises(InputError, match="differ in country") as error:
        read.collect("country")
    assert f"{path}:3" in str(error.value)
    assert "fr after de" in str(error.value)
    assert "a table of its own: queries=…" in str(error.value.fix)
