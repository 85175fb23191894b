"""``rankstone identify``: how a reported number was computed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import judged_runs
from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute, written
from rankstone.cli.explain_command import typed_list
from rankstone.cli.options import ALIGNMENT, LISTS, READING
from rankstone.errors import UsageError

if TYPE_CHECKING:
    from rankstone import QrelsLike, RunLike


@declare(
    "identify",
    {"files": "QRELS RUN [RUN]…"},
    f"value measure decimals grades judged format width quiet output csv-formulas {LISTS} import",
    f"{READING} {ALIGNMENT}",
    but={"measure": {"shown": "any measure"}},
)
def command(
    files: tuple[str, ...],
    value: tuple[str, ...],
    measure: str | None,
    digits: int | None,
    grades: str | None,
    judged: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Find out how a reported number was computed.

    Searches measures and their parameters, options of alignment (starting from those given), and the
    definitions of all known libraries.  Shows which of them print the number, and how close others come.
    With several runs, the number is taken for the first, or one number for each run, in their order; it also
    shows which run has this value.

    rankstone identify qrels.txt bm25.run --value 0.4132 -m nDCG@10
    rankstone identify qrels.txt bm25.run dense.run --value 0.4132 --value 39.9% -m nDCG@10
    rankstone identify qrels.txt bm25.run --value 41.3
    rankstone identify --grades 5,3,2,1,2 --judged 5,3,2,1,2,4,0 --value 0.827 -m "nDCG(gain=exp2)@5"
    """
    from rankstone import identify

    if not value:
        raise UsageError("which number?", expected="--value as it was printed: --value 0.827")
    qrels, runs = typed_list(grades, judged, files) if grades is not None else _files(files)

    find = partial(identify, qrels, runs, value, measure, digits=digits)
    execute(given, find, [*files, given["exclude"]], show=partial(written, width=width), notes=None)


def _files(files: tuple[str, ...]) -> tuple[QrelsLike, RunLike]:
    runs = judged_runs("identify", files, else_try="--grades 3,2,0,1 --value 0.827 needs no files")
    return files[0], runs
