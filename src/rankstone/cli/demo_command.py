"""``rankstone demo``: the main job on the collection that ships with the package."""

from __future__ import annotations

import click


@click.command("demo")
@click.option("--where", is_flag=True, help="only print the folder the collection is in")
def command(where: bool) -> None:  # noqa: FBT001 - click passes flags so
    """Score the shipped collection's two rankers, BM25 and TF-IDF."""
    from rankstone import evaluate
    from rankstone.cli.render import render
    from rankstone.demo import FOLDER, QRELS, RUNS

    if where:
        click.echo(FOLDER)
        return
    measures = "nDCG@10 AP RR@10 R@20 P@10 Judged@10"
    shown = " ".join(f"{path.name}" for path in RUNS.values())
    click.echo(f'$ rankstone eval {QRELS.name} {shown} -m "{measures}"\n# in {FOLDER}\n')
    click.echo(render(evaluate(QRELS, RUNS, measures), "table", 4), nl=False)
