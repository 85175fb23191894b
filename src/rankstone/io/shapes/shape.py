"""What the files of other programs look like: a shape is an entry of data, with an example and what it reads as."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import Record
from rankstone.errors import BadOption, printable
from rankstone.io.shapes.line_template import LineTemplate
from rankstone.io.sources import read_whole, toml_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone._basics import Columns


_EXPECTED: Final = (
    "shapes: [[shapes]] with name, role, example and lines, json, columns or records"
)
#: what the rows of a file are for
ROLES: Final = ("judgments", "run")
#: columns that a shape can name; ``run`` and ``…`` are recognised and not read
NAMES: Final = ("query_id", "doc_id", "relevance", "score", "rank", "time", "run", "…")
_SIGNATURES: Final = ("lines", "json", "columns", "records")
_KEYS: Final = {
    *("name", "title", "written_by", "role", "separators", "example", "reads", "names"),
    *_SIGNATURES,
}


class Shape(Record):
    """How a program writes its files.

    Attributes
    ----------
    name
        The word that names it in ``--format-in``.
    title
        What the audit says.
    written_by
        The programs, for people.
    role
        ``judgments`` or ``run``.
    example
        A file of this shape.
    reads
        The rows that the example is read as.
    templates
        Of text without a header: a template of its lines for each separator.
    json
        Of JSON: the document with our names where their values are.
    names
        Of JSON whose lists have ids and whose queries have texts: where both stand.
    columns
        Of tables with a header: {their name: our name}.
    records
        Of traces: the keys of a record, with dots into objects.
    """

    name: str
    title: str
    written_by: tuple[str, ...]
    role: str
    example: str
    reads: tuple[Mapping[str, Any], ...]
    templates: tuple[LineTemplate, ...] = ()
    json: Any = None
    names: Any = None
    columns: Columns = field(default_factory=dict)
    records: tuple[str, ...] = ()

    def has_keys(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record has the keys of a trace's, ``context.trace_id`` in its ``context``."""
        return all(_has(record, path.split(".")) for path in self.records)

    @property
    def note(self) -> str:
        """What a file of this shape was read as, for the audit."""
        return f"{self.title} ({', '.join(self.written_by)})"


@cache
def known_shapes() -> tuple[Shape, ...]:
    """Return the shapes that are known, those of one program after another."""
    import tomllib

    folder = resources.files(__package__) / "data"
    shapes = list[Shape]()
    files = {file.name: file for file in folder.iterdir()}
    for name in sorted(files):
        text = files[name].read_text(encoding="utf-8")
        shapes += shapes_in(tomllib.loads(text), name)
    return tuple(shapes)


def own_shapes(path: str) -> tuple[Shape, ...]:
    """Return the shapes of a user's own file, as it is now.

    Raises
    ------
    BadOption
        Where an entry is not of the form of a shape.
    """
    return _shapes_of(read_whole(path, _EXPECTED), str(path))


@cache
def _shapes_of(content: bytes, path: str) -> tuple[Shape, ...]:
    return shapes_in(toml_of(content, path, _EXPECTED), path)


def shapes_in(document: Mapping[str, Any], source: str) -> tuple[Shape, ...]:
    """Return the shapes of a document of TOML; refuse entries that are none.

    Parameters
    ----------
    document
        With a list ``shapes``.
    source
        Its name in messages.
    """
    entries = document.get("shapes")
    if not isinstance(entries, list) or not entries:
        raise _bad(source, "there is no shape in it", "[[shapes]] with name, role …")
    shapes = tuple(
        _shape(entry, f"{source}, shape {number}")
        for number, entry in enumerate(entries, 1)
    )
    earlier: set[tuple[str, str]] = set()
    for shape in shapes:
        name = (shape.role, shape.name)
        if name in earlier:
            raise _bad(source, f"two shapes are called {shape.name}", "a name for each")
        earlier.add(name)
    return shapes


def _shape(entry: Mapping[str, Any], where: str) -> Shape:
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        what = f"{printable(unknown[0], 40)} is no key of a shape"
        raise _bad(where, what, ", ".join(sorted(_KEYS)))
    for key in ("name", "role", "example"):
        if not isinstance(entry.get(key), str):
            raise _bad(where, f"it has no {key}", f"{key} as a text")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", entry["name"]):
        raise _bad(where, "its name is no plain word", "letters, digits and hyphens")
    if entry["role"] not in ROLES:
        raise _bad(where, "its role is not known", " or ".join(ROLES))
    signatures = [key for key in _SIGNATURES if key in entry]
    if len(signatures) != 1:
        raise _bad(
            where, "it must have one signature", "lines, json, columns or records"
        )
    shape = Shape(
        name=entry["name"],
        title=printable(entry.get("title", entry["name"])),
        written_by=tuple(map(printable, entry.get("written_by", ("you",)))),
        role=entry["role"],
        example=entry["example"],
        reads=tuple(entry.get("reads", ())),
        templates=tuple(_templates(entry)),
        json=_pattern(entry, "json", where),
        names=_pattern(entry, "names", where),
        columns=entry.get("columns", {}),
        records=tuple(entry.get("records", ())),
    )
    _require_names(shape, where)
    return shape


def _has(record: object, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(record, Mapping) or key not in record:
            return False
        record = record[key]
    return True


def _templates(entry: Mapping[str, Any]) -> Iterable[LineTemplate]:
    """Yield the templates of lines: a blank in them stands for each of the separators."""
    for line in entry.get("lines", ()):
        for separator in entry.get("separators", (" ",)):
            yield LineTemplate(line, separator)


def _pattern(entry: Mapping[str, Any], key: str, where: str) -> Any:  # noqa: ANN401 - what JSON holds
    if key not in entry:
        return None
    try:
        return json.loads(entry[key])
    except (TypeError, ValueError) as error:
        what = f"its {key} is no JSON in a text: {printable(error, 80)}"
        raise _bad(where, what, '{"{query_id}": {"{doc_id}": "{score}"}}') from None


def _require_names(shape: Shape, where: str) -> None:
    """Refuse a shape that names no query or no document, or a column that is not read."""
    sets = [{*template.names} for template in shape.templates]
    if shape.json is not None:
        sets.append({*placeholders(shape.json)})
    if shape.columns:
        sets.append({*shape.columns.values()})
    for names in sets:
        unknown = names - {*NAMES}
        if unknown:
            what = f"{printable(min(unknown), 40)} is no column that is read"
            raise _bad(where, what, ", ".join(NAMES))
        lacking = {"query_id", "doc_id"} - names
        if lacking:
            raise _bad(where, f"it names no {min(lacking)}", "{query_id} and {doc_id}")


def placeholders(pattern: Any) -> list[str]:  # noqa: ANN401 - what JSON holds
    """Return the names of the columns in a pattern of JSON.

    >>> placeholders({"{query_id}": [{"id": "{doc_id}"}]})
    ['query_id', 'doc_id']
    """
    if isinstance(pattern, dict):
        return placeholders([part for item in pattern.items() for part in item])
    if isinstance(pattern, list):
        return [name for part in pattern for name in placeholders(part)]
    name = placeholder(pattern)
    return [] if name is None else [name]


def placeholder(pattern: object) -> str | None:
    """Return the column that a text of a pattern stands for; ``None`` for any other text.

    >>> placeholder("{query_id}"), placeholder("query_id")
    ('query_id', None)
    """
    whole = isinstance(pattern, str) and re.fullmatch(r"\{(\w+|…)\}", pattern)
    if whole:
        return whole[1]
    return None


def _bad(where: str, what: str, expected: str) -> BadOption:
    return BadOption(what, where=printable(where, 200), expected=expected)
