"""Measures from a function of a user."""

from __future__ import annotations

import inspect
import math
from dataclasses import make_dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from rankstone.errors import BadParameter, printable
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import CUTOFFS, Card, Threshold, parameter
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.core.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone._basics import Floats, Ints
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.definition import Span


def measure(
    name: str,
    *,
    span: Span = (0.0, 1.0),
    direction: str = "higher",
    family: str = "your own",
    needs_relevant: bool = True,
    **card: Any,  # noqa: ANN401 - the card's own fields
) -> Callable[[Callable[..., Any]], type[Measure]]:
    """Make a measure from a function of hits, and register it under a name.

    The function receives :class:`~rankstone.hits.hits.Hits` and returns what each hit contributes,
    float64 ``[hits]``; or a pair of that and the norm, float64 ``[queries]``; or
    :class:`~rankstone.measures.Contributions`.  Its keyword parameters become the measure's: numbers,
    words (annotated ``Literal["one", "other"]``), and ``rel``, the threshold of relevance.  A
    parameter ``k`` receives the cutoff; hits below it are left out anyhow.

    Parameters
    ----------
    name
        The name of the measure in texts, tables and on the command line.
    span
        Lowest and highest value, ``None`` for no bound; a value outside is an error.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    family
        The heading under which ``rankstone measures`` lists it.
    needs_relevant
        True if the option ``empty`` says what a query without a relevant document is worth.
    **card
        Other lines of the card: ``formula``, ``symbols``, ``example``, ``use``, ``citation`` …

    Returns
    -------
    callable
        A decorator that returns the new class of measures.

    Raises
    ------
    BadParameter
        When the name is taken, or a parameter of the function has no default.

    Examples
    --------
    >>> import rankstone
    >>> @measure("HalfLife", span=(0, None), needs_relevant=False)
    ... def half_life(hits, h: float = 2.0):
    ...     '''Does a reader who gives up by half every h ranks still meet the relevant documents?'''
    ...     return hits.grade * 0.5 ** ((hits.rank - 1) / h)
    >>> rankstone.evaluate({"q": {"d": 1}}, {"q": ["c", "d"]}, "HalfLife(h=1)").to_dict()
    {'run': {'HalfLife(h=1)': 0.5}}
    >>> rankstone.measures.MEASURES.remove("HalfLife")
    """

    def decorate(function: Callable[..., Any]) -> type[Measure]:
        low, high = span
        if not (-math.inf if low is None else low) < (
            math.inf if high is None else high
        ):
            raise BadParameter(
                f"{name}: span={span} is not a range",
                expected="(lowest, highest), or None",
            )
        described = _card(
            name, function, {"span": span, "direction": direction, **card}
        )
        cls = make_dataclass(
            name,
            _parameters(name, function),
            bases=(CustomMeasure,),
            frozen=True,
            kw_only=True,
            namespace={
                "name": name,
                "family": family,
                "needs_relevant": needs_relevant,
                "card": described,
                "function": staticmethod(function),
                "takes": tuple(inspect.signature(function).parameters)[1:],
                "__doc__": inspect.getdoc(function) or described.sentence,
                "__module__": function.__module__,
            },
        )
        return register(cls)

    return decorate


class CustomMeasure(Measure):
    """A measure whose contributions a user's function computes."""

    function: ClassVar[Callable[..., Any]]
    takes: ClassVar[tuple[str, ...]]

    #: the function is called for one order only; its values for other orders are not known
    claims = Claims(closed_under_ties=False, extremal_under_ties=False)

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``, by the measure's threshold where it has one."""
        rel = getattr(self, "rel", None)
        return super().relevant_count(hits) if rel is None else hits.relevant_count(rel)  # type: ignore[return-value]

    def contributions(self, hits: Hits) -> Contributions:
        """Call the function, and check the shape of what it returns."""
        for shared in vars(hits).values():  # other measures read the same arrays
            if isinstance(shared, np.ndarray):
                shared.flags.writeable = False
        returned = type(self).function(
            hits, **{name: getattr(self, name) for name in self.takes}
        )
        if not isinstance(returned, Contributions):
            shares, norm = (
                returned
                if isinstance(returned, tuple)
                else (returned, np.ones(hits.queries))
            )
            returned = Contributions(self._numbers(shares), self._numbers(norm))
        self._check_shape("hit", returned.hits, len(hits.rank))
        self._check_shape("query", returned.norm, hits.queries)
        return returned

    def _numbers(self, values: object) -> Floats:
        try:
            return np.asarray(values).astype(np.float64, casting="same_kind")
        except (TypeError, ValueError):
            raise BadParameter(
                f"{self.name} returned something that is not a number",
                given=printable(repr(values), 60),
                expected="one number for each hit, or a pair of these and a norm for each query",
            ) from None

    def _check_shape(self, each: str, values: Floats, size: int) -> None:
        finite = np.isfinite(values).all()
        if values.shape == (size,) and finite:
            return
        raise BadParameter(
            f"{self.name} did not return {'a number' if each == 'hit' else 'a norm'} for each {each}",
            given=f"shape {values.shape}"
            + ("" if finite else ", some of them not finite"),
            expected=f"finite float64 [{size}]",
        )


def _card(name: str, function: Callable[..., Any], lines: dict[str, Any]) -> Card:
    """Return the card: the given lines, the first sentence of the function, and defaults."""
    facts: dict[str, Any] = {
        "sentence": (inspect.getdoc(function) or "").split("\n")[0]
        or f"{name}, a measure of your own.",
        "formula": f"Σ {function.__name__}(hit)",
        "symbols": "see the function",
        "example": "none given",
        "sensitive": "whatever the function looks at",
        "use": "your own",
        "citation": "your own",
    }
    return Card(**{**facts, **lines})


def _parameters(name: str, function: Callable[..., Any]) -> list[Any]:
    """Return the dataclass fields that a function's parameters become."""
    declared: list[Any] = []
    hints = _hints(function)
    for taken in list(inspect.signature(function).parameters.values())[1:]:
        if taken.name in CUTOFFS:
            continue
        if hasattr(Measure, taken.name):
            raise BadParameter(
                f"{name}: every measure has an attribute {taken.name}", fix="rename it"
            )
        if taken.default is taken.empty:
            raise BadParameter(
                f"{name}: parameter {taken.name} has no default",
                fix=f"write {taken.name}=… in the function's signature",
            )
        default = taken.default
        words = hints.get(taken.name)
        if type(default).__hash__ is None:
            raise BadParameter(
                f"{name}: {taken.name}={printable(repr(default), 40)} is mutable",
                expected="a number or a word",
            )
        if taken.name == "rel" and not isinstance(default, Threshold):
            default = Threshold(float(default))
        choices = get_args(words) if get_origin(words) is Literal else ()
        low = -math.inf if isinstance(default, (int, float)) else None
        meaning = parameter(
            default, f"parameter of {function.__name__}", *choices, low=low
        )
        declared.append((taken.name, Any, meaning))
    return declared


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations; none where a type is imported for type checkers only."""
    try:
        return get_type_hints(function)
    except NameError:
        return {}
