"""gdeval's own numbers: the script as ir_measures carries it, its topics averaged as it averages them."""

from __future__ import annotations

from typing import Any

LIBRARY = "gdeval-1.2"
REQUIRES = ["--no-deps", "ir_measures==0.4.3"]
TRAITS = {"grades": [-1, 0, 1, 2, 4]}
#: grades reach it as whole numbers
WHOLE = True
MEASURES = ["ndcg@<k>", "err@<k>"]
#: topics are printed with five decimals
WITHIN = 6e-6


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw a few cases with a grade above its scale."""
    from tests.live import worlds

    drawn = worlds.cases(seed, count, traits)
    for case in drawn[7::40]:
        judged = next(iter(case["qrels"].values()))
        judged[next(iter(judged))] = 5.0
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}, an exception's name where it ends with an error."""
    import importlib.util
    import subprocess
    import tempfile
    from pathlib import Path

    spec = importlib.util.find_spec("ir_measures")
    assert spec is not None
    assert spec.origin is not None
    topics = {
        query: number for number, query in enumerate({**case["qrels"], **case["run"]})
    }
    script = Path(spec.origin).parent / "bin" / "gdeval.pl"
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels"), Path(folder, "run")
        qrels.write_text(
            "".join(
                f"{topics[query]} 0 {doc} {int(grade)}\n"
                for query, judged in case["qrels"].items()
                for doc, grade in judged.items()
            ),
            encoding="utf-8",
        )
        run.write_text(
            "".join(
                f"{topics[query]} Q0 {doc} 0 {score!r} r\n"
                for query, listed in case["run"].items()
                for doc, score in listed
            ),
            encoding="utf-8",
        )
        command = ["perl", str(script), str(qrels), str(run), str(case["k"])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {measure: {"error": done.stderr.strip()} for measure in measures}
    rows = [line.split(",")[2:] for line in done.stdout.splitlines()[1:]]
    columns = {
        "ndcg": [float(row[0]) for row in rows],
        "err": [float(row[1]) for row in rows],
    }
    means = {
        name: sum(values) / len(values) if values else None
        for name, values in columns.items()
    }
    return {measure: means[measure.partition("@")[0]] for measure in measures}
