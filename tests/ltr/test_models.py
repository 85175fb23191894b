"""Models in files, and candidates side by side."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.ltr.worlds import world

from rankstone.errors import (
    EmptyInput,
    InputError,
    MissingExtra,
    UnknownFormat,
    UsageError,
)
from rankstone.ltr import CoordinateAscent, LinearModel, RankSVM, load, read, select
from rankstone.ltr.predictions import read_predictions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def letor(tmp_path: Path) -> Path:
    X, y, qid = world(3)
    lines = [
        f"{label:g} qid:{q} "
        + " ".join(
            f"{position}:{value!r}"
            for position, value in enumerate(row.tolist(), start=1)
        )
        for row, label, q in zip(X, y, qid, strict=True)
    ]
    (tmp_path / "train.txt").write_text("\n".join(lines))
    return tmp_path / "train.txt"


@pytest.mark.parametrize(
    "estimator", [RankSVM(2.0), CoordinateAscent("RR", start=None, restarts=1)]
)
def test_written_and_opened(letor: Path, tmp_path: Path, estimator: Any) -> None:
    """A model comes back bit by bit, with all it knows of how it came about."""
    data = read(letor, dtype="float64")
    model = LinearModel.of(estimator.fit(data.X, data.y, data.qid), data)
    model.write(tmp_path / "m.json")
    opened = load(tmp_path / "m.json")

    assert isinstance(opened, LinearModel)
    assert (opened.scores(data) == estimator.predict(data.X)).all()
    assert opened.features == data.features
    assert opened.trained["trainer"] == type(estimator).__name__
    assert opened.trained["data"] == str(letor)
    assert json.loads((tmp_path / "m.json").read_text())["rankstone_ltr"] == 1


def test_a_crash_leaves_nothing(
    letor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong while a model is written, what stood there before still does."""
    data = read(letor)
    model = LinearModel.of(RankSVM().fit(data.X, data.y, data.qid), data)
    target = tmp_path / "m.json"
    target.write_text("as before")
    monkeypatch.setattr("pathlib.Path.write_text", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.write(target)

    assert target.read_bytes() == b"as before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "train.txt"]


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"\x00\x01", UnknownFormat, "not a model"),
        (b"{", InputError, "not JSON"),
        (b"{}", UnknownFormat, "not a model of rankstone"),
        (
            b'{"rankstone_ltr": 1, "kind": "linear", "features": []}',
            InputError,
            "features cannot be read",
        ),
        (
            b'{"rankstone_ltr": 1, "kind": "linear", "features": [{"name": "a", "weight": "x"}]}',
            InputError,
            "features cannot be read",
        ),
    ],
)
def test_no_model(
    tmp_path: Path, content: bytes, error: type[Exception], message: str
) -> None:
    """A file that holds no model is refused."""
    (tmp_path / "m.json").write_bytes(content)
    with pytest.raises(error, match=message):
        load(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"tree\nversion=v4\n"),
        ("b.json", b'{"learner": {}}'),
        ("c.cbm", b"CBM1\x00"),
    ],
)
def test_models_of_libraries(
    letor: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes,
) -> None:
    """Files of boosting libraries are recognised; without the library a sentence says what to install."""
    (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(
        "rankstone.ltr.model_files.import_module",
        lambda _: (_ for _ in ()).throw(ImportError()),
    )
    with pytest.raises(MissingExtra, match="pip install"):
        load(tmp_path / name).scores(read(letor))


def test_saved_scores(letor: Path, tmp_path: Path) -> None:
    """A number a line, or a table with score; as many as rows, and of the same queries."""
    data = read(letor)
    path = tmp_path / "p.txt"
    path.write_text("\n".join("1.5" for _ in range(len(data))))
    assert read_predictions(path, data).tolist() == [1.5] * len(data)
    path.write_text("1\nx\n")
    with pytest.raises(InputError, match=r"p\.txt:2: 'x' is not a score"):
        read_predictions(path, data)
    path.write_text("1\n")
    with pytest.raises(InputError, match="1 score, and there are"):
        read_predictions(path, data)
    table = tmp_path / "p.csv"
    table.write_text("query_id,score\n" + "".join(f"{q}x,1\n" for q in data.qid))
    with pytest.raises(InputError, match="of the same rows"):
        read_predictions(table, data)


def test_select_measures_all() -> None:
    """Weights and models give the values they give alone; the winner is the best mean, noise is reported."""
    X, _, qid = world(1, queries=40)
    y = np.digitize(X[:, 0] - X[:, 0].mean(), [-1.0, 0.0, 1.0])
    svm = RankSVM(5.0).fit(X, y, qid)
    options = {"svm": svm, "second": [0, 1.0, 0, 0], "worst": -svm.coef_}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selected = select(options, X, y, qid, "nDCG@5")

    assert selected.means[0] == pytest.approx(svm.score(X, y, qid, "nDCG@5"))
    assert selected.best == "svm"
    assert "worst" not in selected.equals
    assert selected.honest is None
    behind = selected.values[:, 0] - selected.values[:, 2]
    assert selected.errors[2] == pytest.approx(
        behind.std(ddof=1) / np.sqrt(len(behind))
    )
    assert selected.per_query.height == 3 * len(selected.queries)
    assert "svm" in repr(selected)


def test_noise_is_warned_of() -> None:
    """Two rankers that nothing tells apart: the winner's lead is called noise, the simpler one is named."""
    rng = np.random.default_rng(0)
    X, y, qid = (
        rng.normal(size=(60, 2)),
        rng.integers(0, 3, 60),
        np.repeat(np.arange(12), 5),
    )
    with pytest.warns(UserWarning, match="do not distinguish it from"):
        selected = select(np.eye(2), X, y, qid)
    assert selected.one_se == "w0"
    assert selected.report()["noise"] == selected.noise


def test_cross_validation_is_by_query() -> None:
    """Each query is measured under models that did not see it, and the choice is judged without it."""
    X, y, qid = world(2, queries=24)
    prices = {"C=0.01": RankSVM(0.01), "C=1": RankSVM(1.0), "C=100": RankSVM(100.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selected = select(prices, X, y, qid, "nDCG@5", cv=4)
        quick = select(prices, X, y, qid, "nDCG@5", cv=4, nested=False)
    assert selected.folds is not None
    assert quick.honest is None
    fold = selected.folds == 2
    inside = np.isin(qid, np.asarray(selected.queries)[fold])
    alone = RankSVM(1.0).fit(X[~inside], y[~inside], qid[~inside])
    assert selected.values[fold, 1].mean() == pytest.approx(
        alone.score(X[inside], y[inside], qid[inside], "nDCG@5"), abs=1e-3
    )
    assert selected.honest is not None
    assert (
        selected.values.min(axis=1).mean()
        <= selected.honest
        <= selected.values.max(axis=1).mean()
    )


def test_weights_are_judged_without_their_fold() -> None:
    """With weights that cannot learn, the choice of each fold is the best of the others."""
    X, y, qid = world(4, queries=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selected = select(np.eye(4), X, y, qid, "RR", cv=5)
    assert selected.folds is not None
    earned = [
        selected.values[
            selected.folds == f,
            selected.values[selected.folds != f].mean(axis=0).argmax(),
        ]
        for f in range(5)
    ]
    assert selected.honest == pytest.approx(np.concatenate(earned).mean())


def test_lower_may_be_better() -> None:
    """A measure of which less is better is chosen by that."""
    X, y, qid = world(5, queries=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selected = select({"a": np.eye(4)[0], "b": np.eye(4)[1]}, X, y, qid, "LastRel")
    assert (
        selected.means[selected.candidates.index(selected.best)] == selected.means.min()
    )
    model = CoordinateAscent(
        "LastRel", start=[1.0, 0, 0, 0], restarts=0, max_iter=3
    ).fit(X, y, qid)
    assert model.value_ <= selected.means[0] + 1e-12


@pytest.mark.parametrize(
    ("candidates", "cv", "error"),
    [
        ([], None, EmptyInput),
        ([[1.0]], None, InputError),
        ([[np.nan] * 4], None, InputError),
        ({"a": "text"}, None, InputError),
        (np.eye(4), 1, UsageError),
        (np.eye(4), 99, UsageError),
    ],
)
def test_mistakes(candidates: Any, cv: int | None, error: type[Exception]) -> None:
    """Candidates that cannot score these rows, and impossible folds, are refused."""
    X, y, qid = world(6)
    with pytest.raises(error):
        select(candidates, X, y, qid, cv=cv)
