"""``rankstone online``: what users did with rankings, a file a command.

``rankstone online retention``: how many users come back.

``rankstone online clicks``: judgments made of a log of clicks.

``rankstone online counterfactual``: what another ranking would have earned.

``rankstone online interleave``: two rankings in one list, and which of them users prefer.

``rankstone online ab``: A/B tests of rankings.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankstone.cli.arguments import refuse_with
from rankstone.cli.declaring import CommandGroup, declare
from rankstone.cli.execution import (
    audit_lines,
    check_charts,
    check_rows,
    command_line,
    execute,
    formulas,
    print_notes,
    write_rows,
    written,
)
from rankstone.cli.options import PRINTED, READING_TABLES, WITHIN_LOGS
from rankstone.errors import UsageError, one_of, printable

if TYPE_CHECKING:
    from rankstone.online import Clicks, OnlineResult, Retention


_COMMANDS: Final = {
    "retention": "how many users come back: cohorts, day-N retention",
    "clicks": "judgments from click logs, corrected for position bias on request",
    "counterfactual": "what another ranking would have earned, from a log: IPS, SNIPS, doubly robust",
    "interleave": "merge two rankings into one list, and test which users prefer",
    "ab": "A/B tests of rankings: click-through, click ranks, abandonment, and how users were assigned",
}

command = CommandGroup(
    "online",
    {"Commands": _COMMANDS},
    "rankstone.cli.online_command",
    help="Evaluate user behaviour from logs.",
)

#: what is printed
SHOWN = ("days", "cohorts", "periods", "curve", "differences")
_MAKING = ("method", "k", "draws", "order")
_TESTING = ("cluster", "unknown", "invalid", "margin", "confidence")


@declare(
    "retention",
    {"events": "EVENTS"},
    "period days returns day-origin registrations by segments versus tz times-in time-unit time-format week-start "
    "start",
    "end since invalid early unregistered duplicate-registrations confidence correction",
    f"show plot cohorts chart heatmap report lang {PRINTED} {READING_TABLES}",
    but={**WITHIN_LOGS, "by": {"values": "COLUMN", "kind": str}},
)
def retention_command(
    events: str,
    show: str,
    plot: bool,
    cohorts: str | None,
    chart: str | None,
    heatmap: str | None,
    report: str | None,
    lang: str | None,
    **given: Any,
) -> None:
    """Compute how many users come back: new, returning and login users, cohorts, day-N retention.

    EVENTS is a table with user_id and time, an event a row: CSV, TSV, JSON lines, Parquet, Arrow, a folder of
    parts, a table of a database.  Cohorts that were not observed for N days
    are left out of the retention after N days; they never count as 0.

    rankstone online retention events.parquet --tz Europe/Berlin
    rankstone online retention log.csv --columns uid=user_id,ts=time --period week --show cohorts
    rankstone online retention events.parquet --by app_version --versus 1.0 --plot --report retention.html
    """
    from rankstone.online import retention

    _check_shown(show, given["by"])
    check_rows(cohorts, "--cohorts")
    check_charts({"chart": chart, "heatmap": heatmap}, report)
    if not (chart or heatmap or report):
        refuse_with("a table", {"lang": lang})

    def shown(found: Retention, form: str, digits: int | None) -> str:
        rows = found.triangle if show == "cohorts" else getattr(found, show)
        text = written(found, form, digits, frame=rows, show=show, drawn=plot)
        _write(found, {"curve": chart, "heatmap": heatmap}, report, lang or "en")
        if cohorts is not None:
            write_rows(found, cohorts)
        return text

    find = partial(retention, events)
    execute(given, find, [events, given["registrations"]], show=shown, paged=True)


def _check_shown(show: str, by: str | None) -> None:

    one_of("show", show, SHOWN)
    if show == "differences" and by is None:
        raise UsageError("--show differences needs segments", fix="--by COLUMN")


def _write(
    found: Retention, charts: dict[str, str | None], report: str | None, lang: str
) -> None:
    """Write charts and the page, each whole or not at all."""
    import rankstone
    from rankstone import plots

    for kind, name in charts.items():
        if name is not None:
            plots.write(getattr(plots, f"retention_{kind}")(found, lang=lang), name)
    if report is not None:
        rankstone.report(found, report, lang=lang, command=command_line())


@declare(
    "clicks",
    {"log": "LOG"},
    "method propensities min-propensity smoothing thresholds min-impressions tolerance max-iterations",
    "confidence invalid positions-from lists unlinked start end tz times-in time-unit time-format positions",
    f"top {PRINTED} {READING_TABLES}",
    but={
        **WITHIN_LOGS,
        "method": {"values": "ctr|click|satisfaction|ips|pbm"},
        "min-propensity": {"keyword": "clip"},
        "thresholds": {"keyword": "grades"},
        "top": {"shown": "10", "default": 10},
    },
)
def clicks_command(
    log: str, output: str | None, positions: str | None, top: int, **given: Any
) -> None:
    """Make judgments of a log of clicks: click rates, corrected for positions on request.

    LOG is a table of impressions with query_id, doc_id and clicked (0, 1, or a fraction between), perhaps
    position, session, propensity and time: CSV, TSV, JSON lines, Parquet, Arrow, a folder of parts, a table
    of a database.  It may be larger than memory.  -o writes
    all judgments: .parquet, .csv, .jsonl, .json (everything), or TREC's .qrels and .txt.

    rankstone online clicks log.parquet -o qrels.parquet
    rankstone online clicks log.csv --columns item=doc_id,click=clicked --method pbm -o qrels.parquet
    rankstone online clicks log.csv --method ips --propensities 1,0.6,0.4 --thresholds 0.02,0.1 -o qrels.txt
    """
    from rankstone.io import QRELS_SUFFIXES
    from rankstone.online import clicks

    _check_output(output)
    check_rows(positions, "--positions")
    table = given["propensities"]
    inputs = [log, table if table and Path(table).exists() else None]

    def show(found: Clicks, form: str, digits: int | None) -> str:
        text = written(found, form, digits, top=top)
        if output is not None and Path(output).suffix.lower() in QRELS_SUFFIXES:
            found.write_qrels(output)
        elif output is not None:
            found.write(output, formulas=formulas())
        if positions is not None:
            write_rows(found.positions, positions)
        return text

    execute(given, partial(clicks, log), inputs, show=show)


def _check_output(output: str | None) -> None:
    """Refuse, before any work, a file of judgments whose suffix is no known one."""
    from rankstone.io import QRELS_SUFFIXES, suffixes_of

    tables = suffixes_of("parquet", "csv", "jsonl", "json")
    known = (*tables, *QRELS_SUFFIXES)
    if output is not None and Path(output).suffix.lower() not in known:
        raise UsageError(f"-o {output}: no known suffix", expected=", ".join(known))


@declare(
    "counterfactual",
    {"log": "LOG", "target": "[TARGET]"},
    "propensity discount k clip cluster order invalid positions-from confidence "
    f"{PRINTED} {READING_TABLES}",
    but={**WITHIN_LOGS, "k": {"shown": "all"}},
)
def counterfactual_command(log: str, target: str | None, **given: Any) -> None:
    """Estimate what another ranking would have earned, from a log of the one that was shown.

    LOG has a row for each document shown: reward, propensity, and where there are such impression_id,
    position, query_id, doc_id, prediction.  What the target would do is in target_propensity or
    target_position, or in TARGET, a run.

    rankstone online counterfactual log.parquet --clip 20 --cluster user_id
    rankstone online counterfactual log.csv --columns click=reward,pscore=propensity
    rankstone online counterfactual clicks.parquet new.run --propensity examination --discount log2 --k 10
    """
    from rankstone.online import counterfactual

    if given["discount"] is not None:
        given["discount"] = _weights(given["discount"])
    execute(given, partial(counterfactual, log, target), [log, target])


def _weights(text: str) -> str | list[float]:
    """Return weights where numbers were given, and the name else."""
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        return text


@declare(
    "interleave",
    {"files": "A B | LISTS"},
    f"clicks method k draws order cluster unknown invalid margin confidence seed {PRINTED} {READING_TABLES}",
    but={**WITHIN_LOGS, "method": {"values": "team_draft|balanced|optimised"}},
)
def interleave_command(
    files: tuple[str, ...], clicks: str | None, **given: Any
) -> None:
    """Interleave two rankings, or test which of them users prefer.

    A and B are runs: the lists to show are written to -o, or printed.  With --clicks, LISTS is that file, and
    LOG has a row a click: query_id, doc_id or position, and where there are such draw, impression_id, and
    clicked, 0 or 1, of whatever was shown.

    rankstone online interleave a.run b.run -o lists.parquet --draws 20
    rankstone online interleave lists.parquet --clicks log.parquet --cluster user_id
    """
    find = partial(_found, files, clicks)
    inputs = [*files, clicks]
    output = given["output"]
    quiet = given["quiet"]
    if output is None or clicks is not None:
        execute(given, find, inputs)
        return
    check_rows(output, "-o")
    given["output"] = None
    found = execute(given, find, inputs, show=lambda *_: "", notes=None)
    write_rows(found, output)
    if not quiet:
        print_notes(audit_lines(found))


def _found(files: tuple[str, ...], clicks: str | None, **given: Any) -> OnlineResult:
    """Make lists of two runs, or test clicks on lists."""
    from rankstone.online import interleave, interleaving_preference

    if clicks is None:
        refuse_with("two runs: they are about --clicks", given, _TESTING)
        if len(files) != 2:  # noqa: PLR2004 - two runs
            raise UsageError(
                "two runs are interleaved",
                given=" ".join(files),
                expected="rankstone online interleave A B, or rankstone online interleave LISTS --clicks LOG",
            )
        return interleave(*files, **given)
    refuse_with("--clicks", given, _MAKING)
    if len(files) != 1:
        raise UsageError(
            "clicks are on one table of lists",
            given=" ".join(files),
            expected="rankstone online interleave LISTS --clicks LOG",
        )
    return interleaving_preference(clicks, files[0], **given)


@declare(
    "ab",
    {"log": "LOG"},
    "metric variant versus k cluster shares margin correction confidence sequential planned invalid "
    "positions-from",
    f"{PRINTED} {READING_TABLES}",
    but={
        **WITHIN_LOGS,
        "cluster": {"shown": "user_id; impression_id for impressions"},
        "metric": {"shown": "clicked, or the only one"},
    },
)
def ab_command(log: str, **given: Any) -> None:
    """Compare what users did with the rankings of an A/B test.

    LOG has a row for every document shown: impression_id, position, clicked (0 or 1), variant, user_id.  Or
    it has a row for every user: variant, user_id, and a number, such as clicked or what --metric names.

    rankstone online ab log.parquet
    rankstone online ab users.csv --metric revenue
    rankstone online ab log.csv --variant bucket --versus control --k 5 --columns uid=user_id
    rankstone online ab so-far.parquet --sequential
    """
    from rankstone.online import ab

    if given["shares"] is not None:
        given["shares"] = _shares(given["shares"])
    find = partial(ab, log)
    if given["cluster"] == "impression_id":
        find, given["cluster"] = partial(find, cluster=None), None
    execute(given, find, [log])


def _shares(text: str) -> dict[str, float]:
    """Read --shares."""
    shares = {}
    for part in text.split(","):
        name, _, share = part.rpartition("=")
        if name.strip() in shares:
            raise UsageError(
                f"--shares names {printable(name.strip())} twice",
                given=printable(text, 60),
            )
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            raise UsageError(
                f"--shares {printable(part, 40)}", expected="VARIANT=SHARE,…"
            ) from None
    return shares
