"""Lists scored where they lie: whatever partitions hold, the numbers are those of one machine."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.layouts import IN_PLACE, LAYOUTS, laid_out
from tests.spark.test_spark import KINDS, OPTIONS, check, rows, there

import rankstone
import rankstone.spark
from rankstone.errors import BadOption, BadValue, DuplicateRows, RankstoneError
from rankstone.evaluation.request import of_rankings
from rankstone.evaluation.shares import Trailer
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.spark.executor_task import NUMBERS, Task
from rankstone.spark.in_place import CutLists, InPlace, PartitionReports, split_at_lists
from rankstone.spark.side_rows import ByQuery, SideRows
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = "nDCG@5 AP RR P@3 R@5"


# -- without Spark: what tasks do, by hand ---------------------------------------------------------------
@dataclass
class Sent:
    """What stands for Spark's broadcast."""

    value: Any


def task_of(measures: str, **options: Any) -> Task:
    """Return what tasks do."""
    wanted = of_rankings(measures)
    return Task(wanted, AlignmentOptions(**options), None, None, None, (), None, "run")


def given_back(
    task: Any, frame: pl.DataFrame, size: int | None = None
) -> list[pl.DataFrame]:
    """Return what a task gives back for the rows of a partition."""
    return [
        pl.DataFrame(batch)
        for batch in task(frame.to_arrow().to_batches(max_chunksize=size))
    ]


def by_hand(
    qrels: pl.DataFrame,
    parts: list[pl.DataFrame],
    measures: str,
    rows: int,
    **options: Any,
) -> Any:
    """Return scores of queries and what was reported, as partitions tell; ``None`` if rows are scattered."""
    task = task_of(measures, **options)
    sent = Sent(SideRows(ByQuery(qrels.rename({"relevance": "number"})), None))
    in_place = InPlace(task, sent, rows)
    listed = [part.rename({"score": "number"}) for part in parts]
    whole = pl.concat(
        batch for part in listed for batch in given_back(in_place, part, 3)
    )
    result = PartitionReports(
        whole["trailer"].drop_nulls(), sent.value.judged.queries.names
    )
    if result.scattered:
        return None
    cut = pl.col("query_id").is_in(list(result.cut))
    scores = [whole.filter(pl.col("value").is_not_null() & ~cut)]
    rest = [
        whole.filter(cut).select("query_id", "rows"),
        result.missing.to_frame("query_id"),
    ]
    later = pl.concat(rest, how="diagonal")
    if later.height:
        done = pl.concat(given_back(CutLists(task, sent, result.cut), later))
        result.whole.merge(
            Trailer.from_json(json.loads(done["trailer"].drop_nulls()[0]))
        )
        scores.append(done.filter(pl.col("value").is_not_null()))
    return pl.concat(scores).select("query_id", *NUMBERS).sort("query_id"), result.whole


@given(
    layout=st.sampled_from(IN_PLACE),
    seed=st.integers(0, 10**6),
    batch=st.integers(1, 30),
    extra=st.sampled_from(["drop", "keep"]),
)
def test_lists_where_they_lie(layout: str, seed: int, batch: int, extra: str) -> None:
    """Lists whole or cut, some queries unanswered and some unjudged: every query once, and the same sums."""
    world = small_world("nDCG", 25, seed=seed, ties=True)
    run = world.run.filter(pl.col("query_id") != world.run["query_id"][0])
    parts = LAYOUTS[layout](run, np.random.default_rng(seed))
    here = rankstone.evaluate(world.judgments, run, "nDCG@5 AP", extra=extra)
    result, message = by_hand(world.judgments, parts, "nDCG@5 AP", batch, extra=extra)
    frame = here.per_query
    for index, name in enumerate(("nDCG@5", "AP")):
        mine = frame.filter(measure=name).sort("query_id")
        assert result["query_id"].to_list() == mine["query_id"].to_list()
        for number in NUMBERS:
            assert (
                result[number].list.get(index).fill_nan(None).to_list()
                == mine[number].fill_nan(None).to_list()
            )
        assert (
            message.sums[index].mean(here.measures[index])[0]
            == here.to_dict()["run"][name]
        )


@given(
    seed=st.integers(0, 10**6),
    layout=st.sampled_from(["scattered", "every_query_everywhere"]),
)
def test_scattered_rows_are_found(seed: int, layout: str) -> None:
    """Where a query's rows are not together, no partition knows, and all of them together do."""
    draw = np.random.default_rng(seed)
    queries, docs = (part.ravel() for part in np.mgrid[:12, :9])
    run = pl.DataFrame(
        {"query_id": queries, "doc_id": docs, "score": draw.random(queries.size)}
    )
    qrels = run.filter(pl.Series(draw.random(run.height) < 0.9)).select(
        "query_id", "doc_id", relevance=1.0
    )
    assert by_hand(qrels, LAYOUTS[layout](run, draw), "AP", 10) is None


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 9))
def test_recutting(ids: list[int], size: int) -> None:
    """All rows come, in order; only the first and the last piece are ends, and no list is in two pieces."""
    frame = pl.DataFrame({"query_id": sorted(ids)})
    tables = [frame[index : index + size] for index in range(0, frame.height, size)]
    items = list(split_at_lists(tables))
    assert pl.concat([part for part, _ in items]).equals(frame)
    kinds = [end for _, end in items]
    assert kinds[0]
    assert kinds[-1]
    assert not any(kinds[1:-1])
    assert all(part["query_id"].n_unique() == 1 for part, end in items if end)
    met = [query for part, _ in items for query in part["query_id"].unique()]
    assert len(met) == len(set(met))


@given(
    st.lists(st.sampled_from("abcde"), max_size=30),
    st.lists(st.sampled_from("abcxy"), unique=True),
)
def test_rows_by_query(ids: list[str], measures: list[str]) -> None:
    """Rows of some queries, those of each in their order; the same once they have travelled."""
    rows = pl.DataFrame(
        {"query_id": ids, "number": range(len(ids))},
        {"query_id": pl.String, "number": pl.Int64},
    )
    held = ByQuery(rows)
    for table in (held, pickle.loads(pickle.dumps(held))):  # noqa: S301 - packed here
        parts = [rows.filter(query_id=name) for name in measures]
        assert table.of(pl.Series(measures, dtype=pl.String)).rows() == [
            row for part in parts for row in part.rows()
        ]
        assert table.none().schema == rows.schema


def test_pieces_that_changed() -> None:
    """A partition that Spark computed anew and otherwise is no piece of a list: reported, and never scored."""
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "number": [1.0]})
    again = CutLists(task_of("AP"), Sent(SideRows(ByQuery(qrels), None)), {"q": 3})
    rest = pl.DataFrame(
        {"query_id": ["q"], "rows": [None]}, {"query_id": pl.String, "rows": pl.Binary}
    )
    with pytest.raises(RuntimeError, match="partitions changed"):
        list(again(rest.to_arrow().to_batches()))


# -- on Spark ------------------------------------------------------------------------------------------
@pytest.mark.spark
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(spark: Any, layout: str) -> None:
    """Lists are scored in place where they lie so, and after a shuffle where they do not."""
    world = small_world("nDCG", 40, seed=3, ties=True)
    run = laid_out(spark, LAYOUTS[layout](world.run, np.random.default_rng(1)))
    far = check(spark, world.judgments, world.run, MEASURES, there_as=run)
    assert far.computed["run"].in_place == (layout in IN_PLACE)


@pytest.mark.spark
@pytest.mark.parametrize(
    "wanted", KINDS, ids=lambda wanted: f"{wanted[0]:d}{len(wanted[1])}{wanted[2]:d}"
)
def test_every_measure(spark: Any, wanted: tuple[Any, ...]) -> None:
    """Every registered measure, lists cut anywhere."""
    world = small_world(KINDS[wanted][0], 20, seed=5, ties=True)
    first = rankstone.parse_measure(KINDS[wanted][0])
    assert isinstance(first, rankstone.Measure)
    tables = {
        name: table for name, table in world.tables(first).items() if table is not None
    }
    options: dict[str, Any] = {**world.options, **tables}
    run = laid_out(spark, LAYOUTS["cut_anywhere"](world.run, np.random.default_rng(2)))
    far = check(
        spark, world.judgments, world.run, KINDS[wanted], there_as=run, **options
    )
    assert far.computed["run"].in_place


@pytest.mark.spark
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(spark: Any, options: dict[str, Any]) -> None:
    """Options of alignment mean the same; unjudged queries and ids of whole numbers, too."""
    world = small_world("DCG", 40, seed=3, ties=True)
    grades = pl.when(pl.int_range(pl.len()) % 7 == 0).then(-1.0).otherwise("relevance")
    qrels, run = world.judgments.with_columns(relevance=grades), world.run
    if len(options) > 1:
        names = {*run["query_id"], *qrels["query_id"]}
        known = {
            name: int(name[1:]) if name.startswith("q") else 9_000 for name in names
        }
        qrels, run = (
            frame.with_columns(
                query_id=pl.col("query_id").replace_strict(
                    known, return_dtype=pl.Int64
                ),
                doc_id=pl.col("doc_id").str.slice(1).cast(pl.Int64),
            )
            for frame in (qrels, run)
        )
    there_as = laid_out(spark, LAYOUTS["cut_anywhere"](run, np.random.default_rng(3)))
    assert (
        check(spark, qrels, run, "DCG@5 AP RR", there_as=there_as, **options)
        .computed["run"]
        .in_place
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    "options",
    [{"order": "input"}, {"ties": "input"}, {"duplicates": "last_drop"}],
    ids=str,
)
def test_order_of_the_input(spark: Any, options: dict[str, Any]) -> None:
    """Rows that say where they stood are in that order, wherever their pieces lie."""
    world = small_world("AP", 30, seed=2, ties=True)
    run = (
        pl.concat([world.run, world.run[::3]]) if "duplicates" in options else world.run
    )
    here = rankstone.evaluate(world.judgments, run, "AP nDCG@3", **options)
    placed = run.with_row_index("position").cast({"position": pl.Int64})
    turned = placed.reverse()  # what lies first stood last
    for layout in ("cut_anywhere", "scattered"):
        there_as = laid_out(spark, LAYOUTS[layout](turned, np.random.default_rng(4)))
        far = rankstone.spark.evaluate(
            there(spark, world.judgments), there_as, "AP nDCG@3", **options
        )
        assert rows(far) == rows(here)
        assert far.computed["run"].in_place == (layout == "cut_anywhere")
        far.unpersist()


@pytest.mark.spark
def test_excluded_pairs_passages_and_ranks(spark: Any) -> None:
    """Pairs are sent along with the judgments; passages become documents; ranks are as good as scores."""
    world = small_world("AP", 20, seed=6)
    ranked = world.run.with_columns(
        pl.col("doc_id") + "#" + (pl.int_range(pl.len()) % 3).cast(pl.String),
        rank=pl.col("score")
        .rank("ordinal", descending=True)
        .over("query_id")
        .cast(pl.Int64),
    ).drop("score")
    out = world.run[::5].select("query_id", "doc_id")
    options: dict[str, Any] = {"unit": "^([^#]+)", "order": "rank"}
    here = rankstone.evaluate(
        world.judgments, ranked, "AP nDCG@3", exclude=out, **options
    )
    there_as = laid_out(spark, LAYOUTS["in_crumbs"](ranked, np.random.default_rng(5)))
    far = rankstone.spark.evaluate(
        there(spark, world.judgments),
        there_as,
        "AP nDCG@3",
        exclude=there(spark, out),
        **options,
    )
    assert rows(far) == rows(here)
    assert far.computed["run"].in_place


@pytest.mark.spark
def test_how_many_judgments_are_sent(spark: Any) -> None:
    """Of more judgments than requested none is sent, and the digits are the same."""
    world = small_world("AP", 20, seed=9)
    qrels, run = (
        there(spark, world.judgments),
        laid_out(spark, [world.run.sort("query_id")]),
    )
    values = {
        most: rankstone.spark.evaluate(
            qrels, {"a": run, "b": run}, "AP P@3", broadcast=most
        )
        for most in (0, world.judgments.height - 1, world.judgments.height)
    }
    assert [value.computed["b"].in_place for value in values.values()] == [
        False,
        False,
        True,
    ]
    assert len({str(value.to_dict()) for value in values.values()}) == 1
    with pytest.raises(BadOption, match="is not a number of judgments"):
        rankstone.spark.evaluate(qrels, run, "AP", broadcast=-1)


def with_nan(run: pl.DataFrame) -> pl.DataFrame:
    """Return the run with a score that is no number."""
    return run.with_columns(
        score=pl.when(pl.int_range(pl.len()) == 7).then(float("nan")).otherwise("score")
    )


def with_one_twice(run: pl.DataFrame) -> pl.DataFrame:
    """Return the run with a document twice in a list."""
    return pl.concat([run[:1], run])


@pytest.mark.spark
@pytest.mark.parametrize(
    ("spoil", "error"), [(with_nan, BadValue), (with_one_twice, DuplicateRows)]
)
def test_mistakes(
    spark: Any,
    spoil: Callable[[pl.DataFrame], pl.DataFrame],
    error: type[RankstoneError],
) -> None:
    """A mistake is reported as on one machine, inside a partition and in a list that was cut."""
    world = small_world("AP", 10, seed=4)
    run = spoil(world.run)
    for layout in ("in_one", "in_crumbs"):
        there_as = laid_out(spark, LAYOUTS[layout](run, np.random.default_rng(4)))
        with pytest.raises(error, match="query"):
            rankstone.spark.evaluate(there(spark, world.judgments), there_as, "AP")
