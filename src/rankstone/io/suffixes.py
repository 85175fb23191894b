"""What the suffix of a file's name stands for; no other file holds a suffix of a table or a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: formats of tables that are read → suffixes; most of them are written, too
FORMATS: Final = {
    "trec": (".trec", ".txt", ".run", ".qrels", ".qrel", ".res", ".test"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".ipc", ".feather"),
    "xlsx": (".xlsx",),
}
#: names under which judgments, and runs, are written as TREC text
QRELS_SUFFIXES: Final = (".qrels", ".qrel", ".trec", ".txt")
RUN_SUFFIXES: Final = (".run", ".trec")
#: the name of text of any kind, a table among others
ANY_TEXT: Final = ".txt"
#: what is only written → suffixes
PAGES: Final = {"md": (".md",), "tex": (".tex",), "html": (".html", ".htm")}
#: what charts are written as
CHARTS: Final = ("svg", "png", "pdf", "html")

GZIP: Final = ".gz"
_PACKED: Final = (GZIP, ".zst", ".zstd")
_SUFFIXES: Final = FORMATS | PAGES


def _by_suffix(formats: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return {suffix: format}."""
    return {suffix: name for name, suffixes in formats.items() for suffix in suffixes}


_READ_AS: Final = _by_suffix(FORMATS)
_WRITTEN_AS: Final = _by_suffix(_SUFFIXES)


def suffixes_of(*formats: str) -> tuple[str, ...]:
    """Return the suffixes of some formats.

    >>> suffixes_of("csv", "jsonl", "html")
    ('.csv', '.jsonl', '.ndjson', '.html', '.htm')
    """
    return tuple(suffix for name in formats for suffix in _SUFFIXES[name])


def is_packed(path: Path) -> bool:
    """Return whether the name is that of a compressed file: ``run.txt.gz``."""
    return path.suffix in _PACKED


def unpacked_name(path: Path) -> Path:
    """Return the name without the suffix of its compression.

    >>> from pathlib import Path
    >>> unpacked_name(Path("runs/bm25.txt.gz")).name
    'bm25.txt'
    """
    return path.with_suffix("") if is_packed(path) else path


def suffix_of(path: Path) -> str:
    """Return the last suffix in small letters, compression looked through."""
    return unpacked_name(path).suffix.lower()


def named_format(path: Path, default: str = "") -> str:
    """Return the format that a name stands for, compression looked through; the default for other names.

    >>> from pathlib import Path
    >>> named_format(Path("run.CSV.gz")), named_format(Path("run.dat"), "trec")
    ('csv', 'trec')
    """
    return _READ_AS.get(suffix_of(path), default)


def written_format(path: Path) -> str:
    """Return the format of a file to be written, which nothing packs; empty for an unknown suffix.

    >>> from pathlib import Path
    >>> written_format(Path("scores.parquet")), written_format(Path("scores.csv.gz"))
    ('parquet', '')
    """
    return _WRITTEN_AS.get(path.suffix.lower(), "")


def without_suffixes(path: Path) -> Path:
    """Return the name without known suffixes: ``bm25.v2.run.gz`` is ``bm25.v2``."""
    while is_packed(path) or path.suffix.lower() in _READ_AS:
        path = path.with_suffix("")
    return path
