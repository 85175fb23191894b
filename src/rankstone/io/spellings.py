"""Names of a header that are ours in another spelling: blanks around them, another case, an alias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rankstone._basics import Columns


#: names in logs → our names
ALIASES: Final = {"click": "clicked"}


class Spellings:
    """The names of a header, which are found with other blanks around them and in another case, too."""

    def __init__(self, names: Sequence[str]) -> None:
        self._exact = {name.strip(): name for name in names}
        self._exact |= {name: name for name in names}
        self._folded: dict[str, set[str]] = {}
        for name in names:
            alike = self._folded.setdefault(name.strip().casefold(), set())
            alike.add(name)

    def of(self, theirs: str) -> str | None:
        """Return the only column that is meant; ``None`` for none or several."""
        if theirs in self._exact:
            return self._exact[theirs]
        folded = theirs.strip().casefold()
        alike = self._folded.get(folded, set())
        if len(alike) != 1:
            return None
        [name] = alike
        return name


def by_alias(
    present: Iterable[str], chosen: Columns, wanted: Collection[str]
) -> dict[str, str]:
    """Return aliases of wanted columns, and other spellings, that are present and not renamed otherwise."""
    names = list(present)
    own = Spellings(names)
    known = {chosen.get(name, name) for name in names}
    spelt = [(ours, ours) for ours in wanted]
    spelt += ALIASES.items()
    new: dict[str, str] = {}
    for alias, ours in spelt:
        if ours in known or ours not in wanted:
            continue
        name = own.of(alias)
        if name is None or name in chosen:
            continue
        new[name] = ours
    return new
