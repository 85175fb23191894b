"""The rules of a release gate: a class each, found in the modules of this package.

A module with a further subclass of :class:`GateRule` adds a key to ``[[gate.rules]]``.  Its sentences are those of
``[gate]`` in ``tables/locales``.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rankstone._basics import Record
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.score_matrix import Matrix

    Sentence = Callable[..., str]

#: tolerance for rounding errors at a limit
ROUNDING: Final = 1e-12


def say(name: str, /, **parts: str) -> Sentence:
    """Return a sentence of gates, whose language is chosen when it is shown.

    >>> say("same_lists", n="3")(lang="en")
    'both runs return the same lists for 3 queries'
    """
    return partial(phrase, "gate", name, **parts)


class Check(Record):
    """What a rule or guard found.

    Attributes
    ----------
    title
        The measure or guard, with what distinguishes it.
    verdict
        ``pass``, ``fail``, ``inconclusive`` or ``not comparable``.
    sentences
        The result and the requirement, one after the other.
    numbers
        The numbers in the sentences.
    kind
        ``rule`` or ``guard``.
    """

    title: Sentence
    verdict: str
    sentences: tuple[Sentence, ...]
    numbers: Mapping[str, Any]
    kind: str = "rule"


class Candidate(Record):
    """The candidate and what it is compared with, as far as a matrix does not show it.

    Attributes
    ----------
    comparison
        The comparison of candidate and baseline.
    same_lists
        Returns True if both runs return the same lists down to the cutoff of a measure.
    """

    comparison: Comparison
    same_lists: Callable[[str], bool]


class GateRule:
    """The base class of rules: a frozen dataclass, whose fields are the settings of the rule.

    A rule with one field is written as a value, ``floor = 0.35``, one with several as a table.
    """

    #: the key in ``[[gate.rules]]``
    name: ClassVar[str]
    #: a value of that key, for advice
    example: ClassVar[str]
    _known: ClassVar[dict[str, type[GateRule]]] = {}

    def __init_subclass__(cls) -> None:
        """Register the class under its name."""
        super().__init_subclass__()
        GateRule._known[cls.name] = cls

    @staticmethod
    def known() -> dict[str, type[GateRule]]:
        """Return the class of each rule by its name, in the order of their modules."""
        for module in iter_modules(__path__, f"{__name__}."):
            import_module(module.name)
        rules = sorted(GateRule._known.values(), key=lambda rule: rule.__module__)
        return {rule.name: rule for rule in rules}

    def check(self, matrix: Matrix, candidate: Candidate) -> Iterator[Check]:
        """Yield what the rule finds.

        Parameters
        ----------
        matrix
            Scores of the baseline and, in the second column, of the candidate under the rule's measure.
        candidate
            The comparison that the matrix is from.
        """
        raise NotImplementedError

    def outcome(
        self,
        matrix: Matrix,
        candidate: Candidate,
        *sentences: Sentence,
        passed: bool,
        **numbers: float,
    ) -> Check:
        """Return that the rule passed or failed, under the name of its measure and its own."""
        measure = candidate.comparison.label(matrix.measure)
        title = say("title_of_rule", measure=measure, rule=self.name)
        return Check(title, "pass" if passed else "fail", sentences, numbers)
