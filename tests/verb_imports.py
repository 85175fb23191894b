"""What each verb of make imports, and what it installs: read from make's own words and from syntax trees.

Nothing runs but ``make --dry-run``.  An import counts if it is reached: at the top of a file that the verb's
commands run or collect, in a function there, in a test whose marks the verb selects, in code that pages show.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from docs.making import printed, reference
from tests.nightly import MARKED
from tests.oldest import lowest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["VERBS", "imports", "installed"]

ROOT: Final = Path(__file__).resolve().parents[1]
MAKEFILE: Final = ROOT / "Makefile"
VERBS: Final = sorted(
    set(re.findall(r"^([a-z]+):.*##", MAKEFILE.read_text("utf-8"), re.MULTILINE))
    - {"clean", "help", "install", "verbs"}
)
#: with these a verb does all that pages promise of it
WHOLE: Final = {"bench": ("ARGS=--huge --peers all",)}
#: distributions that are imported by other names than their own
IMPORTED_AS: Final = {
    "cwl-eval": {"cwl"},
    "markdown-it-py": {"markdown_it"},
    "pytest-xdist": {"xdist"},
    "pytrec_eval-terrier": {"pytrec_eval", "pytrec_eval_ext"},
    "pyyaml": {"yaml"},
    "scikit-learn": {"sklearn"},
    "vl-convert-python": {"vl_convert"},
    "xgboost-cpu": {"xgboost"},
}
#: modules whose classes the reference reads from their source where a library is missing
FROM_SOURCE: Final = {"integrations.torch"}
#: packages of this repository, which need no file of their own
_OURS: Final = {"docs", "rankstone", "tests"}
_FAILED_IMPORTS: Final = {"ImportError", "ModuleNotFoundError", "Exception"}
_OPTIONAL_CALLS: Final = {"importorskip", "find_spec"}
_PYPROJECT: Final[dict[str, Any]] = tomllib.loads(
    (ROOT / "pyproject.toml").read_text("utf-8")
)
_EXTRAS: Final = _PYPROJECT["project"]["optional-dependencies"]


class _Import(NamedTuple):
    """An import in a file; ``optional``: by importorskip and the like, which go on without the module."""

    module: str
    optional: bool
    inside: tuple[ast.FunctionDef, ...]


class _Imports(ast.NodeVisitor):
    """The imports of a syntax tree that run and must not fail, and its tests with their marks."""

    def __init__(self, tree: ast.AST) -> None:
        self.imports: list[_Import] = []
        self.tests: list[ast.FunctionDef] = []
        self._inside: tuple[ast.FunctionDef, ...] = ()
        self.visit(tree)

    def visit_Import(self, node: ast.Import) -> None:
        """Take every module of ``import a, b``."""
        self._add(*(alias.name for alias in node.names))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Take the module, and the names, which may be modules, too."""
        if node.module and not node.level:
            self._add(node.module, *(f"{node.module}.{a.name}" for a in node.names))

    def visit_If(self, node: ast.If) -> None:
        """Leave out what only type checkers import."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        """Leave out what is tried, if a handler goes on after a failed import."""
        for handler in node.handlers:
            caught = ast.unparse(handler.type) if handler.type else "Exception"
            raises = any(isinstance(part, ast.Raise) for part in handler.body)
            if not raises and _FAILED_IMPORTS & set(re.findall(r"\w+", caught)):
                node.body = []
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Remember within which functions an import stands."""
        if node.name.startswith("test_"):
            self.tests.append(node)
        self._inside += (node,)
        self.generic_visit(node)
        self._inside = self._inside[:-1]

    def visit_Call(self, node: ast.Call) -> None:
        """Take what is imported by name or by a call, and what is imported by name."""
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        match node.args:
            case [ast.Constant(value=str(module)), *_] if called in _OPTIONAL_CALLS:
                self._add(module, optional=True)
            case [ast.Constant(value=str(module)), *_] if called == "import_module":
                self._add(module)
        self.generic_visit(node)

    def _add(self, *modules: str, optional: bool = False) -> None:
        self.imports += [_Import(module, optional, self._inside) for module in modules]


class _File:
    """A file of Python, and what it needs when it runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        tree = ast.parse(path.read_bytes())
        result = _Imports(tree)
        self.imports, self._tests = result.imports, result.tests
        self._optional = {
            _package(item.module) for item in result.imports if item.optional
        }
        self.marks = set[str]()
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="pytestmark")]):
                    self.marks |= _marks([node])
                case ast.ImportFrom(module=str(module), names=names):
                    if "pytestmark" in {alias.name for alias in names}:
                        for other in _ours(module, path.parent):
                            self.marks |= _file(other).marks

    def needed(self, expression: str) -> Iterator[str]:
        """Yield the modules that are imported when the tests that an expression selects are run.

        The package's own functions say themselves which extra is missing.  A helper of the tests that asks
        whether something is there goes on without it, but a test that skips does not do its work.
        """
        runs = not self._tests or any(
            self._selected(t, expression) for t in self._tests
        )
        may_end = False  # the file, by a skip at its top
        for module, optional, inside in self.imports:
            may_end |= optional and not inside
            test = next((f for f in inside if f.name.startswith("test_")), None)
            may_miss = may_end or optional or _package(module) in self._optional
            if test:
                counts = self._selected(test, expression)
            elif inside:
                ours = ROOT / "src" in self.path.parents
                counts = runs and not may_miss and not ours
            else:
                counts = runs or not may_miss
            if counts:
                yield module
        if self.path.name == "reference.py":
            modules = reference.MODULES.keys() - FROM_SOURCE
            yield from (f"rankstone.{name}" for name in modules)
        if self.path.parent.name == "benchmarks":  # scripts that a script runs
            yield from re.findall(
                r'with_name\("(\w+)\.py"\)', self.path.read_text("utf-8")
            )

    def _selected(self, test: ast.FunctionDef, expression: str) -> bool:
        marks = self.marks | _marks(test.decorator_list)
        words = re.compile(r"\b(?!and\b|or\b|not\b)\w+")
        text = words.sub(lambda word: str(word[0] in marks), expression)
        return bool(eval(text or "True"))  # noqa: S307 - True, False, and, or, not


_file = cache(_File)


def _package(module: str) -> str:
    return module.partition(".")[0]


def _marks(nodes: Iterable[ast.AST]) -> set[str]:
    text = " ".join(map(ast.unparse, nodes))
    drawn = {"hypothesis"} if re.search(r"\bgiven\(", text) else set[str]()
    return set(re.findall(r"pytest\.mark\.(\w+)", text)) | drawn


@cache
def _ours(module: str, beside: Path) -> frozenset[Path]:
    """Return the file of a module of this repository, and those of its packages; none of other modules."""
    names = module.split(".")
    for place in (
        ROOT / "src",
        ROOT,
        *([beside] if beside.name == "benchmarks" else []),
    ):
        paths = [place.joinpath(*names[:count]) for count in range(1, len(names) + 1)]
        files = [(path / "__init__.py", path.with_suffix(".py")) for path in paths]
        if any(file.exists() for file in files[-1]):
            return frozenset(file for pair in files for file in pair if file.exists())
    return frozenset()


def _reached(files: Iterable[Path], expression: str = "") -> dict[str, str]:
    """Return the modules of others that are imported when files run, each with a file that does."""
    modules: dict[str, str] = {}
    seen, new = set[Path](), set(files)
    while new:
        seen |= new
        following = set[Path]()
        for path in new:
            name = path.relative_to(ROOT).as_posix()
            for module in _file(path).needed(expression):
                following |= _ours(module, path.parent)
                package = _package(module)
                if package not in _OURS and not _ours(package, path.parent):
                    modules[package] = name
            if path.name == "printed.py":
                modules |= _shown()
        new = following - seen
    return {m: name for m, name in modules.items() if m not in sys.stdlib_module_names}


@cache
def _shown() -> dict[str, str]:
    """Return what code on pages and in notebooks imports, and what all extras bring: pages show them."""
    cells = [
        (path, "".join(cell["source"]))
        for path in (ROOT / "examples/notebooks").glob("*.ipynb")
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    blocks = [
        (path, block.code)
        for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
        for block in printed.blocks(path.read_text("utf-8"))
        if block.kind == "python"
    ]
    extras = dict.fromkeys(_importable(_distributions(_EXTRAS["all"])), "the extra all")
    return extras | {
        _package(item.module): path.relative_to(ROOT).as_posix()
        for path, code in (*cells, *blocks)
        for item in _Imports(ast.parse(code)).imports
        if _package(item.module) not in _OURS
    }


def _distributions(requirements: Iterable[str]) -> set[str]:
    """Return the names of distributions, those of our own extras among them."""
    names = set()
    for requirement in requirements:
        match = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", requirement)
        assert match is not None, requirement
        if match[1] == "rankstone":
            for extra in match[2].split(","):
                names |= _distributions(_EXTRAS[extra])
        else:
            names.add(match[1].lower())
    return names


def _importable(distributions: Iterable[str]) -> set[str]:
    """Return the packages that distributions are imported as."""
    own = ({name.replace("-", "_")} for name in distributions)
    names = zip(distributions, own, strict=True)
    return set().union(*(IMPORTED_AS.get(name, same) for name, same in names))


@cache
def _calls(verb: str) -> list[tuple[str, ...]]:
    """Return the commands that make runs for a verb in a fresh clone: program and words."""
    variables = {
        n: v for n, v in os.environ.items() if not n.startswith(("MAKE", "MFL"))
    }
    printed_by_make = subprocess.check_output(
        ["make", "--dry-run", "VENV=absent", verb, *WHOLE.get(verb, ())],  # noqa: S607
        cwd=ROOT,
        env=variables,
        text=True,
    )
    calls = []
    for line in printed_by_make.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        program = re.compile(r"\S*(?:absent|oldest)/bin/(\S+)")
        for place, word in enumerate(words):
            if match := program.fullmatch(word):
                calls.append((match[1], *words[place + 1 :]))
                break
    return calls


def installed(verb: str) -> set[str]:
    """Return the packages that can be imported after a verb has installed what it declares."""
    requirements = list(_PYPROJECT["project"]["dependencies"])
    for _, *words in _calls(verb):
        if words[:2] == ["-m", "pip"]:
            groups = [
                after for word, after in itertools.pairwise(words) if word == "--group"
            ]
            for group in groups:
                requirements += _PYPROJECT["dependency-groups"][group]
            if "tests/oldest.py)" in words:
                requirements += lowest() + words[words.index("tests/oldest.py)") + 1 :]
    return _importable(_distributions(requirements))


def imports(verb: str) -> dict[str, str]:
    """Return the packages of others that a verb imports, each with a file that does."""
    packages: dict[str, str] = {}
    for program, *words in _calls(verb):
        packages |= _imports_of_call(program, words)
    return packages


def _imports_of_call(program: str, words: Sequence[str]) -> dict[str, str]:
    """Return what a command imports."""
    packages: dict[str, str] = {}
    match [program, *words]:
        case ["rankstone", *_]:
            packages = _reached([ROOT / "src/rankstone/__main__.py"])
        case [_, "-m", "pip" | "compileall", *_]:
            pass
        case [_, "-m", "pytest", *options] | [_, "tests/quick.py", *options]:
            packages = _imports_of_tests(options)
        case [_, "tests/nightly.py", *_]:
            packages = _imports_of_tests(["-n", "-m", MARKED, "tests"])
        case [_, "-m", "coverage", "run", "-m", "pytest", *options]:
            packages = {"coverage": "Makefile"} | _imports_of_tests(options)
        case [_, "-m", module, *_] if _package(module) in _OURS:
            started = ROOT.joinpath(*module.split("."), "__main__.py")
            packages = _reached([started] if started.exists() else _ours(module, ROOT))
        case [_, script, *_] if script.endswith(".py"):
            packages = _reached([ROOT / script])
        case [_, "-m", tool, *_] | [tool, *_]:  # what a package brings
            packages = {tool: "Makefile"}
    return packages


def _imports_of_tests(options: list[str]) -> dict[str, str]:
    """Return what pytest imports with these options: what it collects, fixtures, and plugins."""
    ignored = {ROOT / word[9:] for word in options if word.startswith("--ignore=")}
    inputs = [ROOT / word for word in options if word.startswith("tests")]
    paths = {
        path
        for place in inputs or [ROOT / "tests"]
        for path in ([place] if place.is_file() else place.rglob("test_*.py"))
        if not ignored & {path, *path.parents}
    }
    fixtures = {folder / "conftest.py" for path in paths for folder in path.parents}
    pairs = itertools.pairwise(options)
    expressions = [after for word, after in pairs if word == "-m"]
    plugins = ["pytest", *(["xdist"] if "-n" in options else [])]
    started = paths | set(filter(Path.exists, fixtures))
    return dict.fromkeys(plugins, "Makefile") | _reached(started, *expressions[-1:])
