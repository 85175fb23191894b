"""The columns every table has, whatever its author called them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rankstone._text import quoted
from rankstone.errors import BadOption, MissingColumn, UsageError, did_you_mean, printable
from rankstone.io.column_suggestions import Kind, Missing, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


CANONICAL: Final = ("query_id", "doc_id", "relevance", "score", "rank")
#: columns that some measures want beside them, and that a table may call otherwise
FURTHER: Final = (
    "subtopic", "subgroup", "propensity", "weight", "session", "position", "user_id", "time", "segment",
    "clicked",
    "impression_id", "reward", "examination", "prediction", "variant", "draw",
    "target_propensity", "target_position", "target_prediction",
)  # fmt: skip
#: what logs call a column → what it is called here
_ALIASES: Final = {"click": "clicked"}
#: what a column may be called here
_OURS: Final = (*CANONICAL, *FURTHER, *_ALIASES)
_TEXTS: Final = ("query_id", "doc_id", "subtopic", "subgroup", "run")
#: columns that are read by these names somewhere
_KNOWN: Final = frozenset((*CANONICAL, *FURTHER, *_ALIASES, "run", "label", "measure", "value", "judged"))


def is_text(name: str) -> bool:
    """Say whether a column holds names; every other column holds numbers."""
    return name in _TEXTS


def is_known(name: str) -> bool:
    """Say whether a column of this name is read somewhere."""
    return name in _KNOWN


@dataclass(frozen=True)
class CsvOptions:
    """What was said of how CSV files are written; what was not is found out file by file.

    Attributes
    ----------
    separator
        What stands between two cells, one character; ``tab`` will do for one.
    decimal
        What stands before the fraction of a number, ``.`` or ``,``.
    """

    separator: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot stand between cells, or in numbers."""
        given = self.separator
        if given in ("tab", "\\t"):
            object.__setattr__(self, "separator", "\t")
        elif given is not None and not (
            isinstance(given, str) and len(given) == 1 and given.isascii() and not given.isalnum()
            and given not in '"\r\n'
        ):  # fmt: skip
            raise BadOption(
                f"csv_separator={printable(given)!r} cannot be read",
                expected="one character that is no letter, digit or quote, or the word tab",
                fix="csv_separator=';' (on the command line --csv-separator \";\")",
            )
        if self.decimal not in (None, ".", ","):
            raise BadOption(
                f"decimal={printable(self.decimal)!r} is not known", expected="a point or a comma: '.' or ','"
            )

    @staticmethod
    def of(columns: Mapping[str, str] | None) -> CsvOptions:
        """Return what was said beside names of columns."""
        return columns.csv if isinstance(columns, Renames) else CsvOptions()


class Renames(dict[str, str]):
    """{their name: our name}, what tables had of their names, and how CSV files are written.

    One that says something else is true even without names.

    Parameters
    ----------
    names
        The names.
    like
        Other names, which say the same of CSV files and are told of whatever these meet.
    header
        Names of a header that is known as a whole: a table that has them all, and none of ours, is renamed.

    Attributes
    ----------
    present
        All column names that were met.
    csv
        What was said of CSV files.
    csv_files
        Those that were met.
    known_header
        Whether the known header was met.
    at_shell
        Whether they were said on the command line, so that advice is for there.
    table
        ``qrels`` or ``run``, where the names are those of one table.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        like: Mapping[str, str] | None = None,
        *,
        header: Mapping[str, str] | None = None,
        table: str | None = None,
    ) -> None:
        super().__init__(names)
        one = like if isinstance(like, Renames) else None
        self.present: set[str] = set() if one is None else one.present
        self.csv: CsvOptions = CsvOptions() if one is None else one.csv
        self.csv_files: list[str] = [] if one is None else one.csv_files
        self.header: Mapping[str, str] = header or {}
        self.known_header = False
        self.at_shell: bool = one is not None and one.at_shell
        self.table: str = table or ("" if one is None else one.table)

    def __bool__(self) -> bool:
        """Say whether anything is said."""
        return len(self) > 0 or bool(self.header or self.table) or self.csv != CsvOptions()

    @classmethod
    def of_table(cls, names: Mapping[str, str], table: str) -> Renames:
        """Return the names that are meant for the judgments, or for runs.

        ``run.rating`` is the column ``rating`` of runs, whatever ``rating`` is elsewhere.

        >>> Renames.of_table({"rating": "relevance", "run.rating": "score"}, "run")
        {'rating': 'score', 'run.rating': 'score'}
        """
        if not isinstance(names, Mapping):
            return names  # refused where it is read
        prefix = f"{table}."
        own = {
            theirs.removeprefix(prefix): ours for theirs, ours in names.items() if theirs.startswith(prefix)
        }
        return cls({**names, **own}, names, table=table)

    def require_present(self) -> None:
        """Refuse what no table read so far has, names or CSV: it would be passed over in silence."""
        if self.csv != CsvOptions() and not self.csv_files:
            said = {"--csv-separator": self.csv.separator, "--decimal": self.csv.decimal}
            flags = " and ".join(flag for flag, value in said.items() if value is not None)
            raise UsageError(
                f"no CSV file was read, which {flags} would be for",
                fix="leave it out, or say --format-in csv",
            )
        for theirs in self:
            if theirs not in self.present:
                raise self.absent(theirs)

    def absent(self, theirs: str) -> UsageError:
        """Return the error for a name that no table has."""
        there = {name for name in self.present if name not in self or not name.startswith(("qrels.", "run."))}
        named = ", ".join(printable(name, 40) for name in sorted(there)[:12])
        meant = did_you_mean(
            theirs,
            there - {self[theirs]},
            lambda one: _pasted(one, self[theirs], at_shell=self.at_shell),
        )
        return UsageError(
            f"no table has a column {printable(theirs)}",
            given=f"columns {printable(theirs)}={self[theirs]}",
            expected=f"names of columns there are: {named}" if named else None,
            fix=meant if named else "TREC text has no column names: leave it out",
        )


def with_csv(
    columns: Mapping[str, str] | None, separator: str | None, decimal: str | None
) -> Mapping[str, str] | None:
    """Return names of columns that bring along what was said of CSV files.

    >>> with_csv({"Query": "query_id"}, ";", None)
    {'Query': 'query_id'}
    """
    if (separator is None and decimal is None) or not isinstance(columns or {}, Mapping):
        return columns
    found = Renames(columns or {}, columns)
    found.csv = CsvOptions(separator, decimal)
    return found


def check_renames(columns: Mapping[str, str]) -> None:
    """Refuse names that columns are to have and none has here."""
    for theirs, ours in columns.items():
        if ours not in _OURS:
            raise unreadable(f"{theirs}={ours}", theirs, ours, at_shell=False)


def unreadable(entry: str, theirs: str, ours: str, *, at_shell: bool = True) -> UsageError:
    """Return the error for a new name that cannot be read."""
    return UsageError(
        f"columns: {printable(entry)!r} cannot be read",
        expected=f"their_name=our_name; ours are {', '.join((*CANONICAL, *FURTHER))}",
        fix=did_you_mean(ours, (*CANONICAL, *FURTHER), lambda one: _pasted(theirs, one, at_shell=at_shell)),
    )


def parse_columns(text: str) -> Renames:
    r"""Read ``"user_id=query_id,item_id=doc_id"`` as {theirs: ours}; ``\,`` is a comma in a name.

    >>> parse_columns("user_id=query_id, rating=relevance")
    {'user_id': 'query_id', 'rating': 'relevance'}
    """
    mapping: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in re.split(r"(?<!\\),", text))):
        theirs, equals, ours = (part.strip() for part in entry.replace("\\,", ",").rpartition("="))
        if not equals or not theirs or ours not in _OURS:
            raise unreadable(entry, theirs, ours)
        if _ALIASES.get(mapping.setdefault(theirs, ours), mapping[theirs]) != _ALIASES.get(ours, ours):
            raise UsageError(
                f"columns: {printable(theirs)} has two names",
                given=f"{printable(theirs)}={mapping[theirs]} and {printable(theirs)}={ours}",
                expected="one name for each column",
                fix=_of_each_table(theirs)
                if {mapping[theirs], ours} == {"relevance", "score"}
                else f"leave out one of them: {_pasted(theirs, mapping[theirs])}, say",
            )
    found = Renames(mapping)
    found.at_shell = True
    return found


def _pasted(theirs: str, ours: str, *, at_shell: bool = True) -> str:
    """Return the option that gives a column a name, to be pasted at a shell or into a configuration."""
    if not at_shell:
        return f"{printable(theirs)}={ours}"
    return f"--columns {printable(quoted(f'{escaped(theirs)}={ours}'))}"


def _of_each_table(theirs: str) -> str:
    """Say how one name is a grade in the judgments and a score in runs."""
    name = escaped(theirs)
    both = quoted(f"qrels.{name}=relevance,run.{name}=score")
    return f"say what it is in which table: --columns {printable(both)}"


def renames(present: Iterable[str], columns: Mapping[str, str], source: str) -> dict[str, str]:
    """Return which of the columns present are to be renamed to what."""
    names = list(present)
    if not isinstance(columns, Mapping):
        raise UsageError(
            f"columns is a {type(columns).__name__}", expected="{their name: our name}", where=source
        )
    own = {name.strip(): name for name in names} | {name: name for name in names}  # blanks around a name
    chosen = {own[theirs]: _ALIASES.get(ours, ours) for theirs, ours in columns.items() if theirs in own}
    if isinstance(columns, Renames):
        columns.present.update(names, (theirs for theirs in columns if theirs in own))
        prefix = f"{columns.table}."
        columns.present.update(theirs for theirs in columns if theirs.removeprefix(prefix) in own)
        header = columns.header
        if (
            header
            and not {*header.values()} & {*names}
            and {*header} <= {*names}
            and chosen.items() <= header.items()
        ):
            columns.known_header, chosen = True, dict(header)
        if columns.table == "run" and is_place(names, chosen):
            chosen["position"] = "rank"
    if "label" in chosen and chosen["label"] in names:  # two names for one thing: ours wins
        del chosen["label"]
    clash = [ours for ours in chosen.values() if list(chosen.values()).count(ours) > 1]
    if clash:
        both = " and ".join(printable(theirs, 40) for theirs, ours in chosen.items() if ours == clash[0])
        raise UsageError(
            f"two columns are both to be {clash[0]}",
            given=f"{both} of {source}",
            fix=f"where one is meant for judgments and one for runs: qrels.THEIRS={clash[0]},"
            f"run.THEIRS={clash[0]}, with their names for THEIRS",
        )
    return chosen


def by_alias(present: Iterable[str], chosen: Mapping[str, str], wanted: Iterable[str]) -> dict[str, str]:
    """Return the columns that are wanted and stand there by another name of theirs, which nobody renamed."""
    names = set(present)
    known = {chosen.get(name, name) for name in names}
    return {
        alias: ours
        for alias, ours in _ALIASES.items()
        if ours in wanted and ours not in known and alias in names and alias not in chosen
    }


def is_place(names: Iterable[str], chosen: Mapping[str, str]) -> bool:
    """Say whether a run's ``position`` is all that gives the order of its lists."""
    known = {chosen.get(name, name) for name in names}
    return "position" in known and "position" not in chosen and known.isdisjoint(("score", "rank"))


def hidden(present: Iterable[str], chosen: Mapping[str, str]) -> list[str]:
    """Return the columns that renaming puts others in the place of."""
    return [name for name in present if name in chosen.values() and name not in chosen]


def require(
    known: Iterable[str],
    needed: Iterable[str],
    source: str,
    present: Iterable[str],
    kinds: Callable[[], Mapping[str, Kind | None]] = dict,
    given: Mapping[str, str] | None = None,
) -> None:
    """Refuse a table that lacks a column, with a suggestion how to name those ``present``.

    Parameters
    ----------
    known, needed
        Our columns that there are, and that there should be.
    source
        What to call the table.
    present
        All columns by the names they go by now.
    kinds
        Says what columns hold.
    given
        {their name: our name}, as somebody said.
    """
    missing = [column for column in needed if column not in known]
    if not missing:
        return
    names = list(present)
    shown = ", ".join(printable(name, 40) for name in names[:12]) or "none"
    guessed = Missing(missing, names, {*CANONICAL, *FURTHER}, kinds(), {} if given is None else given)
    error = MissingColumn(
        f"there is no column {' and no column '.join(missing)}",
        where=source,
        given=f"columns {shown}{' …' if len(names) > 12 else ''}",  # noqa: PLR2004 - what fits a line
        expected=", ".join(needed),
        fix=_divided(names) or guessed.fix(),
    )
    error.missing = tuple(missing)
    raise error


def no_such_column(what: str, name: str, columns: Iterable[str], where: str) -> MissingColumn:
    """Return the error for a column that a table lacks, with the nearest one as a suggestion."""
    known = list(columns)
    return MissingColumn(
        what,
        where=where,
        given=f"columns {', '.join(map(printable, known)) or 'none'}",
        fix=did_you_mean(name, known),
    )


def lacking(column: str, part: str, present: Iterable[str]) -> MissingColumn:
    """Return the error for a part of a table without a column that other parts have."""
    shown = ", ".join(printable(name, 40) for name in present) or "none"
    return MissingColumn(
        f"there is no column {column}, which other parts have", where=part, given=f"columns {shown}"
    )


def _divided(names: list[str]) -> str | None:
    """Say what to do about a header that was taken for one column."""
    if len(names) == 1 and "\t" in names[0]:
        return "the columns are divided by tabs: --csv-separator tab (in Python csv_separator='\\t')"
    if len(names) == 1 and (found := sorted({";", ",", "|"} & set(names[0]))):
        mark = f'"{found[0]}"'
        return f"is {mark} the separator? --csv-separator {mark} (in Python csv_separator={mark})"
    return None
