"""The result of a comparison: a row for each pair and measure, and the scores behind them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record
from rankstone.comparison.letter_display import letters as compact_letters
from rankstone.comparison.score_sources import fact_of
from rankstone.comparison.verdict import CLEAR, TURNED, judged_shares_differ
from rankstone.errors import InputError, one_of
from rankstone.io import read_run
from rankstone.io.sources import is_database
from rankstone.stats.anova_and_friedman import friedman
from rankstone.stats.automatic_intervals import mean_estimates
from rankstone.tables.results import Result, given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone.comparison.compare_systems import ComparisonSettings
    from rankstone.comparison.score_matrix import Matrix
    from rankstone.comparison.test_families import Family
    from rankstone.evaluation.request import QrelsLike
    from rankstone.hits.alignment_audit import Audit
    from rankstone.tables.sheet import Sheet


_TEXTS: Final = ("measure", "role", "system", "versus", "interval_kind", "verdict")
_COUNTS: Final = (
    "n",
    "units",
    "left_out",
    "needed",
    "needed_cautious",
    "family",
    "wins",
    "ties",
    "losses",
)
#: columns of the table in their order
_ROWS: Final[dict[str, Any]] = {
    name: pl.String if name in _TEXTS else pl.Int64 if name in _COUNTS else pl.Float64
    for name in (
        "measure",
        "role",
        "system",
        "versus",
        "n",
        "units",
        "left_out",
        "mean",
        "mean_versus",
        "difference",
        "low",
        "high",
        "low_guarded",
        "high_guarded",
        "interval_kind",
        "confidence",
        "verdict",
        "needed",
        "needed_cautious",
        "p",
        "p_adjusted",
        "family",
        "p_t",
        "p_not_worse",
        "p_equivalent",
        "wins",
        "ties",
        "losses",
        "d_z",
        "g",
        "es_hsd",
        "error",
        "spread",
        "low_alone",
        "high_alone",
        "detectable",
    )
}


def comparison_frame(
    rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Return rows as a frame, with further columns (``kinds``) in front; NaN and infinity become null."""
    frame = pl.DataFrame(rows, {**(kinds or {}), **_ROWS})
    numbers = [name for name, kind in _ROWS.items() if kind == pl.Float64]
    finite = [
        pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in numbers
    ]
    return frame.with_columns(finite)


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparedSystems(Result):
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

    def sheet(self, digits: int | None = None, *, verbose: bool = False) -> Sheet:
        """Return the result as people read it: ``digits`` are decimals, ``verbose`` shows every pair.

        Of up to 12 systems every pair is shown in any case; of more, a leaderboard.
        """
        from rankstone.comparison.comparison_tables import sheet

        return sheet(self, self.digits if digits is None else digits, verbose=verbose)

    def to_latex(
        self,
        table: str | None = None,
        *,
        marks: str | None = "superscript",
        names: Mapping[str, str] | None = None,
        caption: bool = False,
    ) -> str:
        """Return it as LaTeX, for a document that uses booktabs and amsmath.

        Parameters
        ----------
        table
            ``None`` for all that is shown; ``means`` for one table: a row a system, a column a measure.
        marks
            ``superscript``: letters, of which two systems share one exactly where they do not differ clearly,
            or against a baseline † better and ‡ worse (of several with its number); the best mean is bold.
            ``bold``: only that.  ``None``: numbers alone.
        names
            System → its name in the table.
        caption
            True for a floating table with a caption: test, correction, queries and seed.
        """
        from rankstone.comparison.comparison_latex import latex_means

        one_of("table", table or "means", ("means",))
        one_of("marks", marks or "bold", ("superscript", "bold"))
        if table is None:
            return super().to_latex()
        return latex_means(self, marks, names or {}, caption=caption)

    def sentences(self) -> list[str]:
        """Return a sentence for each comparison of the primary family."""
        from rankstone.comparison.comparison_tables import sentences

        return sentences(self, self.digits)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(ComparedSystems):
    """Which systems are better, and how sure that is.

    Attributes
    ----------
    systems
        What is compared, in the order given.
    baselines
        The systems that the others are compared with; empty where every pair is compared.
    primary
        The measures that the verdict is about.
    matrices
        Measure → the scores per query, a column for each system.
    table
        One row a measure and pair: ``measure``, ``role`` (primary, exploratory), ``system``, ``versus``;
        ``n`` queries (``units`` of them independent, ``left_out`` without a value for some system);
        ``mean``, ``mean_versus``, ``difference``; ``low`` and ``high``, its interval, corrected for
        the family, and the ``verdict``, which agrees with ``p_adjusted`` (of another interval than ``test``:
        with the interval): ``better``, ``worse`` (``higher``, ``lower``
        where neither is better), ``equivalent`` within the margin, ``identical`` scores on all n queries,
        ``inconclusive``; ``low_guarded`` and ``high_guarded``, with a margin the interval that equivalence
        and losses follow; ``interval_kind``: ``simultaneous`` if all intervals of the family hold together
        with its confidence, ``pointwise`` if each holds by itself with ``confidence``; ``needed``, how
        many queries a difference as large as the observed one needs, and ``needed_cautious``, by the upper
        80 % limit of the deviation (Browne 1995); ``p``,
        ``p_adjusted`` for the ``family`` of so many comparisons, ``p_t`` of the paired t-test,
        ``p_not_worse`` and ``p_equivalent`` of two one-sided tests of the margin, by the method of the
        interval: at most half of alpha where the interval lies inside the margin; ``wins``, ``ties``,
        ``losses``; ``d_z``, ``g`` (d_z without its bias), ``es_hsd`` (the difference over what systems and
        queries leave unexplained); ``error``, the standard error, and ``spread``, the one for
        planning (of ``auto``: with one more query at the worst credible loss); ``low_alone`` and
        ``high_alone``, the interval without correction (of ``test``: by t, as ``p_t``); ``detectable``, the
        smallest difference that n queries detect with the requested power (neither it nor ``needed`` where
        systems have several runs: more queries do not show how these vary).  ``lowest`` and ``highest``,
        with bounds: what the difference could be if the unjudged documents were judged.
    segments
        The same for each segment of queries, its columns in front; ``None`` without ``by``.
    families
        The families of comparisons, with their corrections and levels.
    settings
        How systems were compared.
    judged
        The name of Judged@k and its values for each run; ``None`` where it is not known.
    relevant_alone
        True if only relevant documents are judged: Judged@k is P@k then, and its differences are no bias.
    replicates
        System → its runs.
    audit
        What was found when runs and judgments were aligned; ``None`` for saved scores.
    conventions, inputs
        As for :class:`~rankstone.Scores`.
    sources
        The judgments and runs; ``None`` for saved scores.
    lang, digits
        Language of sentences and headings (``en`` or ``zh``), and decimals.
    labels
        Measure → the name by which it was requested, which tables and pages show.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    >>> comparison.table.select("system", "versus", "wins", "ties", "losses").rows()
    [('tfidf', 'bm25', 5, 14, 13)]
    """

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

    def repeated_runs(self) -> pl.DataFrame:
        """Return what repeated runs add to the error of each difference, and what single runs would say.

        See :func:`rankstone.comparison.repeated_runs.repeated_runs` for the columns.
        """
        from rankstone.comparison.repeated_runs import repeated_runs

        return repeated_runs(self)

    def quality_and_cost(self) -> pl.DataFrame:
        """Return each system's quality and costs, and which others dominate it.

        See :func:`rankstone.comparison.quality_and_cost.quality_and_cost` for the columns.
        """
        from rankstone.comparison.quality_and_cost import quality_and_cost

        return quality_and_cost(self)

    def practical_probability(self) -> pl.DataFrame:
        """Return how probable it is that differences matter, with ``rope=``; no row without it.

        See :func:`rankstone.comparison.practical_tables.practical_probability` for the columns.
        """
        from rankstone.comparison.practical_tables import practical_probability

        return practical_probability(self)

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

    @cached_property
    def by_test(self) -> pl.DataFrame:
        """The comparisons of primary measures by all tests, not corrected.

        Columns ``measure``, ``system``, ``versus``, a column of p for each test (null where a test
        does not apply), ``agree``: True if all are on the same side of alpha.  Empty where systems have
        several runs, which these tests do not cover, or where mean ranks are compared.
        """
        from rankstone.comparison.pairwise_tests import by_test

        return by_test(self)

    def with_bounds(self, bounds: pl.DataFrame) -> Comparison:
        """Return the comparison with the bounds that unjudged documents leave, ``lowest`` and ``highest``."""
        keys = ["measure", "system", "versus"]
        return replace(
            self,
            table=self.table.join(bounds, on=keys, how="left", maintain_order="left"),
        )

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of every input file; files are read again."""
        paths = {
            "judgments": self.inputs.get("judgments"),
            **self.inputs.get("runs", {}),
        }
        paths |= self.inputs.get("scores", {})
        return {
            name: sha256(Path(path).read_bytes()).hexdigest()
            for name, path in paths.items()
            if isinstance(path, str) and not is_database(path) and Path(path).is_file()
        }

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return given(
            verdict=self.sentences(),
            systems=self.systems,
            baseline=self.baselines if len(self.baselines) > 1 else self.baseline,
            primary=self.primary,
            means=self.mean(),
            comparisons=self.table,
            segments=self.segments,
            families=[_plain(family) for family in self.families],
            anova=self.anova,
            friedman=self.friedman,
            by_test=self.by_test,
            repeated_runs=self.repeated_runs(),
            practical=None
            if self.settings.rope is None
            else self.practical_probability(),
            judged=None if self.judged is None else self.judged[0],
            pool_bias=[list(pair) for pair in self.pool_bias],
            audit=self.audit,
            conventions=self.conventions,
            inputs=self.inputs,
        )


def _plain(family: Family) -> dict[str, Any]:
    """Return a family as a dict; JSON has no NaN."""
    level = None if np.isnan(family.level) else family.level
    return asdict(family) | {"interval_kind": family.interval_kind, "level": level}
