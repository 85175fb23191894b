"""Change the package in one place at a time, and see which tests notice: ``make mutants``.

``python -m tests.mutation.mutants [--number N] [--seed S] [--rooms ROOM,…] [--only PATH[:LINE]]`` draws N places
from the syntax trees, as many of each kind, and runs the nearest tests (``tests/quick.py``) on each change, in
a copy of the project; after ``python -m tests.mutation.reach`` those that reach the line.  ``--named`` runs the
changes of ``named.toml`` instead, which once went unnoticed;
``--again`` those that the last run left alive.  The survivors are written to ``build/mutants/survivors.txt``;
``equivalent.toml`` says why no test can notice some of them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest
from tests.mutation.reach import MARKED, Reach
from tests.quick import ELSEWHERE, ROOT, Imports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: path, function, old and new text, and how many equal changes come before
Key: TypeAlias = tuple[str, str, str, str, int]

__all__ = ["KINDS", "Mutant", "drawn", "mutants_of", "mutants_of_file", "reasons"]

FOLDER: Final = Path(__file__).resolve().parent
OUTPUT: Final = ROOT / "build" / "mutants"
ROOMS: Final = ("hits", "measures", "stats", "comparison", "evaluation", "io")
KINDS: Final = (
    "comparison",
    "boundary",
    "plus or minus one",
    "constant",
    "and or",
    "dropped branch",
)
#: files of the first, nearest tests and of those after them, and the seconds of work after which no test begins
BATCHES: Final = ((4, 10), (12, 30))
#: seconds of work for all tests that reach a line
REACHING: Final = 90
#: tests that take so many seconds by the clock hang
HANGING: Final = 400.0
#: seconds of work in which a test is shown to pass without any change
SOUND: Final = 60
#: letters that a name has at least by which tests are looked for
WORD: Final = 5
#: tests of the numbers of all measures
OF_NUMBERS: Final = ("tests/golden/test_examples.py", "tests/laws/test_oracle.py")
#: what stands for a test where none could begin
NO_TEST: Final = "exit code"
#: tests about sources, not about what they do
ABOUT_SOURCES: Final = (
    "tests/mutation/",
    "tests/project/test_walls.py",
    "tests/project/test_quick.py",
    "tests/project/test_tests.py",
    "tests/laws/test_adding_a_measure.py",
)

_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_BOUNDARIES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
#: what takes all and what takes some, the larger and the smaller
_TWINS: Final = {
    name: twin
    for pair in (("any", "all"), ("min", "max"), ("minimum", "maximum"))
    for name, twin in (pair, pair[::-1])
}


@dataclass(frozen=True)
class Mutant:
    """One change of one place.

    Attributes
    ----------
    path
        The file, seen from the project's folder.
    line
        The line, from 1.
    inside
        The function or class around it; empty for a constant of the module.
    kind
        One of :data:`KINDS`, or ``named``.
    old, new
        The text there, and what stands there instead.
    begin, end
        The places of the old text in the bytes of the file.
    turn
        How many equal changes come before it in the same function.
    test
        The test, or the file of tests, that runs first, of a change of ``named.toml``.
    """

    path: str
    line: int
    inside: str
    kind: str
    old: str
    new: str
    begin: int = field(repr=False)
    end: int = field(repr=False)
    turn: int = 0
    test: str = ""

    def __str__(self) -> str:
        """Return the place and the change, on one line."""
        _, _, old, new, _ = self.key
        return f"{self.path}:{self.line} {self.inside or 'module'}: {old} → {new}"

    @property
    def key(self) -> Key:
        """What names the change wherever its line moves to."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return self.path, self.inside, old, new, self.turn

    def applied(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.begin] + self.new.encode() + source[self.end :]


@dataclass(frozen=True)
class Result:
    """What became of a change; the test that noticed it, the tests that did not, or why none can."""

    mutant: Mutant
    outcome: str
    tests: str

    def __str__(self) -> str:
        """Return it on one line."""
        files = f"{len(self.tests.splitlines())} tests, or files of them"
        shown = files if self.outcome == "survived" else self.tests
        return f"{self.outcome:10} {self.mutant}  [{shown}]"

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"outcome": self.outcome, "key": self.mutant.key, "tests": self.tests}


# -- places ---------------------------------------------------------------------------------------------
class _Places(ast.NodeVisitor):
    """Collects the changes of one file.

    Texts, annotations, decorators and assertions are left alone, and so is what formatted texts hold, whose
    places the parser of older Pythons does not know.
    """

    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source.encode()
        self.mutants = list[Mutant]()
        self._inside = list[str]()
        starts = [0]
        for line in self.source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts
        self.visit(ast.parse(source))

    def _place(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._starts[node.lineno - 1] + node.col_offset
        return begin, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _add(self, kind: str, node: ast.expr, new: ast.expr | str) -> None:
        begin, end = self._place(node)
        if isinstance(new, ast.expr):
            new = f"({ast.unparse(ast.fix_missing_locations(new))})"
        old = self.source[begin:end].decode()
        inside = ".".join(self._inside)
        self.mutants.append(
            Mutant(self.path, node.lineno, inside, kind, old, new, begin, end)
        )

    # -- what is left alone
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave formatted texts alone."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave assertions alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave annotations alone."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Leave lists of names alone."""
        names = [to.id for to in node.targets if isinstance(to, ast.Name)]
        if names != ["__all__"]:
            self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Remember the class around."""
        self._within(node.name, node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Remember the function around; defaults of parameters are constants."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._within(node.name, [default])
        self._within(node.name, node.body)

    def _within(self, name: str, nodes: Sequence[ast.AST]) -> None:
        self._inside.append(name)
        for node in nodes:
            self.visit(node)
        self._inside.pop()

    # -- what is changed
    def visit_Compare(self, node: ast.Compare) -> None:
        """Turn a comparison round, and move its boundary."""
        for kind, changes in (("comparison", _OPPOSITES), ("boundary", _BOUNDARIES)):
            for place, operator in enumerate(node.ops):
                if type(operator) in changes:
                    operators = list(node.ops)
                    operators[place] = changes[type(operator)]()
                    new = ast.Compare(node.left, operators, node.comparators)
                    self._add(kind, node, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Take `and` for `or`."""
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add("and or", node, ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Take `&` for `|`, which is `and` of arrays."""
        if isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            other = ast.BitOr() if isinstance(node.op, ast.BitAnd) else ast.BitAnd()
            self._add("and or", node, ast.BinOp(node.left, other, node.right))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave out a negation."""
        if isinstance(node.op, (ast.Not, ast.Invert)):
            self._add("and or", node, node.operand)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Take all for some, the larger for the smaller."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in _TWINS:
            self._add("and or", function, _TWINS[function.id])
        elif isinstance(function, ast.Attribute) and function.attr in _TWINS:
            owner = ast.get_source_segment(self.source.decode(), function.value)
            self._add("and or", function, f"{owner}.{_TWINS[function.attr]}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Change a number, or a truth."""
        value = node.value
        if isinstance(value, bool):
            self._add("constant", node, str(not value))
        elif isinstance(value, int):
            for more in (1, -1):
                self._add("plus or minus one", node, ast.Constant(value + more))
            if abs(value) > 1:
                self._add("constant", node, "0")
        elif isinstance(value, float):
            self._add("constant", node, repr(value * 1.5 if value else 1.0))

    def visit_If(self, node: ast.If) -> None:
        """Never take a branch, and always."""
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        for truth in ("False", "True"):
            self._add("dropped branch", node.test, truth)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Take one side, whatever the condition."""
        for truth in ("False", "True"):
            self._add("dropped branch", node.test, truth)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Leave out a condition of a comprehension."""
        for condition in node.ifs:
            self._add("dropped branch", condition, "True")
        self.generic_visit(node)


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return every change of a source."""
    turns = Counter[Key]()
    mutants = []
    for mutant in _Places(path, source).mutants:
        mutants.append(replace(mutant, turn=turns[mutant.key]))
        turns[mutant.key] += 1
    return mutants


def mutants_of_file(path: str) -> list[Mutant]:
    """Return every change of a file of the project."""
    return mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))


def files_of(rooms: Iterable[str]) -> list[str]:
    """Return the files of some rooms, in order."""
    package = ROOT / "src/rankstone"
    places = chain.from_iterable((package / room).rglob("*.py") for room in rooms)
    return [path.relative_to(ROOT).as_posix() for path in sorted(places)]


def drawn(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Return all changes in random order, the kinds in turn: the first N of them are the draw of N."""
    by_kind = {kind: list[Mutant]() for kind in KINDS}
    for mutant in mutants:
        by_kind[mutant.kind].append(mutant)
    for kind, of_kind in by_kind.items():
        random.Random(f"{seed} {kind}").shuffle(of_kind)
    return [
        mutant for turn in zip_longest(*by_kind.values()) for mutant in turn if mutant
    ]


def named() -> list[Mutant]:
    """Return the changes of ``named.toml``."""
    listed = tomllib.loads((FOLDER / "named.toml").read_text(encoding="utf-8"))
    mutants = []
    for entry in listed["mutant"]:
        source = (ROOT / entry["path"]).read_bytes()
        begin = source.find(entry["old"].encode())
        if source.count(entry["old"].encode()) != 1:
            raise SystemExit(
                f"named.toml: {entry['old']!r} is not once in {entry['path']}"
            )
        line, end = (
            source.count(b"\n", 0, begin) + 1,
            begin + len(entry["old"].encode()),
        )
        place = (entry["path"], line, entry["inside"], "named")
        mutants.append(
            Mutant(*place, entry["old"], entry["new"], begin, end, test=entry["test"])
        )
    return mutants


def reasons() -> dict[Key, str]:
    """Return the changes that nothing can notice, and why."""
    listed = tomllib.loads((FOLDER / "equivalent.toml").read_text(encoding="utf-8"))
    return {
        (
            entry["path"],
            entry["inside"],
            entry["old"],
            entry["new"],
            entry.get("turn", 0),
        ): entry["why"]
        for entry in listed["mutant"]
    }


# -- tests ----------------------------------------------------------------------------------------------
class Copy:
    """A copy of the project in which tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        self._graph = Imports(folder)
        self._failing = set[str]()  # tests that fail without any change, too
        self._sound = set[str]()
        self._reach = Reach()

    def batches(self, mutant: Mutant) -> list[tuple[list[str], int]]:
        """Return tests in the order in which they run, and the seconds of work of each part."""
        text = (self.folder / mutant.path).read_bytes()[: mutant.end]
        last = text.count(b"\n") + 1
        mentions = self._mentions(mutant)
        reaching = self._reach.tests(mutant.path, mutant.line, last, mentions)
        # constants of a module are reached by whoever imports it first
        if reaching and mutant.inside and not mutant.test:
            return [(reaching, REACHING)]
        files = self.tests(mutant)
        near, far = BATCHES
        return [(files[: near[0]], near[1]), (files[near[0] :], far[1])]

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the files of tests near to a change, the nearest first.

        First the file's own examples, then tests that mention the function or class around the change, then
        those with the shortest chain of imports.
        """
        near = [
            path
            for path in self._graph.nearest([mutant.path])
            if Path(path).parts[1] not in ELSEWHERE
            and not path.startswith(ABOUT_SOURCES)
        ]
        nearest = sorted(near, key=self._mentions(mutant))
        always = OF_NUMBERS if mutant.path.split("/")[2] in ("hits", "measures") else ()
        first = [mutant.test] if mutant.test else []
        files = [*first, mutant.path, *always, *nearest]
        return list(dict.fromkeys(files))[: sum(count for count, _ in BATCHES)]

    def _mentions(self, mutant: Mutant) -> Callable[[str], int]:
        """Return what counts, below 0, how many names around a change a file of tests has."""
        names = [*mutant.inside.split("."), Path(mutant.path).stem]
        words = [
            re.compile(rf"\b_*{word}\b")
            for name in names
            if len(word := name.strip("_")) >= WORD
        ]

        @cache
        def count(path: str) -> int:
            text = (self.folder / path).read_text(encoding="utf-8")
            return -sum(bool(word.search(text)) for word in words)

        return count

    def outcome(self, mutant: Mutant) -> tuple[str, str]:
        """Return `killed`, `timed out` or `survived`, and the test that failed or the tests that did not."""
        path = self.folder / mutant.path
        source = path.read_bytes()
        batches = self.batches(mutant)
        for batch, seconds in batches:
            while True:
                self._write(path, mutant.applied(source))
                failed = self.run(batch, seconds)
                self._write(path, source)
                if failed is None:
                    return "timed out", " ".join(batch)
                if not failed or failed in self._failing:
                    break
                if self._is_sound(failed):
                    return "killed", failed
                self._failing.add(failed)
        return "survived", "\n".join(chain.from_iterable(batch for batch, _ in batches))

    def _is_sound(self, test: str) -> bool:
        """Return True if a test passes without any change, or nothing can be imported any more."""
        if test.startswith(NO_TEST):
            return True
        if test not in self._sound and self.run([test], SOUND) == "":
            self._sound.add(test)
        return test in self._sound

    @staticmethod
    def _write(path: Path, source: bytes) -> None:
        """Write a source; what was compiled from it may have the same size and second."""
        path.write_bytes(source)
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()

    def run(self, tests: Sequence[str], seconds: int) -> str | None:
        """Run tests until one fails, and return its name: empty if none does, `None` if one hangs."""
        marked = " and ".join(f"not {name}" for name in MARKED.split())
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE"]
        command += [
            "-p",
            "no:cacheprovider",
            "-p",
            "tests.mutation.limits",
            "--doctest-modules",
            "-m",
            marked,
        ]
        command += [f"--deselect={test}" for test in sorted(self._failing)]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join((str(self.folder / "src"), str(self.folder))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_PROFILE": "ci",
            "RANKSTONE_CASES": "2",
            "RANKSTONE_SECONDS": str(seconds),
        }

        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [*command, *tests],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(HANGING)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None
            output.seek(0)
            printed = output.read()
        if code in (
            -signal.SIGXCPU,
            -signal.SIGKILL,
        ):  # beyond the limit of `limits.py`
            return None
        if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", printed, re.MULTILINE)
        return failed[1] if failed else f"{NO_TEST} {code}"


# -- the command ------------------------------------------------------------------------------------------
def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """Return the changes that are requested."""
    if arguments.named:
        return named()
    if arguments.again:
        alive = {
            tuple(entry["key"])
            for entry in _records()
            if entry["outcome"] == "survived"
        }
        every = chain.from_iterable(
            map(mutants_of_file, sorted({key[0] for key in alive}))
        )
        return list(
            {mutant.key: mutant for mutant in every if mutant.key in alive}.values()
        )
    path, _, line = (arguments.only or "").partition(":")
    files = [path] if path else files_of(arguments.rooms.split(","))
    every = chain.from_iterable(map(mutants_of_file, files))
    order = drawn(
        (mutant for mutant in every if not line or mutant.line == int(line)),
        arguments.seed,
    )
    return order[arguments.skip : arguments.skip + arguments.number]


def _records() -> list[dict[str, Any]]:
    text = (OUTPUT / "results.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def main() -> int:
    """Run the tests on each change; end with 1 if one survives without an argument."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument(
        "--skip", type=int, default=0, help="leave out the first of the draw"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument("--only", help="PATH or PATH:LINE")
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--again", action="store_true")
    mutants, equivalent = chosen(parser.parse_args()), reasons()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    results = list[Result]()
    with tempfile.TemporaryDirectory(prefix="rankstone-mutants-") as folder:
        copy = Copy(Path(folder))
        for number, mutant in enumerate(mutants, 1):
            began = time.monotonic()
            outcome, tests = copy.outcome(mutant)
            if outcome == "survived" and mutant.key in equivalent:
                outcome, tests = "equivalent", equivalent[mutant.key]
            results.append(Result(mutant, outcome, tests))
            seconds = time.monotonic() - began
            sys.stdout.write(f"{number:4} {seconds:4.0f} s  {results[-1]}\n")
            sys.stdout.flush()
            _write(results)
    _summarise(results)
    return int(any(result.outcome == "survived" for result in results))


def _write(results: Sequence[Result]) -> None:
    """Write all results, for `--again`, and the survivors, for people."""
    lines = [json.dumps(result.as_dict(), ensure_ascii=False) for result in results]
    (OUTPUT / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    alive = [str(result) for result in results if result.outcome == "survived"]
    (OUTPUT / "survivors.txt").write_text("\n".join(alive) + "\n", encoding="utf-8")


def _summarise(results: Sequence[Result]) -> None:
    """Print the outcomes by kind, and the share that was noticed of those that can be."""
    outcomes = ("killed", "timed out", "equivalent", "survived")
    sys.stdout.write(
        f"\n{'':18}" + "".join(f"{outcome:>12}" for outcome in outcomes) + "\n"
    )
    for kind in dict.fromkeys([*(result.mutant.kind for result in results), "all"]):
        of_kind = Counter(
            result.outcome for result in results if kind in (result.mutant.kind, "all")
        )
        numbers = "".join(f"{of_kind[outcome]:12}" for outcome in outcomes)
        sys.stdout.write(f"{kind:18}{numbers}\n")
    noticed = of_kind["killed"] + of_kind["timed out"]
    possible = len(results) - of_kind["equivalent"]
    share = noticed / max(possible, 1)
    sys.stdout.write(f"{noticed} of {possible} noticed ({share:.1%}); {OUTPUT}\n")


if __name__ == "__main__":
    sys.exit(main())
