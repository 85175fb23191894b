"""Every error a user can meet, in one tree.

.. code-block:: text

    RankstoneError
    ├── InputError (ValueError)          exit 3: a file, frame or dict is not what it should be
    │   ├── BadLine                      a line of text that cannot be read
    │   ├── BadValue                     a score, rank or grade that is no usable number
    │   ├── MissingColumn                a table without a column we need
    │   ├── DuplicateRows                the same (query, document) twice
    │   ├── MixedIds                     integers on one side, texts on the other
    │   ├── EmptyInput                   nothing to read
    │   ├── UnknownFormat                bytes or a suffix nobody can name
    │   ├── TiedScores                   ``ties="error"`` and there are ties
    │   ├── NotComparable                judgments and run do not fit together
    │   └── BadRuns                      several runs at once; ``errors`` holds each one's
    ├── UsageError (ValueError)          exit 2: a question that cannot be asked
    │   ├── UnknownMeasure               no measure of that name (the nearest are named)
    │   ├── UnknownConvention            no library, or version of it, that we know
    │   ├── BadParameter                 a measure's parameter
    │   └── BadOption                    an alignment option
    ├── OutOfRange (ArithmeticError)     exit 3: a value that its measure's card says cannot be
    └── MissingExtra (ImportError)       exit 5: a package that an extra installs

A message says what was given, where, what was expected and what to do about it.  Ids and texts come
from outside, so they pass through :func:`printable` before they reach a terminal.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from difflib import get_close_matches
from textwrap import indent
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


__all__ = [
    "BadLine",
    "BadOption",
    "BadParameter",
    "BadRuns",
    "BadValue",
    "DuplicateRows",
    "EmptyInput",
    "InputError",
    "MissingColumn",
    "MissingExtra",
    "MixedIds",
    "NotComparable",
    "OutOfRange",
    "RankstoneError",
    "TiedScores",
    "UnknownConvention",
    "UnknownFormat",
    "UnknownMeasure",
    "UsageError",
    "above_0",
    "between_0_and_1",
    "blaming",
    "masked",
    "nearest",
    "one_of",
    "printable",
]

_LONGEST = 160
#: a password in an address, to the last @, should it hold one; and one that is called so
_CREDENTIALS = re.compile(r"(\w://[^\s/:@]*:)(?!\*\*\*@)\S*@")
_NAMED_SECRET = re.compile(
    r"((?:password|secret|passphrase)\s*=\s*)(?!\*\*\*)(?:'[^']*'|[^\s&;,'\"]+)", re.IGNORECASE
)
#: runs whose errors are told whole, where several are bad
_WHOLE = 3
#: characters that one character is escaped to, at most
_ESCAPED = 10


def printable(text: object, longest: int = _LONGEST) -> str:
    r"""Return untrusted text as one line that no terminal obeys: controls escaped, long tails cut.

    >>> printable("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def masked(text: str) -> str:
    """Return a text without the passwords of the addresses in it.

    >>> masked("postgresql://ann:secret@host/db?password=secret")
    'postgresql://ann:***@host/db?password=***'
    """
    return _NAMED_SECRET.sub(r"\1***", _CREDENTIALS.sub(r"\1***@", text))


def nearest(word: object, known: Iterable[str], n: int = 3) -> list[str]:
    """Return up to ``n`` of the ``known`` words that look most like ``word``, case aside."""
    folded = {name.lower(): name for name in known}
    return [folded[hit] for hit in get_close_matches(str(word).lower(), folded, n=n, cutoff=0.5)]


class RankstoneError(Exception):
    """The root: catch this to catch everything rankstone raises on purpose.

    Parameters
    ----------
    what
        One sentence: what is wrong.
    where
        File and line, or table and row, or query.
    given, expected
        The offending text, and what should have stood there.
    fix
        What to do next.
    """

    exit_code: ClassVar[int] = 70

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        given: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.given = given
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        lines += [
            f"  {label + ':':<9} {text}"
            for label, text in (("given", self.given), ("expected", self.expected), ("fix", self.fix))
            if text
        ]
        # ids and texts are escaped where they come in; paths and options may still hold controls
        every = [line for text in lines for line in masked(text).split("\n")]
        return "\n".join(printable(line, len(line) * _ESCAPED) for line in every)


@contextmanager
def blaming(where: str | None) -> Iterator[None]:
    """Name a file in errors that name no place of their own."""
    try:
        yield
    except RankstoneError as error:
        error.where = error.where or where
        raise


class InputError(RankstoneError, ValueError):
    """A file, frame or dict is not what it should be."""

    exit_code = 3


class BadLine(InputError):
    """A line of text that cannot be read."""


class BadValue(InputError):
    """A score, rank or grade that is no usable number."""


class MissingColumn(InputError):
    """A table without a column that is needed; ``missing`` names such columns."""

    missing: tuple[str, ...] = ()


class DuplicateRows(InputError):
    """The same (query, document) stands in the data more than once; ``rows`` says where."""

    rows: tuple[int, ...] = ()


class MixedIds(InputError):
    """Ids of two kinds that can never match."""


class EmptyInput(InputError):
    """A file, frame or dict with nothing in it."""


class UnknownFormat(InputError):
    """Neither suffix nor content says how to read this."""


class TiedScores(InputError):
    """Tied scores under ``ties="error"``."""


class NotComparable(InputError):
    """Judgments and run do not fit together."""


class BadRuns(InputError):
    """Several runs that cannot be scored; ``errors`` holds what is wrong with each, by name.

    Parameters
    ----------
    errors
        Run name → its error.
    total
        How many runs there are.
    fix
        What to do next.
    """

    def __init__(self, errors: Mapping[str, InputError], total: int, fix: str | None = None) -> None:
        super().__init__(f"{len(errors)} of {total} runs cannot be scored", fix=fix)
        self.errors = dict(errors)

    def __str__(self) -> str:
        head, *tail = super().__str__().split("\n")
        whole = [f"{printable(name)}: {error}" for name, error in list(self.errors.items())[:_WHOLE]]
        rest = ", ".join(map(printable, list(self.errors)[_WHOLE:]))
        return "\n".join(
            [head, *(indent(text, "  ") for text in whole), *([f"  and {rest}"] if rest else []), *tail]
        )


class UsageError(RankstoneError, ValueError):
    """A question that cannot be asked."""

    exit_code = 2


class UnknownMeasure(UsageError):
    """No measure of that name."""


class UnknownConvention(UsageError):
    """No library, or version of it, that we know."""


class BadParameter(UsageError):
    """A parameter of a measure."""


class BadOption(UsageError):
    """An option of alignment."""


class OutOfRange(RankstoneError, ArithmeticError):
    """A measure's value lies outside the range its card declares, so the number means nothing.

    ``query`` is the query's place among those measured together.
    """

    exit_code = 3
    query: int = 0

    @classmethod
    def of(cls, measure: str, query: int, value: float, low: float | None, high: float | None) -> Self:
        """Build the error for one query's value."""
        if not math.isfinite(value):
            error = cls(
                f"{measure} is {value:g}: the numbers it is made of are too large to be summed",
                fix="are these grades? numbers of this size look like scores, or ids, in the wrong column",
            )
            error.query = query
            return error
        bounds = f"{'-∞' if low is None else f'{low:g}'} … {'∞' if high is None else f'{high:g}'}"
        error = cls(
            f"{measure} is {value:g}, outside its range {bounds}",
            fix="documents that count twice (duplicates=keep) and signed gains (negative=keep) can do this: "
            "choose duplicates=first_keep_rank, negative=unjudged; otherwise the definition is wrong, or the "
            "range it declares (a measure of your own: span=(low, high), (0, 1) unless said)",
        )
        error.query = query
        return error


class MissingExtra(RankstoneError, ImportError):
    """A package that one of rankstone's extras installs is not there."""

    exit_code = 5


def between_0_and_1(option: str, given: float) -> None:
    """Refuse an option's value that is no share of something."""
    if not 0 < given < 1:
        raise BadOption(f"{option}={given!r} is out of range", expected=f"0 < {option} < 1")


def above_0(option: str, given: float | None) -> None:
    """Refuse an option's value that is not above 0, where one is given."""
    if given is not None and not given > 0:
        raise BadOption(f"{option}={given!r} is out of range", expected="a number above 0")


def one_of(option: str, given: object, known: Iterable[str]) -> None:
    """Refuse an option's value that is none of those known, naming the nearest."""
    names = list(known)
    if given not in names:
        close = nearest(str(given), names, n=1)
        raise BadOption(
            f"{option}={printable(given)!r} is not known",
            expected=", ".join(names),
            fix=f"did you mean {close[0]}?" if close else None,
        )
