"""The systems of a board: their means, ranks and errors, under other rules and without single data sets."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.boards.cells import ESTIMATES, MISSING
from rankstone.boards.ranked_systems import RankedSystems, places
from rankstone.stats.reliability import Reliability
from rankstone.stats.variance_components import order_components

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.boards.board_scores import BoardScores
    from rankstone.boards.cells import Estimated, ScoringRule
    from rankstone.stats.rank_intervals import DrawnErrors, MeanErrors, RankIntervals


class PlacedSystems(RankedSystems, Record):
    """The systems of a board, by what is known of their places; see :class:`.Board`."""

    scores: BoardScores
    found: Estimated
    resample: str
    confidence: float
    errors: MeanErrors | DrawnErrors
    intervals: RankIntervals
    drawn: Floats
    seed: int = 0
    resamples: int = 0
    lang: str = "en"

    @property
    def inputs(self) -> Mapping[str, str]:
        """The sources of the scores."""
        return self.scores.sources

    @property
    def conventions(self) -> dict[str, Any]:
        """The options that the numbers depend on."""
        rule = self.rule
        return {
            "estimate": rule.estimate,
            "missing": rule.missing,
            "resample": self.resample,
        } | {
            "confidence": self.confidence,
            "seed": self.seed,
            "resamples": self.resamples,
        }

    @property
    def notes(self) -> Sequence[str]:
        """What was noticed while reading."""
        return self.scores.notes

    @property
    def rule(self) -> ScoringRule:
        """How scores became one number."""
        return self.found.rule

    @property
    def means(self) -> Floats:
        """The number of each system, higher is better, float64 ``[systems]``; NaN if it is not supported."""
        return np.where(self.found.supported, self.found.means, np.nan)

    @property
    def systems(self) -> Sequence[str]:
        """The names of the systems."""
        return self.scores.systems

    @cached_property
    def first(self) -> Floats:
        """The chance of each system to be the best, float64 ``[systems]``; NaN where no error is known."""
        best = self.drawn.argmax(axis=1)
        counts = np.bincount(best, minlength=len(self.means))
        # draws that are not known leave no chance
        share: Floats = counts / len(best) + 0 * self.drawn[0]
        return share

    @cached_property
    def has(self) -> Bools:
        """True where there is a score, bool ``[datasets, systems]``."""
        return ~np.isnan(self.scores.values)

    @cached_property
    def without(self) -> Ints:
        """The ranks if a data set is left out, int64 ``[datasets, systems]``; none for a single data set."""
        values = self._ranked_values
        if len(values) < 2:  # noqa: PLR2004 - nothing would be left
            return np.empty((0, values.shape[1]), np.int64)
        return np.stack(
            [
                _ranks(self.rule.without(dataset), np.delete(values, dataset, 0))
                for dataset in range(len(values))
            ]
        )

    @cached_property
    def under_rules(self) -> Mapping[str, Ints]:
        """The ranks under every other estimate that the scores allow, and other rules for missing scores."""
        rules = {
            name: replace(self.rule, estimate=name)
            for name in ESTIMATES
            if name not in (self.rule.estimate, "micro", "weighted")
            and (name != "geometric_mean" or np.nanmin(self.scores.values) > 0)
        }
        equal = np.ones(len(self.scores.datasets))
        rules = {name: replace(rule, weights=equal) for name, rule in rules.items()}
        if not self.has.all():
            others = [
                name for name in MISSING if name not in ("error", self.rule.missing)
            ]
            rules |= {
                f"missing={name}": replace(self.rule, missing=name) for name in others
            }
        return {name: _ranks(rule, self._ranked_values) for name, rule in rules.items()}

    @property
    def _ranked_values(self) -> Floats:
        return np.where(self.found.supported, self.scores.values, np.nan)

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each system, see :meth:`to_frame`."""
        left = np.concatenate([places(self.means)[None], self.without])
        others = {
            "datasets": self.has.sum(axis=0),
            "without_low": left.min(axis=0),
            "without_high": left.max(axis=0),
        }
        numbers = {self.rule.estimate: self.rule.shown(self.means)}
        return self.ranked(numbers, others)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each system, the best first.

        Returns
        -------
        polars.DataFrame
            ``rank``, ``system`` and the estimate by its name; ``rank_low`` and ``rank_high``, the ranks that
            clear differences leave, of all systems together; ``single_low`` and ``single_high``, the same for
            a system chosen beforehand; ``first``, the chance that it is the best; ``tier``;
            ``datasets``, how many scores it has; ``without_low`` and ``without_high``, its ranks if any data
            set is left out; ``rules_low`` and ``rules_high``, its ranks under other rules.  A system with too
            few scores for a mean comes last.
        """
        return self.table

    def by_rule(self) -> pl.DataFrame:
        """Return the rank of each system under each rule: ``system``, then a column for each rule."""
        columns = {self.rule.estimate: places(self.means), **self.under_rules}
        names = {"system": [self.scores.systems[system] for system in self.order]}
        return pl.DataFrame(
            names
            | {name: ranks[self.order].tolist() for name, ranks in columns.items()}
        )

    def by_dataset(self) -> pl.DataFrame:
        """Return what happens without each data set.

        Returns
        -------
        polars.DataFrame
            ``dataset``, ``weight`` (its share), ``scores`` (how many systems have one), ``tau`` (Kendall's
            between the order with and without it), ``first`` (who is first without it), ``moved`` (the
            largest move) and ``mover`` (whose it is).
        """
        now = places(self.means)
        share = self.rule.weights / self.rule.weights.sum()
        rows = []
        for dataset, ranks in enumerate(self.without):
            moved = np.abs(ranks - now)
            rows.append(
                (
                    self.scores.datasets[dataset],
                    float(share[dataset]),
                    int(self.has[dataset].sum()),
                    _tau(ranks, now),
                    self.scores.systems[int(ranks.argmin())],
                    int(moved.max()),
                    self.scores.systems[int(moved.argmax())],
                )
            )
        names = ["dataset", "weight", "scores", "tau", "first", "moved", "mover"]
        return pl.DataFrame(rows, names, orient="row")

    @cached_property
    def complete(self) -> Ints:
        """The systems with a score on every data set, the best first."""
        return self.order[self.has[:, self.order].all(axis=0)]

    @cached_property
    def reliability(self) -> Reliability | None:
        """How well the means of systems with all scores tell them apart; ``None`` without two of both."""
        return self._reliability(self.complete)

    def _reliability(self, chosen: Ints) -> Reliability | None:
        better = self.scores.values[:, chosen]
        if min(better.shape) < 2:  # noqa: PLR2004 - variances
            return None
        names = (
            self.scores.datasets
            if set(self.scores.queries) == set(self.scores.datasets)
            else ()
        )
        queries = [self.scores.queries[name][:, chosen] for name in names]
        return Reliability.from_means(better, queries)

    @cached_property
    def shards(self) -> list[tuple[str, float, float | None]]:
        """Components where all data sets have the same queries: see :func:`order_components`; else empty."""
        cube = self.scores.crossed()
        if cube is None or min(cube[self.complete].shape) < 2:  # noqa: PLR2004 - variances
            return []
        return order_components(cube[self.complete], ("system", "data set", "query"))

    def components(self) -> pl.DataFrame:
        """Return the variance components of the scores of systems that have all of them.

        Returns
        -------
        polars.DataFrame
            ``source``: system, data set, their interaction, where scores per query are known query and
            system × query, and seed where there are several; ``variance``, of a single one of them, and
            ``share`` of the error of an order, of which that of seeds is a part.  Data sets with the same
            queries are shards: the three factors are crossed, with all their interactions.
        """
        reliability = self.reliability
        if reliability is None:
            return pl.DataFrame(
                schema={
                    "source": pl.String,
                    "variance": pl.Float64,
                    "share": pl.Float64,
                }
            )
        n = len(self.has)
        parts = self.shards or [
            ("system", reliability.between, None),
            ("data set", reliability.level, None),
            ("system × data set", reliability.interaction, reliability.interaction / n),
        ]
        if reliability.noise and not self.shards:
            parts.append(("query", reliability.queries, None))
            parts.append(
                (
                    "system × query",
                    reliability.noise,
                    reliability.noise * reliability.each / n,
                )
            )
        error = n * sum(part or 0.0 for _, _, part in parts)
        rows: list[tuple[str, float, float | None]] = [
            (name, variance, n * part / error if part is not None and error else None)
            for name, variance, part in parts
        ]
        if self.scores.seeds:
            spread = float(self.scores.seed_variance.mean())
            single = spread * float(
                np.mean([len(means) for means in self.scores.seeds.values()])
            )
            rows.append(("seed", single, min(spread / error, 1.0) if error else None))
        return pl.DataFrame(rows, ["source", "variance", "share"], orient="row")

    def chance_better(self) -> Floats:
        """Return the chance that the row is better than the column, float64 ``[systems, systems]``.

        It is that of the two by the posterior of all means (see
        :func:`~rankstone.stats.posterior_means.posterior_means`); 0.5 on the diagonal, NaN where no error is
        known.
        """
        above = (self.drawn > draws[:, None] for draws in self.drawn.T)
        below = np.stack([share.mean(axis=0) for share in above])
        chances: Floats = (1 - below + below.T) / 2 + 0 * self.drawn[0]
        return chances


def _tau(ranks: Ints, versus: Ints) -> float:
    """Return Kendall's τ-b of two rankings of the same systems."""
    first = np.sign(ranks[:, None] - ranks).astype(np.float32)
    second = np.sign(versus[:, None] - versus).astype(np.float32)
    untied = float((first**2).sum())
    other_untied = float((second**2).sum())
    pairs = math.sqrt(untied * other_untied)
    if not pairs:
        return 1.0
    return float((first * second).sum()) / pairs


def _ranks(rule: ScoringRule, values: Floats) -> Ints:
    """Return the ranks of systems under a rule; those without any score are last."""
    some_score = ~np.isnan(values).all(axis=0)
    means = np.full(values.shape[1], np.nan)
    kept = values[:, some_score]
    kept = kept[~np.isnan(kept).all(axis=1)]
    means[some_score] = rule.means(rule.parts(kept))
    return places(means)
