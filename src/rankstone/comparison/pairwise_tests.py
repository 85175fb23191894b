"""Pairwise comparison of systems: which pairs are tested, in which families, with which correction.

Sensitivity to the test: the same pairs, tested by every other test that applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstone.comparison.comparison_result import Comparison
from rankstone.comparison.comparison_rows import comparison_frame
from rankstone.comparison.families import ALL_PAIRS, DRAWN, FLIPPED, PROCEDURES, Family
from rankstone.comparison.named_measures import requested_measures
from rankstone.comparison.score_matrix import Matrix, systems_of
from rankstone.comparison.test_families import analyse_families
from rankstone.comparison.verdict import Pair
from rankstone.errors import (
    BadOption,
    NotComparable,
    UsageError,
    did_you_mean,
    printable,
)
from rankstone.evaluation.scores import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from rankstone.comparison.score_sources import Source
    from rankstone.comparison.settings import ComparisonSettings

    Baselines = str | Sequence[str] | None
    Progress = Callable[[int], None]


def compare_pairs(
    source: Source,
    baseline: Baselines,
    primary: object,
    by: tuple[str, ...],
    cluster: str | None,
    query_columns: pl.DataFrame | None,
    settings: ComparisonSettings,
    progress: Progress | None,
) -> Comparison:
    """Compare every pair of systems by every measure."""
    systems = systems_of(source.runs)
    layout = ComparisonLayout.of(
        tuple(systems), tuple(source.measures), baseline, primary
    )
    pairs = layout.pairs
    first = layout.primary
    matrices = _matrices(source, first, systems, cluster, query_columns)
    replicated = any(matrix.replicates for matrix in matrices.values())
    correction = layout.correction(settings, replicated=replicated)
    if correction in DRAWN:
        matrices |= _together([matrices[name] for name in first])
    scores = matrices
    if correction == "nemenyi":
        scores = {name: matrix.ranked() for name, matrix in matrices.items()}

    families: list[Family] = []
    rows: list[dict[str, Any]] = []
    comparisons = {
        name: [Pair(scores[measure], *pair) for measure in group for pair in pairs]
        for name, group in layout.groups.items()
    }
    for family, its_rows in analyse_families(
        comparisons, settings, correction, progress
    ):
        families.append(family)
        rows += its_rows

    segments = None
    if by and query_columns is not None:
        parts = [
            part
            for name in first
            for part in _segments(source, matrices[name], pairs, query_columns, by)
        ]
        family, segments = _compared_segments(
            parts, settings, correction, progress, query_columns.select(by).schema
        )
        families.append(family)
    return Comparison(
        systems=tuple(systems),
        baselines=layout.baselines,
        primary=first,
        matrices=matrices,
        table=comparison_frame(rows),
        segments=segments,
        families=tuple(families),
        settings=settings,
        judged=source.judged,
        relevant_alone=source.relevant_alone,
        replicates=systems,
        audit=source.audit,
        conventions={
            **source.conventions,
            "comparison": {**settings.as_dict(), "correction": correction},
        },
        inputs=source.inputs,
    )


def _matrices(
    source: Source,
    primary: tuple[str, ...],
    systems: Mapping[str, Any],
    cluster: str | None,
    query_columns: pl.DataFrame | None,
) -> dict[str, Matrix]:
    """Return the values of each measure by query and system, the primary ones first."""
    clusters = None
    if cluster is not None and query_columns is not None:
        clusters = query_columns.select("query_id", cluster=cluster)
    return {
        measure: _matrix(source, measure, systems, clusters)
        for measure in [*primary, *source.measures]
    }


def _compared_segments(
    parts: list[Pair],
    settings: ComparisonSettings,
    correction: str,
    progress: Progress | None,
    by: Mapping[str, Any],
) -> tuple[Family, pl.DataFrame]:
    """Return the family of comparisons within segments, and its rows; ``by`` has the types of their columns."""
    step = "holm" if correction in PROCEDURES else correction
    [(family, rows)] = analyse_families(
        {"segments": parts}, settings, step, progress, tuple(by)
    )
    return family, comparison_frame(rows, by)


@dataclass(frozen=True)
class ComparisonLayout:
    """The pairs and families of a comparison, in memory or on a cluster.

    Attributes
    ----------
    systems
        The systems.
    baselines
        Those that the others are compared with; none where every pair is compared.
    pairs
        Columns of two systems each; the difference is the first less the second.
    primary
        The measures that the verdict is about.
    groups
        Family → its measures: the primary ones together, every other one alone.
    all_pairs
        True if every pair of three or more systems is compared.
    """

    systems: tuple[str, ...]
    baselines: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    primary: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]
    all_pairs: bool

    @classmethod
    def of(
        cls,
        systems: tuple[str, ...],
        measures: tuple[str, ...],
        baseline: Baselines,
        primary: object,
    ) -> ComparisonLayout:
        """Return the pairs of systems and the families of measures."""
        baselines = baseline_names(baseline)
        if not baselines and len(systems) == 2:  # noqa: PLR2004 - the second with the first
            baselines = systems[:1]
        pairs = tuple(_pairs(systems, baselines))
        if primary is None:
            first = measures[:1]
        else:
            first = tuple(requested_measures(primary, measures))
        groups = {
            "primary": first,
            **{name: (name,) for name in measures if name not in first},
        }
        return cls(systems, baselines, pairs, first, groups, not baselines)

    def correction(
        self, settings: ComparisonSettings, *, replicated: bool = False
    ) -> str:
        """Return the requested correction, or the default for these pairs."""
        if settings.correction in ALL_PAIRS and not self.all_pairs:
            raise BadOption(
                f"correction={settings.correction!r} compares all pairs of three or more systems",
                fix="leave out the baseline, or use correction='holm'",
            )
        if settings.correction in PROCEDURES and replicated:
            raise BadOption(
                f"correction={settings.correction!r} cannot be used with several runs of one system",
                fix="use correction='holm'",
            )
        if settings.correction is not None:
            return settings.correction
        if replicated or settings.test != "randomisation":
            return "holm"
        if settings.interval == "test":
            return FLIPPED
        return "robust_tukey" if self.all_pairs else "holm"


def baseline_names(baseline: Baselines) -> tuple[str, ...]:
    """Return the names of one baseline, of several or of none, each once."""
    several = [baseline] if isinstance(baseline, str) else baseline or ()
    return tuple(dict.fromkeys(several))


def _pairs(
    systems: tuple[str, ...], baselines: tuple[str, ...]
) -> list[tuple[int, int]]:
    """Return which columns are compared with which: all, or those that hold a baseline, each pair once."""
    if len(systems) < 2:  # noqa: PLR2004 - two make a pair
        raise NotComparable(
            "there is only one system",
            given=printable(systems[0]),
            fix="name another one",
        )
    if not baselines:
        # each system with those before it
        every = combinations(range(len(systems)), 2)
        return [(system, versus) for versus, system in every]

    pairs: list[tuple[int, int]] = []
    for baseline in baselines:
        if baseline not in systems:
            raise UsageError(
                f"there is no system {printable(repr(baseline))} to compare with",
                expected=", ".join(map(printable, systems)),
                fix=did_you_mean(baseline, systems),
            )
        versus = systems.index(baseline)
        pairs += [
            (system, versus)
            for system in range(len(systems))
            if system != versus and (versus, system) not in pairs
        ]
    return pairs


def _matrix(
    source: Source,
    measure: str,
    systems: Mapping[str, Sequence[str]],
    clusters: pl.DataFrame | None,
) -> Matrix:
    for runs in systems.values():
        for run in runs:
            if (run, measure) not in source.tables:
                raise NotComparable(
                    f"{printable(run)} has no scores of {printable(measure)}"
                )
    if clusters is not None and measure in source.grouped:
        raise BadOption(
            f"{measure} scores sessions, and only queries can be clustered",
            fix="leave cluster out",
        )
    return Matrix.of(
        source.tables,
        measure,
        source.measures[measure],
        systems,
        clusters,
        source.spans[measure],
    )


def _together(matrices: Sequence[Matrix]) -> dict[str, Matrix]:
    """Keep the queries that all measures have: systems are shuffled in all measures at once."""
    shared = matrices[0].queries
    for matrix in matrices[1:]:
        shared = shared.filter(shared.is_in(matrix.queries.implode()))
    if not len(shared):
        raise NotComparable(
            "the primary measures have no query in common",
            fix="correction='holm' tests them one by one",
        )
    joint = {}
    for matrix in matrices:
        places = matrix.queries.to_frame("query_id").with_row_index("row")
        rows = shared.to_frame("query_id").join(
            places, on="query_id", how="left", maintain_order="left"
        )
        kept = rows["row"].to_numpy().astype(np.int64)
        joint[matrix.measure] = matrix
        if not np.array_equal(kept, np.arange(len(matrix))):
            joint[matrix.measure] = matrix.some(kept)
    return joint


def _segments(
    source: Source,
    matrix: Matrix,
    pairs: Sequence[tuple[int, int]],
    query_columns: pl.DataFrame,
    by: tuple[str, ...],
) -> list[Pair]:
    """Return the pairs of each segment of queries."""
    if matrix.measure in source.grouped:
        raise BadOption(
            f"{matrix.measure} scores sessions, and only queries belong to segments",
            fix="leave by out",
        )
    rows = matrix.queries.to_frame("query_id").join(
        query_columns, on="query_id", how="left", maintain_order="left"
    )
    segments, members = grouped(rows.select(by))
    tested = []
    for segment, rows_of_segment in zip(segments.iter_rows(), members, strict=True):
        part = matrix.some(rows_of_segment)
        tested += [Pair(part, *pair, segment) for pair in pairs]
    return tested
