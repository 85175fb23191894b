"""Suggestions for missing columns, which can be pasted: the columns that are probably meant.

A table is never renamed on a guess; a guess is only suggested.  Columns are suggested by common names, and
only if their content fits: texts are not grades, ids are not scores, and a column is suggested only once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from rankstone.errors import did_you_mean
from rankstone.io.advice import IF_ALL, Advice, naming_need, written
from rankstone.io.column_words import common_names, folded_name, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rankstone._basics import Columns


#: the content of a column's cells; of lists with an s: ``texts``
Kind = Literal["whole", "number", "text", "wholes", "numbers", "texts", "object"]

_OF_LISTS: Final[dict[Kind | None, Kind]] = {
    "whole": "wholes",
    "number": "numbers",
    "text": "texts",
}

#: kinds whose plural is not theirs with an s
_WORDS: Final = {
    "whole": "whole numbers",
    "wholes": "lists of whole numbers",
    "numbers": "lists of numbers",
    "texts": "lists of texts",
    "null": "nothing",
    "boolean": "true and false",
    "list": "lists",
}
#: how the names of lists of documents begin that one row may have: the retrieved and the relevant ones
_LISTS: Final = {
    "run": "retriev|result|recommend|pred|ranked|response|output|contexts|hits",
    "qrels": "relevant|expected|reference|groundtruth|gold|truth|correct|positive|actual",
}
#: a table → our numbers that it is read for, and the table that its other lists may belong to
_SIDES: Final = {"qrels": (("relevance",), "run"), "run": (("score", "rank"), "qrels")}
_ANSWERS: Final = f"{_LISTS['run']}|{_LISTS['qrels']}|answer|source"
_IDS: Final = ("query_id", "doc_id")
_NUMBERS: Final = ("relevance", "score", "rank")
#: our columns that can be guessed by content
_BY_CONTENT: Final = (*_IDS, "relevance", "score")
#: our columns that are never suggested for another one
_CORE: Final = frozenset({*_IDS, *_NUMBERS})
#: our columns of interactions beside ids, with which every row may be relevant
_OF_EVENTS: Final = ("time", "event", "weight", "session", "clicked")
#: a table and its only missing column → the number that the other table has
_OTHER: Final[dict[tuple[str, ...], str]] = {
    ("qrels", "relevance"): "score",
    ("run", "score"): "relevance",
}
_JUDGED: Final = (
    "these look like judgments, whose grades are no scores: QRELS comes first, then RUN"
)
SWAPPED: Final = "are judgments and run in the right order? QRELS comes first"
_TWICE: Final = " (a file with both is named twice: as QRELS and as a RUN)"
_IN_ORDER: Final = " (it keeps the order of the rows)"
#: names of lists of something else than ids, and of numbers that order nothing, or the other way round
_NO_IDS: Final = re.compile("(text|score|content|answer|distance|rank)s?$")
_NO_NUMBER: Final = re.compile(
    "rank|rang$|^pos|position|order|place|^idx|index|dist|loss|perplex|time|date|price|length|count"
    "|^run|run$|version|seed|fold|split|batch|year"
)
_NEAREST: Final = "of distances, as of ranks, the smallest is the best; "
#: names of numbers that are smaller for better documents
_DISTANCE: Final = re.compile("dist(ance)?s?$")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
#: the end of a name of which there are several
_COPY: Final = re.compile(r"_duplicated_\d+$")
#: how many words a line of TREC text has: judgments, runs without and with a tag
_TREC: Final = (4, 5, 6)
#: the least similarity of a misspelt name
_ALIKE: Final = 0.8


def _last(name: str) -> str:
    """Return the end of a path, folded."""
    *_, end = name.split(".")
    return folded_name(end)


def _words(ours: str) -> tuple[str, ...]:
    """Return the name of one of our columns and its common names, folded."""
    common = common_names().get(ours, ())
    return (folded_name(ours), *common)


def looks_like_row(names: Sequence[str]) -> bool:
    """Return True for names that are numbers, other than the positions of columns.

    >>> looks_like_row(["1", "10", "5.0"]), looks_like_row(["0", "1", "2"]), looks_like_row(["q", "1"])
    (True, False, False)
    """
    bare = [_COPY.sub("", name) for name in names]
    are_positions = bare == [str(column) for column in range(len(bare))]
    return all(map(_NUMBER.fullmatch, bare)) and not are_positions


def looks_like_columns(names: Iterable[str]) -> bool:
    """Return True for common names of columns of queries, beside ids of documents, answers, or both and numbers.

    >>> looks_like_columns(["user", "item_id"]), looks_like_columns(["Questions", "answers"])
    (True, True)
    >>> looks_like_columns(["q1", "q2"]), looks_like_columns(["query", "doc"])
    (False, False)
    """
    known = [*names]

    def named(*ours: str) -> list[str]:
        return [folded_name(name) for name in known if is_common_name(name, ours)]

    ids = [name for name in named("doc_id") if name.endswith(("id", "ids"))]
    answers = [name for name in known if re.match(_ANSWERS, folded_name(name))]
    rows = named("doc_id") and named(*_NUMBERS)
    return bool(named("query_id") and (ids or answers or rows))


def kind_of_type(dtype: pl.DataType) -> Kind | None:
    """Return the content of a column of a type; ``None`` for types that are never read.

    >>> kind_of_type(pl.Int64()), kind_of_type(pl.List(pl.String()))
    ('whole', 'texts')
    """
    if isinstance(dtype, pl.Struct):
        return "object"
    if isinstance(dtype, (pl.List, pl.Array)):
        item = kind_of_type(dtype.inner)  # type: ignore[arg-type]
        is_object = isinstance(dtype.inner, pl.Struct)
        return item if is_object else _OF_LISTS.get(item)
    if dtype.is_integer():
        return "whole"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    is_text = isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))
    return "text" if is_text else None


def words_of_type(dtype: pl.DataType) -> str:
    """Return what a column of a type holds, in words.

    >>> words_of_type(pl.List(pl.String())), words_of_type(pl.Date()), words_of_type(pl.Float64())
    ('lists of texts', 'dates', 'fractions')
    """
    if dtype.is_float():
        return "fractions"
    kind: str = kind_of_type(dtype) or ""
    if not kind or dtype == pl.Boolean:
        kind = str(dtype.base_type()).lower()
    return _WORDS.get(kind, f"{kind}s")


def kinds_of_texts(frame: pl.LazyFrame, rows: int = 1000) -> dict[str, Kind | None]:
    """Return the content of columns of texts or of lists of texts, judged by the first rows."""
    try:
        head = frame.head(rows).collect()
    except pl.exceptions.PolarsError:
        # a broken row is reported where the table is read
        return {}
    return {column.name: _kind_of_texts(column) for column in head.iter_columns()}


def _kind_of_texts(column: pl.Series) -> Kind | None:
    cells = column.drop_nulls()
    if cells.dtype == pl.List:
        item = _kind_of_texts(cells.explode())
        return _OF_LISTS.get(item)
    if cells.is_empty():
        return None
    whole = cells.cast(pl.Int64, strict=False)
    if not whole.has_nulls():
        return "whole"
    numbers = cells.cast(pl.Float64, strict=False)
    return "text" if numbers.has_nulls() else "number"


def is_common_name(name: str, ours: Iterable[str]) -> bool:
    """Return True for one of our columns, or a common name of it; of a path only the end counts.

    >>> is_common_name("item.Rating", ["relevance"]), is_common_name("distance", ["score"])
    (True, True)
    """
    word = _last(name)
    if any(word in _words(column) for column in ours):
        return True
    return "score" in ours and is_distance(name)


def time_among(names: Iterable[str], chosen: Columns) -> str | None:
    """Return the column of times: it is called or renamed ``time``, or the only one with a common name of it."""
    times = []
    for name in names:
        ours = chosen.get(name, name)
        if ours == "time":
            return name
        if ours == name and is_common_name(name, ["time"]):
            times.append(name)
    if len(times) == 1:
        return times[0]
    return None


def is_distance(name: str) -> bool:
    """Return True for names of numbers that are smaller for better documents."""
    return _DISTANCE.search(folded_name(name)) is not None


def begins_as_list(name: str, table: str) -> bool:
    """Return True for names that begin as those of lists of a table.

    >>> begins_as_list("retrieved_scores", "run"), begins_as_list("scores", "run")
    (True, False)
    """
    return re.match(_LISTS.get(table, "(?!)"), folded_name(name)) is not None


def sides_of(columns: Columns) -> tuple[tuple[str, ...], str]:
    """Return our numbers that a table is read for, and the table that its other lists may belong to."""
    return _SIDES.get(getattr(columns, "table", ""), ((), ""))


@dataclass(frozen=True)
class Missing:
    """The columns that a table lacks, and those it has.

    Attributes
    ----------
    ours
        The missing columns.
    names
        The columns of the table, by their current names.
    reserved
        Names with a meaning here, which are never suggested for another one.
    kinds
        The content of columns, as far as it is known.
    given
        The requested {their name: our name}.
    unused
        Lists of numbers beside those of the documents.
    """

    ours: Sequence[str]
    names: Sequence[str]
    reserved: AbstractSet[str]
    kinds: Mapping[str, Kind | None] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    unused: Sequence[str] = ()

    def proposals(self) -> list[Advice]:
        """Return options that may name the missing columns, the most likely first, with spare ones."""
        if self._are_judgments():
            return []
        spares = [
            replace(advice, is_spare=True)
            for avoided in self.guesses()
            for left in [[name for name in self.names if name != avoided]]
            for advice in replace(self, names=left).likely()
            if "all_relevant" not in advice.settings
        ]
        return [*self.likely(), *spares]

    def likely(self) -> list[Advice]:
        """Return the proposals without spare ones."""
        if len(self.names) == 1 and len(self.names[0].split()) in _TREC:
            why = "the first line looks like TREC text: "
            return [Advice(settings={"format_in": "trec"}, why=why)]
        if looks_like_row(self.names):
            return []
        renames = self.renames()
        proposals = [self._renaming(renames)] if renames else []
        nearest = self._distances()
        ranks = self._ranks()
        if "score" in self.ours and "score" not in renames.values():
            if nearest:
                by_rank = {**renames, self._theirs(nearest): "rank"}
                proposals.insert(0, Advice(by_rank, why=_NEAREST))
            elif ranks:
                new = {} if "rank" in ranks else {self._theirs(ranks[0]): "rank"}
                proposals.insert(0, Advice({**renames, **new}, {"order": "rank"}))
            elif self._lists() or not any(
                self._is_candidate("score", name) for name in {*self.names} - _CORE
            ):
                proposals.append(Advice(renames, {"order": "input"}, so=_IN_ORDER))
        if self.unused and [*self.ours] == ["relevance"]:
            none = {self._theirs(name): "unused" for name in self.unused}
            why = "if all documents of the lists are relevant, "
            proposals += [
                Advice({self._theirs(name): "relevance"})
                for name in self.unused
                if self._is_candidate("relevance", name) and not renames
            ]
            proposals.append(Advice(none, why=why))
        if self._are_pairs(renames):
            so = f"; {naming_need(self.ours, self.given)}"
            others = {*self.names} - _CORE
            are_events = all(is_common_name(name, _OF_EVENTS) for name in others)

            every = Advice(
                settings={"all_relevant": True},
                why=IF_ALL,
                so=so,
                is_spare=not are_events,
            )
            proposals.append(every)
        return proposals

    def _are_pairs(self, renames: Columns) -> bool:
        """Return whether judgments have ids and no column that may be a grade by its name."""
        is_only_this = [*self.ours] == ["relevance"] and self._table != "run"
        return (
            is_only_this
            and not renames
            and not self.unused
            and self._other not in self.names
        )

    def _renaming(self, renames: Columns) -> Advice:
        other = self._other
        is_own_name = other in self.names and self._source_name(other) == other
        is_swapped = is_own_name and len(renames) == 1
        why = f"{SWAPPED}; if so, " if is_swapped else ""
        so = _TWICE if self._both_lists(self.guesses()) else ""
        return Advice(renames, why=why, so=so)

    def need(self) -> str | None:
        """Return what is needed where nothing that was proposed works."""
        if not {*self.ours} & {*self.reserved}:
            # the name comes from an option
            return did_you_mean(self.ours[0], self.names)
        if looks_like_row(self.names):
            return "give the columns names: the first line looks like a row"
        if self._are_judgments():
            return _JUDGED
        if self._other in self.names:
            return SWAPPED
        # a name of its own says what a column is, its content alone does not
        named = {
            ours: theirs
            for theirs, ours in self.renames().items()
            # an id may be that of a row or a document
            if theirs != "id"
            and (is_common_name(theirs, [ours]) or subject(theirs) == ours)
        }
        unknown = [ours for ours in self.ours if ours not in named]
        need = naming_need(unknown or self.ours, self.given)
        beside: object = {theirs: ours for ours, theirs in named.items()}
        if getattr(self.given, "at_shell", False):
            beside = ",".join(f"{theirs}={ours}" for ours, theirs in named.items())
        return f"{need}, beside {beside}" if unknown and beside else need

    def _are_judgments(self) -> bool:
        """Return whether grades stand where a run has scores or ranks."""
        if self._table != "run" or "score" not in self.ours or self._lists():
            return False
        grades = [
            name
            for name in self.names
            if is_common_name(name, ["relevance"])
            and not is_common_name(name, ["score"])
            and self._kind(name) == "whole"
        ]
        scores = {theirs for theirs, ours in self.renames().items() if ours == "score"}
        scores -= {f"run.{name}" for name in grades}
        return bool(grades) and not scores - {*grades} and not self._ranks()

    @property
    def _other(self) -> str:
        """The number of the other table where only that of this one is missing."""
        missing = tuple(ours for ours in self.ours if ours not in _IDS)
        return _OTHER.get((self._table or "qrels", *missing), "")

    def _distances(self) -> str | None:
        """Return a column of distances, the smallest of which is the best."""
        for name in self.unused or self.names:
            if is_distance(name) and self._fits("score", name):
                return name
        return None

    def renames(self) -> dict[str, str]:
        """Return {their name: our name} of the columns that are probably meant, for all tables."""
        guesses = self.guesses()
        return self._both_lists(guesses) or {
            self._theirs(name): ours for name, ours in guesses.items()
        }

    def guesses(self) -> dict[str, str]:
        """Return {current name: our name} of the columns that are probably meant."""
        guesses: dict[str, str] = {}
        for ours in self.ours:
            free = [name for name in self._by_name(ours) if name not in guesses]
            if free:
                guesses[free[0]] = ours
        guesses |= self._by_content(guesses)
        other = self._other
        is_left = {*guesses.values()} <= {*_IDS} and self._is_single(other)
        # a run has ranks
        is_left &= "rank" not in self.names
        numbers = [ours for ours in self.ours if ours not in _IDS]
        if other in self.names and is_left and numbers:
            # the grade of judgments may be called score, as in the other table
            guesses[other] = numbers[0]
        return guesses

    @property
    def _table(self) -> str:
        return getattr(self.given, "table", "")

    def _source_name(self, name: str) -> str:
        """Return the source's name of a column by its current name."""
        present = getattr(self.given, "present", ())
        for theirs, ours in self.given.items():
            if ours == name and theirs in present:
                return theirs
        return name

    def _theirs(self, name: str) -> str:
        """Return a column's name to paste, with its table where the name has a meaning in other tables."""
        own = self._source_name(name)
        elsewhere = own != name or own in _CORE
        if self._table and elsewhere:
            return f"{self._table}.{own}"
        return own

    def _kind(self, name: str) -> Kind | None:
        return self.kinds.get(name, self.kinds.get(self._source_name(name)))

    def _is_single(self, name: str) -> bool:
        """Return True for a column without lists."""
        return not str(self._kind(name)).endswith("s")

    def _fits(self, ours: str, name: str) -> bool:
        """Return True if a column's content fits one of ours, and its name can be pasted."""
        kind = str(self._kind(name)).removesuffix("s")
        if kind == "object" or not name.isprintable():
            return False
        is_other = begins_as_list(name, sides_of(self.given)[1])
        about = subject(name)
        if ours in _IDS:
            if about in _NUMBERS and not is_common_name(name, [ours]):
                return False
            return kind != "number" and (self._is_single(name) or not is_other)
        if ours not in _NUMBERS:
            return True
        is_grade = is_common_name(name, ["relevance"]) or about == "relevance"
        is_letter = ours == "relevance" and is_grade and self._is_single(name)
        # the judgments' grades would order the list that they judge
        is_other |= ours == "score" and is_grade and bool(self._ranks())
        return (kind != "text" or is_letter) and not is_other

    def _ranks(self) -> list[str]:
        """Return the columns that hold ranks by their names."""
        common = [name for name in self.names if is_common_name(name, ["rank"])]
        further = [name for name in self.names if subject(name) == "rank"]
        return common or further

    def _by_name(self, ours: str) -> list[str]:
        """Return the columns with common names of one of ours, the most likely first."""
        others = [name for name in self.names if name not in _CORE]
        fits = [name for name in others if self._fits(ours, name)]
        words = _words(ours)
        known = [name for word in words for name in fits if folded_name(name) == word]
        unused = [name for name in self.unused if name in fits]
        known += [
            name
            for name in unused
            if is_common_name(name, [ours]) and not is_distance(name)
        ]
        if ours in _IDS:
            # the id in an object: query.qid
            inner = [name for name in fits if "." in name and self._is_single(name)]
            known += [name for word in words for name in inner if _last(name) == word]
        lists = self._lists()
        known += self._by_subject(ours, fits)
        if ours == "query_id" and not lists:
            # perhaps of the row
            known.sort(key="id".__eq__)
        if ours == "doc_id":
            own = lists.get(self._table)
            documents = lists.values() if own is None else [own]
            known = [*filter(fits.__contains__, documents), *known]
        free = [name for name in fits if name not in self.reserved]
        if ours in _NUMBERS:
            free = [name for name in free if not is_id(name)]
        folded = {folded_name(name): name for name in free}
        close = get_close_matches(folded_name(ours), folded, n=1, cutoff=_ALIKE)
        return [*known, *(folded[word] for word in close)]

    def _by_subject(self, ours: str, fits: Sequence[str]) -> list[str]:
        """Return the columns whose names speak of one of ours, ids before titles."""
        wanted = [name for name in fits if subject(name) == ours]
        return sorted(wanted, key=lambda name: ours == "doc_id" and not is_id(name))

    def _by_content(self, guesses: Mapping[str, str]) -> dict[str, str]:
        """Return the remaining columns where only one assignment to the remaining names is possible."""
        ours = [column for column in self.ours if column not in guesses.values()]
        if self.unused or not ours or not {*ours} <= {*_BY_CONTENT}:
            return {}
        taken = {"", *self.reserved, *guesses}
        left = [n for n in self.names if n not in taken and n.isprintable()]
        if not all(map(self._kind, left)):
            return {}
        if len(ours) == len(left) and not {"relevance", "score"} <= {*ours}:
            # the order is always query, document, number
            all_fit = all(map(self._is_candidate, ours, left))
            if all_fit:
                return dict(zip(left, ours, strict=True))
            return {}
        assigned: dict[str, str] = {}
        texts = [name for name in left if self._kind(name) == "text"]
        ids = [column for column in ours if column in _IDS]
        if len(texts) == len(ids):
            assigned = dict(zip(texts, ids, strict=True))
        others = [column for column in ours if column not in _IDS]
        if len(others) == 1:
            [number] = others
            numbers = [name for name in left if self._is_candidate(number, name)]
            if len(numbers) == 1:
                assigned[numbers[0]] = number
        return assigned

    def _is_candidate(self, ours: str, name: str) -> bool:
        """Return True if a column's content fits, and its name is not that of an id for a number."""
        if not self._fits(ours, name):
            return False
        if ours not in _NUMBERS:
            return True
        return not is_id(name) and not _NO_NUMBER.search(folded_name(name))

    def _both_lists(self, guesses: Mapping[str, str]) -> dict[str, str]:
        """Return the renames for a table with retrieved and relevant documents in two columns of lists."""
        lists = self._lists()
        theirs_of = {ours: name for name, ours in guesses.items()}
        docs = theirs_of.pop("doc_id", None)
        if docs not in lists.values() or len(lists) < len(_LISTS):
            return {}
        rest = {self._theirs(name): ours for ours, name in theirs_of.items()}
        both = {f"{table}.{name}": "doc_id" for table, name in lists.items()}
        return rest | both

    def _lists(self) -> dict[str, str]:
        """Return the columns of lists of documents that were retrieved, or are relevant."""
        usable = [
            name
            for name in self.names
            if name.isprintable() and self._kind(name) in ("texts", "wholes")
        ]
        # short names of ids are the last, which replace the others
        usable.sort(key=lambda name: (not is_id(name), len(name)), reverse=True)
        folded = {folded_name(name): name for name in usable}
        lists = {
            word: name for word, name in folded.items() if not _NO_IDS.search(word)
        }
        of_tables = {
            table: name
            for table in _LISTS
            for name in lists.values()
            if begins_as_list(name, table)
        }
        # a field of what was retrieved, as in [{"chunk": "c7", "score": 0.8}]
        words = (*common_names()["doc_id"], "id")
        fields = [lists[word] for word in words if word in lists]
        if fields:
            return {"run": fields[0], **of_tables}
        return of_tables


def rename_fix(names: Columns, columns: object) -> str:
    """Return the option that renames columns: for a shell where ``columns`` come from one, else for Python.

    >>> rename_fix({"player1": "left"}, None)
    "columns={'player1': 'left'}"
    """
    at_shell = getattr(columns, "at_shell", False)
    return written({}, {"columns": names}, at_shell=at_shell)


def is_id(name: str) -> bool:
    """Return True for names of ids, which may be whole numbers and are not grades."""
    word = folded_name(name)
    if any(word in common_names()[ours] for ours in (*_IDS, "user_id", "session")):
        return True
    suffix = re.search(
        r"(?i:(^|[\W_])(id|ids|no|nr|number|key|code|sku|asin|url))$|[a-z]I[dD]s?$",
        name,
    )
    return suffix is not None
