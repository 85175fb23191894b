"""Titles and axes of charts, in English and Chinese."""

from __future__ import annotations

from typing import Final

__all__ = ["label"]

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "forest": ("Differences by {measure}", "{measure} 之差"),
    "segments": ("Differences by {measure} in segments", "各分段的 {measure} 之差"),
    "differences": (
        "{measure}: {system} − {versus}, query by query",
        "{measure}：{system} − {versus}，逐查询",
    ),
    "histogram": ("{measure}: how {system} − {versus} is spread", "{measure}：{system} − {versus} 的分布"),
    "scatter": ("{measure}: {system} against {versus}", "{measure}：{system} 对 {versus}"),
    "some": (" ({shown} of {n} queries)", "（{n} 个查询中的 {shown} 个）"),
    "pr": ("Precision over recall, interpolated", "插值查准率—查全率曲线"),
    "cloud": (
        "{system}: precision over recall, query by query",
        "{system}：逐查询的查准率—查全率曲线",
    ),
    "at_k": ("{measure}: the mean at every cutoff", "{measure}：各截断处的均值"),
    "difference": ("difference", "差值"),
    "queries": ("queries", "查询数"),
    "order": ("queries, ordered by difference", "按差值排序的查询"),
    "query": ("query", "查询"),
    "interval": ("interval", "区间"),
    "simultaneous": ("{axis}, simultaneous intervals", "{axis}，同时区间"),
    "pointwise": ("{axis}, pointwise intervals", "{axis}，逐点区间"),
    "verdict": ("verdict", "结论"),
    "question": ("question", "比较"),
    "winner": ("better", "更优"),
    "recall": ("recall", "查全率"),
    "cutoff": ("cutoff k", "截断 k"),
    "fpr": ("false positive rate", "假阳性率"),
    "mean": ("mean", "均值"),
    "system": ("system", "系统"),
    "heatmap": ("Retention by cohort ({kind})", "分批次留存率（{kind}）"),
    "curve": ("Retention by {unit} ({kind})", "按{unit}的留存率（{kind}）"),
    "reached": ("{unit}, as far as a tenth of the users have come", "{unit}（至少十分之一的用户已达到）"),
    "periods": ("New and returning users", "新增与回访用户"),
    "cut": (
        " ({cohorts} of {of_cohorts} cohorts, {ages} of {of_ages} ages)",
        "（{of_cohorts} 个批次中的 {cohorts} 个，{of_ages} 个时长中的 {ages} 个）",
    ),
    "exact": ("exact", "当期"),
    "rolling": ("rolling: then or later", "当期或之后"),
    "bracket": ("bracket", "区间内"),
    "cohort": ("cohort", "批次"),
    "size": ("users", "用户数"),
    "retained": ("came back", "留存用户"),
    "rate": ("retention", "留存率"),
    "low": ("low", "下界"),
    "high": ("high", "上界"),
    "day": ("day", "日"),
    "week": ("week", "周"),
    "month": ("month", "月"),
    "users": ("users", "用户数"),
    "cohorts": ("cohorts", "批次数"),
    "new": ("new", "新增"),
    "returning": ("returning", "回访"),
    "period": ("period", "时期"),
    "all": ("all", "全部"),
    "unjudged": ("share not judged among the first k", "前 k 名中未标注的比例"),
}


def label(name: str, lang: str = "en", **parts: object) -> str:
    """Return a title or a label.

    >>> label("recall"), label("recall", "zh")
    ('recall', '查全率')
    """
    return _WORDS[name][lang == "zh"].format(**parts)
