"""How probable it is that a difference matters in practice, beside the test and never instead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone.comparison.comparison_words import names_in, short_names
from rankstone.stats.bayesian_signed_rank import practical_difference
from rankstone.stats.paired_tests import per_unit
from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from rankstone.comparison.compared_systems import ComparedRuns
    from rankstone.tables.sheet import Kind


#: with fewer queries no probability is shown as 1
_MANY = 100
#: probabilities from here on are shown as 1.00
_NEARLY_1 = 0.995

_PAIR: Final = ("measure", "system", "versus")
_VERDICTS: Final = ("worse", "equivalent", "better")
_SCHEMA = {
    "measure": pl.String,
    "system": pl.String,
    "versus": pl.String,
    "n": pl.Int64,
    "worse": pl.Float64,
    "equivalent": pl.Float64,
    "better": pl.Float64,
}


def practical_probability(comparison: ComparedRuns) -> pl.DataFrame:
    """Return a row for each primary pair; none without ``rope`` in the settings.

    Returns
    -------
    polars.DataFrame
        ``measure``, ``system``, ``versus``, ``n`` queries; ``worse``, ``equivalent`` and ``better``: the
        probability that the typical difference is a loss beyond the region, within it, or a gain beyond it.
        No row where systems have several runs.
    """
    rope = comparison.settings.rope
    rows = []
    for row in comparison.table.filter(role="primary").iter_rows(named=True):
        matrix = comparison.matrices[row["measure"]]
        if rope is None or matrix.replicates:
            continue
        system = matrix.systems.index(row["system"])
        versus = matrix.systems.index(row["versus"])
        gains = matrix.sign * per_unit(matrix.units.difference(system, versus))
        result = practical_difference(gains, rope, seed=comparison.settings.seed)
        probabilities = {
            "worse": result.below,
            "equivalent": result.within,
            "better": result.above,
        }
        rows.append({name: row[name] for name in (*_PAIR, "n")} | probabilities)
    return pl.DataFrame(rows, _SCHEMA)


def practical_table(comparison: ComparedRuns) -> Table:
    """Return the table that people read."""
    say = comparison.say
    short = short_names(comparison)
    rows = []
    for row in practical_probability(comparison).iter_rows(named=True):
        names = names_in(comparison, row, short)
        pair = [names[name] for name in _PAIR]
        shares = [_shown(row[verdict], row["n"]) for verdict in _VERDICTS]
        rows.append((*pair, *shares))
    words = [say(f"word_{verdict}") for verdict in _VERDICTS]
    head = (*map(say, _PAIR), *words)
    title = say("practical", rope=f"{comparison.settings.rope:g}")
    kinds: tuple[Kind, ...] = ("text", "id", "id", *("number",) * 3)
    return Table(title, head, tuple(rows), kinds)


def _shown(probability: float, n: int) -> str:
    """Return a probability with two decimals; below 100 queries never 1.

    >>> _shown(0.999, 30), _shown(0.999, 300), _shown(0.731, 30)
    ('>0.99', '1.00', '0.73')
    """
    if probability >= _NEARLY_1 and n < _MANY:
        return ">0.99"
    return f"{probability:.2f}"
