"""The result of measures of whole lists, and gaps between groups of users."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from rankstone.errors import BadOption, BadParameter, printable
from rankstone.evaluation.scores import Scores
from rankstone.io.attributes import read_attributes
from rankstone.measures.core.syntax import parse_measure
from rankstone.rankings.recommendation.list_reading import rows_about
from rankstone.rankings.recorded_derivations import derive_beyond
from rankstone.tables.phrases import check_language

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankstone._basics import Columns
    from rankstone.measures.core.definition import Named
    from rankstone.rankings.derivation import Derivation
    from rankstone.rankings.recommendation.list_frame import ListFrame
    from rankstone.rankings.recommendation.recommendation_tables import Tables
    from rankstone.tables.sheet import Sheet

_SCHEMA = {
    "run": pl.String,
    "measure": pl.String,
    "groups": pl.Int64,
    "gap": pl.Float64,
    "mad": pl.Float64,
    "lowest": pl.Float64,
    "lowest_group": pl.String,
    "highest": pl.Float64,
    "highest_group": pl.String,
    "worst_group": pl.String,
}


def group_gaps(
    scores: Scores, by: str, *, users: object = None, columns: Columns | None = None
) -> pl.DataFrame:
    """Return the gaps between groups of users, for every measure with a value per user.

    Parameters
    ----------
    scores
        The result of :func:`rankstone.evaluate` or :func:`rankstone.beyond`.
    by
        The column with the groups.
    users
        A table with ``query_id`` and that column: a path, a frame, ``{user: group}`` (then ``by`` is
        ``"group"``) or ``{user: {column: value}}``.  ``None`` for the table of users of the scores.
    columns
        {their name: our name}, for the table.

    Returns
    -------
    polars.DataFrame
        One row per run and measure: ``groups`` (the number with a value); ``gap``, the highest group's
        value less the lowest's; ``mad``, the mean absolute difference of two groups (Deldjoo et al.,
        UMUAI 2021); ``lowest``, ``lowest_group``, ``highest``, ``highest_group``; and ``worst_group``,
        by the direction of the measure, null where neither end is better or all are equal.  Users who
        are not in the table are left out; the values of all groups are ``scores.mean(by=by)``.

    Examples
    --------
    >>> import rankstone
    >>> qrels, run = {"u1": {"a": 1}, "u2": {"a": 1}}, {"u1": ["a", "b"], "u2": ["b", "a"]}
    >>> scores = rankstone.evaluate(qrels, run, "RR")
    >>> gaps = rankstone.rankings.group_gaps(scores, "group", users={"u1": "old", "u2": "new"})
    >>> gaps.select("gap", "mad", "worst_group").rows()
    [(0.5, 0.5, 'new')]
    """
    if users is not None:
        scores = _with_users(scores, users, columns)
    means = scores.mean(by=by).drop_nulls(["value", by])
    directions = {str(measure): measure.card.direction for measure in scores.measures}
    rows = []
    for (run, measure), part in means.group_by(["run", "measure"], maintain_order=True):
        part = part.sort("value", by)  # noqa: PLW2901 - the same rows, in order
        values = part["value"].to_list()
        names = part[by].cast(pl.String).to_list()
        apart = [abs(a - b) for a, b in combinations(values, 2)]
        worst = {"higher": names[0], "lower": names[-1]}.get(directions[str(measure)])
        worst = worst if values[0] < values[-1] else None
        mad = sum(apart) / len(apart) if apart else None
        ends = (values[0], names[0], values[-1], names[-1])
        rows.append(
            (run, measure, len(values), values[-1] - values[0], mad, *ends, worst)
        )
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def _with_users(scores: Scores, users: object, columns: Columns | None) -> Scores:
    """Return the scores with another table of users."""
    table = read_attributes(users, "query_id", columns)
    runs = {
        name: replace(run, about=rows_about(run.queries, table))
        for name, run in scores.runs.items()
    }
    return replace(scores, runs=runs, _means={})


class BeyondScores(Scores):
    """Values of runs beyond accuracy.

    They are :class:`~rankstone.Scores`: :attr:`per_query` has a row for each user and each measure with a
    value per user, :meth:`mean` one for each run and measure, also by columns of the table of users.
    ``audit`` is about the tables and runs.

    Attributes
    ----------
    runs, measures, audit, conventions, inputs, unnamed
        As for :class:`rankstone.Scores`.
    whole
        Run → measure → value, for measures with one value for the run; NaN without a value.
    opening
        Reads the lists once more, and the side tables.

    Examples
    --------
    >>> import rankstone
    >>> scores = rankstone.beyond({"u1": ["a", "b"], "u2": ["a", "c"]}, "Coverage@2", catalogue_size=6)
    >>> scores.to_dict()
    {'run': {'Coverage@2': 0.5}}
    """

    whole: Mapping[str, Mapping[Named, float]] = field(default_factory=dict)
    opening: Callable[[Named, str], tuple[ListFrame, Tables]] | None = field(
        default=None, repr=False
    )

    picture = "rankstone.evaluation.score_tables:of_measures"

    def explain(
        self,
        measure: str | Named,
        user: object = None,
        *,
        run: str | None = None,
        lang: str = "en",
    ) -> Derivation:
        """Return the derivation of a value.

        The run and the tables are read again, and the measure records its terms.

        Parameters
        ----------
        measure
            One of the measures computed.
        user
            The user, for measures with a value per user; ``None`` for measures of the whole run.
        run
            The run, if there are several.
        lang
            ``en`` or ``zh``, for headings.

        Examples
        --------
        >>> import rankstone
        >>> scores = rankstone.beyond({"u1": ["a", "b"], "u2": ["a", "c"]}, "Entropy@2")
        >>> table, = scores.explain("Entropy@2").tables
        >>> table.frame.select("item", "lists", "contribution").rows()
        [('a', 2.0, 0.5), ('b', 1.0, 0.5), ('c', 1.0, 0.5)]
        """
        check_language(lang)
        name = self._run_named(run)
        parsed = self._measure_named(measure)
        assert self.opening is not None  # noqa: S101 - set by the code that measures
        lists = self.opening(parsed, name)
        return derive_beyond(
            cast("Any", parsed), user, lists, name, self.conventions, lang
        )

    def sheet(
        self,
        digits: int = 4,
        by: Sequence[str] = (),
        intervals: pl.DataFrame | None = None,
        about: Sequence[str] = (),
        ranks: str | None = None,
    ) -> Sheet:
        """Return the values as a sheet, one row per measure; ``by`` adds groups of users."""
        del intervals, about, ranks
        groups = {name: (self.mean(by=name), group_gaps(self, name)) for name in by}
        return self.pictured(tuple(self.runs), digits, groups)

    def _run_named(self, run: str | None) -> str:
        """Return the name of a run, or refuse it."""
        if run is None and len(self.runs) == 1:
            return next(iter(self.runs))
        if run is None or run not in self.runs:
            raise BadOption(
                "name one of the runs"
                if run is None
                else f"there is no run {printable(run)}",
                expected=", ".join(map(printable, self.runs)),
            )
        return run

    def _measure_named(self, measure: str | Named) -> Named:
        """Return a computed measure from its text or as a value."""
        named = cast("tuple[Named, ...]", self.measures)
        parsed = next(
            (computed for computed in named if str(computed) == str(measure)), None
        ) or parse_measure(measure)
        if parsed not in named:
            raise BadOption(
                f"{parsed} was not computed", expected=", ".join(map(str, named))
            )
        return parsed

    def _mean(self, without: tuple[str, ...], by: tuple[str, ...]) -> pl.DataFrame:
        per_list = super()._mean(without, by)
        if by:
            self._require_users(by)
            return per_list
        rows = [
            (run, str(measure), value, len(self.runs[run].queries), int(value != value))  # noqa: PLR0124 - NaN
            for run, values in self.whole.items()
            for measure, value in values.items()
        ]
        per_run = pl.DataFrame(rows, per_list.schema, orient="row").with_columns(
            pl.col("value").fill_nan(None)
        )
        order = {str(measure): place for place, measure in enumerate(self.measures)}
        runs = {run: place for place, run in enumerate(self.runs)}
        both = pl.concat([per_list, per_run])
        at_run = pl.col("run").replace_strict(runs, return_dtype=pl.Int64)
        at_measure = pl.col("measure").replace_strict(order, return_dtype=pl.Int64)
        return both.sort(at_run, at_measure)

    def _require_users(self, by: tuple[str, ...]) -> None:
        """Refuse means by columns of users where no measure has a value per user."""
        if not any(run.by_measure for run in self.runs.values()):
            raise BadParameter(
                f"there are no means by {', '.join(map(printable, by))}: "
                f"{', '.join(map(str, self.measures))} describes whole runs",
                fix="choose measures with a value per user, such as Novelty, Popularity or ILD",
            )
