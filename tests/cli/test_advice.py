"""Advice that can be followed: on Windows, too, and with the packages that are installed."""

from __future__ import annotations

import ast
import re
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import rankstone
from rankstone._basics import quoted
from rankstone.cli.ending import ended, outdated

if TYPE_CHECKING:
    import pytest

SOURCE = Path(rankstone.__file__).parent
#: what only some shells know → what must stand beside it for everybody else
OF_SOME_SHELLS = {
    r"iconv|sha256sum": "PowerShell|editor",
    r"mkdir -p|zcat|gunzip|<\(|\| *sort\b|\bsort -|export [A-Z]|chmod|\bawk\b|\bsed -|/dev/": None,
    r"(?<!\S)--?[a-z][a-z-]* '": None,  # quotes that cmd takes for part of the argument
}


def texts_of_code() -> list[tuple[str, str]]:
    """Return the texts of the code that people may see, docstrings left out, with their places."""
    rows = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    part.value if isinstance(part, ast.Constant) else "{}"
                    for part in node.values
                ]
                rows.append((f"{path.name}:{node.lineno}", "".join(map(str, parts))))
            elif (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docs
            ):
                rows.append((f"{path.name}:{node.lineno}", node.value))
    return rows


def test_no_advice_holds_what_only_some_shells_know() -> None:
    """Every message can be followed on Windows, or says what to do there."""
    texts = texts_of_code()
    assert len(texts) > 5000
    for only, beside in OF_SOME_SHELLS.items():
        for place, text in texts:
            if (
                " " in text.strip()
                and re.search(only, text)
                and text.count("{}") + len(text) < 2000
            ):
                assert beside is not None, (place, text)
                whole = " ".join(other for where, other in texts if where == place)
                assert re.search(beside, whole), (place, text)


def test_quotes_that_every_shell_takes() -> None:
    """Double quotes, unless the text has some."""
    assert quoted("ndcg_score(k=10)") == '"ndcg_score(k=10)"'
    assert quoted('AP(rel=">0")') == "'AP(rel=\">0\")'"


def test_an_old_package_is_no_bug_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence and the command; what is new enough leaves the bug a bug."""
    assert outdated() is None
    assert ended(AttributeError("no attribute 'collect_batches'")) == 70
    assert "internal error: AttributeError" in capsys.readouterr().err

    true = metadata.version
    monkeypatch.setattr(
        "rankstone.cli.ending.version",
        lambda name: "1.41.2" if name == "polars" else true(name),
    )
    assert ended(AttributeError("no attribute 'collect_batches'")) == 5
    assert capsys.readouterr().err == (
        "error: polars 1.41.2 is older than rankstone needs (2.1 or later)\n"
        '  fix:      python -m pip install --upgrade "polars>=2.1"\n'
    )


def test_extras_may_be_of_any_age(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that only an extra needs have errors of their own."""
    wanted = ["polars<3,>=2.0", 'altair>=5.5; extra == "report"']
    monkeypatch.setattr("rankstone.cli.ending.requires", lambda _name: wanted)
    monkeypatch.setattr(
        "rankstone.cli.ending.version",
        lambda name: {"polars": "2.0.1"}.get(name, "0.1"),
    )
    assert outdated() is None
