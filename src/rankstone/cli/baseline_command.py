"""``rankstone baseline``: what a mean is worth, beside chance, the worst and the best order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.answering import answer, of_runs
from rankstone.cli.arguments import chosen_measures
from rankstone.cli.declaring import declare
from rankstone.cli.options import ALIGNMENT, PRINTED, READING

if TYPE_CHECKING:
    from rankstone.diagnostics import Gain


@declare(
    "baseline",
    {"files": "QRELS RUN [RUN]…"},
    f"measures rel gain {PRINTED} import {READING} {ALIGNMENT}",
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    rel: float | None,
    gain: tuple[str, ...],
    **given: Any,
) -> None:
    """Say what a mean is worth.

    Shows next to each mean what the same documents in any order (chance), in the worst and in the best
    order reach, and which share of the way from chance to the best was made (skill).  With --candidates
    N, these are lists as long as the run's own, drawn from so many documents.  Of several runs, also what
    the step from the first one's mean is worth: in ranks, and as a share of what was left to gain.

    rankstone baseline qrels.txt bm25.run -m "nDCG@10 RR"
    rankstone baseline qrels.txt recs.parquet --candidates 50000 -m "R@100"
    rankstone baseline --gain AP=0.2,0.4 --gain AP=0.7,0.9
    """
    from rankstone import baseline
    from rankstone.cli.outputs import check_format, deliver, written
    from rankstone.diagnostics import Gains

    if gain:
        check_format(given["form"])
        _refuse_files(files, measures)
        deliver(None, written(Gains(tuple(map(_step, gain))), given["form"]), given["output"], None)
        return
    find = of_runs(baseline, files, chosen_measures(measures, rel=rel))
    answer(given, find, files, audit=lambda found: found.scores.audit)


# -- steps between two means, without files --------------------------------------------------------------
def _refuse_files(files: tuple[str, ...], measures: tuple[str, ...]) -> None:
    """Refuse files and measures that --gain would not look at."""
    from rankstone.errors import UsageError

    if files or measures:
        raise UsageError(
            "--gain takes two means as they are, and no files or -m",
            given=" ".join([*files, *measures]),
            fix="leave --gain out: of several runs the steps are told anyway",
        )


def _step(text: str) -> Gain:
    """Read ``AP=0.2,0.4``."""
    from rankstone.diagnostics import gain
    from rankstone.errors import UsageError, printable

    measure, _, means = text.rpartition("=")
    try:
        before, after = map(float, means.split(",") if measure else ())
    except ValueError:
        raise UsageError(
            "--gain wants a measure and two means", given=printable(text), expected="such as AP=0.2,0.4"
        ) from None
    return gain(measure, before, after)
