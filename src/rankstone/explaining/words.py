"""Headings of explanations, in the languages they are told in."""

from __future__ import annotations

from typing import Final

__all__ = ["heading"]

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "rank": ("rank", "排名"),
    "document": ("document", "文档"),
    "relevance": ("relevance", "相关度"),
    "contribution": ("contribution", "贡献"),
    "running": ("total", "累计"),
    "relevant": ("relevant", "相关"),
    "gain": ("gain", "增益"),
    "divisor": ("discount", "折扣"),
    "mean_discount": ("mean discount", "平均折扣"),
    "found": ("found", "已找到"),
    "satisfies": ("satisfies", "满足概率"),
    "reached": ("reached", "到达概率"),
    "looked_at": ("looked at", "被看概率"),
    "negatives_above": ("neg. above", "上方负例"),
    "negatives_tied": ("neg. tied", "同分负例"),
    "negatives_below": ("neg. below", "下方负例"),
    "nonrelevant_above": ("not rel. above", "上方不相关"),
    "worthless": ("{count} of relevance 0 or less", "{count} 篇相关度不大于 0"),
    "gained": ("gained", "累计增益"),
    "ideal_gained": ("ideal gained", "理想累计增益"),
    "missed": ("judged, not retrieved", "已评判但未检索到"),
    "unjudged": ("retrieved, not judged", "检索到但未评判"),
    "numerator": ("numerator", "分子"),
    "denominator": ("denominator", "分母"),
    "value": ("value", "得分"),
    "ideal": ("The ideal list", "理想列表"),
    "list": ("The list", "列表"),
    "curve": ("The curve", "曲线"),
    "intents": ("The intents", "各意图"),
    "intent": ("intent", "意图"),
    "relevant_known": ("relevant", "相关数"),
    "ranks": ("found at ranks", "所在排名"),
    "place": ("place", "位次"),
    "ideal_place": ("ideal place", "理想位次"),
    "weight": ("weight", "权重"),
    "pairs_right": ("pairs right", "正确对"),
    "pairs_wrong": ("pairs wrong", "错误对"),
    "not_retrieved": ("Judged, not in the list", "已评判但不在列表中"),
    "changes": ("What would change it", "怎样会改变得分"),
    "others": ("What others would print", "其他工具会给出的值"),
    "footnotes": ("Rules that decided", "起作用的规则"),
    "query": ("query", "查询"),
    "not_judged": ("–", "–"),
    "difference": ("difference", "差"),
    "link": ("last step of the formula", "公式的最后一步"),
    "undefined": ("undefined", "未定义"),
    "more": ("… {count} more", "……另有 {count} 篇"),
    "change": (
        "{doc} (relevance {grade}, {at}): at rank {to} the score would be {value}, {gain} more",
        "{doc}(相关度 {grade},{at}):若排在第 {to} 位,得分为 {value},增加 {gain}",
    ),
    "at": ("at rank {at}", "排名第 {at}"),
    "nowhere": ("not retrieved", "未检索到"),
    "refuses": ("refuses", "拒绝"),
}


def heading(name: str, lang: str, **about: object) -> str:
    """Return a heading; names that measures make up themselves stay as they are.

    >>> heading("gain", "zh")
    '增益'
    >>> heading("half_life", "en")
    'half life'
    """
    english, chinese = _WORDS.get(name, (name.replace("_", " "),) * 2)
    return (chinese if lang == "zh" else english).format(**about)
