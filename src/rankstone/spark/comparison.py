"""What a comparison on a cluster came to: rows of pairs here, scores of queries there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from rankstone.results import WritesReport
from rankstone.sheets import Sheet, ShowsSheet

if TYPE_CHECKING:
    import polars as pl

    from rankstone.comparing.family import Family
    from rankstone.comparing.how import How
    from rankstone.hits.audit import Audit
    from rankstone.spark.result import SparkScores

__all__ = ["SparkComparison"]


@dataclass(frozen=True, eq=False, repr=False)
class SparkComparison(ShowsSheet, WritesReport):
    """Which systems are better, and how sure that is; scores of queries are on the cluster.

    Attributes
    ----------
    systems, baseline, primary, measures, families, how, lang
        As of :class:`rankstone.comparing.Comparison`.
    table
        One row a measure and pair, as of :class:`rankstone.comparing.Comparison`; without ``es_hsd``.
    means
        One row a system and measure.
    scores
        What they come from; kept until ``scores.unpersist()``.
    """

    systems: tuple[str, ...]
    baseline: str | None
    primary: tuple[str, ...]
    measures: tuple[str, ...]
    table: pl.DataFrame
    means: pl.DataFrame
    families: tuple[Family, ...]
    how: How
    scores: SparkScores
    lang: str = "en"
    digits: int = 4

    #: what one machine knows, and nobody asked for here
    segments: ClassVar[None] = None
    judged: ClassVar[None] = None

    @property
    def replicates(self) -> dict[str, list[str]]:
        """Every system is one run."""
        return {system: [system] for system in self.systems}

    @property
    def pool_bias(self) -> list[tuple[str, str]]:
        """Not looked for."""
        return []

    @property
    def audit(self) -> Audit:
        """What alignment did."""
        return self.scores.audit

    @cached_property
    def conventions(self) -> dict[str, Any]:
        """Every option and parameter the numbers depend on."""
        told = {**self.how.as_dict(), "correction": self.families[0].correction}
        return {**self.scores.conventions, "comparison": told}

    def sheet(self) -> Sheet:
        """Return what is shown."""
        from rankstone.comparing.shown import sheet

        return sheet(self, self.digits)

    def sentences(self) -> list[str]:
        """Return a sentence for each question of the primary family."""
        from rankstone.comparing.shown import sentences

        return sentences(self, self.digits)

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts."""
        return {
            "verdict": self.sentences(),
            "systems": list(self.systems),
            "baseline": self.baseline,
            "primary": list(self.primary),
            "means": self.means.to_dicts(),
            "comparisons": self.table.to_dicts(),
            "audit": self.audit.to_dict(),
            "conventions": self.conventions,
            "inputs": self.scores.inputs,
        }
