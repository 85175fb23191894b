"""Checks of how a run fits the judgments: queries, spelling of ids, unjudged documents, short lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from rankstone._basics import queries, some
from rankstone.diagnostics.file_checks import FileCheck
from rankstone.diagnostics.findings import Finding, near_matches
from rankstone.errors import RankstoneError
from rankstone.hits.alignment_audit import COPIED, are_grades

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankstone.diagnostics.file_checks import CheckedFile

_IDS: Final = ("query_id", "doc_id")
#: with so many lists, and documents in each, one judged document in every list is no coincidence
_MANY: Final = 20
#: a measure is not informative where a random order reaches this value
_SAYS_LITTLE: Final = 0.5


class JudgedQueries(FileCheck):
    """A run without a judged query, and ids of queries that are spelled in another way."""

    looks_at = ("run in judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield an error if no query is judged, and a warning for each way of spelling."""
        if len(file.missing) == len(file.judged):
            yield Finding(
                "error",
                "no query of the run is judged",
                f"judged {some(file.judged)}, in the run {some(file.answered)}",
            )
        yield from near_matches("query", file.answered, file.judged)


class OfJudgedQueries(FileCheck):
    """The base class of checks that have no meaning where no query of the run is judged."""

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield what is found if some query is judged."""
        if len(file.missing) < len(file.judged):
            yield from self.mismatches(file)

    def mismatches(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield what is found."""
        raise NotImplementedError


class JudgedDocuments(OfJudgedQueries):
    """Ids of documents that are spelled in another way."""

    looks_at = ("run in judgments",)

    def mismatches(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning for each way of spelling."""
        ids = (frame["doc_id"].unique() for frame in file.texts)
        return near_matches("document", *ids)


class ScoresAreGrades(OfJudgedQueries):
    """Scores that are the grades of the same documents, so that the judgments order the list they judge."""

    looks_at = ("run in judgments",)

    def mismatches(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield an error."""
        rows, judgments = file.texts
        if file.by != "score":
            return
        both = rows.join(judgments.select(*_IDS, "relevance"), on=_IDS)
        is_varied = both["relevance"].n_unique() > 1
        if is_varied and are_grades(
            both.filter(pl.col("score") == pl.col("relevance")).height, both.height
        ):
            fix = "name the column of the ranks or of the engine's scores in its place"
            yield Finding("error", COPIED, None, fix)


class QueriesOfOne(OfJudgedQueries):
    """Queries that only the judgments have, or only the run."""

    looks_at = ("run in judgments",)

    def mismatches(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning for either."""
        is_judged = file.answered.is_in(file.judged.implode())
        extra = file.answered.filter(~is_judged)
        if len(file.missing):
            sentence = f"{queries(len(file.missing))} missing, judged but not answered"
            yield Finding("warning", sentence, some(file.missing), "see missing=…")
        if len(extra):
            sentence = f"{queries(len(extra))} without judgments"
            yield Finding("warning", sentence, some(extra), "see extra=…")


class UnjudgedShares(OfJudgedQueries):
    """The share of unjudged documents down to each cutoff."""

    looks_at = ("run in judgments",)

    def mismatches(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a note for each cutoff, a warning if nothing is judged."""
        retrieved, judged = (some(frame["doc_id"]) for frame in file.texts)
        for depth in file.depths:
            rows = file.placed
            where = "unjudged in whole lists"
            if depth is not None:
                rows = rows.filter(pl.col("place") < depth)
                where = f"unjudged@{depth}"
            unjudged = pl.col("judged").is_null().mean()
            shares = rows.group_by("query_id").agg(unjudged)
            share = shares["judged"].to_numpy().mean()
            sentence = f"{where}: {share:.1%}"
            if share == 1.0:
                fix = f"do document ids match? judged {judged}, retrieved {retrieved}"
                yield Finding("warning", sentence, None, fix, doubtful=True)
            else:
                yield Finding("note", sentence)


class SampledCandidates(OfJudgedQueries):
    """Lists of one judged document and equally many others."""

    looks_at = ("run in judgments",)

    def mismatches(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a warning if all lists are so."""
        lists = file.placed.group_by("query_id").agg(
            pl.len().alias("n"), pl.col("judged").count()
        )
        documents = file.placed["doc_id"].n_unique()
        length = lists["n"].max()
        one_judged = (lists["judged"] == 1).all()
        one_length = lists["n"].n_unique() == 1
        if not (one_judged and one_length):
            return
        if len(file.missing) or len(lists) < _MANY:
            return
        if isinstance(length, int) and _MANY <= length < documents:
            yield Finding(
                "warning",
                f"every list has {length:,} of {documents:,} documents, one of them judged: sampled candidates?",
                None,
                "such scores differ from those among all items, which rankstone sampled estimates",
            )


class ShortLists(FileCheck):
    """Queries in which nDCG is hardly informative, because any order of so few documents scores high."""

    looks_at = ("run in judgments",)

    def findings(self, file: CheckedFile) -> Iterator[Finding]:
        """Yield a note for each cutoff, a warning where a random order scores high."""
        from rankstone.diagnostics.chance_comparison import ndcg_of_short_lists

        for depth in filter(None, file.depths):
            try:
                short = ndcg_of_short_lists(
                    file.frame.drop("listed"), file.judgments, file.by, depth
                )
            except RankstoneError:  # reported as an error of its own
                continue
            if short is None:
                continue
            little = short["chance"] >= _SAYS_LITTLE
            yield Finding(
                "warning" if little else "note",
                f"nDCG@{depth} {'says little ' if little else ''}in {queries(short['n'])} with at most {depth} "
                f"judged documents and {2 * depth} retrieved: {short['chance']:.3f} in random order, "
                f"{short['worst']:.3f} in the worst, {short['best']:.3f} in the best",
                None,
                "rankstone baseline shows these for every mean" if little else None,
            )
