"""What a threshold on graded judgments decides: the number, and who wins.

Binary measures turn grades into relevant and not relevant.  Where the line is drawn is a choice, and
everything that depends on it is shown here: the value at every threshold with its interval, how far it
moves, where two runs change places, and how many preferences between documents the line wipes out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.comparing import intervals
from rankstone.errors import BadParameter
from rankstone.evaluation import Evaluator, name_runs
from rankstone.measures import Measure, Threshold, parse_measures
from rankstone.results import WritesReport, as_pandas, shown_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.evaluation import Progress
    from rankstone.hits.ideal import Ideal
    from rankstone.scores import Scores

__all__ = ["Thresholds", "thresholds"]


def thresholds(
    qrels: object,
    runs: object,
    measures: str | Measure | Sequence[str | Measure],
    *,
    levels: Sequence[float] | None = None,
    strict: bool = False,
    interval: str = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - as for evaluate
) -> Thresholds:
    """Score runs with every threshold on the grades.

    Parameters
    ----------
    qrels, runs, progress, **options
        As for :func:`~rankstone.evaluate`.
    measures
        Measures with a threshold ``rel``; one that is set already is replaced.
    levels
        Grades from which on a document is relevant; by default every grade above 0 that was given.
    strict
        Relevant is what lies above a level, not the level itself; levels are then by default 0 and every
        grade above it but the highest.
    interval, confidence, seed
        Of every value, over queries, as for :func:`~rankstone.intervals`.

    Returns
    -------
    Thresholds
        Values, how far they move, which runs change places, and the pairs a threshold wipes out.

    Raises
    ------
    BadParameter
        When a measure has no threshold.

    Examples
    --------
    >>> qrels = {"q": {"a": 4, "b": 3, "c": 2, "d": 1, "e": 3, "f": 1, "g": 2}}
    >>> study = thresholds(qrels, {"q": list("abcdefg")}, "AP")
    >>> [round(value, 6) for value in study.values["value"]]
    [1.0, 0.902857, 0.866667, 1.0]
    >>> study.pairs["kept"].to_list()
    [0, 10, 12, 6]
    """
    asked = _with_threshold(measures)
    ready = Evaluator(qrels, asked, **options)
    ideal = ready.judgments().ideal
    found = _levels(ideal, strict=strict) if levels is None else sorted({float(level) for level in levels})
    if not found:
        raise BadParameter("there is no grade above 0, so there is nothing to put a threshold to")
    lines = [Threshold(level, strict=strict) for level in found]
    cut = [(m, line, replace(m, rel=line)) for m in asked for line in lines]  # type: ignore[call-arg]
    scores = ready.asking([measure for _, _, measure in cut]).runs(name_runs(runs), progress)
    how = {"interval": interval, "confidence": confidence, "seed": seed}
    ends = intervals(scores, interval=interval, confidence=confidence, seed=seed)
    return Thresholds(scores, _values(scores, cut, ends), _pairs(ideal, lines), strict=strict, how=how)


def _levels(ideal: Ideal, *, strict: bool) -> list[float]:
    """Return the levels that tell grades apart: every grade above 0, or for > what each is just above."""
    grades = sorted(set(ideal.grade[ideal.grade > 0].tolist()))
    return [0.0, *grades][: len(grades)] if strict else grades


def _with_threshold(measures: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    found = []
    for measure in parse_measures(measures):
        if not isinstance(measure, Measure) or not hasattr(measure, "rel"):
            raise BadParameter(
                f"{measure} has no threshold", expected="measures with rel: AP, P@10, RR, R@100 …"
            )
        if "rel" in measure.changed():
            raise BadParameter(
                f"{measure} has its threshold already", fix="leave rel out: every one is tried"
            )
        found.append(measure)
    return found


@dataclass(frozen=True, eq=False)
class Thresholds(WritesReport):
    """Values at every threshold, and what follows from them.

    Attributes
    ----------
    scores
        The scores behind the values, per query too.
    values
        ``run``, ``measure``, ``rel``, ``value``, ``low``, ``high`` (null where there is no spread to know),
        ``n``.
    pairs
        For each threshold: ``rel``, ``pairs`` (of documents of one query with different grades),
        ``kept`` (of these, with the threshold between them), ``loss`` (the share wiped out), ``empty``
        (queries without a relevant document).
    strict
        Whether relevant is what lies above ``rel``, instead of from it on.
    how
        What intervals depend on.
    """

    scores: Scores
    values: pl.DataFrame
    pairs: pl.DataFrame
    strict: bool = False
    how: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def sensitivity(self) -> pl.DataFrame:
        """How far a value moves with the threshold: ``run``, ``measure``, ``low``, ``high``, ``spread``."""
        low, high = pl.col("value").min(), pl.col("value").max()
        return self.values.group_by("run", "measure", maintain_order=True).agg(
            low=low, high=high, spread=high - low
        )

    @cached_property
    def reversals(self) -> pl.DataFrame:
        """Which runs change places between two thresholds.

        ``measure``, ``rel``, ``other``, ``tau_b`` (Kendall's, between the two orders of runs; null
        where one of them is all ties), ``reversal`` (1 − tau_b) and ``swapped`` (pairs of runs).
        """
        rows: list[tuple[object, ...]] = []
        for (measure,), part in self.values.group_by("measure", maintain_order=True):
            by_level = {level: values for (level,), values in part.group_by("rel", maintain_order=True)}
            for one, other in combinations(by_level, 2):
                rows.append((measure, one, other, *_orders(by_level[one], by_level[other])))
        schema: dict[str, Any] = {"measure": pl.String, **self._line}
        schema |= {"tau_b": pl.Float64, "reversal": pl.Float64, "swapped": pl.List(pl.List(pl.String))}
        return pl.DataFrame(rows, schema, orient="row")

    @cached_property
    def crossings(self) -> pl.DataFrame:
        """Where runs change places: ``measure``, ``rel`` and ``other`` (neighbours), ``a``, ``b``."""
        levels = self.pairs["rel"].to_list()
        following = pl.DataFrame({"rel": levels[:-1], "other": levels[1:]}, self._line)
        near = self.reversals.join(following, on=["rel", "other"], maintain_order="left")
        found = near.select("measure", "rel", "other", "swapped").explode("swapped").drop_nulls()
        named = [pl.col("swapped").list.get(at).alias(name) for at, name in enumerate("ab")]
        return found.with_columns(named).drop("swapped")

    @property
    def _line(self) -> dict[str, Any]:
        return {"rel": pl.Float64, "other": pl.Float64}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not imported here
        """Return :attr:`values` as a pandas frame (needs pandas)."""
        return as_pandas(self.values)

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        tables = ("values", "sensitivity", "reversals", "crossings", "pairs")
        return {name: getattr(self, name).to_dicts() for name in tables} | {
            "strict": self.strict,
            "intervals": dict(self.how),
            "audit": self.scores.audit.to_dict(),
            "conventions": dict(self.scores.conventions),
            "inputs": dict(self.scores.inputs),
        }

    def __repr__(self) -> str:
        with shown_whole():
            tables = (self.values, self.sensitivity, self.pairs)
            return "\n".join([*map(str, tables), *self.scores.audit.lines()])


def _values(
    scores: Scores, cut: list[tuple[Measure, Threshold, Measure]], ends: pl.DataFrame
) -> pl.DataFrame:
    named = pl.DataFrame(
        [(str(measure), line.level, str(with_line)) for measure, line, with_line in cut],
        {"measure": pl.String, "rel": pl.Float64, "text": pl.String},
        orient="row",
    )
    means = scores.mean().rename({"measure": "text"})
    sure = ends.select("run", "low", "high", text="measure")
    joined = (
        pl.DataFrame({"run": list(scores.runs)})
        .join(named, how="cross")
        .join(means, on=["run", "text"], how="left", maintain_order="left")
        .join(sure, on=["run", "text"], how="left", maintain_order="left")
    )
    return joined.select("run", "measure", "rel", "value", "low", "high", "n")


def _pairs(ideal: Ideal, lines: list[Threshold]) -> pl.DataFrame:
    """Count the pairs of documents with different grades, and those a threshold keeps apart."""
    judged = np.diff(ideal.offsets)
    fresh = np.ones(len(ideal.grade), bool)
    fresh[1:] = (ideal.grade[1:] != ideal.grade[:-1]) | (ideal.query[1:] != ideal.query[:-1])
    alike = np.diff(np.append(np.flatnonzero(fresh), len(fresh)))
    pairs = int((judged * judged).sum() - (alike * alike).sum()) // 2
    rows = []
    for line in lines:
        above = ideal.count(line(ideal.grade))
        kept = int((above * (judged - above)).sum())
        lost = 1 - kept / pairs if pairs else None
        rows.append((line.level, pairs, kept, lost, int((above == 0).sum())))
    counts = dict.fromkeys(("pairs", "kept"), pl.Int64)
    schema = {"rel": pl.Float64, **counts, "loss": pl.Float64, "empty": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def _orders(one: pl.DataFrame, other: pl.DataFrame) -> tuple[float | None, float | None, list[list[str]]]:
    """Compare two orders of runs: Kendall's tau_b, one less that, and the pairs that change places."""
    before, after = one["value"].to_list(), other["value"].to_list()
    runs = one["run"].to_list()
    agree, decided, decided_after, swapped = 0, 0, 0, list[list[str]]()
    for a, b in combinations(range(len(runs)), 2):
        signs = _sign(before[a], before[b]), _sign(after[a], after[b])
        agree += signs[0] * signs[1]
        decided += signs[0] != 0
        decided_after += signs[1] != 0
        if signs[0] * signs[1] < 0:
            swapped.append([runs[a], runs[b]])
    norm = math.sqrt(decided * decided_after)
    tau = agree / norm if norm else None
    return tau, None if tau is None else 1 - tau, swapped


def _sign(a: float | None, b: float | None) -> int:
    return 0 if a is None or b is None else (a > b) - (a < b)
