"""``rankstone demo``: the main job on the collection that ships with the package."""

from __future__ import annotations

import click

from rankstone.cli.declaring import declare
from rankstone.cli.execution import written


@declare("demo", {}, "where")
def command(*, where: bool) -> None:
    """Score the shipped collection's two rankers, BM25 and TF-IDF."""
    from rankstone import evaluate
    from rankstone.demo import FOLDER, QRELS, RUNS

    if where:
        click.echo(FOLDER)
        return
    measures = "nDCG@10 AP RR@10 R@20 P@10 Judged@10"
    shown = " ".join(f"{path.name}" for path in RUNS.values())
    click.echo(f'$ rankstone eval {QRELS.name} {shown} -m "{measures}"\n# in {FOLDER}\n')
    click.echo(written(evaluate(QRELS, RUNS, measures), "table"), nl=False)
