"""``rankstone sampled``: what measures would give among all items, from lists of a few sampled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankstone.cli.judging import answer, judging
from rankstone.cli.options import EPILOG
from rankstone.cli.outputs import as_csv, as_json

if TYPE_CHECKING:
    from rankstone import Sampled


@click.command("sampled", epilog=EPILOG)
@judging(
    "nDCG@10 R@10 RR",
    "table|json|csv|md",
    click.option(
        "--items", type=int, required=True, metavar="N", help="how many items the lists were sampled from"
    ),
    click.option("--method", default="bv", metavar="bv|cls|rank|naive", help="how values are corrected [bv]"),
    click.option(
        "--gamma", type=float, default=0.1, show_default=True, help="bv: what variance weighs against bias"
    ),
    click.option("--replacement", is_flag=True, help="an item may have been drawn several times"),
    click.option("--rel", type=float, metavar="GRADE", help="relevant from this grade on [above 0]"),
    click.option("--confidence", type=float, default=0.95, show_default=True, help="of the bounds"),
)
def command(
    items: int,
    method: str,
    gamma: float,
    replacement: bool,  # noqa: FBT001 - click passes flags so
    rel: float | None,
    confidence: float,
    **asked: Any,  # noqa: ANN401 - click hands values over as they are
) -> None:
    """Bound and estimate what measures would give among all items.

    Every list holds a query's relevant documents and so many sampled ones.  Measures of such lists are other
    measures, which may order systems otherwise.  lower and upper are the least and the most that the
    measure can be among all N items; value is a guess.

    \b
    rankstone sampled test.csv als.csv knn.csv --items 20000 -m "nDCG@10 R@10"
    """  # noqa: D301 - click reads a real backspace as "leave these lines alone"
    from rankstone import sampled

    own = {"method": method, "gamma": gamma, "replacement": replacement, "rel": rel, "confidence": confidence}
    answer(sampled, asked, _FORMATS, lambda found: found.audit.lines(), items=items, **own)


_NUMBERS = ("value", "lower", "upper", "naive")
_COUNTS = ("sampled", "relevant", "queries")


def _rows(found: Sampled, digits: int) -> tuple[list[str], list[list[str]]]:
    from rankstone.cli.render import number
    from rankstone.errors import printable

    rows = [
        [
            printable(row["run"]),
            row["measure"],
            *(number(row[name], digits) for name in _NUMBERS),
            *(f"{row[name]:,}" for name in _COUNTS),
        ]
        for row in found.values.iter_rows(named=True)
    ]
    return ["run", "measure", *_NUMBERS, *_COUNTS], rows


def _table(found: Sampled, digits: int) -> str:
    from rankstone.cli.page import Page
    from rankstone.cli.render import conventions_line

    said = " ".join(f"{k}={v}" for k, v in found.conventions["sampled"].items() if v is not None)
    page = Page().table(*_rows(found, digits), texts=(0, 1))
    page.notes(
        [f"warning  {found.warning}", f"sampled  {said}", *found.audit.lines(), conventions_line(found)]
    )
    return str(page)


def _json(found: Sampled, _digits: int) -> str:
    return as_json(found.report())


def _csv(found: Sampled, _digits: int) -> str:
    return as_csv(found.values)


def _markdown(found: Sampled, digits: int) -> str:
    from rankstone.cli.render import markdown

    return markdown(*_rows(found, digits))


_FORMATS = {"table": _table, "json": _json, "csv": _csv, "md": _markdown}
