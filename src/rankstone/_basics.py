"""What every room uses: records, and text for messages and audits."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from copy import copy
from dataclasses import (
    MISSING,
    Field,
    FrozenInstanceError,
    dataclass,
    field,
    fields,
    is_dataclass,
    make_dataclass,
)
from datetime import date
from functools import partial
from inspect import Signature, signature
from itertools import islice
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Never,
    TypeGuard,
    dataclass_transform,
)

from rankstone.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    #: arrays and arguments, of which every room speaks
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    #: values by name: options, columns, the fields of a record, what JSON stores
    NamedValues = dict[str, Any]
    #: names of columns, runs, measures …
    Names = tuple[str, ...]
    #: a file, by its path
    StrPath = str | os.PathLike[str]
    #: what a table calls its columns → our names
    Columns = Mapping[str, str]
    #: called with the number of rows, or other things, that each piece of work has done
    Progress = Callable[[int], None]
    #: the place of a row, for messages
    Locate = Callable[[int], str]


#: texts that need no quotes in a shell, and characters that a shell expands between double quotes
_BARE: Final = re.compile(r"[\w@%+=:,./~-]+", re.ASCII)
_EXPANDED: Final = frozenset('"$`!')
#: the place of a count in a sentence, with its noun
_COUNT: Final = re.compile(r"\{(\w+):?([^}]*)\}")


def _generated(record: type[Record]) -> type:
    """Return the dataclass that is generated of the same fields."""
    declared = [(f.name, f.type, copy(f)) for f in fields(record)]
    return make_dataclass(record.__name__, declared)


class _FieldSignature:
    """The signature of a record's class, made when somebody asks for it."""

    def __get__(self, record: Record | None, owner: type[Record]) -> Signature:
        # a record that can be called has a signature of its own
        if record is not None or owner is Record:
            raise AttributeError("__signature__")
        return signature(_generated(owner))


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
class Record:
    """The base class of frozen dataclasses that are compared by identity.

    Fields are declared, listed and replaced as those of any dataclass.  But no code is generated for a class,
    which takes :mod:`dataclasses` half a millisecond: for all of ours, as long as importing a library.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(y=3, x=2).y
    (Point(x=1, y=0), 3)
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __signature__: ClassVar = _FieldSignature()
    _declared: ClassVar[dict[str, Field[Any]]] = {}
    _positional: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Find the fields."""
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        cls._declared = {f.name: f for f in fields(cls)}
        cls._positional = tuple(f.name for f in fields(cls) if not f.kw_only)

    def __init__(self, *values: Any, **named: Any) -> None:  # noqa: ANN401 - of the fields
        """Take the values of the fields, in the order of the class's signature or by name."""
        state = dict(zip(self._positional, values, strict=False)) | named
        is_ambiguous = len(state) < len(values) + len(named)

        declared = self._declared
        for name in declared.keys() - state.keys():
            if declared[name].default is not MISSING:
                state[name] = declared[name].default
            elif (make := declared[name].default_factory) is not MISSING:
                state[name] = make()

        if is_ambiguous or state.keys() != declared.keys():
            _generated(type(self))(*values, **named)  # raises what is wrong
        vars(self).update(state)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the fields."""

    def __setattr__(self, name: str, value: object) -> Never:
        """Refuse to change a field."""
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> Never:
        """Refuse to remove a field."""
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr]
        return f"{type(self).__qualname__}({', '.join(shown)})"


def is_path(value: object) -> TypeGuard[StrPath]:
    """Return True for the path of a file, as a text or an object.

    >>> is_path("run.trec"), is_path(b"run.trec")
    (True, False)
    """
    return isinstance(value, (str, os.PathLike))


def first_true(mask: pl.Series) -> int:
    """Return the first row in which a mask is true; there must be one."""
    return mask.arg_max() or 0


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun, in singular or plural.

    >>> counted(1, "query", "queries"), counted(1200, "row")
    ('1 query', '1,200 rows')
    """
    if count == 1:
        return f"1 {noun}"
    usual = f"{noun}s"
    if noun.endswith("query"):
        usual = f"{noun[:-1]}ies"
    return f"{count:,} {plural or usual}"


def there_are(count: int, noun: str) -> str:
    """Return that there are so many.

    >>> there_are(1, "row"), there_are(0, "row")
    ('there is 1 row', 'there are 0 rows')
    """
    verb = "is" if count == 1 else "are"
    return f"there {verb} {counted(count, noun)}"


def noted(count: int | None, noun: str, remark: str = "") -> str:
    """Return a count with its noun and a remark; nothing where the count is 0.

    >>> noted(2, "duplicate row", "merged"), noted(0, "duplicate row", "merged")
    ('2 duplicate rows merged', '')
    """
    if not count:
        return ""
    return f"{counted(count, noun)} {remark}".rstrip()


def sentences(audit: Any, key: str = "says", above: float = 0) -> list[str]:  # noqa: ANN401 - a dataclass
    """Return the sentences that are declared with an audit's counts, of those above a number.

    A sentence is in the metadata of a field.  Other counts and texts of the audit may stand in it; a noun
    behind a colon makes a number of things of them.

    >>> class TiesAudit(Record):
    ...     tied: int = field(metadata={"says": "{tied:tied row} in {lists:list}"})
    ...     lists: int = 0
    >>> sentences(TiesAudit(4, 1)), sentences(TiesAudit(0))
    (['4 tied rows in 1 list'], [])
    """
    said = []
    for declared in fields(audit):
        is_said = key in declared.metadata
        if is_said and (getattr(audit, declared.name) or 0) > above:
            said.append(_COUNT.sub(partial(_named, audit), declared.metadata[key]))
    return said


def _named(audit: object, place: re.Match[str]) -> str:
    value, noun = getattr(audit, place[1]), place[2]
    if noun:
        return counted(value, *noun.split("|"))
    return str(value)


def line(*parts: str | Iterable[str]) -> str:
    """Join the parts of an audit's line that are not empty.

    >>> line("2 queries", noted(0, "tied row"), ["read as: tsv"])
    '2 queries · read as: tsv'
    """
    texts: list[str] = []
    for part in parts:
        texts += [part] if isinstance(part, str) else part
    return " · ".join(filter(None, texts))


def plain(value: Any) -> Any:  # noqa: ANN401 - an audit, or what is in one
    """Return an audit as plain dicts, lists and texts; ``read_as`` only where something was detected.

    >>> plain({1: ("a", "b")})
    {'1': ['a', 'b']}
    """
    if is_dataclass(value):
        audit = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        if not audit.get("read_as", True):
            del audit["read_as"]
        return audit
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, date):
        return value.isoformat()
    return value


def exact(number: float) -> str:
    """Return a number as briefly as it can be written and read back without loss.

    >>> exact(2.0), exact(0.1), exact(1e6), exact(1_000_001.0)
    ('2', '0.1', '1e+06', '1000001.0')
    """
    brief = f"{number:g}"
    if float(brief) == number:
        return brief
    return repr(float(number))


def read_as(notes: Sequence[str]) -> list[str]:
    """Return the part of an audit about a file's format; nothing where nothing was detected.

    >>> read_as(("separator ';'", "decimal comma")), read_as(())
    (["read as: separator ';', decimal comma"], [])
    """
    if not notes:
        return []
    return [f"read as: {', '.join(map(printable, notes))}"]


def left_out(rows: Mapping[str, int]) -> list[str]:
    """Return how many rows were left out, for each reason.

    >>> left_out({"without a user": 2, "without a time": 0})
    ['2 rows without a user left out']
    """
    notes = (noted(count, "row", f"{why} left out") for why, count in rows.items())
    return list(filter(None, notes))


def quoted(text: str) -> str:
    r"""Return a text as one word of a command line, in double quotes, which cmd and PowerShell know, too.

    Only text that a shell would expand in these (``$``, a quote) is in single quotes.

    >>> print(quoted("map@10"), quoted("AUC(negatives=judged)"), quoted("$HOME"))
    map@10 "AUC(negatives=judged)" '$HOME'
    """
    if _BARE.fullmatch(text):
        return text
    if _EXPANDED & {*text}:
        return shlex.quote(text)
    return f'"{text}"'


def percentage(share: float, digits: int = 2) -> str:
    """Return a share as a percentage of so many figures.

    >>> percentage(1), percentage(0.1234), percentage(1 - 0.05 / 3, 4)
    ('100 %', '12 %', '98.33 %')
    """
    rounded = float(f"{100 * share:.{digits}g}")
    return f"{rounded:g} %"


def queries(count: int) -> str:
    """Return ``1 query`` or ``2 queries``."""
    return counted(count, "query")


def some(names: Iterable[object], most: int = 3) -> str:
    """Return the first of several names, each as one safe line.

    >>> some(["q1", "q2"]), some(["q1", "q2", "q3", "q4"])
    ('q1, q2', 'q1, q2, q3 …')
    """
    first = list(islice(names, most + 1))
    shown = ", ".join(printable(name, 40) for name in first[:most])
    if len(first) > most:
        return f"{shown} …"
    return shown


def spread(lowest: int, highest: int, noun: str, median: float | None = None) -> str:
    """Return a range of counts with its noun; one number where all are equal.

    >>> spread(1000, 1000, "row", 1000.0), spread(1, 1, "row"), spread(1, 1000, "row", 12.5)
    ('1,000 rows', '1 row', '1–1,000 (median 12.5) rows')
    """
    if lowest == highest:
        return counted(highest, noun)
    middle = ""
    if median is not None:
        middle = f" (median {median:g})"
    return f"{lowest:,}–{highest:,}{middle} {noun}s"


class InLines:
    """An object that is shown in lines, as text or as an HTML list."""

    def lines(self) -> list[str]:
        """Return the lines."""
        raise NotImplementedError

    def brief(self) -> list[str]:
        """Return what is shown of the lines by default."""
        return self.lines()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        audit: dict[str, Any] = plain(self)
        return audit

    def __repr__(self) -> str:
        indented = [f"  {line}" for line in self.lines()]
        return "\n".join([type(self).__name__, *indented])

    def _repr_html_(self) -> str:
        from html import escape

        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        return f"<ul>{items}</ul>"
