"""Evaluation of scores and labels in arrays."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import polars as pl

from rankstone.errors import BadOption, BadParameter, BadValue, OutOfRange, printable
from rankstone.evaluation.request import (
    checked,
    of_rankings,
    refuse_further_columns,
    require_columns,
)
from rankstone.hits.batches import Batch
from rankstone.hits.extras.abstained_lists import AbstainedLists
from rankstone.hits.extras.list_sources import ListSources
from rankstone.hits.judgments import SelfLabelled, ideal_of_lists
from rankstone.hits.list_arrays import list_numbers
from rankstone.hits.matching import Matcher
from rankstone.hits.requested_extras import requested_extras
from rankstone.integrations.arrays.array_labels import (
    DeviceLabels,
    doubts,
    labels_on_device,
    lowest,
    numbers_of,
    refuse_inexact_scores,
    settled,
    without_documents,
)
from rankstone.integrations.arrays.array_layout import ArrayLayout
from rankstone.integrations.arrays.array_libraries import Home, home_of, on_host
from rankstone.integrations.arrays.array_scores import ArrayScores
from rankstone.integrations.arrays.dense_lists import dense_lists
from rankstone.integrations.arrays.dense_scores import (
    DenseScores,
    RecordedParts,
    Recording,
)
from rankstone.measures.core.measure import Measure, Scored

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from numpy.typing import NDArray

    from rankstone._basics import Floats, Ints
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords, AlignmentOptions
    from rankstone.integrations.arrays.dense_lists import DenseLists
    from rankstone.integrations.arrays.device_arrays import Data
    from rankstone.measures.core.measure import Measures


#: options of alignment that say something about arrays
_OPTIONS: Final = (
    "ties",
    "empty",
    "negative",
    "unjudged",
    "score_dtype",
    "score_above",
    "depth",
    "candidates",
)
#: names under which other libraries take the lists
_OTHER_NAMES: Final = frozenset(
    ("group", "groups", "group_id", "query_id", "query_ids", "indexes")
)
#: values scored at a time: they stay in a processor's cache
_ROWS: Final = 1 << 17

#: values of tables scored at a time
_VALUES_AT_ONCE: Final = 1 << 18
#: so many values in memory are worth tables of their library; NumPy has fewer done sooner
_WORTH_TABLES: Final = 1 << 16

#: where its values begin, the lists and their ideal order
_Part: TypeAlias = tuple[int, Batch, SelfLabelled]


def evaluate(
    scores: object,
    labels: object,
    measures: MeasuresLike,
    *,
    qid: object = None,
    sizes: object = None,
    mask: object = None,
    **options: Unpack[AlignmentKeywords],
) -> ArrayScores:
    """Score arrays of scores and labels; :class:`Evaluator` does it repeatedly for one set of labels.

    Parameters
    ----------
    scores, labels
        ``[values]``, with ``qid`` or ``sizes`` (without both, all are one list); or ``[lists, longest]``.
    measures, qid, sizes, mask, **options
        As for :class:`Evaluator`.

    Examples
    --------
    >>> scores = evaluate([0.9, 0.5, 0.1, 0.4], [0, 1, 1, 0], "RR", qid=["a", "a", "b", "b"])
    >>> scores.queries.tolist(), scores.values["RR"].tolist()
    (['a', 'b'], [0.5, 0.5])
    """
    ready = Evaluator(labels, measures, qid=qid, sizes=sizes, mask=mask, **options)
    ready._again = False  # noqa: SLF001 - tables in memory are worth it for many calls
    scored = ready(scores)
    if scored.dense is not None:
        scored.dense.settle()
    return scored


class Evaluator:
    """Labels prepared once, for scores of every epoch.

    Parameters
    ----------
    labels
        Grades: ``[values]``, with ``qid`` or ``sizes`` (without both, all are one list); or ``[lists,
        longest]``.  NaN: the document is unjudged, but in its list.
    measures
        ``"nDCG@10 AP RR@10"``, a list of texts, or measure values.
    qid
        ``[values]``: the query of each value.  Rows of a query need not be adjacent: they are grouped
        in the order of the array, and queries are in the order of first occurrence.
    sizes
        ``[lists]``: the length of each list, one list after another, as LightGBM's ``group``.
    mask
        bool ``[lists, longest]``: False for places without a document, whatever their score and label.
    **options
        Options of alignment: ``ties`` (default ``expected``: the order of an array often
        leaks the labels), ``empty``, ``negative``, ``unjudged``, ``score_dtype``, ``score_above``,
        ``depth`` and ``candidates``; see :class:`~rankstone.hits.alignment_options.AlignmentOptions`.

    Warns
    -----
    UserWarning
        If hundreds of rows are one list, or labels below zero are fractions: :attr:`ArrayScores.warnings`.

    Examples
    --------
    >>> ready = Evaluator([1, 0, 0, 2], "nDCG@10 RR", sizes=[2, 2])
    >>> ready([0.9, 0.5, 0.7, 0.1]).mean()
    {'nDCG@10': 0.8154648767857288, 'RR': 0.75}
    >>> ready([0.9, 0.5, 0.1, 0.7]).mean()
    {'nDCG@10': 1.0, 'RR': 1.0}
    """

    def __init__(
        self,
        labels: object,
        measures: MeasuresLike,
        *,
        qid: object = None,
        sizes: object = None,
        mask: object = None,
        **options: Unpack[AlignmentKeywords],
    ) -> None:
        self.measures = of_rankings(measures)
        self.options = _alignment(options, self.measures)
        home = home_of(labels)
        grades: Any = home.host(labels) if home.near else labels
        shape = tuple(grades.shape)
        self.layout = ArrayLayout.of(shape, qid, sizes, mask)
        self._afar: DeviceLabels | None = None
        numbers: Floats | None = None
        if not home.near:
            self._afar = labels_on_device(home, grades, self.layout, self.options)
        if self._afar is None:
            numbers = numbers_of(self.layout, home.host(labels), "labels")
            numbers = numbers.copy()  # the caller may change them
        alone = qid is None and sizes is None and len(shape) == 1
        self._doubts = doubts(numbers, self.layout, self.options, alone=alone)
        for doubt in self._doubts:
            warnings.warn(doubt, UserWarning, stacklevel=2)
        self._doubts += without_documents(self.layout, self.options)
        if numbers is not None:
            self._label = settled(numbers, self.layout, self.options)
        self._road: list[str] = []
        self._again = True  # scores of later epochs will come
        self._dense_lists: dict[Home, list[DenseLists]] = {}
        self._recordings: dict[tuple[Home, Any], tuple[bool, list[Recording]]] = {}

    @property
    def road(self) -> str:
        """Which way the last scores went, and why the measures that NumPy computed went no other.

        >>> ready = Evaluator([1, 0], "RR AP")
        >>> ready([0.9, 0.5]).mean()
        {'RR': 1.0, 'AP': 1.0}
        >>> ready.road
        'RR, AP: NumPy, because the scores are in the memory of the host'
        """
        return "; ".join(self._road)

    @cached_property
    def _label(self) -> Floats:
        """The labels in the memory of the host, list after list; those on a device are copied on demand."""
        assert self._afar is not None  # noqa: S101 - otherwise it is set at once
        return on_host(self._afar.values)

    @cached_property
    def _lowest(self) -> float:
        return lowest(self._label) if self._afar is None else self._afar.lowest

    def __call__(self, scores: object) -> ArrayScores:
        """Score the outputs of a model for these documents.

        Parameters
        ----------
        scores
            In the layout of the labels, larger is better; NaN is refused, except in places without a
            document.  Tensors on another device are scored there; measures have no gradients.

        Returns
        -------
        ArrayScores
            Values per query, as arrays of the library and on the device of the scores.
        """
        if not hasattr(scores, "dtype"):
            scores = np.asarray(scores)
        home = home_of(scores)
        refuse_inexact_scores(self.layout, home, scores)
        dense = None
        left: Measures = self.measures
        if self._is_dense(home):
            dense = self._dense_scores(home, scores)
        if dense is not None:
            left = [measure for measure in left if measure not in dense.measures]
        host_scores = {}
        if left:
            host_scores = self._scored_on_host(left, home.host(scores))

        self._road = self._ways(home, dense, left)
        return ArrayScores(
            self.layout.queries,
            host_scores,
            self.measures,
            home,
            self.options.as_dict(),
            tuple(self._doubts),
            dense,
        )

    def _ways(self, home: Home, dense: DenseScores | None, left: Measures) -> list[str]:
        ways = []
        if dense is not None:
            computed = ", ".join(map(str, dense.measures))
            ways.append(f"{computed}: tables, by {dense.kind}")
        if left:
            why = "tables have no operations for that"
            if not self._fits_device:
                why = "the options are for lists"
            elif home.near and dense is None:
                why = "the scores are in the memory of the host"
            ways.append(f"{', '.join(map(str, left))}: NumPy, because {why}")
        return ways

    # -- as tables ---------------------------------------------------------------------------------
    def _is_dense(self, home: Home) -> bool:
        """Whether lists are worth being laid out as tables of the library."""
        many = self._again and self.layout.offsets[-1] >= _WORTH_TABLES
        return self._fits_device and (not home.near or (home.lays_tables and many))

    def _dense_scores(self, home: Home, scores: Any) -> DenseScores | None:  # noqa: ANN401 - of some library
        """Score the measures that can be written for tables; ``None`` if there are none."""
        self.layout.fits(tuple(scores.shape), "scores")
        with home.exactly():
            data = home.data(scores)
        dense = DenseScores(
            partial(self._recorded, home, data),
            lambda: self._scored_on_host(self.measures, home.host(scores)),
            home,
        )
        return dense if dense.measures else None

    def _recorded(self, home: Home, scores: Data, *, whole: bool) -> RecordedParts:
        """Compute from the recordings; the first time, record."""
        kept = self._recordings.get((home, scores.dtype))
        with home.exactly():
            if kept is None or whole > kept[0]:
                return self._record(home, scores, whole=whole)
            _, parts = kept
            return [(part, part.again(part.lists.rows(scores))) for part in parts]

    def _record(self, home: Home, scores: Data, *, whole: bool) -> RecordedParts:
        if home not in self._dense_lists:
            self._dense_lists[home] = self._lay_down(home)
        depth = self._depth(self.measures)
        parts = [
            Recording(lists, lists.rows(scores), depth, whole=whole)
            for lists in self._dense_lists[home]
        ]
        measures: Measures = [m for m in self.measures if not m.requires]
        for part in parts:
            part.measures(measures, self.options.empty)
            measures = tuple(part.scored)
        parts = parts if measures else []
        self._recordings[home, scores.dtype] = whole, parts
        return [
            (part, part.finish(measures, part.lists.rows(scores))) for part in parts
        ]

    def _lay_down(self, home: Home) -> list[DenseLists]:
        library = home.library()
        labels = self._afar
        if labels is None or home_of(labels.values) != home:
            labels = DeviceLabels(
                values=library.own(self._label),
                lowest=self._lowest,
                highest=float(np.fmax.reduce(self._label, initial=0.0)),
                judged=not np.isnan(self._label).any(),
            )
        at_once = _VALUES_AT_ONCE if home.near else None
        return list(
            dense_lists(self.layout, labels, self.options, library, at_once=at_once)
        )

    def _depth(self, measures: Measures) -> int | None:
        """Return a depth below which no measure looks; ``None`` for whole lists."""
        cuts = [None if m.claims.looks_deeper else m.k for m in measures]
        known = [k for k in cuts if k is not None]
        return max(known) if len(known) == len(cuts) else None

    # -- in the memory of the host -----------------------------------------------------------------
    def _scored_on_host(
        self, measures: Measures, scores: NDArray[Any]
    ) -> dict[Measure, Scored]:
        key = numbers_of(self.layout, scores, "scores")
        if np.isnan(key.max(initial=-np.inf)):
            first = int(np.isnan(key).argmax())
            raise BadValue(
                "a score is NaN",
                where=self.layout.where(first),
                expected="a number",
                fix="has the model diverged? give a mask for places without a document",
            )
        parts = [self._part(part, key, measures) for part in self._parts]
        order = np.arange(len(self.layout.lengths))
        scored: dict[Measure, Scored] = {}
        for measure, *columns in zip(measures, *parts, strict=True):
            scored[measure] = Scored.joined(columns, order)
        return scored

    def _part(self, part: _Part, key: Floats, measures: Measures) -> list[Scored]:
        begin, batch, labels = part
        end = begin + batch.height
        batch = replace(batch, key=key[begin:end])
        extras = requested_extras(labels, self.options, measures)
        matcher = Matcher(labels, self.options, extras)
        chunk = matcher.chunk(batch, lambda row: self.layout.where(begin + row))
        hits = chunk.hits
        try:
            return [measure.score(hits, self.options.empty) for measure in measures]
        except OutOfRange as error:
            error.where = f"query {printable(batch.names[error.query])}"
            error.fix = error.fix or self.options.fix_of_range
            raise

    @cached_property
    def _parts(self) -> list[_Part]:
        spans = _spans(self.layout.offsets)
        return [
            _part(self.layout, self._label, self._lowest, *lists) for lists in spans
        ]

    # -- on another device -------------------------------------------------------------------------
    @property
    def _fits_device(self) -> bool:
        """Whether lists can be laid out on a device under these options."""
        further = self.options.changed().keys() - {"ties", "empty", "negative"}
        rule = self.options.tie_rule
        return rule.key is None and not rule.refuses and not further


def _alignment(
    options: Mapping[str, Any], measures: tuple[Measure, ...]
) -> AlignmentOptions:
    """Return the options; ties are resolved by expectation by default."""
    for name in (name for name in options if name in _OTHER_NAMES):
        raise BadOption(
            f"there is no argument {name}",
            expected="qid, sizes or mask",
            fix="sizes=… if it holds the length of each list, qid=… if it holds the query of each value",
        )
    refuse_further_columns(measures)
    require_columns(None, measures)
    _refuse_without_data(measures, options)
    try:
        alignment = checked({"ties": "expected", **options}, measures)
    except BadOption as error:
        if "ties" in options:
            raise
        checked({**options, "ties": "input"}, measures)  # the order of rows helps
        error.fix = (
            'choose an order of tied rows: ties="input" '
            '(RankingMetrics: options={"ties": "input"})'
        )
        raise
    for name in options:
        if name not in _OPTIONS:
            raise BadOption(
                f"{name} has no meaning for arrays", expected=", ".join(_OPTIONS)
            )
    if alignment.tie_rule.needs_ids:
        raise BadOption(
            f"ties={alignment.ties} needs document ids, and there are none",
            fix="choose ties=expected, input, best or worst",
        )
    return alignment


def _refuse_without_data(measures: Measures, options: Mapping[str, Any]) -> None:
    """Refuse measures that could not be scored, whatever the scores: before training, not after it."""
    for measure in measures:
        needs_sources = ListSources in measure.requires
        if measure.costs or measure.budgets or needs_sources:
            what = "sources" if needs_sources else "costs"
            raise BadParameter(
                f"{measure} needs the {what} of documents; these lists have none",
                fix="evaluate(table=…) scores tables; score_above=… cuts arrays by scores",
            )
        if (
            AbstainedLists in measure.requires
            and options.get("empty") != "unanswerable"
        ):
            raise BadOption(
                f"{measure}: no query is declared unanswerable",
                fix="empty='unanswerable' declares those without a relevant document",
            )


def _spans(offsets: Ints) -> list[tuple[int, int]]:
    """Return the first list of each batch, and the first after it."""
    spans = []
    begin = 0
    while begin < len(offsets) - 1:
        most = offsets[begin] + _ROWS
        end = int(np.searchsorted(offsets, most, side="right")) - 1
        end = max(end, begin + 1)
        spans.append((begin, end))
        begin = end
    return spans


def _part(
    layout: ArrayLayout, label: Floats, lowest: float, begin: int, end: int
) -> _Part:
    """Return one batch of lists, with the ideal order of each."""
    first, last = layout.offsets[[begin, end]].tolist()
    lengths = layout.lengths[begin:end]
    grades = label[first:last]
    lists = list_numbers(lengths)
    known = ~np.isnan(grades)
    names = pl.Series(layout.queries[begin:end])
    codes = np.full(len(names), -1)
    batch = Batch(names, codes, lengths, None, None, grades, None)
    if not known.all():
        lists = lists[known]
        grades = grades[known]
    ideal = ideal_of_lists(lists, grades, len(lengths))
    return first, batch, SelfLabelled(lowest, ideal)
