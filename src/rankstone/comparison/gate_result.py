"""The outcome of each rule and guard of a release gate, the gate's verdict, and its JUnit XML."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import polars as pl

from rankstone.comparison.comparison_caveats import few_differing
from rankstone.comparison.repeated_runs import repeated_sentences
from rankstone.errors import printable
from rankstone.tables.results import Findings, FirstScreen
from rankstone.tables.sheet import Details, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_rules import Check

#: the worst outcome decides
_ORDER: Final = ("not comparable", "fail", "inconclusive", "pass")
_SIGNS: Final = {"pass": "✔", "fail": "✘", "inconclusive": "?", "not comparable": "!"}
#: exit codes; inconclusive is 0 where the configuration allows it
_CODES: Final = {"pass": 0, "fail": 1, "not comparable": 3, "inconclusive": 4}


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The outcome of one rule or guard.

    Attributes
    ----------
    kind
        ``rule`` or ``guard``.
    name
        The measure or guard.
    verdict
        ``pass``, ``fail``, ``inconclusive`` or ``not comparable``.
    text
        The result and the requirement.
    numbers
        The numbers in the text.
    """

    kind: str
    name: str
    verdict: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Findings):
    """Whether a candidate may replace the baseline.

    Attributes
    ----------
    checks
        What guards, then rules found.
    comparison
        The comparison of candidate and baseline, whose language is the gate's.
    inconclusive
        How an inconclusive rule counts: ``fail``, ``warn`` or ``pass``.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> rule = {"measure": "nDCG@10", "floor": 0.45}
    >>> files = {"qrels": demo.QRELS, "baseline": demo.RUNS["tfidf"], "candidate": demo.RUNS["bm25"]}
    >>> result = rankstone.gate({**files, "rules": [rule]})
    >>> result.verdict, result.exit_code, result.outcomes[0].text
    ('pass', 0, '0.5704, minimum 0.45')
    """

    checks: tuple[Check, ...]
    comparison: Comparison
    inconclusive: str = "fail"

    section = "gate"
    answer_stands = "below"
    digits = 4

    @property
    def lang(self) -> str:  # type: ignore[override] # the comparison's
        """The language of all sentences."""
        return self.comparison.lang

    @property
    def outcomes(self) -> tuple[GateOutcome, ...]:
        """Outcomes of guards, then of rules, in the language of the comparison."""
        outcomes = []
        semicolon = self.say("semicolon")
        for check in self.checks:
            name = check.text(self.lang, check.title)
            texts = [check.text(self.lang), *check.cautions(self.lang)]
            text = semicolon.join(texts)
            outcome = GateOutcome(
                kind=check.kind,
                name=name,
                verdict=check.verdict,
                text=text,
                numbers=check.numbers,
            )
            outcomes.append(outcome)
        return tuple(outcomes)

    @property
    def verdict(self) -> str:
        """The worst of the outcomes: ``not comparable``, ``fail``, ``inconclusive``, ``pass``."""
        verdicts = {check.verdict for check in self.checks}
        return min(verdicts, key=_ORDER.index, default="pass")

    @property
    def exit_code(self) -> int:
        """0: passed, 1: failed, 3: not comparable, 4: inconclusive (0 where that is allowed)."""
        if self.verdict == "inconclusive" and self.inconclusive != "fail":
            return 0
        return _CODES[self.verdict]

    @property
    def warning(self) -> str | None:
        """The rules that are inconclusive, where ``inconclusive`` is ``warn``; otherwise ``None``."""
        names = [
            printable(outcome.name, 60)
            for outcome in self.outcomes
            if outcome.verdict == "inconclusive"
        ]
        if not names or self.inconclusive != "warn":
            return None
        return self.say("warning", names=", ".join(names))

    def _word(self, verdict: str) -> str:
        return self.say(f"word_{verdict.replace(' ', '_')}")

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
            "comparison": self.comparison.report(),
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each outcome: ``kind``, ``name``, ``verdict``, ``text``."""
        names = ("kind", "name", "verdict", "text")
        rows = []
        for outcome in self.outcomes:
            row = [getattr(outcome, name) for name in names]
            rows.append(row)
        return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")

    def title(self) -> str:
        """Return the verdict on the candidate."""
        baseline, candidate = self.comparison.systems
        return self.say(
            "heading",
            verdict=self._word(self.verdict),
            candidate=printable(candidate, 40),
            baseline=printable(baseline, 40),
        )

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return the outcomes, the worst first."""
        del digits, verbose

        def badness(check: Check) -> int:
            return _ORDER.index(check.verdict)

        rows = []
        for check in sorted(self.checks, key=badness):
            verdict = self._word(check.verdict)
            name = check.text(self.lang, check.title)
            result = check.text(self.lang)
            row = verdict, printable(name, 60), printable(result, 300)
            rows.append(row)
        signs = {}
        for verdict, sign in _SIGNS.items():
            word = self._word(verdict)
            signs[word] = sign
        table = Table(
            title=self.say("checks"),
            head=("", self.say("rule"), self.say("result")),
            rows=tuple(rows),
            kinds=("verdict", "text", "text"),
            signs=signs,
            is_signed=True,
        )
        return [table]

    def _cautions(self) -> Iterator[str]:
        """Yield how far outcomes can be trusted, each sentence once with all rules that it is about."""
        if self.warning is not None:
            yield self.warning
        rules: dict[str, list[str]] = {}
        for check in self.checks:
            for caution in check.cautions(self.lang):
                name = check.text(self.lang, check.title)
                name = printable(name, 60)
                names = rules.setdefault(caution, [])
                names.append(name)
        comma = self.say("comma")
        for caution, names in rules.items():
            named = comma.join(names)
            yield self.say("caution", rules=named, caution=caution)
        yield from few_differing(self.comparison)
        yield from repeated_sentences(self.comparison)

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield how far outcomes can be trusted, and what the comparison says."""
        del digits
        for caution in self._cautions():
            yield FirstScreen(caution)
        yield from self.comparison.sentences()

    def _notes(self) -> Details:
        verdicts = [check.verdict for check in self.checks]
        counts = []
        for verdict in _ORDER:
            number = verdicts.count(verdict)
            if number:
                word = self._word(verdict)
                counts.append(f"{number} {word}")
        comma = self.say("comma")
        totals = self.say("totals", n=len(verdicts), counts=comma.join(counts))
        return Details((totals,), (totals,))

    def junit(self) -> str:
        """Return it as JUnit XML: a test case for each rule and guard.

        Failed rules are failures, and failed guards errors.  An inconclusive rule is a failure, or a skipped
        test where it only warns or passes.  Names and texts have no control characters, which XML cannot hold.
        """
        open_as = "failure" if self.inconclusive == "fail" else "skipped"
        tags = {"fail": "failure", "not comparable": "error", "inconclusive": open_as}
        case_tags = [tags.get(check.verdict) for check in self.checks]
        counts = {
            "tests": len(case_tags),
            "failures": case_tags.count("failure"),
            "errors": case_tags.count("error"),
            "skipped": case_tags.count("skipped"),
        }
        texts = {name: str(count) for name, count in counts.items()}
        suite = ET.Element("testsuite", {"name": "rankstone gate", **texts})
        for outcome, tag in zip(self.outcomes, case_tags, strict=True):
            name = printable(outcome.name, 200)
            case = ET.SubElement(
                suite,
                "testcase",
                {"classname": f"rankstone.{outcome.kind}", "name": name},
            )
            text = printable(outcome.text, 1000)
            if tag is None:
                ET.SubElement(case, "system-out").text = text
            else:
                message = f"{outcome.verdict}: {text}"
                ET.SubElement(case, tag, {"message": message})
        ET.indent(suite)
        return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
