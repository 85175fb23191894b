"""A cluster gives the numbers of one machine, to the last bit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.laws.test_explaining import TEXTS

import rankstone
import rankstone.spark
from rankstone import Measure, parse_measure
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    DuplicateRows,
    EmptyInput,
    InputError,
    MissingColumn,
    MixedIds,
    NotComparable,
    RankstoneError,
    UsageError,
)
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.pool_members import JudgmentGroups
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.spark

KINDS: dict[tuple[Any, ...], list[str]] = {}
for text in TEXTS:
    kind = parse_measure(text)
    assert isinstance(kind, Measure)
    tables = 2 if AbstainedLists in kind.requires else int(bool(kind.query_columns))
    wanted = (JudgmentGroups in kind.requires, tuple(kind.judgment_columns), tables)
    refused = any(
        extra.reads_run_columns or extra.side_input for extra in kind.requires
    )
    if not refused:
        KINDS.setdefault(wanted, []).append(text)


def there(session: Any, frame: pl.DataFrame, seed: int = 0, parts: int = 5) -> Any:
    """Return a frame on the cluster, its rows in any order and cut anywhere."""
    mixed = frame.sample(fraction=1, shuffle=True, seed=seed)
    return session.createDataFrame(mixed.to_arrow()).repartition(parts)


def rows(scores: Any) -> list[tuple[Any, ...]]:
    """Return every number of every query, wherever it was computed."""
    frame = scores.per_query
    if not isinstance(frame, pl.DataFrame):
        frame = pl.from_arrow(frame.toArrow())
    selected = frame.select(
        "run",
        "query_id",
        "measure",
        "value",
        "numerator",
        "denominator",
        "weight",
        pl.col("status").cast(pl.String),
    )
    return sorted(
        selected.with_columns(pl.col(pl.Float64).fill_nan(None)).rows(), key=str
    )


def check(
    session: Any,
    qrels: pl.DataFrame,
    run: pl.DataFrame,
    measures: Any,
    seed: int = 0,
    there_as: Any = None,
    **options: Any,
) -> Any:
    """Check that a cluster's numbers are those of one machine, the run being scattered or as given."""
    here = rankstone.evaluate(qrels, run, measures, **options)
    seeds = np.random.default_rng(seed).integers(1, 6, 2).tolist()
    mine = there(session, qrels, seed, seeds[0])
    theirs = there(session, run, seed + 1, seeds[1]) if there_as is None else there_as
    far = rankstone.spark.evaluate(mine, theirs, measures, **options)
    assert rows(far) == rows(here)
    assert far.to_dict() == here.to_dict()
    assert far.mean().equals(here.mean())
    recorded, record = far.audit.to_dict(), here.audit.to_dict()
    for audit in (recorded, record):
        del audit["judgments"]["source"]
        shares = audit["runs"]["run"].pop("unjudged")
        audit["runs"]["run"]["source"] = ""
        audit["runs"]["run"]["unjudged"] = {
            name: round(share, 12) for name, share in shares.items()
        }
        audit["runs"]["run"]["warnings"] = [
            w for w in audit["runs"]["run"]["warnings"] if "subtopic" not in w
        ]
    assert recorded == record
    far.unpersist()
    return far


def test_names_of_one_table_and_label(spark: Any) -> None:
    """``label`` grades judgments, and a name may be meant in one table alone, as on one machine."""
    rows = (
        [("q1", "d1", 2.0), ("q1", "d2", 0.0)],
        [("q1", "d1", 0.5), ("q1", "d2", 0.9)],
    )
    labelled = spark.createDataFrame(rows[0], ["query_id", "doc_id", "label"])
    scored = spark.createDataFrame(rows[1], ["query_id", "doc_id", "score"])
    rated = [spark.createDataFrame(r, ["query_id", "doc_id", "rating"]) for r in rows]
    names = {"qrels.rating": "relevance", "run.rating": "score"}

    assert rankstone.spark.evaluate(labelled, scored, "RR").to_dict() == {
        "run": {"RR": 0.5}
    }
    judged, listed = rated
    scores = rankstone.spark.evaluate(judged, listed, "RR", columns=names)
    assert scores.to_dict() == {"run": {"RR": 0.5}}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "wanted", KINDS, ids=lambda wanted: f"{wanted[0]:d}{len(wanted[1])}{wanted[2]:d}"
)
def test_every_measure(spark: Any, wanted: tuple[Any, ...], ties: bool) -> None:  # noqa: FBT001 - as parametrize hands it
    """Every registered measure, over a random partitioning."""
    world = small_world(KINDS[wanted][0], 20, seed=5, ties=ties)
    first = parse_measure(KINDS[wanted][0])
    assert isinstance(first, Measure)
    tables = {
        name: table for name, table in world.tables(first).items() if table is not None
    }
    check(
        spark,
        world.judgments,
        world.run,
        KINDS[wanted],
        seed=int(ties),
        **world.options,
        **tables,
    )


OPTIONS: list[dict[str, Any]] = [
    {"ties": "docid_asc"},
    {"ties": "best", "missing": "drop"},
    {"ties": "worst", "extra": "keep"},
    {"score_dtype": "float32", "empty": "drop"},
    {"unjudged": "condensed", "empty": "one"},
    {"unjudged": "condensed_keep_rank"},
    {"unjudged": 1.0},
    {"pool": "list", "extra": "keep"},
    {"depth": 3},
    {"negative": "keep", "missing": "drop", "extra": "keep"},
    {"score_above": 1.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(spark: Any, options: dict[str, Any]) -> None:
    """Options of alignment mean the same; ids may be whole numbers."""
    world = small_world("nDCG", 40, seed=3, ties=True)
    grades = pl.when(pl.int_range(pl.len()) % 7 == 0).then(-1.0).otherwise("relevance")
    qrels = world.judgments.with_columns(relevance=grades)
    ids = {
        name: int(name[1:]) if name.startswith("q") else 9_000
        for name in world.run["query_id"].unique()
    }
    run = world.run
    if len(options) > 1:
        known = {**ids, **{name: int(name[1:]) for name in qrels["query_id"].unique()}}
        qrels, run = (
            frame.with_columns(
                query_id=pl.col("query_id").replace_strict(
                    known, return_dtype=pl.Int64
                ),
                doc_id=pl.col("doc_id").str.slice(1).cast(pl.Int64),
            )
            for frame in (qrels, run)
        )
    signed = options.get("negative") == "keep"  # nDCG has no range then
    check(
        spark,
        qrels,
        run,
        f"{'DCG@5' if signed else 'nDCG@5'} AP RR P@3 R@5",
        seed=len(options),
        **options,
    )


def test_rows_that_say_where_they_stood(spark: Any) -> None:
    """Ties, duplicates and merged judgments by input order need a column, and then mean the same."""
    world = small_world("AP", 30, seed=2, ties=True)
    run = pl.concat([world.run, world.run[::3].with_columns(pl.col("score") - 1)])
    qrels = pl.concat(
        [world.judgments, world.judgments[::4].with_columns(relevance=2.0)]
    )
    options: dict[str, Any] = {
        "duplicates": "first_drop",
        "duplicate_judgments": "last",
        "ties": "reverse_input",
    }
    with pytest.raises(BadOption, match="needs the order of rows"):
        rankstone.spark.evaluate(
            there(spark, qrels), there(spark, run), "AP", **options
        )
    placed = [
        frame.with_row_index("at").cast({"at": pl.Int64}) for frame in (qrels, run)
    ]
    here = rankstone.evaluate(qrels, run, "AP nDCG@3", **options)
    mine, theirs = (there(spark, frame) for frame in placed)
    far = rankstone.spark.evaluate(
        mine, theirs, "AP nDCG@3", columns={"at": "position"}, **options
    )
    assert rows(far) == rows(here)


def test_ranks_instead_of_scores(spark: Any) -> None:
    """Where ranks are given nothing reads scores."""
    world = small_world("AP", 20, seed=4)
    ranked = world.run.with_columns(
        rank=pl.col("score")
        .rank("ordinal", descending=True)
        .over("query_id")
        .cast(pl.Int64)
    )
    check(spark, world.judgments, ranked.drop("score"), "AP RR nDCG@5", order="rank")
    check(
        spark, world.judgments, ranked.drop("score"), "AP RR nDCG@5"
    )  # all that there is


def test_excluded_pairs_and_passages(spark: Any) -> None:
    """Pairs are taken out first; passages become documents."""
    world = small_world("AP", 20, seed=6)
    out = world.run[::5].select("query_id", "doc_id")
    here = rankstone.evaluate(world.judgments, world.run, "AP", exclude=out)
    far = rankstone.spark.evaluate(
        there(spark, world.judgments),
        there(spark, world.run),
        "AP",
        exclude=there(spark, out),
    )
    assert rows(far) == rows(here)
    passages = world.run.with_columns(
        pl.col("doc_id") + "#" + (pl.int_range(pl.len()) % 3).cast(pl.String)
    )
    check(spark, world.judgments, passages, "AP nDCG", unit="^([^#]+)")


def test_chunks_and_what_one_machine_alone_computes(spark: Any) -> None:
    """Judgments of chunks roll up like runs; budgets, calls and tables of documents are refused."""
    world = small_world("AP", 20, seed=6)
    number = (pl.int_range(pl.len()) % 3).cast(pl.String)
    chunks, judged = (
        case.with_columns(pl.col("doc_id") + "#" + number)
        for case in (world.run, world.judgments)
    )
    check(spark, judged, chunks, "AP nDCG", unit="document")
    run, qrels = there(spark, world.run), there(spark, world.judgments)
    with pytest.raises(BadParameter, match="budgets are not computed on Spark"):
        rankstone.spark.evaluate(qrels, run, "R@tokens(5)")
    with pytest.raises(BadParameter, match="documents is not available on Spark"):
        rankstone.spark.evaluate(qrels, run, "R", documents={"a": {"tokens": 1}})  # type: ignore[call-arg]
    with pytest.raises(BadParameter, match="a column call is not scored on Spark"):
        rankstone.spark.evaluate(
            qrels, there(spark, world.run.with_columns(call=pl.lit(1))), "R"
        )


def test_means_of_every_kind(spark: Any) -> None:
    """Means that need all values have them brought; weights come from a table or the measure."""
    world = small_world("AP", 30, seed=8)
    weights = {
        f"q{index:04}": {"weight": index / 7, "half": "ab"[index % 2]}
        for index in range(30)
    }
    aggregates = (
        "mean",
        "sum",
        "median",
        "gmean",
        "trimmed",
        "weighted",
        "pooled",
        "trimmed(0.2)",
    )
    measures = [f"AP(agg={agg})" for agg in aggregates]
    check(spark, world.judgments, world.run, measures, queries=weights)


def test_several_runs(spark: Any) -> None:
    """Runs by name, and everything brought here: as one machine has it."""
    world = small_world("AP", 20, seed=9)
    turned = world.run.with_columns(-pl.col("score"))
    here = rankstone.evaluate(world.judgments, {"a": world.run, "b": turned}, "AP P@3")
    far = rankstone.spark.evaluate(
        there(spark, world.judgments),
        {"a": there(spark, world.run), "b": there(spark, turned)},
        "AP P@3",
    )
    assert far.collect().to_dict() == here.to_dict()
    assert far.table().equals(here.table())
    assert rows(far.collect()) == rows(here)
    assert repr(far).splitlines()[:9] == repr(here).splitlines()[:9]


def test_one_very_long_list(spark: Any) -> None:
    """A query with most of the rows is a query like others."""
    draw = np.random.default_rng(1)
    long = pl.DataFrame(
        {"query_id": "long", "doc_id": [f"d{index}" for index in range(60_000)]}
    )
    run = pl.concat(
        [long, pl.DataFrame({"query_id": ["s"] * 3, "doc_id": ["d1", "d2", "d3"]})]
    )
    run = run.with_columns(
        score=pl.Series(draw.integers(0, 5_000, run.height).astype(float))
    )
    qrels = (
        run.sample(300, seed=1)
        .select("query_id", "doc_id")
        .with_columns(relevance=pl.lit(1.0))
    )
    check(spark, qrels, run, "AP nDCG RR", ties="expected")


# -- mistakes ------------------------------------------------------------------------------------------
QRELS = pl.DataFrame(
    {"query_id": ["q1", "q2"], "doc_id": ["a", "b"], "relevance": [1.0, 2.0]}
)
RUN = pl.DataFrame(
    {"query_id": ["q1", "q1"], "doc_id": ["a", "c"], "score": [2.0, 1.0]}
)


def changed(**columns: list[Any]) -> pl.DataFrame:
    return RUN.with_columns(pl.Series(name, values) for name, values in columns.items())


@pytest.mark.parametrize(
    ("run", "options", "error", "message"),
    [
        (changed(score=[2.0, math.nan]), {}, BadValue, "query q1, document c"),
        (changed(score=[2.0, None]), {}, InputError, "query q1, document c"),
        (changed(doc_id=["a", None]), {}, InputError, "doc_id"),
        (
            changed(doc_id=["a", "a"]),
            {},
            DuplicateRows,
            "retrieved 2 times for query q1",
        ),
        (
            changed(query_id=["x", "y"]),
            {},
            NotComparable,
            "no query of the run is judged",
        ),
        (RUN, {"missing": "error"}, NotComparable, "1 query missing"),
        (
            changed(query_id=["q1", "x"]),
            {"extra": "error"},
            NotComparable,
            "of the run without judgments",
        ),
        (changed(doc_id=[1, 2]), {}, MixedIds, "a string in one table and an integer"),
        (RUN.drop("score"), {}, MissingColumn, "there is no column score"),
        (changed(score=["a", "b"]), {}, UsageError, "is string"),
        (RUN.clear(), {}, EmptyInput, "the run is empty"),
        (RUN, {"unjudged": "global_mean"}, BadOption, "judgments of other queries"),
        (RUN, {"tie": "input"}, BadOption, "did you mean 'ties'"),
    ],
)
def test_mistakes_are_reported_as_on_one_machine(
    spark: Any,
    run: pl.DataFrame,
    options: dict[str, Any],
    error: type[RankstoneError],
    message: str,
) -> None:
    """A mistake in the data, found on some other machine, is no traceback of Spark's."""
    with pytest.raises(error, match=message):
        rankstone.spark.evaluate(
            there(spark, QRELS), there(spark, run), "AP", **options
        )


def test_a_run_with_the_name_of_another_table(spark: Any) -> None:
    """Its ids are still compared with those of the judgments, and its order must be declared."""
    qrels = there(spark, QRELS)
    of_other_ids = {"judgments": there(spark, changed(doc_id=[1, 2]))}
    with pytest.raises(MixedIds, match="a string in one table and an integer"):
        rankstone.spark.evaluate(qrels, of_other_ids, "AP")
    of_no_order = {"judgments": there(spark, RUN)}
    with pytest.raises(BadOption, match="ties=input needs the order of rows"):
        rankstone.spark.evaluate(qrels, of_no_order, "AP", ties="input")


def test_one_part_of_many_is_no_parquet(spark: Any, tmp_path: Path) -> None:
    """A part that turns out to be torn amid the work is named, and no stack of Java's is shown."""
    for part in range(3):
        RUN.write_parquet(tmp_path / f"part-{part}.parquet")
    torn = tmp_path / "part-1.parquet"
    torn.write_bytes(torn.read_bytes()[:60] + b"PAR1")
    run = spark.read.schema("query_id string, doc_id string, score double").parquet(
        str(tmp_path)
    )
    with pytest.raises(InputError, match=r"part-1\.parquet"):
        rankstone.spark.evaluate(there(spark, QRELS), run, "AP")


def test_something_else_than_a_frame(spark: Any) -> None:
    """What is no DataFrame of Spark's gets a sentence that says what to do."""
    with pytest.raises(UsageError, match=r"rankstone\.evaluate"):
        rankstone.spark.evaluate(QRELS, there(spark, RUN), "AP")


def test_judged_grades_that_are_no_numbers(spark: Any) -> None:
    """A grade that is not there is named by its query and document."""
    qrels = QRELS.with_columns(relevance=pl.Series([1.0, None]))
    with pytest.raises(InputError, match="query q2, document b"):
        rankstone.spark.evaluate(there(spark, qrels), there(spark, RUN), "AP")


@pytest.mark.parametrize("broadcast", [0, 10])
def test_no_judgments(spark: Any, broadcast: int) -> None:
    """Where nothing is judged, that is stated."""
    with pytest.raises(EmptyInput, match="there are no judgments"):
        rankstone.spark.evaluate(
            there(spark, QRELS.clear()), there(spark, RUN), "AP", broadcast=broadcast
        )


def test_without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyspark is missing, the extra is named."""
    import sys

    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(rankstone.errors.MissingExtra, match="rankstone\\[spark\\]"):
        rankstone.spark.evaluate(None, None, "AP")


@pytest.mark.parametrize("parts", [1, 7])
def test_partitions_change_no_bit(spark: Any, parts: int) -> None:
    """However rows are spread, sums are the same."""
    world = small_world("nDCG", 60, seed=12, ties=True)
    here: Callable[..., Any] = rankstone.spark.evaluate
    spread = here(
        there(spark, world.judgments, 3, parts),
        there(spark, world.run, 4, 8 - parts),
        "nDCG AP",
    )
    assert (
        spread.to_dict()
        == rankstone.evaluate(world.judgments, world.run, "nDCG AP").to_dict()
    )


@pytest.mark.parametrize("scored", [True, False])
def test_arrays_in_columns(spark: Any, *, scored: bool) -> None:
    """A row a query, its documents (and their scores) in arrays; an empty array is no answer."""
    judged = {
        "query_id": ["a", "a", "b", "c"],
        "doc_id": ["x", "y", "x", "z"],
        "relevance": [2, 1, 1, 1],
    }
    lists: dict[str, Any] = {
        "user": ["a", "b", "c"],
        "items": [["y", "z", "x"], ["z", "x"], []],
    }
    if scored:
        lists["score"] = [[0.1, 0.2, 0.3], [0.5, 0.4], []]
    run = pl.DataFrame(lists, schema_overrides={"items": pl.List(pl.String)})
    columns = {"user": "query_id", "items": "doc_id"}
    here = rankstone.evaluate(pl.DataFrame(judged), run, "nDCG RR", columns=columns)
    scores = rankstone.spark.evaluate(
        spark.createDataFrame(pl.DataFrame(judged).to_arrow()),
        spark.createDataFrame(run.to_arrow()),
        "nDCG RR",
        columns=columns,
    )
    assert rows(scores) == rows(here)


def test_arrays_of_numbers_need_a_name(spark: Any) -> None:
    """Grades and scores in arrays under other names must be declared; costs are known."""
    numbers = pl.DataFrame(
        {"query_id": ["a"], "doc_id": [["x", "y"]], "rating": [[0, 3]]}
    )
    frame = spark.createDataFrame(numbers.to_arrow())
    ids = numbers.drop("rating").with_columns(tokens=pl.Series([[5, 6]]))
    plain = spark.createDataFrame(ids.to_arrow())
    graded = {"rating": "relevance"}
    for qrels, run, columns in ((frame, plain, {}), (frame, frame, graded)):
        with pytest.raises(MissingColumn, match=r"no column (relevance, but|score)"):
            rankstone.spark.evaluate(qrels, run, "RR", columns=columns)
    with pytest.raises(MissingColumn, match=r"score, but numbers .* doc_id: rating"):
        rankstone.spark.evaluate(
            frame.withColumnRenamed("rating", "relevance"), frame, "RR"
        )
    scores = rankstone.spark.evaluate(frame, plain, "RR", columns=graded)
    assert rows(scores) == rows(rankstone.evaluate(numbers, ids, "RR", columns=graded))


def test_arrays_that_do_not_fit(spark: Any) -> None:
    """An array beside single values, a missing one, and one that is shorter."""
    qrels = spark.createDataFrame(
        [("a", "x", 1)], "query_id string, doc_id string, relevance int"
    )
    beside = spark.createDataFrame(
        [("a", ["x"], 0.5)], "query_id string, doc_id array<string>, score double"
    )
    with pytest.raises(
        UsageError, match="run: doc_id has arrays, but score has single values"
    ):
        rankstone.spark.evaluate(qrels, beside, "RR")
    kinds = "query_id string, doc_id array<string>, score array<double>"
    for bad in [("a", ["x", "y"], [0.5]), ("a", None, [0.5])]:
        run = spark.createDataFrame([bad], kinds)
        with pytest.raises(BadValue):
            rankstone.spark.evaluate(qrels, run, "RR")


@pytest.mark.parametrize("broadcast", [0, 1000])
def test_declared_queries(spark: Any, broadcast: int) -> None:
    """Empty arrays of judgments, and the table of queries, declare queries as they do on one machine."""
    judged = pl.DataFrame(
        {"query_id": ["a", "b"], "doc_id": [["x", "y"], []], "relevance": [[1, 1], []]},
        schema_overrides={"relevance": pl.List(pl.Int64)},
    )
    run = pl.DataFrame(
        {
            "query_id": ["a", "b", "d"],
            "doc_id": ["x", "x", "x"],
            "score": [1.0, 1.0, 1.0],
        }
    )
    about = {"a": {"judged": True}, "c": {"judged": True}, "d": {"judged": False}}
    here = rankstone.evaluate(judged, run, "R@10", queries=about)
    scores = rankstone.spark.evaluate(
        there(spark, judged),
        there(spark, run),
        "R@10",
        queries=about,
        broadcast=broadcast,
    )
    assert here.to_dict()["run"]["R@10"] == (1 / 2 + 0 + 0) / 3
    assert sorted(rows(scores), key=str) == sorted(rows(here), key=str)
    judgments = scores.audit.judgments
    assert judgments is not None
    assert (judgments.queries, judgments.declared) == (3, 2)


@pytest.mark.parametrize("broadcast", [0, 1000])
def test_where_pairs_are_excluded_from(spark: Any, broadcast: int) -> None:
    """Pairs leave judgments as well, and what the audit counts adds up."""
    world = small_world("nDCG", 30, seed=8, ties=True)
    judged, run = world.judgments, world.run
    out = pl.concat([run.gather_every(3), judged.gather_every(4)], how="diagonal")
    out = (
        out.select("query_id", "doc_id")
        .unique()
        .filter(pl.col("query_id").is_in(judged["query_id"].implode()))
    )
    here = rankstone.evaluate(judged, run, "nDCG AP", exclude=out, exclude_from="both")
    scores = rankstone.spark.evaluate(
        there(spark, judged),
        there(spark, run),
        "nDCG AP",
        exclude=there(spark, out),
        exclude_from="both",
        broadcast=broadcast,
    )
    assert sorted(rows(scores), key=str) == sorted(rows(here), key=str)
    assert scores.audit.runs["run"].left_out == here.audit.runs["run"].left_out
    values, judgments = scores.audit.judgments, here.audit.judgments
    assert values is not None
    assert judgments is not None
    assert values.excluded == judgments.excluded > 0


def test_forbidden_documents_are_refused() -> None:
    """Marks are texts, which a cluster does not read."""
    with pytest.raises(BadParameter, match="Forbidden is not computed on Spark"):
        rankstone.spark.evaluate(None, None, "Forbidden")


def test_sources_are_refused() -> None:
    """Texts of the table of documents, which a cluster does not read."""
    with pytest.raises(BadParameter, match="Sources@3 is not computed on Spark"):
        rankstone.spark.evaluate(None, None, "Sources@3")
