"""Advice that is tried before it is given: options are applied to the head of the same input, which must be read.

Readers refuse a table with proposals.  Each is tried, with what the next refusal proposes besides; those that
do not lead to rows, or only to implausible ones, are not mentioned.  Nothing is run or written.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import polars as pl

from rankstone._basics import Record, is_path
from rankstone.errors import InputError, MissingColumn, RankstoneError, printable
from rankstone.io.advice import written
from rankstone.io.column_suggestions import is_common_name
from rankstone.io.columns import CsvOptions, Renames
from rankstone.io.damaged_files import PACKED
from rankstone.io.input_table import Table
from rankstone.io.sources import is_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from rankstone._basics import Columns
    from rankstone.io.advice import Advice

    #: the arguments of a reader by name
    Call = dict[str, Any]

P = ParamSpec("P")
T = TypeVar("T")

#: refusals that may follow one another
_STEPS: Final = 3
#: ways that a message mentions
_SHOWN: Final = 2
#: bytes of a text that are read
_HEAD: Final = 1 << 18
#: rows above which no grade is another number in each
_MANY: Final = 20
#: values of options that were probably not given
_DEFAULTS: Final = (None, "score", True)
_CSV: Final = {"csv_separator": "separator", "decimal": "decimal", "header": "header"}
#: readers → the table whose names they take
_TABLES: Final = {"read_judgments": "qrels", "read_run": "run"}
_is_trial: ContextVar[bool] = ContextVar("is_trial", default=False)


def advised(read: Callable[P, T]) -> Callable[P, T]:
    """Return a reader whose refusals come with advice that was tried, of a file also while it is read."""

    @wraps(read)
    def careful(*values: P.args, **named: P.kwargs) -> T:
        def advise(error: InputError) -> None:
            _advise(error, read, inspect.signature(read).bind(*values, **named))

        if _is_trial.get():
            return read(*values, **named)
        try:
            table = read(*values, **named)
        except InputError as error:
            advise(error)
            raise
        # what is in memory may be forgotten once it is read
        is_file = is_path(named.get("source", *values[:1]))
        if is_file and isinstance(table, Table):
            return replace(table, advise=advise)
        return table

    return careful


class Attempt(Record):
    """A reader, how it was called, and the call that works, with the advice that led there."""

    read: Callable[..., Any]
    call: Call
    way: Call
    advice: Advice

    def sentence(self) -> str:
        """Return the advice as it is pasted where the call was made."""
        before, after = _settings(self.call), _settings(self.way)
        at_shell = getattr(self.call.get("columns"), "at_shell", False)
        options = written(before, after, at_shell=at_shell)
        return f"{self.advice.why}{options}{self.advice.so}"

    def shared_with(self, read: Callable[..., Any], source: object) -> Attempt | None:
        """Return the attempt with names that another table needs; ``None`` if it does harm to it."""
        before = {**_settings(self.call), "source": source}
        after = {**_settings(self.way), "source": source}
        names = self.way["columns"]
        first, present = _refusal(read, before)
        if first is None:
            table = _TABLES.get(self.read.__name__)
            new = names.keys() - before["columns"].keys()
            for theirs in present & new:
                # a name that has another meaning there
                names = _names(names, names)
                own = f"{table}.{theirs}"
                names[own] = names.pop(theirs)
        after["columns"] = names
        second, present = _refusal(read, after)
        if second is None:
            return self._with_names(names)
        for _, way in _ways(read, after, second.proposals, present):
            # other settings than those that the first table needs do harm to it
            if {**_settings(way), "columns": names} == {
                **_settings(after),
                "columns": names,
            }:
                return self._with_names({**names, **way["columns"]})
        is_harmed = first is None
        return None if is_harmed else self

    def _with_names(self, names: Columns) -> Attempt:
        columns = _names(names, self.way["columns"])
        way = {**self.way, "columns": columns}
        refusal, _ = _refusal(self.read, way)
        if refusal is not None:
            return self
        return replace(self, way=way)


def advise_on_others(
    error: InputError,
    others: Iterable[tuple[Callable[..., Any], object]],
    beside: Iterable[tuple[Callable[..., Any], object]] = (),
) -> None:
    """Extend the advice on one table to others that are read with the same options.

    Parameters
    ----------
    error
        The refusal of one table.
    others
        Readers with their sources.
    beside
        Those of further tables, of which only the names count.
    """
    if error.call is None:
        return
    columns = error.call.get("columns")
    given = _names(columns or {}, columns)
    settings = _settings(error.call)
    own = error.call["source"]
    attempt = error.attempt
    for read, source in beside:
        given.present |= _refusal(read, {**settings, "source": source})[1]
    for read, source in others:
        call = {**settings, "source": source}
        _, present = _refusal(read, call)
        given.present |= present
        is_own = source is own or (is_path(source) and source == own)
        if attempt is None or is_own:
            continue
        attempt = attempt.shared_with(read, source)
        error.attempt = attempt
        error.fix = error.need if attempt is None else attempt.sentence()
    absent = [theirs for theirs in given if theirs not in given.present]
    # where its columns were not reached, nobody knows
    if absent and isinstance(error, MissingColumn):
        error.fix = (
            given.absent(absent[0]).fix
            or f"no table has a column {printable(absent[0])}"
        )


def is_read(
    read: Callable[..., Any], source: object, options: Mapping[str, Any]
) -> bool:
    """Return True if a reader reads the head of a source with some options."""
    call = {**options, "source": source}
    refusal, _ = _refusal(read, call)
    return refusal is None


def heads(files: Sequence[Path], *, is_text: bool) -> Sequence[Path | bytes]:
    """Return the heads of texts while advice is tried; else the files."""
    if not (_is_trial.get() and is_text):
        return files
    return [_head(file) for file in files]


def _head(file: Path) -> Path | bytes:
    with file.open("rb") as opened:
        block = opened.read(_HEAD)
        is_whole = not opened.read(1)
    if is_whole or block.startswith(PACKED):
        return file
    end = block.rfind(b"\n") + 1
    return block[:end]


def _advise(
    error: InputError, read: Callable[..., Any], bound: inspect.BoundArguments
) -> None:
    """Replace the fix of a refusal by ways that were tried, the best first."""
    if _is_trial.get() or error.call is not None:
        return
    error.call = call = dict(bound.arguments)
    _, present = _refusal(read, call)
    attempts = [
        Attempt(read, call, way, advice)
        for advice, way in _ways(read, call, error.proposals, present)
    ]
    if attempts:
        error.need = error.fix
        error.attempt = attempts[0]
        error.fix = "; or ".join(one.sentence() for one in attempts[:_SHOWN])


def _ways(
    read: Callable[..., Any],
    call: Call,
    proposals: Iterable[Advice],
    present: AbstractSet[str],
    steps: int = _STEPS,
) -> Iterator[tuple[Advice, Call]]:
    """Yield advice with the call that reads the table then, perhaps after what the next refusals propose."""
    known = call.keys() | inspect.signature(read).parameters.keys()
    for advice in proposals:
        changed = _changed(call, advice, present)
        if changed is None or not changed.keys() <= known:
            continue  # as the order of judgments
        refusal, names = _refusal(read, changed)
        if refusal is None:
            yield advice, changed
            continue
        # an order that is not asked for would read anything
        further = [one for one in refusal.proposals if "order" not in one.settings]
        if steps == 1:
            continue
        ways = _ways(read, changed, further, names, steps - 1)
        for _, way in islice(ways, 1):
            yield advice, way


def _changed(call: Call, advice: Advice, present: AbstractSet[str]) -> Call | None:
    """Return a call with other options; ``None`` where nothing changes, or the reader does not take one."""
    given = call.get("columns") or {}
    theirs_of = {ours: theirs for theirs, ours in given.items()}
    new = dict[str, str]()
    for path, ours in advice.columns.items():
        # the field of an object under its own name
        first, dot, field = path.partition(".")
        theirs = f"{theirs_of.get(first, first)}{dot}{field}" if dot else path
        # without a header there are positions
        if not {theirs, field} & present and "header" not in advice.settings:
            return None
        if given.get(theirs) != ours:
            new[theirs] = ours
    settings = {
        name: value
        for name, value in advice.settings.items()
        if _settings(call).get(name) != value
    }
    if not new and not settings:
        return None
    # a name that was there and means the same is replaced
    kept = {
        theirs: ours
        for theirs, ours in given.items()
        if ours not in new.values() or theirs not in present
    }
    columns = _names({**kept, **new}, given)
    for name in settings.keys() & _CSV.keys():
        changes: Call = {_CSV[name]: settings.pop(name)}
        columns.csv = replace(columns.csv, **changes)
    return {**call, **settings, "columns": columns}


def _names(names: Columns, like: Columns | None) -> Renames:
    """Return names with the settings of others, whose record of columns is not shared."""
    columns = Renames(names, like)
    columns.present, columns.csv_files = set(), []
    return columns


def _settings(call: Call) -> Call:
    """Return the options of a call about reading."""
    columns = call.get("columns") or {}
    csv = CsvOptions.of(columns)
    settings = {name: getattr(csv, field) for name, field in _CSV.items()}
    settings["format_in"] = call.get("format_in")
    settings["order"] = call.get("order")
    given = {name: one for name, one in settings.items() if one not in _DEFAULTS}
    given["columns"] = columns
    return given


def _refusal(
    read: Callable[..., Any], call: Call
) -> tuple[InputError | None, set[str]]:
    """Return why the head of a table cannot be read, ``None`` if it can, and the names of its columns."""
    trial = _is_trial.set(True)
    columns = _names(call.get("columns") or {}, call.get("columns"))
    arguments = {**call, "columns": columns}
    known = inspect.signature(read).parameters
    try:
        table = read(**{name: arguments[name] for name in arguments.keys() & known})
        if isinstance(table, Table) and not is_database(table.source):
            _refuse_head(table, columns)
    except InputError as error:
        return error, columns.present
    except RankstoneError as error:
        return InputError(error.what), columns.present
    finally:
        _is_trial.reset(trial)
    return None, columns.present


def _refuse_head(table: Table, columns: Columns) -> None:
    """Read the first rows of a table; refuse numbers of other names that look like no grades and no scores."""
    columns_of_table = [pl.col(name) for name in table.schema]
    pieces = iter(table.tables(columns_of_table))
    head = next(pieces, None)
    if head is None:
        raise InputError("there are no rows")
    for theirs, ours in columns.items():
        if ours not in ("relevance", "score") or ours not in head:
            continue
        numbers = head[ours].drop_nulls()
        if is_common_name(theirs, [ours]):
            continue
        are_fractions = bool((numbers % 1 != 0).any())
        if ours == "score" and numbers.is_unique().all() and not are_fractions:
            # perhaps ids: of the second document, say
            raise InputError(f"{theirs} is no score")
        if len(numbers) < 2:  # noqa: PLR2004 - several
            continue
        count = numbers.n_unique()
        is_constant = count == 1
        is_unique = count == len(numbers)
        are_values = is_unique and (count > _MANY or are_fractions)
        if is_constant or (ours == "relevance" and are_values):
            raise InputError(f"{theirs} is no {ours}")
