"""``rankstone beyond``: what runs do beyond accuracy, to the catalogue, to users and to groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import named_runs, refuse_with, words
from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, execute, written
from rankstone.cli.options import ORDERING, PRINTED, READING, WITHOUT_JUDGMENTS
from rankstone.errors import UsageError

if TYPE_CHECKING:
    from rankstone import BeyondScores


@declare(
    "beyond",
    {"runs": "RUN [RUN]…"},
    "measures items history qrels queries by expected catalogue-size separator convention query per-query",
    f"explain lang width {PRINTED} import {READING} {ORDERING}",
    but={
        **WITHOUT_JUDGMENTS,
        "measures": {"shown": "the common ones that the tables allow"},
        "queries": {"keyword": "users"},
    },
)
def command(
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    by: str | None,
    query: str | None,
    explain: str | None,
    lang: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Measure runs beyond accuracy: coverage, novelty, diversity, popularity, calibration, fairness.

    RUN is a file as `rankstone eval` takes it, a user for a query and an item for a document; name=FILE
    names a run.  What a measure needs in addition is on its card: `rankstone measures show ILD`.

    rankstone beyond recs.parquet -m "Coverage@10 Gini@10" --catalogue-size 3706
    rankstone beyond recs.parquet --items items.csv --history train.parquet --queries users.csv --by gender
    rankstone beyond recs.parquet --history train.parquet --convention rectools -m MeanInvUserFreq@10
    rankstone beyond recs.parquet --history train.parquet --explain Novelty@10 -q u42
    """
    from rankstone import beyond

    if explain is None:
        refuse_with("a table", {"query": query, "lang": lang, "width": width})
    else:
        refuse_with(
            "--explain",
            {"measures": measures, "by": by, "per-query": given["per_query"]},
        )
    if not runs:
        raise UsageError("a run is needed", expected="rankstone beyond RUN [RUN]…")
    if by and given["users"] is None:
        raise UsageError("--by needs a table of users", fix="add --queries FILE")

    segments = tuple(words(by))

    def show(scores: BeyondScores, form: str, digits: int | None) -> str:
        if explain is None:
            rows = scores.mean(by=segments) if form in ("csv", "jsonl") else None
            whole = scores.report(segments) if form == "json" else None
            return written(scores, form, digits, frame=rows, content=whole, by=segments)
        ways = [(run, measure) for run in scores.runs for measure in scores.measures]
        found = [
            scores.explain(measure, query, run=run, lang=lang or "en")
            for run, measure in ways
        ]
        return written(found, form, digits, width=width)

    inputs = [
        *runs,
        *(given[name] for name in ("items", "history", "qrels", "users", "baseline")),
    ]

    def find(**options: Any) -> BeyondScores:
        return beyond(named_runs(runs), measures or explain, **options)

    execute(
        given,
        find,
        inputs,
        show=show,
        notes=audit_lines if explain is None else None,
        paged=explain is None,
    )
