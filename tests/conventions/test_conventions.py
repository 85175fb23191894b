"""Conventions: the data files, spellings, refusals, and what the command line tells."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.rows import each

import rankstone
from rankstone.cli import cli
from rankstone.conventions import Convention, Entry, convention, conventions
from rankstone.conventions.convention_files import compare, own_convention
from rankstone.conventions.evaluation_by_convention import values_by
from rankstone.conventions.option_effects import effects_of_options
from rankstone.errors import (
    BadOption,
    BadParameter,
    BadValue,
    UnknownConvention,
    UnknownMeasure,
)
from rankstone.hits.alignment_options import AlignmentOptions

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 3, "d2": 2, "d3": 1, "d4": 0}, "q2": {"x": 0}}
RUN = {"q1": {"d2": 4.0, "d1": 3.0, "d4": 2.0, "d3": 1.0}, "q2": {"x": 1.0}}
ENTRIES = [
    (item, entry)
    for item in conventions()
    for entry in item.entries
    if not entry.of_lists
]


@each("result", conventions(), ids=str)
def test_a_data_file_says_what_a_library_is(result: Convention) -> None:
    """Every library has a name, a version, a place, a sentence, and no spelling twice."""
    assert re.fullmatch(r"[a-z][a-z0-9_]*(-[a-z][a-z0-9_]*)*", result.name)
    assert re.fullmatch(r"\d[\w.]*", result.version)
    assert result.url.startswith("https://")
    assert result.about.endswith(".")
    assert all(re.fullmatch(r"\S+ on \d{4}-\d\d-\d\d", text) for text in result.checked)
    spellings = [text for entry in result.entries for text in entry.spellings]
    assert len(set(spellings)) == len(spellings)
    assert convention(str(result)) is result


@each(
    ("result", "entry"),
    ENTRIES,
    ids=lambda v: str(v) if isinstance(v, Convention) else v.spelling,
)
def test_an_entry_is_a_measure_and_options_of_ours(
    result: Convention, entry: Entry
) -> None:
    """Every measure can be made, under options that exist and that it is not refused with."""
    text = re.sub(r"<k>", "7", entry.spelling)
    text = re.sub(r"\.<\w+>", ".5", text)  # ranx writes rbp.5
    text = re.sub(r"<\w+>", "0.5", text)
    (reading,) = result.read([text])
    aligned = {
        name: value for name, value in reading.options.items() if name != "one_group"
    }
    alignment = AlignmentOptions.of({**aligned, "candidates": 100})
    reading.measure.check(alignment.ties, alignment.depth, alignment.negative)
    reading.measure.check_needs(alignment)
    assert str(reading.measure) == text
    assert (
        "k" not in reading.ours
        or reading.measure.k in (None, 7)
        or "<k>" not in entry.ours
    )


def by(library: str, *measures: str, **options: Any) -> dict[str, float | None]:
    return rankstone.evaluate(
        QRELS, RUN, list(measures), convention=library, **options
    ).to_dict()["run"]


def test_a_replay_has_the_card_under_its_name() -> None:
    """Every card of the file belongs to a class, and each class with a name of its own has one."""
    cards = tomllib.loads(
        (files("rankstone.conventions.replays") / "cards.toml").read_text("utf-8")
    )
    for module, of_file in cards.items():
        replays = vars(import_module(f"rankstone.conventions.replays.{module}"))

        for name, facts in of_file.items():
            assert vars(replays[name])["card"].sentence == facts["sentence"], (
                f"{module}.{name}"
            )


def test_numbers_come_under_the_librarys_names() -> None:
    """Two measures that differ in nothing but the worth of an empty query are distinguished."""
    values = by("xgboost", "ndcg@4", "ndcg@4-")
    assert list(values) == ["ndcg@4", "ndcg@4-"]
    assert values["ndcg@4"] == pytest.approx((0.835448 + 1) / 2, abs=1e-6)
    assert values["ndcg@4-"] == pytest.approx((0.835448 + 0) / 2, abs=1e-6)
    assert by("xgboost-3.2.7", "nDCG@4") == {"ndcg@4": values["ndcg@4"]}
    assert by("XGBoost 3.2", "ndcg@4") == {"ndcg@4": values["ndcg@4"]}


def joined(listed: str, judged: dict[str, float], k: int, gain: Any) -> float | None:
    """Return the nDCG of Recommenders: three tables joined row by row, by hand."""
    rows: list[tuple[float, int | None]] = []
    for doc, grade in judged.items():
        shown = [rank for rank, other in enumerate(listed[:k], 1) if other == doc]
        copies = listed.count(doc)
        rows += [(grade, rank) for rank in shown * copies] or [(grade, None)]
    gains = sorted((gain(grade) for grade, _ in rows), reverse=True)
    ideal = sum(worth / math.log2(rank + 1) for rank, worth in enumerate(gains[:k], 1))
    return (
        sum(gain(grade) / math.log2(rank + 1) for grade, rank in rows if rank) / ideal
    )


def test_recommenders_joins_copies_with_copies() -> None:
    """All lists of four, of two relevant items and another: ideal and list count every joined row."""
    assert joined("aa", {"a": 1}, 4, lambda grade: grade) == pytest.approx(
        1.27336, abs=5e-6
    )
    lists = ["".join(docs) for docs in product("abx", repeat=4)]
    run = pl.DataFrame({"query_id": lists, "doc_id": [list(docs) for docs in lists]})
    gains = {
        "": lambda _: 1.0,
        ", score_type='raw'": float,
        ", score_type='exp'": lambda g: 2.0**g - 1,
    }
    wrong = []
    for judged, (message, gain) in product(
        ({"a": 1.0}, {"a": 2.0, "b": 1.0}), gains.items()
    ):
        for k in (1, 2, 4):
            measure = f"ndcg_at_k(k={k}{message})"
            scores = rankstone.evaluate(
                dict.fromkeys(lists, judged), run, measure, convention="recommenders"
            )
            for listed, value in scores.per_query.select(
                "query_id", "value"
            ).iter_rows():
                expected = joined(listed, judged, k, gain)
                if value != pytest.approx(expected, abs=1e-12):
                    wrong.append((measure, judged, listed, value, expected))
    assert not wrong, (len(wrong), wrong[:3])


@each(("result", "entry"), [pair for pair in ENTRIES if pair[1].last_rank], ids=str)
def test_cutoffs_beyond_the_last_rank_of_a_library_act_as_it(
    result: Convention, entry: Entry
) -> None:
    """cwl_eval, also within ir_measures, looks at 1000 ranks: a larger cutoff has no other number."""
    if "k" not in entry.places:
        return
    position = {
        k: re.sub(r"<\w+>", "0.5", entry.spelling.replace("<m>", "3").replace("<k>", k))
        for k in ("1000", "1001", "1002", "5000")
    }
    qrels = {"q1": {"a": 1.0, "b": 1.0, "c": 0.0}}
    run = {"q1": ["b", "x", *map(str, range(997)), "c", "a"]}
    options: dict[str, Any] = {"convention": str(result)}
    value = rankstone.evaluate(qrels, run, position["1000"], **options).to_dict()["run"]
    limit = entry.cutoff_limit[0] if entry.cutoff_limit else 5000
    for k, measure in position.items():
        if int(k) > limit:
            with pytest.raises(BadParameter) as raised:
                rankstone.evaluate(qrels, run, measure, **options)
            assert str(raised.value.fix).endswith(measure.replace(k, str(limit)))
        else:
            deeper = rankstone.evaluate(qrels, run, measure, **options).to_dict()["run"]
            assert deeper == {measure: value[position["1000"]]}


def test_a_thousand_ranks_by_hand() -> None:
    """A document at rank 1001 does not count, and 1000 perfect ones are the norm."""
    run = {"q1": ["b", *map(str, range(999)), "a"]}
    norm = math.fsum(1 / math.log2(rank + 1) for rank in range(1, 1001))
    measure = "SDCG(max_rel=3)@5000"
    scores = rankstone.evaluate(
        {"q1": {"a": 3, "b": 2}}, run, measure, convention="ir_measures"
    )
    assert scores.to_dict()["run"][measure] == pytest.approx(2 / 3 / norm, rel=1e-12)


#: prints the shortest list of ties that NumPy's sort does not leave in their order
SORTING = """
import numpy as np
lists = [np.random.default_rng(seed).integers(0, 3, n) * 1.0 for n in range(2, 24) for seed in range(50)]
print(min(len(a) for a in lists if (np.argsort(a) != np.argsort(a, kind="stable")).any()))
"""


@pytest.mark.parametrize(("disabled", "rows"), [("", 4), ("X86_V4 X86_V3", 17)])
def test_the_order_of_ties_is_stated_as_numpy_has_it(disabled: str, rows: int) -> None:
    """scikit-learn's ``ignore_ties=True`` is NumPy's sort: from how many rows on it is the processor's."""
    simd: Any = np.show_config(mode="dicts")
    if "X86_V3" not in simd["SIMD Extensions"].get("found", ()):
        pytest.skip("a processor with AVX2, and a NumPy that uses it, sort otherwise")
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled}
    done = subprocess.run(
        [sys.executable, "-c", SORTING],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert int(done.stdout) == rows
    entry = convention("scikit-learn").read("ndcg_score(ignore_ties=True)")[0].entry
    assert f"up to {rows - 1}" in str(entry.bug)
    assert str(rows) in str(entry.differs)


def test_queries_that_only_some_measures_count() -> None:
    """Measures aligned in several ways stand side by side; each counts its own queries."""
    missing = {**QRELS, "q3": {"y": 1}}
    scores = (
        rankstone.evaluate(missing, RUN, "MRR@4 NDCG@4", convention="beir")
        if is_listed("beir")
        else None
    )
    if scores is not None:
        n = dict(zip(scores.mean()["measure"], scores.mean()["n"], strict=True))
        assert n["MRR@4"] == 3
        assert n["NDCG@4"] == 2


def is_listed(name: str) -> bool:
    return any(item.name == name for item in conventions())


@pytest.mark.parametrize(
    ("library", "measure", "options", "error", "message"),
    [
        ("xgbost", "ndcg@4", {}, UnknownConvention, "did you mean xgboost"),
        (
            "xgboost-1.7",
            "ndcg@4",
            {},
            UnknownConvention,
            "version 1.7 of XGBoost is not known",
        ),
        ("xgboost", "ncdg@4", {}, UnknownMeasure, "did you mean ndcg@<k>"),
        ("xgboost", "", {}, UnknownMeasure, "no measure given"),
        (
            "xgboost",
            "nDCG(gain=linear)@4",
            {},
            BadParameter,
            "XGBoost decides the parameters of nDCG",
        ),
        ("xgboost", "ndcg@4", {"ties": "expected"}, BadOption, "XGBoost decides ties"),
    ],
)
def test_what_a_library_cannot_say_is_refused(
    library: str,
    measure: str,
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    """Nothing is ignored: names, versions, measures, parameters and options."""
    with pytest.raises(error, match=re.escape(message)):
        by(library, measure, **options)


@pytest.mark.parametrize("grade", [32, 0.5, -1])
def test_grades_a_library_refuses(grade: float) -> None:
    """What the library takes for no label is an error under its name."""
    with pytest.raises((BadValue, rankstone.InputError, rankstone.UsageError)):
        rankstone.evaluate(
            {"q": {"a": grade, "b": 1}},
            {"q": ["a", "b"]},
            "ndcg@4",
            convention="xgboost",
        )


def test_a_labelled_table_by_convention() -> None:
    """Scores and labels in one table are what most trainers see."""
    import polars as pl

    table = pl.DataFrame(
        {"query_id": ["q"] * 3, "score": [3.0, 2.0, 2.0], "label": [0, 1, 2]}
    )
    record = rankstone.evaluate(
        table=table, measures="ndcg@2", convention="xgboost"
    ).to_dict()
    expected = rankstone.evaluate(
        table=table, measures="nDCG(gain=exp2)@2", ties="input"
    ).to_dict()
    assert list(record["run"].values()) == list(expected["run"].values())


def test_two_libraries_side_by_side() -> None:
    """What differs is named; a library agrees with itself."""
    item = convention("xgboost")
    assert all(not row.options for row in compare(item, item))
    assert {row.measure for row in compare(item, item)} >= {"nDCG@k", "AP@k"}


def run(*arguments: object) -> str:
    done = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_line_tells(tmp_path: Any) -> None:
    """List, show, diff and eval --convention say what the numbers mean."""
    qrels, ranking = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text(
        "".join(
            f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()
        )
    )
    ranking.write_text(
        "".join(
            f"{q} Q0 {d} 1 {s} a\n" for q, docs in RUN.items() for d, s in docs.items()
        )
    )
    assert "xgboost-3.2" in run("conventions")
    assert "only the first 32 documents count" in run("conventions", "show", "xgboost")
    assert "the same" in run("conventions", "diff", "xgboost", "xgboost-3.2")
    assert "+0.000000" in run(
        "conventions", "diff", "xgboost", "xgboost", qrels, ranking, "-m", "nDCG@4"
    )
    grouped = run("conventions", "diff", "--all", qrels, ranking, "-m", "nDCG@4")
    assert re.search(r"0\.917724 +.*xgboost-3\.2", grouped)
    shown = run(
        "eval", qrels, ranking, "--convention", "xgboost", "-m", "ndcg@4 ndcg@4-"
    )
    assert "ndcg@4- is nDCG(gain=exp2)@4 with pool=list" in shown
    everything = run("eval", qrels, ranking, "--convention", "xgboost")
    assert "ndcg@10" in everything


def test_a_library_that_raises_is_followed() -> None:
    """Lists a library cannot take, and means over no query, are errors under its name, with the reason."""
    item = {"q": {"a": 1, "b": 0}}
    with pytest.raises(rankstone.InputError, match="a list of one document") as caught:
        rankstone.evaluate(item, {"q": ["a"]}, "ndcg_score", convention="sklearn")
    assert caught.value.where == "query q"
    with pytest.raises(rankstone.InputError, match="no query has a relevant item"):
        rankstone.evaluate(
            {"q": {"a": 0}}, {"q": ["a"]}, "recallAt(2)", convention="spark"
        )
    with pytest.raises(rankstone.InputError, match="no query has a value"):
        rankstone.evaluate(
            {"q": {"a": 0}}, {"q": ["a"]}, "ndcg@2", convention="implicit"
        )
    assert rankstone.evaluate(
        {"q": {"a": 0}}, {"q": ["a"]}, "map_at_k(k=2)", convention="recommenders"
    ).to_dict() == {"run": {"map_at_k(k=2)": 0.0}}


def test_one_query_without_a_value_may_spoil_the_mean() -> None:
    """Where a library lets NaN into its mean, ours has no value; the query is still distinguished."""
    qrels, run = (
        {"q1": {"a": 1}, "q2": {"b": 1, "c": 0}},
        {"q1": ["a"], "q2": ["c", "b"]},
    )
    scores = rankstone.evaluate(qrels, run, "bpref map", convention="ranx")
    assert scores.to_dict()["run"] == {"bpref": None, "map": 0.75}
    status = scores.per_query.filter(measure="bpref")["status"].to_list()
    assert status == ["undefined", "ok"]


def test_lists_of_all_queries_as_one() -> None:
    """Pooled, the scores of different queries are compared; each document is its query's own."""
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
    run = {"q1": {"a": 9.0, "b": 8.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"a": 100.0}}
    pooled = rankstone.evaluate(qrels, run, "AUC(negatives=judged)", one_group=True)
    assert pooled.to_dict() == {"run": {"AUC(negatives=judged)": (2 + 0) / (2 * 2)}}
    assert pooled.conventions["alignment"]["one_group"] is True
    kept = rankstone.evaluate(qrels, run, "RR", one_group=True, extra="keep")
    assert kept.to_dict() == {"run": {"RR": 1 / 2}}
    numbered = {1: {10: 1, 11: 0}}, {1: {10: 0.5, 11: 0.7}}
    assert rankstone.evaluate(*numbered, "RR", one_group=True).to_dict() == {
        "run": {"RR": 1 / 2}
    }
    with pytest.raises(rankstone.UsageError, match="queries is about single queries"):
        rankstone.evaluate(
            qrels, run, "RR", one_group=True, queries={"q1": {"weight": 1.0}}
        )


def test_what_is_computed_beside_changes_nothing() -> None:
    """A number of a library is the same, whatever else is computed from the same lists."""
    qrels = {"u": {"a": 1}}
    run = (["u"] * 5, ["a", "x", "b", "a", "c"], [5.0, 4.0, 3.0, 2.0, 1.0])
    texts = ["ndcg_at_k(k=2)", "ndcg_at_k(k=4)", "ndcg_at_k(k=2, score_type='raw')"]
    together = rankstone.evaluate(
        qrels, run, texts, convention="recommenders"
    ).to_dict()["run"]
    for text in texts:
        alone = rankstone.evaluate(
            qrels, run, text, convention="recommenders"
        ).to_dict()["run"]
        assert alone[text] == together[text]


def test_rank_biased_precision_of_trec_eval_is_graded() -> None:
    """Grades are divided by the highest of their query; of 0 and 1 only, it is RBP."""
    qrels = {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 0}}
    run = {"a": ["x", "u", "y"], "b": ["y", "x"]}
    scores = rankstone.evaluate(
        qrels, run, "rbp rbp_p=0.5 rbp_resid", convention="trec_eval-10"
    )
    values = {
        row["query_id"]: row["value"]
        for row in scores.per_query.filter(measure="rbp").to_dicts()
    }
    assert values["a"] == pytest.approx(0.1 * (1 / 2 + 0.9**2 * 2 / 2))
    assert values["b"] == pytest.approx(0.1 * 0.9)
    means = scores.to_dict()["run"]
    assert means["rbp"] == round((values["a"] + values["b"]) / 2, 4)
    assert means["rbp_p=0.5"] == round((0.5 * (1 / 2 + 0.5**2) + 0.5 * 0.5) / 2, 4)
    assert means["rbp_resid"] == round((0.1 * 0.9 + 0.9**3) / 2, 4)


def test_a_mean_is_added_up_as_trec_eval_does() -> None:
    """Where the fourth decimal is a tie, a loop over the sorted ids decides it, as in the program."""
    queries = [f"t{index}" for index in range(100)]
    values = [index * 5 % 14 for index in range(99)]  # relevant among 200 retrieved
    counts = dict(zip(queries, [*values, 665 - sum(values)], strict=True))
    qrels = {
        q: {f"d{index}": 1 for index in range(max(count, 1))}
        for q, count in counts.items()
    }
    run = {
        q: [
            *(f"d{index}" for index in range(count)),
            *(f"x{index}" for index in range(200 - count)),
        ]
        for q, count in counts.items()
    }
    looped = 0.0
    for query in sorted(queries):
        looped += counts[query] / 200
    exact = math.fsum(count / 200 for count in counts.values())
    assert f"{looped / 100:.4f}" != f"{exact / 100:.4f}"
    for version in ("trec_eval-9", "trec_eval-10"):
        scores = rankstone.evaluate(qrels, run, "set_P", convention=version)
        assert scores.to_dict()["run"]["set_P"] == float(f"{looped / 100:.4f}")
        assert scores.per_query["query_id"].to_list() == sorted(queries)


def test_query_ids_a_library_takes_for_one_are_named() -> None:
    """To gdeval a topic is the number behind its last hyphen: equal ones are merged, others are an error."""
    qrels = {q: {"d": 1} for q in ("2010-1", "2011-1", "01", "7", "q8")}
    run = {q: ["d"] for q in qrels}
    for library, measure in (("gdeval", "err@5"), ("ir_measures", "ERR@5")):
        scores = rankstone.evaluate(qrels, run, measure, convention=library)
        merged, refused = scores.audit.runs["run"].warnings[-2:]
        assert merged.endswith("as one query: 2010-1, 2011-1, 01")
        assert refused.endswith("end in a number: q8")
    numbers = {q: {"d": 1} for q in ("1", "2", "wt-3")}
    evaluation = rankstone.evaluate(
        numbers, {q: ["d"] for q in numbers}, "err@5", convention="gdeval"
    )
    assert not any(
        "query ids" in warning for warning in evaluation.audit.runs["run"].warnings
    )


def test_gains_of_lightgbm_are_a_table() -> None:
    """label_gain is given as it is there, and a label beyond it is an error; all gains 0 count 1."""
    spelled = "ndcg@3[label_gain=0,1,2.5,20]"
    values = by("lightgbm", spelled, "ndcg@3[label_gain=0,0,0,0]")
    ideal = 20 + 2.5 / math.log2(3) + 1 / 2
    assert values[spelled] == pytest.approx(
        ((2.5 + 20 / math.log2(3)) / ideal + 1) / 2, abs=1e-15
    )
    assert values["ndcg@3[label_gain=0,0,0,0]"] == 1
    with pytest.raises(BadValue, match="no gain for grade 3"):
        by("lightgbm", "ndcg@3[label_gain=0,1,3]")
    with pytest.raises(UnknownMeasure, match="label_gain=<gains>"):
        by("lightgbm", "ndcg@3[label_gain=0,,3]")


def test_a_number_of_a_table_of_gains_is_identified() -> None:
    """Spellings that need a gain for every grade are not searched for, and stop no search."""
    measure, run = "nDCG(gain={1: 1, 2: 2, 3: 9})@3", {"run": {"q1": RUN["q1"]}}
    value = rankstone.evaluate(QRELS, run, measure, missing="drop").to_dict()["run"][
        measure
    ]
    assert value is not None
    assert rankstone.identify(QRELS, run, value, measure).groups


BY_RANKS = [known for known in conventions() if known.entries[0].by_ranks]


@pytest.mark.parametrize("library", BY_RANKS, ids=str)
def test_a_library_that_takes_ranks_is_given_them(
    library: Convention, tmp_path: Path
) -> None:
    """Ranks order a run that has both; scores order one without ranks, or where they are chosen."""
    for known in conventions():
        says_so = re.search(r"[Tt]akes ranks|uses the rank column", known.about)
        own = says_so and "the program" not in known.about
        assert bool(own) == known.entries[0].by_ranks, known
    qrels = {"q": {"d": 1}}
    docs = ["d", "x", "y"]
    both = pl.DataFrame({"query_id": "q", "doc_id": docs, "score": [3.0, 2.0, 1.0]})
    both = both.with_columns(rank=pl.Series([3, 2, 1]))
    text = tmp_path / "run.txt"
    text.write_text("q Q0 d 3 9 t\nq Q0 x 2 8 t\nq Q0 y 1 7 t\n", encoding="utf-8")
    measure = "MRR@10"

    def value(run: Any, **options: Any) -> float:
        scores = rankstone.evaluate(
            qrels, run, measure, convention=str(library), **options
        )
        return next(iter(scores.to_dict().values()))[measure]

    rows: list[tuple[Any, dict[str, Any], float]] = [
        (both, {}, 1 / 3),
        (text, {}, 1 / 3),
        (both, {"order": "score"}, 1),
        (both.drop("rank"), {}, 1),
        (both.drop("score"), {}, 1 / 3),
    ]
    for run, options, expected in rows:
        assert value(run, **options) == pytest.approx(expected), (run, options)
    mixed = {"a": both, "b": both.drop("rank")}
    scores = rankstone.evaluate(qrels, mixed, measure, convention=str(library))
    assert scores.to_dict() == {"a": {measure: 1 / 3}, "b": {measure: 1}}
    explained = rankstone.explain(qrels, both, measure, "q", convention=str(library))
    assert explained.to_dict()["value"] == pytest.approx(1 / 3)


def test_judgments_may_be_merged_for_a_library_that_has_no_rule() -> None:
    """The advice on a pair judged twice works under a convention; a library's own rule stays its own."""
    rows = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "a", "b"]})
    run = {"q": {"a": 1.0}}
    scores = rankstone.evaluate(
        rows, run, "MAP@2", convention="rectools", duplicate_judgments="max"
    )
    assert scores.to_dict()["run"]["MAP@2"] == 1 / 2
    assert "1 duplicate judgment merged" in scores.audit.brief()[0]
    with pytest.raises(BadOption, match="decides duplicate_judgments"):
        rankstone.evaluate(
            rows,
            run,
            "id_based_context_recall",
            convention="ragas",
            duplicate_judgments="sum",
        )


def test_whole_lists_of_rectools_follow_ranks() -> None:
    """Popularity of the first item: by rank it is y, which no user had."""
    run = pl.DataFrame(
        {"query_id": "u", "doc_id": ["x", "y"], "score": [2.0, 1.0], "rank": [2, 1]}
    )
    history = pl.DataFrame({"query_id": ["v"], "doc_id": ["x"]})
    measure = "AvgRecPopularity@1"
    orders: list[dict[str, Any]] = [{}, {"order": "score"}]
    values = [
        rankstone.beyond(
            run, measure, history=history, convention="rectools", **options
        ).to_dict()["run"][measure]
        for options in orders
    ]
    assert values == [0, 1]


def test_a_label_of_catboost_is_a_share_of_a_row() -> None:
    """A label between 0 and 1 makes a relevant row and another, tied with it; whole ones are as in AUC."""
    labels = {"a": 0.5, "b": 1, "c": 0.25}
    rows = [(4, 0.5), (3, 1), (3, 0.25), (1, 0)]
    pairs = sum(
        t * (1 - u) * ((s > v) + (s == v) / 2) for s, t in rows for v, u in rows
    )
    run = {"q": {"a": 4, "b": 3, "c": 3, "d": 1}}
    record = rankstone.evaluate(
        {"q": labels}, run, "QueryAUC", convention="catboost"
    ).to_dict()
    assert record["run"]["QueryAUC"] == pytest.approx(pairs / (1.75 * 2.25), abs=1e-15)
    whole = rankstone.evaluate(
        {"q": {"a": 1, "c": 1}}, run, "QueryAUC", convention="catboost"
    ).to_dict()
    assert whole == {"run": {"QueryAUC": (2 + 1.5) / 4}}
    with pytest.raises(BadValue, match="refuses grade 2"):
        rankstone.evaluate({"q": {"a": 2}}, run, "QueryAUC", convention="catboost")


def test_labels_of_ranklib_above_the_scale() -> None:
    """They satisfy with a chance above 1, as in its loop; Best is the highest label down to the cutoff."""
    qrels, run = {"q": {"a": 5, "b": 3, "c": 1}}, {"q": ["c", "a", "x", "b"]}
    value = 1 / 16 + 15 / 16 * (31 / 16) / 2 + 15 / 16 * (1 - 31 / 16) * (7 / 16) / 4
    record = rankstone.evaluate(
        qrels, run, "ERR Best Best@1 ERR@1[gmax=5]", convention="ranklib"
    ).to_dict()
    assert record["run"] == {
        "ERR": pytest.approx(value),
        "Best": 5.0,
        "Best@1": 1.0,
        "ERR@1[gmax=5]": 1 / 32,
    }


def test_samples_of_sentence_transformers_have_both_sides() -> None:
    """Lists of positive documents only count in its retrieval evaluator, not in its reranking evaluator."""
    qrels, run = (
        {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}},
        {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}},
    )
    texts = [
        "map",
        "mrr@5",
        "ndcg@1",
        "cosine_map@3",
        "dot_precision@2",
        "cosine_mrr@2",
    ]
    value = rankstone.evaluate(
        qrels, run, texts, convention="sentence-transformers"
    ).to_dict()["run"]
    assert list(value.values()) == [0.5, 1, 0.5, 1, 0.5, 1]


@pytest.mark.parametrize(
    ("library", "measure"), [("ir_measures", "AP_IA"), ("pyndeval", "NRBP")]
)
def test_grades_of_every_subtopic_are_looked_at(library: str, measure: str) -> None:
    """A fraction that a higher grade of the same document hides is refused as any other."""
    qrels = {"q": {"a": {"s1": 0.5, "s2": 3}}}
    with pytest.raises(BadValue, match=r"refuses grade 0\.5"):
        rankstone.evaluate(qrels, {"q": ["a"]}, measure, convention=library)


def test_an_empty_list_of_elliot_counts() -> None:
    """A user who is shown nothing is in its recommendations and scores 0; one without a list is not."""
    qrels, run = {"u": {"a": 1}, "v": {"b": 1}, "w": {"c": 1}}, {"u": ["a"], "v": []}
    value = rankstone.evaluate(
        qrels, run, "nDCG@1 Precision@1 GAUC", convention="elliot"
    ).to_dict()["run"]
    assert list(value.values()) == [0.5, 0.5, 0.5]


#: graded lists, whose numbers are worked out by hand from what the tools' pages and sources say
GRADED = ({"q": {"a": 3, "b": 1, "c": 2, "d": 1}}, {"q": ["c", "x", "a"]})
GAINS = 3 / math.log2(2) + 7 / math.log2(4)


@each(
    ("text", "value"),
    [
        ("quepid NDCG@3", GAINS / (7 + 3 / math.log2(3) + 1 / 2 + 1 / math.log2(5))),
        ("quepid nDCG_cut@3", GAINS / (7 + 3 / math.log2(3) + 1 / 2)),
        ("quepid DCG@3", GAINS),
        ("quepid CG@3", 5.0),
        ("quepid P@10", 2 / 3),
        ("quepid AP@3", (1 + 2 / 3) / 4),
        ("quepid RR@3", 1.0),
        ("quepid ERR@3", 3 / 8 + 5 / 8 * 7 / 8 / 3),
        ("opensearch NDCG@3", GAINS / (7 + 3 / math.log2(3) + 1 / 2)),
        ("opensearch Precision@5", 2 / 3),
        ("opensearch Recall@5", 2 / 4),
        ("opensearch MAP@5", (1 + 2 / 3) / 4),
        ("opensearch MRR", 1.0),
        ("vertex docNdcg.top3", (1 + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2)),
        ("vertex pageNdcg.top1", 1.0),
        ("vertex docPrecision.top5", 2 / 3),
        ("vertex doc_recall.top_5", 2 / 4),
    ],
)
def test_tools_that_were_read_and_not_run(text: str, value: float) -> None:
    """Their measures, on one list."""
    library, measure = text.split()
    values = rankstone.evaluate(*GRADED, measure, convention=library).to_dict()["run"]
    assert values == {measure: pytest.approx(value, abs=1e-15)}


def test_the_example_of_vertex_ai_search() -> None:
    """Its reference gives 0.693 for two relevant documents at ranks 2 and 3 (QualityMetrics.doc_ndcg)."""
    qrels, run = {"q": {"D1": 1, "D2": 1}}, {"q": ["D3", "D1", "D2"]}
    value = rankstone.evaluate(
        qrels, run, "docNdcg.top3", convention="vertex"
    ).to_dict()["run"]
    assert value["docNdcg.top3"] == pytest.approx(0.693, abs=5e-4)


def test_what_each_option_adds_to_a_difference() -> None:
    """Of three options that differ, one changes a number, alone by as much as the libraries differ."""
    qrels = {"q": {"a": 1, "b": 2, "c": 1}}
    run = {"q": {"b": 3.0, "x": 2.0, "a": 1.0, "c": 0.5}}
    first, second = convention("pytrec_eval"), convention("xgboost")
    numbers = values_by([first, second], qrels, run, ["nDCG@10"])["nDCG@10"]
    effects = effects_of_options(first, second, "nDCG@10", qrels, run)
    before, after = numbers.values()
    assert isinstance(before, float)
    changed = {effect.option: effect.value for effect in effects}
    ours = rankstone.evaluate(qrels, run, "nDCG(gain=exp2)@10").to_dict()["run"]
    assert [*ours.values()] == [changed["gain"]]
    assert changed["gain"] != before
    assert changed["negative"] == before
    assert after == changed["gain"]


def test_rankstone_stands_beside_libraries() -> None:
    """Its own definitions are a convention: the numbers are those of evaluate without one."""
    own = own_convention()
    qrels = {"q": {"a": 1, "b": 2}, "r": {"a": 1}}
    run = {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    numbers = values_by([own], qrels, run, ["nDCG@2", "AP"])
    plain = rankstone.evaluate(qrels, run, "nDCG@2 AP").to_dict()["run"]
    assert {text: values[str(own)] for text, values in numbers.items()} == plain
    same = compare(own, own)
    assert len(same) > 60
    assert not any(row.options for row in same)
