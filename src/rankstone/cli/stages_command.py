"""``rankstone stages``: at which step of a pipeline relevant documents are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstone.cli.arguments import judged_runs, queries_of, words
from rankstone.cli.declaring import declare
from rankstone.cli.execution import execute, written
from rankstone.cli.options import ORDERING, PRINTED, READING, WITHOUT_JUDGMENTS

if TYPE_CHECKING:
    from rankstone.diagnostics import Stages


@declare(
    "stages",
    {"files": "QRELS RUN RUN…"},
    "k rel documents corpus split answers right-from queries by query confidence lang per-query",
    f"{PRINTED} {READING} exclude unit same-as exclude-from unit-score {ORDERING}",
    "duplicate-judgments negative",
    but=WITHOUT_JUDGMENTS,
)
def command(files: tuple[str, ...], query: str | None, **given: Any) -> None:
    """Find out at which step of a pipeline relevant documents are lost.

    The runs are its steps, in their order: what the first one retrieves is the pool, the first --k documents
    of the last one are shown.  Each relevant document is not in the corpus (with --corpus), not in the pool,
    never shown, demoted, kept, rescued, or brought by a later step.  With --answers, whether wrong answers
    had evidence.

    rankstone stages qrels.txt bm25.run reranked.run -k 10 --rel 2
    rankstone stages qrels.txt bm25.run fused.run reranked.run --corpus ids.txt --answers graded.jsonl
    rankstone stages qrels.txt bm25.run reranked.run --queries queries.csv --by category
    rankstone stages qrels.txt bm25.run reranked.run --query 1037798
    rankstone stages qrels.txt bm25.run reranked.run --per-query documents.csv -o stages.html
    """
    given["queries"] = queries_of(
        given["queries"], given["by"], files, given["columns"]
    )
    sides = ("documents", "corpus", "answers", "queries")
    inputs = [*files, *(given[name] for name in sides)]

    def find(**options: Any) -> Stages:
        from rankstone import stages

        runs = judged_runs("stages", files)
        by = words(options.pop("by", None))
        return stages(files[0], runs, by=by, **options)

    def show(found: Stages, form: str, digits: int | None) -> str:
        if query is None:
            return written(found, form, digits)
        rows = found.of_query(query)
        return written(
            found,
            form,
            digits,
            frame=rows,
            content={"query_id": query, "documents": rows.to_dicts()},
            query=query,
        )

    execute(
        given,
        find,
        inputs,
        show=show,
        rows=lambda found: found.documents,
        paged=query is None,
    )
