"""Features by name: frames in any order, renamed columns, files that lack a feature or have one more."""

from __future__ import annotations

import json
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from tests.ltr.worlds import world

from rankstone.cli import cli
from rankstone.errors import InputError, MissingColumn
from rankstone.ltr import CoordinateAscent, LinearModel, RankSVM, load, read, select

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["a", "b", "c", "d"]
FRAMES: dict[str, Any] = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "polars": lambda X, names: pl.DataFrame(X, schema=names),
    "arrow": lambda X, names: pa.table(
        {name: X[:, index] for index, name in enumerate(names)}
    ),
}
MODELS = [RankSVM(10.0), CoordinateAscent("nDCG@3", start=None, restarts=1)]


def turned(X: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return columns and names in another order."""
    order = [2, 0, 3, 1]
    return X[:, order], [NAMES[position] for position in order]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("model", MODELS)
def test_order_of_columns_does_not_matter(kind: str, model: Any) -> None:
    """The same columns in another order have the same scores, bit by bit; after pickling, too."""
    X, y, qid = world(1)
    fitted = clone(model).fit(FRAMES[kind](X, NAMES), y, qid)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own

    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.n_features_in_ == 4
    for each in (fitted, again):
        assert (each.predict(FRAMES[kind](*turned(X))) == fitted.predict(X)).all()
        assert each.score(FRAMES[kind](*turned(X)), y, qid, "nDCG@3") == fitted.score(
            X, y, qid, "nDCG@3"
        )


@pytest.mark.parametrize("kind", FRAMES)
def test_other_columns_are_refused(kind: str) -> None:
    """A renamed, missing or further column is named, and what to do; arrays must be as wide."""
    X, y, qid = world(1)
    model = RankSVM().fit(FRAMES[kind](X, NAMES), y, qid)
    with pytest.raises(
        MissingColumn, match=r"missing: a; unknown: z[\s\S]*X\.to_numpy"
    ):
        model.predict(FRAMES[kind](X, ["z", "b", "c", "d"]))
    with pytest.raises(MissingColumn, match="missing: b, d"):
        model.predict(FRAMES[kind](X[:, [0, 2]], ["a", "c"]))
    with pytest.raises(MissingColumn, match=r"unknown: e[\s\S]*feature_names_in_"):
        model.score(FRAMES[kind](np.hstack([X, X[:, :1]]), [*NAMES, "e"]), y, qid)
    with pytest.raises(InputError, match="there are 3 features"):
        model.predict(X[:, :3])


def test_names_are_those_of_the_last_fit() -> None:
    """Trained again on an array a model has no names, and takes any frame's columns."""
    X, y, qid = world(1)
    model = RankSVM().fit(pd.DataFrame(X, columns=NAMES), y, qid).fit(X, y, qid)
    assert not hasattr(model, "feature_names_in_")
    assert (
        model.predict(pd.DataFrame(X, columns=list("wxyz"))) == model.predict(X)
    ).all()
    ascent = CoordinateAscent("RR", start=None, restarts=1).fit(
        pd.DataFrame(X, columns=NAMES), y, qid
    )
    assert not hasattr(ascent.fit(X, y, qid), "feature_names_in_")


def test_a_start_goes_by_name() -> None:
    """A warm start, and a model that an ascent starts at, meet their own columns in another frame."""
    X, y, qid = world(2)
    frame, other = (
        pd.DataFrame(X, columns=NAMES),
        pd.DataFrame(turned(X)[0], columns=turned(X)[1]),
    )
    model = RankSVM(10.0, warm_start=True).fit(frame, y, qid)
    climbed = [
        CoordinateAscent("nDCG@3", start=model, restarts=0, max_iter=1)
        for _ in range(2)
    ]

    here, there = (
        climbed[0].fit(frame, y, qid).history_[0],
        climbed[1].fit(other, y, qid).history_[0],
    )
    assert min(here[2], there[2]) >= model.score(frame, y, qid, "nDCG@3") - 1e-12
    assert model.fit(other, y, qid).n_iter_ == 0  # it begins where the last fit ended
    with pytest.raises(MissingColumn, match=r"start: the columns are not the features"):
        CoordinateAscent("RR", start=model).fit(
            frame.rename(columns={"a": "z"}), y, qid
        )


def test_candidates_go_by_name() -> None:
    """Among candidates a trained model finds its columns, and one of other columns is named."""
    X, y, qid = world(3, queries=30)
    frame = pd.DataFrame(X, columns=NAMES)
    svm = RankSVM(10.0).fit(frame, y, qid)
    model = LinearModel(svm.coef_, tuple(NAMES))
    other = pd.DataFrame(turned(X)[0], columns=turned(X)[1])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # equal ones do not differ, as it says
        plain = select({"svm": svm.coef_, "model": svm.coef_}, X, y, qid, "nDCG@3")
        selected = select({"svm": svm, "model": model}, other, y, qid, "nDCG@3")
    assert selected.per_query.equals(plain.per_query)
    with pytest.raises(MissingColumn, match="candidate model: the columns"):
        select(
            {"svm": svm.coef_, "model": model}, frame.rename(columns={"d": "e"}), y, qid
        )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), "two columns are named a"),
        (
            pd.DataFrame(np.ones((2, 2)), columns=["a", 1]),
            "some columns have texts as names",
        ),
    ],
)
def test_names_that_say_nothing(frame: pd.DataFrame, message: str) -> None:
    """The same name twice, or names of some columns only, are refused before anything is learnt."""
    with pytest.raises(InputError, match=message):
        RankSVM().fit(frame, [0, 1], [1, 1])


def written(path: Path, numbers: list[int], seed: int = 1) -> Path:
    """Write LETOR lines whose features have these numbers."""
    X, y, qid = world(seed)
    rows = (
        f"{label:g} qid:{q} "
        + " ".join(
            f"{position}:{v!r}"
            for position, v in zip(numbers, row.tolist(), strict=False)
        )
        for row, label, q in zip(X, y, qid, strict=True)
    )
    path.write_text("\n".join(rows))
    return path


def test_letor_features_that_are_not_there(tmp_path: Path) -> None:
    """A file that lacks a feature of the model, or has unknown ones, is scored with a warning."""
    train = read(written(tmp_path / "train.txt", [1, 2, 3, 4]), dtype="float64")
    model = LinearModel.of(RankSVM().fit(train.X, train.y, train.qid), train)
    model.scores(train)  # without a warning
    lacking = read(written(tmp_path / "lacking.txt", [1, 2, 4]), dtype="float64")
    assert lacking.absent == ("3",)
    with pytest.warns(
        UserWarning, match=r"lacking\.txt: features of the model never occur here .* 3$"
    ):
        scores = model.scores(lacking)
    assert scores == pytest.approx(lacking.X[:, [0, 1, 3]] @ model.weights[[0, 1, 3]])
    further = read(written(tmp_path / "further.txt", [1, 2, 3, 4, 5][1:], 1))
    with (
        pytest.warns(UserWarning, match="count as 0: 1"),
        pytest.warns(UserWarning, match="not used: 5"),
    ):
        model.scores(further)
    with pytest.raises(MissingColumn, match="there is no feature 1"):
        model.scores(read(written(tmp_path / "none.txt", [11, 12, 13, 14])))


def test_the_command_notes_them(tmp_path: Path) -> None:
    """``ltr score`` and ``ltr eval`` say on standard error what the file lacks."""
    train, test = (
        written(tmp_path / "train.txt", [1, 2, 3, 4]),
        written(tmp_path / "test.txt", [1, 2, 4, 9], 2),
    )
    model = str(tmp_path / "m.json")
    shell = CliRunner()
    assert (
        shell.invoke(
            cli, ["ltr", "train", str(train), "-o", model], catch_exceptions=False
        ).exit_code
        == 0
    )
    for command in (["score", model, str(test)], ["eval", str(test), model]):
        stderr = shell.invoke(cli, ["ltr", *command], catch_exceptions=False).stderr
        assert "note: " in stderr
        assert "features of the model never occur here and count as 0: 3\n" in stderr
        assert "features unknown to the model are not used: 9\n" in stderr


def test_files_that_know_no_names(tmp_path: Path) -> None:
    """Models are written with names; one without still opens, takes columns as they stand, and says so."""
    data = read(written(tmp_path / "train.txt", [1, 2, 3, 4]), dtype="float64")
    model = LinearModel.of(RankSVM().fit(data.X, data.y, data.qid), data)
    model.write(tmp_path / "m.json")
    parsed = json.loads((tmp_path / "m.json").read_text())
    assert [row["name"] for row in parsed["features"]] == ["1", "2", "3", "4"]
    for row in parsed["features"]:
        del row["name"]
    (tmp_path / "old.json").write_text(json.dumps(parsed))
    old = load(tmp_path / "old.json")

    assert isinstance(old, LinearModel)
    assert old.features == ()
    assert (old.predict(data.X) == model.predict(data.X)).all()
    with pytest.warns(UserWarning, match="the model has no names of features"):
        assert (old.scores(data) == model.scores(data)).all()
    old.write(tmp_path / "again.json")
    assert (
        json.loads((tmp_path / "again.json").read_text())["features"]
        == parsed["features"]
    )
    parsed["features"][0]["name"] = "1"
    (tmp_path / "half.json").write_text(json.dumps(parsed))
    with pytest.raises(InputError, match="features cannot be read"):
        load(tmp_path / "half.json")


def test_a_model_of_other_data(tmp_path: Path) -> None:
    """Weights are not saved under names that they were not learnt for."""
    X, y, qid = world(1)
    data = read(written(tmp_path / "train.txt", [1, 2, 3, 4]))
    with pytest.raises(InputError, match="trained with other features"):
        LinearModel.of(RankSVM().fit(pd.DataFrame(X, columns=NAMES), y, qid), data)
    with pytest.raises(InputError, match="1 name and 2 weights"):
        LinearModel(np.ones(2), ("a",))


def test_tables_side_by_side_say_what_is_left_out(tmp_path: Path) -> None:
    """A column of numbers that only a later table has is no feature, and a note says so."""
    (tmp_path / "1.csv").write_text("query_id,relevance,a,b\n1,1,2,3\n")
    (tmp_path / "2.csv").write_text("query_id,relevance,c,b,a\n2,1,9,3,2\n")
    data = read([tmp_path / "1.csv", tmp_path / "2.csv"])

    assert data.features == ("a", "b")
    assert data.X.tolist() == [[2, 3], [2, 3]]
    assert data.notes == ("columns missing from the first table are not features: c",)


def test_queries_in_several_files_are_noted(tmp_path: Path) -> None:
    """Files that number their queries anew give lists of strangers; a note says how many."""
    for name, first in (("train", 1), ("valid", 2)):
        lines = [f"1 qid:{first} 1:0.5", f"0 qid:{first + 1} 1:0.25", ""]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))

    data = read([tmp_path / "train.txt", tmp_path / "valid.txt"])

    [note] = [note for note in data.notes if "more than one" in note]
    assert note.startswith("there is 1 query in more than one of ")
    assert "train.txt" in note
    assert "valid.txt" in note


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_models_of_libraries_go_by_name(tmp_path: Path, library: str) -> None:
    """A boosted model scores a table by the names it was trained with, and not by where columns stand."""
    module = pytest.importorskip(library)
    X, y, qid = world(4, queries=30)
    frame = pd.DataFrame(X, columns=["a b", "b", "c", "f1"])
    if library == "lightgbm":
        data = module.Dataset(frame, y)
        model = module.train(
            {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 2}, data, 5
        )
        path = tmp_path / "m.txt"
    elif library == "xgboost":
        model, path = (
            module.train({"nthread": 1}, module.DMatrix(frame, y), 5),
            tmp_path / "m.json",
        )
    else:
        how = {
            "iterations": 5,
            "verbose": 0,
            "thread_count": 1,
            "allow_writing_files": False,
        }
        model, path = module.CatBoostRegressor(**how).fit(frame, y), tmp_path / "m.cbm"
    model.save_model(str(path))
    rows = pl.DataFrame({"query_id": qid, "relevance": y}).hstack(pl.from_pandas(frame))
    rows.write_parquet(tmp_path / "test.parquet")
    rows.select("query_id", "relevance", "c", "f1", "b", "a b").write_parquet(
        tmp_path / "turned.parquet"
    )
    rows.drop("c").write_parquet(tmp_path / "lacking.parquet")

    scores, turned_round = (
        load(path).scores(read(tmp_path / f"{name}.parquet", dtype="float64"))
        for name in ("test", "turned")
    )
    assert len(set(scores)) > 5
    assert (scores == turned_round).all()
    with pytest.raises(MissingColumn, match="no feature c"):
        load(path).scores(read(tmp_path / "lacking.parquet", dtype="float64"))
