"""What a gate came to: an outcome of each rule and guard, and the verdict of them all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import printable
from rankstone.results import WritesReport
from rankstone.sheets import Sheet, ShowsSheet, Table
from rankstone.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.comparing import Comparison

__all__ = ["Gate", "Outcome"]

#: the worst outcome decides
_ORDER: Final = ("not comparable", "fail", "inconclusive", "pass")
_SIGNS: Final = {"pass": "✔", "fail": "✘", "inconclusive": "?", "not comparable": "!"}
#: exit codes; an inconclusive rule may end in 0, too
_CODES: Final = {"pass": 0, "fail": 1, "not comparable": 3, "inconclusive": 4}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule or guard came to.

    Attributes
    ----------
    kind
        ``rule`` or ``guard``.
    name
        What it is about.
    verdict
        ``pass``, ``fail``, ``inconclusive`` or ``not comparable``.
    text
        What was found and what was wanted.
    numbers
        The same as numbers.
    """

    kind: str
    name: str
    verdict: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(ShowsSheet, WritesReport):
    """Whether a candidate may replace the baseline.

    Attributes
    ----------
    outcomes
        Of guards, then of rules.
    comparison
        What they are about.
    inconclusive
        What an inconclusive rule does: ``fail``, ``warn`` or ``pass``.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> rule = {"measure": "nDCG@10", "floor": 0.45}
    >>> told = {"qrels": demo.QRELS, "baseline": demo.RUNS["tfidf"], "candidate": demo.RUNS["bm25"]}
    >>> found = rankstone.gate({**told, "rules": [rule]})
    >>> found.verdict, found.exit_code, found.outcomes[0].text
    ('pass', 0, '0.5704, minimum 0.45')
    """

    outcomes: tuple[Outcome, ...]
    comparison: Comparison
    inconclusive: str = "fail"

    @property
    def verdict(self) -> str:
        """The worst of the outcomes: ``not comparable``, ``fail``, ``inconclusive``, ``pass``."""
        return min((outcome.verdict for outcome in self.outcomes), key=_ORDER.index, default="pass")

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed, 3 not comparable, 4 inconclusive, unless that may pass."""
        return 0 if self.verdict == "inconclusive" and self.inconclusive != "fail" else _CODES[self.verdict]

    @property
    def warning(self) -> str | None:
        """What to warn of: the rules that are inconclusive, where ``inconclusive`` is ``warn``."""
        names = [printable(one.name, 60) for one in self.outcomes if one.verdict == "inconclusive"]
        if not names or self.inconclusive != "warn":
            return None
        return f"inconclusive: {', '.join(names)}; a loss beyond the margin is not excluded"

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
            "comparison": self.comparison.report(),
        }

    def sheet(self) -> Sheet:
        """Return what is shown."""
        baseline, candidate = self.comparison.systems
        rows = tuple(
            (f"{_SIGNS[one.verdict]} {one.verdict}", printable(one.name, 60), printable(one.text, 300))
            for one in self.outcomes
        )
        table = Table("Checks", ("", "rule", "found"), rows, (False, False, False))
        lines = (*filter(None, [self.warning]), *self.comparison.sentences())
        names = f"{printable(candidate, 40)} in place of {printable(baseline, 40)}"
        return Sheet(f"{self.verdict}: {names}", "", "", (table, ("Comparison", lines)))

    def text(self, width: int = 80) -> str:
        """Return it for a terminal, a line or two for each rule."""
        from rich.cells import cell_len

        sheet = self.sheet()
        longest = max((cell_len(one.verdict) for one in self.outcomes), default=0) + 2
        lines = [sheet.title, ""]
        for one in self.outcomes:
            sign = f"{_SIGNS[one.verdict]} {one.verdict}".ljust(longest)
            lines += _wrapped(
                f"{sign}  {printable(one.name, 60)}: {printable(one.text, 300)}", width, longest + 2
            )
        counts = {word: sum(one.verdict == word for one in self.outcomes) for word in _ORDER}
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return "\n".join([*lines, "", f"{counted(len(self.outcomes), 'check')}: {told}"])

    def junit(self) -> str:
        """Return it as JUnit XML: a test case for each rule and guard."""
        from rankstone.gating.junit import junit

        return junit(self)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width, subsequent_indent=" " * indent, break_long_words=False) or [""]
