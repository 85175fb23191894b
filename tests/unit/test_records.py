"""Records: frozen dataclasses without generated code, which behave as dataclasses do."""

from __future__ import annotations

import copy
from dataclasses import (
    FrozenInstanceError,
    dataclass,
    field,
    fields,
    is_dataclass,
    replace,
)
from functools import cached_property
from typing import Any, ClassVar

import pytest

from rankstone._basics import Record


class Point(Record):
    """Two fields, one of which has a default."""

    kind: ClassVar[str] = "flat"
    x: int
    tags: list[str] = field(default_factory=list)
    y: int = 0

    @cached_property
    def norm(self) -> int:
        """A value that is kept."""
        return self.x**2 + self.y**2


class Solid(Point, kw_only=True):
    """One more, by its name only."""

    z: int

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.z < 0:
            raise ValueError(self.z)


@dataclass(frozen=True, eq=False)
class Usual:
    """What a point would be without the base class."""

    x: int
    tags: list[str] = field(default_factory=list)
    y: int = 0


def test_a_record_is_a_dataclass() -> None:
    """Fields, defaults of its own, replacement, text, identity: as dataclasses have them."""
    one, usual = Point(1, y=2), Usual(1, y=2)
    assert is_dataclass(one)
    assert [f.name for f in fields(one)] == [f.name for f in fields(usual)]
    assert repr(one) == repr(usual).replace("Usual", "Point")
    assert (one.x, one.tags, one.y, one.norm) == (1, [], 2, 5)
    assert one.tags is not Point(1).tags
    moved = replace(one, x=5)
    assert (moved.x, moved.y, one.x, moved.norm) == (5, 2, 1, 29)
    assert one != Point(1, y=2)
    assert len({one, moved, one}) == 2
    assert vars(copy.deepcopy(one)) == vars(one)


def test_fields_of_a_base_come_first() -> None:
    """A subclass adds fields, and checks them."""
    assert repr(Solid(1, z=3)) == "Solid(x=1, tags=[], y=0, z=3)"
    with pytest.raises(ValueError, match="-1"):
        Solid(1, z=-1)
    with pytest.raises(TypeError):
        Solid(1, [], 0, 3)  # type: ignore[call-arg]


def test_nothing_changes_afterwards() -> None:
    """Assignment and deletion are errors."""
    one = Point(1)
    with pytest.raises(FrozenInstanceError, match="x"):
        one.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="x"):
        del one.x


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, [], 2, 3), {}), ((1,), {"w": 3}), ((), {"y": 1})],
)
def test_wrong_fields(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Missing, unknown and too many fields are named."""
    with pytest.raises(TypeError, match="Point has the fields x, tags, y"):
        Point(*values, **named)
