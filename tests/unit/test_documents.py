"""What the documents show is what the project does."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.rows import each

from rankstone import demo
from rankstone.cli import cli
from rankstone.cli.conventions_command import pages

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))


def test_the_readme_shows_what_is_printed() -> None:
    """The example in both readmes prints what stands below it."""
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        code = text.split("```python\n")[1].split("```")[0]
        shown = text.split("```text\n")[1].split("```")[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, {})  # noqa: S102 - our own readme

        assert shown == out.getvalue(), name


def shell_lines(text: str) -> list[str]:
    """Return the commands of a document's plain code blocks, their comments taken off."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    lines = "\n".join(block for kind, block in blocks if not kind).replace("\\\n", " ").splitlines()
    return [line.split("  #")[0] for line in lines if line.startswith("rankstone ")]


@each("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_shown_can_be_given(document: Path) -> None:
    """Every command line in the documents has a command and options that exist."""
    for line in shell_lines(document.read_text(encoding="utf-8")):
        words = shlex.split(line)[1:]
        command: click.Command = cli
        context = click.Context(cli, info_name="rankstone")
        while isinstance(command, click.Group):
            found = command.get_command(context, words.pop(0))
            assert found is not None, line
            command = found
        if words and not command.context_settings.get("ignore_unknown_options"):
            command.make_parser(click.Context(command, parent=context)).parse_args(words)


def test_every_command_is_told() -> None:
    """Each command of the command line stands in both readmes, in a line that can be given."""
    for name in ("README.md", "README.zh.md"):
        told = {line.split()[1] for line in shell_lines((ROOT / name).read_text(encoding="utf-8"))}
        assert told >= set(cli.list_commands(click.Context(cli))) - {"demo"}, name


def test_the_pages_of_conventions_are_the_data_files() -> None:
    """`make docs` has been run since a data file changed."""
    written = {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs/conventions").glob("*.md")
    }
    assert written == pages()


def test_the_list_of_measures_is_the_cards() -> None:
    """`rankstone measures list --format md > docs/measures.md` has been run since a card changed."""
    shown = CliRunner().invoke(cli, ["measures", "list", "--format", "md"]).output
    assert (ROOT / "docs" / "measures.md").read_text(encoding="utf-8") == shown


@pytest.mark.parametrize(
    "line",
    [
        "eval {qrels} {a} {b} --queries {queries} --by half",
        "eval {qrels} {a} --ci -m AP",
        "compare {qrels} {a} {b} --queries {queries} --by half",
        "power {qrels} {a} {b} -d 0.1",
        "bounds {qrels} {a} {b}",
        "curve {qrels} {a} {b} --target 0.5 --resamples 10",
        "thresholds {qrels} {a} {b}",
        "sampled {held_out} {candidates} --catalogue-size 100",
        "diff {a} {b} --top 1",
        "diff {a} {b} -q q01",
        "beyond {a}",
        "online retention {events} --by platform",
        "online clicks {log}",
        "online counterfactual {shown}",
        "online interleave {a} {b}",
        "online ab {tested}",
        "online interleave {lists} --clicks {clicks}",
    ],
)
def test_every_part_of_the_json_is_told(line: str, tmp_path: Path) -> None:
    """Whatever stands in what --format json prints stands in the document of options."""
    (tmp_path / "queries.csv").write_text("query_id,half\nq01,1\n")
    (tmp_path / "events.csv").write_text("user_id,time,platform\nu,2024-01-01,a\nv,2024-01-01,b\n")
    (tmp_path / "log.csv").write_text("query_id,doc_id,clicked\nq,a,1\n")
    (tmp_path / "shown.csv").write_text("reward,propensity,target_propensity\n1,0.5,1\n0,0.5,0\n")
    files = {"events": tmp_path / "events.csv", "qrels": demo.QRELS, "queries": tmp_path / "queries.csv"}
    files |= {name: tmp_path / f"{name}.csv" for name in ("log", "shown", "lists", "clicks", "tested")}
    files["tested"].write_text(
        "user_id,impression_id,variant,position,click\n1,1,a,1,1\n2,2,a,1,0\n3,3,b,1,1\n4,4,b,1,1\n"
    )
    files["lists"].write_text(
        "query_id,draw,position,doc_id,method,credit,rank_a,rank_b\nq,0,1,d,team_draft,1,1,\n"
    )
    files["clicks"].write_text("query_id,doc_id\nq,d\n")
    files |= {name: tmp_path / f"{name}.csv" for name in ("held_out", "candidates")}
    files["held_out"].write_text("query_id,doc_id,relevance\nu,a,1\n")
    files["candidates"].write_text("query_id,doc_id,score\nu,a,2\nu,b,1\n")
    files |= {"a": demo.RUNS["bm25"], "b": demo.RUNS["tfidf"]}
    done = CliRunner().invoke(
        cli, [*line.format(**files).split(), "--format", "json"], catch_exceptions=False
    )
    told = (ROOT / "docs/options.md").read_text(encoding="utf-8")
    for part in json.loads(done.stdout):
        assert f"`{part}`" in told, part
