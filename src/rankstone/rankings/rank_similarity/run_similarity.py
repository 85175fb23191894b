"""Similarity of two runs, or of two orderings without files or queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import polars as pl

from rankstone._basics import counted, is_path, some
from rankstone.errors import BadOption, InputError, NotComparable, printable
from rankstone.evaluation.request import recorded_choices
from rankstone.hits.alignment_options import OrderingKeywords, takes
from rankstone.hits.tie_rules import TIES
from rankstone.io import read_run
from rankstone.io.columns import with_csv
from rankstone.io.file_formats import stem
from rankstone.io.sources import display_name
from rankstone.measures.core.syntax import parse_measure, parse_only
from rankstone.rankings.rank_similarity.list_measure import ListMeasure
from rankstone.rankings.rank_similarity.list_ordering import (
    OPTIONS,
    options_for,
    ordering_options,
)
from rankstone.rankings.rank_similarity.list_pairs import (
    JoinedParts,
    MeasuredBatch,
    both_lists,
    stream_pairs,
)
from rankstone.rankings.rank_similarity.ranked_lists import load_run
from rankstone.rankings.rank_similarity.similarity_scores import Similarity
from rankstone.rankings.recorded_derivations import derive_similarity

if TYPE_CHECKING:
    from typing import Unpack

    from rankstone._basics import Columns, Progress
    from rankstone.hits.alignment_options import AlignmentOptions
    from rankstone.io.input_table import Table
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.rank_similarity.ranked_lists import LoadedRun


def open_runs(
    a: object,
    b: object,
    names: tuple[str, str],
    *,
    order: str,
    columns: Columns | None = None,
    format_in: str | None = None,
) -> tuple[Table, Table]:
    """Open two runs; ids from a text file are texts, also against whole numbers.

    Raises
    ------
    MixedIds
        When one run has texts for ids and the other whole numbers.
    """
    first, second = (
        read_run(run, columns, format_in, order=order, name=name)
        for run, name in zip((a, b), names, strict=True)
    )
    differ = first.text_ids_for(second, "texts in both runs, or whole numbers in both")
    return first.with_text_ids(*differ), second.with_text_ids(*differ)


@takes(OrderingKeywords)
def diff(
    a: object,
    b: object,
    measures: str
    | ListMeasure
    | Sequence[str | ListMeasure] = "RBO(p=0.9) tau_ap Jaccard@10",
    *,
    names: tuple[str, str] | None = None,
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[OrderingKeywords],
) -> Similarity:
    """Compare two runs, query by query and without judgments.

    Parameters
    ----------
    a, b
        Two runs, each a path (TREC, CSV, TSV, JSON, JSON lines, Parquet, Arrow; ``.gz`` and ``.zst`` too), a
        frame, ``{query: {doc: score}}``, ``{query: [doc, …]}`` or a triple of arrays.  The first is the
        reference of measures that have one.  It is loaded into memory, the second is streamed.
    measures
        Measures of two rankings: ``"RBO(p=0.9) tau_ap Jaccard@10"``, a list of texts, or values.
    names
        The names of the runs; by default their file names.
    columns, format_in, csv_separator, decimal
        As for :func:`rankstone.evaluate`.
    progress
        Called with row counts while reading.
    **options
        How lists are ordered: ``order``, ``score_dtype``, ``ties``, ``duplicates``, ``depth``, with
        the meaning and defaults they have in ``AlignmentOptions``.  Tied scores
        are ties for every measure with a rule for them; ``ties`` decides which of them a cutoff leaves out.

    Returns
    -------
    Similarity
        Values per query, means, audit and conventions.  A query of one run only has no value,
        and neither has a correlation of fewer than two documents.

    Raises
    ------
    InputError
        When a run cannot be read, or no query is in both.
    UsageError
        When a measure or option does not exist, or needs judgments.

    Examples
    --------
    >>> a, b = {"q1": ["d1", "d2"], "q2": ["d3"]}, {"q1": ["d2", "d1"], "q2": ["d3"]}
    >>> similarity = diff(a, b, "RBO(p=0.9) tau_b")
    >>> similarity.per_query.select("query_id", "measure", "value", "status").rows()[-1]
    ('q2', 'tau_b', None, 'few_common')
    """
    parsed = parse_only((ListMeasure,), measures, "is not a measure of two rankings")
    columns = with_csv(columns, csv_separator, decimal)
    checked = ordering_options(options)
    titles = names or _names(a, b)
    table_a, table_b = open_runs(
        a, b, titles, order=checked.order, columns=columns, format_in=format_in
    )
    of_a = options_for(table_a, checked)
    of_b = options_for(table_b, checked)
    loaded = load_run(table_a.watched(progress), of_a)
    parts, lists = stream_pairs(
        loaded,
        table_b.watched(progress),
        of_b,
        lambda paired, streamed: MeasuredBatch.of(paired, streamed, parsed),
    )
    if not lists.answered.any():
        raise _no_common_query(loaded, lists.unjudged(), (table_a, table_b))
    joined = JoinedParts(loaded, parts, ~lists.answered)
    conventions = settings_of(checked, parsed)
    runs = ((table_a, of_a), (table_b, of_b))
    return Similarity(
        names=titles,
        queries=joined.queries,
        by_measure={
            measure: joined.agreement(place, measure)
            for place, measure in enumerate(parsed)
        },
        audit=joined.audit(titles, table_a, table_b),
        conventions=conventions,
        inputs={"a": table_a.source, "b": table_b.source},
        _side_by_side=lambda query: both_lists(query, *runs),
        _derive=partial(
            derive_similarity, runs=runs, names=titles, conventions=conventions
        ),
    )


def identical(
    a: object,
    b: object,
    depth: int | None = None,
    *,
    columns: Columns | None = None,
    format_in: str | None = None,
    **options: Any,  # noqa: ANN401 - checked by listing_options
) -> bool:
    """Return True if two runs have the same documents in the same order for every query.

    Parameters
    ----------
    a, b, columns, format_in
        As for :func:`diff`.
    depth
        The depth down to which they are compared; whole lists unless given.
    **options
        How lists are ordered.  Where ties are averaged over, tie blocks have to be the same, too.

    Examples
    --------
    >>> identical({"q": ["d1", "d2"]}, {"q": ["d1", "d3"]}, 1), identical({"q": ["d1"]}, {"q": ["d2"]})
    (True, False)
    """
    rule = TIES.get(options.get("ties", "input"))
    averaged = rule is not None and rule.needs_grades
    if averaged:
        options["ties"] = "docid_desc"
    checked = ordering_options(options)
    tables = open_runs(
        a, b, ("a", "b"), order=checked.order, columns=columns, format_in=format_in
    )
    frames = []
    for table in tables:
        loaded = load_run(table, options_for(table, checked))
        frame = loaded.to_frame()
        if averaged:
            ties = {"first": loaded.ranked.first, "last": loaded.ranked.last}
            frame = frame.with_columns(**ties)
        first = frame.filter(pl.col("rank") <= (depth or len(frame)))
        frames.append(first.sort("query_id", "rank"))
    return frames[0].equals(frames[1])


def _names(a: object, b: object) -> tuple[str, str]:
    """Return the names of the runs: file names, paths if these are equal, else a and b."""
    paths = [run if is_path(run) else None for run in (a, b)]
    first, second = (
        name if path is None else stem(path)
        for path, name in zip(paths, ("a", "b"), strict=True)
    )
    if first == second and paths[0] is not None and paths[1] is not None:
        first = display_name(paths[0])
        second = display_name(paths[1])
    return first, second


def settings_of(options: AlignmentOptions, measures: Sequence[Named]) -> dict[str, Any]:
    """Return every option and parameter that the numbers depend on."""
    alignment = {name: getattr(options, name) for name in OPTIONS}
    return recorded_choices(alignment, measures)


def _no_common_query(
    loaded: LoadedRun, others: pl.Series, tables: tuple[Table, Table]
) -> NotComparable:
    return NotComparable(
        "the runs have no query in common",
        where=f"{tables[0].source}, {tables[1].source}",
        given=f"queries {some(loaded.names.sort())}; queries {some(others.sort())}",
        expected="the same query ids in both runs",
        fix="check that the runs belong together, and that ids are spelled the same way",
    )


Values = Literal["ids", "scores"]
_QUERY = "the ordering"


@takes(OrderingKeywords)
def similarity(
    x: object,
    y: object,
    measure: str | ListMeasure = "tau_b",
    *,
    values: Values | None = None,
    **options: Unpack[OrderingKeywords],
) -> float | None:
    """Compare two orderings: of systems by two measures, of documents by two people.

    Parameters
    ----------
    x, y
        Each a list of ids, best first; a dict ``{id: score}``; or, both of them, scores of the same
        things in the same order.  The higher score comes first; equal scores tie.
    measure
        A measure of two rankings.
    values
        The content of plain lists, ``"ids"`` or ``"scores"``.  Texts are ids and fractions are scores;
        for whole numbers, which could be either, it is required.
    **options
        As for :func:`rankstone.diff`.

    Returns
    -------
    float or None
        ``None`` where the measure has no value, as for a correlation with a constant.

    Raises
    ------
    InputError
        When x and y are not two orderings of one kind.

    Examples
    --------
    >>> similarity({"bm25": 0.31, "dense": 0.42, "both": 0.44}, {"bm25": 0.2, "dense": 0.5, "both": 0.4})
    0.3333333333333333
    >>> round(similarity(list("abcdefg"), list("bacdxyz"), "RBO(p=0.9)"), 6)
    0.639435
    """
    parsed = parse_measure(measure)
    orderings = [
        _parse_ordering(values_, values, name) for values_, name in ((x, "x"), (y, "y"))
    ]
    vectors = [isinstance(ordering, np.ndarray) for ordering in orderings]
    if any(vectors) and not all(vectors):
        raise InputError(
            "x and y are of different kinds",
            expected="scores of the same things, or ids",
        )
    if all(vectors) and len(orderings[0]) != len(orderings[1]):
        raise InputError(
            f"x has {counted(len(orderings[0]), 'score')} and y has {len(orderings[1])}",
            expected="scores of the same things in the same order",
            fix="dicts {id: score} may differ in their ids",
        )
    if all(vectors):
        orderings = [dict(enumerate(scores.tolist())) for scores in orderings]

    first, second = ({_QUERY: ordering} for ordering in orderings)
    # diff refuses measures of another kind
    result = diff(
        first, second, cast("ListMeasure", parsed), names=("x", "y"), **options
    )
    return next(iter(result.to_dict().values()))


def _parse_ordering(ordering: Any, values: Values | None, name: str) -> Any:  # noqa: ANN401 - ids, scores or both
    """Return ids as a list, scores as an array, a dict as it is."""
    if values not in (None, "ids", "scores"):
        raise BadOption(f"values={values!r} is not known", expected="ids, scores")
    if isinstance(ordering, Mapping):
        return dict(ordering)
    if isinstance(ordering, (str, bytes)) or not (
        isinstance(ordering, Sequence) or hasattr(ordering, "__array__")
    ):
        raise InputError(
            f"{name} is a {type(ordering).__name__}",
            given=printable(repr(ordering), 60),
            expected="a list of ids, a dict {id: score}, or scores",
        )
    listed = (
        np.asarray(ordering).tolist()
        if hasattr(ordering, "__array__")
        else list(ordering)
    )
    kind = values or _kind(listed, name)
    if kind == "scores":
        return _scores(listed, name)
    return listed


def _kind(listed: list[Any], name: str) -> Values:
    """Return whether a list has ids or scores; anything else counts as ids, which reading will refuse."""
    if listed and all(
        isinstance(value, int) and not isinstance(value, bool) for value in listed
    ):
        raise InputError(
            f"{name} could be ids or scores",
            given=printable(repr(listed[:5]), 60),
            fix='give values="ids" or values="scores"',
        )
    if any(isinstance(value, float) for value in listed):
        return "scores"
    return "ids"


def _scores(listed: list[Any], name: str) -> Any:  # noqa: ANN401 - an array
    try:
        return np.array(listed, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} has an element that is not a number",
            given=printable(repr(listed[:5]), 60),
        ) from None
