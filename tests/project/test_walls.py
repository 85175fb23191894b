"""Who may import whom, what an import costs, and how large the house is."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from click import Context
from docs.making import house, shapes_of_code, sizes

import rankstone
from rankstone.cli import cli

SOURCE = Path(rankstone.__file__).parent

#: file names that occur more than once; docs/architecture.md says why: a library's name is the name of its
#: replays (``conventions/replays/``) and of its integration (``integrations/``)
LIBRARIES = {
    "catboost",
    "ir_measures",
    "lightgbm",
    "sentence_transformers",
    "sklearn",
    "xgboost",
}

#: modules whose classes may have names that others have: a replay has its library's name, and the user model
#: of a measure has the measure's; ``Table`` is one that is read (``io``) and one that is shown (``tables``)
OWN_NAMES = {"replays", "walk_models", "user_walks"}

#: what a room may import from outside the standard library, at any time
PACKAGES = {
    "errors": set(),
    "_basics": {"numpy", "polars"},  # names of types, for type checkers only
    # PyArrow and DuckDB where a database is read, fastexcel where a workbook is, PyYAML for YAML
    "io": {"numpy", "polars", "pyarrow", "duckdb", "fastexcel", "yaml"},
    "stats": {"numpy", "scipy"},
    "demo": set(),
    "tables": {"polars", "pandas", "rich"},
    "hits": {"numpy", "polars"},
    "measures": {"numpy"},
    "evaluation": {"numpy", "polars"},
    "rankings": {"numpy", "polars", "scipy"},
    "conventions": {"numpy", "polars"},
    "explanation": {"numpy", "polars"},
    "diagnostics": {"numpy", "polars", "scipy"},
    "comparison": {"numpy", "polars"},
    "boards": {"numpy", "polars", "scipy"},
    "collections": {"numpy", "polars", "scipy"},
    "answers": {"numpy", "polars", "rapidfuzz"},
    "golden": {"polars"},
    "online": {"numpy", "polars", "scipy"},
    "ltr": {"numpy", "polars", "scipy", "sklearn", "threadpoolctl"},
    # each library in the module that is named after it
    "integrations": {
        "numpy",
        "polars",
        "torch",
        "jax",
        "torchmetrics",
        "ir_measures",
        "pytest",
        "sklearn",
        "xgboost",
    },
    "spark": {"numpy", "polars", "pyarrow", "pyspark"},
    "reports": {"numpy", "polars"},
    "api": set(),
    "testing": {"numpy", "polars"},
    "cli": {"click", "rich"},
}

#: libraries that any module of ``integrations`` may import: arrays are of one of these
EVERYWHERE = {"numpy", "polars", "torch", "jax"}

#: modules of ``integrations`` whose names are not those of the libraries they import
OWN_MODULES = {("sklearn", "grouped_ranker"), ("torchmetrics", "torch")}


def test_every_room_has_a_floor() -> None:
    """The floor plan names every room of the package, and none that is gone."""
    rooms = {house.room(name) for name in house.modules()} - {"", "__main__"}

    assert rooms == set(house.FLOOR) == set(PACKAGES)


def test_imports_go_down() -> None:
    """No import, lazy or for types only, goes up or to a room of the same floor."""
    assert house.upward() == []


def test_no_circles_between_rooms() -> None:
    """Rooms do not import one another in a circle."""
    assert house.circles(set(house.arrows())) == []


def test_no_circles_between_files() -> None:
    """Files do not import one another in a circle while they are being imported."""
    ours = house.modules()
    edges = {
        (item.importer, item.imported)
        for item in house.imports()[0]
        if item.at_import
        and item.imported in ours
        and not item.importer.startswith(f"{item.imported}.")
    }

    assert house.circles({edge for edge in edges if edge[0] != edge[1]}) == []


def test_third_party_imports() -> None:
    """A room imports only the packages it is there for."""
    wrong = [
        (package, importer)
        for room, value in house.imports()[1].items()
        for package, importer in sorted(value)
        if package not in PACKAGES.get(room, set())
        or (
            room == "integrations" and not _is_for(importer.rpartition(".")[2], package)
        )
    ]

    assert wrong == []


def _is_for(module: str, package: str) -> bool:
    """Return True for a module that is there for a package, and for packages that all may import."""
    return (
        package in EVERYWHERE
        or module.startswith(package)
        or (package, module) in OWN_MODULES
    )


def test_the_command_line_uses_the_public_face() -> None:
    """``cli`` imports packages, ``tables``, ``errors`` and ``_basics``, never a module inside a room."""
    allowed = re.compile(
        r"rankstone(\.(errors|_basics|tables(\.\w+)?|cli(\.\w+)*|[a-z]+))?"
    )
    wrong = [
        item
        for item in house.imports()[0]
        if house.room(item.importer) == "cli" and not allowed.fullmatch(item.imported)
    ]

    assert [f"{item.importer}:{item.line} -> {item.imported}" for item in wrong] == []


def test_reports_show_results() -> None:
    """``reports`` imports neither hits nor the core of measures: it shows what it is given."""
    wrong = [
        item
        for item in house.imports()[0]
        if house.room(item.importer) == "reports"
        and re.match(
            r"rankstone\.(hits|measures\.core|evaluation\.prepared)\b", item.imported
        )
    ]

    assert [f"{item.importer}:{item.line} -> {item.imported}" for item in wrong] == []


def test_the_size_of_the_house() -> None:
    """The package stays within the limits that ``pyproject.toml`` sets; ``make house`` prints the table."""
    limits = sizes.budget()
    files = {name: sizes.size(path) for name, path in house.modules().items()}
    entries = [
        path.name for path in SOURCE.iterdir() if path.name not in house.NO_ENTRIES
    ]
    too_long = [
        name for name, size in files.items() if size.lines > limits["longest_file"]
    ]

    assert sizes.sizes()[sizes.WHOLE].tokens <= limits["tokens"], sizes.size_table()
    assert len(entries) <= limits["top_level_entries"], sorted(entries)
    assert too_long == []


def test_lines_breathe() -> None:
    """No room, and not the whole, holds more tokens a line than its limit."""
    assert sizes.too_dense() == []


def test_lines_are_not_folded() -> None:
    """Several ideas a line are counted; the limits only fall."""
    folded = shapes_of_code.folded_lines()[sizes.WHOLE]
    limits = sizes.budget()["folded_lines"]
    too_many = {
        kind: (round(folded[kind], 1), limit)
        for kind, limit in limits.items()
        if folded[kind] > limit + 0.5
    }
    assert too_many == {}


def test_functions_are_short() -> None:
    """The body of a function fits on a screen or two; the limit only falls."""
    longest = sizes.budget()["longest_function"]
    assert shapes_of_code.long_functions(longest) == []


def test_sizes_count_what_a_reader_reads(tmp_path: Path) -> None:
    """Imports, docstrings and comments are no tokens; a folded line is as many as an open one."""
    path = tmp_path / "module.py"
    path.write_text(
        '"""Words."""\nimport math  # why\n\n# why\nx = [\n    1,\n    2,\n]\n'
    )
    assert sizes.size(path) == sizes.Size(
        tokens=8, code=4, docstrings=1, comments=2, lines=8, files=1
    )

    path.write_text("x = [1, 2,]\n")
    assert sizes.size(path) == sizes.Size(
        tokens=8, code=1, docstrings=0, comments=0, lines=1, files=1
    )


def test_only_tables_of_data_keep_their_own_shape() -> None:
    """``fmt: skip`` stands behind literal tables of a module's data and nowhere else."""
    wrong = []
    for name, path in house.modules().items():
        text = path.read_text("utf-8")
        if "# fmt: off" in text:
            wrong.append(f"{name}: fmt: off")
        ends = {
            node.end_lineno
            for node in house.body(path)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(node.value, ast.Dict | ast.Tuple | ast.List | ast.Set)
        }
        wrong += [
            f"{name}:{number}"
            for number, line in enumerate(text.splitlines(), 1)
            if "# fmt: skip" in line and number not in ends
        ]

    assert wrong == []


def test_file_names_are_unique() -> None:
    """A file is found by its name alone."""
    names = Counter(
        path.stem for path in house.modules().values() if path.stem != "__init__"
    )

    assert {name for name, times in names.items() if times > 1} <= LIBRARIES


def test_class_names_are_unique() -> None:
    """A class is found by its name alone; see ``OWN_NAMES`` for those that share one on purpose."""
    counts = Counter(
        node.name
        for path in house.modules().values()
        if not OWN_NAMES & {path.stem, path.parent.name}
        for node in house.nodes(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert {name for name, times in counts.items() if times > 1} == {"Table"}


def test_the_floor_plan_on_the_page() -> None:
    """``docs/architecture.md`` shows the floor plan as the code is."""
    page = (house.ROOT / "docs" / "architecture.md").read_text("utf-8")

    assert house.floor_plan() in page, "run `make pages`"


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


def test_help_is_fast() -> None:
    """Help and version import neither NumPy nor Polars; the first line that does is named."""
    lines = ["--help", "--version"]
    groups = ("ltr", "online")
    lines += [
        f"{name} --help"
        for name in cli.list_commands(Context(cli))
        if name not in groups
    ]
    lines += ["ltr --help", "ltr train --help", "online --help"]
    lines += [
        f"online {name} --help"
        for name in ("retention", "clicks", "counterfactual", "interleave", "ab")
    ]
    code = (
        "import contextlib, io, sys\nfrom rankstone.cli import cli\n"
        f"for line in {lines}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()): cli.main(line.split(), standalone_mode=False)\n"
        "    assert not {'numpy', 'polars', 'rich'} & set(sys.modules), line"
    )

    loaded(code)


def test_files_on_the_page_of_the_architecture_exist() -> None:
    """Each file and folder that ``docs/architecture.md`` names is there."""
    page = (house.ROOT / "docs" / "architecture.md").read_text("utf-8")
    paths = [
        path.as_posix()
        for top in ("src", "tests", "docs")
        for path in (house.ROOT / top).rglob("*")
    ]
    named = set(re.findall(r"`([\w/]+\.py)`|`([a-z_]+/[\w/]*)`", page))
    assert [
        item
        for item in map("".join, named)
        if not any(p.endswith(f"/{item}".rstrip("/")) for p in paths)
    ] == []


def test_public_names() -> None:
    """Every public name exists, is listed, and an unknown one is an AttributeError."""
    for name in rankstone.__all__:
        assert getattr(rankstone, name) is not None
    assert set(rankstone.__all__) <= set(dir(rankstone))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rankstone.nonsense  # type: ignore[attr-defined]


def test_the_public_face_is_small() -> None:
    """At most sixty-five names; measures are in ``rankstone.measures``."""
    assert len(rankstone.__all__) <= 65


def test_functions_are_not_hidden_by_modules() -> None:
    """No module has the name of a public function of its package: importing it would hide the function."""
    hidden = []
    for name, path in house.modules().items():
        if path.stem == "__init__":
            package = importlib.import_module(name)
            beneath = {item.stem for item in path.parent.iterdir()} - {"__init__"}
            hidden += [
                f"{name}.{item}"
                for item in beneath & set(getattr(package, "__all__", ()))
            ]

    assert hidden == []
