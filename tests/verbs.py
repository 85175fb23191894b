"""``python tests/verbs.py [VERB …]``: verbs of make, each alone in a fresh clone and a fresh environment.

Without names it takes the verbs that the readme and the guide for contributors name.  What was committed last
is cloned; a clone goes when its verb ends, what the verb printed stays in ``build/verbs``.  Verbs that take
long do little (``SHORT``), because the question is whether each installs all that it imports.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

__all__ = ["SHORT", "named"]

ROOT: Final = Path(__file__).resolve().parent.parent
LOGS: Final = ROOT / "build" / "verbs"
#: variables with which a verb does little of the same
SHORT: Final = {
    "arrays": ["ARGS=-k torchmetrics"],
    "bench": ["ARGS=--short --only text-50k import help explain"],
    "browser": ["ARGS=-k hostile"],
    "coverage": ["ARGS=-k packaging"],
    "fuzz": ["ARGS=--measures 500 --files 500 --same 20"],
    "hooks": ["ARGS=-k sklearn"],
    "live": ["LIBRARIES=sklearn"],
    "mutants": ["ARGS=--number 0"],
    "night": ["MINUTES=1", "ARGS=-k reading"],
    "nightly": ["MINUTES=1"],
    "oldest": ["ARGS=-k reading"],
    "package": ["ARGS=--short"],
    "parity": ["LIBRARIES=sklearn", "ARGS=-k printed"],
    "regression": ["ARGS=--short"],
    "shell": ["ARGS=-k k_01"],
    "spark": ["ARGS=-k test_command"],
    "test": ["ARGS=-k packaging"],
}
#: what leads out of the clone, or hands this call's own variables on
_INHERITED: Final = re.compile(
    r"PYTHONPATH|VIRTUAL_ENV|MAKE.*|MFLAGS|ARGS|RANKSTONE_(?!CHROMIUM).*"
)


def named(*pages: str) -> list[str]:
    """Return the verbs that pages name as code, in their order, without the one that runs this."""
    code = re.compile(r"(?:`|^)make\s+(?!verbs\b)([a-z]+)", re.MULTILINE)
    texts = ((ROOT / page).read_text("utf-8") for page in pages)
    return list(dict.fromkeys(verb for text in texts for verb in code.findall(text)))


def run(verb: str, commit: str) -> tuple[int, float]:
    """Run a verb in a clone of its own; return its exit code and its seconds."""
    environment = {
        name: text
        for name, text in os.environ.items()
        if not _INHERITED.fullmatch(name)
    }
    # a test that skips because something is not installed is what is looked for
    environment |= {"RANKSTONE_SKIP_IS_FAILURE": "1", "RANKSTONE_CASES": "2"}
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix=f"make-{verb}-") as folder,
        (LOGS / f"{verb}.log").open("w", encoding="utf-8") as log,
    ):
        for command in (
            ["git", "clone", "--quiet", str(ROOT), folder],
            ["git", "-C", folder, "checkout", "--quiet", "-B", "main", commit],
            ["make", "-C", folder, verb, *SHORT.get(verb, [])],
        ):
            code = subprocess.call(
                command, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
            if code:
                break
    return code, time.monotonic() - began


def main(*verbs: str) -> int:
    """Run verbs one after the other, and print a line of each."""
    LOGS.mkdir(parents=True, exist_ok=True)
    git = ("git", "-C", ROOT)
    commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    if subprocess.check_output([*git, "status", "--porcelain"]):
        sys.stderr.write("what is not committed is not in the clones\n")
    sys.stdout.write("verb · exit code · seconds\n")
    failed = []
    for verb in verbs or named("README.md", "CONTRIBUTING.md"):
        code, seconds = run(verb, commit)
        call = " ".join([verb, *(f'"{text}"' for text in SHORT.get(verb, []))])
        sys.stdout.write(f"make {call} · {code} · {seconds:.0f}\n")
        sys.stdout.flush()
        failed += [f"build/verbs/{verb}.log"] * bool(code)
    if failed:
        sys.stdout.write(f"failed; see {', '.join(failed)}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
