"""Canonical column names, and how the columns of a table are renamed to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import quoted, some
from rankstone.errors import BadOption, MissingColumn, UsageError, nearest, printable
from rankstone.io.advice import Advice, escaped, written
from rankstone.io.column_suggestions import Kind, Missing, is_common_name, time_among
from rankstone.io.grade_labels import split_entry, split_labels, split_names
from rankstone.io.spellings import ALIASES, Spellings, by_alias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from rankstone._basics import Columns
    from rankstone.io.grade_labels import Labels
    from rankstone.io.shapes import Shape


CANONICAL: Final = ("query_id", "doc_id", "relevance", "score", "rank")
#: costs of documents, and the steps of an agent; budgets can read any column of numbers
COSTS: Final = ("tokens", "characters", "cost", "ms", "turn", "call")
#: further columns that some measures read, and that can be renamed
FURTHER: Final = (
    "subtopic",
    "subgroup",
    "propensity",
    "weight",
    "session",
    "position",
    "user_id",
    "time",
    "segment",
    "clicked",
    "impression_id",
    "reward",
    "examination",
    "prediction",
    "variant",
    "draw",
    "target_propensity",
    "target_position",
    "target_prediction",
    *COSTS,
    "error",
    "answerable",
    "forbidden",
    "start",
    "end",
    "nugget",
    "document",
)
#: the name of columns that are not to be read
UNUSED: Final = "unused"
_OF_OTHERS: Final = (
    *("system", "dataset", "value", "measure", "run", "seed", "cluster", "split"),
    *("left", "right", "winner", "loser", "outcome", "correct", "expected_text"),
)
#: names that a column can be renamed to
_OURS: Final = (*CANONICAL, *FURTHER, *ALIASES, *_OF_OTHERS, UNUSED)
#: columns that name the run of each row
RUN_NAMES: Final = (
    *("run", "run_id", "system", "model", "algorithm"),
    *("System", "Model", "Algorithm"),
)
_TEXTS: Final = (
    *RUN_NAMES,
    "query_id",
    "doc_id",
    "subtopic",
    "subgroup",
    "error",
    "nugget",
    "answerable",
    "forbidden",
    "document",
    "time",
)
#: names of columns that are read anywhere
_KNOWN: Final = frozenset(
    (*CANONICAL, *FURTHER, *ALIASES, "run", "label", "measure", "value", "judged")
)


def is_text(name: str) -> bool:
    """Return True for a column of names; all others hold numbers."""
    return name in _TEXTS


def must_be_exact(name: str) -> bool:
    """Return True if numbers of a column that a float64 cannot hold could change an order or a grade."""
    return name in _KNOWN and name not in COSTS


def is_known(name: str) -> bool:
    """Return True if a column of this name is read anywhere."""
    return name in _KNOWN


@dataclass(frozen=True)
class CsvOptions:
    """Requested settings of CSV files; what is ``None`` is detected file by file.

    Attributes
    ----------
    separator
        The separator of cells: a character, or ``tab``.
    decimal
        ``.`` or ``,``.
    header
        False where no file has one.
    """

    separator: str | None = None
    decimal: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        """Refuse invalid separators."""
        separator = self.separator
        if separator in ("tab", "\\t"):
            object.__setattr__(self, "separator", "\t")
        elif separator is not None and not _is_separator(separator):
            colons = "leave out csv_separator: ratings with :: are recognised"
            raise BadOption(
                f"csv_separator={printable(separator)!r} is not a separator",
                expected="one character other than a letter, digit or quote, or the word tab",
                fix=colons if separator == "::" else None,
            )
        if self.decimal not in (None, ".", ","):
            raise BadOption(
                f"decimal={printable(self.decimal)!r} is not known",
                expected="a point or a comma: '.' or ','",
            )

    @staticmethod
    def of(columns: Columns | None) -> CsvOptions:
        """Return the settings that come with renamed columns."""
        if isinstance(columns, Renames):
            return columns.csv
        return CsvOptions()


def _is_separator(mark: object) -> bool:
    if not isinstance(mark, str) or len(mark) != 1:
        return False
    return mark.isascii() and not mark.isalnum() and mark not in '"\r\n'


class Renames(dict[str, str]):
    """{their name: our name}, with the settings of CSV files and a record of the columns that were found.

    One without names is true, too.

    Parameters
    ----------
    names
        The names.
    like
        Other renames, whose settings and record are shared.
    role
        ``judgments`` or ``run`` where a table that has the columns of a known shape, and none of ours, is
        renamed as a whole.
    table
        ``qrels`` or ``run``, where the names are those of one table.

    Attributes
    ----------
    present
        All column names found so far.
    named
        {our name: their name} of the columns of the last table that are renamed.
    csv
        The settings of CSV files.
    csv_files
        The CSV files read so far.
    shape
        The shape whose columns the table has; ``None`` for none.
    all_relevant
        True if judgments without grades are all relevant, whatever other columns they have.
    own_shapes
        A file of the user's own shapes.
    labels
        Their name → label → grade.
    at_shell
        True if the names come from the command line, so that fixes are written for it.
    """

    def __init__(
        self,
        names: Columns,
        like: Columns | None = None,
        *,
        role: str = "",
        table: str | None = None,
    ) -> None:
        plain, new = split_names(names)
        super().__init__(plain)
        self.labels: Mapping[str, Labels] = {}
        self.present: set[str] = set()
        self.named: dict[str, str] = {}
        self.csv = CsvOptions()
        self.csv_files: list[str] = []
        self.all_relevant = False
        self.own_shapes: str | None = None
        self.at_shell = False
        self.table = ""
        if isinstance(like, Renames):
            vars(self).update(vars(like))
        self.labels = {**self.labels, **new}
        self.role = role
        self.shape: Shape | None = None
        if table:
            self.table = table
        if any(isinstance(theirs, int) for theirs in names):  # positions
            self.csv = replace(self.csv, header=False)

    def __bool__(self) -> bool:
        """Return True: without names there are settings, and a record."""
        return True

    @classmethod
    def of_table(cls, names: Columns, table: str, *, role: str = "") -> Renames:
        """Return the names for the judgments (``qrels``) or for runs (``run``).

        ``run.rating`` is the column ``rating`` of runs, whatever ``rating`` is in other tables.

        >>> Renames.of_table({"rating": "relevance", "run.rating": "score"}, "run")
        {'rating': 'score', 'run.rating': 'score'}
        """
        if not isinstance(names, Mapping):
            return names  # refused when the table is read
        prefix = f"{table}."
        own = {
            theirs.removeprefix(prefix): ours
            for theirs, ours in names.items()
            if str(theirs).startswith(prefix)
        }
        return cls({**names, **own}, names, role=role, table=table)

    def require_present(self) -> None:
        """Refuse names and CSV settings that no table has used: they would be ignored silently."""
        if self.csv != CsvOptions() and not self.csv_files:
            options = {
                "--csv-separator": self.csv.separator,
                "--decimal": self.csv.decimal,
                "--no-header": None if self.csv.header else True,
            }
            used = [flag for flag, value in options.items() if value is not None]
            flags = " and ".join(used)
            raise UsageError(
                f"no CSV file was read that {flags} could apply to",
                fix=f"leave out {flags}",
            )
        unused = [theirs for theirs in self if theirs not in self.present]
        if unused:
            raise self.absent(unused[0])

    def absent(self, theirs: str) -> UsageError:
        """Return the error for a column that no table has."""
        known = {
            name
            for name in self.present
            if name not in self or not name.startswith(("qrels.", "run."))
        }
        shown = ", ".join(printable(name, 40) for name in sorted(known)[:12])
        ours = self[theirs]
        [near] = nearest(theirs, known - {ours}, n=1) or [""]
        fix = f"did you mean {printable(near)}={ours}?" if near else None
        if near and self.at_shell:
            names = {near if name == theirs else name: self[name] for name in self}
            options = written({"columns": self}, {"columns": names}, at_shell=True)
            fix = f"did you mean {printable(near)}? {options}"
        return UsageError(
            f"no table has a column {printable(theirs)}",
            given=f"columns {printable(theirs)}={ours}",
            expected=f"one of the columns {shown}" if shown else None,
            fix=fix
            if shown
            else f"TREC text has no column names: leave out {'--' * self.at_shell}columns",
        )


def with_csv(
    columns: Columns | None, separator: str | None, decimal: str | None
) -> Columns | None:
    """Return renamed columns together with the settings of CSV files.

    >>> with_csv({"Query": "query_id"}, ";", None)
    {'Query': 'query_id'}
    """
    is_mapping = isinstance(columns or {}, Mapping)
    if not is_mapping or (separator is None and decimal is None):
        return columns
    renames = Renames(columns or {}, columns)
    renames.csv = replace(renames.csv, separator=separator, decimal=decimal)
    return renames


def columns_in(options: dict[str, Any]) -> Columns | None:
    """Take renamed columns and the settings of CSV files out of other options, and return them together."""
    return with_csv(
        *(options.pop(name, None) for name in ("columns", "csv_separator", "decimal"))
    )


def check_renames(columns: Columns) -> None:
    """Refuse new names that are not ours."""
    for theirs, typed in columns.items():
        ours, _ = split_labels(typed)
        if ours not in _OURS:
            raise unreadable(f"{theirs}={ours}", theirs, ours)


def unreadable(
    entry: str, theirs: str, ours: str, whole: str | None = None
) -> UsageError:
    """Return the error for a rename that cannot be parsed, in the ``whole`` option at a shell."""
    known = (*CANONICAL, *FURTHER, *_OF_OTHERS)
    [near] = nearest(ours, known, n=1) or [""]
    right = f"{theirs}={near}"
    option = f"did you mean {printable(right)}?"
    if whole is not None:
        option += f" instead: {_option(whole.replace(entry, right))}"
    return UsageError(
        f"columns: {printable(entry)!r} cannot be read",
        expected=f"their_name=our_name; ours are {', '.join(known)}",
        fix=option if near and theirs else None,
    )


def parse_columns(text: str) -> Renames:
    r"""Parse ``"user_id=query_id,item_id=doc_id"`` as {theirs: ours}; ``\,`` is a comma in a name.

    >>> parse_columns("user_id=query_id, rating=relevance")
    {'user_id': 'query_id', 'rating': 'relevance'}
    """
    mapping: dict[str, str] = {}
    entries = [part.strip() for part in re.split(r"(?<!\\),", text) if part.strip()]
    for entry in entries:
        parts = split_entry(entry.replace("\\,", ","))
        theirs, equals, ours = map(str.strip, parts)
        if not equals or not theirs or split_labels(ours)[0] not in _OURS:
            raise unreadable(entry, theirs, ours, text)
        first = mapping.setdefault(theirs, ours)
        if ALIASES.get(first, first) == ALIASES.get(ours, ours):
            continue
        fix = "leave out one of them"
        if {first, ours} == {"relevance", "score"}:
            name = escaped(theirs)
            others = [other for other in entries if not other.startswith(f"{name}=")]
            both = (f"qrels.{name}=relevance", f"run.{name}=score")
            option = _option(",".join([*others, *both]))
            fix = f"name it for each table instead: {option}"
        shown = printable(theirs)
        raise UsageError(
            f"columns: {shown} has two names",
            given=f"{shown}={first} and {shown}={ours}",
            expected="one name for each column",
            fix=fix,
        )
    renames = Renames(mapping)
    renames.at_shell = True
    return renames


def _option(names: str) -> str:
    return f"--columns {printable(quoted(names))}"


def renames(
    present: Iterable[str],
    columns: Columns,
    source: str,
    wanted: Collection[str] = CANONICAL,
) -> dict[str, str]:
    """Return {their name: our name} of the columns present that are renamed, or ``wanted`` and spelt otherwise."""
    names = list(present)
    if not isinstance(columns, Mapping):
        pairs = [part.split("=") for part in str(columns).split(",")]
        are_names = all(len(pair) == 2 for pair in pairs)  # noqa: PLR2004 - a pair
        raise UsageError(
            f"columns is a {type(columns).__name__}",
            expected="{their name: our name}",
            where=source,
            fix=f"columns={dict(pairs)!r}" if are_names else None,
        )
    own = Spellings(names)
    chosen: dict[str, str] = {}
    for theirs, ours in columns.items():
        name = own.of(theirs)
        if name is not None:
            unread = f"{UNUSED} {theirs}"
            chosen[name] = unread if ours == UNUSED else ALIASES.get(ours, ours)
    if isinstance(columns, Renames):
        prefix = f"{columns.table}."
        columns.present.update(names)
        columns.present.update(
            theirs
            for theirs in columns
            if own.of(theirs) or own.of(theirs.removeprefix(prefix))
        )
        chosen = _with_usual(names, chosen, columns)
        if columns.role and not chosen and "doc_id" not in names:
            from rankstone.io.shapes import refuse_unread

            refuse_unread(names, source)
    chosen |= by_alias(names, chosen, wanted)
    # two columns for one thing: ours is read
    if chosen.get("label") in names:
        del chosen["label"]
    _refuse_clash(chosen, source)
    if isinstance(columns, Renames):
        columns.named.clear()
        columns.named.update({ours: theirs for theirs, ours in chosen.items()})
    return chosen


def _with_usual(
    names: Sequence[str], chosen: Columns, columns: Renames
) -> dict[str, str]:
    """Return the renames with those of a known header, and of columns that are usual in a table."""
    header = _known_header(names, chosen, columns)
    chosen = {**chosen, **header}
    if columns.table == "run":
        chosen |= _ranks_of_run(names, chosen)
    may_have_times = columns.table in ("qrels", "history")
    if may_have_times and (theirs := time_among(names, chosen)):
        chosen = {**chosen, theirs: "time"}
    if columns.table == "qrels":
        if header and "relevance" not in header.values():
            # of what was retrieved
            orders = [name for name in ("score", "rank") if name in names]
            chosen |= {name: f"retrieved {name}" for name in orders}
        if "relevance" not in chosen.values():
            chosen = {**_graded_by_label(names), **chosen}
    return chosen


def _refuse_clash(chosen: Columns, source: str) -> None:
    """Refuse two columns that are renamed to the same one."""
    theirs_of: dict[str, list[str]] = {}
    for theirs, ours in chosen.items():
        theirs_of.setdefault(ours, []).append(printable(theirs, 40))
    for ours, both in theirs_of.items():
        if len(both) == 1:
            continue
        raise UsageError(
            f"two columns are both renamed to {ours}",
            given=f"{' and '.join(both)} of {source}",
            fix="if one is in the judgments and one in runs, write qrels. or run. before its name",
        )


def _known_header(names: Sequence[str], chosen: Columns, columns: Renames) -> Columns:
    """Return the names of the shape that a table with none of our columns has, as far as renames allow it."""
    if not columns.role or "doc_id" in names:
        return {}
    from rankstone.io.shapes import candidates

    shape = candidates(columns.role).of_header(names)
    header = {} if shape is None else shape.columns
    if "query_id" in names and "query_id" not in header:
        return {}
    new = {ours for theirs, ours in header.items() if theirs != ours}
    if new & {*names}:
        return {}
    agrees = all(
        header.get(theirs) == ours
        for theirs, ours in chosen.items()
        if theirs in header or ours in header.values()
    )
    if not agrees:
        return {}
    columns.shape = shape
    return header


def _ranks_of_run(names: Iterable[str], chosen: Columns) -> dict[str, str]:
    """Return the rename of the column that holds a run's ranks under another name.

    ``position`` (``pos``, ``排名``) orders lists; beside scores it may contradict them, which is said.
    """
    known = {chosen.get(name, name) for name in names}
    if "rank" in known:
        return {}
    free = [name for name in names if name not in chosen and "." not in name]
    ranks = [name for name in free if is_common_name(name, ["rank"])]
    if "score" in known:
        ranks = [name for name in free if name.lower() in ("position", "rank")]
    return {ranks[0]: "rank"} if len(ranks) == 1 else {}


def _graded_by_label(names: Iterable[str]) -> dict[str, str]:
    """Return the rename of ``label`` where no other column grades the documents of judgments."""
    grades = {name for name in names if is_common_name(name, ["relevance"])}
    return {"label": "relevance"} if grades == {"label"} else {}


def hidden(present: Iterable[str], chosen: Columns) -> list[str]:
    """Return the columns that are replaced by renamed ones."""
    return [name for name in present if name in chosen.values() and name not in chosen]


def require(
    known: Iterable[str],
    needed: Iterable[str],
    source: str,
    present: Iterable[str],
    kinds: Callable[[], Mapping[str, Kind | None]] = dict,
    given: Columns | None = None,
    unused: Sequence[str] = (),
) -> None:
    """Refuse a table that lacks a column, and suggest which of those ``present`` to rename.

    Parameters
    ----------
    known, needed
        Our columns that the table has, and those that it must have.
    source
        The table's name.
    present
        All its columns by their current names.
    kinds
        Returns what columns contain.
    given
        The requested {their name: our name}.
    unused
        Lists of numbers beside those of the documents, which may be what is missing.
    """
    missing = [column for column in needed if column not in known]
    if not missing:
        return
    names = list(present)
    reserved = {*CANONICAL, *FURTHER}
    requested = {} if given is None else given
    guessed = Missing(missing, names, reserved, kinds(), requested, unused)
    beside = f", but numbers beside each doc_id: {some(unused)}" if unused else ""
    absent = ""
    for theirs, ours in requested.items():
        if ours in missing:
            absent += f", no {printable(theirs, 40)}"
    error = MissingColumn(
        f"there is no column {' and no column '.join(missing)}{beside}",
        where=source,
        given=f"{columns_in_source(names, given)}{absent}",
        expected=", ".join(needed),
        fix=guessed.need(),
    )
    error.missing = tuple(missing)
    raise error.proposing(*_separators(names), *guessed.proposals())


def columns_in_source(names: Iterable[str], columns: Columns | None) -> str:
    """Return the columns of a table for a message, each by its name in the source.

    Parameters
    ----------
    names
        The columns as they are called now.
    columns
        The requested {their name: our name}.

    >>> columns_in_source(["user_id", "revenue"], {"user": "user_id"})
    'columns user (as user_id), revenue'
    """
    theirs_of = {ours: theirs for theirs, ours in (columns or {}).items()}
    # what was chosen for the table that was read last
    theirs_of = getattr(columns, "named", theirs_of)
    shown = [
        f"{theirs_of[name]} (as {name})" if theirs_of.get(name, name) != name else name
        for name in names
    ]
    return f"columns {some(shown, 12) or 'none'}"


def lacking(column: str, part: str, present: Iterable[str]) -> MissingColumn:
    """Return the error for a part of a table that lacks a column of other parts."""
    shown = ", ".join(printable(name, 40) for name in present) or "none"
    return MissingColumn(
        f"there is no column {column}, which other parts have",
        where=part,
        given=f"columns {shown}",
    )


def _separators(names: Sequence[str]) -> Iterator[Advice]:
    """Yield the separators that a header may have which was read as one column."""
    if len(names) != 1:
        return
    for mark in "\t;,|":
        if mark in names[0]:
            what = "a tab" if mark == "\t" else f'"{mark}"'
            why = f"is {what} the separator? If so, "
            yield Advice(settings={"csv_separator": mark}, why=why)
