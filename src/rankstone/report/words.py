"""Headings of the pages, in English and Chinese."""

from __future__ import annotations

from typing import Final

__all__ = ["words"]

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "verdict": ("Verdict", "结论"),
    "measures": ("Measures", "指标"),
    "queries": ("Queries", "查询"),
    "query": ("Query", "单个查询"),
    "curves": ("Curves", "曲线"),
    "segments": ("Segments", "分段"),
    "statistics": ("Statistics", "统计"),
    "judgments": ("Judgments", "标注"),
    "provenance": ("Conventions & provenance", "约定与来源"),
    "pages": ("Pages", "页面"),
    "theme": ("Light/dark", "明/暗"),
    "print": ("Print", "打印"),
    "needs_script": (
        "Tables and charts of this page need JavaScript; the verdict above does not.",
        "本页的表格与图需要 JavaScript；以上结论不需要。",
    ),
    "unsaid": (
        "… and {count} more questions, in the table of differences",
        "……另有 {count} 个问题，见差值表",
    ),
    "decided": (
        "{measure}: {decided} of {all} questions are decided; {best} has the best mean, {mean}",
        "{measure}：{all} 个问题中 {decided} 个有结论；均值最优者为 {best}，{mean}",
    ),
    "differences": ("Differences", "差值"),
    "differences_help": (
        "A point is a mean difference, a line its interval at the family's level; one without 0 decides.",
        "点为各查询差值的均值，线为族水平的区间；区间不含 0 则有结论。",
    ),
    "means": ("Means", "均值"),
    "means_help": (
        "Click a heading to sort. The best mean of a measure is marked ●.",
        "点击表头排序。每个指标的最优均值以 ● 标出。",
    ),
    "best": ("best", "最优"),
    "system": ("system", "系统"),
    "versus": ("versus", "对比"),
    "run": ("run", "运行"),
    "runs": ("runs", "运行数"),
    "measure": ("measure", "指标"),
    "role": ("role", "角色"),
    "primary": ("primary", "主要"),
    "exploratory": ("exploratory", "探索"),
    "n": ("queries", "查询数"),
    "mean": ("mean", "均值"),
    "difference": ("difference", "差值"),
    "low": ("low", "下界"),
    "high": ("high", "上界"),
    "judgement": ("verdict", "结论"),
    "p": ("p", "p"),
    "p_adjusted": ("p adjusted", "校正 p"),
    "p_t": ("p of t", "t 检验 p"),
    "wins": ("wins", "胜"),
    "ties": ("ties", "平"),
    "losses": ("losses", "负"),
    "needed": ("queries that would decide", "所需查询"),
    "detectable": ("detectable", "可检差值"),
    "query_id": ("query", "查询"),
    "text": ("text", "文本"),
    "filter": ("Filter", "筛选"),
    "filter_help": ("part of an id, or a condition: >0.1, <0", "标识的一部分，或条件：>0.1、<0"),
    "rows": ("{shown} of {all} rows", "{all} 行中的 {shown} 行"),
    "more": ("more rows", "更多行"),
    "copy_csv": ("Copy CSV", "复制 CSV"),
    "copy_latex": ("Copy LaTeX", "复制 LaTeX"),
    "copied": ("copied", "已复制"),
    "data": ("Data of the chart", "图的数据"),
    "choose_measure": ("Measure", "指标"),
    "choose_system": ("System", "系统"),
    "choose_versus": ("Against", "对比"),
    "choose_query": ("Query", "查询"),
    "queries_help": (
        "Click a bar, a point or an id to see the two lists.",
        "点击条形、点或标识可查看两个列表。",
    ),
    "sampled": (
        "Of {n} queries the page holds {shown}: the ends, and even steps between them. Means are of all.",
        "{n} 个查询中本页保留 {shown} 个：两端差值最大者与其间等距抽取者；均值基于全部。",
    ),
    "thinned": ("{shown} of {n} queries drawn", "绘出 {n} 个查询中的 {shown} 个"),
    "quantiles": ("Quantiles of the differences, over all queries", "差值的分位数（全部查询）"),
    "lists_of": (
        "Lists of {shown} of {n} queries are here: those whose scores differ most.",
        "此处有 {n} 个查询中 {shown} 个的列表：得分差异最大者。",
    ),
    "no_list": ("This page holds no list of this query.", "本页没有该查询的列表。"),
    "no_lists": (
        "Scores that somebody saved have no lists; from judgments and runs they would be here.",
        "保存的得分没有列表；由标注与运行文件生成时此处会有列表。",
    ),
    "no_lists_convention": (
        "Lists and curves are of measures of our own, not of a library's.",
        "列表与曲线仅用于本工具自身的指标。",
    ),
    "no_lists_here": ("Lists could not be unfolded", "列表无法展开"),
    "no_curves": ("Curves could not be traced", "曲线无法绘制"),
    "first_relevant": (
        "Success@k: share of queries with a relevant document among the first k",
        "Success@k：前 k 名中有相关文档的查询比例",
    ),
    "curves_help": (
        "Means over queries; the band, for up to four systems, is the 95 % interval of each mean.",
        "各查询均值；系统不超过四个时，色带为各处均值的 95 % 区间。",
    ),
    "rank": ("rank", "排名"),
    "document": ("document", "文档"),
    "relevance": ("relevance", "相关度"),
    "contribution": ("adds", "贡献"),
    "moved": ("other list", "另一列表"),
    "absent": ("absent", "无"),
    "unjudged": ("not judged", "未标注"),
    "score": ("score", "得分"),
    "derivation": ("How the score came about", "得分的由来"),
    "retrieved": ("{shown} of {n} documents shown", "显示 {n} 篇文档中的 {shown} 篇"),
    "legend": (
        "Filled: relevant, with its grade; outlined: judged not relevant; hatched: not judged.",
        "标记：实心为相关（数字为等级），空心为不相关，斜线为未标注。",
    ),
    "matrix": ("Adjusted p of every pair", "各对的校正 p"),
    "matrix_help": (
        "▲ the row is better than the column, ▼ worse, ≈ equivalent, · open; by the family's interval.",
        "▲ 行优于列，▼ 行劣于列，≈ 等价，· 无定论，依族水平的区间。",
    ),
    "tests": ("Tests, effects, sensitivity", "检验、效应与灵敏度"),
    "anova": ("Systems and queries as causes (two-way analysis of variance)", "系统与查询的双因素方差分析"),
    "unjudged_at": ("Share of documents not judged among the first k", "前 k 名中未标注的比例"),
    "alignment": ("What alignment found", "对齐结果"),
    "bounds": (
        "If the unjudged were judged: the least and the most a difference could be",
        "若未标注文档被标注：差值的最小与最大",
    ),
    "no_bounds": (
        "How far unjudged documents could move the differences was not asked (--bounds).",
        "未要求计算未标注文档的影响（--bounds）。",
    ),
    "no_judgments": ("Saved scores say nothing of judgments.", "保存的得分不含标注信息。"),
    "command": ("Command", "命令"),
    "comparison": ("How systems were compared", "比较方法"),
    "conventions": ("Conventions the numbers depend on", "数值所依的约定"),
    "inputs": ("Inputs", "输入"),
    "versions": ("Versions", "版本"),
    "name": ("name", "名称"),
    "value": ("value", "值"),
    "source": ("source", "来源"),
    "better": ("better", "更优"),
    "worse": ("worse", "更差"),
    "higher": ("higher", "更高"),
    "lower": ("lower", "更低"),
    "equivalent": ("equivalent", "等价"),
    "inconclusive": ("inconclusive", "无定论"),
    "share": ("share", "比例"),
    "missing": ("missing", "缺失"),
    "extra": ("extra", "多余"),
    "documents": ("documents", "文档数"),
    "judged": ("judged", "已标注"),
    "tied": ("tied", "同分"),
    "duplicates": ("twice", "重复"),
    "lowest": ("least", "最小"),
    "highest": ("most", "最大"),
}


def words(lang: str) -> dict[str, str]:
    """Return the headings of a language.

    >>> words("en")["curves"], words("zh")["curves"]
    ('Curves', '曲线')
    """
    return {name: told[lang == "zh"] for name, told in _WORDS.items()}
