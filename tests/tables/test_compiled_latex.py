"""What results write as LaTeX is compiled by a real LaTeX, with names that mean something to it."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import rankstone
from rankstone import demo

if TYPE_CHECKING:
    from pathlib import Path

HEAD = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath,booktabs}
\usepackage[a3paper,margin=1cm]{geometry}
\begin{document}
"""
NAMES = [r"a_b & 50 % #1 {x} ~^\input{secret}", "bm25", "tfidf"]


def compiled(tmp_path: Path, *parts: str) -> str:
    """Compile a document of some parts, and return its text."""
    if shutil.which("pdflatex") is None or shutil.which("pdftotext") is None:
        pytest.skip(
            "pdflatex or pdftotext is missing: apt-get install texlive-latex-recommended poppler-utils"
        )
    (tmp_path / "paper.tex").write_text(
        HEAD + "\n\\newpage\n".join(parts) + "\n\\end{document}\n", encoding="utf-8"
    )
    reading = ["pdftotext", "-raw", "paper.pdf"]
    command = [
        "pdflatex",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-no-shell-escape",
        "paper.tex",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    subprocess.run(reading, cwd=tmp_path, check=True)
    return (tmp_path / "paper.txt").read_text(encoding="utf-8")


def test_results_compile(tmp_path: Path) -> None:
    """Scores, comparisons, explanations, bounds and curves, of runs with hostile names."""
    runs = dict(zip(NAMES, (demo.RUNS["bm25"], *demo.RUNS.values()), strict=True))
    measures = "nDCG(gain=exp2)@10 AP"
    rows = [
        rankstone.evaluate(demo.QRELS, runs, measures),
        rankstone.compare(demo.QRELS, runs, measures, resamples=200),
        rankstone.compare(demo.QRELS, runs, measures, resamples=200, baseline="bm25"),
        rankstone.explain(demo.QRELS, runs["bm25"], "nDCG@5", "q07"),
        rankstone.bounds(demo.QRELS, runs, "nDCG@10", difference=("bm25", "tfidf")),
        rankstone.curve(demo.QRELS, runs, "PR", resamples=20),
        rankstone.baseline(demo.QRELS, runs["bm25"], "nDCG@10"),
        rankstone.diff(runs["bm25"], runs["tfidf"], "RBO(p=0.9)"),
    ]

    text = compiled(tmp_path, *(result.to_latex() for result in rows))

    assert text.count(r"a_b & 50 % #1 {x} ~^\input{secret}") >= 4
    assert "inconclusive" in text


def test_letters_in_a_paper_are_those_of_the_leaderboard(tmp_path: Path) -> None:
    """A floating table of many systems: one tabular, a caption, and each system's letters."""
    draw = np.random.default_rng(5)
    matrix = draw.normal(np.linspace(0.3, 0.7, 9), 0.1, (40, 9)).clip(0, 1)
    systems = [f"s{index}" for index in range(9)]
    scores = pl.DataFrame(matrix, systems).with_columns(
        query_id=pl.Series([f"q{index}" for index in range(40)])
    )
    rows = scores.unpivot(systems, index="query_id", variable_name="run").with_columns(
        measure=pl.lit("nDCG@10")
    )
    comparison = rankstone.compare_scores(rows, resamples=500)
    source = comparison.to_latex(
        table="means", caption=True, names={"s8": "Our & best"}
    )

    text = compiled(tmp_path, source)

    assert source.count(r"\begin{tabular}") == 1
    for system, mean, letters in (
        comparison.leaderboard("nDCG@10")
        .select("system", "mean", "letters")
        .iter_rows()
    ):
        name = {"s8": "Our & best"}.get(system, system)
        assert re.search(
            rf"{name} +{mean:.4f}\s*{letters}\b", text.replace("–", "-")
        ), (name, letters, text)
