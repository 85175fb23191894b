"""Which column of a table is meant where one of ours is missing: suggestions that can be pasted.

A table is never renamed on a guess; a guess only makes the suggestion.  A column is proposed by the names
that people use, and only if it can be what it is proposed for: texts are no grades, ids no scores, and no
column is two things.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from rankstone._text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet


#: what the cells of a column are; lists have an s: ``texts``
Kind = Literal["whole", "number", "text", "wholes", "numbers", "texts"]

_OF_LISTS: Final[dict[Kind | None, Kind]] = {"whole": "wholes", "number": "numbers", "text": "texts"}

#: names that people use, folded
_SYNONYMS: Final = {
    "query_id": (
        "qid", "query", "queryid", "queryids", "question", "questionid", "topic", "topicid", "searchterm",
        "searchquery", "userinput", "user", "userid", "uid", "customerid", "sessionid",
    ),
    "doc_id": (
        "docid", "docno", "doc", "document", "documentid", "corpusid", "pid", "passageid", "passage", "item",
        "itemid", "iid", "items", "docs", "documents", "productid", "product", "asin", "movieid", "articleid",
        "itemids", "docids", "recommendations",
    ),
    "relevance": (
        "rel", "label", "grade", "rating", "relevancelabel", "relevancegrade", "qrel", "target", "click",
        "judgment", "judgement", "gain", "stars",
    ),
    "score": (
        "sim", "prediction", "pred", "similarity", "scores", "rsv", "probability", "prob", "confidence",
        "relevancescore", "predictedrating", "predicted", "bm25", "rating",
    ),
    "rank": ("position", "pos", "rankposition"),
    "subtopic": ("subtopicid", "intent", "aspect", "nugget", "iteration", "group", "judgmentgroup"),
    "subgroup": ("judgmentsubgroup", "jsg"),
    "propensity": ("p", "prop", "propensityscore", "pscore"),
    "weight": ("w", "frequency", "count"),
    "session": ("sessionid", "sid"),
    "position": ("place", "turn", "rank", "pos", "slot"),
    "clicked": ("click", "clicks", "isclick", "isclicked", "satisfaction", "label"),
    "reward": ("click", "clicked", "satisfaction", "satisfied", "conversion"),
    "impression_id": ("impression", "serpid", "requestid", "searchid", "pageid"),
    "variant": ("arm", "bucket", "treatment", "experimentgroup", "group"),
    "user_id": ("user", "uid", "userid", "visitorid", "customerid", "accountid", "memberid", "id"),
    "time": (
        "timestamp", "ts", "eventtime", "eventtimestamp", "datetime", "date", "day", "createdat",
        "occurredat", "registeredat", "signuptime", "signupdate",
    ),
}  # fmt: skip
#: lists of documents that one row may hold beside each other: what was found, and what should have been
_LISTS: Final = {
    "run": ("retrieved", "retrievedids", "retrieveddocs", "retrievedcontextids", "results", "recommended"),
    "qrels": (
        "relevant", "relevantids", "relevantdocs", "expected", "expectedids", "referencecontextids",
        "groundtruth", "gold",
    ),
}  # fmt: skip
_IDS: Final = ("query_id", "doc_id")
_NUMBERS: Final = ("relevance", "score", "rank")
#: ours, of which one may be guessed by what a column holds
_BY_CONTENT: Final = (*_IDS, "relevance", "score")
#: columns that are never anything else
_CORE: Final = frozenset({*_IDS, *_NUMBERS})
#: a table and the one column it lacks → the number that the other table has
_OTHER: Final[dict[tuple[str, ...], str]] = {("qrels", "relevance"): "score", ("run", "score"): "relevance"}
_SWAPPED: Final = "are judgments and run in the right order? QRELS comes first"
_ALL_RELEVANT: Final = "where all that is listed is relevant, add a column relevance with 1 in every row"
_IN_ORDER: Final = "order=input takes rows in the order they stand in"
#: words of a line of TREC text: of judgments, of runs with and without a tag
_TREC: Final = (4, 5, 6)
#: how alike a misspelt name must be
_ALIKE: Final = 0.8


def _folded(name: str) -> str:
    """Return a name without case, blanks and hyphens."""
    return re.sub(r"[\W_]+", "", name).lower()


def looks_like_columns(names: Iterable[str]) -> bool:
    """Say whether names are what people call the columns of queries, of documents and of a number.

    >>> looks_like_columns(["qid", "docno", "score"]), looks_like_columns(["q1", "q2"])
    (True, False)
    """
    folded = {_folded(name) for name in names}
    met = {ours for ours, theirs in _SYNONYMS.items() if not folded.isdisjoint((_folded(ours), *theirs))}
    return {"query_id", "doc_id"} <= met and not met.isdisjoint(_NUMBERS)


def kind_of_type(dtype: pl.DataType) -> Kind | None:
    """Return what a column of a type holds; ``None`` for what we have no use for.

    >>> kind_of_type(pl.Int64()), kind_of_type(pl.List(pl.String()))
    ('whole', 'texts')
    """
    if isinstance(dtype, (pl.List, pl.Array)):
        return _OF_LISTS.get(kind_of_type(dtype.inner))  # type: ignore[arg-type]
    if dtype.is_integer():
        return "whole"
    if dtype.is_numeric() or isinstance(dtype, pl.Boolean):
        return "number"
    return "text" if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)) else None


def kinds_of_texts(frame: pl.LazyFrame, rows: int = 1000) -> dict[str, Kind | None]:
    """Return what columns of texts hold, as far as the first rows say."""
    try:
        head = frame.head(rows).collect()
    except pl.exceptions.PolarsError:  # a torn row is told of where the table is read
        return {}
    return {column.name: _kind_of_texts(column.drop_nulls()) for column in head.iter_columns()}


def _kind_of_texts(cells: pl.Series) -> Kind | None:
    if not len(cells):
        return None
    if not cells.cast(pl.Int64, strict=False).null_count():
        return "whole"
    return "text" if cells.cast(pl.Float64, strict=False).null_count() else "number"


def escaped(name: str) -> str:
    """Return a name as --columns reads it: a comma belongs to it, behind a backslash."""
    return name.replace(",", "\\,")


@dataclass(frozen=True)
class Missing:
    """Columns of ours that a table lacks, and those it has.

    Attributes
    ----------
    ours
        What is missing.
    names
        The columns there are, under the names they go by now.
    reserved
        Names that mean something here: such a column is what it says.
    kinds
        What columns hold, as far as that is known.
    given
        {their name: our name}, as somebody said.
    """

    ours: Sequence[str]
    names: Sequence[str]
    reserved: AbstractSet[str]
    kinds: Mapping[str, Kind | None] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)

    def fix(self) -> str | None:
        """Return what to do, to be pasted; ``None`` where no column is left to be named."""
        if len(self.names) == 1 and len(self.names[0].split()) in _TREC:
            return "the first line looks like TREC text: --format-in trec, or a name that ends in .txt"
        other = _OTHER.get((self._table, *self.ours))
        found = self.guesses()
        if other in self.names and not found:
            return self._other_way_round(str(other))
        named = self._both_lists(found) or {self._theirs(name): ours for name, ours in found.items()}
        lists = any(str(self._kind(name)).endswith("s") for name, ours in found.items() if ours == "doc_id")
        unknown = [
            ours
            for ours in self.ours
            if ours not in found.values() and not (lists and ours in ("relevance", "score"))
        ]
        if unknown == ["score"]:
            return f"{_named(named)}; there is no score: {_IN_ORDER}" if named else _IN_ORDER
        if not unknown:
            return f"{_named(named)}; or {_IN_ORDER}" if [*self.ours] == ["score"] else _named(named)
        if all(name in found for name in self._strangers()):
            return _ALL_RELEVANT if unknown == ["relevance"] and self._table == "qrels" else None
        theirs = {**named, "THEIRS": unknown[0]}
        return f"{_named(theirs)}, with the name of the column for THEIRS"

    def guesses(self) -> dict[str, str]:
        """Return {name it goes by: our name} of the columns that are probably meant."""
        found: dict[str, str] = {}
        for ours in self.ours:
            name = next((name for name in self._by_name(ours) if name not in found), None)
            if name is not None:
                found[name] = ours
        return found | dict(self._by_content(found))

    @property
    def _table(self) -> str:
        return getattr(self.given, "table", "")

    def _own(self, name: str) -> str:
        """Return what the source calls a column, whatever it goes by now."""
        present = getattr(self.given, "present", ())
        named = [theirs for theirs, ours in self.given.items() if ours == name and theirs in present]
        return named[0] if named else name

    def _theirs(self, name: str) -> str:
        """Return a column's own name, with its table where the name is something else in another one."""
        own = self._own(name)
        elsewhere = own != name or own in _CORE
        return f"{self._table}.{own}" if self._table and elsewhere else own

    def _kind(self, name: str) -> Kind | None:
        return self.kinds.get(name, self.kinds.get(self._own(name)))

    def _strangers(self) -> list[str]:
        """Return the columns that mean nothing here yet."""
        return [name for name in self.names if name not in self.reserved and name and name.isprintable()]

    def _fits(self, ours: str, name: str) -> bool:
        """Say whether a column may be one of ours by what it holds."""
        kind = str(self._kind(name) or "").removesuffix("s")
        if ours in _NUMBERS:
            return kind != "text"
        return kind != "number" or ours not in _IDS

    def _by_name(self, ours: str) -> list[str]:
        """Return the columns that are called as people call one of ours, the likeliest first."""
        fits = [name for name in self.names if name.isprintable() and self._fits(ours, name)]
        fits = [name for name in fits if name not in _CORE]
        words = (_folded(ours), *_SYNONYMS.get(ours, ()))
        if ours == "doc_id":
            words += _LISTS.get(self._table, (*_LISTS["run"], *_LISTS["qrels"]))
        known = [name for word in words for name in fits if _folded(name) == word]
        strange = [name for name in fits if name not in self.reserved]
        folded = {_folded(name): name for name in strange if ours not in _NUMBERS or not _is_id(name)}
        close = get_close_matches(_folded(ours), folded, n=1, cutoff=_ALIKE)
        return [*known, *(folded[word] for word in close)]

    def _by_content(self, found: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return columns that are left over and can be nothing else than what is left to be named."""
        ours = [one for one in self.ours if one not in found.values()]
        left = [name for name in self._strangers() if name not in found]
        if not ours or not {*ours} <= {*_BY_CONTENT} or not all(map(self._kind, left)):
            return []
        if len(ours) == len(left) and not {"relevance", "score"} <= {*ours}:
            # a query, a document and a number stand in this order everywhere
            pairs = list(zip(left, ours, strict=True))
            return pairs if all(self._may_be(one, name) for name, one in pairs) else []
        texts = [name for name in left if self._kind(name) == "text"]
        ids = [one for one in ours if one in _IDS]
        pairs = list(zip(texts, ids, strict=True)) if len(texts) == len(ids) else []
        others = [one for one in ours if one not in _IDS]
        numbers = [name for name in left if others and self._may_be(others[0], name)]
        return [*pairs, *([(numbers[0], others[0])] if len(numbers) == len(others) == 1 else [])]

    def _may_be(self, ours: str, name: str) -> bool:
        """Say whether a column may be one of ours, and is not called an id where a number is wanted."""
        return self._fits(ours, name) and not (ours in _NUMBERS and _is_id(name))

    def _other_way_round(self, other: str) -> str:
        """Return what to do about judgments that have scores, or a run that has grades."""
        named = _named({self._theirs(other): self.ours[0]})
        return named if self._own(other) != other else f"{_SWAPPED}; if it is, {named}"

    def _both_lists(self, found: Mapping[str, str]) -> dict[str, str]:
        """Return the names for a table that is judgments and a run at once, in lists beside each other."""
        lists = {
            table: name
            for table, words in _LISTS.items()
            for name in reversed(self.names)
            if _folded(name) in words and name.isprintable()
        }
        docs = next((name for name, ours in found.items() if ours == "doc_id"), None)
        if docs not in lists.values() or len(lists) < len(_LISTS):
            return {}
        rest = {self._theirs(name): ours for name, ours in found.items() if ours != "doc_id"}
        return {**rest, **{f"{table}.{name}": "doc_id" for table, name in lists.items()}}


def _named(names: Mapping[str, str]) -> str:
    """Say how columns are given other names, in a shell and in Python."""
    option = ",".join(f"{escaped(theirs)}={ours}" for theirs, ours in names.items())
    what = "it" if len(names) == 1 else "them"
    return f"name {what}: add --columns {quoted(option)} (in Python columns={dict(names)!r})"


def _is_id(name: str) -> bool:
    """Say whether a name is one of ids: they may be whole numbers and are no grades."""
    known = {word for ours in (*_IDS, "user_id", "session") for word in _SYNONYMS[ours]}
    named = re.search(r"(?i:(^|[\W_])(id|ids|no|nr|key|code))$|[a-z]I[dD]s?$", name)
    return _folded(name) in known or named is not None
