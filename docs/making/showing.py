"""Tables for what is no sum over one list: means over queries, cutoffs, curves, chance, orders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import yaml
from docs.making.markdown import number, table
from tests.golden.worked import Example, with_values, world

import rankstone
from rankstone.diagnostics import expected_by_chance as baselines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["SHOWN", "told", "translated", "word"]

_WORDS: Final[dict[str, dict[str, str]]] = yaml.safe_load(
    Path(__file__).with_name("words.yaml").read_text("utf-8")
)


def word(name: str, lang: str) -> str:
    """Return what the page says, in a language."""
    return told(_WORDS[name], lang)


def translated(text: str, lang: str) -> str:
    """Return an explanation with what its measure's card says in Chinese, if that is the language."""
    for english, chinese in _WORDS["of cards"].items() if lang == "zh" else ():
        while english in text:
            text = text.replace(english, chinese)
    return text


def told(text: dict[str, str], lang: str) -> str:
    """Return a text with its numbers; between Chinese sentences stands no blank, wherever lines broke."""
    found = with_values(text[lang])
    return (
        re.sub(r"(?<=[，。；：）、])\s+|\s+(?=[（])", "", found)
        if lang == "zh"
        else found
    )


def queries(case: Example, lang: str) -> Iterator[str]:
    """Show every query's value and the mean of them."""
    asked = dict.fromkeys(
        row["measure"] for row in case["measures"] if "values" not in row
    )
    scores = rankstone.evaluate(*world(case), [*asked], **case.get("options", {}))
    means = scores.to_dict()["run"]
    lines = []
    for measure in asked:
        for row in scores.per_query.filter(pl.col("measure") == measure).iter_rows(
            named=True
        ):
            numbers = [
                number(row[name]) for name in ("numerator", "denominator", "value")
            ]
            lines.append([f"`{measure}`", row["query_id"].removeprefix("q"), *numbers])
        lines.append(
            ["", word("all", lang), "", "", f"**{number(means[measure] or 0)}**"]
        )
    head = [
        word(name, lang)
        for name in ("measure", "query", "numerator", "denominator", "value")
    ]
    yield from ("", word("evaluate", lang), *table(head, lines))


def cutoffs(case: Example, lang: str) -> Iterator[str]:
    """Show measures at each of several cutoffs, beside what the source states."""
    asked = [row for row in case["measures"] if "values" in row]
    heights = {row["measure"]: _heights(case, row["measure"]) for row in asked}
    ks = [int(k) for k in dict.fromkeys(k for found in heights.values() for k in found)]
    head, lines = ["k"], [[str(k)] for k in ks]
    for row in asked:
        head += [f"`{row['measure'].partition('@')[0]}@k`"] + [word("stated", lang)] * (
            "stated" in row
        )
        for at, height in enumerate(heights[row["measure"]].values()):
            lines[at] += [number(height)] + (
                [row["stated"][at]] if "stated" in row else []
            )
    yield from ("", word("cutoffs", lang), *table(head, lines))


def curve(case: Example, lang: str) -> Iterator[str]:
    """Show the precision–recall curve."""
    heights = _heights(case, "PR")
    head = [word(name, lang) for name in ("recall", "precision")]
    yield from (
        "",
        word("curve", lang),
        *table(head, ([f"{x:g}", number(y)] for x, y in heights.items())),
    )


def _heights(case: Example, asked: str) -> dict[float, float]:
    found = rankstone.curve(*world(case), asked, **case.get("options", {})).mean()
    return dict(found.select("x", "mean").rows())


def depth(case: Example, lang: str) -> Iterator[str]:
    """Show the smallest cutoff at which MRR reaches a level."""
    found = rankstone.evaluate(*world(case), ["RR"]).per_query["value"]
    reached = ((level, baselines.mrr_depth(found, level)) for level in case["levels"])
    head = [word(name, lang) for name in ("level", "depth")]
    lines = (
        [f"{level:g}", word("never", lang) if k is None else str(k)]
        for level, k in reached
    )
    yield from ("", word("depths", lang), *table(head, lines))


def chance(case: Example, lang: str) -> Iterator[str]:
    """Show what an answer anywhere in the first k reaches."""
    head = ["k", "E[RR]", word("deviation", lang)]
    lines = (
        [
            str(k),
            number(baselines.uniform_rr(k)),
            number(baselines.uniform_rr_variance(k) ** 0.5),
        ]
        for k in case["levels"]
    )
    yield from ("", word("chances", lang), *table(head, lines))


def orders(case: Example, lang: str) -> Iterator[str]:
    """Show how far a ranking agrees with ideal orders."""
    ranking, ideals = case["orders"]["ranking"], case["orders"]["ideals"]
    lines = [
        [", ".join(map(str, ideal)), *map(number, _agreement(ranking, ideal))]
        for ideal in ideals
    ]
    yield from (
        "",
        word("similarity", lang),
        *table([word("ideal", lang), "τ", "(1 + τ) / 2"], lines),
    )


def _agreement(ranking: list[int], ideal: list[int]) -> tuple[float, float]:
    tau = float(
        rankstone.similarity([*map(str, ranking)], [*map(str, ideal)], "tau_a") or 0
    )
    return tau, (1 + tau) / 2


#: what a case may show beside unfolded scores
SHOWN: Final[dict[str, Callable[[Any, str], Iterator[str]]]] = {
    "queries": queries,
    "cutoffs": cutoffs,
    "curve": curve,
    "depth": depth,
    "chance": chance,
    "orders": orders,
}
