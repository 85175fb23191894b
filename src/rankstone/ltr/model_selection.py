"""Which of many rankers is best on validation queries, and whether its lead is more than noise."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted
from rankstone.comparison.compare_systems import compare_scores
from rankstone.errors import EmptyInput, InputError, UsageError, installed, printable
from rankstone.hits.list_arrays import list_numbers, offsets_of
from rankstone.ltr.estimator_inputs import (
    Queries,
    by_name,
    checked_features,
    checked_labels,
    products,
    queries_of,
)
from rankstone.ltr.predictions import LabelledLists, checked_measure
from rankstone.tables.results import Result, given
from rankstone.tables.sheet import Sheet, Table, cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone._basics import Floats, Ints, NamedValues, Names, Progress
    from rankstone.comparison.comparison_result import Comparison
    from rankstone.measures.core.measure import Measure

_FEWEST_FOLDS: Final = 2


class Selection(Result, Record):
    """Candidates side by side.

    Attributes
    ----------
    measure
        What they were measured by, its canonical text.
    direction
        Whether ``higher`` or ``lower`` is better.
    candidates
        Their names, in the order given: the simplest first, by agreement.
    queries
        The queries with a value.
    values
        float64 ``[queries, candidates]``.
    honest
        The mean to expect of what is chosen this way: each fold of queries is measured under the candidate
        that was best without it, so that no query has a say in the choice it judges.  ``None`` without
        ``cv``.
    folds
        int64 ``[queries]``: the fold of each query, or ``None``.
    """

    measure: str
    direction: str
    candidates: Names
    queries: pl.Series
    values: Floats
    honest: float | None
    folds: Ints | None

    @cached_property
    def means(self) -> Floats:
        """The mean of each candidate, float64 ``[candidates]``."""
        return np.asarray(self.values.mean(axis=0), np.float64)

    @cached_property
    def _best(self) -> int:
        return int(np.argmax(self._sign * self.means))

    @property
    def _sign(self) -> int:
        return -1 if self.direction == "lower" else 1

    @property
    def best(self) -> str:
        """The candidate with the best mean; of equal ones the first."""
        return self.candidates[self._best]

    @cached_property
    def errors(self) -> Floats:
        """Standard error of each one's difference to the best, query by query, float64 ``[candidates]``."""
        if len(self.values) < 2:  # noqa: PLR2004 - one query has no spread
            return np.full(len(self.candidates), np.inf)
        away = self.values - self.values[:, [self._best]]
        spread = away.std(axis=0, ddof=1)
        return np.asarray(spread / np.sqrt(len(away)), np.float64)

    @cached_property
    def one_se(self) -> str:
        """The first candidate that is within one standard error of the best.

        The error is that of the difference between the two, query by query.  Candidates are taken to become
        more complex in the order given: a small C before a large one.
        """
        behind = self._sign * (self.means[self._best] - self.means)
        near = behind <= np.where(np.isfinite(self.errors), self.errors, 0.0)
        return self.candidates[int(np.argmax(near))]

    @cached_property
    def comparison(self) -> Comparison:
        """Every candidate compared with the best, as :func:`rankstone.compare` does, as one family."""
        if len(self.candidates) < 2:  # noqa: PLR2004 - two make a pair
            raise UsageError(
                "there is one candidate only, so nothing to compare it with"
            )
        return compare_scores(self.per_query, baseline=self.best)

    @cached_property
    def equals(self) -> Names:
        """Candidates that the paired test does not find worse than the best."""
        if len(self.candidates) < 2:  # noqa: PLR2004 - two make a pair
            return ()
        not_worse = self.comparison.table.filter(pl.col("verdict") != "worse")[
            "system"
        ].to_list()
        return tuple(name for name in self.candidates if name in not_worse)

    @property
    def noise(self) -> str | None:
        """A sentence if the winner's lead over some candidates is not significant, else ``None``."""
        if not self.equals:
            return None
        shown = ", ".join(map(printable, self.equals[:5]))
        more = f" and {len(self.equals) - 5} more" if len(self.equals) > 5 else ""  # noqa: PLR2004 - fits a line
        return (
            f"{printable(self.best)} has the best {self.measure} of {len(self.candidates)} candidates, but "
            f"{counted(len(self.queries), 'query does', 'queries do')} not distinguish it from {shown}{more}"
        )

    @property
    def per_query(self) -> pl.DataFrame:
        """A row for each candidate and query: ``run``, ``query_id``, ``measure``, ``value``."""
        count = len(self.candidates)
        return pl.DataFrame(
            {
                "run": np.repeat(
                    np.array(self.candidates, object), len(self.queries)
                ).astype(str),
                "query_id": pl.concat([self.queries.cast(pl.String)] * count),
                "measure": pl.repeat(
                    self.measure, count * len(self.queries), eager=True
                ),
                "value": self.values.T.ravel(),
            }
        )

    def table(self) -> pl.DataFrame:
        """Return a row for each candidate: mean, difference from the best, and its standard error."""
        return pl.DataFrame(
            {
                "candidate": list(self.candidates),
                "mean": self.means,
                "behind": self._sign * (self.means[self._best] - self.means),
                "error": [float(e) if np.isfinite(e) else None for e in self.errors],
                "chosen": [
                    " ".join(
                        word
                        for word, is_it in (
                            ("best", c == self.best),
                            ("1se", c == self.one_se),
                        )
                        if is_it
                    )
                    for c in self.candidates
                ],
            }
        )

    def report(self) -> NamedValues:
        """Return everything but the values of queries as plain dicts."""
        return given(
            measure=self.measure,
            queries=len(self.queries),
            candidates=self.table(),
            best=self.best,
            one_se=self.one_se,
            honest=self.honest,
            noise=self.noise,
        )

    def to_frame(self) -> pl.DataFrame:
        """Return :meth:`table`."""
        return self.table()

    def sheet(self, digits: int = 4) -> Sheet:
        """Return what people read; ``digits`` are decimals."""
        rows = tuple(
            (printable(name), *(cell(value, digits=digits) for value in values), chosen)
            for name, *values, chosen in self.table().iter_rows()
        )
        head = ("candidate", self.measure, "behind", "±", "chosen")
        table = Table("", head, rows, ("id", "number", "number", "number", "text"))
        notes = [
            f"{counted(len(self.queries), 'query')}; ±: standard error of the difference to the best, by query"
        ]
        if self.honest is not None:
            expected = cell(self.honest, digits=digits)
            notes.append(
                f"{expected} is what to expect of the choice, made without each fold"
            )
        return Sheet("", parts=(table,), notes=(*notes, *filter(None, [self.noise])))


def select(
    candidates: object,
    X: object,
    y: object,
    qid: object,
    measure: str | Measure = "nDCG@10",
    *,
    cv: int | None = None,
    nested: bool = True,
    progress: Progress | None = None,
) -> Selection:
    """Find the best of many rankers on validation queries.

    Parameters
    ----------
    candidates
        Weights ``[candidates, features]``; ``{name: weights or model}``; or a list of these.  A model is
        anything with ``predict``; with ``cv`` a model that can learn (``fit(X, y, qid=…)``, scikit-learn's
        ``clone``) is trained on the other folds.  Simple ones first: :attr:`Selection.one_se` reads the order
        so.
    X, y, qid
        Validation rows, as for :meth:`RankSVM.fit`; not those that weights were trained on.  Models that know
        names of features find them among a frame's columns.
    measure
        A measure for which scores and labels suffice; tied documents are in any order with equal probability.
    cv
        Folds of queries (scikit-learn's ``GroupKFold``).  Models that can learn are measured on the fold that
        they were not trained on, and :attr:`Selection.honest` says what to expect of the choice: it is made
        again for each fold, without it (nested, so models learn ``cv * cv`` times).
    progress
        Called with 1 for every candidate measured.

    Warns
    -----
    UserWarning
        When the winner's lead is not significant by a paired randomisation test, corrected for the number of
        candidates.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.2, 0.9], [0.8, 0.1]] * 6)
    >>> y, qid = [1, 0, 0, 1] * 6, np.repeat(np.arange(12), 2)
    >>> selection = select({"first": [1, 0], "second": [0, 1]}, X, y, qid, "RR")
    >>> selection.best, selection.means.tolist(), selection.noise
    ('first', [1.0, 0.5], None)
    """
    parsed = checked_measure(measure, climbed=True)
    features = checked_features(X)
    named = _named(candidates, features.shape[1])
    for name, candidate in named.items():
        # what learns in folds is trained on these very columns
        if cv is None or not _learns(candidate):
            named[name] = by_name(candidate, X, f"candidate {printable(name)}")

    labels = checked_labels(y, features.shape[0])
    queries = queries_of(qid, features.shape[0])
    work = _Work(features, labels, queries, parsed, named, progress)
    folds = None if cv is None else work.folds(np.arange(len(queries)), cv)
    values = (
        work.measured()
        if folds is None
        else work.out_of_fold(np.arange(len(queries)), folds)
    )
    known = ~np.isnan(values).any(axis=1)
    if not known.any():
        raise EmptyInput(f"no query has a value of {parsed}")
    honest = (
        None
        if folds is None or cv is None or not nested
        else work.honest(folds, values, cv)
    )
    selection = Selection(
        str(parsed),
        parsed.card.direction,
        tuple(named),
        queries.names.filter(pl.Series(known)),
        values[known],
        honest,
        None if folds is None else folds[known],
    )
    if selection.noise is not None:
        warnings.warn(selection.noise, UserWarning, stacklevel=2)
    return selection


def _named(candidates: object, width: int) -> NamedValues:
    """Return candidates by name, weights as float64."""
    if isinstance(candidates, Mapping):
        named = {str(name): candidate for name, candidate in candidates.items()}
    else:
        several: Sequence[Any] = (
            candidates
            if isinstance(candidates, (list, tuple))
            else list(np.asarray(candidates))
        )
        named = {}
        for number, candidate in enumerate(several):
            kind = "m" if hasattr(candidate, "predict") else "w"
            named[f"{kind}{number}"] = candidate
    if not named:
        raise EmptyInput("there are no candidates")
    for name, candidate in named.items():
        if hasattr(candidate, "predict"):
            continue
        try:
            weights = np.asarray(candidate, np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.shape != (width,) or not np.isfinite(weights).all():
            raise InputError(
                f"candidate {printable(name)} has shape {weights.shape}",
                expected=f"{counted(width, 'finite weight')}, or a model with predict",
            )
        named[name] = weights
    return named


class _Work(Record):
    """The data on which candidates are measured."""

    features: Any
    labels: Floats
    queries: Queries
    measure: Measure
    named: NamedValues
    progress: Progress | None

    @property
    def sign(self) -> int:
        return -1 if self.measure.card.direction == "lower" else 1

    def measured(
        self, models: Mapping[str, Any] | None = None, among: Ints | None = None
    ) -> Floats:
        """Return values ``[queries, candidates]`` of some queries, NaN where there is none."""
        rows = self._rows(among)
        offsets = (
            self.queries.offsets
            if among is None
            else offsets_of(self.queries.lengths[among])
        )
        lists = LabelledLists.of(self.labels[rows], offsets)
        part = (
            self.features
            if among is None and self.queries.in_place
            else self.features[rows]
        )
        columns = []
        for scores in _scored(self.named if models is None else models, part):
            columns.append(lists.values(scores, self.measure))
            if self.progress is not None:
                self.progress(1)
        return np.stack(columns, axis=1)

    def folds(self, among: Ints, count: int) -> Ints:
        """Return the fold of each query, from 0, int64: folds of about as many rows."""
        if not isinstance(count, int) or not _FEWEST_FOLDS <= count <= len(among):
            raise UsageError(
                f"cv={count}",
                expected=f"a number of folds from 2 to {len(among)}, the queries",
            )
        sklearn = installed(
            "sklearn.model_selection", "scikit-learn", 'pip install "rankstone[ltr]"'
        )
        query = list_numbers(self.queries.lengths[among])
        fold = np.empty(len(among), np.int64)
        for number, (_, test) in enumerate(
            sklearn.GroupKFold(count).split(query, groups=query)
        ):
            fold[query[test]] = number
        return fold

    def out_of_fold(self, among: Ints, folds: Ints) -> Floats:
        """Return values of queries under candidates that learnt from the other folds."""
        values = np.empty((len(among), len(self.named)))
        for fold in np.unique(folds):
            outside = among[folds != fold]
            inside = among[folds == fold]
            models = self._learnt(outside)
            values[folds == fold] = self.measured(models, inside)
        return values

    def honest(self, folds: Ints, values: Floats, count: int) -> float:
        """Return the mean over queries under the candidate that is chosen without their fold."""
        learners = [
            name for name, candidate in self.named.items() if _learns(candidate)
        ]
        earned = []
        for fold in np.unique(folds):
            outside = np.flatnonzero(folds != fold)
            inside = folds == fold
            known = values[outside]
            if learners:  # their values without this fold must not be learnt with it
                most = min(count, len(outside))
                known = self.out_of_fold(outside, self.folds(outside, most))
            chosen = int(np.nanargmax(self.sign * np.nanmean(known, axis=0)))
            earned.append(values[inside, chosen])
        values_of_chosen = np.concatenate(earned)
        return float(values_of_chosen[~np.isnan(values_of_chosen)].mean())

    def _learnt(self, among: Ints) -> NamedValues:
        """Return the candidates, those that can learn trained on some queries; rank SVMs along their C."""
        from sklearn.base import clone

        rows = self._rows(among)
        qid = list_numbers(self.queries.lengths[among])
        features = self.features[rows]
        labels = self.labels[rows]
        trained = dict(self.named)
        for names in _families(self.named):
            learner = self.named[names[0]]
            if len(names) > 1:
                prices = [self.named[name].C for name in names]
                trained |= zip(
                    names, learner.path(features, labels, qid, Cs=prices), strict=True
                )
            else:
                trained[names[0]] = clone(learner).fit(features, labels, qid=qid)
        return trained

    def _rows(self, among: Ints | None) -> Ints:
        if among is None:
            return self.queries.rows

        offsets = self.queries.offsets
        parts = [self.queries.rows[offsets[q] : offsets[q + 1]] for q in among]
        return np.concatenate(parts)


def _learns(candidate: Any) -> bool:  # noqa: ANN401 - weights or a model
    return hasattr(candidate, "fit") and hasattr(candidate, "get_params")


def _families(named: Mapping[str, Any]) -> list[list[str]]:
    """Return candidates that can learn; rank SVMs that differ in C only together, C ascending."""
    families: dict[object, list[str]] = {}
    for name, candidate in named.items():
        if hasattr(candidate, "path") and _learns(candidate):
            rest = {
                key: value
                for key, value in candidate.get_params().items()
                if key != "C"
            }
            families.setdefault((type(candidate), repr(rest)), []).append(name)
        elif _learns(candidate):
            families[name] = [name]
    return [
        sorted(names, key=lambda name: getattr(named[name], "C", 0.0))
        for names in families.values()
    ]


def _scored(models: Mapping[str, Any], features: Any) -> list[Floats]:  # noqa: ANN401 - dense or CSR
    """Return each candidate's scores of the rows; all weights in one product."""
    weights = {
        name: np.asarray(getattr(model, "coef_", model), np.float64)
        for name, model in models.items()
        if not hasattr(model, "predict") or hasattr(model, "coef_")
    }
    width = features.shape[1]
    linear = {name: w for name, w in weights.items() if w.shape == (width,)}
    place = {name: column for column, name in enumerate(linear)}
    table = None
    if linear:
        columns = np.stack(list(linear.values()), axis=1)
        table = products(features, columns)

    scores_of_each = []
    for name, model in models.items():
        if table is not None and name in place:
            scores = table[:, place[name]]
        else:
            scores = np.asarray(model.predict(features), np.float64)

        if scores.shape != (features.shape[0],) or not np.isfinite(scores).all():
            raise InputError(
                f"candidate {printable(name)} gives scores of shape {scores.shape}",
                expected=f"{features.shape[0]} finite numbers",
            )
        scores_of_each.append(scores)
    return scores_of_each
