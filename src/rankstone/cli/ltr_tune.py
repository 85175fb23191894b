"""``rankstone ltr tune``: choose C by a measure on queries that were not learnt from."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs
from rankstone.cli.importing import importing
from rankstone.cli.ltr_data import data_of, learning, noting, of_data
from rankstone.cli.options import printed
from rankstone.cli.outputs import as_csv, as_json
from rankstone.cli.ticker import Ticker

if TYPE_CHECKING:
    from rankstone.ltr import Dataset, RankSVM, Selection

_PRICES = "0.001,0.01,0.1,1,10,100"


@click.command("tune")
@click.argument("files", nargs=-1, required=True, metavar="TRAIN…")
@click.option(
    "--valid", metavar="FILE", help="choose by these queries [cross-validation over those of TRAIN]"
)
@click.option(
    "--folds", type=int, default=5, show_default=True, metavar="N", help="of queries, without --valid"
)
@click.option("--quick", is_flag=True, help="leave out the nested estimate, which trains --folds times more")
@click.option("--values", default=_PRICES, show_default=True, metavar="C,…", help="of C")
@click.option(
    "--choose", default="best", metavar="best|1se", help="1se: the smallest C that is near enough [best]"
)
@learning
@click.option(
    "-m", "--measure", default="nDCG@10", show_default=True, metavar="TEXT", help="what to choose by"
)
@click.option("--model", metavar="FILE", help="write the model of the chosen C, trained on all of TRAIN")
@click.option("--per-query", metavar="FILE", help="write values per query and C: .parquet, .csv or .jsonl")
@click.option("--format", "form", default="table", metavar="table|json|csv", help="[table]")
@printed
@importing
@of_data
def command(
    files: tuple[str, ...],
    valid: str | None,
    values: str,
    choose: str,
    measure: str,
    model: str | None,
    per_query: str | None,
    form: str,
    digits: int,
    output: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Choose the C of a rank SVM by a measure on queries that were not learnt from.

    Shows every C, how far it is behind the best, and whether the queries tell the best from the others.

    \b
    rankstone ltr tune train.txt -m "nDCG(gain=exp2)@10" --model svm.json
    rankstone ltr tune train.txt --valid vali.txt --values 0.01,0.1,1 --choose 1se --model svm.json
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone.cli.outputs import check_format, deliver, per_query_writer
    from rankstone.errors import one_of
    from rankstone.ltr import LinearModel
    from rankstone.ltr.scoring import checked_measure

    check_format(form, _FORMATS)
    per_query_writer(per_query)
    one_of("--choose", choose, ("best", "1se"))
    checked_measure(measure, climbed=True)
    prices = _prices(values)
    keep_inputs([*files, *([valid] if valid else [])], output, per_query, {"--model": model})
    data = data_of(files, options)
    with noting(quiet=options["quiet"]), Ticker(quiet=options["quiet"], what="steps") as ticker:
        svms = _svms(prices, options)
        found = _selected(data, valid, svms, measure, options, ticker)
        chosen = svms[found.one_se if choose == "1se" else found.best]
        if model is not None:
            [trained] = chosen.path(data.X, data.y, data.qid, Cs=[chosen.C], progress=ticker)
            LinearModel.of(trained, data).write(model)
    deliver(found, _FORMATS[form](found, digits), output, per_query)
    if form == "csv" and found.noise and not options["quiet"]:
        click.echo(f"note: {found.noise}", err=True)


def _prices(values: str) -> list[float]:
    from rankstone.errors import UsageError

    try:
        found = sorted({float(value) for value in values.split(",")})
    except ValueError:
        found = []
    if not found or not found[0] > 0:
        raise UsageError(f"--values {values} cannot be read", expected="numbers above 0: 0.1,1,10")
    return found


def _svms(prices: list[float], options: dict[str, Any]) -> dict[str, RankSVM]:
    from rankstone.ltr import RankSVM

    names = ("query_weight", "pair_weight", "nonnegative")
    given = {name: options[name] for name in names if options[name] is not None}
    return {f"C={price:g}": RankSVM(price, **given) for price in prices}


def _selected(
    data: Dataset,
    valid: str | None,
    svms: dict[str, RankSVM],
    measure: str,
    options: dict[str, Any],
    ticker: Ticker,
) -> Selection:
    import warnings

    from rankstone.ltr import select

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a lead is noise is said beneath the table
        if valid is None:
            return select(
                svms,
                data.X,
                data.y,
                data.qid,
                measure,
                cv=options["folds"],
                nested=not options["quick"],
                progress=ticker,
            )
    held_out = data_of([valid], options)
    features = held_out.aligned(data.features, idle=data.absent)
    prices = [svm.C for svm in svms.values()]
    one = next(iter(svms.values()))
    models = list(one.path(data.X, data.y, data.qid, Cs=prices, progress=ticker))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        trained = dict(zip(svms, models, strict=True))
        return select(trained, features, held_out.y, held_out.qid, measure)


def _table(found: Selection, digits: int) -> str:
    from rich.console import Console
    from rich.table import Table

    from rankstone.cli.render import number

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("candidate", found.measure, "behind", "±", "chosen"):
        shown.add_column(name, justify="left" if name in ("candidate", "chosen") else "right", no_wrap=True)
    for name, mean, behind, error, chosen in found.table().iter_rows():
        shown.add_row(name, number(mean, digits), number(behind, digits), number(error, digits), chosen)
    console = Console(file=io.StringIO(), width=120, highlight=False, markup=False)
    console.print(shown)
    text = "\n".join(line.rstrip() for line in str(console.file.getvalue()).splitlines())  # type: ignore[attr-defined]
    notes = [f"{len(found.queries):,} queries; ±: standard error of the difference to the best, by query"]
    if found.honest is not None:
        notes.append(
            f"{number(found.honest, digits)} is what to expect of the choice, made without each fold"
        )
    notes += [found.noise] if found.noise else []
    return "\n".join([text, "", *notes]) + "\n"


def _json(found: Selection, _digits: int) -> str:
    return as_json(found.report())


def _csv(found: Selection, _digits: int) -> str:
    return as_csv(found.table())


_FORMATS = {"table": _table, "json": _json, "csv": _csv}
