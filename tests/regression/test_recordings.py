"""What the package computes and prints is what it computed and printed at the last look.

``expected.txt`` has a digest of the numbers of each part, ``words.txt`` the words themselves.  Where a number
differs, ``make regression BASE=<commit>`` shows which; after an intended change, ``python
tests/regression/test_recordings.py`` writes both files anew, and their difference is reviewed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.regression.compare import different  # noqa: E402 - found from the root
from tests.regression.record import block, lines  # noqa: E402 - found from the root

#: smaller than this is what rounding left of nothing
_NOTHING = 1e-9
#: worlds whose words are kept
_READ = ("demo ", "w0 audit", "w2 ")


def digests() -> tuple[list[str], list[str]]:
    """Return a digest for each part of the numbers, and words to be read."""
    os.environ["COLUMNS"] = "100"
    parts: dict[str, Any] = defaultdict(hashlib.sha256)
    words: list[str] = []
    for kind, key, value in lines(short=True):
        if kind == "number":
            parts[" ".join(key.split(" ")[:2])].update(
                f"{key}\t{rounded(value)}\n".encode()
            )
        elif key.startswith(_READ):
            words += [line.rstrip() for line in block(key, value).splitlines()]
    return [
        f"{part}\t{digest.hexdigest()[:16]}" for part, digest in sorted(parts.items())
    ], words


def rounded(value: str) -> str:
    """Return a number without its last digits: processors differ in the last bit of powers and logarithms."""
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:.9e}" if abs(number) > _NOTHING else "0"


def test_a_change_of_what_was_refused_covers_no_number() -> None:
    """Values in place of a refusal are announced; a number of the same measure that changes is not."""
    before = {
        "w1 AP": "refused: BadOption",
        "w2 AP q1 value": "0.5",
        "w3 RR": "refused: BadOption",
    }
    after = {
        "w1 AP q1 value": "0.25",
        "w2 AP q1 value": "0.75",
        "w2 AP q2 value": "1.0",
        "w3 RR q1 value": "1",
    }

    values = dict(different(before, after, [{"number": "* AP*", "was_refused": True}]))

    assert [line.partition(":")[0] for line, value in values.items() if value] == [
        "w1 AP",
        "w1 AP q1 value",
    ]
    assert len(values) == 6


def test_numbers_and_words_are_those_recorded(tmp_path: Path) -> None:
    """Each part's digest and each line of the words, recorded in a process that no other test has touched."""
    subprocess.run([sys.executable, __file__, str(tmp_path)], check=True)
    values, kept = (
        [
            (folder / name).read_text(encoding="utf-8").splitlines()
            for name in ("expected.txt", "words.txt")
        ]
        for folder in (tmp_path, HERE)
    )
    assert sorted(set(values[0]) ^ set(kept[0])) == [], "see make regression"
    assert values[1] == kept[1]


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    for name, result in zip(("expected.txt", "words.txt"), digests(), strict=True):
        (folder / name).write_text("\n".join(result) + "\n", encoding="utf-8")
