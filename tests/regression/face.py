"""What is recorded of each verb; the one file that knows the names of the package's public face.

It follows that face, so that the package before and after a change of it can be recorded alike.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
from tests.regression.lines import exact, flat, refused

import rankstone
from rankstone.conventions import conventions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.regression.lines import Line
    from tests.regression.worlds import Listed, World


def libraries() -> list[tuple[str, list[str], list[str]]]:
    """Return every convention with its measures of judgments, and those of whole lists."""
    return [
        (str(convention), convention.everything(), convention.everything(of_lists=True))
        for convention in conventions()
    ]


def scores(
    key: str, world: World, texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Evaluate; measures that are refused are left out one by one."""
    inputs = (_judged(world), _run(world.run))
    yield from _each(
        key, texts, lambda subset: rankstone.evaluate(*inputs, subset, **options)
    )


def subtopic_scores(
    key: str, world: World, texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Evaluate with judgments of subtopics."""
    names = ("query_id", "doc_id", "subtopic", "relevance")
    qrels = pl.DataFrame(
        world.subtopics,
        dict.fromkeys(names, pl.String) | {"relevance": pl.Float64},
        orient="row",
    )
    yield from _each(
        key,
        texts,
        lambda subset: rankstone.evaluate(qrels, _run(world.run), subset, **options),
    )


def labelled_scores(
    key: str, world: World, texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Evaluate a table whose rows carry score and label."""
    labels = {(query, doc): grade for query, doc, grade in world.judged}
    rows = [
        (q, d, s, labels.get((q, d), 0.0))
        for q, listed in world.run.items()
        for d, s in listed
    ]
    names = {
        "query_id": pl.String,
        "doc_id": pl.String,
        "score": pl.Float64,
        "label": pl.Float64,
    }
    table = pl.DataFrame(rows, names, orient="row")
    yield from _each(
        key,
        texts,
        lambda subset: rankstone.evaluate(table=table, measures=subset, **options),
    )


def list_scores(
    key: str, world: World, tables: dict[str, Any], texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Measure whole lists."""
    items = [{"doc_id": doc, **about} for doc, about in tables["items"].items()]
    history = pl.DataFrame(
        tables["history"], ["query_id", "doc_id", "weight"], orient="row"
    )
    inputs = tables | {
        "items": pl.DataFrame(items, strict=False),
        "history": history,
        "qrels": _judged(world),
    }
    inputs |= {
        "users": pl.DataFrame(
            [{"query_id": user, **about} for user, about in tables["users"].items()]
        )
    }
    inputs |= {"baseline": _run(tables["baseline"])}
    runs = {"run": _run(world.run)}
    yield from _each(
        key, texts, lambda subset: rankstone.beyond(runs, subset, **inputs, **options)
    )


def similarity(
    key: str, world: World, texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Compare two rankings."""
    runs = (_run(world.run), _run(world.other))
    yield from _each(
        key, texts, lambda subset: rankstone.diff(*runs, measures=subset, **options)
    )


def explanations(
    key: str, world: World, texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Explain every query of a run, and the difference to the other one."""
    for text in texts:
        for query in world.run:
            inputs = (_judged(world), _run(world.run), text, query)
            yield from _report(
                f"{key} {text} {query}", partial(rankstone.explain, *inputs, **options)
            )
    inputs = (_judged(world), _run(world.run), texts[0], next(iter(world.run)))
    other = _run(world.other)
    yield from _report(
        f"{key} versus", partial(rankstone.explain, *inputs, versus=other, **options)
    )


def comparisons(
    key: str, world: World, texts: Sequence[str], **options: Any
) -> Iterator[Line]:
    """Compare three runs, of which the third is the first one reversed."""
    turned = {
        query: [(doc, -score) for doc, score in listed]
        for query, listed in world.run.items()
    }
    runs = {"one": _run(world.run), "two": _run(world.other), "reversed": _run(turned)}
    yield from _report(
        key, lambda: rankstone.compare(_judged(world), runs, texts, **options)
    )


def identified(
    key: str, world: World, value: str, measure: str | None
) -> Iterator[Line]:
    """Identify a printed number."""
    yield from _report(
        key, lambda: rankstone.identify(_judged(world), _run(world.run), value, measure)
    )


def diagnosed(
    key: str, world: World, text: str, curves: Sequence[str]
) -> Iterator[Line]:
    """Bound a score by what is not judged, hold it against chance, and draw curves."""
    inputs = (_judged(world), {"run": _run(world.run)})
    yield from _report(f"{key} bounds", lambda: rankstone.bounds(*inputs, text))
    yield from _report(f"{key} chance", lambda: rankstone.baseline(*inputs, text))
    yield from _report(f"{key} curve", lambda: rankstone.curve(*inputs, list(curves)))


def _judged(world: World) -> pl.DataFrame:
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    chance = pl.Series(
        "propensity", [1 / (1 + len(doc)) for _, doc, _ in world.judged], pl.Float64
    )
    return pl.DataFrame(world.judged, schema, orient="row").with_columns(chance)


def _run(lists: dict[str, Listed]) -> Any:
    """Return lists as a dict, which can hold empty ones, or as a frame where a document is listed twice."""
    if all(len({doc for doc, _ in listed}) == len(listed) for listed in lists.values()):
        return {query: dict(listed) for query, listed in lists.items()}
    rows = [
        (query, doc, score) for query, listed in lists.items() for doc, score in listed
    ]
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def _each(
    key: str, texts: Sequence[str], verb: Callable[[Sequence[str]], Any]
) -> Iterator[Line]:
    """Yield the values of all measures at once; where that is refused, of either half."""
    if not texts:
        return
    try:
        result = verb(list(texts))
        values, means = result.per_query, result.mean()
    except rankstone.RankstoneError as error:
        if len(texts) > 1:
            half = len(texts) // 2
            yield from _each(key, texts[:half], verb)
            yield from _each(key, texts[half:], verb)
        else:
            yield from refused(f"{key} {texts[0]}", error)
        return
    columns = [
        name
        for name in ("value", "numerator", "denominator", "status")
        if name in values.columns
    ]
    for row in values.sort("measure", "query_id", maintain_order=True).iter_rows(
        named=True
    ):
        for name in columns:
            yield (
                "number",
                f"{key} {row['measure']} {row['query_id']} {name}",
                exact(row[name]),
            )
    for row in means.iter_rows(named=True):
        yield (
            "number",
            f"{key} {row['measure']} mean",
            exact(row.get("mean", row.get("value"))),
        )
    if len(texts) <= 3:
        yield "words", f"{key} {' '.join(texts)}", repr(result)


def _report(key: str, verb: Callable[[], Any]) -> Iterator[Line]:
    try:
        result = verb()
    except rankstone.RankstoneError as error:
        yield from refused(key, error)
        return
    yield from flat(f"{key} ", result.report())
    yield "words", key, repr(result)
