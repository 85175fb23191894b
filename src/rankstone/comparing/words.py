"""The words around numbers, in English and Chinese."""

from __future__ import annotations

from typing import Final

from rankstone.errors import BadOption

__all__ = ["LANGUAGES", "Words"]

_EN: Final = {
    "title": "{systems}, {n} queries",
    "verdict": "Verdict",
    "means": "Means (letters: better than that system, at the family's level)",
    "differences": "Differences",
    "differences_from": "Differences from {baseline}",
    "segments": "Segments",
    "care": "Take care",
    "how": "How",
    "system": "system",
    "measure": "measure",
    "difference": "difference",
    "interval": "{level} interval",
    "intervals": "interval",
    "systems": "{count} systems",
    "p": "p",
    "adjusted": "p {correction}",
    "wtl": "W/T/L",
    "verdict_head": "verdict",
    "needed": "needed",
    "unjudged": "if unjudged were judged",
    "better": "{system} is better than {versus} by {measure}: {numbers}",
    "worse": "{system} is worse than {versus} by {measure}: {numbers}",
    "higher": "{system} has more {measure} than {versus}: {numbers}",
    "lower": "{system} has less {measure} than {versus}: {numbers}",
    "equivalent": "{system} and {versus} are equivalent by {measure}, within ±{margin}: {numbers}",
    "inconclusive": "whether {system} or {versus} is better by {measure} is open: {numbers}",
    "would_decide": "; {n} queries would decide if that were the truth",
    "word_better": "better",
    "word_worse": "worse",
    "word_higher": "higher",
    "word_lower": "lower",
    "word_equivalent": "equivalent",
    "word_inconclusive": "inconclusive",
    "more": "… and {count} more questions",
    "pool": "{judged} differs: {one} {a}, {other} {b}; the judgments may be unkind to who has less of it",
    "pools": "{judged} differs between systems; the judgments may be unkind to those with less of it",
    "more_than": "more than",
    "less_than": "less than",
    "left_out": "{measure}: {n} queries without a value for every system are left out",
    "borderline": "{system} − {versus} by {measure}: p and interval fall on two sides of the line; "
    "the verdict is the interval's",
    "flip": "{system} − {versus} by {measure}: judging the unjudged could make it anything from {low} "
    "to {high}",
    "exploratory": "exploratory, each measure a family of its own: {measures}",
    "family": "{size} questions in the primary family, {correction}; false claims at most {alpha}",
    "single": "one question; false claim at most {alpha}",
    "test": "{test}, two-sided",
    "test_randomisation": "paired randomisation test, {permutations}",
    "exact": "exact",
    "drawn": "{n} permutations, seed {seed}",
    "interval_method": "intervals: {method}, {levels} (a family's level: the verdict follows from it)",
    "runs": "systems with several runs: {systems}",
    "clusters": "{units} clusters of queries are what is independent",
    "detectable": "smallest difference these queries show with a chance of {power}: {values}",
}  # fmt: skip
_ZH: Final = {
    "title": "{systems}，{n} 个查询",
    "verdict": "结论",
    "means": "均值（字母：在族水平上优于该系统）",
    "differences": "差值",
    "differences_from": "与 {baseline} 之差",
    "segments": "分段",
    "care": "注意",
    "how": "方法",
    "system": "系统",
    "measure": "指标",
    "difference": "差值",
    "interval": "{level} 区间",
    "intervals": "区间",
    "systems": "{count} 个系统",
    "p": "p",
    "adjusted": "p {correction}",
    "wtl": "胜/平/负",
    "verdict_head": "结论",
    "needed": "所需查询",
    "unjudged": "若未标注文档被标注",
    "better": "按 {measure}，{system} 优于 {versus}：{numbers}",
    "worse": "按 {measure}，{system} 劣于 {versus}：{numbers}",
    "higher": "{system} 的 {measure} 高于 {versus}：{numbers}",
    "lower": "{system} 的 {measure} 低于 {versus}：{numbers}",
    "equivalent": "按 {measure}，{system} 与 {versus} 在 ±{margin} 之内等价：{numbers}",
    "inconclusive": "按 {measure}，{system} 与 {versus} 孰优尚无定论：{numbers}",
    "would_decide": "；若真值即所见，约需 {n} 个查询",
    "word_better": "更优",
    "word_worse": "更差",
    "word_higher": "更高",
    "word_lower": "更低",
    "word_equivalent": "等价",
    "word_inconclusive": "无定论",
    "more": "……另有 {count} 个问题",
    "pool": "{judged} 不同：{one} 为 {a}，{other} 为 {b}；标注可能对较低者不利",
    "pools": "各系统的 {judged} 不同；标注可能对较低者不利",
    "more_than": "高于（个系统）",
    "less_than": "低于（个系统）",
    "left_out": "{measure}：{n} 个查询并非每个系统都有值，未计入",
    "borderline": "{measure} 的 {system} − {versus}：p 与区间分居界线两侧，结论以区间为准",
    "flip": "{measure} 的 {system} − {versus}：若标注未标注的文档，差值可为 {low} 到 {high}",
    "exploratory": "探索性指标，各自成族：{measures}",
    "family": "主要族含 {size} 个问题，{correction}；错误断言的概率至多 {alpha}",
    "single": "一个问题；错误断言的概率至多 {alpha}",
    "test": "{test}，双侧",
    "test_randomisation": "配对随机化检验，{permutations}",
    "exact": "精确",
    "drawn": "{n} 次置换，种子 {seed}",
    "interval_method": "区间：{method}，{levels}（族水平，结论由此得出）",
    "runs": "有多次运行的系统：{systems}",
    "clusters": "相互独立的是 {units} 个查询簇",
    "detectable": "以 {power} 的概率能显示的最小差值：{values}",
}  # fmt: skip
LANGUAGES: Final = {"en": _EN, "zh": _ZH}


class Words:
    """Phrases of a language.

    >>> Words("en")("wtl"), Words("zh")("wtl")
    ('W/T/L', '胜/平/负')
    """

    def __init__(self, language: str) -> None:
        if language not in LANGUAGES:
            raise BadOption(f"lang={language!r} is not known", expected=", ".join(LANGUAGES))
        self._phrases = LANGUAGES[language]

    def __call__(self, name: str, **parts: object) -> str:
        """Return a phrase with its parts filled in."""
        return self._phrases[name].format(**parts)
