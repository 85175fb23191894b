"""Every measure by its name: ours, those other packages bring, and those a user registers.

A measure's module is imported when the measure is first asked for; a table of names is enough until
then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from rankstone.errors import BadParameter, UnknownMeasure, printable
from rankstone.measures.core.definition import Card, Named

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["ENTRY_POINTS", "MEASURES", "Registry", "homes", "register"]

Kind = TypeVar("Kind", bound=type[Named])

#: the group under which other packages announce modules that register measures
ENTRY_POINTS: Final = "rankstone.measures"

#: the catalogue, which is written from the classes (``make pages``) and read by type checkers, too
_CATALOGUE: Final = Path(__file__).parents[1] / "__init__.pyi"
_MEASURES: Final = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)


def homes() -> dict[str, str]:
    """Return measure → the module that defines it, in the order of the catalogue."""
    listed = _CATALOGUE.read_text(encoding="utf-8").partition("# measures")[2]
    return {name: home for home, name in _MEASURES.findall(listed)}


class Registry(Mapping[str, type[Named]]):
    """Name → kind of measure, in the order of the catalogue."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)
        self._registered: dict[str, type[Named]] = {}
        self._announced = False

    def __getitem__(self, name: str) -> type[Named]:
        if name in self._homes:
            kind: type[Named] = getattr(import_module(self._homes[name]), name)
            return kind
        if name not in self._registered:
            self._load_announced()
        return self._registered[name]

    def __contains__(self, name: object) -> bool:
        if name in self._homes or name in self._registered:
            return True
        self._load_announced()
        return name in self._registered

    def __iter__(self) -> Iterator[str]:
        self._load_announced()
        return iter([*self._homes, *self._registered])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def named(self, word: str) -> str | None:
        """Return the canonical name that a name or alias stands for, case aside."""
        folded = word.lower()
        alike = [name for name in self if name.lower() == folded]
        if len(alike) > 1:  # scaled DCG is SDCG, session DCG is sDCG
            raise UnknownMeasure(
                f"{printable(word)} could be {' or '.join(alike)}", fix="write it in the right case"
            )
        if alike:
            return alike[0]
        aliases = {alias.lower(): name for name, kind in self.items() for alias in kind.aliases}
        return aliases.get(folded)

    def spellings(self) -> list[str]:
        """Return all names and aliases."""
        return [word for name, kind in self.items() for word in (name, *kind.aliases)]

    def add(self, kind: type[Named]) -> None:
        """Add a kind of measure; its name must be free and its card complete."""
        name = kind.__dict__.get("name", "")
        if not isinstance(name, str) or not name.isidentifier():
            raise BadParameter(
                f"{kind.__name__} has no usable name",
                given=printable(repr(name)),
                expected="a class attribute `name` of letters, digits and underscores",
            )
        if taken := self._meaning(name):
            raise BadParameter(
                f"there is a measure {name} already" if taken == name else f"{name} already means {taken}",
                fix="choose another name; names are what people compare by",
            )
        if not isinstance(getattr(kind, "card", None), Card) or not getattr(kind, "family", ""):
            raise BadParameter(
                f"{name} has no card", expected="class attributes `family` (a word) and `card` (a Card)"
            )
        self._registered[name] = kind

    def _meaning(self, name: str) -> str | None:
        """Return the measure that is read from a word, however it is written."""
        if name in self._homes or name in self._registered:
            return name
        return self.named(name)

    def remove(self, name: str) -> None:
        """Take a registered measure out again."""
        del self._registered[name]

    def _load_announced(self) -> None:
        """Import what other packages announce, once."""
        if self._announced:
            return
        self._announced = True
        from importlib.metadata import entry_points

        for point in entry_points(group=ENTRY_POINTS):
            point.load()


#: every measure there is
MEASURES: Final = Registry(homes())


def register(kind: Kind) -> Kind:
    """Make a measure of your own known by its name: parsed, listed, checked and scored like ours.

    Parameters
    ----------
    kind
        A frozen dataclass derived from :class:`rankstone.Measure` with ``name``, ``family`` and ``card``.

    Raises
    ------
    BadParameter
        When the name is taken or unusable, or the card is missing.
    """
    MEASURES.add(kind)
    return kind
