"""What is compared: systems, scores, and the rows of their pairs."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.comparison.leaderboard import Leaderboard
from rankstone.comparison.named_measures import fact_of
from rankstone.comparison.verdict import judged_shares_differ
from rankstone.errors import InputError, one_of
from rankstone.io import read_run
from rankstone.stats.friedman_and_nemenyi import friedman
from rankstone.tables.results import Findings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.comparison.families import Family
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.settings import ComparisonSettings
    from rankstone.evaluation.request import QrelsLike
    from rankstone.hits.alignment_audit import Audit


#: the columns of means
_MEANS: Final[dict[str, Any]] = {
    "system": pl.String,
    "measure": pl.String,
    "mean": pl.Float64,
    "n": pl.Int64,
    "runs": pl.Int64,
    "sd": pl.Float64,
    "judged": pl.Float64,
}
#: the columns of analyses of variance
_ANOVA: Final[dict[str, Any]] = {
    "measure": pl.String,
    "f": pl.Float64,
    "p": pl.Float64,
    "df": pl.Int64,
    "df_error": pl.Int64,
    "error": pl.Float64,
}
#: the columns of Friedman's test
_FRIEDMAN: Final[dict[str, Any]] = {
    "measure": pl.String,
    "chi_square": pl.Float64,
    "p_chi_square": pl.Float64,
    "f": pl.Float64,
    "p": pl.Float64,
    "method": pl.String,
    "df": pl.Int64,
    "df_error": pl.Int64,
}


class RunSources(Record):
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

    def remembering(self) -> RunSources:
        """Return the same with runs that stay in memory after the first reading."""
        return replace(self, runs={name: self._remembering(name) for name in self.runs})

    def _remembering(self, name: str) -> object:
        columns = self.given.get("columns")
        form = self.given.get("format_in")
        options = {
            "order": self.given.get("order", "score"),
            "duplicates": self.given.get("duplicates", "error"),
        }
        try:
            return read_run(
                self.runs[name], columns, form, name=name, **options
            ).remembering()
        except InputError:  # reported when it is scored, together with other bad runs
            return self.runs[name]


class ComparedSystems(Findings, Record, kw_only=True):
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
    computed_as: Mapping[str, str] = field(default_factory=dict)

    section = "comparison"

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
            self.judged[1], [(first[system], first[versus]) for system, versus in pairs]
        )
        return [pair for pair, yes in zip(pairs, differ, strict=True) if yes]

    def to_frame(self) -> pl.DataFrame:
        """Return :attr:`table`."""
        return self.table

    def board(self, measure: str | None = None) -> Leaderboard:
        """Return the systems by one measure, the first primary one unless given, the best first."""
        measure = measure or self.primary[0]
        return Leaderboard.from_tables(
            self.mean().filter(measure=measure),
            self.table.filter(measure=measure),
            lower_is_better=fact_of(measure, "direction", "higher") == "lower",
            all_pairs=not self.baselines,
        )

    def letters(self, measure: str) -> dict[str, str]:
        """Return letters of the systems by one measure, the best system first.

        Two systems share a letter if and only if their pair is not clearly different (compact letter
        display, Piepho 2004).  Empty with a baseline, since the others are not compared with each other.
        """
        return self.board(measure).letters

    def mean_intervals(self, measure: str) -> dict[str, tuple[float, float]]:  # noqa: ARG002 - where scores are known
        """Return the interval of each mean by itself; empty where there is none."""
        return {}

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
        board = self.board(measure)
        rival = versus or self.baseline or board.systems[0]
        one_of("versus", rival, self.systems)
        against = board.against(rival)
        if not self.baselines and versus is None:
            against = against.with_columns(verdict=pl.lit(None, pl.String))

        intervals = self.mean_intervals(measure)
        own = [
            (*intervals.get(system, (None, None)), board.letters.get(system))
            for system in board.systems
        ]
        schema = {"low": pl.Float64, "high": pl.Float64, "letters": pl.String}
        parts = (
            board.rows.drop("judged"),
            pl.DataFrame(own, schema, orient="row"),
            against.drop("system"),
            board.rows.select("judged"),
        )
        return pl.concat(parts, how="horizontal")


class ComparedRuns(ComparedSystems, kw_only=True):
    """Compared systems whose scores are in memory; see :class:`.Comparison`."""

    matrices: Mapping[str, Matrix]
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    sources: RunSources | None = None
    unanswered: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row a query, measure and pair.

        Columns ``measure``, ``query_id``, ``system``, ``versus``, ``value``, ``value_versus``,
        ``difference``.
        """
        parts = []
        pairs = self.table.select("measure", "system", "versus")
        for measure, system, versus in pairs.iter_rows():
            matrix = self.matrices[measure]
            first = matrix.systems.index(system)
            second = matrix.systems.index(versus)
            part = pl.select(
                measure=pl.lit(measure),
                query_id=matrix.queries,
                system=pl.lit(system),
                versus=pl.lit(versus),
                value=matrix.values[:, first],
                value_versus=matrix.values[:, second],
                difference=matrix.differences(first, second),
            )
            parts.append(part)
        return pl.concat(parts)

    def mean(self) -> pl.DataFrame:
        """Return one row a system and measure.

        Columns ``system``, ``measure``, ``mean``, ``n``, ``runs`` (of the system), ``sd`` (of its runs'
        means), and ``judged``, the mean share of judged documents, where it is known.
        """
        rows = []
        for measure, matrix in self.matrices.items():
            means = zip(matrix.systems, matrix.units.mean.tolist(), strict=True)
            for system, mean in means:
                runs = self.replicates.get(system, [system])
                several = matrix.replicates.get(system)
                row = {
                    "system": system,
                    "measure": measure,
                    "mean": mean,
                    "n": len(matrix),
                    "runs": len(runs),
                    "sd": None if several is None else float(np.std(several, ddof=1)),
                    "judged": self._judged(runs),
                }
                rows.append(row)
        return pl.DataFrame(rows, _MEANS)

    def mean_intervals(self, measure: str) -> dict[str, tuple[float, float]]:
        """Return the interval of each mean by itself; empty where systems have several runs."""
        matrix = self.matrices[measure]
        if matrix.replicates:
            return {}
        method = "worst_case" if self.settings.interval == "worst_case" else "auto"
        intervals = matrix.mean_intervals(self.settings.confidence, method)
        return dict(zip(matrix.systems, intervals, strict=True))

    def _judged(self, runs: Sequence[str]) -> float | None:
        if self.judged is None:
            return None
        shares = self.judged[1]
        parts = [shares[run]["value"].to_numpy() for run in runs if run in shares]
        if parts:
            return float(np.mean(np.concatenate(parts)))
        return None

    @cached_property
    def anova(self) -> pl.DataFrame:
        """Two-way analysis of variance of each measure, blocked on queries.

        Columns ``measure``, ``f``, ``p``, ``df``, ``df_error``, ``error`` (mean square).
        """
        rows = []
        for measure, matrix in self.matrices.items():
            analysis = matrix.anova
            if analysis is not None:
                row = {
                    "measure": measure,
                    "f": analysis.f,
                    "p": analysis.p,
                    "df": analysis.df[0],
                    "df_error": analysis.df[2],
                    "error": analysis.error,
                }
                rows.append(row)
        frame = pl.DataFrame(rows, _ANOVA)
        return frame.with_columns(pl.col("f", "p").fill_nan(None))

    @cached_property
    def friedman(self) -> pl.DataFrame:
        """Friedman's test of each measure: whether systems have the same ranks within queries.

        Columns ``measure``, ``chi_square``, ``p_chi_square``, ``f`` (of Iman and Davenport), ``p`` and
        its ``method`` (``exact`` or ``f``), ``df``, ``df_error``.  No row for a measure of one query, or
        whose queries come in clusters.
        """
        rows = []
        for measure, matrix in self.matrices.items():
            if len(matrix) < 2 or matrix.cluster is not None:  # noqa: PLR2004 - queries
                continue
            test = friedman(matrix.values)
            row = {
                "measure": measure,
                "chi_square": test.chi_square,
                "p_chi_square": test.p_chi_square,
                "f": test.f,
                "p": test.p,
                "method": test.method,
                "df": test.df[0],
                "df_error": test.df[1],
            }
            rows.append(row)

        frame = pl.DataFrame(rows, _FRIEDMAN)
        numbers = pl.col(pl.Float64)
        return frame.with_columns(pl.when(numbers.is_finite()).then(numbers))
