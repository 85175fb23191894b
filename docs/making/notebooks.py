"""The example notebooks: their cells run and their outputs written anew, and a page of the site for each.

Cells run in this process, in the notebook's folder, as ``make pages`` has no kernel; a test runs them in a
real one and compares.  Each cell that shows something shows one result, as HTML with a text beside it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from pathlib import Path
from typing import Any, Final

__all__ = ["FOLDER", "names", "page", "written"]

FOLDER: Final = Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def names() -> list[str]:
    """Return the notebooks' names, without their suffix."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def written(name: str) -> str:
    """Return a notebook with the outputs that its cells have now."""
    book: dict[str, Any] = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))
    known: dict[str, Any] = {}
    with contextlib.chdir(FOLDER):
        for count, cell in enumerate(
            (one for one in book["cells"] if one["cell_type"] == "code"), 1
        ):
            shown = _run("".join(cell["source"]), known)
            cell |= {
                "execution_count": count,
                "outputs": [] if shown is None else [_output(shown, count)],
            }
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _run(code: str, known: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever the cell ends with
    """Run a cell, and return the value of its last line if that is an expression."""
    tree = ast.parse(code)
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    exec(compile(tree, "cell", "exec"), known)  # noqa: S102 - our own notebooks
    return None if last is None else eval(ast.unparse(last), known)  # noqa: S307


def _output(shown: Any, count: int) -> dict[str, Any]:  # noqa: ANN401
    data = {"text/html": _lines(shown._repr_html_()), "text/plain": _lines(repr(shown))}
    return {
        "data": data,
        "execution_count": count,
        "metadata": {},
        "output_type": "execute_result",
    }


def _lines(text: str) -> list[str]:
    """Return a text as notebooks store it."""
    return text.splitlines(keepends=True)


def page(name: str) -> str:
    """Return a notebook as a page: its text, its code, and the HTML that its cells show."""
    parts = []
    for cell in json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(
            source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        )
        parts += [
            _shown("".join(output["data"]["text/html"]))
            for output in cell.get("outputs", [])
        ]
    title, _, rest = parts[0].partition("\n")
    source = (
        f"This page is the notebook `examples/notebooks/{name}.ipynb` with its outputs."
    )
    return "\n\n".join([title, f"{rest.strip()} {source}", *parts[1:]]) + "\n"


def _shown(html: str) -> str:
    """Return what a cell shows as a part of a page: styles are the site's, headings are not the page's."""
    html = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", html, flags=re.DOTALL)
    html = re.sub(r"<h[34]>(.*?)</h[34]>", r"<p><strong>\1</strong></p>", html)
    return (
        f'<div class="cell">\n{re.sub(chr(10) + "{2,}", chr(10), html.strip())}\n</div>'
    )
