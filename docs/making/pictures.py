"""The two pictures of the readme and the home page, as SVG: what a comparison shows, and how fast it is.

Fonts are the reader's, and the colours of text follow light and dark; nothing is fetched.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import rankstone
from rankstone import demo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["pictures", "times"]

_BENCHMARKS: Final = Path(__file__).parents[1] / "benchmarks.md"
_MEASURES: Final = ("nDCG@10", "AP", "RR@10")
_HEAD: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"
  width="{width}" height="{height}" role="img">
<title>{title}</title>
<style>
text{{font:14px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f}}
.b{{font-weight:600}}.s{{font-size:12.5px}}.e{{text-anchor:end}}.m{{text-anchor:middle}}
.l{{stroke:#6e7781;stroke-width:1}}.o{{fill:#8b949e}}
.up{{fill:#3b82c4;stroke:#3b82c4}}.down{{fill:#c4762b;stroke:#c4762b}}
@media (prefers-color-scheme:dark){{text{{fill:#e6edf3}}.l{{stroke:#9ea7b3}}}}
</style>
"""
#: cases of the benchmarks that the chart shows, with the subjects of each
_SHOWN: Final = {
    "parquet-7m": ("rankstone", "pytrec_eval", "ranx"),
    "text-7m": ("rankstone", "pytrec_eval", "ir_measures"),
    "recsys-20m": ("rankstone", "pytrec_eval", "RecTools (pandas)", "ranx"),
    "retention-100m": ("rankstone", "DuckDB, in SQL"),
}
_WORDS: Final = {
    "en": {
        "compare": "tfidf − bm25, query by query: nDCG@10",
        "counts": "{wins} better · {ties} equal · {losses} worse",
        "means": "Mean difference, 95 % interval",
        "inconclusive": "inconclusive",
        "better": "better",
        "worse": "worse",
        "speed": "Seconds and peak memory, whole processes on 2 cores",
        "parquet-7m": "7 million rows, five measures, Parquet",
        "text-7m": "The same as TREC text",
        "recsys-20m": "20 million rows: 200,000 users × 100 items",
        "retention-100m": "Retention from 100 million events",
    },
    "zh": {
        "compare": "tfidf − bm25，逐个查询：nDCG@10",
        "counts": "{wins} 个更好 · {ties} 个相同 · {losses} 个更差",
        "means": "平均差值与 95 % 区间",
        "inconclusive": "尚无定论",
        "better": "更好",
        "worse": "更差",
        "speed": "整个进程的秒数与内存峰值，双核机器",
        "parquet-7m": "700 万行，5 个指标，Parquet",
        "text-7m": "同样的数据，TREC 文本",
        "recsys-20m": "2000 万行：200,000 个用户 × 100 个物品",
        "retention-100m": "由 1 亿条事件计算留存",
    },
}


def pictures() -> dict[str, str]:
    """Return each picture by its name under ``docs/pictures``."""
    suffix = {"en": "", "zh": ".zh"}
    drawn = {"compare": _comparison, "speed": _speed}
    return {
        f"{name}{suffix[lang]}.svg": draw(lang)
        for name, draw in drawn.items()
        for lang in suffix
    }


def _svg(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    head = _HEAD.format(width=width, height=height, title=escape(title))
    return head + "\n".join(parts) + "\n</svg>\n"


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>'


def _line(
    x1: float, y1: float, x2: float, y2: float, kind: str = "l", more: str = ""
) -> str:
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"{more}/>'
    )


def _comparison(lang: str) -> str:
    """Draw the difference of the demo's two systems: a bar per query, an interval per measure."""
    words = _WORDS[lang]
    found = rankstone.compare(demo.QRELS, demo.RUNS, list(_MEASURES))
    rows = {row["measure"]: row for row in found.to_frame().to_dicts()}
    table = found.per_query
    gaps = sorted(
        table.filter(table["measure"] == _MEASURES[0])["difference"], reverse=True
    )

    def parts() -> Iterator[str]:
        yield _text(10, 20, words["compare"], "b")
        yield _text(10, 40, words["counts"].format(**rows[_MEASURES[0]]), "s")
        for at, gap in enumerate(gaps):
            x, height = 14 + at * 14.4, max(abs(gap) * 70, 1.5)
            kind = "up" if gap > 0 else "down" if gap < 0 else "o"
            yield (
                f'<rect x="{x:.1f}" y="{80 - height * (gap >= 0):.1f}" width="10" '
                f'height="{height:.1f}" class="{kind}"/>'
            )
        yield _line(10, 80, 474, 80)
        yield _text(10, 184, words["means"], "b")
        yield _line(185, 194, 185, 292, more=' stroke-dasharray="3 3"')
        yield _text(185, 306, "0", "s m")
        for at, (name, row) in enumerate(rows.items()):
            y, low, middle, high = (
                212 + at * 29,
                *(185 + 480 * row[k] for k in ("low", "difference", "high")),
            )
            yield _text(10, y + 5, name)
            kind = {"better": "up", "worse": "down"}.get(row["verdict"], "up")
            yield _line(low, y, high, y, kind, ' stroke-width="3"')
            yield f'<circle cx="{middle:.1f}" cy="{y}" r="5.5" class="{kind}"/>'
            said = f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]".replace(
                "-", "−"
            )
            yield _text(232, y + 5, f"{said}  {words[row['verdict']]}", "s")

    return _svg(484, 314, words["compare"], parts())


def _speed(lang: str) -> str:
    """Draw seconds and memory of some cases of the benchmarks' table."""
    words, measured = _WORDS[lang], times()
    longest = max(
        measured[case, who][0] for case, subjects in _SHOWN.items() for who in subjects
    )

    def parts() -> Iterator[str]:
        y = 22.0
        yield _text(10, y, words["speed"], "b")
        for case, subjects in _SHOWN.items():
            y += 32
            yield _text(10, y, words[case], "s b")
            for who in subjects:
                y += 22
                seconds, memory = measured[case, who]
                width = 380 * seconds / longest
                kind = "up" if who == "rankstone" else "o"
                name = who.split(", ")[0]
                yield _text(140, y, name, "s e")
                yield f'<rect x="150" y="{y - 11:g}" width="{max(width, 2):.1f}" height="14" class="{kind}"/>'
                yield _text(158 + width, y, f"{seconds:g} s · {memory:,} MB", "s")

    return _svg(680, 428, words["speed"], parts())


def times() -> dict[tuple[str, str], tuple[float, int]]:
    """Return median seconds and peak megabytes by case and subject."""
    found, case = {}, ""
    row = re.compile(
        r"(?m)^\| ([\w-]*) \| (.+?) \| \d+ \| ([\d.]+) \(.+?\) \| [\d.]+ \| ([\d,]+) \|"
    )
    for name, who, seconds, memory in row.findall(_BENCHMARKS.read_text("utf-8")):
        case = name or case
        found[case, who] = float(seconds), int(memory.replace(",", ""))
    return found
