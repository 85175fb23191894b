"""Golden sets: queries with what is to be retrieved, as people write them by hand."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, counted, is_path, quoted, some
from rankstone.errors import DuplicateRows, EmptyInput, InputError, printable
from rankstone.io.advice import escaped
from rankstone.io.columns import Renames
from rankstone.io.damaged_files import PACKED
from rankstone.io.file_formats import format_at, head_of, scan_files, scan_parts
from rankstone.io.file_roles import note_input
from rankstone.io.golden_records import (
    GoldenCase,
    Need,
    golden_cases,
    golden_roles,
    has_only_golden_keys,
    is_needed,
    is_own_id,
    is_telling,
    without_other_modes,
)
from rankstone.io.input_table import Table
from rankstone.io.json_objects import json_value, parsed, read_text
from rankstone.io.python_rows import frame_of_library
from rankstone.io.sources import display_name, is_database, is_stream
from rankstone.io.suffixes import is_packed
from rankstone.io.trec_text import first_lines
from rankstone.io.unreadable_files import UnreadYaml, reading
from rankstone.io.yaml_text import yaml_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone._basics import Columns, StrPath
    from rankstone.io.shapes import Candidates

TITLE: Final = "a golden set"
_SCHEMA: Final[dict[str, Any]] = {
    **dict.fromkeys(("query_id", "doc_id", "subtopic", "forbidden"), pl.String),
    **dict.fromkeys(("relevance", "start", "end"), pl.Float64),
    "case": pl.Int64,
}


class GoldenSet(Record):
    """A golden set: hand-written queries, each with what a system should retrieve for it.

    It takes the place of judgments everywhere: ``rankstone.evaluate(golden, run, …)``.

    Attributes
    ----------
    source
        Its name in messages.
    cases
        Its queries, in the order of the file.
    roles
        {key: what it was read as}.
    splits
        The file with splits that was read with it; empty for none.
    stored
        {query: split} of that file, also of queries that are not in the set any more.
    doubts
        What is doubtful about what is expected, a sentence each.

    Examples
    --------
    >>> golden = golden_set([{"id": "g1", "query": "refunds?", "expected": ["a.md"], "category": "shop"}])
    >>> len(golden.cases), golden.cases[0].about
    (1, {'category': 'shop'})
    """

    source: str
    cases: tuple[GoldenCase, ...]
    roles: Mapping[str, str]
    splits: str = ""
    stored: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def has_groups(self) -> bool:
        """Whether some query has alternatives or groups of documents."""
        return any(case.has_groups for case in self.cases)

    @property
    def note(self) -> str:
        """How it was read, for the audit."""
        named = [
            f"{printable(key, 40)}={role}"
            for key, role in self.roles.items()
            if key != role
        ]
        notes = [f"{TITLE}: {', '.join(named)}" if named else TITLE]
        if "id" not in self.roles.values():
            notes.append("no ids: the texts of the queries are the ids")
        if self.splits:
            has_splits = any(case.split for case in self.cases)
            file = printable(self.splits)
            note = f"splits of {file}"
            if not has_splits:
                note = f"the splits in {file} are of other ids ({some(self.stored)})"
            notes.append(note)
        grouped = sum(case.has_groups for case in self.cases)
        if grouped:
            held = counted(grouped, "query")
            notes.append(f"{held} with groups (FullRecall, StRecall)")
        return "; ".join(notes)

    @cached_property
    def attributes(self) -> pl.DataFrame:
        """One row a query: ``query_id``, ``query``, ``split``, ``answerable``, and what else is written."""
        rows = []
        for case in self.cases:
            row: dict[str, Any] = {"query_id": case.query_id, "query": case.query}
            if case.split:
                row["split"] = case.split
            if case.answerable is not None:
                row["answerable"] = case.answerable
            rows.append(row | {k: v for k, v in case.about.items() if k not in row})
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    @property
    def expects_texts(self) -> bool:
        """Whether some query expects a text, and no id of a document."""
        return any(need.text for case in self.cases for need in case.needs)

    def with_documents_of_texts(self, documents: pl.DataFrame) -> GoldenSet:
        """Return the set with the documents that contain each expected text, one of which is enough."""
        texts = plain_texts(documents["text"])
        nowhere: list[str] = []

        def resolved(need: Need) -> Need:
            if not need.text:
                return need
            plain = plain_texts(pl.Series([need.text]))
            wanted = plain[0].strip()
            is_in = texts.str.contains(wanted, literal=True)
            if not is_in.any():
                nowhere.append(need.text)
            ids = documents["doc_id"].filter(is_in)
            return Need(dict.fromkeys(ids, 1.0))

        cases = []
        for case in self.cases:
            needs = tuple(map(resolved, case.needs))
            has_groups = case.has_groups or any(len(n.documents) > 1 for n in needs)
            cases.append(replace(case, needs=needs, has_groups=has_groups))
        doubts = self.doubts
        if nowhere:
            texts_in_none = counted(len(nowhere), "expected text")
            doubts = (*doubts, f"{texts_in_none} in no document ({some(nowhere)})")
        return replace(self, cases=tuple(cases), doubts=doubts)

    @property
    def unread(self) -> Iterator[str]:
        """What may be expected of queries under keys that are not read, a sentence each."""
        holders: dict[tuple[str, bool], int] = {}
        for case in self.cases:
            for unread in case.unread:
                before = holders.get(unread, 0)
                holders[unread] = before + 1
        for (key, are_texts), times in holders.items():
            name = printable(key, 40)
            way = f"call it expected in {printable(self.source, 40)}"
            if are_texts:
                theirs = quoted(escaped(key))
                way = f"--columns {theirs}=expected_text"
            held = counted(times, "query")
            yield f"{name} is not read where nothing else is expected ({held}): {way}"

    def refuse_copies(self) -> None:
        """Refuse an id that two queries have."""
        earlier: dict[str, str] = {}
        for case in self.cases:
            if case.query_id in earlier:
                raise DuplicateRows(
                    f"query {printable(case.query_id, 60)} is there twice",
                    where=case.place,
                    given=f"first in {earlier[case.query_id]}",
                    expected="each query once",
                    fix="remove one of the two, or give them ids of their own",
                )
            earlier[case.query_id] = case.place

    def table(self, further: Sequence[str] = ()) -> Table:
        """Return the judgments: a row for each document that is expected or forbidden.

        Parameters
        ----------
        further
            Columns to give where some query has them: ``subtopic`` (the group, so that a document of two
            groups has two rows), ``forbidden``, ``start`` and ``end``.

        Raises
        ------
        DuplicateRows
            When two queries have one id.
        """
        self.refuse_copies()
        rows = pl.DataFrame(list(self._rows()), schema=_SCHEMA, orient="row")
        is_read = {
            "subtopic": self.has_groups,
            "forbidden": any(case.forbidden for case in self.cases),
            "start": bool(rows["start"].count()),
            "end": bool(rows["end"].count()),
        }
        names = [
            name
            for name in _SCHEMA
            if name != "case"
            and (name not in is_read or (is_read[name] and name in further))
        ]
        apart = [n for n in names if n not in ("relevance", "forbidden")]
        best = rows.sort("relevance", descending=True, maintain_order=True)
        best = best.unique(apart, keep="first", maintain_order=True)
        best = best.sort("case", maintain_order=True)
        with_rows = {*best["query_id"]}
        empty = [c.query_id for c in self.cases if c.query_id not in with_rows]

        def start(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
            yield best.select(columns)

        return Table(
            self.source,
            {name: best.schema[name] for name in names},
            start,
            lambda row: self.cases[best["case"][row]].place,
            untyped=True,
            present=tuple(names),
            empty=lambda: pl.Series(empty, dtype=pl.String) if empty else None,
            read_as=lambda: (self.note,),
            unanswerable=frozenset(
                case.query_id for case in self.cases if case.answerable is False
            ),
            form=TITLE,
            about=self.attributes,
            doubts=(*self.doubts, *self.unread),
        )

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number, case in enumerate(self.cases):
            row = {
                "query_id": case.query_id,
                "case": number,
                "start": None,
                "end": None,
            }
            for group, need in enumerate(case.needs, 1):
                if need.text:
                    raise _unresolved(case)
                start, end = need.span or (None, None)
                for document, grade in need.documents.items():
                    yield row | {
                        "doc_id": document,
                        "relevance": grade,
                        "subtopic": str(group),
                        "start": start,
                        "end": end,
                    }
            for document in case.forbidden:
                yield row | {
                    "doc_id": document,
                    "relevance": 0.0,
                    "subtopic": "forbidden",
                    "forbidden": "true",
                }

    def with_stored_splits(self) -> GoldenSet:
        """Return the set with the splits in the file beside it; a query's own split goes first."""
        path = beside(self.source)
        rows = stored_rows(path)
        if rows is None:
            return self
        note_input(path, "the splits of a golden set")
        stored = dict(rows.drop_nulls("split").select("query_id", "split").iter_rows())
        cases = tuple(
            replace(case, split=case.split or stored.get(case.query_id) or "")
            for case in self.cases
        )
        return replace(self, cases=cases, splits=path.name, stored=stored)


def plain_texts(texts: pl.Series) -> pl.Series:
    """Return texts in small letters, with one blank for several and for line breaks."""
    lower = texts.str.to_lowercase()
    return lower.str.replace_all(r"\s+", " ")


def stored_rows(path: Path) -> pl.DataFrame | None:
    """Return the rows of a file with splits, ``None`` where there is no such file."""
    if not path.is_file():
        return None
    with reading(str(path)):
        rows = pl.read_csv(path, infer_schema=False)
    if rows.columns[:2] != ["query_id", "split"]:
        raise InputError(
            "these are no splits of a golden set",
            where=str(path),
            given=f"columns {some(rows.columns)}",
            expected="query_id and split, as rankstone golden split writes them",
        )
    return rows


def _unresolved(case: GoldenCase) -> InputError:
    return InputError(
        f"query {printable(case.query_id, 60)} expects a text, and no id of a document",
        where=case.place,
        given=printable(next(need.text for need in case.needs if need.text), 60),
        expected="texts of the documents, in which it is looked up",
        fix="give them: --documents FILE (in Python documents=…)",
    )


def golden_set(
    source: object, columns: Columns | None = None, format_in: str | None = None
) -> GoldenSet:
    """Read a golden set.

    Parameters
    ----------
    source
        A path (JSON, JSON lines, YAML, CSV, Parquet, a workbook), a list of dicts, or a frame: a record for
        each query, with its id or its text and what is expected: ids of documents, objects with an id, or
        texts.  :doc:`docs/loop.md <loop>` lists the keys.
    columns
        {their name: our name}: ``query_id``, ``doc_id``, ``expected_text``, ``forbidden``, ``answerable``,
        ``subtopic`` (groups), ``split``.
    format_in
        The format of a file; by default what it holds says it.

    Raises
    ------
    InputError
        When it is no golden set, or a record is not of one.

    Examples
    --------
    >>> golden = golden_set([{"query": "refunds?", "any_of": ["a.md", "b.md"]}])
    >>> golden.cases[0].query_id, dict(golden.cases[0].needs[0].documents)
    ('refunds?', {'a.md': 1.0, 'b.md': 1.0})
    """
    golden = golden_in(source, columns, format_in)
    if golden is None:
        name = display_name(source) if is_path(source) else "golden set"
        if Path(name).is_file() and not Path(name).stat().st_size:
            raise EmptyInput(
                "the file is empty", where=name, expected="records with query"
            )
        raise InputError(
            "this is no golden set",
            where=name,
            expected="records with an id or a query, and what is expected: "
            '[{"id": "q1", "query": "…", "expected": ["doc1"]}]',
        )
    return golden


def golden_in(
    source: object, columns: Columns | None = None, format_in: str | None = None
) -> GoldenSet | None:
    """Return the golden set that a source holds, ``None`` where it holds something else."""
    if isinstance(source, GoldenSet):
        return source
    if not is_path(source):
        return golden_in_value(source, "golden set", columns)
    if is_database(source):
        return None
    name = os.fspath(source)
    golden = _in_file(name, columns, format_in)
    if golden is None or is_stream(name):
        return golden
    return golden.with_stored_splits()


def _in_file(
    name: str, columns: Columns | None, format_in: str | None
) -> GoldenSet | None:
    """Return the golden set in a file, ``None`` where it holds something else."""
    try:
        kind, files = format_at(name, format_in, columns or {})
    except UnreadYaml:
        return golden_in_value(yaml_value(name), name, columns)
    if kind != "json":
        return golden_in_files(files, kind, columns)
    is_likely = _may_be_golden(name, columns)
    return golden_in_value(json_value(name), name, columns) if is_likely else None


def beside(path: StrPath) -> Path:
    """Return the file with the splits of a golden set, whether it exists or not.

    >>> beside("sets/golden.json").name
    'golden.splits.csv'
    """
    return Path(path).with_suffix(".splits.csv")


def _may_be_golden(path: str, columns: Columns | None) -> bool:
    """Return whether a JSON file begins with keys of golden sets: large judgments are not read twice."""
    block = head_of(path)
    if block.startswith(PACKED):
        return True
    keys = re.findall(r'"([^"\\\n]{1,60})"\s*:', block.decode("utf-8", "replace"))
    return any(is_needed(key) or key in (columns or {}) for key in {*keys})


def golden_in_value(
    value: object,
    source: str,
    columns: Columns | None = None,
    shapes: Candidates | None = None,
) -> GoldenSet | None:
    """Return the golden set in an object: a list of records, perhaps inside another object, or a frame.

    ``shapes`` are those that the object may have instead.
    """
    records, path = _records(value)
    if not records:
        return None
    keys = dict.fromkeys(str(key) for record in records for key in record)
    roles = _roles([*keys], columns, shapes, records)
    if roles is None:
        return None
    places = [f"{source}, {path}record {n}" for n in range(1, len(records) + 1)]
    return _of_records(source, records, roles, places)


def _of_records(
    source: str,
    records: Sequence[Mapping[str, Any]],
    roles: Mapping[str, str],
    places: Sequence[str],
) -> GoldenSet:
    roles = without_other_modes(roles, records)
    return GoldenSet(source, tuple(golden_cases(records, roles, places)), roles)


def _roles(
    keys: Sequence[str],
    columns: Columns | None,
    shapes: Candidates | None = None,
    records: Sequence[Mapping[str, Any]] = (),
) -> dict[str, str] | None:
    """Return {key: role}; ``None`` where the keys, or what is said of them, are as well of another table."""
    roles = golden_roles(keys, columns)
    if roles is None:
        return None
    documents = [key for key in keys if (columns or {}).get(key) == "doc_id"]
    own_ids = [key for key in documents if is_own_id(key, "expected")]
    are_labels = bool(own_ids) and _are_labels(records, roles)
    is_of_table = documents != own_ids or are_labels
    if is_of_table and not has_only_golden_keys(roles):
        # the table that the names were written for
        return None
    is_shaped = shapes is not None and shapes.of_header(keys) is not None
    if is_shaped and not is_telling(roles, keys):
        return None
    if isinstance(columns, Renames):
        columns.present.update(keys)
    return roles


def _are_labels(records: Sequence[Mapping[str, Any]], roles: Mapping[str, str]) -> bool:
    """Return whether what is expected is a number or a truth value: the grade of a row."""
    keys = [key for key, role in roles.items() if role == "expected"]
    values = [record.get(key) for record in records for key in keys]
    are_numbers = all(isinstance(value, (bool, int, float)) for value in values)
    return bool(values) and are_numbers


def _records(value: object) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Return the records of an object, and where they stand in it."""
    if isinstance(value, list):
        are_records = all(isinstance(part, Mapping) for part in value)
        return (value if are_records else []), ""
    if not isinstance(value, Mapping):
        names = (
            None if isinstance(value, pl.LazyFrame) else getattr(value, "columns", None)
        )
        if names is None or golden_roles(list(map(str, names))) is None:
            return [], ""
        frame = frame_of_library(value, "golden set")
        return (frame.to_dicts() if frame is not None else []), ""

    lists = {
        key: part
        for key, part in value.items()
        if isinstance(part, list) and part and all(isinstance(r, Mapping) for r in part)
    }
    if len(lists) == 1 and not any(isinstance(p, Mapping) for p in value.values()):
        key, records = next(iter(lists.items()))
        return records, f"{printable(key, 40)}, "
    if value and all(isinstance(part, Mapping) for part in value.values()):
        # {id: {"query": …, "expected": […]}}
        return [{"id": key, **part} for key, part in value.items()], ""
    return [], ""


def golden_in_files(
    files: Sequence[Path],
    kind: str,
    columns: Columns | None = None,
    shapes: Candidates | None = None,
) -> GoldenSet | None:
    """Return the golden set in a file of rows: CSV, JSON lines, Parquet, a workbook; ``None`` in any other."""
    if kind == "trec" or len(files) != 1:
        return None
    path = str(files[0])
    if kind == "jsonl":
        # larger ones are packed
        if is_packed(files[0]) or not _begins_with_case(files[0], columns, shapes):
            return None
        records, places = _lines(path)
    else:
        with reading(path):
            names = scan_parts(path, kind, columns)[0].frame.collect_schema().names()
            if _roles(names, columns, shapes) is None:
                return None
            records = scan_files(path, kind, columns)[0].collect().to_dicts()
        places = [f"{path}, row {number}" for number in range(1, len(records) + 1)]
    keys = dict.fromkeys(str(key) for record in records for key in record)
    roles = _roles([*keys], columns, shapes, records)
    if roles is None:
        return None
    return _of_records(path, records, roles, places)


def _begins_with_case(
    path: Path, columns: Columns | None, shapes: Candidates | None
) -> bool:
    """Return whether the first line is a record of a golden set."""
    lines = [*first_lines(path, str(path)).values()]
    try:
        record = json.loads(lines[0]) if lines else None
    except ValueError:
        return False
    if not isinstance(record, dict):
        return False
    return _roles(list(record), columns, shapes, [record]) is not None


def _lines(path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the objects of JSON lines, and their places."""
    records: list[dict[str, Any]] = []
    places = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        record = parsed(line, path, number)
        if not isinstance(record, dict):
            raise InputError(
                "a line is no object", where=place, given=printable(line, 40)
            )
        records.append(record)
        places.append(place)
    return records, places
