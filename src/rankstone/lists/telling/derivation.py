"""How a value of lists came about: the tables it is the sum of, as the measure told them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankstone.errors import BadOption
from rankstone.results import WritesReport
from rankstone.sheets import ShowsSheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankstone.lists.telling.notes import Told
    from rankstone.sheets import Sheet

    #: what a told table's rows are called: ids, numbers
    Naming = Callable[[Told], list[str]]

__all__ = ["Added", "Derivation", "added_up", "check_language"]

LANGUAGES = ("en", "zh")


def check_language(lang: str) -> None:
    """Refuse a language we do not speak."""
    if lang not in LANGUAGES:
        raise BadOption(f"lang={lang!r} is no language we speak", expected=", ".join(LANGUAGES))


@dataclass(frozen=True, eq=False)
class Added:
    """A table that was added up.

    Attributes
    ----------
    of
        What its rows are: ``depth``, ``document``, ``item``, ``category``, ``group``, ``user`` or ``part``.
    title
        What tells it from the other tables of the value; empty where it is the only one.
    frame
        A row each: its name under ``of``, what the measure computed with, ``contribution`` where rows are
        added up, and ``running``, the sum so far, where they are added in this order.
    total
        The sum; ``None`` where nothing is summed.
    steps
        What was made of it afterwards, by name, in the order of the computation.
    """

    of: str
    title: str
    frame: pl.DataFrame
    total: float | None
    steps: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        said = {"of": self.of, "title": self.title, "total": self.total, "steps": dict(self.steps)}
        return {**said, "rows": self.frame.to_dicts()}


@dataclass(frozen=True, eq=False, repr=False)
class Derivation(ShowsSheet, WritesReport):
    """How a value of two rankings, of one list, or of a whole run came about.

    Attributes
    ----------
    measure
        What is explained.
    of
        The query or user it is a value of; ``None`` for one of the whole run.
    runs
        The run, or the two runs that are held against each other.
    status
        ``ok``, or why there is no value.
    value
        As the result has it, to the last bit; ``None`` where there is none.
    numerator, denominator
        What was divided, and by what; ``None`` where the measure got nothing to see.
    tables
        What was added up, in the order in which that was done.
    conventions
        Every option and parameter the number depends on.
    card
        Sentence, formula, symbols, and when the measure is undefined.
    lang
        Language of headings.

    Examples
    --------
    >>> import rankstone
    >>> alike = rankstone.diff({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@2")
    >>> found = alike.explain("Jaccard@2", "q")
    >>> found.numerator, found.denominator, found.value
    (2.0, 2.0, 1.0)
    >>> found.tables[0].frame.rows()
    [('a', 1.0, 2.0, 1.0, 1.0), ('b', 2.0, 1.0, 1.0, 2.0)]
    """

    measure: str
    of: str | None
    runs: tuple[str, ...]
    status: str
    value: float | None
    numerator: float | None
    denominator: float | None
    tables: tuple[Added, ...]
    conventions: Mapping[str, Any]
    card: Mapping[str, str]
    lang: str = "en"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts and lists."""
        names = ("measure", "of", "status", "value", "numerator", "denominator")
        said = {name: getattr(self, name) for name in names}
        tables = [table.to_dict() for table in self.tables]
        rest = {"conventions": dict(self.conventions), "card": dict(self.card)}
        return {**said, "runs": list(self.runs), "tables": tables, **rest}

    def report(self) -> dict[str, Any]:
        """Return everything as plain dicts, as :meth:`write_json` writes it."""
        return self.to_dict()

    def sheet(self) -> Sheet:
        """Return what is shown."""
        from rankstone.lists.telling.shown import of_derivation

        return of_derivation(self)


def added_up(told: Told, names: Naming, *, in_order: bool) -> Added:
    """Return a told table with names and, where rows were added in their order, running totals.

    Parameters
    ----------
    told
        The table.
    names
        What its rows are called.
    in_order
        Whether rows were added one after the other; else the largest come first, equal ones by name.
    """
    columns = dict(told.columns)
    added = columns.pop("contribution", None)
    data: dict[str, Any] = {told.of: pl.Series(names(told), dtype=pl.String)}
    data |= {name: _column(values) for name, values in columns.items()}
    if added is not None:
        data["contribution"] = added.astype(np.float64)
        if in_order:
            data["running"] = np.add.accumulate(data["contribution"])
    frame = pl.DataFrame(data)
    if added is not None and not in_order:
        by = [pl.col("contribution").abs(), *(pl.col(name) for name in list(columns)[:1]), pl.col(told.of)]
        frame = frame.sort(by, descending=[True] * (len(by) - 1) + [False], maintain_order=True)
    return Added(told.of, told.title, frame, told.total, dict(told.steps))


def _column(values: Any) -> pl.Series:  # noqa: ANN401 - an array
    if values.dtype == np.bool_:
        return pl.Series(values)
    return pl.Series(values.astype(np.float64)).fill_nan(None)
