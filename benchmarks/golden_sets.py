"""Seconds and memory of checks of a large golden set: ids against millions of documents, near-duplicates.

``python benchmarks/golden_sets.py`` makes 100,000 queries and five million ids, and prints a row for each work, each
in a process of its own.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERIES = 100_000
DOCUMENTS = 5_000_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    """Make the files and time each work in a process."""
    if len(sys.argv) > 1:
        work(*sys.argv[1:])
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        for name in ("ids", "near"):
            line = [sys.executable, __file__, name, folder]
            subprocess.run(line, check=True)


def write(folder: Path) -> None:
    """Write queries of words as frequent as in language, with ids of which one in a hundred is gone."""
    draw = random.Random(1)  # noqa: S311 - drawn again from the seed
    words = ["".join(draw.choices(LETTERS, k=draw.randint(3, 9))) for _ in range(5000)]
    forms = ["how do i {} my {} in the {}", "what is the {} of {} {}", "{} {} {} {}"]
    with (folder / "golden.jsonl").open("w") as golden:
        for number in range(QUERIES):
            ranks = (min(int(draw.paretovariate(0.3) * 20), 4999) for _ in range(4))
            text = draw.choice(forms).format(*(words[rank] for rank in ranks))
            place = draw.randrange(DOCUMENTS)
            document = f"gone{place}" if number % 100 == 0 else f"doc{place}"
            case = {"id": f"q{number}", "query": text, "expected": [document]}
            golden.write(f"{json.dumps(case)}\n")
    with (folder / "ids.txt").open("w") as ids:
        ids.writelines(f"doc{number}\n" for number in range(DOCUMENTS))


def work(name: str, folder: str) -> None:
    """Check the set against the ids, or look for near-duplicates, and print what it took."""
    from rankstone import golden

    path = Path(folder)
    corpus = path / "ids.txt" if name == "ids" else None
    began = time.perf_counter()
    report = golden.check(path / "golden.jsonl", corpus, near=name == "near")
    seconds = time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first = report.files[0].findings[0].what
    print(f"{name:5} {seconds:6.1f} s {megabytes:7.0f} MB  {first}")


if __name__ == "__main__":
    main()
