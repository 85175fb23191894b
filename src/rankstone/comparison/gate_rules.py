"""The outcome of each rule and guard of a release gate, and the gate's verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.comparison.comparison_words import percent
from rankstone.comparison.repeated_runs import repeated_sentences
from rankstone.errors import printable
from rankstone.stats.bounded_means import unseen_share
from rankstone.stats.sample_size import needed
from rankstone.tables.results import Result
from rankstone.tables.sheet import Sheet, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankstone.comparison.comparison_result import Comparison
    from rankstone.comparison.gate_config import Config, Rule
    from rankstone.comparison.score_matrix import Matrix


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
class Gate(Result):
    """Whether a candidate may replace the baseline.

    Attributes
    ----------
    outcomes
        Outcomes of guards, then of rules.
    comparison
        The comparison of candidate and baseline.
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

    outcomes: tuple[GateOutcome, ...]
    comparison: Comparison
    inconclusive: str = "fail"

    @property
    def verdict(self) -> str:
        """The worst of the outcomes: ``not comparable``, ``fail``, ``inconclusive``, ``pass``."""
        return min(
            (outcome.verdict for outcome in self.outcomes),
            key=_ORDER.index,
            default="pass",
        )

    @property
    def exit_code(self) -> int:
        """0: passed, 1: failed, 3: not comparable, 4: inconclusive (0 where that is allowed)."""
        return (
            0
            if self.verdict == "inconclusive" and self.inconclusive != "fail"
            else _CODES[self.verdict]
        )

    @property
    def warning(self) -> str | None:
        """The rules that are inconclusive, where ``inconclusive`` is ``warn``; otherwise ``None``."""
        names = [
            printable(one.name, 60)
            for one in self.outcomes
            if one.verdict == "inconclusive"
        ]
        if not names or self.inconclusive != "warn":
            return None
        return f"inconclusive: {', '.join(names)}; a loss larger than allowed is not excluded"

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
        rows = [[getattr(one, name) for name in names] for one in self.outcomes]
        return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")

    def sheet(self, digits: int = 4) -> Sheet:
        """Return the outcomes as people read them; decimals are fixed."""
        del digits
        baseline, candidate = self.comparison.systems
        rows = tuple(
            (
                f"{_SIGNS[one.verdict]} {one.verdict}",
                printable(one.name, 60),
                printable(one.text, 300),
            )
            for one in self.outcomes
        )
        table = Table("Checks", ("", "rule", "result"), rows, (False, False, False))
        lines = (*filter(None, [self.warning]), *self.comparison.sentences())
        repeated = repeated_sentences(self.comparison)
        counts = {
            word: sum(one.verdict == word for one in self.outcomes) for word in _ORDER
        }
        totals = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        verdicts = f"{counted(len(self.outcomes), 'check')}: {totals}"
        names = f"{printable(candidate, 40)} in place of {printable(baseline, 40)}"
        parts = (table, ("Comparison", (*lines, *repeated)))
        return Sheet(f"{self.verdict}: {names}", parts=parts, notes=(verdicts,))

    def junit(self) -> str:
        """Return it as JUnit XML: a test case for each rule and guard."""
        from rankstone.comparison.release_gate import junit

        return junit(self)


#: tolerance for rounding errors at a limit
_ROUNDING = 1e-12
#: power for which the number of queries of a rule is computed
_POWER = 0.8


def guard_outcomes(config: Config, comparison: Comparison) -> Iterator[GateOutcome]:
    """Yield the outcome of each guard."""
    guards = config.guards
    if guards.qrels_sha256 is not None:
        own = comparison.hashes().get("judgments")
        same = own == guards.qrels_sha256.lower()
        text = (
            "the judgments match"
            if same
            else f"different judgments: SHA-256 {own or 'unknown'}"
        )
        yield GateOutcome(
            "guard", "qrels_sha256", "pass" if same else "not comparable", text
        )
    if guards.queries is not None:
        fewest = min(len(matrix) for matrix in comparison.matrices.values())
        text = f"{counted(fewest, 'query')}, minimum {guards.queries:,}"
        yield GateOutcome(
            "guard",
            "queries",
            _pass_or(fewest >= guards.queries, "not comparable"),
            text,
        )
    if guards.judged is not None:
        yield from _judged(guards.judged, comparison)


def _judged(least: float, comparison: Comparison) -> Iterator[GateOutcome]:
    means = comparison.mean()
    for system in comparison.systems:
        share = means.filter(system=system)["judged"].to_list()[0]
        name = f"{'Judged' if comparison.judged is None else comparison.judged[0]} of {system}"
        if share is None:
            text = "unknown: scores per query come without judgments"
            yield GateOutcome("guard", name, "not comparable", text)
        else:
            text = f"{share:.4f}, minimum {least:g}"
            yield GateOutcome(
                "guard",
                name,
                _pass_or(share >= least - _ROUNDING, "not comparable"),
                text,
            )


def rule_outcomes(
    config: Config, comparison: Comparison, same_lists: Callable[[str], bool]
) -> Iterator[GateOutcome]:
    """Yield the outcome of each rule.

    Parameters
    ----------
    config, comparison
        The rules, and the comparison.
    same_lists
        Returns True if both runs return the same lists down to the cutoff of a measure.
    """
    for rule in config.rules:
        measure = _canonical(rule.measure, comparison)
        matrix = comparison.matrices[measure]
        name = comparison.label(measure)
        if rule.margin is not None:
            row = comparison.table.filter(measure=measure).row(0, named=True)
            same = not matrix.differences(1, 0).any() and same_lists(rule.measure)
            yield (
                _unchanged(rule.margin, row, name)
                if same
                else _margin(rule.margin, matrix, row, name, comparison)
            )
            if not same:
                yield from _in_segments(rule.margin, matrix, comparison)
        yield from _limits(rule, matrix, name)
        if rule.drops is not None:
            yield _drops(rule.drops.by, rule.drops.most, matrix, name)


def _canonical(text: str, comparison: Comparison) -> str:
    """Return the name of a measure in a comparison."""
    from rankstone.measures.core.syntax import parse_measure

    return text if text in comparison.matrices else str(parse_measure(text))


def _in_segments(
    margin: float, matrix: Matrix, comparison: Comparison
) -> Iterator[GateOutcome]:
    if comparison.segments is None:
        return
    by = comparison.segments.columns[: comparison.segments.columns.index("measure")]
    for row in comparison.segments.filter(measure=matrix.measure).iter_rows(named=True):
        segment = ", ".join(f"{name}={row[name]}" for name in by)
        name = comparison.label(matrix.measure)
        name = f"{name} where {segment}"
        yield _margin(margin, matrix, row, name, comparison)


def _unchanged(margin: float, row: dict[str, Any], name: str) -> GateOutcome:
    numbers = {"difference": 0.0, "margin": margin, "n": row["n"]}
    return GateOutcome(
        "rule",
        name,
        "pass",
        f"both runs return the same lists for {counted(row['n'], 'query')}",
        numbers,
    )


def _margin(
    margin: float,
    matrix: Matrix,
    row: dict[str, Any],
    name: str,
    comparison: Comparison,
) -> GateOutcome:
    """Compare the interval of a difference with the margin."""
    sign = -1.0 if matrix.direction == "lower" else 1.0
    low, high = sorted(
        sign * (math.nan if row[end] is None else row[end]) for end in ("low", "high")
    )
    alpha = (1 - row["confidence"]) / 2
    most = matrix.span[1] - matrix.span[0]
    rare = unseen_share(row["units"], alpha)
    queries_needed = _queries_needed(margin, row, alpha, most)
    ends = "?" if row["low"] is None else f"[{row['low']:+.4f}, {row['high']:+.4f}]"
    # only the limit that assumes nothing about queries not seen bounds the risk
    risk = f"≤ {alpha:.2g}"
    if comparison.settings.interval != "worst_case":
        risk = f'{alpha:.2g}, more if a few queries collapse (interval = "worst_case" bounds it)'
    text = (
        f"{row['difference']:+.4f}, {percent(row['confidence'])} CI {ends}, allowed loss: {margin:g}; "
        f"risk of a false release {risk}; losses of {most:g} on up to {100 * rare:.2g} % of queries "
        "may go undetected"
    )
    columns = ("mean", "mean_versus", "difference", "low", "high", "confidence", "n")
    numbers = {key: row[key] for key in columns} | {
        "margin": margin,
        "false_release": alpha,
        "unseen_share": rare,
        "needed": queries_needed,
    }
    if low >= -margin - _ROUNDING:
        return GateOutcome("rule", name, "pass", text, numbers)
    if high < -margin:
        return GateOutcome("rule", name, "fail", text, numbers)
    if queries_needed is not None:
        text += f"; about {counted(queries_needed, 'query')} would be enough if the candidate is unchanged"
    return GateOutcome("rule", name, "inconclusive", text, numbers)


def _queries_needed(
    margin: float, row: dict[str, Any], alpha: float, most: float
) -> int | None:
    """Return how many queries an unchanged candidate needs to pass with 80 % power.

    By t, with the standard error for planning; where some query did not change, no fewer than a candidate
    without any change needs.
    """
    if not margin or row["spread"] is None:
        return None
    spread = row["spread"] * math.sqrt(row["units"])
    each = row["n"] / row["units"]
    moved = spread > 0 and row["ties"] < row["n"]
    units = needed(margin / spread, alpha=2 * alpha, power=_POWER) if moved else None
    if row["ties"] and margin < most:
        units = max(units or 0, math.ceil(math.log(alpha) / math.log1p(-margin / most)))
    return None if units is None else math.ceil(units * each)


def _limits(rule: Rule, matrix: Matrix, measure: str) -> Iterator[GateOutcome]:
    """Compare the candidate's mean with its floor and ceiling; equality passes."""
    mean = float(matrix.units.mean[1])
    for limit, name, met in (
        (
            rule.floor,
            "floor",
            rule.floor is not None and mean >= rule.floor - _ROUNDING,
        ),
        (
            rule.ceiling,
            "ceiling",
            rule.ceiling is not None and mean <= rule.ceiling + _ROUNDING,
        ),
    ):
        if limit is not None:
            text = (
                f"{mean:.4f}, {'minimum' if name == 'floor' else 'maximum'} {limit:g}"
            )
            yield GateOutcome(
                "rule",
                f"{measure} {name}",
                _pass_or(met, "fail"),
                text,
                {"mean": mean, name: limit},
            )


def _drops(by: float, most: int, matrix: Matrix, measure: str) -> GateOutcome:
    """Compare the number of queries that lose more than ``by`` with what is allowed."""
    loss = -matrix.differences(1, 0) * (-1.0 if matrix.direction == "lower" else 1.0)
    places = np.flatnonzero(loss > by + _ROUNDING)
    worst = places[np.argsort(-loss[places], kind="stable")][:3]
    lose = counted(len(places), "query loses", "queries lose")
    text = f"{lose} more than {by:g}, allowed: {most:,}"
    if len(places):
        names = [str(matrix.queries[int(at)]) for at in worst]
        text += f": {', '.join(names)}{' …' if len(places) > len(worst) else ''}"
    return GateOutcome(
        "rule",
        f"{measure} drops",
        _pass_or(len(places) <= most, "fail"),
        text,
        {"drops": len(places)},
    )


def _pass_or(passed: bool, otherwise: str) -> str:  # noqa: FBT001 - the condition itself
    return "pass" if passed else otherwise
