"""Boards of paired comparisons: strengths of systems from who beat whom, ranks, and how sure they are."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, percentage, some
from rankstone.boards.battle_tables import BattleTable, read_battles
from rankstone.boards.ranked_systems import RankedSystems, places
from rankstone.errors import (
    BadOption,
    NotComparable,
    between_0_and_1,
    one_of,
    printable,
)
from rankstone.stats.battles import TIE, circular_triads, elo
from rankstone.stats.paired_comparisons import StrengthFit, fit_strengths
from rankstone.stats.parallel_blocks import in_blocks
from rankstone.stats.random_streams import check_count, draws
from rankstone.stats.rank_intervals import (
    DrawnErrors,
    MeanErrors,
    errors_of_differences,
    independent_directions,
    moderated_variances,
    rank_intervals,
)
from rankstone.tables.phrases import check_language
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone._basics import Columns, Floats, Ints, Progress
    from rankstone.stats.rank_intervals import RankIntervals
    from rankstone.tables.sheet import Kind, Part


#: models of battles
MODELS: Final = ("davidson", "rao_kupper", "bradley_terry")
#: what a unit of log odds is on the scale of Elo
_ELO: Final = 400 / math.log(10)
#: where its mean is put
_CENTRE: Final = 1000.0
#: with fewer clusters of equal size, or unequal ones that count as fewer, intervals are rough
_FEW: Final = 20
#: columns of clusters, for which there is a formula
_WAYS: Final = 2
#: pairs that are shown, of those that fit worst
_PAIRS: Final = 5
#: the fewest samples of the bootstrap
_FEWEST: Final = 200
#: the least share of them that can be fitted
_ENOUGH: Final = 0.99
#: resamples that move strengths by less do not move them
_NO_MOVE: Final = 1e-9


class PairedBoard(RankedSystems, Record):
    """Systems ranked by paired comparisons.

    Attributes
    ----------
    table_of
        The battles.
    fit
        The fitted model.
    clusters
        The columns that errors allow for.
    covariance
        float64 ``[parameters, parameters]``: that of strengths, effects and the parameter of ties.
    df
        float64 ``[parameters]``: degrees of freedom of their intervals; infinite for independent battles.
    confidence, intervals, first, seed, lang
        As of :class:`~rankstone.boards.board_result.Board`.
    resamples
        How many samples of the bootstrap errors are from; 0 for those of the likelihood.
    """

    table_of: BattleTable
    fit: StrengthFit
    clusters: tuple[str, ...]
    covariance: Floats
    df: Floats
    confidence: float
    intervals: RankIntervals
    first: Floats
    seed: int = 0
    lang: str = "en"
    resamples: int = 0

    @property
    def systems(self) -> Sequence[str]:
        """The names of the systems."""
        return self.table_of.systems

    @property
    def means(self) -> Floats:
        """The strength of each system, a logarithm of odds with a mean of 0, float64 ``[systems]``."""
        return self.fit.strengths

    @property
    def error_phrase(self) -> str:
        """The name of the phrase that says what errors allow for."""
        source = "resampled" if self.resamples else "about"
        unit = "clusters" if self.clusters else "battles"
        return f"{source}_{unit}"

    @property
    def notes(self) -> Sequence[str]:
        """What was noticed while reading."""
        noted = self.table_of.notes
        shared = self.table_of.shared
        ways = (*self.clusters, *shared)[: 1 if self.resamples else _WAYS]
        if not shared or ways == self.clusters:
            return noted
        columns = some([printable(name, 40) for name in shared])
        unused = self.say("unused_clusters", columns=columns, cluster=",".join(ways))
        return (*noted, unused)

    @property
    def inputs(self) -> Mapping[str, str]:
        """The source of the battles."""
        return {"battles": self.table_of.source}

    @property
    def conventions(self) -> dict[str, Any]:
        """The options that the numbers depend on."""
        return {
            "model": self.fit.model,
            "cluster": ", ".join(self.clusters) or None,
            "covariates": ", ".join(self.table_of.covariates) or None,
            "confidence": self.confidence,
            "seed": self.seed,
            "resamples": self.resamples or None,
        }

    @cached_property
    def under_rules(self) -> Mapping[str, Ints]:
        """The ranks by the other models, and by Elo ratings in the order of the battles."""
        battles = self.table_of.battles
        ranks: dict[str, Ints] = {}
        for model in MODELS:
            if model == self.fit.model:
                continue
            with suppress(NotComparable):  # without ties there is nothing to model
                ranks[model] = places(fit_strengths(battles, model).strengths)

        played = self.table_of.played
        ratings = elo(
            battles.left[played].tolist(),
            battles.right[played].tolist(),
            battles.outcome[played].tolist(),
            battles.items,
        )
        return ranks | {"elo": places(ratings)}

    @property
    def _quantiles(self) -> Floats:
        """How many standard errors intervals of parameters reach, float64 ``[parameters]``."""
        from scipy import special

        share = 0.5 + self.confidence / 2
        if np.isinf(self.df).all():
            return np.full(len(self.df), special.ndtri(share))
        quantiles: Floats = special.stdtrit(self.df, share)
        return quantiles

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row for each system, see :meth:`to_frame`."""
        items = len(self.means)
        wins = self.table_of.battles.wins
        won = wins.sum(axis=1)
        played = won + wins.sum(axis=0)
        error = np.sqrt(np.diag(self.covariance)[:items])
        reach = error * self._quantiles[:items]
        numbers = {
            "rating": _CENTRE + _ELO * self.means,
            "rating_low": _CENTRE + _ELO * (self.means - reach),
            "rating_high": _CENTRE + _ELO * (self.means + reach),
            "strength": self.means,
            "error": error,
        }
        return self.ranked(numbers, {"battles": played, "win_rate": won / played})

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each system, the best first.

        Returns
        -------
        polars.DataFrame
            ``rank``, ``system``; ``rating`` on the scale of Elo (a mean of 1000, 400 points for odds of ten)
            and ``rating_low``, ``rating_high``, its own interval; ``strength`` in log odds and its standard
            ``error``; ``rank_low`` and ``rank_high``, the ranks that clear differences leave, of all systems
            together; ``single_low`` and ``single_high``, the same for a system chosen beforehand; ``first``,
            the chance that it is first; ``tier``; ``rules_low`` and ``rules_high``, its ranks by other
            models; ``battles``, their weight, and ``win_rate``, in which ties are half a win.
        """
        return self.table

    def effects(self) -> pl.DataFrame:
        """Return the effects of covariates and the parameter of ties.

        Returns
        -------
        polars.DataFrame
            ``effect``, ``value`` in log odds (of a standard deviation, but of ``position``), its standard
            ``error``, and ``low`` and ``high``, its interval.
        """
        names = [*self.table_of.covariates]
        if self.fit.model != "bradley_terry":
            names.append("ties")
        items = len(self.means)
        parameters = slice(items, items + len(names))
        values = np.concatenate([self.fit.effects, [self.fit.tie]])[: len(names)]
        error = np.sqrt(np.diag(self.covariance)[parameters])
        reach = error * self._quantiles[parameters]
        return pl.DataFrame(
            {
                "effect": names,
                "value": values,
                "error": error,
                "low": values - reach,
                "high": values + reach,
            }
        )

    def by_pair(self) -> pl.DataFrame:
        """Return every pair that was compared, the worst fitting first.

        Returns
        -------
        polars.DataFrame
            ``system``, ``versus``; ``battles``; ``share``, that of wins of ``system``, a tie being half, and
            ``expected``, by strengths alone; ``residual``, their difference in standard errors of independent
            battles: beyond 4 the two behave otherwise than their strengths say.
        """
        wins = self.table_of.battles.wins
        left, right = np.nonzero(np.triu(wins + wins.T, 1))
        played = wins[left, right] + wins[right, left]
        share = wins[left, right] / played
        expected = self._expected(self.means[left] - self.means[right])
        error = np.sqrt(expected * (1 - expected) / played)
        residual = (share - expected) / error
        order = np.argsort(-np.abs(residual), kind="stable")
        return pl.DataFrame(
            {
                "system": [self.systems[number] for number in left[order]],
                "versus": [self.systems[number] for number in right[order]],
                "battles": played[order],
                "share": share[order],
                "expected": expected[order],
                "residual": residual[order],
            }
        )

    def _expected(self, gap: Floats) -> Floats:
        """Return the expected share of wins, a tie being half, where neither side has an advantage."""
        tie = self.fit.tie
        if self.fit.model == "davidson":
            half_tie = math.exp(tie) / 2
            whole = np.exp(gap / 2) + np.exp(-gap / 2) + math.exp(tie)
            return (np.exp(gap / 2) + half_tie) / whole

        # without a threshold of ties this is the model of Bradley and Terry
        won = 1 / (1 + np.exp(tie - gap))
        lost = 1 / (1 + np.exp(tie + gap))
        return (1 + won - lost) / 2

    def chance_better(self) -> Floats:
        """Return the chance that the row is stronger than the column, float64 ``[systems, systems]``."""
        from scipy import special

        items = len(self.means)
        error = errors_of_differences(self.covariance[:items, :items])
        gaps = self.means[:, None] - self.means
        t = np.divide(gaps, error, out=np.zeros_like(gaps), where=error > 0)
        df = np.minimum(self.df[:items], 1e9)
        chance: Floats = special.stdtr(np.minimum(df[:, None], df), t)
        return chance

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "conventions": self.conventions,
            "inputs": dict(self.inputs),
            "board": self.table.to_dicts(),
            "effects": self.effects().to_dicts(),
            "pairs": self.by_pair().to_dicts(),
            "findings": list(self.findings()),
            "notes": list(self.notes),
        }

    def findings(self, digits: int = 4) -> Iterator[str]:  # noqa: ARG002 - ranks have none
        """Yield what the board shows, in sentences."""
        yield from self.leading()
        battles = self.table_of.battles
        say = self.say
        for row in self.effects().iter_rows(named=True):
            if row["effect"] != "ties":
                ends = {name: f"{row[name]:+.2f}" for name in ("value", "low", "high")}
                clear = row["low"] > 0 or row["high"] < 0
                yield self.say_first(
                    "effect_clear" if clear else "effect_open",
                    effect=printable(row["effect"], 40),
                    **ends,
                )
        circular, decided = circular_triads(battles.wins)
        if decided:
            share = percentage(circular / decided)
            yield say(
                "triads", circular=f"{circular:,}", decided=f"{decided:,}", share=share
            )
        if self.clusters:
            error = float(self.table["error"].mean() or 0.0)  # type: ignore[arg-type]
            times = f"{error / self._independent_error:.2g}"
            yield say(
                "clustered" if times != "1" else "not_clustered",
                columns=", ".join(self.clusters),
                times=times,
            )
        for column, cluster in self.table_of.clusters.items():
            sizes = np.bincount(cluster, battles.weight)
            effective = sizes.sum() ** 2 / (sizes**2).sum()
            counts = {"column": printable(column, 40), "count": len(sizes)}
            if self.fit.alike(cluster):
                yield self.say_first("one_mind", **counts)
            elif effective < _FEW:
                yield self.say_first(
                    "few_clusters", **counts, effective=f"{effective:.2g}", few=_FEW
                )
        yield from self.moves()

    @cached_property
    def _independent_error(self) -> float:
        """The mean standard error of strengths if battles were independent."""
        return float(np.sqrt(np.diag(self.fit.covariance())[: len(self.means)]).mean())

    def title(self) -> str:
        """Return how many systems and battles there are."""
        return self.say(
            "paired_title",
            items=len(self.means),
            n=f"{len(self.table_of.battles.left):,}",
        )

    def columns(self) -> dict[str, Kind]:
        """Return the columns that are shown, and their kinds."""
        return {
            "rank": "number",
            "system": "id",
            "rating": "number",
            "own_interval": "interval",
            "ranks": "interval",
            "alone": "interval",
            "first": "number",
            "tier": "number",
            "battles": "number",
            "wins": "number",
            "rules": "interval",
        }

    def cells(self, row: Mapping[str, Any], digits: int) -> dict[str, str]:
        """Return what is shown of a row of the table, by column."""
        return super().cells(row, digits) | {
            "rating": f"{row['rating']:.0f}",
            "own_interval": f"{row['rating_low']:.0f}–{row['rating_high']:.0f}",
            "battles": f"{row['battles']:,.0f}",
            "wins": f"{100 * row['win_rate']:.0f} %",
        }

    def details(self) -> Sequence[Part]:
        """Return the pairs that fit worst."""
        pairs = self.by_pair().head(_PAIRS)
        names = {name: self.say(name) for name in pairs.columns}
        return (Table.of(pairs, self.say("worst_pairs"), digits=2, names=names),)

    def method_lines(self) -> Iterator[str]:
        """Yield the model, what errors allow for, and what columns mean."""
        yield self.say(f"is_{self.fit.model}")
        yield self.say(
            self.error_phrase,
            columns=", ".join(self.clusters),
            count=f"{self.resamples:,}",
        )
        yield self.say("paired_columns", level=self.level)

    def method_in_brief(self) -> Iterator[str]:
        """Yield the model, and what the columns of the first screen mean."""
        yield self.say(f"is_{self.fit.model}")
        yield self.say("first_paired_columns", level=self.level)


def _moderated(
    fit: StrengthFit, covariance: Floats, df: Floats
) -> tuple[Floats, Floats]:
    """Return the covariance of strengths that clusters leave, and degrees of freedom of each.

    Few clusters know the covariance of many systems badly.  So its pattern is that of independent battles,
    and what clusters add to the variance of each system is moderated over systems; less than nothing is taken
    for chance.  Systems that clusters move alike count as fewer (Srivastava 2005).
    """
    items = fit.battles.items
    independent = fit.inverse[:items, :items]
    own = np.diag(independent)
    added = np.diag(covariance)[:items] / own
    grown, freedom = moderated_variances(added, df[:items])
    if len(freedom) == 1:
        mean_df = float(df[:items].mean())
        square = covariance[:items, :items] @ fit.information[:items, :items]
        directions = independent_directions(square, mean_df)
        freedom = np.array([max(mean_df * directions, 1.0)])

    floor = np.diag(fit.covariance())[:items] / own
    scale = np.sqrt(np.maximum(grown, floor))
    return independent * scale[:, None] * scale, freedom


def paired_board(
    battles: object,
    *,
    model: str | None = None,
    cluster: str | Sequence[str] = (),
    covariates: Sequence[str] = (),
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    columns: Columns | None = None,
    format_in: str | None = None,
    lang: str = "en",
    progress: Progress | None = None,
) -> PairedBoard:
    """Rank systems by paired comparisons, and say how sure the ranks are.

    Parameters
    ----------
    battles
        A table with ``left``, ``right`` and ``winner``: ``left``, ``right``, ``tie``, or the name of one.
    model
        ``davidson`` (the default if there are ties), ``rao_kupper``, or ``bradley_terry`` (the default
        without; a tie is half a win).
    cluster
        Columns of which rows with the same value depend on each other: ``judge``, ``prompt``; two at most.
    covariates
        What else decides: ``position`` (being on the left), a column of differences, left less right, or
        ``length`` for two columns ``length_left`` and ``length_right``.
    resamples
        Errors are from so many samples of the bootstrap, from 200 on: of the clusters of one column, without
        clusters of battles.  By default they are those of the sandwich, which takes one fit instead of many.
    confidence, seed, columns, format_in, lang, progress
        As for :func:`board`.

    Returns
    -------
    PairedBoard

    Raises
    ------
    NotComparable
        If systems fall into parts of which one never lost to the other: their strengths have no maximum of
        the likelihood.

    Examples
    --------
    >>> rows = {"left": ["a", "a", "b", "c"], "right": ["b", "b", "c", "a"], "winner": ["a", "b", "b", "c"]}
    >>> paired_board(rows).table["system"].to_list()
    ['b', 'c', 'a']
    """
    check_language(lang)
    between_0_and_1("confidence", confidence)
    names = (cluster,) if isinstance(cluster, str) else tuple(cluster)
    if len(names) > _WAYS:
        raise BadOption(f"cluster names {len(names)} columns", expected="two at most")
    read = read_battles(
        battles,
        cluster=names,
        covariates=covariates,
        columns=columns,
        format_in=format_in,
    )
    tied = bool((read.battles.outcome == TIE).any())
    model = model or ("davidson" if tied else "bradley_terry")
    one_of("model", model, MODELS)
    _refuse_parts(read)

    fit = fit_strengths(read.battles, model)
    groups = min(
        (int(numbers.max()) + 1 for numbers in read.clusters.values()), default=0
    )
    if names and groups < 2:  # noqa: PLR2004 - one cluster has no spread
        raise NotComparable(
            "all battles are in one cluster, so nothing shows how clusters differ"
        )
    covariance, df = fit.errors_by(*(read.clusters[name] for name in names))

    items = len(fit.strengths)
    errors: MeanErrors | DrawnErrors
    if resamples is None:
        freedom = df[:1]
        if names:
            square, freedom = _moderated(fit, covariance, df)
            covariance[:items, :items], df[:items] = square, freedom
        values, vectors = np.linalg.eigh(covariance[:items, :items])
        roots = vectors * np.sqrt(np.maximum(values, 0.0))
        errors = MeanErrors(np.zeros(items), freedom, roots, seed)
    else:
        check_count("resamples", resamples, _FEWEST, 10**6)
        if len(names) > 1:
            problem = "the bootstrap takes one column of clusters"
            raise BadOption(
                problem,
                given=", ".join(names),
                fix=f"cluster={names[0]!r}, or no resamples",
            )
        drawn = _resampled(
            fit, next(iter(read.clusters.values()), None), seed, resamples, progress
        )
        covariance = drawn.T @ drawn / len(drawn)
        errors = DrawnErrors(drawn[:, :items])

    ranks = rank_intervals(
        fit.strengths, errors, alpha=1 - confidence, progress=progress
    )
    might_be = fit.strengths + errors.drawn
    first_share = (might_be >= might_be.max(axis=1, keepdims=True)).mean(axis=0)
    about = confidence, ranks, first_share, seed, lang, resamples or 0
    return PairedBoard(read, fit, names, covariance, df, *about)


def _refuse_parts(table: BattleTable) -> None:
    """Refuse systems of which some cannot be ranked against others."""
    parts = table.battles.parts()
    if len(parts) <= 1:
        return
    named = [some(table.systems[system] for system in part) for part in parts[:4]]
    if len(parts) > len(named):
        named.append("…")
    raise NotComparable(
        "systems fall into parts that cannot be ranked: one never lost to the others, or never met them",
        given=" | ".join(named),
        expected="for any two systems a chain of wins from one to the other",
        fix="leave out those that always win or lose, or add battles between the parts",
    )


def _resampled(
    fit: StrengthFit,
    cluster: Ints | None,
    seed: int,
    resamples: int,
    progress: Progress | None,
) -> Floats:
    """Return parameters of resampled battles less those observed, float64 ``[samples, parameters]``."""
    battles = fit.battles
    group = cluster
    if group is None:
        group = np.arange(len(battles.left))
    groups = int(group.max()) + 1

    def move(number: int) -> Floats | None:
        """Return how a resample moves the parameters; ``None`` where it cannot be fitted."""
        counts = draws(groups, seed, range(number, number + 1))[0]
        weight = battles.weight * counts[group]
        try:
            resample = fit_strengths(replace(battles, weight=weight), fit.model)
        except NotComparable:
            return None
        return resample.parameters - fit.parameters

    results = in_blocks(move, resamples, progress=progress)
    fitted = [result for result in results if result is not None]
    if len(fitted) < _ENOUGH * resamples:
        raise NotComparable(
            "in some resamples a system never lost to others, or never met them",
            given=f"{resamples - len(fitted):,} of {resamples:,} resamples",
            expected="enough battles between all systems for the bootstrap",
            fix="leave out resamples: errors are then those of the likelihood",
        )
    moves = np.stack(fitted)
    if np.abs(moves).max() < _NO_MOVE:
        raise NotComparable(
            "all resamples give the same strengths: nothing shows how other battles would differ",
            fix="leave out resamples: errors are then those of the likelihood",
        )
    return moves
