"""The pages of measures: one a family, an overview, and an overview in Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml
from click.testing import CliRunner
from docs.making.markdown import anchor, escaped

from rankstone.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CHINESE", "Family", "chinese", "families", "overview"]

#: Chinese names of families and first sentences of cards
CHINESE: Final[dict[str, dict[str, str]]] = yaml.safe_load(
    Path(__file__).with_name("measures.zh.yaml").read_text("utf-8")
)
_NAME: Final = re.compile(r"[^\s(]+")


@dataclass(frozen=True)
class Family:
    """A family of measures: its heading, what computes it, its cards as Markdown."""

    title: str
    computed_by: str
    cards: str

    @property
    def page(self) -> str:
        """Where the family's page lies."""
        command = self.computed_by.split()[1]
        return f"measures/{anchor(self.title)}{'' if command == 'eval' else f'-{command}'}.md"

    @property
    def measures(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, anchor and first sentence of each measure."""
        for heading, sentence in re.findall(
            r"^### (.+)\n\n(.+)$", self.cards, flags=re.MULTILINE
        ):
            found = _NAME.match(heading)
            yield (found[0] if found else heading), anchor(heading), sentence

    @property
    def text(self) -> str:
        """The page, its cards one level higher than in the list of all measures."""
        cards = re.sub(r"^###", "##", self.cards, flags=re.MULTILINE)
        cards = re.sub(
            r"^  - ", "    - ", cards, flags=re.MULTILINE
        )  # lists in lists, as the site reads them
        return (
            f"# {self.title}\n\nComputed by `{self.computed_by}`.\n\n{cards.strip()}\n"
        )


def families() -> list[Family]:
    """Return the families, in the order of the catalogue."""
    listed = CliRunner().invoke(cli, ["measures", "list", "--format", "md"]).output
    parts = re.split(r"^## (.+)\n\nComputed by `(.+)`\.\n", listed, flags=re.MULTILINE)[
        1:
    ]
    return [Family(*parts[at : at + 3]) for at in range(0, len(parts), 3)]


def overview(found: list[Family]) -> str:
    """Return the page that leads to the families."""
    listed = CliRunner().invoke(cli, ["measures", "list", "--format", "md"]).output
    intro = re.split(r"^- ", listed, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [intro.rstrip(), "", "[中文](measures.zh.md)", ""]
    for family in found:
        lines += [f"## {family.title} by `{family.computed_by}`", ""]
        for name, place, sentence in family.measures:
            lines.append(f"- [{escaped(name)}]({family.page}#{place}): {sentence}")
        lines.append("")
    return "\n".join(lines)


def chinese(found: list[Family]) -> str:
    """Return the overview in Chinese, committed beside the English list of all measures."""
    lines = [CHINESE["page"]["title"], "", CHINESE["page"]["intro"].strip(), ""]
    for family in found:
        title = CHINESE["families"][f"{family.title} · {family.computed_by}"]
        lines += [f"## {title}（`{family.computed_by}`）", ""]
        for name, _, _ in family.measures:
            lines.append(f"- **{escaped(name)}**：{CHINESE['measures'][name]}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
