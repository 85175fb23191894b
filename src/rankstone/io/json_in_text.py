"""Whether a text is JSON or JSON lines, by how it begins."""

from __future__ import annotations

import json
import re
from typing import Any, Final

#: no other text that is read begins so: an object with a name, or a list of containers or texts
_BEGINS: Final = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[\[{"\]])')
_BOM: Final = b"\xef\xbb\xbf"


def json_format(block: bytes, by_name: str) -> str:
    r"""Return ``json`` or ``jsonl`` for the first bytes of a text, empty where it is neither.

    Parameters
    ----------
    block
        The first bytes, or all of them.
    by_name
        The format that the name stands for; it decides about a single line, which may be either.

    >>> json_format(b'{"q1": {"d1": 1}}', "trec"), json_format(b'{"query_id": "q1"}', "trec")
    ('json', 'jsonl')
    >>> json_format(b'{"query_id": "q1"}\n{"query_id"', "json"), json_format(b"q1 0 d1 1", "json")
    ('jsonl', '')
    """
    text = block.removeprefix(_BOM).lstrip()
    if not _BEGINS.match(text):
        return ""
    if text.startswith(b"["):
        return "json"

    line, _, rest = text.partition(b"\n")
    first = _parsed(line)
    if first is None:  # it goes on in the next line, or behind the block
        is_one_line = by_name == "jsonl" and not rest
        return "jsonl" if is_one_line else "json"
    if rest.lstrip().startswith(b"{") and not _holds_containers(first):
        return "jsonl"
    if by_name in ("json", "jsonl"):
        return by_name
    return "json" if rest.strip() or _holds_containers(first) else "jsonl"


def _parsed(line: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(line)
    except ValueError:
        return None


def _holds_containers(value: dict[str, Any]) -> bool:
    """Return whether an object holds queries, rather than the columns of a row."""
    return all(isinstance(part, (dict, list)) for part in value.values())
