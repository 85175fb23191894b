"""The records of a golden set: queries with what is to be retrieved for them, under the keys that people use."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import Record
from rankstone.errors import BadValue, InputError, printable
from rankstone.io.exact_numbers import is_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rankstone._basics import Columns, NamedValues

#: roles of which a record has one at least: what is to be retrieved
_NEEDED: Final = ("expected", "text", "any_of", "hops")
#: roles of documents: what two of their keys say would have to be added up
_OF_DOCUMENTS: Final = (*_NEEDED, "forbidden")
#: roles that no other file of judgments has
_TELLING: Final = ("text", "any_of", "hops", "forbidden")
#: roles of the keys of a record
_RECORD_ROLES: Final = (
    *("id", "query", *_NEEDED, "forbidden"),
    *("match", "answerable", "unanswerable", "split", "retrieved"),
)
#: what stands beside expected documents → whether one of them is enough
_MATCHES: Final = {"any": True, "one": True, "all": False}
#: keys of that which are as well attributes: a mode of search, what is required
_VAGUE: Final = ("mode", "require")
#: our names in --columns → the role of their key
_OF_COLUMNS: Final = {
    "query_id": "id",
    "doc_id": "expected",
    "expected_text": "text",
    "forbidden": "forbidden",
    "answerable": "answerable",
    "subtopic": "hops",
    "split": "split",
}
#: columns of judgments or runs, with a row or a list for each query
_OF_TABLES: Final = ("relevance", "score", "rank", "subtopic", "label")
#: words from which on a text is no id
_SENTENCE: Final = 4
_TRUE: Final = {"true", "1", "yes", "y"}
_FALSE: Final = {"false", "0", "no", "n"}
#: names of lists of documents that are judgments of other files, too
_DOCUMENTS: Final = ("docid", "docids", "doc", "docs", "documents", "document")
_SPAN: Final = ("start", "end")
#: words in the name of a key that may hold what is expected
_EXPECTING: Final = re.compile(
    "expect|gold|relevant|truth|target|correct|positive|required|must|evidence|passage|span|quote|snippet"
)
_QUOTED: Final = re.compile(r"""'[^']*'|"[^"]*\"""")


class Need(Record):
    """Documents of which one is enough, or a text that the document contains.

    Attributes
    ----------
    documents
        Their ids → grades.
    text
        A text that a document must contain; empty where documents are named.
    span
        Start and end of the judged part of the one document; ``None`` for whole documents.
    """

    documents: Mapping[str, float]
    text: str = ""
    span: tuple[float, float] | None = None


class GoldenCase(Record):
    """A query of a golden set.

    Attributes
    ----------
    place
        Where it stands, for messages.
    query_id
        Its id, or its text where it has none.
    query
        Its text; empty where only the id is there.
    needs
        What must be retrieved, one document of each need.
    forbidden
        Ids of documents that must not be retrieved.
    answerable
        Whether it has an answer; ``None`` where that is not declared.
    split
        The split that it is assigned to; empty without one.
    about
        What else is written about it: category, notes.
    has_groups
        True if some need names alternatives, or needs stand in groups.
    """

    place: str
    query_id: str
    query: str
    needs: tuple[Need, ...]
    forbidden: tuple[str, ...] = ()
    answerable: bool | None = None
    split: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    has_groups: bool = False

    @property
    def unread(self) -> Iterator[tuple[str, bool]]:
        """Keys that may hold what is expected of a query without any, and whether they hold texts."""
        if self.needs or self.forbidden or self.answerable is False:
            return
        for key, value in self.about.items():
            text = str(value)
            may_expect = _EXPECTING.search(plain_key(key))
            if not text or not may_expect:
                continue
            items = text.split("|")
            are_texts = any(len(item.split()) > 1 for item in items)
            yield key, are_texts

    @property
    def relevant(self) -> dict[str, float]:
        """The documents that are to be retrieved, alternatives included → their highest grades above 0."""
        grades: dict[str, float] = {}
        for need in self.needs:
            for document, grade in need.documents.items():
                grades[document] = max(grade, grades.get(document, grade))
        return {document: grade for document, grade in grades.items() if grade > 0}


@cache
def _known_keys() -> dict[str, tuple[str, ...]]:
    """Return {role: its keys}."""
    import tomllib

    file = resources.files(__package__).joinpath("golden_keys.toml")
    roles = tomllib.loads(file.read_text(encoding="utf-8"))
    return {role: tuple(keys) for role, keys in roles.items()}


@cache
def golden_keys() -> dict[str, str]:
    """Return {key: role} of the keys of records."""
    return {key: role for role in _RECORD_ROLES for key in _known_keys()[role]}


def document_keys() -> tuple[str, ...]:
    """Return the keys of an object's id where it stands for a document, the likeliest first."""
    return _known_keys()["document"]


def plain_key(key: object) -> str:
    """Return a key as it stands in the data: small letters only.

    >>> plain_key("Expected-Doc_IDs")
    'expecteddocids'
    """
    return re.sub(r"[\s_.-]", "", str(key)).lower()


def is_needed(key: str) -> bool:
    """Return whether a key names what is to be retrieved, or what must not be."""
    return golden_keys().get(plain_key(key)) in _OF_DOCUMENTS


def golden_roles(
    keys: Collection[str], columns: Columns | None = None
) -> dict[str, str] | None:
    """Return {key: role} where the keys are those of a golden set, else ``None``.

    Parameters
    ----------
    keys
        The keys of the records, or the names of columns.
    columns
        {their name: our name}, which goes before what is known of keys.

    Examples
    --------
    >>> golden_roles(["id", "query", "expected", "category"])
    {'id': 'id', 'query': 'query', 'expected': 'expected'}
    >>> golden_roles(["query_id", "doc_id", "relevance"])
    """
    roles = _likely_roles(keys, columns or {})
    held = {*roles.values()}
    names = {plain_key(key) for key in keys}
    is_table = not names.isdisjoint(map(plain_key, _OF_TABLES))
    if "retrieved" in held or is_table or held.isdisjoint(("id", "query")):
        return None
    if held.isdisjoint(_NEEDED):
        document = next((k for k in keys if plain_key(k) in _DOCUMENTS), None)
        if document is None or "forbidden" not in held:
            return None
        roles[document] = "expected"
    return roles


def _likely_roles(keys: Collection[str], columns: Columns) -> dict[str, str]:
    """Return {key: role}; of several keys that may be the id or the query, the likeliest has the role.

    Keys of documents all have theirs: :func:`golden_cases` refuses two of one role.
    """
    order = [*golden_keys()]
    known = sorted(
        (key for key in keys if plain_key(key) in order),
        key=lambda key: order.index(plain_key(key)),
    )
    named = {
        key: role
        for key in keys
        if (role := _OF_COLUMNS.get(columns.get(key, ""))) and not is_own_id(key, role)
    }
    roles = dict(named)
    for key in known:
        role = golden_keys()[plain_key(key)]
        is_free = role in _OF_DOCUMENTS or role not in roles.values()
        is_named = key in columns and not is_own_id(key, "expected")
        if not is_named and is_free:
            roles[key] = role
    return {key: roles[key] for key in keys if key in roles}


def is_own_id(key: str, role: str) -> bool:
    """Return whether a key that is named a document holds the ids of the records: other files have the documents."""
    return role == "expected" and golden_keys().get(plain_key(key)) == "id"


def has_only_golden_keys(roles: Mapping[str, str]) -> bool:
    """Return whether some of the keys are of golden sets and of no other judgments."""
    return not {*roles.values()}.isdisjoint((*_TELLING, "split"))


def is_telling(roles: Mapping[str, str], keys: Collection[str]) -> bool:
    """Return whether keys are those of a golden set even where another shape has them, too."""
    held = {*roles.values()}
    has_both = {"id", "query"} <= held
    has_category = "category" in map(plain_key, keys)
    return has_both or has_category or has_only_golden_keys(roles)


def without_other_modes(
    roles: Mapping[str, str], records: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the roles without a ``mode`` of something else, which never says any, one or all."""

    def is_other(key: str) -> bool:
        if roles[key] != "match" or plain_key(key) not in _VAGUE:
            return False
        return not any(plain_key(r.get(key)) in _MATCHES for r in records)

    return {key: role for key, role in roles.items() if not is_other(key)}


def golden_cases(
    records: Sequence[Mapping[str, Any]],
    roles: Mapping[str, str],
    places: Sequence[str],
) -> Iterator[GoldenCase]:
    """Yield the cases of records.

    Parameters
    ----------
    records
        Objects, or rows of a table whose cells may hold lists as text.
    roles
        {key: role}.
    places
        Where each stands, for messages.

    Raises
    ------
    InputError
        Where a record has neither id nor query, what is expected is of no known form, or two keys say it.
    """
    _refuse_two_keys(roles, places)
    for record, place in zip(records, places, strict=True):
        yield _case(record, roles, place)


def _refuse_two_keys(roles: Mapping[str, str], places: Sequence[str]) -> None:
    """Refuse two keys of one role: one of them would be left out."""
    earlier: dict[str, str] = {}
    for key, role in roles.items():
        if role in _OF_DOCUMENTS and role in earlier:
            raise InputError(
                f"two keys may be {role}: {printable(earlier[role], 40)}, {printable(key, 40)}",
                where=places[0] if places else None,
                expected=f"one key for what is {role}",
                fix="put both lists into one, or rename the key that is something else",
            )
        earlier[role] = key


def _case(
    record: Mapping[str, Any], roles: Mapping[str, str], place: str
) -> GoldenCase:
    values: NamedValues = {}
    about: NamedValues = {}
    for key, value in record.items():
        if key in roles:
            values[roles[key]] = value
        elif value is not None:
            about[key] = _plain(value)

    query = values.get("query")
    text = "" if query is None else str(query).strip()
    own = values.get("id")
    query_id = text if own is None or own == "" else str(own)
    if not query_id:
        raise InputError(
            "a record without id and query",
            where=place,
            given=printable(json.dumps(record, default=str), 60),
            expected="an id or the text of the query in each record",
        )

    if _is_any(values, place):
        values["any_of"] = _alternatives(values.pop("expected"), place)
    needs = [need for role in _NEEDED for need in _needs(role, values.get(role), place)]
    grouped = [role for role in ("any_of", "hops") if _items(values.get(role), place)]
    listed = [item for item in _items(values.get("expected"), place) if _is_group(item)]
    forbidden = tuple(
        document
        for need in _needs("forbidden", values.get("forbidden"), place)
        for document in need.documents
    )
    case = GoldenCase(
        place,
        query_id,
        text,
        tuple(needs),
        forbidden,
        _answerable(values, place),
        str(values.get("split") or "").strip(),
        about,
        bool(grouped or listed),
    )
    _check(case)
    return case


def _is_any(values: Mapping[str, Any], place: str) -> bool:
    """Return whether one of the expected documents is enough; refuse words that do not say it."""
    word = values.get("match")
    if word is None or word == "":
        return False
    is_any = _MATCHES.get(str(word).strip().lower())
    if is_any is None:
        raise BadValue(
            f"match is {printable(word, 40)}",
            where=place,
            expected="any (one expected document is enough) or all",
        )
    others = [role for role in ("text", "any_of", "hops") if values.get(role)]
    if others and is_any != (others == ["any_of"]):
        raise BadValue(
            f"match is {printable(word, 40)} beside {others[0]}",
            where=place,
            expected="match beside a list of expected ids",
            fix="leave out match: of any_of one is enough, of hops and texts each is needed",
        )
    return is_any and bool(values.get("expected"))


def _alternatives(expected: object, place: str) -> list[Any]:
    """Return expected documents as the items of one need."""
    if isinstance(expected, Mapping) and _are_grades(expected):
        return [{"id": document, "grade": n} for document, n in expected.items()]
    items: list[Any] = []
    for item in _items(expected, place):
        items += item if _is_group(item) else [item]
    return items


def _check(case: GoldenCase) -> None:
    """Refuse a document that is relevant and forbidden, and an answer to a query that has none."""
    both = sorted({*case.relevant} & {*case.forbidden})
    if both:
        raise BadValue(
            f"document {printable(both[0], 60)} is both expected and forbidden",
            where=case.place,
            expected="each document on one side",
            fix="remove it from one of the two lists",
        )
    if case.answerable is False and case.relevant:
        raise BadValue(
            f"query {printable(case.query_id, 60)} is declared unanswerable, but documents are expected",
            where=case.place,
            expected="answerable = false only where nothing is expected",
        )


def _plain(value: object) -> object:
    """Return an attribute as one value: lists of texts with ``|`` between them, objects as JSON."""
    if isinstance(value, list) and not any(isinstance(v, (list, dict)) for v in value):
        return "|".join(map(str, value))
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _answerable(values: Mapping[str, Any], place: str) -> bool | None:
    for role, meant in (("answerable", True), ("unanswerable", False)):
        value = values.get(role)
        if value is None or value == "":
            continue
        text = str(value).strip().lower()
        if text not in _TRUE | _FALSE:
            raise BadValue(
                f"{role} is {printable(value, 40)}",
                where=place,
                expected="true or false",
            )
        return (text in _TRUE) == meant
    return None


def _items(value: object, place: str, role: str = "") -> list[Any]:
    """Return the items of a list, of a cell that holds one as text, or of a single value."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return _of_cell(value, place, role)
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value]


def _of_cell(text: str, place: str, role: str) -> list[Any]:
    """Return the items in a text: JSON or Python's list in brackets, between ``|``, ``;`` or lines, or one."""
    text = text.strip()
    if re.fullmatch(r"(?s)[\[{].*[\]}]", text):
        try:
            items = json.loads(text)
        except ValueError:
            if "[" in _QUOTED.sub("", text[1:]):
                return _nested(text, place)
            items = re.findall(r"""'([^']*)'|"([^"]*)"|([^\s,\[\]]+)""", text)
            return ["".join(parts) for parts in items]
        return _items(items, place)
    if role == "text":
        # what stands in documents has signs of its own
        return [text]
    pieces = [piece.strip() for piece in re.split(r"[|;\n]", text)]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) == 1 and "," in text:
        raise InputError(
            "a comma stands in what is expected: is it one id, or a list?",
            where=place,
            given=printable(text, 60),
            expected="ids between |, or a list of JSON",
            fix='write ["a", "b"] for two documents, ["a, b"] for one',
        )
    return pieces


def _nested(text: str, place: str) -> list[Any]:
    """Return Python's list of lists in a text, whose lists must not run into each other."""
    try:
        return _items(ast.literal_eval(text), place)
    except (ValueError, SyntaxError):
        raise InputError(
            "lists in a list cannot be read",
            where=place,
            given=printable(text, 60),
            expected='lists of JSON: [["a", "b"], "c"]',
        ) from None


def _needs(role: str, value: object, place: str) -> Iterator[Need]:
    """Yield what must be found: of alternatives one need, of other lists one for each document."""
    if role == "expected" and isinstance(value, Mapping) and _are_grades(value):
        for document, grade in value.items():
            yield Need({str(document): float(grade)})
        return
    items = _items(value, place, role)
    has_lists = any(isinstance(item, list) for item in items)
    if role == "any_of" and items and not has_lists:
        items = [items]
    for item in items:
        if role == "text":
            yield Need({}, text=str(item))
        elif role in ("any_of", "hops") or (role == "expected" and _is_group(item)):
            yield _group(_hop(item), place)
        else:
            yield _group([item], place)


def _is_group(item: object) -> bool:
    """Return whether an item is a list of alternatives, and no document beside its grade."""
    if not isinstance(item, list) or not item:
        return False
    # of [["a", 2]] nobody can say whether 2 is a document
    return all(isinstance(part, (str, Mapping)) for part in item)


def _are_grades(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping is of documents with their grades, and no object that is a document."""
    documents = {plain_key(key) for key in value} & {*document_keys()}
    return not documents and all(map(is_number, value.values()))


def _hop(item: object) -> list[Any]:
    """Return the alternatives of a hop: a list, an object with one, or a single document."""
    if isinstance(item, Mapping):
        known = golden_keys()
        for key, value in item.items():
            if known.get(plain_key(key)) in ("expected", "any_of"):
                return value if isinstance(value, list) else [value]
    return item if isinstance(item, list) else [item]


def _group(items: Sequence[object], place: str) -> Need:
    """Return the need that one of some documents meets."""
    documents: dict[str, float] = {}
    span = None
    for item in items:
        if isinstance(item, Mapping):
            document, grade, span = _document(item, place)
        else:
            document, grade = _id(item, place), 1.0
        documents[document] = grade
    return Need(documents, span=span)


def _document(
    item: Mapping[str, Any], place: str
) -> tuple[str, float, tuple[float, float] | None]:
    """Return the id, the grade and the span of an object that stands for a document."""
    by_key = {plain_key(key): value for key, value in item.items()}
    keys = [key for key in document_keys() if by_key.get(key) is not None]
    if not keys:
        raise InputError(
            "an expected document has no id",
            where=place,
            given=printable(json.dumps(item, default=str), 60),
            expected='an id: {"id": …}, {"path": …}',
        )
    grades = [
        by_key[key] for key in _known_keys()["grade"] if is_number(by_key.get(key))
    ]
    grade = float(grades[0]) if grades else 1.0
    span = None
    if all(is_number(by_key.get(name)) for name in _SPAN):
        span = (float(by_key["start"]), float(by_key["end"]))
    return str(by_key[keys[0]]), grade, span


def _id(item: object, place: str) -> str:
    """Return an id; refuse a sentence, which no document is called."""
    if isinstance(item, (list, dict)) or item is None:
        raise InputError(
            "an expected document is no id",
            where=place,
            given=printable(json.dumps(item, default=str), 60),
            expected='ids of documents, objects: {"id": …}, or lists of ids of which one is enough',
        )
    text = str(item).strip()
    if len(text.split()) > _SENTENCE and "/" not in text:
        raise InputError(
            "what is expected is a sentence, and no id of a document",
            where=place,
            given=printable(text, 60),
            expected="ids of documents; texts that documents contain under expected_text",
        )
    return text
