"""A/B tests of rankings, from a log to a result.

What a reader of an A/B test must know of its numbers.

How many units each variant has, and whether that can be chance.

What an A/B test found.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rankstone._text import counted, noted, some
from rankstone.errors import BadOption, DuplicateRows, UsageError, above_0, between_0_and_1, printable
from rankstone.io.columns import with_csv
from rankstone.online.ab_metrics import Arm, Rules, arms_of, differences, names, ratios, repeated
from rankstone.online.log_tables import (
    Found,
    Log,
    Notes,
    cluster_of_impressions,
    floats,
    numbered,
    read_log,
    skipping,
)
from rankstone.stats.proportions import sample_ratio
from rankstone.stats.sequential import TUNED_TO, always_valid_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankstone.io.input_table import Progress

_LOOKS = "ten looks on the way find a difference that is none in about 19 % of experiments, not 5 %"


def remarks(repeats: Mapping[str, str], *, sequential: bool) -> dict[str, str]:
    """Return what holds of the p-values, and of measures that are not what they seem."""
    looks = (
        "intervals, p-values and verdicts hold at every look (for large samples; narrowest at "
        f"{TUNED_TO:,} units)"
        if sequential
        else f"intervals, p-values and verdicts hold for one look, at an end fixed beforehand; {_LOOKS}: "
        "while it is running use sequential=True (--sequential)"
    )
    told = {"looks": looks}
    for measure, other in repeats.items():
        told[measure] = f"asks what {other} asks, as this log is, so both are one question of the family"
    told["mean_click_rank"] = (
        "is of clicks alone: a variant that loses its clicks far down gets a better one; read it beside "
        "abandonment"
    )
    return told


def running(units: int, planned: int | None, *, sequential: bool) -> Iterator[str]:
    """Warn of an experiment that has not reached its end, where a look now is not allowed for."""
    if planned is not None and units < planned and not sequential:
        yield (
            f"the experiment is still running, with {units:,} of {counted(planned, 'unit')}: {_LOOKS}; "
            "use sequential=True (--sequential), or wait for the end"
        )


def without_spread(arms: Mapping[str, Sequence[Arm]], labels: Sequence[str]) -> Iterator[str]:
    """Warn of variants in which all units have one value of a measure."""
    for measure, of in arms.items():
        for label, one in zip(labels, of, strict=True):
            if one.alike and one.found is not None:
                known = "its error is a bound (Clopper and Pearson's), no estimate"
                yield (
                    f"{measure} is {one.found.value:g} for all {one.found.units:,} units of "
                    f"{printable(label, 40)}, which shows no spread: "
                    f"{'nothing is claimed of it' if math.isnan(one.found.error) else known}"
                )


#: p below which shares are no chance (Fabijan et al., KDD 2019, use 0.0005 to 0.01)
_ALARM: Final = 0.001


def sample_ratio_check(
    labels: Sequence[str], arms: Sequence[Arm], shares: Mapping[str, float] | None, *, sequential: bool
) -> tuple[pl.DataFrame, list[str]]:
    """Return a row a variant with its units, and a warning where there are too many or too few."""
    due = dict.fromkeys(labels, 1 / len(labels)) if shares is None else dict(shares)
    if set(due) != set(labels) or any(not share > 0 for share in due.values()):
        raise BadOption(
            f"shares={due!r} are not those of the variants",
            expected=f"a share above 0 for each of {some(labels)}",
        )
    every = math.fsum(due.values())
    parts = [due[label] / every for label in labels]
    units = [int(arm.present.sum()) for arm in arms]
    found = sample_ratio(units, parts)
    p = always_valid_ratio(units, parts) if sequential else found.p
    table = pl.DataFrame(
        {
            "variant": list(labels),
            "units": units,
            "expected": [part * sum(units) for part in parts],
            "chi_square": found.chi_square,
            "p": p,
        }
    )
    if p >= _ALARM:
        return table, []
    mismatch = (
        f"sample ratio mismatch (p = {p:.2g}): units were not dealt out as they should have been, and "
        "no difference can be trusted before it is known why"
    )
    return table, [mismatch]


class Experiment(Found):
    """Differences, rates by variant, and how units were dealt out."""

    @property
    def differences(self) -> pl.DataFrame:
        """A row a measure and variant: ``difference``, ``low``, ``high``, ``p``, ``p_adjusted``, ``verdict``.

        Intervals are at the family's level, from which the verdict follows; all of them hold at one look, or
        with ``sequential`` at every look.
        """
        return self.tables["differences"]

    @property
    def variants(self) -> pl.DataFrame:
        """``measure``, ``variant``, ``value``, ``error``, ``low``, ``high``, ``over`` (the denominator)."""
        return self.tables["variants"]

    @property
    def sample_ratio(self) -> pl.DataFrame:
        """``variant``, ``units``, ``expected``; one p of all, in ``p``."""
        return self.tables["sample_ratio"]


#: variants that are no ids
_MOST: Final = 100
_ENDS: Final = dict.fromkeys(("error", "low", "high"), pl.Float64)
_TEXTS: Final = {"measure": pl.String, "variant": pl.String}
_VARIANTS: Final = _TEXTS | {"value": pl.Float64} | _ENDS | {"over": pl.Int64, "units": pl.Int64}
_DIFFERENCES: Final = (
    _TEXTS
    | {"versus": pl.String, "difference": pl.Float64}
    | _ENDS
    | {"p": pl.Float64, "p_adjusted": pl.Float64, "verdict": pl.String}
)


def ab(
    log: object,
    by: str = "variant",
    *,
    versus: str | None = None,
    k: int = 10,
    cluster: str | None = "user_id",
    shares: Mapping[str, float] | None = None,
    margin: float | None = None,
    correction: str = "holm",
    confidence: float = 0.95,
    sequential: bool = False,
    planned: int | None = None,
    invalid: str = "error",
    columns: Mapping[str, str] | None = None,
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
        or 1), the variant and the user.
    by
        The column of variants.
    versus
        The variant the others are held against; the first in order unless given.
    k
        The cutoff of ``CTR@k``, clicks over documents shown down to it, and of ``clicked@k``, the share of
        impressions with a click down to it.
    cluster
        What was dealt out to variants and is independent: users.  ``None``: impressions.
    shares
        {variant: share of units it should have had}; equal shares unless given.
    margin
        A difference that does not matter: variants can be equivalent.
    correction
        Of the p-values of all measures and variants together, as for :func:`rankstone.compare`.
    confidence
        Of intervals: of a variant its own, of differences the family's.  One less it is the alpha of every
        claim: a verdict is the interval's, ``equivalent`` included.
    sequential
        Whether intervals, p-values and verdicts hold at every look at an experiment that is still running
        (the mixture of :mod:`rankstone.stats.sequential`), at the price of wider intervals.  Else they hold
        for one look, at an end that was fixed beforehand.
    planned
        How many units the experiment ends with: before that there is a warning, unless ``sequential``.
    invalid
        Whether rows with a value that is missing or cannot be read are an ``error``, or ``drop`` leaves them
        out and counts them.
    columns, format_in, csv_separator, decimal, progress
        As for :func:`rankstone.evaluate`.

    Returns
    -------
    Experiment
        ``differences``, ``variants``, ``sample_ratio``, audit.

    Raises
    ------
    InputError
        When an impression is in two variants, or holds a position twice; for whatever else is no such log.
    UsageError
        When there are not two variants, or an option is not what it may be.

    Examples
    --------
    >>> log = {"user_id": [1, 2, 3, 4], "impression_id": [1, 2, 3, 4], "position": [1, 1, 1, 1]}
    >>> found = ab(log | {"variant": ["a", "a", "b", "b"], "clicked": [1, 0, 1, 1]}, k=1)
    >>> found.differences.select("measure", "difference").row(0)
    ('CTR@1', 0.5)
    """
    columns = with_csv(columns, csv_separator, decimal)
    _from_1("k", k, "cutoff")
    _from_1("planned", planned, "number of units")
    between_0_and_1("confidence", confidence)
    above_0("margin", margin)
    rules = Rules(margin, correction, confidence, sequential)
    needed = ["impression_id", "position", "clicked", by, *([] if cluster is None else [cluster])]
    read = read_log(log, needed, columns=columns, format_in=format_in, invalid=invalid, progress=progress)
    _check(read)
    impression = numbered(read.frame, "impression_id").to_numpy()
    labels, code = _variants(read, by, versus)
    variant = cluster_of_impressions(read, by, impression)
    unit = np.arange(len(variant)) if cluster is None else cluster_of_impressions(read, cluster, impression)
    clicks, position = (read.frame[name].to_numpy() for name in ("clicked", "position"))
    measured = ratios(clicks, position, impression, k)
    arms, repeats = arms_of(measured, unit, variant, float(position.max())), repeated(measured)
    ratio, ratio_notes = sample_ratio_check(labels, next(iter(arms.values())), shares, sequential=sequential)
    asked = {measure: of for measure, of in arms.items() if measure not in repeats}
    warnings = [
        *ratio_notes,
        *running(int(unit.max()) + 1, planned, sequential=sequential),
        *without_spread(asked, labels),
    ]
    return Experiment(
        tables={
            "differences": floats(differences(arms, repeats, labels, code, names(k), rules), _DIFFERENCES),
            "variants": floats(list(_variant_rows(arms, labels, rules)), _VARIANTS),
            "sample_ratio": ratio,
        },
        audit=_notes(
            read,
            skipping(read, impression),
            variant,
            unit,
            cluster,
            arms,
            warnings,
            remarks(repeats, sequential=sequential),
        ),
        conventions={
            "by": by, "versus": labels[code], "k": k, "cluster": cluster, "margin": margin,
            "correction": correction, "confidence": confidence, "sequential": sequential,
            "planned": planned, "invalid": invalid,
        },
        inputs={"log": read.source},
    )  # fmt: skip


def _from_1(option: str, given: int | None, what: str) -> None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise BadOption(f"{option}={given!r} is no {what}", expected="a whole number from 1")


def _check(log: Log) -> None:
    """Refuse clicks and positions that are none, and two documents at one place."""
    clicked, position = pl.col("clicked"), pl.col("position")
    log.require((clicked != 0) & (clicked != 1), "whose click is neither 0 nor 1", "0 or 1", "clicked")
    wrong = (position < 1) | (position != position.round())
    fix = "positions that count from 0 need 1 added"
    log.require(wrong, "whose position is none", "whole numbers from 1", "position", fix=fix)
    twice = log.frame.filter(pl.struct("impression_id", "position").is_duplicated())
    if twice.height:
        raise DuplicateRows(
            f"{twice.height:,} rows share an impression and a position with another",
            where=log.source,
            given=f"impression_id {printable(twice['impression_id'][0], 40)}, "
            f"position {twice['position'][0]:g}",
            expected="a row a document shown",
        )


def _variants(log: Log, by: str, versus: str | None) -> tuple[list[str], int]:
    """Return the variants in order, and the place of the one that others are held against."""
    found = log.frame[by].unique().sort().cast(pl.String).to_list()
    if not 2 <= len(found) <= _MOST:  # noqa: PLR2004 - two to compare
        raise UsageError(
            f"{printable(by, 40)} has {counted(len(found), 'value')}",
            where=log.source,
            given=some(found),
            expected=f"2 to {_MOST} variants",
        )
    if versus is not None and versus not in found:
        raise UsageError(
            f"there is no variant {printable(versus, 40)}", where=log.source, expected=some(found, _MOST)
        )
    return found, 0 if versus is None else found.index(versus)


def _variant_rows(arms: Mapping[str, list[Arm]], labels: list[str], rules: Rules) -> Any:  # noqa: ANN401 - rows
    for measure, of in arms.items():
        for label, one in zip(labels, of, strict=True):
            row = {"measure": measure, "variant": label, "over": int(one.size.sum())}
            row |= {"units": int(one.present.sum()), **rules.ends(one.found, 1 - rules.confidence)}
            yield row | {"value": None if one.found is None else one.found.value}


def _notes(
    log: Log,
    skips: int,
    variant: Any,  # noqa: ANN401 - an array
    unit: Any,  # noqa: ANN401 - the same
    cluster: str | None,
    arms: Mapping[str, list[Arm]],
    warnings: list[str],
    remarked: Mapping[str, str],
) -> Notes:
    variants = np.sum([one.present for one in next(iter(arms.values()))], axis=0)
    several = int((variants > 1).sum())
    units = int(unit.max()) + 1
    counts = {
        "rows": log.rows, "dropped": log.dropped, "impressions": len(variant), "units": units,
        "clicks": int(log.frame["clicked"].sum()), "several": several, "skipping": skips,
    }  # fmt: skip
    if several:
        warnings = [*warnings, f"{several:,} units saw several variants: were they dealt out by {cluster}?"]
    if skips:
        lost = "documents without a row were not shown, as far as CTR@k knows"
        warnings = [*warnings, f"positions are skipped in {counted(skips, 'impression')}: {lost}"]
    parts = (
        counted(log.rows, "row"),
        counted(len(variant), "impression"),
        counted(counts["clicks"], "click"),
        "" if cluster is None else f"{counted(units, 'value')} of {printable(cluster, 40)}",
        f"{several:,} of them in several variants" if several else "",
        noted(skips, "impression", "with positions left out"),
        *log.left_out(),
    )
    return Notes(log.source, counts, parts, tuple(warnings), remarked)
