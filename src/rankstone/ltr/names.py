"""Features by name: the columns of frames, and in which of them each of a model's features is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.errors import InputError, MissingColumn, nearest, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.hits.arrays import Ints

__all__ = ["by_name", "in_order", "listed", "names_of", "places_of"]

#: names in a message
_SHOWN = 5


def names_of(features: object) -> tuple[str, ...] | None:
    """Return the column names of a frame; ``None`` where columns have numbers instead, or no names.

    >>> names_of(np.zeros((1, 2))) is None
    True
    """
    columns: Any = getattr(features, "column_names", None)  # Arrow's tables; their columns are data
    columns = getattr(features, "columns", None) if columns is None else columns
    if columns is None or callable(columns):
        return None
    texts = [isinstance(name, str) for name in columns]
    if not any(texts):
        return None
    if not all(texts):
        raise InputError(
            "some columns have texts as names, others do not",
            given=listed(columns),
            fix="X.columns = X.columns.astype(str)",
        )
    names = tuple(columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are named {printable(twice)}", expected="a name for each feature")
    return names


def listed(names: Sequence[object] | Any) -> str:  # noqa: ANN401 - names of any kind of frame
    """Return the first names as one text that a terminal can show."""
    shown = ", ".join(printable(name, 40) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def places_of(model: object, features: object, where: str | None = None) -> Ints | None:
    """Return which column of a frame each feature of a model is; ``None`` where they stand in order.

    Parameters
    ----------
    model
        Whatever may have ``feature_names_in_``; without it, and for arrays, order is all that is known.
    features
        The frame, or an array.
    where
        Which model, where there are several.

    Raises
    ------
    MissingColumn
        A feature is not there, or a column is none of the model's features.
    """
    known, names = getattr(model, "feature_names_in_", None), names_of(features)
    if known is None or names is None or tuple(known) == names:
        return None
    place = {name: at for at, name in enumerate(names)}
    missing = [name for name in known if name not in place]
    unknown = [name for name in names if name not in set(known)]
    if missing or unknown:
        told = (("missing", missing), ("unknown", unknown))
        raise MissingColumn(
            "the columns are not the features that the model was trained with",
            where=where,
            given="; ".join(f"{word}: {listed(some)}" for word, some in told if some),
            expected=f"{listed(known)}, in any order",
            fix=_fix(missing, unknown),
        )
    return np.array([place[name] for name in known])


def in_order(features: Any, places: Ints | None) -> Any:  # noqa: ANN401 - dense or CSR
    """Return features with their columns taken from some places; ``None``: as they are."""
    return features if places is None else features[:, places]


@dataclass(frozen=True, eq=False)
class _Rearranged:
    """A model that was trained on columns in another order."""

    model: Any
    places: Ints

    def predict(self, features: Any) -> Any:  # noqa: ANN401 - dense or CSR
        return self.model.predict(in_order(features, self.places))


def by_name(model: Any, features: object, where: str) -> Any:  # noqa: ANN401 - weights or a model
    """Return a model for arrays whose columns are those of a frame; see :func:`places_of`."""
    places = places_of(model, features, where)
    return model if places is None else _Rearranged(model, places)


def _fix(missing: list[str], unknown: list[str]) -> str:
    close = nearest(missing[0], unknown, n=1) if missing else []
    if close:
        return f"is {printable(close[0])} the model's {printable(missing[0])}? Then rename it"
    if missing:
        return "give these columns; if only their names differ: X.to_numpy(), in the order of training"
    return "model.predict(X[list(model.feature_names_in_)])"
