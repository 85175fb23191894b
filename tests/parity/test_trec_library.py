"""Every number of trec_eval 9.0.8, its own functions called: summaries, preferences, judgment groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.oracle.worlds import close

import rankstone
from rankstone.conventions.trec_eval.line_values import PreparedLines, Results
from rankstone.conventions.trec_eval.output_lines import (
    TrecLine,
    lines_of,
    requested_measures,
)
from rankstone.conventions.trec_eval.program import TrecJudgments
from rankstone.conventions.trec_eval.trec_settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parity
pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed: make parity")
library = pytest.importorskip("tests.parity.trec_eval_library")

WORLDS = 300
DOCS = [f"d{index}" for index in range(24)] + ["é", "\uff5e", "\U0001d51e", "D3"]
PLAIN = [
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "gm_map",
    "Rprec",
    "recip_rank",
    "iprec_at_recall",
    "P.1,3,10",
    "recall.2,7",
    "Rprec_mult.0.05,0.5,1.0,2.5",
    "11pt_avg",
    "binG",
    "G",
    "ndcg",
    "ndcg_rel",
    "Rndcg",
    "ndcg_cut.1,4",
    "map_cut.3,9",
    "relative_P.2,8",
    "success.1,4",
    "set_P",
    "set_relative_P",
    "set_recall",
    "set_map",
    "set_F.0.3",
    "num_nonrel_judged_ret",
    "yaap",
]
GROUPS = ["num_q", "map_avgjg", "P_avgjg.1,4", "Rprec_mult_avgjg.0.3,1.0,1.7"]
PREFERENCES = [
    f"prefs_{name}{suffix}"
    for name in ("simp", "pair", "avgjg")
    for suffix in ("", "_ret", "_imp")
] + [
    "prefs_avgjg_Rnonrel",
    "prefs_avgjg_Rnonrel_ret",
    "prefs_num_prefs_poss",
    "prefs_num_prefs_ful",
    "prefs_num_prefs_ful_ret",
    "num_q",
]


@dataclass
class Files:
    """Judgments and a run, written down."""

    folder: Path
    rng: np.random.Generator

    def write(self, form: str) -> tuple[Path, Path]:
        """Draw a small world in one of the formats of judgments."""
        queries = [library.fresh_id("q") for _ in range(int(self.rng.integers(1, 5)))]
        judged = [line for query in queries for line in self._judgments(query, form)]
        answered = [query for query in queries if self.rng.random() < 0.8] or queries[
            :1
        ]
        ranked = [
            line
            for query in [*answered, library.fresh_id("x")]
            for line in self._list(query)
        ]
        qrels, run = self.folder / "qrels.txt", self.folder / "run.txt"
        qrels.write_text("".join(judged), "utf-8")
        run.write_text("".join(ranked), "utf-8")
        return qrels, run

    def draw_documents(self, most: int) -> list[str]:
        """Draw documents."""
        return [
            str(doc)
            for doc in self.rng.permutation(DOCS)[: int(self.rng.integers(1, most + 1))]
        ]

    def _judgments(self, query: str, form: str) -> list[str]:
        top = int(self.rng.choice([1, 2, 4]))
        if form == "qrels":
            grades = {
                doc: int(self.rng.integers(-2, top + 1))
                for doc in self.draw_documents(len(DOCS))
            }
            grades.setdefault("d1", 0)
            grades["d1"] = max(
                grades["d1"], 0
            )  # where all grades are negative trec_eval reads foreign memory
            return [f"{query} 0 {doc} {grade}\n" for doc, grade in grades.items()]
        groups = [f"u{index}" for index in range(int(self.rng.integers(1, 4)))]
        if form != "prefs":
            return [
                f"{query} {group} {doc} {int(self.rng.integers(0, top + 1))}\n"
                for group in groups
                for doc in self.draw_documents(len(DOCS))
            ]
        return [line for group in groups for line in self._comparisons(query, group)]

    def _comparisons(self, query: str, group: str) -> list[str]:
        """Draw subgroups whose levels agree with one order of the documents, so that none contradicts."""
        order = {doc: level for level, doc in enumerate(self.rng.permutation(DOCS))}
        irrelevant = int(self.rng.integers(0, len(DOCS)))
        coarse = int(self.rng.choice([1, 3, 8]))
        return [
            f"{query} {group} s{part} {doc} {max(order[doc] // coarse - irrelevant // coarse, 0)}.0\n"
            for part in range(int(self.rng.choice([1, 1, 2, 3])))
            for doc in self.draw_documents(9)
        ]

    def _list(self, query: str) -> list[str]:
        digits = int(self.rng.integers(0, 9))
        return [
            f"{query} Q0 {doc} 1 {round(float(self.rng.normal()), digits)!r} tag\n"
            for doc in self.draw_documents(len(DOCS))
        ]


def ours(
    qrels: Path, run: Path, names: list[str], **options: Any
) -> tuple[Results, list[TrecLine], Settings]:
    """Return what our program makes of files and options, before it is printed."""
    settings = Settings(version=9, **options)
    requested, _ = requested_measures(names, 9)
    judgments = TrecJudgments.of(qrels, settings)
    lines = lines_of(requested, settings, judgments.grades)
    return PreparedLines(judgments.table, lines, settings)(run), lines, settings


def disagreements(
    qrels: Path, run: Path, names: list[str], **options: Any
) -> list[str]:
    """Return a line for every number that we do not have to 1e-12, per query and over all."""
    texts = {
        "level": "level",
        "depth": "depth",
        "complete": "complete",
        "judged_only": "judged_only",
        "collection": "collection",
        "judgments": "judgments",
    }
    theirs, total = library.trec_eval_9(
        qrels, run, names, **{texts[name]: v for name, v in options.items()}
    )
    results, lines, settings = ours(qrels, run, names, **options)
    assert results.queries == sorted(theirs, key=str.encode)
    wrong = []
    for line in lines:
        pairs = [("all", total[line.name], results.total(line, settings))]
        if line.measure is not None:
            pairs += [
                (
                    query,
                    theirs[query][line.name],
                    float(results.values[line.name][index]),
                )
                for index, query in enumerate(results.queries)
            ]
        for query, expected, result in pairs:
            nothing = math.isnan(expected) and _has_no_number(line.trec.name, options)
            if not nothing and not close(expected, result, 1e-12):
                wrong.append(
                    f"{line.name} {query}: trec_eval {expected!r}, rankstone {result!r} {options}"
                )
    return wrong


def _has_no_number(name: str, options: dict[str, Any]) -> bool:
    """Say where trec_eval divides nothing by nothing, which counts 0 here.

    Interpolated precision of a list that -J has emptied, and Rndcg under -l 0 of a query without gain.
    """
    hollow = name in ("iprec_at_recall", "11pt_avg") and options.get(
        "judged_only", False
    )
    return hollow or (name == "Rndcg" and options.get("level") == 0)


def test_plain_judgments(tmp_path: Path) -> None:
    """All measures of plain judgments under any of -l, -M, -J, -c, with geometric means and sums."""
    rng = np.random.default_rng(20)
    files = Files(tmp_path, rng)
    wrong = []
    for _ in range(WORLDS):
        qrels, run = files.write("qrels")
        options: dict[str, Any] = {
            "level": int(rng.integers(0, 4)),
            "complete": bool(rng.integers(0, 2)),
        }
        if rng.random() < 0.4:
            options["depth"] = int(rng.integers(1, 9))
        if rng.random() < 0.3:
            options["judged_only"] = True
        wrong += disagreements(qrels, run, PLAIN, **options)
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:10]])


def test_utility_with_a_collection(tmp_path: Path) -> None:
    """Coefficients and -N: what was not shown has its price."""
    rng = np.random.default_rng(21)
    files = Files(tmp_path, rng)
    for _ in range(60):
        qrels, run = files.write("qrels")
        prices = ",".join(str(round(float(price), 2)) for price in rng.normal(size=4))
        assert not disagreements(
            qrels, run, [f"utility.{prices}"], collection=1000, level=2
        )


def test_judgment_groups(tmp_path: Path) -> None:
    """Means over judgment groups, -R qrels_jg."""
    rng = np.random.default_rng(22)
    files = Files(tmp_path, rng)
    wrong = []
    for _ in range(WORLDS):
        qrels, run = files.write("qrels_jg")
        options: dict[str, Any] = {
            "judgments": "qrels_jg",
            "level": int(rng.integers(1, 3)),
        }
        if rng.random() < 0.4:
            options["depth"] = int(rng.integers(1, 9))
        wrong += disagreements(qrels, run, GROUPS, **options)
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:10]])


@pytest.mark.parametrize("form", ["qrels_prefs", "prefs"])
def test_preferences(form: str, tmp_path: Path) -> None:
    """All preference measures, with one level of groups and with subgroups."""
    rng = np.random.default_rng(23)
    files = Files(tmp_path, rng)
    wrong = []
    for _ in range(WORLDS):
        qrels, run = files.write(form)
        options: dict[str, Any] = {
            "judgments": form,
            "complete": bool(rng.integers(0, 2)),
        }
        if rng.random() < 0.4:
            options["depth"] = int(rng.integers(1, 9))
        wrong += disagreements(qrels, run, PREFERENCES, **options)
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong[:10]])


def test_a_tie_at_the_fourth_decimal(tmp_path: Path) -> None:
    """100 lists of 200 with 665 relevant documents: 0.03325, which falls as the sum was rounded."""
    values = [index * 5 % 14 for index in range(99)]
    ids = [library.fresh_id("q") for _ in range(100)]
    counts = dict(zip(ids, [*values, 665 - sum(values)], strict=True))
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text(
        "".join(
            f"{q} 0 d{index} 1\n"
            for q, many in counts.items()
            for index in range(many or 1)
        )
    )
    run.write_text(
        "".join(
            f"{q} Q0 {'d' if index < many else 'x'}{index} 1 {-index} r\n"
            for q, many in counts.items()
            for index in range(200)
        )
    )
    _, theirs = library.trec_eval_9(qrels, run, ["set_P"])
    ours = rankstone.evaluate(qrels, run, "set_P", convention="trec_eval-9").to_dict()[
        "run"
    ]
    assert f"{ours['set_P']:.4f}" == f"{theirs['set_P']:.4f}"
    assert (
        f"{theirs['set_P']:.4f}"
        != f"{math.fsum(many / 200 for many in counts.values()) / 100:.4f}"
    )
