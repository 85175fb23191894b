"""What is compared: systems, scores, and the rows of their pairs."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.comparison.letter_display import letters as compact_letters
from rankstone.comparison.score_sources import fact_of
from rankstone.comparison.verdict import CLEAR, TURNED, judged_shares_differ
from rankstone.errors import InputError, one_of
from rankstone.io import read_run
from rankstone.stats.automatic_intervals import mean_estimates
from rankstone.stats.friedman_and_nemenyi import friedman
from rankstone.tables.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.comparison.families import Family
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.settings import ComparisonSettings
    from rankstone.evaluation.request import QrelsLike
    from rankstone.hits.alignment_audit import Audit


class Sources(Record):
    """The judgments and runs behind the scores, and the options they were read with.

    Attributes
    ----------
    qrels, runs
        As they were given.
    given
        Keyword arguments of :func:`rankstone.evaluate`.
    convention
        The library whose definitions were used.
    """

    qrels: QrelsLike
    runs: Mapping[str, object]
    given: Mapping[str, Any]
    convention: str | None = None

    def remembering(self) -> Sources:
        """Return the same with runs that stay in memory after the first reading."""
        return replace(self, runs={name: self._remembering(name) for name in self.runs})

    def _remembering(self, name: str) -> object:
        columns = self.given.get("columns")
        form = self.given.get("format_in")
        order = self.given.get("order", "score")
        try:
            return read_run(
                self.runs[name], columns, form, order=order, name=name
            ).remembering()
        except InputError:  # reported when it is scored, together with other bad runs
            return self.runs[name]


class ComparedSystems(Result, Record, kw_only=True):
    """The common base of comparisons in memory and on a cluster; see :class:`Comparison`."""

    systems: tuple[str, ...]
    baselines: tuple[str, ...]
    primary: tuple[str, ...]
    table: pl.DataFrame
    families: tuple[Family, ...]
    settings: ComparisonSettings
    segments: pl.DataFrame | None = None
    judged: tuple[str, Mapping[str, pl.DataFrame]] | None = None
    relevant_alone: bool = False
    replicates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lang: str = "en"
    digits: int = 4
    labels: Mapping[str, str] = field(default_factory=dict)

    def label(self, measure: str) -> str:
        """Return the name by which a measure was requested, as ``HR@10`` for what is Success@10."""
        return self.labels.get(measure, measure)

    @property
    def baseline(self) -> str | None:
        """The first baseline; ``None`` where every pair is compared."""
        return next(iter(self.baselines), None)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, primary ones first."""
        return tuple(self.table["measure"].unique(maintain_order=True))

    def mean(self) -> pl.DataFrame:
        """Return one row a system and measure."""
        raise NotImplementedError

    @cached_property
    def pool_bias(self) -> list[tuple[str, str]]:
        """The pairs of systems whose shares of judged documents differ, so one may be underestimated."""
        if self.judged is None or self.relevant_alone:
            return []
        pairs = self.table.select("system", "versus").unique(maintain_order=True).rows()
        first = {system: runs[0] for system, runs in self.replicates.items()}
        differ = judged_shares_differ(
            self.judged[1], [(first[one], first[other]) for one, other in pairs]
        )
        return [pair for pair, yes in zip(pairs, differ, strict=True) if yes]

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`table`."""
        return self.table

    def letters(self, measure: str) -> dict[str, str]:
        """Return letters of the systems by one measure, the best system first.

        Two systems share a letter if and only if their pair is not clearly different (compact letter
        display, Piepho 2004).  Empty with a baseline, since the others are not compared with each other.
        """
        if self.baselines:
            return {}
        best_last = fact_of(measure, "direction", "higher") == "lower"
        means = self.mean().filter(measure=measure)
        ranked = means.sort("mean", descending=not best_last, maintain_order=True)
        systems = ranked["system"].to_list()
        place = {system: position for position, system in enumerate(systems)}

        different = np.zeros((len(systems), len(systems)), np.bool_)
        pairs = self.table.filter(pl.col("verdict").is_in(CLEAR), measure=measure)
        for system, versus in pairs.select("system", "versus").iter_rows():
            row = place[system]
            column = place[versus]
            different[row, column] = True
            different[column, row] = True
        return dict(zip(systems, compact_letters(different), strict=True))

    def leaderboard(
        self, measure: str | None = None, versus: str | None = None
    ) -> pl.DataFrame:
        """Return the systems by one measure, the first primary one unless given, the best first.

        Columns ``rank``, ``system``, ``mean``, ``low`` and ``high`` (of the mean by itself; null on a cluster
        and where systems have several runs), ``letters``, ``verdict`` (against the baseline), ``wins``,
        ``ties`` and ``losses`` (against the baseline, or the first system), ``judged``.  Two systems share a
        letter if and only if their pair is not clearly different (compact letter display, Piepho 2004); null
        with a baseline.  Of several baselines ``versus`` names the one; it is the first unless given.
        """
        measure = measure or self.primary[0]
        best_last = fact_of(measure, "direction", "higher") == "lower"
        ranked = (
            self.mean()
            .filter(measure=measure)
            .sort("mean", descending=not best_last, maintain_order=True)
        )
        place = {system: at for at, system in enumerate(ranked["system"])}
        table = self.table.filter(measure=measure)
        verdict = pl.col("verdict").replace(TURNED)
        if not self.baselines and versus is None:
            verdict = pl.lit(None, pl.String)
        versus = versus or self.baseline or ranked["system"][0]
        one_of("versus", versus, self.systems)
        counts = ["wins", "ties", "losses"]
        turned = table.filter(system=versus).select("versus", verdict, *counts[::-1])
        turned.columns = ["system", "verdict", *counts]
        against = pl.concat(
            [table.filter(versus=versus).select(turned.columns), turned]
        )
        letter = self.letters(measure)
        ends = dict[str, tuple[float, float]]()
        matrix = getattr(self, "matrices", {}).get(measure)
        if matrix is not None and not matrix.replicates:
            method = "worst_case" if self.settings.interval == "worst_case" else "auto"
            means = mean_estimates(
                matrix.units, [matrix.span] * len(matrix.systems), method
            )
            found = (one.interval(self.settings.confidence) for one in means)
            ends = dict(zip(matrix.systems, found, strict=True))
        low, high = (
            [ends.get(system, (None, None))[side] for system in place]
            for side in (0, 1)
        )
        return ranked.join(
            against, on="system", how="left", maintain_order="left"
        ).select(
            pl.col("mean").rank("min", descending=not best_last).alias("rank"),
            "system",
            "mean",
            low=pl.Series(low, dtype=pl.Float64),
            high=pl.Series(high, dtype=pl.Float64),
            letters=pl.Series([letter.get(name) for name in place], dtype=pl.String),
            verdict="verdict",
            wins="wins",
            ties="ties",
            losses="losses",
            judged="judged",
        )


class ComparedRuns(ComparedSystems, kw_only=True):
    """Compared systems whose scores are in memory; see :class:`.Comparison`."""

    matrices: Mapping[str, Matrix]
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    sources: Sources | None = None

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row a query, measure and pair.

        Columns ``measure``, ``query_id``, ``system``, ``versus``, ``value``, ``value_versus``,
        ``difference``.
        """
        parts = []
        for measure, system, versus in self.table.select(
            "measure", "system", "versus"
        ).iter_rows():
            matrix = self.matrices[measure]
            one, other = (matrix.systems.index(name) for name in (system, versus))
            values = {
                "measure": [measure] * len(matrix),
                "query_id": matrix.queries,
                "system": [system] * len(matrix),
                "versus": [versus] * len(matrix),
                "value": matrix.values[:, one],
                "value_versus": matrix.values[:, other],
                "difference": matrix.differences(one, other),
            }
            parts.append(pl.DataFrame(values))
        return pl.concat(parts)

    def mean(self) -> pl.DataFrame:
        """Return one row a system and measure.

        Columns ``system``, ``measure``, ``mean``, ``n``, ``runs`` (of the system), ``sd`` (of its runs'
        means), and ``judged``, the mean share of judged documents, where it is known.
        """
        rows = []
        for measure, matrix in self.matrices.items():
            mean = matrix.units.mean
            for at, system in enumerate(matrix.systems):
                runs = self.replicates.get(system, [system])
                several = matrix.replicates.get(system)
                sd = None if several is None else float(np.std(several, ddof=1))
                rows.append(
                    (
                        system,
                        measure,
                        float(mean[at]),
                        len(matrix),
                        len(runs),
                        sd,
                        self._judged(runs),
                    )
                )
        kinds = (
            pl.String,
            pl.String,
            pl.Float64,
            pl.Int64,
            pl.Int64,
            pl.Float64,
            pl.Float64,
        )
        names = "system", "measure", "mean", "n", "runs", "sd", "judged"
        return pl.DataFrame(rows, dict(zip(names, kinds, strict=True)), orient="row")

    def _judged(self, runs: Sequence[str]) -> float | None:
        if self.judged is None:
            return None
        parts = [self.judged[1][run]["value"] for run in runs if run in self.judged[1]]
        if parts:
            return float(np.mean(np.concatenate([part.to_numpy() for part in parts])))
        return None

    @cached_property
    def anova(self) -> pl.DataFrame:
        """Two-way analysis of variance of each measure, blocked on queries.

        Columns ``measure``, ``f``, ``p``, ``df``, ``df_error``, ``error`` (mean square).
        """
        rows = [
            (
                measure,
                analysis.f,
                analysis.p,
                analysis.df[0],
                analysis.df[2],
                analysis.error,
            )
            for measure, matrix in self.matrices.items()
            if (analysis := matrix.anova) is not None
        ]
        kinds = pl.String, pl.Float64, pl.Float64, pl.Int64, pl.Int64, pl.Float64
        names = "measure", "f", "p", "df", "df_error", "error"
        frame = pl.DataFrame(rows, dict(zip(names, kinds, strict=True)), orient="row")
        return frame.with_columns(pl.col("f", "p").fill_nan(None))

    @cached_property
    def friedman(self) -> pl.DataFrame:
        """Friedman's test of each measure: whether systems have the same ranks within queries.

        Columns ``measure``, ``chi_square``, ``p_chi_square``, ``f`` and ``p`` (of Iman and Davenport),
        ``df``, ``df_error``.  No row for a measure of one query, or whose queries come in clusters.
        """
        rows = []
        for measure, matrix in self.matrices.items():
            if len(matrix) < 2 or matrix.cluster is not None:  # noqa: PLR2004 - queries
                continue
            test = friedman(matrix.values)
            statistics = (test.chi_square, test.p_chi_square, test.f, test.p)
            rows.append((measure, *statistics, *test.df))

        numbers = dict.fromkeys(("chi_square", "p_chi_square", "f", "p"), pl.Float64)
        schema = {
            "measure": pl.String,
            **numbers,
            **dict.fromkeys(("df", "df_error"), pl.Int64),
        }
        frame = pl.DataFrame(rows, schema, orient="row")
        return frame.with_columns(
            pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in numbers
        )
