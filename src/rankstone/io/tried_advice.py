"""Advice that is tried before it is given: options are applied to the head of the same input, which must be read.

Readers refuse a table with proposals.  Each is tried, with what the next refusal proposes besides; those that
do not lead to rows, or only to implausible ones, are not mentioned.  Nothing is run or written.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import polars as pl

from rankstone._basics import Record, is_path, some
from rankstone.errors import InputError, MissingColumn, RankstoneError, printable
from rankstone.io.advice import IF_ALL, written
from rankstone.io.column_suggestions import SWAPPED, is_common_name
from rankstone.io.columns import CsvOptions, Renames
from rankstone.io.damaged_files import PACKED
from rankstone.io.grade_labels import EDIT, labels_in, typed_names
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
    Reader = Callable[..., Any]
    Reading = tuple[Reader, object]

P = ParamSpec("P")
T = TypeVar("T")

#: refusals that may follow one another
_STEPS: Final = 3
#: ways that a message mentions
_SHOWN: Final = 2
#: bytes of a text that are read
_HEAD: Final = 1 << 18
_IDS: Final = ("query_id", "doc_id")
#: the share of rows from which on one value is no document
_NEARLY_ALL: Final = 0.9
#: rows that a head surely has where there are more
_SEEN: Final = 1000
#: rows above which no grade is another number in each
_MANY: Final = 20
#: different grades from which on scores that equal them are no chance
_GRADES: Final = 2
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

    read: Reader
    call: Call
    way: Call
    advice: Advice

    def sentence(self) -> str:
        """Return the advice as it is pasted where the call was made."""
        before, after = _settings(self.call), _settings(self.way)
        at_shell = getattr(self.call.get("columns"), "at_shell", False)
        for settings in (before, after):
            settings["columns"] = typed_names(settings["columns"])
        options = written(before, after, at_shell=at_shell)
        is_new = {**after}.keys() - before.keys() - self.advice.settings.keys()
        why = IF_ALL if "all_relevant" in is_new else ""
        edit = ""
        if labels_in(self.way["columns"]) != labels_in(self.call.get("columns") or {}):
            edit = EDIT
        return f"{why}{self.advice.why}{options}{self.advice.so}{edit}"

    def shared_with(self, read: Reader, source: object) -> Attempt | None:
        """Return the attempt with names that another table needs; ``None`` if it does not fit that."""
        before = {**_settings(self.call), "source": source}
        after = {**_settings(self.way), "source": source}
        names = self.way["columns"]
        first = _tried(read, before)
        if first.refusal is None:
            table = _TABLES.get(self.read.__name__)
            new = names.keys() - before["columns"].keys()
            for theirs in first.present & new:
                # a name that has another meaning there
                names = _names(names, names)
                own = f"{table}.{theirs}"
                names[own] = names.pop(theirs)
        after["columns"] = names
        second = _tried(read, after)
        # names of its table are for a file with both
        prefix = f"{_TABLES.get(read.__name__)}."
        fitting = {
            theirs: ours
            for theirs, ours in names.items()
            if theirs in second.present or not theirs.startswith(prefix)
        }
        after["columns"] = names = _names(fitting, names)
        further = second.refusal.proposals if second.refusal else ()
        ways = (way for _, way in _ways(read, after, further, second.present))
        for way in ways if second.refusal else [after]:
            both = self._with_names({**names, **way["columns"]})
            # other settings than those that the first table needs do harm to it
            is_alike = {**_settings(way), "columns": names} == _settings(after)
            if is_alike and both.meets(read, source):
                return both
        is_harmed = None in (first.refusal, second.refusal)
        is_harmed |= not CsvOptions.of(names).header
        return None if is_harmed else self

    def meets(self, read: Reader, source: object) -> bool:
        """Return whether ids under new names are those of another table, which is not made the same one."""
        given = self.call.get("columns") or {}
        new = {ours for _, ours in self.way["columns"].items() - given.items()}
        first = _tried(self.read, self.way)
        second = _tried(read, {**_settings(self.way), "source": source})
        own, other = first.ids, second.ids
        is_other = inspect.unwrap(read) is not self.read
        documents = [
            theirs for theirs, ours in self.way["columns"].items() if ours == "doc_id"
        ]
        # lists of both sides have names of their own
        is_other &= not any(name.startswith(("run.", "qrels.")) for name in documents)
        heads = [first.head, second.head]
        is_same = own.equals(other) and str(source) == str(self.way["source"])
        if is_other and ((is_same and not _are_graded(heads)) or _are_alike(heads)):
            return False
        if own.is_empty() or other.is_empty():
            return True
        common = {name: {*own[name]} & {*other[name]} for name in _IDS}
        # a head of that many rows may miss the queries of the other
        if max(own.height, other.height) >= _SEEN and not common["query_id"]:
            return True
        return all(common[name] for name in new.intersection(_IDS))

    def _with_names(self, names: Columns) -> Attempt:
        columns = _names(names, self.way["columns"])
        way = {**self.way, "columns": columns}
        is_worse = _tried(self.read, way).refusal is not None
        return self if is_worse else replace(self, way=way)


def advise_on_others(
    error: InputError, others: Iterable[Reading], beside: Iterable[Reading] = ()
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
    others = [*others]
    for (first, judged), (last, run) in pairwise(others[:2]):
        # two runs cannot be swapped
        is_swapped = first is not last and is_read(first, run, settings)
        if is_swapped and is_read(last, judged, settings):
            error.attempt, error.fix = None, SWAPPED
            return
    for read, source in beside:
        given.present |= _tried(read, {**settings, "source": source}).present
    for read, source in others:
        given.present |= _tried(read, {**settings, "source": source}).present
    if error.attempt and len(others) > 1:
        _share(error, others)
    absent = [theirs for theirs in given if theirs not in given.present]
    # where its columns were not reached, nobody knows
    if absent and isinstance(error, MissingColumn):
        error.fix = (
            given.absent(absent[0]).fix
            or f"no table has a column {printable(absent[0])}"
        )


def _share(error: InputError, others: Sequence[Reading]) -> None:
    """Replace the advice by the first that fits other tables, too."""
    tried = dict[str, str]()
    for attempt in _attempts(error, error.attempt.read):
        shared: Attempt | None = attempt
        for other in others:
            shared = shared and shared.shared_with(*other)
        if shared:
            error.attempt, error.fix = shared, shared.sentence()
            return
        tried |= attempt.way["columns"]
    error.attempt, error.fix = None, error.need
    if isinstance(error, MissingColumn):
        error.fix = (
            f"name the columns of the ids: with {some(tried)} "
            "the two tables do not go together"
        )


def is_read(read: Reader, source: object, options: Mapping[str, Any]) -> bool:
    """Return True if a reader reads the head of a source with some options."""
    return _tried(read, {**options, "source": source}).refusal is None


def has_advice(read: Reader, source: object, options: Mapping[str, Any]) -> bool:
    """Return True if a reader would read a source with options that its refusal names."""
    known = options.keys() & inspect.signature(read).parameters
    try:
        read(source, **{name: options[name] for name in known})
    except InputError as error:
        return error.attempt is not None
    return True


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


def _advise(error: InputError, read: Reader, bound: inspect.BoundArguments) -> None:
    """Replace the fix of a refusal by ways that were tried, the best first."""
    if _is_trial.get() or error.call is not None:
        return
    error.call = dict(bound.arguments)
    attempts = [*islice(_attempts(error, read), _SHOWN)]
    likely = [one for one in attempts if not one.advice.is_spare]
    if attempts:
        error.need = error.fix
        likely = likely or attempts[:1]
        error.attempt = likely[0]
        error.fix = "; or ".join(one.sentence() for one in likely)


def _attempts(error: InputError, read: Reader) -> Iterator[Attempt]:
    """Yield the proposals that work."""
    present = _tried(read, error.call).present
    for advice, way in _ways(read, error.call, error.proposals, present):
        yield Attempt(read, error.call, way, advice)


def _ways(
    read: Reader,
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
        trial = _tried(read, changed)
        if trial.refusal is None:
            yield advice, changed
            continue
        # an order that is not asked for would read anything
        further = [
            step
            for step in trial.refusal.proposals
            if "order" not in step.settings and not step.is_spare
        ]
        if steps == 1:
            continue
        ways = _ways(read, changed, further, trial.present, steps - 1)
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
    columns.all_relevant |= settings.pop("all_relevant", False)
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
    if getattr(columns, "all_relevant", False):
        given["all_relevant"] = True
    given["columns"] = columns
    return given


def _are_graded(heads: Sequence[pl.DataFrame]) -> bool:
    """Return whether one of two tables grades its documents differently."""
    return any(
        head["relevance"].n_unique() > 1 for head in heads if "relevance" in head
    )


def _are_alike(heads: Sequence[pl.DataFrame]) -> bool:
    """Return whether the scores of a run are the grades of the judgments of the same documents."""
    tables: dict[str, pl.DataFrame] = {}
    for head in heads:
        for number in ("relevance", "score"):
            if {*_IDS, number} <= {*head.columns}:
                ids = pl.col(*_IDS).cast(pl.String)
                tables[number] = head.select(ids, number)
    if len(tables) < len(heads):
        return False
    both = tables["relevance"].join(tables["score"], on=_IDS)
    if both["relevance"].n_unique() < _GRADES:
        return False
    alike = both.filter(pl.col("relevance") == pl.col("score"))
    return alike.height >= _NEARLY_ALL * both.height


class _Trial(Record):
    """Why the head of a table cannot be read, ``None`` if it can; the names of its columns; its first rows."""

    refusal: InputError | None
    present: set[str]
    head: pl.DataFrame

    @property
    def ids(self) -> pl.DataFrame:
        return self.head.select(pl.col("^(query|doc)_id$").cast(pl.String))


def _tried(read: Reader, call: Call) -> _Trial:
    """Return what reading the head of a table leads to."""
    trial = _is_trial.set(True)
    columns = _names(call.get("columns") or {}, call.get("columns"))
    arguments = {**call, "columns": columns}
    known = inspect.signature(read).parameters
    head = pl.DataFrame()
    refusal: InputError | None = None
    try:
        table = read(**{name: arguments[name] for name in arguments.keys() & known})
        if isinstance(table, Table) and not is_database(table.source):
            head = _plausible_head(table, columns)
    except InputError as error:
        refusal = error
    except RankstoneError as error:
        refusal = InputError(error.what)
    finally:
        _is_trial.reset(trial)
    return _Trial(refusal, columns.present, head)


def _plausible_head(table: Table, columns: Columns) -> pl.DataFrame:
    """Return the first rows of a table; refuse what other names call a grade, score or document, and is none."""
    columns_of_table = [pl.col(name) for name in table.schema]
    pieces = iter(table.tables(columns_of_table))
    head = next(pieces, None)
    if head is None:
        raise InputError("there are no rows")
    for theirs, ours in columns.items():
        if ours not in head or is_common_name(theirs, [ours]):
            continue
        values = head[ours].drop_nulls()
        is_odd = False
        if ours == "doc_id":
            # of no values nothing is the most frequent
            most = len(values) and (values == values.mode().first()).sum()
            is_odd = 1 < len(values) * _NEARLY_ALL <= most
        elif ours in ("relevance", "score"):
            is_unique = values.is_unique().all()
            are_whole = (values % 1 == 0).all()
            if ours == "score":
                # perhaps ids: of the second document, say
                is_odd = is_unique and are_whole
            elif is_unique:
                is_odd = len(values) > (_MANY if are_whole else 1)
            is_odd |= values.n_unique() == 1 < len(values)
        if is_odd:
            raise InputError(f"{theirs} is no {ours}")
    return head
