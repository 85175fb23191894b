"""Benchmark rankstone beside a bare scan and its peers, and print one table.

``python benchmarks/run.py`` takes a while; ``--short`` is done in less than two minutes.  The exit status
is 1 when a subject failed; a missed bar is told in the table.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import data
from cases import Case, Subject, cases
from measure import Measured, in_turns
from table import report

DATA = Path(__file__).with_name(".data")
RUNS = 7
SHORT_RUNS = 1
SHORT_SCALE = 0.05
_LARGEST = 10
NOT_INSTALLED = "not installed"


def main() -> int:
    """Run the benchmark that the command line asks for."""
    options = _options()
    every = {case.name: case for case in cases(DATA, options.scale)}
    if options.list:
        for name, case in every.items():
            print(f"{name:15} {case.about}")
        return 0
    before = _load()
    done: dict[str, tuple[Case, dict[str, Measured]]] = {}
    for name in options.only or [
        name for name, case in every.items() if options.huge or not case.huge
    ]:
        case = every[name]
        if case.dataset is not None:
            scale = options.scale * case.scale
            data.ensure(case.dataset, data.folder(DATA, scale), scale)
        print(name, file=sys.stderr, flush=True)
        done[name] = case, _measure(case, options.runs, options.peers)
    command = shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]])
    text = report(done, command, options.scale, f"{before} → {_load()}")
    print(text, end="")
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with data.unfinished(options.out) as temporary:
            temporary.write_text(text, encoding="utf-8")
    results = [result for _, measured in done.values() for result in measured.values()]
    return int(any(result.problem not in {None, NOT_INSTALLED} for result in results))


def _measure(case: Case, runs: int, peers: str) -> dict[str, Measured]:
    """Run a case's subjects in turns, leaving out what is not installed."""
    chosen = [subject for subject in case.subjects if peers == "all" or subject.barred]
    there = [subject for subject in chosen if _is_there(subject)]
    measured = in_turns(
        {subject.name: subject.command for subject in there},
        {subject.name: min(runs * case.times, subject.at_most) for subject in there},
        {subject.name: subject.at_most == 1 or case.huge for subject in there},
        {subject.name for subject in there if subject.terminal},
    )
    return {
        s.name: measured.get(s.name, Measured(problem=NOT_INSTALLED)) for s in chosen
    }


def _is_there(subject: Subject) -> bool:
    """Say whether everything a subject needs is installed."""
    own = subject.interpreter is None or subject.interpreter.exists()
    return own and all(find_spec(need) for need in subject.needs)


def _options() -> argparse.Namespace:
    """Read the command line."""
    names = [case.name for case in cases(DATA, 1)]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help="these cases only"
    )
    parser.add_argument(
        "--runs", type=int, help=f"counted runs of each subject [{RUNS}]"
    )
    parser.add_argument(
        "--scale",
        type=float,
        help="of the full sizes [1]; 5 makes large-200m a billion rows",
    )
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"--scale {SHORT_SCALE} --runs {SHORT_RUNS}: a smoke test",
    )
    parser.add_argument(
        "--peers",
        choices=("barred", "all"),
        default="barred",
        help="compare with those that a bar is set against, or with all [barred]",
    )
    parser.add_argument(
        "--huge", action="store_true", help="cases of many gigabytes, too"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the report there too"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and leave")
    options = parser.parse_args()
    options.runs = options.runs or (SHORT_RUNS if options.short else RUNS)
    options.scale = options.scale or (SHORT_SCALE if options.short else 1.0)
    if options.runs < 1 or not 0 < options.scale <= _LARGEST:
        parser.error(
            f"--runs is at least 1, --scale more than 0 and at most {_LARGEST}"
        )
    return options


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
