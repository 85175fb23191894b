"""Which pairs are asked about, in which families, and what the answers are."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankstone.comparing.all_pairs import ALL_PAIRS, DRAWN
from rankstone.comparing.answer import Answer, Question
from rankstone.comparing.family import Family, answered
from rankstone.comparing.matrix import Matrix, systems_of
from rankstone.comparing.result import Comparison, framed
from rankstone.comparing.source import Source, named_among
from rankstone.errors import BadOption, NotComparable, UsageError, nearest, printable
from rankstone.scores import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone.comparing.how import How

    Progress = Callable[[int], None]

__all__ = ["asked", "correction_of", "pairs_of"]


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
    pairs = pairs_of(tuple(systems), baseline)
    first = named_among(primary, tuple(source.measures)) if primary is not None else list(source.measures)[:1]
    clusters = None if cluster is None or about is None else about.select("query_id", cluster=cluster)
    matrices = {
        measure: _matrix(source, measure, systems, clusters) for measure in [*first, *source.measures]
    }
    replicated = any(matrix.replicates for matrix in matrices.values())
    correction = correction_of(how, every=baseline is None and len(pairs) > 1, replicated=replicated)
    if correction in DRAWN:
        matrices |= _together([matrices[name] for name in first])
    answers: list[tuple[str, Answer]] = []
    families: list[Family] = []
    groups = {"primary": first, **{name: [name] for name in source.measures if name not in first}}
    seen = {name: one.ranked() for name, one in matrices.items()} if correction == "nemenyi" else matrices
    questions = {
        name: [Question(seen[measure], *pair) for measure in group for pair in pairs]
        for name, group in groups.items()
    }
    for family, found in answered(questions, how, correction, progress):
        families.append(family)
        answers += [("primary" if family.name == "primary" else "exploratory", one) for one in found]
    segments = None
    if by and about is not None:
        parts = [q for name in first for q in _segments(source, matrices[name], pairs, about, by)]
        step = "holm" if correction in ALL_PAIRS else correction
        [(family, found)] = answered({"segments": parts}, how, step, progress)
        families.append(family)
        segments = framed([("primary", one) for one in found], by, about)
    return Comparison(
        systems=tuple(systems),
        baseline=None if len(pairs) != len(systems) - 1 else tuple(systems)[pairs[0][1]],
        primary=tuple(first),
        matrices=matrices,
        table=framed(answers),
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


def pairs_of(systems: tuple[str, ...], baseline: str | None) -> list[tuple[int, int]]:
    """Return which columns are held against which."""
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


def correction_of(how: How, *, every: bool, replicated: bool) -> str:
    """Return the correction: as asked, or what fits the pairs."""
    if how.correction in ALL_PAIRS and not every:
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
    return "robust_tukey" if every and not replicated and how.test == "randomisation" else "holm"


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
