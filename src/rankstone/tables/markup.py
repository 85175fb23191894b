"""Sheets as Markdown, LaTeX and HTML.  Ids are untrusted text, which every format escapes."""

from __future__ import annotations

import html as escaping
import re
from typing import TYPE_CHECKING, Final

from rankstone.tables.sheet import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankstone.tables.sheet import Sheet


#: characters with a meaning in Markdown
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~$&!()])")
_LATEX: Final = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}", "–": "--", "−": r"$-$",
    "…": r"\dots{}",
    "Σ": r"$\Sigma$", "Π": r"$\Pi$", "≤": r"$\leq$", "≥": r"$\geq$", "·": r"$\cdot$", "×": r"$\times$",
    "β": r"$\beta$", "α": r"$\alpha$", "γ": r"$\gamma$", "ε": r"$\varepsilon$",
    "δ": r"$\delta$", "σ": r"$\sigma$",
    "τ": r"$\tau$", "λ": r"$\lambda$", "ρ": r"$\rho$", "½": r"$\frac12$", "∈": r"$\in$", "→": r"$\to$",
    "∞": r"$\infty$", "²": r"$^2$", "ᵢ": r"$_i$", "√": r"$\surd$", "∪": r"$\cup$", "∩": r"$\cap$",
    "Ω": r"$\Omega$",
    "≠": r"$\neq$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "Γ": r"$\Gamma$", "φ": r"$\varphi$", "π": r"$\pi$",
    "∝": r"$\propto$", "≻": r"$\succ$", "³": r"$^3$", "₂": r"$_2$", "♯": r"$\sharp$",
    "†": r"$\dagger$", "‡": r"$\ddagger$",
}  # fmt: skip
#: combining accents of the letter before them
_ABOVE: Final = {"\u0302": r"\^", "\u0303": r"\~"}
_STYLE: Final = """
.rankstone{font:14px/1.45 system-ui,sans-serif;color:inherit;max-width:60rem}
.rankstone table{border-collapse:collapse;margin:.4em 0 1em}
.rankstone th,.rankstone td{padding:.15em .7em;text-align:left;border-bottom:1px solid #8884}
.rankstone .n{text-align:right;font-variant-numeric:tabular-nums}
.rankstone tr.sum td{border-bottom:0;font-weight:600}
.rankstone p.formula{opacity:.8;margin:.2em 0}
.rankstone h4{margin:.8em 0 .2em}
"""

_DOCUMENT: Final = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body>
{body}
</body>
</html>
"""


def document(title: str, pieces: Iterable[str]) -> str:
    """Return pieces of HTML as a page in which no script runs and that loads nothing."""
    return _DOCUMENT.format(title=escaping.escape(title), body="\n".join(pieces))


def _escaped_markdown(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def markdown(sheet: Sheet) -> str:
    """Return a sheet as Markdown."""
    blocks: list[list[str]] = (
        [[f"### {_escaped_markdown(sheet.title)}"]] if sheet.title else []
    )
    blocks += [
        [_escaped_markdown(text)] for text in (sheet.formula, sheet.symbols) if text
    ]
    for part in sheet.readable:
        title, items = (part.title, ()) if isinstance(part, Table) else part
        blocks += [[f"**{_escaped_markdown(title)}**"]] if title else []
        if not isinstance(part, Table):
            blocks.append([f"- {_escaped_markdown(line)}" for line in items])
            continue
        rule = ["--:" if numeric else ":--" for numeric in part.numeric]
        lines = [_table_row(map(_escaped_markdown, part.head)), _table_row(rule)]
        last = len(part.rows) - part.total
        for at, cells in enumerate(part.marked("**{}**", escape=_escaped_markdown)):
            lines.append(
                _table_row(
                    f"**{cell}**" if at >= last and cell else cell for cell in cells
                )
            )
        blocks.append(lines)
    blocks += (
        [[f"- {_escaped_markdown(line)}" for line in sheet.brief]]
        if sheet.brief
        else []
    )
    return "\n\n".join(map("\n".join, blocks)) + "\n"


def _table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped_latex(text: str) -> str:
    """Return text whose characters LaTeX does not obey."""
    signs: list[str] = []
    for sign in text:
        if sign in _ABOVE:
            signs.append(f"{_ABOVE[sign]}{{{signs.pop() if signs else ''}}}")
        else:
            signs.append(_LATEX.get(sign, sign))
    return "".join(signs)


def latex(sheet: Sheet) -> str:
    """Return a sheet as LaTeX: put it into a document that uses booktabs and amsmath."""
    above = (r"\\" + "\n").join(
        map(escaped_latex, filter(None, (sheet.formula, sheet.symbols)))
    )
    lines = [f"% {line}" for line in sheet.notes]
    lines += (
        [
            rf"\paragraph{{{escaped_latex(sheet.title)}}}",
            *([above] if above else []),
            "",
        ]
        if sheet.title
        else []
    )
    for part in sheet.readable:
        if not isinstance(part, Table):
            title, texts = part
            items = [rf"  \item {escaped_latex(line)}" for line in texts]
            lines += [rf"\textbf{{{escaped_latex(title)}}}\par"] if title else []
            lines += [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []
            continue
        shape = "".join("r" if numeric else "l" for numeric in part.numeric)
        lines += [rf"\textbf{{{escaped_latex(part.title)}}}\par"] if part.title else []
        lines += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule"]
        lines += [" & ".join(map(escaped_latex, part.head)) + r" \\", r"\midrule"]
        last = len(part.rows) - part.total
        for at, row in enumerate(part.marked(r"\textbf{{{}}}", escape=escaped_latex)):
            lines += [r"\midrule"] if at == last and part.total else []
            guard = (
                "{}" if row[0][:1] in ("[", "*") else ""
            )  # these would belong to the line above
            lines.append(guard + " & ".join(row) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}\par"]
    return "\n".join(lines) + "\n"


def html(sheet: Sheet) -> str:
    """Return a sheet as a piece of HTML with its own style."""
    escape = escaping.escape
    lines = [f"<style>{_STYLE}</style>", '<div class="rankstone">']
    lines += [f"<h3>{escape(sheet.title)}</h3>"] if sheet.title else []
    lines += [
        f'<p class="formula">{escape(text)}</p>'
        for text in (sheet.formula, sheet.symbols)
        if text
    ]
    for part in sheet.readable:
        if not isinstance(part, Table):
            title, texts = part
            lines += [f"<h4>{escape(title)}</h4>"] if title else []
            lines.append(_items(texts))
            continue
        kinds = [' class="n"' if numeric else "" for numeric in part.numeric]
        head = "".join(
            f"<th{kind}>{escape(cell)}</th>"
            for kind, cell in zip(kinds, part.head, strict=True)
        )
        lines += [f"<h4>{escape(part.title)}</h4>"] if part.title else []
        lines.append(f"<table><thead><tr>{head}</tr></thead><tbody>")
        last = len(part.rows) - part.total
        for at, row in enumerate(part.marked("<b>{}</b>", escape=escape)):
            cells = "".join(
                f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)
            )
            lines.append(
                f'<tr class="sum">{cells}</tr>' if at >= last else f"<tr>{cells}</tr>"
            )
        lines.append("</tbody></table>")
    lines += [_items(sheet.brief)] if sheet.brief else []
    return "\n".join([*lines, "</div>"])


def _items(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escaping.escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
