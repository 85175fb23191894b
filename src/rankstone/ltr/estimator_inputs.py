"""Checks of the inputs of estimators: features, labels, and the query of each row.

Rows of one query need not be adjacent: a query is its id, wherever its rows are.

Features by name: the columns of frames, and in which of them each of a model's features is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, first_true, there_are
from rankstone.errors import (
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    UsageError,
    nearest,
    printable,
)
from rankstone.hits.alignment_options import LARGEST_GRADE
from rankstone.hits.list_arrays import list_numbers, offsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats, Ints, Names

#: rows whose features are looked at, or multiplied, at a time
_ROWS = 1 << 15


class Queries(Record):
    """Which rows each query has.

    Attributes
    ----------
    names
        The queries' ids, in the order of their first rows.
    rows
        int64 ``[rows]``: row numbers, query after query.
    offsets
        int64 ``[queries + 1]``: rows of query ``q`` are ``rows[offsets[q]:offsets[q + 1]]``.
    scattered
        The number of queries whose rows are not adjacent.
    """

    names: pl.Series
    rows: Ints
    offsets: Ints
    scattered: int = 0

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def lengths(self) -> Ints:
        """Rows of each query, int64 ``[queries]``."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each entry of ``rows``, int64 ``[rows]``."""
        return list_numbers(self.lengths)

    @cached_property
    def in_place(self) -> bool:
        """Whether rows are in their original order."""
        return bool((self.rows == np.arange(len(self.rows))).all())

    def of_rows(self) -> Ints:
        """Return the number of each row's query, the rows as they came, int64 ``[rows]``."""
        query = np.empty(len(self.rows), np.int64)
        query[self.rows] = self.query
        return query

    def arranged(self, values: Any) -> Any:  # noqa: ANN401 - an array of any kind
        """Return values, a row each, query after query."""
        return values if self.in_place else values[self.rows]


def in_cross_validation() -> str:
    """Return the arguments that pass queries to scikit-learn, so that it does not split them."""
    return (
        "in cross-validation: sklearn.set_config(enable_metadata_routing=True); "
        'cross_val_score(model, X, y, cv=GroupKFold(5), params={"qid": qid, "groups": qid})'
    )


def queries_of(qid: object, rows: int) -> Queries:
    """Return which rows each query has.

    Parameters
    ----------
    qid
        An id a row: whole numbers or texts; array, list, Series.
    rows
        How many there should be.

    Examples
    --------
    >>> queries_of([7, 7, 3, 7], 4).rows.tolist()
    [0, 1, 3, 2]
    """
    if qid is None:
        raise UsageError(
            "qid is missing: documents are ranked within a query",
            expected="an id for each row",
            fix="fit(X, y, qid=…); from group sizes: qid=np.repeat(np.arange(len(sizes)), sizes)\n"
            + in_cross_validation(),
        )
    ids = _series(qid)
    if len(ids) != rows:
        raise InputError(
            f"qid has {counted(len(ids), 'value')}, and {there_are(rows, 'row')}",
            expected="an id for each row",
            fix="group sizes become ids by np.repeat(np.arange(len(sizes)), sizes)"
            if len(ids) < rows and ids.dtype.is_integer() and ids.sum() == rows
            else None,
        )
    if ids.null_count():
        raise BadValue(
            "a row without a query id", where=f"row {first_true(ids.is_null())}"
        )
    runs = ids.rle().struct.unnest()
    names = runs["value"].unique(maintain_order=True)
    if len(names) == len(runs):
        return Queries(
            names, np.arange(rows), offsets_of(runs["len"].to_numpy().astype(np.int64))
        )
    numbered = pl.DataFrame({"value": names}).with_row_index("number")
    number = runs.join(numbered, on="value", how="left", maintain_order="left")[
        "number"
    ].to_numpy()
    query = np.repeat(number.astype(np.int64), runs["len"].to_numpy())
    order = np.argsort(query, kind="stable")
    offsets = offsets_of(np.bincount(query, minlength=len(names)))
    return Queries(names, order, offsets, int((np.bincount(number) > 1).sum()))


def _series(qid: object) -> pl.Series:
    if isinstance(qid, pl.Series):
        ids = qid
    else:
        array = np.asarray(qid)
        if array.ndim != 1:
            raise InputError(
                f"qid has {array.ndim} dimensions", expected="one id for each row"
            )
        ids = pl.Series(array.tolist() if array.dtype == object else array)
    if ids.dtype.is_float():
        whole = ids.cast(pl.Int64, strict=False)
        if ids.is_nan().any() or not (whole.cast(ids.dtype) == ids).all():
            raise BadValue(
                "query ids are not whole numbers", expected="whole numbers or texts"
            )
        return whole
    if not (
        ids.dtype.is_integer() or ids.dtype in (pl.String, pl.Categorical, pl.Enum)
    ):
        raise BadValue(
            f"query ids are {printable(ids.dtype)}", expected="whole numbers or texts"
        )
    return ids if ids.dtype.is_integer() else ids.cast(pl.String)


def checked_labels(y: object, rows: int) -> Floats:
    """Return labels as float64; refuse values that are not grades."""
    try:
        labels = np.asarray(y, np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(f"labels are not numbers: {printable(error)}") from error
    if labels.ndim != 1 or len(labels) != rows:
        raise InputError(
            f"labels have shape {labels.shape}, and {there_are(rows, 'row')}",
            expected="a label for each row",
        )
    bad = ~(np.abs(labels) <= LARGEST_GRADE)
    if bad.any():
        row = int(bad.argmax())
        raise BadValue(
            f"a label is {labels[row]:g}",
            where=f"row {row}",
            expected="a grade, 0 or more; below 0: not judged",
        )
    return labels


def checked_features(features: object, width: int | None = None) -> Any:  # noqa: ANN401 - dense or CSR
    """Return features as float32 or float64, dense or CSR; refuse values that are not finite.

    Parameters
    ----------
    features
        ``[rows, features]``: array, frame, scipy's sparse matrices.  Half precision becomes float32, whole
        numbers float64.
    width
        How many features there must be.
    """
    if is_sparse(features):
        matrix = features.tocsr()  # type: ignore[attr-defined] # scipy ships no types
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    else:
        matrix = np.asarray(features)
        if matrix.dtype == object:
            matrix = _numbers(matrix)
        if matrix.dtype not in (np.float32, np.float64):
            if matrix.dtype.kind not in "biuf":
                raise BadValue(f"features are {matrix.dtype}", expected="numbers")
            matrix = matrix.astype(
                np.float32 if matrix.dtype == np.float16 else np.float64
            )
    if matrix.ndim != 2:  # noqa: PLR2004 - rows and features
        raise InputError(
            f"features have {counted(matrix.ndim, 'dimension')}",
            expected="[rows, features]",
        )
    if not matrix.shape[0]:
        raise EmptyInput("there are no rows")
    if width is not None and matrix.shape[1] != width:
        raise InputError(
            f"{there_are(matrix.shape[1], 'feature')}",
            expected=f"{width}, as the model was trained with",
        )
    _refuse_holes(matrix)
    return matrix


def is_sparse(features: object) -> bool:
    """Return True if features are a sparse matrix of SciPy."""
    return hasattr(features, "tocsr")


def products(features: Any, weights: Floats) -> Floats:  # noqa: ANN401 - dense or CSR
    """Return ``features @ weights`` in float64, whatever the features are; a column for each column.

    Rows are taken some at a time: features in single precision are never all copied.
    """
    result = np.empty((features.shape[0], *weights.shape[1:]))
    for begin in range(0, features.shape[0], _ROWS):
        part = slice(begin, begin + _ROWS)
        rows = features[part].astype(np.float64, copy=False)
        # the last bits of a product depend on how rows lie in memory; a frame's often lie column by column
        result[part] = (
            rows if is_sparse(rows) else np.ascontiguousarray(rows)
        ) @ weights
    return result


def _numbers(array: Any) -> Any:  # noqa: ANN401 - an array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(f"features are not numbers: {printable(error)}") from error


def _refuse_holes(matrix: Any) -> None:  # noqa: ANN401 - dense or CSR
    if is_sparse(matrix):
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if len(bad):
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
            raise _hole(matrix.data[bad[0]], row, int(matrix.indices[bad[0]]))
        return
    for begin in range(0, len(matrix), _ROWS):
        part = matrix[begin : begin + _ROWS]
        with np.errstate(over="ignore", invalid="ignore"):
            # a sum of numbers is one, and quicker to make
            if np.isfinite(part.sum(dtype=np.float64)):
                continue
        bad = ~np.isfinite(part)
        if bad.any():
            row, column = divmod(int(bad.argmax()), part.shape[1])
            raise _hole(part[row, column], begin + row, column)


def _hole(value: float, row: int, column: int) -> BadValue:
    return BadValue(
        f"a feature is {value}",
        where=f"row {row}, feature {column}",
        expected="a finite number",
        fix="replace missing values by 0 or the feature's mean, and add a feature that marks them",
    )


#: names in a message
_SHOWN = 5


def names_of(features: object) -> Names | None:
    """Return the column names of a frame; ``None`` where columns have numbers instead, or no names.

    >>> names_of(np.zeros((1, 2))) is None
    True
    """
    # Arrow's tables have names, and data as columns
    columns: Any = getattr(features, "column_names", None)
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
        raise InputError(
            f"two columns are named {printable(twice)}",
            expected="a name for each feature",
        )
    return names


def listed(names: Sequence[object] | Any) -> str:  # noqa: ANN401 - names of any kind of frame
    """Return the first names as one text that a terminal can show."""
    shown = ", ".join(printable(name, 40) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def places_of(model: object, features: object, where: str | None = None) -> Ints | None:
    """Return which column of a frame each feature of a model is; ``None`` if they are in order.

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
        A feature is missing, or a column is not a feature of the model.
    """
    known = getattr(model, "feature_names_in_", None)
    names = names_of(features)
    if known is None or names is None or tuple(known) == names:
        return None
    place = {name: position for position, name in enumerate(names)}
    missing = [name for name in known if name not in place]
    unknown = [name for name in names if name not in set(known)]
    if missing or unknown:
        problems = (("missing", missing), ("unknown", unknown))
        raise MissingColumn(
            "the columns are not the features that the model was trained with",
            where=where,
            given="; ".join(
                f"{word}: {listed(columns)}" for word, columns in problems if columns
            ),
            expected=f"{listed(known)}, in any order",
            fix=_fix(missing, unknown),
        )
    return np.array([place[name] for name in known])


def in_order(features: Any, places: Ints | None) -> Any:  # noqa: ANN401 - dense or CSR
    """Return features with their columns taken from some places; ``None``: as they are."""
    return features if places is None else features[:, places]


class _Rearranged(Record):
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
