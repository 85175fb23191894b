"""pytest: assertions about rankings, as a function and as a fixture of the same name.

pytest imports this module wherever rankstone is installed, so nothing that computes is imported before the
first assertion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankstone._basics import NamedValues
    from rankstone.evaluation import QrelsLike, RunLike
    from rankstone.measures.core.measure import Measure

__all__ = ["assert_ranking"]

#: how many queries a failure names
_WORST: Final = 5
_ROUNDING: Final = 1e-12


def assert_ranking(
    qrels: QrelsLike,
    run: RunLike,
    measure: str | Measure,
    *,
    at_least: float | None = None,
    not_worse_than: RunLike | None = None,
    margin: float | None = None,
    **options: Any,  # noqa: ANN401 - settings of comparisons and options of alignment
) -> None:
    """Fail unless a ranking is good enough, and not worse than another one.

    The other ranking is compared as by :func:`rankstone.gate`: the whole interval of the difference has to
    lie above ``-margin``, or both have to return the same lists.  An inconclusive comparison fails.

    Parameters
    ----------
    qrels, run
        As for :func:`rankstone.evaluate`; paths are relative to the current folder.
    measure
        One measure.
    at_least
        The minimum of the mean; equality passes.
    not_worse_than
        Another ranking of the same queries.
    margin
        The allowed loss; required with ``not_worse_than``.
    **options
        Options of alignment, such as ``missing="drop"``; with ``not_worse_than`` also settings of the
        comparison, such as ``confidence=0.9``.

    Raises
    ------
    AssertionError
        With the value, its minimum, the verdict, and the worst queries.
    InputError, UsageError
        As for :func:`rankstone.gate`: also for a margin that cannot pass with so few queries.

    Examples
    --------
    >>> from rankstone import demo
    >>> assert_ranking(demo.QRELS, demo.RUNS["bm25"], "nDCG@10", at_least=0.5)
    >>> assert_ranking(demo.QRELS, demo.RUNS["bm25"], "nDCG@10", at_least=0.9)
    Traceback (most recent call last):
    AssertionError: nDCG@10 is 0.5704, minimum 0.9
    worst queries: q07 0.0000, q09 0.0000, q27 0.0000, q30 0.0000, q28 0.1043
    """
    __tracebackhide__ = True
    from rankstone.errors import RankstoneError, UsageError
    from rankstone.measures.core.syntax import parse_measure

    if at_least is None and not_worse_than is None:
        raise UsageError(
            "there is nothing to assert", expected="at_least or not_worse_than"
        )
    if (not_worse_than is None) != (margin is None):
        fix = "margin=0.02 allows a loss of 0.02"
        raise UsageError("not_worse_than and margin need each other", fix=fix)
    try:
        rule: NamedValues = {"measure": str(parse_measure(measure))}
        rule |= {
            key: limit
            for key, limit in (("floor", at_least), ("margin", margin))
            if limit is not None
        }
        if not_worse_than is None:
            problem = _alone(qrels, run, rule, options)
        else:
            problem = _against(
                {"qrels": qrels, "baseline": not_worse_than, "candidate": run},
                rule,
                options,
            )
    except (
        RankstoneError
    ) as error:  # pytest shows the message and the test, and none of our files
        raise error.with_traceback(None) from None
    if problem:
        raise AssertionError(problem)


@pytest.fixture(name="assert_ranking")
def _assert_ranking() -> Callable[..., None]:
    """rankstone: fail unless a ranking is good enough, and not worse than another one."""
    return assert_ranking


def _alone(
    qrels: QrelsLike, run: RunLike, rule: NamedValues, options: NamedValues
) -> str | None:
    """Return what is wrong with the mean of a ranking; ``None`` if all is well."""
    from rankstone.evaluation import Prepared

    scores = Prepared(qrels, rule["measure"], **options).evaluate(run)
    name, value = scores.mean().select("measure", "value").row(0)
    if value is not None and value >= rule["floor"] - _ROUNDING:
        return None
    shown = "has no value" if value is None else f"is {value:.4f}"
    worst = scores.per_query.sort("value", maintain_order=True)
    return f"{name} {shown}, minimum {rule['floor']:g}\n{_queries(worst)}"


def _against(files: NamedValues, rule: NamedValues, options: NamedValues) -> str | None:
    """Return what is wrong with a ranking compared with another one; ``None`` if all is well."""
    from rankstone.comparison import gate
    from rankstone.comparison.settings import SettingsKeywords

    settings = {
        name: options.pop(name)
        for name in SettingsKeywords.__annotations__
        if name in options
    }
    decision = gate(
        {**files, "rules": [rule], "statistics": settings, "options": options}
    )
    if decision.verdict == "pass":
        return None

    comparison = decision.comparison
    lower = comparison.matrices[comparison.measures[0]].direction == "lower"
    worst = comparison.per_query.sort(
        "difference", descending=lower, nulls_last=True, maintain_order=True
    )
    shown = decision.text(verbose=True)  # pytest has no -v of ours
    return f"{shown}\n\n{_queries(worst, 'difference')}"


def _queries(worst: pl.DataFrame, difference: str | None = None) -> str:
    """Return the first queries of a table, with their values and differences."""
    from rankstone.errors import printable

    shown = [
        f"{printable(row['query_id'], 40)} {row['value']:.4f}"
        + (f" ({row[difference]:+.4f})" if difference else "")
        for row in worst.drop_nulls("value").head(_WORST).iter_rows(named=True)
    ]
    return f"worst queries: {', '.join(shown)}"
