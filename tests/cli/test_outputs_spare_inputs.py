"""No output of any command takes the place of a file that the command reads, by whichever name.

Each command runs once while the system reports every file that is opened in its folder (inotify): by Python,
Polars, readers of workbooks, databases and model libraries alike.  Then every output option is pointed at
every one of these files, through symbolic and hard links.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import os
import shutil
import sqlite3
import struct
import sys
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import duckdb
import polars as pl
import pytest
from tests.command_line import command as run
from tests.command_line import commands
from tests.io.test_workbooks import workbook

import rankstone
from rankstone import demo
from rankstone.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import click

#: command → command lines that open what it can open, in the folder that :func:`world` makes
LINES: Final = {
    "eval": [
        "q.txt a.run --exclude pairs.csv --same-as same.csv -m P@3",
        "q.txt a.run --documents docs.csv --queries queries.csv --by country -m P@3",
        "q.txt parts -m P@3",
        "q.txt runs/*.run -m P@3",
        "q.txt a.jsonl.gz b.parquet c.json -m P@3",
        "q.txt duckdb:runs.duckdb#a b=sqlite:runs.sqlite#a -m P@3",
        "q.txt a.xlsx -m P@3",
        "q.txt a.run -m P@3 --import own.py",
        "--labeled labelled.csv -m P@3",
        "--exact-run a.run --depth 3 b.run",
        "q.txt a.run --memory 1GB -m P@3",
        "beir a.run -m P@3",
    ],
    "curve": ["q.txt a.run b.run --queries queries.csv --kind pr --resamples 20"],
    "sampled": ["q.txt full.run --catalogue-size 1000"],
    "compare": [
        "q.txt a.run b.run --queries queries.csv --by country -m P@3",
        "--scores scores.csv",
        "--scores a.scores b.scores",
    ],
    "board": [
        "wide.csv",
        "mteb",
        "collections.toml",
        "x.csv y.csv --resample queries",
        "--pairs battles.csv",
    ],
    "slices": [
        "q.txt a.run b.run --queries queries.csv --min-size 5 -m P@3",
        "--log ab.csv --min-size 5 --metric clicked",
    ],
    "gate": [
        "--config gate.toml",
        "--config gate.toml --candidate a.run --qrels q.txt",
    ],
    "report": [
        "q.txt a.run b.run --documents docs.jsonl --queries queries.csv -m P@3",
        "--scores scores.csv",
    ],
    "reproduce": [
        "runs again --qrels q.txt --baseline a -m P@3",
        "a.run b.run --qrels q.txt --qrels-again other.txt -m P@3",
    ],
    "power": ["q.txt a.run b.run -m P@3 -d 0.1"],
    "diff": ["a.run b.run"],
    "stages": ["q.txt a.run b.run --corpus docs.csv --answers answered.csv"],
    "explain": ["q.txt a.run -q q01 --versus b.run -m P@3"],
    "identify": ["q.txt a.run --value 0.36875 -m P@5"],
    "bounds": ["q.txt a.run b.run -m P@3 --exclude pairs.csv"],
    "baseline": ["q.txt a.run -m P@3"],
    "thresholds": ["q.txt a.run b.run -m P@3"],
    "abstain": ["q.txt a.run --queries queries.csv -m P@3"],
    "collection": ["q.txt runs --teams teams.csv -m P@3 --queries queries.csv"],
    "golden check": ["golden.json --corpus docs.csv --train pairs.csv"],
    "certify": ["q.txt a.run --queries queries.csv -m P@3"],
    "verify": ["card.json", "card.json other/q.txt other/a.run --original q.txt"],
    "beyond": [
        "a.run --items items.csv --history history.csv --qrels q.txt -m Novelty@3",
        "a.run --history history.csv --queries queries.csv --by country -m Novelty@3",
        "a.run --expected b.run --qrels q.txt -m Unexpectedness(against=baseline)@3",
    ],
    "online retention": ["events.csv --registrations registrations.csv"],
    "online clicks": [
        "clicks.csv",
        "clicks.csv --method ips --propensities propensities.csv",
    ],
    "online counterfactual": ["ab.csv new.run --propensity examination"],
    "online interleave": ["a.run b.run", "lists.csv --clicks shown.csv"],
    "online ab": ["ab.csv"],
    "answers": [
        "answers.jsonl",
        "answers.jsonl --nuggets nuggets.jsonl",
        "cited.jsonl --support support.csv",
    ],
    "ltr train": [
        "train.txt",
        "bare.txt",
        "train.csv",
        "train.txt --method ascent --init model.json --restarts 0",
    ],
    "ltr tune": ["train.txt --valid bare.txt --values 1,10 -m nDCG@3"],
    "ltr score": ["model.json train.txt", "lightgbm.txt train.txt"],
    "ltr eval": ["train.txt model.json predicted.txt table=predicted.csv -m nDCG@3"],
}
#: option → suffix of its files
SUFFIXES: Final = {
    "--per-query": ".csv",
    "--positions": ".csv",
    "--cohorts": ".csv",
    "--report": ".html",
    "--chart": ".svg",
    "--diagram": ".svg",
    "--cloud": ".svg",
    "--heatmap": ".svg",
}
#: command and option that take files of their own suffixes
OWN_SUFFIXES: Final = {
    ("report", "--output"): ".html",
    ("online clicks", "--output"): ".csv",
    ("online interleave", "--output"): ".csv",
}
IN_OPEN, IN_ISDIR = 0x20, 0x40000000
EVENT: Final = struct.Struct("iIII")


@pytest.fixture(scope="module", name="world")
def make_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small file of every kind that some command reads."""
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("runs", "again", "parts", "other", "mteb/m1/r", "mteb/m2/r"):
        (folder / name).mkdir(parents=True)
    (folder / "beir" / "qrels").mkdir(parents=True)
    texts = _texts()
    for path, text in texts.items():
        (folder / path).write_text(text)
    shutil.copy(demo.QRELS, folder / "q.txt")
    for path in ("a.run", "runs/a.run", "again/a.run", "parts/1.run", "new.run"):
        shutil.copy(demo.RUNS["bm25"], folder / path)
    for path in ("b.run", "runs/b.run", "again/b.run"):
        shutil.copy(demo.RUNS["tfidf"], folder / path)
    for path in ("other.txt", "other/q.txt"):
        shutil.copy(demo.QRELS, folder / path)
    shutil.copy(demo.RUNS["bm25"], folder / "other/a.run")
    _tables(folder)
    _scores(folder)
    _models(folder)
    run("certify", "q.txt", "a.run", "-m", "P@3", "-o", "card.json", cwd=folder)
    return folder


def _texts() -> dict[str, str]:
    queries = [f"q{number:02}" for number in range(1, 21)]
    documents = [
        json.loads(line)["doc_id"] for line in demo.DOCUMENTS.read_text().splitlines()
    ]
    first = documents[0]
    task = '{"task_name": "%s", "scores": {"test": [{"main_score": 0.%d}]}}'
    features = [
        f"{index % 3} qid:{index // 4} 1:{index % 5} 2:{index % 7}.5"
        for index in range(40)
    ]
    nugget = {"text": "x", "importance": "vital", "assignment": "support"}
    answer = {"qid": "q01", "nuggets": [nugget], "answer_text": "x"}
    plain = {"qid": "q01", "nuggets": [{"text": "x", "importance": "vital"}]}
    cited = {
        "qid": "q01",
        "references": [first],
        "answer": [{"text": "x", "citations": [0]}],
    }
    clicks = [
        f"s{index // 4},q01,d{index % 4},{index % 4 + 1},{index % 3 % 2}"
        for index in range(40)
    ]
    shown = [
        f"i{index // 2},u{index // 4},q01,{documents[index % 2]},{index % 2 + 1},{index % 3 % 2},"
        f"{'xy'[index // 4 % 2]},{index % 3 % 2},0.5"
        for index in range(80)
    ]
    return {
        "answered.csv": "query_id,correct\nq01,1\nq02,0\n",
        "docs.csv": "doc_id,title\n" + "".join(f"{doc},t\n" for doc in documents),
        "docs.jsonl": demo.DOCUMENTS.read_text(),
        "queries.csv": "query_id,country\n"
        + "".join(
            f"{query},{'xy'[index % 2]}\n" for index, query in enumerate(queries)
        ),
        "golden.json": '[{"id": "q1", "query": "what?", "expected": ["d"]}]',
        "pairs.csv": f"query_id,doc_id\nq01,{first}\n",
        "same.csv": f"doc_id,class\n{first},1\n{documents[1]},1\n",
        "items.csv": "doc_id,genre\n" + "".join(f"{doc},g\n" for doc in documents),
        "history.csv": f"query_id,doc_id\nq01,{first}\n",
        "teams.csv": "run,group\na,x\nb,y\n",
        "labelled.csv": "query_id,score,label\nq,2,1\nq,1,0\n",
        "own.py": "import own_neighbour\nimport rankstone\n"
        "from rankstone.measures import MEASURES\n\n\n"
        "@rankstone.measure(f'Own{len(MEASURES)}')\n"
        "def own(hits):\n    return hits.grade > 0\n",
        "own_neighbour.py": "THREE = 3\n",
        "wide.csv": "system,x,y,z\na,.1,.2,.3\nb,.2,.3,.1\nc,.3,.1,.2\n",
        **{
            f"mteb/m{model}/r/{name}.json": task % (name, 3 * model + index)
            for model in (1, 2)
            for index, name in enumerate("AB")
        },
        "collections.toml": '[collections.nq]\nqrels = "q.txt"\nruns = ["runs/*.run"]\n'
        '[collections.other]\nqrels = "other.txt"\nruns = ["again/*.run"]\n',
        "battles.csv": "left,right,winner\na,b,left\nb,a,left\na,c,tie\nb,c,right\n",
        "gate.toml": '[gate]\nqrels = "q.txt"\nbaseline = "a.run"\ncandidate = "b.run"\n'
        'queries = "queries.csv"\n[gate.options]\nexclude = "pairs.csv"\n'
        '[[gate.rules]]\nmeasure = "P@3"\nfloor = 0.1\n',
        "events.csv": "user_id,time\n"
        + "".join(f"u{index % 7},2025-01-{index % 20 + 1:02}\n" for index in range(60)),
        "registrations.csv": "user_id,time\n"
        + "".join(f"u{index},2025-01-01\n" for index in range(7)),
        "clicks.csv": "session,query_id,doc_id,position,clicked\n" + "\n".join(clicks),
        "propensities.csv": "position,propensity\n1,1\n2,.6\n3,.5\n4,.4\n",
        "ab.csv": "impression_id,user_id,query_id,doc_id,position,clicked,variant,reward,"
        "propensity\n" + "\n".join(shown) + "\n",
        "answers.jsonl": json.dumps(answer) + "\n",
        "nuggets.jsonl": json.dumps(plain) + "\n",
        "cited.jsonl": json.dumps(cited) + "\n",
        "support.csv": f"qid,sentence,doc_id,support\nq01,0,{first},1\n",
        "train.txt": "\n".join(features) + "\n",
        "bare.txt": "".join(
            f"{line.replace(f' qid:{index // 4}', '')}\n"
            for index, line in enumerate(features)
        ),
        "bare.txt.query": "4\n" * 10,
        "train.csv": "query_id,relevance,f,g\n"
        + "".join(
            f"{index // 4},{index % 3},{index % 5},{index % 7}\n" for index in range(40)
        ),
        "predicted.txt": "".join(f"{index % 5}\n" for index in range(40)),
        "predicted.csv": "score\n" + "".join(f"{index % 3}\n" for index in range(40)),
        "beir/corpus.jsonl": '{"_id": "d1", "text": "x"}\n',
        "beir/queries.jsonl": '{"_id": "q01", "text": "x"}\n',
    }


def _tables(folder: Path) -> None:
    """Write a run in every format, and judgments as BEIR has them."""
    rows = [line.split() for line in (folder / "a.run").read_text().splitlines()]
    frame = pl.DataFrame(
        [(row[0], row[2], float(row[4])) for row in rows],
        ["query_id", "doc_id", "score"],
        orient="row",
    )
    frame.write_parquet(folder / "b.parquet")
    frame.write_ndjson(folder / "a.jsonl")
    text = (folder / "a.jsonl").read_text()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    lists: dict[str, dict[str, float]] = {}
    for query, document, score in frame.iter_rows():
        lists.setdefault(query, {})[document] = score
    (folder / "c.json").write_text(json.dumps(lists))
    (folder / "a.xlsx").write_bytes(workbook(run=[tuple(frame.columns), *frame.rows()]))
    with duckdb.connect(folder / "runs.duckdb") as connection:
        connection.execute("CREATE TABLE a AS SELECT * FROM frame")
    connection = sqlite3.connect(folder / "runs.sqlite")
    connection.execute("CREATE TABLE a (query_id TEXT, doc_id TEXT, score REAL)")
    connection.executemany("INSERT INTO a VALUES (?, ?, ?)", frame.rows())
    connection.commit()
    connection.close()
    judged = [line.split() for line in (folder / "q.txt").read_text().splitlines()]
    full, sampled = [], dict.fromkeys((row[0] for row in judged), 0)
    for index, (query, _, document, grade) in enumerate(judged):
        sampled[query] += grade == "0"
        if grade != "0" or sampled[query] <= 4:
            full.append(f"{query} Q0 {document} 1 {index}. r")
    (folder / "full.run").write_text("\n".join(full) + "\n")
    beir = "".join(f"{row[0]}\t{row[2]}\t{row[3]}\n" for row in judged)
    (folder / "beir/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + beir)
    lists_shown = ["--draws", "2", "-o", "lists.csv"]
    run("online", "interleave", "a.run", "b.run", *lists_shown, cwd=folder)
    shown = pl.read_csv(folder / "lists.csv", infer_schema=False)
    kept = [name for name in ("query_id", "doc_id", "draw") if name in shown.columns]
    shown.select(kept)[:20].write_csv(folder / "shown.csv")


def _scores(folder: Path) -> None:
    """Write scores per query of both runs, together and apart."""
    scores = rankstone.evaluate(folder / "q.txt", {"a": folder / "a.run"}, "P@3")
    both = rankstone.evaluate(folder / "q.txt", demo.RUNS, "P@3").per_query
    both.select("run", "query_id", "measure", "value").write_csv(folder / "scores.csv")
    for name in ("x.csv", "y.csv"):
        shutil.copy(folder / "scores.csv", folder / name)
    lines = scores.per_query.select("query_id", "value").rows()
    text = "".join(f"P_3\t{query}\t{value}\n" for query, value in lines)
    for name in ("a.scores", "b.scores"):
        (folder / name).write_text(text)


def _models(folder: Path) -> None:
    """Train a model of ours and one of a library."""
    import lightgbm
    import numpy as np

    run("ltr", "train", "train.txt", "-o", "model.json", cwd=folder)
    values = np.random.default_rng(1).random((40, 2))
    data = lightgbm.Dataset(values, values[:, 0], feature_name=["1", "2"])
    settings: dict[str, Any] = {"min_data_in_leaf": 2, "verbose": -1}
    lightgbm.train(settings, data, 2).save_model(folder / "lightgbm.txt")


@contextmanager
def opened_files(folder: Path) -> Iterator[set[Path]]:
    """Collect the files in a folder that this process opens, by any library and thread."""
    system = ctypes.CDLL(None, use_errno=True)
    events = system.inotify_init1(os.O_NONBLOCK)
    places = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    watched = {
        system.inotify_add_watch(events, os.fsencode(place), IN_OPEN): place
        for place in places
    }
    names: set[Path] = set()
    try:
        yield names
        data = os.read(events, 1 << 22)
    finally:
        os.close(events)
    while data:
        watch, mask, _, length = EVENT.unpack_from(data)
        name = data[EVENT.size : EVENT.size + length].rstrip(b"\0").decode()
        data = data[EVENT.size + length :]
        if name and not mask & IN_ISDIR:
            names.add(watched[watch] / name)


def state(folder: Path) -> dict[str, str]:
    """Return the content of every file, links as they are."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def outputs_of(name: str) -> list[str]:
    """Return the options of a command that write files."""
    command: click.Command = commands()[name]
    return [
        param.opts[0] for param in command.params if getattr(param, "writes", False)
    ]


WRITING: Final = [name for name in commands() if outputs_of(name)]


def test_every_command_that_writes_has_lines() -> None:
    """A new command, or a new option that names a file in the panel of outputs, is tried, too."""
    assert set(WRITING) == set(LINES)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify reports what is opened")
@pytest.mark.parametrize("name", WRITING)
def test_no_output_takes_the_place_of_an_input(
    world: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every output option on every file that is opened: refused with both roles, nothing is changed."""
    monkeypatch.delitem(sys.modules, "own_neighbour", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = state(world)
    tried = 0
    for line in LINES[name]:
        words = [*name.split(), *_words(line, world)]
        needed = ["-o", str(tmp_path / "out.html")] if _needs_output(name) else []
        with opened_files(world) as files:
            done = run(*words, *needed, code=None, cwd=world)
        assert name == "gate" or not done.returncode, f"{line}: {done.stderr}"
        assert files, line
        for option in outputs_of(name):
            suffix = OWN_SUFFIXES.get((name, option)) or SUFFIXES.get(option, ".txt")
            for index, file in enumerate(sorted(files)):
                monkeypatch.delitem(sys.modules, "own_neighbour", raising=False)
                alias = tmp_path / f"{tried}{suffix}"
                if index % 2:
                    alias.symlink_to(file)
                else:
                    alias.hardlink_to(file)
                more = [] if option == "--output" else needed
                done = run(*words, *more, option, alias, code=2, cwd=world)
                about = f"{line} {option} {file.name}: {done.stderr}"
                flag = "-o" if option == "--output" else option
                assert f"{flag} {alias} is also" in done.stderr, about
                assert done.stdout == "", about
                assert alias.samefile(file), about
                tried += 1
    assert state(world) == before
    assert tried


def _words(line: str, folder: Path) -> list[str]:
    """Split a line; a shell opens patterns."""
    words = []
    for word in line.split():
        paths = sorted(folder.glob(word)) if "*" in word else []
        words += [str(path.relative_to(folder)) for path in paths] or [word]
    return words


def _needs_output(name: str) -> bool:
    return any(
        param.required for param in commands()[name].params if "-o" in param.opts
    )


def test_one_file_by_many_names(world: Path, tmp_path: Path) -> None:
    """A file is one file with ``./``, through a folder and back, by links to it and to its folder."""
    folder = tmp_path / "work"
    shutil.copytree(world, folder)
    (folder / "link.run").symlink_to("a.run")
    (folder / "hard.run").hardlink_to(folder / "a.run")
    (tmp_path / "door").symlink_to(folder)
    before = state(folder)
    names = ("a.run", "./a.run", "runs/../a.run", "link.run", "hard.run")
    for name in (*names, str(folder / "a.run"), str(tmp_path / "door" / "a.run")):
        for line in ("eval q.txt a.run -o", "verify card.json -o"):
            done = run(*line.split(), name, code=2, cwd=folder)
            assert f"-o {name} is also an input" in done.stderr
    with (folder / "a.run").open() as text:
        system = {"env": None, "cwd": folder}
        content = text.read()
    assert run("eval", "q.txt", "-", stdin=content, **system).returncode == 0  # type: ignore[arg-type]
    assert state(folder) == before


def test_two_outputs_are_two_files(world: Path, tmp_path: Path) -> None:
    """One file for two outputs is refused, also where only the case of letters differs, or a link."""
    (tmp_path / "o.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("o.csv")
    (tmp_path / "later.csv").symlink_to("new.csv")
    pairs = ("o.csv link.csv", "x.csv ./x.csv", "y.csv Y.CSV", "new.csv later.csv")
    for pair in pairs:
        first, second = (f"{tmp_path}/{name}" for name in pair.split())
        more = ("-o", first, "--per-query", second)
        done = run("eval", "q.txt", "a.run", *more, code=2, cwd=world)
        assert f"--per-query {second} is also the other output" in done.stderr
        assert f"-o {first}" in done.stderr
    summary = str(tmp_path / "o.csv")
    done = run(
        "gate", "--config", "gate.toml", "--junit", summary, "--summary", summary,
        code=2, cwd=world,
    )  # fmt: skip
    assert "is also the other output" in done.stderr
    assert (tmp_path / "o.csv").read_text() == "old"


def test_devices_are_no_files(world: Path) -> None:
    """Several outputs may go to a device, which holds nothing."""
    run(
        "gate", "--config", "gate.toml", "--junit", "/dev/null", "-o", "/dev/null",
        cwd=world, code=None,
    )  # fmt: skip


def test_in_python_a_path_to_write_is_written(world: Path, tmp_path: Path) -> None:
    """A method that writes replaces what is there; a page is not written onto what it is made of."""
    folder = tmp_path / "work"
    shutil.copytree(world, folder)
    scores = folder / "scores.csv"
    comparison = rankstone.compare_scores(scores)
    comparison.write(scores)
    runs = {name: folder / f"{name}.run" for name in "ab"}
    shown = rankstone.compare(folder / "q.txt", runs, "P@3")
    before = state(folder)
    for path in (runs["a"], folder / "docs.csv"):
        with pytest.raises(UsageError, match="is also an input"):
            rankstone.report(shown, path, documents=folder / "docs.csv")
    assert state(folder) == before
