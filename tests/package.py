"""``python tests/package.py [--short]``: what would be published is built, checked, installed and used.

Everything happens in build/package, in environments of its own.  The Python that runs this has what the tests
need: it collects those of the source distribution.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "package"
#: what is not for the programs here: another folder's code, and that tests which need other groups may not skip
_OWN = ("PYTHONPATH", "RANKSTONE_SKIP_IS_FAILURE")
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install")
GATE = """\
[gate]
qrels = "qrels.txt"
baseline = "bm25.run"
candidate = "tfidf.run"

[[gate.rules]]
measure = "nDCG@10"
floor = 0.4
"""
HOOKS = """\
repos:
  - repo: {home}
    rev: {commit}
    hooks:
      - id: rankstone-check
        args: [qrels.txt]
"""
TEST = """\
def test_ranking(assert_ranking):
    assert_ranking("qrels.txt", "bm25.run", "nDCG@10", at_least={least})
"""


def run(
    *command: object,
    cwd: Path = ROOT,
    code: int = 0,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command, check how it ends, and return what it prints."""
    words = [str(word) for word in command]
    variables = {
        name: text for name, text in os.environ.items() if name not in _OWN
    } | dict(env or {})
    done = subprocess.run(
        words, cwd=cwd, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode != code:
        sys.exit(
            f"{' '.join(words)}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}"
        )
    return done.stdout + done.stderr


def environment(name: str, *packages: object) -> Path:
    """Make a virtual environment, and return the folder of its programs."""
    run(sys.executable, "-m", "venv", "--clear", BUILD / name)
    programs = BUILD / name / "bin"
    run(programs / "python", *PIP, *packages)
    return programs


def step(text: str) -> None:
    """Say what comes."""
    print(f"- {text}", flush=True)  # noqa: T201 - progress


def built(tools: Path) -> tuple[Path, Path]:
    """Build both distributions, check them, and return them."""
    step("sdist and wheel: built, twine check --strict, citation")
    run(tools / "python", "-m", "build", "--outdir", BUILD / "dist", ROOT)
    (source,), (wheel,) = (
        (BUILD / "dist").glob(f"*.{suffix}") for suffix in ("tar.gz", "whl")
    )
    run(tools / "twine", "check", "--strict", source, wheel)
    run(tools / "cffconvert", "--validate", "-i", ROOT / "CITATION.cff")
    return source, wheel


def checked_readme(programs: Path, tools: Path) -> None:
    """Check that the description renders, and that none of its links is relative."""
    step("the description renders, and its links are absolute")
    (metadata,) = programs.parent.glob("lib/*/site-packages/rankstone-*/METADATA")
    text = str(email.message_from_string(metadata.read_text("utf-8")).get_payload())
    code = "import sys; from readme_renderer import markdown; print(markdown.render(sys.stdin.read()) or '')"
    done = subprocess.run(
        [tools / "python", "-c", code],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    links = re.findall(r'href="([^"]*)"', done.stdout)
    relative = [link for link in links if not link.startswith(("https://", "#"))]
    if len(links) < 20 or relative:
        sys.exit(f"{len(links)} links, of which relative: {relative}")


def used(programs: Path) -> None:
    """Use an installation: commands, completion, the plugin of pytest."""
    work = programs.parent / "work"
    program = programs / "rankstone"
    shutil.copytree(run(program, "demo", "--where", cwd=BUILD).strip(), work)
    for words in (
        "demo",
        "eval qrels.txt bm25.run tfidf.run",
        "compare qrels.txt bm25.run tfidf.run",
        "report qrels.txt bm25.run tfidf.run -o report.html",
        "check qrels.txt bm25.run",
        "conventions diff --all qrels.txt bm25.run -m nDCG@10",
        "measures show nDCG",
    ):
        run(program, *words.split(), cwd=work)
    assert (work / "report.html").stat().st_size > 100_000
    for shell in ("bash", "zsh", "fish"):
        assert "complete" in run(
            program, env={"_RANKSTONE_COMPLETE": f"{shell}_source"}
        )
    (work / "test_good.py").write_text(TEST.format(least=0.5))
    (work / "test_bad.py").write_text(TEST.format(least=0.9))
    run(programs / "python", "-m", "pytest", "-q", "test_good.py", cwd=work)
    shown = run(
        programs / "python", "-m", "pytest", "-q", "test_bad.py", cwd=work, code=1
    )
    assert "nDCG@10 is 0.5704, minimum 0.9" in shown


def collected(source: Path) -> None:
    """Check that the tests of the source distribution are complete."""
    step("the tests of the sdist are collected")
    with tarfile.open(source) as archive:
        archive.extractall(BUILD, filter="data")
    folder = BUILD / source.name.removesuffix(".tar.gz")
    makefile = (folder / "Makefile").read_text()
    line = re.search(r'-m "(not parity.*?)"', makefile.replace("\\\n", ""))
    heavy = re.findall(
        r"\S+\.py", makefile.partition("HEAVY :=")[2].partition("LIGHT")[0]
    )
    assert line is not None
    command = [
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "--doctest-modules",
        "-m",
        line[1],
    ]
    command += [f"--ignore={item}" for item in heavy]
    shown = run(
        sys.executable,
        *command,
        cwd=folder,
        env={"PYTHONPATH": f"{folder / 'src'}:{folder}"},
    )
    step(f"  {shown.strip().splitlines()[-1]}")


def acted(tools: Path, wheel: Path) -> None:
    """Run the steps of the GitHub Action as a runner does."""
    step("the steps of the action")
    steps = "import sys, yaml, json; print(json.dumps(yaml.safe_load(sys.stdin)['runs']['steps']))"
    action = (ROOT / "integrations/github-action/action.yml").read_text()
    done = subprocess.run(
        [tools / "python", "-c", steps],
        input=action,
        capture_output=True,
        text=True,
        check=True,
    )
    install, gate = json.loads(done.stdout)
    work = BUILD / "wheel" / "work"
    (work / "rankstone.toml").write_text(GATE)
    runner = {
        name: str(work / name)
        for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "RUNNER_TEMP")
    }
    inputs = dict.fromkeys(gate["env"], "") | {"CONFIG": "rankstone.toml"}
    for script, options in (
        (install, {"INSTALL": str(wheel), "PYTHON": sys.executable}),
        (gate, inputs),
    ):
        run(
            "bash",
            "-eo",
            "pipefail",
            "-c",
            script["run"],
            cwd=work,
            env=runner | options,
        )
    assert "✔ pass" in (work / "GITHUB_STEP_SUMMARY").read_text()


def hooked(tools: Path) -> None:
    """Run the hook by the real pre-commit: runs that are fine, and one with a duplicate."""
    step("the hook of pre-commit")
    home, project = BUILD / "home", BUILD / "project"
    git = (
        "git",
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@localhost",
        "-c",
        "init.defaultBranch=main",
    )
    home.mkdir()
    (source,) = (BUILD / "dist").glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(home, filter="data")
    (tree,) = home.glob("rankstone-*")
    run(*git, "init", "-q", cwd=tree)
    run(*git, "add", "-A", cwd=tree)
    run(*git, "commit", "-qm", "as it is", cwd=tree)
    commit = run(*git, "rev-parse", "HEAD", cwd=tree).strip()
    project.mkdir()
    for name in ("qrels.txt", "bm25.run"):
        shutil.copy(BUILD / "wheel" / "work" / name, project)
    (project / ".pre-commit-config.yaml").write_text(
        HOOKS.format(home=tree, commit=commit)
    )
    run(*git, "init", "-q", cwd=project)
    run(*git, "add", "-A", cwd=project)
    hook = (tools / "pre-commit", "run", "--all-files")
    run(*hook, cwd=project, env={"PRE_COMMIT_HOME": str(BUILD / "hooks")})
    line = (project / "bm25.run").read_text().splitlines()[0]
    (project / "bm25.run").write_text(f"{line}\n{line}\n")
    shown = run(
        *hook, cwd=project, code=1, env={"PRE_COMMIT_HOME": str(BUILD / "hooks")}
    )
    assert "exit code: 3" in shown, shown
    step(textwrap.indent(shown.strip().splitlines()[-1], "  "))


def main(*, short: bool) -> None:
    """Do all of it; in short only the wheel is installed, and pre-commit is left out."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    tools = environment(
        "tools",
        "build",
        "cffconvert",
        "pyyaml",
        "readme_renderer[md]",
        "twine",
        *([] if short else ["pre-commit"]),
    )
    source, wheel = built(tools)
    for name, archive in (("wheel", wheel), ("sdist", source))[: 1 if short else 2]:
        step(f"the {name}: installed and used")
        used(environment(name, f"rankstone[report] @ {archive.as_uri()}", "pytest"))
    checked_readme(BUILD / "wheel" / "bin", tools)
    collected(source)
    acted(tools, wheel)
    if not short:
        hooked(tools)


if __name__ == "__main__":
    main(short="--short" in sys.argv[1:])
