"""Two orderings of the same things, of systems say, without files or queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from rankstone.errors import BadOption, InputError, printable
from rankstone.lists.comparison import diff
from rankstone.measures import parse_measure

if TYPE_CHECKING:
    from rankstone.lists.base import ListMeasure

__all__ = ["similarity"]

Values = Literal["ids", "scores"]
_QUERY = "the ordering"


def similarity(
    x: object,
    y: object,
    measure: str | ListMeasure = "tau_b",
    *,
    values: Values | None = None,
    **options: Any,  # noqa: ANN401 - checked by diff
) -> float | None:
    """Say how alike two orderings are: of systems by two measures, of documents by two people.

    Parameters
    ----------
    x, y
        Each a list of ids, best first; a dict ``{id: score}``; or, both of them, scores of the same
        things in the same order.  The higher score comes first; equal scores tie.
    measure
        A measure of two rankings.
    values
        What plain lists hold, ``"ids"`` or ``"scores"``.  Texts are ids and fractions are scores;
        whole numbers could be either, so it must be said.
    **options
        As for :func:`rankstone.diff`.

    Returns
    -------
    float or None
        ``None`` where the measure has no value, as for a correlation with a constant.

    Raises
    ------
    InputError
        When x and y are not what they should be.

    Examples
    --------
    >>> similarity({"bm25": 0.31, "dense": 0.42, "both": 0.44}, {"bm25": 0.2, "dense": 0.5, "both": 0.4})
    0.3333333333333333
    >>> round(similarity(list("abcdefg"), list("bacdxyz"), "RBO(p=0.9)"), 6)
    0.639435
    """
    wanted = parse_measure(measure)
    given = [_as_list(values_, values, name) for values_, name in ((x, "x"), (y, "y"))]
    vectors = [isinstance(one, np.ndarray) for one in given]
    if any(vectors) and not all(vectors):
        raise InputError(
            "x and y are of two kinds", expected="scores of the same things on both sides, or ids"
        )
    if all(vectors) and len(given[0]) != len(given[1]):
        raise InputError(
            f"x has {len(given[0])} scores and y has {len(given[1])}",
            expected="scores of the same things in the same order",
            fix="dicts {id: score} may differ in their ids",
        )
    first, second = (
        {_QUERY: dict(enumerate(one.tolist())) if isinstance(one, np.ndarray) else one} for one in given
    )
    # diff refuses measures of another kind
    found = diff(first, second, cast("ListMeasure", wanted), names=("x", "y"), **options)
    return next(iter(found.to_dict().values()))


def _as_list(given: Any, values: Values | None, name: str) -> Any:  # noqa: ANN401 - ids, scores or both
    """Return ids as a list, scores as an array, a dict as it is."""
    if values not in (None, "ids", "scores"):
        raise BadOption(f"values={values!r} is not known", expected="ids, scores")
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, (str, bytes)) or not (isinstance(given, Sequence) or hasattr(given, "__array__")):
        raise InputError(
            f"{name} is a {type(given).__name__}",
            given=printable(repr(given), 60),
            expected="a list of ids, a dict {id: score}, or scores",
        )
    listed = np.asarray(given).tolist() if hasattr(given, "__array__") else list(given)
    kind = values or _kind(listed, name)
    return _scores(listed, name) if kind == "scores" else listed


def _kind(listed: list[Any], name: str) -> Values:
    """Tell ids from scores; what is neither passes as ids, and reading says what is wrong with it."""
    if listed and all(isinstance(value, int) and not isinstance(value, bool) for value in listed):
        raise InputError(
            f"{name} could be ids or scores",
            given=printable(repr(listed[:5]), 60),
            fix='say values="ids" or values="scores"',
        )
    return "scores" if any(isinstance(value, float) for value in listed) else "ids"


def _scores(listed: list[Any], name: str) -> Any:  # noqa: ANN401 - an array
    try:
        return np.array(listed, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} holds something that is no number", given=printable(repr(listed[:5]), 60)
        ) from None
