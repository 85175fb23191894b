"""Our measures under the names of other libraries."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankstone.measures.core.aggregation import aggregated, running_sum
from rankstone.measures.core.measure import Measure, Status

if TYPE_CHECKING:
    from rankstone.hits.hits import Hits
    from rankstone.measures.core.definition import Named, Span
    from rankstone.measures.core.measure import Scored


class _Renamed:
    """Mixin of measures: the name that is printed, and the library's rules for values."""

    label: ClassVar[str]
    empty: ClassVar[str]
    digits: ClassVar[int | None]
    bounded: ClassVar[bool]
    no_queries: ClassVar[str | None]
    summed: ClassVar[str | None]
    _origin: ClassVar[tuple[type, tuple[tuple[str, Any], ...]]]

    def __str__(self) -> str:
        return self.label

    def __reduce__(self) -> tuple[Any, ...]:
        return _build, (*self._origin, _values(self))

    def aggregate(self: Any, *parts: Any) -> float:  # noqa: ANN401 - a mixin of measures
        """Aggregate as the measure does; sum and round as the library does."""
        if not len(parts[0]) and self.no_queries == "zero":
            return 0.0
        if self.summed and len(parts[0]):
            value = aggregated(self.agg, parts[0], running_sum)
        else:
            value = super().aggregate(*parts)  # type: ignore[misc]
        rounded: float = self._rounded(value)
        return rounded

    def _rounded(self, value: float) -> float:
        if self.digits is None:
            return value
        return round(value, self.digits)


class _RenamedMeasure(_Renamed):
    """Mixin of measures of lists against judgments."""

    def score(self: Any, hits: Hits, _empty: str = "zero") -> Scored:
        """Score as the measure does, with the library's rule for queries without a relevant document."""
        scored: Scored = super().score(hits, self.empty)  # type: ignore[misc]
        return scored

    def span_of(self: Any, hits: Hits) -> Span:
        """Return the measure's range; none where a bug is replayed."""
        return super().span_of(hits) if self.bounded else (None, None)  # type: ignore[misc]


class _RenamedListMeasure(_Renamed):
    """Mixin of measures of whole lists, with a value for each list or for the run."""

    def score(self: Any, *tables: Any) -> Scored:  # noqa: ANN401 - the lists and side tables
        """Score as the measure does; lists of users without a relevant item may be dropped."""
        scored: Scored = super().score(*tables)  # type: ignore[misc]
        if self.empty == "drop":
            none = scored.status == Status.no_relevant
            scored = replace(
                scored, status=np.where(none, Status.dropped, scored.status)
            )
        return scored

    def value(self: Any, *tables: Any) -> float:  # noqa: ANN401 - the lists and side tables
        """Return the run's value, rounded as the library does."""
        value: float = self._rounded(super().value(*tables))  # type: ignore[misc]
        return value

    @property
    def span(self: Any) -> Span:
        """The measure's range; none where a bug is replayed."""
        return super().span if self.bounded else (None, None)  # type: ignore[misc]


def renamed(
    measure: Named,
    label: str,
    *,
    empty: str = "zero",
    digits: int | None = None,
    bounded: bool = True,
    undefined_propagates: bool = False,
    no_queries: str | None = None,
    summed: str | None = None,
) -> Any:  # noqa: ANN401 - of the kind that is given
    """Return the measure under a library's name, with the library's rules for its values.

    >>> from rankstone import P
    >>> print(renamed(P(k=5), "precision@5"))
    precision@5
    """
    facts = {"label": label, "empty": empty, "digits": digits, "bounded": bounded}
    facts |= {
        "undefined_propagates": undefined_propagates,
        "no_queries": no_queries,
        "summed": summed,
    }
    return _build(type(measure), tuple(facts.items()), _values(measure))


def _values(measure: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    return {f.name: getattr(measure, f.name) for f in fields(measure)}


def _build(
    kind: type, facts: tuple[tuple[str, Any], ...], values: dict[str, Any]
) -> Any:  # noqa: ANN401
    """Return a renamed measure of a class; pickles are read by it, too."""
    return _kind(kind, facts)(**values)


@cache
def _kind(kind: type, facts: tuple[tuple[str, Any], ...]) -> type:
    mixin = _RenamedMeasure if issubclass(kind, Measure) else _RenamedListMeasure
    return type(
        kind.__name__,
        (mixin, kind),
        {**dict(facts), "_origin": (kind, facts), "__module__": __name__},
    )
