"""``rankstone power``: how many queries would show a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import numbers, present
from rankstone.cli.compare_command import of_files
from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute
from rankstone.cli.options import ALIGNMENT, DEFAULT_MEASURES, LISTS, PRINTED, READING
from rankstone.errors import UsageError

if TYPE_CHECKING:
    from rankstone import Plan


_MEASURE = DEFAULT_MEASURES.split()[0]


@declare(
    "power",
    {"files": "[QRELS A B [C]…]"},
    "difference measures rel deviation scores cluster queries baseline confidence power comparisons",
    f"{PRINTED} import {LISTS} {READING} {ALIGNMENT}",
    but={"measures": {"shown": _MEASURE}},
    required="difference",
)
def command(
    files: tuple[str, ...],
    differences: str,
    measures: tuple[str, ...],
    deviation: float | None,
    scores: bool,
    **given: Any,
) -> None:
    """Compute how many queries are needed to detect a difference with the paired t-test.

    The standard deviation of the differences per query is estimated from existing runs (a pilot), or given.

    rankstone power qrels.txt bm25.run dense.run -m nDCG@10 -d 0.01,0.02,0.05
    rankstone power --deviation 0.2 -d 0.02 --power 0.9
    """
    wanted = numbers("--difference", differences, "such as 0.01,0.05")
    if (deviation is None) == (not files):
        raise UsageError(
            "give either runs or --deviation",
            given=" ".join(files) or "neither",
            fix="rankstone power QRELS A B -d 0.02, or rankstone power --deviation 0.2 -d 0.02",
        )
    settings = {name: given.pop(name) for name in ("power", "confidence", "comparisons")}
    names = measures if scores else measures or (_MEASURE,)

    def find(**options: Any) -> Plan:
        from rankstone import power

        pilot: Any = deviation
        if files:
            pilot = of_files(files, names, scores=scores, test="t", primary=names or None, **options)
        return power(pilot, wanted, **present(settings))

    execute(given, find, [*files, given["queries"]], notes=None)
