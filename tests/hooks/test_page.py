"""What docs/hooks.md shows runs, from the first block to the last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.making.printed import blocks, run_python

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.hooks, pytest.mark.filterwarnings("ignore")]
PAGE = Path(__file__).parents[2] / "docs" / "hooks.md"


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Leave libraries as they were found."""
    for name in ("lightgbm", "xgboost", "catboost", "sklearn", "optuna"):
        pytest.importorskip(name)
    providers = pytest.importorskip("ir_measures").DefaultPipeline.providers
    kept = list(providers)
    yield
    providers[:] = kept


def test_the_page_runs() -> None:
    """And prints something wherever it says so."""
    names: dict[str, Any] = {}
    printed = 0
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.kind == "py":
            shown = run_python(block.code, names)
            printed += bool(shown)
            assert bool(shown) == ("print(" in block.code)
    assert printed == 8
