"""Reading: LETOR and SVMlight text, group sizes, tables; and what a broken line is answered with."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tests.real_data import data

from rankstone.errors import (
    BadLine,
    BadOption,
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    UsageError,
)
from rankstone.ltr import read

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
# a comment alone

2 qid:7 1:0.5 2:3.25 # docid = GX001 inc = 1
0  qid:7\t2:-1e-3 1:1 # docid = GX002
1 qid:b 3:4 #docid = GX003
"""


@pytest.fixture
def letor(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(TEXT)
    return path


def test_letor(letor: Path) -> None:
    """Comments, blank lines, features in any order; documents by their comments; what is left out is 0."""
    rows = read(letor, dtype="float64")

    assert rows.X.tolist() == [[0.5, 3.25, 0], [1, -1e-3, 0], [0, 0, 4]]
    assert rows.y.tolist() == [2, 0, 1]
    assert rows.qid.to_list() == ["7", "7", "b"]
    assert rows.docs is not None
    assert rows.docs.to_list() == ["GX001", "GX002", "GX003"]
    assert rows.features == ("1", "2", "3")


def test_packed_and_several(letor: Path, tmp_path: Path) -> None:
    """Packed files are unpacked; several are one behind the other, features by number."""
    packed = tmp_path / "more.txt.gz"
    packed.write_bytes(gzip.compress(b"1 qid:9 0:2 5:1\n"))
    rows = read([letor, packed], dtype="float64")

    assert rows.features == ("0", "1", "2", "3", "4", "5")
    assert rows.X[-1].tolist() == [2, 0, 0, 0, 0, 1]
    assert rows.docs is None
    assert rows.X.dtype == np.float64


@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.6]))
def test_what_scikit_learn_reads(
    tmp_path_factory: pytest.TempPathFactory, seed: int, share: float
) -> None:
    """Numbers are those of scikit-learn's reader, dense or sparse."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < share)
    X[0] = 1.5  # every feature occurs
    path = tmp_path_factory.mktemp("letor") / "x.txt"
    dump_svmlight_file(
        X,
        rng.integers(0, 5, 40),
        str(path),
        zero_based=False,
        query_id=np.arange(40) // 5,
    )
    features, labels, qid = load_svmlight_file(
        str(path), query_id=True, zero_based=False
    )
    rows = read(path, dtype="float64")
    dense = rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X

    assert hasattr(rows.X, "tocsr") == (share < 0.1)
    assert (dense == features.toarray()).all()
    assert (rows.y == labels).all()
    assert rows.qid.cast(pl.Int64).to_list() == qid.tolist()


def test_queries_of_a_split(letor: Path, tmp_path: Path) -> None:
    """Rows of a split's queries stay, whether a table of queries or the rows' own column assigns them."""
    rows = read(letor)
    kept = rows.of_split("dev", {"7": {"split": "dev"}, "b": {"split": "holdout"}})
    assert kept.qid.to_list() == ["7", "7"]
    assert kept.y.tolist() == [2, 0]
    assert kept.docs is not None
    assert kept.docs.to_list() == ["GX001", "GX002"]
    assert kept.notes == ("split dev: 1 query of 2",)

    table = tmp_path / "train.csv"
    table.write_text("query_id,relevance,x,split\n1,1,.5,dev\n1,0,.2,dev\n2,1,.4,\n")
    kept = read([table, table]).of_split("dev")
    assert kept.X[:, 0].tolist() == pytest.approx([0.5, 0.2, 0.5, 0.2])


def test_splits_that_cannot_be_used(letor: Path, tmp_path: Path) -> None:
    """A split needs a column, a name, rows of its queries, and ids of queries."""
    rows = read(letor)
    with pytest.raises(BadOption, match="split needs queries with a column split"):
        rows.of_split("dev")
    with pytest.raises(BadOption, match="no query is in a split test"):
        rows.of_split("test", {"7": {"split": "dev"}})
    with pytest.raises(EmptyInput, match="no row is of a query in split dev"):
        rows.of_split("dev", {"other": {"split": "dev"}})

    bare = tmp_path / "bare.txt"
    bare.write_text("1 1:2\n0 1:3\n")
    bare.with_suffix(".txt.query").write_text("2\n")
    with pytest.raises(InputError, match="no ids of queries"):
        read(bare).of_split("dev", {"0": {"split": "dev"}})

    table = tmp_path / "train.csv"
    table.write_text("query_id,relevance,x,split\n1,1,.5,dev\n1,0,.2,holdout\n")
    with pytest.raises(InputError, match="query_id 1 has several rows, which differ"):
        read(table).of_split("dev")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x qid:1 1:2", "the label is not a number"),
        ("1 qid:1 1:2 2", "'2' is not a feature"),
        ("1 qid:1 a:2", "'a:2' is not a feature"),
        ("1 qid:1 -1:2", "'-1:2' is not a feature"),
        ("1 qid:1 1:", "feature 1 is ''"),
        ("1 qid:1 1:nan", "feature 1 is 'nan'"),
        ("1 qid:1 1:inf", "feature 1 is 'inf'"),
        ("1 qid:1 1:1e99", "feature 1 is '1e99'"),
        ("1 qid:1 1:2 1:3", "feature 1 occurs twice in the line"),
        ("1 qid:1 99999999999:3", "is not a feature"),
        ("1 qid: 1:3", "the query has no id"),
        ("1 qid:a:b 1:3", "a colon in it"),
        ("1 1:3", "the line has no qid, and those before it do"),
        ("1 qid:1 1:\x1b[31m", r"\\x1b"),
    ],
)
def test_a_broken_line(tmp_path: Path, line: str, message: str) -> None:
    """File, line and text are named."""
    path = tmp_path / "train.txt"
    path.write_text(f"0 qid:1 1:1\n# a comment\n{line}\n")
    with pytest.raises(BadLine, match=message) as error:
        read(path)
    assert str(error.value).startswith(f"{path}:3: ")


def test_group_sizes(tmp_path: Path) -> None:
    """Text without qid takes LightGBM's sizes, beside it or named; they must fit."""
    path = tmp_path / "rank.train"
    path.write_text("1 1:2\n0 1:3\n2 1:4\n")
    with pytest.raises(InputError, match="there is no file of group sizes"):
        read(path)
    (tmp_path / "rank.train.query").write_text("2\n1\n")
    assert read(path).qid.to_list() == [0, 0, 1]
    other = tmp_path / "other.query"
    other.write_text("1\n2\n")
    assert read(path, groups=other).qid.to_list() == [0, 1, 1]
    other.write_text("1\n1\n")
    with pytest.raises(BadValue, match="2 rows together, and there are 3"):
        read(path, groups=other)
    other.write_text("1\nx\n")
    with pytest.raises(BadLine, match=r"other\.query:2: 'x' is not a group size"):
        read(path, groups=other)


def test_groups_of_several_files(tmp_path: Path) -> None:
    """Groups of one file are no queries of another; a group of size 0 is one without rows."""
    first, other, third = (tmp_path / name for name in ("one", "other", "third"))
    for path in (first, other):
        path.write_text("1 1:2\n0 1:3\n2 1:4\n")
    (tmp_path / "one.query").write_text("2\n0\n1\n")
    (tmp_path / "other.query").write_text("0\n1\n2\n")
    third.write_text("1 qid:0 1:2\n")

    data = read([first, other])

    assert data.qid.to_list() == [0, 0, 2, 4, 5, 5]
    assert data.without_rows == [1, 3]
    assert "1 group of one.query without rows" in " ".join(data.notes)
    assert not read(third).without_rows
    with pytest.raises(InputError, match="some files have group sizes, others a qid"):
        read([first, third])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_tables(tmp_path: Path, suffix: str) -> None:
    """A number column is a feature, words are refused; names are ours, usual ones, or mapped."""
    frame = pl.DataFrame(
        {
            "qid": [1, 1, 2],
            "y": [0, 1, 2],
            "docid": ["a", "b", "c"],
            "bm25": [1.5, 2, 3],
            "title": ["x", "y", "z"],
        }
    )
    path = tmp_path / f"t.{suffix}"
    write: dict[str, Any] = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
    }
    write[suffix](path)
    rows = read(path, columns={"y": "relevance"})

    assert rows.features == ("bm25",)
    assert rows.X.tolist() == [[1.5], [2], [3]]
    assert rows.y.tolist() == [0, 1, 2]
    assert rows.docs is not None
    assert rows.notes == ("columns that are not features: title",)
    assert read(path, columns={"y": "relevance"}, features=["bm25"]).notes == ()
    with pytest.raises(MissingColumn, match="did you mean bm25"):
        read(path, columns={"y": "relevance"}, features=["bm26"])
    with pytest.raises(MissingColumn, match="no column relevance"):
        read(path)
    assert read(path, labelled=False).features == ("y", "bm25")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("query_id,relevance,f\n1,1,\n", BadValue, "t.csv:2: f is None"),
        ("query_id,relevance,f\n1,1,2\n1,x,3\n", BadValue, "t.csv:3: relevance is x"),
        ("query_id,relevance,f\n,1,2\n", BadValue, "t.csv:2: a row without query_id"),
        ("query_id,relevance\n1,1\n", MissingColumn, "no column of numbers"),
        ("query_id,relevance,f\n", InputError, "no rows"),
    ],
)
def test_broken_tables(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    """A cell that is no number is named by its line."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    features: Any = ["f"] if ",f" in text else None
    with pytest.raises(error, match=message):
        read(path, features=features)


def test_mistakes(letor: Path, tmp_path: Path) -> None:
    """Files of two kinds, unknown formats, empty files, files without features."""
    (tmp_path / "t.csv").write_text("query_id,relevance,f\n1,1,2\n")
    with pytest.raises(UsageError, match="several formats: csv, letor"):
        read([letor, tmp_path / "t.csv"])
    with pytest.raises(BadOption, match="did you mean letor"):
        read(letor, format_in="leter")
    with pytest.raises(UsageError, match="group sizes go with one file"):
        read(tmp_path / "t.csv", groups=letor)
    (tmp_path / "empty.txt").write_text("# nothing\n")
    with pytest.raises(EmptyInput, match="there is no document"):
        read(tmp_path / "empty.txt")
    (tmp_path / "bare.txt").write_text("1 qid:1\n0 qid:1 # d\n")
    with pytest.raises(EmptyInput, match="no line has a feature"):
        read(tmp_path / "bare.txt")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none.txt")


def test_columns_are_found_by_name(letor: Path, tmp_path: Path) -> None:
    """A model's features are taken by name; in text what never occurs is 0, in tables it is missing."""
    rows = read(letor, dtype="float64")
    with pytest.warns(UserWarning, match=r"count as 0: 8|are not used: 2"):
        assert rows.aligned(("3", "1", "8")).tolist() == [
            [0, 0.5, 0],
            [0, 1, 0],
            [4, 0, 0],
        ]
    (tmp_path / "t.csv").write_text("query_id,relevance,bm25\n1,1,2\n")
    with pytest.raises(MissingColumn, match="no feature bm52"):
        read(tmp_path / "t.csv").aligned(("bm52",))


@pytest.mark.parametrize(
    ("name", "shape", "queries", "first"),
    [
        ("lightgbm-lambdarank/rank.test.gz", (768, 300), 50, None),
        (
            "letor-clueweb09/fold1.test.txt.gz",
            (5309, 42),
            12,
            "clueweb09-en0006-78-20618",
        ),
        ("ltr-tiny/pytorchltr-dataset.txt", (39, 45), 4, "244338"),
    ],
)
def test_real_files(
    name: str, shape: tuple[int, int], queries: int, first: str | None
) -> None:
    """Real collections are read whole."""
    rows = read(data(*name.split("/")))

    assert rows.X.shape == shape
    assert rows.qid.n_unique() == queries
    assert (None if rows.docs is None else rows.docs[0]) == first
