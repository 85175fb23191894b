"""Models in files: our own as JSON, and those of the boosting libraries, as something that scores rows."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rankstone.errors import InputError, MissingExtra, UnknownFormat, printable
from rankstone.io import atomic, reading
from rankstone.ltr.hinge import Scale
from rankstone.ltr.inputs import checked_features, products

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from rankstone.hits.arrays import Floats
    from rankstone.ltr.data import Dataset

__all__ = ["LinearModel", "Scorer", "is_model", "load"]

#: the version of the files
_FORMAT: Final = 1


class Scorer(Protocol):
    """Whatever scores the rows of a dataset."""

    def scores(self, data: Dataset) -> Floats:
        """Return a score a row, float64 ``[rows]``."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A weight for each feature, by name, and how they came about.

    Attributes
    ----------
    weights
        float64 ``[features]``, of the features as they come.
    features
        Their names; in LETOR files their numbers.
    mean, spread
        float64 ``[features]``: what the training rows were standardised by.
    trained
        How it was trained: plain values.

    Examples
    --------
    >>> model = LinearModel(np.array([2.0, -1.0]), ("bm25", "length"))
    >>> model.predict(np.array([[1.0, 0.5]])).tolist()
    [1.5]
    """

    weights: Floats
    features: tuple[str, ...]
    mean: Floats | None = None
    spread: Floats | None = None
    trained: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any, data: Dataset) -> LinearModel:  # noqa: ANN401 - a trained estimator of ours
        """Take a trained :class:`RankSVM` or :class:`CoordinateAscent`, and where it was trained."""
        from rankstone import __version__

        trained = {**estimator.provenance(), "data": data.source, "rows": len(data), "rankstone": __version__}
        mean, spread = getattr(estimator, "mean_", None), getattr(estimator, "scale_", None)
        return cls(estimator.coef_, data.features, mean, spread, trained)

    @property
    def coef_(self) -> Floats:
        """The weights, by scikit-learn's name."""
        return self.weights

    def predict(self, X: object) -> Floats:
        """Return a score for each row of features that stand in the order of :attr:`features`."""
        return products(checked_features(X, len(self.weights)), self.weights)

    def scores(self, data: Dataset) -> Floats:
        """Return a score for each row of a dataset, whose features are found by name."""
        return self.predict(data.aligned(self.features))

    def weights_of(self, features: Sequence[str]) -> Floats:
        """Return the weights of some features, by name; 0 for those it does not know."""
        weight = dict(zip(self.features, self.weights, strict=True))
        if not set(weight) & set(features):
            raise InputError("the model knows none of these features", expected=f"{_some(self.features)}")
        return np.array([weight.get(name, 0.0) for name in features])

    def largest(self, count: int, data: Dataset) -> list[tuple[str, float]]:
        """Return the features with the largest weights per standard deviation in the data, and these."""
        size = self.weights * Scale.of(data.aligned(self.features)).spread
        order = np.argsort(-np.abs(size), kind="stable")[:count]
        return [(self.features[at], float(size[at])) for at in order if size[at]]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON, whole or not at all."""
        told = {
            "rankstone_ltr": _FORMAT,
            "kind": "linear",
            "trained": dict(self.trained),
            "features": [
                {"name": name, "weight": weight, **_scaled(self, at)}
                for at, (name, weight) in enumerate(zip(self.features, self.weights.tolist(), strict=True))
            ],
        }
        text = json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"
        with atomic(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(printable, names[:10])) + (" …" if len(names) > 10 else "")  # noqa: PLR2004 - fits a line


def _scaled(model: LinearModel, at: int) -> dict[str, float]:
    if model.mean is None or model.spread is None:
        return {}
    return {"mean": float(model.mean[at]), "spread": float(model.spread[at])}


def load(path: str | os.PathLike[str]) -> Scorer:
    """Open a model: our JSON, LightGBM's text, XGBoost's ``.json`` or ``.ubj``, CatBoost's ``.cbm``.

    The three libraries are imported when a file of theirs is opened.
    """
    place = Path(path)
    start = _start(place)
    if place.suffix == ".ubj":
        return _Foreign("xgboost", place)
    if start[:4] == b"CBM1":
        return _Foreign("catboost", place)
    if start.startswith(b"tree\n"):
        return _Foreign("lightgbm", place)
    if not start.lstrip().startswith(b"{"):
        raise UnknownFormat(
            "this is no model that can be opened",
            where=str(path),
            expected="rankstone's JSON, or a file of LightGBM, XGBoost (.json, .ubj) or CatBoost (.cbm)",
        )
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError("the model is no JSON", where=str(path), given=printable(error)) from None
    if isinstance(told, dict) and "learner" in told:
        return _Foreign("xgboost", place)
    return _linear(told, str(path))


def _start(place: Path) -> bytes:
    with reading(str(place)), place.open("rb") as file:
        return file.read(64)


def _linear(told: Any, where: str) -> LinearModel:  # noqa: ANN401 - what JSON holds
    if not isinstance(told, dict) or told.get("rankstone_ltr") != _FORMAT or told.get("kind") != "linear":
        raise UnknownFormat(
            "this JSON is no model of rankstone",
            where=where,
            expected=f'{{"rankstone_ltr": {_FORMAT}, "kind": "linear", …}}',
        )
    rows: list[Any] = told["features"] if isinstance(told.get("features"), list) else []
    whole = bool(rows) and all(isinstance(row, dict) for row in rows)
    if not whole or not all(_is_number(row.get("weight")) and "name" in row for row in rows):
        raise InputError(
            "the model's features cannot be read", where=where, expected="a name and a weight each"
        )

    def column(name: str) -> Floats | None:
        cells = [row.get(name) for row in rows]
        return np.array(cells, np.float64) if all(map(_is_number, cells)) else None

    weights = np.array([row["weight"] for row in rows], np.float64)
    names = tuple(str(row["name"]) for row in rows)
    return LinearModel(weights, names, column("mean"), column("spread"), told.get("trained") or {})


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, eq=False)
class _Foreign:
    """A model of a boosting library, which its file opens."""

    library: str
    path: Path

    def scores(self, data: Dataset) -> Floats:
        try:
            module = import_module(self.library)
        except ImportError as error:
            raise MissingExtra(
                f"{self.path} is a model of {self.library}, which is not installed",
                fix=f"pip install {self.library}",
            ) from error
        try:
            return np.asarray(_PREDICT[self.library](module, str(self.path), data), np.float64)
        except Exception as error:
            raise InputError(
                f"{self.library} cannot score these rows", where=str(self.path), given=printable(error)
            ) from error


def _lightgbm(module: Any, path: str, data: Dataset) -> Any:  # noqa: ANN401 - of a library
    booster = module.Booster(model_file=path)
    return booster.predict(_columns(data, booster.num_feature()))


def _xgboost(module: Any, path: str, data: Dataset) -> Any:  # noqa: ANN401 - of a library
    booster = module.Booster(model_file=path)
    rows = module.DMatrix(_columns(data, booster.num_features()))
    return booster.predict(rows, output_margin=True, validate_features=False)


def _catboost(module: Any, path: str, data: Dataset) -> Any:  # noqa: ANN401 - of a library
    model = module.CatBoost().load_model(path)
    return model.predict(_columns(data, len(model.feature_names_)))


def _columns(data: Dataset, count: int) -> Any:  # noqa: ANN401 - an array or CSR
    """Return as many columns as a model was trained with.

    Libraries that read SVMlight text themselves take a feature's number for its column, from 0; whoever read
    it with scikit-learn has the first feature in the first column.
    """
    if not data.sparse or data.X.shape[1] == count:
        return data.X
    return data.aligned([str(number) for number in range(count)])


_PREDICT: Final = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}


def is_model(path: str | os.PathLike[str]) -> bool:
    """Say whether a file holds a model, by what it begins with; else it holds scores."""
    place, start = Path(path), _start(Path(path)).lstrip()
    return place.suffix == ".ubj" or start.startswith((b"{", b"tree\n", b"CBM1"))
