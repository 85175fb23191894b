"""The report: one Markdown table under a header that says where and with what it was measured."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cases import Bar, Case
    from measure import Measured

PACKAGES = (
    *(
        "rankstone",
        "numpy",
        "polars",
        "pytrec_eval-terrier",
        "ranx",
        "numba",
        "ir_measures",
    ),
    *("scikit-learn", "pyspark"),
)
HEAD = """\
| case | subject | runs | seconds, median (range) | CPU s | peak MB | time ÷ this | memory ÷ this | bar |
|---|---|--:|--:|--:|--:|--:|--:|---|"""
LEGEND = """\
Every run is a whole process in a fresh interpreter, from its start to its end; subjects of a case take
turns after a warm-up round, so files are in the page cache (peers that take long are run once, and so is
what takes many gigabytes). CPU seconds are those of all threads, in user and system mode, median. MB are
10⁶ bytes of peak resident memory, the largest of all runs.
“÷ this” divides what the case's first subject took by what this row's subject took."""


def report(
    done: Mapping[str, tuple[Case, Mapping[str, Measured]]],
    command: str,
    scale: float,
    load: str,
) -> str:
    """Write the whole report."""
    rows = [
        row for case, measured in done.values() for row in _rows(case, measured, scale)
    ]
    about = [f"- **{case.name}**: {case.about}." for case, _ in done.values()]
    notes = [
        note for case, measured in done.values() for note in _notes(case, measured)
    ]
    parts = ["# Benchmarks", _header(command, load), LEGEND]
    if scale != 1:
        parts.append(
            f"**At {scale:g} of the full sizes.** The bars are set for the full sizes, so verdicts are in "
            "parentheses."
        )
    parts += ["\n".join([HEAD, *rows]), *_growth(done), "\n".join(about)]
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join(parts) + "\n"


def _growth(done: Mapping[str, tuple[Case, Mapping[str, Measured]]]) -> Iterator[str]:
    """Set cases that differ in nothing but their size beside each other."""
    grown = {
        name: measured
        for name, (_, measured) in done.items()
        if name.startswith("growth-")
    }
    if len(grown) < 2:  # noqa: PLR2004 - one size does not grow
        return
    subjects = list(
        dict.fromkeys(subject for measured in grown.values() for subject in measured)
    )
    sizes = [name.removeprefix("growth-").replace("m", " M rows") for name in grown]
    lines = [f"| | {' | '.join(sizes)} |", f"|---|{'--:|' * len(sizes)}"]
    for subject in subjects:
        cells = []
        for measured in grown.values():
            found = measured.get(subject)
            there = found is not None and found.problem is None
            cells.append(
                f"{found.seconds:.3g} s, {found.peak / 1e9:.2g} GB"
                if found and there
                else "–"
            )
        lines.append(f"| {subject} | {' | '.join(cells)} |")
    yield "## Growth"
    yield "\n".join(lines)


def _header(command: str, load: str) -> str:
    """Describe the machine, the system and the versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count()
    )
    versions = ", ".join(f"{package} {_version(package)}" for package in PACKAGES)
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    lines = [
        f"- Machine: {_processor()}, {cores} cores, {memory:.0f} GiB memory; load average {load}",
        f"- System: {system}, {python}",
        f"- Packages: {versions}",
        f"- Date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"- Command: `{command}`",
    ]
    return "\n".join(lines)


def _processor() -> str:
    """Name the processor's model, as far as the system tells."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        told = []
    models = [
        line.partition(":")[2].strip() for line in told if line.startswith("model name")
    ]
    return models[0] if models else platform.processor() or "unknown processor"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _rows(case: Case, measured: Mapping[str, Measured], scale: float) -> Iterator[str]:
    """Write a case's rows; each bar stands beside the subject it is set against."""
    main = measured[case.subjects[0].name]
    scale = scale if case.dataset is not None else 1.0
    for index, (name, result) in enumerate(measured.items()):
        against = None if index == 0 else name
        bars = [
            _verdict(bar, main, result, scale)
            for bar in case.bars
            if bar.against == against
        ]
        cells = [case.name if index == 0 else "", name]
        if result.problem is not None:
            cells += ["", result.problem.splitlines()[0], "", "", "", ""]
        else:
            low, high = result.spread
            runs = str(len(result.processes))
            cells += [
                runs,
                f"{result.seconds:.3g} ({low:.3g}–{high:.3g})",
                f"{result.cpu:.3g}",
            ]
            cells.append(f"{result.peak / 1e6:,.0f}")
            compared = index > 0 and main.problem is None
            cells.append(f"{main.seconds / result.seconds:.3g} ×" if compared else "")
            cells.append(f"{main.peak / result.peak:.3g} ×" if compared else "")
        yield f"| {' | '.join([*cells, '; '.join(bars)])} |"


def _verdict(bar: Bar, main: Measured, other: Measured, scale: float) -> str:
    """Say a bar and whether it is kept."""
    unit, size = {"time": (" s", 1.0), "memory": (" GB", 1e9), "printed": ("", 1.0)}[
        bar.what
    ]
    limit = f"{bar.limit:g} ×" if bar.against else f"{bar.limit / size:g}{unit}"
    text = f"{bar.label or bar.what} ≤ {limit}: "
    if main.problem is not None or other.problem is not None:
        return text + "not measured"
    value = (
        _amount(bar, main) / _amount(bar, other) if bar.against else _amount(bar, main)
    )
    kept = value <= bar.limit
    text += f"{value:.3g}, " if bar.what == "printed" else ""
    if scale != 1:
        return text + ("(ok)" if kept else "(missed)")
    return text + ("ok" if kept else "**MISSED**")


def _amount(bar: Bar, result: Measured) -> float:
    if bar.what == "time":
        return result.seconds
    return float(result.peak) if bar.what == "memory" else float(result.out.split()[-1])


def _notes(case: Case, measured: Mapping[str, Measured]) -> Iterator[str]:
    """Say what failed, and how far the others' means are from ours."""
    for name, result in measured.items():
        if result.problem is not None and "\n" in result.problem:
            how, _, tail = result.problem.partition("\n")
            yield f"- {case.name}, {name} {how}\n\n  ```\n{indent(tail, '  ')}\n  ```\n"
    means = {
        name: _means(result)
        for name, result in measured.items()
        if result.problem is None
    }
    ours = means.pop(case.subjects[0].name, None)
    if ours is None:
        return
    for name, theirs in means.items():
        if theirs is not None:
            gaps = {
                key: abs(value - ours[key])
                for key, value in theirs.items()
                if key in ours
            }
            if gaps:
                far = max(gaps, key=lambda key: gaps[key])
                yield f"- {case.name}: the means of {name} differ by at most {gaps[far]:.1g} ({far})."


def _means(result: Measured) -> dict[str, float] | None:
    """Find ``{measure: mean}`` in what a subject printed."""
    try:
        found: Any = json.loads(result.out)
    except ValueError:
        return None
    if isinstance(found, dict) and isinstance(runs := found.get("runs"), dict):
        found = next(iter(runs.values()))
    if not isinstance(found, dict) or not all(
        isinstance(value, int | float) for value in found.values()
    ):
        return None
    return {str(key): float(value) for key, value in found.items()}
