"""Which rules decided something in one list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rankstone._text import exact
from rankstone.measures.core.measure import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.explanation.traced_list import TracedList
    from rankstone.hits.alignment_options import AlignmentOptions


__all__ = ["Footnote", "footnotes"]

#: tie blocks that are named
_BLOCKS: Final = 3

_SENTENCES: Final[dict[str, dict[str, str]]] = {
    "missing": {
        "en": "the run does not answer this query: it {missing}",
        "zh": "该运行没有返回此查询的结果:{missing}",
    },
    "no_relevant": {
        "en": "no relevant document is known: empty={empty} decides",
        "zh": "没有已知的相关文档:由 empty={empty} 决定",
    },
    "no_ideal": {
        "en": "the ideal list gains nothing: the score is 0",
        "zh": "理想列表的增益为零:得分为 0",
    },
    "undefined": {
        "en": "there is no value: nothing to divide by",
        "zh": "没有取值:分母为零",
    },
    "dropped": {
        "en": "the query is left out of the mean",
        "zh": "该查询不计入平均值",
    },
    "lower_bound": {
        "en": "the maximum was searched for, not proven: the true value may be higher",
        "zh": "最大值是搜索得到的,未经证明:真实值可能更高",
    },
    "ties": {
        "en": "{count} documents tie with others; ties={ties} decides ({where})",
        "zh": "{count} 篇文档得分相同;由 ties={ties} 决定次序({where})",
    },
    "unjudged": {
        "en": "{count} of {shown} documents looked at were not judged: unjudged={unjudged}",
        "zh": "所看的 {shown} 篇文档中有 {count} 篇未经评判:unjudged={unjudged}",
    },
    "imputed": {
        "en": "{count} grades are imputed: unjudged={unjudged}",
        "zh": "{count} 个等级是补上的:unjudged={unjudged}",
    },
    "short": {
        "en": "the list has {n} documents, fewer than k = {k}",
        "zh": "列表只有 {n} 篇文档,少于 k = {k}",
    },
    "negative": {
        "en": "{count} judgments are below zero: negative={negative}",
        "zh": "{count} 条评判低于零:negative={negative}",
    },
    "duplicates": {
        "en": "{count} documents stand in the list more than once: duplicates={duplicates}",
        "zh": "{count} 篇文档在列表中重复出现:duplicates={duplicates}",
    },
    "pool": {
        "en": "only judgments of listed documents count: pool=list",
        "zh": "只计入列表中文档的评判:pool=list",
    },
    "pooled": {
        "en": "agg=pooled: over queries, numerators and denominators are summed apart; this query adds "
        "{numerator} to the one and {denominator} to the other",
        "zh": "agg=pooled:各查询的分子与分母分别求和;本查询贡献分子 {numerator}、分母 {denominator}",
    },
    "link": {
        "en": "the value is a function of the ratio, see the formula",
        "zh": "得分是该比值的函数,见公式",
    },
}


@dataclass(frozen=True)
class Footnote:
    """A rule that decided something, and the numbers it is about."""

    code: str
    about: Mapping[str, Any] = field(default_factory=dict)

    def text(self, lang: str = "en") -> str:
        """Return it as a sentence."""
        return _SENTENCES[self.code][lang].format(**self.about)


def footnotes(
    listed: TracedList, options: AlignmentOptions, *, k: int | None, absent: str, pooled: bool
) -> Iterator[Footnote]:
    """Return the rules that fired.

    Parameters
    ----------
    listed
        The whole list, and what the measure made of it.
    options
        The rules.
    k
        The cutoff.
    absent
        The rule for a query of which the run has no list; empty where it has one.
    pooled
        True if queries are put together as a ratio of sums.
    """
    rules, scored, tally = options.recorded(), listed.scored, listed.scored.chunk.tally
    if absent:
        yield Footnote("missing", {"missing": f"scores by {absent}"})
    elif k is not None and listed.retrieved < k:
        yield Footnote("short", {"n": listed.retrieved, "k": k})
    if scored.status.name in _SENTENCES and scored.status is not Status.missing:
        yield Footnote(scored.status.name, rules)
    shown = [row for row in listed.rows if k is None or row.first <= k]
    blocks = list(dict.fromkeys((row.first, row.last) for row in shown if row.last > row.first))
    where = ", ".join(f"{first}–{last}" for first, last in blocks[:_BLOCKS])
    counts = {
        "ties": sum(row.last > row.first for row in shown),
        "unjudged": sum(not row.judged and row.relevance is None for row in shown),
        "imputed": sum(not row.judged and row.relevance is not None for row in shown),
        "negative": listed.negative,
        "duplicates": 0 if tally is None else tally.duplicates,
    }
    about = {**rules, "shown": len(shown), "where": where + (" …" if len(blocks) > _BLOCKS else "")}
    for code, count in counts.items():
        if count:
            yield Footnote(code, {**about, "count": count})
    if pooled:
        sums = {"numerator": exact(scored.numerator), "denominator": exact(scored.denominator)}
        yield Footnote("pooled", sums)
    if options.pool == "list":
        yield Footnote("pool")
    if scored.status in (Status.ok, Status.lower_bound) and scored.value != scored.ratio:
        yield Footnote("link")
