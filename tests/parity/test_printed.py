"""Numbers that others printed: trec_eval's own expected outputs, and a published leaderboard."""

from __future__ import annotations

import csv
import re
from typing import Any

import pytest
from tests.parity.peers import lines
from tests.real_data import data

import rankstone

pytestmark = pytest.mark.parity

#: trec_eval's names whose text our parser does not take as it stands
SPELT = {"set_F": "F"}
KNOWN = re.compile(
    r"^(map|gm_map|Rprec|recip_rank|ndcg|set_P|set_recall|set_F|num_ret|num_rel|num_rel_ret"
    r"|(P|recall|ndcg_cut|map_cut|success)_\d+)$"
)
#: output, judgments, run, trec_eval's options in our words
OUTPUTS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("out.test", "qrels.test", "results.test", {"missing": "drop"}),
    ("out.test", "qrels.test.with-comments", "results.test", {"missing": "drop"}),
    (
        "out.comment.test",
        "qrels.comment.test.gz",
        "results.comment.test.gz",
        {"missing": "drop"},
    ),
    ("out.test.a", "qrels.test", "results.test", {"missing": "drop"}),
    ("out.test.aq", "qrels.test", "results.test", {"missing": "drop"}),
    ("out.test.aqc", "qrels.test", "results.trunc", {}),
    ("out.test.aqcM", "qrels.test", "results.trunc", {"depth": 100}),
    ("out.test.aql", "qrels.rel_level", "results.test", {"missing": "drop"}),
]


def our_text(name: str, level: int) -> str:
    """Return our text of a measure, relevant from ``level`` up unless it is graded."""
    measure = rankstone.parse_measure(SPELT.get(name, name))
    text = str(measure)
    if level == 1 or text.startswith(("nDCG", "NumRet")):
        return text
    bare, position, cut = text.partition("@")
    head, bracket, inside = bare.partition("(")
    inside = f"rel={level}, {inside}" if bracket else f"rel={level})"
    return f"{head}({inside}{position}{cut}"


@pytest.mark.parametrize(("output", "judgments", "run", "options"), OUTPUTS)
def test_what_trec_eval_prints(
    output: str, judgments: str, run: str, options: dict[str, Any]
) -> None:
    """Every printed digit of every measure we have, per query and over all."""
    folder = data("trec_eval-fixtures")
    level = 2 if output.endswith("aql") else 1
    printed = {
        (name, query): text
        for name, query, text, *_ in lines(folder / output)
        if KNOWN.match(name)
    }
    names = {name: our_text(name, level) for name, _ in printed}
    assert len(names) >= 10
    scored = rankstone.evaluate(
        folder / judgments, folder / run, list(names.values()), **options
    )
    values = {
        (m, q): v
        for m, q, v in scored.per_query.select(
            "measure", "query_id", "value"
        ).iter_rows()
    }
    values |= {
        (m, "all"): v for m, v in scored.to_dict()[next(iter(scored.runs))].items()
    }
    wrong = []
    for (name, query), text in printed.items():
        value = values[str(rankstone.parse_measure(names[name])), query]
        shown = f"{value:.4f}" if "." in text else f"{value:.0f}"
        if shown != text:
            wrong.append(f"{name} {query}: printed {text}, rankstone {shown}")
    assert not wrong


def test_measure_parameters() -> None:
    """trec_eval -m ndcg.1=3,2=9,4=4.5 is a gain table; cutoffs may be any number."""
    folder = data("trec_eval-fixtures")
    names = {"ndcg_1=3,2=9,4=4.5": "nDCG(gain={1: 3, 2: 9, 4: 4.5})"} | {
        name: our_text(name, 1)
        for name in (
            "P_3",
            "P_5",
            "P_7",
            "recall_20",
            "recall_2000",
            "ndcg_cut_10",
            "ndcg_cut_20",
            "success_2",
            "success_5",
            "success_20",
        )
    }
    scored = rankstone.evaluate(
        folder / "qrels.test", folder / "results.test", list(names.values())
    )
    values = {
        (m, q): v
        for m, q, v in scored.per_query.select(
            "measure", "query_id", "value"
        ).iter_rows()
    }
    met = set()
    for name, query, text, *_ in lines(folder / "out.test.meas_params"):
        if name in names and query != "all":
            assert f"{values[names[name], query]:.4f}" == text, (name, query)
            met.add(name)
    assert met == set(names)


#: the leaderboard's column, our measure, and who comes first among equal scores
LEADERBOARD = {
    "ndcg@10": ("nDCG@10", "docid_desc"),
    "P@5": ("P@5", "docid_desc"),
    "map": ("AP", "docid_desc"),
    "J@5": ("Judged@5", "docid_asc"),
    "J@10": ("Judged@10", "docid_asc"),
    "J@1000": ("Judged@1000", "docid_asc"),
}


@pytest.mark.parametrize("ties", ["docid_desc", "docid_asc"])
def test_the_trec_covid_leaderboard(ties: str) -> None:
    """All digits of twelve runs of TREC-COVID round 3.

    Two programs made that table: trec_eval breaks ties by descending document id, the script behind
    the judged shares by ascending id.
    """
    folder = data("trec-covid-r3")
    columns = {
        column: text for column, (text, rule) in LEADERBOARD.items() if rule == ties
    }
    ready = rankstone.Prepared(
        folder / "qrels.covid-round3.txt",
        list(columns.values()),
        ties=ties,  # type: ignore[arg-type]
    )
    with (folder / "leaderboard.csv").open() as file:
        table = {row["run"]: row for row in csv.DictReader(file)}
    runs = sorted((folder / "runs").glob("*.gz"))
    assert len(runs) == 12
    for path in runs:
        row = table[path.name.removesuffix(".gz")]
        value = ready.evaluate({"run": path}).to_dict()["run"]
        assert {c: row[c] for c in columns} == {
            c: f"{value[text]:.4f}" for c, text in columns.items()
        }


def test_the_leaderboard_needs_both_rules() -> None:
    """Under one rule for ties the judged shares of two of the twelve runs come out otherwise."""
    folder = data("trec-covid-r3")
    with (folder / "leaderboard.csv").open() as file:
        table = {row["run"]: row["J@10"] for row in csv.DictReader(file)}
    ready = rankstone.Prepared(folder / "qrels.covid-round3.txt", "Judged@10")
    other = [
        name.name
        for name in sorted((folder / "runs").glob("*.gz"))
        if f"{ready.evaluate({'run': name}).to_dict()['run']['Judged@10']:.4f}"
        != table[name.name.removesuffix(".gz")]
    ]
    assert other == ["UPrrf20lgbert50-r3.gz", "factum-sparse.gz"]
