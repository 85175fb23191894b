"""Columns of other encodings and widths: they are read as they are, and to the same bits as plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows import each

import rankstone
from rankstone.errors import BadValue, MissingColumn, MixedIds
from rankstone.io import read_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DRAWN = np.random.default_rng(7)
#: 300 lists of 20 documents each, scores that float32 holds, many of them tied
QUERIES = np.repeat(np.arange(300), 20)
DOCS = np.concatenate([DRAWN.choice(100, 20, replace=False) for _ in range(300)])
SCORES = DRAWN.integers(0, 50, 6000) / 8
PLAIN = pl.DataFrame(
    {"query_id": QUERIES, "doc_id": DOCS, "score": SCORES}
).with_columns(
    pl.format("q{}", "query_id").alias("query_id"),
    pl.format("d{}", "doc_id").alias("doc_id"),
)
JUDGED = PLAIN.gather_every(7).select(
    "query_id", "doc_id", relevance=pl.int_range(pl.len()) % 3
)
MEASURES = "nDCG@10 AP RR P@5 Bpref"
ENCODED = PLAIN.to_arrow().set_column(
    0, "query_id", PLAIN["query_id"].to_arrow().dictionary_encode()
)
ENCODED = ENCODED.set_column(
    1, "doc_id", PLAIN["doc_id"].to_arrow().dictionary_encode()
)
ENCODED = ENCODED.set_column(2, "score", PLAIN["score"].to_arrow().dictionary_encode())


def per_query(run: Any, qrels: Any = JUDGED) -> pl.DataFrame:
    """Return the values of a run, whatever its name."""
    return rankstone.evaluate(qrels, {"run": run}, MEASURES).per_query


EXPECTED = per_query(PLAIN)
IDS = ("query_id", "doc_id")
PANDAS = pd.DataFrame({name: PLAIN[name].to_list() for name in PLAIN.columns})
TEXTS = {
    "categorical": PLAIN.cast(dict.fromkeys(IDS, pl.Categorical)),
    "enum": PLAIN.cast({n: pl.Enum(PLAIN[n].unique()) for n in IDS}),
    "arrow dictionary": ENCODED,
    "arrow dictionary of large texts": ENCODED.cast(
        pa.schema(
            [
                *[(n, pa.dictionary(pa.int16(), pa.large_string())) for n in IDS],
                ("score", pa.float64()),
            ]
        )
    ),
    "arrow views": PLAIN.to_arrow().cast(
        pa.schema([*[(n, pa.string_view()) for n in IDS], ("score", pa.float32())])
    ),
    "float32": PLAIN.cast({"score": pl.Float32}),
    "pandas category": PANDAS.astype(dict.fromkeys(IDS, "category")),
    "pandas str": PANDAS.astype(dict.fromkeys(IDS, "str")),
    "pandas str of Python": PANDAS.astype(dict.fromkeys(IDS, pd.StringDtype("python"))),
    "pandas object": PANDAS.astype(dict.fromkeys(IDS, object)),
    "pandas of Arrow": PANDAS.astype(
        {
            **dict.fromkeys(IDS, pd.ArrowDtype(pa.string())),
            "score": pd.ArrowDtype(pa.float32()),
        }
    ),
    "pandas Float32": PANDAS.astype({"score": "Float32"}),
    "pandas float16": PANDAS.astype({"score": np.float16}),
}


@each("kind", TEXTS)
def test_encoded_ids_and_narrow_scores(kind: str) -> None:
    """How texts and numbers are held moves no bit, in a run or in judgments."""
    assert per_query(TEXTS[kind]).equals(EXPECTED)


@pytest.mark.parametrize(
    "kind", ["categorical", "enum", "pandas category", "pandas str"]
)
def test_encoded_judgments(kind: str) -> None:
    """Judgments may be encoded as runs are."""
    change: dict[str, Callable[[], object]] = {
        "categorical": lambda: JUDGED.cast(dict.fromkeys(IDS, pl.Categorical)),
        "enum": lambda: JUDGED.cast({n: pl.Enum(JUDGED[n].unique()) for n in IDS}),
        "pandas category": lambda: pd.DataFrame(JUDGED.to_dict(as_series=False)).astype(
            "category"
        ),
        "pandas str": lambda: pd.DataFrame(JUDGED.to_dict(as_series=False)).astype(
            dict.fromkeys(IDS, "str")
        ),
    }
    assert per_query(PLAIN, change[kind]()).equals(EXPECTED)


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("source", ["plain", "encoded", "float32"])
def test_pages_of_parquet(tmp_path: Path, source: str, *, dictionary: bool) -> None:
    """Nor does it matter how files hold them: pages of dictionaries or not, in a schema of dictionaries."""
    table = {
        "plain": PLAIN.to_arrow(),
        "encoded": ENCODED,
        "float32": TEXTS["float32"].to_arrow(),
    }[source]
    pq.write_table(
        table, tmp_path / "r.parquet", use_dictionary=dictionary, row_group_size=700
    )
    with pa.ipc.new_file(tmp_path / "r.arrow", table.schema) as file:
        file.write_table(table.unify_dictionaries(), max_chunksize=700)
    with pa.ipc.new_stream(tmp_path / "s.arrow", table.schema) as file:
        file.write_table(table.unify_dictionaries())

    for name in ("r.parquet", "r.arrow", "s.arrow"):
        assert per_query(tmp_path / name).equals(EXPECTED)


@pytest.mark.parametrize(
    "dtype",
    [pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Int128],
)
def test_whole_numbers_of_every_width(tmp_path: Path, dtype: Any) -> None:
    """Ids that are whole numbers tie by their decimal text and match whatever their width."""
    numbers = pl.DataFrame(
        {"query_id": QUERIES % 100, "doc_id": DOCS, "score": SCORES}
    ).unique(["query_id", "doc_id"], maintain_order=True)
    judged = numbers.gather_every(7).select(
        "query_id", "doc_id", relevance=pl.int_range(pl.len()) % 3
    )
    narrow = numbers.cast(dict.fromkeys(IDS, dtype))
    expected = per_query(numbers, judged).with_columns(
        pl.col("query_id").cast(pl.String)
    )
    narrow.write_parquet(tmp_path / "r.parquet")

    frames: list[object] = [narrow, tmp_path / "r.parquet"]
    if dtype != pl.Int128:
        encoded = narrow.to_arrow()
        frames.append(
            encoded.set_column(1, "doc_id", encoded["doc_id"].dictionary_encode())
        )
        frames.append(pd.DataFrame({n: narrow[n].to_numpy() for n in narrow.columns}))
        frames.append(
            pd.DataFrame(
                {n: pd.Categorical(narrow[n].to_numpy()) for n in IDS}
                | {"score": narrow["score"].to_numpy()}
            )
        )
    for frame in frames:
        assert (
            per_query(frame, judged)
            .with_columns(pl.col("query_id").cast(pl.String))
            .equals(expected)
        )


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series(["d1", None, "d3"]).array,  # str since pandas 3
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([1, None, 3], dtype=pd.ArrowDtype(pa.int32())),
        pd.Categorical(["d1", None, "d3"]),
        np.array(["d1", None, "d3"], dtype=object),
        np.array(["d1", float("nan"), "d3"], dtype=object),
    ],
    ids=["str", "Int64", "Arrow", "category", "None", "NaN"],
)
def test_missing_ids_of_pandas(ids: Any) -> None:
    """What pandas writes for a missing value is a missing id, and its row is named."""
    frame = pd.DataFrame(
        {"query_id": ["a", "a", "a"], "doc_id": ids, "score": [1.0, 2.0, 3.0]}
    )
    known = (
        {"a": {3: 1}}
        if "int" in str(frame["doc_id"].dtype).lower()
        else {"a": {"d3": 1}}
    )
    with pytest.raises(BadValue, match="run, row 2: a row without doc_id"):
        rankstone.evaluate(known, frame, "RR")


def test_parts_of_several_widths(tmp_path: Path) -> None:
    """Parts of one table may differ in width, encoding, order and number of columns."""
    parts = [PLAIN[i * 1500 : (i + 1) * 1500] for i in range(4)]
    parts[1] = (
        parts[1].cast(dict.fromkeys(IDS, pl.Categorical)).cast({"score": pl.Float32})
    )
    parts[2] = parts[2].select("score", "doc_id", pl.lit("x").alias("tag"), "query_id")
    empty = pl.DataFrame(
        {"query_id": [], "doc_id": [], "score": []}
    )  # as pandas writes: all null
    for i, part in enumerate([*parts, empty]):
        part.write_parquet(tmp_path / f"{i}.parquet")
    assert per_query(tmp_path).equals(EXPECTED)

    numbers = [
        pl.DataFrame({"query_id": [i], "doc_id": [5], "score": [1.0]}) for i in range(3)
    ]
    numbers[1] = numbers[1].cast({"query_id": pl.UInt64, "doc_id": pl.Int8})
    (tmp_path / "n").mkdir()
    for i, part in enumerate(numbers):
        part.write_parquet(tmp_path / "n" / f"{i}.parquet")
    assert rankstone.evaluate(
        {i: {5: 1} for i in range(3)}, tmp_path / "n", "RR"
    ).to_dict() == {"n": {"RR": 1}}


def test_parts_of_several_kinds(tmp_path: Path) -> None:
    """A part that lacks a column, or holds ids of another kind, is named."""
    PLAIN.write_parquet(tmp_path / "0.parquet")
    PLAIN.rename({"score": "s"}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(
        MissingColumn,
        match=r"(?s)1.parquet: there is no column score, which.*query_id, doc_id, s",
    ):
        read_run(tmp_path)
    assert read_run(tmp_path, order="input").schema == {
        "query_id": pl.String,
        "doc_id": pl.String,
    }
    PLAIN.with_columns(doc_id=1).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(
        MixedIds,
        match=r"(?s)1.parquet: doc_id holds whole numbers, and texts.*0.parquet",
    ):
        read_run(tmp_path)
