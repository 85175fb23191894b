"""The audit of alignment: counts of everything that is dropped, tied or missing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from rankstone._basics import (
    InLines,
    Record,
    counted,
    line,
    noted,
    plain,
    queries,
    read_as,
    sentences,
    some,
    spread,
)
from rankstone.errors import printable
from rankstone.hits.tallies import ListCounts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rankstone._basics import Ints, NamedValues, Names
    from rankstone.errors import InputError
    from rankstone.hits.excluded_rows import LeftOut
    from rankstone.hits.side_table_audit import SideTableAudit
    from rankstone.hits.tallies import Tally

#: measure → reason → number of queries
Reasons: TypeAlias = "dict[str, dict[str, int]]"

#: from so many lists, and documents in each, one judged document in every list is not a coincidence
_MANY: Final = 20
#: a larger share of unjudged documents, or of tied rows, deserves attention
_HIGH: Final = 0.1
COPIED: Final = "the scores of the run are the grades of the judgments: they say nothing about a ranking"
#: how many scores, and which share of them, must be the grades of their documents to be no coincidence
_ALIKE: Final = 10
_NEARLY_ALL: Final = 0.95
#: warnings that are spelled out in brief
_SHOWN: Final = 3
#: how the warning begins that ranks and scores give different orders
CONTRADICT: Final = "ranks contradict scores"


def contradiction(lists: int, of: int, order: str) -> str:
    """Return the warning that ranks and scores give different orders, and which of them is used."""
    other = "rank" if order == "score" else "score"
    which = "every list" if lists == of else f"{lists:,} of {of:,} lists"
    return (
        f"{CONTRADICT} in {which}: {order}s are used; order={other} uses the {other}s"
    )


def are_grades(alike: int, judged: int) -> bool:
    """Return whether so many scores equal the grades of judged documents that they were copied."""
    return alike >= _ALIKE and alike >= _NEARLY_ALL * judged


def not_in_means(reasons: Reasons, noun: str = "query") -> list[str]:
    """Return how many queries (or users) are not part of which means, and why.

    >>> not_in_means({"AUC": {"no negative": 2}, "GAUC": {"no negative": 2}})
    ['2 queries not in the mean of AUC, GAUC: no negative']
    """
    alike: dict[tuple[str, int], list[str]] = {}
    for measure, counts in reasons.items():
        for reason, count in counts.items():
            alike.setdefault((reason, count), []).append(measure)
    return [
        f"{counted(count, noun)} not in the mean of {_listed(measures)}: {reason}"
        for (reason, count), measures in alike.items()
    ]


def _listed(measures: Sequence[str]) -> str:
    more = " …" if len(measures) > _SHOWN else ""
    return ", ".join(map(printable, measures[:_SHOWN])) + more


class JudgmentsAudit(Record):
    """The audit of the judgments.

    Attributes
    ----------
    source
        Their source.
    queries, judgments
        Judged queries, and judgments after merging.
    relevant
        Judgments with a grade above zero.
    negative, duplicates
        Grades below zero; rows merged away by ``duplicate_judgments``.
    empty
        Queries without a relevant document (grade > 0), unanswerable ones included.
    comments
        Comment lines skipped.
    unanswerable
        Those of ``empty`` that are declared to have no answer.
    declared
        Those of ``empty`` that have no judgments and were declared: ``{query: {}}``.
    excluded, excluded_relevant
        Judgments of excluded pairs (``exclude_from``); those of them with a grade above zero.
    warnings
        Warnings, one sentence each.
    read_as
        Notes on what was detected about a file.
    absent, unwinnable
        Relevant documents that are not in the corpus, and queries all of whose relevant documents are not;
        ``None`` where the corpus is not known.
    absent_of_all
        Relevant documents of all splits that are not in the corpus; ``None`` unless a split was chosen.
    """

    source: str
    queries: int
    judgments: int
    relevant: int
    negative: int
    duplicates: int
    empty: int
    comments: int
    declared: int = 0
    excluded: int = 0
    excluded_relevant: int = 0
    warnings: Names = ()
    read_as: Names = ()
    unanswerable: int = 0
    absent: int | None = None
    unwinnable: int | None = None
    absent_of_all: int | None = None

    @property
    def _empty(self) -> str:
        """The queries that count although they have no relevant document, and what they may be."""
        offer = ""
        if self.declared and not self.unanswerable:
            offer = " (if they have no answer: empty=unanswerable)"
        count = self.empty - self.unanswerable
        return noted(count, "query", f"without a relevant document{offer}")

    @property
    def head(self) -> str:
        """How many queries there are, and how many of them have no answer."""
        if not self.unanswerable:
            return queries(self.queries)
        return f"{queries(self.queries)} ({self.unanswerable:,} unanswerable)"

    def concerns(self) -> Names:
        """Return what deserves attention, the most important first; empty texts where all is well."""
        return (
            *self.warnings,
            noted(self.duplicates, "duplicate judgment", "merged"),
            noted(self.negative, "grade", "below zero"),
            self._empty,
            noted(
                self.excluded_relevant, "excluded relevant document", "no longer judged"
            ),
        )

    def line(self) -> str:
        """Return the audit as one line."""
        declared = ""
        if self.declared:
            declared = f", {self.declared:,} of them without any judgment"
        return line(
            f"{self.head}, {counted(self.judgments, 'judgment')}",
            noted(self.empty, "query", f"without a relevant document{declared}"),
            noted(self.negative, "grade", "below zero"),
            noted(self.duplicates, "duplicate row", "merged"),
            noted(
                self.excluded,
                "judgment",
                f"excluded, {self.excluded_relevant:,} of them relevant",
            ),
            noted(self.comments, "comment line"),
            read_as(self.read_as),
            _warned(self.warnings),
        )


class RunAudit(ListCounts):
    """The audit of one run: its content, and what alignment did with it.

    Attributes
    ----------
    source
        The run's source.
    queries
        Evaluated lists.
    retrieved, judged
        Documents in the lists after alignment; how many of them are judged.
    missing, extra
        Judged queries that the run does not answer; queries of the run without judgments.
    missing_ids, respelled
        The first of the missing queries; a sentence where the run has some of them in another spelling.
    comments
        Comment lines skipped.
    shortest, median_length, longest
        Range of the list lengths.
    unjudged
        Cutoff → mean share of unjudged documents among those ranked down to it.
    warnings
        Warnings, one sentence each.
    left_out
        What exclusion removed; ``None`` where nothing is excluded from the lists.
    undefined, dropped
        Measure → why queries have no value, or are left out of its mean → how many.
    read_as
        Notes on what was detected about a file.
    """

    source: str
    queries: int
    retrieved: int
    judged: int
    missing: int
    extra: int
    comments: int
    shortest: int
    median_length: float
    longest: int
    unjudged: dict[int, float]
    warnings: Names = ()
    left_out: LeftOut | None = None
    failed: dict[str, int] = field(default_factory=dict)
    read_as: Names = ()
    undefined: Reasons = field(default_factory=dict)
    dropped: Reasons = field(default_factory=dict)
    missing_ids: Names = ()
    respelled: str = ""

    @classmethod
    def of(
        cls,
        source: str,
        tallies: Sequence[Tally],
        *,
        missing: int,
        extra: int,
        comments: int,
        cutoffs: Sequence[int],
        deepest: int | None,
        order: str,
        left_out: LeftOut | None = None,
        read_as: Names = (),
        failed: Mapping[str, int] | None = None,
        missing_ids: Names = (),
        respelled: str = "",
    ) -> RunAudit:
        """Add up the tallies of all batches.

        ``deepest`` is the largest cutoff of the measures, ``order`` the option of that name, ``left_out``
        what was excluded, ``read_as`` notes on what was detected about its file, ``failed`` counts queries
        by the reason of their failure; queries that need no answer are not among the ``missing``, of which
        ``missing_ids`` are the first, and ``respelled`` says whether the run spells them in another way.
        """
        n = np.concatenate([t.n for t in tallies]) if tallies else np.zeros(0, np.int64)
        shown = int((n > 0).sum())
        judged = 0
        unjudged = Counter[str]()
        counts = Counter[str]()
        for tally in tallies:
            judged += int(tally.judged.sum())
            unjudged.update(tally.unjudged)
            counts.update(tally.counts())

        shares: dict[int, list[float]] = {k: [] for k in cutoffs}
        for key, count in unjudged.items():
            k, length = map(int, key.split())
            shares[k].append(count / length)

        crossed = counts["contradicted"]
        alone = not missing and counts["single"] == len(n)
        warnings = _warnings(n, judged, deepest, alone=alone)
        if crossed:
            warnings.append(contradiction(crossed, len(n), order))
        if counts["varied"] and are_grades(counts["graded"], judged):
            warnings.insert(0, COPIED)
        if counts["rolled"] and not counts["chunks"]:
            warnings.append(
                "unit leaves every id as it is: does it fit the ids of this run?"
            )
        if left_out is not None and not left_out.rows:
            warnings.append(
                "no pair to exclude is in any list: were they removed before, or do ids not match?"
            )
        of_lists: NamedValues = {n: counts[n] for n in ListCounts.counters()}
        return cls(
            source=source,
            queries=len(n),
            retrieved=int(n.sum()),
            judged=judged,
            missing=missing,
            extra=extra,
            comments=comments,
            shortest=int(n.min()) if len(n) else 0,
            median_length=float(np.median(n)) if len(n) else 0.0,
            longest=int(n.max()) if len(n) else 0,
            unjudged={k: fsum(of) / max(shown, 1) for k, of in shares.items()},
            warnings=tuple(warnings),
            left_out=left_out,
            read_as=read_as,
            failed=dict(failed or {}),
            missing_ids=missing_ids,
            respelled=respelled,
            **of_lists,
        )

    @property
    def failures(self) -> str:
        """How many queries failed, and the commonest reasons; empty without any."""
        common = sorted(self.failed.items(), key=lambda reason: (-reason[1], reason[0]))
        shown = ", ".join(
            f"{printable(why, 40)} ({times:,})" for why, times in common[:3]
        )
        others = len(common) - 3
        more = f" and {counted(others, 'more reason')}" if others > 0 else ""
        return noted(sum(self.failed.values()), "query", f"failed: {shown}{more}")

    @property
    def _missing(self) -> str:
        return "missing, failed ones included" if self.failed else "missing"

    @property
    def unanswered(self) -> Names:
        """Why queries count as if nothing was retrieved for them; empty texts where all is well."""
        return (
            self.respelled,
            self.failures,
            noted(self.missing, "query", self._missing),
        )

    def to_dict(self) -> NamedValues:
        """Return plain dicts, ready for JSON."""
        audit: NamedValues = {"source": self.source, **plain(self)}
        audit["unjudged"] = {f"@{k}": share for k, share in self.unjudged.items()}
        excluded = audit.pop("left_out")
        # only audits of tables in memory have them
        for name in ("missing_ids", "respelled"):
            del audit[name]
        return audit if excluded is None else audit | {"excluded": excluded}

    def concerns(self, *, unjudged: bool, in_ideal: bool) -> Names:
        """Return what deserves attention, the most important first; empty texts where all is well.

        ``unjudged``: whether unjudged documents do; if only relevant ones are judged they are no surprise.
        ``in_ideal`` is as for :meth:`LeftOut.line`.
        """
        k, share = next(iter(self.unjudged.items()), (0, 0.0))
        return (
            *sentences(self, "warns"),
            *not_in_means(self.undefined),
            "" if self.left_out is None else self.left_out.concern(in_ideal=in_ideal),
            *self.warnings,
            noted(self.extra, "query", "without judgments"),
            f"{share:.1%} unjudged in the top {k}"
            if unjudged and share > _HIGH
            else "",
            *sentences(self, "warns_if_many", above=_HIGH * self.rows),
        )

    def line(self, *, in_ideal: bool, said: Sequence[str] = ()) -> str:
        """Return the audit as one line, without warnings ``said`` of all runs.

        ``in_ideal`` is as for :meth:`LeftOut.line`.
        """
        lengths = spread(self.shortest, self.longest, "document", self.median_length)
        missing = self._missing
        if self.missing_ids:
            missing = f"{missing} ({some(self.missing_ids, _SHOWN)})"
        return line(
            f"{queries(self.queries)} × {lengths}, {self.judged:,} judged",
            noted(self.missing, "query", missing),
            _warned(filter(None, [self.respelled])),
            self.failures,
            not_in_means(self.undefined),
            not_in_means(self.dropped),
            noted(self.extra, "query", "without judgments"),
            sentences(self),
            "" if self.left_out is None else self.left_out.line(in_ideal=in_ideal),
            noted(self.comments, "comment line"),
            read_as(self.read_as),
            (f"unjudged@{k} {share:.1%}" for k, share in self.unjudged.items()),
            _warned([warning for warning in self.warnings if warning not in said]),
        )


def _about(alike: Sequence[tuple[str, str]], runs: int) -> str:
    """Return a warning that several runs share, with their names; of different numbers the largest.

    >>> _about([("a", "2 queries missing"), ("b", "1,300 queries missing")], runs=3)
    'a, b: up to 1,300 queries missing'
    """
    names, sentences = zip(*alike, strict=True)
    every = "both runs" if runs == 2 else f"all {runs} runs"  # noqa: PLR2004 - English
    who = ""
    if runs > 1:
        who = every if len(names) == runs else some(names)

    # a longer number is larger
    most: str = max(
        sentences, key=lambda sentence: (len(sentence.split()[0]), sentence)
    )
    if len({*sentences}) > 1:
        most = most.partition(" (")[0]
        if most[0].isdigit():
            most = f"up to {most}"
    return ": ".join(filter(None, (who, most)))


def _warned(warnings: Iterable[str]) -> list[str]:
    return [f"warning: {sentence}" for sentence in warnings]


def _warnings(n: Ints, judged: int, deepest: int | None, *, alone: bool) -> list[str]:
    warnings = []
    if len(n) and not judged:
        warnings.append("no retrieved document is judged: do document ids match?")
    if alone and len(n) >= _MANY and _MANY <= n.min() == n.max():
        warnings.append(
            f"every list has {int(n[0]):,} documents, one of them judged: if these are sampled candidates, "
            "the values are not those of full lists (rankstone sampled)"
        )
    if len(n) and deepest is not None and int(n.max()) < deepest:
        longest = counted(int(n.max()), "document")
        warnings.append(
            f"the cutoff {deepest} is deeper than every list (the longest has {longest})"
        )
    elif len(n) and deepest is not None and (short := int((n < deepest).sum())):
        warnings.append(
            f"{short} of {counted(len(n), 'list')} {'is' if short == 1 else 'are'} shorter than the cutoff {deepest}"
        )
    return warnings


@dataclass(frozen=True, eq=False, repr=False)
class Audit(InLines):
    """The audit of alignment: the judgments, each run by name, and the tables of queries and of intents.

    ``bad_runs`` has the errors of runs that were left out (``on_bad_run="skip"``), by name; ``scores`` what
    was guessed of how files of saved scores are written, by file.
    """

    judgments: JudgmentsAudit | None
    runs: dict[str, RunAudit] = field(default_factory=dict)
    queries: SideTableAudit | None = None
    intents: SideTableAudit | None = None
    bad_runs: dict[str, InputError] = field(default_factory=dict)
    scores: dict[str, Names] = field(default_factory=dict)

    def about(self, measures: Collection[str]) -> Audit:
        """Return the same without queries that are outside the means of other measures alone."""

        def kept(reasons: Reasons) -> Reasons:
            return {name: why for name, why in reasons.items() if name in measures}

        runs = {
            name: replace(run, undefined=kept(run.undefined), dropped=kept(run.dropped))
            for name, run in self.runs.items()
        }
        return replace(self, runs=runs)

    def to_dict(self) -> NamedValues:
        """Return plain dicts, ready for JSON."""
        tables = {"queries": self.queries, "intents": self.intents}
        return {
            "judgments": plain(self.judgments),
            "runs": {name: run.to_dict() for name, run in self.runs.items()},
            **{
                name: plain(table)
                for name, table in tables.items()
                if table is not None
            },
            **(
                {"bad_runs": {n: str(e) for n, e in self.bad_runs.items()}}
                if self.bad_runs
                else {}
            ),
            **({"scores": plain(self.scores)} if self.scores else {}),
        }

    def brief(self, *further: str) -> list[str]:
        """Return one line if anything deserves attention, or was read in a way that had to be detected.

        What is true of several runs is said once; ``further`` are sentences about the means.
        """
        judged = self.judgments
        alone = judged is not None and 0 < judged.judgments == judged.relevant
        head = ""
        if judged is not None:
            head = f"{judged.head}, {counted(judged.judgments, 'judgment')}"
        if alone:
            head += ", all of relevant documents"

        # what orders the lists decides every number
        warnings = sorted(
            self._brief_warnings(unjudged=not alone),
            key=lambda sentence: CONTRADICT not in sentence,
        )
        shown = warnings[:_SHOWN]
        if len(warnings) > _SHOWN:
            shown.append(f"{len(warnings) - _SHOWN} more with -v")
        warned = ""
        if warnings:
            warned = f"{counted(len(warnings), 'warning')}: {'; '.join(shown)}"

        detected = [
            tallies.read_as
            for tallies in (judged, self.queries, self.intents, *self.runs.values())
            if tallies is not None
        ]
        how = read_as([*dict.fromkeys(chain(*detected, *self.scores.values()))])
        if not (warnings or how or further):
            return []
        return [f"audit  {line(head, how, warned, further)}"]

    def _brief_warnings(self, *, unjudged: bool) -> list[str]:
        """Return the warnings of all tables and runs; ``unjudged``: also of documents without a grade."""
        judged = self.judgments
        tables = {"queries": self.queries, "intents": self.intents}
        in_ideal = judged is not None and not judged.excluded

        warnings = list[str]()
        if self.bad_runs:
            left_out = counted(len(self.bad_runs), "run")
            warnings = [f"{left_out} left out: {some(self.bad_runs)}"]
        # first what makes queries count as 0
        warnings += self._alike(
            {name: run.unanswered for name, run in self.runs.items()}
        )
        if judged is not None:
            warnings += filter(None, judged.concerns())
        for name, table in tables.items():
            concerns = filter(None, table.concerns(name)) if table else ()
            warnings += [f"{name}: {concern}" for concern in concerns]

        of_runs = {
            name: run.concerns(unjudged=unjudged, in_ideal=in_ideal)
            for name, run in self.runs.items()
        }
        return warnings + self._alike(of_runs)

    def _alike(self, concerns: Mapping[str, Names]) -> list[str]:
        """Return what concerns runs by name, what is the same but for its numbers once."""
        alike: dict[str, list[tuple[str, str]]] = {}
        for name, of_run in concerns.items():
            for concern in filter(None, of_run):
                key = re.sub(r"[\d.,]+", "#", concern)
                alike.setdefault(key, []).append((printable(name), concern))
        return [_about(same, len(self.runs)) for same in alike.values()]

    def lines(self) -> list[str]:
        """Return one line for the judgments, one for each side table, and one for each run."""
        head = [] if self.judgments is None else [f"judgments  {self.judgments.line()}"]
        for name, table in (("queries", self.queries), ("intents", self.intents)):
            head += [] if table is None else [f"{name}  {table.line(name)}"]
        in_ideal = self.judgments is not None and not self.judgments.excluded
        each = [run.warnings for run in self.runs.values()]
        shared = list[str]()
        if len(each) > 1:
            shared = [w for w in each[0] if all(w in warnings for warnings in each)]

        head += [
            f"{printable(name)}  {line(read_as(notes))}"
            for name, notes in self.scores.items()
        ]
        return [
            *head,
            *(
                f"{printable(name)}  {run.line(in_ideal=in_ideal, said=shared)}"
                for name, run in self.runs.items()
            ),
            *(f"all {len(self.runs)} runs  {warning}" for warning in _warned(shared)),
            *(
                f"{printable(name)}  left out: {str(error).splitlines()[0]}"
                for name, error in self.bad_runs.items()
            ),
        ]
