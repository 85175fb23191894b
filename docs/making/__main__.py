"""``python -m docs.making catalogue | man | pages | size | stage``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from docs.making import (
    catalogue,
    classic,
    house,
    manual,
    measures,
    notebooks,
    options,
    pictures,
    printed,
    sizes,
    staging,
    upgrading,
)

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, str]:
    """Return the committed pages that this package writes, or writes on, by their names under ``docs/``."""
    readmes = [ROOT / "README.md", ROOT / "README.zh.md"]
    by_hand = {
        os.path.relpath(path, ROOT / "docs"): printed.refreshed(path.read_text("utf-8"))
        for path in (*(ROOT / "docs").glob("*.md"), *readmes)
    }
    return by_hand | {
        "architecture.md": house.architecture(by_hand["architecture.md"]),
        "classic-examples.md": classic.page("en"),
        "classic-examples.zh.md": classic.page("zh"),
        "options.md": options.with_table(by_hand["options.md"]),
        "measures.zh.md": measures.chinese(measures.families()),
        "upgrading.md": upgrading.page(),
        **{f"pictures/{name}": text for name, text in pictures.pictures().items()},
        **{
            f"../examples/notebooks/{name}.ipynb": notebooks.written(name)
            for name in notebooks.names()
        },
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["pages"]:
        for name, text in pages().items():
            path = ROOT / "docs" / name
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, encoding="utf-8")
    elif sys.argv[1:] == ["catalogue"]:
        for path, text in catalogue.stubs().items():
            path.write_text(text, encoding="utf-8")
    elif sys.argv[1:] == ["man"]:
        manual.write(ROOT / "build" / "man")
    elif sys.argv[1:] == ["size"]:
        print(sizes.size_table())
    elif sys.argv[1:] == ["stage"]:
        staging.stage(ROOT / "build")
    else:
        sys.exit(__doc__)
