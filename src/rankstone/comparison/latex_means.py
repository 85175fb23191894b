"""The means of a comparison as one LaTeX table for a paper: a row a system, a column a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.tables.markup import escaped_latex
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.comparison.comparison_result import ComparedSystems


_DAGGERS: Final = {"better": r"\dagger", "higher": r"\dagger", "worse": r"\ddagger", "lower": r"\ddagger"}


def latex_means(
    comparison: ComparedSystems, marks: str | None, names: Mapping[str, str], *, caption: bool = False
) -> str:
    """Return a booktabs table; arguments as for :meth:`ComparedSystems.to_latex`."""
    cells: dict[str, list[str]] = {system: [] for system in comparison.systems}
    for measure in comparison.measures:
        board = comparison.leaderboard(measure)
        best = f"{board['mean'][0]:.{comparison.digits}f}"
        for system, mean, letters, word in board.select("system", "mean", "letters", "verdict").iter_rows():
            text = f"{mean:.{comparison.digits}f}"
            bold = rf"\textbf{{{text}}}" if marks and text == best else text
            sign = _DAGGERS.get(word) if letters is None else rf"\mathrm{{{letters.replace('–', '-')}}}"
            cells[system].append(f"{bold}$^{{{sign}}}$" if sign and marks == "superscript" else bold)
    head = ["", *map(escaped_latex, comparison.measures)]
    rows = [[escaped_latex(names.get(system, system)), *row] for system, row in cells.items()]
    lines = [rf"\begin{{tabular}}{{l{'r' * len(comparison.measures)}}}", r"\toprule"]
    lines += [" & ".join(head) + r" \\", r"\midrule", *(" & ".join(row) + r" \\" for row in rows)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption:
        text = escaped_latex(" ".join(_caption(comparison, marks, names)))
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{text}}}", *lines, r"\end{table}"]
    return "\n".join(lines) + "\n"


def _caption(comparison: ComparedSystems, marks: str | None, names: Mapping[str, str]) -> list[str]:
    """Return the sentences of the caption: queries, marks, test, correction and seed."""

    def say(name: str, **parts: object) -> str:
        return phrase("comparison", name, lang=comparison.lang, **parts)

    family, settings = comparison.families[0], comparison.settings
    found = [say("caption", n=f"{max(comparison.table['n']):,}")]
    if marks == "superscript":
        against = comparison.baseline
        versus = names.get(against, against) if against is not None else ""
        found.append(say("caption_letters" if against is None else "caption_daggers", versus=versus))
    if marks is not None:
        found.append(say("caption_bold"))
    test = {"test": family.test, "correction": family.correction, "alpha": f"{settings.alpha:g}"}
    return [*found, say("caption_test", **test, seed=settings.seed)]
