"""Which shape a file has: by what its first lines or entries show, never by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import Record, some
from rankstone.errors import (
    BadOption,
    InputError,
    UnknownFormat,
    did_you_mean,
    printable,
)
from rankstone.io.advice import Advice
from rankstone.io.column_suggestions import SWAPPED, is_common_name
from rankstone.io.shapes.json_pattern import JsonPattern, fits, refused
from rankstone.io.shapes.shape import known_shapes, own_shapes, placeholder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankstone.io.shapes.line_template import LineTemplate
    from rankstone.io.shapes.shape import Shape

#: how a file of a user's own shapes is named where a format can be
OWN: Final = ".toml"
#: keys from which on an object is one of queries
_MANY: Final = 20
#: the key of shapes that are objects with an entry a query
_BY_QUERY: Final = "{query_id}"
#: all names of a file, or the name that tells what it is, where no run can be read → what it is, and what to do
_UNREAD: Final = {
    "D I": (
        "indices and distances of FAISS, without the ids of queries and documents",
        "write the ids of the documents of each row under the id of its query, the nearest first",
    ),
    "distances indices": (
        "indices and distances of nearest neighbours, without the ids of queries and documents",
        "write the ids of the documents of each row under the id of its query, the nearest first",
    ),
    "namespace usage vectors": (
        "vectors that Pinecone fetched by their ids, without scores",
        "query the index: its matches have scores",
    ),
    "mteb_version": (
        "measured scores of MTEB, and no documents",
        "for a leaderboard of its models: rankstone board FOLDER",
    ),
    "record_json": (
        "records of TruLens, whose retrieved contexts are inside the calls of record_json",
        "write them to a column retrieved, a list in each record: what the call of the retriever returned",
    ),
}
#: the scores of a reranker's result, and what it may have with any other score
_RELEVANCE: Final = {"relevance_score", "relevanceScore", "logit"}
_RERANKED: Final = {"document", "input"}
#: a role → what its files hold
_HELD: Final = {"judgments": "a file of judgments", "run": "a run"}


class Candidates(Record):
    """The shapes that a file may have.

    Attributes
    ----------
    shapes
        The user's own ones first.
    own
        How many these are; they are tried before all others.
    named
        True if the user has named the one shape.
    """

    shapes: tuple[Shape, ...]
    own: int = 0
    named: bool = False

    def of_lines(
        self, lines: Sequence[str], where: str
    ) -> tuple[Shape, LineTemplate] | None:
        """Return the shape and the template that lines of text have; ``None`` without one.

        Raises
        ------
        UnknownFormat
            Where lines are of several shapes, or not of the one that was named.
        """
        fitting = {
            shape: template
            for shape in self.shapes
            for template in reversed(shape.templates)
            if template.fits(lines, plausible=not self.named)
        }
        if self.named and not self.shapes[0].templates:
            return None
        shape = self._chosen(list(fitting), where, lines[0] if lines else "")
        if shape is None:
            return None
        return (shape, fitting[shape])

    def of_json(self, value: object, where: str) -> Shape | None:
        """Return the shape that a document of JSON has; ``None`` without one.

        Raises
        ------
        UnknownFormat
            As for lines.
        """
        with_json = [shape for shape in self.shapes if shape.json is not None]
        if not with_json:
            return None
        fitting = [shape for shape in with_json if fits(shape.json, value)]
        return self._chosen(fitting, where, value)

    def refuse_unnamed(self, value: object, where: str) -> None:
        """Refuse what shapes have by query, where it stands without the ids of the queries."""
        parts: list[Any] = [[value], value]
        if isinstance(value, Mapping) and len(value) < _MANY:
            parts += value.values()
        for shape in self.shapes:
            by_query = shape.json if isinstance(shape.json, dict) else {}
            of_query = by_query.get(_BY_QUERY)
            is_flat = False
            first = of_query[0] if isinstance(of_query, list) else None
            if isinstance(first, dict) and _is_distinct(first):
                is_flat = True
                of_query = first
            if not isinstance(of_query, dict) or all(map(placeholder, of_query)):
                continue
            pattern = JsonPattern([of_query], is_exact=False)
            fitting = [part for part in parts if pattern.misfit(part) is None]
            if not fitting:
                continue
            others = {*fitting[0][0]} - {*of_query}
            is_named = any(is_common_name(name, ["query_id"]) for name in others)
            if not (is_flat and is_named) and "query_id" not in others:
                raise InputError(
                    f"this looks like {shape.title}, but without the ids of the queries",
                    where=where,
                    given=printable(repr(value), 40),
                    expected=printable(shape.example, 80),
                    fix="write an object with what was retrieved under the id of each query",
                )

    def refuse_near(self, value: object, where: str) -> None:
        """Refuse a document that has the keys of a shape and other values, or that is of the other role."""
        for shape in self.shapes:
            misfit = JsonPattern(shape.json).misfit(value) if shape.json else None
            if misfit is None or misfit.lacks_key:
                continue
            if misfit.path.count(".") > 1:
                raise refused(misfit, f"this looks like {shape.title}, but", where)
        role = self.shapes[0].role
        for shape in known_shapes():
            if shape.role != role and shape.json and fits(shape.json, value):
                raise InputError(
                    f"this is {_HELD[shape.role]}, and not {_HELD[role]}: {shape.title}",
                    where=where,
                    given=printable(repr(value), 40),
                    fix=SWAPPED,
                )

    def of_header(self, names: Sequence[str]) -> Shape | None:
        """Return the shape whose columns a table has, all of them; ``None`` without one."""
        fitting = [
            shape
            for shape in self.shapes
            if shape.columns and {*shape.columns} <= {*names}
        ]
        return max(fitting, key=lambda shape: len(shape.columns), default=None)

    def _chosen(
        self, fitting: Sequence[Shape], where: str, given: object
    ) -> Shape | None:
        own = [shape for shape in fitting if shape in self.shapes[: self.own]]
        fitting = own or fitting
        if len(fitting) > 1:
            names = [shape.name for shape in fitting]
            error = UnknownFormat(
                f"this may be {' or '.join(names)}",
                where=where,
                given=printable(str(given), 40),
                expected="; ".join(f"{s.name}: {s.title}" for s in fitting),
            )
            raise error.proposing(*(Advice({}, {"format_in": name}) for name in names))
        if self.named and not fitting:
            shape = self.shapes[0]
            raise UnknownFormat(
                f"this is not {shape.title}",
                where=where,
                given=printable(str(given), 40),
                expected=printable(shape.example.split("\n")[0], 80),
            )
        if fitting:
            return fitting[0]
        return None


def refuse_unread(names: Iterable[str], where: str) -> None:
    """Refuse what is known by its names and cannot be read, and say what to do."""
    known = sorted(map(str, names))
    for key in (" ".join(known), *known):
        if key in _UNREAD:
            what, fix = _UNREAD[key]
            raise InputError(
                f"these are {what}", where=where, given=some(known, 12), fix=fix
            )


def refuse_positions(value: object, where: str) -> None:
    """Refuse results of a reranker, which name documents by their position in its request."""
    if _has_positions(value):
        raise InputError(
            "these are results of a reranker, whose documents are positions in its request",
            where=where,
            given=printable(repr(value), 40),
            expected="{query: {doc: relevance_score}}",
            fix="write the id of the document in the place of each index, under the id of its query",
        )


def _has_positions(value: object) -> bool:
    if isinstance(value, Mapping):
        is_scored = value.keys() & _RELEVANCE or (
            "score" in value and value.keys() & _RERANKED
        )
        if "index" in value and is_scored:
            document = value.get("document")
            has_id = isinstance(document, Mapping) and "id" in document
            return not has_id and "id" not in value
        return any(map(_has_positions, islice(value.values(), _MANY)))
    return isinstance(value, list) and any(map(_has_positions, value[:1]))


def _is_distinct(record: Iterable[str]) -> bool:
    """Return whether the keys of a record tell who wrote it: ``_id`` does, ``id`` does not."""
    return all(key.startswith("_") for key in record)


def candidates(role: str, format_in: str | None = None) -> Candidates:
    """Return the shapes that a file of judgments or a run may have.

    Parameters
    ----------
    role
        ``judgments`` or ``run``.
    format_in
        The name of a shape, a file of the user's own ones, or a format, which leaves it open.
    """
    known = [shape for shape in known_shapes() if shape.role == role]
    if format_in is not None and format_in.endswith(OWN):
        own = [shape for shape in own_shapes(format_in) if shape.role == role]
        return Candidates((*own, *known), len(own))
    named = tuple(shape for shape in known if shape.name == format_in)
    return Candidates(named or tuple(known), named=bool(named))


def plain_format(format_in: str | None, formats: Mapping[str, Any]) -> str | None:
    """Return a format as it is, and ``None`` for a shape, whose files show theirs.

    Raises
    ------
    BadOption
        Where there is neither a format nor a shape of this name.
    """
    if format_in is None or format_in in formats:
        return format_in
    if format_in.endswith(OWN):
        own_shapes(format_in)
        return None
    names = [shape.name for shape in known_shapes()]
    if format_in in names:
        return None
    raise BadOption(
        f"format_in={printable(format_in)!r} is not known",
        expected=f"{', '.join(formats)}, or a shape: {some(names)}",
        fix=did_you_mean(format_in, (*formats, *names)),
    )


def is_row(cells: Sequence[str], known: Any) -> bool:  # noqa: ANN401 - a predicate
    """Return whether the cells of a first row are data, and no names of columns.

    Some are numbers and none is a known name; cells that count the columns are names that frames give them.

    >>> is_row(["1", "10", "5.0"], lambda name: False), is_row(["0", "1"], lambda name: False)
    (True, False)
    """
    bare = [cell.strip() for cell in cells]
    if bare == [str(number) for number in range(len(bare))]:
        return False
    are_numbers = [bool(re.fullmatch(r"[+-]?\d+(?:\.\d+)?", cell)) for cell in bare]
    return any(are_numbers) and not any(map(known, bare))
