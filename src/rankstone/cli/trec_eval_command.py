"""``rankstone trec-eval``: the command line of trec_eval, digit by digit."""

from __future__ import annotations

from pathlib import Path

import click

from rankstone.cli.declaring import Command
from rankstone.cli.measures_command import show
from rankstone.errors import UsageError

_OBSOLETE = ("-o does nothing, as in trec_eval since version 9",)
_NO_DEBUG = ("-D chooses the query, and prints nothing of the inner workings",)


@click.command(
    "trec-eval", cls=Command, context_settings={"help_option_names": ["--help"]}
)
@click.argument("qrels", required=False, type=click.Path())
@click.argument("runs", nargs=-1, metavar="[RUN]…", type=click.Path())
@click.option(
    "-q", "--query_eval_wanted", "queries", is_flag=True, help="print each query, too"
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME[.PARAMS]",
    help="[official]",
)
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="missing queries count, as 0",
)
@click.option(
    "-l",
    "--level_for_rel",
    "level",
    type=int,
    default=1,
    metavar="N",
    help="relevant from N up [1]",
)
@click.option("-n", "--nosummary", is_flag=True, help="no lines over all queries")
@click.option(
    "-J",
    "--Judged_docs_only",
    "judged_only",
    is_flag=True,
    help="unjudged documents leave the lists",
)
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "collection",
    type=int,
    metavar="N",
    help="documents there are",
)
@click.option(
    "-M",
    "--Max_retrieved_per_topic",
    "depth",
    type=int,
    metavar="N",
    help="cut lists to N documents",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "judgments",
    default="qrels",
    metavar="qrels|qrels_jg|prefs|qrels_prefs",
)
@click.option(
    "-T", "--Results_format", "results", default="trec_results", metavar="trec_results"
)
@click.option(
    "-D", "--Debug_level", "debug", metavar="LEVEL[.QUERY]", help="look at QUERY only"
)
@click.option(
    "-Z",
    "--Zscore",
    "zscores",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="print z-scores",
)
@click.option("-o", "--Output_old_results_format", "old", is_flag=True, hidden=True)
@click.option(
    "-h", "--describe", is_flag=True, help="this text, and a card for every -m"
)
@click.option("-v", "--version", is_flag=True, help="the version, and exit")
@click.option(
    "--compat",
    type=click.Choice(["9", "10"]),
    default="10",
    help="which trec_eval's readings [10]",
)
@click.pass_context
def command(
    ctx: click.Context,
    qrels: str | None,
    runs: tuple[str, ...],
    *,
    queries: bool,
    measures: tuple[str, ...],
    complete: bool,
    level: int,
    nosummary: bool,
    judged_only: bool,
    collection: int | None,
    depth: int | None,
    judgments: str,
    results: str,
    debug: str | None,
    zscores: Path | None,
    old: bool,
    describe: bool,
    version: bool,
    compat: str,
) -> None:
    """Print what trec_eval prints, to the last digit.

    QRELS is judgments, RUN a run, in TREC's format (also .gz, .zst; - is standard input).  The lines of
    several runs stand below their runid.  What is not as one would expect is noted on standard error;
    docs/trec_eval.md lists what differs between versions.

    rankstone trec-eval -q -m all_trec qrels.txt bm25.run
    rankstone trec-eval --compat 9 -m ndcg_cut.10 -m map qrels.txt bm25.run
    """
    from rankstone import __version__

    if version:
        click.echo(f"rankstone {__version__}, printing what trec_eval {compat} prints")
        return
    if describe:
        click.echo(ctx.get_help())
        _describe(measures, int(compat))
        return
    if qrels is None or not runs:
        raise UsageError(
            "judgments and a run are needed",
            expected="rankstone trec-eval [options] QRELS RUN…",
        )
    if results != "trec_results":
        raise UsageError(f"-T {results} is not known", expected="trec_results")
    from rankstone.conventions import Settings, run_program

    _, _, only = (debug or "").partition(".")
    settings = Settings(
        version=int(compat),
        queries=queries,
        summary=not nosummary,
        complete=complete,
        level=level,
        judged_only=judged_only,
        collection=collection,
        depth=depth,
        only=only or None,
        judgments=judgments,
    )
    output = run_program(qrels, runs, measures, settings, zscores)
    click.echo("".join(f"{line}\n" for line in output.lines), nl=False)
    for note in (
        *output.notes,
        *(_OBSOLETE if old else ()),
        *(_NO_DEBUG if debug else ()),
    ):
        click.echo(f"note: {note}", err=True)


def _describe(measures: tuple[str, ...], version: int) -> None:
    """Print the cards of the measures that were named."""
    from rankstone.conventions import requested_measures

    requests, _ = requested_measures(measures, version)
    texts = [
        text for one in requests for _, text in one.trec.texts(one.given)[:1] if text
    ]
    if measures and texts:
        click.echo()
        names = dict.fromkeys(
            text.partition("(")[0].partition("@")[0] for text in texts
        )
        click.get_current_context().invoke(show, measure=tuple(names), form="text")
