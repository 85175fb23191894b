"""What `make quick` runs: lint of what changed, then the tests nearest to it, within 45 seconds.

Who imports whom is read from syntax trees, so nothing is recorded beforehand and a fresh clone needs no
first run.  Tests run in this order until the time is up: those that changed, the core below, then of those
that reach a changed file through imports the ones of its room, and of these the ones with words of its
name.  Tests that found no time are counted as skipped; `make test` runs them.  ``python tests/quick.py COMMIT
OPTION …`` takes what changed since COMMIT (empty: since the branch began) and options of pytest.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
from collections import defaultdict, deque
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
#: run whatever changed: worked examples, the laws of every measure, the plan of the rooms
CORE: Final = (
    "tests/golden/test_examples.py",
    "tests/laws/test_every_measure.py",
    "tests/project/test_walls.py",
)
#: from the start until no further test begins; the last one has seven more
SECONDS: Final = 38
FILES: Final = 25  # of the nearest tests: collecting them all would take the time
#: most of these need what a minute does not start: browsers, clusters, other libraries
ELSEWHERE: Final = {"browser", "hooks", "live", "parity", "spark"}
_MODULE: Final = re.compile(r"\b(?:rankstone|tests|docs)(?:\.\w+)+")


class Imports:
    """The graph of all imports, lazy and type-only ones too: each file, and who imports it.

    What is imported under a computed name is guessed generously, so the graph ranks tests; time chooses.
    """

    def __init__(self, root: Path = ROOT) -> None:
        folders = (root / name for name in ("src/rankstone", "tests", "docs"))
        places = sorted(chain.from_iterable(folder.rglob("*.py") for folder in folders))
        self.sources = {path.relative_to(root): _Source(path) for path in places}
        self._modules = {_dotted(path): path for path in self.sources}
        self._homes = defaultdict[str, set[Path]](set)
        for path, source in self.sources.items():
            for name in source.defined:
                self._homes[name].add(path)
        self._importers = defaultdict[Path, set[Path]](set)
        for path in self.sources:
            for imported in self._imported(path):
                self._importers[imported].add(path)

    def nearest(self, changed: Iterable[str]) -> list[str]:
        """Return the test files that a change may concern: those of its room first, then by name and imports."""
        paths = [Path(name) for name in changed]
        rooms = {_room(path) for path in paths}
        subjects = set().union(*(path.stem.split("_") for path in paths))
        steps = self._steps(chain.from_iterable(map(self._noticing, paths)))

        def distance(path: Path) -> tuple[bool, bool, int, int]:
            shared = len(subjects.intersection(path.stem.split("_")))
            return path not in paths, _room(path) not in rooms, -shared, steps[path]

        tests = [path for path in steps if path.name.startswith("test_")]
        return list(map(str, sorted(tests, key=distance)))

    def _steps(self, sources: Iterable[Path]) -> dict[Path, int]:
        """Return the files that reach some files through imports, and in how many steps."""
        steps = dict.fromkeys(sources, 0)
        queue = deque(steps)
        while queue:
            path = queue.popleft()
            for importer in self._importers[path] - steps.keys():
                steps[importer] = steps[path] + 1
                queue.append(importer)
        return steps

    def _noticing(self, path: Path) -> set[Path]:
        """Return the Python files that notice a change: itself; those that name it, or its folder or kind."""
        if path in self.sources:
            return {path}
        if path.suffix == ".py":  # deleted: its package has changed
            neighbours = (
                {source for source in self.sources if source.parent == folder}
                for folder in path.parents
            )
            return next(filter(None, neighbours), set())
        kind = self._naming({f"*{path.suffix}", path.parent.name} - {"*", ""})
        near = (
            {item for item in kind if folder in item.parents}
            for folder in path.parents[:-1]
        )
        top = (
            set(self.sources) if len(path.parts) == 2 else set[Path]()
        )  # docs/, examples/: anybody may read it
        return self._naming({path.name}) or next(filter(None, near), set()) | (
            kind & top
        )

    def _naming(self, names: set[str]) -> set[Path]:
        """Return the files with a text that is one of these names, or a path that ends with one."""
        texts = (
            (path, text)
            for path, source in self.sources.items()
            for text in source.texts
        )
        return {path for path, text in texts if text.rpartition("/")[2] in names}

    def _imported(self, path: Path) -> Iterator[Path]:
        """Yield what a file imports: by name, by attribute, within a text, as conftest."""
        source = self.sources[path]
        for name in source.imported.union(*map(_MODULE.findall, source.texts)):
            yield from self._files(name)
        if path.name == "__init__.py":  # may compute the names of its modules
            yield from (
                item
                for item in self.sources
                if item.parent == path.parent and item != path
            )
        if path.name.startswith("test_"):
            yield from (
                entry
                for folder in path.parents
                if (entry := folder / "conftest.py") in self.sources
            )

    @cache  # noqa: B019 - one graph a process
    def _files(self, dotted: str) -> tuple[Path, ...]:
        """Return the module of a dotted name; where a package gives it on, the modules it may come from."""
        module, name = dotted, ""
        while module not in self._modules and "." in module:
            module, _, name = module.rpartition(".")
        if (path := self._modules.get(module)) is None:
            return ()
        if not name or path.name != "__init__.py":
            return (path,)
        return tuple(
            home for home in self._homes[name] if home.is_relative_to(path.parent)
        ) or (path,)


class _Source:
    """What one file imports, the texts in it, and the names it defines."""

    def __init__(self, path: Path) -> None:
        self.imported, self.texts, self.defined = set[str](), set[str](), set[str]()
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.texts.add(node.value)
            elif isinstance(node, ast.Import):
                self.imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                self.imported |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                self.imported.add(f"{node.value.id}.{node.attr}")  # rankstone.evaluate
        for statement in tree.body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self.defined.add(statement.name)
            targets = getattr(
                statement, "targets", [getattr(statement, "target", None)]
            )
            self.defined |= {
                target.id for target in targets if isinstance(target, ast.Name)
            }


def _room(path: Path) -> str:
    """Return the folder of tests that a file belongs to.

    >>> _room(Path("src/rankstone/io/reading.py")), _room(Path("tests/io/test_reading.py")), _room(Path("README.md"))
    ('io', 'io', 'project')
    """
    match path.parts:
        case ("src", _, room, _, *_) | ("tests", room, _, *_):
            return room
    return "project"


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[parts[0] == "src" :]).removesuffix(".__init__")


def changed(since: str) -> list[str]:
    """Return the paths that differ from a commit; untracked and deleted ones, too."""
    begun = (
        "".join(_git("merge-base", "HEAD", name))
        for name in ("origin/main", "main", "master")
    )
    tracked = _git(
        "diff",
        "--name-only",
        "--no-renames",
        since or next(filter(None, begun), "HEAD"),
    )
    return [*tracked, *_git("ls-files", "--others", "--exclude-standard")]


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


def _failed(tool: str, *arguments: str) -> bool:
    sys.stdout.flush()
    return bool(
        subprocess.run(
            [sys.executable, "-m", tool, *arguments], cwd=ROOT, check=False
        ).returncode
    )


def main(since: str = "", *options: str) -> int:
    """Lint what changed, run what is near to it, and say how much that was."""
    began, paths = time.time(), changed(since)
    tests = sorted(
        Imports().nearest(paths), key=lambda path: Path(path).parts[1] in ELSEWHERE
    )
    python = [path for path in paths if path.endswith(".py") and (ROOT / path).exists()]
    sys.stdout.write(
        f"{len(paths)} files changed; {len(tests)} test files reach them through imports\n"
    )
    failed = [
        _failed("ruff", *verb, *python)
        for verb in (("format", "--check"), ("check",))
        if python
    ]
    first = (
        path for path in python if path in tests or path.startswith("src/")
    )  # these for their examples
    files = [
        path
        for path in dict.fromkeys((*first, *CORE, *tests[:FILES]))
        if f"--ignore={path}" not in options
    ]
    os.environ |= {"HYPOTHESIS_PROFILE": "ci", "RANKSTONE_CASES": "2"}
    os.environ["RANKSTONE_UNTIL"] = str(began + SECONDS)
    run = ("-q", "-n", "auto", "--maxschedchunk", "1", "-r", "fE", *options)
    failed.append(_failed("pytest", *run, *files))
    sys.stdout.write(
        f"{time.time() - began:.0f} s; tests shown as skipped found no time\n"
    )
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
