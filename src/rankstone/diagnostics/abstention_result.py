"""What ``abstain`` finds: a verdict for each run, utilities of rules, the utility at every threshold."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, exact, some
from rankstone.tables.results import Findings
from rankstone.tables.sheet import Table, cell, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankstone.hits.alignment_audit import Audit


#: with fewer queries no threshold is chosen on half of them
FEWEST: Final = 10
#: a smaller gain does not matter: a share of the distance between a right and a wrong answer
MATTERS: Final = 0.05
#: scores do not separate where their AUROC is surely below this
_LITTLE: Final = 0.6
_CHANCE: Final = 0.5
#: rows of a table of thresholds
_THRESHOLDS: Final = 9
_AUROC: Final = ("auroc", "auroc_low", "auroc_high")
_WORTH: Final = ("always", "never", "in_sample", "held_out")
_GAIN: Final = ("gain", "gain_low", "gain_high")
_NAUC: Final = ("nauc_top", "nauc_std", "nauc_diff1")
_COUNTS: Final = ("deserving", "n")
#: sentences about queries that are left out, or counted though nothing is relevant
_CAVEATS: Final = ("without_list", "answerable_missed")
#: numbers that a run need not have
NULLABLE: Final = ("threshold", *_AUROC, "held_out", *_GAIN, *_NAUC)


def verdict_of(row: Mapping[str, Any], span: float) -> str:
    """Return the verdict of a run, from the numbers of its row.

    ``use`` a threshold: scores separate (the interval of the AUROC is above 1/2), and held-out thresholds gain
    over both plain rules (so is that of the gain above 0).  ``always`` and ``never``: that rule is better than
    the other (its interval says so), and a gain that matters, a share of the ``span`` between a right and a
    wrong answer, is excluded.  ``no_separation``: the AUROC is surely small.  Otherwise ``cannot_tell``.
    """
    if row["gain"] is None:
        return "cannot_tell"
    low, high = 0.0, 1.0
    if row["auroc"] is not None:
        low = row["auroc_low"]
        high = row["auroc_high"]
    if low > _CHANCE and row["gain_low"] > 0 and row["threshold"] is not None:
        return "use"
    plain = better_rule(row)
    is_small = row["gain_high"] < MATTERS * span
    if plain and is_small and high >= _CHANCE:
        return plain
    if high < _LITTLE:
        return "no_separation"
    return "cannot_tell"


def better_rule(row: Mapping[str, Any]) -> str:
    """Return ``always`` or ``never``, the better of the two; empty where the interval leaves that open."""
    if row["always_low"] > row["never"]:
        return "always"
    if row["always_high"] < row["never"]:
        return "never"
    return ""


class Abstention(Findings, Record):
    """Whether runs should answer nothing where their top score is low.

    Attributes
    ----------
    rows
        See :meth:`to_frame`.
    curve
        ``run``; ``threshold``, every top score; of queries with at least this score how many are ``answered``
        and ``right``; ``utility``, the mean over all queries if these are answered.
    settings
        The settings of the study: ``k``, ``rel``, ``utility``, ``confidence``, ``seed``, ``measure``.
    lang
        Language of sentences.
    audit, conventions, inputs
        As of :class:`~rankstone.evaluation.scores.Scores`.
    """

    rows: pl.DataFrame
    curve: pl.DataFrame
    settings: Mapping[str, Any]
    lang: str = "en"
    audit: Audit | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    digits: int = 3

    section = "abstention"

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each run.

        Returns
        -------
        polars.DataFrame
            ``run``; ``verdict`` (``use``, ``always``, ``never``, ``no_separation``, ``cannot_tell``);
            ``threshold``, the best on these queries, null where answering always or never is; ``auroc`` of the
            top score with its interval; ``n`` queries, ``deserving`` of which deserve an answer;
            ``without_list``, queries left out since nothing is retrieved; ``answerable_missed``, queries that
            are declared answerable without a relevant document among the first; mean utilities of ``always``
            answering, with its interval, of ``never``, of the threshold ``in_sample`` and ``held_out``;
            ``gain``, held out, over the better of always and never, with its interval; the nAUC of three
            confidences: ``nauc_top`` (the top score, MTEB's ``max``), ``nauc_std``, ``nauc_diff1``;
            ``declared``: True if a column ``answerable`` decides.  Null: there is none.
        """
        return self.rows

    def title(self) -> str:
        """Return what it is about."""
        return self.say("title", runs=some(self.rows["run"], 2))

    def headline(self) -> str:
        """Return the verdict of a single run, the title of several."""
        if self.rows.height > 1:
            return self.title()
        return self._words(self.rows.row(0, named=True), self.digits)["said"]

    def curve_label(self) -> str:
        """Return what the curves are of."""
        return self.say("utility")

    def curves(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the curve of each run."""
        for run in self.rows["run"]:
            yield run, self.curve.filter(run=run).drop("run")

    def tables(self, digits: int, *, verbose: bool = False) -> list[Table]:
        """Return verdicts and utilities; ``verbose``: nAUC and thresholds, too."""
        words = map(self._verdict, self.rows.iter_rows(named=True))
        rows = self.rows.with_columns(verdict=pl.Series([*words]))
        shown = {
            "": ("verdict", *_COUNTS, *_AUROC),
            self.say("utilities"): (*_WORTH, *_GAIN),
        }
        if verbose:
            shown[self.say("naucs", **self.settings)] = _NAUC
        frames = {}
        for title, columns in shown.items():
            frames[title] = rows.select("run", *columns)
        if verbose:
            for run, curve in self.curves():
                every = -(-curve.height // _THRESHOLDS)
                title = self.say("thresholds", run=some([run]))
                frames[title] = curve.gather_every(every)
        return [self._table(frame, title, digits) for title, frame in frames.items()]

    def _table(self, frame: pl.DataFrame, title: str, digits: int) -> Table:
        names = {}
        for column in frame.columns:
            names[column] = self.say(column)
        return Table.of(frame, title, digits=digits, names=names)

    def _verdict(self, row: Mapping[str, Any]) -> str:
        return self.say(f"verdict_{row['verdict']}", **self._threshold(row))

    def _threshold(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {"threshold": exact(row["threshold"] or 0.0)}

    def findings(self, digits: int = 3) -> Iterator[str]:
        """Yield the verdict of a single run with its reason, and what is left out of each."""
        for row in self.rows.iter_rows(named=True):
            words = self._words(row, digits)
            if self.rows.height == 1:
                yield from self._reasons(row, words)
            for name in _CAVEATS:
                if row[name]:
                    yield self.say(name, **words)
        if self.rows.height > 1:
            yield self.say("several")

    def _words(self, row: Mapping[str, Any], digits: int) -> dict[str, str]:
        """Return the parts of sentences about a run."""
        utility = self.settings["utility"]
        matters = MATTERS * (utility["right"] - utility["wrong"])
        words = {name: cell(value, digits=digits) for name, value in row.items()}
        words |= self._threshold(row)
        words["matters"] = f"{matters:g}"
        words["fewest"] = f"{FEWEST}"
        verdict = self._verdict(row)
        words["said"] = self.say("said", run=words["run"], verdict=verdict)
        return words

    def _reasons(
        self, row: Mapping[str, Any], words: Mapping[str, str]
    ) -> Iterator[str]:
        """Yield the verdict and why, the better of two plain rules, the price of a threshold chosen here."""
        reason = f"why_{row['verdict']}"
        plain = better_rule(row)
        if row["held_out"] is None:
            reason = "why_few"
        elif reason == "why_cannot_tell" and row["auroc"] is None:
            reason = "why_one_kind"
        elif row["verdict"] == "no_separation" and row["auroc_high"] < _CHANCE:
            reason = "why_reversed"
        yield words["said"] + self.say(reason, **words)

        if plain and row["verdict"] != plain:
            yield self.say(f"plain_{plain}", **words)
        is_tuned = row["threshold"] is not None
        if is_tuned and row["held_out"] is not None:
            yield self.say("tuned", **words)

    def method_lines(self) -> Iterator[str]:
        """Yield which answers are right, what they are worth, and how thresholds are tried."""
        deserving = "deserving_relevant"
        if self.rows["declared"].any():
            deserving = "deserving_declared"
        settings = dict(self.settings["utility"])
        for name in ("k", "rel", "seed"):
            settings[name] = self.settings[name]
        shown = {}
        for name, value in settings.items():
            shown[name] = number(value)
        yield self.say(deserving, **shown)
        yield self.say("method_of_all", **shown)
