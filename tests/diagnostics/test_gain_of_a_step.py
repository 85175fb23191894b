"""What a step from one mean to another is worth, with bare numbers."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from tests.command_line import exit_code

from rankstone.diagnostics.expected_by_chance import gain
from rankstone.errors import BadParameter


def test_the_same_difference_is_not_the_same_gain() -> None:
    """MAP 0.2 → 0.4 halves the distance of relevant documents; 0.7 → 0.9 gains more of what was left."""
    low, high = gain("AP", 0.2, 0.4), gain("AP", 0.7, 0.9)

    assert low.difference == pytest.approx(high.difference)
    assert (low.ranks_before, low.ranks_after) == (1 / 0.2, 1 / 0.4)
    assert (high.ranks_before, high.ranks_after) == (1 / 0.7, 1 / 0.9)
    assert low.error_reduction == pytest.approx(0.2 / 0.8)
    assert high.error_reduction == pytest.approx(0.2 / 0.3)
    assert [low.relative, high.relative] == pytest.approx([1.0, 2 / 7])


def test_ranks_of_reciprocal_ranks() -> None:
    """The depth k of a uniform answer with H_k / k ≥ RR: 9 for 0.3 and 4 for 0.5."""
    gains = gain("RR", 0.3, 0.5)
    assert (gains.ranks_before, gains.ranks_after) == (9.0, 4.0)
    assert "one relevant document in the first 9 → 4 ranks" in gains.words()


def test_scales_with_other_ends() -> None:
    """Where lower is better what was left to lose counts; without an end, or from 0, nothing is divided."""
    fallout = gain("Fallout(negatives=judged)@5", 0.4, 0.1)
    assert fallout.error_reduction == pytest.approx(0.3 / 0.4)
    assert gain("DCG", 2, 3).error_reduction is None
    assert gain("AP(agg=sum)", 2, 3).error_reduction is None
    assert gain("AP", 0, 0.1).relative is None
    assert gain("AP", 0, 0.1).ranks_before is None
    assert gain("AP", 1, 0.5).error_reduction is None
    assert gain("AP(rel=2)", 0.2, 0.4).ranks_after is None
    text = "P@10 0.5 → 0.25: -0.25, ×0.5; distance to the best value up 50.0%"
    assert gain("P@10", 0.5, 0.25).words() == text


def test_every_measure_has_a_scale_note() -> None:
    """Its own, or that nothing is shown."""
    assert "rank 2 → 1" in gain("RR", 0.2, 0.3).scale
    assert "not shown" in gain("INST(gain=binary)", 0.2, 0.3).scale


@pytest.mark.parametrize(
    "means", [(0.2, 1.5), (-0.1, 0.2), (math.nan, 0.2), (0.2, math.inf)]
)
def test_what_is_no_value(means: tuple[float, float]) -> None:
    """Outside the measure's range, or no number."""
    with pytest.raises(BadParameter, match="is not a value of AP"):
        gain("AP", *means)
    with pytest.raises(BadParameter, match="not a measure of a ranking"):
        gain("RBO(p=0.9)", 0.2, 0.3)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines, JSON, CSV and Markdown; mistakes are explained."""

    def printed(*arguments: str, code: int = 0) -> str:
        assert exit_code(["baseline", *arguments]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    words = ("--gain", "AP=0.2,0.4", "--gain", "nDCG(gain=exp2)@10=0.7,0.9")
    lines = printed(*words).splitlines()
    assert gain("AP", 0.2, 0.4).words() in " ".join(lines)
    assert any(line.startswith("AP, scale: ") for line in lines)
    steps = json.loads(printed(*words, "--format", "json"))["gains"]
    assert [row["measure"] for row in steps] == ["AP", "nDCG(gain=exp2)@10"]
    rows = list(csv.DictReader(io.StringIO(printed(*words, "--format", "csv"))))
    assert [float(row["error_reduction"]) for row in rows] == [
        row["error_reduction"] for row in steps
    ]
    assert "| measure | before |" in printed(*words, "--format", "md")

    for inputs, message in (
        (("--gain", "AP=0.2"), "a measure and two means"),
        (("--gain", "0.2,0.4"), "a measure and two means"),
        (("--gain", "AP=0.2,1.4"), "1.4 is not a value of AP"),
        (("--gain", "AB=0.2,0.4"), "AB"),
        (("--gain", "AP=0.2,0.4", "qrels.txt"), "no files"),
    ):
        assert message in printed(*inputs, code=2)
