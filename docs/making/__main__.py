"""``python -m docs.making catalogue | desk | pages | stage``, where the dependency group ``docs`` is installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from docs.making import (
    catalogue,
    classic,
    desk,
    figures,
    house,
    measures,
    notebooks,
    options,
    pictures,
    printed,
    staging,
)

ROOT = Path(__file__).resolve().parents[2]
INSTALLING = """\
Pages show every extra and the reference every module; the dependency group docs installs what they need:
make pages, make site, or in an environment of your own: pip install --editable . --group docs"""


def pages() -> dict[str, str]:
    """Return the committed pages that this package writes, or writes on, by their names under ``docs/``."""
    readmes = [ROOT / "README.md", ROOT / "README.zh.md"]
    by_hand = {
        os.path.relpath(path, ROOT / "docs"): printed.refreshed(path.read_text("utf-8"))
        for path in (*(ROOT / "docs").glob("*.md"), *readmes)
    }
    by_hand |= {
        name: figures.with_figures(text)
        for name, text in by_hand.items()
        if name.startswith("../README")
    }
    return by_hand | {
        "architecture.md": house.architecture(by_hand["architecture.md"]),
        "classic-examples.md": classic.page("en"),
        "classic-examples.zh.md": classic.page("zh"),
        "options.md": options.with_table(by_hand["options.md"]),
        "measures.zh.md": measures.chinese(measures.families()),
        **{f"pictures/{name}": text for name, text in pictures.pictures().items()},
        **{
            f"../examples/notebooks/{name}.ipynb": notebooks.written(name)
            for name in notebooks.names()
        },
    }


def write(*words: str) -> None:
    """Write what was asked for."""
    match words:
        case ("pages",):
            for name, text in pages().items():
                path = ROOT / "docs" / name
                if not path.exists() or path.read_text("utf-8") != text:
                    path.write_text(text, encoding="utf-8")
        case ("catalogue",):
            for path, text in catalogue.stubs().items():
                path.write_text(text, encoding="utf-8")
        case ("desk",):
            if desk.stale():
                desk.PACKED.write_bytes(desk.packed())
        case ("stage",):
            staging.stage(ROOT / "build")
        case _:
            sys.exit(__doc__)


def main(*words: str) -> None:
    """Write what was asked for, or end with a sentence that says what is missing."""
    try:
        write(*words)
    except (printed.BrokenCommand, staging.BrokenLink) as error:
        sys.exit(str(error))
    except ImportError as error:  # of what a page shows or the reference describes
        sys.exit(f"{error}\n{INSTALLING}")


if __name__ == "__main__":
    main(*sys.argv[1:])
