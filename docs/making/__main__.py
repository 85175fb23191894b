"""``python -m docs.making pages | stage``."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.making import classic

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, str]:
    """Return the committed pages that are written by this package, by their names under ``docs/``."""
    return {
        "classic-examples.md": classic.page("en"),
        "classic-examples.zh.md": classic.page("zh"),
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["pages"]:
        sys.exit(__doc__)
    for name, text in pages().items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")
