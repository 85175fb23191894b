"""A stranger's number: what is read of it, what is searched, what is found."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.night import part
from tests.rows import each

import rankstone
from rankstone.conventions.identification.candidate_values import Sweeper
from rankstone.conventions.identification.identification import _searches
from rankstone.conventions.identification.reported_number import LEFT_OUT, Printed
from rankstone.conventions.identification.search_space import (
    around,
    grouped,
    printed_by_chance,
)
from rankstone.errors import UsageError
from rankstone.evaluation.prepared import Prepared
from rankstone.explanation.explain_scores import QUERY, typed_in
from rankstone.measures import MEASURES, Measure, parse_measure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILMS = ("5,3,2,1,2", "5,3,2,1,2,4,0")
QUERIES = [f"q{index}" for index in range(30)]


def collection() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments with several grades, a query without a relevant document, and lists with ties."""
    rng = np.random.default_rng(3)
    docs = [f"d{index}" for index in range(40)]
    qrels = {
        q: {
            str(doc): int(rng.choice([0, 0, 1, 2, 3]))
            for doc in rng.choice(docs, 12, replace=False)
        }
        for q in QUERIES
    }
    qrels["q0"] = {"d0": 0, "d1": 0}
    run = {
        q: {
            str(doc): float(rng.integers(0, 12))
            for doc in rng.choice(docs, 20, replace=False)
        }
        for q in QUERIES[:27]
    }
    return qrels, run


QRELS, RUN = collection()


# -- the number ------------------------------------------------------------------------------------
@each(
    ("text", "value", "digits", "scales"),
    [
        ("0.827", 0.827, 3, (1.0,)),
        ("0.8270", 0.827, 4, (1.0,)),
        ("82.7", 82.7, 1, (1.0, 100.0)),
        ("82.7%", 82.7, 1, (100.0,)),
        ("41.3 %", 41.3, 1, (100.0,)),
        ("41.3\u00a0%", 41.3, 1, (100.0,)),
        ("41,3 %", 41.3, 1, (100.0,)),
        (".41", 0.41, 2, (1.0,)),
        ("1e-3", 0.001, 3, (1.0,)),
        ("0,827", 0.827, 3, (1.0,)),
        ("3", 3.0, 0, (1.0, 100.0)),
    ],
)
def test_a_number_as_it_was_printed(
    text: str, value: float, digits: int, scales: tuple[float, ...]
) -> None:
    """Its decimals are those it shows; above 1 it may be per cent."""
    printed = Printed.of(text)
    assert (printed.value, printed.digits, printed.scales()) == (value, digits, scales)


def test_decimals_may_be_stated() -> None:
    """A float does not show the zeros that were printed."""
    assert Printed.of(0.5, 4).how(0.50004) == "rounded"
    assert Printed.of(0.5, 4).how(0.50011) is None


@pytest.mark.parametrize("text", ["", "nan", "inf", "many", "0.8.2", "1e400", "--"])
def test_what_is_no_number_is_refused(text: str) -> None:
    """With what was expected."""
    with pytest.raises(UsageError, match="is not a number"):
        Printed.of(text)


@pytest.mark.parametrize("text", ["1,234", "-12,345", "41,300 %"])
def test_a_comma_that_may_be_thousands_is_refused(text: str) -> None:
    """Both readings are shown, each ready to be pasted."""
    with pytest.raises(UsageError, match="two ways") as refusal:
        Printed.of(text)
    bare = text.removesuffix(" %")
    assert f"{bare.replace(',', '.')} or {bare.replace(',', '')}" in str(refusal.value)


def test_rounded_or_cut_off() -> None:
    """Half a step to either side rounds to the number; up to a whole step above is cut off to it."""
    printed = Printed.of("0.827")
    assert printed.how(0.8265) == "rounded"
    assert printed.how(0.82751) == "cut off"
    assert printed.how(0.82649) is None
    assert printed.how(0.828) is None
    assert Printed.of("-0.5").how(-0.58) == "cut off"
    assert Printed.of("82.7").how(0.8268) == "rounded"


# -- the search ------------------------------------------------------------------------------------
def printed(value: float, digits: int = 6) -> str:
    return f"{value:.{digits}f}"


def only_value(measure: str, **options: Any) -> float:
    value = rankstone.evaluate(QRELS, RUN, measure, **options).to_dict()["run"][measure]
    assert value is not None
    return value


#: what was asked for, what was computed, and under which options
WAYS = [
    ("nDCG@10", "nDCG@10", {}),
    ("nDCG@10", "nDCG(gain=exp2)@10", {}),
    ("nDCG@10", "nDCG(ideal=list)@10", {"missing": "drop"}),
    ("nDCG@10", "nDCG(discount=jk)@10", {"ties": "expected"}),
    ("nDCG@10", "nDCG@9", {}),
    ("AP", "AP(denom=hits)", {}),
    ("AP", "AP(rel=2)", {"empty": "drop"}),
    ("AP", "AP", {"unjudged": "condensed"}),
    ("P@5", "P(denom=n)@5", {"pool": "list"}),
    ("RR", "RR(agg=median)", {}),
    ("R@10", "R(denom=min_R_k)@10", {"missing": "drop"}),
    ("ERR@10", "ERR(max_grade=3)@10", {}),
    ("RBP", "RBP(gain=linear, max_grade=3, p=0.95)", {}),
    ("RBP", "RBP(p=0.5)", {"ties": "docid_asc"}),
    ("RBP(p=0.8)", "RBP(gain=exp2, max_grade=4, p=0.8)", {}),
    ("nDCG@10", "nDCG(discount=geometric, p=0.9)@10", {}),
    ("F", "F(beta=0.5)", {"missing": "drop"}),
    ("AP", "AP(agg=trimmed)", {}),
]


# one in three, and at night all
@pytest.mark.parametrize(("name", "measure", "options"), part(WAYS, 3))
def test_a_way_is_found(name: str, measure: str, options: dict[str, Any]) -> None:
    """Whatever is a step or two away prints as its own number, and is in the first group or equal to it."""
    if name == "ERR@10":
        name = measure
    identification = rankstone.identify(
        QRELS, RUN, printed(only_value(measure, **options)), name
    )
    ways = [way for group in identification.groups for way in group.ways]

    assert any(way.measure == measure and way.options == options for way in ways)


def test_every_way_is_a_number_evaluate_gives() -> None:
    """What is reported in our words gives that value when it is requested, whatever the options."""
    identification = rankstone.identify(
        QRELS, RUN, printed(only_value("nDCG@10"), 2), "nDCG@10"
    )
    ours = [
        way
        for group in identification.groups
        for way in group.ways
        if not way.library and not way.rounding
    ]
    assert len(ours) > 50
    for way in ours[::7]:
        value = only_value(way.measure, **way.options)
        assert math.isclose(value, way.value, rel_tol=1e-12), way


def test_every_library_prints_what_is_reported_of_it() -> None:
    """A library's value is the one its convention gives."""
    identification = rankstone.identify(QRELS, RUN, "0.4", "nDCG@10", digits=0)
    theirs = [
        way for group in identification.groups for way in group.ways if way.library
    ]
    assert len({way.library for way in theirs}) > 15
    for way in theirs:
        scores = rankstone.evaluate(QRELS, RUN, way.spelling, convention=way.library)
        value = scores.to_dict()["run"][way.spelling]
        assert value is not None
        digits = 4 if math.isclose(value, round(value, 4), rel_tol=1e-12) else 15
        assert math.isclose(value, round(way.value, digits), rel_tol=1e-9), way


def test_queries_without_judgments_are_those_of_each_library() -> None:
    """Of an entry without judgments most libraries know nothing; some count it as a query that is judged."""
    qrels, run = {"q1": {"a": 1}, "q2": {}}, {"q1": ["x", "a"], "q2": ["z"]}
    spelled = {
        "trec_eval-9": "map_cut_5",
        "cornac-3.0": "MAP",
        "catboost-1.2": "MAP:top=5",
        "lightgbm-4.7": "map@5",
    }
    values = set()
    for library, text in spelled.items():
        row = rankstone.evaluate(qrels, run, text, convention=library).mean()["value"][
            0
        ]
        values.add(row)
        groups = rankstone.identify(
            qrels, run, f"{row:.4f}", "AP" if text == "MAP" else "AP@5"
        ).groups
        assert library in groups[0].libraries
    assert len(values) > 1


def test_equal_values_are_one_group() -> None:
    """Where nothing ties, rules for ties are no different ways."""
    run = {
        q: {doc: score + index / 1024 for index, (doc, score) in enumerate(s.items())}
        for q, s in RUN.items()
    }
    identification = rankstone.identify(QRELS, run, "0.3", "nDCG@10", digits=1)
    values = [group.value for group in identification.groups]
    assert not any(
        "ties" in way.options
        for group in identification.groups
        for way in group.ways
        if not way.library
    )
    assert all(
        abs(a - b) > 1e-11
        for a, b in zip(sorted(values), sorted(values)[1:], strict=False)
    )


def test_without_a_name_every_measure_is_tried() -> None:
    """RR is found without being named, and reported with the libraries that mean it."""
    answered = {query: judged for query, judged in QRELS.items() if query in RUN}
    value = rankstone.evaluate(answered, RUN, "RR@10").to_dict()["run"]["RR@10"]
    assert value is not None
    identification = rankstone.identify(answered, RUN, printed(value))
    assert identification.groups[0].simplest.measure.startswith("RR")
    assert "mteb-2.26" in identification.groups[0].libraries


def test_per_cent() -> None:
    """Papers print 41.3 for 0.413."""
    value = only_value("nDCG@10")
    identification = rankstone.identify(QRELS, RUN, f"{100 * value:.2f}", "nDCG@10")
    assert identification.groups[0].simplest.measure == "nDCG@10"


def test_numbers_rounded_on_the_way() -> None:
    """A famous 0.827: terms were rounded to one decimal, and the quotient 38.5 / 46.5 was cut off."""
    qrels, listed = typed_in(*FILMS)
    identification = rankstone.identify(
        qrels, {QUERY: listed}, "0.827", "nDCG(gain=exp2)@5"
    )
    best = identification.groups[0].simplest
    assert (best.measure, best.rounding, best.how) == (
        "nDCG(gain=exp2)@5",
        "each term rounded to 1 decimal",
        "cut off",
    )
    assert math.isclose(best.value, 38.5 / 46.5, rel_tol=1e-12)


def test_values_of_queries_written_down() -> None:
    """The mean of 0.33, 0.5 and 1 is not that of 1/3, 1/2 and 1."""
    qrels = {q: {"a": 1} for q in ("x", "y", "z")}
    run = {"x": ["b", "c", "a"], "y": ["b", "a"], "z": ["a"]}
    identification = rankstone.identify(qrels, run, "0.6100", "RR")
    roundings = {way.rounding for group in identification.groups for way in group.ways}
    assert "each query's value rounded to 2 decimals" in roundings
    assert math.isclose(
        identification.groups[0].value, (0.33 + 0.5 + 1) / 3, rel_tol=1e-12
    )


def test_where_nothing_fits_the_nearest_are_reported() -> None:
    """Five of them, the nearest first, and how far off they are."""
    identification = rankstone.identify(QRELS, RUN, "0.99999", "nDCG@10")
    assert identification.groups == ()
    off = [abs(group.off) for group in identification.nearest]
    assert len(off) == 5
    assert off == sorted(off)
    assert identification.nearest[0].value == pytest.approx(
        0.99999 + identification.nearest[0].off
    )
    assert "no value rounds to it" in identification.text()


def test_a_measure_of_some_library() -> None:
    """What only a library calls so is searched, too."""
    binary = {
        query: {doc: min(grade, 1) for doc, grade in judged.items()}
        for query, judged in QRELS.items()
    }
    scores = rankstone.evaluate(binary, RUN, "RetrievalMRR", convention="torchmetrics")
    value = scores.to_dict()["run"]["RetrievalMRR"]
    assert value is not None
    identification = rankstone.identify(binary, RUN, printed(value), "RetrievalMRR")
    assert "RetrievalMRR" in identification.groups[0].libraries["torchmetrics-1.9"]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("nDGC@10", "did you mean"),
        ("PR", "not a measure of one run"),
        ("tau", "measure"),
    ],
)
def test_an_unknown_measure_is_refused(measure: str, message: str) -> None:
    """As everywhere."""
    with pytest.raises(UsageError, match=message):
        rankstone.identify(QRELS, RUN, "0.5", measure)


def test_options_say_where_the_search_begins() -> None:
    """Missing queries that are dropped are then no step."""
    value = only_value("AP", missing="drop")
    identification = rankstone.identify(
        QRELS, RUN, printed(value), "AP", missing="drop"
    )
    assert (
        identification.groups[0].simplest.measure,
        identification.groups[0].simplest.steps,
    ) == ("AP", 0)
    assert identification.usual == {"missing": "drop"}


def test_duplicates_are_searched_instead_of_refused() -> None:
    """A list with a document twice has a number somebody printed, too."""
    qrels = {"q": {"a": 1, "b": 1}}
    run = (["q"] * 3, ["a", "a", "b"], [3.0, 2.0, 1.0])
    identification = rankstone.identify(qrels, run, printed((1 / 1 + 2 / 3) / 2), "AP")
    assert any(
        w.options.get("duplicates") == "first_keep_rank"
        for g in identification.groups
        for w in g.ways
    )


STARTS = [
    (kind, texts)
    for name, kind in MEASURES.items()
    if issubclass(kind, Measure) and (texts := (name, f"{name}@5", *kind.examples))
]


@each(("kind", "texts"), STARTS, ids=lambda item: getattr(item, "name", ""))
def test_every_parameter_is_searched_or_says_why_not(
    kind: type[Measure], texts: tuple[str, ...]
) -> None:
    """From some start, no more than two choices away, each parameter has another value; cutoffs, too."""
    ready = Prepared({"q": {"a": 3, "b": 1, "c": 2}}, "AP")
    facts = Sweeper(ready, {"q": ["b", "x", "a", "c", "y", "z"]}).facts()
    changed: set[str] = set()
    for start in readable(texts):
        for other, _ in around(start, facts, 2, frozenset()):
            changed |= {
                f.name
                for f in fields(kind)
                if getattr(other, f.name) != getattr(start, f.name)
            }
    left_out = {name for name in LEFT_OUT if "." not in name}
    left_out |= {
        name.partition(".")[2] for name in LEFT_OUT if name.startswith(f"{kind.name}.")
    }
    declared = {f.name for f in fields(kind)} - {
        "agg"
    }  # which is tried where queries are put together
    if not kind.takes_cutoff:
        changed.add("k")
    assert declared - left_out <= changed
    assert not changed & left_out


def readable(texts: tuple[str, ...]) -> Iterator[Measure]:
    for text in texts:
        with suppress(UsageError):
            measure = parse_measure(text)
            assert isinstance(measure, Measure)
            yield measure


def test_the_ranks_of_a_file_are_another_order(tmp_path: Path) -> None:
    """Where they contradict the scores, lists ordered by them are tried, too."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q 0 a 1\nq 0 b 1\n")
    lines = [("x", 3, 4.0), ("a", 1, 3.0), ("y", 4, 2.0), ("b", 2, 1.0)]
    run.write_text(
        "".join(f"q Q0 {doc} {rank} {score} t\n" for doc, rank, score in lines)
    )
    identification = rankstone.identify(qrels, run, printed((1 / 1 + 2 / 2) / 2), "AP")
    assert any(
        way.options == {"order": "rank"} for way in identification.groups[0].ways
    )
    run.write_text("".join(f"q Q0 {doc} - {score} t\n" for doc, rank, score in lines))
    assert (
        rankstone.identify(qrels, run, printed((1 / 2 + 2 / 4) / 2), "AP")
        .groups[0]
        .simplest.steps
        == 0
    )


# -- several runs, several numbers -------------------------------------------------------------------
OTHER = {
    query: dict(zip(scores, reversed(scores.values()), strict=True))
    for query, scores in RUN.items()
}
BOTH = {"one": RUN, "other": OTHER}


def value_of(run: str, digits: int) -> str:
    (value,) = rankstone.evaluate(QRELS, BOTH[run], "nDCG@10").to_dict()["run"].values()
    assert value is not None
    return printed(value, digits)


def test_rows_of_a_table_may_be_swapped() -> None:
    """A number is taken for the run in its place and found to be the other one's; decimals are its own."""
    values = value_of("other", 4), value_of("one", 6)
    first, second = rankstone.identify(QRELS, BOTH, values, "nDCG@10")
    assert (first.taken_for, first.run, second.taken_for, second.run) == (
        "one",
        "other",
        "other",
        "one",
    )
    assert (first.printed.digits, second.printed.digits) == (4, 6)
    assert "this is other's value, not one's" in first.text(200)
    assert first.groups[0].run == "other"
    assert first.groups[0].simplest.measure == "nDCG@10"
    assert set(first.frame["run"]) == {"one", "other"}
    assert first.report()["inputs"].keys() == BOTH.keys()


def test_a_number_of_its_own_run() -> None:
    """One number is taken for the first run, and what is found of it is what is found without the others."""
    identification = rankstone.identify(QRELS, BOTH, value_of("one", 6), "nDCG@10")
    assert identification.run == identification.taken_for == "one"
    assert "this is one's value: no other run prints it" in identification.text(200)
    alone = rankstone.identify(QRELS, {"one": RUN}, value_of("one", 6), "nDCG@10")
    ours = [group for group in identification.groups if group.run == "one"]
    assert [group.value for group in ours] == [group.value for group in alone.groups]


def test_equal_runs_are_not_distinguished() -> None:
    """Where two runs print the number in as few steps, nothing says whose it is."""
    identification = rankstone.identify(
        QRELS, {"a": RUN, "b": RUN}, value_of("one", 4), "nDCG@10"
    )
    assert identification.run is None
    assert "the run is ambiguous" in identification.text(200)


# -- what chance would do --------------------------------------------------------------------------
@pytest.mark.parametrize("digits", [2, 3])
def test_expected_by_chance_is_density_times_length(digits: int) -> None:
    """A value every ten thousandth: one and a half steps of the number hold so many."""
    values = [index / 10_000 for index in range(10_000)]
    expected = 1.5 * 10.0**-digits * 10_000
    assert printed_by_chance(values, Printed.of(0.41, digits)) == pytest.approx(
        expected, rel=0.05
    )
    per_cent = Printed.of(f"{41:.{digits - 2}f} %")
    assert printed_by_chance(values, per_cent) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (8, 8)])
@pytest.mark.parametrize("count", [60, 600])
def test_as_many_print_by_chance_as_expected(
    shape: tuple[int, int], count: int
) -> None:
    """On average over numbers from where the values come from, but independent of them."""
    rng = np.random.default_rng([count, *shape])
    expected, seen, worlds = 0.0, 0, 40_000 // count
    for _ in range(worlds):
        values, number = rng.beta(*shape, count), Printed.of(float(rng.beta(*shape)), 3)
        number = Printed.of(f"{number.value:.3f}")
        expected += printed_by_chance(values.tolist(), number)
        seen += sum(number.how(value) is not None for value in values.tolist())
    assert seen > 50
    assert abs(expected - seen) < 4 * math.sqrt(seen)


def test_as_many_values_of_a_search_print_by_chance_as_expected() -> None:
    """Values of a real search lie in heaps; numbers near to them are printed by as many as expected."""
    demo = files("rankstone") / "demo"
    runs = {"bm25": str(demo / "bm25.run")}
    search = _searches(str(demo / "qrels.txt"), runs, "AP", None, {})["bm25"]
    values = [group.value for group in grouped(search.ways) if 0 < group.value < 1]
    rng = np.random.default_rng(11)
    numbers = [
        Printed.of(f"{position:.3f}")
        for position in rng.choice(values, 400) + rng.normal(0, 0.003, 400)
    ]
    expected = sum(printed_by_chance(values, number) for number in numbers)
    seen = sum(number.how(value) is not None for number in numbers for value in values)
    assert 0.8 < expected / seen < 1.25


def test_what_prints_as_the_number_says_nothing_of_chance() -> None:
    """Hundreds of values that round to it change nothing; one other value has no density."""
    apart = [index / 100 for index in range(101)]
    number = Printed.of("0.4150")
    same = [0.415 + index * 1e-8 for index in range(300)]
    assert (
        printed_by_chance([*apart, *same], number)
        == printed_by_chance(apart, number)
        > 0
    )
    assert printed_by_chance([0.1, *same], number) == 0.0


def test_chance_is_reported() -> None:
    """Fewer decimals print more of the same values."""
    value = only_value("nDCG@10")
    coarse, fine = rankstone.identify(
        QRELS, RUN, (printed(value, 2), printed(value, 5)), "nDCG@10"
    )
    assert coarse.different == fine.different
    assert coarse.by_chance > 1 > fine.by_chance > 0
    text = fine.text(200)
    assert f"{fine.different:,} different values tried: expect about" in text
    assert f"chance matches of {printed(value, 5)}" in text


# -- the result ------------------------------------------------------------------------------------
def test_it_is_reported_in_every_format() -> None:
    """A frame, plain dicts, text, Markdown, LaTeX and HTML."""
    identification = rankstone.identify(
        QRELS, RUN, printed(only_value("nDCG@10"), 3), "nDCG@10"
    )
    assert identification.frame.columns[:4] == ["group", "value", "prints", "off"]
    assert identification.frame["group"].n_unique() == len(identification.groups) + len(
        identification.nearest
    )
    assert (
        json.loads(json.dumps(identification.report()))["groups"][0]["ways"][0][
            "measure"
        ]
        == "nDCG@10"
    )
    assert all(len(line) <= 80 for line in identification.text(80).splitlines())
    assert "nDCG@10" in identification.to_markdown()
    assert "nDCG@10" in identification.to_latex()
    assert "<h3>" in identification._repr_html_()
    assert repr(identification) == identification.text()
