"""Every measure by its name: those of this package, of other packages, and those that a user registers.

A measure's module is imported when the measure is first used; until then its name is enough.
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

Kind = TypeVar("Kind", bound=type[Named])

#: the entry points by which other packages name modules that register measures
ENTRY_POINTS: Final = "rankstone.measures"

#: the catalogue, which is written from the classes (``make pages``) and read by type checkers, too
_CATALOGUE: Final = Path(__file__).parents[1] / "__init__.pyi"
_MEASURES: Final = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)


def measure_modules() -> dict[str, str]:
    """Return the module that defines each measure, by its name, in the order of the catalogue."""
    listed = _CATALOGUE.read_text(encoding="utf-8").partition("# measures")[2]
    return {name: module for module, name in _MEASURES.findall(listed)}


class Registry(Mapping[str, type[Named]]):
    """The class of each measure by its name, in the order of the catalogue."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = dict(modules)
        self._registered: dict[str, type[Named]] = {}
        self._entry_points_loaded = False

    def __getitem__(self, name: str) -> type[Named]:
        if name in self._modules:
            kind: type[Named] = getattr(import_module(self._modules[name]), name)
            return kind
        if name not in self._registered:
            self._load_entry_points()
        return self._registered[name]

    def __contains__(self, name: object) -> bool:
        if name in self._modules or name in self._registered:
            return True
        self._load_entry_points()
        return name in self._registered

    def __iter__(self) -> Iterator[str]:
        self._load_entry_points()
        return iter([*self._modules, *self._registered])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def canonical_name(self, word: str) -> str | None:
        """Return the canonical name for a name or alias, whatever its case."""
        folded = word.lower()
        names = [name for name in self if name.lower() == folded]
        if len(names) > 1:  # scaled DCG is SDCG, session DCG is sDCG
            raise UnknownMeasure(
                f"{printable(word)} could be {' or '.join(names)}",
                fix="use the right case",
            )
        if names:
            return names[0]
        aliases = {
            alias.lower(): name for name, kind in self.items() for alias in kind.aliases
        }
        return aliases.get(folded)

    def spellings(self) -> list[str]:
        """Return all names and aliases."""
        return [word for name, kind in self.items() for word in (name, *kind.aliases)]

    def add(self, kind: type[Named]) -> None:
        """Add a class of measures; its name must be free and its card complete."""
        name = kind.__dict__.get("name", "")
        if not isinstance(name, str) or not name.isidentifier():
            raise BadParameter(
                f"{kind.__name__} has no usable name",
                given=printable(repr(name)),
                expected="a class attribute `name` of letters, digits and underscores",
            )
        taken = (
            name
            if name in self._modules or name in self._registered
            else self.canonical_name(name)
        )
        if taken:
            raise BadParameter(
                f"there is a measure {name} already"
                if taken == name
                else f"{name} already means {taken}",
                fix="choose another name; names are what people compare by",
            )
        if not isinstance(getattr(kind, "card", None), Card) or not getattr(
            kind, "family", ""
        ):
            raise BadParameter(
                f"{name} has no card", expected="class attributes `family` and `card`"
            )
        self._registered[name] = kind

    def remove(self, name: str) -> None:
        """Remove a registered measure."""
        del self._registered[name]

    def _load_entry_points(self) -> None:
        """Import the modules that other packages name, once."""
        if self._entry_points_loaded:
            return
        self._entry_points_loaded = True
        from importlib.metadata import entry_points

        for point in entry_points(group=ENTRY_POINTS):
            point.load()


#: all measures
MEASURES: Final = Registry(measure_modules())


def register(kind: Kind) -> Kind:
    """Register a measure of your own, to be parsed, listed, checked and scored like those of the package.

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
