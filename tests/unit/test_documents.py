"""What the documents show is what the project does."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path


def test_the_readme_shows_what_is_printed() -> None:
    """The example in both readmes prints what stands below it."""
    root = Path(__file__).resolve().parents[2]
    for name in ("README.md", "README.zh.md"):
        text = (root / name).read_text(encoding="utf-8")
        code = text.split("```python\n")[1].split("```")[0]
        shown = text.split("```text\n")[1].split("```")[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, {})  # noqa: S102 - our own readme

        assert shown == out.getvalue(), name


def test_every_command_and_option_is_told() -> None:
    """Each command of the command line stands in both readmes."""
    root = Path(__file__).resolve().parents[2]
    for name in ("README.md", "README.zh.md"):
        text = (root / name).read_text(encoding="utf-8")
        for command in ("eval", "check", "measures"):
            assert f"rankstone {command}" in text
