"""All errors that rankstone raises, in one tree.

.. code-block:: text

    RankstoneError
    ├── InputError (ValueError)          exit 3: a file, frame or dict that is not valid
    │   ├── BadLine                      a line of text that cannot be parsed
    │   ├── BadValue                     a score, rank or grade that is not a usable number
    │   ├── MissingColumn                a table without a required column
    │   ├── DuplicateRows                the same (query, document) twice
    │   ├── MixedIds                     integers on one side, texts on the other
    │   ├── EmptyInput                   nothing to read
    │   ├── UnknownFormat                a format that is not known
    │   ├── TiedScores                   tied scores under ``ties="error"``
    │   ├── NotComparable                judgments and run do not match
    │   └── BadRuns                      several runs at once; ``errors`` holds the error of each
    ├── UsageError (ValueError)          exit 2: arguments that are not valid, or not together
    │   ├── UnknownMeasure               an unknown measure (the nearest names are suggested)
    │   ├── UnknownConvention            an unknown library, or version of it
    │   ├── UnknownMean (KeyError)       a run or measure that scores do not have
    │   ├── BadParameter                 a parameter of a measure
    │   └── BadOption                    an option
    ├── NotEnoughMemory (MemoryError)    exit 3: the memory that this process may use does not suffice
    ├── OutOfRange (ArithmeticError)     exit 3: a value outside the range on its measure's card
    └── MissingExtra (ImportError)       exit 5: a package that an extra installs

A message says what was given, where, what was expected and how to fix it.  Ids and texts come from outside,
so they pass through :func:`printable` before they reach a terminal.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from textwrap import indent
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


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
    "NotEnoughMemory",
    "OutOfRange",
    "RankstoneError",
    "TiedScores",
    "UnknownConvention",
    "UnknownFormat",
    "UnknownMean",
    "UnknownMeasure",
    "UsageError",
    "above_0",
    "at_shell",
    "between_0_and_1",
    "blaming",
    "did_you_mean",
    "in_python",
    "installed",
    "masked",
    "memory_limit",
    "nearest",
    "one_of",
    "printable",
]

_LONGEST = 160
#: a password in an address, up to the last @ (it may contain one); and a parameter named password
_CREDENTIALS = re.compile(r"(\w://[^\s/:@]*:)(?!\*\*\*@)\S*@")
_NAMED_SECRET = re.compile(
    r"((?:password|secret|passphrase)\s*=\s*)(?!\*\*\*)(?:'[^']*'|[^\s&;,'\"]+)",
    re.IGNORECASE,
)
#: bad runs whose errors are shown in full
_WHOLE = 3
#: how alike a word and a suggestion are at least, from 0 to 1
_NEAR = 0.6
#: words of fewer letters differ in one at most, or are the beginning
_SHORT = 6
#: words of up to two letters, and those that stand for a value, are like others only by chance
_TOO_SHORT = 2
_VALUES = re.compile("true|false|yes|off|none|null|nil|undefined")
#: what is typed at a shell, and behind it what that is in Python
_BOTH = re.compile(
    r"(?P<shell>(?<![\w-])(?:rankstone |--?[a-z]).*?) \(in Python (?P<python>(?:[^()]|\([^()]*\))*)\)"
)
#: the most characters that one escaped character takes
_ESCAPED = 10


def printable(text: object, longest: int = _LONGEST) -> str:
    r"""Return untrusted text as one safe line: control characters escaped, long text cut.

    >>> printable("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(
            c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown
        )
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def masked(text: str) -> str:
    """Return a text with the passwords of its addresses masked.

    >>> masked("postgresql://ann:secret@host/db?password=secret")
    'postgresql://ann:***@host/db?password=***'
    """
    return _NAMED_SECRET.sub(r"\1***", _CREDENTIALS.sub(r"\1***@", text))


def in_python(text: str) -> str:
    """Return advice for both a shell and Python as it is for Python.

    >>> in_python("give it: --exclude FILE (in Python exclude=…)")
    'give it: exclude=…'
    """
    python = r"\g<python>"
    return _BOTH.sub(python, text)


def at_shell(text: str) -> str:
    """Return advice for both a shell and Python as it is for a shell.

    >>> at_shell("give it: --exclude FILE (in Python exclude=…)")
    'give it: --exclude FILE'
    """
    shell = r"\g<shell>"
    return _BOTH.sub(shell, text)


def nearest(word: object, known: Iterable[str], n: int = 3) -> list[str]:
    """Return up to ``n`` of the ``known`` words that are most similar to ``word``, ignoring case.

    Numbers, words that stand for a value, and words of up to two letters are near only to themselves.

    >>> nearest("True", ["true", "tree"]), nearest("True", ["Turkey"]), nearest("ndgc", ["nDCG"])
    (['true'], [], ['nDCG'])
    """
    text = str(word).lower()
    folded = {name.lower(): name for name in known}
    if text in folded:
        return [folded[text]]
    if not _is_word(text):
        return []
    # of a short word one letter may be wrong
    alike = _NEAR
    if len(text) < _SHORT:
        alike = (len(text) - 1) / len(text)
    close = get_close_matches(text, folded, n=n, cutoff=alike)
    begun = [name for name in folded if name.startswith(text)]
    near = dict.fromkeys(close + begun)
    return [folded[name] for name in near][:n]


def _is_word(text: str) -> bool:
    """Return whether a text in lower case may be a misspelt name."""
    try:
        float(text)
    except ValueError:
        pass
    else:
        return False
    if _VALUES.fullmatch(text):
        return False
    size = sum(map(str.isalnum, text))
    has_letters = any(map(str.isalpha, text))
    return has_letters and size > _TOO_SHORT


def did_you_mean(
    word: object,
    known: Iterable[str],
    form: Callable[[str], object] = printable,
    n: int = 1,
) -> str | None:
    """Return ``did you mean X?`` with the nearest of the known words; ``None`` where none is near.

    Parameters
    ----------
    word
        What was given.
    known
        The words that are allowed.
    form
        How a suggested word is written: ``repr`` puts it into quotes.
    n
        How many words are suggested at most.
    """
    close = nearest(word, known, n=n)
    return (
        f"did you mean {' or '.join(str(form(near)) for near in close)}?"
        if close
        else None
    )


class RankstoneError(Exception):
    """The base class: catch this to catch every error that rankstone raises on purpose.

    Parameters
    ----------
    what
        What is wrong, in one sentence.
    where
        File and line, or table and row, or query.
    given, expected
        The invalid text, and what was expected instead.
    fix
        How to fix it: ``--at-a-shell X (in Python x=…)`` where both differ, of which each reader sees one.
    """

    exit_code: ClassVar[int] = 70
    #: the fix as it was written, for both readers
    advice: str | None

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

    @property
    def fix(self) -> str | None:
        """How to fix it, in Python."""
        if self.advice is None:
            return None
        return in_python(self.advice)

    @fix.setter
    def fix(self, fix: str | None) -> None:
        self.advice = fix

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        lines += [
            f"  {label + ':':<9} {text}"
            for label, text in (
                ("given", self.given),
                ("expected", self.expected and in_python(self.expected)),
                ("fix", self.fix),
            )
            if text
        ]
        # ids and texts were escaped before; paths and options may still contain control characters
        every = [line for text in lines for line in masked(text).split("\n")]
        return "\n".join(printable(line, len(line) * _ESCAPED) for line in every)


@contextmanager
def blaming(where: str | None) -> Iterator[None]:
    """Add a place to errors that are raised without one."""
    try:
        yield
    except RankstoneError as error:
        error.where = error.where or where
        raise


class InputError(RankstoneError, ValueError):
    """A file, frame or dict that is not valid.

    Attributes
    ----------
    proposals
        Options that may read it, which are tried before the fix names them.
    call, attempt, need
        How it was read, what worked when it was tried, and the fix where nothing works.
    """

    exit_code = 3
    proposals: Sequence[Any] = ()
    call: Any = None
    attempt: Any = None
    need: str | None = None

    def proposing(self, *proposals: Any) -> Self:  # noqa: ANN401 - of the readers
        """Return the error with options that may read it, unless they are none."""
        self.proposals = [proposal for proposal in proposals if proposal is not None]
        return self


class BadLine(InputError):
    """A line of text that cannot be parsed."""


class BadValue(InputError):
    """A score, rank or grade that is not a usable number."""


class MissingColumn(InputError):
    """A table without a required column.

    Attributes
    ----------
    missing
        The columns that it lacks.
    """

    missing: tuple[str, ...] = ()

    @property
    def renames(self) -> dict[str, str]:
        """{their name: our name} of the renames that work."""
        return {} if self.attempt is None else {**self.attempt.way["columns"]}

    @classmethod
    def of(
        cls,
        what: str,
        name: str,
        columns: Iterable[str],
        where: str | None,
        given: str | None = None,
    ) -> Self:
        """Return the error for a column that a table lacks, with the nearest one as a suggestion."""
        known = list(columns)
        if given is None:
            given = f"columns {', '.join(map(printable, known)) or 'none'}"
        return cls(what, where=where, given=given, fix=did_you_mean(name, known))


class DuplicateRows(InputError):
    """The same (query, document) more than once; ``rows`` are its row numbers."""

    rows: tuple[int, ...] = ()


class MixedIds(InputError):
    """Ids of two types, which can never match."""


class EmptyInput(InputError):
    """A file, frame or dict without content."""


class UnknownFormat(InputError):
    """A format that neither the suffix nor the content shows."""


class TiedScores(InputError):
    """Tied scores under ``ties="error"``."""


class NotComparable(InputError):
    """Judgments and run do not match."""


class BadRuns(InputError):
    """Several runs that cannot be scored; ``errors`` holds the error of each, by name.

    Parameters
    ----------
    errors
        Run name → its error.
    total
        How many runs there are.
    fix
        How to fix it.
    """

    def __init__(
        self, errors: Mapping[str, InputError], total: int, fix: str | None = None
    ) -> None:
        super().__init__(
            f"{len(errors)} of {total} {'run' if total == 1 else 'runs'} cannot be scored",
            fix=fix,
        )
        self.errors = dict(errors)

    def __str__(self) -> str:
        head, *tail = super().__str__().split("\n")
        whole = [
            f"{printable(name)}: {error}"
            for name, error in list(self.errors.items())[:_WHOLE]
        ]
        rest = ", ".join(map(printable, list(self.errors)[_WHOLE:]))
        return "\n".join(
            [
                head,
                *(indent(text, "  ") for text in whole),
                *([f"  and {rest}"] if rest else []),
                *tail,
            ]
        )


class UsageError(RankstoneError, ValueError):
    """Arguments that are not valid, or not together."""

    exit_code = 2


class UnknownMeasure(UsageError):
    """An unknown measure."""


class UnknownConvention(UsageError):
    """An unknown library, or an unknown version of it."""


class UnknownMean(UsageError, KeyError):
    """A run or a measure that scores do not have."""


class BadParameter(UsageError):
    """An invalid parameter of a measure."""


class BadOption(UsageError):
    """An invalid option."""


class OutOfRange(RankstoneError, ArithmeticError):
    """A measure's value outside the range on its card, so the number is meaningless.

    ``query`` is the index of the query among those measured together.
    """

    exit_code = 3
    query: int = 0

    @classmethod
    def of(
        cls,
        measure: str,
        query: int,
        value: float,
        low: float | None,
        high: float | None,
    ) -> Self:
        """Build the error for one query's value."""
        if not math.isfinite(value):
            error = cls(
                f"{measure} is {value:g}: the numbers it sums are too large",
                fix="are these grades? numbers of this size look like scores or ids in the wrong column",
            )
            error.query = query
            return error
        lowest = "-∞" if low is None else f"{low:g}"
        highest = "∞" if high is None else f"{high:g}"
        error = cls(
            f"{measure} is {value:g}, outside its range {lowest} … {highest}",
            expected="a value within the range of its card, "
            "which a measure of your own sets: span = (low, high), by default (0, 1)",
        )
        error.query = query
        return error


class NotEnoughMemory(RankstoneError, MemoryError):
    """The memory that this process may use does not suffice; ``where`` is the file that was read."""

    exit_code = 3

    def __init__(self, where: str | None = None) -> None:
        limit = memory_limit()
        limits = None
        if limit:
            limits = f"a limit of {limit >> 20:,} MiB (ulimit -v)"
        super().__init__(
            "there is not enough memory",
            where=where,
            given=limits,
            fix="compute in parts: rankstone eval --memory 1GB "
            "(in Python rankstone.evaluate(…, memory='1GB')); "
            "or ulimit -v unlimited, where that is allowed",
        )


class MissingExtra(RankstoneError, ImportError):
    """A package is not installed; one of rankstone's extras installs it."""

    exit_code = 5


def installed(module: str, package: str, fix: str) -> Any:  # noqa: ANN401 - a module
    """Import a module of an optional package; the error says how to install the package."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{package} is not installed", fix=fix) from error


def memory_limit() -> int | None:
    """Return how many bytes of address space this process may use, if that is limited."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def between_0_and_1(option: str, value: float) -> None:
    """Refuse a value of an option that is not between 0 and 1."""
    if not 0 < value < 1:
        raise BadOption(
            f"{option}={value!r} is out of range", expected=f"0 < {option} < 1"
        )


def above_0(option: str, value: float | None) -> None:
    """Refuse a value of an option that is not above 0, where one is given."""
    if value is not None and not value > 0:
        raise BadOption(
            f"{option}={value!r} is out of range", expected="a number above 0"
        )


def one_of(option: str, value: object, known: Iterable[str]) -> None:
    """Refuse an unknown value of an option; the message suggests the nearest."""
    names = list(known)
    if value not in names:
        raise BadOption(
            f"{option}={printable(value)!r} is not known",
            expected=", ".join(names),
            fix=did_you_mean(value, names),
        )
