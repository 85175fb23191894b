"""The page of classic examples: what the sources state, what rankstone computes, and how it comes about."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from docs.making.markdown import anchor, number, table
from docs.making.showing import SHOWN, told, translated, word
from tests.golden.worked import Example, calculate, counted, load, rows, world

import rankstone
from rankstone.tables.markup import markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["LANGUAGES", "page"]

LANGUAGES: Final = ("en", "zh")

_MARK: Final = {
    "right": "✔",
    "cut": "≈",
    "wrong": "✘",
    "rounded": "≈",
    "wording": "⚠",
    "open": "–",
}


def page(lang: str) -> str:
    """Return the page in a language."""
    data = load("classic.yaml")
    examples: list[Example] = data["examples"]
    right = sum(example["verdict"] == "right" for example in examples)
    bad = sum(example["verdict"] not in ("right", "open") for example in examples)
    intro = word("intro", lang).format(all=len(examples), right=right, bad=bad)
    lines = [f"# {word('title', lang)}", "", intro, ""]
    lines += [word("made", lang), "", word("marks", lang)]
    head = ["", *(word(name, lang) for name in ("example", "stated", "computed")), ""]
    lines += table(head, (_line(example, lang) for example in examples))
    lines += _sources(data["sources"], lang)
    for example in examples:
        lines += _section(example, lang)
    lines += [f"## {word('remarks', lang)}", ""]
    lines += [
        f"- {told(remark, lang)} ({', '.join(remark['sources'])})"
        for remark in data["remarks"]
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _heading(example: Example, lang: str) -> str:
    return f"{example['id']}{word('colon', lang)}{example['title'][lang]}"


def _line(example: Example, lang: str) -> list[str]:
    """Return an example's line in the table at the top: the number that its verdict is about."""
    found = [(case, row) for case in example.get("cases", []) for row in rows(case)]
    spoken = [pair for pair in found if "stated" in pair[1]]
    off = [pair for pair in spoken if pair[1].get("verdict", "right") != "right"]
    single = [pair for pair in found if "@" not in pair[1]["measure"]]
    telling = (
        (off if example["verdict"] in ("wrong", "rounded") else [])
        + single
        + spoken
        + found
    )
    stated = telling[0][1].get("stated", "") if telling else ""
    value = number(_computed(*telling[0])) if telling else ""
    link = f"[{example['title'][lang]}](#{anchor(_heading(example, lang))})"
    return [example["id"], link, _short(stated), value, _MARK[example["verdict"]]]


def _short(stated: str) -> str:
    """Return a stated number, or a stated formula's value."""
    return number(calculate(stated)) if "(" in stated else stated


def _computed(case: Example, row: dict[str, Any]) -> float:
    """Return what rankstone computes."""
    qrels, run = world(case)
    found = rankstone.evaluate(qrels, run, [row["measure"]], **case.get("options", {}))
    return found.to_dict()["run"][row["measure"]] or 0.0


def _sources(sources: dict[str, Any], lang: str) -> list[str]:
    head = ("", word("title of", lang), word("about", lang))
    lines = ([name, one["title"], one["about"][lang]] for name, one in sources.items())
    return [f"## {word('sources', lang)}", *table(head, lines)]


# -- one example -----------------------------------------------------------------------------------------
def _section(example: Example, lang: str) -> Iterator[str]:
    cases = example.get("cases", [])
    yield from (f"## {_heading(example, lang)}", "")
    yield f"**{word(example['verdict'], lang)}** · {word('source', lang)} {', '.join(example['sources'])}"
    if "stated" in example:
        yield from (
            "",
            f"*{word('says', lang)}*{word('colon', lang)}{told(example['stated'], lang)}",
        )
    yield from ("", told(example["why"], lang))
    if cases:
        head = [
            word(name, lang) for name in ("measure", "formula", "computed", "stated")
        ]
        yield from table([*head, ""], (line for case in cases for line in _rows(case)))
    if "counted" in example:
        head = ["", word("formula", lang), word("computed", lang)]
        yield from table(head, _counted(example, lang))
    for case in cases:
        yield from _derived(case, lang)
    for name in example.get("show", []):
        yield from SHOWN[name](example, lang)


def _rows(case: Example) -> Iterator[list[str]]:
    """Yield the rows of a case that are no list over cutoffs: those have a table of their own."""
    for row in case["measures"]:
        if "values" not in row:
            mark = _MARK[row.get("verdict", "right")] if "stated" in row else ""
            cells = [
                f"`{row['measure']}`",
                f"`{' '.join(row['value'].split())}`",
                number(_computed(case, row)),
            ]
            yield [*cells, row.get("stated", ""), mark]


def _counted(example: Example, lang: str) -> Iterator[list[str]]:
    for one in example["counted"]:
        yield [
            one["name"][lang],
            f"`{one['value']}`",
            number(counted(example["log"], one) or 0.0),
        ]


def _derived(case: Example, lang: str) -> Iterator[str]:
    """Yield what was ranked and judged, and the tables that lead to its numbers."""
    unfolded, shown = _asked(case)
    if not unfolded and not shown:
        return
    if "id" in case:
        name = case["zh"] if lang == "zh" and "zh" in case else case["id"]
        yield from ("", f"**{word('case', lang).format(id=name)}**")
    yield from ("", *_given(case, lang))
    for measure in unfolded:
        yield from _typed(case, measure, lang)
        qrels, run = world(case)
        found = rankstone.explain(
            qrels, run, measure, "q1", lang=lang, **case.get("options", {})
        )
        whole = markdown(found.sheet().verbose())
        yield from ("", translated(whole.rstrip(), lang))
    for name in shown:
        yield from SHOWN[name](case, lang)
    yield ""


def _asked(case: Example) -> tuple[list[str], list[str]]:
    """Return the measures to unfold and the tables to show: one of the two unless the case says otherwise."""
    if "show" in case or "derive" in case:
        return case.get("derive", []), case.get("show", [])
    return (
        ([], ["queries"]) if "queries" in case else ([next(rows(case))["measure"]], [])
    )


def _given(case: Example, lang: str) -> Iterable[str]:
    """Say what was ranked and judged."""
    comma, colon = word("comma", lang), word("colon", lang)
    for at, given in enumerate(case.get("queries", [case]), 1):
        name = f"{word('query', lang)} {at}{colon}" if "queries" in case else ""
        if "retrieved" in given:
            parts = [
                f"{word(name, lang)}{colon}{_listed(given[name])}"
                for name in ("relevant", "retrieved")
            ]
        else:
            parts = [f"{word('list', lang)}{colon}{_grades(given['grades'])}"]
            if "missed" in given:
                parts.append(f"{word('missed', lang)}{colon}{_grades(given['missed'])}")
        parts += [word("tied", lang)] if case.get("tied") else []
        parts += [
            f"`{name}={value}`" for name, value in case.get("options", {}).items()
        ]
        yield f"- {name}{comma.join(parts)}"


def _listed(ids: list[int | str]) -> str:
    return ", ".join(map(str, ids))


def _grades(grades: list[float | None]) -> str:
    return ", ".join("–" if grade is None else f"{grade:g}" for grade in grades)


def _typed(case: Example, measure: str, lang: str) -> Iterator[str]:
    """Yield the command that prints the derivation, where one does."""
    if "retrieved" in case or case.get("tied"):
        return
    listed = ["-" if grade is None else f"{grade:g}" for grade in case["grades"]]
    missed = [f"{grade:g}" for grade in case.get("missed", [])]
    judged = [grade for grade in listed if grade != "-"] + missed
    words = ["rankstone", "explain", "--grades", ",".join(listed)]
    words += ["--judged", ",".join(judged)] if missed else []
    words += ["-m", measure] + [word for pair in _flags(case) for word in pair]
    words += ["-v"] if lang == "en" else ["-v", "--lang", lang]
    yield from ("", "```", shlex.join(words), "```")


def _flags(case: Example) -> Iterator[tuple[str, str]]:
    for name, value in case.get("options", {}).items():
        yield f"--{name.replace('_', '-')}", str(value)
