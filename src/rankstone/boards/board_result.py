"""The result of a board: its table, the order under other rules and without single data sets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone._basics import percentage, some
from rankstone.boards.board_explanation import BoardExplanation, explain_place
from rankstone.boards.cells import RANKED
from rankstone.boards.placed_systems import PlacedSystems
from rankstone.boards.rank_tests import friedman_test, posthoc_test
from rankstone.boards.ranked_systems import span
from rankstone.errors import UsageError, did_you_mean, printable
from rankstone.stats.rank_intervals import FEW
from rankstone.tables.sheet import cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from rankstone._basics import Ints
    from rankstone.stats.reliability import Reliability
    from rankstone.tables.sheet import Kind


#: the reliability of an order that is usually wanted (Urbano and others 2013)
_TARGET: Final = 0.95
#: the weak half makes an order reliable where without it the error is this many times as large
_TAIL: Final = 2
#: half of the systems are at least so many
_HALF: Final = 5
#: a board separates its systems where this share of neighbours is separated
_CARRIES: Final = 0.2


class Board(PlacedSystems):
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

    def friedman(self) -> pl.DataFrame:
        """Return Friedman's test: see :func:`rankstone.boards.rank_tests.friedman_test`."""
        return friedman_test(self)

    def posthoc(self, test: str = "nemenyi") -> pl.DataFrame:
        """Return classical tests of every pair: see :func:`rankstone.boards.rank_tests.posthoc_test`."""
        return posthoc_test(self, test)

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
        number = self.scores.systems.index(system)
        if versus:
            return explain_place(self, number, self.scores.systems.index(versus))

        place = int(np.flatnonzero(self.order == number)[0])
        neighbour = self.order[abs(place - 1)]
        return explain_place(self, number, int(neighbour))

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
        intervals = self.intervals
        n, items = self.has.shape
        yield from self.leading()
        if n >= FEW and self.apart < _CARRIES * (items - 1):
            yield self.say_first(
                "cannot_rank",
                n=n,
                width=int(np.median(intervals.high - intervals.low + 1)),
                items=items,
            )
        if self.resample != "queries" and n < FEW:
            yield self.say_first("few", n=n, few=FEW)
        if lost := int((~self.has).sum()):
            share = f"{100 * lost / self.has.size:.3g} %"
            yield self.say_first(
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
        for dataset, ranks in enumerate(self.without):
            if ranks[self.order[0]] > 1:
                leader = int(ranks.argmin())
                name = printable(self.scores.datasets[dataset], 40)
                leaders.setdefault(leader, []).append(name)
        for leader, datasets in leaders.items():
            yield self.say_first(
                "decides",
                datasets=some(datasets, 4),
                system=printable(self.systems[leader], 40),
            )

    def _predicted(self) -> Iterator[str]:
        """Yield how well missing scores are predicted, and which systems have too few."""
        scale = self.rule.scale
        if self.rule.missing == "model" and not np.isnan(scale.error):
            kind = self.say(f"scale_{scale.name}")
            yield self.say("predicted", scale=kind, error=f"{scale.error:.2g}")
        rare = np.flatnonzero(~self.found.supported).tolist()
        if rare:
            names = some(printable(self.systems[system], 40) for system in rare)
            least = self.found.cells_needed
            yield self.say_first("unsupported", names=names, least=least)

    def _reliable(self) -> Iterator[str]:
        """Yield the coefficients of generalisability, and how many data sets would be enough."""
        if (reliability := self.reliability) is None or self.rule.estimate in RANKED:
            return
        if not self.found.fit.pooled:  # no spread within systems is no certainty
            return
        if self.shards:
            parts = {name: part for name, _, part in self.shards if part is not None}
            error = sum(parts.values())
            whole = self.shards[0][1] + error
            reliable = self.shards[0][1] / (whole or 1.0)
            of_queries = parts["system × query"] / (error or 1.0)
            share = percentage(of_queries)
            yield self.say("crossed", order=f"{reliable:.2f}", share=share)
            return
        low, high = reliability.interval(self.confidence)
        numbers = {"low": f"{low:.2f}", "high": f"{high:.2f}", "level": self.level}
        order = f"{reliability.coefficient():.2f}"
        scores = f"{reliability.coefficient(absolute=True):.2f}"
        yield self.say("reliable", order=order, scores=scores, **numbers)
        yield from self._weak_tail(reliability)
        if reliability.coefficient() < _TARGET and (
            needed := reliability.datasets_needed(_TARGET)
        ):
            queries = reliability.queries_needed(_TARGET) if reliability.noise else None
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
            yield self.say("seeds", share=percentage(spread / residual)) + more
        leaders, turned = self.by_seed()
        others = int((leaders != self.order[0]).sum())
        say = self.say_first if others else self.say
        share = percentage(turned)
        yield say("seed_flips", others=others, count=len(leaders), share=share)

    def by_seed(self) -> tuple[Ints, float]:
        """Return who is first by single seeds, int64 ``[seeds]``, and the share of pairs they turn around."""
        cells = self.scores.seed_cells
        tables = []
        for seed in range(min(map(len, cells.values()))):
            tables.append(self.scores.values.copy())
            for place, means in cells.items():
                tables[-1][place] = means[seed]
        parts = map(self.rule.parts, tables)
        seed_means = np.stack([self.rule.means(part) for part in parts])
        seed_means[:, ~self.found.supported] = np.nan
        gaps = seed_means[:, :, None] - seed_means[:, None]
        now = self.means[:, None] - self.means
        pairs = len(tables) * len(now) * (len(now) - 1)
        turned = float((gaps * now < 0).sum())
        return np.nanargmax(seed_means, axis=1), turned / pairs

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
        own[self.rule.estimate] = cell(number, digits=digits)
        if number is None:
            own |= dict.fromkeys(("rank", "left_out", "rules"), "–")
        return super().cells(row, digits) | own

    def method_lines(self) -> Iterator[str]:
        """Yield what is resampled, the estimate, and what columns mean."""
        yield from map(self.say, (f"about_{self.resample}", f"is_{self.rule.estimate}"))
        yield self.say("columns", level=self.level)

    def method_in_brief(self) -> Iterator[str]:
        """Yield what the columns of the first screen mean."""
        estimate = self.say(f"is_{self.rule.estimate}")
        name = f"first_columns_{self.resample}"
        yield self.say(name, level=self.level, estimate=estimate)
