"""Training data from files: LETOR and SVMlight text, LightGBM's group files, tables of features."""

from __future__ import annotations

import os
import warnings
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, first_true, read_as, some, there_are
from rankstone.errors import (
    BadValue,
    EmptyInput,
    InputError,
    MissingColumn,
    UsageError,
    did_you_mean,
    one_of,
    printable,
)
from rankstone.evaluation.query_splits import COLUMN, QuerySplit
from rankstone.evaluation.request import query_table
from rankstone.hits.list_arrays import offsets_of
from rankstone.io.columns import hidden, renames, require, with_csv
from rankstone.io.file_formats import scan_parts
from rankstone.io.file_parts import parts_of
from rankstone.io.sources import is_stream
from rankstone.io.suffixes import named_format, unpacked_name
from rankstone.io.unreadable_files import reading
from rankstone.ltr.estimator_inputs import checked_labels, listed
from rankstone.ltr.letor_format import docids, group_sizes, read_letor, sizes_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankstone._basics import Columns, Floats, Names, Progress, StrPath
    from rankstone.io.file_formats import Scanned

#: what tables of features or predictions may be; any other file is text
TABLES: Final = ("csv", "tsv", "jsonl", "parquet", "arrow")
FORMATS: Final = ("letor", *TABLES)
_RESERVED: Final = ("query_id", "doc_id", "relevance")
#: what these columns may be called, too
_COMMON_NAMES: Final = {"qid": "query_id", "label": "relevance", "docid": "doc_id"}


class Dataset(Record):
    """Documents as features, each with its label and its query.

    Attributes
    ----------
    X
        Features, float32 or float64 ``[rows, features]``: an array, or a CSR matrix where few are not 0.
    y
        float64 ``[rows]``: labels; below 0: not judged.
    qid
        The query of each row.
    docs
        The document of each row, where the file names them.
    features
        The features' names; in LETOR files their numbers.
    source
        Where it was read.
    notes
        What a reader should know: columns that were left out, say.
    sparse
        Whether a feature that is not written down is 0.
    absent
        Names that no line has, where features have numbers: 2 in a file of features 1 and 3.
    groups
        How many queries group sizes name, numbered from 0; ``None`` where rows name their queries.
    splits
        The split of each row's query, where the table has a column ``split``.
    """

    X: Any
    y: Floats
    qid: pl.Series
    docs: pl.Series | None
    features: Names
    source: str
    notes: Names = field(default=())
    sparse: bool = False
    absent: Names = ()
    groups: int | None = None
    splits: pl.Series | None = None

    @property
    def without_rows(self) -> list[int]:
        """The queries of size 0: they have no row, and count as queries without a relevant document."""
        if self.groups is None:
            return []
        empty: list[int] = np.setdiff1d(np.arange(self.groups), self.qid).tolist()
        return empty

    def __len__(self) -> int:
        return len(self.y)

    def aligned(
        self, features: Sequence[str], *, optional: Collection[str] = ()
    ) -> Any:  # noqa: ANN401 - an array or CSR
        """Return the columns of some features, by name; in LETOR files one that never occurs is 0.

        Parameters
        ----------
        features
            The names, in the order of the columns.
        optional
            Those of them that may be missing without an effect.

        Warns
        -----
        UserWarning
            If a requested feature never occurs in a LETOR file, or there are unused features.

        Raises
        ------
        MissingColumn
            A table lacks a feature, or a LETOR file all of them.
        """
        missing = _missing(self, features)
        used = {*features, *self.absent}
        without = [name for name in missing if name not in optional]
        unused = [name for name in self.features if name not in used]
        for names, meaning in (
            (without, "features of the model never occur here and count as 0"),
            (unused, "features unknown to the model are not used"),
        ):
            if names:
                warnings.warn(
                    f"{self.source}: {meaning}: {listed(names)}",
                    UserWarning,
                    stacklevel=2,
                )
        return _columns(self, features)

    def of_split(self, name: str, queries: object = None) -> Dataset:
        """Return the rows of the queries of one split.

        Parameters
        ----------
        name
            The split.
        queries
            A table, or its file, with ``query_id`` and ``split``; where there is none, the rows' own column.

        Raises
        ------
        BadOption
            The table has no column ``split``, or no such split.
        EmptyInput
            No row is of one of its queries.
        InputError
            Rows are in groups without ids.
        """
        if self.groups is not None:
            raise InputError(
                "rows in groups have no ids of queries, which a split needs",
                where=self.source,
                fix="write qid:QUERY into each line",
            )
        ids = self.qid.cast(pl.String)
        if queries is None and self.splits is not None:
            pairs = {"query_id": ids, COLUMN: self.splits}
            queries = pl.DataFrame(pairs).unique(maintain_order=True)
        split = QuerySplit.of(name, query_table(queries, ()))
        is_in = ids.is_in(split.queries.implode())
        rows = is_in.to_numpy()
        if not rows.any():
            raise EmptyInput(
                f"no row is of a query in split {printable(name)}",
                where=self.source,
                given=f"queries {some(ids.unique(maintain_order=True))}",
                expected=f"queries of the split: {some(split.queries)}",
            )
        kept = counted(ids.filter(is_in).n_unique(), "query")
        note = f"split {printable(name)}: {kept} of {ids.n_unique():,}"
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            qid=self.qid.filter(is_in),
            docs=None if self.docs is None else self.docs.filter(is_in),
            splits=None,
            notes=(*self.notes, note),
        )


def read(
    source: StrPath | Sequence[StrPath],
    *,
    groups: StrPath | None = None,
    columns: Columns | None = None,
    features: Sequence[str] | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    dtype: str = "float32",
    labelled: bool = True,
    progress: Progress | None = None,
) -> Dataset:
    """Read documents as features.

    Parameters
    ----------
    source
        A file, a folder or a glob, or several: LETOR or SVMlight text (``label qid:7 1:0.5 … # docid =
        GX001``), or a table with ``query_id``, ``relevance``, perhaps ``doc_id``, and a number column a
        feature: CSV, TSV, JSON lines, Parquet, Arrow.  ``qid``, ``label`` and ``docid`` are understood, too.
    groups
        A file of group sizes, for text without ``qid``; ``FILE.query`` and ``FILE.group`` next to it are
        found.
    columns
        ``{their name: our name}`` for tables.
    features
        Which columns are features; all other number columns unless given.
    csv_separator, decimal
        How CSV files are written, as for :func:`rankstone.evaluate`.
    format_in
        ``letor`` or the table's format; by the suffix unless given.
    dtype
        ``float32`` or ``float64``.
    labelled
        Whether labels are needed; not for a table that is only scored.
    progress
        Called with row counts while reading.

    Raises
    ------
    InputError
        For a line that cannot be read, a label or feature that is not a finite number, missing columns.
    """
    columns = with_csv(columns, csv_separator, decimal)
    one_of("dtype", dtype, ("float32", "float64"))
    if format_in is not None:
        one_of("format_in", format_in, FORMATS)
    named = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files = list[Path]()
    for name in named:
        files += [Path(name)] if is_stream(name) else parts_of(os.fspath(name))

    kinds = {format_in or table_format(path) or "letor" for path in files}
    if len(kinds) > 1:
        raise UsageError(
            f"files of several formats: {', '.join(sorted(kinds))}",
            fix="read them one by one",
        )
    if groups is not None and (kinds != {"letor"} or len(files) > 1):
        raise UsageError("group sizes go with one file of LETOR or SVMlight text")
    if kinds == {"letor"}:
        return _joined([_letor(path, groups, dtype, progress) for path in files])
    tables = [
        _table(part, columns or {}, features, dtype, labelled=labelled)
        for path in files
        for part in scan_parts(path, kinds.copy().pop(), columns)
    ]
    if progress is not None:
        progress(sum(map(len, tables)))
    return _joined(tables)


def table_format(path: Path) -> str:
    """Return the format of a table, by its name; empty for other files."""
    kind = named_format(path)
    return kind if kind in TABLES else ""


def _letor(
    path: Path, groups: StrPath | None, dtype: str, progress: Progress | None
) -> Dataset:
    content = read_letor(path, dtype, progress)
    notes = []
    qid = content.qid
    count = None
    if qid is None or groups is not None:
        sizes = sizes_beside(path) if groups is None else Path(groups)
        if sizes is None:
            raise InputError(
                "the lines have no qid, and there is no file of group sizes next to the file",
                where=str(path),
                expected=f"label qid:QUERY feature:value …, or {unpacked_name(path).name}.query",
                fix="name the file of group sizes",
            )
        lengths = group_sizes(sizes, len(content.labels))
        count = len(lengths)
        empty = lengths.count(0)
        qid = pl.Series(np.repeat(np.arange(count), lengths))
        notes.append(f"queries are the groups of {sizes.name}")
        if empty:
            without = f"{counted(empty, 'group')} of {sizes.name} without rows"
            notes.append(
                f"{without}: nothing to learn from, and a query without a relevant document to eval"
            )
    names = tuple(map(str, content.numbers))
    absent = tuple(
        name
        for name, number in zip(names, content.numbers, strict=True)
        if number not in content.met
    )
    return Dataset(
        content.features,
        content.labels,
        qid,
        docids(content.comments),
        names,
        str(path),
        tuple(notes),
        True,
        absent,
        count,
    )


def _table(
    part: Scanned,
    columns: Columns,
    features: Sequence[str] | None,
    dtype: str,
    *,
    labelled: bool,
) -> Dataset:
    with reading(part.title):
        present = part.frame.collect_schema().names()
        common = {
            theirs: ours
            for theirs, ours in _COMMON_NAMES.items()
            if ours not in (*present, *columns.values())
        }
        chosen = renames(present, columns, part.title) | {
            k: v for k, v in common.items() if k in present
        }
        frame = part.frame.drop(hidden(present, chosen)).rename(chosen).collect()
    needed = ("query_id", "relevance") if labelled else ("query_id",)
    require(frame.columns, needed, part.title, frame.columns, given=columns)
    if not frame.height:
        raise InputError("the table has no rows", where=part.title)
    names, left_out = _features(frame, features, part)
    if not names:
        raise MissingColumn(
            "there is no column of numbers to rank by", where=part.title
        )
    kind = pl.Float32 if dtype == "float32" else pl.Float64
    matrix = frame.select(
        _number(frame, name, part).cast(kind) for name in names
    ).to_numpy()
    labels = np.zeros(frame.height)
    if "relevance" in frame.columns:
        labels = checked_labels(
            _number(frame, "relevance", part).to_numpy(), frame.height
        )
    docs = frame["doc_id"].cast(pl.String) if "doc_id" in frame.columns else None
    notes = (
        [f"columns that are not features: {', '.join(map(printable, left_out))}"]
        if left_out
        else []
    )
    notes += read_as(part.read_as)
    qid = frame["query_id"]
    if qid.null_count():
        raise BadValue(
            "a row without query_id", where=part.place(first_true(qid.is_null()))
        )
    return Dataset(
        np.ascontiguousarray(matrix),
        labels,
        qid,
        docs,
        tuple(names),
        part.title,
        tuple(notes),
        splits=frame[COLUMN] if COLUMN in frame.columns else None,
    )


def _features(
    frame: pl.DataFrame, features: Sequence[str] | None, part: Scanned
) -> tuple[list[str], list[str]]:
    """Return the columns that are features, and those that are not."""
    others = [name for name in frame.columns if name not in _RESERVED]
    if features is not None:
        for name in features:
            if name not in others:
                raise MissingColumn(
                    f"there is no column {printable(name)}",
                    where=part.title,
                    fix=did_you_mean(name, others),
                )
        return list(features), []
    numbers = [name for name in others if _is_number(frame[name])]
    return numbers, [name for name in others if name not in numbers]


def _is_number(column: pl.Series) -> bool:
    # text files: a column of numbers has one somewhere, and no words
    if column.dtype == pl.String:
        cells = column.drop_nulls()
        return len(cells) > 0 and not cells.cast(pl.Float64, strict=False).null_count()
    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _number(frame: pl.DataFrame, name: str, part: Scanned) -> pl.Series:
    """Return a column as numbers; refuse cells that are not numbers."""
    numbers = frame[name].cast(pl.Float64, strict=False)
    bad = numbers.is_null() | ~numbers.is_finite()
    if bad.any():
        row = first_true(bad)
        raise BadValue(
            f"{printable(name)} is {printable(frame[name][row])}",
            where=part.place(row),
            expected="a finite number",
        )
    return numbers


def _missing(data: Dataset, features: Sequence[str]) -> list[str]:
    """Return the features that never occur; refuse where they cannot be 0."""
    there = set(data.features).difference(data.absent)
    missing = [name for name in features if name not in there]
    if missing and (not data.sparse or len(missing) == len(features)):
        raise MissingColumn(
            f"there is no feature {printable(missing[0])}",
            where=data.source,
            given=f"features {listed(data.features)}",
            expected=f"the features that the model was trained with: {listed(features)}",
            fix=did_you_mean(missing[0], there),
        )
    return missing


def _columns(data: Dataset, features: Sequence[str]) -> Any:  # noqa: ANN401 - an array or CSR
    """Return the columns of some features; zeros for those that are not there."""
    if tuple(features) == data.features:
        return data.X
    place = {name: column for column, name in enumerate(data.features)}
    columns = np.array([place.get(name, len(place)) for name in features])
    if (columns < len(place)).all():
        return data.X[:, columns]
    return _with_zeros(data.X)[:, columns]


def _with_zeros(features: Any) -> Any:  # noqa: ANN401 - an array or CSR
    """Return features with one more column, of zeros."""
    rows = features.shape[0]
    if hasattr(features, "tocsr"):
        from scipy.sparse import csr_array, hstack

        return hstack(
            [features, csr_array((rows, 1), dtype=features.dtype)], format="csr"
        )
    return np.hstack([features, np.zeros((rows, 1), features.dtype)])


def _joined(parts: list[Dataset]) -> Dataset:
    """Put parts one behind the other."""
    if len(parts) == 1:
        return parts[0]
    sparse = all(part.sparse for part in parts)
    names = parts[0].features
    if sparse:
        names = tuple(
            sorted({name for part in parts for name in part.features}, key=int)
        )
    present = {
        name for part in parts for name in set(part.features).difference(part.absent)
    }
    left_out = [
        name
        for name in dict.fromkeys(n for p in parts for n in p.features)
        if name not in names
    ]
    notes = [note for part in parts for note in part.notes]
    notes += (
        [f"columns missing from the first table are not features: {listed(left_out)}"]
        if left_out
        else []
    )
    counts = [part.groups for part in parts]
    if any(counts) and not all(counts):
        raise InputError(
            "some files have group sizes, others a qid in their lines",
            where=parts[0].source,
            fix="give each file its sizes (FILE.query), or each line a qid",
        )
    firsts = offsets_of(np.array([count or 0 for count in counts]))
    ids = [
        part.qid + first if part.groups else part.qid
        for part, first in zip(parts, firsts[:-1].tolist(), strict=True)
    ]
    if len({column.dtype for column in ids}) > 1:
        ids = [column.cast(pl.String) for column in ids]
    notes += _shared_queries(parts, ids)
    docs = [part.docs for part in parts if part.docs is not None]
    splits = [part.splits for part in parts if part.splits is not None]
    return Dataset(
        _stacked(parts, names),
        np.concatenate([part.y for part in parts]),
        pl.concat(ids),
        pl.concat(docs) if len(docs) == len(parts) else None,
        names,
        ", ".join(part.source for part in parts),
        tuple(dict.fromkeys(notes)),
        sparse,
        tuple(name for name in names if name not in present),
        int(firsts[-1]) or None,
        pl.concat(splits) if len(splits) == len(parts) else None,
    )


def _shared_queries(parts: list[Dataset], ids: list[pl.Series]) -> list[str]:
    """Say how many queries are in several files: some number their queries anew in every file."""
    seen = pl.concat([column.unique() for column in ids])
    shared = seen.len() - seen.n_unique()
    if not shared:
        return []
    files = ", ".join(part.source for part in parts)
    advice = "where files number their queries anew, give them other ids"
    joined = "their rows are one list each"
    return [
        f"{there_are(shared, 'query')} in more than one of {files}: {joined}; {advice}"
    ]


def _stacked(parts: list[Dataset], names: Names) -> Any:  # noqa: ANN401 - an array or CSR
    """Return the features of all parts, rows one behind the other."""
    for part in parts:
        _missing(part, names)
    tables = [_columns(part, names) for part in parts]
    if not any(hasattr(table, "tocsr") for table in tables):
        return np.vstack(tables)
    from scipy.sparse import csr_array, vstack

    return vstack([csr_array(table) for table in tables], format="csr")
