"""The result of a comparison: a row for each pair and measure, and the scores behind them."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rankstone.comparison.compared_systems import ComparedRuns, ComparedSystems
from rankstone.comparison.comparison_caveats import method_of
from rankstone.comparison.pair_sentences import pair_sentences
from rankstone.comparison.verdict_conditions import (
    conditions_of,
    rows_without_unanswered,
)
from rankstone.errors import UsageError, one_of
from rankstone.io.sources import sha256_of
from rankstone.tables.results import given
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from rankstone.comparison.families import Family


#: the table of means for a paper
_MEANS: Final = "rankstone.comparison.comparison_latex:latex_means"


class WrittenComparison(ComparedSystems):
    """A comparison as people read it: tables, sentences and LaTeX.

    Of up to 12 systems a sheet shows every pair in any case; of more, a leaderboard unless it is ``verbose``.
    """

    picture = "rankstone.comparison.comparison_tables:sheet"

    def title(self) -> str:
        """Return which systems are compared, and on how many queries."""
        return self.sheet().title

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return the tables that are shown."""
        parts = self.sheet(digits, verbose=verbose).parts
        return [part for part in parts if isinstance(part, Table)]

    def method_lines(self) -> Iterator[str]:
        """Yield how the numbers were computed."""
        return method_of(self, self.digits)

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
            System → its name in the table.  One that begins with ``tex:`` is LaTeX and not escaped, such as
            ``tex:monoT5$_{3B}$``; ids of files always are.
        caption
            True for a floating table with a caption: queries and which of them are not answered, test,
            correction and seed.
        """
        one_of("table", table or "means", ("means",))
        one_of("marks", marks or "bold", ("superscript", "bold"))
        for system in names or {}:
            one_of("names", system, self.systems)
        if table is None and (names or caption):
            raise UsageError(
                "names and caption are those of the table of means",
                fix='to_latex(table="means", …)',
            )
        if table is None:
            return super().to_latex()
        draw = resolve_name(_MEANS)
        means: str = draw(self, marks, names or {}, caption=caption)
        return means

    def findings(self, digits: int = 4) -> Iterator[str]:
        """Yield a sentence for each comparison of the primary family."""
        return pair_sentences(self, digits)

    def sentences(self) -> list[str]:
        """Return :meth:`findings` with the decimals of the comparison."""
        return list(self.findings(self.digits))

    def reported(self, **parts: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever results hold
        """Return the report: what all comparisons have, and further parts."""
        return given(
            verdict=self.sentences(),
            conditions=list(conditions_of(self, self.digits)),
            systems=self.systems,
            baseline=self.baselines if len(self.baselines) > 1 else self.baseline,
            primary=self.primary,
            means=self.mean(),
            comparisons=self.table,
            **parts,
        )


class Comparison(WrittenComparison, ComparedRuns):
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
    unanswered
        Run → judged queries that it does not answer, and that count 0.
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
    computed_as
        Requested measure → the one that the judgments have computed in its place: FullRecall of subtopics.

    Examples
    --------
    >>> import rankstone
    >>> from rankstone import demo
    >>> comparison = rankstone.compare(demo.QRELS, demo.RUNS, "nDCG@10")
    >>> comparison.table.select("system", "versus", "wins", "ties", "losses").rows()
    [('tfidf', 'bm25', 5, 14, 13)]
    """

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
    def without_unanswered(self) -> pl.DataFrame | None:
        """The rows of primary measures over the queries that every system answers.

        ``None`` where every query is answered, none is by all, or systems have several runs.
        """
        return rows_without_unanswered(self)

    @cached_property
    def by_test(self) -> pl.DataFrame:
        """The comparisons of primary measures by all tests, not corrected.

        Columns ``measure``, ``system``, ``versus``, a column of p for each test (null where a test
        does not apply), ``agree``: True if all are on the same side of alpha.  Empty where systems have
        several runs, which these tests do not cover, or where mean ranks are compared.
        """
        from rankstone.comparison.all_tests import by_test

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
        sources = {"judgments": self.inputs.get("judgments")}
        sources |= self.inputs.get("runs", {}) | self.inputs.get("scores", {})
        hashes = {name: sha256_of(source) for name, source in sources.items()}
        return {name: value for name, value in hashes.items() if value is not None}

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return self.reported(
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
