"""Battles from tables: who was compared with whom, who won, and what the rows share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, first_true, some
from rankstone.boards.board_scores import by_aliases
from rankstone.comparison.score_sources import name_texts, score_numbers
from rankstone.errors import (
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    did_you_mean,
    printable,
)
from rankstone.io.attributes import open_table
from rankstone.io.csv_dialect import refuse_copies
from rankstone.io.input_table import reading
from rankstone.stats.paired_comparisons import LEFT, RIGHT, TIE, Battles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rankstone._basics import Floats, Ints


#: our column → names that others give it
_ALIASES: Final = {
    "left": ("model_a", "system_a", "item_a", "a", "model_1", "player_1", "first"),
    "right": ("model_b", "system_b", "item_b", "b", "model_2", "player_2", "second"),
    "winner": ("outcome", "result", "preference", "verdict"),
}
#: word → outcome, besides the names of the two
_WORDS: Final = {
    **dict.fromkeys(
        ("left", "a", "x", "1", "model_a", "model_1", "first", "system_a"), LEFT
    ),
    **dict.fromkeys(
        ("right", "b", "y", "2", "model_b", "model_2", "second", "system_b"), RIGHT
    ),
    **dict.fromkeys(
        ("tie", "draw", "tie (bothbad)", "both", "both_bad", "neither", "equal", "0"),
        TIE,
    ),
}
#: columns whose rows with the same value depend on each other, also with id or in the plural
_SHARED: Final = re.compile(
    r"(annotator|assessor|battle|coder|conversation|crowdworker|dialog|evaluator|expert|grader"
    r"|judge|juror|labeler|labeller|participant|person|prompt|query|question|rater"
    r"|respondent|reviewer|session|subject|task|topic|user|voter|worker)s?(_?id)?",
    re.IGNORECASE,
)
#: covariate that is the advantage of the left side
POSITION: Final = "position"


class BattleTable(Record):
    """Battles, and the names of what takes part.

    Attributes
    ----------
    systems
        Names, by number.
    battles
        The battles.
    clusters
        Column → cluster of each battle, int64 from 0.
    covariates
        Names of the covariates, each in its standard deviations but ``position``.
    source
        Where they are from.
    played
        int64 ``[battles]``: the battles in the order of the rows; ``battles`` are in one by their content.
    notes
        What was found about the table.
    shared
        Columns that no option names but whose rows with the same value seem to depend on each other.
    """

    systems: tuple[str, ...]
    battles: Battles
    clusters: Mapping[str, Ints]
    covariates: tuple[str, ...]
    source: str
    played: Ints
    notes: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()


def read_battles(
    source: object,
    *,
    cluster: Sequence[str] = (),
    covariates: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    format_in: str | None = None,
) -> BattleTable:
    """Read battles.

    Parameters
    ----------
    source
        A table with ``left``, ``right`` and ``winner``, which is ``left``, ``right``, ``tie`` or the name of
        one of the two; a column ``weight`` is read if there is one.
    cluster
        Columns of which rows with the same value depend on each other: the judge, the prompt.
    covariates
        What else decides: ``position`` (being on the left), a column of differences, left less right, or
        ``length`` for two columns ``length_left`` and ``length_right``.
    columns, format_in
        As for :func:`rankstone.boards.board`.

    Raises
    ------
    InputError
        Where the table does not hold battles.
    """
    name, frame, read_as = open_table(source, "left", columns, format_in)
    with reading(name):
        frame = frame.rename(by_aliases(frame.collect_schema().names(), _ALIASES))
        table = frame.collect()
    if lacking := [
        one for one in ("left", "right", "winner") if one not in table.columns
    ]:
        raise MissingColumn(
            f"there is no column {' and no column '.join(lacking)}",
            where=name,
            given=f"columns {some(table.columns, 12)}",
            expected="left, right, winner: one battle in a row",
            fix=f"columns={{'THEIRS': {lacking[0]!r}}}",
        )
    if not table.height:
        raise EmptyInput("there are no battles", where=name)
    refuse_copies(
        table.columns,
        name,
        ", ".join(table.columns),
        {*_ALIASES, "weight", *cluster, *covariates}.__contains__,
    )
    sides = [name_texts(table[side], name) for side in ("left", "right")]
    if (same := sides[0] == sides[1]).any():
        at = first_true(same)
        what = f"{printable(sides[0][at])} is compared with itself"
        raise InputError(what, where=f"{name}, row {at + 1}", expected="two systems")
    systems = pl.concat(sides).unique().sort()
    left, right = (
        side.replace_strict(
            systems, np.arange(len(systems)), return_dtype=pl.Int64
        ).to_numpy()
        for side in sides
    )
    weight = _weights(table, name)
    outcome = _outcomes(name_texts(table["winner"], name), sides[0], sides[1], name)
    known = [_covariate(table, one, name) for one in covariates]
    clusters = {one: _cluster(table, one, name) for one in cluster}
    # every sum runs in this order, so no bit depends on how rows are ordered
    order = np.lexsort((*clusters.values(), *known, weight, outcome, right, left))
    battles = Battles.of(
        left[order],
        right[order],
        outcome[order],
        weight[order],
        np.stack(known, axis=1)[order] if known else None,
    )
    return BattleTable(
        tuple(systems),
        battles,
        {one: groups[order] for one, groups in clusters.items()},
        tuple(covariates),
        name,
        np.argsort(order),
        tuple(f"{name} read as: {note}" for note in read_as),
        _shared(table, {*_ALIASES, "weight", *cluster, *covariates}),
    )


def _shared(table: pl.DataFrame, used: AbstractSet[str]) -> tuple[str, ...]:
    """Return unused columns that are called like a judge or a prompt, and have values several times."""
    return tuple(
        name
        for name in table.columns
        if name not in used
        and _SHARED.fullmatch(name)
        and 1 < table[name].drop_nulls().n_unique() < table[name].count()
    )


def _weights(table: pl.DataFrame, where: str) -> Floats:
    """Return the weight of each battle, 1 unless there is a column of them."""
    if "weight" not in table.columns:
        return np.ones(table.height)
    weight = score_numbers(table["weight"], where)
    bad = weight.is_null() | (weight < 0)
    if bad.any():
        row = first_true(bad)
        raise BadValue(
            "a weight is missing or below 0",
            where=f"{where}, row {row + 1}",
            given=printable(table["weight"][row], 40),
            expected="a number from 0 on in every row",
        )
    return weight.to_numpy()


def _outcomes(winner: pl.Series, left: pl.Series, right: pl.Series, where: str) -> Ints:
    """Return the outcome of each battle from a word, or from the name of the winner."""
    words = winner.str.strip_chars()
    by_word = words.str.to_lowercase().replace_strict(
        _WORDS, default=None, return_dtype=pl.Int64
    )
    by_name = pl.select(
        pl.when(words == left)
        .then(LEFT)
        .when(words == right)
        .then(RIGHT)
        .when(by_word == TIE)
        .then(TIE)
    ).to_series()
    # systems may be called a and b: their names go first where they explain every row
    found = by_name if not by_name.null_count() else by_word.fill_null(by_name)
    if by_name.null_count() and words.is_in(["0"]).any() and "2" not in words:
        raise BadValue(
            "without a winner 2, 0 may be a tie or the right side",
            where=where,
            expected="left, right, tie, or the name of one of them",
        )
    if found.null_count():
        at = first_true(found.is_null())
        raise BadValue(
            f"the winner {printable(words[at], 40)} is neither of the two",
            where=f"{where}, row {at + 1}",
            given=f"left {printable(left[at], 40)}, right {printable(right[at], 40)}",
            expected="left, right, tie, or the name of one of them",
        )
    return found.cast(pl.Int64).to_numpy()


def _covariate(table: pl.DataFrame, name: str, where: str) -> Floats:
    """Return a covariate of each battle: a constant, or a difference in its standard deviations."""
    if name == POSITION and name not in table.columns:
        return np.ones(table.height)
    both = (
        [f"{name}_{side}" for side in ("left", "right")],
        [f"{name}_{side}" for side in ("a", "b")],
    )
    pair = next((two for two in both if set(two) <= set(table.columns)), None)
    if pair is None and name not in table.columns:
        raise MissingColumn(
            f"there is no column {printable(name)}",
            where=where,
            given=f"columns {some(table.columns, 12)}",
            expected=f"{printable(name)}, or {printable(name)}_left and {printable(name)}_right",
            fix=did_you_mean(
                name,
                [
                    POSITION,
                    *(one for one in table.columns if table[one].dtype.is_numeric()),
                ],
            ),
        )
    parts = [score_numbers(table[one], where) for one in (pair or [name])]
    if any(part.null_count() for part in parts):
        raise BadValue(f"{printable(name)} is missing in some battles", where=where)
    values = parts[0].to_numpy() - (parts[1].to_numpy() if pair else 0.0)
    spread = float(np.sort(values).std())  # in an order of its own: the same bits
    if not spread:
        raise InputError(
            f"{printable(name)} is the same in all battles",
            where=where,
            fix="leave it out",
        )
    found: Floats = values / spread
    return found


def _cluster(table: pl.DataFrame, name: str, where: str) -> Ints:
    if name not in table.columns:
        raise MissingColumn.of(
            f"there is no column {printable(name)}", name, table.columns, where
        )
    column = table[name]
    if column.null_count():
        raise BadValue(
            f"{counted(column.null_count(), 'row')} without {printable(name)}",
            where=where,
        )
    return column.rank("dense").to_numpy().astype(np.int64) - 1
