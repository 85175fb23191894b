"""The fates of relevant documents, written a second time, of texts and without anything of the package."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def ranks_of(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return query → document → rank: scores downwards, equal ones by id downwards."""
    lists = defaultdict(list)
    for line in lines:
        query, _, doc, _, score, _ = line.split()
        lists[query].append((float(score), doc))
    return {
        query: {
            doc: rank for rank, (_, doc) in enumerate(sorted(rows, reverse=True), 1)
        }
        for query, rows in lists.items()
    }


def fates_of(
    qrels: Iterable[str], first: Iterable[str], last: Iterable[str], k: int, rel: int
) -> Counter[str]:
    """Return fate → relevant documents."""
    before, after = ranks_of(first), ranks_of(last)
    fates: Counter[str] = Counter()
    for line in qrels:
        query, _, doc, grade = line.split()
        if int(grade) >= rel:
            old = before.get(query, {}).get(doc)
            shown = after.get(query, {}).get(doc, k + 1) <= k
            if old is None:
                fates["brought" if shown else "not_in_pool"] += 1
            elif old <= k:
                fates["kept" if shown else "demoted"] += 1
            else:
                fates["rescued" if shown else "never_shown"] += 1
    return fates
