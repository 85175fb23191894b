"""Which pairs are asked about, in which families, and what the answers are.

Sensitivity to the test: the same questions, asked by every test that can answer them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.comparison.comparison_result import Comparison, tabled
from rankstone.comparison.score_matrix import Matrix, systems_of
from rankstone.comparison.score_sources import Source, named_among
from rankstone.comparison.test_families import ALL_PAIRS, DRAWN, Family, answered
from rankstone.comparison.verdict import Question, sure
from rankstone.errors import BadOption, NotComparable, UsageError, nearest, printable
from rankstone.evaluation.scores import grouped
from rankstone.stats.paired_tests import PAIRED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone.comparison.compare_systems import How
    from rankstone.stats.sampling_units import Units

    Progress = Callable[[int], None]

__all__ = ["Layout", "asked", "by_test"]


def asked(
    source: Source,
    baseline: str | None,
    primary: object,
    by: tuple[str, ...],
    cluster: str | None,
    about: pl.DataFrame | None,
    how: How,
    progress: Progress | None,
) -> Comparison:
    """Ask every pair about every measure."""
    systems = systems_of(source.runs)
    layout = Layout.of(tuple(systems), tuple(source.measures), baseline, primary)
    pairs, first = layout.pairs, layout.primary
    clusters = None if cluster is None or about is None else about.select("query_id", cluster=cluster)
    matrices = {
        measure: _matrix(source, measure, systems, clusters) for measure in [*first, *source.measures]
    }
    replicated = any(matrix.replicates for matrix in matrices.values())
    correction = layout.correction(how, replicated=replicated)
    if correction in DRAWN:
        matrices |= _together([matrices[name] for name in first])
    families: list[Family] = []
    rows: list[dict[str, Any]] = []
    scores = {name: one.ranked() for name, one in matrices.items()} if correction == "nemenyi" else matrices
    questions = {
        name: [Question(scores[measure], *pair) for measure in group for pair in pairs]
        for name, group in layout.groups.items()
    }
    for family, found in answered(questions, how, correction, progress):
        families.append(family)
        rows += found
    segments = None
    if by and about is not None:
        parts = [q for name in first for q in _segments(source, matrices[name], pairs, about, by)]
        step = "holm" if correction in ALL_PAIRS else correction
        [(family, found)] = answered({"segments": parts}, how, step, progress, by)
        families.append(family)
        segments = tabled(found, {name: about.schema[name] for name in by})
    return Comparison(
        systems=tuple(systems),
        baseline=layout.baseline,
        primary=first,
        matrices=matrices,
        table=tabled(rows),
        segments=segments,
        families=tuple(families),
        how=how,
        judged=source.judged,
        relevant_alone=source.relevant_alone,
        replicates=systems,
        audit=source.audit,
        conventions={**source.conventions, "comparison": {**how.as_dict(), "correction": correction}},
        inputs=source.inputs,
    )


@dataclass(frozen=True)
class Layout:
    """Which questions a comparison has, wherever its scores are.

    Attributes
    ----------
    systems
        What is compared.
    pairs
        Columns of two systems each; the difference is the first less the second.
    primary
        The measures that the verdict is about.
    groups
        Family → its measures: the primary ones together, every other one alone.
    all_pairs
        True if every pair of three systems or more is looked at.
    """

    systems: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    primary: tuple[str, ...]
    groups: dict[str, tuple[str, ...]]
    all_pairs: bool

    @classmethod
    def of(
        cls, systems: tuple[str, ...], measures: tuple[str, ...], baseline: str | None, primary: object
    ) -> Layout:
        """Lay out the questions about systems and measures."""
        pairs = tuple(_pairs(systems, baseline))
        first = measures[:1] if primary is None else tuple(named_among(primary, measures))
        groups = {"primary": first, **{name: (name,) for name in measures if name not in first}}
        return cls(systems, pairs, first, groups, baseline is None and len(pairs) > 1)

    @property
    def baseline(self) -> str | None:
        """The system that the others are compared with, ``None`` where every pair is looked at."""
        return None if len(self.pairs) != len(self.systems) - 1 else self.systems[self.pairs[0][1]]

    def correction(self, how: How, *, replicated: bool = False) -> str:
        """Return the correction: the one chosen, or what fits the pairs."""
        if how.correction in ALL_PAIRS and not self.all_pairs:
            raise BadOption(
                f"correction={how.correction!r} looks at all pairs of three systems or more",
                fix="leave out the baseline, or use correction='holm'",
            )
        if how.correction in ALL_PAIRS and replicated:
            raise BadOption(
                f"correction={how.correction!r} knows nothing of several runs of one system",
                fix="use correction='holm'",
            )
        if how.correction is not None:
            return how.correction
        return "robust_tukey" if self.all_pairs and not replicated and how.test == "randomisation" else "holm"


def _pairs(systems: tuple[str, ...], baseline: str | None) -> list[tuple[int, int]]:
    """Return which columns are compared with which."""
    if len(systems) < 2:  # noqa: PLR2004 - two make a pair
        raise NotComparable("there is one system only", given=printable(systems[0]), fix="name another one")
    if baseline is None and len(systems) > 2:  # noqa: PLR2004 - more than one pair
        return [(other, one) for one, other in combinations(range(len(systems)), 2)]
    if baseline is not None and baseline not in systems:
        close = nearest(baseline, systems, n=1)
        raise UsageError(
            f"there is no system {printable(repr(baseline))} to compare with",
            expected=", ".join(map(printable, systems)),
            fix=f"did you mean {printable(close[0])}?" if close else None,
        )
    at = 0 if baseline is None else systems.index(baseline)
    return [(one, at) for one in range(len(systems)) if one != at]


def _matrix(
    source: Source, measure: str, systems: Mapping[str, Sequence[str]], clusters: pl.DataFrame | None
) -> Matrix:
    for runs in systems.values():
        for run in runs:
            if (run, measure) not in source.tables:
                raise NotComparable(f"{printable(run)} has no scores of {printable(measure)}")
    if clusters is not None and measure in source.grouped:
        raise BadOption(
            f"{measure} is about sessions, which are no queries to be clustered", fix="leave cluster out"
        )
    return Matrix.of(
        source.tables, measure, source.measures[measure], systems, clusters, source.spans[measure]
    )


def _together(matrices: Sequence[Matrix]) -> dict[str, Matrix]:
    """Keep the queries that all measures of a family have: systems are shuffled in all of them at once."""
    shared = matrices[0].queries
    for matrix in matrices[1:]:
        shared = shared.filter(shared.is_in(matrix.queries.implode()))
    if not len(shared):
        raise NotComparable(
            "the primary measures have no query in common", fix="correction='holm' takes them one by one"
        )
    found = {}
    for matrix in matrices:
        places = matrix.queries.to_frame("query_id").with_row_index("at")
        rows = shared.to_frame("query_id").join(places, on="query_id", how="left", maintain_order="left")
        same = len(shared) == len(matrix) and bool((rows["at"] == pl.Series(range(len(shared)))).all())
        found[matrix.measure] = matrix if same else matrix.some(rows["at"].to_numpy().astype(np.int64))
    return found


def _segments(
    source: Source,
    matrix: Matrix,
    pairs: Sequence[tuple[int, int]],
    about: pl.DataFrame,
    by: tuple[str, ...],
) -> list[Question]:
    """Return the questions about the queries of each segment."""
    if matrix.measure in source.grouped:
        raise BadOption(f"{matrix.measure} is about sessions, which are in no segment", fix="leave by out")
    rows = matrix.queries.to_frame("query_id").join(about, on="query_id", how="left", maintain_order="left")
    segments, members = grouped(rows.select(by))
    questions = []
    for segment, at in zip(segments.iter_rows(), members, strict=True):
        part = matrix.some(at)
        questions += [Question(part, *pair, segment) for pair in pairs]
    return questions


def by_test(found: Comparison) -> pl.DataFrame:
    """Return p of every test, for each question of primary measures."""
    tests = [name for name in PAIRED if name != found.how.test]
    rows: list[dict[str, Any]] = []
    for asked in found.table.filter(role="primary").iter_rows(named=True):
        matrix = found.matrices[asked["measure"]]
        if matrix.replicates or found.families[0].correction == "nemenyi":
            continue
        one, other = (matrix.systems.index(asked[name]) for name in ("system", "versus"))
        units = Question(matrix, one, other).units
        row = {name: asked[name] for name in ("measure", "system", "versus")}
        p = {found.how.test: asked["p"], **{name: _p(name, units) for name in tests}}
        known = [one < found.how.alpha for one in p.values() if one is not None]
        rows.append({**row, **p, "agree": len(set(known)) == 1})
    texts = dict.fromkeys(("measure", "system", "versus"), pl.String)
    return pl.DataFrame(
        rows, {**texts, **dict.fromkeys((found.how.test, *tests), pl.Float64), "agree": pl.Boolean}
    )


def _p(test: str, units: Units) -> float | None:
    """Return p; ``None`` where the test is not for such differences."""
    try:
        return sure(PAIRED[test](units))
    except BadOption:
        return None
