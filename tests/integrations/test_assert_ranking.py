"""Assertions about rankings: as a function, as a fixture, and what a failing test shows."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from docs.making.printed import blocks

from rankstone import UsageError, demo
from rankstone.integrations.pytest import assert_ranking

pytest_plugins = ["pytester"]

BM25, TFIDF = demo.RUNS["bm25"], demo.RUNS["tfidf"]
#: where the package is not installed, or was before it had a plugin, pytest gets it by name
PLUGIN = (
    []
    if entry_points(group="pytest11", name="rankstone")
    else ["-p", "rankstone.integrations.pytest"]
)


def failure(measure: str, run: Any = TFIDF, **asserted: Any) -> str:
    """Return what a failing assertion says."""
    with pytest.raises(AssertionError) as caught:
        assert_ranking(demo.QRELS, run, measure, **asserted)
    return str(caught.value)


def test_what_holds_passes() -> None:
    """Equality is enough, and so are the same lists."""
    qrels = {"a": {"x": 1}, "b": {"x": 1}}
    assert_ranking(qrels, {"a": ["x"], "b": ["y"]}, "RR", at_least=1 / 2)
    assert_ranking(demo.QRELS, BM25, "nDCG@10", not_worse_than=BM25, margin=0.15)
    assert_ranking(
        demo.QRELS, TFIDF, "nDCG@10", at_least=0.5, not_worse_than=BM25, margin=0.2
    )


def test_a_mean_that_is_too_low() -> None:
    """The value, the minimum and the worst queries are named."""
    assert failure("nDCG@10", BM25, at_least=0.9).splitlines() == [
        "nDCG@10 is 0.5704, minimum 0.9",
        "worst queries: q07 0.0000, q09 0.0000, q27 0.0000, q30 0.0000, q28 0.1043",
    ]
    judged = {"a": {"x": 0}}
    with pytest.raises(AssertionError, match="RR has no value, minimum 0"):
        assert_ranking(judged, {"a": ["x"]}, "RR", at_least=0, empty="undefined")


def test_another_ranking() -> None:
    """The verdict, the margin and the largest losses are named; an inconclusive comparison fails."""
    shown = failure("nDCG@10", not_worse_than=BM25, margin=0.15)
    for part in (
        "inconclusive: tfidf in place of bm25",
        "allowed loss: 0.15",
        "risk of a false release 0.025",
        "Inconclusive: tfidf − bm25 on nDCG@10 = -0.0627",
        "worst queries: q25 0.0000 (-1.0000), q26 0.1738 (-0.4131)",
    ):
        assert part in shown
    assert "-v" not in shown  # a test has no such option
    assert "90 % CI" in failure(
        "nDCG@10", not_worse_than=BM25, margin=0.15, confidence=0.9
    )
    both = failure("nDCG@10", at_least=0.6, not_worse_than=BM25, margin=0.2)
    assert "0.5077, minimum 0.6" in both


def test_options_of_alignment() -> None:
    """They mean what they mean everywhere, alone and against another ranking."""
    qrels, run = {str(query): {"x": 1} for query in range(400)}, {"0": ["x"]}
    assert_ranking(qrels, run, "RR", at_least=1, missing="drop")
    assert_ranking(qrels, run, "RR", not_worse_than=run, margin=0.1, missing="zero")
    with pytest.raises(UsageError):
        assert_ranking(qrels, run, "RR", at_least=1, missing="nonsense")


def test_assertions_that_say_nothing() -> None:
    """Without a limit, without a margin, with two measures."""
    with pytest.raises(UsageError, match="nothing to assert"):
        assert_ranking(demo.QRELS, BM25, "AP")
    with pytest.raises(UsageError, match="need each other"):
        assert_ranking(demo.QRELS, BM25, "AP", not_worse_than=TFIDF)
    with pytest.raises(UsageError, match="need each other"):
        assert_ranking(demo.QRELS, BM25, "AP", at_least=0.1, margin=0.1)
    with pytest.raises(UsageError, match="one measure expected"):
        assert_ranking(demo.QRELS, BM25, "AP RR", at_least=0.1)
    with pytest.raises(UsageError, match=r"margin = 0\.01 cannot pass"):
        assert_ranking(demo.QRELS, TFIDF, "Success@5", not_worse_than=BM25, margin=0.01)


def test_the_fixture(pytester: pytest.Pytester) -> None:
    """A failing test shows the message, and no line of ours."""
    pytester.makepyfile("""
        from rankstone import demo

        def test_good(assert_ranking):
            assert_ranking(demo.QRELS, demo.RUNS["bm25"], "nDCG@10", at_least=0.5)

        def test_bad(assert_ranking):
            assert_ranking(demo.QRELS, demo.RUNS["bm25"], "nDCG@10", at_least=0.9)

        def test_lost(assert_ranking):
            assert_ranking(demo.QRELS, "lost.run", "nDCG@10", at_least=0.9)
    """)
    # in a process of its own: libraries may leave exceptions behind, which tracebacks then show
    done = pytester.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider")

    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        ["E *AssertionError: nDCG@10 is 0.5704, minimum 0.9", "E *worst queries: q07*"]
    )
    done.stdout.fnmatch_lines(["E *lost.run: *"])
    done.stdout.no_fnmatch_line("*raise *")
    done.stdout.no_fnmatch_line("*rankstone/*.py:*")


def test_the_tests_on_the_page(pytester: pytest.Pytester) -> None:
    """What docs/continuous-integration.md shows first is a file of tests, which pass."""
    page = (Path(__file__).parents[2] / "docs" / "continuous-integration.md").read_text(
        "utf-8"
    )
    pytester.makepyfile(
        next(block.code for block in blocks(page) if block.kind == "python")
    )

    pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider").assert_outcomes(
        passed=2
    )


def test_pytest_starts_without_libraries() -> None:
    """The plugin imports neither NumPy nor Polars before there is an assertion."""
    code = (
        "import sys, rankstone.integrations.pytest\n"
        "print(*sorted(name for name in sys.modules if name.startswith(('numpy', 'polars', 'rankstone.'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [
        "rankstone.integrations",
        "rankstone.integrations.pytest",
    ]
