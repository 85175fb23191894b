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
    "rank_difference": "difference of mean ranks",
    "interval": "{level} interval",
    "interval_pointwise": "pointwise {level} interval",
    "interval_simultaneous": "simultaneous {level} intervals",
    "intervals_pointwise": "pointwise interval",
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
    "inconclusive": "inconclusive: {system} − {versus} by {measure} is {numbers}",
    "identical": "{system} and {versus} have identical scores by {measure} on all {n} queries",
    "mean_ranks": "{numbers} in mean rank",
    "shows": "; these queries show differences from {least} on, with {power} power",
    "would_decide": "; one as large as observed would need about {n} queries, cautiously {cautious}",
    "word_better": "better",
    "word_worse": "worse",
    "word_higher": "higher",
    "word_lower": "lower",
    "word_equivalent": "equivalent",
    "word_identical": "identical",
    "word_inconclusive": "inconclusive",
    "more": "… and {count} more questions",
    "pool": "{judged} differs: {one} {a}, {other} {b}; the judgments may be unkind to who has less of it",
    "pools": "{judged} differs between systems; the judgments may be unkind to those with less of it",
    "more_than": "more than",
    "less_than": "less than",
    "bad_run": "{system} could not be scored and is not compared: {why}",
    "left_out": "{measure}: {n} queries without a value for every system are left out",
    "borderline": "{system} − {versus} by {measure}: the test and the interval disagree (p = {p}); "
    "the verdict is the interval's, which also allows for rare losses that were not seen",
    "too_few": "{units} queries or clusters are too few for any claim at this level by {correction}; fewer "
    "pairs (a baseline) or more queries would help",
    "flip": "{system} − {versus} by {measure}: judging the unjudged could make it anything from {low} "
    "to {high}",
    "exploratory": "exploratory, each measure a family of its own: {measures}",
    "family": "{size} questions in the primary family, {correction}; chance of any false claim at most "
    "{alpha}",
    "family_share": "{size} questions in the primary family, {correction}; expected share of false claims "
    "among all claims at most {alpha}",
    "family_each": "{size} questions in the primary family, not corrected; chance of a false claim at most "
    "{alpha} for each",
    "single": "one question; false claim at most {alpha}",
    "test": "{test}, two-sided",
    "test_randomisation": "paired randomisation test, {permutations}",
    "exact": "exact",
    "drawn": "{n} permutations, seed {seed}",
    "interval_method": "intervals: {method}, {levels} (a family's level: the verdict follows from it)",
    "simultaneous": "all intervals of the family hold together with {level} confidence",
    "pointwise": "each interval holds by itself with the confidence named; all of them together with less",
    "assumed_robust_tukey": "assumed: where there is no difference, either scores are exchangeable within a "
    "query or differences are symmetric about 0; where neither is so, it rests on simulations",
    "assumed_tukey": "assumed: scores of systems without a difference are exchangeable within a query, and "
    "so vary alike",
    "assumed_max_t": "assumed: queries are drawn independently, and there are many: with 30 systems false "
    "claims reached 0.10 at 25 queries and 0.08 at 50",
    "assumed_hsd": "assumed: errors are normal and of one variance",
    "assumed_nemenyi": "assumed: scores of systems without a difference are exchangeable within a query",
    "runs": "systems with several runs: {systems}",
    "clusters": "{units} clusters of queries are what is independent",
    "few_clusters": "only {units} clusters: from fewer than {least} intervals are rough",
    "detectable": "smallest difference detectable with {power} power: {values}",
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
    "rank_difference": "平均秩之差",
    "interval": "{level} 区间",
    "interval_pointwise": "{level} 逐点区间",
    "interval_simultaneous": "{level} 同时区间",
    "intervals_pointwise": "逐点区间",
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
    "inconclusive": "尚无定论：按 {measure}，{system} − {versus} 为 {numbers}",
    "identical": "按 {measure}，{system} 与 {versus} 在全部 {n} 个查询上得分完全相同",
    "mean_ranks": "{numbers}（平均秩）",
    "shows": "；以 {power} 的功效，这些查询可检出不小于 {least} 的差值",
    "would_decide": "；检出与观测值同样大小的差值约需 {n} 个查询（保守估计 {cautious} 个）",
    "word_better": "更优",
    "word_worse": "更差",
    "word_higher": "更高",
    "word_lower": "更低",
    "word_equivalent": "等价",
    "word_identical": "相同",
    "word_inconclusive": "无定论",
    "more": "……另有 {count} 个问题",
    "pool": "{judged} 不同：{one} 为 {a}，{other} 为 {b}；标注可能对较低者不利",
    "pools": "各系统的 {judged} 不同；标注可能对较低者不利",
    "more_than": "高于（个系统）",
    "less_than": "低于（个系统）",
    "bad_run": "{system} 无法计分，未参与比较：{why}",
    "left_out": "{measure}：{n} 个查询并非每个系统都有值，未计入",
    "borderline": "{measure} 的 {system} − {versus}：检验与区间不一致（p = {p}）；结论以区间为准，"
    "区间还考虑了未观测到的罕见损失",
    "too_few": "{units} 个查询或簇太少，{correction} 在此水平下无法作出任何断言；"
    "减少比较对（指定基线）或增加查询会有帮助",
    "flip": "{measure} 的 {system} − {versus}：若标注未标注的文档，差值可为 {low} 到 {high}",
    "exploratory": "探索性指标，各自成族：{measures}",
    "family": "主要族含 {size} 个问题，{correction}；出现任何错误断言的概率至多 {alpha}",
    "family_share": "主要族含 {size} 个问题，{correction}；全部断言中错误断言的期望比例至多 {alpha}",
    "family_each": "主要族含 {size} 个问题，未校正；每个问题错误断言的概率至多 {alpha}",
    "single": "一个问题；错误断言的概率至多 {alpha}",
    "test": "{test}，双侧",
    "test_randomisation": "配对随机化检验，{permutations}",
    "exact": "精确",
    "drawn": "{n} 次置换，种子 {seed}",
    "interval_method": "区间：{method}，{levels}（族水平，结论由此得出）",
    "simultaneous": "族内全部区间以 {level} 的置信度同时成立",
    "pointwise": "每个区间单独以所示置信度成立；全部同时成立的置信度较低",
    "assumed_robust_tukey": "假设：无差异时，同一查询内的得分可交换，或差值关于 0 对称，两者有其一即可；"
    "两者皆不成立时，依据仅为模拟",
    "assumed_tukey": "假设：无差异的系统在同一查询内的得分可交换，因而离散程度相同",
    "assumed_max_t": "假设：查询独立抽取，且数量足够：30 个系统时，"
    "错误断言的比例在 25 个查询下达到 0.10，50 个查询下达到 0.08",
    "assumed_hsd": "假设：误差服从正态分布且方差相同",
    "assumed_nemenyi": "假设：无差异的系统在同一查询内的得分可交换",
    "runs": "有多次运行的系统：{systems}",
    "clusters": "相互独立的是 {units} 个查询簇",
    "few_clusters": "只有 {units} 个簇：少于 {least} 个簇时区间较粗略",
    "detectable": "功效为 {power} 时可检出的最小差值：{values}",
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
