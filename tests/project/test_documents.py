"""What the documents show is what the project does."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from docs.making import figures, notebooks, options, pictures, printed
from tests.rows import each

from rankstone import demo
from rankstone.cli import cli
from rankstone.cli.conventions_command import pages

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))


def without_twins(pages: Iterable[Path], kind: str | None = None) -> list[Path]:
    """Return the pages without translations that show the same code, and below it the same; of one kind if named."""
    seen: dict[tuple[str, tuple[printed.Block, ...]], Path] = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        shown = tuple(
            each for each in printed.blocks(text) if kind in (None, each.kind)
        )
        seen.setdefault((page.name.replace(".zh.", "."), shown), page)
    return list(seen.values())


#: pages whose commands are typed as they stand, one after the other
TYPED = [
    "README.md",
    "README.zh.md",
    "docs/home.md",
    "docs/training-a-ranker.md",
    "docs/an-online-experiment.md",
]


@each("name", TYPED)
def test_pages_that_are_typed_show_what_is_printed(name: str) -> None:
    """What stands below code in the readmes, on the home page and in tutorials is what the code prints."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert printed.refreshed(text) == text


@pytest.mark.parametrize("name", [*TYPED, "examples/notebooks/rag.ipynb"])
def test_commands_of_typed_pages_run(name: str) -> None:
    """Each succeeds, in a folder with the demo's files and those of a clone."""
    text = (
        notebooks.page("rag")
        if name.endswith(".ipynb")
        else (ROOT / name).read_text(encoding="utf-8")
    )
    lines = shell_lines(text)
    assert lines
    with printed.desk():
        for line in lines:
            done = printed.typed(line)
            assert done.exit_code == 0, f"{line}\n{done.output}"


def test_the_readmes_are_short_and_of_one_structure() -> None:
    """Two screens or so: at most 115 lines; as many sections, examples and rows of tables in Chinese."""
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in TYPED[:2])
    assert max(english.count("\n"), chinese.count("\n")) <= 115
    for mark in ("\n## ", "\n```", "\n| ", "\n!["):
        assert english.count(mark) == chinese.count(mark), mark


@each("name", TYPED[:2])
def test_the_figures_of_the_readmes_are_those_of_the_benchmarks(name: str) -> None:
    """`make pages` has been run since the benchmarks; whatever else counts seconds or bytes is in their sentence."""
    text = (ROOT / name).read_text(encoding="utf-8")
    sentence = next(line for line in text.splitlines() if "benchmarks.md)" in line)
    assert (
        figures.with_figures(text.replace(sentence, re.sub("[0-9]", "8", sentence)))
        == text
    )
    measured = r"\d (?:s|秒|MB|GB)\b|\d 秒"
    assert len(re.findall(measured, text)) == len(re.findall(measured, sentence)) == 4


@each("name", ["options.md"])
def test_rows_of_tables_are_readable_as_they_stand(name: str) -> None:
    """A row is at most 200 characters wide; what is longer goes on in the next one."""
    lines = (ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()
    assert [
        line for line in lines if line.startswith("|") and len(line) > options.WIDEST
    ] == []


@pytest.mark.parametrize("name", ["rag-numbers", "answers"])
def test_chinese_pages_show_the_same(name: str) -> None:
    """Code, sections and rows of tables are those of the English page; so is what is printed without a language."""
    pages = [
        (ROOT / f"docs/{name}{lang}.md").read_text(encoding="utf-8")
        for lang in ("", ".zh")
    ]
    english, chinese = (list(printed.blocks(page)) for page in pages)
    for here, there in zip(english, chinese, strict=True):
        in_chinese = " --lang zh" in there.code
        assert there.code.replace(" --lang zh", "") == here.code
        assert in_chinese or here.shown == there.shown
    for mark in ("\n## ", "\n| "):
        assert pages[0].count(mark) == pages[1].count(mark)


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/*.zh.md")), ids=lambda page: page.name
)
def test_chinese_pages_print_chinese(page: Path) -> None:
    """Every command that offers a language is typed with it, so what stands below is Chinese."""
    offering = {command for command, _ in options.declared()["lang"]}
    english = [
        line
        for line in shell_lines(page.read_text(encoding="utf-8"))
        if {" ".join(line.split()[1:n]) for n in (2, 3)} & offering
        and "--lang zh" not in line
        # a table to fill in has no sentences
        and "--to-judge" not in line
    ]
    assert page.name.startswith("classic") or english == []


def test_pictures_are_drawn_from_what_is_computed_now() -> None:
    """`make pages` has been run since the demo's numbers or the benchmarks changed."""
    drawn = pictures.pictures()
    assert {
        path.name: path.read_text("utf-8")
        for path in (ROOT / "docs/pictures").iterdir()
    } == drawn
    assert all(
        "http" not in text.replace("http://www.w3.org/2000/svg", "")
        for text in drawn.values()
    )


@pytest.mark.parametrize("name", notebooks.names())
def test_notebooks_show_what_a_kernel_shows(name: str) -> None:
    """In a real kernel each cell gives the output that is stored, one piece of HTML with a text beside it."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    stored = json.loads((notebooks.FOLDER / f"{name}.ipynb").read_text("utf-8"))
    assert json.loads(notebooks.written(name)) == stored
    book = nbformat.reads(json.dumps(stored), as_version=4)
    place = {"metadata": {"path": str(notebooks.FOLDER)}}
    client.NotebookClient(
        book, timeout=240, kernel_name="python3", resources=place
    ).execute()
    for cell, old in zip(book.cells, stored["cells"], strict=True):
        if old["cell_type"] == "code":
            (output,) = cell.outputs
            assert output.data["text/html"] == "".join(
                old["outputs"][0]["data"]["text/html"]
            )
            assert output.data["text/plain"] == "".join(
                old["outputs"][0]["data"]["text/plain"]
            )


def shell_lines(text: str) -> list[str]:
    """Return the commands of a document's blocks for a shell, their comments taken off."""
    matches = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    code = "\n".join(block for kind, block in matches if kind in ("", "sh", "console"))
    lines = code.replace("\\\n", " ").splitlines()
    commands = [line.removeprefix("$ ") for line in lines]
    return [
        re.split(r"\s+#\s", line)[0]
        for line in commands
        if line.startswith("rankstone ")
    ]


def mentioned(text: str) -> list[str]:
    """Return the commands in sentences and tables that are written out, in whole or without arguments."""
    spans = re.findall(r"`(rankstone [a-z][^`]*)`", text)
    lines = (" ".join(span.split()).replace("\\|", "|") for span in spans)
    return [line for line in lines if "…" not in line]


@each("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_shown_can_be_given(document: Path) -> None:
    """Every command line in the documents has a command and options that exist."""
    text = document.read_text(encoding="utf-8")
    older = document.name == "CHANGELOG.md"  # some names in it were given up
    for line in [*shell_lines(text), *([] if older else mentioned(text))]:
        words = shlex.split(line.partition(" > ")[0])[1:]
        command: click.Command = cli
        context = click.Context(cli, info_name="rankstone")
        while isinstance(command, click.Group) and words:
            result = command.get_command(context, words.pop(0))
            assert result is not None, line
            command = result
        if words and not command.context_settings.get("ignore_unknown_options"):
            command.make_parser(click.Context(command, parent=context)).parse_args(
                words
            )


def test_every_command_is_reported() -> None:
    """Each command of the command line stands in both readmes, and in a line of the list of commands."""
    commands = set(cli.list_commands(click.Context(cli))) - {"demo"}
    for name in ("README.md", "README.zh.md"):
        assert (
            set(
                re.findall(
                    r"`rankstone ([\w-]+)`", (ROOT / name).read_text(encoding="utf-8")
                )
            )
            >= commands
        )
    listed = shell_lines((ROOT / "docs/commands.md").read_text(encoding="utf-8"))
    assert {line.split()[1] for line in listed} >= commands


def test_the_pages_of_conventions_are_the_data_files() -> None:
    """`make docs` has been run since a data file changed."""
    written = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "docs/conventions").glob("*.md")
    }
    assert written == pages()


def test_a_page_of_conventions_begins_with_what_differs() -> None:
    """Its first line says which definitions are the defaults, which are not, and which options differ."""
    first = {
        name: text.splitlines()[2]
        for name, text in pages().items()
        if name != "README.md"
    }
    assert all("**Options that differ**: " in line for line in first.values())
    assert first["quepid-8.md"] == (
        "**The same definition as rankstone's default**: `CG`, `AP`, `RR`. "
        "**Another definition**: `NDCG`, `nDCG_cut`, `DCG`, `P`, `ERR`. "
        "**Options that differ**: `ties=input`."
    )
    assert first["gdeval-1.2.md"].startswith("**Another definition**: `ndcg`, `err`.")


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
        "board {cells} --missing skip",
        "board --pairs {battles}",
        "slices {qrels} {a} {b} --queries {halves} --min-size 8",
        "collection {qrels} {a} {b}",
        "reproduce {a} {b} --qrels {qrels}",
        "stages {qrels} {a} {b}",
        "certify {qrels} {a}",
        "power {qrels} {a} {b} -d 0.1",
        "bounds {qrels} {a} {b}",
        "curve {qrels} {a} {b} --target 0.5 --resamples 10",
        "thresholds {qrels} {a} {b}",
        "abstain {qrels} {a} {b}",
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
def test_every_part_of_the_json_is_reported(line: str, tmp_path: Path) -> None:
    """Whatever stands in what --format json prints stands in the document of options."""
    (tmp_path / "queries.csv").write_text("query_id,half\nq01,1\n")
    (tmp_path / "events.csv").write_text(
        "user_id,time,platform\nu,2024-01-01,a\nv,2024-01-01,b\n"
    )
    (tmp_path / "log.csv").write_text("query_id,doc_id,clicked\nq,a,1\n")
    (tmp_path / "shown.csv").write_text(
        "reward,propensity,target_propensity\n1,0.5,1\n0,0.5,0\n"
    )
    files = {
        "events": tmp_path / "events.csv",
        "qrels": demo.QRELS,
        "queries": tmp_path / "queries.csv",
    }
    files |= {
        name: tmp_path / f"{name}.csv"
        for name in ("log", "shown", "lists", "clicks", "tested")
    }
    files |= {name: tmp_path / f"{name}.csv" for name in ("cells", "battles")}
    files["cells"].write_text("system,x,y\na,1,2\nb,2,\n")
    files["battles"].write_text("left,right,winner\na,b,left\nb,a,left\na,b,tie\n")
    files["halves"] = demo.QUERIES
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
    text = (ROOT / "docs/options.md").read_text(encoding="utf-8")
    for part in json.loads(done.stdout):
        assert f"`{part}`" in text, part
