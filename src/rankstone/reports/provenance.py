"""Where the numbers of a page come from: inputs with their hashes, options, versions."""

from __future__ import annotations

import platform
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import masked, printable
from rankstone.io.sources import is_database

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: characters of the name of an input
_NAME: Final = 300


def inputs(found: Any) -> list[tuple[str, str, str]]:  # noqa: ANN401 - any result with inputs
    """Return the name, the source and, of files, the SHA-256 of every input; files are read again."""
    return [
        (printable(name, _NAME), printable(masked(source), _NAME), _hash(source))
        for name, source in flat(found.inputs, last_name=True)
    ]


def _hash(source: str) -> str:
    is_file = not is_database(source) and Path(source).is_file()
    return sha256(Path(source).read_bytes()).hexdigest() if is_file else ""


def versions() -> str:
    """Return what a page was made with."""
    packages = {name: version(name) for name in ("rankstone", "numpy", "polars", "scipy")}
    return " · ".join(f"{name} {one}" for name, one in {**packages, "Python": platform.python_version()}.items())


def flat(values: Mapping[str, Any], above: str = "", *, last_name: bool = False) -> Iterator[tuple[str, str]]:
    """Yield nested options as names and values.

    >>> [*flat({"alignment": {"ties": "docid_desc", "depth": None}, "measures": ["AP", "RR"]})]
    [('alignment.ties', 'docid_desc'), ('alignment.depth', '–'), ('measures', 'AP RR')]
    """
    for name, value in values.items():
        path = name if last_name or not above else f"{above}.{name}"
        if isinstance(value, dict):
            yield from flat(value, path, last_name=last_name)
        elif isinstance(value, (list, tuple)):
            yield path, " ".join(map(str, value))
        else:
            yield path, "–" if value is None else str(value)
