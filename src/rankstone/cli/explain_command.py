"""``rankstone explain``: how a number came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.arguments import keep_inputs, split_columns
from rankstone.cli.explaining import FORMATS, typed, typed_list, written
from rankstone.cli.importing import importing
from rankstone.cli.options import EPILOG, alignment, given_options, reading

if TYPE_CHECKING:
    from rankstone.explaining import Comparison, Explanation

    Found = Explanation | Comparison

DEFAULT_MEASURE = "nDCG@10"


@click.command("explain", epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="QRELS RUN")
@click.option("-q", "--query", "queries", multiple=True, metavar="ID", help="the query; several, if need be")
@click.option(
    "-m", "--measure", default=DEFAULT_MEASURE, show_default=True, metavar="TEXT", help="one measure"
)
@click.option("--vs", metavar="RUN2", help="attribute the difference from another run to documents")
@click.option(
    "--worst", type=click.IntRange(1), metavar="N", help="the N lowest scores; --vs: largest losses"
)
@click.option("--others", is_flag=True, help="what other libraries would print for this query")
@typed
@click.option("--convention", metavar="LIBRARY", help="explain the number that a library would print")
@click.option("--format", "form", default="text", metavar="|".join(FORMATS), help="[text]")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="of headings")
@click.option(
    "--width", type=click.IntRange(40), metavar="N", help="columns of text [the terminal's, 80 in a pipe]"
)
@click.option("-o", "--output", metavar="FILE", help="write it there instead of printing it")
@click.option("--exclude", metavar="FILE", help="pairs (query_id, doc_id) taken out of every list first")
@click.option("--collapse", metavar="REGEX", help="passages to documents: the first group is the document")
@importing
@reading
@alignment
def command(
    files: tuple[str, ...],
    queries: tuple[str, ...],
    measure: str,
    vs: str | None,
    worst: int | None,
    others: bool,  # noqa: FBT001 - click passes flags so
    grades: str | None,
    judged: str | None,
    convention: str | None,
    form: str,
    lang: str,
    width: int | None,
    output: str | None,
    exclude: str | None,
    collapse: str | None,
    columns: str | None,
    format_in: str | None,
    **options: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Unfold a score: the table it is the sum of, the rules that fired, what would change it.

    \b
    rankstone explain qrels.txt bm25.run -q 301 -m nDCG@10
    rankstone explain qrels.txt bm25.run -q 301 -m AP --vs dense.run
    rankstone explain qrels.txt bm25.run --worst 5
    rankstone explain --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 -m "nDCG(gain=exp2)@5"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import explain
    from rankstone.cli.outputs import check_format, deliver

    check_format(form, FORMATS)
    keep_inputs([*files, *filter(None, (exclude, vs))], output, None)
    named = split_columns(columns)
    given: dict[str, Any] = {**given_options(options), "convention": convention}
    given |= {"exclude": exclude, "collapse": collapse, "columns": named, "format_in": format_in}
    told: dict[str, Any] = {"others": others, "lang": lang}
    if grades is not None:
        qrels, run = typed_list(grades, judged, [*files, *queries])
        found = [explain(qrels, run, measure, next(iter(qrels)), **given, **told)]
    else:
        found = _of_files(files, queries, measure, vs, worst, given, told)
    named.require_present()
    deliver(None, written(found, form, width), output, None)


def _of_files(
    files: tuple[str, ...],
    queries: tuple[str, ...],
    measure: str,
    vs: str | None,
    worst: int | None,
    given: dict[str, Any],
    told: dict[str, Any],
) -> list[Found]:
    from rankstone import explain
    from rankstone.errors import UsageError
    from rankstone.io import stem

    if len(files) != 2:  # noqa: PLR2004 - qrels and a run
        raise UsageError(
            "judgments and one run are needed",
            given=" ".join(files) or "nothing",
            expected="rankstone explain QRELS RUN -q ID, or --grades 3,2,0,1",
        )
    run, other = {stem(files[1]): files[1]}, None if vs is None else {stem(vs): vs}
    asked = list(queries)
    if worst is not None:
        asked += _worst(files[0], run, other, measure, given, worst)
    if not asked:
        raise UsageError("which query?", fix="-q ID, or --worst 5 for the lowest scores")
    return [explain(files[0], run, measure, query, vs=other, **given, **told) for query in asked]


def _worst(
    qrels: str,
    run: dict[str, str],
    other: dict[str, str] | None,
    measure: str,
    given: dict[str, Any],
    count: int,
) -> list[str]:
    """Return the queries with the lowest scores, or the largest losses beside another run."""
    from rankstone import evaluate

    runs = {"mine": next(iter(run.values()))}
    runs |= {} if other is None else {"theirs": next(iter(other.values()))}
    evaluated = {name: value for name, value in given.items() if name != "format_in"}
    values = evaluate(qrels, runs, measure, **evaluated).per_query
    wide = values.pivot("run", index="query_id", values="value", maintain_order=True)
    loss = wide["mine"] if other is None else wide["mine"] - wide["theirs"]
    ordered = wide.with_columns(loss=loss).drop_nulls("loss").sort("loss", maintain_order=True)
    return ordered.head(count)["query_id"].to_list()
