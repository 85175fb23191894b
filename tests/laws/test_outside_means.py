"""Every query that is not part of a mean is counted in the audit, with a reason."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl
from tests.command_line import command
from tests.laws.test_explaining import TEXTS
from tests.rows import each

import rankstone
from rankstone import Measure, parse_measure
from rankstone.measures.core.measure import Status
from rankstone.testing.small_worlds import World, small_world

if TYPE_CHECKING:
    from pathlib import Path

EMPTY = ("zero", "drop", "undefined")


def with_odd_queries(text: str) -> tuple[Measure, World, dict[str, Any]]:
    """Return a measure, and a world with queries that lack a relevant document, a negative, or a list."""
    measure = parse_measure(text)
    assert isinstance(measure, Measure)
    world = small_world(text, 25, seed=11)
    judged = world.judgments
    relevant = {"q3": pl.lit(0.0), "q4": pl.lit(1.0)}
    for query, grade in relevant.items():
        is_odd = pl.col("query_id") == query
        judged = judged.with_columns(
            relevance=pl.when(is_odd).then(grade).otherwise("relevance")
        )
    run = world.run.filter(pl.col("query_id") != "q6")
    options = {**world.options, **world.tables(measure)}
    return measure, World(judged, run, {}, world.documents), options


def counted(scores: rankstone.Scores, name: str) -> dict[str, int]:
    """Return measure → queries with a status."""
    run = scores.runs["run"]
    counts = {
        str(measure): int((scored.status == Status[name]).sum())
        for measure, scored in run.by_measure.items()
    }
    return {measure: count for measure, count in counts.items() if count}


@each(("text", "empty"), product(TEXTS, EMPTY))
def test_every_measure(text: str, empty: str) -> None:
    """Whatever the measure and ``empty``, the audit counts who is outside the mean, says why, and shows it."""
    measure, world, inputs = with_odd_queries(text)
    inputs["empty"] = inputs.get("empty", empty)

    scores = rankstone.evaluate(world.judgments, world.run, measure, **inputs)

    audit = scores.audit.runs["run"]
    for name, reasons in (("undefined", audit.undefined), ("dropped", audit.dropped)):
        sums = {measure: sum(counts.values()) for measure, counts in reasons.items()}
        assert sums == counted(scores, name)
        for reason in (reason for counts in reasons.values() for reason in counts):
            assert reason.strip()
            assert not reason.startswith("never")
            assert reason in "\n".join(scores.audit.lines())
            if name == "undefined":
                (brief,) = scores.audit.brief()
                assert reason in brief or " more with -v" in brief
        assert scores.report()["audit"]["runs"]["run"][name] == reasons
    if measure.unit is None:
        outside = sum(sum(of.values()) for of in audit.undefined.values())
        outside += sum(sum(of.values()) for of in audit.dropped.values())
        mean = scores.mean().row(0, named=True)
        assert mean["n"] + outside == len(scores.runs["run"].queries)


def test_every_measure_that_can_be_undefined_is_tested() -> None:
    """The worlds above leave each measure that says so on its card without a value somewhere."""
    silent = set()
    for text in TEXTS:
        measure, world, inputs = with_odd_queries(text)
        if measure.zero_norm not in (Status.undefined, Status.dropped):
            continue
        scores = rankstone.evaluate(world.judgments, world.run, measure, **inputs)
        audit = scores.audit.runs["run"]
        if not (audit.undefined or audit.dropped):
            silent.add(text)
    assert not silent


QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}, "3": {"a": 1}}
RUN = {"1": {"a": 0.9, "b": 0.5}, "2": {"a": 0.3, "b": 0.6}, "3": {"a": 0.9}}
LABELLED = """\
query_id,score,relevance
1,.9,1
1,.5,0
2,.3,1
2,.6,0
3,.9,1
"""


def test_a_user_of_one_class(tmp_path: Path) -> None:
    """A user with one class is counted in the table, with -v and in JSON; from a table and from judgments."""
    file = tmp_path / "users.csv"
    file.write_text(LABELLED)
    message = "1 query not in the mean of AUC(negatives=candidates), GAUC(negatives=candidates): "
    message += "no relevant document, or no negative"
    text = "AUC(negatives=candidates) GAUC(negatives=candidates)"
    arguments = ["eval", "--labeled", str(file), "-m", text]

    for further in ([], ["-v"], ["--format", "md"]):
        shown = command(*arguments, *further).stdout.replace("\\", "")
        assert message in " ".join(shown.split())
    parsed = json.loads(command(*arguments, "--format", "json").stdout)
    assert parsed["audit"]["runs"]["users"]["undefined"] == {
        name: {"no relevant document, or no negative": 1}
        for name in ("AUC(negatives=candidates)", "GAUC(negatives=candidates)")
    }
    scores = rankstone.evaluate(QRELS, {"a": RUN, "b": RUN}, "AUC(negatives=judged)")
    (brief,) = scores.audit.brief()
    assert (
        "both runs: 1 query not in the mean of AUC(negatives=judged): no rel" in brief
    )


def test_a_comparison_speaks_of_the_measures_that_were_requested() -> None:
    """Judged@k, which every comparison adds for itself, is counted where somebody asks for it."""
    runs = {"a": {"1": {"x": 1.0}, "2": {}}, "b": {"1": {"y": 1.0}, "2": {}}}
    qrels = {"1": {"x": 1}, "2": {"x": 1}}

    assert "Judged" not in rankstone.compare(qrels, runs, "AP").text().split("audit")[1]
    text = rankstone.compare(qrels, runs, "AP Judged@10").text()
    assert "not in the mean of Judged@10: empty list" in " ".join(text.split())


def test_conventions_say_it_too() -> None:
    """A library that leaves such a user out, or has no mean then; one without a value has no reason to."""
    out = rankstone.evaluate(QRELS, RUN, "GAUC ndcg@2", convention="recbole")
    none = rankstone.evaluate(QRELS, RUN, "AUC Precision", convention="cornac")

    assert out.audit.runs["run"].undefined == {
        "GAUC": {"no relevant document, or no negative": 1}
    }
    audit = none.audit.runs["run"]
    assert none.to_dict()["run"]["AUC"] is None
    reason = "no relevant document, or no negative; with such a query there is no mean"
    assert audit.undefined == {"AUC": {reason: 1}}


def test_whole_lists_too() -> None:
    """Users whose list has no value are counted."""
    items = {"a": {"f": 1, "g": 0}, "b": {"f": 0, "g": 1}}
    scores = rankstone.beyond({"u": ["a", "b"], "v": ["a"]}, "ILD", items=items)

    (line,) = (line for line in scores.audit.lines() if line.startswith("run"))
    assert "1 user not in the mean of ILD: fewer than two items" in line
    assert "not in the mean" not in str(
        rankstone.beyond({"u": ["a", "b"]}, "ILD", items=items).audit
    )
