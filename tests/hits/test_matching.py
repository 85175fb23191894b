"""Hash tables and buckets of alignment: as a dictionary, whatever collides, however rows are scattered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone.hits import query_lists
from rankstone.hits.batches import Batch
from rankstone.hits.pair_index import PairIndex, QueryIndex, hash_ids, repeated

if TYPE_CHECKING:
    from collections.abc import Callable

LISTS = 7
#: how a document's hash is spoiled: not at all, or so that many or all documents have the same
SPOILED: dict[str, Callable[[Any], Any]] = {
    "none": lambda hashes: hashes,
    "few values": lambda hashes: hashes % np.uint64(5),
    "equal first bits": lambda hashes: hashes >> np.uint64(40),
    "one value": np.zeros_like,
}


def _batch(
    rng: np.random.Generator, kind: str, *, whole: bool
) -> tuple[Batch, list[tuple[int, Any]]]:
    """Return a batch of lists with some duplicates, and its pairs by row."""
    lengths = rng.integers(0, 40, LISTS)
    row = np.repeat(np.arange(LISTS), lengths)
    ids = rng.integers(0, 60, len(row))
    docs = pl.Series(
        ids if whole else [f"D{item}" for item in ids],
        dtype=pl.Int64 if whole else pl.String,
    )
    names = pl.Series([f"q{index}" for index in range(LISTS)])
    batch = Batch(
        names, np.arange(LISTS), lengths, docs, hash=SPOILED[kind](hash_ids(docs))
    )
    return batch, list(zip(row.tolist(), docs.to_list(), strict=True))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", SPOILED)
def test_judged_rows_and_duplicates(kind: str, *, whole: bool, seed: int) -> None:
    """Every judged row is found once, and no other, whatever hashes collide."""
    rng = np.random.default_rng(seed)
    batch, rows = _batch(rng, kind, whole=whole)
    judged = sorted(
        {(int(rng.integers(0, LISTS)), int(rng.integers(0, 90))) for _ in range(200)}
    )
    order = rng.permutation(len(judged)) if seed % 2 else np.arange(len(judged))
    pairs = [
        (judged[place][0], judged[place][1] if whole else f"D{judged[place][1]}")
        for place in order
    ]
    index = PairIndex(
        QueryIndex(batch.names),
        np.array([query for query, _ in pairs]),
        pl.Series([doc for _, doc in pairs]),
    )
    vars(index)["_hash"] = SPOILED[kind](hash_ids(index.docs))
    stored = list(zip(index.query.tolist(), index.docs.to_list(), strict=True))
    expected = [
        (row, stored.index(pair))
        for row, pair in enumerate(rows)
        if pair in set(stored)
    ]
    position = index.find(batch, batch.codes)
    assert (
        list(zip(position.row.tolist(), position.pair.tolist(), strict=True))
        == expected
    )
    assert position.list.tolist() == [rows[row][0] for row, _ in expected]
    assert not len(index.duplicates())
    assert repeated(batch.hashes, batch.lengths, batch.ids).tolist() == [
        place for place, pair in enumerate(rows) if rows.count(pair) > 1
    ]


@pytest.mark.parametrize("queries", [1, 2, 3, 100, 3_000])
@pytest.mark.parametrize("count", [1, 50, 5_000])
def test_indexes_of_names(queries: int, count: int) -> None:
    """Names in any order, known or not, have the indexes of a dictionary."""
    rng = np.random.default_rng(queries + count)
    names = [f"q{position}" for position in rng.permutation(queries * 2)[:queries]]
    index, known = (
        QueryIndex(pl.Series(names)),
        {name: position for position, name in enumerate(names)},
    )
    wanted = [f"q{position}" for position in rng.integers(0, queries * 2, count)]
    assert index.codes(pl.Series(wanted)).tolist() == [
        known.get(name, -1) for name in wanted
    ]
    assert index.codes(pl.Series(names)).tolist() == list(range(queries))


@pytest.mark.parametrize("extra", ["drop", "keep"])
@pytest.mark.parametrize("ids", ["text", "dense", "sparse"])
@pytest.mark.parametrize("sizes", [(1 << 14, 1 << 17, 1 << 18), (4, 5, 7), (1, 64, 1)])
def test_scattered_rows(
    ids: str, extra: str, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run and a labelled table have the same scores when their rows are shuffled."""
    for name, size in zip(("_LOOK", "_PART", "_ROWS"), sizes, strict=True):
        monkeypatch.setattr(query_lists, name, size)
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(60), rng.integers(1, 30, 60))
    number = {"dense": query, "sparse": query * 10**15 - 7, "text": query}[ids]
    names = pl.Series(number).cast(pl.String) if ids == "text" else pl.Series(number)
    run = pl.DataFrame(
        {
            "query_id": names,
            "doc_id": np.arange(len(query)),
            "score": rng.random(len(query)),
        }
    )
    labelled = run.with_columns(label=pl.Series(rng.integers(0, 3, len(query))))
    qrels = labelled.filter(pl.Series(query % 3 > 0)).select(
        "query_id", "doc_id", relevance="label"
    )
    mixed = rng.permutation(len(query))
    for first, other in (
        (
            rankstone.evaluate(qrels, table, "nDCG AP", extra=extra)
            for table in (run, run[mixed])
        ),
        (
            rankstone.evaluate(table=table, measures="nDCG AP")
            for table in (labelled, labelled[mixed])
        ),
    ):
        values = [
            {
                tuple(row[:-3]): row[-3:]
                for row in scores.per_query.select(
                    "query_id", "measure", "value", "numerator", "status"
                ).iter_rows()
            }
            for scores in (first, other)
        ]
        assert values[0] == values[1]
        assert first.audit.runs["run"].queries == other.audit.runs["run"].queries
