"""Means of a comparison as a table in LaTeX, with letters or daggers and a caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankstone.comparison.comparison_words import phrases_of
from rankstone.tables.markup import escaped_latex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankstone.comparison.comparison_result import ComparedSystems

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
        board = comparison.leaderboard(measure)
        best = f"{board['mean'][0]:.{comparison.digits}f}"
        for system, mean, letters, word in board.select(
            "system", "mean", "letters", "verdict"
        ).iter_rows():
            text = f"{mean:.{comparison.digits}f}"
            bold = rf"\textbf{{{text}}}" if marks and text == best else text
            sign = (
                _DAGGERS.get(word)
                if letters is None
                else rf"\mathrm{{{letters.replace('–', '-')}}}"
            )
            mark = f"$^{{{sign}}}$" if sign else ""
            cells[system].append(f"{bold} & {mark}" if raised else bold)
    wide, shape = (
        (r"\multicolumn{2}{c}{%s}", "r@{}l") if raised else ("%s", "r")
    )  # decimals stay aligned
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


def _caption(
    comparison: ComparedSystems, marks: str | None, names: Mapping[str, str]
) -> list[str]:
    """Return the sentences of the caption: queries, marks, test, correction and seed."""
    say = phrases_of(comparison)
    family, settings = comparison.families[0], comparison.settings
    found = [say("caption", n=f"{max(comparison.table['n']):,}")]
    if marks == "superscript":
        against = comparison.baseline
        versus = names.get(against, against) if against is not None else ""
        found.append(
            say(
                "caption_letters" if against is None else "caption_daggers",
                versus=versus,
            )
        )
    if marks is not None:
        found.append(say("caption_bold"))
    correction = say(f"correction_{family.correction}")
    test = {
        "test": family.test,
        "correction": correction,
        "alpha": f"{settings.alpha:g}",
    }
    return [*found, say("caption_test", **test, seed=settings.seed)]
