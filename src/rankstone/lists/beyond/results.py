"""What measures of whole lists found: one value a run, and values per user where there are any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from rankstone.errors import BadParameter, printable
from rankstone.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    Examples
    --------
    >>> import rankstone
    >>> found = rankstone.beyond({"u1": ["a", "b"], "u2": ["a", "c"]}, "Coverage@2", catalogue_size=6)
    >>> found.to_dict()
    {'run': {'Coverage@2': 0.5}}
    """

    whole: Mapping[str, Mapping[Named, float]] = field(default_factory=dict)

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
