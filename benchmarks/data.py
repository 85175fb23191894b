"""Seeded synthetic data, made once per scale and kept.

Run as a program (``python data.py DATASET FOLDER SCALE``) by `ensure`, because a process that has held
millions of rows would hand its own memory peak on to the processes it starts and measures.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Ints = npt.NDArray[np.int64]

#: raised when the data change, so that kept files of an older generator are not used
VERSION = 1
SEED = 20_240_517
#: queries whose numbers are drawn at once
BLOCK = 1_000
IN_LIST = 0.7
#: of the table of items
CATEGORIES = 20
FEATURES = 16
IN_SMALL_GROUP = 0.3
#: largest id of a query of the passage collection
LAST_QUERY = 1_200_000
LABELLED_BLOCK = 50_000
LABELLED_ROW_GROUP = 1_000_000


@dataclass(frozen=True)
class Shape:
    """How large a collection is: queries, documents a list, judgments a query, documents in all."""

    queries: int
    depth: int
    judged: int
    pool: int


PASSAGES = Shape(queries=6_980, depth=1_000, judged=1, pool=8_800_000)
USERS = Shape(queries=200_000, depth=100, judged=20, pool=500_000)
SHOP = Shape(queries=200_000, depth=100, judged=20, pool=500_000)
LABELLED = Shape(queries=1_000_000, depth=100, judged=100, pool=0)
#: as a paper has them: few topics, deep judgments of several grades; not scaled
#: what a researcher has; not scaled
FIFTY = Shape(queries=50, depth=1_000, judged=100, pool=500_000)
TOPICS = Shape(queries=100, depth=1_000, judged=80, pool=2_000)
#: recommendation lists in parts of so many users; scaled up, too: 5 is a billion rows
LARGE = Shape(queries=2_000_000, depth=100, judged=4, pool=1_000_000)
PART = 200_000
#: chunks of each document in lists of chunks
CHUNKS_EACH = 4
#: of skewed lists: the share of tied scores, and how uneven lengths are (of a log-normal)
TIED, UNEVEN = 0.05, 1.2
#: rows of the one list of all, and how many grades it has
LONGEST, GRADES = 10_000_000, 100
#: a log: events, users, days, and how many days after the first one an event is, on average
EVENTS, PEOPLE, DAYS, RETURNING = 100_000_000, 5_000_000, 180, 20.0
EVENTS_PART = 10_000_000
#: seconds since 1970 of its first day
FIRST_DAY = 1_704_067_200

FILES = {
    "passages": (
        "passages.qrels.parquet",
        "passages.run.parquet",
        "passages.qrels.txt",
        "passages.run.txt",
        "passages.shuffled.parquet",
    ),
    "users": ("users.qrels.parquet", "users.run.parquet", "users.shuffled.parquet"),
    "chunks": ("chunks.qrels.parquet", "chunks.run.parquet"),
    "labelled": ("labelled.parquet",),
    "one-list": ("one-list.parquet",),
    "topics": ("topics.qrels.txt", "topics.run.txt"),
    "fifty": ("fifty.qrels.txt", "fifty.run.txt"),
    "large": ("large.qrels.parquet", "large.run"),
    "skewed": ("skewed.qrels.parquet", "skewed.run"),
    "events": ("events",),
    "beyond": ("beyond.run.parquet", "beyond.items.parquet", "beyond.history.parquet"),
}


def folder(root: Path, scale: float) -> Path:
    """Name the folder that keeps the data of one scale."""
    return root / f"v{VERSION}-scale-{scale:g}"


def ensure(dataset: str, into: Path, scale: float) -> None:
    """Make a dataset in a process of its own unless all its files are there."""
    if all((into / name).exists() for name in FILES[dataset]):
        return
    print(f"making {dataset} in {into} …", file=sys.stderr, flush=True)
    into.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, __file__, dataset, str(into), str(scale)], check=True
    )


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Give a temporary name beside ``path``, renamed to it when all went well."""
    temporary = path.with_name(f".{path.name}.unfinished")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def passages(into: Path, scale: float) -> None:
    """Write a passage collection: numeric-looking query ids, one relevant passage a query."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED)
    shape = PASSAGES
    queries = _scaled(shape.queries, scale)
    ids = np.sort(rng.choice(LAST_QUERY, queries, replace=False)).astype(str)
    docs = _documents(rng, queries, shape)
    run = _run_frame(rng, pl.Series(ids).cast(pl.String), docs)
    # the relevant passage tends to stand near the top
    position = (shape.depth * rng.random(queries) ** 3).astype(np.int64)
    chosen = docs[np.arange(queries), position]
    anywhere = rng.integers(0, shape.pool, queries)
    found = np.where(rng.random(queries) < IN_LIST, chosen, anywhere)
    qrels = pl.DataFrame({"query_id": ids, "d": found, "relevance": 1}).select(
        "query_id", pl.format("D{}", "d").alias("doc_id"), "relevance"
    )
    _write(qrels, into / "passages.qrels.parquet")
    _write(run, into / "passages.run.parquet")
    rank = (pl.int_range(pl.len()) % shape.depth + 1).alias("rank")
    _write_trec(
        qrels.select("query_id", pl.lit(0).alias("0"), "doc_id", "relevance"),
        into / "passages.qrels.txt",
    )
    _write_trec(
        run.select(
            "query_id",
            pl.lit("Q0").alias("Q0"),
            "doc_id",
            rank,
            "score",
            pl.lit("tag").alias("tag"),
        ),
        into / "passages.run.txt",
    )
    _write(_shuffled(run), into / "passages.shuffled.parquet")


def users(into: Path, scale: float) -> None:
    """Write recommendation lists: many users, short lists, twenty graded judgments a user."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 1)
    shape = USERS
    people = _scaled(shape.queries, scale)
    docs = _documents(rng, people, shape)
    names = (
        pl.DataFrame({"u": np.arange(people)}).select(pl.format("u{}", "u")).to_series()
    )
    run = _run_frame(rng, names, docs)
    judged = np.empty((people, shape.judged), np.int64)
    for start in range(0, people, BLOCK):
        block = docs[start : start + BLOCK]
        position = rng.random(block.shape).argpartition(shape.judged, axis=1)[
            :, : shape.judged
        ]
        chosen = np.take_along_axis(block, position, axis=1)
        anywhere = rng.integers(0, shape.pool, chosen.shape)
        judged[start : start + BLOCK] = np.where(
            rng.random(chosen.shape) < IN_LIST, chosen, anywhere
        )
    qrels = (
        pl.DataFrame(
            {
                "u": np.repeat(np.arange(people), shape.judged),
                "d": judged.ravel(),
                "relevance": rng.integers(0, 4, judged.size),
            }
        )
        .unique(["u", "d"], keep="first", maintain_order=True)
        .select(
            pl.format("u{}", "u").alias("query_id"),
            pl.format("D{}", "d").alias("doc_id"),
            "relevance",
        )
    )
    _write(qrels, into / "users.qrels.parquet")
    _write(run, into / "users.run.parquet")
    _write(_shuffled(run), into / "users.shuffled.parquet")


def chunks(into: Path, scale: float) -> None:
    """Write lists of chunks, four of each document, with tokens, and two judged chunks a query."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 8)
    queries, depth, each = _scaled(USERS.queries, scale), USERS.depth, CHUNKS_EACH
    docs = _documents(rng, queries, USERS)[:, : depth // each]
    place = rng.random((queries, depth), np.float32).argsort(axis=1)
    doc = np.take_along_axis(docs, place // each, axis=1).ravel()
    query = np.repeat(np.arange(queries), depth)
    rank = np.tile(np.arange(depth), queries)
    names = [
        pl.format("q{}", "q").alias("query_id"),
        pl.format("D{}#{}", "d", "c").alias("doc_id"),
    ]
    tokens = rng.integers(50, 400, len(doc))
    run = pl.DataFrame(
        {"q": query, "d": doc, "c": place.ravel() % each, "tokens": tokens}
    )
    run = run.select(*names, pl.Series("score", 100.0 - rank), "tokens")
    _write(run, into / "chunks.run.parquet")
    judged = np.sort(
        rng.random((queries, depth), np.float32).argsort(axis=1)[:, :2], axis=1
    )
    rows = (judged + np.arange(queries)[:, None] * depth).ravel()
    qrels = run[rows].with_columns(relevance=pl.Series(rng.integers(1, 4, len(rows))))
    _write(qrels.drop("score"), into / "chunks.qrels.parquet")


def labelled(into: Path, scale: float) -> None:
    """Write one table of scores and grades without document ids, block by block."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 2)
    queries = _scaled(LABELLED.queries, scale)
    parts: list[Path] = []
    try:
        for start in range(0, queries, LABELLED_BLOCK):
            block = np.arange(start, min(start + LABELLED_BLOCK, queries))
            rows = len(block) * LABELLED.depth
            grade = rng.choice(5, rows, p=[0.6, 0.2, 0.1, 0.07, 0.03])
            frame = pl.DataFrame(
                {
                    "query_id": np.repeat(block, LABELLED.depth),
                    "score": rng.standard_normal(rows) + grade * 0.5,
                    "relevance": grade,
                }
            )
            parts.append(into / f".labelled.part-{start:07}")
            frame.write_parquet(parts[-1])
        with unfinished(into / "labelled.parquet") as path:
            pl.scan_parquet(parts).sink_parquet(path, row_group_size=LABELLED_ROW_GROUP)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def large(into: Path, scale: float) -> None:
    """Write many users' lists of a hundred items each, in parts of a folder; ids are whole numbers."""
    _in_parts(
        into, "large", _scaled(LARGE.queries, scale), SEED + 4, uneven=0.0, tied=0.0
    )


def skewed(into: Path, scale: float) -> None:
    """Write lists of very different lengths, some scores of which tie."""
    _in_parts(
        into,
        "skewed",
        _scaled(LARGE.queries, scale),
        SEED + 5,
        uneven=UNEVEN,
        tied=TIED,
    )


def _in_parts(
    into: Path, name: str, people: int, seed: int, *, uneven: float, tied: float
) -> None:
    import shutil

    import numpy as np
    import polars as pl

    folder = into / f".{name}.run.unfinished"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    judged = []
    for part, first in enumerate(range(0, people, PART)):
        rng = np.random.default_rng([seed, part])
        users = np.arange(first, min(first + PART, people))
        length = np.full(len(users), LARGE.depth)
        if uneven:
            drawn = rng.lognormal(0.0, uneven, len(users))
            length = np.clip(
                drawn / drawn.mean() * LARGE.depth, 1, LARGE.pool // 10
            ).astype(np.int64)
        place = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        # distinct items: a random start, and a stride that the number of items has no divisor in common with
        start, stride = (
            rng.integers(0, LARGE.pool, len(users)),
            10 * rng.integers(0, LARGE.pool // 10, len(users)),
        )
        item = (
            np.repeat(start, length) + np.repeat(stride + 1, length) * place
        ) % LARGE.pool
        score = np.repeat(rng.gamma(2.0, 5.0, len(users)) + 20, length) - place * 0.01
        score -= rng.random(len(score)) * 0.009
        if tied:
            again = rng.random(len(score)) < tied
            again[place == 0] = False
            score = np.where(again, np.roll(score, 1), score)
            score = np.round(score, 6)
        user = np.repeat(users, length)
        frame = pl.DataFrame({"query_id": user, "doc_id": item, "score": score})
        frame.write_parquet(folder / f"part-{part:03}.parquet")
        position = (
            np.repeat(length, LARGE.judged) * rng.random(len(users) * LARGE.judged) ** 2
        ).astype(np.int64)
        who = np.repeat(np.arange(len(users)), LARGE.judged)
        shown = (start[who] + (stride[who] + 1) * position) % LARGE.pool
        chosen = np.where(
            rng.random(len(who)) < IN_LIST, shown, rng.integers(0, LARGE.pool, len(who))
        )
        grades = {
            "query_id": users[who],
            "doc_id": chosen,
            "relevance": rng.integers(1, 4, len(who)),
        }
        judged.append(
            pl.DataFrame(grades).unique(
                ["query_id", "doc_id"], keep="first", maintain_order=True
            )
        )
    _write(pl.concat(judged), into / f"{name}.qrels.parquet")
    shutil.rmtree(into / f"{name}.run", ignore_errors=True)
    folder.rename(into / f"{name}.run")


def topics(into: Path, _scale: float) -> None:
    """Write a test collection with graded judgments, tied scores and three topics that nobody answers."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED)
    shape = TOPICS
    ids = pl.Series([f"q{at}" for at in range(shape.queries)])
    judged = _documents(
        rng, shape.queries, Shape(shape.queries, shape.judged, shape.judged, shape.pool)
    )
    grades = rng.choice([0, 0, 1, 2, 3], judged.size)
    query = ids.gather(np.repeat(np.arange(shape.queries), shape.judged)).alias(
        "query_id"
    )
    qrels = pl.DataFrame({"d": judged.ravel(), "relevance": grades}).select(
        query, pl.lit(0).alias("0"), pl.format("D{}", "d").alias("doc_id"), "relevance"
    )
    run = _run_frame(rng, ids, _documents(rng, shape.queries, shape)).filter(
        ~pl.col("query_id").is_in(ids[:3].implode())
    )
    rank = (pl.int_range(pl.len()).over("query_id") + 1).alias("rank")
    tied = pl.col("score").round(2)
    _write_trec(qrels, into / "topics.qrels.txt")
    _write_trec(
        run.select(
            "query_id",
            pl.lit("Q0").alias("Q0"),
            "doc_id",
            rank,
            tied,
            pl.lit("tag").alias("tag"),
        ),
        into / "topics.run.txt",
    )


def fifty(into: Path, _scale: float) -> None:
    """Write fifty topics with a thousand documents each, and graded judgments of a hundred."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 6)
    shape = FIFTY
    ids = pl.Series([str(301 + at) for at in range(shape.queries)])
    docs = _documents(rng, shape.queries, shape)
    judged = np.where(
        rng.random((shape.queries, shape.judged)) < IN_LIST,
        docs[:, :: shape.depth // shape.judged],
        shape.pool + np.arange(shape.judged),
    )
    grades = rng.choice([0, 0, 1, 2], judged.size)
    query = ids.gather(np.repeat(np.arange(shape.queries), shape.judged)).alias(
        "query_id"
    )
    qrels = pl.DataFrame({"d": judged.ravel(), "relevance": grades})
    named = pl.format("D{}", "d").alias("doc_id")
    _write_trec(
        qrels.select(query, pl.lit(0).alias("0"), named, "relevance"),
        into / "fifty.qrels.txt",
    )
    rank = (pl.int_range(pl.len()) % shape.depth + 1).alias("rank")
    columns = [
        "query_id",
        pl.lit("Q0").alias("Q0"),
        "doc_id",
        rank,
        "score",
        pl.lit("tag").alias("tag"),
    ]
    _write_trec(_run_frame(rng, ids, docs).select(columns), into / "fifty.run.txt")


def one_list(into: Path, scale: float) -> None:
    """Write one very long labelled list with many grades."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 3)
    rows = _scaled(LONGEST, scale)
    grade = rng.integers(0, GRADES, rows)
    score = rng.standard_normal(rows) + grade * 0.01
    frame = pl.DataFrame(
        {"query_id": np.zeros(rows, np.int64), "score": score, "relevance": grade}
    )
    _write(frame, into / "one-list.parquet")


def events(into: Path, scale: float) -> None:
    """Write a log in parts of a folder: users in no order, who come back less and less."""
    import shutil

    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 6)
    first = rng.integers(0, DAYS * 2 // 3, _scaled(PEOPLE, scale))
    folder = into / ".events.unfinished"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = _scaled(EVENTS, scale)
    for part, begin in enumerate(range(0, rows, EVENTS_PART)):
        user = rng.integers(0, len(first), min(EVENTS_PART, rows - begin))
        age = rng.exponential(RETURNING, len(user)).astype(np.int64)
        second = np.minimum(first[user] + age, DAYS - 1) * 86_400 + rng.integers(
            0, 86_400, len(user)
        )
        time = pl.Series((second + FIRST_DAY) * 1_000_000).cast(
            pl.Datetime("us", "UTC")
        )
        pl.DataFrame({"user_id": user, "time": time}).write_parquet(
            folder / f"part-{part:03}.parquet"
        )
    folder.rename(into / "events")


def beyond(into: Path, scale: float) -> None:
    """Write recommendation lists, what is known of the items, and a past that favours few of them."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED + 3)
    shape = SHOP
    people = _scaled(shape.queries, scale)
    names = (
        pl.DataFrame({"u": np.arange(people)}).select(pl.format("u{}", "u")).to_series()
    )
    _write(
        _run_frame(rng, names, _documents(rng, people, shape)),
        into / "beyond.run.parquet",
    )
    many = rng.integers(1, 4, shape.pool)
    labels = [f"c{label}" for label in range(CATEGORIES)]
    drawn = rng.integers(0, CATEGORIES, (shape.pool, 3))
    category = [
        "|".join(sorted({labels[c] for c in row[:n]}))
        for row, n in zip(drawn, many, strict=True)
    ]
    vectors = rng.standard_normal((shape.pool, FEATURES)).astype(np.float32)
    items = pl.DataFrame(
        {
            "d": np.arange(shape.pool),
            "category": category,
            "group": np.where(
                rng.random(shape.pool) < IN_SMALL_GROUP, "small", "large"
            ),
            "features": pl.Series(vectors, dtype=pl.Array(pl.Float32, FEATURES)),
        }
    )
    _write(
        items.select(pl.format("D{}", "d").alias("doc_id"), pl.exclude("d")),
        into / "beyond.items.parquet",
    )
    met = (shape.pool * rng.random(people * shape.judged) ** 3).astype(np.int64)
    past = pl.DataFrame(
        {"u": np.repeat(np.arange(people), shape.judged), "d": met}
    ).unique(maintain_order=True)
    past = past.select(
        pl.format("u{}", "u").alias("query_id"), pl.format("D{}", "d").alias("doc_id")
    )
    _write(past, into / "beyond.history.parquet")


def _scaled(queries: int, scale: float) -> int:
    return max(1, round(queries * scale))


def _documents(rng: np.random.Generator, queries: int, shape: Shape) -> Ints:
    """Draw a list of distinct documents for every query: a random start and a random stride."""
    import numpy as np

    start = rng.integers(0, shape.pool, (queries, 1))
    stride = rng.integers(1, shape.pool // shape.depth, (queries, 1))
    documents: Ints = (start + stride * np.arange(shape.depth)) % shape.pool
    return documents


def _run_frame(rng: np.random.Generator, ids: pl.Series, docs: Ints) -> pl.DataFrame:
    """Put ids to the lists of documents, and falling scores of six decimals."""
    import numpy as np
    import polars as pl

    queries, depth = docs.shape
    score = np.empty(docs.shape)
    for start in range(0, queries, BLOCK):
        block = score[start : start + BLOCK]
        block[:] = -np.sort(-rng.gamma(2.0, 5.0, block.shape), axis=1)
    frame = pl.DataFrame({"d": docs.ravel(), "score": score.ravel().round(6)})
    query = ids.gather(np.repeat(np.arange(queries), depth)).alias("query_id")
    return frame.select(query, pl.format("D{}", "d").alias("doc_id"), "score")


def _shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=SEED)


def _write(frame: pl.DataFrame, path: Path) -> None:
    with unfinished(path) as temporary:
        frame.write_parquet(temporary)


def _write_trec(frame: pl.DataFrame, path: Path) -> None:
    with unfinished(path) as temporary:
        frame.write_csv(temporary, include_header=False, separator=" ")


MAKERS: dict[str, Callable[[Path, float], None]] = {
    "passages": passages,
    "users": users,
    "chunks": chunks,
    "labelled": labelled,
    "large": large,
    "skewed": skewed,
    "one-list": one_list,
    "topics": topics,
    "fifty": fifty,
    "events": events,
    "beyond": beyond,
}

if __name__ == "__main__":
    MAKERS[sys.argv[1]](Path(sys.argv[2]), float(sys.argv[3]))
