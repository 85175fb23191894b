"""Public results in each of their states: holds and does not, clear and open, empty, one row, missing values.

``STATES`` names a function for each; it makes the result in a language by a public verb, from data small enough
that all of them take seconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import numpy as np
import polars as pl
from tests.laws.test_explaining import TEXTS as OF_JUDGMENTS
from tests.rankings.recommendation.oracle import groups
from tests.rankings.recommendation.table import ALL as OF_LISTS
from tests.rankings.recommendation.worlds import world as beyond_world
from tests.rankings.worlds import TEXTS as OF_TWO
from tests.tables.test_results import MADE

import rankstone
from rankstone import demo, online
from rankstone.answers import compare_assessors, nuggets
from rankstone.boards import paired_board, slices_of_log, slices_of_scores
from rankstone.collections import certify, collection, reproduce, verify
from rankstone.explanation import explain_queries
from rankstone.testing.small_worlds import small_world

__all__ = ["CHARTED", "PAGED", "STATES", "Make"]

Make = Callable[[str], Any]
#: ``Class: state`` → the result in a language
STATES: dict[str, Any] = {}
FILES: Final = [demo.QRELS, *demo.RUNS.values()]
QUICK: Final[dict[str, Any]] = {"permutations": 200, "resamples": 200}


def state(make: Make) -> Make:
    """Add a state, which is called as its function."""
    STATES[make.__name__.replace("_", " ")] = make
    return make


def rng(seed: int = 1) -> np.random.Generator:
    """Return a stream of random numbers."""
    return np.random.default_rng(seed)


# -- small results of every class ------------------------------------------------------------------------
def _plain(name: str) -> Make:
    return lambda _: MADE[name]()


STATES |= {f"{name} of a few queries": _plain(name) for name in MADE}


# -- run cards ---------------------------------------------------------------------------------------------
@cache
def _card() -> str:
    return json.dumps(certify(demo.QRELS, demo.RUNS, "P@5").card)


def _verified(lang: str, change: Callable[[dict[str, Any]], object]) -> Any:
    card = json.loads(_card())
    change(card)
    return verify(card, FILES, lang=lang)


@state
def card(lang: str) -> Any:
    return certify(demo.QRELS, demo.RUNS, "P@5 RR", lang=lang, queries=demo.QUERIES)


@state
def verification_that_holds(lang: str) -> Any:
    return _verified(lang, lambda card: card)


@state
def verification_of_changed_figures(lang: str) -> Any:
    def change(card: dict[str, Any]) -> None:
        for figures in card["figures"].values():
            for query in figures["P@5"]["queries"]:
                figures["P@5"]["queries"][query] += "1"

    return _verified(lang, change)


@state
def verification_of_other_statements(lang: str) -> Any:
    def change(card: dict[str, Any]) -> None:
        card["conventions"]["alignment"]["ties"] = "best"
        card["note"] = "x"
        card["environment"] |= {"numpy": "2.0.0"}
        del card["environment"]["python"]

    return _verified(lang, change)


@state
def verification_of_changed_and_missing_files(lang: str) -> Any:
    folder = Path(mkdtemp())
    for name, path in (
        ("q.txt", demo.QRELS),
        *demo.RUNS.items(),
        ("u.csv", demo.QUERIES),
    ):
        (folder / name).write_bytes(Path(path).read_bytes())
    (folder / "u.csv").write_text("query_id,text\nq01,x\n")
    for name in ("exclude", "same_as", "documents", "intents"):
        (folder / f"{name}.csv").write_text("query_id,doc_id,score\nq01,d,1\n")
    runs = {name: folder / name for name in demo.RUNS}
    made = certify(
        folder / "q.txt", runs, "P@5", folder=folder, queries=folder / "u.csv"
    )
    content = json.loads(json.dumps(made.card))
    first = content["files"][0]
    for role in ("exclude", "same_as", "documents", "intents"):
        extra = {"role": role, "name": "", "path": f"{role}.csv"}
        content["files"].append(first | extra)
    content["files"][1]["blocks"][0] = "0" * 64
    (folder / "card.json").write_text(json.dumps(content))
    (folder / "bm25").write_text("q01 Q0 d 1 1 x\n")
    (folder / "tfidf").unlink()
    return verify(folder / "card.json", original=[demo.RUNS["bm25"]], lang=lang)


@state
def verification_of_a_changed_file(lang: str) -> Any:
    folder = Path(mkdtemp())
    for name, path in (("q.txt", demo.QRELS), *demo.RUNS.items()):
        (folder / name).write_bytes(Path(path).read_bytes())
    runs = {name: folder / name for name in demo.RUNS}
    certify(folder / "q.txt", runs, "P@5", folder=folder).write(folder / "card.json")
    (folder / "bm25").write_text("q01 Q0 d 1 1 x\n")
    return verify(folder / "card.json", lang=lang)


# -- boards ------------------------------------------------------------------------------------------------
def _board(seed: int, items: int, n: int, spread: float, noise: float) -> pl.DataFrame:
    """Return scores of systems on data sets, wide; their quality differs by ``spread``."""
    values = np.linspace(0.5, 0.5 - spread, items)[:, None] + noise * rng(
        seed
    ).standard_normal((items, n))
    table = pl.DataFrame(values, [f"d{index}" for index in range(n)], orient="row")
    return table.insert_column(
        0, pl.Series("system", [f"s{index}" for index in range(items)])
    )


def _long(wide: pl.DataFrame, of: int, name: str, noise: float = 0.05) -> pl.DataFrame:
    """Return each score ``of`` times with noise: as queries or as seeds."""
    long = wide.unpivot(index="system", variable_name="dataset", value_name="value")
    rows = pl.concat(
        [long.with_columns(pl.lit(index).alias(name)) for index in range(of)]
    )
    moved = rows["value"] + noise * rng(3).standard_normal(rows.height)
    return rows.with_columns(value=moved)


for _estimate in (
    "macro", "mean_rank", "borda", "win_rate", "geometric_mean",
):  # fmt: skip
    STATES[f"board by {_estimate}"] = lambda lang, estimate=_estimate: rankstone.board(
        _board(1, 6, 8, 0.2, 0.03), estimate=estimate, lang=lang
    )


@state
def board_with_a_clear_leader(lang: str) -> Any:
    return rankstone.board(_board(1, 4, 8, 0.3, 0.005), lang=lang)


@state
def board_that_cannot_rank(lang: str) -> Any:
    return rankstone.board(_board(2, 30, 8, 0.0, 0.2), lang=lang)


@state
def board_of_few_data_sets(lang: str) -> Any:
    return rankstone.board(_board(2, 4, 3, 0.1, 0.1), lang=lang)


@state
def board_with_weights(lang: str) -> Any:
    table = _board(4, 4, 6, 0.1, 0.05)
    weights = {f"d{index}": index + 1.0 for index in range(6)}
    return rankstone.board(table, weights=weights, lang=lang)


@state
def board_of_queries(lang: str) -> Any:
    table = _long(_board(5, 4, 3, 0.1, 0.03), 6, "query_id")
    return rankstone.board(table, resample="queries", resamples=1000, lang=lang)


@state
def board_of_data_sets_and_queries(lang: str) -> Any:
    table = _long(_board(5, 4, 8, 0.1, 0.05), 6, "query_id").with_columns(
        query_id=pl.format("{}-{}", "dataset", "query_id")
    )
    return rankstone.board(
        table, resample="both", estimate="micro", resamples=1000, lang=lang
    )


@state
def board_of_noisy_queries(lang: str) -> Any:
    table = _long(_board(5, 6, 12, 0.3, 0.0001), 4, "query_id", 0.2).with_columns(
        query_id=pl.format("{}-{}", "dataset", "query_id")
    )
    return rankstone.board(table, lang=lang)


@state
def board_of_seeds(lang: str) -> Any:
    table = _long(_board(6, 4, 8, 0.02, 0.08), 2, "seed", 0.07)
    return rankstone.board(table, lang=lang)


for _missing in ("skip", "worst", "model"):

    def _with_holes(lang: str, missing: str = _missing) -> Any:
        table = _board(7, 5, 8, 0.1, 0.05)
        holes = [
            pl.when(pl.col("system") == f"s{index % 5}")
            .then(None)
            .otherwise(pl.col(f"d{index}"))
            for index in range(4)
        ]
        named = [hole.alias(f"d{index}") for index, hole in enumerate(holes)]
        return rankstone.board(table.with_columns(named), missing=missing, lang=lang)

    STATES[f"board with holes by {_missing}"] = _with_holes


def _curved(kind: str, lang: str) -> Any:
    """Return a board on which systems and data sets add up on one scale; the last system has one score."""
    numbers = rng(5)
    added = numbers.normal(0, 1.5, 7)[:, None] + numbers.normal(0, 1, 9)
    added += numbers.normal(0, 0.02, added.shape)
    values = {
        "additive": 0.5 + added / 12,
        "logit": 1 / (1 + np.exp(-added)),
        "multiplicative": np.exp(added - 5),
        "complementary": 1 - np.exp(added - 5),
    }[kind]
    rows = [
        (f"s{system}", f"d{dataset}", values[system, dataset])
        for system in range(7)
        for dataset in range(9)
        if system + dataset != 4 and (system < 6 or dataset == 3)
    ]
    table = pl.DataFrame(rows, ["system", "dataset", "value"], orient="row")
    return rankstone.board(table, missing="model", lang=lang)


for _kind in ("additive", "logit", "multiplicative", "complementary"):
    STATES[f"board with holes, {_kind}"] = lambda lang, kind=_kind: _curved(kind, lang)


@state
def board_on_which_all_differ_by_the_same(lang: str) -> Any:
    return rankstone.board(
        {"a": {"w": 0.3, "x": 0.4}, "b": {"w": 0.1, "x": 0.2}}, lang=lang
    )


@state
def board_explanation_without_an_error(lang: str) -> Any:
    return board_on_which_all_differ_by_the_same(lang).explain("a")


@state
def board_with_a_weak_tail(lang: str) -> Any:
    tail = pl.when(pl.col("system") >= "s6").then(pl.col("^d.*$") - 0.4)
    return rankstone.board(
        _board(2, 10, 10, 0.02, 0.08).with_columns(tail.otherwise(pl.col("^d.*$"))),
        lang=lang,
    )


@state
def board_with_one_candidate(lang: str) -> Any:
    return rankstone.board(_board(27, 6, 8, 0.06, 0.03), lang=lang)


for _seed in range(4):
    for _system in ("s0", "s2"):
        STATES[f"board explanation {_seed} {_system}"] = (
            lambda lang, seed=_seed, system=_system: rankstone.board(
                _board(seed, 6, 6, 0.5 / 8**seed, 0.05), lang=lang
            ).explain(system)
        )


def _battles(n: int, ties: float = 0.0, seed: int = 1) -> dict[str, list[Any]]:
    random = rng(seed)
    left, right = random.integers(0, 5, n), random.integers(0, 4, n)
    right += right >= left
    better = np.where(random.random(n) < 0.5 + 0.1 * (right - left), left, right)
    tied = random.random(n) < ties
    return {
        "left": [f"s{position}" for position in left],
        "right": [f"s{position}" for position in right],
        "winner": [
            "tie" if t else f"s{position}"
            for t, position in zip(tied, better, strict=True)
        ],
        "judge": [f"j{index % 4}" for index in range(n)],
        "prompt": [f"p{index % 30}" for index in range(n)],
    }


for _model in ("davidson", "rao_kupper", "bradley_terry"):
    STATES[f"battles by {_model}"] = lambda lang, model=_model: paired_board(
        _battles(300, 0.2), model=model, lang=lang
    )


@state
def battles_in_clusters(lang: str) -> Any:
    return paired_board(
        _battles(400), cluster=["judge"], covariates=["position"], lang=lang
    )


@state
def battles_of_one_mind(lang: str) -> Any:
    games = {name: column[:60] * 4 for name, column in _battles(60).items()}
    games["judge"] = [f"j{index // 60}" for index in range(240)]
    return paired_board(games, cluster="judge", lang=lang)


@state
def battles_of_judges_with_tastes(lang: str) -> Any:
    games = _battles(400)
    games["winner"] = [
        max(pair, key=lambda name: (int(name[1]) * int(judge[1:]) * 7) % 5)
        if index % 4
        else winner
        for index, (*pair, winner, judge, _) in enumerate(
            zip(*games.values(), strict=True)
        )
    ]
    return paired_board(games, cluster="judge", lang=lang)


@state
def battles_resampled(lang: str) -> Any:
    return paired_board(_battles(200), resamples=200, lang=lang)


@state
def battles_resampled_by_clusters(lang: str) -> Any:
    left = {"winner": _battles(300)["left"]}
    games = _battles(300) | {
        name: (left["winner"] if index % 3 else _battles(300)["winner"])
        for index, name in enumerate(["winner"])
    }
    return paired_board(games, cluster="prompt", resamples=200, lang=lang)


@state
def battles_decided_by_the_side(lang: str) -> Any:
    games = _battles(300)
    games["winner"] = [
        left if index % 5 else right
        for index, (left, right) in enumerate(
            zip(games["left"], games["right"], strict=True)
        )
    ]
    return paired_board(games, covariates=["position"], lang=lang)


# -- comparisons -------------------------------------------------------------------------------------------
def _scores(
    gains: dict[str, float], n: int = 40, noise: float = 0.1, measures: str = "nDCG@10"
) -> dict[str, dict[str, dict[str, float]]]:
    """Return scores of systems: a query's level, a system's gain, and noise."""
    random = rng(5)
    level = random.random(n) / 2
    return {
        system: {
            f"q{index}": {
                measure: float(level[index] + gain + random.normal(0, noise))
                for measure in measures.split()
            }
            for index in range(n)
        }
        for system, gain in gains.items()
    }


PAIRS: Final = {
    "better": ({"a": 0.0, "b": 0.2}, {}),
    "worse": ({"a": 0.2, "b": 0.0}, {}),
    "open": ({"a": 0.0, "b": 0.02}, {}),
    "equivalent": ({"a": 0.0, "b": 0.0}, {"margin": 0.2}),
}
for _name, (_gains, _options) in PAIRS.items():
    STATES[f"comparison of two {_name}"] = lambda lang, gains=_gains, options=_options: (
        rankstone.compare_scores(
            _scores(gains, measures="nDCG@10 AP"), lang=lang, **options, **QUICK
        )
    )
for _name in ("higher", "lower"):

    def _neither(lang: str, sign: int = 1 if _name == "higher" else -1) -> Any:
        gains = {"a": 0.0, "b": 0.2 * sign}
        return rankstone.compare_scores(
            _scores(gains, measures="NumQ"), lang=lang, **QUICK
        )

    STATES[f"comparison of two {_name}"] = _neither

for _interval in (
    "auto",
    "worst_case",
    "t",
    "bca",
    "percentile",
    "studentised",
    "poisson",
):
    STATES[f"comparison with {_interval} intervals"] = lambda lang, interval=_interval: (
        rankstone.compare_scores(
            _scores({"a": 0.0, "b": 0.1}), interval=interval, lang=lang, **QUICK
        )
    )
for _test in ("t", "wilcoxon", "sign", "mcnemar", "randomisation"):

    def _tested(lang: str, test: str = _test) -> Any:
        scores = _scores({"a": 0.0, "b": 0.1}, n=8 if test == "randomisation" else 40)
        if test == "mcnemar":
            scores = {
                system: {
                    query: {"Success@1": float(value > 0.3)}
                    for query, of in queries.items()
                    for value in of.values()
                }
                for system, queries in scores.items()
            }
        return rankstone.compare_scores(scores, test=test, lang=lang, resamples=200)

    STATES[f"comparison by {_test} test"] = _tested
for _correction in (
    "none", "holm", "bonferroni", "holm_sidak", "sidak", "hochberg", "hommel", "bh", "by",
    "flipped_max_t", "robust_tukey", "tukey", "max_t", "hsd", "nemenyi",
):  # fmt: skip
    STATES[f"comparison corrected by {_correction}"] = (
        lambda lang, correction=_correction: rankstone.compare_scores(
            _scores({"a": 0.0, "b": 0.1, "c": 0.1, "d": 0.3}, measures="nDCG@10 AP"),
            correction=correction,
            lang=lang,
            **QUICK,
        )
    )


@state
def comparison_of_identical_systems(lang: str) -> Any:
    scores = _scores({"a": 0.0})
    return rankstone.compare_scores({"a": scores["a"], "b": scores["a"]}, lang=lang)


@state
def comparison_of_one_query(lang: str) -> Any:
    return rankstone.compare_scores(_scores({"a": 0.0, "b": 0.1}, n=1), lang=lang)


@state
def comparison_of_two_queries(lang: str) -> Any:
    scores = _scores({"a": 0.0, "b": 0.2}, n=2, noise=0.3)
    return rankstone.compare_scores(scores, lang=lang)


@state
def comparison_of_more_queries_than_charts_show(lang: str) -> Any:
    return rankstone.compare_scores(
        _scores({"a": 0.0, "b": 0.01}, n=10_001), lang=lang, **QUICK
    )


@state
def comparison_with_several_levels(lang: str) -> Any:
    scores = _scores(
        {"a": 0.0, "b": 0.03, "c": 0.1, "d": 0.3}, measures="nDCG@10 AP RR"
    )
    return rankstone.compare_scores(scores, correction="bh", lang=lang, **QUICK)


@state
def comparison_with_two_kinds_of_intervals(lang: str) -> Any:
    scores = _scores({"a": 0.0, "b": 0.1}, measures="nDCG@10 AP RR")
    return rankstone.compare_scores(
        scores, correction="bonferroni", primary=["nDCG@10", "AP"], lang=lang, **QUICK
    )


@state
def comparison_by_all_measures_that_pages_explain(lang: str) -> Any:
    measures = "nDCG@10 DCG@10 AP RR P@10 R@10 Success@10 Rprec Bpref Judged@10"
    more = ["F@10", "ERR(max_grade=3)@10", "RBP(p=0.8)", "Q", "AUC(negatives=judged)"]
    return rankstone.compare(
        demo.QRELS, demo.RUNS, [*measures.split(), *more], lang=lang, **QUICK
    )


@state
def comparison_by_another_library(lang: str) -> Any:
    return rankstone.compare(
        demo.QRELS, demo.RUNS, "map", convention="pytrec_eval", lang=lang, **QUICK
    )


def _gate(lang: str, gains: dict[str, float], *rules: Any, **settings: Any) -> Any:
    """Return a gate of saved scores, whose candidate is the second system."""
    baseline, candidate = _scores(gains).values()
    files = {"baseline": baseline, "candidate": candidate, **settings}
    rules = tuple({"measure": "nDCG@10", **rule} for rule in rules)
    return rankstone.gate({**files, "rules": rules}, lang=lang)


@state
def gate_with_rules_of_every_kind(lang: str) -> Any:
    rules = [{"margin": 0.001}, {"floor": 0.2, "ceiling": 0.9}]
    drops = [{"drops": {"by": by}} for by in (0.01, 0.25, 2)]
    gains = {"a": 0.0, "b": 0.0}
    return [
        _gate(lang, gains, *rules, *drops, inconclusive="warn"),
        _gate(lang, {"a": 0.0, "b": -0.3}, {"margin": 0.1, "floor": 0.9}),
        _gate(lang, gains, {"floor": 0.0}, guards={"queries": 41, "judged": 0.5}),
        rankstone.gate(
            {
                **{name: {"q": {"AP": 0.5}} for name in ("baseline", "candidate")},
                "rules": [{"measure": "AP", "margin": 0.1}],
                "statistics": {"interval": "t"},
            },
            lang=lang,
        ),
    ]


@state
def gate_in_segments(lang: str) -> Any:
    queries = {f"q{index}": {"half": str(index % 2)} for index in range(40)}
    settings = {"queries": queries, "by": "half"}
    worst = {"statistics": {"interval": "worst_case"}}
    return _gate(lang, {"a": 0.0, "b": 0.2}, {"margin": 0.2}, **settings, **worst)


@state
def gate_of_judged_runs(lang: str) -> Any:
    demo_files = {"qrels": str(demo.QRELS), "baseline": str(demo.RUNS["bm25"])}
    files = {**demo_files, "candidate": str(demo.RUNS["bm25"])}
    rules = [{"measure": "nDCG@10", "margin": 0.2}]
    unknown = {f"q{index}": {"a": 1} for index in range(20)}
    digest = sha256(Path(demo.QRELS).read_bytes()).hexdigest()
    return [
        rankstone.gate(
            {**files, "rules": rules, "guards": {"qrels_sha256": hashed}}, lang=lang
        )
        for hashed in (digest, "0" * 64)
    ] + [
        rankstone.gate(
            {
                **dict.fromkeys(("qrels", "baseline", "candidate"), unknown),
                "rules": rules,
                "guards": {"qrels_sha256": "0" * 64, "judged": 0.5},
            },
            lang=lang,
        )
    ]


@state
def gate_of_a_corpus(lang: str) -> Any:
    qrels = {f"q{index}": {"a": 1} for index in range(20)}
    files = dict.fromkeys(("qrels", "baseline", "candidate"), qrels)
    rules = [{"measure": "RR", "floor": 0.5}]
    guards = {"not_in_corpus": 0}
    return [
        rankstone.gate(
            {**files, "rules": rules, "guards": guards, "options": options}, lang=lang
        )
        for options in ({"corpus": ["a"]}, {"corpus": ["b"]}, {})
    ] + [
        rankstone.gate(
            {
                **files,
                "queries": {query: {"split": "dev"} for query in qrels},
                "rules": rules,
                "guards": guards,
                "options": {"corpus": ["b"], "split": "dev"},
            },
            lang=lang,
        )
    ]


@state
def comparison_of_few_queries(lang: str) -> Any:
    gains = {name: index / 10 for index, name in enumerate("abcdef")}
    return rankstone.compare_scores(_scores(gains, n=3), lang=lang, **QUICK)


@state
def comparison_of_many(lang: str) -> Any:
    gains = {f"system {index}": index / 40 for index in range(16)}
    return rankstone.compare_scores(_scores(gains), lang=lang, **QUICK)


@state
def comparison_with_a_baseline(lang: str) -> Any:
    gains = {"a": 0.0, "b": 0.1, "c": -0.2, "d": 0.0}
    return rankstone.compare_scores(_scores(gains), baseline="a", lang=lang, **QUICK)


@state
def comparison_of_many_with_a_baseline(lang: str) -> Any:
    gains = {f"s{index}": (index - 8) / 40 for index in range(16)}
    return rankstone.compare_scores(_scores(gains), baseline="s8", lang=lang, **QUICK)


@state
def comparison_with_a_baseline_that_none_is_above(lang: str) -> Any:
    gains = {"a": 0.3, "b": 0.1, "c": -0.2}
    return rankstone.compare_scores(_scores(gains), baseline="a", lang=lang, **QUICK)


@state
def comparison_where_test_and_interval_disagree(lang: str) -> Any:
    data = {"a": {f"q{index}": {"m": 0.0} for index in range(8)}}
    data["b"] = {
        f"q{index}": {"m": value} for index, value in enumerate([0.01] * 7 + [0.5])
    }
    return rankstone.compare_scores(data, interval="auto", lang=lang)


def _pair_of(*values: float) -> dict[str, dict[str, dict[str, float]]]:
    """Return scores of two systems that differ by these values."""
    old = {f"q{index}": {"m": 0.0} for index in range(len(values))}
    return {
        "a": old,
        "b": {f"q{index}": {"m": gain} for index, gain in enumerate(values)},
    }


@state
def comparison_whose_verdict_assumes_more_of_the_same(lang: str) -> Any:
    return rankstone.compare_scores(_pair_of(*[0.01] * 7, 0.5), lang=lang)


@state
def comparison_in_which_few_queries_differ(lang: str) -> Any:
    return rankstone.compare_scores(_pair_of(*[0.0] * 40, 0.2, 0.3, -0.1), lang=lang)


@state
def comparison_whose_interval_ends_at_0(lang: str) -> Any:
    return rankstone.compare_scores(_pair_of(0.0, 0.0, 0.0, 1.0, 0.5, 1.0), lang=lang)


@state
def comparison_with_a_probability(lang: str) -> Any:
    return rankstone.compare_scores(
        _scores({"a": 0.0, "b": 0.05}), rope=0.01, margin=0.1, lang=lang
    )


@state
def comparison_with_queries_left_out(lang: str) -> Any:
    scores = _scores({"a": 0.0, "b": 0.1})
    for index in range(5):
        scores["a"][f"q{index}"]["nDCG@10"] = math.nan
    return rankstone.compare_scores(scores, lang=lang)


@state
def comparison_of_repeated_runs(lang: str) -> Any:
    scores = _scores(
        {
            f"{name}/s{index}": 0.02 * index + 0.03 * (name == "b")
            for name in "ab"
            for index in range(3)
        }
    )
    return rankstone.compare_scores(scores, lang=lang, **QUICK)


@state
def comparison_in_clusters_and_segments(lang: str) -> Any:
    queries = pl.DataFrame(
        {
            "query_id": [f"q{index}" for index in range(40)],
            "user": [index % 8 for index in range(40)],
            "kind": ["x" if index % 2 else "y" for index in range(40)],
        }
    )
    return rankstone.compare_scores(
        _scores({"a": 0.0, "b": 0.1}),
        queries=queries,
        cluster="user",
        by="kind",
        lang=lang,
    )


def _collection(unjudged: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments and the runs of three systems, of which the last has unjudged documents."""
    random = rng(9)
    qrels = {
        f"q{index}": {f"d{i}": int(i < 6) for i in range(30)} for index in range(30)
    }
    runs = {
        name: {
            q: [
                f"d{i}"
                for i in np.argsort(random.random(30) + bias * (np.arange(30) > 5))
            ]
            for q in qrels
        }
        for name, bias in (("a", 0.1), ("b", 0.3), ("c", 0.5))
    }
    for documents in runs["c"].values():
        documents[:unjudged] = [f"x{i}" for i in range(unjudged)]
    return qrels, runs


@state
def comparison_of_runs(lang: str) -> Any:
    return rankstone.compare(
        demo.QRELS, demo.RUNS, "nDCG@10 AP", lang=lang, keep_runs=True, **QUICK
    )


@state
def comparison_of_runs_by_guarded_intervals(lang: str) -> Any:
    return rankstone.compare(
        demo.QRELS,
        demo.RUNS,
        "nDCG@10 AP",
        primary="AP",
        interval="auto",
        lang=lang,
        keep_runs=True,
        **QUICK,
    )


@state
def comparison_of_three_by_guarded_intervals(lang: str) -> Any:
    qrels, runs = _collection()
    return rankstone.compare(qrels, runs, "P@10", interval="auto", lang=lang, **QUICK)


@state
def comparison_with_a_first_place_that_is_open(lang: str) -> Any:
    qrels, runs = _collection()
    runs["b"] = {q: [*d[:9], *d[10:], d[9]] for q, d in runs["a"].items()}
    return rankstone.compare(qrels, runs, "nDCG@10", lang=lang, **QUICK)


@state
def comparison_with_unjudged_documents(lang: str) -> Any:
    qrels, runs = _collection(4)
    return rankstone.compare(qrels, runs, "P@10", lang=lang, **QUICK)


@state
def comparison_of_two_with_unjudged_documents(lang: str) -> Any:
    qrels, runs = _collection(4)
    pair = {name: runs[name] for name in "ac"}
    return rankstone.compare(qrels, pair, "P@10", lang=lang, **QUICK)


@state
def comparison_that_hangs_on_unanswered_queries(lang: str) -> Any:
    qrels, runs = _collection()
    pair = {"old": dict(runs["a"]), "new": dict(runs["a"])}
    for number, (query, documents) in enumerate(runs["a"].items()):
        if number % 3:
            pair["old"][query] = [*documents[1:], documents[0]]
    for query in sorted(qrels)[:8]:
        del pair["new"][query]
    return rankstone.compare(qrels, pair, "nDCG@10", lang=lang, **QUICK)


@state
def comparison_with_excluded_rows(lang: str) -> Any:
    qrels, runs = _collection()
    seen = {query: documents[:1] for query, documents in runs["a"].items()}
    return rankstone.compare(qrels, runs, "P@10", exclude=seen, lang=lang, **QUICK)


@state
def comparison_of_scores_under_other_options(lang: str) -> Any:
    qrels, runs = _collection()
    scores = {
        "a": rankstone.evaluate(qrels, {"a": runs["a"]}, "P@10"),
        "c": rankstone.evaluate(qrels, {"c": runs["c"]}, "P@10", depth=5),
    }
    return rankstone.compare_scores(scores, lang=lang, **QUICK)


@state
def comparison_with_bounds(lang: str) -> Any:
    qrels, runs = _collection(4)
    pair = {name: runs[name] for name in "ac"}
    return rankstone.compare(qrels, pair, "P@10", bounds=True, lang=lang, **QUICK)


@state
def comparison_with_an_unjudged_winner(lang: str) -> Any:
    qrels, runs = _collection()
    for documents in runs["b"].values():
        documents[8:10] = ["x1", "x2"]
    pair = {name: runs[name] for name in "ba"}
    return rankstone.compare(qrels, pair, "nDCG@10", lang=lang, **QUICK)


@state
def comparison_of_many_with_unjudged_documents(lang: str) -> Any:
    qrels, runs = _collection()
    many = {f"s{position}": runs["abc"[position % 3]] for position in range(12)}
    for index, name in enumerate(many):
        many[name] = {
            q: [f"x{index}"] * 0 + [f"x{i}" for i in range(index % 6)] + d
            for q, d in many[name].items()
        }
    return rankstone.compare(qrels, many, "P@10", lang=lang, **QUICK)


@state
def comparison_where_nothing_is_judged(lang: str) -> Any:
    qrels, runs = _collection()
    runs["b"] = {q: ["z1", "z2"] for q in qrels}
    return rankstone.compare(
        qrels, {n: runs[n] for n in "ab"}, "P@10", lang=lang, **QUICK
    )


@state
def comparison_with_a_bad_run(lang: str) -> Any:
    qrels, runs = _collection()
    return rankstone.compare(
        qrels,
        {**runs, "bad": {"nobody asked": ["d1"]}},
        "P@10",
        on_bad_run="skip",
        lang=lang,
        **QUICK,
    )


@state
def comparison_with_missing_queries_ties_and_contradictions(lang: str) -> Any:
    qrels, runs = _collection()
    del runs["a"]["q1"]
    tied = {
        q: {d: float(i // 4) for i, d in enumerate(ds)} for q, ds in runs["b"].items()
    }
    ranked = [
        {"query_id": q, "doc_id": d, "score": float(i), "rank": i + 1}
        for q, documents in runs["c"].items()
        for i, d in enumerate(documents)
    ]
    return rankstone.compare(
        qrels,
        {"a": runs["a"], "b": tied, "c": pl.DataFrame(ranked)},
        "P@10 AP",
        lang=lang,
        **QUICK,
    )


@state
def comparison_with_costs(lang: str) -> Any:
    qrels, runs = _collection()
    random = rng(4)
    priced = {
        name: pl.DataFrame(
            [
                {
                    "query_id": q,
                    "doc_id": d,
                    "rank": i + 1,
                    "cost": float(random.random() * (1 + (name == "a"))),
                }
                for q, documents in run.items()
                for i, d in enumerate(documents)
            ]
        )
        for name, run in runs.items()
    }
    return rankstone.compare(
        qrels, priced, "P@10 Cost(column=cost)", lang=lang, **QUICK
    )


# -- collections and repetitions ---------------------------------------------------------------------------
@state
def collection_of_a_demo(lang: str) -> Any:
    return collection(demo.QRELS, demo.RUNS, "nDCG@10 AP", pool_depth=5, lang=lang)


def _task(
    n: int = 12, spread: float = 0.0, systems: int = 6
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments of a pool, and runs of some systems, alike but for their spread."""
    random = rng(2)
    runs = {
        f"s{index}": {
            f"q{q}": [
                f"d{i}"
                for i in np.argsort(
                    random.random(40) + (0.05 + spread * index) * (np.arange(40) > 5)
                )[:20]
            ]
            for q in range(n)
        }
        for index in range(systems)
    }
    pool = {
        f"q{q}": {
            d: int(int(d[1:]) < 6) for of in runs.values() for d in of[f"q{q}"][:5]
        }
        for q in range(n)
    }
    return pool, runs


@state
def collection_of_six(lang: str) -> Any:
    qrels, runs = _task()
    runs["s5"] = {
        q: ([*documents[-5:], *documents[:-5]]) for q, documents in runs["s0"].items()
    }
    for q, documents in runs["s5"].items():
        qrels[q] |= dict.fromkeys(documents[:3], 1)
    return collection(
        qrels,
        runs,
        "P@5 AP nDCG",
        pool_depth=3,
        lang=lang,
        groups={f"s{index}": f"g{index % 3}" for index in range(6)},
    )


@state
def collection_of_more_groups_than_are_shown_at_first(lang: str) -> Any:
    return collection(*_task(6, systems=11), "P@5", pool_depth=3, lang=lang)


@state
def collection_in_which_no_run_loses(lang: str) -> Any:
    qrels = {f"q{n}": {"a": 1, "x": 0} for n in range(4)}
    lists = {"s": ["a"], "t": ["x", "a"]}
    runs = {name: {q: [*ids] for q in qrels} for name, ids in lists.items()}
    return collection(qrels, runs, "P@2", lang=lang)


@state
def collection_with_a_clear_leader(lang: str) -> Any:
    qrels, runs = _task(30, 0.0)
    runs["s0"] = {q: sorted(d, key=lambda x: int(x[1:])) for q, d in runs["s0"].items()}
    return collection(qrels, runs, "P@5 AP", pool_depth=5, lang=lang)


@state
def collection_in_which_no_group_has_documents_of_its_own(lang: str) -> Any:
    qrels, runs = _task(4)
    alike = dict.fromkeys(("a", "b"), runs["s0"])
    qrels["none"] = {"d1": 0}
    return collection(
        qrels, alike, "P@5 Rprec", pool_depth=5, empty="undefined", lang=lang
    )


ORIGINAL: Final = _task(40, 0.1)
for _left in ("s1", "s2", "s4"):
    del ORIGINAL[1][_left]
AGAIN: Final[dict[str, Any]] = {
    "itself": lambda runs: runs,
    "noise": lambda runs: {
        name: {q: [d[1], d[0], *d[2:]] for q, d in run.items()}
        for name, run in runs.items()
    },
    "less": lambda runs: {
        name: {
            q: sorted(d, key=lambda x: (name != "s5") * int(x[1:]) % 7)
            for q, d in run.items()
        }
        for name, run in runs.items()
    },
    "more": lambda runs: {
        name: {
            q: sorted(d, key=lambda x: int(x[1:]) * (1 if name == "s5" else -1))
            for q, d in run.items()
        }
        for name, run in runs.items()
    },
    "opposite": lambda runs: {
        name: {
            q: sorted(d, key=lambda x: int(x[1:]) * (-1 if name == "s5" else 1))
            for q, d in run.items()
        }
        for name, run in runs.items()
    },
    "others": lambda runs: {"s0": runs["s0"], "s5": runs["s5"], "s9": runs["s3"]},
}
for _name, _change in AGAIN.items():
    for _margin in (None, 0.3) if _name == "noise" else (None,):

        def _reproduced(
            lang: str, change: Any = _change, margin: float | None = _margin
        ) -> Any:
            qrels, runs = ORIGINAL
            return reproduce(
                runs,
                change(runs),
                "P@5 AP",
                qrels=qrels,
                baseline="s0",
                margin=margin,
                lang=lang,
            )

        STATES[f"reproduction of {_name} with margin {_margin}"] = _reproduced


@state
def reproduction_on_other_queries(lang: str) -> Any:
    qrels, runs = ORIGINAL
    others, again = _task(20, 0.05)
    return reproduce(
        runs, again, "P@5 AP", qrels=qrels, qrels_again=others, baseline="s0", lang=lang
    )


@state
def reproduction_of_six(lang: str) -> Any:
    qrels, runs = _task(20, 0.1)
    again = AGAIN["noise"](runs)
    return reproduce(runs, again, "P@5", qrels=qrels, lang=lang)


@state
def reproduction_of_one_run(lang: str) -> Any:
    return reproduce(demo.RUNS["bm25"], demo.RUNS["tfidf"], lang=lang)


@state
def reproduction_of_one_query(lang: str) -> Any:
    qrels, runs = _task(1)
    return reproduce(runs, runs, "P@5", qrels=qrels, baseline="s0", lang=lang)


@state
def reproduction_of_one_query_that_changed(lang: str) -> Any:
    qrels, runs = _task(1)
    return reproduce(
        {"s0": runs["s0"]}, {"s0": runs["s1"]}, "AP", qrels=qrels, lang=lang
    )


@state
def reproduction_of_scores(lang: str) -> Any:
    scores = _scores({"a": 0.0, "b": 0.2, "c": 0.0})
    again = _scores({"a": 0.0, "b": 0.05, "c": 0.3})
    scores["a"]["q1"]["nDCG@10"] = math.nan
    return reproduce(scores, again, scores=True, baseline="a", lang=lang)


# -- stages ------------------------------------------------------------------------------------------------
#: what most of the lost documents of twelve queries are → their ranks in the first step and in the last
LOSSES: Final = {
    "outside the corpus": (None, None),
    "outside the pool": (None, None),
    "below both": (7, 6),
    "demoted": (1, 30),
}
for _loss, _ranks in LOSSES.items():

    def _lost(
        lang: str, loss: str = _loss, ranks: tuple[int | None, int | None] = _ranks
    ) -> Any:
        steps = {}
        for name, rank in zip(("first", "last"), ranks, strict=True):
            docs = [f"x{place}" for place in range(40)]
            if rank is not None:
                docs[rank - 1] = "d"
            steps[name] = {f"q{query}": docs for query in range(12)}
        corpus = ["x1"] if loss == "outside the corpus" else ["d", "x1"]
        qrels = {f"q{query}": {"d": 2} for query in range(12)}
        return rankstone.stages(qrels, steps, k=3, rel=2, corpus=corpus, lang=lang)

    STATES[f"stages where most is {_loss}"] = _lost


@state
def stages_with_answers_and_categories(lang: str) -> Any:
    qrels, runs = _task(12, 0.1)
    answers = {f"q{query}": {"correct": query % 3 == 0} for query in range(11)}
    nothing = {**runs["s1"], "q0": ["x"], "q1": ["y"]}
    return rankstone.stages(
        qrels,
        {"s0": runs["s0"], "s5": runs["s5"], "last": nothing},
        k=5,
        answers=answers,
        corpus=["d1", "d2"],
        queries={f"q{query}": {"kind": query % 2} for query in range(11)},
        by="kind",
        lang=lang,
    )


@state
def stages_of_a_query(lang: str) -> Any:
    qrels, runs = _task(1)
    return rankstone.stages(qrels, {"a": runs["s0"], "b": runs["s1"]}, lang=lang)


@state
def stages_of_needs(lang: str) -> Any:
    golden = [{"id": "q", "query": "x", "hops": [["a", "b"], "c"]}]
    steps = {"bm25": {"q": ["a", "x", "b"]}, "late": {"q": ["x", "b", "a"]}}
    return rankstone.stages(golden, steps, k=2, corpus=["a", "b", "x"], lang=lang)


@state
def stages_that_lose_nothing(lang: str) -> Any:
    run = {"q": ["a"]}
    return rankstone.stages({"q": {"a": 1}}, {"a": run, "b": run}, lang=lang)


# -- abstention --------------------------------------------------------------------------------------------
def _abstained(lang: str, deserving: Any, score: Any, **options: Any) -> Any:
    qrels = {f"q{at}": {"d": int(right)} for at, right in enumerate(deserving)}
    scores = score if isinstance(score, dict) else {"bm25": score}
    runs = {
        name: {f"q{at}": {"d": float(top)} for at, top in enumerate(tops)}
        for name, tops in scores.items()
    }
    return rankstone.abstain(qrels, runs, lang=lang, **options)


def _alternate(n: int, of: int, rights: int) -> Any:
    """Return queries of which so many in every ``of`` deserve an answer."""
    return np.arange(n) % of < rights


#: state → who deserves an answer, and the top scores
_TOPS: Final = {
    "a threshold": (np.arange(80) >= 40, np.arange(80)),
    "answering always": (_alternate(300, 10, 9), np.arange(300) * 7 % 300),
    "never answering": (_alternate(300, 10, 1), np.arange(300) * 7 % 300),
    "even rules": (_alternate(600, 20, 11), np.r_[0, np.full(599, 5)]),
    "no separation": (_alternate(900, 2, 1), np.arange(900) * 7 % 900),
    "distances": (np.arange(80) < 40, np.arange(80)),
    "little data": (_alternate(20, 2, 1), np.arange(20)),
    "a few queries": (_alternate(6, 2, 1), np.arange(6)),
    "one query": ([True], [2.5]),
    "right answers alone": (np.ones(12), np.arange(12)),
    "wrong answers alone": (np.zeros(12), np.arange(12)),
    "mostly right answers": (_alternate(30, 10, 8), np.arange(30) * 7 % 30),
    "several runs": (
        _alternate(40, 2, 1),
        {"bm25": np.arange(40), "dense": np.arange(40) % 7},
    ),
}
for _name, (_deserving, _score) in _TOPS.items():
    STATES[f"abstention with {_name}"] = (
        lambda lang, deserving=_deserving, score=_score: _abstained(
            lang, deserving, score
        )
    )


@state
def abstention_of_declared_queries(lang: str) -> Any:
    table = {f"q{at}": {"answerable": at % 2 == 0} for at in range(24)}
    qrels = {f"q{at}": {"d": 1} if at % 2 == 0 else {} for at in range(24)}
    run = {f"q{at}": {"d" if at % 4 else "e": at % 5 + 1} for at in range(22)}
    return rankstone.abstain(qrels, run, queries=table, lang=lang, k=2)


# -- slices ------------------------------------------------------------------------------------------------
QUERIES: Final = pl.DataFrame(
    {
        "query_id": [f"q{index}" for index in range(300)],
        "text": [
            f"what is {index % 50} " + "word " * (index % 7) for index in range(300)
        ],
        "language": ["de" if index % 4 == 0 else "en" for index in range(300)],
        "code": ["x" if index % 4 == 0 else "y" for index in range(300)],
        "same": ["all"] * 300,
        "free": [f"v{index}" for index in range(300)],
        "size": [index * 37 % 100 for index in range(300)],
    }
)


def _sliced(
    lang: str, gap: float, *systems: str, lost: bool = False, **options: Any
) -> Any:
    random = rng(8)
    old = random.random(300) / 2
    in_slice = np.arange(300) % 4 == 0
    new = old + random.normal(0, 0.05, 300) + gap * in_slice
    values = {"query_id": QUERIES["query_id"], "old": old, "new": new}
    table = pl.DataFrame(values).select("query_id", *systems)
    if lost:
        table = table.with_columns(
            new=pl.when(pl.col("query_id") == "q7").then(None).otherwise(pl.col("new"))
        )
    if len(systems) == 1:
        table = table.rename({"new": "value"}).with_columns(
            run=pl.lit("new"), measure=pl.lit("m")
        )
    return slices_of_scores(
        table, queries=QUERIES, lang=lang, permutations=1000, **options
    )


for _gap in (-0.3, 0.0, 0.3):
    for _systems in (("old", "new"), ("new",)):
        for _against in ("rest", "zero") if len(_systems) > 1 else ("rest",):
            STATES[
                f"slices of {' and '.join(_systems)} against {_against} with gap {_gap}"
            ] = lambda lang, gap=_gap, systems=_systems, against=_against: _sliced(
                lang, gap, *systems, against=against, lost=len(systems) > 1
            )
for _margin in (0.0005, 0.02, 0.5):
    STATES[f"slices with margin {_margin}"] = lambda lang, margin=_margin: _sliced(
        lang, 0.0, "old", "new", margin=margin
    )


@state
def slices_of_one_difference(lang: str) -> Any:
    table = {"query_id": QUERIES["query_id"], "old": rng(8).random(300)}
    scores = pl.DataFrame(table).with_columns(new=pl.col("old") + 0.02)
    return slices_of_scores(scores, queries=QUERIES, lang=lang, permutations=200)


@state
def slices_of_more_gaps_than_are_shown_at_first(lang: str) -> Any:
    kind = np.arange(300) % 8
    old = rng(8).random(300)
    new = old + np.where(kind % 2, -0.5, 0.5) + rng(9).normal(0, 0.01, 300)
    names = {"query_id": QUERIES["query_id"]}
    scores = pl.DataFrame({**names, "old": old, "new": new})
    queries = pl.DataFrame({**names, "kind": [f"k{number}" for number in kind]})
    return slices_of_scores(scores, queries=queries, lang=lang, permutations=200)


@state
def slices_of_a_gap_that_just_shows(lang: str) -> Any:
    return _sliced(lang, -0.025, "old", "new")


@state
def slices_of_a_log(lang: str) -> Any:
    random = rng(3)
    log = pl.DataFrame(
        {
            "user_id": [f"u{index}" for index in range(400)],
            "variant": [f"v{index % 2}" for index in range(400)],
            "value": random.normal(0, 1, 400)
            + 2 * (np.arange(400) % 6 < 2) * (np.arange(400) % 2),
            "device": ["phone" if index % 6 < 2 else "desk" for index in range(400)],
        }
    )
    return slices_of_log(log, "value", by="variant", lang=lang)


# -- explanations ------------------------------------------------------------------------------------------
@cache
def _explained() -> list[Any]:
    """Return explanations of all measures, as ``explain_queries`` makes them in every language."""
    results = []
    for text in (*OF_JUDGMENTS, "FullRecall@1"):
        measure: Any = rankstone.parse_measure(text)
        world = small_world(measure, 4, seed=7, ties=True)
        options: dict[str, Any] = {**world.options, **world.tables(measure)}
        results += explain_queries(
            world.judgments, world.run, measure, worst=2, **options
        )
    return results


@state
def explanations_of_all_measures(lang: str) -> Any:
    return [replace(result, lang=lang) for result in _explained()]


@cache
def _similarity() -> Any:
    first = {
        "q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0},
        "r": {"a": 1.0},
        "t": {f"d{index}": float(index) for index in range(30)},
    }
    second = {
        "q": {"b": 3.0, "a": 2.0, "e": 1.0},
        "s": {"a": 1.0},
        "t": {f"d{index}": float(-index) for index in range(30)},
    }
    return rankstone.diff(first, second, list(OF_TWO))


@state
def derivations_of_two_rankings(lang: str) -> Any:
    return [
        _similarity().explain(text, query, lang=lang)
        for text in OF_TWO
        for query in "qrst"
    ]


@cache
def _beyond() -> Any:
    drawn = beyond_world(np.random.default_rng(0))
    there = {None, *groups(drawn)}
    texts = [
        text
        for text in OF_LISTS
        if getattr(rankstone.parse_measure(text), "protected", None) in there
    ]
    return drawn.beyond(texts)


@state
def derivations_of_whole_lists(lang: str) -> Any:
    scores = _beyond()
    results = []
    for measure in scores.measures:
        users = scores.per_query.filter(measure=str(measure))["query_id"].head(1)
        results += [
            scores.explain(measure, user, lang=lang)
            for user in users.to_list() or [None]
        ]
    return results


LIST: Final = {"q": [f"d{i}" for i in range(60)], "r": ["d1", "d1", "d2", "x"]}
JUDGED: Final = {
    "q": {f"d{i}": int(i % 5 == 0) * 2 for i in range(50)}
    | {"m1": 2, "m2": 0, "neg": -1},
    "r": {"d1": 1, "d2": 1},
    "none": {"d1": 0},
    "away": {"d1": 1},
    "one": {"d1": 1, "d2": 1},
}
EXPLAINED: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "what would change it": ("nDCG@5", "q", {}),
    "other libraries": ("nDCG@5", "q", {"libraries": True}),
    "another library": ("ndcg@5", "q", {"convention": "xgboost"}),
    "a long list": ("AP", "q", {}),
    "a pool": ("AP", "q", {"pool": "list"}),
    "imputed grades": ("AP", "q", {"unjudged": "query_mean"}),
    "copies": ("AP", "r", {"duplicates": "first_keep_rank"}),
    "copies dropped": ("AP", "r", {"duplicates": "first_drop"}),
    "no relevant document": ("nDCG@5", "none", {}),
    "no value": ("AP", "none", {"empty": "undefined"}),
    "left out": ("AP", "none", {"empty": "drop"}),
    "no list": ("AP", "away", {}),
    "a ratio of sums": ("F(agg=pooled)@5", "q", {}),
    "a function of the ratio": ("GMAP", "q", {}),
    "a curve": ("PR", "q", {}),
    "texts": (
        "AP",
        "r",
        {
            "documents": {"doc_id": ["d1", "x"], "text": ["one", "two"]},
            "duplicates": "first_drop",
        },
    ),
    "a budget": (
        "R@tokens(60)",
        "q",
        {"documents": {"doc_id": LIST["q"], "tokens": [20] * 60}},
    ),
    "copies that are kept": ("RR", "r", {"duplicates": "keep"}),
    "a maximum that is not proven": (
        "RC(weight=hyperbolic, weight_on=ideal, combine=multiply)",
        "q",
        {},
    ),
    "copies under a rule": (
        "AP",
        "r",
        {"duplicates": "first_keep_rank", "pool": "list"},
    ),
}
for _name, (_text, _query, _options) in EXPLAINED.items():
    STATES[f"explanation of {_name}"] = (
        lambda lang, text=_text, query=_query, options=_options: rankstone.explain(
            JUDGED, LIST, text, query, lang=lang, **options
        )
    )


@state
def explanation_of_chunks(lang: str) -> Any:
    chunks = {"q": [f"d#{index}" for index in range(9)] + ["e#1", "d#1"]}
    return rankstone.explain(
        {"q": {"d": 1, "e": 1}},
        chunks,
        "AP",
        "q",
        unit="document",
        lang=lang,
        duplicates="first_drop",
    )


@state
def explanation_of_ties(lang: str) -> Any:
    run = {"q": dict.fromkeys("abcd", 1.0)}
    return rankstone.explain(
        {"q": {"a": 2, "b": 1}}, run, "nDCG", "q", ties="expected", lang=lang
    )


@state
def explanation_of_a_failure(lang: str) -> Any:
    records = Path(mkdtemp()) / "run.jsonl"
    rows = [
        {"query_id": "q1", "doc_id": "a", "score": 1.0},
        {"query_id": "q2", "error": "timeout"},
    ]
    records.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rankstone.explain(
        {"q1": {"a": 1}, "q2": {"a": 1}}, records, "R@5", "q2", lang=lang
    )


@state
def explanation_of_a_difference_in_the_last_step(lang: str) -> Any:
    first, other = {"q": ["a", "b"]}, {"q": ["b", "a"]}
    return rankstone.explain(
        {"q": {"a": 1}}, first, "yaap", "q", versus=other, lang=lang
    )


@state
def explanation_of_a_difference(lang: str) -> Any:
    other = {q: d[::-1] for q, d in LIST.items() if q == "q"}
    return rankstone.explain(
        JUDGED, {"q": LIST["q"]}, "nDCG", "q", versus=other, lang=lang
    )


# -- retention and curves, which have pages and charts ------------------------------------------------------
def _logins(users: int = 60, days: int = 12) -> dict[str, list[Any]]:
    random = rng(6)
    rows = [
        (f"u{u}", f"{date(2024, 1, 1) + timedelta(u % days + d)}", "xy"[u % 2])
        for u in range(users)
        for d in range(days)
        if d == 0 or random.random() < (0.2 + 0.4 * (u % 2)) / (1 + d / 4)
    ]
    names = ("user_id", "time", "device")
    return {
        name: list(column)
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


for _unit in ("day", "week", "month"):
    for _kind in ("exact", "rolling", "bracket"):
        STATES[f"retention by {_unit} {_kind}"] = lambda _, unit=_unit, kind=_kind: (
            online.retention(
                _logins(), "1..2" if kind == "bracket" else "1,2", unit=unit, kind=kind
            )
        )


@state
def retention_of_many_cohorts(_: str) -> Any:
    return online.retention(_logins(200, 100), "1,7", unit="day")


@state
def retention_by_month_over_years(_: str) -> Any:
    times = [f"{2020 + index // 12}-{index % 12 + 1:02}-03" for index in range(36)]
    rows = [
        (f"u{u}", times[index])
        for u in range(30)
        for index in range(u % 6, 36, 1 + u % 3)
    ]
    log = {"user_id": [u for u, _ in rows], "time": [time for _, time in rows]}
    return online.retention(log, "1,2", unit="month")


@state
def retention_of_segments(_: str) -> Any:
    return online.retention(_logins(), "1,7", by="device")


@state
def retention_of_a_day(_: str) -> Any:
    return online.retention({"user_id": ["a"], "time": ["2024-01-01"]}, "1")


@state
def curves_of_all_kinds(_: str) -> Any:
    return rankstone.curve(
        demo.QRELS, demo.RUNS, "PR ROC(negatives=judged) nDCG@1..5", resamples=50
    )


@state
def bounds_of_a_pair(_: str) -> Any:
    qrels, runs = _collection(4)
    pair = {name: runs[name] for name in "ac"}
    return rankstone.bounds(qrels, pair, "P@10", difference=("c", "a"))


@state
def bounds_that_are_certain(_: str) -> Any:
    qrels, runs = _collection()
    pair = {name: runs[name] for name in "ac"}
    return rankstone.bounds(qrels, pair, "P@10", difference=("c", "a"))


@state
def bounds_that_are_equal(_: str) -> Any:
    qrels, runs = _collection()
    pair = {"a": runs["a"], "b": runs["a"]}
    return rankstone.bounds(qrels, pair, "P@10", difference=("b", "a"))


#: states that are shown as pages, too, and as charts: these reach all that pages and charts say
PAGED: Final = {
    "BeyondScores of a few queries",
    "Bounds of a few queries",
    "Comparison of a few queries",
    "PairedBoard of a few queries",
    "Reproduction of a few queries",
    "Slices of a few queries",
    "board by borda",
    "board by geometric_mean",
    "board by mean_rank",
    "board by win_rate",
    "board of data sets and queries",
    "board of queries",
    "board with holes by worst",
    "board with weights",
    "bounds of a pair",
    "bounds that are certain",
    "bounds that are equal",
    "collection of a demo",
    "comparison by all measures that pages explain",
    "comparison by another library",
    "comparison corrected by hsd",
    "comparison corrected by max_t",
    "comparison corrected by nemenyi",
    "comparison corrected by none",
    "comparison corrected by tukey",
    "comparison corrected by robust_tukey",
    "comparison in clusters and segments",
    "comparison in which few queries differ",
    "comparison of few queries",
    "comparison where test and interval disagree",
    "comparison whose verdict assumes more of the same",
    "comparison with a first place that is open",
    "comparison of identical systems",
    "comparison of runs by guarded intervals",
    "comparison of three by guarded intervals",
    "comparison of many with a baseline",
    "comparison of many with unjudged documents",
    "comparison of one query",
    "comparison of repeated runs",
    "comparison of two equivalent",
    "comparison of two higher",
    "comparison of two lower",
    "comparison where nothing is judged",
    "comparison with a bad run",
    "comparison with a baseline",
    "comparison with a baseline that none is above",
    "comparison with an unjudged winner",
    "comparison with bounds",
    "comparison with costs",
    "comparison with missing queries ties and contradictions",
    "comparison with queries left out",
    "comparison with unjudged documents",
    "curves of all kinds",
    "reproduction on other queries",
    "stages where most is demoted",
    "stages of needs",
    "stages with answers and categories",
    "retention by month bracket",
    "retention by week bracket",
    "retention of segments",
    "slices of a log",
    "slices of old and new against zero with gap -0.3",
    "abstention with a threshold",
    "abstention with several runs",
    "comparison of scores under other options",
    "comparison that hangs on unanswered queries",
    "comparison with excluded rows",
}
CHARTED: Final = {
    "battles by davidson",
    "board by mean_rank",
    "collection of a demo",
    "comparison corrected by holm",
    "comparison corrected by robust_tukey",
    "comparison in clusters and segments",
    "comparison of more queries than charts show",
    "comparison of runs",
    "comparison of two better",
    "curves of all kinds",
    "retention by day exact",
    "retention by day bracket",
    "retention by month over years",
    "retention by week rolling",
    "retention of many cohorts",
    "slices of old and new against rest with gap -0.3",
    "slices of old and new against rest with gap 0.0",
}
assert STATES.keys() >= PAGED | CHARTED


# -- assessors, and numbers of others ------------------------------------------------------------------------
def _assigned(*words: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what an assessor assigned: of each question a word for each nugget."""
    return nuggets(
        [
            {
                "qid": f"q{number}",
                "nuggets": [
                    {
                        "id": f"{number}.{place}",
                        "importance": "vital",
                        "assignment": word,
                    }
                    for place, word in enumerate(of.split())
                ],
            }
            for number, of in enumerate(words)
        ]
    )


@state
def assessors_who_differ_on_many_items(_: str) -> Any:
    first = _assigned("support " * 12, "support not_support")
    second = _assigned("not_support " * 12)
    return compare_assessors({"human": first, "model": second}, "Support")


@state
def identification_of_numbers_of_every_kind(_: str) -> Any:
    """Identify numbers of the run, of another, perhaps of another, of either; cut off, of rounded terms, of none."""
    qrels, runs = demo.QRELS, demo.RUNS
    other = dict(reversed(runs.items()))
    twice = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}
    copies = [("q1", "a", 3.0), ("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", "a", 1.0)]
    again = pl.DataFrame(copies, ["query_id", "doc_id", "score"], orient="row")
    alike = {"q1": ["x", "a"], "q2": ["a"]}
    judgments = [("q1", "a", 1), ("q1", "a", 2), ("q2", "a", 1)]
    judged_again = pl.DataFrame(
        judgments, ["query_id", "doc_id", "relevance"], orient="row"
    )
    grades = (5, 3, 2, 1, 2, 4, 0)
    listed = {"q": [f"d{place}" for place in range(5)]}
    judged = {"q": {f"d{place}": grade for place, grade in enumerate(grades)}}
    return [
        rankstone.identify(qrels, runs, "0.5704", "nDCG@10"),
        rankstone.identify(qrels, other, "0.5704", "nDCG@10"),
        rankstone.identify(qrels, runs, "0.29", "nDCG@10"),
        rankstone.identify(qrels, other, "0.29", "nDCG@10"),
        rankstone.identify(qrels, runs, "0.4132", "nDCG@10"),
        rankstone.identify(qrels, runs["bm25"], "0.57", "nDCG@10"),
        rankstone.identify(qrels, other, "0.52", "AP"),
        rankstone.identify(qrels, runs["bm25"], "0.570437321009", "nDCG@10"),
        rankstone.identify(judged, listed, "0.827", "nDCG(gain=exp2)@5"),
        rankstone.identify(
            judged_again, alike, "0.75", "RR", duplicate_judgments="max"
        ),
        rankstone.identify(qrels, runs["bm25"], "0.57", "ndcg_cut_10"),
        rankstone.identify(twice, {"a": alike, "b": dict(alike)}, "0.75", "RR"),
        rankstone.identify(twice, again, "0.8", "nDCG", duplicates="first_keep_rank"),
    ]


@state
def scores_with_missing_queries(_: str) -> Any:
    return rankstone.evaluate(demo.QRELS, demo.RUNS, "nDCG@10 AP")
