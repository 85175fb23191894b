"""Pipes stand wherever files may: <(…) of a shell, several in one command, and pipes that have a name."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone import demo
from rankstone.errors import BadLine, EmptyInput, InputError
from rankstone.io import sources
from rankstone.io.sources import (
    can_be_read_again,
    keeping_streams,
    read_stream,
    read_whole,
)

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash")
#: who was left and right, and who won
BATTLES = [("m1", "m2", "model_a"), ("m2", "m1", "model_a"), ("m1", "m2", "tie")]

if os.name != "posix":
    pytest.skip("pipes have no names here", allow_module_level=True)


def bash(line: str, folder: Path, code: int = 0) -> str:
    """Run a line of a shell in a folder, with rankstone as $R; return what it printed."""
    assert BASH is not None
    done = subprocess.run(
        [BASH, "-c", line],
        cwd=folder,
        env={**os.environ, "R": f"{sys.executable} -m rankstone"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout + (done.stderr if code else "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a file of every kind that commands read, without suffixes, as pipes have none."""
    place = tmp_path_factory.mktemp("pipes")
    for name, path in {
        "QRELS": demo.QRELS,
        "RUN": demo.RUNS["bm25"],
        "OTHER": demo.RUNS["tfidf"],
    }.items():
        shutil.copy(path, place / name)
    queries = pl.read_ndjson(demo.QUERIES)["query_id"].to_list()
    countries = [
        f"{query},{'de' if index % 2 else 'fr'}\n"
        for index, query in enumerate(queries)
    ]
    features = [
        f"{row % 2} qid:{row // 4} 1:{row * 7 % 5} 2:{row % 2}.{row % 3}\n"
        for row in range(40)
    ]
    texts = {
        "QUERIES.csv": ["query_id,country\n", *countries],
        "EVENTS.csv": [
            "user_id,time\n",
            "u1,2024-01-01\n",
            "u1,2024-01-02\n",
            "u2,2024-01-01\n",
        ],
        "FEATURES": features,
        "SCORES": [f"{row}\n" for row in range(40)],
        "LABELLED.csv": ["query_id,relevance,score\n", "q1,1,0.5\n", "q1,0,0.7\n"],
    }
    for name, lines in texts.items():
        (place / name).write_text("".join(lines))
    return place


def words_of(text: str) -> list[str]:
    """Return the words of an output; what files are called is a word like any other."""
    names = r"(/dev/fd/)?\b6\d\b|\b(QRELS|RUN|OTHER|QUERIES|EVENTS|LABELLED|FEATURES|SCORES|MODEL)(\.csv)?\b"
    return re.sub(names, "FILE", text).split()


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    "line",
    [
        "eval <QRELS> one=<RUN> two=<OTHER> -m 'RR nDCG@10'",
        "eval <QRELS> one=<RUN> -m RR --queries <QUERIES.csv> --by country --format csv",
        "eval --labeled <LABELLED.csv> -m RR --format csv",
        "check <QRELS> one=<RUN>",
        "compare <QRELS> one=<RUN> two=<OTHER> -m AP --format csv",
        "explain <QRELS> <RUN> -q q01 -m AP --format json",
        "diff one=<RUN> two=<OTHER> --explain tau_b -q q01",
        "beyond one=<RUN> --explain Entropy@5",
        "bounds <QRELS> one=<RUN> -m RR@10 --format csv",
        "conventions diff ranx beir <QRELS> one=<RUN>",
        "online retention <EVENTS.csv> --format csv",
        "trec-eval <QRELS> <RUN>",
        "ltr eval <FEATURES> one=<SCORES> -m RR --format csv",
        "ltr score <MODEL> <FEATURES>",
    ],
)
def test_pipes_are_read_like_the_files_they_come_from(folder: Path, line: str) -> None:
    """Every file of a command may be a pipe, all of them at once."""
    if "MODEL" in line:
        command("ltr", "train", "FEATURES", "-o", "model.json", cwd=folder)
        (folder / "model.json").rename(folder / "MODEL")

    plain, piped = (
        re.sub("<([A-Za-z.]+)>", r"\1", line),
        re.sub("<([A-Za-z.]+)>", r"<(cat \1)", line),
    )

    printed = command(*shlex.split(plain), cwd=folder).stdout
    assert words_of(bash(f"$R {piped}", folder)) == words_of(printed)


def _parquet(**columns: list[object]) -> bytes:
    content = BytesIO()
    pl.DataFrame(columns).write_parquet(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        (
            "board --pairs -",
            [{"model_a": a, "model_b": b, "winner": w} for a, b, w in BATTLES],
        ),
        (
            "board -",
            [
                {"model": "m1", "NQ": 0.5, "FiQA": 1},
                {"model": "m2", "NQ": 1, "FiQA": 0},
            ],
        ),
        (
            "online retention -",
            [
                {"user_id": f"u{day % 2}", "time": f"2024-01-0{day}"}
                for day in range(1, 8)
            ],
        ),
        (
            "online ab -",
            [
                {"user_id": f"u{n}", "variant": "ab"[n % 2], "value": n}
                for n in range(8)
            ],
        ),
        (
            "eval --labeled - -m RR",
            [{"query_id": "q", "label": g, "score": g} for g in (1, 0)],
        ),
    ],
)
def test_standard_input_is_known_by_its_content(
    line: str, rows: list[dict[str, object]]
) -> None:
    """The same rows say the same as JSON lines, JSON, CSV and TSV, whichever command reads them."""
    frame = pl.DataFrame(rows)
    texts = {
        "JSON lines": frame.write_ndjson(),
        "JSON": json.dumps(rows),
        "CSV": frame.write_csv(),
        "TSV": frame.write_csv(separator="\t"),
    }
    outputs = {}
    for name, text in texts.items():
        done = command(*line.split(), "--format", "csv", stdin=text, code=None)
        assert not done.returncode, f"{name}: {done.stderr}"
        outputs[name] = done.stdout
    assert all(output == outputs["CSV"] for output in outputs.values()), outputs


def fifo(place: Path, content: bytes) -> str:
    """Make a pipe with a name, and a thread that writes into it once."""
    os.mkfifo(place)

    def write() -> None:
        with (
            suppress(BrokenPipeError),
            place.open("wb") as pipe,
        ):  # whoever refuses it reads no further
            pipe.write(content)

    threading.Thread(target=write, daemon=True).start()
    return str(place)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pipe", b"q Q0 x 1 2.0 t\nq Q0 d 2 1.0 t\n"),
        ("pipe.csv", b"query_id,doc_id,score\nq,x,2.0\nq,d,1.0\n"),
        (
            "pipe.jsonl",
            b'{"query_id": "q", "doc_id": "x", "score": 2}\n{"query_id": "q", "doc_id": "d", "score": 1}\n',
        ),
        ("pipe.json", b'{"q": {"x": 2.0, "d": 1.0}}'),
        ("table", b"query_id,doc_id,score\nq,x,2.0\nq,d,1.0\n"),
        ("tabs", b"query_id\tdoc_id\tscore\nq\tx\t2.0\nq\td\t1.0\n"),
        (
            "lines",
            b'{"query_id": "q", "doc_id": "x", "score": 2}\n{"query_id": "q", "doc_id": "d", "score": 1}\n',
        ),
        ("object", b'{"q": {"x": 2.0, "d": 1.0}}'),
        ("parquet", _parquet(query_id=["q", "q"], doc_id=["x", "d"], score=[2, 1])),
    ],
)
def test_the_content_of_a_pipe_says_its_format(
    tmp_path: Path, name: str, content: bytes
) -> None:
    """A pipe is read as a file of this name and with this content would be."""
    scores = rankstone.evaluate({"q": {"d": 1}}, fifo(tmp_path / name, content), "RR")

    assert scores.mean()["value"].to_list() == [1 / 2]


def test_mistakes_in_a_pipe_are_reported_with_its_name(tmp_path: Path) -> None:
    """A line that cannot be read, nothing at all, and a line without end, which is not waited for."""
    for name, content, kind, where in (
        ("torn", b"q Q0 x 1 2.0 t\nq Q0\n", BadLine, ":2"),
        ("nothing", b"", EmptyInput, ""),
        ("endless", b"q Q0 x 1 2.0 t\n" + b"a" * (40 << 20), BadLine, ":2"),
    ):
        pipe = fifo(tmp_path / name, content)
        with pytest.raises(kind) as caught:
            rankstone.evaluate({"q": {"d": 1}}, pipe, "RR")
        assert isinstance(caught.value, InputError)
        assert caught.value.where == f"{pipe}{where}"


def test_a_pipe_is_kept_while_a_command_runs(tmp_path: Path) -> None:
    """Within a command, what was read can be read again; outside, a second writer writes something else."""
    place = tmp_path / "pipe"
    with keeping_streams():
        pipe = fifo(place, b"first")
        assert (read_stream(pipe), read_stream(pipe)) == (b"first", b"first")
        assert can_be_read_again(pipe)
    place.unlink()
    pipe = fifo(place, b"second")
    assert read_stream(pipe) == b"second"
    assert not can_be_read_again(pipe)


def test_a_pipe_without_a_writer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening it would wait for ever; a configuration is read from a pipe as a table is."""
    monkeypatch.setattr(sources, "_PATIENCE", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (read_stream, read_whole):
        with pytest.raises(EmptyInput, match="nothing was written") as caught:
            read(str(pipe))
        assert caught.value.where == str(pipe)
        assert "start it" in (caught.value.fix or "")


def test_who_opens_a_pipe_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may begin later, and write long after it has opened the pipe."""
    monkeypatch.setattr(sources, "_PATIENCE", 0.3)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        time.sleep(0.1)
        with pipe.open("wb") as file:
            time.sleep(0.5)
            file.write(b"late")

    threading.Thread(target=write, daemon=True).start()
    assert read_stream(str(pipe)) == b"late"
