"""Scores for training loops: labels and scores in, one number for each measure out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from rankstone.conventions.convention_files import (
    convention,
    refused,
    refused_grade,
    witnesses,
)
from rankstone.conventions.library_convention import Convention
from rankstone.errors import BadOption, BadParameter, BadValue, printable
from rankstone.evaluation.request import of_rankings
from rankstone.hits.alignment_options import AlignmentOptions
from rankstone.hits.list_arrays import list_numbers
from rankstone.integrations.arrays.array_evaluator import Evaluator
from rankstone.measures.core.aggregation import exact_sum
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from rankstone._basics import Floats, NamedValues
    from rankstone.conventions.library_convention import Reading
    from rankstone.evaluation.request import MeasuresLike
    from rankstone.hits.alignment_options import AlignmentKeywords
    from rankstone.integrations.arrays.array_scores import ArrayScores
    from rankstone.measures.core.measure import Measure, Measures, Scored

#: the options of a library's convention that matter for arrays
_OF_ARRAYS: Final = ("ties", "negative", "score_dtype")
#: options that may be combined with a convention
_FREE: Final = ("depth", "candidates")
#: sets of labels whose preparation is kept: training data, and several sets to validate with
_KEPT: Final = 8


class Scoring:
    """Measures of labels and scores, as rankstone or another library defines them; labels are prepared once.

    Parameters
    ----------
    measures
        ``"nDCG@10 AP"``, a list, or measure values; with a convention the library's names: ``"ndcg@10"``.
    convention
        The library whose numbers are reproduced: ``"lightgbm"``, ``"xgboost-3.2"``; see ``rankstone
        conventions``.
    **options
        As for :class:`rankstone.integrations.arrays.Evaluator`: ``ties``, ``empty``, ``negative``, ….

    Examples
    --------
    >>> ours = Scoring("nDCG@10 RR")
    >>> ours([0.9, 0.5, 0.1], [0, 1, 0], sizes=[2, 1])
    {'nDCG@10': 0.31546487678572877, 'RR': 0.25}
    >>> theirs = Scoring("ndcg@10", convention="lightgbm")  # no relevant document: 1
    >>> theirs([0.9, 0.5, 0.1], [0, 1, 0], sizes=[2, 1])
    {'ndcg@10': 0.8154648767857288}
    """

    def __init__(
        self,
        measures: MeasuresLike,
        *,
        convention: str | Convention | None = None,
        **options: Unpack[AlignmentKeywords],
    ) -> None:
        alignment = cast("dict[str, Any]", options)
        if convention is None:
            self.measures = of_rankings(measures)
            self._parts = [_Part(self.measures, alignment)]
        else:
            readings, self._parts = _by(convention, measures, alignment)
            self.measures = tuple(reading.measure for reading in readings)
        self._kept: list[tuple[NDArray[Any], NDArray[Any], list[Evaluator]]] = []
        # so that errors are raised before hours of training
        for part in self._parts:
            part.evaluator(np.zeros(1), {"sizes": [1]})

    def __getstate__(self) -> NamedValues:
        """Pickle without prepared labels."""
        return {**vars(self), "_kept": []}

    @property
    def one(self) -> Measure:
        """The only measure; an error if there are several."""
        if len(self.measures) > 1:
            raise BadOption(
                "model selection needs one measure",
                given=" ".join(str(m) for m in self.measures),
            )
        return self.measures[0]

    def higher_is_better(self, measure: Measure) -> bool:
        """Return True if higher values are better; refuse measures without a direction."""
        direction = measure.card.direction
        if direction == "neither":
            raise BadParameter(
                f"{measure} has no direction, so no model can be chosen by it",
                fix="use a measure of which more or less is better",
            )
        return direction == "higher"

    def __call__(
        self, scores: object, labels: object, *, weights: object = None, **lists: object
    ) -> dict[str, float]:
        """Return ``{measure: mean}``; the names are the measures' texts.

        Parameters
        ----------
        scores, labels
            Arrays ``[values]``.
        weights
            The weight of each query, ``[queries]``; ``None``: equal weights.
        **lists
            ``sizes`` of the lists, or the ``qid`` of each value.

        Raises
        ------
        BadValue
            If shapes do not match, or no query has a value: no model can be chosen by a NaN.
        """
        if weights is not None:
            weights = np.asarray(weights, np.float64)

        means: dict[Measure, float] = {}
        evaluators = self._evaluators(np.asarray(labels), lists)
        for part, evaluator in zip(self._parts, evaluators, strict=True):
            scored = evaluator(scores)
            part.check_scores(scored)
            means |= part.means(scored, weights)

        for measure, mean in means.items():
            if math.isnan(mean):
                raise BadValue(
                    f"{measure} has no value: no query counts",
                    fix="is there a relevant label?",
                )
        return {str(measure): means[measure] for measure in self.measures}

    def _evaluators(self, labels: NDArray[Any], lists: NamedValues) -> list[Evaluator]:
        """Return an evaluator of each part, kept for several data sets from one round to the next."""
        groups = np.asarray(next(iter(lists.values())))
        for kept_labels, kept_groups, evaluators in self._kept:
            same_labels = np.array_equal(kept_labels, labels)
            if same_labels and np.array_equal(kept_groups, groups):
                return evaluators

        evaluators = [part.evaluator(labels, lists) for part in self._parts]
        self._kept = [
            (labels.copy(), groups.copy(), evaluators),
            *self._kept[: _KEPT - 1],
        ]
        return evaluators


class _Part:
    """Measures with the same alignment.

    Attributes
    ----------
    measures
        What is returned.
    readings
        The same as a library means them, if they are read by its convention.
    one_group
        True if all rows are one list, whatever lists are given.
    options
        Options of alignment.
    witnesses
        Further measures, whose values show which lists the library refuses.
    """

    def __init__(
        self, measures: Measures, options: NamedValues, readings: Sequence[Reading] = ()
    ) -> None:
        self.measures = tuple(measures)
        self.readings = readings
        self.one_group = bool(options.get("one_group", False))
        self.options = {
            name: value for name, value in options.items() if name != "one_group"
        }
        entries = [reading.entry for reading in readings]
        self.witnesses = {}
        if entries:
            alignment = AlignmentOptions.of(self.options)
            self.witnesses = witnesses(entries, alignment)

    def evaluator(self, labels: NDArray[Any], lists: NamedValues) -> Evaluator:
        """Return an evaluator of lists with these labels.

        Raises
        ------
        BadValue
            When the library does not take one of the labels.
        """
        if self.one_group:
            lists = {"sizes": [labels.size]}
        measures = [*self.measures, *self.witnesses.values()]
        evaluator = Evaluator(labels, measures, **lists, **self.options)
        if self.readings:
            self._check_labels(labels)
        return evaluator

    def _check_labels(self, labels: NDArray[Any]) -> None:
        """Raise an error at a label that the library does not take; no library takes a missing one."""
        has_missing = np.isnan(labels).any()
        grades = labels.astype(np.float64)
        for reading in self.readings:
            label: float | None = math.nan
            if not has_missing:
                label = refused_grade(reading.entry, grades)
            if label is not None:
                raise BadValue(
                    f"{reading.text} does not take label {label:g}",
                    expected=str(reading.entry.grades or "numbers"),
                )

    def check_scores(self, scores: ArrayScores) -> None:
        """Raise an error at lists for which the library raises one."""
        witnessed = {
            name: scores.by_measure[witness] for name, witness in self.witnesses.items()
        }
        for reading in self.readings:
            scored = scores.by_measure[reading.measure]
            refusal = refused(reading.entry, scored, witnessed)
            if refusal is None:
                continue

            query = None
            if refusal.query is not None:
                query = f"query {printable(scores.queries[refusal.query])}"
            raise BadValue(
                f"{reading.text} is refused by its library: {refusal.why}", where=query
            )

    def means(
        self, scores: ArrayScores, weights: Floats | None
    ) -> dict[Measure, float]:
        """Return one number for each measure."""
        if weights is None:
            plain = scores.mean()
            return {measure: plain[str(measure)] for measure in self.measures}
        if self.one_group or weights.shape != scores.queries.shape:
            expected = f"{len(scores.queries):,}"
            if self.one_group:
                expected = "none: all rows are one list"
            raise BadValue(
                "the number of weights is wrong",
                given=f"{weights.size:,}",
                expected=expected,
            )
        usable = np.isfinite(weights) & (weights >= 0)
        if not (usable.all() and weights.any()):
            raise BadValue(
                "weights of queries cannot be used",
                expected="numbers from 0, not all 0",
            )
        return {m: _weighted(m, scores.by_measure[m], weights) for m in self.measures}


def _weighted(measure: Measure, scored: Scored, weights: Floats) -> float:
    """Return the weighted mean over the queries that count."""
    if getattr(measure, "agg", "mean") != "mean":
        raise BadOption(
            f"{measure} is not a mean and cannot be weighted",
            fix="omit the weights or agg",
        )
    counted = ~np.isin(scored.status, [Status.dropped, Status.undefined])
    weights = weights[counted]
    total = exact_sum(weights)
    if not total:
        return math.nan
    return exact_sum(weights * scored.value[counted]) / total


def _by(
    library: str | Convention,
    measures: Any,  # noqa: ANN401 - texts or values
    options: NamedValues,
) -> tuple[tuple[Reading, ...], list[_Part]]:
    """Parse measures as a library does, and group those with the same alignment."""
    meant = library if isinstance(library, Convention) else convention(library)
    for name in options.keys() - set(_FREE):
        raise BadOption(
            f"{meant.title} decides {name}: {name}={printable(options[name])} cannot be chosen",
            fix=f"leave {name} or the convention out; {meant.shown_by}",
        )
    readings = meant.read(measures)
    for reading in readings:
        if reading.entry.of_lists:
            raise BadParameter(
                f"{reading.text} of {meant.title} measures whole lists, not scores and labels"
            )
    groups: dict[tuple[Any, ...], list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.key, []).append(reading)
    parts = [
        _Part(
            [r.measure for r in group],
            {**options, **_of_arrays(group[0].options)},
            group,
        )
        for group in groups.values()
    ]
    return readings, parts


def _of_arrays(options: Any) -> NamedValues:  # noqa: ANN401 - a mapping of options
    """Return the options of a library that matter for arrays, defaults included.

    Rules that break ties by document ids are refused later: arrays have none.
    """
    whole = {**AlignmentOptions().as_dict(), "one_group": False, **options}
    return {name: whole[name] for name in (*_OF_ARRAYS, "one_group")}


def without_blanks(name: str) -> str:
    """Return a measure's name in one word, which reads back as the same measure.

    >>> without_blanks("nDCG(gain=exp2, ideal=list)@10")
    'nDCG(gain=exp2,ideal=list)@10'
    """
    return "".join(name.split())


def weights_of_queries(weights: Any, sizes: Any) -> Floats:  # noqa: ANN401 - arrays
    """Return the mean weight of each query's rows, ``[queries]``.

    >>> weights_of_queries([1, 3, 5], sizes=[2, 1])
    array([2., 5.])
    """
    sizes = np.asarray(sizes)
    query = list_numbers(sizes)
    totals = np.bincount(query, weights, len(sizes))
    means: Floats = totals / np.maximum(sizes, 1)
    return means
