"""What is wrong with a golden set, alone and against the corpus: each finding with what it does to measures."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rankstone._basics import Record, counted, some
from rankstone.diagnostics.findings import CheckReport, FileReport, Finding, listed
from rankstone.diagnostics.time_overlap import time_findings
from rankstone.errors import RankstoneError, printable
from rankstone.evaluation.prepared import Prepared
from rankstone.evaluation.request import of_rankings
from rankstone.evaluation.side_inputs.corpus_ids import CorpusIds
from rankstone.golden.near_duplicates import near_duplicates, normalised
from rankstone.golden.query_times import query_times
from rankstone.io import read_interactions
from rankstone.io.corpus import Corpus, in_folder, read_corpus
from rankstone.io.golden_sets import GoldenSet, golden_set, plain_texts
from rankstone.tables.phrases import check_language, from_english

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rankstone._basics import Columns
    from rankstone.evaluation.request import MeasuresLike, TableLike
    from rankstone.io.golden_records import Need
    from rankstone.io.input_table import Table
    from rankstone.measures.core.measure import Measure

#: texts up to which near-duplicates are looked for without being asked
MOST_TEXTS: Final = 20_000
#: queries from which on a category has a mean worth looking at
_ENOUGH: Final = 10
#: documents from which on an expected text tells too little
_MANY: Final = 3
#: values from which on a column is no category
_MOST_CATEGORIES: Final = 20
#: words from which on a query can be called a copy of a passage
_WORDS: Final = 4


class _Checked(Record):
    """A golden set, and what it is held against."""

    golden: GoldenSet
    corpus: Corpus | None
    measures: tuple[Measure, ...]
    times: pl.Series | None
    lang: str

    @property
    def cutoffs(self) -> list[int]:
        """The cutoffs of the measures."""
        return [measure.deepest for measure in self.measures if measure.deepest]

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """``query_id`` and ``doc_id`` of all expected documents."""
        pairs = [
            (case.query_id, document)
            for case in self.golden.cases
            for document in case.relevant
        ]
        schema = {"query_id": pl.String, "doc_id": pl.String}
        return pl.DataFrame(pairs, schema=schema, orient="row")


def check(
    golden: TableLike | GoldenSet,
    corpus: TableLike | None = None,
    *,
    measures: MeasuresLike = (),
    train: TableLike | None = None,
    near: bool | None = None,
    columns: Columns | None = None,
    format_in: str | None = None,
    lang: str = "en",
) -> CheckReport:
    """Check a golden set, alone and against the documents that can be retrieved.

    Parameters
    ----------
    golden
        The golden set, as for :func:`rankstone.golden.read`.
    corpus
        The documents: ids, a file with an id in each line, a table with ``doc_id`` and perhaps ``text``, a
        folder; ``None`` leaves out what needs them.
    measures
        The measures that will be computed: cutoffs as deep as the corpus are reported.
    train
        Pairs that a system was trained on, a table with ``query_id``, ``doc_id`` and perhaps ``time``: pairs of
        the golden set that it has seen are reported, and queries that are earlier than its last row.
    near
        Look for queries that say nearly the same; ``None`` does so for up to 20,000 queries.
    columns, format_in
        As for :func:`rankstone.golden.read`.
    lang
        Language of sentences: ``en`` or ``zh``.

    Returns
    -------
    CheckReport
        Findings with counts, examples and what each does to measures; none is an error.

    Examples
    --------
    >>> golden = [{"id": "a", "query": "refunds?", "expected": ["r.md", "old.md"]}]
    >>> report = check(golden, ["r.md", "faq.md"])
    >>> report.files[0].findings[0].what
    '1 of 2 expected documents is not in the corpus'
    """
    check_language(lang)
    cases = golden_set(golden, columns, format_in)
    documents = None if corpus is None else read_corpus(corpus, columns)
    if documents is not None:
        wanted = [doc for case in cases.cases for doc in case.relevant]
        documents = in_folder(documents, pl.Series(wanted, dtype=pl.String))
    parsed = of_rankings(measures) if measures else ()
    times = query_times(cases, columns)
    checked = _Checked(cases, documents, parsed, times, lang)

    report = FileReport("golden set", cases.source, "golden set", _facts(checked))
    report.findings += _repeated_ids(checked)
    report.findings += _expecting_nothing(checked)
    if documents is not None:
        report.findings += _absent(checked, documents)
        report.findings += _expected_texts(checked, documents)
        report.findings += _copies(checked, documents)
        report.findings += _verbatim(checked, documents)
        report.findings += _small_corpus(checked, documents)
    report.findings += _near(checked, near)
    if train is not None:
        interactions = read_interactions(train, columns, format_in)
        pairs = interactions.collect("query_id", "doc_id")
        report.findings += _seen(checked, pairs)
        report.findings += _earlier(checked, interactions)
    report.findings += _small_categories(checked)
    report.findings += _single(checked)
    return CheckReport([report]).in_language(lang)


def _facts(checked: _Checked) -> dict[str, str]:
    cases = checked.golden.cases
    facts = {
        "read as": checked.golden.note,
        "queries": f"{len(cases):,}",
        "expected": counted(checked.relevant["doc_id"].n_unique(), "document"),
    }
    unanswerable = sum(case.answerable is False for case in cases)
    if unanswerable:
        facts["unanswerable"] = f"{unanswerable:,}"
    splits = pl.Series([case.split for case in cases if case.split], dtype=pl.String)
    if len(splits):
        counts = splits.value_counts(sort=True).iter_rows()
        facts["splits"] = ", ".join(f"{printable(name)} {n:,}" for name, n in counts)
    if checked.corpus is not None:
        notes = "".join(f", {note}" for note in checked.corpus.read_as)
        ids = counted(len(checked.corpus.ids), "document")
        facts["corpus"] = f"{checked.corpus.source}: {ids}{notes}"
    return facts


def _repeated_ids(checked: _Checked) -> Iterator[Finding]:
    ids = pl.Series([case.query_id for case in checked.golden.cases], dtype=pl.String)
    repeated = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
    if len(repeated):
        yield listed(
            f"{counted(len(repeated), 'query id')} stand for several queries",
            repeated.to_list(),
            "evaluations refuse the set: give each query its own id",
            doubtful=True,
        )


def _expecting_nothing(checked: _Checked) -> Iterator[Finding]:
    """Find queries for which nothing is expected or forbidden, without a word that there is no answer."""
    empty = []
    for case in checked.golden.cases:
        has_texts = any(need.text for need in case.needs)
        is_said = case.answerable is False or case.forbidden
        if not (case.relevant or has_texts or is_said):
            empty.append(case.query_id)
    if empty:
        verb = "expects nothing and is" if len(empty) == 1 else "expect nothing and are"
        yield Finding(
            "warning",
            f"{counted(len(empty), 'query')} {verb} not declared unanswerable",
            some(empty),
            "every system scores 0 there: name what is expected, or write answerable: false",
            doubtful=True,
        )
    for doubt in checked.golden.unread:
        what, _, fix = doubt.rpartition(": ")
        yield Finding("warning", what, "", fix, doubtful=True)


def _absent(checked: _Checked, corpus: Corpus) -> Iterator[Finding]:
    """Find expected documents that do not exist, and queries that no system can win."""
    relevant = checked.relevant
    is_absent = corpus.lacks(relevant["doc_id"])
    absent = relevant.filter(is_absent)
    if not absent.height:
        return
    gone = absent["doc_id"].unique(maintain_order=True)
    every = relevant["doc_id"].n_unique()
    verb = "is" if len(gone) == 1 else "are"
    gone_ids = {*gone}
    documents = [*_likely(corpus, gone, checked.lang)]
    losses = [*_losses(checked, gone_ids)]
    losses += _ceilings(checked, corpus)
    yield listed(
        f"{len(gone):,} of {counted(every, 'expected document')} {verb} not in the corpus",
        documents,
        f"{'; '.join(losses)}; correct the ids, or remove them",
        doubtful=True,
    )

    present = relevant.filter(~is_absent)
    total = counted(relevant["query_id"].n_unique(), "query")
    lost = relevant.join(present, on="query_id", how="anti")
    lost_queries = lost["query_id"].unique(maintain_order=True).to_list()
    if lost_queries:
        yield listed(
            f"{len(lost_queries):,} of {total} cannot be won: nothing expected is there",
            lost_queries,
            "every system scores 0 there",
            doubtful=True,
        )
    is_all_needed = any(m.name == "FullRecall" for m in checked.measures)
    lost_ids = {*lost_queries}
    incomplete = []
    for case in checked.golden.cases:
        if case.query_id in lost_ids:
            continue
        is_short = any(_is_lost(need, gone_ids) for need in case.needs)
        if is_short:
            incomplete.append(case.query_id)
    if incomplete:
        yield listed(
            f"{len(incomplete):,} of {total} cannot be answered completely: not all that is needed is there",
            incomplete,
            "FullRecall is 0 there for every system",
            doubtful=is_all_needed,
        )


def _is_lost(need: Need, gone: Collection[str]) -> bool:
    """Return whether no document of a need is there."""
    return bool(need.documents) and all(document in gone for document in need.documents)


def _losses(checked: _Checked, gone: Collection[str]) -> Iterator[str]:
    """Yield what it means that documents are gone, for needs with and without another document."""
    needs = [need for case in checked.golden.cases for need in case.needs]
    lost = sum(_is_lost(need, gone) for need in needs)
    touched = sum(any(document in gone for document in n.documents) for n in needs)
    if lost:
        verb = "has" if lost == 1 else "have"
        yield f"{counted(lost, 'need')} {verb} no other document: their queries cannot be complete"
    if touched > lost:
        spared = touched - lost
        verb = "has" if spared == 1 else "have"
        yield (
            f"{counted(spared, 'need')} {verb} another document that is there: StRecall and FullRecall can be 1 "
            "by it, R cannot"
        )


def _ceilings(checked: _Checked, corpus: Corpus) -> Iterator[str]:
    """Yield which means can be reached, as evaluations with this corpus say it."""
    golden: Any = checked.golden.with_documents_of_texts(corpus.texts)
    measures = checked.measures or of_rankings("R RR")
    # what evaluations refuse has no means; other findings or they say why
    with suppress(RankstoneError):
        scorer = Prepared.of(golden, measures)
        ceilings = CorpusIds(corpus).ceilings(scorer)
        if ceilings:
            yield f"at most {', '.join(ceilings)} can be reached"


def _likely(corpus: Corpus, gone: pl.Series, lang: str) -> Iterator[str]:
    """Yield ids with the document that may be meant: of the same name, or the same but for case."""
    names = corpus.ids.str.to_lowercase().str.split("/").list.last()
    for identifier in gone:
        name = PurePosixPath(identifier.lower()).name
        alike = corpus.ids.filter(names == name)
        hint = ""
        if len(alike) == 1:
            hint = from_english(f" (there is {printable(alike[0], 60)})", lang)
        yield printable(identifier, 60) + hint


def _expected_texts(checked: _Checked, corpus: Corpus) -> Iterator[Finding]:
    """Find expected texts that are in no document, or in many."""
    texts = plain_texts(corpus.texts["text"])
    nowhere = []
    many = []
    for case in checked.golden.cases:
        for need in case.needs:
            if not need.text:
                continue
            plain = plain_texts(pl.Series([need.text]))
            wanted = plain[0].strip()
            is_in = texts.str.contains(wanted, literal=True)
            times = int(is_in.sum())
            if not times:
                nowhere.append(need.text)
            elif times > _MANY:
                many.append(f"{printable(need.text, 40)} × {times:,}")
    if nowhere:
        yield listed(
            f"{counted(len(nowhere), 'expected text')} in no document",
            nowhere,
            "their queries cannot be won: correct the texts",
            doubtful=True,
        )
    if many:
        yield listed(
            f"{counted(len(many), 'expected text')} in more than {_MANY} documents",
            many,
            "a document that only mentions it counts as an answer: choose a longer text",
        )


def _copies(checked: _Checked, corpus: Corpus) -> Iterator[Finding]:
    """Find documents with the text of an expected one under another id."""
    texts = corpus.texts.with_columns(normalised(corpus.texts["text"]))
    texts = texts.filter(pl.col("text") != "")
    expected = texts.join(checked.relevant, on="doc_id", how="semi")
    copies = texts.join(checked.relevant, on="doc_id", how="anti")
    pairs = expected.join(copies, on="text", suffix="_copy")
    if pairs.height:
        examples = [
            f"{a} = {b}" for a, b in pairs.select("doc_id", "doc_id_copy").rows()
        ]
        yield listed(
            f"{counted(pairs['doc_id'].n_unique(), 'expected document')} with the same text under other ids",
            examples,
            "who retrieves the copy gets nothing: same_as=DOCUMENTS makes them one",
        )


def _verbatim(checked: _Checked, corpus: Corpus) -> Iterator[Finding]:
    """Find queries that stand word for word in an expected document."""
    cases = [(case.query_id, case.query) for case in checked.golden.cases]
    queries = pl.DataFrame(cases, ["query_id", "query"], orient="row")
    queries = queries.with_columns(words=normalised(queries["query"]))
    is_long = pl.col("words").str.count_matches(" ") + 1 >= _WORDS
    pairs = checked.relevant.join(queries.filter(is_long), on="query_id")

    expected = corpus.texts.join(checked.relevant, on="doc_id", how="semi")
    expected = expected.with_columns(normalised(expected["text"]))
    pairs = pairs.join(expected, on="doc_id", maintain_order="left")
    is_copied = pl.col("text").str.contains(pl.col("words"), literal=True)
    copied = pairs.filter(is_copied).unique("query_id", maintain_order=True)
    if copied.height:
        yield listed(
            f"{counted(copied.height, 'query')} word for word in the expected document",
            copied["query"].to_list(),
            "matching words finds these: scores say little about questions of users",
        )


def _small_corpus(checked: _Checked, corpus: Corpus) -> Iterator[Finding]:
    size = len(corpus.ids)
    deep = [k for k in checked.cutoffs if k >= size]
    if deep:
        yield Finding(
            "warning",
            f"cutoff {max(deep):,} with {counted(size, 'document')} in the corpus",
            None,
            f"R@{max(deep)} is 1 for every system that returns all: choose a smaller cutoff",
            doubtful=True,
        )


def _near(checked: _Checked, near: bool | None) -> Iterator[Finding]:  # noqa: FBT001
    """Find queries that say nearly the same, and those of them in two splits."""
    cases = [case for case in checked.golden.cases if case.query]
    if near is False:
        return
    if near is None and len(cases) > MOST_TEXTS:
        yield Finding(
            "note",
            f"near-duplicates were not looked for among {len(cases):,} queries",
            None,
            "near=True looks for them",
        )
        return
    pairs = near_duplicates(pl.Series([case.query for case in cases], dtype=pl.String))
    rows = [(cases[a], cases[b]) for a, b, _ in pairs.iter_rows()]
    if rows:
        yield listed(
            f"{counted(len(rows), 'pair')} of queries that say nearly the same",
            [f"{a.query} ~ {b.query}" for a, b in rows],
            "they count twice in means, and are no independent queries in tests",
            most=2,
        )
    across = [(a, b) for a, b in rows if a.split and b.split and a.split != b.split]
    if across:
        yield listed(
            f"{counted(len(across), 'pair')} of such queries in two splits",
            [f"{a.query_id} ({a.split}), {b.query_id} ({b.split})" for a, b in across],
            "what was tuned on one has seen the other: move them to one side",
            doubtful=True,
            most=2,
        )


def _seen(checked: _Checked, train: pl.DataFrame) -> Iterator[Finding]:
    """Find pairs that a system was trained on, by the id or the text of the query."""
    texts = {case.query_id: case.query for case in checked.golden.cases}
    pairs = checked.relevant.with_columns(
        query=pl.col("query_id").replace_strict(texts, default=None)
    )
    seen = train.with_columns(pl.all().cast(pl.String)).unique()
    by_id = pairs.join(seen, on=["query_id", "doc_id"], how="semi")
    by_text = pairs.join(
        seen, left_on=["query", "doc_id"], right_on=["query_id", "doc_id"], how="semi"
    )
    both = pl.concat([by_id, by_text]).unique(maintain_order=True)
    if both.height:
        rows = both.select("query_id", "doc_id").rows()
        yield listed(
            f"{both.height:,} of {counted(pairs.height, 'expected pair')} in the training data",
            [f"{query}, {document}" for query, document in rows],
            "scores of what was trained on them are too high: remove them from one side",
            doubtful=True,
        )


def _earlier(checked: _Checked, train: Table) -> Iterator[Finding]:
    """Find queries that are earlier than the last row of training."""
    trained = None
    if "time" in train.columns:
        trained = train.collect("time")["time"]
    yield from time_findings(
        checked.golden.attributes["query_id"],
        checked.times,
        trained,
        noun="query",
        holder="the golden set",
        measures=checked.measures,
    )


def _small_categories(checked: _Checked) -> Iterator[Finding]:
    """Find categories with too few queries for a mean of their own."""
    attributes = checked.golden.attributes
    for name in attributes.columns:
        if name in ("query_id", "query", "split", "answerable", "time"):
            continue
        counts = attributes[name].drop_nulls().value_counts(sort=True)
        is_category = 1 < counts.height <= min(_MOST_CATEGORIES, attributes.height / 2)
        small = counts.filter(pl.col("count") < _ENOUGH)
        if is_category and small.height:
            yield Finding(
                "note",
                f"{small.height:,} of {counts.height:,} values of {printable(name)} have fewer than "
                f"{_ENOUGH} queries",
                some([f"{value}: {count}" for value, count in small.iter_rows()]),
                "a mean over so few moves with each query",
            )


def _single(checked: _Checked) -> Iterator[Finding]:
    """Count queries with one expected document."""
    needed = [len(case.relevant) for case in checked.golden.cases if case.relevant]
    single = sum(count == 1 for count in needed)
    if single:
        yield Finding(
            "note",
            f"{single:,} of {counted(len(needed), 'query')} expect a single document",
            None,
            "R@k is Success@k there, 0 or 1; another document that answers counts as wrong",
        )
