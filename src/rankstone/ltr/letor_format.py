"""LETOR and SVMlight text: ``label qid:7 1:0.5 2:3.1 # docid = GX001``, a document a line.

Lines go through Polars' parallel CSV reader, a piece of the file at a time.  Where a piece is not as it
should be, its lines are taken apart one by one, and the message names file, line and text.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from rankstone._basics import Record, counted, first_true, there_are
from rankstone.errors import BadLine, BadValue, EmptyInput, InputError, printable
from rankstone.hits.list_arrays import list_numbers, offsets_of
from rankstone.io.damaged_files import refuse_endless
from rankstone.io.json_objects import read_text
from rankstone.io.sources import is_stream, read_stream
from rankstone.io.suffixes import unpacked_name
from rankstone.io.unreadable_files import reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankstone._basics import Floats, Ints, NamedValues, Progress

_EXPECTED: Final = "label qid:QUERY feature:value … # comment"
#: a feature's number can be no larger: it is a column
_MOST: Final = 1 << 24
#: from this share of stored values on, features are stored densely
_DENSE: Final = 0.3
_DOCID: Final = r"(?i)doc_?(?:id|no)\s*[=:]\s*(\S+)"
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class Letor(NamedTuple):
    """The content of a file of LETOR lines.

    ``features`` is an array or one of scipy's CSR matrices, float32 or float64 ``[rows, features]``;
    ``numbers`` the features' numbers, ``met`` those that a line has; ``qid`` is ``None`` where no line has
    one; ``comments`` is the text after ``#``.
    """

    features: Any
    numbers: list[int]
    met: frozenset[int]
    labels: Floats
    qid: pl.Series | None
    comments: pl.Series
    lines: Ints


class _Piece(Record):
    labels: Floats
    qid: pl.Series | None
    comments: pl.Series
    lines: Ints
    counts: Ints
    numbers: Ints
    values: Any


def read_letor(path: Path, dtype: str, progress: Progress | None = None) -> Letor:
    """Read a file, packed (.gz, .zst) or not."""
    title = str(path)
    pieces = []
    with reading(title):
        for lines, first in _lines(path):
            piece = _piece(lines, first, title, dtype)
            if len(piece.labels):
                pieces.append(piece)
            if progress is not None:
                progress(len(piece.labels))
    if not pieces:
        raise EmptyInput("there is no document", where=title, expected=_EXPECTED)
    bare = [piece.qid is None for piece in pieces]
    if any(bare) and not all(bare):
        odd = pieces[bare.index(not bare[0])]
        raise _mixed(title, int(odd.lines[0]), without=bare[bare.index(not bare[0])])
    features, numbers = _matrix(pieces, title)
    return Letor(
        features,
        numbers,
        frozenset(
            np.unique(np.concatenate([piece.numbers for piece in pieces])).tolist()
        ),
        np.concatenate([piece.labels for piece in pieces]),
        None
        if bare[0]
        else pl.concat([piece.qid for piece in pieces if piece.qid is not None]),
        pl.concat([piece.comments for piece in pieces]),
        np.concatenate([piece.lines for piece in pieces]),
    )


def docids(comments: pl.Series) -> pl.Series | None:
    """Return the documents' ids that comments name, ``docid = X`` or the first word; else ``None``."""
    ids = comments.str.extract(_DOCID)
    if ids.null_count() == len(ids):
        ids = comments.str.extract(r"^\s*(\S+)")
    return None if ids.null_count() else ids


def _lines(path: Path) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield pieces of the file and the number of the line each begins with."""
    source = read_stream(str(path)) if is_stream(path) else path
    refuse_endless(source, str(path))
    first = 1
    for piece in pl.scan_lines(source, name="text", glob=False).collect_batches(
        chunk_size=1 << 15
    ):
        yield piece, first
        first += piece.height


def _piece(table: pl.DataFrame, first: int, title: str, dtype: str) -> _Piece:
    """Read one piece; where that fails, look for the line that is at fault."""
    parts = table.with_row_index("line", offset=first).with_columns(
        pl.col("text")
        .str.splitn("#", 2)
        .struct.rename_fields(["body", "comment"])
        .struct.unnest()
    )
    parts = parts.with_columns(
        pl.col("body").str.replace_all(r"\s+", " ").str.strip_chars(" ")
    )
    parts = parts.filter(pl.col("body") != "")
    if not parts.height:
        nothing = np.empty(0, np.int64)
        return _Piece(
            np.empty(0),
            None,
            pl.Series([], dtype=pl.String),
            nothing,
            nothing,
            nothing,
            nothing,
        )
    try:
        return _split(parts, dtype)
    except (_Untidy, pl.exceptions.PolarsError) as error:
        for line, body in parts.select("line", "body").iter_rows():
            check_line(body, f"{title}:{line}", dtype)
        with_qid = parts["body"].str.contains(" qid:", literal=True)
        if with_qid.n_unique() > 1:
            odd = first_true(with_qid != with_qid[0])
            raise _mixed(title, parts["line"][odd], without=not with_qid[odd]) from None
        raise InputError(
            "the lines cannot be read", where=title, given=printable(error)
        ) from error


class _Untidy(Exception):
    """Something in a piece is not as it should be; lines will say what."""


def _split(parts: pl.DataFrame, dtype: str) -> _Piece:
    """Split lines: colons become blanks, which makes a table of cells."""
    body = parts["body"]
    is_grouped = body.str.contains(r"^\S+ qid:")
    if is_grouped.n_unique() > 1:
        raise _Untidy
    has_qid = bool(is_grouped[0])

    plain = body.str.replace_all(":", " ", literal=True)
    colons = body.str.count_matches(":", literal=True).to_numpy().astype(np.int64)
    blanks = plain.str.count_matches(" ", literal=True).to_numpy()
    stored = colons - int(has_qid)
    if not (blanks == 2 * colons).all():
        raise _Untidy
    width = int(stored.max())
    cells = _cells(plain, has_qid, width, dtype)
    if cells.height != parts.height:
        raise _Untidy
    if cells["label"].null_count() or not cells["label"].is_finite().all():
        raise _Untidy

    shape = (len(stored), width)
    in_columns = [pl.col(f"i{place}").fill_null(-1) for place in range(width)]
    values_in_columns = [
        pl.col(f"v{place}").fill_null(math.nan) for place in range(width)
    ]
    numbers = cells.select(in_columns).to_numpy().reshape(shape)
    values = cells.select(values_in_columns).to_numpy().reshape(shape)
    is_stored = np.arange(width) < stored[:, None]
    flat = numbers[is_stored]
    taken = values[is_stored]
    if (flat < 0).any() or (flat > _MOST).any() or not np.isfinite(taken).all():
        raise _Untidy
    qid = cells["qid"] if has_qid else None
    if qid is not None and qid.null_count():
        raise _Untidy
    if (numbers[:, 1:] <= numbers[:, :-1])[is_stored[:, 1:]].any():
        flat, taken = _ascending(flat, taken, stored)

    lines = parts["line"].to_numpy().astype(np.int64)
    comments = parts["comment"].fill_null("").str.strip_chars()
    return _Piece(
        cells["label"].to_numpy(),
        qid,
        comments,
        lines,
        stored,
        flat.astype(np.int64),
        taken,
    )


def _cells(lines: pl.Series, has_qid: bool, width: int, dtype: str) -> pl.DataFrame:  # noqa: FBT001 - of all lines
    """Return lines as a table: ``label``, ``qid`` after its word, then number and value of each feature."""
    schema: NamedValues = {"label": pl.Float64}
    if has_qid:
        schema |= {"word": pl.String, "qid": pl.String}
    kind = pl.Float32 if dtype == "float32" else pl.Float64
    for place in range(width):
        schema |= {f"i{place}": pl.Int32, f"v{place}": kind}
    return pl.read_csv(
        "\n".join(lines.to_list()).encode(),
        has_header=False,
        schema=schema,
        separator=" ",
        quote_char=None,
        missing_columns="insert",
    )


def _ascending(numbers: Any, values: Any, counts: Ints) -> tuple[Any, Any]:  # noqa: ANN401 - arrays
    """Return each line's features in the order of their numbers; refuse the same one twice."""
    row = list_numbers(counts)
    order = np.lexsort((numbers, row))
    numbers = numbers[order]
    values = values[order]
    if ((numbers[1:] == numbers[:-1]) & (row[1:] == row[:-1])).any():
        raise _Untidy
    return numbers, values


def check_line(body: str, where: str, dtype: str) -> None:
    """Refuse a malformed line; ``body`` is the text before its comment."""
    words = body.split()
    if not _NUMBER.fullmatch(words[0]):
        raise BadLine(
            "the label is not a number",
            where=where,
            given=printable(body),
            expected=_EXPECTED,
        )
    rest = words[2:] if words[1:] and words[1].startswith("qid:") else words[1:]
    if len(rest) < len(words) - 1 and words[1] == "qid:":
        raise BadLine(
            "the query has no id",
            where=where,
            given=printable(body),
            expected=_EXPECTED,
        )
    if len(rest) < len(words) - 1 and words[1].count(":") > 1:
        raise BadLine(
            "a query's id with a colon in it", where=where, given=printable(words[1])
        )
    met = set()
    for word in rest:
        number, colon, value = word.partition(":")
        if not colon or not number.isdecimal() or int(number) > _MOST:
            raise BadLine(
                f"{printable(word)!r} is not a feature",
                where=where,
                given=printable(body),
                expected=_EXPECTED,
            )
        if int(number) in met:
            raise BadLine(
                f"feature {number} occurs twice in the line",
                where=where,
                given=printable(body),
            )
        met.add(int(number))
        if not _NUMBER.fullmatch(value) or abs(float(value)) > float(
            np.finfo(dtype).max
        ):
            raise BadLine(
                f"feature {number} is {printable(value)!r}",
                where=where,
                given=printable(body),
                expected="a finite number",
            )


def _mixed(title: str, line: int, *, without: bool) -> BadLine:
    return BadLine(
        "the line has no qid, and those before it do"
        if without
        else "the first line with a qid",
        where=f"{title}:{line}",
        expected="a qid in every line, or in none and a file of group sizes",
    )


def _matrix(pieces: list[_Piece], title: str) -> tuple[Any, list[int]]:
    """Return features and their numbers, which begin at 1 unless there is a feature 0."""
    counts = np.concatenate([piece.counts for piece in pieces])
    stored = [piece for piece in pieces if len(piece.numbers)]
    if not stored:
        raise EmptyInput("no line has a feature", where=title, expected=_EXPECTED)
    least = min(int(piece.numbers.min()) for piece in stored)
    base = min(least, 1)
    width = max(int(piece.numbers.max()) for piece in stored) + 1 - base
    kind = stored[0].values.dtype
    numbers = list(range(base, base + width))
    if counts.sum() >= _DENSE * len(counts) * width:
        features = np.zeros((len(counts), width), kind)
        begin = 0
        for piece in pieces:
            rows = np.repeat(np.arange(begin, begin + len(piece.counts)), piece.counts)
            if len(rows):
                features[rows, piece.numbers - base] = piece.values
            begin += len(piece.counts)
        return features, numbers
    from scipy.sparse import csr_array

    columns = np.concatenate([piece.numbers for piece in stored]) - base
    values = np.concatenate([piece.values for piece in stored])
    ends = offsets_of(counts)
    return csr_array((values, columns, ends), shape=(len(counts), width)), numbers


def sizes_beside(path: Path) -> Path | None:
    """Return the file of group sizes that LightGBM looks for: ``rank.train.query`` next to ``rank.train``."""
    for name in (path, unpacked_name(path)):
        for suffix in (".query", ".group"):
            sizes_file = name.with_name(name.name + suffix)
            if sizes_file.is_file():
                return sizes_file
    return None


def group_sizes(path: Path, rows: int) -> list[int]:
    """Read group sizes, a number a line; refuse those that do not add up to the rows."""
    sizes = []
    for number, line in enumerate(read_text(str(path)).splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        if not text.isdecimal():
            raise BadLine(
                f"{printable(text)!r} is not a group size",
                where=f"{path}:{number}",
                expected="how many rows the next query has",
            )
        sizes.append(int(text))
    if sum(sizes) != rows:
        raise BadValue(
            f"groups of {counted(sum(sizes), 'row')} together, and {there_are(rows, 'row')}",
            where=str(path),
            expected="a size for each query, in the order of the rows",
        )
    return sizes
