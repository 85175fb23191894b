"""Headings of the tables that measures of lists tell, in the languages they are told in."""

from __future__ import annotations

from typing import Final

__all__ = ["heading"]

_WORDS: Final[dict[str, tuple[str, str]]] = {
    # what rows are
    "depth": ("depth", "深度"),
    "document": ("document", "文档"),
    "item": ("item", "物品"),
    "category": ("category", "类别"),
    "group": ("group", "分组"),
    "user": ("user", "用户"),
    "part": ("part", "部分"),
    "rank": ("rank", "排名"),
    "contribution": ("contribution", "贡献"),
    "running": ("total", "累计"),
    # of two rankings
    "overlap": ("shared", "共有"),
    "size": ("out of", "总数"),
    "agreement": ("agreement", "一致度"),
    "weight": ("weight", "权重"),
    "same": ("same order", "同序"),
    "opposite": ("opposite order", "反序"),
    "left_open": ("open in one", "一方未定"),
    "more_same": ("same − opposite", "同序 − 反序"),
    "right_above": ("right above", "上方正确"),
    "above": ("above", "上方"),
    "weight_above": ("weight above", "上方权重"),
    "centred_a": ("2(x−m)", "2(x−m)"),
    "centred_b": ("2(y−m)", "2(y−m)"),
    # of whole lists
    "popularity": ("met by", "接触数"),
    "novelty": ("novelty", "新颖度"),
    "attention": ("attention", "注意力"),
    "relevant": ("relevant", "相关"),
    "expected": ("expected", "意料之中"),
    "surprise": ("surprise", "意外程度"),
    "tail": ("long tail", "长尾"),
    "lists": ("lists", "列表数"),
    "share": ("share", "份额"),
    "received": ("received", "所得"),
    "due": ("due", "应得"),
    "place": ("place", "位次"),
    "length": ("length", "长度"),
    "known": ("features known", "特征已知"),
    "past_share": ("past", "历史份额"),
    "list_share": ("list", "列表份额"),
    "exposure": ("exposure", "曝光"),
    "members": ("size", "规模"),
    "protected": ("protected", "受保护"),
    "placed": ("places", "获得位置"),
    "possible": ("possible", "可能位置"),
    "chance": ("chance", "机会"),
    # titles
    "by_depth": ("By depth", "按深度"),
    "by_document": ("By document", "按文档"),
    "by_item": ("By item", "按物品"),
    "by_category": ("By category", "按类别"),
    "by_group": ("By group", "按分组"),
    "by_user": ("By user", "按用户"),
    "by_part": ("By part", "按部分"),
    "least": ("At least", "下界"),
    "most": ("At most", "上界"),
    "past": ("The past", "历史"),
    "list": ("The list", "列表"),
    "first_is_reference": ("The first ranking as the reference", "以第一个排序为基准"),
    "second_is_reference": ("The second ranking as the reference", "以第二个排序为基准"),
    "ranks_of_first": ("Weighed by ranks in the first", "按第一个排序的排名加权"),
    "ranks_of_second": ("Weighed by ranks in the second", "按第二个排序的排名加权"),
    "ranks_of_first_same": ("Same order, weighed by the first", "同序,按第一个排序加权"),
    "ranks_of_first_opposite": ("Opposite order, weighed by the first", "反序,按第一个排序加权"),
    "ranks_of_second_same": ("Same order, weighed by the second", "同序,按第二个排序加权"),
    "ranks_of_second_opposite": ("Opposite order, weighed by the second", "反序,按第二个排序加权"),
    # what becomes of sums
    "sum": ("sum", "合计"),
    "seen": ("sum · (1 − p)", "合计 · (1 − p)"),
    "beyond_lists": ("beyond the lists", "列表之外"),
    "agreement_at_end": ("agreement at end", "末端一致度"),
    "bound": ("bound", "界"),
    "untied_a": ("1st orders", "第一个排序区分"),
    "untied_b": ("2nd orders", "第二个排序区分"),
    "squares_a": ("squares of 1st", "第一个的平方和"),
    "squares_b": ("squares of 2nd", "第二个的平方和"),
    "pairs_opposite": ("D: opposite pairs", "D:反序对"),
    "pairs_open": ("T: open pairs", "T:一方未定的对"),
    "twice_less_norm": ("2 sum − below top", "2 · 合计 − 首位以下"),
    "others": ("below the top", "首位以下文档数"),
    "way": ("this way", "此向的值"),
    "pairs_weighed": ("same − opposite", "同序 − 反序的权重"),
    "norm": ("norm", "归一化"),
    "added": ("for the whole list", "整个列表另加"),
    "mean": ("mean", "均值"),
    "apart": ("distance", "距离"),
    "closeness": ("1 − distance", "1 − 距离"),
    "numerator": ("numerator", "分子"),
    "denominator": ("denominator", "分母"),
    "ratio": ("ratio", "比值"),
    "value": ("value", "得分"),
    "undefined": ("undefined", "未定义"),
    "query": ("query", "查询"),
    "whole_run": ("the whole run", "整个运行结果"),
    "more": ("… {count} more", "……另有 {count} 行"),
    "why": ("Why there is no value", "为何没有值"),
    "only_a": ("only {first} answers this query", "只有 {first} 回答了此查询"),
    "only_b": ("only {last} answers this query", "只有 {last} 回答了此查询"),
    "as_its_card_says": ("{undefined}", "{undefined}"),
    "places": (
        "Places count the documents of both lists only; tied ones share the middle.",
        "位次只计两个列表共有的文档;并列者取中间位次。",
    ),
    "counts_twice": (
        "Rows count each pair from both of its documents.",
        "每一对在它的两个文档的行中各计一次。",
    ),
    "doubled": ("So the numerator is 2 (C − D).", "因此分子为 2 (C − D)。"),
    "notes": ("How to read it", "读法"),
}


def heading(name: str, lang: str, **about: object) -> str:
    """Return a heading; names that measures make up themselves stay as they are.

    >>> heading("agreement", "zh"), heading("half_life", "en")
    ('一致度', 'half life')
    """
    english, chinese = _WORDS.get(name, (name.replace("_", " "),) * 2)
    return (chinese if lang == "zh" else english).format(**about)
