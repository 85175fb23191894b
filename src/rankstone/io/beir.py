"""BEIR's data as they are downloaded: a folder for a collection, judgments with a header of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rankstone.errors import InputError
from rankstone.io.addresses import is_database

__all__ = ["BEIR", "judgments_in"]

#: the header of its judgments → what it is called here; their score is a grade
BEIR: Final = {"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"}
_BESIDE: Final = ("corpus.jsonl", "queries.jsonl", "corpus.jsonl.gz", "queries.jsonl.gz")


def judgments_in(source: object) -> tuple[object, tuple[str, ...]]:
    """Return the judgments in a folder of BEIR's, those of its test split, and what to tell; else the source.

    >>> judgments_in("qrels.txt")
    ('qrels.txt', ())
    """
    if not isinstance(source, (str, os.PathLike)) or is_database(source):
        return source, ()
    folder = Path(source)
    if not (folder / "qrels").is_dir() or not any((folder / name).is_file() for name in _BESIDE):
        return source, ()
    splits = sorted(path for path in (folder / "qrels").glob("*.tsv") if not path.name.startswith("."))
    tests = [path for path in splits if path.name == "test.tsv"]
    if not splits:
        return source, ()
    if not tests and len(splits) > 1:
        raise InputError(
            "this folder of BEIR's has judgments for several splits, and none is test.tsv",
            where=os.fspath(source),
            given=", ".join(f"qrels/{path.name}" for path in splits),
            expected="the judgments of one split",
            fix=f"name them: {splits[0]}",
        )
    taken = (tests or splits)[0]
    others = [path.name for path in splits if path != taken]
    told = f"BEIR's folder: qrels/{taken.name}" + (f" (beside {', '.join(others)})" if others else "")
    return taken, (told,)
