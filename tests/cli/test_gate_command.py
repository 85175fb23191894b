"""``rankstone gate`` as continuous integration meets it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.command_line import command

DEMO = Path(__file__).parents[2] / "src" / "rankstone" / "demo"
EXAMPLE = Path(__file__).parents[2] / "examples" / "ci" / "rankstone.toml"


run = partial(command, "gate")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a project with judgments and two runs, of which BM25 is the better one."""
    (tmp_path / "rankstone.toml").write_text(
        f"""
[gate]
qrels = "{DEMO / "qrels.txt"}"
baseline = "{DEMO / "tfidf.run"}"
candidate = "{DEMO / "bm25.run"}"

[[gate.rules]]
measure = "nDCG@10"
margin = 0.1
floor = 0.5

[gate.guards]
queries = 30
""",
        encoding="utf-8",
    )
    return tmp_path


def test_exit_codes(folder: Path) -> None:
    """0 passed, 1 failed, 2 usage, 3 not comparable, 4 inconclusive, unless that may warn or pass."""
    runs = {name: str(DEMO / f"{name}.run") for name in ("bm25", "tfidf")}
    assert run(code=0, cwd=folder).stdout.startswith("pass: bm25 in place of tfidf")
    run("--baseline", runs["bm25"], "--candidate", runs["bm25"], code=0, cwd=folder)
    text = (folder / "rankstone.toml").read_text(encoding="utf-8")
    (folder / "floor.toml").write_text(
        text.replace("floor = 0.5", "floor = 0.6"), encoding="utf-8"
    )
    run("--config", "floor.toml", code=1, cwd=folder)
    run("--inconclusive", "maybe", code=2, cwd=folder)
    (folder / "guard.toml").write_text(
        text.replace("queries = 30", "queries = 300"), encoding="utf-8"
    )
    run("--config", "guard.toml", code=3, cwd=folder)
    run("--candidate", "nowhere.run", code=3, cwd=folder)
    (folder / "open.toml").write_text(
        text.replace("margin = 0.1", "margin = 0.01"), encoding="utf-8"
    )
    run("--config", "open.toml", code=4, cwd=folder)
    assert (
        "warning: inconclusive: nDCG@10"
        in run(
            "--config", "open.toml", "--inconclusive", "warn", code=0, cwd=folder
        ).stderr
    )
    assert not run(
        "--config", "open.toml", "--inconclusive", "pass", code=0, cwd=folder
    ).stderr


def test_margins_are_checked_before_anything_is_scored(folder: Path) -> None:
    """32 queries cannot show that Success loses no more than 0.02; 183 can."""
    text = (folder / "rankstone.toml").read_text(encoding="utf-8")
    changed = text.replace('"nDCG@10"', '"Success@5"').replace(
        "margin = 0.1", "margin = 0.02"
    )
    (folder / "hard.toml").write_text(changed, encoding="utf-8")
    for more in ((), ("--check",)):
        done = run("--config", "hard.toml", *more, code=2, cwd=folder)
        assert "cannot pass at n = 32" in done.stderr
        assert "use ≥ 183 queries" in done.stderr
    assert (
        "the margin must be 0.11 or more" in run("--check", code=0, cwd=folder).stdout
    )


def test_what_is_written(folder: Path) -> None:
    """JUnit XML, a summary behind what others wrote, JSON."""
    (folder / "summary.md").write_text("# before\n", encoding="utf-8")
    done = run(
        "--junit",
        "gate.xml",
        "--summary",
        "summary.md",
        "--format",
        "json",
        code=0,
        cwd=folder,
    )
    assert json.loads(done.stdout)["verdict"] == "pass"
    assert ET.parse(folder / "gate.xml").getroot().get("failures") == "0"  # noqa: S314 - our own
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("# before\n### pass")


def test_without_a_configuration(tmp_path: Path) -> None:
    """It says what to do."""
    assert "--config FILE" in run(code=2, cwd=tmp_path).stderr


def test_the_example_is_understood() -> None:
    """The configuration that people start from."""
    from rankstone.comparison.gate_config import Config

    read = Config.read(EXAMPLE, {})
    assert [rule.measure for rule in read.rules] == ["nDCG@10", "R@100"]


@pytest.mark.parametrize(
    ("columns", "messages"),
    [
        (
            'usr = "query_id"',
            ["no table has a column usr", "did you mean user=query_id?"],
        ),
        (
            'user = "queryid"',
            ["columns: 'user=queryid' cannot be read", "did you mean user=query_id?"],
        ),
        (
            'user = "query_id", who = "query_id"',
            ["both renamed to query_id", "user and who of "],
        ),
        ('user = "query_id", spare = "rank"', ["no table has a column spare"]),
    ],
)
def test_wrong_columns_are_the_files_own_mistake(
    columns: str, messages: list[str], tmp_path: Path
) -> None:
    """What renames columns stands in the configuration, so that is the file to look at."""
    queries = [f"q{index:02}" for index in range(30)]
    judged = "".join(f"{query},w,d1,1\n{query},w,d2,0\n" for query in queries)
    (tmp_path / "q.csv").write_text(
        f"user,who,doc_id,relevance\n{judged}", encoding="utf-8"
    )
    (tmp_path / "a.csv").write_text(
        f"user,who,doc_id,score\n{judged}", encoding="utf-8"
    )
    text = '[gate]\nqrels = "q.csv"\nbaseline = "a.csv"\ncandidate = "a.csv"\n[gate.options]\n'
    text += f"columns = {{ {columns} }}\n"
    text += '[[gate.rules]]\nmeasure = "P@1"\nmargin = 0.2\n'
    (tmp_path / "rankstone.toml").write_text(text, encoding="utf-8")

    stderr = run(code=2, cwd=tmp_path).stderr
    assert stderr.startswith("error: rankstone.toml: ")
    assert all(message in stderr for message in messages), stderr
    if "spare" not in columns:  # --check looks at the judgments alone
        assert run("--check", code=2, cwd=tmp_path).stderr == stderr


def test_a_column_that_no_option_renamed_is_the_tables_mistake(tmp_path: Path) -> None:
    """What is missing for another reason is stated of the table."""
    (tmp_path / "q.csv").write_text("user,doc_id,grade\nq,d,1\n", encoding="utf-8")
    text = '[gate]\nqrels = "q.csv"\nbaseline = "a.csv"\ncandidate = "a.csv"\n[gate.options]\n'
    text += 'columns = { user = "query_id", points = "score" }\n'
    text += '[[gate.rules]]\nmeasure = "P@1"\nmargin = 0.2\n'
    (tmp_path / "rankstone.toml").write_text(text, encoding="utf-8")
    assert run(code=3, cwd=tmp_path).stderr.startswith(
        "error: q.csv: there is no column relevance\n"
    )


def test_shapes_of_ones_own(tmp_path: Path) -> None:
    """``shape`` of the file, which lies beside it, reads what --shape reads."""
    queries = [f"q{number}" for number in range(40)]
    hits = {query: {"hits": [["a", 2.0], ["b", 1.0]]} for query in queries}
    (tmp_path / "run.json").write_text(json.dumps(hits))
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 a 1\n" for q in queries))
    (tmp_path / "own.toml").write_text(
        '[[shapes]]\nname = "own"\ntitle = "hits of ours"\nrole = "run"\n'
        """json = '{"{query_id}": {"hits": [["{doc_id}", "{score}"]]}}'\n"""
        """example = '{"q1": {"hits": [["d1", 0.5]]}}'\n"""
    )
    config = tmp_path / "gate.toml"
    text = (
        '[gate]\nqrels = "qrels.txt"\nbaseline = "run.json"\ncandidate = "run.json"\n'
    )
    rule = '[[gate.rules]]\nmeasure = "RR"\nmargin = 0.3\n'
    config.write_text(f'{text}[gate.options]\nshape = "own.toml"\n{rule}')
    assert "pass" in run("--config", str(config)).stdout
    config.write_text(text + rule)
    plain = run("--config", str(config), code=3).stderr
    assert "run.json" in plain
    own = str(tmp_path / "own.toml")
    assert "pass" in run("--config", str(config), "--shape", own).stdout
    config.write_text(f"{text}[gate.options]\nshape = 3\n{rule}")
    assert "a text" in run("--config", str(config), code=2).stderr


def test_files_are_read_as_eval_reads_them(folder: Path) -> None:
    """Options of reading and alignment join those of the configuration."""
    rows = [line.split() for line in (DEMO / "qrels.txt").read_text().splitlines()]
    renamed = "".join(f"{query}\t{doc}\t{grade}\n" for query, _, doc, grade in rows)
    (folder / "qrels.tsv").write_text("q\tdoc_id\tgrade\n" + renamed)
    base = ["--config", str(folder / "rankstone.toml"), "--format", "json"]

    def checks(*options: str) -> object:
        return json.loads(run(*base, *options).stdout)["outcomes"]

    columns = ["--columns", "q=query_id,grade=relevance"]
    assert checks("--qrels", str(folder / "qrels.tsv"), *columns) == checks()
    assert checks("--missing", "drop") != checks()
