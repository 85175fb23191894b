"""``rankstone baseline``: a mean compared with chance, the worst and the best order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import chosen_measures
from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, check_format, deliver, execute, on_runs, written
from rankstone.cli.options import ALIGNMENT, PRINTED, READING
from rankstone.errors import UsageError, printable

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
    """Compare each mean with a random, the worst and the best order of the same documents.

    chance is the mean over all orders, skill = (value - chance) / (best - chance).  With --candidates N,
    lists as long as the run's are drawn from N documents instead.  With several runs, the gain over the
    first is shown, too: in ranks, and as a share of the possible gain.

    rankstone baseline qrels.txt bm25.run -m "nDCG@10 RR"
    rankstone baseline qrels.txt recs.parquet --candidates 50000 -m "R@100"
    rankstone baseline --gain AP=0.2,0.4 --gain AP=0.7,0.9
    """
    from rankstone import baseline
    from rankstone.diagnostics import Gains

    if gain:
        check_format(given["form"])
        _refuse_files(files, measures)
        deliver(None, written(Gains(tuple(map(_step, gain))), given["form"]), given["output"], None)
        return
    find = on_runs(baseline, files, chosen_measures(measures, rel=rel))
    execute(given, find, files, notes=lambda found: audit_lines(found.scores))


# -- steps between two means, without files --------------------------------------------------------------
def _refuse_files(files: tuple[str, ...], measures: tuple[str, ...]) -> None:
    """Refuse files and measures together with --gain."""
    if files or measures:
        raise UsageError(
            "--gain takes two means as they are, and no files or -m",
            given=" ".join([*files, *measures]),
            fix="leave --gain out: gains between several runs are shown anyway",
        )


def _step(text: str) -> Gain:
    """Read ``AP=0.2,0.4``."""
    from rankstone.diagnostics import gain

    measure, _, means = text.rpartition("=")
    try:
        before, after = map(float, means.split(",") if measure else ())
    except ValueError:
        raise UsageError(
            "--gain wants a measure and two means", given=printable(text), expected="such as AP=0.2,0.4"
        ) from None
    return gain(measure, before, after)
