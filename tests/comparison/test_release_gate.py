"""A gate: its file, what its rules and guards say, how it ends."""

from __future__ import annotations

import json
import math
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import rankstone
from rankstone.comparison.gate_config import Config
from rankstone.comparison.gate_rules.mean_limits import Floor
from rankstone.comparison.release_gate import margin_plan, plan
from rankstone.errors import InputError, UsageError
from rankstone.measures import MEASURES
from rankstone.measures.core.measure import Measure
from rankstone.measures.core.syntax import parse_measure

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = [f"q{index}" for index in range(40)]
QRELS = {query: {"good": 1, "bad": 0} for query in QUERIES}


def scores(
    base: float, step: float = 0.0, seed: int = 0
) -> dict[str, dict[str, float]]:
    """Return saved scores per query; the same seed gives the same noise."""
    noise = np.random.default_rng(seed).normal(0, 0.05, len(QUERIES))
    return {
        q: {"map": base + step + float(n)} for q, n in zip(QUERIES, noise, strict=True)
    }


def gated(
    baseline: Any, candidate: Any, *rules: dict[str, Any], **result: Any
) -> rankstone.Gate:
    return rankstone.gate(
        {"baseline": baseline, "candidate": candidate, "rules": list(rules), **result}
    )


BETTER = scores(0.5, 0.03, seed=1)
OLD = scores(0.5)


# -- rules -----------------------------------------------------------------------------------------
def test_an_interval_above_the_margin_passes() -> None:
    """The interval of 40 differences of 0.03 ± 0.07 lies above −0.02."""
    verdict = gated(OLD, BETTER, {"measure": "map", "margin": 0.02})
    outcome = verdict.outcomes[0]
    assert (verdict.verdict, verdict.exit_code) == ("pass", 0)
    assert outcome.numbers["low"] > -0.02
    assert outcome.numbers["difference"] == pytest.approx(
        np.mean([BETTER[q]["map"] - OLD[q]["map"] for q in QUERIES])
    )


def test_an_interval_below_the_margin_fails() -> None:
    """Surely worse by more than the margin."""
    verdict = gated(OLD, scores(0.5, -0.1, seed=1), {"measure": "map", "margin": 0.02})
    assert (verdict.verdict, verdict.exit_code) == ("fail", 1)
    assert verdict.outcomes[0].numbers["high"] < -0.02


def test_an_interval_around_the_margin_is_open() -> None:
    """It fails unless it may warn or pass, and says how many queries would settle it."""
    rule, candidate = {"measure": "map", "margin": 0.001}, scores(0.5, 0.005, seed=1)
    ends = {}
    for name in ("fail", "warn", "pass"):
        verdict = gated(OLD, candidate, rule, inconclusive=name)
        ends[name] = (verdict.verdict, verdict.exit_code, verdict.warning is None)
    assert ends == {
        "fail": ("inconclusive", 4, True),
        "warn": ("inconclusive", 0, False),
        "pass": ("inconclusive", 0, True),
    }
    assert gated(OLD, candidate, rule).exit_code == 4
    assert "queries would be enough" in verdict.outcomes[0].text


@pytest.mark.parametrize(
    ("interval", "risk"),
    [(None, "release 0.025, more if"), ("worst_case", "release ≤ 0.025;")],
)
def test_only_the_worst_case_bounds_the_risk(interval: str | None, risk: str) -> None:
    """Other limits let more pass where a few queries collapse, so their level is no bound."""
    settings = {} if interval is None else {"statistics": {"interval": interval}}
    rule = {"measure": "map", "margin": 0.02}
    outcome = gated(OLD, BETTER, rule, **settings).outcomes[0]

    assert risk in outcome.text


def test_a_gate_takes_no_interval_of_a_test() -> None:
    """A test says nothing about losses that these queries do not show, nor do probabilities decide."""
    rule = {"measure": "map", "margin": 0.02}
    with pytest.raises(UsageError, match="interval='test' is not known"):
        gated(OLD, BETTER, rule, statistics={"interval": "test"})
    with pytest.raises(UsageError, match="rope"):
        gated(OLD, BETTER, rule, statistics={"rope": 0.01})


def test_a_gate_keeps_its_guarded_interval() -> None:
    """Whatever the default of comparisons is, a promise about losses allows for rare ones."""
    rule = {"measure": "map", "margin": 0.02}
    numbers = gated(OLD, BETTER, rule).outcomes[0].numbers
    compared = rankstone.compare_scores({"old": OLD, "new": BETTER}, interval="auto")
    row = compared.table.row(0, named=True)

    assert (numbers["low"], numbers["high"]) == (row["low"], row["high"])


def test_equal_scores_are_no_certainty() -> None:
    """Forty ties leave a loss of 1 on 1 - 0.025 ** (1 / 40) of queries open, however small the margin."""
    outcome = gated(OLD, dict(OLD), {"measure": "map", "margin": 0.001}).outcomes[0]
    open_ = 1 - 0.025 ** (1 / 40)

    assert outcome.verdict == "inconclusive"
    assert (outcome.numbers["low"], outcome.numbers["high"]) == pytest.approx(
        (-open_, open_), rel=1e-9
    )
    assert outcome.numbers["unseen_share"] == pytest.approx(open_)
    assert outcome.numbers["needed"] == math.ceil(math.log(0.025) / math.log(1 - 0.001))


def test_a_margin_that_no_number_of_queries_shows_has_no_plan() -> None:
    """More than a thousand million queries are no plan."""
    rule = {"measure": "map", "margin": 1e-7}
    [outcome] = gated(OLD, scores(0.5, seed=1), rule).outcomes
    assert outcome.numbers["needed"] is None
    assert outcome.verdict == "inconclusive"


def test_two_queries_with_one_difference_are_no_certainty() -> None:
    """Whatever the margin, two queries that gain .1 each show neither a gain nor that nothing is lost."""
    old, new = ({"a": {"map": 0.1 + s}, "b": {"map": 0.2 + s}} for s in (0.0, 0.1))
    row = rankstone.compare_scores({"old": old, "new": new}, margin=0.05).table.row(
        0, named=True
    )

    assert row["verdict"] == "inconclusive"
    assert row["low"] is row["high"] is None
    assert row["low_guarded"] < -0.5
    assert row["high_guarded"] > 0.5


def test_the_same_lists_pass() -> None:
    """Down to the cutoff of the rule: then nothing changed; other lists with equal scores do not."""
    run = {q: ["other", "good", "bad", "more"] for q in QUERIES}
    deeper = {q: ["other", "good", "bad", "less"] for q in QUERIES}
    higher = {q: ["less", "good", "bad", "more"] for q in QUERIES}
    for candidate, measure, verdict in (
        (dict(run), "nDCG", "pass"),
        (deeper, "nDCG@3", "pass"),
        (deeper, "nDCG", "inconclusive"),
        (higher, "nDCG@3", "inconclusive"),
    ):
        result = gated(
            run, candidate, {"measure": measure, "margin": 0.01}, qrels=QRELS
        )
        assert result.verdict == verdict, measure


@pytest.mark.parametrize(("n", "least"), [(50, 0.0711), (183, 0.02)])
def test_a_margin_that_cannot_be_passed_is_refused(n: int, least: float) -> None:
    """Success is 0 or 1: without a loss on n queries a loss on 1 - 0.025 ** (1 / n) of them stays open."""
    queries = [f"q{index}" for index in range(n)]
    texts = {
        "qrels": {q: {"good": 1} for q in queries},
        "baseline": {q: ["good"] for q in queries},
    }
    texts |= {"candidate": {q: ["good", "x"] for q in queries}}
    rule = {"measure": "Success@5", "margin": 0.02}
    [margin] = plan({**texts, "rules": [rule]})
    assert margin.few == margin.many == pytest.approx(1 - 0.025 ** (1 / n))
    assert margin.few == pytest.approx(least, abs=1e-4)
    assert margin.enough == 183
    if margin.few <= 0.02:
        assert rankstone.gate({**texts, "rules": [rule]}).verdict == "pass"
    else:
        with pytest.raises(
            UsageError, match=r"cannot pass at n = 50\n.*\n.*use ≥ 183 queries"
        ):
            rankstone.gate({**texts, "rules": [rule]})


def test_graded_measures_may_pass_smaller_margins() -> None:
    """Where every query changes a little, 50 queries pass a margin that they cannot where few change."""
    [margin] = plan(
        {
            "qrels": {f"q{index}": {"d": 1} for index in range(50)},
            "baseline": {},
            "candidate": {},
            "rules": [{"measure": "nDCG@10", "margin": 0.02}],
        }
    )
    assert margin.many < 0.02 < margin.few
    margin.refuse()
    assert "most queries change a little" in margin.text()


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ({"floor": 0.5}, "pass"),
        ({"floor": 0.5000001}, "fail"),
        ({"ceiling": 0.5}, "pass"),
        ({"ceiling": 0.4999}, "fail"),
        ({"floor": 0.4, "ceiling": 0.6}, "pass"),
    ],
)
def test_floors_and_ceilings(rule: dict[str, float], verdict: str) -> None:
    """Equality passes."""
    half = {q: {"map": 0.5} for q in QUERIES}
    assert gated(OLD, half, {"measure": "map", **rule}).verdict == verdict


def test_drops_count_queries() -> None:
    """Three queries lose half; two may."""
    fallen = {
        q: {"map": v["map"] - 0.5 * (index < 3)}
        for index, (q, v) in enumerate(OLD.items())
    }
    assert (
        gated(OLD, fallen, {"measure": "map", "drops": {"by": 0.4, "most": 3}}).verdict
        == "pass"
    )
    verdict = gated(OLD, fallen, {"measure": "map", "drops": {"by": 0.4, "most": 2}})
    assert verdict.verdict == "fail"
    assert "3 queries lose more than 0.4" in verdict.outcomes[0].text


def test_rules_with_margins_hold_at_once() -> None:
    """The level is shared (Bonferroni): two rules have wider intervals than one."""
    both = {q: {"map": v["map"], "rr": v["map"]} for q, v in BETTER.items()}
    old = {q: {"map": v["map"], "rr": v["map"]} for q, v in OLD.items()}
    outcome = gated(old, both, {"measure": "map", "margin": 0.02}).outcomes[0]
    two = gated(
        old, both, *({"measure": name, "margin": 0.02} for name in ("map", "rr"))
    ).outcomes[0]
    assert two.numbers["low"] < outcome.numbers["low"]
    assert two.numbers["confidence"] == pytest.approx(1 - 0.05 / 2)


def test_lower_may_be_better() -> None:
    """LastRel is the rank of the last relevant document: a higher one is worse."""
    first, second = (
        {q: ["good", "bad"] for q in QUERIES},
        {q: ["bad", "good"] for q in QUERIES},
    )
    texts = {"qrels": QRELS, "statistics": {"test": "t"}}
    assert (
        gated(first, second, {"measure": "LastRel", "margin": 0.5}, **texts).verdict
        == "fail"
    )
    assert (
        gated(second, first, {"measure": "LastRel", "margin": 0.5}, **texts).verdict
        == "pass"
    )


def test_segments_have_to_hold_too() -> None:
    """Better in all, worse in one country."""
    country = {
        q: {"country": "de" if index < 20 else "fr"} for index, q in enumerate(QUERIES)
    }
    mixed = {
        q: {"map": v["map"] + (0.5 if index < 20 else -0.1)}
        for index, (q, v) in enumerate(scores(0.5, seed=1).items())
    }
    rule = {"measure": "map", "margin": 0.01}
    assert gated(OLD, mixed, rule).verdict == "pass"
    verdict = gated(OLD, mixed, rule, queries=country, by="country")
    assert [(outcome.name, outcome.verdict) for outcome in verdict.outcomes] == [
        ("map", "pass"),
        ("map where country=de", "pass"),
        ("map where country=fr", "fail"),
    ]


# -- guards ----------------------------------------------------------------------------------------
def test_guards_say_what_cannot_be_compared() -> None:
    """Too few queries, too few judged documents, other judgments: exit 3, whatever the rules say."""
    rule = {"measure": "map", "floor": 0.0}
    result = gated(OLD, BETTER, rule, guards={"queries": 41})
    assert (result.verdict, result.exit_code) == ("not comparable", 3)
    assert gated(OLD, BETTER, rule, guards={"queries": 40}).verdict == "pass"
    assert (
        gated(OLD, BETTER, rule, guards={"judged": 0.5}).verdict == "not comparable"
    )  # unknown
    run = {q: ["good", "other"] for q in QUERIES}
    texts = {"qrels": QRELS, "statistics": {"test": "t"}}
    for share, verdict in ((0.5, "pass"), (0.51, "not comparable")):
        result = gated(
            run,
            run,
            {"measure": "RR@10", "floor": 0.0},
            **texts,
            guards={"judged": share},
        )
        assert result.verdict == verdict


def test_judgments_are_known_by_their_hash(tmp_path: Path) -> None:
    """A change of them does not go unnoticed."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 good 1\n" for q in QUERIES))
    run = {q: ["good"] for q in QUERIES}
    texts = {
        "qrels": str(qrels),
        "guards": {"qrels_sha256": sha256(qrels.read_bytes()).hexdigest()},
    }
    assert gated(run, run, {"measure": "RR", "floor": 1}, **texts).verdict == "pass"
    qrels.write_text("".join(f"{q} 0 good 2\n" for q in QUERIES))
    assert (
        gated(run, run, {"measure": "RR", "floor": 1}, **texts).verdict
        == "not comparable"
    )


def golden_in_splits(hold_outs: int, others: int) -> list[dict[str, Any]]:
    """Return queries of two splits; the document of the last one in dev does not exist."""
    splits = ["holdout"] * hold_outs + ["dev"] * others
    cases = [
        {"id": f"q{n}", "query": f"question {n}", "expected": ["d"], "split": split}
        for n, split in enumerate(splits)
    ]
    cases[-1]["expected"] = ["renamed"]
    return cases


@pytest.mark.parametrize(
    ("split", "sentence", "verdict"),
    [
        ("holdout", "1 relevant document of the whole set not", "not comparable"),
        ("dev", "1 relevant document of the whole set not", "not comparable"),
        (None, "1 relevant document not", "not comparable"),
    ],
)
def test_a_guard_counts_the_documents_of_all_splits(
    split: str | None, sentence: str, verdict: str
) -> None:
    """A document that is gone spoils the set, whichever split is compared."""
    cases = golden_in_splits(8, 4)
    run = {case["id"]: ["d"] for case in cases}
    options = {"corpus": ["d"]} | ({} if split is None else {"split": split})
    texts = {"qrels": cases, "guards": {"not_in_corpus": 0}, "options": options}
    result = gated(run, run, {"measure": "RR", "floor": 0.0}, **texts)
    assert sentence in result.outcomes[0].text
    assert result.verdict == verdict

    texts["guards"] = {"not_in_corpus": 1}
    assert gated(run, run, {"measure": "RR", "floor": 0.0}, **texts).verdict == "pass"


def test_margins_are_planned_for_the_queries_that_are_scored() -> None:
    """Those of the split, in the set or in a table of queries, without unanswerable ones."""
    cases = golden_in_splits(18, 30)
    cases[0] |= {"expected": [], "forbidden": ["x"], "answerable": False}
    run = {case["id"]: ["d", "e"] for case in cases}
    other = {case["id"]: ["d", "f"] for case in cases}
    rule = {"measure": "RR", "margin": 0.3}
    config = {"qrels": cases, "baseline": run, "candidate": other, "rules": [rule]}
    for split, n in (("holdout", 17), ("dev", 30), (None, 47)):
        options = {} if split is None else {"split": split}
        [margin] = plan(config, options=options)
        result = rankstone.gate(config, options=options)
        assert margin.queries == result.outcomes[0].numbers["n"] == n

    table = {case["id"]: {"split": case["split"]} for case in cases}
    plain = {case["id"]: dict.fromkeys(case["expected"], 1) for case in cases}
    [margin] = plan(
        config | {"qrels": plain}, queries=table, options={"split": "holdout"}
    )
    assert margin.queries == 18
    [margin] = plan(config | {"qrels": plain}, options={"empty": "drop"})
    assert margin.queries == 47


@pytest.mark.parametrize("measure", ["Success@5", "FullRecall@5", "RR@1", "P@1"])
def test_no_change_is_little_in_measures_of_yes_and_no(measure: str) -> None:
    """A margin that few changes do not pass is refused, in text and by exit code."""
    config = {
        "qrels": {f"q{index}": {"d": 1} for index in range(15)},
        "baseline": {},
        "candidate": {},
        "rules": [{"measure": measure, "margin": 0.2}],
    }
    [margin] = plan(config)
    assert margin.few == margin.many
    assert "cannot pass; the margin must be 0.22 or more; 17 queries" in margin.text()
    assert "没有变化的候选系统无法通过；允许的损失须不低于 0.22" in margin.text("zh")
    with pytest.raises(UsageError, match="cannot pass at n = 15"):
        margin.refuse()


def test_measures_of_yes_and_no_are_known() -> None:
    """Every measure whose card says yes or no has no smaller margin where all queries change a little."""
    yes_or_no = [
        f"{name}@5"
        for name, kind in MEASURES.items()
        if kind.card.scale.startswith("yes or no")
    ]
    for name in yes_or_no:
        measure = parse_measure(name)
        assert isinstance(measure, Measure)
        margin = margin_plan(measure, 0.2, 15, 0.025)
        assert margin is not None
        assert margin.few == margin.many, name
    assert len(yes_or_no) >= 3


# -- the configuration -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no table [gate]"),
        ("[gate]", "which run is the baseline"),
        ('[gate]\nbaseline = "a"', "which run is the candidate"),
        ('[gate]\nbaseline = "a"\ncandidate = "b"', "needs rules"),
        ('[gate]\nbaselin = "a"', "did you mean baseline"),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure="AP"',
            "has no condition",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmargin=0.1',
            "lacks measure",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure="AP"\nmargin="x"',
            "a number",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure="AP"\nmargin=-1',
            "0 or more",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure=3\nmargin=1',
            "a text",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[gate.rules]\nmeasure="AP"',
            "two brackets",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure="AP"\ndrops=3\nfloor=1',
            "by = 0.5",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\ninconclusive="x"\n[[gate.rules]]\nmeasure="AP"\nfloor=1',
            "fail, warn, pass",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure="AP"\nfloor=1\n[gate.guards]\njudged=80',
            "share",
        ),
        (
            '[gate]\nbaseline="a"\ncandidate="b"\n[[gate.rules]]\nmeasure="AP"\nfloor=1\n[gate.guards]\nqrels_sha256="1"',
            "64",
        ),
    ],
)
def test_what_a_gate_does_not_understand_is_stated(
    text: str, message: str, tmp_path: Path
) -> None:
    """With the file, and what was expected."""
    path = tmp_path / "rankstone.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        Config.read(path, {})
    assert message in str(caught.value)
    assert "rankstone.toml" in str(caught.value)


def test_no_toml(tmp_path: Path) -> None:
    """A file that is not there, and one that is something else."""
    with pytest.raises(InputError, match="there is no such file"):
        Config.read(tmp_path / "none.toml", {})
    (tmp_path / "bad.toml").write_text("[gate\n")
    with pytest.raises(InputError, match="not TOML"):
        Config.read(tmp_path / "bad.toml", {})


def test_paths_are_seen_from_the_file(tmp_path: Path) -> None:
    """And what is given takes the file's place; pyproject.toml has tables of tools."""
    inside = 'baseline="runs/a"\ncandidate="runs/b"\nqrels="q"\n'
    path = tmp_path / "pyproject.toml"
    path.write_text(
        f'[tool.rankstone.gate]\n{inside}[[tool.rankstone.gate.rules]]\nmeasure="AP"\nfloor=0.1\n'
    )
    read = Config.read(path, {"candidate": "new.run", "qrels": None})
    assert read.baseline == str(tmp_path / "runs" / "a")
    assert read.candidate == "new.run"
    assert read.qrels == str(tmp_path / "q")
    assert read.rules[0].conditions == (Floor(0.1),)


def corrected(text: str, fix: str, setting: str) -> str:
    """Do what a fix says: move a line below a table, write a table above a line, or for another."""
    for step in fix.split("; "):
        if move := re.fullmatch(r"move it below (\[\S+\]): (.+)", step):
            head, line = move.groups()
            lines = [
                item for item in text.splitlines() if item.split("=")[0] != setting
            ]
            if head not in lines:
                lines.append(head)
            lines.insert(lines.index(head) + 1, line)
            text = "\n".join(lines) + "\n"
        elif above := re.fullmatch(r"write (\S+) above (\S+)", step):
            text = re.sub(
                rf"^(?={above[2]}\b)", f"{above[1]}\n", text, flags=re.MULTILINE
            )
        else:
            exchange = re.fullmatch(r"write (\S+) for (\S+)", step)
            assert exchange is not None, step
            text = text.replace(exchange[2], exchange[1])
    return text


WHOLE = """[gate]
baseline="a"
candidate="b"
qrels="q"
[gate.options]
depth=100
[[gate.rules]]
measure="AP"
margin=0.5
"""


@pytest.mark.parametrize("inside", ["gate", "tool.rankstone.gate"])
@pytest.mark.parametrize(
    ("setting", "table", "place"),
    [
        ("depth=10", "[gate]", "[gate.options]"),
        ('convention="beir"', "[gate]", "[gate.options]"),
        ("columns={user='query_id'}", "[gate]", "[gate.options.columns]"),
        ('exclude="x"', "[gate]", "[gate.options]"),
        ("seed=3", "[gate]", "[gate.statistics]"),
        ("seed=3", "[gate.options]", "[gate.statistics]"),
        ("judged=0.5", "[gate]", "[gate.guards]"),
        ("floor=0.1", "[gate]", "[[gate.rules]]"),
        ("floor=0.1", "[gate.options]", "[[gate.rules]]"),
        ('cluster="session"', "[gate.options]", "[gate]"),
        ('inconclusive="warn"', "[[gate.rules]]", "[gate]"),
        ("ties='docid_asc'", "[[gate.rules]]", "[gate.options]"),
    ],
)
def test_a_setting_in_another_table_is_sent_to_its_own(
    setting: str, table: str, place: str, inside: str, tmp_path: Path
) -> None:
    """Doing what the fix says makes a configuration, in either file."""
    name = "rankstone.toml" if inside == "gate" else "pyproject.toml"
    path = tmp_path / name
    text = WHOLE.replace(f"{table}\n", f"{table}\n{setting}\n")
    written = text.replace("[gate", f"[{inside}")
    path.write_text(written)
    with pytest.raises(UsageError) as caught:
        Config.read(path, {})
    key = setting.split("=", maxsplit=1)[0]
    assert caught.value.fix is not None
    assert place.replace("[gate", f"[{inside}") in caught.value.fix
    assert f"[{inside}" in caught.value.what
    if place == "[gate.options.columns]":
        written = written.replace(f"{setting}\n", "")
        written += f"[{inside}.columns]\nuser='query_id'\n"
    path.write_text(corrected(written, caught.value.fix, key))
    Config.read(path, {})


def test_a_limit_on_losses_is_a_table_of_its_rule(tmp_path: Path) -> None:
    """Its number of queries without it is sent there."""
    path = tmp_path / "rankstone.toml"
    path.write_text(f"{WHOLE}most=3\n")
    with pytest.raises(UsageError) as caught:
        Config.read(path, {})
    assert caught.value.fix == "move it below [gate.rules.drops]: most = 3"


@pytest.mark.parametrize("inside", ["gate", "tool.rankstone.gate"])
def test_settings_without_the_table_of_the_gate(inside: str, tmp_path: Path) -> None:
    """Which table is missing above them, and what those below are called."""
    bare = WHOLE.replace("[gate]\n", "").replace("gate.", "")
    path = tmp_path / "rankstone.toml"
    if inside != "gate":
        path = tmp_path / "pyproject.toml"
        bare = "[tool.rankstone]\n" + bare
        bare = bare.replace("[options", "[tool.rankstone.options")
        bare = bare.replace("[rules", "[tool.rankstone.rules")
    path.write_text(bare)
    with pytest.raises(
        UsageError, match=re.escape(f"there is no table [{inside}]")
    ) as e:
        Config.read(path, {})
    fix = str(e.value.fix)
    if inside == "gate":
        path.write_text(corrected(bare, fix, ""))
        assert Config.read(path, {}).options == {"depth": 100}
    else:
        assert f"write [{inside}] above baseline" in fix


@pytest.mark.parametrize(
    ("name", "table", "right"),
    [
        ("rankstone.toml", "tool.rankstone.gate", "gate"),
        ("pyproject.toml", "gate", "tool.rankstone.gate"),
    ],
)
def test_the_table_of_the_other_file(
    name: str, table: str, right: str, tmp_path: Path
) -> None:
    """pyproject.toml has tables of tools, and rankstone.toml is a tool's own."""
    path = tmp_path / name
    path.write_text(WHOLE.replace("[gate", f"[{table}"))
    with pytest.raises(UsageError) as caught:
        Config.read(path, {})
    assert caught.value.fix == f"the table is called [{right}] in this file"


def test_measures_are_called_as_in_the_rules() -> None:
    """By an alias where the rule has one, in outcomes, segments, JUnit and what is checked before."""
    run = {query: ["good", "bad"] for query in QUERIES}
    other = {query: ["bad", "good"] for query in QUERIES}
    rule = {"measure": "HR@1", "margin": 0.5, "floor": 0.1, "drops": {"by": 0.5}}
    queries = {query: {"kind": "x"} for query in QUERIES}
    files = {"qrels": QRELS, "baseline": run, "candidate": other, "rules": [rule]}
    verdict = rankstone.gate({**files, "queries": queries, "by": ["kind"]})
    names = [outcome.name for outcome in verdict.outcomes]
    assert names == ["HR@1", "HR@1 where kind=x", "HR@1 floor", "HR@1 drops"]
    for text in (
        verdict.text(),
        verdict.to_markdown(),
        verdict.to_html(),
        verdict.junit(),
    ):
        assert "HR@1" in text
        assert "Success" not in text
    assert plan(files)[0].text().startswith("HR@1: margin 0.5, 40 queries")
    with pytest.raises(UsageError, match=r"^HR@1: margin"):
        rankstone.gate({**files, "rules": [{"measure": "HR@1", "margin": 0.001}]})


def test_one_query_is_no_queries() -> None:
    """Counts agree with their nouns."""
    item = {"q": {"good": 1}}
    files = {"qrels": item, "baseline": {"q": ["good"]}, "candidate": {"q": ["x"]}}
    rule = {"measure": "P@1", "margin": 1.0, "drops": {"by": 0.5, "most": 1}}
    verdict = rankstone.gate({**files, "rules": [rule], "guards": {"queries": 1}})
    text = f"{verdict.text(200)} {plan({**files, 'rules': [rule]})[0].text()}"
    assert "1 query, minimum 1" in text
    assert "1 query loses more than 0.5" in text
    assert "1 queries" not in text
    same = {**files, "candidate": files["baseline"]}
    assert "for 1 query" in rankstone.gate({**same, "rules": [rule]}).text(200)


# -- the result ------------------------------------------------------------------------------------
def test_every_format() -> None:
    """Text, Markdown, HTML, JSON, and JUnit XML that says what failed."""
    verdict = gated(
        OLD,
        scores(0.5, -0.1, seed=1),
        {"measure": "map", "margin": 0.02, "floor": 0.1},
        guards={"queries": 41},
    )
    assert json.loads(json.dumps(verdict.report()))["verdict"] == "not comparable"
    assert "✘ fail" in verdict.text()
    assert all(len(line) <= 80 for line in verdict.text(80).splitlines())
    assert "| ✘ fail | map |" in verdict.to_markdown()
    assert "<table>" in verdict._repr_html_()
    suite = ET.fromstring(verdict.junit())  # noqa: S314 - our own
    assert {n: suite.get(n) for n in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }


def test_names_are_untrusted() -> None:
    """A query whose name is a terminal escape, or markup, does nothing anywhere."""
    evil = "\x1b[31m<b>&\x00"
    old, new = (
        {evil: {"map": 0.9}, "b": {"map": 0.5}},
        {evil: {"map": 0.1}, "b": {"map": 0.5}},
    )
    verdict = gated(old, new, {"measure": "map", "drops": {"by": 0.1}})
    assert "\x1b" not in verdict.text()
    assert "<b>" not in verdict.to_html()
    assert ET.fromstring(verdict.junit()).find("testcase/failure") is not None  # noqa: S314 - our own


def fallen_by(*losses: float) -> dict[str, dict[str, float]]:
    return {
        query: {"map": 1.0 - loss}
        for query, loss in zip(QUERIES, [*losses, *[0.0] * len(QUERIES)], strict=False)
    }


@pytest.mark.parametrize(
    ("losses", "count", "names"),
    [
        ((), 0, ""),
        ((0.5,), 0, ""),
        ((0.5, 0.625), 1, ": q1"),
        ((0.75, 0.5, 0.625), 2, ": q0, q2"),
        ((0.625, 0.75, 1.0), 3, ": q2, q1, q0"),
        ((0.625, 0.75, 0.625, 1.0), 4, ": q3, q1, q0 …"),
    ],
)
def test_drops_are_losses_of_more(
    losses: tuple[float, ...], count: int, names: str
) -> None:
    """A loss of exactly `by` is none; the three worst are named, and a sign stands for further ones."""
    full = fallen_by()
    rule = {"measure": "map", "drops": {"by": 0.5, "most": 2}}
    outcome = gated(full, fallen_by(*losses), rule).outcomes[0]
    assert outcome.numbers == {"drops": count}
    assert outcome.verdict == ("pass" if count <= 2 else "fail")
    lose = "query loses" if count == 1 else "queries lose"
    expected = f"{count} {lose} more than 0.5, allowed: 2{names}"
    assert outcome.text == expected


def test_a_loss_that_is_larger_by_rounding_is_no_drop() -> None:
    """Up to 1e-12 more is the rounding of scores."""
    by, rounding = 0.5, 1e-12
    for more, count in ((rounding, 0), (2 * rounding, 1)):
        rule = {"measure": "map", "drops": {"by": by, "most": 0}}
        gate = gated(fallen_by(), fallen_by(by + more), rule)
        assert gate.outcomes[0].numbers == {"drops": count}
