"""Edits of a golden set, and its split after each: ``python -m tests.golden.split_edits 10000``.

Every edit is followed by a split.  What is checked each time: no stored query moves; a new query that says nearly
the same as a stored one goes where that is, or is named because it resembles queries of both sides.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from rankstone import golden
from rankstone.golden.golden_splits import HOLDOUT

if TYPE_CHECKING:
    from collections.abc import Iterable

Case = dict[str, Any]

EDITS: Final = ("add", "remove", "reorder", "rename", "resemble")
HOLDOUT_SHARE: Final = 0.3
FIRST: Final = 40
LETTERS: Final = "bcdfghjklmnpqrstvwxz"
#: how many queries there may be
FEWEST: Final = 20
MOST: Final = 60


class EditedSet:
    """A golden set that is edited at random, and the splits that its queries were assigned to.

    Attributes
    ----------
    cases
        Its records.
    stored
        {query: split}, of removed queries, too.
    counts
        How often each kind of edit was made, how many stored queries were looked at after edits, how many
        moved, and where near-duplicates went.
    """

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.number = 0
        self.cases: list[Case] = [self.new() for _ in range(FIRST)]
        self.stored: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def new(self, query: str | None = None) -> Case:
        """Return a record that the set does not have yet."""
        words = ("".join(self.draw.choices(LETTERS, k=7)) for _ in range(3))
        self.number += 1
        return {
            "id": f"q{self.number}",
            "query": query or " ".join(words),
            "expected": [f"d{self.number}"],
            "category": self.draw.choice("abc"),
        }

    def split(self) -> golden.Splits:
        """Split the set, and store what is new."""
        for case in self.cases:
            case["split"] = self.stored.get(case["id"], "")
        splits = golden.split(self.cases, holdout=HOLDOUT_SHARE, by=["category"])
        sides = dict(splits.to_frame().select("query_id", "split").iter_rows())
        known = sides.keys() & self.stored.keys()
        self.counts["compared"] += len(known)
        self.counts["moved"] += sum(sides[q] != self.stored[q] for q in known)
        self.stored |= {query: side for query, side in sides.items() if side}
        return splits

    def strata_off(self) -> float:
        """Return by how many queries the hold-out of a stratum misses its share, at most."""
        every: Counter[str] = Counter()
        held: Counter[str] = Counter()
        for case in self.cases:
            every[case["category"]] += 1
            held[case["category"]] += self.stored.get(case["id"]) == HOLDOUT
        return max(abs(held[name] - HOLDOUT_SHARE * every[name]) for name in every)

    def edit(self) -> None:
        """Make an edit, split again, and look where near-duplicates went."""
        kind = self.draw.choice(EDITS)
        if len(self.cases) >= MOST:
            kind = "remove"
        if kind == "remove" and len(self.cases) <= FEWEST:
            kind = "add"
        self.counts[kind] += 1

        chosen = self.draw.randrange(len(self.cases))
        if kind == "add":
            self.cases.insert(chosen, self.new())
        elif kind == "remove":
            self.cases.pop(chosen)
        elif kind == "reorder":
            self.draw.shuffle(self.cases)
        elif kind == "rename":
            self.cases[chosen]["category"] = self.draw.choice("abcd")
        else:
            copy = self.new(f"{self.cases[chosen]['query']}?")
            self.cases.append(copy)
        splits = self.split()
        if kind == "resemble":
            self.look(copy, splits.left_out)

    def look(self, copy: Case, left_out: Iterable[str]) -> None:
        """Count where a near-duplicate went: beside its like, nowhere but named, or apart."""
        plain = copy["query"].rstrip("?")
        sides = {
            self.stored[case["id"]]
            for case in self.cases
            if case is not copy
            and case["query"].rstrip("?") == plain
            and case["id"] in self.stored
        }
        side = self.stored.get(copy["id"])
        if side is None and copy["id"] in left_out:
            self.counts["named"] += 1
        elif sides == {side}:
            self.counts["together"] += 1
        else:
            self.counts["apart"] += 1


def edited(edits: int, seed: int = 1) -> tuple[EditedSet, float]:
    """Return a set after a number of edits, and by how much its first strata missed their share."""
    cases = EditedSet(seed)
    cases.split()
    off = cases.strata_off()
    for _ in range(edits):
        cases.edit()
    return cases, off


if __name__ == "__main__":
    began = time.perf_counter()
    result, off = edited(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    took = time.perf_counter() - began
    sys.stdout.write(
        f"{dict(result.counts)}\nfirst strata off by {off:.2f}\n{took:.0f} s\n"
    )
    sys.exit(bool(result.counts["moved"] or result.counts["apart"] or off >= 1))
