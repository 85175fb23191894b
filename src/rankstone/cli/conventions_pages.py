"""Conventions as Markdown: a page a library, and a table a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.conventions import conventions
from rankstone.conventions.comparing import shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankstone.conventions import Convention, Entry

__all__ = ["page", "pages"]


def pages() -> dict[str, str]:
    """Return every page by file name; ``README.md`` has the libraries and the table of each measure."""
    found = {f"{one}.md": page(one) for one in conventions()}
    return {"README.md": _overview(), **found}


def page(one: Convention) -> str:
    """Return a library's page."""
    lines = [f"# {_text(one.title)} {one.version}", "", _text(one.about), "", f"<{one.url}>", ""]
    checked = "; ".join(one.checked) or "nothing live yet: written from what is known of it"
    lines += [f"Compared with: {_text(checked)}.", ""]
    judging = [entry for entry in one.entries if not entry.of_lists]
    lines += [f"`rankstone eval QRELS RUN --convention {one} -m …`", "", *_entries(judging)]
    if of_lists := [entry for entry in one.entries if entry.of_lists]:
        lines += ["", "## Beyond accuracy", "", f"`rankstone beyond RUN --convention {one} -m …`", ""]
        lines += _entries(of_lists)
    return "\n".join(lines).rstrip() + "\n"


def _entries(entries: Sequence[Entry]) -> list[str]:
    """Return a table of measures, and what there is to say about them."""
    lines = ["| spelling | the same in our words | options of alignment |", "|---|---|---|"]
    remarks: list[str] = []
    for entry in entries:
        spelled = " or ".join(f"`{_code(text)}`" for text in entry.spellings)
        lines.append(f"| {spelled} | `{_code(entry.ours)}` | {_options(entry)} |")
        for name, mark in (("bug", "**bug**: "), ("note", ""), ("differs", "")):
            told = getattr(entry, name)
            remarks += [] if told is None else [f"- `{_code(entry.spelling)}`: {mark}{_text(told)}"]
        remarks += [f"- `{_code(entry.spelling)}`: {_text(way)}" for way in entry.ways]
    return [*lines, "", *remarks]


def _overview() -> str:
    lines = ["# What other libraries mean by the same names", ""]
    lines += ["Written by `make docs` from the data files of `rankstone.conventions`.", ""]
    lines += ["What each library was asked, how often it differed, and why: [checked.md](../checked.md).", ""]
    lines += ["| library | measures | compared with |", "|---|--:|---|"]
    for one in conventions():
        checked = _text("; ".join(one.checked)) or "not yet"
        lines.append(f"| [{_text(one.title)} {one.version}]({one}.md) | {len(one.entries)} | {checked} |")
    for measure, members in _by_measure().items():
        lines += [
            "",
            f"## {measure}",
            "",
            "| library | spelling | in our words | options |",
            "|---|---|---|---|",
        ]
        for one, entry in members:
            cells = (
                f"[{one}]({one}.md)",
                f"`{_code(entry.spelling)}`",
                f"`{_code(entry.ours)}`",
                _options(entry),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _by_measure() -> dict[str, list[tuple[Convention, Entry]]]:
    """Return who has which measure; those that several libraries have, most of them first."""
    found: dict[str, list[tuple[Convention, Entry]]] = {}
    for one in conventions():
        for entry in one.entries:
            if (measure := shared(entry)) is not None:
                found.setdefault(measure, []).append((one, entry))
    several = {name: members for name, members in found.items() if len({m.name for m, _ in members}) > 1}
    return dict(sorted(several.items(), key=lambda item: (-len(item[1]), item[0])))


def _options(entry: Entry) -> str:
    options = [f"`{name}={value}`" for name, value in entry.chosen.items()]
    return " ".join(options) or "ours"


def _code(text: str) -> str:
    return text.replace("|", "\\|")


def _text(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
