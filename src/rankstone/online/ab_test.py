"""A/B tests of rankings: online metrics by variant, their differences, and the sample ratio check."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from polars import selectors

from rankstone._basics import counted, noted, some
from rankstone.errors import (
    BadOption,
    InputError,
    UsageError,
    above_0,
    between_0_and_1,
    printable,
)
from rankstone.io.column_suggestions import is_common_name, is_id
from rankstone.io.columns import with_csv
from rankstone.io.events import read_events
from rankstone.io.number_columns import truths
from rankstone.online.ab_metrics import (
    Arm,
    ClaimSettings,
    differences,
    make_arms,
    metric_directions,
    metric_ratios,
    repeated_metrics,
)
from rankstone.online.ab_warnings import (
    make_remarks,
    no_spread_warnings,
    warnings_of_end,
)
from rankstone.online.log_tables import (
    Log,
    LogAudit,
    OnlineResult,
    check_clicks,
    check_positions,
    cluster_of_impressions,
    count_skipping,
    dense_numbers,
    read_log,
    refuse_duplicates,
    rows_to_frame,
)
from rankstone.stats.sample_ratio_test import sample_ratio
from rankstone.stats.sequential import always_valid_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankstone._basics import Columns, Floats, Ints, Progress


#: p-value below which a sample ratio mismatch is reported (Fabijan et al., KDD 2019, use 0.0005 to 0.01)
_ALARM: Final = 0.001
#: what every log of shown documents has
_OF_DOCUMENTS: Final = ("impression_id", "position")
#: rows that show whether a column is one of numbers
_HEAD: Final = 1000
#: more values than this look like ids, not variants
_MOST: Final = 100
_ENDS: Final = dict.fromkeys(("error", "low", "high"), pl.Float64)
_TEXTS: Final = {"measure": pl.String, "variant": pl.String}
_VARIANTS: Final = (
    _TEXTS | {"value": pl.Float64} | _ENDS | {"over": pl.Int64, "units": pl.Int64}
)
_DIFFERENCES: Final = (
    _TEXTS
    | {"versus": pl.String, "difference": pl.Float64}
    | _ENDS
    | {"p": pl.Float64, "p_adjusted": pl.Float64, "verdict": pl.String}
)


def _sample_ratio(
    labels: Sequence[str],
    arms: Mapping[str, Sequence[Arm]],
    shares: Mapping[str, float] | None,
    settings: ClaimSettings,
) -> tuple[pl.DataFrame, list[str]]:
    """Return units and expected units by variant, and a warning on a sample ratio mismatch."""
    due = dict.fromkeys(labels, 1 / len(labels)) if shares is None else dict(shares)
    if set(due) != set(labels) or any(not share > 0 for share in due.values()):
        raise BadOption(
            f"shares={due!r} do not match the variants",
            expected=f"a share above 0 for each of {some(labels)}",
        )
    every = math.fsum(due.values())
    parts = [due[label] / every for label in labels]
    units = [int(arm.present.sum()) for arm in next(iter(arms.values()))]
    ratio_test = sample_ratio(units, parts)
    p = ratio_test.p
    if settings.sequential:
        p = always_valid_ratio(units, parts)
    table = pl.DataFrame(
        {
            "variant": list(labels),
            "units": units,
            "expected": [part * sum(units) for part in parts],
            "chi_square": ratio_test.chi_square,
            "p": p,
        }
    )
    if p >= _ALARM:
        return table, []
    mismatch = (
        f"sample ratio mismatch (p = {p:.2g}): units were not assigned in the expected shares; "
        "do not trust any difference before the cause is known"
    )
    return table, [mismatch]


class Experiment(OnlineResult):
    """Result of an A/B test: differences, metrics by variant, and the sample ratio check."""

    @property
    def differences(self) -> pl.DataFrame:
        """Rows by metric and variant: ``difference``, ``low``, ``high``, ``p``, ``p_adjusted``, ``verdict``.

        Intervals are adjusted for the size of the family, and the verdict follows from them; all are valid at
        one look, or with ``sequential`` at every look.
        """
        return self.tables["differences"]

    @property
    def variants(self) -> pl.DataFrame:
        """``measure``, ``variant``, ``value``, ``error``, ``low``, ``high``, ``over`` (the denominator)."""
        return self.tables["variants"]

    @property
    def sample_ratio(self) -> pl.DataFrame:
        """``variant``, ``units``, ``expected``, ``chi_square``, and one ``p`` for all."""
        return self.tables["sample_ratio"]


def ab(
    log: object,
    by: str = "variant",
    *,
    value: str | None = None,
    versus: str | None = None,
    k: int = 10,
    cluster: str | None = "user_id",
    shares: Mapping[str, float] | None = None,
    margin: float | None = None,
    correction: str = "holm",
    confidence: float = 0.95,
    sequential: bool = False,
    planned: int | str | date | None = None,
    invalid: str = "error",
    positions_from: int = 1,
    columns: Columns | None = None,
    format_in: str | None = None,
    csv_separator: str | None = None,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> Experiment:
    """Compare what users did with the rankings of an A/B test.

    Parameters
    ----------
    log
        A table with a row for every document shown: ``impression_id``, ``position`` (from 1), ``clicked`` (0
        or 1), the variant and the user.  Or a table with a row for every user: the variant, the user, and
        ``clicked`` or another column of numbers, whose means are compared.
    by
        The column of variants.
    value
        The column of numbers of a table without documents, more being better; by default ``clicked``, or the
        only one.
    versus
        The variant the others are compared with; by default the first in sorted order.
    k
        The cutoff of ``CTR@k``, clicks over documents shown in the top k, and of ``clicked@k``, the share of
        impressions with a click in the top k.
    cluster
        The column of the units that were randomised and are independent: users.  ``None``: impressions.
    shares
        {variant: expected share of units}; equal by default.
    margin
        Differences up to this size do not matter; with it a verdict can be ``equivalent``.
    correction
        The correction of the p-values of all metrics and variants together, as for :func:`rankstone.compare`.
    confidence
        The confidence level: of each variant's interval separately, of the intervals of differences for the
        family.  Alpha is 1 minus it.  Verdicts, ``equivalent`` included, follow from the intervals.
    sequential
        Whether intervals, p-values and verdicts are valid at every look at a running experiment (the mixture
        of :mod:`rankstone.stats.sequential`), at the price of wider intervals.  Otherwise they are valid for
        one look, at an end fixed in advance.
    planned
        The number of units at which the experiment ends, or its last day, for which the log needs a column
        ``time``; before that there is a warning unless ``sequential``.  Without it there is one where the
        last ``time`` is less than a day old.
    invalid
        Whether rows with a missing or unreadable value are an ``error``, or left out and counted (``drop``).
    positions_from
        The first position, 1 or 0.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Experiment
        ``differences``, ``variants``, ``sample_ratio``, audit.

    Raises
    ------
    InputError
        When an impression belongs to two variants or has a position twice, or the log cannot be read.
    UsageError
        When there are fewer than two variants, or an option has an invalid value.

    Examples
    --------
    >>> log = {"user_id": [1, 2, 3, 4], "impression_id": [1, 2, 3, 4], "position": [1, 1, 1, 1]}
    >>> experiment = ab(log | {"variant": ["a", "a", "b", "b"], "clicked": [1, 0, 1, 1]}, k=1)
    >>> experiment.differences.select("measure", "difference").row(0)
    ('CTR@1', 0.5)
    """
    columns = with_csv(columns, csv_separator, decimal)
    _check_count("k", k, "cutoff")
    end = _planned_end(planned)
    between_0_and_1("confidence", confidence)
    above_0("margin", margin)
    settings = ClaimSettings(margin, correction, confidence, sequential)

    column = value
    if value is None:
        column = _value_of_users(log, by, cluster, columns, format_in)
    read = _read(
        log,
        column,
        [by] if cluster is None else [by, cluster],
        columns=columns,
        format_in=format_in,
        invalid=invalid,
        positions_from=positions_from,
        progress=progress,
    )

    impression = _impressions(read, column)
    labels, baseline = _variants(read, by, versus)
    variant = cluster_of_impressions(read, by, impression)
    unit = _units(read, cluster, impression)
    if value is None and column is not None:
        _refuse_several_rows(read, column, cluster, unit)
    ratios, limits = _ratios(read, column, impression, k)
    arms = make_arms(ratios, unit, variant, limits)
    repeats = repeated_metrics(ratios)
    split, split_notes = _sample_ratio(labels, arms, shares, settings)
    directions = {str(column): "higher", **metric_directions(k)}
    rows = differences(arms, repeats, labels, baseline, directions, settings)
    distinct = {name: arms[name] for name in arms if name not in repeats}
    warnings = [
        *split_notes,
        *warnings_of_end(read, unit, end, sequential=sequential),
        *no_spread_warnings(distinct, labels),
    ]
    remarks = make_remarks(repeats, ranked=column is None, sequential=sequential)
    return Experiment(
        tables={
            "differences": rows_to_frame(rows, _DIFFERENCES),
            "variants": _variants_table(arms, labels, settings),
            "sample_ratio": split,
        },
        audit=_make_audit(
            read, impression, variant, unit, cluster, arms, warnings, remarks
        ),
        conventions={
            "by": by,
            "versus": labels[baseline],
            **({"k": k} if column is None else {"value": column}),
            "cluster": cluster,
            **asdict(settings),
            "planned": str(end) if isinstance(end, str | date) else end,
            "invalid": invalid,
        },
        inputs={"log": read.source},
    )


def _planned_end(planned: int | str | date | None) -> int | str | date | None:
    """Return the planned number of units or day; from a command line numbers come as text."""
    if isinstance(planned, str) and planned.lstrip("-").isdigit():
        planned = int(planned)
    if not isinstance(planned, str | date):
        _check_count("planned", planned, "number of units or a day")
    return planned


def _read(log: object, value: str | None, assigned: list[str], **reading: Any) -> Log:  # noqa: ANN401 - options
    """Read what was done, and the columns of variants and units."""
    numbers = [*_OF_DOCUMENTS, "clicked"] if value is None else [value]
    return read_log(
        log,
        [*numbers, *assigned],
        ("time",),
        blank=("time",),
        numbers=numbers[-1:],
        **reading,
    )


def _impressions(log: Log, value: str | None) -> Ints:
    """Return the number of each row's impression; without documents every row is one."""
    if value is not None:
        return np.arange(log.frame.height)
    check_clicks(log)
    check_positions(log, "position")
    refuse_duplicates(log, "position")
    return dense_numbers(log.frame, "impression_id").to_numpy()


def _units(log: Log, cluster: str | None, impression: Ints) -> Ints:
    """Return the number of each impression's unit; without clusters every impression is one."""
    if cluster is None:
        return np.arange(int(impression.max()) + 1)
    return cluster_of_impressions(log, cluster, impression)


def _refuse_several_rows(log: Log, value: str, cluster: str | None, unit: Ints) -> None:
    """Refuse a table with several rows of a unit, whose column of numbers nobody has named."""
    if unit.max() + 1 < len(unit):
        raise UsageError(
            f"a {printable(cluster, 40)} has several rows",
            where=log.source,
            expected="a row for each; "
            "or one for each document, with impression_id and position",
            fix=f"value={value!r} compares means over rows",
        )


def _ratios(
    log: Log, value: str | None, impression: Ints, k: int
) -> tuple[dict[str, tuple[Floats, Floats]], dict[str, tuple[float, float]]]:
    """Return numerators and denominators of metrics, and the ends of those that are not from 0 to 1."""
    values = log.frame[value or "clicked"].to_numpy()
    if value is None:
        position = log.frame["position"].to_numpy()
        ratios = metric_ratios(values, position, impression, k)
        return ratios, {"mean_click_rank": (1.0, float(position.max()))}
    ends = {}
    if values.min() < 0 or values.max() > 1:
        ends[value] = (-math.inf, math.inf)
    return {value: (values, np.ones(len(values)))}, ends


def _value_of_users(
    log: object,
    by: str,
    cluster: str | None,
    renamed: Columns | None,
    format_in: str | None,
) -> str | None:
    """Return the column of numbers of a table with a row for each user; ``None`` for shown documents."""
    events = read_events(log, renamed, format_in, needed=(), further=None)
    if any(is_common_name(name, _OF_DOCUMENTS) for name in events.schema):
        return None
    arms = [name for name in events.schema if is_common_name(name, [by])]
    if by in events.schema:
        arms = [by]
    others = [name for name in events.schema if name not in (*arms, cluster, "time")]
    if "clicked" in others:
        return "clicked"
    first = events.collect(events.frame.head(_HEAD))
    cells = truths(~selectors.nested()).cast(pl.Float64, strict=False)
    head = first.select(others).select(cells)
    values = [
        column.name for column in head if column.count() and not is_id(column.name)
    ]
    columns = events.given()
    if arms and first[arms[0]].is_unique().all():
        raise InputError(
            f"these are totals, a row for each {printable(arms[0], 40)}",
            where=events.source,
            given=columns,
            expected="a row for each user: totals do not say how much users differ",
        )
    if len(values) == 1:
        return values[0]
    fix = None
    if values:
        fix = f"value={values[0]!r} names one"
    raise UsageError(
        f"{counted(len(values), 'column')} could be compared: "
        f"{some(values, 12) or 'none'}",
        where=events.source,
        given=columns,
        expected="impression_id, position and clicked; "
        "or a row for each user, with one column of numbers",
        fix=fix,
    )


def _check_count(option: str, count: int | None, what: str) -> None:
    if count is not None and (
        isinstance(count, bool) or not isinstance(count, int) or count < 1
    ):
        raise BadOption(
            f"{option}={count!r} is not a {what}", expected="a whole number from 1"
        )


def _variants(log: Log, by: str, versus: str | None) -> tuple[list[str], int]:
    """Return the sorted variants, and the index of the one that the others are compared with."""
    labels = log.frame[by].unique().sort().cast(pl.String).to_list()
    if not 2 <= len(labels) <= _MOST:  # noqa: PLR2004 - two to compare
        raise UsageError(
            f"{printable(by, 40)} has {counted(len(labels), 'value')}",
            where=log.source,
            given=some(labels),
            expected=f"2 to {_MOST} variants",
        )
    if versus is not None and versus not in labels:
        raise UsageError(
            f"there is no variant {printable(versus, 40)}",
            where=log.source,
            expected=some(labels, _MOST),
        )
    return labels, 0 if versus is None else labels.index(versus)


def _variants_table(
    arms: Mapping[str, list[Arm]], labels: list[str], settings: ClaimSettings
) -> pl.DataFrame:
    """Return :attr:`Experiment.variants`."""
    rows = [
        {
            "measure": measure,
            "variant": label,
            "value": None if arm.estimate is None else arm.estimate.value,
            "over": int(arm.size.sum()),
            "units": int(arm.present.sum()),
            **settings.interval_columns(arm.estimate, 1 - settings.confidence),
        }
        for measure, variants in arms.items()
        for label, arm in zip(labels, variants, strict=True)
    ]
    return rows_to_frame(rows, _VARIANTS)


def _make_audit(
    log: Log,
    impression: Ints,
    variant: Ints,
    unit: Ints,
    cluster: str | None,
    arms: Mapping[str, list[Arm]],
    warnings: list[str],
    remarks: Mapping[str, str],
) -> LogAudit:
    clicks = None
    skips = 0
    what = [f"means of {next(iter(arms))} over rows"]
    if log.has("position"):
        clicks = int(log.frame["clicked"].sum())
        skips = count_skipping(log, impression)
        what = [counted(len(variant), "impression"), counted(clicks, "click")]
    variants = np.sum([arm.present for arm in next(iter(arms.values()))], axis=0)
    several = int((variants > 1).sum())
    units = int(unit.max()) + 1
    counts = {
        "rows": log.rows,
        "dropped": log.dropped,
        "impressions": len(variant),
        "units": units,
        "clicks": clicks,
        "several": several,
        "skipping": skips,
    }
    notes = [*warnings]
    if several:
        notes.append(
            f"{counted(several, 'unit')} saw several variants: was {cluster} the unit of randomisation?"
        )
    if skips:
        lost = "CTR@k counts documents without a row as not shown"
        place = counted(skips, "impression")
        notes.append(f"positions are skipped in {place}: {lost}")
    parts = (
        counted(log.rows, "row"),
        *what,
        ""
        if cluster is None
        else f"{counted(units, 'value')} of {printable(cluster, 40)}",
        f"{several:,} of them in several variants" if several else "",
        noted(skips, "impression", "with positions left out"),
        *log.left_out(),
    )
    return LogAudit(log.source, counts, parts, tuple(notes), remarks)
