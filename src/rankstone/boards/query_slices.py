"""Slices of queries: values of attributes, ranges of numbers, lengths and question words of texts, pairs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, some
from rankstone.boards.slices_result import FEWEST
from rankstone.errors import BadOption, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankstone._basics import Bools, Ints

    #: an attribute, the name of a slice, its queries
    Single = tuple[str, str, Bools]

#: columns that hold the text of a query
TEXTS: Final = ("text", "query", "title", "question")
#: numbers with so many values or fewer are categories
_FEW: Final = 8
#: slices, and members of all of them together, that are tested at most
_MOST, _MEMBERS = 20_000, 2_000_000_000
#: the separator of several values in a cell
_SEVERAL: Final = "|"
_LETTER: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]"
#: a word, or a letter of a script that does not separate words
_WORDS: Final = (
    rf"{_LETTER}|[^\s\p{{Han}}\p{{Hiragana}}\p{{Katakana}}\p{{Hangul}}\p{{Thai}}]+"
)
_QUESTIONS: Final = (
    r"(?i)^\W*(who|whom|whose|what|when|where|which|why|how|is|are|was|were|can|could|do|does|did|should|will)\b"
    r"|(谁|什么|何时|哪|为什么|怎么|怎样|如何|多少|几|吗)"
)


#: columns of more values are not searched for small slices
_NAMED: Final = 100


class QuerySlices(Record):
    """Slices of the same queries, no two of them equal.

    Attributes
    ----------
    names
        What the queries of each slice have in common: ``language=de & words=1–3``.
    parents
        Of a pair the slices of its two attributes, otherwise -1; int64 ``[slices, 2]``.
    members
        Bool ``[queries, slices]``.
    same
        Names of slices with exactly the same queries, of each slice.
    left_out
        Columns that make no slices, and why.
    small
        Values of too few queries to be slices, with their numbers.
    """

    names: tuple[str, ...]
    parents: Ints
    members: Bools
    same: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]
    small: tuple[str, ...] = ()

    def select(self, chosen: Ints) -> QuerySlices:
        """Return some of the slices; parents that are not among them are -1."""
        place = np.full(len(self.names) + 1, -1)  # of no parent, too
        place[chosen] = np.arange(len(chosen))
        return replace(
            self,
            names=tuple(self.names[index] for index in chosen),
            parents=place[self.parents[chosen]],
            members=self.members[:, chosen],
            same=tuple(self.same[index] for index in chosen),
        )


def query_slices(
    attributes: pl.DataFrame,
    *,
    tags: Mapping[str, str] | None = None,
    bins: int = 4,
    least: int = 20,
) -> QuerySlices:
    """Return every slice that has enough queries, and leaves enough outside.

    Parameters
    ----------
    attributes
        A row for each query.  Numbers with more than eight values are split at their quantiles, texts by
        their length and question word; lists, and texts separated by ``|``, hold several values.  A query
        without a value is in the slice ``missing`` of the column.
    tags
        Name → a regular expression (of Rust): queries whose text matches it, whatever the case.
    bins
        Ranges of a number.
    least
        The fewest queries of a slice.

    Examples
    --------
    >>> table = pl.DataFrame({"language": ["de", "en"] * 20, "hits": range(40)})
    >>> query_slices(table, bins=2, least=10).names
    ('language=de', 'language=en', 'hits=0–19', 'hits=20–39', 'language=de & hits=0–19', ...)
    """
    singles: list[Single] = []
    smaller: list[Single] = []
    left_out: list[str] = []
    small: list[str] = []
    n = attributes.height
    texts = [name for name in attributes.columns if _is_text(attributes[name], name)]
    for name, pattern in (tags or {}).items():
        singles.append((name, name, _matching(attributes, texts, name, pattern)))
    for column in attributes:
        is_text = column.name in texts
        made = list(_of_column(column, bins, least, text=is_text))
        singles += made
        if made and column.n_unique() <= _NAMED:
            every = _of_column(column, bins, FEWEST, text=is_text)
            small += _smaller(every, least)
        if not made:
            smaller += _of_column(column, bins, FEWEST, text=is_text)
            left_out.append(
                f"{printable(column.name, 40)} ({counted(column.n_unique(), 'value')})"
            )
    singles = [single for single in singles if least <= single[2].sum() <= n - least]
    if not singles:
        sizes = [min(size, n - size) for *_, mask in smaller if (size := mask.sum())]
        largest = max(sizes, default=0)
        raise UsageError(
            f"no attribute makes a slice of {least:,} or more queries, with as many outside",
            given=f"{counted(n, 'query')}, {some(left_out) if left_out else some(attributes.columns)}",
            fix=f"min_size={largest} allows one" if largest >= FEWEST else None,
        )
    owners, names, masks = zip(*singles, strict=True)
    members = np.stack(masks, axis=1)
    made_slices = _with_pairs(owners, names, members, least, tuple(left_out))
    return replace(made_slices, small=tuple(small))


def _smaller(singles: Iterable[Single], least: int) -> Iterator[str]:
    """Yield the slices that have too few queries, with their numbers."""
    for _, name, mask in singles:
        size = int(mask.sum())
        if FEWEST <= size < least:
            yield f"{printable(name, 40)} ({size:,})"


def _with_pairs(
    owners: Sequence[str],
    names: Sequence[str],
    members: Bools,
    least: int,
    left_out: tuple[str, ...],
) -> QuerySlices:
    """Return the slices of single attributes and of two, without those that hold the same queries."""
    counts = members.astype(np.float32).T @ members.astype(np.float32)
    owner = np.unique(owners, return_inverse=True)[1]
    is_pair = (counts >= least) & (owner[:, None] != owner)
    first, second = np.nonzero(np.triu(is_pair, 1))
    total = len(names) + len(first)
    if total > _MOST or total * len(members) > _MEMBERS:
        raise BadOption(
            f"{total:,} slices of {len(members):,} queries are too many to test together",
            expected=f"{min(_MOST, _MEMBERS // len(members)):,} or fewer",
            fix="choose columns with attributes=…, or larger slices with min_size=…",
        )
    every = np.concatenate([members, members[:, first] & members[:, second]], axis=1)
    texts = [
        *names,
        *(
            f"{names[a]} & {names[b]}"
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
        ),
    ]
    keys: dict[bytes, int] = {}
    places = list[int]()
    kept = list[int]()
    same = list[list[str]]()
    for index, key in enumerate(np.ascontiguousarray(np.packbits(every, axis=0).T)):
        place = keys.setdefault(key.tobytes(), len(kept))
        if place == len(kept):
            kept.append(index)
            same.append([])
        else:
            same[place].append(texts[index])
        places.append(place)
    none = np.full((len(names), 2), -1)
    of_pairs = np.array(places)[np.stack([first, second], axis=1)]
    parents = np.concatenate([none, of_pairs])[kept]
    equal = tuple(map(tuple, same))
    return QuerySlices(
        tuple(texts[index] for index in kept), parents, every[:, kept], equal, left_out
    )


def _is_text(column: pl.Series, name: str) -> bool:
    """Return True for a column of texts of several words, nearly all of them different."""
    if column.dtype != pl.String or not (known := column.drop_nulls()).len():
        return False
    words = known.str.count_matches(_WORDS).mean()
    several = known.str.contains(_SEVERAL, literal=True).any()
    distinct = known.n_unique() > max(_FEW, known.len() / 2)
    return name in TEXTS or (
        distinct and not several and isinstance(words, float) and words > 2  # noqa: PLR2004
    )


def _matching(
    attributes: pl.DataFrame, texts: Sequence[str], name: str, pattern: str
) -> Bools:
    """Return the queries with a text that matches a tag's pattern, whatever the case."""
    if not texts:
        raise UsageError(
            "tags need a text of queries",
            given=some(attributes.columns),
            expected="a column text, query or title",
        )
    matches = np.zeros(attributes.height, bool)
    try:
        for column in texts:
            matches |= (
                attributes[column]
                .str.contains(f"(?i){pattern}")
                .fill_null(value=False)
                .to_numpy()
            )
    except pl.exceptions.ComputeError as error:
        raise BadOption(
            f"the tag {printable(name, 40)} is no regular expression",
            given=printable(pattern, 60),
        ) from error
    return matches


def _of_column(
    column: pl.Series, bins: int, least: int, *, text: bool
) -> Iterator[Single]:
    """Yield the slices of a column, whatever their size."""
    name = column.name
    if text:
        words = column.str.count_matches(_WORDS)
        yield from _of_numbers(
            f"words of {name}" if name not in TEXTS else "words", words, bins
        )
        question = column.str.extract(_QUESTIONS, 1).fill_null(
            column.str.extract(_QUESTIONS, 2)
        )
        question = pl.select(
            pl.when(column.is_null())
            .then(None)
            .otherwise(question.str.to_lowercase().fill_null("none"))
        ).to_series()
        yield from _of_values("question word", question, least)
        return
    if column.dtype == pl.String:
        column = column.str.strip_chars().replace("", None)
        numbers = column.cast(pl.Float64, strict=False)
        if (
            column.null_count() < len(column)
            and numbers.null_count() == column.null_count()
        ):
            column = numbers
        elif column.str.contains(_SEVERAL, literal=True).any():
            column = column.str.split(_SEVERAL)
    if column.dtype.is_numeric() and column.n_unique() > _FEW:
        yield from _of_numbers(name, column, bins)
    elif isinstance(column.dtype, (pl.List, pl.Array)):
        cells = column.to_frame("value").with_row_index("row").explode("value")
        for value, rows in cells.drop_nulls().group_by("value", maintain_order=True):
            if rows.height >= least:
                yield (
                    name,
                    f"{name}={str(value[0]).strip()}",
                    _places(rows["row"], len(column)),
                )
        yield from _missing(name, column.is_null() | (column.list.len() == 0))
    elif not isinstance(column.dtype, pl.Struct):
        yield from _of_values(name, column, least)


def _of_values(name: str, column: pl.Series, least: int) -> Iterator[Single]:
    shown = column.to_frame("value").with_row_index("row")
    for value, rows in shown.drop_nulls().group_by("value", maintain_order=True):
        if rows.height >= least:
            text = f"{value[0]:g}" if isinstance(value[0], float) else str(value[0])
            yield name, f"{name}={text}", _places(rows["row"], len(column))
    yield from _missing(name, column.is_null())


def _of_numbers(name: str, column: pl.Series, bins: int) -> Iterator[Single]:
    """Yield ranges of about equally many values."""
    values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = values[~np.isnan(values)]
    shares = np.linspace(0, 1, bins + 1)[1:-1]
    inner = (
        np.unique(np.quantile(known, shares, method="inverted_cdf"))
        if len(known)
        else known
    )
    for low, high in pairwise([-np.inf, *inner.tolist(), np.inf]):
        inside = (values > low) & (values <= high)
        if inside.any():
            ends = f"{values[inside].min():.4g}", f"{values[inside].max():.4g}"
            yield (
                name,
                f"{name}={ends[0] if ends[0] == ends[1] else '–'.join(ends)}",
                inside,
            )
    yield from _missing(name, pl.Series(np.isnan(values)))


def _missing(name: str, absent: pl.Series) -> Iterator[Single]:
    if absent.any():
        yield name, f"{name} missing", absent.fill_null(value=True).to_numpy()


def _places(rows: pl.Series, n: int) -> Bools:
    members = np.zeros(n, bool)
    members[rows.to_numpy()] = True
    return members
