"""What is drawn for libraries, and that a case that ends a library's process costs no other."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.live import running
from tests.live.library_answers import theirs
from tests.live.worlds import Traits, cases
from tests.rows import each

DRAWN = cases(7, 400, Traits())

RUNNER = """
import os
PACKAGE, REQUIRES = "pytest", []

def score(case, measures):
    if case["at"] == "dies":
        os.abort()
    if case["at"] == "ends":
        os._exit(3)
    while case["at"] == "hangs":
        pass
    if "odd" in measures and case["at"] == "raises":
        raise ValueError("odd")
    return {measure: 1.0 for measure in measures}
"""


def lists() -> list[list[list[Any]]]:
    return [listed for case in DRAWN for listed in case["run"].values()]


def copied() -> list[list[list[Any]]]:
    drawn = cases(7, 400, Traits(duplicates=True))
    return [listed for case in drawn for listed in case["run"].values()]


def grades() -> set[float]:
    return {
        grade
        for case in DRAWN
        for judged in case["qrels"].values()
        for grade in judged.values()
    }


def ids(case: dict[str, Any]) -> set[str]:
    judged, listed = case["qrels"].values(), case["run"].values()
    return {doc for docs in judged for doc in docs} | {
        doc for docs in listed for doc, _ in docs
    }


SEEN = {
    "lists longer than 15, with ties": lambda: any(
        len(listed) > 15 and len({score for _, score in listed}) < len(listed)
        for listed in lists()
    ),
    "hundreds of documents": lambda: max(map(len, lists())) > 200,
    "sixteen tied documents": lambda: any(
        sum(s == score for _, s in listed) >= 16
        for listed in lists()
        for _, score in listed
    ),
    "an empty list": lambda: [] in lists(),
    "one document": lambda: any(len(listed) == 1 for listed in lists()),
    "a query that is called as one of its documents": lambda: any(
        query in {doc for doc, _ in listed}
        for case in DRAWN
        for query, listed in case["run"].items()
    ),
    "a query without any judgment": lambda: any(
        {} in case["qrels"].values() for case in DRAWN
    ),
    "grades below zero": lambda: min(grades()) < 0,
    "fractions": lambda: any(grade % 1 for grade in grades()),
    "ids of other scripts": lambda: any(
        not doc.isascii() for case in DRAWN for doc in ids(case)
    ),
    "a document three times": lambda: any(
        max(Counter(doc for doc, _ in listed).values(), default=0) > 2
        for listed in copied()
    ),
    "copies of several documents": lambda: any(
        sum(count > 1 for count in Counter(doc for doc, _ in listed).values()) > 1
        for listed in copied()
    ),
    "cutoffs above 1000": lambda: {1001, 5000} <= {case["k"] for case in DRAWN},
    "scores that are equal only as float32": lambda: any(
        len({np.float32(s) for _, s in listed}) < len({s for _, s in listed})
        for listed in lists()
    ),
    "a cutoff behind the end": lambda: any(
        case["k"] > max(map(len, case["run"].values())) for case in DRAWN
    ),
}


@each("kind", SEEN)
def test_what_libraries_trip_over_is_drawn(kind: str) -> None:
    """Four hundred cases have each kind."""
    assert SEEN[kind]()


def test_what_a_library_cannot_be_handed_is_not_drawn() -> None:
    """Traits leave out what they name."""
    plain = cases(
        7,
        400,
        Traits(
            strange=False,
            long=False,
            hollow=False,
            unsaid=False,
            names=False,
            ties=False,
            deep=False,
            close=False,
        ),
    )
    every = [listed for case in plain for listed in case["run"].values()]
    assert all(0 < len(listed) <= 12 for listed in every)
    assert all(len({score for _, score in listed}) == len(listed) for listed in every)
    assert {
        g for case in plain for docs in case["qrels"].values() for g in docs.values()
    } == {0, 1, 2, 3}
    assert all(docs for case in plain for docs in case["qrels"].values())
    assert all(query[0] == "q" for case in plain for query in case["qrels"])
    assert all(case["k"] <= 100 for case in plain)
    assert all(np.float32(s) == s for listed in every for _, s in listed)


@pytest.mark.parametrize("how", ["dies", "ends", "hangs"])
def test_a_case_that_ends_the_process_costs_no_other(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases before and behind it have their numbers."""
    monkeypatch.setenv("RANKSTONE_PATIENCE", "1")
    (tmp_path / "breaking.py").write_text(RUNNER)
    requested = [
        {"at": position, "measures": ["a", "b"]} for position in ("well", how, "well")
    ]
    result, installed = theirs(
        Path(sys.executable), tmp_path / "breaking.py", requested
    )
    why = {"dies": "SIGABRT", "ends": "exit status 3", "hangs": "exit status 1"}[how]
    lost = {"lost": f"the library's process ends: {why}"}
    assert result == [
        {"a": 1.0, "b": 1.0},
        {"a": lost, "b": lost},
        {"a": 1.0, "b": 1.0},
    ]
    assert installed == f"pytest {pytest.__version__}"


def test_a_runner_that_breaks_on_everything_is_an_error(tmp_path: Path) -> None:
    """A runner without a single answer is broken, and no library is compared by it."""
    (tmp_path / "breaking.py").write_text(RUNNER)
    with pytest.raises(AssertionError):
        theirs(
            Path(sys.executable),
            tmp_path / "breaking.py",
            [{"at": "ends", "measures": ["a"]}] * 40,
        )


def test_a_measure_that_raises_costs_no_other(tmp_path: Path) -> None:
    """Measures are computed alone where computing them together raises."""
    (tmp_path / "breaking.py").write_text(RUNNER)
    runner = running.load(str(tmp_path / "breaking.py"))
    scores = running.answers(runner, {"at": "raises"}, ["a", "odd", "b"])
    assert scores == {"a": 1.0, "odd": {"error": "ValueError: odd"}, "b": 1.0}


CALLING = """
import socket
PACKAGE, REQUIRES = "pytest", []

def score(case, measures):
    with socket.create_server(("127.0.0.1", 0)) as here:
        socket.create_connection(here.getsockname()).close()
    socket.create_connection((case["host"], 80), timeout=1)
"""


@pytest.mark.parametrize("host", ["libraries.invalid", "192.0.2.1"])
def test_libraries_answer_offline(tmp_path: Path, host: str) -> None:
    """A runner may call this machine, and no other, by name or by address."""
    (tmp_path / "calling.py").write_text(CALLING)
    words = [{"host": host, "measures": ["a"]}]
    result, _ = theirs(Path(sys.executable), tmp_path / "calling.py", words)
    assert result == [
        {
            "a": {
                "error": f"PermissionError: no connection to {host}: libraries answer offline"
            }
        }
    ]
