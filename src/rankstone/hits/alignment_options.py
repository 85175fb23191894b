"""Alignment options: every choice that decides which document is at which rank.

Names and values are public API, the same in code, on the command line, in results and in the documentation.
:class:`AlignmentOptions` defines them with defaults and a line of help, :class:`AlignmentKeywords` gives them
to signatures (a test keeps both in step), and click options, docstrings and validation are made from the
fields.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, cleandoc, signature
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
from rankstone.hits.tie_rules import TIES, Ordered, TieRule, Ties

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import ArrayLike


# no "from __future__ import annotations": the values of options are read from the types of the fields


#: returns a grade for every row of a frame with ``query_id`` and ``doc_id``
Imputation = Callable[["pl.DataFrame"], "ArrayLike"]

Order = Literal["score", "rank", "input"]
ScoreDtype = Literal["float64", "float32"]
Sort = Literal["stable", "quicksort", "quicksort_twice"]
IdenticalIds = Literal["keep", "drop"]
Missing = Literal["zero", "drop", "error"]
NoResults = Literal["missing", "zero", "undefined", "drop", "error"]
Extra = Literal["drop", "keep", "error"]
Empty = Literal["zero", "one", "undefined", "drop", "unanswerable", "error"]
Duplicates = Literal[
    "error", "first_keep_rank", "first_drop", "last_drop", "keep", "keep_judged"
]
DuplicateJudgments = Literal["error", "max", "sum", "mean", "majority", "first", "last"]
Negative = Literal["unjudged", "zero", "keep", "error"]
Pool = Literal["judged", "list"]
UnitScore = Literal["max", "first", "sum", "mean", "top2"]
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

#: whole numbers up to here are distinct, and sums of many of them stay finite
LARGEST_GRADE: Final = 2.0**53
#: no list or catalogue is longer; a larger number is a typo
MOST_DOCUMENTS: Final = 10**12

IMPUTATIONS: Final = (
    "query_mean",
    "query_median",
    "doc_mean",
    "doc_median",
    "global_mean",
    "global_median",
)
#: names in other tools for documents without a rating → our values
_OTHER_NAMES: Final = {
    "zero": "0",
    "drop": "condensed",
    **{
        f"{theirs}_{middle}": f"{ours}_{middle}"
        for theirs, ours in (("user", "query"), ("item", "doc"))
        for middle in ("mean", "median")
    },
}

#: options that had another name → the fix
_RENAMED: Final = {
    "collapse": "collapse is called unit: unit='document', or the same regular expression"
}
#: rarely needed options, which are recorded only if they are not at their default
_RARE: Final = ("exclude_from", "sort_algorithm", "identical_ids", "unit_score")

Documented = TypeVar("Documented", bound=Callable[..., Any])


class OrderingKeywords(TypedDict, total=False):
    """The options about the order of a run, for comparisons of rankings without judgments."""

    order: Order
    score_dtype: ScoreDtype
    ties: Literal[Ordered, "error"]
    duplicates: Literal["error", "first_drop", "last_drop"]
    depth: int | None


class AlignmentKeywords(TypedDict, total=False):
    """The fields of :class:`AlignmentOptions` as keyword arguments, for ``Unpack``."""

    order: Order
    score_dtype: ScoreDtype
    sort_algorithm: Sort
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
    unit_score: UnitScore
    score_above: float | None
    depth: int | None
    candidates: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentOptions:
    """How a run is aligned with the judgments.

    Parameters
    ----------
    order
        The order of a list: by ``score`` (descending), by a ``rank`` column (ascending), or as in the
        ``input``.
    score_dtype
        ``float32`` compares scores as trec_eval up to version 9 and pytrec_eval do: nearly equal scores then
        tie.
    sort_algorithm
        How a list is sorted before ``ties`` applies: ``stable``, equal scores in input order; a ``quicksort``
        that reorders equal scores in lists of 16 rows and more, as in compiled NumPy code (Numba); or two of
        these, one after the other.  For the numbers of libraries that do so, together with ``ties="input"``.
    ties
        The order of equal scores.  Ids compare by the UTF-8 bytes of their text, integers
        by their decimal text.  ``expected`` is the mean over all orders of the tied documents,
        ``best`` and ``worst`` the extremes.
    missing
        A judged query that the run does not answer: it scores ``zero`` (as ``trec_eval -c``), is
        left out (``drop``), or is an ``error``.
    no_results
        A judged query that a dict answers with an empty list: it is treated as ``missing``, scored as an
        empty list (``zero``), has no value (``undefined``), is left out (``drop``), or is an ``error``.
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
        Of two lists of a query, each a row of its own, ``first_drop`` and ``last_drop`` keep one;
        all others refuse the second.
    duplicate_judgments
        The same pair judged twice: ``error``, or how to make one grade of several.
    negative
        A grade below zero: ``unjudged`` (as trec_eval), ``zero`` (judged, not relevant), ``keep``,
        ``error``.
    unjudged
        A retrieved document without a judgment: ``nonrelevant``; ``condensed`` (removed from the list, ranks
        close up); ``condensed_keep_rank`` (removed, ranks stay); a number (this grade, in the ideal list
        too); or an imputed grade: the mean or median of the query's grades, of the document's for other
        queries, or of all (``query_mean``, ``doc_median``, ``global_mean`` …), the last also where the others
        have no grade; or a function that takes a Polars frame with one row for each unjudged pair
        (``query_id``, ``doc_id``) and returns a grade for each.  It is called for one batch of lists at a
        time, perhaps from two threads.
    pool
        The documents that are known for a query: all ``judged`` ones, or only those in the ``list``, as in
        libraries that take scores and labels; R and the ideal list follow.
    exclude_from
        Where excluded pairs are removed: from the ``lists``, where a relevant one still counts in R and the
        ideal list; from the ``judgments``, as if they had no judgment; or from ``both``, as in residual
        collections, where documents already known to a user neither help nor harm.
    identical_ids
        A retrieved document with the id of its query, as in searches for similar passages: it stays
        (``keep``) or is removed from the list (``drop``); judgments keep it.
    unit_score
        With ``unit``, the score of a document of which chunks were retrieved: that of its best chunk
        (``max``), of the ``first`` one in the run, the ``sum`` or ``mean`` of all, or the sum of the best two
        (``top2``).
    score_above
        Retrieved documents with a score up to this one gain nothing at their rank, as in some libraries for
        scores of 0 and less; R and the ideal list keep their grades.  ``None``: no such limit.
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
    score_dtype: Annotated[
        ScoreDtype, "float32 ties near-equal scores, as trec_eval up to 9 does"
    ] = "float64"
    sort_algorithm: Annotated[
        Sort, "how lists are sorted before ties are looked at"
    ] = "stable"
    ties: Annotated[Ties, "order of equal scores"] = "docid_desc"
    missing: Annotated[Missing, "a judged query the run does not answer"] = "zero"
    no_results: Annotated[NoResults, "a judged query answered by an empty list"] = (
        "missing"
    )
    extra: Annotated[Extra, "a query of the run without judgments"] = "drop"
    empty: Annotated[Empty, "a query without a relevant document"] = "zero"
    duplicates: Annotated[Duplicates, "a document twice in a list"] = "error"
    duplicate_judgments: Annotated[DuplicateJudgments, "a pair judged twice"] = "error"
    negative: Annotated[Negative, "a grade below zero"] = "unjudged"
    unjudged: Annotated[
        Unjudged | float | Imputation, "a retrieved document without a judgment"
    ] = "nonrelevant"
    pool: Annotated[
        Pool, "what is known of a query: all judgments, or those of the list"
    ] = "judged"
    exclude_from: Annotated[ExcludeFrom, "where excluded pairs are removed"] = "lists"
    identical_ids: Annotated[
        IdenticalIds, "a retrieved document that has the id of its query"
    ] = "keep"
    unit_score: Annotated[
        UnitScore, "the score of a document whose chunks were retrieved"
    ] = "max"
    score_above: Annotated[
        float | None, "documents with no higher score earn nothing"
    ] = None
    depth: Annotated[int | None, "cut every list to its first N documents"] = None
    candidates: Annotated[
        int | None, "how many documents a query could have retrieved"
    ] = None

    def __post_init__(self) -> None:
        """Refuse unknown and invalid values."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if name == "unjudged" and callable(value):
                continue
            if name == "unjudged" and isinstance(value, (int, float)):
                _check_number(name, value)
                if abs(value) > LARGEST_GRADE:
                    raise BadOption(
                        f"unjudged={value!r} is not a grade",
                        expected=f"up to {LARGEST_GRADE:,.0f}",
                    )
            elif value not in choices:
                raise _unknown_value(name, value, choices)
        for name in ("depth", "candidates"):
            _check_count(name, getattr(self, name))
        if self.score_above is not None:
            _check_number("score_above", self.score_above)
        if self.order != "score":
            self._refuse_without_scores()
        if self.tie_rule.closed_form and self.depth is not None:
            raise BadOption(
                f"depth={self.depth} cuts through tied documents that ties={self.ties!r} leaves unordered",
                fix="use a measure's cutoff (nDCG@10) instead of depth, or another value of ties",
            )

    def _refuse_without_scores(self) -> None:
        needs = {"score_above": self.score_above is not None}
        needs["unit_score"] = self.unit_score in ("sum", "mean", "top2")
        for name in (name for name, needed in needs.items() if needed):
            raise BadOption(
                f"{name}={getattr(self, name)} needs scores, but order={self.order}"
            )

    @property
    def tie_rule(self) -> TieRule:
        """The rule for tied documents that ``ties`` names."""
        return TIES[self.ties]

    @property
    def fix_of_range(self) -> str | None:
        """What brings values back into their measure's range; ``None`` if no option takes them out of it."""
        if self.duplicates == "keep":
            return "count each document once: duplicates=first_keep_rank"
        if self.negative == "keep":
            return "leave out gains below zero: negative=unjudged"
        return None

    @property
    def imputes(self) -> bool:
        """True if unjudged documents get a grade."""
        return not isinstance(self.unjudged, str) or self.unjudged in IMPUTATIONS

    def as_dict(self) -> dict[str, Any]:
        """Return every option and its value."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def recorded(self) -> dict[str, Any]:
        """Return the options as results record them: a function by its name.

        Rarely needed options are recorded only if they are not at their default.
        """
        recorded = {**self.as_dict(), "unjudged": recorded_value(self.unjudged)}
        omitted = set(_RARE) - set(self.changed())
        return {
            name: value
            for name, value in recorded.items()
            if name not in omitted and value is not None
        }

    def changed(self) -> dict[str, Any]:
        """Return the options that are not at their default."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Build options from keyword arguments; the error for an unknown name suggests the nearest."""
        known = list(AlignmentKeywords.__annotations__)
        for name in options:
            if name not in known:
                raise BadOption(
                    f"there is no alignment option {name!r}",
                    expected=", ".join(known),
                    fix=_RENAMED.get(name) or did_you_mean(name, known, repr),
                )
        return cls(**options)


def values_of(kind: object) -> tuple[str, ...]:
    """Return the words that the type of an option allows.

    >>> values_of(AlignmentKeywords.__annotations__["pool"])
    ('judged', 'list')
    """
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(value for inner in get_args(kind) for value in values_of(inner))


def _words(kinds: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    return {name: words for name, kind in kinds.items() if (words := values_of(kind))}


#: option → its allowed words; the first is the default
CHOICES: Final = _words(AlignmentKeywords.__annotations__)
#: the same for comparisons of rankings without judgments
ORDERINGS: Final = _words(OrderingKeywords.__annotations__)


class Described(NamedTuple):
    """An option for help texts: its name, its values, its default and a line of help."""

    name: str
    values: tuple[str, ...]
    default: object
    help: str


def described(
    kinds: Mapping[str, object] = AlignmentKeywords.__annotations__,
) -> list[Described]:
    """Return the options of a dictionary of keywords, described.

    >>> described()[-2]
    Described(name='depth', values=('N',), default=None, help='cut every list to its first N documents')
    """
    numbers = {
        "unjudged": ("GRADE",),
        "score_above": ("SCORE",),
        "depth": ("N",),
        "candidates": ("N",),
    }
    return [
        Described(
            option.name,
            values_of(kinds[option.name]) + numbers.get(option.name, ()),
            option.default,
            text,
        )
        for option in fields(AlignmentOptions)
        if option.name in kinds
        for text in get_args(option.type)[1:]
    ]


def takes(keywords: type) -> Callable[[Documented], Documented]:
    """Write the names of ``**options`` into the signature of a verb, where notebooks and ``help()`` find them.

    Defaults are those of the verb, so none is shown.

    >>> @takes(OrderingKeywords)
    ... def sort(run, **options): ...
    >>> list(signature(sort).parameters)
    ['run', 'order', 'score_dtype', 'ties', 'duplicates', 'depth']
    """

    def signed(verb: Documented) -> Documented:
        shown = signature(verb)
        *own, _ = shown.parameters.values()
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=..., annotation=kind)
            for name, kind in keywords.__annotations__.items()
        ]
        setattr(verb, "__signature__", shown.replace(parameters=[*own, *more]))  # noqa: B010 - functions have it
        return verb

    return signed


def documents_options(verb: Documented) -> Documented:
    """Insert the alignment options into a docstring in place of ``{options}``.

    ``help()`` then shows their values and defaults, which a signature of keywords does not.
    """
    lines = list[str]()
    for option in described():
        values = ", ".join(option.values)
        entry = f"{option.name}  {{{values}}}, default {option.default}: {option.help}"
        lines += wrap(entry, 100, subsequent_indent="    ")

    text = "\n    ".join(lines)
    verb.__doc__ = cleandoc(verb.__doc__ or "").replace("{options}", text)
    return verb


def recorded_value(value: object) -> Any:  # noqa: ANN401 - what was given, but for functions
    """Return a value as results record it: a function by its name.

    >>> recorded_value("condensed"), recorded_value(len)
    ('condensed', 'len()')
    """
    return (
        f"{getattr(value, '__name__', type(value).__name__)}()"
        if callable(value)
        else value
    )


def _unknown_value(name: str, value: object, choices: tuple[str, ...]) -> BadOption:
    allowed = ", ".join(choices)
    fix = did_you_mean(value, choices, repr)
    if name == "unjudged":
        allowed += ", a number (a grade), or in Python a function"
        fix = (
            f"did you mean {_OTHER_NAMES[value]!r}?"
            if isinstance(value, str) and value in _OTHER_NAMES
            else fix
        )
    return BadOption(
        f"{name}={value!r} is not a value of this option", expected=allowed, fix=fix
    )


def _check_number(name: str, value: object) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not math.isfinite(value)
    ):
        raise BadOption(f"{name}={value!r} is not a number", expected="a finite number")


def _check_count(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadOption(
            f"{name}={value!r} is not a count", expected="a whole number from 1 up"
        )
    if value > MOST_DOCUMENTS:
        raise BadOption(
            f"{name}={value!r} is out of range",
            expected=f"up to {MOST_DOCUMENTS:,} documents",
        )
