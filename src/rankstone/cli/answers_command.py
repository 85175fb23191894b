"""``rankstone answers``: nuggets and citations of answers of language models."""

from __future__ import annotations

from typing import Any, Final

from rankstone.cli.arguments import holds_both, named_runs, refuse_with
from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, csv_text, deliver, execute, written
from rankstone.cli.options import PRINTED
from rankstone.errors import UsageError, printable

#: the default measures: of nuggets as nuggetizer has them, of contexts as Ragas has them without a model
_MEASURES: Final = {
    "nuggets": "Support(level=vital) Support Support(level=vital,partial=0.5) Support(partial=0.5)",
    "citations": "CitationP CitationR",
    "contexts": "AP(denom=hits) StRecall(rel=2)",
}
#: measures of one kind of data only
_KINDS: Final = {
    "Support": "nuggets",
    "CitationP": "citations",
    "CitationR": "citations",
}
#: the library whose names these data have
_LIBRARY: Final = {"nuggets": "nuggetizer", "contexts": "ragas"}
#: retrieved texts may be copies, and resemble several references
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "contexts": {"duplicates": "first_keep_rank", "duplicate_judgments": "max"}
}


@declare(
    "answers",
    {"files": "ANSWERS [ANSWERS]…"},
    "measures convention nuggets support run-column ci compare agreement explain query",
    f"to-judge per-query lang {PRINTED}",
    but={"measures": {"shown": "those of nuggets, of citations, or of contexts"}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    convention: str | None,
    nuggets: str | None,
    support: tuple[str, ...],
    ci: bool,
    compared: bool,
    agreement: bool,
    explain: str | None,
    query: str | None,
    to_judge: bool,
    run_column: str | None,
    lang: str | None,
    **given: Any,
) -> None:
    """Score answers by the nuggets that they hold, or by their citations; one file for each system.

    One file of several systems names them in a field: --run-column run_id.

    Nuggets: {"qid", "nuggets": [{"text", "importance": "vital", "assignment": "support"}]}, JSON lines;
    importance is vital or okay, assignment support, partial_support or not_support.  With --nuggets FILE the
    importance is read there.  Citations: {"qid", "references": [id], "answer": [{"text", "citations": [0]}]},
    with a file of judgments for each, --support FILE: qid, sentence, doc_id, support.  Contexts without ids:
    {"user_input", "reference_contexts": [text], "retrieved_contexts": [text]}, compared as texts.

    rankstone answers a.jsonl b.jsonl --ci
    rankstone answers a.jsonl b.jsonl --compare -m "Support(level=vital)"
    rankstone answers human.jsonl model.jsonl --agreement
    rankstone answers a.answers.jsonl --support a.support.csv
    rankstone answers a.answers.jsonl --to-judge --format csv
    """
    import rankstone
    from rankstone import answers

    named = named_runs(files)
    first = next(iter(named.values()))
    kind = _kind_of(first)
    if run_column is not None:
        refuse_with("--run-column", {"to_judge": to_judge, "agreement": agreement})
        named = _of_column(named, run_column)
    chosen = {
        "ci": ci,
        "compare": compared,
        "explain": explain,
        "agreement": agreement,
        "support": support,
        "per_query": given["per_query"],
    }
    if to_judge:
        refuse_with("--to-judge", {**chosen, "measures": measures, "files": files[1:]})
        _write_to_judge(kind, first, given["output"])
        return
    _check(kind, {**chosen, "nuggets": nuggets, "convention": convention}, named, query)
    wanted = _measures(kind, measures, convention)
    options = _OPTIONS.get(kind, {})
    if convention:
        options = {"convention": convention}
    spoken = lang or "en"

    def find(*, columns: Any = None, progress: Any = None, **reading: Any) -> Any:  # noqa: ARG001 - files are small
        systems = _systems(kind, named, nuggets, support, agreement=agreement)
        if agreement:
            return answers.compare_assessors(systems, wanted)
        if explain is not None:
            name, (qrels, run) = next(iter(systems.items()))
            # nuggets in the order of the file; a library has its own rule
            if convention is None:
                reading["ties"] = "input"
            return rankstone.explain(
                qrels, {name: run}, explain, query, lang=spoken, **options, **reading
            )
        scores = answers.score_answers(systems, wanted, **options)
        if compared:
            return rankstone.compare_scores(scores, lang=spoken, **reading)
        return scores

    def show(found: Any, form: str, digits: int | None) -> str:
        ends = {"intervals": rankstone.intervals(found)} if ci else {}
        return _shown(found, form, digits, {"by": (), "lang": spoken, **ends})

    given["columns"] = None  # names are fixed
    notes = None if explain or agreement else audit_lines
    execute(given, find, [*files, nuggets, *support], show=show, notes=notes)


def _shown(found: Any, form: str, digits: int | None, view: dict[str, Any]) -> str:
    """Return scores, or whatever else was asked for, in a format."""
    from rankstone import Scores
    from rankstone.answers import AssessorAgreement
    from rankstone.cli.eval_command import shown_scores

    if isinstance(found, Scores):
        return shown_scores(found, form, digits, view)
    if isinstance(found, AssessorAgreement):
        return written(found, form, digits, lang=view["lang"])
    return written(found, form, digits)


def _kind_of(file: object) -> str:
    """Return what a file of answers holds: nuggets, citations or contexts."""
    from rankstone import answers

    if holds_both([str(file)]):
        raise UsageError(
            "this data set has ids of chunks, and no answers are judged in it",
            given=str(file),
            fix=f"rankstone eval {file} --convention ragas",
        )
    return answers.kind_of(file)


def _write_to_judge(kind: str, file: object, output: Any) -> None:
    """Write what people have to judge in a file of answers."""
    from rankstone import answers

    if kind == "contexts":
        raise UsageError(
            "contexts are compared as texts: --to-judge has nothing to write"
        )
    to_judge = {
        "nuggets": answers.nuggets_to_assign,
        "citations": answers.citations_to_judge,
    }
    deliver(None, csv_text(to_judge[kind](file)), output, None)


def _of_column(files: dict[str, Any], run_column: str) -> dict[str, Any]:
    """Return the records of each run by its name."""
    from rankstone.answers import runs_of

    runs: dict[str, Any] = {}
    for file in files.values():
        further = runs_of(file, run_column)
        for name in further.keys() & runs.keys():
            raise UsageError(f"two files have a run {printable(name)}")
        runs |= further
    return runs


def _measures(
    kind: str, measures: tuple[str, ...], convention: str | None
) -> list[str]:
    """Return the measures to compute; refuse those of another kind of data."""
    from rankstone.conventions import convention as known
    from rankstone.measures import parse_measures

    if convention is not None:
        if known(convention).name != _LIBRARY.get(kind):
            expected = _LIBRARY.get(kind, "no library")
            raise UsageError(
                f"--convention {convention} is not about {kind}", expected=expected
            )
        texts = [
            entry.spelling for entry in known(convention).entries if entry.of_texts
        ]
        return list(measures) or texts or known(convention).everything()
    wanted = list(measures) or _MEASURES[kind].split()
    for one in parse_measures(wanted):
        if _KINDS.get(one.name, "contexts") != kind:
            raise UsageError(
                f"{one} is not a measure of {kind}", expected=_MEASURES[kind]
            )
    return wanted


def _check(
    kind: str, given: dict[str, Any], named: dict[str, Any], query: str | None
) -> None:
    """Refuse options that do not belong together, or to this kind of data."""
    for option, its in (("support", "citations"), ("nuggets", "nuggets")):
        if given[option] and kind != its:
            raise UsageError(
                f"--{option} goes with {its}, and these are {kind}",
                where=str(next(iter(named.values()))),
                fix="leave it out",
            )
    explained = given["explain"] is not None
    if query is not None and not explained:
        raise UsageError("-q goes with --explain", fix='--explain "Support" -q ID')
    if explained and query is None:
        raise UsageError("which query?", fix="-q ID")
    if explained and len(named) > 1:
        raise UsageError(
            "one system is explained at a time",
            given=" ".join(named),
            fix="name one file",
        )
    if explained:
        refuse_with("--explain", given, ("ci", "compare", "per_query"))
    if given["agreement"]:
        refuse_with(
            "--agreement",
            given,
            ("ci", "compare", "explain", "convention", "per_query"),
        )
        if kind == "contexts":
            raise UsageError("contexts are compared as texts: there are no assessors")


def _systems(
    kind: str,
    files: dict[str, Any],
    nuggets: str | None,
    support: tuple[str, ...],
    *,
    agreement: bool,
) -> dict[str, Any]:
    """Return judgments and run of each system, or of each assessor, by name."""
    from rankstone import answers

    if kind == "contexts":
        return {name: answers.judge_by_similarity(file) for name, file in files.items()}
    if kind == "nuggets":
        return {name: answers.nuggets(file, nuggets) for name, file in files.items()}
    if agreement and len(files) == 1 < len(
        support
    ):  # the answers of one system, judged by several
        (file,) = files.values()
        return {
            name: answers.citations(file, said)
            for name, said in named_runs(support).items()
        }
    if len(support) != len(files):
        raise UsageError(
            "each file of answers needs its file of support",
            given=f"answers: {len(files)}, support: {len(support)}",
            expected="--support FILE once for each, in the same order",
            fix=None if support else "--to-judge writes what is to be judged",
        )
    return {
        name: answers.citations(file, said)
        for (name, file), said in zip(
            files.items(), named_runs(support).values(), strict=True
        )
    }
