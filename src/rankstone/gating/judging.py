"""What each rule and guard says of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.gating.result import Outcome
from rankstone.stats import needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.comparing import Comparison
    from rankstone.comparing.matrix import Matrix
    from rankstone.gating.config import Config, Rule

__all__ = ["guarded", "ruled"]

#: sums are rounded; a mean this little below a floor is on it
_ROUNDING = 1e-12


def guarded(config: Config, found: Comparison) -> Iterator[Outcome]:
    """Say which guards hold."""
    guards = config.guards
    if guards.qrels_sha256 is not None:
        own = found.hashes().get("judgments")
        same = own == guards.qrels_sha256.lower()
        text = "the judgments are those agreed on" if same else f"other judgments: SHA-256 {own or 'unknown'}"
        yield Outcome("guard", "qrels_sha256", "pass" if same else "not comparable", text)
    if guards.queries is not None:
        fewest = min(len(matrix) for matrix in found.matrices.values())
        text = f"{fewest:,} queries, {guards.queries:,} are wanted"
        yield Outcome("guard", "queries", _or(fewest >= guards.queries, "not comparable"), text)
    if guards.judged is not None:
        yield from _judged(guards.judged, found)


def _judged(least: float, found: Comparison) -> Iterator[Outcome]:
    means = found.means
    for system in found.systems:
        share = means.filter(system=system)["judged"].to_list()[0]
        name = f"{'Judged' if found.judged is None else found.judged[0]} of {system}"
        if share is None:
            text = "not known: scores per query were given, and no judgments"
            yield Outcome("guard", name, "not comparable", text)
        else:
            text = f"{share:.4f}, at least {least:g} is wanted"
            yield Outcome("guard", name, _or(share >= least - _ROUNDING, "not comparable"), text)


def ruled(config: Config, found: Comparison) -> Iterator[Outcome]:
    """Say which rules hold."""
    for rule in config.rules:
        matrix = found.matrices[_canonical(rule.measure, found)]
        if rule.margin is not None:
            row = found.table.filter(measure=matrix.measure).row(0, named=True)
            yield _margin(rule.margin, matrix, row, matrix.measure, found.how.power)
            yield from _in_segments(rule.margin, matrix, found)
        yield from _absolute(rule, matrix)
        if rule.drops is not None:
            yield _drops(rule.drops.by, rule.drops.most, matrix)


def _canonical(text: str, found: Comparison) -> str:
    """Return the name under which a comparison knows a measure."""
    from rankstone.measures import parse_measure

    return text if text in found.matrices else str(parse_measure(text))


def _in_segments(margin: float, matrix: Matrix, found: Comparison) -> Iterator[Outcome]:
    if found.segments is None:
        return
    by = found.segments.columns[: found.segments.columns.index("measure")]
    for row in found.segments.filter(measure=matrix.measure).iter_rows(named=True):
        segment = ", ".join(f"{name}={row[name]}" for name in by)
        yield _margin(margin, matrix, row, f"{matrix.measure} where {segment}", found.how.power)


def _margin(margin: float, matrix: Matrix, row: dict[str, Any], name: str, power: float) -> Outcome:
    """Hold the interval of a difference against the margin."""
    sign = -1.0 if matrix.direction == "lower" else 1.0
    low, high = sorted(sign * (math.nan if row[end] is None else row[end]) for end in ("low", "high"))
    difference = sign * row["difference"]
    said = (
        f"{row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]" if row["low"] is not None else "?"
    )
    text = f"{said}, may be {margin:g} worse"
    numbers = {name: row[name] for name in ("mean", "mean_versus", "difference", "low", "high", "confidence")}
    numbers |= {"margin": margin, "n": row["n"]}
    if low >= -margin - _ROUNDING:
        return Outcome("rule", name, "pass", text, numbers)
    if high < -margin:
        return Outcome("rule", name, "fail", text, numbers)
    if difference > -margin and row["error"]:
        effect = (difference + margin) / (row["error"] * math.sqrt(row["units"]))
        more = needed(effect, alpha=1 - row["confidence"], power=power)
        text += "" if more is None else f"; {more:,} queries would decide if that were the truth"
    return Outcome("rule", name, "inconclusive", text, numbers)


def _absolute(rule: Rule, matrix: Matrix) -> Iterator[Outcome]:
    """Hold the candidate's mean against its floor and ceiling; equality passes."""
    mean = float(matrix.units.mean[1])
    for limit, name, holds in (
        (rule.floor, "floor", rule.floor is not None and mean >= rule.floor - _ROUNDING),
        (rule.ceiling, "ceiling", rule.ceiling is not None and mean <= rule.ceiling + _ROUNDING),
    ):
        if limit is not None:
            text = f"{mean:.4f}, {'at least' if name == 'floor' else 'at most'} {limit:g} is wanted"
            yield Outcome(
                "rule", f"{matrix.measure} {name}", _or(holds, "fail"), text, {"mean": mean, name: limit}
            )


def _drops(by: float, most: int, matrix: Matrix) -> Outcome:
    """Count the queries that lose more than ``by``."""
    loss = -matrix.differences(1, 0) * (-1.0 if matrix.direction == "lower" else 1.0)
    places = np.flatnonzero(loss > by + _ROUNDING)
    worst = places[np.argsort(-loss[places], kind="stable")][:3]
    text = f"{len(places):,} queries lose more than {by:g}, {most:,} may"
    if len(places):
        names = [str(matrix.queries[int(at)]) for at in worst]
        text += f": {', '.join(names)}{' …' if len(places) > len(worst) else ''}"
    return Outcome(
        "rule", f"{matrix.measure} drops", _or(len(places) <= most, "fail"), text, {"drops": len(places)}
    )


def _or(holds: bool, otherwise: str) -> str:  # noqa: FBT001 - what was found
    return "pass" if holds else otherwise
