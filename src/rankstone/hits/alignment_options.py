"""The options of alignment: every choice that decides which document stands at which rank.

Names and values are public API: code, command line, printed convention lines and documentation use
these and no others.  They are defined here: :class:`AlignmentOptions` holds them with their defaults and a
line of help, :class:`AlignmentKeywords` gives them to signatures (a test keeps the two alike), and click
options, docstrings and the validation of files are made from the fields.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from textwrap import wrap
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Self,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
)

from rankstone.errors import BadOption, did_you_mean

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import ArrayLike


# no "from __future__ import annotations": the values of options are read from the types of the fields


#: gives every row of a frame with ``query_id`` and ``doc_id`` a grade
Imputation = Callable[["pl.DataFrame"], "ArrayLike"]

Order = Literal["score", "rank", "input"]
ScoreDtype = Literal["float64", "float32"]
Sort = Literal["stable", "quicksort", "quicksort_twice"]
IdenticalIds = Literal["keep", "drop"]
Ties = Literal["docid_desc", "docid_asc", "input", "reverse_input", "expected", "best", "worst", "error"]
Missing = Literal["zero", "drop", "error"]
NoResults = Literal["missing", "zero", "undefined", "drop", "error"]
Extra = Literal["drop", "keep", "error"]
Empty = Literal["zero", "one", "undefined", "drop", "error"]
Duplicates = Literal["error", "first_keep_rank", "first_drop", "last_drop", "keep", "keep_judged"]
DuplicateJudgments = Literal["error", "max", "sum", "mean", "majority", "first", "last"]
Negative = Literal["unjudged", "zero", "keep", "error"]
Pool = Literal["judged", "list"]
ExcludeFrom = Literal["lists", "judgments", "both"]
Unjudged = Literal[
    "nonrelevant",
    "condensed",
    "condensed_keep_rank",
    "query_mean",
    "query_median",
    "doc_mean",
    "doc_median",
    "global_mean",
    "global_median",
]

#: whole numbers up to here are distinct, and sums of any number of them stay numbers
LARGEST_GRADE: Final = 2.0**53
#: no list, and no catalogue, is longer; a larger number is a slip
MOST_DOCUMENTS: Final = 10**12

IMPUTATIONS: Final = (
    "query_mean", "query_median", "doc_mean", "doc_median", "global_mean", "global_median",
)  # fmt: skip
#: what is said elsewhere of documents without a rating → our words
_ELSEWHERE: Final = {
    "zero": "0",
    "drop": "condensed",
    **{
        f"{theirs}_{middle}": f"{ours}_{middle}"
        for theirs, ours in (("user", "query"), ("item", "doc"))
        for middle in ("mean", "median")
    },
}

#: options that are recorded only where they are not at their default: few runs need them
_SELDOM: Final = ("exclude_from", "sort", "identical_ids")

Documented = TypeVar("Documented", bound=Callable[..., Any])


class OrderingKeywords(TypedDict, total=False):
    """The options that say how a run is ordered, as where rankings are compared without judgments."""

    order: Order
    score_dtype: ScoreDtype
    ties: Literal["docid_desc", "docid_asc", "input", "reverse_input", "error"]
    duplicates: Literal["error", "first_drop", "last_drop"]
    depth: int | None


class AlignmentKeywords(TypedDict, total=False):
    """The fields of :class:`AlignmentOptions` as keyword arguments, for ``Unpack``."""

    order: Order
    score_dtype: ScoreDtype
    sort: Sort
    ties: Ties
    missing: Missing
    no_results: NoResults
    extra: Extra
    empty: Empty
    duplicates: Duplicates
    duplicate_judgments: DuplicateJudgments
    negative: Negative
    unjudged: Unjudged | float | Imputation
    pool: Pool
    exclude_from: ExcludeFrom
    identical_ids: IdenticalIds
    score_above: float | None
    depth: int | None
    candidates: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentOptions:
    """How a run is laid against the judgments.

    Parameters
    ----------
    order
        What gives the order of a list: ``score`` (descending), a ``rank`` column (ascending), or
        the order of the ``input``.
    score_dtype
        ``float32`` compares scores as trec_eval up to version 9 and pytrec_eval do: near-equal
        scores then tie.
    sort
        How a list is put in order before ``ties`` looks at it: ``stable``, equal scores as they came; by a
        ``quicksort`` that leaves those of 16 rows and more in an order of its own, as in compiled NumPy code
        (Numba); by two of these, one after the other.  For the numbers of libraries that do so, beside
        ``ties="input"``.
    ties
        Who comes first among equal scores.  Ids compare by the UTF-8 bytes of their text, integers
        by their decimal text.  ``expected`` is the mean over all orders of the tied documents,
        ``best`` and ``worst`` the extremes.
    missing
        A judged query that the run does not answer: it scores ``zero`` (as ``trec_eval -c``), is
        left out (``drop``), or is an ``error``.
    no_results
        A judged query that a dict answers with an empty list: it is as good as ``missing``, scores what an
        empty list is worth (``zero``), has no value (``undefined``), is left out, or is an ``error``.
    extra
        A query of the run without judgments: ``drop``, ``keep`` (then ``empty`` applies), ``error``.
    empty
        A query without a relevant document: ``zero``, ``one``, ``undefined`` (no value, counted),
        ``drop`` (not counted), ``error``.
    duplicates
        The same document twice in a list: ``error``; ``first_keep_rank`` (later copies keep their
        rank and earn nothing); ``first_drop`` and ``last_drop`` (the first or the last copy stays,
        the rest move up); ``keep`` (each copy counts); ``keep_judged`` (each copy counts, and is judged
        once more: R and the ideal list follow, as where tables are joined row by row).
    duplicate_judgments
        The same pair judged twice: ``error``, or how to make one grade of several.
    negative
        A grade below zero: ``unjudged`` (as trec_eval), ``zero`` (judged, not relevant), ``keep``,
        ``error``.
    unjudged
        A retrieved document without a judgment: ``nonrelevant``; ``condensed`` (taken out of the
        list, ranks close up); ``condensed_keep_rank`` (taken out, ranks stay); a number (this
        grade, in the ideal list too); or an imputed grade: the mean or median of the query's grades, of the
        document's for other queries, or of all (``query_mean``, ``doc_median``, ``global_mean`` …), the last
        where there is no grade of the former; or a function that is handed a Polars frame, a row an unjudged
        pair (``query_id``, ``doc_id``), and returns a grade for each.  It is called for a batch of lists at a
        time, perhaps from two threads at once.
    pool
        What is known of a query beside its list: all ``judged`` documents, or only what stands in the
        ``list``, as for libraries that are handed scores and labels; R and the ideal list follow.
    exclude_from
        Where excluded pairs are taken out: of the ``lists``, and a relevant one is then missed, as it stays
        in R and the ideal list; of the ``judgments``, as if they had no judgment; or of ``both``, as for
        residual collections, where what a user has seen neither helps nor harms.
    identical_ids
        A retrieved document that has the id of its query, as where passages are searched for their like:
        it stays (``keep``) or is taken out of the list (``drop``); judgments keep it.
    score_above
        Retrieved documents with no higher score than this earn nothing where they stand, as in some
        libraries with scores of 0 and less; R and the ideal list know their grades.  ``None``: no such line.
    depth
        Cut every list to its first ``depth`` documents.
    candidates
        How many documents each query could have retrieved; ``None`` when unknown.

    Examples
    --------
    >>> AlignmentOptions(ties="expected").changed()
    {'ties': 'expected'}
    """

    order: Annotated[Order, "what gives the order of a list"] = "score"
    score_dtype: Annotated[ScoreDtype, "float32 ties near-equal scores, as trec_eval up to 9 does"] = (
        "float64"
    )
    sort: Annotated[Sort, "how lists are sorted before ties are looked at"] = "stable"
    ties: Annotated[Ties, "order of equal scores"] = "docid_desc"
    missing: Annotated[Missing, "a judged query the run does not answer"] = "zero"
    no_results: Annotated[NoResults, "a judged query answered by an empty list"] = "missing"
    extra: Annotated[Extra, "a query of the run without judgments"] = "drop"
    empty: Annotated[Empty, "a query without a relevant document"] = "zero"
    duplicates: Annotated[Duplicates, "a document twice in a list"] = "error"
    duplicate_judgments: Annotated[DuplicateJudgments, "a pair judged twice"] = "error"
    negative: Annotated[Negative, "a grade below zero"] = "unjudged"
    unjudged: Annotated[Unjudged | float | Imputation, "a retrieved document without a judgment"] = (
        "nonrelevant"
    )
    pool: Annotated[Pool, "what is known of a query: all judgments, or those of the list"] = "judged"
    exclude_from: Annotated[ExcludeFrom, "where excluded pairs are removed"] = "lists"
    identical_ids: Annotated[IdenticalIds, "a retrieved document that has the id of its query"] = "keep"
    score_above: Annotated[float | None, "documents with no higher score earn nothing"] = None
    depth: Annotated[int | None, "cut every list to its first N documents"] = None
    candidates: Annotated[int | None, "how many documents a query could have retrieved"] = None

    def __post_init__(self) -> None:
        """Refuse values that are not in the vocabulary."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if name == "unjudged" and callable(value):
                continue
            if name == "unjudged" and isinstance(value, (int, float)):
                _check_number(name, value)
                if abs(value) > LARGEST_GRADE:
                    raise BadOption(f"unjudged={value!r} is no grade", expected=f"up to {LARGEST_GRADE:,.0f}")
            elif value not in choices:
                raise _unknown_value(name, value, choices)
        for name in ("depth", "candidates"):
            _check_count(name, getattr(self, name))
        if self.score_above is not None:
            _check_number("score_above", self.score_above)
            if self.order != "score":
                raise BadOption(f"score_above={self.score_above} needs scores, and order={self.order}")
        if self.ties == "expected" and self.depth is not None:
            raise BadOption(
                f"depth={self.depth} cuts through tied documents that ties='expected' leaves unordered",
                fix="use a measure's cutoff (nDCG@10) instead of depth, or another rule for ties",
            )

    @property
    def imputes(self) -> bool:
        """Whether unjudged documents receive a grade of their own."""
        return not isinstance(self.unjudged, str) or self.unjudged in IMPUTATIONS

    def as_dict(self) -> dict[str, Any]:
        """Return every option and its value."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def recorded(self) -> dict[str, Any]:
        """Return every option and its value as results record them: a function by its name.

        Options that few runs need are there only where they are not at their default, and numbers where
        there are any.
        """
        recorded = {**self.as_dict(), "unjudged": said(self.unjudged)}
        usual = set(_SELDOM) - set(self.changed())
        return {name: value for name, value in recorded.items() if name not in usual and value is not None}

    def changed(self) -> dict[str, Any]:
        """Return the options that are not at their default."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Build from keyword arguments; an unknown name is an error that names the nearest."""
        known = list(AlignmentKeywords.__annotations__)
        for name in options:
            if name not in known:
                raise BadOption(
                    f"there is no alignment option {name!r}",
                    expected=", ".join(known),
                    fix=did_you_mean(name, known, repr),
                )
        return cls(**options)


def values_of(kind: object) -> tuple[str, ...]:
    """Return the words that a type of an option allows.

    >>> values_of(AlignmentKeywords.__annotations__["pool"])
    ('judged', 'list')
    """
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(value for one in get_args(kind) for value in values_of(one))


def _words(kinds: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    return {name: words for name, kind in kinds.items() if (words := values_of(kind))}


#: option → its words, of the options that have any; the first is the default
CHOICES: Final = _words(AlignmentKeywords.__annotations__)
#: those that are left where rankings are compared without judgments
ORDERINGS: Final = _words(OrderingKeywords.__annotations__)


class Described(NamedTuple):
    """An option for people: its name, its words and what else may be given, its default, a line of help."""

    name: str
    values: tuple[str, ...]
    default: object
    help: str


def described(kinds: Mapping[str, object] = AlignmentKeywords.__annotations__) -> list[Described]:
    """Return the options of a dictionary of keywords, described.

    >>> described()[-2]
    Described(name='depth', values=('N',), default=None, help='cut every list to its first N documents')
    """
    numbers = {"unjudged": ("GRADE",), "score_above": ("SCORE",), "depth": ("N",), "candidates": ("N",)}
    return [
        Described(one.name, values_of(kinds[one.name]) + numbers.get(one.name, ()), one.default, text)
        for one in fields(AlignmentOptions)
        if one.name in kinds
        for text in get_args(one.type)[1:]
    ]


def documents_options(verb: Documented) -> Documented:
    """Write the options of alignment into a docstring, in the place of ``{options}``.

    Each with its values and its default, so that ``help()`` shows what a signature of keywords leaves out.
    """
    lines = [f"{o.name}  {{{', '.join(o.values)}}}, default {o.default}: {o.help}" for o in described()]
    text = "\n".join(line for one in lines for line in wrap(one, 100, subsequent_indent="    "))
    verb.__doc__ = (verb.__doc__ or "").replace("{options}", text.replace("\n", "\n        "))
    return verb


def said(value: object) -> Any:  # noqa: ANN401 - what was given, but for functions
    """Return a value as it is recorded: a function by its name.

    >>> said("condensed"), said(len)
    ('condensed', 'len()')
    """
    return f"{getattr(value, '__name__', type(value).__name__)}()" if callable(value) else value


def _unknown_value(name: str, value: object, choices: tuple[str, ...]) -> BadOption:
    allowed = ", ".join(choices)
    fix = did_you_mean(value, choices, repr)
    if name == "unjudged":
        allowed += ", a number (a grade), or in Python a function"
        fix = (
            f"did you mean {_ELSEWHERE[value]!r}?" if isinstance(value, str) and value in _ELSEWHERE else fix
        )
    return BadOption(f"{name}={value!r} is not a value of this option", expected=allowed, fix=fix)


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadOption(f"{name}={value!r} is no number", expected="a finite number")


def _check_count(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadOption(f"{name}={value!r} is no count", expected="a whole number from 1 up")
    if value > MOST_DOCUMENTS:
        raise BadOption(f"{name}={value!r} is out of range", expected=f"up to {MOST_DOCUMENTS:,} documents")
