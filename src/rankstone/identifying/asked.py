"""What a number was called: a measure in our words, or a word of some library."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankstone.conventions import conventions
from rankstone.conventions.convention import named
from rankstone.errors import BadOption, RankstoneError, printable
from rankstone.measures import MEASURES, Measure, parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone.conventions import Convention, Entry, Reading

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """What a number was called.

    Attributes
    ----------
    word
        As it was written.
    measure
        The measure of ours that the search starts from; ``None`` where only libraries have such a one.
    k
        The cutoff.
    said
        Parameters of the measure that were said; another value of theirs is further than of others.
    """

    word: str
    measure: Measure | None
    k: int | None
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str | Measure) -> Asked:
        """Read a measure in our words, or as any library writes it.

        Raises
        ------
        UnknownMeasure
            When neither we nor any library has such a measure.
        """
        try:
            found = parse_measure(text)
        except RankstoneError as error:
            own = _example(str(text)) or _of_libraries(str(text))
            if own is None:
                raise error from None
            return own
        if not isinstance(found, Measure):
            raise BadOption(
                f"{printable(str(found))} is no measure of one run against judgments",
                expected="nDCG@10, AP, RR, P@5, …",
            )
        return cls(found.name, found, found.k, _said(found.changed(), found.k))

    def fits(self, entry: Entry) -> bool:
        """Say whether a library's measure is of the kind asked for, by our name or by its own word."""
        ours = kind(re.sub(r"^replay:\w+\.", "", entry.ours))
        names = [self.word] if self.measure is None else [self.word, self.measure.name, *self.measure.aliases]
        known = {ours.lower()}
        for word in entry.spellings:  # NDCG:top=<k>;type=Exp is an NDCG, ndcg_cut_<k> an ndcg
            known |= {_letters(word), re.split(r"[^a-z]", word.lower(), maxsplit=1)[0]}
        return any(_letters(name) in known for name in names)


def kind(text: str) -> str:
    """Return the name that a measure's text begins with."""
    return re.split(r"\W", text, maxsplit=1)[0]


def _said(parameters: Iterable[str], k: int | None) -> frozenset[str]:
    """Return the parameters that were said, the cutoff among them."""
    return frozenset((*parameters, *(() if k is None else ("k",))))


def _letters(word: str) -> str:
    """Return the letters of a name, without cutoffs, places for numbers and what stands in brackets."""
    return re.sub(r"<\w+>|\(.*?\)|\[.*?\]|[^a-z]", "", word.lower())


def _example(text: str) -> Asked | None:
    """Read a measure that needs a number nobody said: its card's first example stands for it."""
    name = MEASURES.named(kind(text))
    examples = () if name is None else MEASURES[name].examples
    if "(" in text or not examples:
        return None
    cutoff = re.search(r"@(\d+)$", text)
    measure = parse_measure(examples[0])
    if not isinstance(measure, Measure):
        return None
    k = int(cutoff[1]) if cutoff is not None else None
    return Asked(text, replace(measure, k=k), k, _said((), k))


def _of_libraries(word: str) -> Asked | None:
    """Read a word that some library writes, as ours where it is one of ours."""
    found = [reading for library in conventions() if (reading := _read(library, word)) is not None]
    if not found:
        return None
    ours = [one for one in (named(r.ours) for r in found if _is_ours(r)) if isinstance(one, Measure)]
    k = next((one.measure.k for one in found), None)
    return Asked(word, ours[0] if ours else None, k, _said(ours[0].changed() if ours else (), k))


def _read(library: Convention, word: str) -> Reading | None:
    try:
        reading = library.read(word)[0]
    except RankstoneError:
        return None
    return None if reading.entry.of_lists else reading


def _is_ours(reading: Reading) -> bool:
    return not reading.entry.ours.startswith("replay:")
