"""``rankstone answers``: nuggets and citations of answers of language models."""

from __future__ import annotations

from typing import Any, Final

import click

from rankstone.cli.declaring import declare
from rankstone.cli.execution import audit_lines, csv_text, execute, written
from rankstone.cli.options import PRINTED
from rankstone.errors import UsageError

#: the default measures of nuggets, as nuggetizer has them, and of citations
_NUGGETS: Final = "Support(level=vital) Support Support(level=vital,partial=0.5) Support(partial=0.5)"
_CITATIONS: Final = "CitationP CitationR"


@declare(
    "answers",
    {"files": "ANSWERS [ANSWERS]…"},
    f"measures nuggets support ci compare explain query to-judge per-query {PRINTED}",
    but={"measures": {"shown": "those of nuggets, or of citations"}},
)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    nuggets: str | None,
    support: tuple[str, ...],
    ci: bool,
    compared: bool,
    explain: str | None,
    query: str | None,
    to_judge: bool,
    **given: Any,
) -> None:
    """Score answers by the nuggets that they hold, or by their citations; one file for each system.

    Nuggets: {"qid", "nuggets": [{"text", "importance": "vital", "assignment": "support"}]}, JSON lines;
    importance is vital or okay, assignment support, partial_support or not_support.  With --nuggets FILE the
    importance is read there.  Citations: {"qid", "references": [id], "answer": [{"text", "citations": [0]}]},
    with a file of judgments for each, --support FILE: qid, sentence, doc_id, support.

    rankstone answers a.jsonl b.jsonl --ci
    rankstone answers a.jsonl b.jsonl --compare -m "Support(level=vital)"
    rankstone answers a.answers.jsonl --support a.support.csv
    rankstone answers a.answers.jsonl --to-judge --format csv
    """
    import rankstone
    from rankstone import answers
    from rankstone.io import stem

    cited = answers.holds_citations(files[0])
    if to_judge:
        rows = answers.citations_to_judge(files[0]) if cited else answers.nuggets_to_assign(files[0])
        click.echo(csv_text(rows), nl=False)
        return
    if cited and len(support) != len(files):
        raise UsageError(
            "each file of answers needs its file of support",
            given=f"answers: {len(files)}, support: {len(support)}",
            expected="--support FILE once for each, in the same order",
            fix="--to-judge writes what is to be judged",
        )
    wanted = list(measures) or (_CITATIONS if cited else _NUGGETS).split()

    def find(**options: Any) -> Any:
        options = {name: value for name, value in options.items() if name not in ("columns", "progress")}
        systems = {
            stem(one): answers.citations(one, support[at]) if cited else answers.nuggets(one, nuggets)
            for at, one in enumerate(files)
        }
        if explain is not None:
            name, (qrels, run) = next(iter(systems.items()))
            return rankstone.explain(qrels, {name: run}, explain, query, **options)
        scores = answers.score_answers(systems, wanted)
        return rankstone.compare_scores(scores, **options) if compared else scores

    def show(found: Any, form: str, digits: int | None) -> str:
        view: dict[str, Any] = (
            {"intervals": rankstone.intervals(found)} if ci and not (compared or explain) else {}
        )
        return written(found, form, digits, **view)

    given["columns"] = None  # names are fixed
    execute(given, find, [*files, nuggets, *support], show=show, notes=None if explain else audit_lines)
