"""What measures of whole lists found: one value a run, and values per user where there are any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from rankstone.errors import BadOption, BadParameter, printable
from rankstone.lists.beyond.deriving import derived
from rankstone.lists.telling.derivation import check_language
from rankstone.measures import parse_measure
from rankstone.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.lists.beyond.frame import ListFrame
    from rankstone.lists.beyond.tables import Tables
    from rankstone.lists.telling.derivation import Derivation
    from rankstone.measures.named import Named

__all__ = ["BeyondScores"]


@dataclass(frozen=True, eq=False, repr=False)
class BeyondScores(Scores):
    """Values of runs beyond accuracy.

    They are scores like any others: :attr:`per_query` has a row for each user and each measure that has
    a value a user, :meth:`mean` one for each run and measure, also by columns of the table of users;
    they are written, printed and compared by the same means.  What was found in the tables is
    in ``audit``.

    Attributes
    ----------
    whole
        Run → measure → value, for measures that have one value a run; NaN where there is none.
    opening
        Reads the lists that a measure of a run saw once more, and the tables beside them.

    Examples
    --------
    >>> import rankstone
    >>> found = rankstone.beyond({"u1": ["a", "b"], "u2": ["a", "c"]}, "Coverage@2", catalogue_size=6)
    >>> found.to_dict()
    {'run': {'Coverage@2': 0.5}}
    """

    whole: Mapping[str, Mapping[Named, float]] = field(default_factory=dict)
    opening: Callable[[Named, str], tuple[ListFrame, Tables]] | None = field(default=None, repr=False)

    def explain(
        self, measure: str | Named, user: object = None, *, run: str | None = None, lang: str = "en"
    ) -> Derivation:
        """Return how a value came about: the table it is the sum of.

        The run and the tables beside it are read again, and the measure tells what it computes with.

        Parameters
        ----------
        measure
            One of the measures computed.
        user
            Whose value, for measures that have one a user; without one, for those of the whole run.
        run
            The run, where there are several.
        lang
            ``en`` or ``zh``, for headings.

        Examples
        --------
        >>> import rankstone
        >>> found = rankstone.beyond({"u1": ["a", "b"], "u2": ["a", "c"]}, "Entropy@2")
        >>> table, = found.explain("Entropy@2").tables
        >>> table.frame.select("item", "lists", "contribution").rows()
        [('a', 2.0, 0.5), ('b', 1.0, 0.5), ('c', 1.0, 0.5)]
        """
        check_language(lang)
        name, wanted = self._run_named(run), self._measure_named(measure)
        assert self.opening is not None  # noqa: S101 - whoever measures says how to read again
        lists = self.opening(wanted, name)
        return derived(cast("Any", wanted), user, lists, name, self.conventions, lang)

    def _run_named(self, run: str | None) -> str:
        """Return the run that is meant, or refuse."""
        if run is None and len(self.runs) == 1:
            return next(iter(self.runs))
        if run is None or run not in self.runs:
            raise BadOption(
                "which run?" if run is None else f"there is no run {printable(run)}",
                expected=", ".join(map(printable, self.runs)),
            )
        return run

    def _measure_named(self, measure: str | Named) -> Named:
        """Return the measure that is meant, by its name here or as a value."""
        named = cast("tuple[Named, ...]", self.measures)
        wanted = next((one for one in named if str(one) == str(measure)), None) or parse_measure(measure)
        if wanted not in named:
            raise BadOption(f"{wanted} was not computed", expected=", ".join(map(str, named)))
        return wanted

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
        order = {str(measure): at for at, measure in enumerate(self.measures)}
        runs = {run: at for at, run in enumerate(self.runs)}
        both = pl.concat([per_list, per_run])
        at_run = pl.col("run").replace_strict(runs, return_dtype=pl.Int64)
        at_measure = pl.col("measure").replace_strict(order, return_dtype=pl.Int64)
        return both.sort(at_run, at_measure)

    def _require_users(self, by: tuple[str, ...]) -> None:
        """Refuse means by columns of users where no measure has a value a user."""
        if not any(run.by_measure for run in self.runs.values()):
            raise BadParameter(
                f"there are no means by {', '.join(map(printable, by))}: "
                f"{', '.join(map(str, self.measures))} describes whole runs",
                fix="choose measures with a value a user, such as Novelty, Popularity or ILD",
            )
