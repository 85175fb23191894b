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
    BadOption,
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    did_you_mean,
    printable,
)
from rankstone.io.advice import naming_need
from rankstone.io.attributes import open_table
from rankstone.io.column_suggestions import rename_fix
from rankstone.io.columns import columns_in_source
from rankstone.io.csv_dialect import refuse_copies
from rankstone.io.number_columns import truths
from rankstone.io.unreadable_files import reading
from rankstone.stats.battles import LEFT, RIGHT, TIE, Battles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rankstone._basics import Columns, Floats, Ints


#: our column → names that others give it
_ALIASES: Final = {
    "left": "model_a system_a item_a player_a a model_1 system_1 player_1 model1 system1 player1 first "
    "generator_1 generator_a model_left white",
    "right": "model_b system_b item_b player_b b model_2 system_2 player_2 model2 system2 player2 second "
    "generator_2 generator_b model_right black",
    "winner": "result preference verdict",
    "outcome": "score_a score_left",
    "loser": "",
}
#: outcome → columns that are 1 in its rows and 0 in all others
_ENDS: Final = {
    LEFT: "winner_model_a winner_a winner_left",
    RIGHT: "winner_model_b winner_b winner_right",
    TIE: "winner_tie winner_bothbad winner_both_bad tie draw bothbad",
}
#: outcome → words for it, without what :data:`_BETWEEN` matches, besides the names of the two
_WORDS: Final = {
    LEFT: "left a x 1 modela model1 first systema a>b a>>b 1-0 1.0",
    RIGHT: "right b y 2 modelb model2 second systemb b>a b>>a a<b a<<b 0-1 2.0",
    TIE: "tie draw tiebothbad both bothbad bothgood neither equal 0 a=b b=a "
    "1/2-1/2 0.5-0.5 ½-½ 0.0 1.5",
}
#: number → outcome, of the left side
_SHARES: Final = {0.0: RIGHT, 0.5: TIE, 1.0: LEFT}
#: outcomes that are known from other columns; no column of a table is called so
_ENDED: Final = "the outcome"
_HIGHER: Final = "the side with the higher score won"
_BETWEEN: Final = r"[\s_()\[\]-]+"
_EXPECTED: Final = (
    "left, right, tie (as words: model_a, A, 1, 1-0, A>B; model_b, B, 2, 0-1, B>A; A=B, both bad), "
    "or the name of one of them"
)
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
    columns: Columns | None = None,
    format_in: str | None = None,
) -> BattleTable:
    """Read battles.

    Parameters
    ----------
    source
        A table with ``left``, ``right`` and ``winner``, which is ``left``, ``right``, ``tie`` or the name of
        one of the two; or with a number ``outcome``: 1 if the left one won, 0 if the right one did, 0.5 for
        a tie; or with a column of 0 and 1 for each end, such as ``winner_tie``; or with ``winner`` and
        ``loser``.  A column ``weight`` is read if there is one.
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
        theirs = frame.collect_schema().names()
        aliases = {ours: names.split() for ours, names in _ALIASES.items()}
        # a score for each side is no outcome
        if not {"score_b", "score_right"}.isdisjoint(theirs):
            aliases["outcome"] = []
        named = by_aliases(theirs, aliases)
        table = frame.rename(named).collect()
    known = {*table.columns}
    if {"winner", "loser"} <= known and not {"left", "right"} & known:
        table = _of_winners(table, covariates, name)
    elif not {"winner", "outcome"} & known:
        table = _of_ends(table, name)
    _refuse_lacking(table, theirs, name, columns)
    used = {*_ALIASES, "weight", *cluster, *covariates}
    refuse_copies(table.columns, name, ", ".join(table.columns), used.__contains__)
    sides = _sides(table, name)
    systems = pl.concat(sides).unique().sort()
    numbers = np.arange(len(systems))
    left, right = (
        side.replace_strict(systems, numbers, return_dtype=pl.Int64).to_numpy()
        for side in sides
    )
    weight = _weights(table, name)
    advice = _as_outcome(columns, named)
    outcomes, how = _outcomes(table, *sides, name, advice)
    values = [_covariate(table, covariate, name) for covariate in covariates]
    clusters = {column: _cluster(table, column, name) for column in cluster}
    # every sum runs in this order, so no bit depends on how rows are ordered
    outcome = outcomes.to_numpy()
    order = np.lexsort((*clusters.values(), *values, weight, outcome, right, left))
    battles = Battles.from_columns(
        left[order],
        right[order],
        outcome[order],
        weight[order],
        np.stack(values, axis=1)[order] if values else None,
    )
    return BattleTable(
        tuple(systems),
        battles,
        {column: groups[order] for column, groups in clusters.items()},
        tuple(covariates),
        name,
        np.argsort(order),
        tuple(f"{name} read as: {note}" for note in (*read_as, how) if note),
        _shared(table, used),
    )


def _refuse_lacking(
    table: pl.DataFrame, theirs: Sequence[str], where: str, columns: Columns | None
) -> None:
    """Refuse a table without both sides and an outcome, or without rows; ``theirs`` are its own columns."""
    lacking = [side for side in ("left", "right") if side not in table.columns]
    if {"winner", "outcome", _ENDED, _HIGHER}.isdisjoint(table.columns):
        lacking.append("winner")
    if lacking:
        raise MissingColumn(
            f"there is no column {' and no column '.join(lacking)}",
            where=where,
            given=columns_in_source(theirs, columns),
            expected="one battle in a row: left, right and winner; "
            "left, right and outcome (1, 0, 0.5 for the left one); "
            "or winner and loser",
            fix=naming_need(lacking, columns),
        )
    if not table.height:
        raise EmptyInput("there are no battles", where=where)


def _sides(table: pl.DataFrame, where: str) -> tuple[pl.Series, pl.Series]:
    """Return the names on the left and on the right, which must differ."""
    left = name_texts(table["left"], where)
    right = name_texts(table["right"], where)
    same = left == right
    if same.any():
        row = first_true(same)
        raise InputError(
            f"{printable(left[row])} is compared with itself",
            where=f"{where}, row {row + 1}",
            expected="two systems",
        )
    return left, right


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


def _of_winners(
    table: pl.DataFrame, covariates: Sequence[str], where: str
) -> pl.DataFrame:
    """Return battles of winners and losers, with their outcomes; a column may say which were ties."""
    if POSITION in covariates:
        raise BadOption(
            "winner and loser do not say who was on the left",
            where=where,
            fix="leave out covariates=position",
        )
    ties = [name for name, outcome in _columns_of_ends(table).items() if outcome == TIE]
    tied = pl.any_horizontal(pl.lit(value=False), *_marks(table, ties, where))
    named = table.rename({"winner": "left", "loser": "right"})
    outcome = pl.when(tied).then(TIE).otherwise(LEFT)
    return named.with_columns(outcome.cast(pl.Int64).alias(_ENDED))


def _of_ends(table: pl.DataFrame, where: str) -> pl.DataFrame:
    """Return battles with their outcomes, where a column of 0 and 1 stands for each end."""
    ends = _columns_of_ends(table)
    if not {LEFT, RIGHT} <= {*ends.values()}:
        scores = _pair_of(table, "score")
        if scores is None:
            return table
        left, right = (score_numbers(table[name], where) for name in scores)
        return table.with_columns(_nearer(right - left).alias(_HIGHER))
    marks = _marks(table, ends, where)
    unclear = marks.sum_horizontal() != 1
    if unclear.any():
        row = first_true(unclear)
        raise BadValue(
            "a battle has no end, or several",
            where=f"{where}, row {row + 1}",
            given=", ".join(f"{name} {table[name][row]}" for name in ends),
            expected="1 in one of these columns, 0 in the others",
        )
    outcomes = pl.Series(_ENDED, [*ends.values()], dtype=pl.Int64)
    return table.with_columns(outcomes.gather(marks.to_numpy().argmax(axis=1)))


def _nearer(differences: pl.Series) -> pl.Series:
    """Return outcomes: below 0 the left side won, and above the right one."""
    shares = 0.5 - differences.sign() / 2
    return shares.replace_strict(_SHARES, return_dtype=pl.Int64)


def _pair_of(table: pl.DataFrame, name: str) -> list[str] | None:
    """Return the two columns that hold something of each side."""
    for sides in (("left", "right"), ("a", "b")):
        pair = [f"{name}_{side}" for side in sides]
        if {*pair} <= {*table.columns}:
            return pair
    return None


def _columns_of_ends(table: pl.DataFrame) -> dict[str, int]:
    """Return column → outcome of the columns that stand for an end."""
    return {
        name: outcome
        for outcome, names in _ENDS.items()
        for name in table.columns
        if name.lower() in names.split()
    }


def _marks(table: pl.DataFrame, names: Iterable[str], where: str) -> pl.DataFrame:
    """Return where columns of truth values are true."""
    words = table.select(truths(pl.col(name)) for name in names)
    marks = words.select(score_numbers(column, where) == 1 for column in words)
    return marks.fill_null(value=False)


def _as_outcome(columns: Columns | None, named: Mapping[str, str]) -> str:
    """Return the advice to read the column of winners as numbers: 0 if the right side won."""
    names = dict(columns or {})
    sources = {ours: name for name, ours in {**named, **names}.items()}
    theirs = sources.get("winner", "winner")
    option = rename_fix({**names, theirs: "outcome"}, columns)
    return f"if 0 means that the right side won, instead {option}"


def _outcomes(
    table: pl.DataFrame, left: pl.Series, right: pl.Series, where: str, as_numbers: str
) -> tuple[pl.Series, str]:
    """Return the outcome of each battle, and how it was read if that may be doubted.

    ``as_numbers`` is the advice for numbers that may mean two things.
    """
    if _ENDED in table.columns:
        return table[_ENDED], ""
    if _HIGHER in table.columns:
        if table[_HIGHER].null_count():
            raise BadValue("a score is missing in some battles", where=where)
        return table[_HIGHER], _HIGHER
    column = "winner" if "winner" in table.columns else "outcome"
    words = name_texts(table[column], where).str.strip_chars()
    outcome_of = {word: end for end in _WORDS for word in _WORDS[end].split()}
    small = words.str.to_lowercase()
    by_word, by_bare_word = (
        some_words.replace_strict(outcome_of, default=None, return_dtype=pl.Int64)
        for some_words in (small, small.str.replace_all(_BETWEEN, ""))
    )
    by_word = by_word.fill_null(by_bare_word)
    by_name = pl.select(
        pl.when(words == left)
        .then(LEFT)
        .when(words == right)
        .then(RIGHT)
        .when(by_word == TIE)
        .then(TIE)
    ).to_series()
    # systems may be called a and b: their names go first where they explain every row
    if not by_name.null_count():
        return by_name.cast(pl.Int64), ""

    numbers = words.cast(pl.Float64, strict=False)
    if not numbers.null_count() and numbers.is_in([*_SHARES]).all():
        if column == "outcome" or (numbers == 0.5).any():  # noqa: PLR2004 - half a win
            outcome = numbers.replace_strict(_SHARES, return_dtype=pl.Int64)
            return outcome, "1 if the left side won, 0 if the right one did"
        if (numbers == 0).any():
            raise BadValue(
                "without a winner 2, 0 may be a tie or the right side",
                where=where,
                expected=_EXPECTED,
                fix=as_numbers,
            )
    outcome = by_word.fill_null(by_name)
    if column == "winner" and numbers.is_between(1, 2).fill_null(value=False).all():
        how = "the side that a preference from 1 (left) to 2 (right) is nearer to won"
        return _nearer(numbers - 1.5), how if outcome.null_count() else ""
    if outcome.null_count():
        row = first_true(outcome.is_null())
        raise BadValue(
            f"the winner {printable(words[row], 40)} is neither of the two",
            where=f"{where}, row {row + 1}",
            given=f"left {printable(left[row], 40)}, right {printable(right[row], 40)}",
            expected=_EXPECTED,
        )
    clear = words.str.contains(">>|<<").any()
    return outcome, "A>>B counts as one win, as A>B does" if clear else ""


def _covariate(table: pl.DataFrame, name: str, where: str) -> Floats:
    """Return a covariate of each battle: a constant, or a difference in its standard deviations."""
    if name == POSITION and name not in table.columns:
        return np.ones(table.height)
    pair = _pair_of(table, name)
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
                    *(column.name for column in table if column.dtype.is_numeric()),
                ],
            ),
        )
    parts = [score_numbers(table[column], where) for column in pair or [name]]
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
    return values / spread


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
