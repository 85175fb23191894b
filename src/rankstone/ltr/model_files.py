"""Models in files: our own as JSON, and those of the boosting libraries, as something that scores rows."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rankstone._basics import Record, counted, there_are
from rankstone.errors import (
    InputError,
    MissingExtra,
    RankstoneError,
    UnknownFormat,
    printable,
)
from rankstone.io.atomic_files import atomic
from rankstone.io.file_roles import note_input
from rankstone.io.sources import is_stream, read_stream
from rankstone.io.unreadable_files import WHOLE, reading, wrong_json
from rankstone.ltr.estimator_inputs import (
    checked_features,
    in_order,
    listed,
    places_of,
    products,
)
from rankstone.ltr.hinge_objective import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Names, StrPath
    from rankstone.ltr.training_data import Dataset

#: the version of the files
_FORMAT: Final = 1
#: bytes at the beginning of a file that say whose model it is
_STARTS: Final = 64
#: names that libraries give to columns which have none
_MADE_UP: Final = re.compile(r"(Column_|f)?\d+")


class Scorer(Protocol):
    """Whatever scores the rows of a dataset."""

    def scores(self, data: Dataset) -> Floats:
        """Return a score a row, float64 ``[rows]``."""


class LinearModel(Record):
    """A weight for each feature, by name, and how they came about.

    Attributes
    ----------
    weights
        float64 ``[features]``, of the features as they come.
    features
        Their names; in LETOR files their numbers; empty where a file does not name them.
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
    features: Names
    mean: Floats | None = None
    spread: Floats | None = None
    trained: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse names that do not fit the weights."""
        if self.features and len(self.features) != len(self.weights):
            raise InputError(
                f"{counted(len(self.features), 'name')} and {counted(len(self.weights), 'weight')}",
                expected="one each",
            )

    @classmethod
    def of(cls, estimator: Any, data: Dataset) -> LinearModel:  # noqa: ANN401 - a trained estimator of ours
        """Take a trained :class:`RankSVM` or :class:`CoordinateAscent`, and where it was trained."""
        from rankstone import __version__

        trained = {
            **estimator.provenance(),
            "data": data.source,
            "rows": len(data),
            "rankstone": __version__,
        }
        learnt = getattr(estimator, "feature_names_in_", data.features)
        if tuple(learnt) != data.features:
            raise InputError(
                "the estimator was trained with other features than these data have, or in another order",
                given=listed(learnt),
                expected=listed(data.features),
                fix="fit(data.X, data.y, data.qid)",
            )
        mean = getattr(estimator, "mean_", None)
        spread = getattr(estimator, "scale_", None)
        return cls(estimator.coef_, data.features, mean, spread, trained)

    @property
    def coef_(self) -> Floats:
        """The weights, by scikit-learn's name."""
        return self.weights

    @property
    def feature_names_in_(self) -> NDArray[np.object_] | None:
        """The names, by scikit-learn's name."""
        return np.array(self.features, object) if self.features else None

    @property
    def n_features_in_(self) -> int:
        """How many features there are, by scikit-learn's name."""
        return len(self.weights)

    def predict(self, X: object) -> Floats:
        """Return a score for each row of features.

        A frame's columns are found by name; an array's must be in the order of :attr:`features`.
        """
        places = places_of(self, X)
        return products(
            in_order(checked_features(X, len(self.weights)), places), self.weights
        )

    def scores(self, data: Dataset) -> Floats:
        """Return a score for each row of a dataset, whose features are found by name."""
        if not self.features:
            return self.predict(_by_order(data))
        unused = {
            name
            for name, weight in zip(self.features, self.weights, strict=True)
            if not weight
        }
        return self.predict(data.aligned(self.features, optional=unused))

    def weights_of(self, features: Sequence[str]) -> Floats:
        """Return the weights of some features, by name; 0, and a warning, for unknown ones."""
        weight = dict(zip(self.features, self.weights, strict=False))
        unknown = [name for name in features if name not in weight]
        if len(unknown) == len(features):
            raise InputError(
                "the model has none of these features",
                expected=f"{listed(self.features)}",
            )
        unused = [
            name for name in self.features if weight[name] and name not in set(features)
        ]
        for names, what in (
            (unknown, "have no weight yet"),
            (unused, "are not in these data"),
        ):
            if names:
                warnings.warn(
                    f"features that {what}: {listed(names)}", UserWarning, stacklevel=2
                )
        return np.array([weight.get(name, 0.0) for name in features])

    def largest(self, count: int, data: Dataset) -> list[tuple[str, float]]:
        """Return the features with the largest weights per standard deviation in the data, and these."""
        names = self.features or data.features
        size = self.weights * Scale.of(data.aligned(names, optional=names)).spread
        order = np.argsort(-np.abs(size), kind="stable")[:count]
        return [
            (names[feature], float(size[feature])) for feature in order if size[feature]
        ]

    def write(self, path: StrPath) -> None:
        """Write the model as JSON, whole or not at all."""
        content = {
            "rankstone_ltr": _FORMAT,
            "kind": "linear",
            "trained": dict(self.trained),
            "features": [
                {**_named(self, feature), "weight": weight, **_scaled(self, feature)}
                for feature, weight in enumerate(self.weights.tolist())
            ],
        }
        text = json.dumps(content, ensure_ascii=False, indent=1, default=str) + "\n"
        with atomic(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


def _named(model: LinearModel, feature: int) -> dict[str, str]:
    return {"name": model.features[feature]} if model.features else {}


def _scaled(model: LinearModel, feature: int) -> dict[str, float]:
    if model.mean is None or model.spread is None:
        return {}
    return {"mean": float(model.mean[feature]), "spread": float(model.spread[feature])}


def load(path: StrPath) -> Scorer:
    """Open a model: our JSON, LightGBM's text, XGBoost's ``.json`` or ``.ubj``, CatBoost's ``.cbm``.

    The three libraries are imported when a file of theirs is opened.
    """
    place = Path(path)
    note_input(path)
    streamed = read_stream(os.fspath(path), longest=None) if is_stream(path) else None
    start = _start(place) if streamed is None else streamed[:_STARTS]
    if streamed is not None and not start.lstrip().startswith(b"{"):
        raise _unnamed(path)
    if place.suffix == ".ubj":
        return _Foreign("xgboost", place)
    if start[:4] == b"CBM1":
        return _Foreign("catboost", place)
    if start.startswith(b"tree\n"):
        return _Foreign("lightgbm", place)
    if not start.lstrip().startswith(b"{"):
        raise UnknownFormat(
            "this file is not a model that can be opened",
            where=str(path),
            expected="rankstone's JSON, or a file of LightGBM, XGBoost (.json, .ubj) or CatBoost (.cbm)",
        )
    with reading(str(path)):
        text = (place.read_bytes() if streamed is None else streamed).decode()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"the model is not JSON: {wrong_json(error)}", where=str(path), fix=WHOLE
        ) from None
    if isinstance(content, dict) and "learner" in content:
        if streamed is not None:
            raise _unnamed(path)
        return _Foreign("xgboost", place)
    return _linear(content, str(path))


def _unnamed(path: StrPath) -> UnknownFormat:
    return UnknownFormat(
        "only models of rankstone are read from pipes",
        where=str(path),
        fix="write the model to a file: its library opens it by name",
    )


def _start(place: Path) -> bytes:
    if is_stream(place):
        return read_stream(str(place), longest=None)[:_STARTS]
    with reading(str(place)), place.open("rb") as file:
        return file.read(_STARTS)


def _linear(content: Any, where: str) -> LinearModel:  # noqa: ANN401 - JSON
    if (
        not isinstance(content, dict)
        or content.get("rankstone_ltr") != _FORMAT
        or content.get("kind") != "linear"
    ):
        raise UnknownFormat(
            "this JSON is not a model of rankstone",
            where=where,
            expected=f'{{"rankstone_ltr": {_FORMAT}, "kind": "linear", …}}',
        )
    rows: list[Any] = (
        content["features"] if isinstance(content.get("features"), list) else []
    )
    whole = bool(rows) and all(isinstance(row, dict) for row in rows)
    named = [row["name"] for row in rows if whole and "name" in row]
    if (
        not whole
        or not all(_is_number(row.get("weight")) for row in rows)
        or len(named) not in (0, len(rows))
    ):
        raise InputError(
            "the model's features cannot be read",
            where=where,
            expected="a name and a weight each",
        )
    if len(set(map(str, named))) < len(named):
        raise InputError(
            "two features have the same name",
            where=where,
            expected="a name for each feature",
        )

    def column(name: str) -> Floats | None:
        cells = [row.get(name) for row in rows]
        return np.array(cells, np.float64) if all(map(_is_number, cells)) else None

    weights = np.array([row["weight"] for row in rows], np.float64)
    return LinearModel(
        weights,
        tuple(map(str, named)),
        column("mean"),
        column("spread"),
        content.get("trained") or {},
    )


def _is_number(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    # neither NaN nor a whole number of 400 digits
    return abs(value) <= sys.float_info.max


class _Foreign(Record):
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
            return np.asarray(
                _PREDICT[self.library](module, str(self.path), data), np.float64
            )
        except RankstoneError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.library} cannot score these rows",
                where=str(self.path),
                given=printable(error),
            ) from error


def _by_order(data: Dataset) -> Any:  # noqa: ANN401 - an array or CSR
    """Return features in their given order, for a model without names, with a note."""
    warnings.warn(
        "the model has no names of features: its weights are taken in the order of the columns, "
        f"{listed(data.features)}",
        UserWarning,
        stacklevel=3,
    )
    return data.X


def _lightgbm(module: Any, path: str, data: Dataset) -> Any:  # noqa: ANN401 - of a library
    if data.X.dtype == np.float32:
        warnings.warn(
            "features are in single precision, and LightGBM compares them in double: scores may differ from "
            'its own; read(…, dtype="float64")',
            UserWarning,
            stacklevel=3,
        )
    booster = module.Booster(model_file=path)
    # LightGBM writes names with underscores for spaces
    spelt_names = tuple(name.replace(" ", "_") for name in data.features)
    spelt = replace(data, features=spelt_names)
    return booster.predict(
        _columns(spelt, booster.num_feature(), booster.feature_name())
    )


def _xgboost(module: Any, path: str, data: Dataset) -> Any:  # noqa: ANN401 - of a library
    booster = module.Booster(model_file=path)
    rows = module.DMatrix(
        _columns(data, booster.num_features(), booster.feature_names or ())
    )
    return booster.predict(rows, output_margin=True, validate_features=False)


def _catboost(module: Any, path: str, data: Dataset) -> Any:  # noqa: ANN401 - of a library
    model = module.CatBoost().load_model(path)
    return model.predict(
        _columns(data, len(model.feature_names_), model.feature_names_)
    )


def _columns(data: Dataset, count: int, names: Sequence[str]) -> Any:  # noqa: ANN401 - an array or CSR
    """Return the columns that a model was trained with, by its names if it has some.

    Libraries that read SVMlight text themselves use a feature's number as its column, from 0; scikit-learn
    puts the first feature into the first column.
    """
    if (names and set(names) <= set(data.features)) or not all(
        map(_MADE_UP.fullmatch, names)
    ):
        return data.aligned(names)
    if data.sparse and data.X.shape[1] != count:
        return data.aligned([str(number) for number in range(count)], optional={"0"})
    if data.X.shape[1] != count:
        raise InputError(
            f"{there_are(data.X.shape[1], 'feature')}, and the model has {count}, without names",
            given=listed(data.features),
            expected="the features of training, in their order",
            fix="--features a,b,c (in Python read(…, features=[…])): these, in this order",
        )
    return data.X


_PREDICT: Final = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}


def compares_doubles(path: StrPath) -> bool:
    """Return True if a file is a model of LightGBM, whose thresholds are in double precision.

    Features in single precision may be on the other side of them.  XGBoost and CatBoost compare in single.
    """
    return _start(Path(path)).startswith(b"tree\n")


def is_model(path: StrPath) -> bool:
    """Return True if a file is a model, by its first bytes; otherwise it has scores."""
    place = Path(path)
    start = _start(Path(path)).lstrip()
    return place.suffix == ".ubj" or start.startswith((b"{", b"tree\n", b"CBM1"))
