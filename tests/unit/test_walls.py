"""Who may import whom, and what an import costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rankstone

SOURCE = Path(rankstone.__file__).parent

#: room → rooms and modules it may import from (errors and words are for everybody)
WALLS = {
    "errors": set(),
    "words": set(),
    "io": {"io"},
    "hits": {"hits"},
    "measures": {"measures", "hits"},
    "results": {"io"},
    "scores": {"scores", "results", "measures", "hits"},
    "lists": {"lists", "sheets", "results", "scores", "measures", "io", "hits"},
    "beside": {"measures", "io", "hits"},
    "road": {"beside", "scores", "measures", "io", "hits"},
    "truth": {"io"},
    "beyond_accuracy": {"beyond_by_convention", "lists", "evaluation", "scores", "measures", "io", "hits"},
    "asked": {"measures", "hits"},
    "labelled": {"asked", "beside", "road", "measures", "io", "hits"},
    "naming": {"io"},
    "evaluation": {
        "asked",
        "beside",
        "by_convention",
        "labelled",
        "naming",
        "road",
        "scores",
        "measures",
        "io",
        "hits",
    },
    "beyond_by_convention": {"beyond_accuracy", "conventions", "lists", "scores", "measures", "hits"},
    "conventions": {"conventions", "lists", "measures", "hits"},
    "by_convention": {"conventions", "evaluation", "scores", "measures", "hits"},
    "curves": {"curves", "plots", "stats", "results", "measures", "hits"},
    "stats": {"stats"},
    "out_of_core": {
        "out_of_core",
        "tasks",
        "asked",
        "beside",
        "evaluation",
        "road",
        "results",
        "scores",
        "io",
        "measures",
        "hits",
    },
    "tasks": {"tasks", "asked", "beside", "road", "scores", "stats", "results", "io", "measures", "hits"},
    "spark": {
        "spark",
        "tasks",
        "comparing",
        "stats",
        "sheets",
        "results",
        "asked",
        "beside",
        "road",
        "scores",
        "io",
        "measures",
        "hits",
    },
    "plots": {"plots", "io", "behaviour", "comparing", "curves", "tracing", "measures"},
    "report": {
        "report",
        "plots",
        "behaviour",
        "comparing",
        "curves",
        "explaining",
        "identifying",
        "sheets",
        "io",
    },
    "comparing": {
        "comparing",
        "plots",
        "report",
        "sheets",
        "stats",
        "asked",
        "bounding",
        "evaluation",
        "results",
        "scores",
        "measures",
        "io",
        "hits",
    },
    "tracing": {"curves", "evaluation", "measures"},
    "findings": set(),
    "checking": {
        "checking",
        "against_chance",
        "asked",
        "findings",
        "io",
        "evaluation",
        "hits",
        "measures",
        "stats",
    },
    "baselines": {"measures", "hits"},
    "gains": {"baselines", "measures"},
    "random_lists": {"scores", "measures", "hits"},
    "against_chance": {
        "baselines",
        "evaluation",
        "gains",
        "random_lists",
        "results",
        "road",
        "scores",
        "measures",
        "io",
        "hits",
    },
    "bounding": {"bounding", "evaluation", "road", "results", "scores", "measures", "io", "hits"},
    "sheets": {"sheets"},
    "gating": {"gating", "comparing", "hits", "lists", "stats", "sheets", "results", "measures", "io"},
    "identifying": {
        "identifying",
        "naming",
        "explaining",
        "sheets",
        "evaluation",
        "conventions",
        "asked",
        "beside",
        "road",
        "results",
        "scores",
        "measures",
        "io",
        "hits",
    },
    "explaining": {
        "explaining",
        "sheets",
        "evaluation",
        "by_convention",
        "conventions",
        "asked",
        "road",
        "results",
        "measures",
        "io",
        "hits",
    },
    "functional": {
        "functional",
        "io",
        "asked",
        "beside",
        "evaluation",
        "results",
        "scores",
        "measures",
        "hits",
    },
    "torch": {"functional", "measures"},
    "hooks": {"hooks", "functional", "conventions", "asked", "evaluation", "measures", "hits"},
    "testing": {"testing", "evaluation", "measures"},
    "behaviour": {"behaviour", "lists", "plots", "report", "stats", "results", "io"},
    "thresholding": {"comparing", "evaluation", "results", "scores", "measures", "hits"},
    "sampled_candidates": {
        "lists",
        "evaluation",
        "road",
        "results",
        "scores",
        "measures",
        "io",
        "hits",
    },
    "ltr": {"ltr", "comparing", "evaluation", "results", "measures", "hits", "io"},
    "trec_eval": {"trec_eval", "conventions", "evaluation", "scores", "measures", "hits", "io"},
    "cli": {
        "cli",
        "sheets",
        "behaviour",
        "gains",
        "io",
        "measures",
        "findings",
        "demo",
        "spark",
        "truth",
        "trec_eval",
        "conventions",
        "by_convention",
        "explaining",
        "identifying",
        "gating",
        "report",
        "hits",
        "ltr",
        "stats",
    },
    "demo": set(),
}

#: third-party packages a room may import at all
PACKAGES = {
    "errors": set(),
    "words": set(),
    # PyArrow and DuckDB where a database is read, fastexcel where a workbook is
    "io": {"numpy", "polars", "pyarrow", "duckdb", "fastexcel"},
    "hits": {"numpy", "polars"},
    "measures": {"numpy"},
    "results": {"polars"},
    "scores": {"numpy", "polars"},
    "lists": {"numpy", "polars", "scipy"},
    "beside": {"numpy", "polars"},
    "road": {"numpy", "polars"},
    "truth": {"polars"},
    "beyond_accuracy": {"numpy", "polars"},
    "beyond_by_convention": set(),
    "asked": set(),
    "labelled": {"polars"},
    "naming": set(),
    "evaluation": {"polars"},
    "conventions": {"numpy"},
    "by_convention": {"numpy", "polars"},
    "curves": {"numpy", "polars"},
    "stats": {"numpy", "scipy"},
    "out_of_core": {"numpy", "polars"},
    "tasks": {"numpy", "polars"},
    "spark": {"numpy", "polars", "pyarrow", "pyspark"},
    "comparing": {"numpy", "polars"},
    "plots": {"numpy", "polars"},
    "report": {"numpy", "polars"},
    "tracing": set(),
    "findings": set(),
    "checking": {"numpy", "polars"},
    "baselines": {"numpy"},
    "gains": set(),
    "random_lists": {"numpy", "scipy"},
    "against_chance": {"numpy", "polars"},
    "bounding": {"numpy", "polars"},
    "sheets": {"rich"},
    "gating": {"numpy", "rich"},
    "identifying": {"numpy", "polars"},
    "explaining": {"numpy", "polars"},
    "functional": {"numpy", "polars", "torch", "jax"},
    "torch": {"torch", "torchmetrics"},
    "hooks": {"numpy", "polars"},  # the libraries are imported by name, when a hook asks for them
    "testing": {"numpy", "polars"},
    "behaviour": {"numpy", "polars", "scipy"},
    "thresholding": {"numpy", "polars"},
    "sampled_candidates": {"numpy", "polars"},
    "ltr": {"numpy", "polars", "scipy", "sklearn", "threadpoolctl"},
    "trec_eval": {"numpy", "polars"},
    "cli": {"click", "rich"},
    "demo": set(),
}


def imports(path: Path) -> list[str]:
    """Return the dotted names a file imports, those inside functions and type checks included."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.append(node.module or "")
    return names


FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or path.stem[0] != "_"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_walls(path: Path) -> None:
    """No room imports from a room above it, or a package it has no use for."""
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for name in imports(path):
        package, _, rest = name.partition(".")
        if package == "rankstone":
            inner = rest.partition(".")[0]
            assert inner in WALLS[room] | {"errors", "words", ""}, f"{path.name} imports {name}"
        elif package not in sys.stdlib_module_names:
            assert package in PACKAGES[room], f"{path.name} imports {name}"


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_import_is_free() -> None:
    """`import rankstone` brings in neither NumPy nor Polars."""
    assert not loaded("import rankstone") & {"numpy", "polars", "click", "rich"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["eval", "--help"],
        ["check", "--help"],
        ["curve", "--help"],
        ["retention", "--help"],
        ["clicks", "--help"],
        ["counterfactual", "--help"],
        ["interleave", "--help"],
        ["ab", "--help"],
        ["ltr", "--help"],
        ["ltr", "train", "--help"],
    ],
)
def test_help_is_fast(arguments: list[str]) -> None:
    """Help and version import neither NumPy nor Polars."""
    code = (
        "from rankstone.cli import _run; import io, contextlib\n"
        f"with contextlib.redirect_stdout(io.StringIO()): _run({arguments})"
    )

    assert not loaded(code) & {"numpy", "polars", "rich"}


def test_public_names() -> None:
    """Every public name exists, is listed, and an unknown one is an AttributeError."""
    for name in rankstone.__all__:
        assert getattr(rankstone, name) is not None
    assert set(rankstone.__all__) <= set(dir(rankstone))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rankstone.nonsense


def test_functions_are_not_hidden_by_modules() -> None:
    """No module has the name of a public function: importing one would put it in the other's place."""
    modules = {path.stem for path in SOURCE.glob("*")}

    assert not modules & set(rankstone.__all__)
