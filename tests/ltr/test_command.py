"""``rankstone ltr`` as a user meets it: train, tune, score, eval, and mistakes."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from tests.command_line import command as run
from tests.command_line import exit_code
from tests.ltr.worlds import world

from rankstone.cli import cli
from rankstone.integrations import arrays
from rankstone.ltr import RankSVM, load, read

if TYPE_CHECKING:
    from pathlib import Path


def ask(*arguments: object) -> Result:
    """Run a command in this process; a mistake is raised as it is."""
    return CliRunner().invoke(
        cli, ["ltr", *map(str, arguments)], catch_exceptions=False
    )


@pytest.mark.parametrize("empty", ["zero", "one", "drop", "undefined"])
@pytest.mark.parametrize("sizes", [[2, 0, 2], [0, 1, 3], [4, 0, 0], [1, 1, 2]])
def test_groups_of_size_0(tmp_path: Path, sizes: list[int], empty: Any) -> None:
    """A group without rows is a query without a relevant document, as in arrays: one number, and counted."""
    labels, scores = [0, 1, 0, 1], [0.9, 0.1, 0.2, 0.1]
    data, saved = tmp_path / "F", tmp_path / "s.txt"
    data.write_text(
        "".join(
            f"{label} 1:{score}\n" for label, score in zip(labels, scores, strict=True)
        )
    )
    (tmp_path / "F.query").write_text("".join(f"{size}\n" for size in sizes))
    saved.write_text("".join(f"{score}\n" for score in scores))
    text = "nDCG AP AUC(negatives=candidates)"
    arguments = ("ltr", "eval", data, saved, "-m", text, "--empty", empty)

    report = json.loads(run(*arguments, "--format", "json").stdout)

    expected = arrays.evaluate(scores, labels, text, sizes=sizes, empty=empty)
    assert report["runs"]["s"] == expected.to_dict()
    audit = report["audit"]
    assert audit["judgments"]["queries"] == len(sizes)
    assert audit["judgments"]["declared"] == sizes.count(0)
    for name in ("undefined", "dropped"):
        counts = {m: sum(of.values()) for m, of in audit["runs"]["s"][name].items()}
        same = expected.report()[name].items()
        assert counts == {m: sum(of.values()) for m, of in same}
    pair = run(*arguments[:4], f"t={saved}", *arguments[4:], "--format", "json")
    audit = json.loads(pair.stdout)["audit"]
    assert audit["judgments"]["queries"] == audit["runs"]["t"]["queries"] == len(sizes)


def letor(path: Path, seed: int, queries: int = 12) -> Path:
    X, y, qid = world(seed, queries=queries)
    lines = [
        f"{label:g} qid:{q} "
        + " ".join(
            f"{position}:{value!r}"
            for position, value in enumerate(row.tolist(), start=1)
        )
        for row, label, q in zip(X, y, qid, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return letor(tmp_path / "train.txt", 1)


def test_train_and_score(train: Path, tmp_path: Path) -> None:
    """The model is Python's, its scores come a line each, as a run or a table."""
    model = tmp_path / "m.json"
    output = ask("train", train, "-o", model, "--c", 3, "--double").output
    data = read(train, dtype="float64")
    expected = RankSVM(3.0).fit(data.X, data.y, data.qid).predict(data.X)

    assert output.startswith(f"RankSVM: {len(data)} rows, 12 queries, 4 features\n")
    assert "C=3" in output
    lines = ask("score", model, train, "--double").output.split()
    assert [float(line) for line in lines] == pytest.approx(
        expected.tolist(), rel=1e-12
    )
    for name in ("s.run", "s.csv", "s.parquet", "s.jsonl", "s.txt"):
        ask("score", model, train, "--double", "-o", tmp_path / name)
    assert pl.read_parquet(tmp_path / "s.parquet")["score"].to_list() == [
        float(line) for line in lines
    ]
    first = (tmp_path / "s.run").read_text().splitlines()[0].split()
    assert first[1] == "Q0"
    assert first[3] == "1"
    assert (tmp_path / "s.txt").read_text().split() == lines


def test_ascent_from_a_model(train: Path, tmp_path: Path) -> None:
    """Coordinate ascent begins at a model, and is no worse on the training rows."""
    model, better = tmp_path / "m.json", tmp_path / "b.json"
    ask("train", train, "-o", model)
    output = ask(
        "train",
        train,
        "-o",
        better,
        "--method",
        "ascent",
        "--init",
        model,
        "--restarts",
        0,
        "-m",
        "RR",
    ).output

    assert "RR on the training rows" in output
    start, result = load(model), load(better)
    data = read(train)
    from rankstone.ltr.estimator_inputs import queries_of
    from rankstone.ltr.predictions import mean_of

    values = [
        mean_of(m.scores(data), data.y, queries_of(data.qid, len(data)), "RR")
        for m in (start, result)
    ]
    assert values[1] >= values[0]


def test_tune(train: Path, tmp_path: Path) -> None:
    """Every C has its row; the chosen one is written, trained on everything."""
    shown = ask(
        "tune", train, "--folds", 3, "--values", "10,0.1", "-o", tmp_path / "m.json"
    )
    lines = shown.output.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["candidate", "C=0.1", "C=10"]
    assert "is what to expect of the choice" in shown.output
    parsed = json.loads(
        ask(
            "tune",
            train,
            "--folds",
            3,
            "--values",
            "10,0.1",
            "--quick",
            "--format",
            "json",
        ).stdout
    )
    assert parsed["honest"] is None
    value = json.loads((tmp_path / "m.json").read_text())["trained"]["C"]
    assert f"C={value:g}" == parsed["best"]
    valid = letor(tmp_path / "valid.txt", 2)
    args = ("--per-query", tmp_path / "pq.csv", "--format", "csv")
    shown = ask("tune", train, "--valid", valid, "--choose", "1se", *args)
    assert shown.stdout.splitlines()[0] == "candidate,mean,behind,error,chosen"
    assert pl.read_csv(tmp_path / "pq.csv").columns == [
        "run",
        "query_id",
        "measure",
        "value",
    ]


def test_eval(train: Path, tmp_path: Path) -> None:
    """One system is measured, two are compared, by models or saved scores, with a page on request."""
    model, pred = tmp_path / "m.json", tmp_path / "pred.txt"
    ask("train", train, "-o", model)
    data = read(train)
    pred.write_text("".join(f"{value}\n" for value in np.zeros(len(data))))
    alone = ask(
        "eval", train, model, "-m", "nDCG@5 RR", "--per-query", tmp_path / "q.csv"
    ).stdout
    assert alone.splitlines()[0].split() == ["run", "nDCG@5", "RR"]
    assert "ties=expected" in alone
    pair = ask(
        "eval",
        train,
        model,
        f"zero={pred}",
        "-m",
        "nDCG@5",
        "--report",
        tmp_path / "r.html",
    )
    assert pair.stdout.startswith("m · zero, 12 queries")
    assert "inconclusive" in pair.stdout
    assert "<html" in (tmp_path / "r.html").read_text()
    parsed = json.loads(
        ask(
            "eval",
            train,
            model,
            f"zero={pred}",
            "--convention",
            "lightgbm",
            "--format",
            "json",
        ).stdout
    )
    assert parsed


def test_lightgbm_compares_in_double_precision(tmp_path: Path) -> None:
    """A model of LightGBM scores as LightGBM does, also where single precision crosses a threshold."""
    lightgbm = pytest.importorskip("lightgbm")
    X, y, _ = world(4, queries=30)
    model = lightgbm.train(
        {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 2},
        lightgbm.Dataset(X, y),
        20,
    )
    path = tmp_path / "model.txt"
    model.save_model(str(path))
    # rows just above the thresholds
    split = [
        (int(feature), float(threshold))
        for names, values in zip(
            re.findall("split_feature=(.*)", path.read_text()),
            re.findall("threshold=(.*)", path.read_text()),
            strict=True,
        )
        for feature, threshold in zip(names.split(), values.split(), strict=True)
    ]
    rows = np.tile(X.mean(axis=0), (len(split), 1))
    for row, (feature, threshold) in zip(rows, split, strict=True):
        row[feature] = np.nextafter(threshold, np.inf)
    expected = model.predict(rows)
    assert (model.predict(rows.astype(np.float32)) != expected).any()

    columns = [f"Column_{number}" for number in range(X.shape[1])]
    features = pl.DataFrame(rows, schema=columns)
    table = features.with_columns(query_id=1, relevance=1)
    table.write_parquet(tmp_path / "rows.parquet")
    lines = ask("score", path, tmp_path / "rows.parquet").stdout.split()

    assert [float(line) for line in lines] == expected.tolist()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("trian",), 2, "did you mean train?"),
        (
            ("train", "{train}", "-o", "{out}", "--method", "svn"),
            2,
            "did you mean svm?",
        ),
        (
            ("train", "{train}", "-o", "{out}", "--restarts", "3"),
            2,
            "--restarts cannot go with --method svm",
        ),
        (("train", "{train}", "-o", "{train}"), 2, "is also an input"),
        (("train", "{broken}", "-o", "{out}"), 3, "broken.txt:2: 'x' is not a feature"),
        (("train", "{train}", "-o", "{out}", "--c", "-1"), 2, "C=-1.0"),
        (("train", "{flat}", "-o", "{out}"), 3, "nothing to learn from"),
        (("train", "{train}", "-o", "{out}", "-m", "nDGC@10"), 2, "did you mean nDCG"),
        (("tune", "{train}", "--values", "a"), 2, "--values must be numbers"),
        (("tune", "{train}", "--folds", "99"), 2, "a number of folds from 2 to 12"),
        (("eval", "{train}", "{broken}"), 3, "is not a score"),
        (
            ("eval", "{train}", "{zero}", "--baseline", "zero"),
            2,
            "--baseline cannot go with a single system",
        ),
        (("score", "{train}", "{train}"), 3, "not a model that can be opened"),
    ],
)
def test_mistakes(
    train: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """A mistake is a sentence and an exit code; nothing is written."""
    (tmp_path / "broken.txt").write_text("1 qid:1 1:2\n0 qid:1 x\n")
    (tmp_path / "flat.txt").write_text("1 qid:1 1:2\n1 qid:1 1:3\n")
    (tmp_path / "zero.txt").write_text("0\n" * len(read(train)))
    names = {name: tmp_path / f"{name}.txt" for name in ("broken", "flat", "zero")}
    files = {"train": train, "out": tmp_path / "out.json", **names}
    before = train.read_text()
    inputs = ["ltr", *(word.format(**files) for word in arguments)]
    stderr = io.StringIO()
    with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
        assert exit_code(inputs) == code
    assert message in stderr.getvalue()
    assert not files["out"].exists()
    assert train.read_text() == before


def test_an_interrupted_training_leaves_no_model(tmp_path: Path) -> None:
    """Ctrl-C while it learns: exit code 130, no traceback, nothing beside the data."""
    train = letor(tmp_path / "train.txt", 1, queries=200)
    code = (
        "import rankstone.ltr.coordinate_ascent as a, os, signal\n"
        "old = a._Climb._searched\n"
        "def now(*given):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return old(*given)\n"
        "a._Climb._searched = now\n"
        f"from rankstone.cli import main\nmain(['ltr', 'train', {str(train)!r}, '-o', "
        f"{str(tmp_path / 'm.json')!r}, '--method', 'ascent'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["train.txt"]


def test_help_is_light() -> None:
    """Help names every command."""
    shown = run("ltr", "--help").stdout
    assert all(name in shown for name in ("train", "tune", "score", "eval"))
