"""``rankstone ltr``: learning to rank, a file a command.

What the commands of learning to rank have in common: data, and notes on them.

``rankstone ltr train``: learn a linear ranker.

``rankstone ltr tune``: choose C by a measure on queries that were not learnt from.

``rankstone ltr score``: score documents with a model.

``rankstone ltr eval``: measure models or saved scores on labelled documents, and compare them.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from rankstone._basics import counted
from rankstone.cli.arguments import (
    chosen_measures,
    named_runs,
    numbers,
    present,
    refuse_with,
    split_columns,
    with_thresholds,
    words,
)
from rankstone.cli.declaring import CommandGroup, declare
from rankstone.cli.execution import (
    check_format,
    check_rows,
    command_line,
    deliver,
    formulas,
    progress_bar,
    written,
)
from rankstone.cli.options import DEFAULT_MEASURES, PRINTED, STATISTICS, WITHOUT_IDS
from rankstone.errors import UsageError, one_of, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankstone import Comparison
    from rankstone.cli.standard_error import Ticker
    from rankstone.ltr import Dataset, LinearModel, RankSVM, Selection


_COMMANDS: Final = {
    "train": "learn a linear ranker: a rank SVM, or coordinate ascent on a measure",
    "tune": "choose C by a measure on held-out queries, and say whether the lead is noise",
    "score": "score documents with a model",
    "eval": "measure models or saved scores, and compare them",
}
_ABOUT: Final = """\
Learn to rank documents by features, and say how well that went.

Files are LETOR or SVMlight text (label qid:7 1:0.5 2:3.1 # docid = d1), such text with LightGBM's group
sizes in a file of its own (FILE.query), or tables with query_id, relevance and a number column a feature."""

command = CommandGroup(
    "ltr", {"Commands": _COMMANDS}, "rankstone.cli.ltr_command", help=_ABOUT
)

#: options that say how documents are read, and those of a rank SVM
DATA: Final = "groups columns features format-in double quiet"
LEARNING: Final = "query-weight pair-weight nonnegative"
#: formats of documents with features
FORMS: Final = {"format-in": {"values": "letor|csv|tsv|jsonl|parquet|arrow"}}
#: weights that are shown
_SHOWN = 10
_PRICES = "0.001,0.01,0.1,1,10,100"
_COMPARED = ("baseline", "primary", *STATISTICS.split())


def data_of(
    files: Sequence[str],
    given: dict[str, Any],
    *,
    labelled: bool = True,
    split: str | None = None,
    models: Sequence[str] = (),
) -> Dataset:
    """Read documents, with a progress bar; ``given`` holds the options of :data:`DATA`.

    Features are in the precision that the ``models`` compare them in.
    """
    from rankstone.ltr import compares_doubles, read

    in_double = given["double"] or any(map(compares_doubles, models))
    named = split_columns(given["columns"])
    with progress_bar(quiet=given["quiet"]) as ticker:
        found = read(
            list(files),
            groups=given["groups"],
            columns=named,
            features=words(given["features"]) or None,
            format_in=given["format_in"],
            dtype="float64" if in_double else "float32",
            labelled=labelled,
            progress=ticker,
        )
    named.require_present()
    if split is not None:
        found = found.of_split(split, given["queries"])
    elif given.get("queries"):
        raise UsageError(
            "--queries says which split a query is in", fix="add --split NAME"
        )
    if not given["quiet"]:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
    return found


@contextmanager
def noting(*, quiet: bool) -> Iterator[None]:
    """Say what libraries warn of as notes, once each, when the work is done."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield
    if not quiet:
        for text in dict.fromkeys(str(one.message) for one in met):
            click.echo(f"note: {text}", err=True)


@declare(
    "train",
    {"data": "TRAIN…"},
    f"method c {LEARNING} measure init restarts seed queries split output import {DATA}",
    but={**FORMS, "method": {"values": "svm|ascent", "default": "svm"}},
    required="output",
)
def train_command(
    data: tuple[str, ...], output: str, method: str, measure: str | None, **given: Any
) -> None:
    """Learn a linear ranker: a rank SVM over all pairs, or coordinate ascent on a measure itself.

    The model is JSON: a weight for each feature by name, and how it came about.  It is written whole or not
    at all.

    rankstone ltr train train.txt -o svm.json --c 0.1
    rankstone ltr train train.txt -o best.json --method ascent --init svm.json -m "nDCG(gain=exp2)@10"
    """
    from rankstone.ltr import checked_measure

    one_of("--method", method, ("svm", "ascent"))
    _refuse_others(method, given)
    measure = measure or DEFAULT_MEASURES.split()[0]
    checked_measure(measure)
    documents = data_of(data, given, split=given["split"])
    with (
        noting(quiet=given["quiet"]),
        progress_bar(quiet=given["quiet"], what="steps") as ticker,
    ):
        model = _trained(documents, method, measure, given, ticker)
    model.write(output)
    click.echo(_summary(model, documents, measure), nl=False)


def _trained(
    data: Dataset,
    method: str,
    measure: str,
    options: dict[str, Any],
    ticker: Ticker | None,
) -> LinearModel:
    from rankstone.ltr import CoordinateAscent, LinearModel, RankSVM

    svm = RankSVM(
        **_given(options, C="price", query_weight="", pair_weight="", nonnegative="")
    )
    if method == "svm":
        [fitted] = svm.path(data.X, data.y, data.qid, Cs=[svm.C], progress=ticker)
        return LinearModel.of(fitted, data)
    start: Any = "svm"
    if options["start"] is not None:
        start = _start(options["start"], data)
    given = _given(options, restarts="", random_state="seed")
    climber = CoordinateAscent(measure, start=start, progress=ticker, **given)
    return LinearModel.of(climber.fit(data.X, data.y, data.qid), data)


def _start(path: str, data: Dataset) -> Any:
    from rankstone.ltr import LinearModel, load

    model = load(path)
    if not isinstance(model, LinearModel):
        raise UsageError(
            f"--init {path} is not a linear model",
            expected="what rankstone ltr train wrote",
        )
    return model.weights_of(data.features)


def _given(options: dict[str, Any], **names: str) -> dict[str, Any]:
    """Return parameters that were given: name → option, the same unless named."""
    found = {name: options[option or name] for name, option in names.items()}
    return {name: value for name, value in found.items() if value is not None}


def _refuse_others(method: str, options: dict[str, Any]) -> None:
    svm = ("price", "query_weight", "pair_weight", "nonnegative")
    ascent = ("start", "restarts", "seed")
    refuse_with(f"--method {method}", options, ascent if method == "svm" else svm)


def _summary(model: LinearModel, data: Dataset, measure: str) -> str:
    """Return the summary of a new model."""
    from rankstone.ltr import mean_of, queries_of

    queries = queries_of(data.qid, len(data))
    value = mean_of(model.scores(data), data.y, queries, measure)
    trained = model.trained
    size = f"{counted(len(data), 'row')}, {counted(len(queries), 'query')}"
    lines = [
        f"{trained['trainer']}: {size}, {counted(data.X.shape[1], 'feature')}",
        f"{measure} on the training rows  {value:.4f}  (tied documents in any order; empty queries 0)",
    ]
    if queries.scattered:
        lines.append(
            f"rows of {counted(queries.scattered, 'query')} were not adjacent; they were joined by query id"
        )
    if trained["trainer"] == "RankSVM":
        lines.append(
            f"C={trained['C']:g}  {counted(trained['n_queries'], 'query')} with "
            f"{counted(int(trained['n_pairs']), 'pair')}  "
            f"{counted(trained['n_iter'], 'step')}{'' if trained['converged'] else ', not converged'}"
        )
    largest = model.largest(_SHOWN, data)
    shown = "  ".join(f"{printable(name)} {weight:+.3g}" for name, weight in largest)
    return (
        "\n".join(
            [*lines, f"largest weights, per standard deviation: {shown or 'none'}"]
        )
        + "\n"
    )


@declare(
    "tune",
    {"data": "TRAIN…"},
    f"valid folds quick values choose {LEARNING} measure queries split per-query trials {PRINTED} import {DATA}",
    but=FORMS,
)
def tune_command(
    data: tuple[str, ...],
    valid: str | None,
    values: str | None,
    choose: str,
    measure: str | None,
    per_query: str | None,
    trials: str | None,
    form: str,
    digits: int,
    output: str | None,
    **given: Any,
) -> None:
    """Choose the C of a rank SVM by a measure on queries that were not learnt from.

    Shows every C, how far it is behind the best, and whether the queries tell the best from the others.  -o
    writes the model of the chosen C, trained on all of TRAIN.

    rankstone ltr tune train.txt -m "nDCG(gain=exp2)@10" -o svm.json
    rankstone ltr tune train.txt --valid vali.txt --values 0.01,0.1,1 --choose 1se -o svm.json
    rankstone ltr tune labelled.txt --queries golden.splits.csv --split dev -o svm.json
    """
    from rankstone.ltr import LinearModel, checked_measure

    check_format(form)
    check_rows(per_query)
    one_of("--choose", choose, ("best", "1se"))
    measure = measure or DEFAULT_MEASURES.split()[0]
    checked_measure(measure, climbed=True)
    prices = sorted(
        set(numbers("--values", values or _PRICES, "numbers above 0: 0.1,1,10"))
    )
    if not prices[0] > 0:
        raise UsageError(
            f"--values {values} cannot be used", expected="numbers above 0: 0.1,1,10"
        )
    documents = data_of(data, given, split=given["split"])
    with (
        noting(quiet=given["quiet"]),
        progress_bar(quiet=given["quiet"], what="steps") as ticker,
    ):
        svms = _svms(prices, given)
        found = _selected(documents, valid, svms, measure, given, ticker)
        chosen = svms[found.one_se if choose == "1se" else found.best]
        if output is not None:
            parts = (documents.X, documents.y, documents.qid)
            [trained] = chosen.path(*parts, Cs=[chosen.C], progress=ticker)
            LinearModel.of(trained, documents).write(output)
    deliver(found.per_query, written(found, form, digits), trials, per_query)
    if form in ("csv", "jsonl") and found.noise and not given["quiet"]:
        click.echo(f"note: {found.noise}", err=True)


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
    ticker: Ticker | None,
) -> Selection:
    import warnings

    from rankstone.ltr import select

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # that a lead is noise is said beneath the table
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
    features = held_out.aligned(data.features, optional=data.absent)
    prices = [svm.C for svm in svms.values()]
    one = next(iter(svms.values()))
    models = list(one.path(data.X, data.y, data.qid, Cs=prices, progress=ticker))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        trained = dict(zip(svms, models, strict=True))
        return select(trained, features, held_out.y, held_out.qid, measure)


@declare(
    "score",
    {"model": "MODEL", "data": "DATA…"},
    f"output csv-formulas {DATA}",
    but=FORMS,
)
def score_command(
    model: str, data: tuple[str, ...], output: str | None, **given: Any
) -> None:
    """Score documents with a model: our JSON, or a file of LightGBM, XGBoost or CatBoost.

    A score a line in the order of DATA; -o FILE.run is a TREC run, FILE.csv (.tsv, .jsonl, .parquet) a table
    with query_id, doc_id and score.  Documents without ids are called by their row, from 1.

    rankstone ltr score svm.json test.txt > scores.txt
    rankstone ltr score svm.json test.txt -o svm.run
    """
    from rankstone.ltr import as_lines, load, write_predictions

    opened = load(model)
    documents = data_of(data, given, labelled=False, models=[model])
    with noting(quiet=given["quiet"]):
        scores = opened.scores(documents)
    if output is None:
        click.echo(as_lines(scores), nl=False)
    else:
        write_predictions(output, documents, scores, formulas=formulas())


@declare(
    "eval",
    {"data": "DATA", "systems": "MODEL|SCORES…"},
    f"measures rel baseline primary {STATISTICS} convention ties empty report lang per-query import",
    f"{PRINTED} {DATA}",
    but={**FORMS, **WITHOUT_IDS},
)
def eval_command(
    data: str,
    systems: tuple[str, ...],
    measures: tuple[str, ...],
    rel: float | None,
    report: str | None,
    per_query: str | None,
    form: str,
    digits: int,
    output: str | None,
    lang: str | None,
    **given: Any,
) -> None:
    """Measure models or saved scores on labelled documents; two or more are compared.

    A model is our JSON, or a file of LightGBM, XGBoost or CatBoost, which must then be installed.  SCORES is
    a file with a number a line in the order of DATA, or a table with score.  Tied documents stand in any
    order with equal chance unless --ties says otherwise.

    rankstone ltr eval test.txt svm.json lambdarank=pred.txt -m "nDCG(gain=exp2)@10"
    rankstone ltr eval test.txt svm=svm.json trees=model.txt --baseline svm --report report.html
    """
    from rankstone.ltr import judgments, run_of

    check_format(form)
    check_rows(per_query)
    named = {name: str(path) for name, path in named_runs(systems).items()}
    if report is not None:
        from rankstone.reports import require

        require()
    quiet = given["quiet"]
    documents = data_of([data], given, models=[*named.values()])
    with noting(quiet=quiet):
        runs = {name: run_of(path, documents) for name, path in named.items()}
    qrels = judgments(documents)
    aligned = present({name: given[name] for name in ("convention", "ties", "empty")})
    if given["convention"] is None:
        aligned.setdefault("ties", "expected")
        if documents.without_rows:  # their list is empty, as the group size says
            aligned["no_results"] = "zero"
    wanted = chosen_measures(measures, given["convention"], rel)
    if len(runs) == 1:
        refuse_with(
            "a single system",
            {"report": report, "lang": lang, **given},
            ("report", "lang", *_COMPARED),
        )
        from rankstone import evaluate

        scores = evaluate(qrels, runs, wanted, **aligned)
        deliver(
            scores,
            written(scores, form, digits, frame=scores.mean()),
            output,
            per_query,
        )
        return
    from rankstone import compare

    given["primary"] = with_thresholds(given["primary"], rel)
    compared = present({name: given[name] for name in _COMPARED})
    with progress_bar(quiet=quiet, what="blocks drawn") as drawing:
        found = compare(
            qrels,
            runs,
            wanted,
            lang=lang or "en",
            drawing=drawing,
            keep_runs=True,
            **compared,
            **aligned,
        )
    if report is not None:
        _page(found, report, digits, quiet=quiet)
    deliver(found.per_query, written(found, form, digits), output, per_query)


def _page(found: Comparison, path: str, digits: int, *, quiet: bool) -> None:
    from dataclasses import replace

    import rankstone

    with progress_bar(quiet=quiet, what="runs read") as read:
        shown = replace(found, digits=digits)
        rankstone.report(shown, path, command=command_line(), progress=read)
