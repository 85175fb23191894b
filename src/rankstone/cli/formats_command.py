"""``rankstone formats``: the files that are read, and the shapes of those that other programs write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.declaring import declare
from rankstone.cli.execution import check_format
from rankstone.errors import BadOption, did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.io import Shape


_FORMATS = {"format": {"values": "text|json", "default": "text"}}
_HEADINGS = {"judgments": "Judgments", "run": "Runs"}


@declare("formats", {"name": "[SHAPE]"}, "format shape", but=_FORMATS)
def command(name: str | None, form: str) -> None:
    r"""List the files that are recognised; with a name, what such a file looks like and how it is read.

    \b
    rankstone formats
    rankstone formats ratings
    """
    from rankstone.io import known_shapes, own_shapes

    check_format(form, ("text", "json"))
    own = click.get_current_context().meta.get("rankstone.shape")
    shapes = [*(own_shapes(own) if own else ()), *known_shapes()]
    if name is not None:
        names = list(dict.fromkeys(shape.name for shape in shapes))
        shapes = [shape for shape in shapes if shape.name == name]
        if not shapes:
            raise BadOption(
                f"there is no shape {name}",
                expected="a name that `rankstone formats` lists",
                fix=did_you_mean(
                    name, names, lambda known: f"rankstone formats {known}"
                ),
            )
    if form == "json":
        objects = [_object(shape) for shape in shapes]
        click.echo(json.dumps(objects, ensure_ascii=False, indent=2))
        return
    click.echo(_listing(shapes) if name is None else "\n\n".join(map(_card, shapes)))


def _listing(shapes: Sequence[Shape]) -> str:
    """Return the formats with their suffixes, and a line for each shape."""
    from rankstone.io import FORMATS

    lines = ["Formats, by content and suffix (--format-in names one)"]
    for name, suffixes in FORMATS.items():
        lines.append(f"  {name:<8} {' '.join(suffixes)}")
    width = max(len(shape.name) for shape in shapes)
    for role, heading in _HEADINGS.items():
        lines += ["", f"{heading} of other programs, by what their files hold"]
        for shape in shapes:
            if shape.role == role:
                writers = ", ".join(shape.written_by)
                lines.append(f"  {shape.name:<{width}}  {shape.title} ({writers})")
    lines += ["", "rankstone formats NAME shows a file, and how it is read"]
    return "\n".join(lines)


def _card(shape: Shape) -> str:
    """Return what a file looks like, who writes it, and the rows that it is read as."""
    columns = ["query_id", "doc_id", "relevance", "rank", "score"]
    columns = [name for name in columns if any(name in row for row in shape.reads)]
    cells = [columns, *([str(row.get(n, "")) for n in columns] for row in shape.reads)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = (
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(
        [
            f"{shape.name}: {shape.title}",
            f"written by  {', '.join(shape.written_by)}",
            f"holds       {shape.role}",
            "looks like",
            *(
                f"  {printable(line, 200)}"
                for line in shape.example.strip().split("\n")
            ),
            "is read as",
            *(row.rstrip() for row in rows),
        ]
    )


def _object(shape: Shape) -> dict[str, Any]:
    return {
        "name": shape.name,
        "title": shape.title,
        "written_by": list(shape.written_by),
        "role": shape.role,
        "example": shape.example,
        "reads": list(shape.reads),
    }
