"""``slices``: in which groups of queries a system loses or gains, of runs, saved scores and A/B logs."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

import numpy as np
import polars as pl

from rankstone._basics import counted
from rankstone.boards.log_impressions import impressions, variants_of
from rankstone.boards.query_slices import TEXTS, QuerySlices, query_slices
from rankstone.boards.sliced_values import SlicedValues
from rankstone.boards.slices_result import FEWEST, NUMBERS, Slices, SliceSettings
from rankstone.comparison.compare_systems import cluster_of
from rankstone.comparison.comparison_result import Comparison
from rankstone.comparison.score_matrix import Matrix, systems_of
from rankstone.comparison.score_sources import Source
from rankstone.conventions.evaluation_by_convention import scores_by
from rankstone.errors import (
    BadOption,
    MissingColumn,
    NotComparable,
    UsageError,
    blaming,
    one_of,
    printable,
)
from rankstone.evaluation.request import EvaluationKeywords, name_runs, of_rankings
from rankstone.evaluation.scores import Scores
from rankstone.hits.alignment_options import takes
from rankstone.io.attributes import open_table, read_attributes
from rankstone.io.columns import columns_in, columns_in_source, with_csv
from rankstone.io.unreadable_files import reading
from rankstone.stats.exact_sums import tolerance
from rankstone.stats.slice_tests import Gaps, SliceTests, slice_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Bools, Columns, Floats, Ints, Progress
    from rankstone.evaluation.request import QrelsLike, RunsLike
    from rankstone.measures.core.measure import Measure


#: columns that are not attributes
_NOT: Final = (
    "query_id",
    "doc_id",
    "impression_id",
    "user_id",
    "position",
    "weight",
    "session",
)


class SliceKeywords(TypedDict, total=False):
    """The fields of :class:`SliceSettings` as keyword arguments."""

    attributes: Sequence[str] | None
    tags: Mapping[str, str]
    bins: int
    min_size: int
    against: str
    margin: float | None
    confidence: float
    power: float
    permutations: int
    seed: int
    lang: str
    drawing: Progress | None


class SlicesKeywords(SliceKeywords, EvaluationKeywords, total=False):
    """The settings of a search for slices, and the options of evaluation."""


@takes(SlicesKeywords)
def slices(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: str | Measure = "nDCG@10",
    *,
    cluster: str | None = None,
    convention: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[SlicesKeywords],
) -> Slices:
    """Find groups of queries in which a run loses or gains, without taking chance for a finding.

    Parameters
    ----------
    qrels, convention, progress
        As for :func:`rankstone.evaluate`.
    runs
        Two runs, of which the second is compared with the first, or one, whose slices are compared with its
        mean over the other queries.
    measure
        One measure.
    cluster
        A column of ``queries``, such as the user, whose queries are not independent; by default ``session``,
        if the table has this column.
    **options
        ``queries``, a table with ``query_id`` and attributes of queries: numbers, categories, texts, lists;
        what is searched and how (see ``SliceSettings``): ``attributes``, ``tags``, ``bins``, ``min_size``,
        ``against``, ``margin``, ``confidence``, ``power``, ``permutations``, ``seed``, ``lang``; and all that
        :func:`rankstone.evaluate` takes.

    Returns
    -------
    Slices

    Raises
    ------
    InputError, UsageError
        As for :func:`rankstone.evaluate`; when there are more than two runs, or no slice is large enough.

    Examples
    --------
    >>> from rankstone import demo
    >>> search = slices(demo.QRELS, demo.RUNS, "nDCG@10", queries=demo.QUERIES, min_size=10)
    >>> search.table.select("slice", "n").row(0)
    ('words=4–5', 10)
    """
    settings, scoring = _settings(dict(options))
    columns = columns_in(scoring)
    requested = of_rankings(measure) if convention is None else ()
    if len(requested) > 1:
        raise UsageError(
            "slices are of one measure",
            given=printable(str(measure)),
            fix=f"measure={str(requested[0])!r}",
        )
    named = name_runs(runs)
    queries = scoring.get("queries")
    read = {"columns": columns, **scoring}
    scores = scores_by(convention, qrels, named, measure, progress=progress, **read)
    return _of_source(
        Source.of(scores, scores.measures[:1]), queries, cluster, columns, settings
    )


def slices_of_scores(
    scores: object,
    measure: str | Measure | None = None,
    *,
    queries: object = None,
    cluster: str | None = None,
    columns: Columns | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    **options: Unpack[SliceKeywords],
) -> Slices:
    """Find slices in a comparison, in what :func:`rankstone.evaluate` returned, or in saved scores.

    Parameters
    ----------
    scores
        A comparison of two systems; or one or two systems' scores, as for :func:`rankstone.compare_scores`.
    measure
        Which one; by default the primary measure of a comparison, otherwise the first.
    queries
        As for :func:`slices`; by default the table that the comparison was made with.
    cluster, **options
        As for :func:`slices`.
    columns, csv_separator, decimal
        As for :func:`rankstone.evaluate`.
    """
    settings, _ = _settings(dict(options), "slices_of_scores")
    columns = with_csv(columns, csv_separator, decimal)
    if isinstance(scores, Comparison):
        matrix = scores.matrices[str(measure or scores.primary[0])]
        if queries is None and scores.sources is not None:
            queries = scores.sources.given.get("queries")
        attributes = _attributes(queries, columns, settings, cluster)
        result = _search(SlicedValues.of(matrix), attributes, settings, cluster)
        return _with_origin(result, scores)
    if isinstance(scores, Scores):
        source = Source.of(
            scores, of_rankings(measure) if measure is not None else scores.measures[:1]
        )
    else:
        source = Source.saved(scores, measure, columns)
    return _of_source(source, queries, cluster, columns, settings)


def slices_of_log(
    log: object,
    value: str = "clicked",
    by: str = "variant",
    *,
    versus: str | None = None,
    cluster: str | None = "user_id",
    direction: str = "higher",
    columns: Columns | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    **options: Unpack[SliceKeywords],
) -> Slices:
    """Find slices of an A/B test: users or queries for which the effect of a variant differs.

    Parameters
    ----------
    log
        A table with a row for each impression, or each user: the variant, the value, attributes.  Rows with
        the same ``impression_id`` are one, with a click if any has one.
    value
        The column of numbers that is compared, such as ``clicked``.
    by
        The column of the two variants.
    versus
        The variant that the other one is compared with; by default the first in sorted order.
    cluster
        The column of units that were randomised, users; ``None``, or no such column: every row by itself.
    direction
        ``higher`` or ``lower``, which is better.
    columns, csv_separator, decimal
        As for :func:`rankstone.evaluate`.
    **options
        As for :func:`slices`.
    """
    settings, _ = _settings(dict(options), "slices_of_log")
    one_of("direction", direction, ("higher", "lower"))
    columns = with_csv(columns, csv_separator, decimal)
    name, lazy, _ = open_table(log, by, columns)
    with reading(name):
        frame = lazy.collect()
    with blaming(name):
        named = cluster if cluster != "user_id" else None
        for column in filter(None, (value, by, named, *(settings.attributes or ()))):
            if column not in frame.columns:
                raise MissingColumn.of(
                    f"there is no column {printable(column)}",
                    column,
                    frame.columns,
                    name,
                    columns_in_source(frame.columns, columns),
                )
        needed = [column for column in (by, cluster) if column in frame.columns]
        frame = impressions(frame, value, needed, name)
        control, treated = variants_of(frame[by], versus)
    reserved = (value, by, cluster, *_NOT)
    attributes = [
        name for name in settings.attributes or frame.columns if name not in reserved
    ]
    if not attributes:
        raise UsageError(
            "the log has no attributes that could make slices",
            where=name,
            given=columns_in_source(frame.columns, columns),
            expected=f"further columns beside {by}, {value} and ids, such as device or country",
        )
    treatment = (frame[by].cast(pl.String) == treated).to_numpy()
    units = None
    if cluster in frame.columns:
        rank = frame[cluster].cast(pl.String).rank("dense")
        units = rank.to_numpy().astype(np.int64) - 1
    sliced = SlicedValues.of_variants(
        frame[value].to_numpy(),
        treatment,
        systems=(treated, control),
        measure=value,
        sign=-1 if direction == "lower" else 1,
        cluster=units,
    )
    result = _search(sliced, frame.select(sliced.ids, *attributes), settings)
    return replace(result, inputs={"log": name})


def _settings(
    options: dict[str, Any], only_of: str | None = None
) -> tuple[SliceSettings, dict[str, Any]]:
    """Split options into settings and others, which some functions do not have."""
    own = {
        field.name: options.pop(field.name)
        for field in fields(SliceSettings)
        if field.name in options
    }
    if only_of is not None and options:
        raise BadOption(
            f"{printable(next(iter(options)))} is not an option of {only_of}"
        )
    return SliceSettings(**own), options


def _of_source(
    source: Source,
    queries: object,
    cluster: str | None,
    columns: Columns | None,
    settings: SliceSettings,
) -> Slices:
    measure, direction = next(iter(source.measures.items()))
    cluster = cluster or cluster_of(queries, columns, ())
    attributes = _attributes(queries, columns, settings, cluster)
    units = None if cluster is None else attributes.select("query_id", cluster=cluster)
    matrix = Matrix.of(
        source.tables, measure, direction, systems_of(source.runs), units
    )
    result = _search(SlicedValues.of(matrix), attributes, settings, cluster)
    return _with_origin(result, source)


def _with_origin(result: Slices, origin: Comparison | Source) -> Slices:
    """Return slices that say how their scores were made."""
    return replace(
        result, audit=origin.audit, conventions=origin.conventions, inputs=origin.inputs
    )


def _attributes(
    queries: object,
    columns: Columns | None,
    settings: SliceSettings,
    cluster: str | None,
) -> pl.DataFrame:
    """Read the attributes of queries."""
    if queries is None:
        raise UsageError(
            "slices need a table of queries with attributes",
            fix="name it: --queries FILE (in Python queries=…)",
        )
    read = read_attributes(queries, "query_id", columns)
    wanted = [name for name in settings.attributes or read.columns if name not in _NOT]
    texts = [name for name in TEXTS if name in read.columns]
    needed = [cluster] if cluster is not None else []
    return read.collect(*dict.fromkeys([*wanted, *texts, *needed]))


def _search(
    sliced: SlicedValues,
    attributes: pl.DataFrame,
    settings: SliceSettings,
    cluster: str | None = None,
) -> Slices:
    """Return the slices of values."""
    _refuse_nothing_to_compare(sliced, attributes, settings)
    rows = sliced.ids.to_frame("query_id").join(
        attributes, on="query_id", how="left", maintain_order="left"
    )
    candidates = _candidates(rows, settings, cluster)
    inside, outside = _side_sums(sliced, candidates)
    kept = _large_enough(sliced, inside, outside)
    chosen = candidates.select(kept)
    gaps = Gaps(chosen.members, settings.against == "zero", sliced.cluster)
    tests = slice_tests(
        sliced.values,
        gaps,
        confidence=settings.confidence,
        permutations=settings.permutations,
        seed=settings.seed,
        progress=settings.drawing,
    )
    explained_by = _folded(
        sliced.values, gaps, tests, chosen.parents, 1 - settings.confidence
    )
    means = [part[::2, kept] / part[1::2, kept] for part in (inside, outside)]
    table = _slice_table(sliced, rows, chosen, gaps, tests, explained_by, means)
    return Slices(
        table,
        sliced.systems,
        sliced.measure,
        sliced.sign,
        len(sliced.ids),
        _noise(sliced.values, gaps, tests),
        tests.critical,
        candidates.left_out,
        sliced.kind,
        settings,
        sliced.without_value,
        small=candidates.small,
    )


def _refuse_nothing_to_compare(
    sliced: SlicedValues, attributes: pl.DataFrame, settings: SliceSettings
) -> None:
    """Refuse one system against zero, and attributes of other queries."""
    if settings.against == "zero" and len(sliced.systems) == 1:
        raise UsageError(
            "against=zero compares two systems",
            fix="against=rest compares slices of one",
        )
    if not sliced.ids.is_in(attributes["query_id"].implode()).any():
        raise NotComparable(
            "the table of queries has none of the queries",
            given=f"{printable(attributes['query_id'][0])} there, {printable(sliced.ids[0])} in the scores",
        )


def _candidates(
    rows: pl.DataFrame, settings: SliceSettings, cluster: str | None
) -> QuerySlices:
    """Return the slices that the attributes of the rows make."""
    columns = [
        name
        for name in settings.attributes or rows.columns
        if name not in (*_NOT, cluster)
    ]
    if settings.tags:
        columns += [name for name in TEXTS if name in rows.columns]
    return query_slices(
        rows.select(*dict.fromkeys(columns)),
        tags=settings.tags,
        bins=settings.bins,
        least=settings.min_size,
    )


def _side_sums(sliced: SlicedValues, candidates: QuerySlices) -> tuple[Floats, Floats]:
    """Return sums inside and outside of slices; in turn of each system's values and counts."""
    sides = np.stack([part for side in sliced.sides for part in side])
    inside = Gaps(candidates.members).summed(sides)
    return inside, sides.sum(axis=1)[:, None] - inside


def _large_enough(sliced: SlicedValues, inside: Floats, outside: Floats) -> Ints:
    """Return which slices have enough rows of each system, and leave enough outside."""
    fewest = np.minimum(inside, outside)[1::2].min(axis=0)
    kept = np.flatnonzero(fewest >= FEWEST)
    if not len(kept):
        raise NotComparable(
            f"no slice has {FEWEST} rows of each variant",
            given=f"{counted(len(sliced.ids), 'row')}",
        )
    return kept


def _noise(values: Floats, gaps: Gaps, tests: SliceTests) -> float:
    """Return the standard deviation of values that the errors of gaps amount to; 0 if all are equal."""
    if np.ptp(values) <= tolerance(values):
        return 0.0
    size = gaps.members.sum(axis=0)
    share = 1 / size
    if not gaps.zero:
        share += 1 / (len(values) - size)
    return float(np.median(tests.error / np.sqrt(share)))


def _slice_table(
    sliced: SlicedValues,
    rows: pl.DataFrame,
    chosen: QuerySlices,
    gaps: Gaps,
    tests: SliceTests,
    explained_by: list[int | None],
    means: Sequence[Floats],
) -> pl.DataFrame:
    """Return :attr:`Slices.table` of means inside and outside, float64 ``[systems, slices]`` each."""
    value, elsewhere = means
    names = chosen.names
    versus = difference = [None] * len(names)
    here = value[-1]
    there = elsewhere[-1]
    if len(sliced.systems) > 1:
        versus = value[0]
        here = difference = value[1] - value[0]
        there = elsewhere[1] - elsewhere[0]
    gap = here if gaps.zero else here - there
    gap = np.where(tests.gap == 0, 0.0, gap)  # without rounding
    reach = tests.reach()
    leads = np.array([leader == index for index, leader in enumerate(explained_by)])
    table = pl.DataFrame(
        {
            "slice": names,
            "n": gaps.members.sum(axis=0),
            "value": value[-1],
            "versus": versus,
            "difference": difference,
            "elsewhere": there,
            "gap": gap,
            "shrunken": pl.Series(gap * tests.kept()).fill_nan(None),
            "low": gap - reach,
            "high": gap + reach,
            "p_adjusted": tests.p,
            "found": leads,
            "within": [
                None if leader in (None, index) else names[leader]
                for index, leader in enumerate(explained_by)
            ],
            "same": chosen.same,
            **_examples(sliced, gaps, gap, leads, rows),
        },
        _SCHEMA,
    )
    return table[np.lexsort((-np.round(tests.evidence, 9), ~leads))]


_SCHEMA: Final[dict[str, Any]] = (
    {"slice": pl.String, "n": pl.Int64}
    | dict.fromkeys(NUMBERS, pl.Float64)
    | {"found": pl.Boolean, "within": pl.String, "same": pl.List(pl.String)}
    | {"example": pl.String, "example_text": pl.String}
    | dict.fromkeys(("example_value", "example_versus"), pl.Float64)
)


def _folded(
    values: Floats, gaps: Gaps, tests: SliceTests, parents: Ints, level: float
) -> list[int | None]:
    """Return for each slice the one that explains it, itself if no other one does, ``None`` for chance.

    The largest gap is removed from its queries; slices that differ no more were only part of it.
    """
    within: list[int | None] = [None] * len(tests.z)
    left = np.flatnonzero(tests.p <= level + 1e-12)
    z = tests.z
    values = values.copy()
    evidence = tests.evidence
    size = gaps.members.sum(axis=0)
    single = parents[:, 0] < 0
    while len(left):
        best = left[
            np.lexsort((size[left], ~single[left], -np.round(evidence[left], 9)))[0]
        ]
        of_two = gaps.members[:, [*parents[best], best]]
        if (parents[best] >= 0).all() and _parts_explain_more(
            values, of_two, float(tests.critical_z[best])
        ):
            among = np.intersect1d(parents[best], left)
            best = among[np.abs(z[among]).argmax()] if len(among) else best
        values -= gaps.statistics(values)[0][best] * gaps.members[:, best]
        z = gaps.statistics(values)[3]
        evidence = z**2 / 2 + gaps.log_share
        explained = (evidence[left] <= tests.critical) | (left == best)
        for slice_number in left[explained]:
            within[slice_number] = int(best)
        left = left[~explained]
    return within


def _parts_explain_more(values: Floats, members: Bools, critical: float) -> bool:
    """Return True if the effects of two attributes, added up, fit clearly better than that of their pair."""
    columns = np.column_stack([np.ones(len(values)), members])
    parts, pair = (
        np.square(values - chosen @ np.linalg.lstsq(chosen, values)[0]).sum()
        for chosen in (columns[:, :3], columns[:, [0, 3]])
    )
    return bool(pair - parts > critical**2 * parts / len(values))


def _examples(
    sliced: SlicedValues, gaps: Gaps, gap: Floats, leads: Bools, rows: pl.DataFrame
) -> dict[str, list[Any]]:
    """Return the query of each slice that is found in which the gap is largest."""
    examples: dict[str, list[Any]] = {
        name: [None] * len(gap) for name in _SCHEMA if name.startswith("example")
    }
    if sliced.kind != "queries":
        return examples
    text_column = next((name for name in TEXTS if name in rows.columns), None)
    for index in np.flatnonzero(leads):
        members = np.flatnonzero(gaps.members[:, index])
        query = members[np.argmax(np.sign(gap[index]) * sliced.values[members])]
        examples["example"][index] = sliced.ids[int(query)]
        if text_column is not None:
            examples["example_text"][index] = rows[text_column][int(query)]
        examples["example_value"][index] = float(sliced.sides[-1][0][query])
        if len(sliced.sides) > 1:
            examples["example_versus"][index] = float(sliced.sides[0][0][query])
    return examples
