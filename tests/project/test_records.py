"""Records: frozen dataclasses without generated code, which behave as dataclasses do."""

from __future__ import annotations

import copy
import importlib
import inspect
import pydoc
from dataclasses import (
    MISSING,
    Field,
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
from docs.making import house

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
    first, usual = Point(1, y=2), Usual(1, y=2)
    assert is_dataclass(first)
    assert [f.name for f in fields(first)] == [f.name for f in fields(usual)]
    assert repr(first) == repr(usual).replace("Usual", "Point")
    assert (first.x, first.tags, first.y, first.norm) == (1, [], 2, 5)
    assert first.tags is not Point(1).tags
    moved = replace(first, x=5)
    assert (moved.x, moved.y, first.x, moved.norm) == (5, 2, 1, 29)
    assert first != Point(1, y=2)
    assert len({first, moved, first}) == 2
    assert vars(copy.deepcopy(first)) == vars(first)


def test_fields_of_a_base_come_first() -> None:
    """A subclass adds fields, and checks them."""
    assert repr(Solid(1, z=3)) == "Solid(x=1, tags=[], y=0, z=3)"
    with pytest.raises(ValueError, match="-1"):
        Solid(1, z=-1)
    with pytest.raises(TypeError):
        Solid(1, [], 0, 3)  # type: ignore[call-arg]


def test_nothing_changes_afterwards() -> None:
    """Assignment and deletion are errors."""
    result = Point(1)
    with pytest.raises(FrozenInstanceError, match="x"):
        result.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="x"):
        del result.x


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, [], 2, 3), {}), ((1,), {"w": 3}), ((1,), {"x": 2}), ((), {"y": 1})],
)
def test_wrong_fields(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Missing, unknown, doubled and too many fields are refused as by any function of the same signature."""
    with pytest.raises(TypeError) as usual:
        Usual(*values, **named)
    with pytest.raises(TypeError) as record:
        Point(*values, **named)

    assert str(record.value) == str(usual.value).replace("Usual", "Point")


class Callable(Point):
    """A record that can be called."""

    def __call__(self, factor: int) -> int:
        """Return a multiple."""
        return self.x * factor


def test_a_record_has_the_signature_of_its_fields() -> None:
    """It is that of the usual dataclass, also in ``help``; a record that can be called keeps its own."""
    usual = inspect.signature(Usual)
    assert inspect.signature(Point) == usual
    assert str(inspect.signature(Solid)) == (
        "(x: 'int', tags: 'list[str]' = <factory>, y: 'int' = 0, *, z: 'int') -> None"
    )
    assert str(inspect.signature(Callable(1))) == "(factor: 'int') -> 'int'"
    assert f"Point{usual}" in pydoc.plain(pydoc.render_doc(Point))


def records() -> list[type[Record]]:
    """Return every record class of the package."""
    for name, path in house.modules().items():
        if "(Record" in path.read_text("utf-8"):
            importlib.import_module(name)
    waiting: list[type[Record]] = [Record]
    every: list[type[Record]] = []
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        every += [kind for kind in below if kind.__module__.startswith("rankstone.")]
    return every


def test_every_record_shows_its_fields() -> None:
    """Each parameter is a field, by name and type, and has a default where the field has one."""
    every = records()
    assert len(every) > 200

    wrong = []
    for record in every:
        shown = {
            (
                value.name,
                value.annotation,
                value.default is not value.empty,
                value.kind.name,
            )
            for value in inspect.signature(record).parameters.values()
        }
        declared = {
            (
                item.name,
                item.type,
                has_default(item),
                PARAMETER_KINDS[bool(item.kw_only)],
            )
            for item in fields(record)
            if item.init
        }
        if shown != declared:
            wrong.append(record.__name__)
    assert wrong == []


#: how a field may be given: if it is by its name only, and otherwise
PARAMETER_KINDS = {True: "KEYWORD_ONLY", False: "POSITIONAL_OR_KEYWORD"}


def has_default(declared: Field[Any]) -> bool:
    """Return True if a field may be left out."""
    return not declared.default is declared.default_factory is MISSING
