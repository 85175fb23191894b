"""What a threshold on graded judgments decides: the number, and who wins.

Binary measures turn grades into relevant and not relevant.  Where the line is drawn is a choice, and
everything that depends on it is shown here: the value at every threshold, how far it moves, whether
two runs change places, and how many preferences between documents the line wipes out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.errors import BadParameter
from rankstone.evaluation import Evaluator, name_runs
from rankstone.measures import Measure, Threshold, parse_measures
from rankstone.results import WritesReport, as_pandas, shown_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    found = sorted(set(ideal.grade[ideal.grade > 0].tolist())) if levels is None else sorted(set(levels))
    if not found:
        raise BadParameter("there is no grade above 0, so there is nothing to put a threshold to")
    cut = [(m, level, replace(m, rel=Threshold(level))) for m in asked for level in found]  # type: ignore[call-arg]
    scores = ready.asking([measure for _, _, measure in cut]).runs(name_runs(runs), progress)
    return Thresholds(scores, _values(scores, cut), _pairs(ideal, found))


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
        ``run``, ``measure``, ``rel``, ``value``, ``n``.
    pairs
        For each threshold: ``rel``, ``pairs`` (of documents of one query with different grades),
        ``kept`` (of these, with the threshold between them), ``loss`` (the share wiped out).
    """

    scores: Scores
    values: pl.DataFrame
    pairs: pl.DataFrame

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
        schema = {"measure": pl.String, "rel": pl.Float64, "other": pl.Float64}
        schema |= {"tau_b": pl.Float64, "reversal": pl.Float64, "swapped": pl.List(pl.List(pl.String))}  # type: ignore[dict-item]
        return pl.DataFrame(rows, schema, orient="row")

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not imported here
        """Return :attr:`values` as a pandas frame (needs pandas)."""
        return as_pandas(self.values)

    def report(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        tables = ("values", "sensitivity", "reversals", "pairs")
        return {name: getattr(self, name).to_dicts() for name in tables} | {
            "audit": self.scores.audit.to_dict(),
            "conventions": dict(self.scores.conventions),
            "inputs": dict(self.scores.inputs),
        }

    def __repr__(self) -> str:
        with shown_whole():
            tables = (self.values, self.sensitivity, self.pairs)
            return "\n".join([*map(str, tables), *self.scores.audit.lines()])


def _values(scores: Scores, cut: list[tuple[Measure, float, Measure]]) -> pl.DataFrame:
    named = pl.DataFrame(
        [(str(measure), level, str(with_level)) for measure, level, with_level in cut],
        {"measure": pl.String, "rel": pl.Float64, "text": pl.String},
        orient="row",
    )
    means = scores.mean().rename({"measure": "text"})
    joined = (
        pl.DataFrame({"run": list(scores.runs)})
        .join(named, how="cross")
        .join(means, on=["run", "text"], how="left", maintain_order="left")
    )
    return joined.select("run", "measure", "rel", "value", "n")


def _pairs(ideal: Ideal, levels: list[float]) -> pl.DataFrame:
    """Count the pairs of documents with different grades, and those a threshold keeps apart."""
    judged = np.diff(ideal.offsets)
    fresh = np.ones(len(ideal.grade), bool)
    fresh[1:] = (ideal.grade[1:] != ideal.grade[:-1]) | (ideal.query[1:] != ideal.query[:-1])
    alike = np.diff(np.append(np.flatnonzero(fresh), len(fresh)))
    pairs = int((judged * judged).sum() - (alike * alike).sum()) // 2
    rows = []
    for level in levels:
        above = ideal.count(ideal.grade >= level)
        kept = int((above * (judged - above)).sum())
        rows.append((level, pairs, kept, 1 - kept / pairs if pairs else None))
    schema = {"rel": pl.Float64, "pairs": pl.Int64, "kept": pl.Int64, "loss": pl.Float64}
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
