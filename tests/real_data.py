"""Real collections: in the folder that RANKSTONE_DATA names, which a clone of the project does not bring."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

DATA: Final = Path(
    os.environ.get(
        "RANKSTONE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"
    )
).resolve()

#: how the reason begins where there is no such folder at all
NO_FOLDER: Final = "no folder of real collections"


def data(*parts: str) -> Path:
    """Return a file or folder among the real collections, or skip the test and say why."""
    if not DATA.exists():
        pytest.skip(f"{NO_FOLDER}: {DATA} (RANKSTONE_DATA names it)")
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"not among the real collections: {path}")
    return path
