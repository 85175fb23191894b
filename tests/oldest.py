"""``python tests/oldest.py``: the lowest versions that pyproject.toml allows, as pip takes them.

Those of the dependencies and of every extra, without extras that bring gigabytes or need Java.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

HEAVY = {"all", "spark", "torch"}


def lowest() -> list[str]:
    """Return requirements of one version each."""
    project = tomllib.loads(
        Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8")
    )["project"]
    extras = [
        wanted
        for name, wanted in project["optional-dependencies"].items()
        if name not in HEAVY
    ]
    every = dict.fromkeys(
        item for wanted in (project["dependencies"], *extras) for item in wanted
    )
    return [re.sub(r">=([\d.]+).*", r"==\1", item) for item in every]


if __name__ == "__main__":
    print(*lowest())  # noqa: T201 - for make
