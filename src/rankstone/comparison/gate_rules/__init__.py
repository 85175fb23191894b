"""The rules of a release gate: a class each, found in the modules of this package.

A module with a further subclass of :class:`GateRule` adds a key to ``[[gate.rules]]``.  Its sentences are those of
``[gate]`` in ``tables/locales``.
"""

from __future__ import annotations

from dataclasses import field
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rankstone._basics import Record
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.score_matrix import Matrix

#: tolerance for rounding errors at a limit
ROUNDING: Final = 1e-12


class Check(Record):
    """What a rule or guard found.

    Attributes
    ----------
    verdict
        ``pass``, ``fail``, ``inconclusive`` or ``not comparable``.
    sentences
        The names of the sentences that say it, one after the other.
    numbers
        The numbers in the sentences.
    parts
        What else the sentences and the title say.
    title
        The name of the sentence that names the measure or guard.
    kind
        ``rule`` or ``guard``.
    further
        Sentences that say how far the verdict can be trusted, and what would settle it: the names of each line.
    """

    verdict: str
    sentences: tuple[str, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    title: str = "title"
    kind: str = "rule"
    further: tuple[tuple[str, ...], ...] = ()

    def text(self, lang: str, *names: str) -> str:
        """Return sentences in a language; those of the check if none is named."""
        parts = {**self.parts, **self.numbers}
        texts = []
        for name in names or self.sentences:
            text = phrase("gate", name, lang, **parts)
            texts.append(text)
        return "".join(texts)

    def cautions(self, lang: str) -> list[str]:
        """Return how far the verdict can be trusted in a language, and what would settle it."""
        texts = []
        for names in self.further:
            text = self.text(lang, *names)
            texts.append(text)
        return texts


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
        *sentences: str,
        passed: bool,
        numbers: Mapping[str, Any],
        **parts: object,
    ) -> Check:
        """Return that the rule passed or failed.

        Parameters
        ----------
        matrix, candidate
            As for :meth:`check`.
        sentences
            Names of sentences; a text that is no name is the sentence itself.
        passed
            The verdict.
        numbers, parts
            What the sentences say, beside the settings of the rule.
        """
        measure = candidate.comparison.label(matrix.measure)
        parts = {**vars(self), "measure": measure, "rule": self.name, **parts}
        verdict = "pass" if passed else "fail"
        return Check(verdict, sentences, numbers, parts, "title_of_rule")
