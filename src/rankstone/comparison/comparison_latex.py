"""Means of a comparison as a table in LaTeX, with letters or daggers and a caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.comparison.verdict import CLEAR
from rankstone.tables.markup import escaped_latex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.comparison.compared_systems import ComparedSystems
    from rankstone.comparison.leaderboard import Leaderboard

#: marks of systems against a baseline in LaTeX
_DAGGERS: Final = {
    "better": r"\dagger",
    "higher": r"\dagger",
    "worse": r"\ddagger",
    "lower": r"\ddagger",
}


def latex_means(
    comparison: ComparedSystems,
    marks: str | None,
    names: Mapping[str, str],
    *,
    caption: bool = False,
) -> str:
    """Return a booktabs table; arguments as for :meth:`ComparedSystems.to_latex`."""
    cells: dict[str, list[str]] = {system: [] for system in comparison.systems}
    raised = marks == "superscript"
    for measure in comparison.measures:
        board = comparison.board(measure)
        signs = _daggers(comparison, board)
        for system, letters in board.letters.items():
            signs[system] = rf"\mathrm{{{letters.replace('–', '-')}}}"

        means = [f"{mean:.{comparison.digits}f}" for mean in board.means]
        for system, text in zip(board.systems, means, strict=True):
            bold = rf"\textbf{{{text}}}" if marks and text == means[0] else text
            sign = signs[system]
            mark = f"$^{{{sign}}}$" if sign else ""
            cells[system].append(f"{bold} & {mark}" if raised else bold)

    wide = "%s"
    shape = "r"
    if raised:  # decimals stay aligned
        wide = r"\multicolumn{2}{c}{%s}"
        shape = "r@{}l"
    head = [
        "",
        *(
            wide % escaped_latex(comparison.label(measure))
            for measure in comparison.measures
        ),
    ]
    rows = [
        [escaped_latex(names.get(system, system)), *row]
        for system, row in cells.items()
    ]
    lines = [rf"\begin{{tabular}}{{l{shape * len(comparison.measures)}}}", r"\toprule"]
    lines += [
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
    ]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if caption:
        text = escaped_latex(" ".join(_caption(comparison, marks, names)))
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{text}}}",
            *lines,
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def _daggers(comparison: ComparedSystems, board: Leaderboard) -> dict[str, str]:
    """Return the marks of each system against the baselines, of several with their numbers."""
    signs = dict.fromkeys(comparison.systems, "")
    several = len(comparison.baselines) > 1
    for number, baseline in enumerate(comparison.baselines, 1):
        index = ""
        if several:
            index = f"_{{{number}}}"
        for system, word, *_ in board.against(baseline).iter_rows():
            if word in CLEAR:
                signs[system] += _DAGGERS[word]
                signs[system] += index
    return signs


def _caption(
    comparison: ComparedSystems, marks: str | None, names: Mapping[str, str]
) -> list[str]:
    """Return the sentences of the caption: queries, marks, test, correction and seed."""
    say = comparison.say
    family = comparison.families[0]
    settings = comparison.settings
    sentences = [say("caption", n=f"{max(comparison.table['n']):,}")]
    if marks == "superscript":
        baselines = comparison.baselines
        versus = ", ".join(
            names.get(name, name) + f" ({number})" * (len(baselines) > 1)
            for number, name in enumerate(baselines, 1)
        )
        marked = "caption_daggers" if baselines else "caption_letters"
        sentences.append(say(marked, versus=versus))
    if marks is not None:
        sentences.append(say("caption_bold"))
    correction = say(f"correction_{family.correction}")
    test = {
        "test": family.test,
        "correction": correction,
        "alpha": f"{settings.alpha:g}",
    }
    return [*sentences, say("caption_test", **test, seed=settings.seed)]
