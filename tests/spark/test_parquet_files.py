"""Parquet files that Python reads itself: when it does, and that the numbers are those of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.spark.layouts import IN_PLACE, LAYOUTS
from tests.spark.test_spark import check, there

import rankstone.spark
from rankstone.errors import BadValue, RankstoneError
from rankstone.spark import parquet_files
from rankstone.spark.parquet_files import ParquetFiles
from rankstone.testing.small_worlds import small_world

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.spark

MEASURES = "nDCG@5 AP RR P@3 R@5"


def folder_of(parts: list[pl.DataFrame], path: Path) -> str:
    """Write each part as a file of small row groups, into a folder whose name needs escaping."""
    folder = path / "runs of 100%25 #1"
    folder.mkdir()
    for number, part in enumerate(parts):
        part.write_parquet(folder / f"part {number:04}?.parquet", row_group_size=5)
    return str(folder)


@pytest.mark.parametrize("size", [1, 7, 1 << 22])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(
    spark: Any, layout: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files may cut lists anywhere, and so may the parts that tasks read."""
    monkeypatch.setattr(parquet_files, "_PART", size)
    world = small_world("nDCG", 12, seed=3, ties=True)
    parts = LAYOUTS[layout](world.run, np.random.default_rng(1))
    run = spark.read.parquet(folder_of(parts, tmp_path))
    files = ParquetFiles.of(run, "run")
    assert files is not None
    assert files.count() == world.run.height
    far = check(spark, world.judgments, world.run, MEASURES, there_as=run)
    assert far.computed["run"].in_place == (layout in IN_PLACE or size == 1)
    far.unpersist()


def test_other_names_and_types(spark: Any, tmp_path: Path) -> None:
    """Columns may have other names, whole numbers any width, and judgments come from a file, too."""
    world = small_world("nDCG", 20, seed=4, ties=True)
    names = {*world.run["query_id"], *world.judgments["query_id"]}
    numbers = {name: index for index, name in enumerate(sorted(names))}
    qrels, run = (
        frame.with_columns(
            query_id=pl.col("query_id").replace_strict(numbers, return_dtype=pl.Int16),
            doc_id=pl.col("doc_id").str.slice(1).cast(pl.Int64),
        )
        for frame in (
            world.judgments.cast({"relevance": pl.Int64}),
            world.run.cast({"score": pl.Float32}),
        )
    )
    for frame, name in ((qrels, "qrels"), (run.sort("query_id"), "run")):
        frame.rename({"query_id": "user"}).write_parquet(tmp_path / name)
    judged, listed = (
        spark.read.parquet(str(tmp_path / name)).drop("nothing")
        for name in ("qrels", "run")
    )
    here = rankstone.evaluate(qrels, run, MEASURES)
    far = rankstone.spark.evaluate(
        judged, listed, MEASURES, columns={"user": "query_id"}
    )
    assert far.to_dict() == here.to_dict()
    assert all(ParquetFiles.of(frame, "run") for frame in (judged, listed))
    far.unpersist()


FRAMES: dict[str, Callable[[Any], Any]] = {
    "filter": lambda frame: frame.where("score > 0"),
    "limit": lambda frame: frame.limit(3),
    "sample": lambda frame: frame.sample(0.5, seed=1),
    "union": lambda frame: frame.union(frame),
    "distinct": lambda frame: frame.distinct(),
    "computed": lambda frame: frame.selectExpr(
        "query_id", "doc_id", "score + 1 as score"
    ),
    "cast": lambda frame: frame.selectExpr(
        "query_id", "doc_id", "cast(score as float) as score"
    ),
    "constant": lambda frame: frame.selectExpr("query_id", "'d' as doc_id", "score"),
    "function": lambda frame: frame.mapInArrow(lambda batches: batches, frame.schema),
    "cached": lambda frame: frame.cache(),
}


@pytest.mark.parametrize("name", FRAMES)
def test_rows_that_are_not_those_of_files(
    spark: Any, name: str, tmp_path: Path
) -> None:
    """Whatever a DataFrame changes is Spark's work."""
    world = small_world("AP", 5, seed=1)
    file = folder_of([world.run], tmp_path)
    frame = FRAMES[name](spark.read.parquet(file))
    assert ParquetFiles.of(frame.select("query_id", "doc_id", "score"), "run") is None
    rankstone.spark.evaluate(
        there(spark, world.judgments), frame, "AP", duplicates="keep"
    ).unpersist()
    frame.unpersist()


def test_files_that_spark_reads_otherwise(spark: Any, tmp_path: Path) -> None:
    """Columns that are names of folders, text, types other than the file's, and files that are gone."""
    world = small_world("AP", 5, seed=1)
    run = world.run.with_columns(day=pl.lit("a"))
    (tmp_path / "day=a").mkdir()
    run.drop("day").write_parquet(tmp_path / "day=a" / "run.parquet")
    run.write_csv(tmp_path / "run.csv")
    run.write_parquet(tmp_path / "run.parquet")
    read = spark.read
    frames = [
        read.parquet(str(tmp_path / "day=a" / "..")).select(
            "query_id", "doc_id", "day"
        ),
        read.csv(str(tmp_path / "run.csv"), header=True),
        read.schema("query_id string, doc_id string, score float").parquet(
            str(tmp_path / "run.parquet")
        ),
        read.schema("query_id string, other string").parquet(
            str(tmp_path / "run.parquet")
        ),
    ]
    assert [ParquetFiles.of(frame, "run") for frame in frames] == [None] * len(frames)
    frame = read.parquet(str(tmp_path / "run.parquet"))
    (tmp_path / "run.parquet").unlink()
    assert ParquetFiles.of(frame, "run") is None
    with pytest.raises(RankstoneError):
        rankstone.spark.evaluate(there(spark, world.judgments), frame, "AP")


def test_numbers_without_a_float(spark: Any, tmp_path: Path) -> None:
    """A whole number that a float64 cannot hold is refused in a file, too."""
    world = small_world("AP", 5, seed=1)
    scores = pl.int_range(pl.len()) + 2**53
    world.run.with_columns(score=scores).write_parquet(tmp_path / "run.parquet")
    with pytest.raises(BadValue, match="9007199254740993"):
        rankstone.spark.evaluate(
            there(spark, world.judgments),
            spark.read.parquet(str(tmp_path / "run.parquet")),
            "AP",
        )
