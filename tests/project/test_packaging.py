"""What describes the package agrees with it: versions, extras, the readme of an index, manuals, hooks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml
from docs.making.manual import manual
from tests.oldest import lowest

import rankstone

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def test_one_version() -> None:
    """In the package, its metadata and its citation."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert PROJECT["version"] == citation["version"] == rankstone.__version__
    assert PROJECT["license"] == citation["license"]
    assert PROJECT["authors"] == citation["authors"]


def test_all_extras() -> None:
    """The extra ``all`` has every extra but those that bring gigabytes."""
    extras = set(PROJECT["optional-dependencies"])
    (everything,) = PROJECT["optional-dependencies"]["all"]
    named = re.fullmatch(r"rankstone\[(.*)\]", everything)
    assert named is not None
    assert set(named[1].split(",")) == extras - {"all", "spark", "torch"}


def test_the_lowest_versions() -> None:
    """Each requirement has a lower bound, which `make oldest` installs."""
    pins = lowest()
    assert {pin for pin in pins if not re.fullmatch(r"[\w-]+==[\d.]+", pin)} == set()
    assert {
        re.split("[>=]", dependency)[0] for dependency in PROJECT["dependencies"]
    } <= {pin.split("==")[0] for pin in pins}


def test_links_of_the_readme_lead_out_of_an_index() -> None:
    """Away from the repository every link of the readme is absolute, and its file exists here."""
    hook = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    (rule,) = hook["substitutions"]
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.sub(rule["pattern"], rule["replacement"], text)
    before, after = (re.findall(r"\]\(([^)\s]+)\)", case) for case in (text, shown))
    home = f"{PROJECT['urls']['Source']}/blob/main/"
    assert len(before) > 20
    assert after == [
        link if link.startswith("https://") else home + link for link in before
    ]
    assert [
        link for link in before if not (ROOT / link.partition("#")[0]).exists()
    ] == []


def test_manual_pages() -> None:
    """One for each command, with its name, its options and nothing that roff would take for a request."""
    pages = manual()
    assert {"rankstone.1", "rankstone-eval.1", "rankstone-online-retention.1"} <= set(
        pages
    )
    requests = {"TH", "SH", "PP", "TP", "nf", "fi"}
    for name, page in pages.items():
        assert {
            line[1:3] for line in page.splitlines() if line.startswith(".")
        } <= requests, name
        assert not [line for line in page.splitlines() if line.startswith("'")], name
    assert r"\fB\-o, \-\-output FILE\fR" in pages["rankstone-eval.1"]


def test_the_hook_of_pre_commit() -> None:
    """It is a command of ours; `make package` runs it."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["entry"] == "rankstone check"
    assert hook["language"] == "python"
    assert re.search(hook["files"], "runs/bm25.run")
