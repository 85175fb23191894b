"""A measure of your own from one function."""

from __future__ import annotations

import inspect
import math
from dataclasses import make_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np

from rankstone.errors import BadParameter, printable
from rankstone.measures.core.claims import Claims
from rankstone.measures.core.definition import Card, Threshold, parameter
from rankstone.measures.core.measure import Contributions, Measure
from rankstone.measures.core.registry import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankstone.hits.hits import Hits
    from rankstone.hits.list_arrays import Floats, Ints
    from rankstone.measures.core.definition import Span


__all__ = ["measure"]


def measure(
    name: str,
    *,
    span: Span = (0.0, 1.0),
    direction: str = "higher",
    family: str = "your own",
    needs_relevant: bool = True,
    **card: Any,  # noqa: ANN401 - the card's own fields
) -> Callable[[Callable[..., Any]], type[Measure]]:
    """Make a measure of a function of hits, and register it under a name.

    The function receives :class:`~rankstone.hits.hits.Hits` and returns what each hit contributes,
    float64 ``[hits]``; or a pair of that and the norm, float64 ``[queries]``; or
    :class:`~rankstone.measures.Contributions`.  Its keyword parameters become the measure's: numbers,
    words (annotated ``Literal["one", "other"]``), and ``rel``, the threshold of relevance.  A
    parameter ``k`` receives the cutoff; hits below it are left out anyhow.

    Parameters
    ----------
    name
        What the measure is called in texts, tables and on the command line.
    span
        Lowest and highest value, ``None`` for no bound; a value outside is refused when it turns up.
    direction
        ``higher`` or ``lower`` is better, or ``neither``.
    family
        Where ``rankstone measures`` lists it.
    needs_relevant
        True if the option ``empty`` says what a query without a relevant document is worth.
    **card
        Further lines of the card: ``formula``, ``symbols``, ``example``, ``use``, ``citation`` …

    Returns
    -------
    callable
        A decorator that returns the new kind of measure.

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
        if not (-math.inf if low is None else low) < (math.inf if high is None else high):
            raise BadParameter(
                f"{name}: span={span} is no range", expected="(lowest, highest), None for no bound"
            )
        described = _card(name, function, {"span": span, "direction": direction, **card})
        cls = make_dataclass(
            name,
            _parameters(name, function),
            bases=(Own,),
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


class Own(Measure):
    """A measure whose contributions a user's function computes."""

    function: ClassVar[Callable[..., Any]]
    takes: ClassVar[tuple[str, ...]]

    #: the function is called for one order only, and what it makes of others is not known
    claims = Claims(closed_under_ties=False, extremal_under_ties=False)

    def relevant_count(self, hits: Hits) -> Ints:
        """Return R, int64 ``[queries]``, by the measure's own threshold where it has one."""
        rel = getattr(self, "rel", None)
        return super().relevant_count(hits) if rel is None else hits.relevant_count(rel)  # type: ignore[return-value]

    def contributions(self, hits: Hits) -> Contributions:
        """Ask the function, and make sure that its answer has the right shape."""
        for shared in vars(hits).values():  # other measures read the same arrays
            if isinstance(shared, np.ndarray):
                shared.flags.writeable = False
        found = type(self).function(hits, **{taken: getattr(self, taken) for taken in self.takes})
        if not isinstance(found, Contributions):
            shares, norm = found if isinstance(found, tuple) else (found, np.ones(hits.queries))
            found = Contributions(self._numbers(shares), self._numbers(norm))
        self._check_answer("hit", found.hits, len(hits.rank))
        self._check_answer("query", found.norm, hits.queries)
        return found

    def _numbers(self, values: object) -> Floats:
        try:
            return np.asarray(values).astype(np.float64, casting="same_kind")
        except (TypeError, ValueError):
            raise BadParameter(
                f"{self.name} returned something else than numbers",
                given=printable(repr(values), 60),
                expected="one number for each hit, or a pair of these and a norm for each query",
            ) from None

    def _check_answer(self, each: str, values: Floats, size: int) -> None:
        finite = np.isfinite(values).all()
        if values.shape == (size,) and finite:
            return
        raise BadParameter(
            f"{self.name} returned {'no' if each == 'hit' else 'a norm that is no'} number for each {each}",
            given=f"shape {values.shape}" + ("" if finite else ", some of them not finite"),
            expected=f"finite float64 [{size}]",
        )


def _card(name: str, function: Callable[..., Any], given: dict[str, Any]) -> Card:
    """Return the card: what was given, the function's first sentence, and what can be said of any."""
    facts: dict[str, Any] = {
        "sentence": (inspect.getdoc(function) or "").split("\n")[0] or f"{name}, a measure of your own.",
        "formula": f"Σ {function.__name__}(hit)",
        "symbols": "see the function",
        "example": "none given",
        "sensitive": "whatever the function looks at",
        "use": "your own",
        "citation": "your own",
    }
    return Card(**{**facts, **given})


def _parameters(name: str, function: Callable[..., Any]) -> list[Any]:
    """Return the dataclass fields that a function's parameters become."""
    found: list[Any] = []
    hints = _hints(function)
    for taken in list(inspect.signature(function).parameters.values())[1:]:
        if taken.name == "k":
            continue
        if hasattr(Measure, taken.name):
            raise BadParameter(
                f"{name}: {taken.name} is a word that every measure has", fix="call the parameter otherwise"
            )
        if taken.default is taken.empty:
            raise BadParameter(
                f"{name}: parameter {taken.name} has no default",
                fix=f"write {taken.name}=… in the function's head",
            )
        default, words = taken.default, hints.get(taken.name)
        if type(default).__hash__ is None:
            raise BadParameter(
                f"{name}: {taken.name}={printable(repr(default), 40)} can change",
                expected="a number or a word",
            )
        if taken.name == "rel" and not isinstance(default, Threshold):
            default = Threshold(float(default))
        choices = get_args(words) if get_origin(words) is Literal else ()
        low = -math.inf if isinstance(default, (int, float)) else None
        meaning = parameter(default, f"parameter of {function.__name__}", *choices, low=low)
        found.append((taken.name, Any, meaning))
    return found


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations that can be resolved; a type that only a checker imports cannot."""
    try:
        return get_type_hints(function)
    except NameError:
        return {}
