"""``rankstone ltr train``: learn a linear ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs
from rankstone.cli.importing import importing
from rankstone.cli.ltr_data import data_of, learning, noting, of_data
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone.ltr import Dataset, LinearModel

#: weights that are shown
_SHOWN = 10


@click.command("train")
@click.argument("files", nargs=-1, required=True, metavar="TRAIN…")
@click.option("-o", "--output", required=True, metavar="FILE", help="the model, model.json")
@click.option(
    "--method", default="svm", metavar="svm|ascent", help="rank SVM, or coordinate ascent on --measure [svm]"
)
@click.option(
    "--c", "price", type=float, metavar="C", help="svm: what the loss costs against large weights [1]"
)
@learning
@click.option(
    "-m", "--measure", default="nDCG@10", show_default=True, metavar="TEXT", help="shown; ascent: climbed"
)
@click.option("--start", metavar="MODEL", help="ascent: begin at this model [a rank SVM]")
@click.option("--restarts", type=int, metavar="N", help="ascent: further starts at random [2]")
@click.option("--seed", type=int, metavar="N", help="ascent: of everything drawn [0]")
@importing
@of_data
def command(files: tuple[str, ...], output: str, method: str, measure: str, **options: Any) -> None:  # noqa: ANN401
    """Learn a linear ranker: a rank SVM over all pairs, or coordinate ascent on a measure itself.

    The model is JSON: a weight for each feature by name, and how it came about.  It is written whole or not
    at all.

    \b
    rankstone ltr train train.txt -o svm.json --c 0.1
    rankstone ltr train train.txt -o best.json --method ascent --start svm.json -m "nDCG(gain=exp2)@10"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.errors import one_of
    from rankstone.ltr.scoring import checked_measure

    one_of("--method", method, ("svm", "ascent"))
    _refuse_others(method, options)
    checked_measure(measure)
    start = options["start"]
    keep_inputs([*files, *([start] if start else [])], output, None)
    data = data_of(files, options)
    with noting(quiet=options["quiet"]), Ticker(quiet=options["quiet"], what="steps") as ticker:
        model = _trained(data, method, measure, options, ticker)
    model.write(output)
    click.echo(_told(model, data, measure), nl=False)


def _trained(
    data: Dataset, method: str, measure: str, options: dict[str, Any], ticker: Ticker
) -> LinearModel:
    from rankstone.ltr import CoordinateAscent, LinearModel, RankSVM

    svm = RankSVM(**_given(options, C="price", query_weight="", pair_weight="", nonnegative=""))
    if method == "svm":
        [found] = svm.path(data.X, data.y, data.qid, Cs=[svm.C], progress=ticker)
        return LinearModel.of(found, data)
    start: Any = "svm" if options["start"] is None else _start(options["start"], data)
    given = _given(options, restarts="", random_state="seed")
    climber = CoordinateAscent(measure, start=start, progress=ticker, **given)
    return LinearModel.of(climber.fit(data.X, data.y, data.qid), data)


def _start(path: str, data: Dataset) -> Any:  # noqa: ANN401 - weights
    from rankstone.errors import UsageError
    from rankstone.ltr import LinearModel, load

    model = load(path)
    if not isinstance(model, LinearModel):
        raise UsageError(f"--start {path} is no linear model", expected="what rankstone ltr train wrote")
    return model.weights_of(data.features)


def _given(options: dict[str, Any], **names: str) -> dict[str, Any]:
    """Return parameters that were given: name → option, the same unless named."""
    found = {name: options[option or name] for name, option in names.items()}
    return {name: value for name, value in found.items() if value is not None}


def _refuse_others(method: str, options: dict[str, Any]) -> None:
    from rankstone.cli.options import refuse_with

    svm, ascent = ("price", "query_weight", "pair_weight", "nonnegative"), ("start", "restarts", "seed")
    others = ascent if method == "svm" else svm
    flags = {"c" if name == "price" else name.replace("_", "-"): options[name] for name in others}
    refuse_with(
        f"--method {method}", {flag: "yes" for flag, value in flags.items() if value not in (None, False)}
    )


def _told(model: LinearModel, data: Dataset, measure: str) -> str:
    """Return what a person wants to know of a new model."""
    from rankstone.errors import printable
    from rankstone.ltr.inputs import queries_of
    from rankstone.ltr.scoring import mean_of

    queries = queries_of(data.qid, len(data))
    value = mean_of(model.scores(data), data.y, queries, measure)
    trained = model.trained
    lines = [
        f"{trained['trainer']}: {len(data):,} rows, {len(queries):,} queries, {data.X.shape[1]:,} features",
        f"{measure} on the training rows  {value:.4f}  (tied documents in any order; empty queries 0)",
    ]
    if queries.scattered:
        lines.append(f"{queries.scattered:,} queries had their rows apart; a query is its id")
    if trained["trainer"] == "RankSVM":
        lines.append(
            f"C={trained['C']:g}  {trained['n_queries']:,} queries with {trained['n_pairs']:,.0f} pairs  "
            f"{trained['n_iter']} steps{'' if trained['converged'] else ', not converged'}"
        )
    largest = model.largest(_SHOWN, data)
    shown = "  ".join(f"{printable(name)} {weight:+.3g}" for name, weight in largest)
    return "\n".join([*lines, f"largest weights, per standard deviation: {shown or 'none'}"]) + "\n"
