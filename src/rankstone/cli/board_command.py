"""``rankstone board``: systems on many data sets, their ranks, and how sure these are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import named_numbers, refuse_with, saved_scores, words
from rankstone.cli.declaring import declare
from rankstone.cli.execution import check_charts, execute
from rankstone.cli.options import PRINTED
from rankstone.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable


@declare(
    "board",
    {"files": "[SCORES]…"},
    "pairs method cluster covariates measure estimate missing-scores weights resample confidence resamples",
    "seed systems only direction",
    f"explain versus chart diagram lang {PRINTED} columns format-in csv-separator decimal",
    but={
        "measure": {"shown": "the only one; of collections nDCG@10"},
        "explain": {"values": "SYSTEM"},
        "method": {
            "values": "davidson|rao_kupper|bradley_terry",
            "shown": "davidson if there are ties",
            "keyword": "model",
        },
        "cluster": {"values": "COLUMN,…"},
        "resamples": {"shown": "2000"},
    },
)
def command(
    files: tuple[str, ...],
    weights: str | None,
    systems: str | None,
    only: tuple[str, ...],
    explain: str | None,
    versus: str | None,
    pairs: str | None,
    model: str | None,
    cluster: str | None,
    covariates: str | None,
    chart: str | None,
    diagram: str | None,
    **given: Any,
) -> None:
    """Rank systems over many data sets, with simultaneous intervals of ranks.

    SCORES: a long table (system, dataset, value; also query_id, seed, weight, cluster), a wide one (a row
    a system, a column a data set), a folder of results of MTEB or BEIR, scores per query (a file a data
    set), or a TOML file with judgments and runs of collections.  --pairs takes battles instead: left,
    right, winner.

    rankstone board scores.csv --missing model
    rankstone board scores.csv --explain dense --versus bm25
    rankstone board nq.parquet fiqa.parquet -m nDCG@10 --resample queries
    rankstone board --pairs battles.csv --cluster judge,prompt --covariates position
    rankstone board scores.csv -o board.html --chart ranks.pdf --diagram cd.pdf
    """
    if versus is not None and explain is None:
        raise UsageError(
            "--versus goes with --explain",
            fix="leave out --versus, or add --explain SYSTEM",
        )
    check_charts({"chart": chart, "diagram": diagram})
    if explain is not None:
        refuse_with("--explain", {"chart": chart, "diagram": diagram})
    battles = {"model": model, "cluster": cluster, "covariates": covariates}
    settings: dict[str, Any] = {
        "weights": named_numbers("--weights", weights, "DATASET=WEIGHT,…"),
        "only": _pairs(only) or None,
    }
    settings["systems"] = words(systems) or None
    if pairs is not None:
        others = ("measure", "estimate", "missing", "resample", "direction")
        refuse_with(
            "--pairs",
            {**settings, "explain": explain, "diagram": diagram, "files": files},
        )
        refuse_with("--pairs", given, others)
        for name in others:
            del given[name]
        files = (pairs,)
        find = _of_pairs(pairs, battles)
    else:
        refuse_with("a board of scores", battles)
        find = _of_scores(files, settings, explain, versus)
    found = execute(given, find, files, notes=None, paged=explain is None)
    for file, draw in ((chart, "ranks"), (diagram, "critical_difference")):
        if file is not None:
            from rankstone import plots

            plots.write(getattr(plots, draw)(found), file)


def _of_pairs(pairs: str, battles: dict[str, str | None]) -> Callable[..., Any]:
    """Return what makes the board of battles."""

    def find(**options: Any) -> Any:
        from rankstone.boards import paired_board

        lists: dict[str, Any] = {
            name: words(battles[name]) for name in ("cluster", "covariates")
        }
        return paired_board(pairs, model=battles["model"], **lists, **options)

    return find


def _of_scores(
    files: tuple[str, ...],
    settings: dict[str, Any],
    explain: str | None,
    versus: str | None,
) -> Callable[..., Any]:
    """Return what makes the board of scores, or explains a place on it."""
    if not files:
        raise UsageError(
            "no scores are given", expected="rankstone board SCORES [SCORES]…"
        )
    toml = [file for file in files if Path(file).suffix.lower() == ".toml"]
    if toml and len(files) > 1:
        raise UsageError("a file of collections stands alone", given=" ".join(files))
    if toml:
        refuse_with("a file of collections", settings, ("only",))

    def find(**options: Any) -> Any:
        import rankstone

        source = saved_scores(files)
        scores: dict[str, Any] = {"collections": source} if toml else {"scores": source}
        found = rankstone.board(**scores, **settings, **options)
        return found if explain is None else found.explain(explain, versus)

    return find


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    """Read COLUMN=VALUE."""
    pairs = [one.partition("=") for one in given]
    if bad := [one for one, equals, _ in pairs if not equals or not one]:
        raise UsageError(
            "--only is COLUMN=VALUE",
            given=printable(bad[0]),
            expected="such as split=test",
        )
    return {column: value for column, _, value in pairs}
