"""What could change a verdict stands beside it: queries that are not answered, documents never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.command_line import command

from rankstone import Comparison, compare

if TYPE_CHECKING:
    from pathlib import Path

#: queries, and those of them that the better run does not answer
_QUERIES = 30
_LOST = 4


def _data(lost: int = _LOST, unjudged: int = 0) -> tuple[Any, dict[str, Any]]:
    """Return judgments and two runs, of which ``new`` is better where it answers.

    ``unjudged`` documents without a judgment lead each list of ``new``.
    """
    qrels = {}
    old = {}
    new = {}
    for number in range(_QUERIES):
        query = f"q{number:02}"
        qrels[query] = {"good": 1, "bad": 0, "poor": 0}
        place = 1.5 if number % 3 else 3.5
        old[query] = {"good": place, "bad": 3.0, "poor": 1.0}
        if number >= lost:
            first = {f"u{rank}": 9.0 - rank for rank in range(unjudged)}
            new[query] = {**first, "good": 2.5, "bad": 1.0}
    return qrels, {"old": old, "new": new}


def _verdict(comparison: Comparison, width: int = 140) -> str:
    """Return the lines of the verdict on the first screen."""
    text = comparison.text(width)
    below = text.split("\n\n")[1]
    return " ".join(below.split())


@pytest.mark.parametrize("width", [60, 140])
def test_a_verdict_that_hangs_on_queries_without_answers_says_so(width: int) -> None:
    """The other verdict is the one that missing=drop gives."""
    made = compare(*_data(lost=7), "nDCG@10")
    dropped = compare(*_data(lost=7), "nDCG@10", missing="drop").table.row(
        0, named=True
    )
    printed = _verdict(made, width)

    assert made.table["verdict"].to_list() == ["inconclusive"]
    assert dropped["verdict"] == "better"
    assert "Queries that a system does not answer count 0: new 7." in printed
    assert "Without them the verdict changes: new − old on nDCG@10: better" in printed
    assert f"{dropped['difference']:+.4f}" in printed
    rest = made.without_unanswered
    assert rest is not None
    assert rest["p_adjusted"].to_list() == [dropped["p_adjusted"]]


def test_a_verdict_that_stands_without_these_queries_says_so_too() -> None:
    """Both languages; nothing where every query is answered."""
    qrels, runs = _data(lost=1)
    sentences = {
        "en": "Without them every verdict is the same.",
        "zh": "去掉这些查询后，各结论不变。",
    }
    for lang, words in sentences.items():
        made = compare(qrels, runs, "nDCG@10", lang=lang)
        assert made.table["verdict"].to_list() == ["better"]
        assert words in _verdict(made)
        assert words in made.report()["conditions"][0]
    whole = compare(*_data(lost=0), "nDCG@10")
    assert "count 0" not in _verdict(whole)
    assert whole.report()["conditions"] == []


def test_pairs_of_several_systems_whose_verdicts_change_are_named() -> None:
    """Of three systems only the pairs that change."""
    qrels, runs = _data(lost=7)
    three = {**runs, "older": runs["old"]}
    printed = _verdict(compare(qrels, three, "nDCG@10", baseline="old"))

    assert "new − old on nDCG@10: better" in printed
    assert "older − old" not in printed


@pytest.mark.parametrize(
    ("lang", "could_change"),
    [("en", "The verdict could change"), ("zh", "结论可能改变")],
)
def test_a_loss_of_judged_lists_has_no_such_caution(
    lang: str, could_change: str
) -> None:
    """The verdict sentence and its condition stand together, as on the page; a winner needs none."""
    lost = compare(*_data(lost=0, unjudged=3), "nDCG@10", lang=lang)
    won = compare(*_data(lost=0), "nDCG@10", lang=lang)

    assert lost.table["verdict"].to_list() == ["worse"]
    assert could_change in _verdict(lost)
    assert "60%" in _verdict(lost)
    assert "--bounds" in _verdict(lost)
    assert won.table["verdict"].to_list() == ["better"]
    assert could_change not in won.text(80)


def test_bounds_that_keep_a_verdict_leave_no_condition() -> None:
    """With bounds, --bounds is no advice any more."""
    made = compare(*_data(lost=0, unjudged=3), "nDCG@10", bounds=True)
    printed = _verdict(made)

    assert "The verdict could change" in printed
    assert "--bounds" not in printed


def test_the_page_says_the_same(tmp_path: Path) -> None:
    """A card that flips, where the text says that the verdict changes."""
    pytest.importorskip("jinja2")
    from rankstone import report

    made = compare(*_data(lost=7), "nDCG@10", keep_runs=True)
    report(made, tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text()
    assert "Without these queries a verdict changes." in page


def _written(folder: Path, lost: int) -> list[str]:
    """Write judgments and runs, and return their names."""
    qrels, runs = _data(lost)
    rows = [f"{q} 0 {d} {g}" for q, docs in qrels.items() for d, g in docs.items()]
    (folder / "qrels.txt").write_text("\n".join(rows) + "\n")
    for name, lists in runs.items():
        lines = []
        for query, scores in lists.items():
            ranked = sorted(scores, key=scores.__getitem__, reverse=True)
            lines += [
                f"{query} Q0 {doc} {rank} {scores[doc]} {name}"
                for rank, doc in enumerate(ranked, 1)
            ]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    return [str(folder / name) for name in ("qrels.txt", "old.run", "new.run")]


def test_a_table_for_a_paper_says_what_decides_it(tmp_path: Path) -> None:
    """The caption, lines of comment and a note tell of queries that are not answered, and of the test alone."""
    files = _written(tmp_path, lost=7)
    paper = ("compare", *files, "-m", "nDCG@10 AP", "--format", "latex")
    means = (*paper, "--table", "means", "--caption")
    done = command(*means)

    caption = done.stdout.split(r"\caption{")[1].split("\n")[0]
    assert "Means over 30 queries. " in caption
    assert "Queries that a system does not answer count 0: new 7." in caption
    assert "correction" not in caption
    assert "paired randomisation test, 100,000 permutations, seed 0" in caption
    assert "% new  23 queries" in done.stdout
    assert "7 queries missing" in done.stderr
    assert not command(*means, "--quiet").stderr

    by_t = command(*means, "--test", "t", "--score-dtype", "float32").stdout
    assert "Test: paired t-test, two-sided, level 0.05." in by_t
    assert "Scores are read as 32-bit numbers." in by_t
    dropped = command(*means, "--missing", "drop").stdout
    assert "Means over 23 queries. Left out: 7 queries in which" in dropped


def test_the_correction_is_that_of_each_measure(tmp_path: Path) -> None:
    """Of several pairs: which comparisons are a family, in both languages."""
    qrels, older, newer = _written(tmp_path, lost=0)
    files = (qrels, older, newer, f"copy={older}")
    paper = (*files, "-m", "nDCG@10 AP", "--format", "latex", "--table", "means")
    caption = command("compare", *paper, "--caption").stdout
    assert "over 3 comparisons on nDCG@10, separately on each other measure." in caption
    zh = command("compare", *paper, "--caption", "--lang", "zh").stdout
    assert "对 nDCG@10 上的 3 次比较，其余每个指标各自校正。" in zh


def test_names_that_say_so_are_latex(tmp_path: Path) -> None:
    """Ids of files and other names are escaped, also such as begin with the same letters."""
    qrels, older, newer = _written(tmp_path, lost=0)
    paper = ("--format", "latex", "--table", "means", "--caption")
    files = (qrels, f"tex:$x={older}", f"run_b={newer}")
    names = ("--names", "run_b=tex:monoT5$_{3B}$")
    made = command("compare", *files, *paper, *names).stdout

    assert "\nmonoT5$_{3B}$ & " in made
    assert r"tex:\$x & " in made
    assert r"worse than tex:\$x" in made
    plain = command("compare", *files, *paper, "--names", "run_b=monoT5$_{3B}$").stdout
    assert r"monoT5\$\_\{3B\}\$" in plain


def test_what_a_table_of_means_lacks_is_refused(tmp_path: Path) -> None:
    """Segments; and the fix keeps the files."""
    files = _written(tmp_path, lost=0)
    means = ("--format", "latex", "--table", "means")
    refused = command("compare", *files, *means, "--by", "kind", code=2).stderr
    assert "--table means has no segments" in refused
    refused = command("compare", *files, "--names", "old=O", code=2).stderr
    assert "fix:      add --format latex --table means" in refused
    assert command("compare", *files, "--names", "old=O", *means).stdout


def test_latex_holds_no_advice_for_a_shell(tmp_path: Path) -> None:
    """The whole in LaTeX is for a paper; the text keeps its last line."""
    qrels, older, newer = _written(tmp_path, lost=0)
    files = (qrels, older, newer, f"copy={older}")

    assert "--verbose" not in command("compare", *files, "--format", "latex").stdout
    text = command("compare", *files, "-m", "AP").stdout.rstrip()
    assert text.endswith("--verbose, --format csv or json, or .table in Python")
