"""``rankstone ltr score``: score documents with a model."""

from __future__ import annotations

from typing import Any

import click

from rankstone.cli.arguments import keep_inputs
from rankstone.cli.ltr_data import data_of, noting, of_data
from rankstone.cli.options import csv_formulas
from rankstone.cli.outputs import formulas


@click.command("score")
@click.argument("model", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="DATA…")
@click.option(
    "-o", "--output", metavar="FILE", help="where to; .run, .csv, .parquet … [printed, a score a line]"
)
@csv_formulas
@of_data
def command(
    model: str,
    files: tuple[str, ...],
    output: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Score documents with a model: our JSON, or a file of LightGBM, XGBoost or CatBoost.

    A score a line in the order of DATA; -o FILE.run is a TREC run, FILE.csv (.tsv, .jsonl, .parquet) a table
    with query_id, doc_id and score.  Documents without ids are called by their row, from 1.

    \b
    rankstone ltr score svm.json test.txt > scores.txt
    rankstone ltr score svm.json test.txt -o svm.run
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.ltr import load
    from rankstone.ltr.predictions import as_lines, write_predictions

    keep_inputs([model, *files], output, None)
    opened = load(model)
    data = data_of(files, options, labelled=False)
    with noting(quiet=options["quiet"]):
        scores = opened.scores(data)
    if output is None:
        click.echo(as_lines(scores), nl=False)
    else:
        write_predictions(output, data, scores, formulas=formulas())
