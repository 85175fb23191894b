"""The result of a board: its table, the order under other rules and without single data sets."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, some
from rankstone.boards.board_explanation import BoardExplanation, explain_place
from rankstone.boards.cells import ESTIMATES, MISSING, RANKED
from rankstone.boards.rank_tests import friedman_test, posthoc_test
from rankstone.boards.ranked_systems import RankedSystems, places, span
from rankstone.errors import UsageError, did_you_mean, printable
from rankstone.stats.rank_intervals import FEW
from rankstone.stats.variance_components import Reliability, order_components

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Bools, Floats, Ints
    from rankstone.boards.board_scores import BoardScores
    from rankstone.boards.cells import Estimated, ScoringRule
    from rankstone.stats.rank_intervals import DrawnErrors, MeanErrors, RankIntervals
    from rankstone.tables.sheet import Kind


#: the reliability of an order that is usually wanted (Urbano and others 2013)
_TARGET: Final = 0.95
#: the weak half makes an order reliable where without it the error is this many times as large
_TAIL: Final = 2
#: half of the systems are at least so many
_HALF: Final = 5
#: a board separates its systems where this share of neighbours is separated
_CARRIES: Final = 0.2


class Board(RankedSystems, Record):
    """Systems ranked over data sets, and how sure the ranks are.

    Attributes
    ----------
    scores
        The scores as they were read.
    found
        The number of each system, and how it came about.
    resample
        ``datasets`` if the doubt is about data sets like these, ``queries`` if it is about these, ``both``.
    confidence
        Confidence of all intervals of ranks together.
    errors
        The errors of these numbers.
    intervals
        The ranks that the errors leave to each system.
    drawn
        float64 ``[resamples, systems]``: the true means, higher is better, as they may be.
    seed, resamples
        Seed of the draws, and how many samples of the bootstrap.
    lang
        Language of sentences.
    """

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
                _ranks(self.rule.without(at), np.delete(values, at, 0))
                for at in range(len(values))
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
        names = {"system": [self.scores.systems[at] for at in self.order]}
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
        for at, ranks in enumerate(self.without):
            moved = np.abs(ranks - now)
            rows.append(
                (
                    self.scores.datasets[at],
                    float(share[at]),
                    int(self.has[at].sum()),
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

    def friedman(self) -> pl.DataFrame:
        """Return Friedman's test: see :func:`rankstone.boards.rank_tests.friedman_test`."""
        return friedman_test(self)

    def posthoc(self, test: str = "nemenyi") -> pl.DataFrame:
        """Return classical tests of every pair: see :func:`rankstone.boards.rank_tests.posthoc_test`."""
        return posthoc_test(self, test)

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
        return Reliability.of(better, queries)

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
        found = self.reliability
        if found is None:
            return pl.DataFrame(
                schema={
                    "source": pl.String,
                    "variance": pl.Float64,
                    "share": pl.Float64,
                }
            )
        n = len(self.has)
        parts = self.shards or [
            ("system", found.between, None),
            ("data set", found.level, None),
            ("system × data set", found.interaction, found.interaction / n),
        ]
        if found.noise and not self.shards:
            parts.append(("query", found.queries, None))
            parts.append(("system × query", found.noise, found.noise * found.each / n))
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
        above = (self.drawn > one[:, None] for one in self.drawn.T)
        below = np.stack([share.mean(axis=0) for share in above])
        chances: Floats = (1 - below + below.T) / 2 + 0 * self.drawn[0]
        return chances

    def explain(self, system: str, versus: str | None = None) -> BoardExplanation:
        """Return how a system's place came about: what each data set gave and took.

        Parameters
        ----------
        system
            The system.
        versus
            The system that it is compared with; by default the one above it, and below it for the first.
        """
        for name in (system, *([versus] if versus else [])):
            if name not in self.scores.systems:
                known = self.scores.systems
                raise UsageError(
                    f"there is no system {printable(name)}",
                    fix=did_you_mean(name, known),
                )
        at = self.scores.systems.index(system)
        place = int(np.flatnonzero(self.order == at)[0])
        near = self.order[abs(place - 1)]
        return explain_place(
            self, at, self.scores.systems.index(versus) if versus else int(near)
        )

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "measure": self.scores.measure,
            "estimate": self.rule.estimate,
            "missing": self.rule.missing,
            "resample": self.resample,
            "confidence": self.confidence,
            "conventions": self.conventions,
            "inputs": dict(self.inputs),
            "board": self.table.to_dicts(),
            "by_rule": self.by_rule().to_dicts(),
            "by_dataset": self.by_dataset().to_dicts(),
            "components": self.components().to_dicts(),
            "friedman": self.friedman().to_dicts()
            if len(self.complete) > 1 < len(self.has)
            else None,
            "findings": list(self.findings()),
            "notes": list(self.notes),
        }

    def findings(self, digits: int = 4) -> Iterator[str]:  # noqa: ARG002 - ranks have none
        """Yield what the board shows, in sentences."""
        say = self.say
        found = self.intervals
        n, items = self.has.shape
        yield from self.leading()
        if n >= FEW and self.apart < _CARRIES * (items - 1):
            yield say(
                "cannot_rank",
                n=n,
                width=int(np.median(found.high - found.low + 1)),
                items=items,
            )
        if self.resample != "queries" and n < FEW:
            yield say("few", n=n, few=FEW)
        if lost := int((~self.has).sum()):
            share = f"{100 * lost / self.has.size:.3g} %"
            yield say(
                f"missing_{self.rule.missing}",
                lost=f"{lost:,}",
                all=f"{self.has.size:,}",
                share=share,
            )
            yield from self._predicted()
        yield from self._seeds()
        yield from self._reliable()
        yield from self.moves()
        leaders: dict[int, list[str]] = {}
        for at, ranks in enumerate(self.without):
            if ranks[self.order[0]] > 1:
                other = int(ranks.argmin())
                leaders.setdefault(other, []).append(
                    printable(self.scores.datasets[at], 40)
                )
        for other, datasets in leaders.items():
            yield say(
                "decides",
                datasets=some(datasets, 4),
                system=printable(self.systems[other], 40),
            )

    def _predicted(self) -> Iterator[str]:
        """Yield how well missing scores are predicted, and which systems have too few."""
        scale = self.rule.scale
        if self.rule.missing == "model" and not np.isnan(scale.error):
            kind = self.say(f"scale_{scale.name}")
            yield self.say("predicted", scale=kind, error=f"{scale.error:.2g}")
        rare = np.flatnonzero(~self.found.supported).tolist()
        if rare:
            names = some(printable(self.systems[at], 40) for at in rare)
            least = self.found.cells_needed
            yield self.say("unsupported", names=names, least=least)

    def _reliable(self) -> Iterator[str]:
        """Yield the coefficients of generalisability, and how many data sets would be enough."""
        if (found := self.reliability) is None or self.rule.estimate in RANKED:
            return
        if not self.found.fit.pooled:  # no spread within systems is no certainty
            return
        if self.shards:
            parts = {name: part for name, _, part in self.shards if part is not None}
            error = sum(parts.values())
            whole = self.shards[0][1] + error
            reliable = self.shards[0][1] / (whole or 1.0)
            of_queries = parts["system × query"] / (error or 1.0)
            share = f"{100 * of_queries:.2g} %"
            yield self.say("crossed", order=f"{reliable:.2f}", share=share)
            return
        low, high = found.interval(self.confidence)
        numbers = {"low": f"{low:.2f}", "high": f"{high:.2f}", "level": self.level}
        order = f"{found.coefficient():.2f}"
        scores = f"{found.coefficient(absolute=True):.2f}"
        yield self.say("reliable", order=order, scores=scores, **numbers)
        yield from self._weak_tail(found)
        if found.coefficient() < _TARGET and (needed := found.datasets_needed(_TARGET)):
            queries = found.queries_needed(_TARGET) if found.noise else None
            more = self.say("or_queries", queries=f"{queries:,}") if queries else ""
            yield self.say(
                "data_sets_needed", needed=f"{needed:,}", target=_TARGET, more=more
            )

    def _weak_tail(self, whole: Reliability) -> Iterator[str]:
        """Yield that the weaker half of the systems makes the order look reliable."""
        better_half = self.complete[: len(self.complete) // 2]
        if len(better_half) < _HALF:
            return
        half = self._reliability(better_half)
        if half is None:
            return
        reliable = half.coefficient()
        if 1 - reliable > _TAIL * (1 - whole.coefficient()):
            yield self.say("weak_tail", half=f"{reliable:.2f}")

    def _seeds(self) -> Iterator[str]:
        """Yield the share of seeds in the residual variance, how many would pay, what single ones say."""
        if not self.scores.seed_cells:
            return
        spread = float(self.scores.seed_variance.mean())
        residual = self.found.fit.pooled
        if 0 < spread < residual:
            most = max(map(len, self.scores.seed_cells.values()))
            times = math.ceil(9 * most * spread / (residual - spread))
            more = ""
            if times > most:
                more = self.say("more_seeds", times=times)
            yield self.say("seeds", share=f"{100 * spread / residual:.2g} %") + more
        leaders, turned = self.by_seed()
        others = int((leaders != self.order[0]).sum())
        yield self.say(
            "seed_flips",
            others=others,
            count=len(leaders),
            share=f"{100 * turned:.2g} %",
        )

    def by_seed(self) -> tuple[Ints, float]:
        """Return who is first by single seeds, int64 ``[seeds]``, and the share of pairs they turn around."""
        cells = self.scores.seed_cells
        tables = []
        for at in range(min(map(len, cells.values()))):
            tables.append(self.scores.values.copy())
            for cell, means in cells.items():
                tables[-1][cell] = means[at]
        parts = map(self.rule.parts, tables)
        found = np.stack([self.rule.means(part) for part in parts])
        found[:, ~self.found.supported] = np.nan
        gaps = found[:, :, None] - found[:, None]
        now = self.means[:, None] - self.means
        pairs = len(tables) * len(now) * (len(now) - 1)
        turned = float((gaps * now < 0).sum())
        return np.nanargmax(found, axis=1), turned / pairs

    def title(self) -> str:
        """Return how many systems and data sets there are, and the measure."""
        measure = printable(self.scores.measure, 60)
        return self.say(
            "title", items=len(self.means), n=len(self.has), measure=measure
        )

    def columns(self) -> dict[str, Kind]:
        """Return the columns that are shown, and their kinds."""
        columns: dict[str, Kind] = {
            "rank": "number",
            "system": "id",
            self.rule.estimate: "number",
        }
        columns |= {
            "ranks": "interval",
            "alone": "interval",
            "first": "number",
            "tier": "number",
        }
        columns |= {} if self.has.all() else {"datasets": "number"}
        columns |= {"left_out": "interval"} if len(self.without) else {}
        return columns | {"rules": "interval"}

    def cells(self, row: Mapping[str, Any], digits: int) -> dict[str, str]:
        """Return what is shown of a row of the table, by column."""
        number = row[self.rule.estimate]
        own = {"datasets": str(row["datasets"]), "left_out": span(row, "without")}
        own[self.rule.estimate] = "–" if number is None else f"{number:.{digits}f}"
        if number is None:
            own |= dict.fromkeys(("rank", "left_out", "rules"), "–")
        return super().cells(row, digits) | own

    def method_lines(self) -> Iterator[str]:
        """Yield what is resampled, the estimate, and what columns mean."""
        yield from map(self.say, (f"about_{self.resample}", f"is_{self.rule.estimate}"))
        yield self.say("columns", level=self.level)


def _tau(one: Ints, other: Ints) -> float:
    """Return Kendall's τ-b of two rankings of the same systems."""
    first = np.sign(one[:, None] - one).astype(np.float32)
    second = np.sign(other[:, None] - other).astype(np.float32)
    untied = float((first**2).sum())
    other_untied = float((second**2).sum())
    pairs = math.sqrt(untied * other_untied)
    if not pairs:
        return 1.0
    return float((first * second).sum()) / pairs


def _ranks(rule: ScoringRule, values: Floats) -> Ints:
    """Return the ranks of systems under a rule; those without any score are last."""
    some_score = ~np.isnan(values).all(axis=0)
    found = np.full(values.shape[1], np.nan)
    kept = values[:, some_score]
    kept = kept[~np.isnan(kept).all(axis=1)]
    found[some_score] = rule.means(rule.parts(kept))
    return places(found)
