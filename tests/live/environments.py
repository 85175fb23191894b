"""An environment for each library: ``python tests/live/environments.py [NAME …]`` makes what is missing.

``--list`` names the runners.  Environments live in ``.venv-live/NAME``; one that was made for other
requirements is made anew.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.live.running import load  # noqa: E402 - found from the root

ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv-live"
RUNNERS = {path.stem: path for path in sorted((HERE / "runners").glob("*.py"))}


def interpreter(name: str) -> Path | None:
    """Return a library's interpreter, ``None`` where its environment has not been made."""
    folder = ENVIRONMENTS / name
    wanted = "\n".join(load(str(RUNNERS[name])).REQUIRES)
    stamp = folder / "requires.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        return None
    return folder / "bin" / "python"


def make(name: str) -> None:
    """Make a library's environment."""
    if interpreter(name) is not None:
        return
    sys.stderr.write(f"{name} …\n")
    folder, requires = ENVIRONMENTS / name, load(str(RUNNERS[name])).REQUIRES
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, *requires], check=True)
    (folder / "requires.txt").write_text("\n".join(requires), encoding="utf-8")


if __name__ == "__main__":
    if "--list" in sys.argv:
        sys.stdout.write("\n".join(RUNNERS) + "\n")
    else:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(make, sys.argv[1:] or RUNNERS))
