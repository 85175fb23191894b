"""YAML as the value that JSON would hold: every scalar is text, as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.errors import BadLine, DuplicateRows, EmptyInput, InputError, printable
from rankstone.io.json_objects import read_text

if TYPE_CHECKING:
    from rankstone._basics import StrPath


def yaml_value(path: StrPath) -> Any:  # noqa: ANN401 - whatever YAML holds
    """Return the value in a YAML file: dicts, lists and texts.

    Numbers stay texts, since ``1.10`` is an id as often as a number.

    Raises
    ------
    InputError
        Where PyYAML is not installed, or the file is no YAML.
    """
    node = yaml_nodes(read_text(str(path), longest=None), str(path))
    return _value(node, str(path), set())


def yaml_nodes(text: str, name: str) -> Any:  # noqa: ANN401 - a node of PyYAML
    """Return the root node of a YAML text; nodes know the lines and columns where they stand."""
    try:
        import yaml
    except ImportError:
        raise InputError(
            "reading YAML needs PyYAML",
            where=name,
            fix='pip install "rankstone[yaml]", or write it as JSON',
        ) from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f":{mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error)
        raise BadLine(
            f"this is not YAML: {printable(problem, 80)}", where=f"{name}{line}"
        ) from None
    if node is None:
        raise EmptyInput("the file is empty", where=name, expected="YAML data")
    return node


def _value(node: Any, name: str, seen: set[int]) -> Any:  # noqa: ANN401 - of PyYAML
    """Return the value of a node."""
    place = f"{name}:{node.start_mark.line + 1}"
    if id(node) in seen:
        raise BadLine(
            "an alias (*name) is not read", where=place, expected="the value itself"
        )
    seen.add(id(node))
    if node.id == "sequence":
        return [_value(item, name, seen) for item in node.value]
    if node.id == "scalar":
        is_null = node.tag == "tag:yaml.org,2002:null"
        return None if is_null else node.value

    value: dict[str, Any] = {}
    for key, item in node.value:
        text = str(key.value)
        if text in value:
            raise DuplicateRows(
                f"{printable(text)} occurs twice in one object",
                where=f"{name}:{key.start_mark.line + 1}",
                expected="each key once",
            )
        value[text] = _value(item, name, seen)
    return value
