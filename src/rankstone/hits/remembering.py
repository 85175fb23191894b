"""Frozen values that keep what was computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Value = TypeVar("Value")


class Remembering:
    """A mixin for frozen values that keep what was computed from them."""

    _memo: dict[Any, Any]

    def remember(self, key: object, make: Callable[[], Value]) -> Value:
        """Return ``make()``, computed once; measures share what they have in common."""
        if key not in self._memo:
            self._memo[key] = make()
        value: Value = self._memo[key]
        return value
