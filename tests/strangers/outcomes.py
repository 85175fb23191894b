"""Decide how a run came out, and keep the outcomes of all runs in ``outcomes.toml``."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.strangers.pasting import pasted_call, pasted_command
from tests.strangers.running import attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.strangers.cases import Case, Run
    from tests.strangers.running import Ending

__all__ = [
    "OUTCOMES",
    "RECORDED",
    "Trail",
    "decided",
    "followed",
    "looked_up",
    "recorded",
    "table",
    "write",
]

#: from the best to the worst
OUTCOMES: Final = ("right", "fixed", "refused", "dead end", "wrong", "crash")
RECORDED: Final = Path(__file__).resolve().parent / "outcomes.toml"
#: fixes that a patient person pastes one after another
_PATIENCE: Final = 2
_HEAD: Final = "# How each run of the cases comes out today: `python -m tests.strangers` writes it.\n"


@dataclass(frozen=True)
class Trail:
    """The outcome of a run, and the texts that were run with how each ended."""

    outcome: str
    steps: tuple[tuple[str, Ending], ...]


def followed(case: Case, run: Run) -> Trail:
    """Return how a run of a case comes out, with its fixes pasted."""
    return decided(run, lambda text: attempt(case, run, text))


def decided(run: Run, end_of: Callable[[str], Ending]) -> Trail:
    """Return how a run comes out.

    Parameters
    ----------
    run
        The text and its right end.
    end_of
        How a text ends.
    """
    paste = pasted_call if run.is_call else pasted_command
    text: str | None = run.text
    steps: list[tuple[str, Ending]] = []
    for pastes in range(_PATIENCE + 1):
        assert text is not None
        ending = end_of(text)
        steps.append((text, ending))
        if ending.kind == "crash":
            return Trail("crash", tuple(steps))

        fix = paste(text, ending.text) if ending.kind == "refusal" else None
        if _is_right(run, [step for _, step in steps], has_fix=fix is not None):
            return Trail("fixed" if pastes else "right", tuple(steps))
        if ending.kind == "result":
            return Trail("dead end" if pastes else "wrong", tuple(steps))
        if fix is None:
            return Trail("dead end" if pastes else "refused", tuple(steps))
        text = fix
    return Trail("dead end", tuple(steps))


def _is_right(run: Run, endings: Sequence[Ending], *, has_fix: bool) -> bool:
    """Return whether this is the right end.

    A refusal that is right has the words and offers nothing to paste; where values are known, too, it may offer what
    leads to them.
    """
    first, last = endings[0], endings[-1]
    if not _has(last.text, run.says) or _has_any(last.text, run.hides):
        return False
    if run.refused is None:
        return last.kind == "result" and _has_values(run, last)
    if last.kind == "refusal":
        return not has_fix and _has(last.text, run.refused)
    was_refused = first.kind == "refusal" and _has(first.text, run.refused)
    return was_refused and run.values is not None and _has_values(run, last)


def _has(text: str, words: Iterable[str]) -> bool:
    plain = _plain(text)
    return all(_plain(word) in plain for word in words)


def _has_any(text: str, words: Iterable[str]) -> bool:
    plain = _plain(text)
    return any(_plain(word) in plain for word in words)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _has_values(run: Run, ending: Ending) -> bool:
    return all(
        _is_close(looked_up(ending.document, place), value)
        for place, value in (run.values or {}).items()
    )


def _is_close(number: object, expected: float) -> bool:
    """Return whether a number is the expected one; what is not a number is written as null."""
    if math.isnan(expected):
        return number is None or (isinstance(number, float) and math.isnan(number))
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return False
    return math.isclose(number, expected, rel_tol=1e-9, abs_tol=1e-12)


_NOWHERE: Final = "nowhere"


def looked_up(document: Any, place: str) -> Any:
    """Return what stands at a place: a measure of the only run, of a run by name, or a path of keys and numbers.

    >>> looked_up({"runs": {"a.b": {"nDCG@10": 0.5}}}, "a.b.nDCG@10")
    0.5
    >>> looked_up({"rows": [{"value": 1}, {"value": 2}]}, "rows.1.value")
    2
    """
    roots = [document]
    runs = document.get("runs", document) if isinstance(document, dict) else None
    if isinstance(runs, dict):
        only = list(runs.values())[:1] if len(runs) == 1 else []
        roots = [*only, runs, document]
    hits = [_at(root, place) for root in roots]
    return next((hit for hit in hits if hit is not _NOWHERE), _NOWHERE)


def _at(document: Any, place: str) -> Any:
    if isinstance(document, list):
        document = {str(number): item for number, item in enumerate(document)}
    if not isinstance(document, dict):
        return _NOWHERE
    if place in document:
        return document[place]
    for key, inner in document.items():
        if place.startswith(f"{key}."):
            hit = _at(inner, place[len(str(key)) + 1 :])
            if hit is not _NOWHERE:
                return hit
    return _NOWHERE


def recorded(path: Path = RECORDED) -> dict[str, str]:
    """Return the recorded outcomes by the names of the runs."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(outcomes: Mapping[str, str], path: Path = RECORDED) -> None:
    """Write outcomes, sorted, one line a run."""
    lines = [
        f"{json.dumps(name)} = {json.dumps(outcomes[name])}\n"
        for name in sorted(outcomes, key=_by_number)
    ]
    path.write_text(_HEAD + "".join(lines), encoding="utf-8")


def _by_number(name: str) -> tuple[str, int]:
    case, _, number = name.partition(":")
    return case, int(number)


def table(cases: Iterable[Case], outcomes: Mapping[str, str]) -> str:
    """Return how many cases and runs have each outcome, those that failed and those that held apart.

    A case has the worst outcome of its runs.
    """
    counts: dict[bool, tuple[Counter[str], Counter[str]]] = {
        True: (Counter(), Counter()),
        False: (Counter(), Counter()),
    }
    for case in cases:
        of_runs = [outcomes[name] for name in case.run_names()]
        of_case, of_each_run = counts[case.fails]
        of_case[max(of_runs, key=OUTCOMES.index)] += 1
        of_each_run.update(of_runs)

    width = 10
    head = "".join(f"{word:>{width}}" for word in ("all", *OUTCOMES))
    lines = [f"{'':<16}{head}"]
    for fails, label in ((True, "failing"), (False, "holding")):
        for counter, what in zip(counts[fails], ("cases", "runs"), strict=True):
            numbers = [counter.total(), *(counter[word] for word in OUTCOMES)]
            cells = "".join(f"{number:>{width}}" for number in numbers)
            lines.append(f"{label + ' ' + what:<16}{cells}")
    return "\n".join(lines)
