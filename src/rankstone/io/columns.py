"""Canonical column names, and how the columns of a table are renamed to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import quoted, some
from rankstone.errors import BadOption, MissingColumn, UsageError, nearest, printable
from rankstone.io.advice import Advice, escaped, written
from rankstone.io.column_suggestions import Kind, Missing, is_common_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
    "start",
    "end",
    "nugget",
    "document",
)
#: names in logs → our names
_ALIASES: Final = {"click": "clicked"}
#: the name of columns that are not to be read
UNUSED: Final = "unused"
#: columns of boards, of battles, and of tables of scores
_OF_BOARDS: Final = (
    *("system", "dataset", "value", "measure", "run", "seed", "cluster"),
    *("left", "right", "winner", "loser", "outcome"),
)
#: names that a column can be renamed to
_OURS: Final = (*CANONICAL, *FURTHER, *_ALIASES, *_OF_BOARDS, UNUSED)
_TEXTS: Final = (
    "query_id",
    "doc_id",
    "subtopic",
    "subgroup",
    "run",
    "run_id",
    "error",
    "nugget",
    "answerable",
    "document",
)
#: names of columns that are read anywhere
_KNOWN: Final = frozenset(
    (*CANONICAL, *FURTHER, *_ALIASES, "run", "label", "measure", "value", "judged")
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
        The separator of cells: one character, or the word ``tab``.
    decimal
        The decimal separator, ``.`` or ``,``.
    header
        False where no file has a header.
    """

    separator: str | None = None
    decimal: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        """Refuse invalid separators."""
        given = self.separator
        if given in ("tab", "\\t"):
            object.__setattr__(self, "separator", "\t")
        elif given is not None and not (
            isinstance(given, str)
            and len(given) == 1
            and given.isascii()
            and not given.isalnum()
            and given not in '"\r\n'
        ):
            raise BadOption(
                f"csv_separator={printable(given)!r} is not a separator",
                expected="one character other than a letter, digit or quote, or the word tab",
                fix="leave out csv_separator: ratings with :: are recognised"
                if given == "::"
                else None,
            )
        if self.decimal not in (None, ".", ","):
            raise BadOption(
                f"decimal={printable(self.decimal)!r} is not known",
                expected="a point or a comma: '.' or ','",
            )

    @staticmethod
    def of(columns: Mapping[str, str] | None) -> CsvOptions:
        """Return the settings that come with renamed columns."""
        return columns.csv if isinstance(columns, Renames) else CsvOptions()


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
    at_shell
        True if the names come from the command line, so that fixes are written for it.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        like: Mapping[str, str] | None = None,
        *,
        role: str = "",
        table: str | None = None,
    ) -> None:
        super().__init__({str(theirs): ours for theirs, ours in names.items()})
        one = like if isinstance(like, Renames) else None
        self.present: set[str] = set() if one is None else one.present
        self.csv: CsvOptions = CsvOptions() if one is None else one.csv
        self.csv_files: list[str] = [] if one is None else one.csv_files
        if any(isinstance(theirs, int) for theirs in names):  # positions
            self.csv = replace(self.csv, header=False)
        self.role = role
        self.shape: Shape | None = None
        self.all_relevant: bool = one is not None and one.all_relevant
        self.own_shapes: str | None = None if one is None else one.own_shapes
        self.at_shell: bool = one is not None and one.at_shell
        self.table: str = table or ("" if one is None else one.table)

    def __bool__(self) -> bool:
        """Return True: without names there are settings, and a record."""
        return True

    @classmethod
    def of_table(cls, names: Mapping[str, str], table: str) -> Renames:
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
        return cls({**names, **own}, names, table=table)

    def require_present(self) -> None:
        """Refuse names and CSV settings that no table has used: they would be ignored silently."""
        if self.csv != CsvOptions() and not self.csv_files:
            options = {
                "--csv-separator": self.csv.separator,
                "--decimal": self.csv.decimal,
                "--no-header": None if self.csv.header else True,
            }
            flags = " and ".join(
                flag for flag, value in options.items() if value is not None
            )
            raise UsageError(
                f"no CSV file was read that {flags} could apply to",
                fix=f"leave out {flags}",
            )
        for theirs in self:
            if theirs not in self.present:
                raise self.absent(theirs)

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
            given=f"columns {printable(theirs)}={self[theirs]}",
            expected=f"one of the columns {shown}" if shown else None,
            fix=fix if shown else "TREC text has no column names: leave out --columns",
        )


def with_csv(
    columns: Mapping[str, str] | None, separator: str | None, decimal: str | None
) -> Mapping[str, str] | None:
    """Return renamed columns together with the settings of CSV files.

    >>> with_csv({"Query": "query_id"}, ";", None)
    {'Query': 'query_id'}
    """
    if (separator is None and decimal is None) or not isinstance(
        columns or {}, Mapping
    ):
        return columns
    renames = Renames(columns or {}, columns)
    renames.csv = replace(renames.csv, separator=separator, decimal=decimal)
    return renames


def columns_in(options: dict[str, Any]) -> Mapping[str, str] | None:
    """Take renamed columns and the settings of CSV files out of other options, and return them together."""
    return with_csv(
        *(options.pop(name, None) for name in ("columns", "csv_separator", "decimal"))
    )


def check_renames(columns: Mapping[str, str]) -> None:
    """Refuse new names that are not ours."""
    for theirs, ours in columns.items():
        if ours not in _OURS:
            raise unreadable(f"{theirs}={ours}", theirs, ours)


def unreadable(
    entry: str, theirs: str, ours: str, whole: str | None = None
) -> UsageError:
    """Return the error for a rename that cannot be parsed, in the ``whole`` option at a shell."""
    known = (*CANONICAL, *FURTHER, *_OF_BOARDS)
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
        theirs, equals, ours = (
            part.strip() for part in entry.replace("\\,", ",").rpartition("=")
        )
        if not equals or not theirs or ours not in _OURS:
            raise unreadable(entry, theirs, ours, text)
        first = mapping.setdefault(theirs, ours)
        if _ALIASES.get(first, first) == _ALIASES.get(ours, ours):
            continue
        fix = "leave out one of them"
        if {first, ours} == {"relevance", "score"}:
            name = escaped(theirs)
            both = [f"qrels.{name}=relevance", f"run.{name}=score"]
            others = [one for one in entries if not one.startswith(f"{name}=")]
            fix = (
                f"name it for each table instead: {_option(','.join([*others, *both]))}"
            )
        raise UsageError(
            f"columns: {printable(theirs)} has two names",
            given=f"{printable(theirs)}={first} and {printable(theirs)}={ours}",
            expected="one name for each column",
            fix=fix,
        )
    renames = Renames(mapping)
    renames.at_shell = True
    return renames


def _option(names: str) -> str:
    return f"--columns {printable(quoted(names))}"


def renames(
    present: Iterable[str], columns: Mapping[str, str], source: str
) -> dict[str, str]:
    """Return {their name: our name} of the columns present that are renamed."""
    names = list(present)
    if not isinstance(columns, Mapping):
        raise UsageError(
            f"columns is a {type(columns).__name__}",
            expected="{their name: our name}",
            where=source,
        )
    own = {name.strip(): name for name in names} | {
        name: name for name in names
    }  # blanks around a name
    chosen = {
        own[theirs]: _ALIASES.get(ours, ours)
        if ours != UNUSED
        else f"{UNUSED} {theirs}"
        for theirs, ours in columns.items()
        if theirs in own
    }
    if isinstance(columns, Renames):
        columns.present.update(names, (theirs for theirs in columns if theirs in own))
        prefix = f"{columns.table}."
        columns.present.update(
            theirs for theirs in columns if theirs.removeprefix(prefix) in own
        )
        header = _known_header(names, chosen, columns)
        if header:
            chosen = {**chosen, **header}
            if columns.table == "qrels" and "relevance" not in header.values():
                # of what was retrieved
                chosen |= {
                    name: f"retrieved {name}"
                    for name in ("score", "rank")
                    if name in own
                }
        if columns.table == "run" and ranks_by_position(names, chosen):
            chosen["position"] = "rank"
        if columns.table == "qrels" and "relevance" not in chosen.values():
            chosen = {**_graded_by_label(names), **chosen}
    if (
        "label" in chosen and chosen["label"] in names
    ):  # two columns for one thing: ours is read
        del chosen["label"]
    clash = [ours for ours in chosen.values() if list(chosen.values()).count(ours) > 1]
    if clash:
        both = " and ".join(
            printable(theirs, 40) for theirs, ours in chosen.items() if ours == clash[0]
        )
        raise UsageError(
            f"two columns are both renamed to {clash[0]}",
            given=f"{both} of {source}",
            fix=f"if one is in the judgments and one in runs: qrels.THEIRS={clash[0]},"
            f"run.THEIRS={clash[0]}, with their names for THEIRS",
        )
    return chosen


def _known_header(
    names: Sequence[str], chosen: Mapping[str, str], columns: Renames
) -> Mapping[str, str]:
    """Return the names of the shape that a table with none of our columns has, as far as renames allow it."""
    if not columns.role or {"query_id", "doc_id"} & {*names}:
        return {}
    from rankstone.io.shapes import candidates

    shape = candidates(columns.role).of_header(names)
    if shape is None or {*shape.columns.values()} & {*names}:
        return {}
    header = shape.columns
    agrees = all(
        header.get(theirs) == ours
        for theirs, ours in chosen.items()
        if theirs in header or ours in header.values()
    )
    if not agrees:
        return {}
    columns.shape = shape
    return header


def by_alias(
    present: Iterable[str], chosen: Mapping[str, str], wanted: Iterable[str]
) -> dict[str, str]:
    """Return aliases of wanted columns that are present and not renamed otherwise."""
    names = set(present)
    known = {chosen.get(name, name) for name in names}
    return {
        alias: ours
        for alias, ours in _ALIASES.items()
        if ours in wanted
        and ours not in known
        and alias in names
        and alias not in chosen
    }


def ranks_by_position(names: Iterable[str], chosen: Mapping[str, str]) -> bool:
    """Return True if only ``position`` gives the order of a run's lists."""
    known = {chosen.get(name, name) for name in names}
    return (
        "position" in known
        and "position" not in chosen
        and known.isdisjoint(("score", "rank"))
    )


def _graded_by_label(names: Iterable[str]) -> dict[str, str]:
    """Return the rename of ``label`` where no other column grades the documents of judgments."""
    grades = {name for name in names if is_common_name(name, ["relevance"])}
    return {"label": "relevance"} if grades == {"label"} else {}


def hidden(present: Iterable[str], chosen: Mapping[str, str]) -> list[str]:
    """Return the columns that are replaced by renamed ones."""
    return [name for name in present if name in chosen.values() and name not in chosen]


def require(
    known: Iterable[str],
    needed: Iterable[str],
    source: str,
    present: Iterable[str],
    kinds: Callable[[], Mapping[str, Kind | None]] = dict,
    given: Mapping[str, str] | None = None,
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
    guessed = Missing(
        missing, names, reserved, kinds(), {} if given is None else given, unused
    )
    beside = f", but numbers beside each doc_id: {some(unused)}" if unused else ""
    absent = "".join(
        f", no {printable(theirs, 40)}"
        for theirs, ours in (given or {}).items()
        if ours in missing
    )
    error = MissingColumn(
        f"there is no column {' and no column '.join(missing)}{beside}",
        where=source,
        given=f"columns {some(names, 12) or 'none'}{absent}",
        expected=", ".join(needed),
        fix=guessed.need(),
    )
    error.missing = tuple(missing)
    raise error.proposing(*_separators(names), *guessed.proposals())


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
    for mark in "\t;,|" if len(names) == 1 else "":
        if mark in names[0]:
            what = {"\t": "a tab"}.get(mark, f'"{mark}"')
            why = f"is {what} the separator? If so, "
            yield Advice(settings={"csv_separator": mark}, why=why)
